//! Tokens as the preprocessor hands them to the parser.

use crate::source::Pos;
use crate::symbol::Symbol;

/// A place in the program: the index of a token in [`TokenStream::tokens`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loc(pub u32);

/// A run of tokens, both ends included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    pub first: Loc,
    pub last: Loc,
}

impl Span {
    pub fn at(loc: Loc) -> Span {
        Span {
            first: loc,
            last: loc,
        }
    }

    pub fn to(self, last: Span) -> Span {
        Span {
            first: self.first,
            last: last.last,
        }
    }
}

/// Which macro expansion made a token; [`ExpansionId::NONE`] if the source has it itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExpansionId(pub u32);

impl ExpansionId {
    pub const NONE: ExpansionId = ExpansionId(0);
}

/// One expansion of a macro.
#[derive(Clone, Copy, Debug)]
pub struct Expansion {
    /// The macro's name.
    pub name: Symbol,
    /// Where the macro is named.
    pub invoked: Pos,
    /// Where the macro is defined.
    pub defined: Pos,
    /// The expansion that the invocation itself came from.
    pub parent: ExpansionId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    /// White space (or a comment) before it.
    pub space_before: bool,
    /// First on its line, for the printer of preprocessed text.
    pub line_start: bool,
    /// Identifier, number as spelled, literal as spelled with its quotes and prefix; for a pragma
    /// the index in [`TokenStream::pragmas`] as `Symbol(index)`; for punctuators the spelling if it
    /// is a digraph.
    pub symbol: Symbol,
    /// Where it is spelled (inside a macro's definition for tokens of expansions).
    pub pos: Pos,
    /// Bytes of its spelling.
    pub len: u32,
    pub expansion: ExpansionId,
}

/// What the preprocessor yields.
#[derive(Debug, Default)]
pub struct TokenStream {
    /// Ends with one [`TokenKind::Eof`].
    pub tokens: Vec<Token>,
    /// Entry 0 stands for no expansion.
    pub expansions: Vec<Expansion>,
    pub pragmas: Vec<Pragma>,
    /// The mode that `SELECT_ROUNDING_MODE` has put in force.
    pub roundings: InForce<RoundingMode>,
    /// Whether `FP_CONTRACT` lets expressions be contracted; they may be where it says nothing.
    pub contractions: InForce<bool>,
    /// What each pragma says behind `#pragma`.
    pub pragma_texts: Vec<Symbol>,
}

/// What pragmas of one kind have put in force, by place: of tokens rather than statements, as they
/// may stand between any two.
#[derive(Clone, Debug)]
pub struct InForce<T> {
    /// The setting from a token on, in order of tokens.
    changes: Vec<(Loc, Option<T>)>,
}

impl<T> Default for InForce<T> {
    fn default() -> InForce<T> {
        InForce {
            changes: Vec::new(),
        }
    }
}

impl<T: Copy> InForce<T> {
    pub fn change(&mut self, from: Loc, setting: Option<T>) {
        self.changes.push((from, setting));
    }

    /// The setting at a token; `None` where no pragma says any.
    pub fn at(&self, loc: Loc) -> Option<T> {
        let begun = self.changes.partition_point(|&(from, _)| from <= loc);
        self.changes[..begun].last()?.1
    }

    /// Whether no pragma of the kind is anywhere.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// A `#pragma` (or `_Pragma`) that means something to later stages, with where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pragma {
    /// `#pragma OPENCL FP_CONTRACT`, `#pragma STDC FP_CONTRACT`: whether expressions may be
    /// contracted. The parser looks at no more than whether it may stand where it does: what it
    /// means is in [`TokenStream::contractions`].
    FpContract(bool),
    /// `#pragma OPENCL EXTENSION name : behaviour`, checked against what the device has.
    Extension { name: Symbol, enable: bool },
    /// `#pragma OPENCL SELECT_ROUNDING_MODE rte|rtz|rtp|rtn`. The parser does not see it: what it
    /// means is in [`TokenStream::roundings`].
    RoundingMode(RoundingMode),
    /// `#pragma unroll`, `#pragma unroll N`, `#pragma nounroll`, `#pragma clang loop unroll(..)`,
    /// `#pragma GCC unroll N`.
    Unroll(Unroll),
    /// `#pragma pack`: the alignment in force after it, if any.
    Pack(Option<u32>),
    /// Of no meaning to later stages: only preprocessed text keeps it.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoundingMode {
    ToEven,
    ToZero,
    ToPositive,
    ToNegative,
}

impl RoundingMode {
    /// As SPIR-V numbers it: "FP Rounding Mode".
    pub fn number(self) -> u32 {
        match self {
            RoundingMode::ToEven => 0,
            RoundingMode::ToZero => 1,
            RoundingMode::ToPositive => 2,
            RoundingMode::ToNegative => 3,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unroll {
    /// As the compiler likes.
    Enable,
    Disable,
    Full,
    Count(u32),
}

/// Keywords are identifiers with symbols of their own (`symbol.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    Ident,
    /// A preprocessing number, any of C's constants of numbers or not one.
    Number,
    Char,
    Str,
    Pragma,
    Eof,
    /// A character that begins no token.
    Unknown,
    LParen,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    Comma,
    Semi,
    Colon,
    Question,
    Dot,
    Ellipsis,
    Arrow,
    Plus,
    PlusPlus,
    PlusEq,
    Minus,
    MinusMinus,
    MinusEq,
    Star,
    StarEq,
    Slash,
    SlashEq,
    Percent,
    PercentEq,
    Amp,
    AmpAmp,
    AmpEq,
    Pipe,
    PipePipe,
    PipeEq,
    Caret,
    CaretEq,
    Tilde,
    Bang,
    BangEq,
    Eq,
    EqEq,
    Lt,
    LtEq,
    Shl,
    ShlEq,
    Gt,
    GtEq,
    Shr,
    ShrEq,
    Hash,
    HashHash,
}
