//! The types of random programs.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    Int,
    UInt,
    Char,
    UChar,
    Short,
    UShort,
    Long,
    ULong,
    Float,
    Double,
}

pub const INTEGERS: &[Scalar] = &[
    Scalar::Int,
    Scalar::UInt,
    Scalar::Char,
    Scalar::UChar,
    Scalar::Short,
    Scalar::UShort,
    Scalar::Long,
    Scalar::ULong,
];

pub const SCALARS: &[Scalar] = &[
    Scalar::Int,
    Scalar::UInt,
    Scalar::Char,
    Scalar::UChar,
    Scalar::Short,
    Scalar::UShort,
    Scalar::Long,
    Scalar::ULong,
    Scalar::Float,
    Scalar::Double,
];

impl Scalar {
    pub fn bits(self) -> u32 {
        match self {
            Scalar::Char | Scalar::UChar => 8,
            Scalar::Short | Scalar::UShort => 16,
            Scalar::Int | Scalar::UInt | Scalar::Float => 32,
            Scalar::Long | Scalar::ULong | Scalar::Double => 64,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::Float | Scalar::Double)
    }

    pub fn is_signed(self) -> bool {
        !matches!(
            self,
            Scalar::UChar | Scalar::UShort | Scalar::UInt | Scalar::ULong
        )
    }

    /// The least and greatest value; of floating-point types the range in which whole numbers are
    /// exact, and so are their sums and products if they stay in it.
    pub fn range(self) -> (i128, i128) {
        match self {
            Scalar::Float => (-(1 << 24), 1 << 24),
            Scalar::Double => (-(1 << 53), 1 << 53),
            _ if self.is_signed() => (-(1 << (self.bits() - 1)), (1 << (self.bits() - 1)) - 1),
            _ => (0, (1 << self.bits()) - 1),
        }
    }

    /// The integer type of the same size.
    pub fn with_sign(self, signed: bool) -> Scalar {
        match (self.bits(), signed) {
            (8, true) => Scalar::Char,
            (8, false) => Scalar::UChar,
            (16, true) => Scalar::Short,
            (16, false) => Scalar::UShort,
            (32, true) => Scalar::Int,
            (32, false) => Scalar::UInt,
            (_, true) => Scalar::Long,
            (_, false) => Scalar::ULong,
        }
    }

    /// C99 6.3.1.1: "the integer promotions".
    pub fn promoted(self) -> Scalar {
        if self.bits() < 32 { Scalar::Int } else { self }
    }

    /// C99 6.3.1.8: "the usual arithmetic conversions".
    pub fn usual(self, other: Scalar) -> Scalar {
        let (a, b) = (self.promoted(), other.promoted());
        for float in [Scalar::Double, Scalar::Float] {
            if a == float || b == float {
                return float;
            }
        }
        if a.bits() == b.bits() {
            if a.is_signed() { b } else { a }
        } else if a.bits() > b.bits() {
            a
        } else {
            b
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scalar::Char => "char",
            Scalar::UChar => "uchar",
            Scalar::Short => "short",
            Scalar::UShort => "ushort",
            Scalar::Int => "int",
            Scalar::UInt => "uint",
            Scalar::Long => "long",
            Scalar::ULong => "ulong",
            Scalar::Float => "float",
            Scalar::Double => "double",
        })
    }
}

/// A scalar or a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ty {
    pub scalar: Scalar,
    pub lanes: usize,
}

impl Ty {
    pub fn scalar(scalar: Scalar) -> Ty {
        Ty { scalar, lanes: 1 }
    }

    pub fn of(scalar: Scalar, lanes: usize) -> Ty {
        Ty { scalar, lanes }
    }

    pub fn is_scalar(self) -> bool {
        self.lanes == 1
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lanes {
            1 => self.scalar.fmt(f),
            lanes => write!(f, "{}{lanes}", self.scalar),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Private,
    Local,
    Global,
    Constant,
    /// Of parameters only: a pointer to anything but `constant`.
    Generic,
}

/// What a variable may be of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Value(Ty),
    /// A `struct` or `union` of the program, by its number.
    Record(usize),
    Array(Box<Type>, usize),
    /// To the first of so many.
    Pointer(Space, Box<Type>, usize),
}

/// A `struct` or `union` of the program.
#[derive(Clone, Debug)]
pub struct Record {
    /// As the program writes it, with its keyword or a `typedef`'s name.
    pub name: String,
    pub is_union: bool,
    pub fields: Vec<(String, Type)>,
}
