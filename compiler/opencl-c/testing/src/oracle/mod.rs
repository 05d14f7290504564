//! What programs compute, by way of gcc.
//!
//! gcc is started once for many programs: they are one file, behind `host.h`, which makes OpenCL C
//! of C. The program that comes of it prints what each has left in its buffers.

pub mod clang;

use std::io;
use std::path::Path;
use std::process::Command;

use crate::programs::{Argument, Program, pattern};

const HOST: &str = include_str!("host.h");

/// How long all programs of a file may run, in seconds.
const TIME_LIMIT: u64 = 60;

/// The contents of a program's buffers that matter, in order of its arguments.
pub type Contents = Vec<Vec<u8>>;

/// Runs programs whose prefixes differ.
///
/// # Errors
/// If gcc or what it made fails: the fault of the generator or of the machine.
pub fn run(programs: &[Program], folder: &Path) -> Result<Vec<Contents>, String> {
    let source = folder.join("programs.c");
    let executable = folder.join("programs");
    std::fs::write(&source, file(programs)).map_err(|why| why.to_string())?;
    let mut gcc = Command::new("gcc");
    gcc.args(["-O0", "-w", "-std=gnu11", "-fwrapv", "-fno-strict-aliasing"])
        .args([
            "-ffp-contract=off",
            "-fexcess-precision=16",
            "-flax-vector-conversions",
            "-o",
        ])
        .args([&executable, &source]);
    finish(&mut gcc)?;
    let mut limited = Command::new("timeout");
    limited.arg(TIME_LIMIT.to_string()).arg(&executable);
    let out = finish(&mut limited)?;
    let mut lines = out.lines();
    let contents = programs.iter().map(|program| {
        let kept = program.args.iter().filter(|arg| is_told(arg));
        kept.map(|_| bytes(lines.next().unwrap_or_default()))
            .collect()
    });
    Ok(contents.collect())
}

/// Whether what is in an argument's memory in the end is compared.
pub fn is_told(arg: &Argument) -> bool {
    matches!(arg, Argument::Out(_) | Argument::Counter)
}

fn finish(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|why: io::Error| why.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            let name = command.get_program().to_string_lossy();
            Err(format!("{name}: {}: {said}", output.status))
        }
    }
}

fn bytes(line: &str) -> Vec<u8> {
    let digits = line.as_bytes().chunks(2);
    digits
        .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

/// The C file.
pub fn file(programs: &[Program]) -> String {
    let mut file = HOST.to_owned();
    let mut main = String::from("int main(void) {\n");
    for program in programs {
        file += &program.text.c;
        file += &launch(program);
        main += &format!("  {}launch();\n", program.prefix);
    }
    file + &main + "  return 0;\n}\n"
}

/// The function that sets up the arguments, runs the kernel and prints.
fn launch(program: &Program) -> String {
    let prefix = &program.prefix;
    let (mut memory, mut args, mut print) = (String::new(), Vec::new(), String::new());
    for (at, arg) in program.args.iter().enumerate() {
        let name = format!("{prefix}arg{at}");
        let (size, contents) = match arg {
            Argument::Out(size) | Argument::Scratch(size) => (*size, Vec::new()),
            Argument::Counter => (4, Vec::new()),
            Argument::Input(size) | Argument::Value { size, .. } => (*size, pattern(*size)),
        };
        let contents: Vec<String> = contents.iter().map(ToString::to_string).collect();
        let list = match contents.is_empty() {
            true => "0".to_owned(),
            false => contents.join(", "),
        };
        memory += &format!(
            "static uchar {name}[{}] __attribute__((aligned(128))) = {{{list}}};\n",
            size.max(1)
        );
        args.push(match arg {
            Argument::Value { ty, .. } => format!("*({ty} *){name}"),
            _ => format!("(void *){name}"),
        });
        if is_told(arg) {
            print += &format!("  print_bytes({name}, {size});\n");
        }
    }
    let args = args.join(", ");
    format!(
        "{memory}static void {prefix}entry(void) {{ {prefix}k({args}); }}\n\
         static void {prefix}launch(void) {{\n  run_groups({prefix}entry);\n{print}}}\n"
    )
}
