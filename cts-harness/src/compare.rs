//! What got better and worse between two sets of outcomes.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::results::{Name, Outcome};

/// A sub-test whose outcome changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub name: Name,
    pub before: Outcome,
    pub after: Outcome,
}

/// All differences. "Worse" is by [`Outcome::rank`]: a pass that became a skip is worse, too,
/// because the driver no longer claims what it did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    pub worse: Vec<Change>,
    pub better: Vec<Change>,
    /// Neither: a crash that became a timeout, or the reverse.
    pub different: Vec<Change>,
    /// Not known before.
    pub new: Vec<(Name, Outcome)>,
    /// Known before, now neither run nor left out on purpose.
    pub missing: Vec<(Name, Outcome)>,
}

impl Comparison {
    /// Compares. `covered` says which sub-tests the second set was to have at all.
    pub fn between(
        before: &BTreeMap<Name, Outcome>,
        after: &BTreeMap<Name, Outcome>,
        covered: impl Fn(&Name) -> bool,
    ) -> Self {
        let mut found = Self::default();
        for (name, &after) in after {
            let Some(&before) = before.get(name) else {
                found.new.push((name.clone(), after));
                continue;
            };
            if before == after {
                continue;
            }
            let list = match after.rank().cmp(&before.rank()) {
                Ordering::Less => &mut found.worse,
                Ordering::Greater => &mut found.better,
                Ordering::Equal => &mut found.different,
            };
            list.push(Change {
                name: name.clone(),
                before,
                after,
            });
        }
        let missing = before
            .iter()
            .filter(|(name, _)| !after.contains_key(name) && covered(name));
        found
            .missing
            .extend(missing.map(|(name, outcome)| (name.clone(), *outcome)));
        found
    }

    /// One line: how many of each.
    pub fn summary(&self) -> String {
        format!(
            "{} worse, {} better, {} different, {} new, {} missing",
            self.worse.len(),
            self.better.len(),
            self.different.len(),
            self.new.len(),
            self.missing.len()
        )
    }

    /// Every difference as `(kind, sub-test, what)`, the worst first.
    pub fn rows(&self) -> Vec<(&'static str, String, String)> {
        let changes = |kind, list: &[Change]| -> Vec<_> {
            list.iter()
                .map(|c| {
                    (
                        kind,
                        c.name.to_string(),
                        format!("{} → {}", c.before, c.after),
                    )
                })
                .collect()
        };
        let ones = |kind, list: &[(Name, Outcome)]| -> Vec<_> {
            list.iter()
                .map(|(name, outcome)| (kind, name.to_string(), outcome.to_string()))
                .collect()
        };
        [
            changes("worse", &self.worse),
            ones("missing", &self.missing),
            changes("different", &self.different),
            changes("better", &self.better),
            ones("new", &self.new),
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outcome::*;

    fn outcomes(list: &[(&str, Outcome)]) -> BTreeMap<Name, Outcome> {
        list.iter()
            .map(|(name, outcome)| (name.parse().unwrap(), *outcome))
            .collect()
    }

    #[test]
    fn every_kind_of_difference_is_found() {
        let before = outcomes(&[
            ("s/same", Fail),
            ("s/fixed", Crash),
            ("s/broken", Pass),
            ("s/dropped", Pass),
            ("s/slow", Crash),
            ("s/gone", Pass),
            ("t/not_run", Pass),
        ]);
        let after = outcomes(&[
            ("s/same", Fail),
            ("s/fixed", Fail),
            ("s/broken", Fail),
            ("s/dropped", Skip),
            ("s/slow", Timeout),
            ("s/born", Pass),
        ]);
        let found = Comparison::between(&before, &after, |name| name.suite == "s");
        assert_eq!(
            found.summary(),
            "2 worse, 1 better, 1 different, 1 new, 1 missing"
        );
        let rows = found.rows();
        let row = |i: usize| (rows[i].0, rows[i].1.as_str(), rows[i].2.as_str());
        assert_eq!(row(0), ("worse", "s/broken", "pass → fail"));
        assert_eq!(row(1), ("worse", "s/dropped", "pass → skip"));
        assert_eq!(row(2), ("missing", "s/gone", "pass"));
        assert_eq!(row(3), ("different", "s/slow", "crash → timeout"));
        assert_eq!(row(4), ("better", "s/fixed", "crash → fail"));
        assert_eq!(row(5), ("new", "s/born", "pass"));
        assert_eq!(rows.len(), 6);
    }

    #[test]
    fn what_is_equal_has_no_differences() {
        let same = outcomes(&[("s/a", Pass), ("s/b", Timeout)]);
        assert_eq!(
            Comparison::between(&same, &same, |_| true),
            Comparison::default()
        );
    }
}
