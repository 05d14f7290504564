//! What is shown while a run goes on: a live line on a terminal, otherwise a line every so often.
//! Whatever is worse than expected is told at once.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::results::Outcome;

/// Time between two lines when standard error is not a terminal.
const PLAIN_INTERVAL: Duration = Duration::from_secs(15);
/// Columns of the live line that are used; more would wrap on a usual terminal.
const COLUMNS: usize = 118;

/// The state of a run, as far as it is shown.
#[derive(Debug)]
pub struct Progress {
    total: usize,
    counts: BTreeMap<Outcome, usize>,
    running: BTreeMap<usize, (String, Instant)>,
    start: Instant,
    last_plain: Instant,
    live: bool,
}

impl Progress {
    pub fn new(total: usize) -> Self {
        let now = Instant::now();
        Self {
            total,
            counts: BTreeMap::new(),
            running: BTreeMap::new(),
            start: now,
            last_plain: now,
            live: std::io::stderr().is_terminal(),
        }
    }

    pub fn started(&mut self, worker: usize, name: String) {
        self.running.insert(worker, (name, Instant::now()));
    }

    pub fn finished(&mut self, worker: usize, outcome: Outcome) {
        self.running.remove(&worker);
        *self.counts.entry(outcome).or_default() += 1;
    }

    /// Says something above the live line.
    pub fn say(&self, text: &str) {
        let erase = if self.live { "\r\x1b[K" } else { "" };
        eprintln!("{erase}{text}");
    }

    /// Shows the state, if it is time to.
    pub fn show(&mut self) {
        if self.live {
            let line: String = self.line().chars().take(COLUMNS).collect();
            eprint!("\r\x1b[K{line}");
            // A terminal that cannot be written to is no reason to end a run.
            let _ = std::io::stderr().flush();
        } else if self.last_plain.elapsed() >= PLAIN_INTERVAL {
            self.last_plain = Instant::now();
            eprintln!("{}", self.line());
        }
    }

    /// Shows the state for the last time.
    pub fn end(&self) {
        self.say(&self.line());
    }

    fn line(&self) -> String {
        let done: usize = self.counts.values().sum();
        let elapsed = self.start.elapsed();
        let mut line = format!("[{done}/{}]", self.total);
        for (outcome, count) in &self.counts {
            line += &format!(" {outcome} {count}");
        }
        line += &format!(" | {}", clock(elapsed));
        if done > 0 && done < self.total {
            line += &format!(
                ", about {} left",
                clock(elapsed.mul_f64((self.total - done) as f64 / done as f64))
            );
        }
        let mut longest: Vec<_> = self.running.values().collect();
        longest.sort_by_key(|(_, since)| *since);
        for (i, (name, since)) in longest.into_iter().take(3).enumerate() {
            line += &format!(
                "{}{name} {}",
                if i == 0 { " | " } else { ", " },
                clock(since.elapsed())
            );
        }
        line
    }
}

/// A duration as `42s`, `3m05s` or `2h07m`.
pub fn clock(time: Duration) -> String {
    let s = time.as_secs();
    match (s / 3600, s / 60 % 60, s % 60) {
        (0, 0, s) => format!("{s}s"),
        (0, m, s) => format!("{m}m{s:02}s"),
        (h, m, _) => format!("{h}h{m:02}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_counts_and_names_what_runs() {
        let mut progress = Progress::new(3);
        progress.started(0, "basic/a".into());
        progress.started(1, "basic/b".into());
        progress.finished(0, Outcome::Crash);
        let line = progress.line();
        assert!(
            line.starts_with("[1/3] crash 1 | 0s, about 0s left | basic/b 0s"),
            "{line}"
        );
    }

    #[test]
    fn durations_are_short() {
        assert_eq!(clock(Duration::from_secs(59)), "59s");
        assert_eq!(clock(Duration::from_secs(185)), "3m05s");
        assert_eq!(clock(Duration::from_secs(7620)), "2h07m");
    }
}
