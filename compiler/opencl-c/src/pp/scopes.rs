//! Which tokens `#pragma OPENCL SELECT_ROUNDING_MODE` and `#pragma OPENCL FP_CONTRACT` are for.
//!
//! OpenCL C Specification, "Select Floating-Point Rounding Mode" and "Preprocessor Directives and
//! Macros": those that follow up to the next pragma of the kind; in a compound statement at most up
//! to its end, where what was in force before it is so again.

use crate::token::{InForce, Loc};

pub(super) struct Scopes<T> {
    /// Braces that are open.
    braces: usize,
    /// What is in force, innermost last, each with how many braces were open at its pragma.
    selected: Vec<(usize, T)>,
    pub(super) in_force: InForce<T>,
}

impl<T> Default for Scopes<T> {
    fn default() -> Scopes<T> {
        Scopes {
            braces: 0,
            selected: Vec::new(),
            in_force: InForce::default(),
        }
    }
}

impl<T: Copy> Scopes<T> {
    /// What is in force now.
    pub(super) fn current(&self) -> Option<T> {
        self.selected.last().map(|&(_, setting)| setting)
    }

    /// A pragma, with the token behind it.
    pub(super) fn select(&mut self, setting: T, next: Loc) {
        self.end_deeper_than(self.braces.checked_sub(1));
        self.selected.push((self.braces, setting));
        self.in_force.change(next, Some(setting));
    }

    pub(super) fn open_brace(&mut self) {
        self.braces += 1;
    }

    /// A closing brace, with the token behind it.
    pub(super) fn close_brace(&mut self, next: Loc) {
        self.braces = self.braces.saturating_sub(1);
        if self.end_deeper_than(Some(self.braces)) {
            self.in_force.change(next, self.current());
        }
    }

    /// Forgets the settings of blocks deeper than so many braces; all settings for `None`.
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
