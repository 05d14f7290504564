//! Another language through another compiler: C++ for OpenCL in, SPIR-V out, by `clang-15` and
//! `llvm-spirv-15` as child processes.
//!
//! ```text
//! options, device -> mod.rs      command lines
//!                 -> process.rs  one of them run, with source, headers and results in memory
//! ```
//!
//! What they say and write is taken as it is. OpenCL C comes this way only for comparison
//! (`BROLGA_FRONTEND=clang`). There is no cache of results: which files on disk a source includes
//! is known only to clang, and programs that are to start fast keep their binaries.
//!
//! Open [`compile`] first.

mod process;

use std::fmt::Write;
use std::fs::File;
use std::io;
use std::path::Path;

use brolga_opencl_c::{Device, Std};

use super::options::Language;
use super::{Options, Output, SOURCE_NAME};
use crate::base::tools::Tools;
use crate::spirv;
use process::Finished;

/// SPIR-V extensions that functions of OpenCL C extensions need.
const SPIRV_EXTENSIONS: &str = "--spirv-ext=+SPV_KHR_bit_instructions,+SPV_KHR_subgroup_rotate,\
    +SPV_KHR_uniform_group_instructions,+SPV_INTEL_subgroups,+SPV_KHR_integer_dot_product,\
    +SPV_EXT_shader_atomic_float_add,+SPV_EXT_shader_atomic_float_min_max,+SPV_KHR_expect_assume,\
    +SPV_KHR_no_integer_wrap_decoration,+SPV_KHR_float_controls";

/// Where embedded headers appear to be. Nothing is there: clang sees it through an overlay.
const HEADER_ROOT: &str = "/brolga-embedded-headers";

/// Unoptimised bitcode, then the translator, which promotes private variables to SSA: it stops at
/// several constructs that optimisation introduces.
pub(super) fn compile(
    source: &str,
    headers: &[(String, String)],
    options: &Options,
    device: &Device,
) -> Output {
    let tools = match Tools::find() {
        Ok(tools) => tools,
        Err(missing) => return Output::failed(missing),
    };
    translate(&tools, source, headers, options, device)
        .unwrap_or_else(|why| Output::failed(format!("error: clang could not be run: {why}\n")))
}

fn translate(
    tools: &Tools,
    source: &str,
    headers: &[(String, String)],
    options: &Options,
    device: &Device,
) -> io::Result<Output> {
    let mut command = CommandLine::new(options, device);
    command.push_headers(headers)?;
    let compiled = command.run(&tools.clang, source)?;
    if !compiled.success {
        return Ok(Output::failed(explain(compiled.stderr)));
    }
    let arguments = [
        "--spirv-mem2reg",
        "--preserve-ocl-kernel-arg-type-metadata-through-string",
        SPIRV_EXTENSIONS,
        "-o",
        "-",
        "-",
    ];
    let done = process::run(&tools.translator, arguments, &compiled.stdout)?;
    Ok(match spirv::words(&done.stdout) {
        Some(words) if done.success => Output {
            spirv: Some(words),
            log: compiled.stderr,
            looked_for: None,
        },
        _ => Output::failed(compiled.stderr + &explain(done.stderr)),
    })
}

/// A log that says at least something.
fn explain(log: String) -> String {
    if log.trim().is_empty() {
        "error: the compiler failed without a message\n".to_owned()
    } else {
        log
    }
}

/// A clang command line, and the memory files it refers to.
struct CommandLine {
    arguments: Vec<String>,
    /// Open while the command runs.
    files: Vec<File>,
}

impl CommandLine {
    fn new(options: &Options, device: &Device) -> Self {
        let mut command = CommandLine {
            arguments: Vec::new(),
            files: Vec::new(),
        };
        let language = match options.language {
            // The newest that it knows.
            Language::C(Std::C31) => Language::C(Std::C30),
            language => language,
        };
        for argument in [
            "--target=spir64",
            "-O0",
            "-c",
            "-emit-llvm",
            "-x",
            "cl",
            "-Xclang",
            "-finclude-default-header",
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
        command.push(format!("-cl-std={language}"));
        command.push_device(device);
        command.push_options(options);
        command
    }

    fn push(&mut self, argument: impl Into<String>) {
        self.arguments.push(argument.into());
    }

    /// What the device has, as far as clang knows it. Its own idea of SPIR targets is "everything",
    /// so everything is switched off first.
    fn push_device(&mut self, device: &Device) {
        let mut list = "-cl-ext=-all".to_owned();
        for name in device.extensions.iter().chain(&device.features) {
            let _ = write!(list, ",+{name}");
        }
        self.push("-Xclang");
        self.push(list);
        // These are its headers' to know.
        let extensions = device.extensions.iter();
        for name in extensions.filter(|name| name.starts_with("cl_intel_")) {
            self.push(format!("-D{name}=1"));
        }
    }

    fn push_options(&mut self, options: &Options) {
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
            (options.debug_info, "-gline-tables-only"),
            // The build log and remarks name files relative to the current directory.
            (options.debug_info, "-fdebug-compilation-dir=."),
            (options.zeroed_variables, "-ftrivial-auto-var-init=zero"),
            (
                options.zeroed_variables,
                "-enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang",
            ),
        ] {
            if on {
                self.push(flag);
            }
        }
        for directory in &options.include_dirs {
            self.push(format!("-I{directory}"));
        }
        for define in &options.defines {
            self.push(format!("-D{define}"));
        }
    }

    /// Shows the embedded headers to clang as files of one directory: a virtual file system overlay
    /// (in YAML, of which JSON is a part) maps their names to memory files.
    fn push_headers(&mut self, headers: &[(String, String)]) -> io::Result<()> {
        if headers.is_empty() {
            return Ok(());
        }
        let mut entries = Vec::new();
        for (name, text) in headers {
            let file = process::memory_file("brolga-header", text.as_bytes())?;
            entries.push(serde_json::json!({
                "type": "file",
                "name": format!("{HEADER_ROOT}/{}", name.trim_start_matches('/')),
                "external-contents": process::path_for_children(&file),
            }));
            self.files.push(file);
        }
        let overlay = serde_json::json!({
            "version": 0,
            "case-sensitive": "true",
            "use-external-names": "false",
            "roots": entries,
        });
        let file = process::memory_file("brolga-overlay", overlay.to_string().as_bytes())?;
        self.push("-ivfsoverlay");
        self.push(process::path_for_children(&file));
        // Before the directories of the options.
        self.arguments.insert(0, format!("-I{HEADER_ROOT}"));
        self.files.push(file);
        Ok(())
    }

    fn run(mut self, clang: &Path, source: &str) -> io::Result<Finished> {
        for argument in ["-o", "-", "-"] {
            self.push(argument);
        }
        // A byte order mark is allowed at the start of a file only.
        let source = source.trim_start_matches('\u{feff}');
        let input = format!("#line 1 \"{SOURCE_NAME}\"\n{source}");
        let mut done = process::run(clang, &self.arguments, input.as_bytes())?;
        done.stderr = done.stderr.replace(&format!("{HEADER_ROOT}/"), "");
        Ok(done)
    }
}

#[cfg(test)]
mod tests;
