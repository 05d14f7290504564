//! The option strings of `clBuildProgram`, `clCompileProgram` and `clLinkProgram`.
//!
//! OpenCL API Specification, "Compiler Options" and "Linker Options". An option that is not in
//! those sections is an error (`CL_INVALID_BUILD_OPTIONS`), named in the message. Options are
//! separated by white space; as applications pass paths and string macros, double and single quotes
//! group and a backslash escapes, like in a POSIX shell.

use std::fmt;

use brolga_compiler::BuildOptions;
use brolga_opencl_c::Std;

/// What `-cl-std` names. Without it the highest version of OpenCL C 1.x is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    C(Std),
    /// C++ for OpenCL 1.0, of the 2.0 family.
    Cpp10,
    /// C++ for OpenCL 2021, of the 3.0 family.
    Cpp2021,
}

impl Default for Language {
    fn default() -> Self {
        Language::C(Std::C12)
    }
}

impl Language {
    /// The version of OpenCL C that it is, or builds on: the value of `__OPENCL_C_VERSION__`.
    pub fn number(self) -> u32 {
        match self {
            Language::C(std) => std.number(),
            Language::Cpp10 => Std::C20.number(),
            Language::Cpp2021 => Std::C30.number(),
        }
    }

    fn parse(name: &str) -> Option<Self> {
        match name {
            "CLC++" | "CLC++1.0" => Some(Language::Cpp10),
            "CLC++2021" => Some(Language::Cpp2021),
            name => Std::parse(name).map(Language::C),
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Language::C(std) => std.fmt(f),
            Language::Cpp10 => f.write_str("CLC++1.0"),
            Language::Cpp2021 => f.write_str("CLC++2021"),
        }
    }
}

/// A parsed option string.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// What changes generated code.
    pub compiler: BuildOptions,
    pub language: Language,
    /// `-D`: `NAME` or `NAME=VALUE`, in order.
    pub defines: Vec<String>,
    /// `-I`, in order.
    pub include_dirs: Vec<String>,
    /// `-cl-single-precision-constant`
    pub single_precision_constant: bool,
    /// `-cl-fp32-correctly-rounded-divide-sqrt`
    pub correctly_rounded_divide_sqrt: bool,
    /// `-cl-uniform-work-group-size`
    pub uniform_work_group_size: bool,
    /// `-cl-no-subgroup-ifp`
    pub no_subgroup_ifp: bool,
    /// `-cl-kernel-arg-info`
    pub kernel_arg_info: bool,
    /// `-w`
    pub no_warnings: bool,
    /// `-Werror`
    pub warnings_are_errors: bool,
    /// `-g`
    pub debug_info: bool,
    /// `-cl-brolga-remarks`: the build log says how each kernel is run, and why (which needs source
    /// lines).
    pub remarks: bool,
    /// `-x spir` (the program is a SPIR binary; only meaningful with `cl_khr_spir`).
    pub is_spir: bool,
    /// Nothing else is linked to what is compiled with these: `clBuildProgram` says so, no option
    /// does.
    pub whole_program: bool,
    /// Variables that the source does not initialize are zero
    /// (`CL_CONTEXT_MEMORY_INITIALIZE_PRIVATE_KHR`).
    pub zeroed_variables: bool,
    /// `-create-library` (link only)
    pub create_library: bool,
    /// `-enable-link-options` (link only)
    pub enable_link_options: bool,
}

impl Options {
    /// Whether there is any option of the specification's section "Program Linking Options".
    pub(crate) fn has_program_linking_option(&self) -> bool {
        let compiler = &self.compiler;
        compiler.denorms_are_zero
            || compiler.no_signed_zeros
            || compiler.unsafe_math
            || compiler.finite_math_only
            || compiler.fast_relaxed_math
            || self.no_subgroup_ifp
    }
}

/// Parses an option string; the error names the option that is wrong.
pub fn parse(text: &str) -> Result<Options, String> {
    let mut options = Options::default();
    let mut words = split(text)?.into_iter();
    while let Some(word) = words.next() {
        // `-D NAME` and `-DNAME` are the same, and so with `-I` and `-x`.
        let mut operand = |prefix: &str| -> Result<String, String> {
            let rest = &word[prefix.len()..];
            if !rest.is_empty() {
                return Ok(rest.to_owned());
            }
            words
                .next()
                .filter(|next| !next.is_empty())
                .ok_or_else(|| format!("option '{prefix}' needs an argument"))
        };
        let compiler = &mut options.compiler;
        match word.as_str() {
            "-cl-single-precision-constant" => options.single_precision_constant = true,
            "-cl-denorms-are-zero" => compiler.denorms_are_zero = true,
            "-cl-fp32-correctly-rounded-divide-sqrt" => {
                options.correctly_rounded_divide_sqrt = true;
            }
            "-cl-opt-disable" => compiler.opt_disable = true,
            "-cl-mad-enable" => compiler.mad_enable = true,
            "-cl-no-signed-zeros" => compiler.no_signed_zeros = true,
            // "This option includes the -cl-no-signed-zeros and -cl-mad-enable options."
            "-cl-unsafe-math-optimizations" => {
                compiler.unsafe_math = true;
                compiler.no_signed_zeros = true;
                compiler.mad_enable = true;
            }
            "-cl-finite-math-only" => compiler.finite_math_only = true,
            // "Sets the optimization options -cl-finite-math-only and
            // -cl-unsafe-math-optimizations."
            "-cl-fast-relaxed-math" => {
                compiler.fast_relaxed_math = true;
                compiler.finite_math_only = true;
                compiler.unsafe_math = true;
                compiler.no_signed_zeros = true;
                compiler.mad_enable = true;
            }
            "-cl-uniform-work-group-size" => options.uniform_work_group_size = true,
            "-cl-no-subgroup-ifp" => options.no_subgroup_ifp = true,
            "-cl-kernel-arg-info" => options.kernel_arg_info = true,
            // Of OpenCL 1.0, deprecated since, without effect.
            "-cl-strict-aliasing" => {}
            "-w" => options.no_warnings = true,
            "-Werror" => options.warnings_are_errors = true,
            "-g" => options.debug_info = true,
            "-cl-brolga-remarks" => {
                options.remarks = true;
                options.debug_info = true;
            }
            "-create-library" => options.create_library = true,
            "-enable-link-options" => options.enable_link_options = true,
            word if word.starts_with("-cl-std=") => {
                options.language = Language::parse(&word["-cl-std=".len()..])
                    .ok_or_else(|| format!("'{word}': no such OpenCL C version"))?;
            }
            // Of cl_khr_spir. The version is not ours to check: the module says its own.
            word if word.starts_with("-spir-std=") => {}
            word if word.starts_with("-x") => match operand("-x")?.as_str() {
                "spir" => options.is_spir = true,
                "cl" => {}
                language => return Err(format!("option '-x': unknown language '{language}'")),
            },
            word if word.starts_with("-D") => {
                // "the definition will be truncated by embedded newline characters"
                let define = operand("-D")?;
                let define = define.lines().next().unwrap_or_default().to_owned();
                check_define(&define)?;
                options.defines.push(define);
            }
            word if word.starts_with("-I") => options.include_dirs.push(operand("-I")?),
            word => return Err(format!("unknown build option '{word}'")),
        }
    }
    Ok(options)
}

/// A macro definition starts with an identifier (with or without parameters).
fn check_define(define: &str) -> Result<(), String> {
    let start = define.chars().next();
    if start.is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
        Ok(())
    } else {
        Err(format!("option '-D': '{define}' is not a macro definition"))
    }
}

/// Splits at white space outside quotes.
fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\0', _) => return Err("the options contain a NUL character".to_owned()),
            // Only before what it protects: Windows paths keep their separators.
            ('\\', _) if chars.peek().is_some_and(|n| "\"'\\ ".contains(*n)) => {
                if let Some(next) = chars.next() {
                    word.get_or_insert_default().push(next);
                }
            }
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(format!("the options contain an unclosed {open}"));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_string_means_opencl_c_1_2() {
        let options = parse("  \t\n").unwrap();
        assert_eq!(options, Options::default());
        assert_eq!(options.language, Language::C(Std::C12));
    }

    #[test]
    fn defines_and_directories_attach_or_follow() {
        let options =
            parse("-DA -D \"B=3\n4\" -DF(x)=x -I /inc -Irel -I \"a b\" -D S=\\\"hi\\\"").unwrap();
        assert_eq!(options.defines, ["A", "B=3", "F(x)=x", "S=\"hi\""]);
        assert_eq!(options.include_dirs, ["/inc", "rel", "a b"]);
    }

    #[test]
    fn quotes_group_and_backslashes_escape() {
        assert_eq!(
            split(r#"-D"X=a b" 'c d'e f\ g h\i "" "#).unwrap(),
            ["-DX=a b", "c de", "f g", "h\\i", ""]
        );
        assert!(split("-D\"X").unwrap_err().contains("unclosed"));
    }

    #[test]
    fn math_options_include_what_the_specification_says() {
        let options = parse("-cl-unsafe-math-optimizations").unwrap().compiler;
        assert!(options.no_signed_zeros && options.mad_enable && !options.finite_math_only);
        let options = parse("-cl-fast-relaxed-math").unwrap().compiler;
        assert!(options.unsafe_math && options.finite_math_only && options.no_signed_zeros);
    }

    #[test]
    fn every_standard_option_parses() {
        let options = parse(
            "-cl-single-precision-constant -cl-denorms-are-zero -cl-fp32-correctly-rounded-divide-sqrt \
             -cl-opt-disable -cl-mad-enable -cl-no-signed-zeros -cl-finite-math-only -cl-strict-aliasing \
             -cl-uniform-work-group-size -cl-no-subgroup-ifp -cl-kernel-arg-info -w -Werror -g -cl-std=CL3.1 \
             -x spir -spir-std=1.2 -create-library -enable-link-options",
        )
        .unwrap();
        assert!(options.kernel_arg_info && options.is_spir && options.create_library);
        assert_eq!(options.language.number(), 310);
        for name in [
            "CL1.0",
            "CL1.1",
            "CL1.2",
            "CL2.0",
            "CL3.0",
            "CL3.1",
            "CLC++2021",
        ] {
            let options = parse(&format!("-cl-std={name}")).unwrap();
            assert_eq!(options.language.to_string(), name);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, name) in [
            ("-w -foo", "'-foo'"),
            ("-cl-std=CL9.9", "CL9.9"),
            ("kernel.cl", "'kernel.cl'"),
            ("-D", "'-D'"),
            ("-I", "'-I'"),
            ("-D 3=4", "'3=4'"),
            ("-D \"\"", "'-D'"),
            ("-x java", "'java'"),
            ("-O3", "'-O3'"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains(name), "{text}: {message}");
        }
    }
}
