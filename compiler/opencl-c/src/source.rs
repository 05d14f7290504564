//! Files in one space of positions.
//!
//! Each file that is read, and each text that is made up (predefined macros, `-D` options, tokens pasted with
//! `##`), gets a range of positions of its own, one position a byte and one for the end. A position therefore says
//! file, line and column without more.

/// A byte of some file; see [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pos(pub u32);

impl Pos {
    /// In no file: of the build options, say.
    pub const NONE: Pos = Pos(0);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId(pub u32);
