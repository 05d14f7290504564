//! The types of random programs.
//!
//! Written from C99 and not taken from the compiler: a generator that shared its mistakes would not
//! find them.

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
    Bool,
    Float,
    Double,
    Half,
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

/// What there are vectors of.
pub const ELEMENTS: &[Scalar] = &[
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
    Scalar::Half,
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
    Scalar::Bool,
    Scalar::Float,
    Scalar::Double,
    Scalar::Half,
];

impl Scalar {
    /// Of the value; memory for a `bool` is 8 bits.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::Char | Scalar::UChar => 8,
            Scalar::Short | Scalar::UShort | Scalar::Half => 16,
            Scalar::Int | Scalar::UInt | Scalar::Float => 32,
            Scalar::Long | Scalar::ULong | Scalar::Double => 64,
        }
    }

    pub fn size(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::Float | Scalar::Double | Scalar::Half)
    }

    pub fn is_signed(self) -> bool {
        !matches!(
            self,
            Scalar::UChar | Scalar::UShort | Scalar::UInt | Scalar::ULong | Scalar::Bool
        )
    }

    /// Bits of precision of a floating-point type.
    pub fn precision(self) -> u32 {
        match self {
            Scalar::Half => 11,
            Scalar::Float => 24,
            _ => 53,
        }
    }

    /// How large the values of variables are: they are multiples of 2^-fraction, and that many of
    /// them as there are at most 2^bits. For floating-point types it is so little that sums and
    /// products are exact.
    pub fn stored(self) -> (u32, u32) {
        match self {
            Scalar::Half => (5, 1),
            Scalar::Float => (11, 2),
            Scalar::Double => (25, 3),
            _ if self.is_signed() => (self.bits() - 1, 0),
            _ => (self.bits(), 0),
        }
    }

    /// The integer type of the same size.
    pub fn with_sign(self, signed: bool) -> Scalar {
        match (self.bits(), signed) {
            (1, _) => Scalar::Bool,
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
        match self.is_float() || self.bits() >= 32 {
            true => self,
            false => Scalar::Int,
        }
    }

    /// C99 6.3.1.8: "the usual arithmetic conversions".
    pub fn usual(self, other: Scalar) -> Scalar {
        for float in [Scalar::Double, Scalar::Float, Scalar::Half] {
            if self == float || other == float {
                return float;
            }
        }
        let (a, b) = (self.promoted(), other.promoted());
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
            Scalar::Bool => "bool",
            Scalar::Char => "char",
            Scalar::UChar => "uchar",
            Scalar::Short => "short",
            Scalar::UShort => "ushort",
            Scalar::Int => "int",
            Scalar::UInt => "uint",
            Scalar::Long => "long",
            Scalar::ULong => "ulong",
            Scalar::Half => "half",
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

    /// "A 3-component vector data type has the size of 4 components."
    pub fn size(self) -> usize {
        self.scalar.size() * self.lanes.next_power_of_two()
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
    /// Of pointers only: to anything but `constant`.
    Generic,
}

impl Space {
    /// Whether a pointer to this may point there.
    pub fn holds(self, other: Space) -> bool {
        self == other || self == Space::Generic && other != Space::Constant
    }

    fn qualifier(self) -> &'static str {
        match self {
            Space::Private => "private ",
            Space::Local => "local ",
            Space::Global => "global ",
            Space::Constant => "constant ",
            Space::Generic => "",
        }
    }
}

/// What a variable may be of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    Value(Ty),
    /// A `struct` or `union` of the program, by its number.
    Record(usize),
    Array(Box<Type>, usize),
    /// To the first of so many, which may be written or not.
    Pointer {
        space: Space,
        to: Box<Type>,
        len: usize,
        writable: bool,
    },
}

impl Type {
    pub fn scalar(scalar: Scalar) -> Type {
        Type::Value(Ty::scalar(scalar))
    }

    /// Whether it is a pointer or an array of them.
    pub fn has_pointers(&self) -> bool {
        match self {
            Type::Pointer { .. } => true,
            Type::Array(of, _) => of.has_pointers(),
            Type::Value(_) | Type::Record(_) => false,
        }
    }

    pub fn is_value(&self) -> bool {
        matches!(self, Type::Value(_))
    }
}

/// A `struct` or `union` of the program.
#[derive(Clone, Debug)]
pub struct Record {
    /// As the program writes it, with its keyword or a `typedef`'s name.
    pub name: String,
    pub is_union: bool,
    pub is_packed: bool,
    /// `aligned(N)` of the whole.
    pub align: usize,
    pub fields: Vec<(String, Type)>,
}

/// A declaration without an initialiser: `global int (*name)[4]`.
pub fn declaration(ty: &Type, name: &str, records: &[Record]) -> String {
    match ty {
        Type::Value(ty) => format!("{ty} {name}"),
        Type::Record(number) => format!("{} {name}", records[*number].name),
        Type::Array(of, len) => declaration(of, &format!("{name}[{len}]"), records),
        Type::Pointer {
            space,
            to,
            writable,
            ..
        } => {
            let name = match **to {
                Type::Array(..) => format!("(*{name})"),
                _ => format!("*{name}"),
            };
            let constant = if *writable || *space == Space::Constant {
                ""
            } else {
                "const "
            };
            let rest = declaration(to, &name, records);
            format!("{}{constant}{rest}", space.qualifier())
        }
    }
}

/// Size and alignment, of a type without pointers.
pub fn layout(ty: &Type, records: &[Record]) -> (usize, usize) {
    match ty {
        Type::Value(ty) => (ty.size(), ty.size()),
        Type::Array(of, len) => {
            let (size, align) = layout(of, records);
            (size * len, align)
        }
        Type::Pointer { .. } => (8, 8),
        Type::Record(number) => {
            let record = &records[*number];
            let (mut size, mut align) = (0usize, record.align);
            for (_, field) in &record.fields {
                let (field_size, field_align) = layout(field, records);
                let field_align = if record.is_packed { 1 } else { field_align };
                align = align.max(field_align);
                size = match record.is_union {
                    true => size.max(field_size),
                    false => size.next_multiple_of(field_align) + field_size,
                };
            }
            (size.next_multiple_of(align), align)
        }
    }
}
