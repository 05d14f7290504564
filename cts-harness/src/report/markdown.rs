//! The summary in Markdown: suites, differences, and everything that does not pass.

use std::fmt::Write;
use std::time::Duration;

use super::{circumstances, tallies, totals};
use crate::compare::Comparison;
use crate::expectations::Expectations;
use crate::progress::clock;
use crate::results::{Outcome, Run};

/// Writes the summary. The cause of an expected failure is the recorded one.
pub fn markdown(run: &Run, comparison: Option<&Comparison>, expectations: &Expectations) -> String {
    let mut text = format!("# OpenCL CTS: {}\n\n", run.driver);
    if let Some(device) = &run.device {
        let _ = writeln!(text, "Device: {device}  ");
    }
    let _ = writeln!(text, "{} ({}).\n", totals(run), circumstances(run));
    text += "| suite | sub-tests | pass | skip | fail | timeout | crash | time |\n";
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for (suite, tally) in tallies(run) {
        let _ = write!(text, "| {suite} | {} |", tally.total());
        for outcome in Outcome::ALL {
            let _ = write!(text, " {} |", tally.count(outcome));
        }
        let _ = writeln!(text, " {} |", clock(Duration::from_secs_f64(tally.seconds)));
    }
    if let Some(comparison) = comparison {
        let _ = writeln!(
            text,
            "\n## Against the expectations\n\n{}.\n",
            comparison.summary()
        );
        for (kind, name, what) in comparison.rows() {
            let _ = writeln!(text, "- **{kind}** `{name}`: {what}");
        }
    }
    text += "\n## What does not pass\n\n";
    let mut none = true;
    for result in run.results.iter().filter(|r| r.outcome.is_failure()) {
        none = false;
        let known = expectations
            .get(&result.name())
            .map_or("", |e| e.cause.as_str());
        let cause = if known.is_empty() {
            &result.reason
        } else {
            known
        };
        let _ = write!(
            text,
            "- `{}`: {} ({})",
            result.name(),
            result.outcome,
            result.ended
        );
        if !cause.is_empty() {
            let _ = write!(text, ": {}", in_code(cause));
        }
        text.push('\n');
    }
    if none {
        text += "Nothing.\n";
    }
    text
}

/// Output in a code span, where nothing in it is taken for Markdown.
fn in_code(output: &str) -> String {
    format!("`{}`", output.replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::TestResult;

    fn run() -> Run {
        let result = |test: &str, outcome, reason: &str| TestResult {
            suite: "basic".into(),
            test: test.into(),
            outcome,
            seconds: 2.0,
            ended: "exit 1".into(),
            reason: reason.into(),
            output: String::new(),
        };
        Run {
            driver: "libx.so".into(),
            device: Some("cpu".into()),
            started: 0,
            seconds: 3.0,
            timeout: 60.0,
            jobs: 2,
            wimpy: true,
            suites: vec!["basic".into()],
            filters: Vec::new(),
            complete: true,
            results: vec![
                result("a", Outcome::Pass, ""),
                result("b", Outcome::Fail, "ERROR: `x` | y"),
                result("c", Outcome::Skip, "not supported"),
            ],
        }
    }

    #[test]
    fn numbers_and_failures_are_there() {
        let text = markdown(&run(), None, &Expectations::default());
        assert!(text.contains("3 sub-tests, 1 pass, 1 skip, 1 fail, in 3s (2 at a time, time limit 60 s, wimpy mode)."), "{text}");
        assert!(
            text.contains("| basic | 3 | 1 | 1 | 1 | 0 | 0 | 6s |"),
            "{text}"
        );
        assert!(
            text.contains("- `basic/b`: fail (exit 1): `ERROR: 'x' | y`\n"),
            "{text}"
        );
        assert!(!text.contains("basic/c"), "{text}");
    }

    #[test]
    fn a_recorded_cause_is_preferred_and_differences_are_listed() {
        let expectations =
            Expectations::parse("basic/a: fail\nbasic/b: fail  # rounding\n").unwrap();
        let run = run();
        let comparison = Comparison::between(&expectations.outcomes(), &run.outcomes(), |_| true);
        let text = markdown(&run, Some(&comparison), &expectations);
        assert!(
            text.contains("- **better** `basic/a`: fail → pass\n"),
            "{text}"
        );
        assert!(
            text.contains("- `basic/b`: fail (exit 1): `rounding`\n"),
            "{text}"
        );
    }
}
