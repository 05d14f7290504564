//! Judging one kernel: does every engine do what the interpreter does?

use std::panic::{AssertUnwindSafe, catch_unwind};

use brolga_compiler::BuildOptions;
use brolga_compiler::ir::{Module, parse, verify};

use crate::engines::case::Outcome;
use crate::engines::{Case, Engine};
use crate::filetest::directives;

/// Instructions the interpreter may run for one launch.
const BUDGET: u64 = 3_000_000;

/// What came of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All engines agree.
    Same,
    /// An engine does something else, and what.
    Differs(String),
    /// The test itself is at fault.
    Invalid(String),
}

/// Judges the first run of a file test. With `checked`, a kernel that races, reads uninitialised
/// memory or does not terminate is invalid.
pub fn judge(text: &str, checked: bool) -> Verdict {
    match prepare(text) {
        Ok((module, options, run)) => {
            let mut case = Case::new(&module, 0, run.range, run.args);
            case.sub_group_size = run.sub_group_size;
            case.options = options;
            compare(&case, checked)
        }
        Err(why) => Verdict::Invalid(why),
    }
}

fn prepare(text: &str) -> Result<(Module, BuildOptions, directives::Run), String> {
    let mut test = directives::parse(text)?;
    if test.runs.is_empty() {
        return Err("no `run`".into());
    }
    let module = parse::module(text).map_err(|e| e.to_string())?;
    verify::verify_module(&module)?;
    if module.kernels.is_empty() {
        return Err("no kernel".into());
    }
    Ok((module, test.options, test.runs.remove(0)))
}

/// Judges a launch.
pub fn compare(case: &Case<'_>, checked: bool) -> Verdict {
    let first = if checked {
        Engine::Checked
    } else {
        Engine::Translated
    };
    let expected = match first.run(case, BUDGET) {
        Ok(outcome) => outcome,
        Err(why) => return Verdict::Invalid(why),
    };
    for &engine in &Engine::all()[1..] {
        if !engine.has_sub_groups(case.sub_group_size) {
            continue;
        }
        let result = catch_unwind(AssertUnwindSafe(|| engine.run(case, 10 * BUDGET)));
        let why = match result {
            Ok(Ok(outcome)) if outcome == expected => continue,
            Ok(Ok(outcome)) => first_difference(case, &expected, &outcome),
            Ok(Err(why)) => why,
            Err(panic) => format!("panicked: {}", panic_message(&*panic)),
        };
        return Verdict::Differs(format!("{}: {why}", engine.name()));
    }
    Verdict::Same
}

/// What a panic said.
pub fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap_or_else(|| "of an unknown kind".into())
}

fn first_difference(case: &Case<'_>, expected: &Outcome, got: &Outcome) -> String {
    let buffers = case
        .args
        .iter()
        .enumerate()
        .filter(|(_, arg)| arg.contents().is_some());
    for ((arg, _), (a, b)) in buffers.zip(expected.buffers.iter().zip(&got.buffers)) {
        if let Some(at) = a.iter().zip(b).position(|(a, b)| a != b) {
            let word = |bytes: &[u8]| {
                let end = bytes.len().min(at / 8 * 8 + 8);
                let bytes = &bytes[at / 8 * 8..end];
                bytes.iter().map(|b| format!("{b:02x}")).collect::<String>()
            };
            return format!(
                "argument {arg}, byte {at}: the eight bytes there are {}, expected {}",
                word(b),
                word(a)
            );
        }
    }
    format!("printf {:?}, expected {:?}", got.printf, expected.printf)
}

/// The file test with what the interpreter computes as its expectation.
pub fn with_expectations(text: &str) -> Option<String> {
    let (module, options, run) = prepare(text).ok()?;
    let mut case = Case::new(&module, 0, run.range, run.args);
    case.sub_group_size = run.sub_group_size;
    case.options = options;
    let outcome = Engine::Translated.run(&case, BUDGET).ok()?;
    let mut lines = String::new();
    let buffers = case
        .args
        .iter()
        .enumerate()
        .filter_map(|(i, arg)| Some((i, arg.contents()?)));
    for ((arg, before), after) in buffers.zip(&outcome.buffers) {
        if before != after {
            let bytes: Vec<String> = after.iter().map(|b| format!("0x{b:02x}")).collect();
            lines += &format!("; expect: {arg} i8 [");
            for chunk in bytes.chunks(16) {
                lines += &format!("\n;   {}", chunk.join(" "));
            }
            lines += "]\n";
        }
    }
    let at = text.find("kernel ").or_else(|| text.find("func "))?;
    Some(format!("{}{lines}{}", &text[..at], &text[at..]))
}
