//! OpenCL C on the command line: source in, a SPIR-V module or diagnostics out.
//!
//! The exit status is 0, 1 after an error in the source, and 2 after one in the command line.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use brolga_opencl_c::options::Define;
use brolga_opencl_c::{Device, Input, Options, Std, check, compile, preprocess};

const USAGE: &str = "\
brolga-clc [options] FILE.cl     (- reads standard input)

  -o FILE             write the module there (otherwise to FILE.spv)
  -c                  leave functions and variables to be linked to (without it, the program is whole)
  -E                  write the preprocessed source to standard output or -o's file; -P leaves line
                      markers out
  -fsyntax-only       check the source
  --print-ast         write the syntax tree
  --print-hir         write the typed tree
  -D NAME[=VALUE], -U NAME, -I DIRECTORY, -include FILE, -x cl
  -cl-std=CL1.0|CL1.1|CL1.2|CL2.0|CL3.0|CL3.1
  -cl-single-precision-constant, -cl-fast-relaxed-math, -cl-finite-math-only, -cl-denorms-are-zero,
  -cl-uniform-work-group-size, -cl-kernel-arg-info, -g, -cl-opt-disable,
  -w, -Werror, -WNAME, -Wno-NAME, -Werror=NAME
  -ext=NAME,NAME      what the device has: extensions, and features (__opencl_c_...)
";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Compile,
    Check,
    Preprocess,
    PrintAst,
    PrintHir,
}

struct Arguments {
    action: Action,
    markers: bool,
    input: String,
    output: Option<String>,
    options: Options,
    device: Device,
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(why) => {
            eprintln!("brolga-clc: {why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(status) => status,
        Err(why) => {
            eprintln!("brolga-clc: {why}");
            ExitCode::from(2)
        }
    }
}

/// The value of an option that may be joined to it or follow it.
fn value(
    joined: &str,
    option: &str,
    rest: &mut impl Iterator<Item = String>,
) -> Result<String, String> {
    if joined.is_empty() {
        rest.next().ok_or_else(|| format!("{option} wants a value"))
    } else {
        Ok(joined.to_owned())
    }
}

fn parse(mut rest: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments {
        action: Action::Compile,
        markers: true,
        input: String::new(),
        output: None,
        options: Options {
            whole_program: true,
            ..Options::default()
        },
        device: Device {
            version: 310,
            ..Device::default()
        },
    };
    while let Some(argument) = rest.next() {
        let options = &mut arguments.options;
        match argument.as_str() {
            "-E" => arguments.action = Action::Preprocess,
            "-c" => options.whole_program = false,
            "-P" => arguments.markers = false,
            "-fsyntax-only" => arguments.action = Action::Check,
            "--print-ast" => arguments.action = Action::PrintAst,
            "--print-hir" => arguments.action = Action::PrintHir,
            "-cl-single-precision-constant" => options.single_precision_constant = true,
            "-cl-fast-relaxed-math" => options.fast_relaxed_math = true,
            "-cl-finite-math-only" => options.finite_math_only = true,
            // Permissions for whoever compiles the module.
            "-cl-denorms-are-zero" => {}
            "-cl-uniform-work-group-size" => options.uniform_work_group_size = true,
            "-cl-kernel-arg-info" => options.kernel_arg_info = true,
            "-g" => options.debug_info = true,
            "-w" => options.no_warnings = true,
            "-Werror" => options.warnings_are_errors = true,
            "-cl-opt-disable" => options.opt_disable = true,
            "-include" => options.includes.push(value("", "-include", &mut rest)?),
            "-x" => match value("", "-x", &mut rest)?.as_str() {
                "cl" => {}
                language => return Err(format!("unknown language {language:?}")),
            },
            "-o" => arguments.output = Some(value("", "-o", &mut rest)?),
            _ => {
                if let Some(joined) = argument.strip_prefix("-D") {
                    let define = value(joined, "-D", &mut rest)?;
                    options.defines.push(Define::Define(define));
                } else if let Some(joined) = argument.strip_prefix("-U") {
                    let name = value(joined, "-U", &mut rest)?;
                    options.defines.push(Define::Undefine(name));
                } else if let Some(joined) = argument.strip_prefix("-I") {
                    let directory = value(joined, "-I", &mut rest)?;
                    options.include_dirs.push(directory);
                } else if let Some(warning) = argument.strip_prefix("-W") {
                    options.warnings.push(warning.to_owned());
                } else if let Some(name) = argument.strip_prefix("-cl-std=") {
                    options.std =
                        Std::parse(name).ok_or_else(|| format!("unknown version {name:?}"))?;
                } else if let Some(names) = argument.strip_prefix("-ext=") {
                    for name in names.split(',') {
                        let list = if name.starts_with("__opencl_c_") {
                            &mut arguments.device.features
                        } else {
                            &mut arguments.device.extensions
                        };
                        list.push(name.to_owned());
                    }
                } else if argument == "-" || !argument.starts_with('-') {
                    arguments.input = argument;
                } else {
                    return Err(format!("unknown option {argument:?}"));
                }
            }
        }
    }
    if arguments.input.is_empty() {
        return Err("no input".to_owned());
    }
    Ok(arguments)
}

fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    let mut bytes = Vec::new();
    let read = match arguments.input.as_str() {
        "-" => std::io::stdin().read_to_end(&mut bytes).map(|_| ()),
        path => std::fs::read(path).map(|text| bytes = text),
    };
    read.map_err(|why| format!("{}: {why}", arguments.input))?;
    let source = String::from_utf8_lossy(&bytes);
    let input = Input {
        name: &arguments.input,
        source: &source,
        headers: &[],
    };
    let (options, device) = (&arguments.options, &arguments.device);
    let (text, log) = match arguments.action {
        Action::Compile => {
            let compiled = compile(&input, options, device);
            eprint!("{}", compiled.log);
            let Some(words) = compiled.words else {
                return Ok(ExitCode::from(1));
            };
            let output = match (&arguments.output, arguments.input.as_str()) {
                (Some(path), _) => PathBuf::from(path),
                (None, "-") => return Err("a module from standard input wants -o".to_owned()),
                (None, input) => PathBuf::from(input).with_extension("spv"),
            };
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            std::fs::write(&output, bytes).map_err(|why| format!("{}: {why}", output.display()))?;
            return Ok(ExitCode::SUCCESS);
        }
        Action::Preprocess => preprocess(&input, options, device, arguments.markers),
        Action::PrintAst => brolga_opencl_c::compile::syntax_tree(&input, options, device),
        Action::Check | Action::PrintHir => {
            let checked = check(&input, options, device);
            let text = checked.module.map(|module| match arguments.action {
                Action::PrintHir => brolga_opencl_c::hir::print::print(&module, &checked.interner),
                _ => String::new(),
            });
            (text, checked.log)
        }
    };
    eprint!("{log}");
    let Some(text) = text else {
        return Ok(ExitCode::from(1));
    };
    match &arguments.output {
        Some(path) => std::fs::write(path, text).map_err(|why| format!("{path}: {why}"))?,
        None => print!("{text}"),
    }
    Ok(ExitCode::SUCCESS)
}
