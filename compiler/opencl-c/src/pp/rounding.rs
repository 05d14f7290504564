//! Which tokens `#pragma OPENCL SELECT_ROUNDING_MODE` is for.
//!
//! OpenCL C Specification, "Select Floating-Point Rounding Mode": those that follow up to the next
//! such pragma; in a compound statement at most up to its end, where the mode is again the one of
//! before it.

use crate::token::{Loc, RoundingMode, Roundings};

#[derive(Default)]
pub(super) struct RoundingScopes {
    /// Braces that are open.
    braces: usize,
    /// The modes in force, innermost last, each with how many braces were open at its pragma.
    selected: Vec<(usize, RoundingMode)>,
    pub(super) roundings: Roundings,
}

impl RoundingScopes {
    /// The mode in force.
    pub(super) fn mode(&self) -> Option<RoundingMode> {
        self.selected.last().map(|&(_, mode)| mode)
    }

    /// A pragma, with the token behind it.
    pub(super) fn select(&mut self, mode: RoundingMode, next: Loc) {
        self.end_deeper_than(self.braces.checked_sub(1));
        self.selected.push((self.braces, mode));
        self.roundings.change(next, Some(mode));
    }

    pub(super) fn open_brace(&mut self) {
        self.braces += 1;
    }

    /// A closing brace, with the token behind it.
    pub(super) fn close_brace(&mut self, next: Loc) {
        self.braces = self.braces.saturating_sub(1);
        if self.end_deeper_than(Some(self.braces)) {
            self.roundings.change(next, self.mode());
        }
    }

    /// Forgets the modes of blocks deeper than so many braces; all modes for `None`.
    fn end_deeper_than(&mut self, braces: Option<usize>) -> bool {
        let before = self.selected.len();
        while let Some(&(at, _)) = self.selected.last()
            && braces.is_none_or(|braces| at > braces)
        {
            self.selected.pop();
        }
        self.selected.len() < before
    }
}
