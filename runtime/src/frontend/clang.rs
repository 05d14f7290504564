//! The command lines, and what their results mean.

use std::fmt::Write;
use std::fs::File;
use std::io;

use brolga_compiler::SpecConstants;

use crate::spirv;

use super::options::ClStd;
use super::process::{self, Finished};
use super::route::{self, Way};
use super::tools::Tools;
use super::{DeviceFeatures, Failure, Options, SOURCE_NAME, atomics, copies, dot, groups, module};

/// One source and everything that its translation depends on.
pub(super) struct Request<'a> {
    pub source: &'a str,
    pub headers: &'a [(String, String)],
    pub options: &'a Options,
    pub features: &'a DeviceFeatures,
    pub tools: &'a Tools,
    /// What the preprocessor made of the source, where that had to be known.
    pub preprocessed: Option<String>,
}

#[derive(Debug)]
pub(super) struct Error {
    pub failure: Failure,
    pub log: String,
}

impl Error {
    pub(super) fn compile(log: impl Into<String>) -> Self {
        Error {
            failure: Failure::CompileError,
            log: log.into(),
        }
    }

    fn not_started(what: &str, why: &io::Error) -> Self {
        Error {
            failure: match why.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                    Failure::CompilerNotFound
                }
                _ => Failure::CompileError,
            },
            log: format!("error: {what} could not be run: {why}\n"),
        }
    }
}

/// SPIR-V extensions that functions of OpenCL C extensions need.
const SPIRV_EXTENSIONS: &str = "+SPV_KHR_bit_instructions,+SPV_KHR_subgroup_rotate,+SPV_KHR_uniform_group_instructions,\
     +SPV_INTEL_subgroups,+SPV_KHR_integer_dot_product,\
     +SPV_EXT_shader_atomic_float_add,+SPV_EXT_shader_atomic_float_min_max,+SPV_KHR_expect_assume,+SPV_KHR_no_integer_wrap_decoration,\
     +SPV_KHR_float_controls";

/// The same, that llvm-spirv does not know.
const NEWER_EXTENSIONS: &str = "+SPV_EXT_shader_atomic_float16_add,+SPV_KHR_shader_clock";

/// llvm-spirv stops at null constants of this type; the compiler takes this for one.
const NULL_QUEUE: &str = "#undef CLK_NULL_QUEUE\n#define CLK_NULL_QUEUE (__builtin_astype(((void *)(__SIZE_MAX__)), queue_t))\n";

/// Where embedded headers appear to be. Nothing is there: the compiler sees it through an overlay.
const HEADER_ROOT: &str = "/brolga-embedded-headers";

/// The preprocessed source.
pub(super) fn preprocess(request: &Request) -> Result<String, Error> {
    let direct = request.tools.direct.as_ref();
    let (clang, way) = match (direct, &request.tools.bitcode) {
        (Some(clang), _) => (clang, Way::Direct),
        (None, Some((clang, _))) => (clang, Way::Bitcode),
        (None, None) => return Err(Error::compile("error: no compiler\n")),
    };
    let mut command =
        CommandLine::new(request, way).map_err(|e| Error::not_started("clang", &e))?;
    command.push("-E");
    // The preprocessed text is to show which functions the source uses.
    command.define_functions = false;
    let done = command.run(clang, request)?;
    if done.success {
        Ok(without_system_headers(&String::from_utf8_lossy(
            &done.stdout,
        )))
    } else {
        Err(Error::compile(done.stderr))
    }
}

/// The preprocessed source as clang 15 sees it, with line markers.
pub(super) fn preprocess_with_lines(request: &Request) -> Result<String, Error> {
    let Some((clang, _)) = &request.tools.bitcode else {
        return Err(Error::compile(format!(
            "{SOURCE_NAME}: error: rounding modes are selected through clang-15 and llvm-spirv-15, which are not installed\n"
        )));
    };
    let mut command =
        CommandLine::new(request, Way::Bitcode).map_err(|e| Error::not_started("clang", &e))?;
    command.push("-E");
    let done = command.run(clang, request)?;
    if !done.success {
        return Err(Error::compile(done.stderr));
    }
    Ok(without_system_headers(&String::from_utf8_lossy(
        &done.stdout,
    )))
}

/// What comes from the program and its headers, and not from the compiler's own: line markers (`# 1
/// "file" flags`) tell, with flag 3.
fn without_system_headers(text: &str) -> String {
    let mut system = false;
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        if let Some(marker) = line.strip_prefix("# ") {
            let flags = marker.rsplit('"').next().unwrap_or_default();
            system = flags.split(' ').any(|flag| flag == "3");
        }
        if !system {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// LLVM IR text as the front end makes it, before any optimisation: for its metadata.
pub(super) fn emit_llvm_text(request: &Request, way: Way) -> Option<String> {
    let clang = match way {
        Way::Direct => request.tools.direct.as_ref()?,
        Way::Bitcode => &request.tools.bitcode.as_ref()?.0,
    };
    let mut command = CommandLine::new(request, way).ok()?;
    for argument in [
        "-w",
        "-O0",
        "-S",
        "-emit-llvm",
        "-cl-kernel-arg-info",
        "-Xclang",
        "-disable-llvm-passes",
    ] {
        command.push(argument);
    }
    let done = command.run(clang, request).ok()?;
    (done.success && !done.stdout.is_empty())
        .then(|| String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Compiles the request, by another way when the chosen one turns out not to do.
pub(super) fn translate(request: &Request, way: Way) -> Result<(Vec<u32>, String), Error> {
    if way == Way::Direct {
        let (words, log) = direct(request)?;
        return match module::suspicion(&words) {
            None => Ok((words, log)),
            Some(why) => Err(Error::compile(format!(
                "{SOURCE_NAME}: error: the compiler produced {why}; \
                 installing clang-15 and llvm-spirv-15 may help\n"
            ))),
        };
    }
    let first = bitcode(request);
    let another_way_may_do = match &first {
        Ok((words, _)) => !is_readable(request, words),
        Err(error) => error.recoverable,
    };
    // What clang 15 or its translator stops at may still be within clang 22's reach, if what it
    // gives looks right.
    if another_way_may_do
        && request.tools.direct.is_some()
        && route::mistranslated(request).is_none()
        && let Ok((words, log)) = direct(request)
        && module::suspicion(&words).is_none()
        && is_readable(request, &words)
    {
        return Ok((words, log));
    }
    first.map_err(|mut first| {
        if request.tools.direct.is_none() && is_unknown(&first.error.log) {
            first.error.log.push_str(
                "note: clang-22 is not installed; it knows functions that clang-15 and llvm-spirv-15 do not\n",
            );
        }
        first.error
    })
}

/// Whether the compiler takes the module. One that others will be linked to may lack their
/// functions, so nothing is said of it here.
fn is_readable(request: &Request, words: &[u32]) -> bool {
    !request.options.whole_program
        || brolga_compiler::spirv::translate(
            &[words],
            &SpecConstants::default(),
            &request.options.compiler,
        )
        .is_ok()
}

/// Whether a compiler stopped at a name that it does not know, or the translator at something in
/// the bitcode.
fn is_unknown(log: &str) -> bool {
    [
        "implicit declaration of function",
        "undeclared identifier",
        "unknown type name",
        "lib/SPIRV/",
    ]
    .iter()
    .any(|sign| log.contains(sign))
}

/// clang 22 alone, unoptimised.
///
/// From `-O1` on it takes variables in `local` memory for static ones that begin as zero, and drops
/// stores of zeros to them. Its writer has the mistakes that `route.rs` lists in either case.
fn direct(request: &Request) -> Result<(Vec<u32>, String), Error> {
    let Some(clang) = &request.tools.direct else {
        return Err(Error::compile("error: clang-22 is not installed\n"));
    };
    let mut command =
        CommandLine::new(request, Way::Direct).map_err(|e| Error::not_started("clang", &e))?;
    let extensions = format!("-spirv-ext={SPIRV_EXTENSIONS},{NEWER_EXTENSIONS}");
    for argument in ["-O0", "-c", "-mllvm", &extensions] {
        command.push(argument);
    }
    let done = command.run(clang, request)?;
    match spirv::words(&done.stdout) {
        Some(mut words) if done.success => {
            module::name_kernels_plainly(&mut words);
            Ok((words, done.stderr))
        }
        _ => Err(Error::compile(explain(done.stderr))),
    }
}

/// Why the way over bitcode failed, and whether another way may do better.
struct BitcodeError {
    error: Error,
    recoverable: bool,
}

/// clang 15, unoptimised, then the translator, which promotes private variables to SSA.
///
/// The translator stops at several constructs that optimisation introduces: `freeze` (wherever a
/// division and a remainder meet), saturating intrinsics, integers of odd widths. Trying `-O1`
/// first costs more than it gains, as our compiler optimises as well.
fn bitcode(request: &Request) -> Result<(Vec<u32>, String), BitcodeError> {
    bitcode_with(request, &[])
}

/// [`bitcode`] with every floating-point operation where it stands in the text, and known to be
/// from there: no rounding mode is assumed, and lines are written down.
pub(super) fn bitcode_as_written(request: &Request) -> Result<(Vec<u32>, String), Error> {
    let arguments = [
        "-gline-tables-only",
        "-frounding-math",
        "-Xclang",
        "-fexperimental-strict-floating-point",
    ];
    bitcode_with(request, &arguments).map_err(|e| e.error)
}

fn bitcode_with(request: &Request, more: &[&str]) -> Result<(Vec<u32>, String), BitcodeError> {
    let fatal = |error| BitcodeError {
        error,
        recoverable: false,
    };
    let recoverable = |log| BitcodeError {
        error: Error::compile(log),
        recoverable: true,
    };
    let Some((clang, translator)) = &request.tools.bitcode else {
        return Err(fatal(Error::compile(
            "error: clang-15 and llvm-spirv-15 are not installed\n",
        )));
    };
    let mut command = CommandLine::new(request, Way::Bitcode)
        .map_err(|e| fatal(Error::not_started("clang", &e)))?;
    for argument in ["-O0", "-c", "-emit-llvm"].iter().chain(more) {
        command.push(*argument);
    }
    if request.options.debug_info {
        // The build log and remarks name files relative to the current directory.
        command.push("-gline-tables-only");
        command.push("-fdebug-compilation-dir=.");
    }
    let compiled = command.run(clang, request).map_err(fatal)?;
    if !compiled.success || compiled.stdout.is_empty() {
        return Err(recoverable(explain(compiled.stderr)));
    }
    let extensions = format!("--spirv-ext={SPIRV_EXTENSIONS}");
    let arguments = ["--spirv-mem2reg", &extensions, "-o", "-", "-"];
    let done = process::run(translator, arguments, &compiled.stdout)
        .map_err(|e| fatal(Error::not_started("llvm-spirv", &e)))?;
    match spirv::words(&done.stdout) {
        Some(mut words) if done.success => {
            if request.options.debug_info {
                module::without_debug_sets(&mut words);
            }
            Ok((words, compiled.stderr))
        }
        _ => Err(recoverable(format!(
            "{}{}",
            compiled.stderr,
            explain(done.stderr)
        ))),
    }
}

/// A log that says at least something.
fn explain(log: String) -> String {
    if log.trim().is_empty() {
        format!("{SOURCE_NAME}: error: the compiler failed without a message\n")
    } else {
        log
    }
}

/// A clang command line, and the memory files it refers to.
struct CommandLine {
    way: Way,
    /// Whether what clang mistranslates or does not know is defined otherwise.
    define_functions: bool,
    arguments: Vec<String>,
    /// Open while the command runs.
    _files: Vec<File>,
}

impl CommandLine {
    /// The arguments common to all uses. Further ones go before the final `-o - -`, which
    /// [`CommandLine::run`] adds.
    fn new(request: &Request, way: Way) -> io::Result<Self> {
        let options = request.options;
        let mut command = CommandLine {
            way,
            define_functions: true,
            arguments: Vec::new(),
            _files: Vec::new(),
        };
        command.push(match way {
            Way::Direct => "--target=spirv64",
            Way::Bitcode => "--target=spir64",
        });
        let std = match options.cl_std {
            ClStd::C31 => ClStd::C30,
            std => std,
        };
        command.push(format!("-cl-std={std}"));
        for argument in [
            "-x",
            "cl",
            "-Xclang",
            &format!("-cl-ext={}", request.features.cl_ext()),
            // A function that is `inline` but not `static` has a body all the same.
            "-fgnu89-inline",
            // No files in /tmp when the compiler crashes.
            "-fno-crash-diagnostics",
            "-fno-color-diagnostics",
            // Some options mean nothing to some targets.
            "-Wno-unused-command-line-argument",
            // Names of arguments and values, for clGetKernelArgInfo, messages and dumps.
            "-fno-discard-value-names",
        ] {
            command.push(argument);
        }
        // clang does not know these; with them its headers declare sub-groups' functions in every
        // OpenCL C.
        let extensions = request.features.extensions.iter();
        for name in extensions.filter(|name| name.starts_with("cl_intel_")) {
            command.push(format!("-D{name}=1"));
        }
        match way {
            Way::Bitcode => {
                command.push("-Xclang");
                command.push("-finclude-default-header");
            }
            // A pointer of another type is an error to clang 22, a warning to clang 15 and other
            // implementations; programs (clFFT's, for one) rely on it.
            Way::Direct if !options.warnings_are_errors => {
                command.push("-Wno-error=incompatible-pointer-types");
            }
            Way::Direct => {}
        }
        if options.zeroed_variables {
            command.push("-ftrivial-auto-var-init=zero");
            if way == Way::Bitcode {
                // Older versions want to be told that it is meant.
                command.push(
                    "-enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang",
                );
            }
        }
        command.push_language_options(options);
        command.push_headers(request.headers)?;
        for directory in &options.include_dirs {
            command.push(format!("-I{directory}"));
        }
        for define in &options.defines {
            command.push(format!("-D{define}"));
        }
        Ok(command)
    }

    fn push(&mut self, argument: impl Into<String>) {
        self.arguments.push(argument.into());
    }

    fn push_language_options(&mut self, options: &Options) {
        let compiler = &options.compiler;
        for (on, flag) in [
            (
                options.single_precision_constant,
                "-cl-single-precision-constant",
            ),
            (
                options.correctly_rounded_divide_sqrt,
                "-cl-fp32-correctly-rounded-divide-sqrt",
            ),
            (
                options.uniform_work_group_size,
                "-cl-uniform-work-group-size",
            ),
            (options.kernel_arg_info, "-cl-kernel-arg-info"),
            (compiler.denorms_are_zero, "-cl-denorms-are-zero"),
            (compiler.mad_enable, "-cl-mad-enable"),
            (compiler.no_signed_zeros, "-cl-no-signed-zeros"),
            (compiler.unsafe_math, "-cl-unsafe-math-optimizations"),
            (compiler.finite_math_only, "-cl-finite-math-only"),
            (compiler.fast_relaxed_math, "-cl-fast-relaxed-math"),
            (options.no_warnings, "-w"),
            (options.warnings_are_errors, "-Werror"),
        ] {
            if on {
                self.push(flag);
            }
        }
    }

    /// Shows the embedded headers to clang as files of one directory: a virtual file system overlay
    /// (in YAML, of which JSON is a part) maps their names to memory files.
    fn push_headers(&mut self, headers: &[(String, String)]) -> io::Result<()> {
        if headers.is_empty() {
            return Ok(());
        }
        let mut entries = String::new();
        for (name, text) in headers {
            let file = process::memory_file("brolga-header", text.as_bytes())?;
            if !entries.is_empty() {
                entries.push(',');
            }
            let _ = write!(
                entries,
                r#"{{"type":"file","name":{},"external-contents":{}}}"#,
                json_string(&format!("{HEADER_ROOT}/{}", name.trim_start_matches('/'))),
                json_string(&process::path_for_children(&file)),
            );
            self._files.push(file);
        }
        let overlay = format!(
            r#"{{"version":0,"case-sensitive":"true","use-external-names":"false","roots":[{entries}]}}"#
        );
        let file = process::memory_file("brolga-overlay", overlay.as_bytes())?;
        self.push("-ivfsoverlay");
        self.push(process::path_for_children(&file));
        self.push(format!("-I{HEADER_ROOT}"));
        self._files.push(file);
        Ok(())
    }

    fn run(mut self, clang: &std::path::Path, request: &Request) -> Result<Finished, Error> {
        for argument in ["-o", "-", "-"] {
            self.push(argument);
        }
        let (queries, definitions) = match self.way {
            _ if !self.define_functions => (Vec::new(), String::new()),
            Way::Bitcode => (
                route::unbounded_queries(request),
                groups::declarations(request)
                    + &dot::definitions(request)
                    + if route::mentions(request, "CLK_NULL_QUEUE") {
                        NULL_QUEUE
                    } else {
                        ""
                    },
            ),
            Way::Direct => (
                Vec::new(),
                groups::declarations(request) + &atomics::definitions(request),
            ),
        };
        let definitions = match self.define_functions {
            true => definitions + &copies::definitions(request),
            false => definitions,
        };
        let std = request.options.cl_std;
        let features = request.features;
        let mut input = features.prelude(std, &queries, &definitions, SOURCE_NAME);
        // A byte order mark is allowed at the start of a file only.
        input.push_str(request.source.trim_start_matches('\u{feff}'));
        let mut done = process::run(clang, &self.arguments, input.as_bytes())
            .map_err(|e| Error::not_started("clang", &e))?;
        done.stderr = done.stderr.replace(&format!("{HEADER_ROOT}/"), "");
        Ok(done)
    }
}

/// A JSON string literal.
fn json_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
