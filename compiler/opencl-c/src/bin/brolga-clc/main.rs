//! OpenCL C on the command line: source in, a SPIR-V module or diagnostics out.
//!
//! - `args.rs`: the command line
//! - `offline.rs`: the other command line, with which the conformance test suite calls an offline
//!   compiler
//!
//! The exit status is 0, 1 after an error in the source, and 2 after one in the command line or
//! where a file cannot be read or written.

mod args;
mod offline;

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use args::{Action, Arguments, Request};
use brolga_opencl_c::vulkan::compile_for_vulkan;
use brolga_opencl_c::{Input, check, compile, preprocess};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let request = if offline::is_offline(&words) {
        offline::parse(&words)
    } else {
        args::parse(words)
    };
    let done = match request {
        Ok(Request::Help) => print(args::USAGE),
        Ok(Request::Version) => print(&format!("brolga-clc {}\n", env!("CARGO_PKG_VERSION"))),
        Ok(Request::Run(arguments)) => run(&arguments),
        Err(why) => Err(format!("{why} (see --help)")),
    };
    done.unwrap_or_else(|why| {
        eprintln!("brolga-clc: error: {why}");
        ExitCode::from(2)
    })
}

/// Writes to standard output, whose reader may have gone.
fn print(text: &str) -> Result<ExitCode, String> {
    let written = std::io::stdout().lock().write_all(text.as_bytes());
    written.map_err(|why| format!("standard output: {why}"))?;
    Ok(ExitCode::SUCCESS)
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
        name: match arguments.input.as_str() {
            "-" => "<stdin>",
            path => path,
        },
        source: &source,
        headers: &[],
    };
    let (options, device) = (&arguments.options, &arguments.device);
    let (text, log) = match arguments.action {
        Action::Compile if arguments.target.is_some() => {
            return for_vulkan(&input, arguments);
        }
        Action::Compile => {
            let compiled = compile(&input, options, device);
            eprint!("{}", compiled.log);
            return match compiled.words {
                Some(words) => write_module(&words, arguments),
                None => Ok(ExitCode::from(1)),
            };
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
    match arguments.output.as_deref() {
        None | Some("-") => print(&text),
        Some(path) => write(path.into(), text.as_bytes()),
    }
}

fn for_vulkan(input: &Input<'_>, arguments: &Arguments) -> Result<ExitCode, String> {
    let Some(target) = &arguments.target else {
        return Ok(ExitCode::from(1));
    };
    let (options, device) = (&arguments.options, &arguments.device);
    let compiled = compile_for_vulkan(input, options, device, target);
    eprint!("{}", compiled.log);
    let Some(words) = compiled.words else {
        return Ok(ExitCode::from(1));
    };
    match arguments.descriptor_map.as_deref() {
        None => {}
        Some("-") => {
            print(&compiled.descriptor_map)?;
        }
        Some(path) => {
            write(path.into(), compiled.descriptor_map.as_bytes())?;
        }
    }
    write_module(&words, arguments)
}

fn write_module(words: &[u32], arguments: &Arguments) -> Result<ExitCode, String> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    match (arguments.output.as_deref(), arguments.input.as_str()) {
        (Some("-"), _) => {
            let written = std::io::stdout().lock().write_all(&bytes);
            written.map_err(|why| format!("standard output: {why}"))?;
            Ok(ExitCode::SUCCESS)
        }
        (Some(path), _) => write(path.into(), &bytes),
        (None, "-") => Err("a module from standard input wants -o".to_owned()),
        (None, input) => write(PathBuf::from(input).with_extension("spv"), &bytes),
    }
}

fn write(path: PathBuf, bytes: &[u8]) -> Result<ExitCode, String> {
    std::fs::write(&path, bytes).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}
