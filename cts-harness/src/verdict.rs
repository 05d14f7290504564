//! From what a sub-test's process left behind to a verdict.
//!
//! The CTS writes a results file when `CL_CONFORMANCE_RESULTS_FILENAME` is set; where it exists it
//! is the authority on pass and skip. A process that ended badly has not passed, whatever the file
//! says: a driver that crashes on the way out is broken.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::process::Ending;
use crate::results::Outcome;

/// Lines of output kept in the results.
const LINES_KEPT: usize = 30;
/// Characters of one line kept, and of a reason.
const LINE_LENGTH: usize = 400;
const REASON_LENGTH: usize = 140;

/// The part of the CTS's results file that matters here.
#[derive(Deserialize)]
struct CtsResults {
    results: BTreeMap<String, String>,
}

/// Classifies a sub-test.
///
/// `results` is the text of the CTS's results file, if it wrote one.
pub fn classify(test: &str, ending: Ending, results: Option<&str>, output: &str) -> Outcome {
    match ending {
        Ending::TimedOut(_) => Outcome::Timeout,
        Ending::Signal(_) => Outcome::Crash,
        Ending::TooMuchOutput(_) => Outcome::Fail,
        Ending::Exit(code) if code != 0 => Outcome::Fail,
        Ending::Exit(_) => match results.and_then(|text| reported(test, text)) {
            Some(outcome) => outcome,
            None if says_skipped(output) => Outcome::Skip,
            None => Outcome::Pass,
        },
    }
}

/// What the results file says of a sub-test. A suite that takes sub-tests under names that it does
/// not report (conversions) reports one result, which is the one.
fn reported(test: &str, text: &str) -> Option<Outcome> {
    let file: CtsResults = serde_json::from_str(text).ok()?;
    let only = || {
        file.results
            .values()
            .next()
            .filter(|_| file.results.len() == 1)
    };
    file.results.get(test).or_else(only)?.parse().ok()
}

/// For a CTS without results files: whether the output says that nothing was tested.
fn says_skipped(output: &str) -> bool {
    let says = |words: &[&str]| {
        output.lines().any(|line| {
            let line = line.to_ascii_lowercase();
            words.iter().any(|w| line.contains(w))
        })
    };
    says(&["skipped", "test not supported"]) && !says(&["passed test", "passed sub-test"])
}

/// The line of the output that says most about why a sub-test did not pass; empty if it did.
pub fn reason(outcome: Outcome, output: &str) -> String {
    let summary = |line: &str| {
        line.starts_with("FAILED ") || line.starts_with("PASSED ") || line.ends_with(" FAILED")
    };
    let lines = || {
        output
            .lines()
            .map(str::trim)
            .filter(|l| !l.is_empty() && !summary(l))
    };
    let first_with = |words: &[&str]| {
        lines().find(|line| {
            let line = line.to_ascii_lowercase();
            words.iter().any(|w| line.contains(w))
        })
    };
    let line = match outcome {
        Outcome::Pass => None,
        Outcome::Skip => first_with(&["skip", "not support", "unsupported", "does not"]),
        Outcome::Fail => first_with(&["error", "fail", "mismatch", "incorrect", "expected"])
            .or_else(|| lines().next_back()),
        Outcome::Timeout | Outcome::Crash => {
            first_with(&["panicked", "assert"]).or_else(|| lines().next_back())
        }
    };
    line.map_or(String::new(), |l| clean(l, REASON_LENGTH))
}

/// The last lines of an output, each cut to a sensible length.
pub fn last_lines(output: &str) -> String {
    let lines: Vec<_> = output.lines().collect();
    let kept = &lines[lines.len().saturating_sub(LINES_KEPT)..];
    kept.iter()
        .map(|l| clean(l, LINE_LENGTH))
        .collect::<Vec<_>>()
        .join("\n")
}

/// What the device calls itself, from the header every sub-test prints.
pub fn device(output: &str) -> Option<String> {
    let header = output
        .lines()
        .find_map(|line| line.split_once("Compute Device Name = "))?
        .1;
    let mut parts = header
        .split(", Compute Device ")
        .map(|p| p.split(", CL C").next().unwrap_or(p));
    let name = parts.next()?.trim().to_string();
    let version = parts.find_map(|p| p.strip_prefix("Version = "));
    Some(version.map_or(name.clone(), |v| format!("{name}, {}", v.trim())))
}

/// A line without control characters and not longer than `limit` characters.
fn clean(line: &str, limit: usize) -> String {
    let printable = line.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut text: String = printable.clone().take(limit).collect();
    if printable.count() > limit {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const PASSED: &str =
        "{\n\t\"cmd\": \"x\",\n\t\"args\": \"\",\n\t\"results\": {\n\t\t\"t\": \"pass\"\n\t}\n}\n";

    #[test]
    fn the_results_file_decides_between_pass_and_skip() {
        let skipped = PASSED.replace("pass", "skip");
        assert_eq!(
            classify(
                "t",
                Ending::Exit(0),
                Some(PASSED),
                "skipped some half types"
            ),
            Outcome::Pass
        );
        assert_eq!(
            classify("t", Ending::Exit(0), Some(&skipped), ""),
            Outcome::Skip
        );
        let several = PASSED.replace("\"t\": \"pass\"", "\"a\": \"fail\",\n\"t\": \"skip\"");
        assert_eq!(
            classify("t", Ending::Exit(0), Some(&several), ""),
            Outcome::Skip
        );
    }

    #[test]
    fn the_only_result_stands_for_a_name_it_does_not_know() {
        let skipped = PASSED.replace("pass", "skip");
        assert_eq!(
            classify("char_half", Ending::Exit(0), Some(&skipped), ""),
            Outcome::Skip
        );
    }

    #[test]
    fn a_bad_ending_is_never_a_pass() {
        assert_eq!(
            classify("t", Ending::Exit(1), Some(PASSED), ""),
            Outcome::Fail
        );
        assert_eq!(
            classify("t", Ending::Signal(11), Some(PASSED), ""),
            Outcome::Crash
        );
        assert_eq!(
            classify(
                "t",
                Ending::TimedOut(Duration::from_secs(1)),
                Some(PASSED),
                ""
            ),
            Outcome::Timeout
        );
        assert_eq!(
            classify("t", Ending::TooMuchOutput(9), Some(PASSED), ""),
            Outcome::Fail
        );
    }

    #[test]
    fn without_a_results_file_the_output_decides() {
        assert_eq!(
            classify("t", Ending::Exit(0), None, "PASSED test.\n"),
            Outcome::Pass
        );
        assert_eq!(
            classify("t", Ending::Exit(0), None, "t test not supported\n"),
            Outcome::Skip
        );
        assert_eq!(
            classify(
                "t",
                Ending::Exit(0),
                Some("{ cut sho"),
                "SKIPPED 1 of 1 tests.\n"
            ),
            Outcome::Skip
        );
        assert_eq!(
            classify("t", Ending::Exit(0), None, "half skipped\nPASSED test.\n"),
            Outcome::Pass
        );
    }

    #[test]
    fn the_reason_is_the_telling_line() {
        let output = "t...\nERROR: clBuildProgram failed! (CL_BUILD_PROGRAM_FAILURE from x.cpp:3)\nlog\nt FAILED\nFAILED test.\n";
        assert_eq!(
            reason(Outcome::Fail, output),
            "ERROR: clBuildProgram failed! (CL_BUILD_PROGRAM_FAILURE from x.cpp:3)"
        );
        assert_eq!(reason(Outcome::Crash, "a\nlast\n\n"), "last");
        assert_eq!(reason(Outcome::Pass, output), "");
        assert_eq!(reason(Outcome::Fail, "t FAILED\nFAILED test.\n"), "");
        let long = "error ".repeat(100);
        assert_eq!(
            reason(Outcome::Fail, &long).chars().count(),
            REASON_LENGTH + 1
        );
    }

    #[test]
    fn the_end_of_the_output_is_kept() {
        let output: String = (0..100).map(|i| format!("line {i}\n")).collect();
        let kept = last_lines(&output);
        assert_eq!(kept.lines().count(), LINES_KEPT);
        assert!(kept.ends_with("line 99"));
    }

    #[test]
    fn the_header_names_the_device() {
        let header = "Compute Device Name = cpu-x, Compute Device Vendor = V, Compute Device Version = OpenCL 3.0 D, CL C Version = OpenCL C 1.2\n";
        assert_eq!(device(header).as_deref(), Some("cpu-x, OpenCL 3.0 D"));
        assert_eq!(device("nothing"), None);
    }
}
