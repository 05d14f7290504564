//! `#pragma OPENCL SELECT_ROUNDING_MODE` (cl_khr_select_fprounding_mode).
//!
//! The mode of an operation is that of the last such pragma before it in the program's text; clang
//! ignores the pragma. So the text is preprocessed, and each part of it is given a file name that
//! has the mode in it, by line markers. Compiled without optimisation, and told not to assume a
//! rounding mode (so that it neither folds nor moves what rounds), clang keeps every operation and
//! where it stood, and the translator writes that as `OpLine`. [`apply`] makes `FPRoundingMode`
//! decorations of it, which say the same to everyone who reads SPIR-V, and takes the modes out of
//! the names again.
//!
//! OpenCL C Specification, "Select Rounding Mode": arithmetic, conversions and `vstore_half` that
//! name no mode have the selected one; conversions to integers and the mathematical, common and
//! geometric functions do not.

use std::collections::{HashMap, HashSet};

use super::clang::{self, Error, Request};
use super::{SOURCE_NAME, route};
use crate::spirv::{instructions, literal, push, string};

/// Names of parts of the text in a mode start with this and the mode.
const PREFIX: &str = "/brolga-rounding-";
const EXTENSION: &str = "cl_khr_select_fprounding_mode";

/// Opcodes and numbers from the SPIR-V Specification, "Instructions", and the OpenCL Extended
/// Instruction Set.
mod op {
    pub const STRING: u32 = 7;
    pub const LINE: u32 = 8;
    pub const EXT_INST_IMPORT: u32 = 11;
    pub const EXT_INST: u32 = 12;
    pub const TYPE_VOID: u32 = 19;
    pub const FUNCTION: u32 = 54;
    pub const FUNCTION_END: u32 = 56;
    pub const DECORATE: u32 = 71;
    pub const FP_ROUNDING_MODE: u32 = 39;
    /// Results that are rounded: OpConvertSToF, OpConvertUToF, OpFConvert; OpFAdd, OpFSub, OpFMul,
    /// OpFDiv, OpVectorTimesScalar.
    pub const ROUNDED: [u32; 8] = [111, 112, 115, 129, 131, 133, 136, 142];
    pub const LABEL: u32 = 248;
    pub const NO_LINE: u32 = 317;
    /// `vstore_half`, `vstore_halfn`, `vstorea_halfn`: the number of the form that takes a mode is
    /// one more.
    pub const VSTORE_HALF: [u32; 3] = [175, 177, 180];
}

/// Directions, by their numbers in SPIR-V.
const MODES: [&str; 4] = ["rte", "rtz", "rtp", "rtn"];

/// Whether the source may select rounding modes.
pub(super) fn is_selected(request: &Request) -> bool {
    request.features.extensions.iter().any(|e| e == EXTENSION)
        && route::mentions(request, "SELECT_ROUNDING_MODE")
}

/// The translated module, with every operation decorated with its mode.
pub(super) fn translate(request: &Request) -> Result<(Vec<u32>, String), Error> {
    let source = announce(request.source, SOURCE_NAME).map_err(Error::compile)?;
    let mut headers = Vec::new();
    for (name, text) in request.headers {
        let text = announce(text, name).map_err(Error::compile)?;
        headers.push((name.clone(), text));
    }
    let announced = Request {
        source: &source,
        headers: &headers,
        preprocessed: None,
        ..*request
    };
    let text = clang::preprocess_with_lines(&announced)?;
    let mut options = request.options.clone();
    options.defines.clear();
    options.include_dirs.clear();
    let marked = Request {
        source: &mark(&text),
        headers: &[],
        options: &options,
        preprocessed: None,
        ..*request
    };
    let (mut words, log) = clang::bitcode_as_written(&marked).map_err(|error| Error {
        log: without_prefixes(&error.log),
        ..error
    })?;
    apply(&mut words);
    Ok((words, without_prefixes(&log)))
}

/// The mode of a line that selects one, or what is wrong with it.
fn selected(line: &str) -> Option<Result<usize, String>> {
    let directive = line.trim_start().strip_prefix('#')?;
    let directive = directive.split("//").next().unwrap_or_default();
    let directive = directive.split("/*").next().unwrap_or_default();
    let mut words = directive.split_whitespace();
    if [words.next(), words.next(), words.next()]
        != [Some("pragma"), Some("OPENCL"), Some("SELECT_ROUNDING_MODE")]
    {
        return None;
    }
    let mode = words.next().unwrap_or_default();
    let known = MODES.iter().position(|&m| m == mode);
    Some(match (known, words.next()) {
        (Some(mode), None) => Ok(mode),
        (Some(_), Some(extra)) => Err(format!("'{extra}' after the rounding mode")),
        (None, _) => Err(format!(
            "'{mode}' is not a rounding mode; expected rte, rtz, rtp or rtn"
        )),
    })
}

/// Has `__ROUNDING_MODE__` redefined before each pragma, which keeps its line number.
fn announce(text: &str, name: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len() + 256);
    let mut in_comment = false;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if !in_comment && let Some(mode) = selected(line) {
            let mode = mode.map_err(|why| format!("{name}:{number}:1: error: {why}\n"))?;
            out.push_str(&format!(
                "#undef __ROUNDING_MODE__\n#define __ROUNDING_MODE__ {}\n#line {number}\n",
                MODES[mode]
            ));
        }
        out.push_str(line);
        out.push('\n');
        in_comment = ends_in_comment(line, in_comment);
    }
    Ok(out)
}

/// Whether a `/*` is open after the line.
fn ends_in_comment(line: &str, mut open: bool) -> bool {
    let mut rest = line;
    loop {
        if open {
            let Some((_, tail)) = rest.split_once("*/") else {
                return true;
            };
            (rest, open) = (tail, false);
        }
        let Some(at) = rest.find(['"', '/']) else {
            return false;
        };
        rest = if rest[at..].starts_with("/*") {
            open = true;
            &rest[at + 2..]
        } else if rest[at..].starts_with("//") {
            return false;
        } else if rest[at..].starts_with('"') {
            // To the end of the literal.
            let mut escaped = false;
            let end = rest[at + 1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            match end {
                Some(end) => &rest[at + end + 2..],
                None => return false,
            }
        } else {
            &rest[at + 1..]
        };
    }
}

/// Preprocessed text with the mode in force in the name of each part, pragmas removed.
fn mark(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 1024);
    let mut mode = 0;
    // Where the next line stands.
    let (mut line_number, mut file) = (1u64, SOURCE_NAME);
    let marker = |number: u64, file: &str, mode: usize| {
        format!("# {number} \"{PREFIX}{}/{file}\"\n", MODES[mode])
    };
    out.push_str(&marker(line_number, file, mode));
    for line in text.lines() {
        if let Some(moved) = line_marker(line) {
            (line_number, file) = moved;
            out.push_str(&marker(line_number, file, mode));
            continue;
        }
        match selected(line) {
            Some(Ok(new)) => {
                mode = new;
                out.push_str(&marker(line_number + 1, file, mode));
            }
            _ => {
                out.push_str(line);
                out.push('\n');
            }
        }
        line_number += 1;
    }
    out
}

/// The number and the name, as it is escaped there, in `# 12 "name" flags`.
fn line_marker(line: &str) -> Option<(u64, &str)> {
    let (number, rest) = line.strip_prefix("# ")?.split_once(' ')?;
    let (name, _) = rest.strip_prefix('"')?.rsplit_once('"')?;
    Some((number.parse().ok()?, name))
}

/// The mode in a file name, and the name without it.
fn mode_of(name: &str) -> Option<(usize, &str)> {
    let (mode, name) = name.strip_prefix(PREFIX)?.split_once('/')?;
    Some((MODES.iter().position(|&m| m == mode)?, name))
}

fn without_prefixes(log: &str) -> String {
    MODES.iter().fold(log.to_owned(), |log, mode| {
        log.replace(&format!("{PREFIX}{mode}/"), "")
    })
}

/// Decorates what rounds with the mode of the line that it comes from, unless it has one of its
/// own.
fn apply(words: &mut Vec<u32>) {
    let mut modes: HashMap<u32, usize> = HashMap::new();
    let mut decorated: HashSet<u32> = HashSet::new();
    let mut opencl: Option<u32> = None;
    for (opcode, inst) in instructions(words) {
        match (opcode, inst) {
            (op::STRING, [id, text @ ..]) => {
                modes.extend(mode_of(&string(text)).map(|(mode, _)| (*id, mode)));
            }
            (op::DECORATE, [id, op::FP_ROUNDING_MODE, ..]) => {
                decorated.insert(*id);
            }
            (op::EXT_INST_IMPORT, [id, name @ ..]) if string(name) == "OpenCL.std" => {
                opencl = Some(*id);
            }
            _ => {}
        }
    }
    let mut body: Vec<u32> = Vec::with_capacity(words.len());
    let mut decorations: Vec<u32> = Vec::new();
    let mut mode = 0;
    // Where decorations may be inserted: before the first type.
    let mut types_at = None;
    body.extend_from_slice(&words[..5.min(words.len())]);
    for (opcode, inst) in instructions(words) {
        if types_at.is_none() && (op::TYPE_VOID..=op::FUNCTION).contains(&opcode) {
            types_at = Some(body.len());
        }
        match (opcode, inst) {
            (op::LINE, [file, ..]) => mode = modes.get(file).copied().unwrap_or(0),
            (op::NO_LINE | op::LABEL | op::FUNCTION_END, _) => mode = 0,
            (opcode, [_, result, ..])
                if mode != 0 && op::ROUNDED.contains(&opcode) && !decorated.contains(result) =>
            {
                let operands = [*result, op::FP_ROUNDING_MODE, mode as u32];
                push(&mut decorations, op::DECORATE, &operands);
            }
            _ => {}
        }
        match (opcode, inst) {
            (op::STRING, [id, text @ ..]) if modes.contains_key(id) => {
                let text = string(text);
                let name = mode_of(&text).map_or(text.as_str(), |(_, name)| name);
                let operands: Vec<u32> = std::iter::once(*id).chain(literal(name)).collect();
                push(&mut body, opcode, &operands);
            }
            (op::EXT_INST, [ty, result, set, number, args @ ..])
                if mode != 0 && opencl == Some(*set) && op::VSTORE_HALF.contains(number) =>
            {
                let mut operands = vec![*ty, *result, *set, number + 1];
                operands.extend_from_slice(args);
                operands.push(mode as u32);
                push(&mut body, opcode, &operands);
            }
            _ => push(&mut body, opcode, inst),
        }
    }
    let at = types_at.unwrap_or(body.len());
    body.splice(at..at, decorations);
    *words = body;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pragmas_are_announced_outside_comments_only() {
        let text = "a\n # pragma OPENCL SELECT_ROUNDING_MODE rtz // x\n/* \"\n#pragma OPENCL SELECT_ROUNDING_MODE rtp\n*/";
        let out = announce(text, "f").unwrap();
        assert_eq!(out.matches("#define __ROUNDING_MODE__").count(), 1);
        assert!(
            out.contains("#define __ROUNDING_MODE__ rtz\n#line 2\n # pragma"),
            "{out}"
        );
        let wrong = announce("\n#pragma OPENCL SELECT_ROUNDING_MODE up", "f").unwrap_err();
        assert!(
            wrong.starts_with("f:2:1: error: 'up' is not a rounding mode"),
            "{wrong}"
        );
        assert!(announce("#pragma OPENCL SELECT_ROUNDING_MODE rtz x", "f").is_err());
        assert!(ends_in_comment("x \"/*\" /* y", false));
        assert!(!ends_in_comment("\"\\\"/*\" // /*", false));
        assert!(!ends_in_comment("x */ y / z", true));
    }

    #[test]
    fn the_mode_is_in_the_name_until_the_next_pragma() {
        let text =
            "# 1 \"kernel.cl\" 2\na\n#pragma OPENCL SELECT_ROUNDING_MODE rtz\nb\n# 1 \"h\" 1\nc\n";
        let marked = mark(text);
        let expected =
            "# 3 \"/brolga-rounding-rtz/kernel.cl\"\nb\n# 1 \"/brolga-rounding-rtz/h\"\nc\n";
        assert!(marked.ends_with(expected), "{marked}");
        assert!(
            marked.contains("# 1 \"/brolga-rounding-rte/kernel.cl\"\na\n"),
            "{marked}"
        );
    }
}
