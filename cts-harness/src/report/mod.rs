//! The reports of a run. `markdown.rs` writes the summary for reading in a terminal or a pull
//! request, `html.rs` one self-contained page with everything (its looks and its filtering are
//! `page.html`). What both need is here.

mod html;
mod markdown;

pub use html::html;
pub use markdown::markdown;

use std::collections::BTreeMap;
use std::time::Duration;

use crate::progress::clock;
use crate::results::{Outcome, Run};

/// More filters than this are counted, not listed.
const FILTERS_NAMED: usize = 6;

/// One suite's numbers.
#[derive(Debug, Clone, Default, PartialEq)]
struct Tally {
    counts: BTreeMap<Outcome, usize>,
    /// Time of all its sub-tests, in seconds; more than passed on a clock when they ran in
    /// parallel.
    seconds: f64,
}

impl Tally {
    fn count(&self, outcome: Outcome) -> usize {
        self.counts.get(&outcome).copied().unwrap_or(0)
    }

    fn total(&self) -> usize {
        self.counts.values().sum()
    }
}

/// Every suite's numbers, in the order in which suites were run.
fn tallies(run: &Run) -> Vec<(&str, Tally)> {
    let mut by_suite: BTreeMap<&str, Tally> = BTreeMap::new();
    for result in &run.results {
        let tally = by_suite.entry(&result.suite).or_default();
        *tally.counts.entry(result.outcome).or_default() += 1;
        tally.seconds += result.seconds;
    }
    let ordered = run
        .suites
        .iter()
        .filter_map(|s| by_suite.remove_entry(s.as_str()));
    ordered.collect()
}

/// One line: how many sub-tests, and how many of each outcome.
pub fn totals(run: &Run) -> String {
    let mut line = format!("{} sub-tests", run.results.len());
    for outcome in Outcome::ALL {
        let count = run.results.iter().filter(|r| r.outcome == outcome).count();
        if count > 0 {
            line += &format!(", {count} {outcome}");
        }
    }
    line + &format!(", in {}", clock(Duration::from_secs_f64(run.seconds)))
}

/// How the run was made, in words.
fn circumstances(run: &Run) -> String {
    let mut text = format!("{} at a time, time limit {} s", run.jobs, run.timeout);
    if run.wimpy {
        text += ", wimpy mode";
    }
    if run.filters.len() > FILTERS_NAMED {
        text += &format!(", only names with one of {} texts", run.filters.len());
    } else if !run.filters.is_empty() {
        text += &format!(", only names with {}", run.filters.join(" or "));
    }
    if !run.complete {
        text += "; interrupted";
    }
    text
}
