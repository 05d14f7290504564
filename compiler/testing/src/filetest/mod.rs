//! One test file: read its directives, run it in every engine, compare.
//!
//! - `directives.rs`: what the comments say. Open it first.
//! - `images.rs`: images and samplers as arguments.
//! - `data.rs`: typed contents of buffers, read, written and compared.
//! - this file: loading and judging.

pub mod data;
pub mod directives;
mod images;

use std::path::Path;

use brolga_compiler::ir::{Module, parse, verify};
use brolga_compiler::{BuildOptions, SpecConstants, spirv};

use crate::assembly;
use crate::engines::{Arg, Case, Engine, print};
use directives::{Check, Run, Test};

/// Instructions that an interpreter may run for one launch.
const BUDGET: u64 = 20_000_000;

/// Runs a file.
///
/// # Errors
/// What was expected and what came instead, for the first thing that is wrong.
pub fn run(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    judge(&directives::parse(&text)?, load(path, &text))
}

/// Runs the SPIR-V that was made of a file whose comments begin with `//`.
///
/// # Errors
/// As for [`run`].
pub fn run_compiled(text: &str, words: &[u32]) -> Result<(), String> {
    let lines = text.lines().map(|line| match line.strip_prefix("//") {
        Some(comment) => format!(";{comment}\n"),
        None => "\n".to_owned(),
    });
    let directives = directives::parse(&lines.collect::<String>())?;
    judge(&directives, translate(&[words]))
}

fn judge(test: &Test, module: Result<Module, String>) -> Result<(), String> {
    let module = match (module, &test.error) {
        (Ok(module), None) => module,
        (Ok(_), Some(expected)) => {
            return Err(format!("accepted; expected an error with {expected:?}"));
        }
        (Err(why), Some(expected)) if why.contains(expected.as_str()) => return Ok(()),
        (Err(why), Some(expected)) => {
            return Err(format!("expected an error with {expected:?}, got: {why}"));
        }
        (Err(why), None) => return Err(why),
    };
    check_warnings(&module, &test.warnings)?;
    for check in &test.checks {
        check_print(&module, check, &test.options)?;
    }
    for run in &test.runs {
        if run.expects.is_empty() && run.printf.is_empty() {
            return Err(format!("line {}: the run expects nothing", run.line));
        }
        for &engine in Engine::all() {
            if let Some(why) = run_in(&module, test, run, engine).err() {
                return Err(format!("{} (line {}): {why}", engine.name(), run.line));
            }
        }
    }
    Ok(())
}

/// The module of a file: parsed, or assembled and translated.
fn load(path: &Path, text: &str) -> Result<Module, String> {
    if path.extension().is_some_and(|e| e == "bir") {
        let module = parse::module(text).map_err(|e| e.to_string())?;
        verify::verify_module(&module)?;
        return Ok(module);
    }
    let modules: Vec<Vec<u32>> = assemble(text)?;
    let modules: Vec<&[u32]> = modules.iter().map(Vec::as_slice).collect();
    translate(&modules)
}

fn translate(modules: &[&[u32]]) -> Result<Module, String> {
    let module = spirv::translate(modules, &SpecConstants::new(), &BuildOptions::default())
        .map_err(|e| e.to_string())?;
    verify::verify_module(&module)?;
    Ok(module)
}

/// Assembles the modules of a `.spvasm` file with `spirv-as`, for the version of SPIR-V its
/// comments name, else 1.4.
fn assemble(text: &str) -> Result<Vec<Vec<u32>>, String> {
    let version = text
        .lines()
        .find_map(|line| line.strip_prefix("; spirv:"))
        .map_or("1.4", str::trim);
    text.split("\n; module:")
        // What follows the split is the rest of a comment.
        .map(|module| assembly::assemble(&format!(";{module}"), version))
        .collect()
}

fn run_in(module: &Module, test: &Test, run: &Run, engine: Engine) -> Result<(), String> {
    let kernel = match &run.kernel {
        None => 0,
        Some(name) => module
            .kernels
            .iter()
            .position(|k| k.info.name == *name)
            .ok_or_else(|| format!("there is no kernel {name:?}"))?,
    };
    if !engine.wanted(&test.engines) {
        return Ok(());
    }
    if !engine.has_sub_groups(run.sub_group_size) {
        return Ok(());
    }
    let mut case = Case::new(module, kernel, run.range, run.args.clone());
    case.sub_group_size = run.sub_group_size;
    case.options = test.options.clone();
    let outcome = engine.run(&case, BUDGET)?;
    let buffer_of = |arg: usize| {
        let before = &run.args[..arg];
        before.iter().filter(|a| a.contents().is_some()).count()
    };
    for expect in &run.expects {
        if run.args.get(expect.arg).and_then(Arg::contents).is_none() {
            return Err(format!(
                "argument {} is neither a buffer nor an image",
                expect.arg
            ));
        }
        let got = &outcome.buffers[buffer_of(expect.arg)];
        data::compare(expect, got).map_err(|why| format!("argument {}: {why}", expect.arg))?;
    }
    // Buffers without an expectation must not change: a stray store is a failure too.
    for (arg, given) in run.args.iter().enumerate() {
        if let Some(before) = given.contents()
            && !run.expects.iter().any(|e| e.arg == arg)
            && before != outcome.buffers[buffer_of(arg)]
        {
            return Err(format!("argument {arg} changed, but nothing is expected"));
        }
    }
    if outcome.printf != run.printf {
        return Err(format!(
            "expected printf calls {:#?}, got {:#?}",
            run.printf, outcome.printf
        ));
    }
    Ok(())
}

/// Each warning must be expected, in this order, and each expectation be met.
fn check_warnings(module: &Module, expected: &[String]) -> Result<(), String> {
    let got = &module.warnings;
    let is_met = |(got, expected): (&String, &String)| got.contains(expected.as_str());
    match got.len() == expected.len() && got.iter().zip(expected).all(is_met) {
        true => Ok(()),
        false => Err(format!("expected warnings {expected:#?}, got {got:#?}")),
    }
}

/// Each line of the check must occur in the print, in order.
fn check_print(module: &Module, check: &Check, options: &BuildOptions) -> Result<(), String> {
    let print = print(module, &check.stage, options)?;
    let mut lines = print.lines().map(str::trim);
    for expected in &check.lines {
        let negated = expected.strip_prefix("not: ");
        if let Some(unwanted) = negated {
            if print.contains(unwanted) {
                return Err(format!("{unwanted:?} is in the print:\n{print}"));
            }
        } else if !lines.any(|line| line.contains(expected.as_str())) {
            return Err(format!(
                "{expected:?} does not come next in the print:\n{print}"
            ));
        }
    }
    Ok(())
}
