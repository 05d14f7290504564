//! Random kernels in every engine, and mutated SPIR-V into the compiler.
//!
//! ```sh
//! cargo run --release -p brolga-compiler --example fuzz -- kernels --seed 0 --count 1000
//! cargo run --release -p brolga-compiler --example fuzz -- spirv --seed 0 --count 10000
//! cargo run --release -p brolga-compiler --example fuzz -- judge FILE.bir
//! ```
//!
//! Each number is one kernel or module, always the same. The work is done by child processes, so
//! that a crash or an endless loop is a finding like any other. A kernel on which the engines
//! disagree is shrunk and written as a file test to `fuzz-failures/`; a module that the compiler
//! did not survive is written there as it was.
//!
//! - `findings.rs`: what is done with what is found. `shrink.rs`: making a kernel small.
//! - What kernels and modules there are, what is asked of them, and the child processes, are in
//!   `../../testing`, which the tests share.

mod findings;
mod shrink;

use std::io::Write;
use std::process::ExitCode;

use brolga_compiler::{BuildOptions, spirv};
use brolga_compiler_testing::judge::{self, Verdict};
use brolga_compiler_testing::modules::{corpus, mutate, valid};
use brolga_compiler_testing::{assembly, children, kernels};

const USAGE: &str = "usage: fuzz kernels|spirv [--seed S] [--count N] [--jobs J]
       fuzz judge FILE.bir [--checked]
       fuzz shrink FILE.bir
       fuzz compile FILE.spv
       fuzz print SEED";

/// What a child says of a test by its exit code.
pub const DIFFERS: u8 = 1;
pub const INVALID: u8 = 3;

fn option(args: &[String], name: &str, default: u64) -> u64 {
    let at = args.iter().position(|arg| arg == name);
    at.and_then(|at| args.get(at + 1)?.parse().ok())
        .unwrap_or(default)
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let seed = option(&args, "--seed", 0);
    let count = option(&args, "--count", 1000);
    let jobs = option(&args, "--jobs", 2) as usize;
    match words.as_slice() {
        ["kernels" | "spirv", ..] => {
            let found = children::run(words[0], seed, count, jobs);
            findings::tell(words[0], &found)
        }
        ["child-kernels", ..] => {
            for seed in seed..seed + count {
                children::announce(seed);
                match judge::judge(&kernels::test(seed), false) {
                    Verdict::Same => {}
                    Verdict::Differs(why) => children::report(seed, &why),
                    Verdict::Invalid(why) => children::report(seed, &format!("invalid: {why}")),
                }
            }
            ExitCode::SUCCESS
        }
        ["child-spirv", ..] => {
            let corpus = corpus::modules();
            for seed in seed..seed + count {
                children::announce(seed);
                let words = mutate::module(&corpus, seed);
                let fate = if seed.is_multiple_of(mutate::BUILT) {
                    valid::judge(&words).map(|()| mutate::Fate::Compiled)
                } else {
                    mutate::survives(&words)
                };
                match fate {
                    Ok(mutate::Fate::Compiled) => children::accepted(),
                    Ok(mutate::Fate::Refused) => {}
                    Err(why) => children::report(seed, &why),
                }
            }
            ExitCode::SUCCESS
        }
        ["judge", file, rest @ ..] => {
            let text = std::fs::read_to_string(file).expect("a readable file");
            let verdict = judge::judge(&text, rest.contains(&"--checked"));
            println!("{verdict:?}");
            match verdict {
                Verdict::Same => ExitCode::SUCCESS,
                Verdict::Differs(_) => DIFFERS.into(),
                Verdict::Invalid(_) => INVALID.into(),
            }
        }
        ["compile", file] => {
            let bytes = std::fs::read(file).expect("a readable file");
            let words = assembly::words(&bytes);
            let options = BuildOptions::default();
            match spirv::translate(&[&words], &Default::default(), &options) {
                Ok(module) => print!("{module}"),
                Err(why) => println!("; {why}"),
            }
            println!("; {:?}", mutate::survives(&words));
            ExitCode::SUCCESS
        }
        ["shrink", file] => {
            let text = std::fs::read_to_string(file).expect("a readable file");
            print!("{}", findings::shrunk(std::path::Path::new(file), &text));
            ExitCode::SUCCESS
        }
        ["print", seed] => {
            let text = kernels::test(seed.parse().expect("a number"));
            let _ = std::io::stdout().write_all(text.as_bytes());
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::FAILURE
        }
    }
}
