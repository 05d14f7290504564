//! Which compiler translates a source exactly.
//!
//! clang 15 with its translator is right wherever it goes through. clang 22 is asked for what they
//! stop at, or where they are not installed: its back end mistranslates some built-in functions,
//! silently or with invalid modules. The list below was found by translating every built-in
//! function, for every type and vector width, with both compilers at `-O0` and comparing the
//! instructions. Functions that it merely does not know come out as calls of undefined functions;
//! `module` finds those (and the invalid modules) in its output.

use super::SOURCE_NAME;
use super::clang::Request;

/// A way from OpenCL C to SPIR-V.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Way {
    /// clang 22 alone.
    Direct,
    /// clang 15, then llvm-spirv.
    Bitcode,
}

/// Tokens in whose presence clang 22 cannot be trusted; a name that ends in `*` is a prefix.
const BITCODE_ONLY: &[&str] = &[
    // Conversions between integers: `convert_int(short)` becomes OpUConvert (the sign is lost),
    // `convert_uchar_sat(uint)` OpSatConvertSToU (the sign is invented), `convert_int(uint)` an
    // invalid same-width OpUConvert. Those to floating point are right, or refused.
    "convert_char*",
    "convert_uchar*",
    "convert_short*",
    "convert_ushort*",
    "convert_int*",
    "convert_uint*",
    "convert_long*",
    "convert_ulong*",
    // On integers: OpAny and OpAll of non-Booleans.
    "any",
    "all",
    // vloada_half3 becomes vload_halfn, which has another stride.
    "vloada_half*",
    // A 32-bit constant where the stride is a size_t.
    "async_work_group_copy",
    "async_work_group_strided_copy",
    // Unsigned operands: s_upsample.
    "upsample",
    // ldexp(floatn, int): the scalar exponent is not spread over the vector.
    "ldexp",
    // Format strings as pointers to arrays, which the validator rejects.
    "printf",
    // Channel data types without their offset, unresolved channel orders.
    "get_image_channel*",
    "read_image*",
    "write_image*",
    // The back end crashes.
    "enqueue_kernel",
    "CLK_NULL_RESERVE_ID",
    // Calls of undefined functions.
    "queue_t",
    "clk_event_t",
    "ndrange_t",
    "get_default_queue",
    // Unknown to clang 22: calls of the undefined functions __to_global and so on.
    "to_global",
    "to_local",
    "to_private",
];

/// Of [`BITCODE_ONLY`], what may be tried with clang 22 where there is no other way: what comes out
/// is right, or shows that it is not.
const NOTICED: &[&str] = &[
    "any",
    "all",
    "async_work_group_copy",
    "async_work_group_strided_copy",
    "printf",
    "enqueue_kernel",
    "CLK_NULL_RESERVE_ID",
    "queue_t",
    "clk_event_t",
    "ndrange_t",
    "get_default_queue",
    "to_global",
    "to_local",
    "to_private",
];

/// Whether the tokens that are compiled are not (all) in the text: it includes files from disk or
/// pastes tokens together.
pub(super) fn needs_preprocessing(request: &Request) -> bool {
    let known = |name: &str| request.headers.iter().any(|(n, _)| n == name);
    let includes_file = |line: &str| {
        line.trim_start()
            .strip_prefix('#')
            .and_then(|directive| directive.trim_start().strip_prefix("include"))
            .is_some_and(|operand| !known(operand.trim().trim_matches(['"', '<', '>'])))
    };
    texts(request).any(|text| {
        let text = strip_comments(text);
        text.contains("##") || text.contains("%:") || text.lines().any(includes_file)
    })
}

/// Chooses the way for a request, preprocessed if [`needs_preprocessing`] says so. The error says
/// what must be installed.
pub(super) fn choose(request: &Request) -> Result<Way, String> {
    let tools = request.tools;
    if tools.bitcode.is_none() {
        return match mistranslated(request) {
            None => Ok(Way::Direct),
            Some(name) => Err(format!(
                "{SOURCE_NAME}: error: '{name}' needs clang-15 and llvm-spirv-15, which are not installed (or \
                 BROLGA_CLANG_BITCODE and BROLGA_LLVM_SPIRV set to their paths): clang-22 mistranslates it\n"
            )),
        };
    }
    Ok(Way::Bitcode)
}

/// A token that clang 22 would mistranslate without a trace.
pub(super) fn mistranslated(request: &Request) -> Option<&'static str> {
    texts(request).find_map(|text| tokens(text, BITCODE_ONLY).find(|name| !NOTICED.contains(name)))
}

/// Queries whose argument is a dimension.
pub(super) const DIMENSION_QUERIES: &[(&str, u32)] = &[
    // With what they give for a dimension that does not exist (OpenCL C Specification, "Work-Item
    // Functions").
    ("get_global_id", 0),
    ("get_local_id", 0),
    ("get_group_id", 0),
    ("get_global_offset", 0),
    ("get_global_size", 1),
    ("get_local_size", 1),
    ("get_enqueued_local_size", 1),
    ("get_num_groups", 1),
];

/// The dimension queries that are made with anything but the literals 0, 1 and 2. llvm-spirv turns
/// them into accesses of a three-component vector that nothing keeps in bounds.
pub(super) fn unbounded_queries(request: &Request) -> Vec<(&'static str, u32)> {
    let stripped: Vec<String> = texts(request).map(strip_comments).collect();
    let bounded = |rest: &str| {
        let argument = rest
            .trim_start()
            .strip_prefix('(')
            .and_then(|r| r.split_once(')'));
        argument.is_some_and(|(argument, _)| matches!(argument.trim(), "0" | "1" | "2"))
    };
    DIMENSION_QUERIES
        .iter()
        .filter(|(name, _)| {
            stripped.iter().any(|text| {
                text.match_indices(name)
                    .any(|(at, _)| !bounded(&text[at + name.len()..]))
            })
        })
        .copied()
        .collect()
}

/// All text that may contribute tokens: the preprocessed source, or everything that goes into it.
fn texts<'a>(request: &'a Request) -> impl Iterator<Item = &'a str> {
    let (first, headers, defines) = match &request.preprocessed {
        Some(text) => (text.as_str(), &[][..], &[][..]),
        None => (
            request.source,
            request.headers,
            &request.options.defines[..],
        ),
    };
    std::iter::once(first)
        .chain(headers.iter().map(|(_, text)| text.as_str()))
        .chain(defines.iter().map(String::as_str))
}

/// Whether what is compiled may have the word in it.
pub(super) fn mentions(request: &Request, word: &str) -> bool {
    texts(request).any(|text| text.contains(word))
}

/// The patterns that tokens in `text` match, comments and literals aside.
fn tokens<'a>(
    text: &str,
    patterns: &'a [&'static str],
) -> impl Iterator<Item = &'static str> + use<'a> {
    let text = strip_comments(text);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let found: Vec<&'static str> = text
        .split(|c| !is_word(c))
        .filter(|token| token.starts_with(|c: char| c.is_ascii_alphabetic()))
        .filter_map(|token| {
            patterns
                .iter()
                .find(|pattern| match pattern.strip_suffix('*') {
                    Some(prefix) => token.starts_with(prefix),
                    None => token == **pattern,
                })
        })
        .copied()
        .collect();
    found.into_iter()
}

/// The text without comments, with string and character literals emptied and continued lines
/// joined.
fn strip_comments(text: &str) -> String {
    let text = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('/', Some('/')) => {
                while chars.peek().is_some_and(|&n| n != '\n') {
                    chars.next();
                }
            }
            ('/', Some('*')) => {
                chars.next();
                let mut last = ' ';
                for n in chars.by_ref() {
                    if last == '*' && n == '/' {
                        break;
                    }
                    if n == '\n' {
                        out.push('\n');
                    }
                    last = n;
                }
                out.push(' ');
            }
            ('"' | '\'', _) => {
                out.push(c);
                // An #include's operand matters, so literals keep their text on such lines.
                let keep = out.rsplit('\n').next().is_some_and(|line| {
                    line.trim_start().starts_with('#') && line.contains("include")
                });
                while let Some(&n) = chars.peek() {
                    if n == '\n' {
                        break;
                    }
                    chars.next();
                    if n == c {
                        out.push(c);
                        break;
                    }
                    if n == '\\' {
                        chars.next();
                    } else if keep {
                        out.push(n);
                    }
                }
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{options, tools::Tools};
    use super::*;

    fn first(text: &str) -> Option<&'static str> {
        tokens(text, BITCODE_ONLY).next()
    }

    #[test]
    fn comments_and_literals_do_not_count() {
        assert_eq!(first("x = \"printf\"; // any\n/* all\n */ y"), None);
        assert_eq!(first("many(all_of_it)"), None);
        assert_eq!(first("#define C convert_\\\nint4"), Some("convert_int*"));
        assert_eq!(first("a/b; any(x)"), Some("any"));
        assert_eq!(first("convert_float4(x)"), None);
        assert_eq!(first("'\\'' printf"), Some("printf"));
    }

    #[test]
    fn what_must_not_go_to_clang_22_asks_for_clang_15() {
        let path = || std::path::PathBuf::from("/somewhere");
        let tools = |direct: bool, bitcode: bool| Tools {
            direct: direct.then(path),
            bitcode: bitcode.then(|| (path(), path())),
        };
        let way = |source: &str, options: &str, tools: &Tools| {
            let options = options::parse(options).unwrap();
            choose(&Request {
                source,
                headers: &[],
                options: &options,
                features: &crate::features::for_compiler(),
                tools,
                preprocessed: None,
            })
        };
        let (both, only_22, only_15) = (tools(true, true), tools(true, false), tools(false, true));
        let (plain, converting, asking) = ("x + 1", "convert_int(s)", "any(x)");
        for options in ["", "-g", "-cl-opt-disable"] {
            assert_eq!(way(plain, options, &only_22), Ok(Way::Direct));
            assert_eq!(way(plain, options, &only_15), Ok(Way::Bitcode));
        }
        assert_eq!(way(plain, "", &both), Ok(Way::Bitcode));
        assert_eq!(way(converting, "", &both), Ok(Way::Bitcode));
        assert_eq!(way(asking, "", &only_22), Ok(Way::Direct));
        let error = way(converting, "", &only_22).unwrap_err();
        assert!(
            error.contains("'convert_int*' needs clang-15 and llvm-spirv-15"),
            "{error}"
        );
    }

    #[test]
    fn what_is_noticed_is_listed_twice() {
        assert!(NOTICED.iter().all(|name| BITCODE_ONLY.contains(name)));
    }

    #[test]
    fn stripping_keeps_lines_and_include_names() {
        let text = "#include \"a.h\" // b\n/* x\ny */int \"s\"";
        assert_eq!(strip_comments(text), "#include \"a.h\" \n\n int \"\"");
    }
}
