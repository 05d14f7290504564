//! Which lines of the source code comes from.

use serde::{Deserialize, Serialize};

use super::tools;
use crate::ir::SourceLoc;

/// The lines of a piece of code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineTable {
    /// Each as `file:line`.
    places: Vec<String>,
    /// Where the code of another place begins, in bytes, sorted; and that place's index.
    rows: Vec<(u32, u32)>,
}

impl LineTable {
    /// Of the offsets at which code of another location begins, sorted. `locations` are those that
    /// they refer to, as `file:line`.
    pub fn new(code: &[(u32, SourceLoc)], locations: &[String]) -> LineTable {
        let mut table = LineTable::default();
        let mut indices: Vec<Option<u32>> = vec![None; locations.len()];
        for &(offset, loc) in code {
            let at = loc.0.map(|n| n.get() as usize - 1);
            let Some((at, place)) = at.and_then(|at| Some((at, locations.get(at)?))) else {
                continue;
            };
            let index = *indices[at].get_or_insert_with(|| {
                table.places.push(place.clone());
                table.places.len() as u32 - 1
            });
            let last = table.rows.last();
            if last.is_none_or(|&(_, last)| table.places[last as usize] != *place) {
                table.rows.push((offset, index));
            }
        }
        // What comes before is of no line. Debuggers want one for a function's first instruction.
        if let Some(first) = table.rows.first_mut() {
            first.0 = 0;
        }
        table
    }

    /// The place that the code at an offset comes from, as `file:line`.
    pub fn at(&self, offset: usize) -> Option<&str> {
        let after = self
            .rows
            .partition_point(|&(begin, _)| begin as usize <= offset);
        let (_, place) = self.rows[after.checked_sub(1)?];
        self.places.get(place as usize).map(String::as_str)
    }

    /// What tools are told.
    pub(super) fn described(&self) -> Vec<tools::Line<'_>> {
        let rows = self.rows.iter().filter_map(|&(offset, place)| {
            let place = self.places.get(place as usize)?;
            let (file, line) = place.rsplit_once(':').unwrap_or((place, "0"));
            let line = line.parse().unwrap_or(0);
            Some(tools::Line { offset, file, line })
        });
        rows.collect()
    }
}
