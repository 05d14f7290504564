//! The types of a row: a signature is words, the result first.
//!
//! A word is a type, or a pointer's space, qualifiers and pointee: `Pv*@T` is a pointer in any
//! space that may be written to `volatile` `_Atomic(T)`.
//!
//! | word | type |
//! | --- | --- |
//! | `T` | the row's generic type: a component and a number of lanes |
//! | `S` | its component |
//! | `X` | its component, in as many lanes as a vector may have (`shuffle`'s source) |
//! | `I` `J` `L` | `int`, `uint`, `long` in as many lanes |
//! | `K` `N` | the signed and the unsigned integer of its width, in as many lanes |
//! | `W` | the integer of twice its width and its sign, in as many lanes |
//! | `R` | what comparisons yield: `int`, or `K` for vectors |
//! | `int` `uchar4` `size` ... | that type |
//! | `r2d` `w3d` `rw2da` ... | images, by access and dimensions |
//! | `block` `pipe_r` `pipe_w` | any block, any pipe of that access |
//! | `E` | what the pipe holds |
//! | `any` | as a pointee: anything |
//! | `to_g` `to_l` `to_p` | as a result: a pointer to what the first argument points to |
//! | `...` | more arguments |
//!
//! Spaces are `p` `g` `l` `c` `G` (generic), and sets of them: `P` all that may be written, `Q`
//! all, `A` global and local (atomics). Generic is a member where the language has it. Qualifiers
//! are `k` (`const`) and `v`.

use crate::ast::Access;
use crate::types::{ImageDim, Scalar, Space, Type, TypeId, Types};

/// A word of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub pointer: Option<Pointer>,
    pub atomic: bool,
    pub base: Base,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pointer {
    pub spaces: Spaces,
    pub is_const: bool,
    pub is_volatile: bool,
}

/// A set of address spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spaces(u8);

impl Spaces {
    pub fn has(self, space: Space) -> bool {
        self.0 & 1 << space as u8 != 0
    }

    /// Without generic, where the language has no such pointers.
    pub fn without_generic(self) -> Spaces {
        Spaces(self.0 & !(1 << Space::Generic as u8))
    }

    pub fn any(self) -> Space {
        let all = [
            Space::Generic,
            Space::Global,
            Space::Local,
            Space::Private,
            Space::Constant,
        ];
        let first = all.into_iter().find(|&space| self.has(space));
        first.unwrap_or(Space::Private)
    }

    /// The spaces, one by one.
    pub fn each(self) -> impl Iterator<Item = Space> {
        let all = [
            Space::Private,
            Space::Global,
            Space::Local,
            Space::Constant,
            Space::Generic,
        ];
        all.into_iter().filter(move |&space| self.has(space))
    }

    fn parse(letter: u8) -> Option<Spaces> {
        let (p, g, l, c, generic) = (1u8, 2u8, 4u8, 8u8, 16u8);
        Some(Spaces(match letter {
            b'p' => p,
            b'g' => g,
            b'l' => l,
            b'c' => c,
            b'G' => generic,
            b'P' => p | g | l | generic,
            b'Q' => p | g | l | c | generic,
            b'A' => g | l | generic,
            _ => return None,
        }))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// `T` and its kin.
    Generic(Kin),
    Fixed(Scalar, u8),
    Void,
    /// A type that is known by its number.
    Other(TypeId),
    Image(ImageDim, Access),
    Block,
    Pipe(Access),
    Element,
    AnyPointee,
    ToSpace(Space),
    Variadic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kin {
    T,
    S,
    X,
    Int,
    UInt,
    Long,
    Signed,
    Unsigned,
    Wide,
    Relation,
}

/// What the generic type of a row is in one instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instance {
    pub scalar: Scalar,
    pub lanes: u8,
    /// Lanes of `X`.
    pub source_lanes: u8,
}

impl Kin {
    pub fn of(self, instance: Instance) -> (Scalar, u8) {
        let Instance {
            scalar,
            lanes,
            source_lanes,
        } = instance;
        let bits = scalar.bits();
        match self {
            Kin::T => (scalar, lanes),
            Kin::S => (scalar, 1),
            Kin::X => (scalar, source_lanes),
            Kin::Int => (Scalar::Int, lanes),
            Kin::UInt => (Scalar::UInt, lanes),
            Kin::Long => (Scalar::Long, lanes),
            Kin::Signed => (Scalar::integer(bits, true), lanes),
            Kin::Unsigned => (Scalar::integer(bits, false), lanes),
            Kin::Wide => (
                Scalar::integer((bits * 2).min(64), scalar.is_signed()),
                lanes,
            ),
            Kin::Relation if lanes == 1 => (Scalar::Int, 1),
            Kin::Relation => (Scalar::integer(bits, true), lanes),
        }
    }
}

/// The words of a signature; the first is the result.
pub(super) fn parse(signature: &str) -> impl Iterator<Item = Word> + '_ {
    signature.split_ascii_whitespace().map(word)
}

fn word(text: &str) -> Word {
    if let Some((head, pointee)) = text.split_once('*') {
        let mut letters = head.bytes();
        let spaces = letters
            .next()
            .and_then(Spaces::parse)
            .expect("a pointer's word begins with its space");
        let (atomic, pointee) = match pointee.strip_prefix('@') {
            Some(inner) => (true, inner),
            None => (false, pointee),
        };
        return Word {
            pointer: Some(Pointer {
                spaces,
                is_const: head[1..].contains('k'),
                is_volatile: head[1..].contains('v'),
            }),
            atomic,
            base: base(pointee),
        };
    }
    Word {
        pointer: None,
        atomic: false,
        base: base(text),
    }
}

fn base(text: &str) -> Base {
    match text {
        "T" => Base::Generic(Kin::T),
        "S" => Base::Generic(Kin::S),
        "X" => Base::Generic(Kin::X),
        "I" => Base::Generic(Kin::Int),
        "J" => Base::Generic(Kin::UInt),
        "L" => Base::Generic(Kin::Long),
        "K" => Base::Generic(Kin::Signed),
        "N" => Base::Generic(Kin::Unsigned),
        "W" => Base::Generic(Kin::Wide),
        "R" => Base::Generic(Kin::Relation),
        "E" => Base::Element,
        "void" => Base::Void,
        "any" => Base::AnyPointee,
        "size" => Base::Fixed(Scalar::ULong, 1),
        "event" => Base::Other(Types::EVENT),
        "sampler" => Base::Other(Types::SAMPLER),
        "clk_event" => Base::Other(Types::CLK_EVENT),
        "queue" => Base::Other(Types::QUEUE),
        "ndrange" => Base::Other(Types::ND_RANGE),
        "reserve_id" => Base::Other(Types::RESERVE_ID),
        "block" => Base::Block,
        "pipe_r" => Base::Pipe(Access::ReadOnly),
        "pipe_w" => Base::Pipe(Access::WriteOnly),
        "to_g" => Base::ToSpace(Space::Global),
        "to_l" => Base::ToSpace(Space::Local),
        "to_p" => Base::ToSpace(Space::Private),
        "..." => Base::Variadic,
        _ => arithmetic(text)
            .or_else(|| image(text))
            .unwrap_or_else(|| unreachable!("no word of a signature: {text}")),
    }
}

fn arithmetic(text: &str) -> Option<Base> {
    let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let lanes = match &text[stem.len()..] {
        "" => 1,
        digits => digits.parse().ok()?,
    };
    Some(Base::Fixed(Scalar::named(stem)?, lanes))
}

fn image(text: &str) -> Option<Base> {
    let (access, dim) = if let Some(dim) = text.strip_prefix("rw") {
        (Access::ReadWrite, dim)
    } else if let Some(dim) = text.strip_prefix('r') {
        (Access::ReadOnly, dim)
    } else {
        (Access::WriteOnly, text.strip_prefix('w')?)
    };
    Some(Base::Image(
        match dim {
            "1d" => ImageDim::D1,
            "1da" => ImageDim::D1Array,
            "1db" => ImageDim::D1Buffer,
            "2d" => ImageDim::D2,
            "2da" => ImageDim::D2Array,
            "2dd" => ImageDim::D2Depth,
            "2dad" => ImageDim::D2ArrayDepth,
            "2dm" => ImageDim::D2Msaa,
            "2dam" => ImageDim::D2ArrayMsaa,
            "2dmd" => ImageDim::D2MsaaDepth,
            "2damd" => ImageDim::D2ArrayMsaaDepth,
            "3d" => ImageDim::D3,
            _ => return None,
        },
        access,
    ))
}

/// The type of a word that is no pointer and known without looking at arguments.
pub(super) fn plain_type(base: Base, instance: Instance, types: &mut Types) -> Option<TypeId> {
    Some(match base {
        Base::Generic(kin) => {
            let (scalar, lanes) = kin.of(instance);
            types.vector(scalar, lanes)
        }
        Base::Fixed(scalar, lanes) => types.vector(scalar, lanes),
        Base::Void | Base::AnyPointee => Types::VOID,
        Base::Other(id) => id,
        Base::Image(dim, access) => types.intern(Type::Image { dim, access }),
        Base::Block | Base::Pipe(_) | Base::Element | Base::ToSpace(_) | Base::Variadic => {
            return None;
        }
    })
}
