//! Types: a scalar times a lane count.

use std::fmt;
use std::str::FromStr;

/// What one lane of a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// A truth value; a mask when it has many lanes. One byte (0 or 1) in memory.
    I1,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
    /// A 64-bit address in the process. Address spaces are attributes of accesses, not of pointers.
    Ptr,
}

impl Scalar {
    pub const ALL: [Scalar; 9] = [
        Scalar::I1,
        Scalar::I8,
        Scalar::I16,
        Scalar::I32,
        Scalar::I64,
        Scalar::F16,
        Scalar::F32,
        Scalar::F64,
        Scalar::Ptr,
    ];

    /// Width in bits as an SSA value.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::I1 => 1,
            Scalar::I8 => 8,
            Scalar::I16 | Scalar::F16 => 16,
            Scalar::I32 | Scalar::F32 => 32,
            Scalar::I64 | Scalar::F64 | Scalar::Ptr => 64,
        }
    }

    /// Size in bytes in memory.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// The value bits of a lane stored in a `u64`: all ones in the low [`Scalar::bits`].
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// Integers, without truth values and pointers.
    pub fn is_int(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::F32 | Scalar::F64)
    }

    /// The integer of the same width.
    pub fn as_int(self) -> Scalar {
        match self {
            Scalar::F16 => Scalar::I16,
            Scalar::F32 => Scalar::I32,
            Scalar::F64 | Scalar::Ptr => Scalar::I64,
            other => other,
        }
    }

    /// The integer of `bits` bits (1, 8, 16, 32, 64).
    pub fn int(bits: u32) -> Option<Scalar> {
        Some(match bits {
            1 => Scalar::I1,
            8 => Scalar::I8,
            16 => Scalar::I16,
            32 => Scalar::I32,
            64 => Scalar::I64,
            _ => return None,
        })
    }

    /// The floating-point type of `bits` bits (16, 32, 64).
    pub fn float(bits: u32) -> Option<Scalar> {
        Some(match bits {
            16 => Scalar::F16,
            32 => Scalar::F32,
            64 => Scalar::F64,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            Scalar::I1 => "i1",
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::F16 => "f16",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
            Scalar::Ptr => "ptr",
        }
    }
}

/// A scalar times a lane count of at least one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    pub scalar: Scalar,
    pub lanes: u8,
}

impl Type {
    pub const I1: Type = Type::new(Scalar::I1, 1);
    pub const I8: Type = Type::new(Scalar::I8, 1);
    pub const I16: Type = Type::new(Scalar::I16, 1);
    pub const I32: Type = Type::new(Scalar::I32, 1);
    pub const I64: Type = Type::new(Scalar::I64, 1);
    pub const F16: Type = Type::new(Scalar::F16, 1);
    pub const F32: Type = Type::new(Scalar::F32, 1);
    pub const F64: Type = Type::new(Scalar::F64, 1);
    pub const PTR: Type = Type::new(Scalar::Ptr, 1);

    pub const fn new(scalar: Scalar, lanes: u8) -> Type {
        Type { scalar, lanes }
    }

    /// The same scalar with another lane count.
    pub const fn with_lanes(self, lanes: u8) -> Type {
        Type {
            scalar: self.scalar,
            lanes,
        }
    }

    /// The same lane count with another scalar.
    pub const fn with_scalar(self, scalar: Scalar) -> Type {
        Type {
            scalar,
            lanes: self.lanes,
        }
    }

    /// One lane.
    pub const fn lane(self) -> Type {
        self.with_lanes(1)
    }

    /// The type of a comparison of values of this type.
    pub const fn as_mask(self) -> Type {
        self.with_scalar(Scalar::I1)
    }

    /// Size in bytes in memory, lanes contiguous (a vector of three takes three lanes here).
    pub fn bytes(self) -> u32 {
        self.scalar.bytes() * u32::from(self.lanes)
    }

    pub fn is_scalar(self) -> bool {
        self.lanes == 1
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scalar.name())?;
        if self.lanes != 1 {
            write!(f, "x{}", self.lanes)
        } else {
            Ok(())
        }
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Type {
    type Err = ();

    fn from_str(s: &str) -> Result<Type, ()> {
        let (name, lanes) = match s.split_once('x') {
            Some((name, lanes)) => (name, lanes.parse().map_err(|_| ())?),
            None => (s, 1),
        };
        let scalar = Scalar::ALL
            .into_iter()
            .find(|s| s.name() == name)
            .ok_or(())?;
        if lanes == 0 {
            Err(())
        } else {
            Ok(Type { scalar, lanes })
        }
    }
}
