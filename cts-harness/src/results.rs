//! What a run found: the data that everything after the run works on, and its JSON file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What became of a sub-test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Pass,
    /// The sub-test says that the driver does not claim what it tests.
    Skip,
    Fail,
    /// It was still running at the time limit.
    Timeout,
    /// It was ended by a signal.
    Crash,
}

impl Outcome {
    pub const ALL: [Outcome; 5] = [
        Self::Pass,
        Self::Skip,
        Self::Fail,
        Self::Timeout,
        Self::Crash,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Skip => "skip",
            Self::Fail => "fail",
            Self::Timeout => "timeout",
            Self::Crash => "crash",
        }
    }

    /// Whether something is wrong, as opposed to passed or not claimed.
    pub fn is_failure(self) -> bool {
        !matches!(self, Self::Pass | Self::Skip)
    }

    /// How good it is, for saying "better" and "worse": a crash and a timeout are equally bad.
    pub fn rank(self) -> u8 {
        match self {
            Self::Pass => 3,
            Self::Skip => 2,
            Self::Fail => 1,
            Self::Timeout | Self::Crash => 0,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Outcome {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|o| o.name() == text)
            .ok_or(format!(
                "{text:?} is no outcome; expected pass, skip, fail, timeout or crash"
            ))
    }
}

/// A sub-test's full name; written `suite/test`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    pub suite: String,
    pub test: String,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.suite, self.test)
    }
}

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('/') {
            Some((suite, test)) if !suite.is_empty() && !test.is_empty() => Ok(Self {
                suite: suite.into(),
                test: test.into(),
            }),
            _ => Err(format!("{text:?} is no sub-test; expected suite/name")),
        }
    }
}

/// One sub-test's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    pub suite: String,
    pub test: String,
    pub outcome: Outcome,
    /// Wall time.
    pub seconds: f64,
    /// How the process ended: `exit 0`, `SIGSEGV`, `killed after 120 s`.
    pub ended: String,
    /// The line of the output that says most about why it did not pass.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The last lines of the output, unless it passed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

impl TestResult {
    pub fn name(&self) -> Name {
        Name {
            suite: self.suite.clone(),
            test: self.test.clone(),
        }
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The driver's file name.
    pub driver: String,
    /// What the device calls itself, once a sub-test has said it.
    pub device: Option<String>,
    /// Start, in seconds since 1970-01-01 UTC.
    pub started: u64,
    /// Wall time of the whole run.
    pub seconds: f64,
    /// Time limit of a sub-test, in seconds.
    pub timeout: f64,
    pub jobs: usize,
    pub wimpy: bool,
    /// The suites that were to be run.
    pub suites: Vec<String>,
    /// The filters in force; empty means every sub-test.
    pub filters: Vec<String>,
    /// False in a file that was written while the run was going on.
    pub complete: bool,
    pub results: Vec<TestResult>,
}

impl Run {
    /// Every sub-test's outcome.
    pub fn outcomes(&self) -> BTreeMap<Name, Outcome> {
        self.results.iter().map(|r| (r.name(), r.outcome)).collect()
    }

    /// Whether this run was to include a sub-test of that name.
    pub fn covers(&self, name: &Name) -> bool {
        self.suites.contains(&name.suite) && selected(&self.filters, &name.to_string())
    }

    /// Reads a results file.
    ///
    /// # Errors
    /// A file that cannot be read or is not one that [`Run::save`] wrote.
    pub fn load(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        serde_json::from_str(&text)
            .map_err(|e| format!("{} is no results file of cts-harness: {e}", path.display()))
    }

    /// Writes the results file in one step, so that a reader never sees half of it.
    ///
    /// # Errors
    /// A folder that cannot be written to.
    pub fn save(&self, path: &Path) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).expect("a run has only plain data");
        let partial = path.with_extension("json.part");
        std::fs::write(&partial, text)
            .and_then(|()| std::fs::rename(&partial, path))
            .map_err(|e| format!("cannot write {}: {e}", path.display()))
    }
}

/// Whether a `suite/name` is chosen by the filters: no filters choose everything, and one of
/// several is enough.
pub fn selected(filters: &[String], name: &str) -> bool {
    filters.is_empty() || filters.iter().any(|f| name.contains(f.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_read_what_they_write() {
        for outcome in Outcome::ALL {
            assert_eq!(outcome.to_string().parse(), Ok(outcome));
        }
        assert!(
            "passed"
                .parse::<Outcome>()
                .unwrap_err()
                .contains("\"passed\" is no outcome")
        );
    }

    #[test]
    fn names_need_both_parts() {
        assert_eq!("a/b/c".parse::<Name>().unwrap().test, "b/c");
        for wrong in ["a", "/b", "a/"] {
            assert!(wrong.parse::<Name>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn any_filter_is_enough() {
        let filters = ["api/".to_string(), "float".to_string()];
        assert!(selected(&filters, "api/x"));
        assert!(selected(&filters, "basic/float2"));
        assert!(!selected(&filters, "basic/int2"));
        assert!(selected(&[], "basic/int2"));
    }
}
