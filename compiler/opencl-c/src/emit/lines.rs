//! Where expressions are in the source.

use crate::source::{Place, SourceMap};
use crate::token::{Loc, TokenStream};

/// The source, for those who want to know lines.
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    pub tokens: &'a TokenStream,
    pub map: &'a SourceMap,
}

impl Lines<'_> {
    /// The place of a token; of one that a macro made, where the outermost macro is named.
    pub(super) fn place(&self, loc: Loc) -> Option<Place> {
        let token = self.tokens.tokens.get(loc.0 as usize)?;
        let mut pos = token.pos;
        let mut expansion = token.expansion;
        while expansion.0 != 0 {
            let made = self.tokens.expansions[expansion.0 as usize];
            (pos, expansion) = (made.invoked, made.parent);
        }
        self.map.place(pos)
    }
}
