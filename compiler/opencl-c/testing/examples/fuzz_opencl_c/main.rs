//! Random OpenCL C programs in every engine, compared with what gcc makes of them, and mutated
//! sources into the front end.
//!
//! ```sh
//! cargo run -p brolga-opencl-c-testing --example fuzz_opencl_c -- programs --seed 0 --count 1000
//! cargo run -p brolga-opencl-c-testing --example fuzz_opencl_c -- print 17
//! cargo run -p brolga-opencl-c-testing --example fuzz_opencl_c -- mutate --seed 0 --count 10000
//! ```
//!
//! `programs-clang` judges what clang 15 makes of the programs instead, which must be the same;
//! `programs-vulkan` what becomes of them by way of a module for Vulkan, if they have one.
//! `programs-lavapipe` what they compute on Mesa's software implementation of Vulkan.
//! `mutate-vulkan` mutates such modules.
//!
//! Each number is one program, always the same. A program that computes something else than as C is
//! shrunk and written to `fuzz-failures/`, in both languages and with the choices it is made of.
//!
//! - `findings.rs`: what is done with what is found.
//! - What programs there are and what is asked of them is in `../../src`, child processes are in
//!   `brolga-compiler-testing`.

mod findings;

use std::path::Path;
use std::process::ExitCode;

use brolga_compiler_testing::children;
use brolga_compiler_testing::engines::Engine;
use brolga_compiler_testing::modules::mutate as modules;
use brolga_opencl_c::Std;
use brolga_opencl_c_testing::choices::Choices;
use brolga_opencl_c_testing::lavapipe::Lavapipe;
use brolga_opencl_c_testing::mutate::{self, Fate};
use brolga_opencl_c_testing::oracle::Contents;
use brolga_opencl_c_testing::programs::{Program, program};
use brolga_opencl_c_testing::{judge, oracle};

const USAGE: &str =
    "usage: fuzz_opencl_c programs|programs-clang|programs-vulkan|programs-lavapipe|mutate|
                     mutate-vulkan [--seed S] [--count N] [--jobs J]
       fuzz_opencl_c print SEED [c]
       fuzz_opencl_c print-mutated SEED
       fuzz_opencl_c choices programs[-clang|-vulkan|-lavapipe] FILE
       fuzz_opencl_c shrink programs[-clang|-vulkan|-lavapipe] SEED";

/// Programs that go to gcc together.
const BATCH: u64 = 48;

/// Programs whose modules for Vulkan are mutated.
const MUTATED_FROM: u64 = 200;

fn option(args: &[String], name: &str, default: u64) -> u64 {
    let at = args.iter().position(|arg| arg == name);
    at.and_then(|at| args.get(at + 1)?.parse().ok())
        .unwrap_or(default)
}

/// The interpreter always, for some one of the others, in turn: what they compile is for the
/// compiler's own tests.
fn engines(seed: u64) -> Vec<Engine> {
    let others = &Engine::all()[1..];
    let mut engines = vec![Engine::all()[0]];
    if seed.is_multiple_of(4) {
        engines.push(others[(seed / 4) as usize % others.len()]);
    }
    engines
}

/// What a program must compute, or why that is not known.
type Expected = Result<Contents, String>;

/// Judges programs in batches and reports what is wrong.
fn programs(seed: u64, count: u64, judge: fn(&[u64], &[Program], Vec<Expected>)) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for first in (seed..seed + count).step_by(BATCH as usize) {
        children::announce(first);
        let seeds: Vec<u64> = (first..(first + BATCH).min(seed + count)).collect();
        let make = |&seed: &u64| program(&mut Choices::random(seed), &format!("p{seed}_"));
        let programs: Vec<Program> = seeds.iter().map(make).collect();
        let expected: Vec<Expected> = match oracle::run(&programs, folder.path()) {
            Ok(expected) => expected.into_iter().map(Ok).collect(),
            // One of them is at fault.
            Err(_) => {
                let one = |program: &Program| {
                    let mut one = oracle::run(std::slice::from_ref(program), folder.path())?;
                    one.pop().ok_or_else(|| "nothing".to_owned())
                };
                programs.iter().map(one).collect()
            }
        };
        judge(&seeds, &programs, expected);
    }
}

fn judge_ours(seeds: &[u64], programs: &[Program], expected: Vec<Expected>) {
    for ((&seed, program), expected) in seeds.iter().zip(programs).zip(expected) {
        children::announce(seed);
        let judged = expected
            .map_err(|why| format!("no oracle: {why}"))
            .and_then(|expected| judge::judge(program, &expected, &engines(seed)));
        tell(seed, judged);
    }
}

fn judge_for_vulkan(seeds: &[u64], programs: &[Program], expected: Vec<Expected>) {
    for ((&seed, program), expected) in seeds.iter().zip(programs).zip(expected) {
        children::announce(seed);
        match judged_for_vulkan(seed, program, &engines(seed), || expected) {
            Ok(Judged::Computed) => children::accepted(),
            Ok(Judged::Refused) => {}
            Err(why) => children::report(seed, &why),
        }
    }
}

fn judge_on_lavapipe(seeds: &[u64], programs: &[Program], expected: Vec<Expected>) {
    let device = Lavapipe::open();
    for ((&seed, program), expected) in seeds.iter().zip(programs).zip(expected) {
        children::announce(seed);
        match judged_on_lavapipe(&device, program, || expected) {
            Ok(Judged::Computed) => children::accepted(),
            Ok(Judged::Refused) => {}
            Err(why) => children::report(seed, &why),
        }
    }
}

fn judged_on_lavapipe(
    device: &Result<Lavapipe, String>,
    program: &Program,
    expected: impl FnOnce() -> Expected,
) -> Result<Judged, String> {
    let device = device.as_ref().map_err(Clone::clone)?;
    let module = judge::compiled_for_vulkan(program, &judge::device_target())?;
    if module.words.is_none() {
        return Ok(Judged::Refused);
    }
    let expected = expected().map_err(|why| format!("no oracle: {why}"))?;
    Ok(
        match judge::judge_on_device(device, program, &module, &expected)? {
            true => Judged::Computed,
            false => Judged::Refused,
        },
    )
}

/// What came of a program's module for Vulkan.
enum Judged {
    Computed,
    /// Vulkan cannot express it, or the implementation is not asked.
    Refused,
}

fn judged_for_vulkan(
    seed: u64,
    program: &Program,
    engines: &[Engine],
    expected: impl FnOnce() -> Expected,
) -> Result<Judged, String> {
    let module = judge::compiled_for_vulkan(program, &judge::vulkan_target(seed))?;
    let Some(words) = module.words else {
        return Ok(Judged::Refused);
    };
    let module = judge::translated(&words)?;
    let expected = expected().map_err(|why| format!("no oracle: {why}"))?;
    judge::judge_module(program, &module, &expected, engines)?;
    Ok(Judged::Computed)
}

/// clang is started once for all programs of a version.
fn judge_clangs(seeds: &[u64], programs: &[Program], expected: Vec<Expected>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let all: Vec<_> = seeds.iter().zip(programs).zip(expected).collect();
    for std in [Std::C12, Std::C20, Std::C30, Std::C31] {
        let these = || all.iter().filter(|((_, program), _)| program.std == std);
        let compile = |programs: &[&Program]| {
            let words = oracle::clang::compile(programs, folder.path())?;
            judge::translated(&words)
        };
        let programs: Vec<&Program> = these().map(|((_, program), _)| *program).collect();
        let together = compile(&programs).ok();
        for ((seed, program), expected) in these() {
            let judged = expected
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|expected| {
                    let alone = match &together {
                        Some(_) => None,
                        None => Some(compile(&[program])?),
                    };
                    let module = together.as_ref().or(alone.as_ref()).ok_or("no module")?;
                    judge::judge_module(program, module, expected, &Engine::all()[..1])
                });
            tell(**seed, judged);
        }
    }
}

fn tell(seed: u64, judged: Result<(), String>) {
    match judged {
        Ok(()) => children::accepted(),
        Err(why) => children::report(seed, &why),
    }
}

/// Judges one program, ours in all engines.
fn judged(mode: &str, program: &Program) -> Result<(), String> {
    let ours = mode == "programs";
    if ours {
        // What is refused needs no oracle.
        judge::compiled(program)?;
    }
    let folder = tempfile::tempdir().map_err(|why| why.to_string())?;
    let oracle = || {
        let mut all = oracle::run(std::slice::from_ref(program), folder.path())?;
        all.pop().ok_or_else(|| "nothing".to_owned())
    };
    if mode == "programs-lavapipe" {
        return judged_on_lavapipe(&Lavapipe::open(), program, oracle).map(drop);
    }
    if mode == "programs-vulkan" {
        // Any version: which one a list of choices was judged for is not known.
        return (0..judge::VULKAN_TARGETS)
            .try_for_each(|at| judged_for_vulkan(at, program, Engine::all(), oracle).map(drop));
    }
    let expected = oracle().map_err(|why| format!("no oracle: {why}"))?;
    if ours {
        return judge::judge(program, &expected, Engine::all());
    }
    let words = oracle::clang::compile(&[program], folder.path())?;
    let module = judge::translated(&words)?;
    judge::judge_module(program, &module, &expected, &Engine::all()[..1])
}

fn listed(file: &str) -> Program {
    let text = std::fs::read_to_string(file).expect("a readable file");
    let list = text
        .split_whitespace()
        .filter_map(|number| number.parse().ok());
    program(&mut Choices::of_list(list.collect()), "")
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let seed = option(&args, "--seed", 0);
    let count = option(&args, "--count", 1000);
    let jobs = option(&args, "--jobs", 2) as usize;
    match words.as_slice() {
        [
            "programs" | "programs-clang" | "programs-vulkan" | "programs-lavapipe" | "mutate"
            | "mutate-vulkan",
            ..,
        ] => {
            let found = children::run(words[0], seed, count, jobs);
            findings::tell(words[0], &found)
        }
        ["child-programs", ..] => {
            std::panic::set_hook(Box::new(|_| {}));
            programs(seed, count, judge_ours);
            ExitCode::SUCCESS
        }
        ["child-programs-clang", ..] => {
            std::panic::set_hook(Box::new(|_| {}));
            programs(seed, count, judge_clangs);
            ExitCode::SUCCESS
        }
        ["child-programs-vulkan", ..] => {
            std::panic::set_hook(Box::new(|_| {}));
            programs(seed, count, judge_for_vulkan);
            ExitCode::SUCCESS
        }
        ["child-programs-lavapipe", ..] => {
            std::panic::set_hook(Box::new(|_| {}));
            programs(seed, count, judge_on_lavapipe);
            ExitCode::SUCCESS
        }
        ["child-mutate", ..] => {
            std::panic::set_hook(Box::new(|_| {}));
            let corpus = mutate::corpus();
            for seed in seed..seed + count {
                children::announce(seed);
                let (std, source) = mutate::source(&corpus, seed);
                match mutate::survives(std, &source) {
                    Ok(Fate::Compiled) => children::accepted(),
                    Ok(Fate::Refused) => {}
                    Err(why) => children::report(seed, &why),
                }
            }
            ExitCode::SUCCESS
        }
        ["child-mutate-vulkan", ..] => {
            std::panic::set_hook(Box::new(|_| {}));
            let corpus = judge::vulkan_modules(MUTATED_FROM);
            for seed in seed..seed + count {
                children::announce(seed);
                match modules::survives(&modules::module(&corpus, seed)) {
                    Ok(modules::Fate::Compiled) => children::accepted(),
                    Ok(modules::Fate::Refused) => {}
                    Err(why) => children::report(seed, &why),
                }
            }
            ExitCode::SUCCESS
        }
        ["print-mutated", seed] => {
            let seed = seed.parse().expect("a number");
            print!("{}", mutate::source(&mutate::corpus(), seed).1);
            ExitCode::SUCCESS
        }
        ["print", seed, rest @ ..] => {
            let seed = seed.parse().expect("a number");
            show(&program(&mut Choices::random(seed), ""), rest);
            ExitCode::SUCCESS
        }
        ["choices", mode, file] => match judged(mode, &listed(file)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(why) => {
                println!("{why}");
                findings::DIFFERS.into()
            }
        },
        ["shrink", mode, seed] => {
            let seed = seed.parse().expect("a number");
            match findings::keep(mode, seed, Path::new("fuzz-failures")) {
                Ok(path) => println!("see {}", path.display()),
                Err(why) => println!("not written: {why}"),
            }
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::FAILURE
        }
    }
}

fn show(program: &Program, rest: &[&str]) {
    match rest {
        ["c", ..] => print!("{}", oracle::file(std::slice::from_ref(program))),
        _ => print!("// -cl-std={:?}\n{}", program.std, program.text.cl),
    }
}
