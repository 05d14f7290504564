//! The recorded expectations: one line a sub-test, sorted, with the cause of whatever does not
//! pass.
//!
//! ```text
//! # Comments at the top of the file stay.
//! basic/hostptr: pass
//! basic/progvar_prog_scope_misc: skip  # program-scope variables are not claimed
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::results::{Name, Outcome, Run};

/// What is expected of one sub-test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    pub outcome: Outcome,
    /// Why it does not pass; empty if not said.
    pub cause: String,
}

/// An expectations file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expectations {
    /// The comment lines at the top, as written.
    header: Vec<String>,
    tests: BTreeMap<Name, Expected>,
}

impl Expectations {
    /// Reads a file. One that does not exist is empty, so that a first run can record it.
    ///
    /// # Errors
    /// A file that cannot be read, or a line that is none of the above, with its number.
    pub fn load(path: &Path) -> Result<Self, String> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).map_err(|e| format!("{}:{e}", path.display())),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(e) => Err(format!("cannot read {}: {e}", path.display())),
        }
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// The number of the first wrong line, and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut read = Self::default();
        for (number, line) in text.lines().enumerate() {
            let wrong = |what: String| format!("{}: {what}", number + 1);
            if line.trim().is_empty() {
                continue;
            }
            if line.starts_with('#') {
                if !read.tests.is_empty() {
                    return Err(wrong("a comment between sub-tests would be lost; expected it at the top or after an outcome".into()));
                }
                read.header.push(line.into());
                continue;
            }
            let (entry, cause) = line.split_once('#').unwrap_or((line, ""));
            let (name, outcome) = entry.rsplit_once(':').ok_or_else(|| {
                wrong(format!(
                    "no colon in {entry:?}; expected suite/name: outcome"
                ))
            })?;
            let name: Name = name.trim().parse().map_err(wrong)?;
            let outcome = outcome.trim().parse().map_err(wrong)?;
            let expected = Expected {
                outcome,
                cause: cause.trim().into(),
            };
            if let Some((twice, _)) = read.tests.get_key_value(&name) {
                return Err(wrong(format!("{twice} is there twice")));
            }
            read.tests.insert(name, expected);
        }
        Ok(read)
    }

    /// The text of the file.
    pub fn print(&self) -> String {
        let mut text = String::new();
        for line in &self.header {
            text += line;
            text.push('\n');
        }
        for (name, expected) in &self.tests {
            let _ = write!(text, "{name}: {}", expected.outcome);
            if !expected.cause.is_empty() {
                let _ = write!(text, "  # {}", expected.cause);
            }
            text.push('\n');
        }
        text
    }

    /// Every expected outcome.
    pub fn outcomes(&self) -> BTreeMap<Name, Outcome> {
        self.tests
            .iter()
            .map(|(name, e)| (name.clone(), e.outcome))
            .collect()
    }

    /// What is expected of one sub-test.
    pub fn get(&self, name: &Name) -> Option<&Expected> {
        self.tests.get(name)
    }

    /// Brings the expectations up to what a run found. Sub-tests it did not run stay as they are,
    /// unless it was to run them and they no longer exist. A cause stays as long as the outcome
    /// does; for a new outcome it is the run's own reason, to be improved by hand.
    pub fn record(&mut self, run: &Run) {
        let found = run.outcomes();
        if run.complete {
            self.tests
                .retain(|name, _| found.contains_key(name) || !run.covers(name));
        }
        for result in &run.results {
            let expected = Expected {
                outcome: result.outcome,
                cause: result.reason.replace('#', ""),
            };
            let entry = self
                .tests
                .entry(result.name())
                .or_insert_with(|| expected.clone());
            if entry.outcome != result.outcome {
                *entry = expected;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::TestResult;

    const TEXT: &str = "# Recorded with -w.\n\nbasic/b: fail  # float4 is wrong\nbasic/a:pass\n";

    fn result(test: &str, outcome: Outcome, reason: &str) -> TestResult {
        TestResult {
            suite: "basic".into(),
            test: test.into(),
            outcome,
            seconds: 0.0,
            ended: String::new(),
            reason: reason.into(),
            output: String::new(),
        }
    }

    fn run(results: Vec<TestResult>) -> Run {
        Run {
            driver: "d".into(),
            device: None,
            started: 0,
            seconds: 0.0,
            timeout: 1.0,
            jobs: 1,
            wimpy: false,
            suites: vec!["basic".into()],
            filters: Vec::new(),
            complete: true,
            results,
        }
    }

    #[test]
    fn files_are_printed_sorted_and_read_back() {
        let read = Expectations::parse(TEXT).unwrap();
        let printed = read.print();
        assert_eq!(
            printed,
            "# Recorded with -w.\nbasic/a: pass\nbasic/b: fail  # float4 is wrong\n"
        );
        assert_eq!(Expectations::parse(&printed).unwrap(), read);
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, expected) in [
            ("basic/a pass\n", "1: no colon"),
            ("\nbasic/a: good\n", "2: \"good\" is no outcome"),
            ("basic: pass\n", "1: \"basic\" is no sub-test"),
            ("a/b: pass\na/b: fail\n", "2: a/b is there twice"),
            ("a/b: pass\n# lost\n", "2: a comment between sub-tests"),
        ] {
            let error = Expectations::parse(text).unwrap_err();
            assert!(error.starts_with(expected), "{text:?}: {error}");
        }
    }

    #[test]
    fn recording_keeps_causes_and_other_suites() {
        let text = "api/x: crash  # elsewhere\nbasic/a: fail  # old cause\nbasic/b: fail  # kept\nbasic/gone: pass\n";
        let mut expectations = Expectations::parse(text).unwrap();
        expectations.record(&run(vec![
            result("a", Outcome::Pass, ""),
            result("b", Outcome::Fail, "ERROR: something"),
            result("c", Outcome::Crash, "at #3"),
        ]));
        assert_eq!(
            expectations.print(),
            "api/x: crash  # elsewhere\nbasic/a: pass\nbasic/b: fail  # kept\nbasic/c: crash  # at 3\n"
        );
    }

    #[test]
    fn an_interrupted_run_removes_nothing() {
        let mut expectations = Expectations::parse("basic/a: pass\nbasic/b: pass\n").unwrap();
        let interrupted = Run {
            complete: false,
            ..run(vec![result("a", Outcome::Pass, "")])
        };
        expectations.record(&interrupted);
        assert_eq!(expectations.outcomes().len(), 2);
    }
}
