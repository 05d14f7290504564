//! The number traits, and their meaning for plain `f32` and `f64`.

use crate::routine::{Routine, Target};
use crate::table::Table;
use std::num::Wrapping;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// The IEEE 754 format of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Format {
    /// binary32, OpenCL `float`.
    F32,
    /// binary64, OpenCL `double`.
    F64,
}

impl Format {
    /// `single` for `F32`, `double` for `F64`.
    pub fn pick<T>(self, single: T, double: T) -> T {
        match self {
            Format::F32 => single,
            Format::F64 => double,
        }
    }

    /// Width of a lane in bits.
    pub fn bits(self) -> u32 {
        self.pick(32, 64)
    }

    /// Stored significand bits, which is also the position of the exponent field.
    pub fn mantissa_bits(self) -> u32 {
        self.pick(23, 52)
    }

    /// The exponent bias, which is also the largest finite exponent.
    pub fn bias(self) -> i32 {
        self.pick(127, 1023)
    }
}

/// A truth value per lane. In generated code: all bits of the lane set, or none.
pub trait Mask:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
}

impl Mask for bool {}

/// An integer per lane, as wide as the float it belongs to. Arithmetic wraps; signedness is in the
/// operation. Shift amounts are constants, less than the width.
pub trait Int:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// The result of a comparison.
    type Mask: Mask;

    /// A constant of the receiver's kind, truncated to its width (so `-1i64 as u64` is -1).
    fn lit(self, value: u64) -> Self;
    /// Shift left.
    fn shl(self, amount: u32) -> Self;
    /// Logical shift right.
    fn shr(self, amount: u32) -> Self;
    /// Arithmetic shift right.
    fn sar(self, amount: u32) -> Self;
    /// Equal.
    fn eq(self, rhs: Self) -> Self::Mask;
    /// Signed less than.
    fn slt(self, rhs: Self) -> Self::Mask;
    /// `a` in lanes where `mask` is set, else `b`.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;

    /// A signed constant of the receiver's kind.
    fn ilit(self, value: i64) -> Self {
        self.lit(value as u64)
    }
    /// Not equal.
    fn ne(self, rhs: Self) -> Self::Mask {
        !self.eq(rhs)
    }
    /// Signed greater than.
    fn sgt(self, rhs: Self) -> Self::Mask {
        rhs.slt(self)
    }
}

/// A float per lane. Every operation is IEEE 754, round to nearest even, denormals kept.
///
/// `-x` and [`Float::abs`] change the sign bit and nothing else, NaN included. The operators are
/// never contracted: a fused multiply-add is written [`Float::fma`].
pub trait Float:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The result of a comparison.
    type Mask: Mask;
    /// The integer of the same width.
    type Int: Int<Mask = Self::Mask>;

    /// The format of the lanes.
    fn format(self) -> Format;
    /// A constant of the receiver's format, `value` rounded to nearest.
    fn lit(self, value: f64) -> Self;
    /// An integer constant of the receiver's width (see [`Int::lit`]).
    fn int_lit(self, value: u64) -> Self::Int;
    /// A mask constant.
    fn mask_lit(self, value: bool) -> Self::Mask;

    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// Clears the sign bit.
    fn abs(self) -> Self;
    /// Round towards minus infinity; keeps the sign of a zero result.
    fn floor(self) -> Self;
    /// Round towards plus infinity; keeps the sign of a zero result.
    fn ceil(self) -> Self;
    /// Round towards zero; keeps the sign of a zero result.
    fn trunc(self) -> Self;
    /// Round to nearest, ties to even; keeps the sign of a zero result.
    fn round_even(self) -> Self;

    /// Ordered equal.
    fn eq(self, rhs: Self) -> Self::Mask;
    /// Ordered less than.
    fn lt(self, rhs: Self) -> Self::Mask;
    /// Ordered less than or equal.
    fn le(self, rhs: Self) -> Self::Mask;
    /// `a` in lanes where `mask` is set, else `b`.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;

    /// The encoding.
    fn to_bits(self) -> Self::Int;
    /// The value of an encoding.
    fn from_bits(bits: Self::Int) -> Self;

    /// The entry of a table of the receiver's format, `double`, that the low four bits of `number`
    /// say.
    fn lookup(self, number: Self::Int, table: Table) -> Self;

    // What follows has a meaning in the operations above, and may be an operation of the machine.

    /// `self * 2^n`, rounded once, for `0.5 < |self| < 2` and an integral `n` within twice the
    /// exponent range, also given as an integer.
    fn scale(self, n: Self, bits: Self::Int) -> Self {
        let _ = n;
        crate::bits::scale(self, bits)
    }
    /// `self * 2^n`, rounded once, for any `self` and any signed 32-bit `n`.
    fn ldexp(self, n: Self::Int) -> Self {
        crate::parts::ldexp_in_steps(self, n)
    }
    /// A signed integer of magnitude below 2^22 (`float`) or 2^51 (`double`) in the receiver's
    /// format. Exact.
    fn of_int(self, i: Self::Int) -> Self {
        crate::bits::of_small_int(self, i)
    }

    /// `1 / self` within 2^-14 of it, on machines that have an estimate, whose bits may differ from
    /// machine to machine; exact where `self` is zero or infinite.
    fn recip_estimate(self) -> Option<Self> {
        None
    }
    /// `1 / sqrt(self)`, likewise; NaN below zero.
    fn rsqrt_estimate(self) -> Option<Self> {
        None
    }

    /// `r(self)` in lanes where `mask` is set, else `fast`.
    fn rare1(self, mask: Self::Mask, fast: Self, r: Routine) -> Self;
    /// `r(self, y)` in lanes where `mask` is set, else `fast`.
    fn rare2(self, y: Self, mask: Self::Mask, fast: Self, r: Routine) -> Self;
    /// `r(self, y, z)` in lanes where `mask` is set, else `fast`.
    fn rare3(self, rest: [Self; 2], mask: Self::Mask, fast: Self, r: Routine) -> Self;
    /// `r(self, y)` in lanes where `mask` is set, else `fast`, for a routine with an integer
    /// result.
    fn rare2_int(self, y: Self, mask: Self::Mask, fast: Self::Int, r: Routine) -> Self::Int;
    /// Not ordered equal: unordered or different.
    fn ne(self, rhs: Self) -> Self::Mask {
        !self.eq(rhs)
    }
    /// Ordered greater than.
    fn gt(self, rhs: Self) -> Self::Mask {
        rhs.lt(self)
    }
    /// Ordered greater than or equal.
    fn ge(self, rhs: Self) -> Self::Mask {
        rhs.le(self)
    }
    /// Is a NaN.
    fn is_nan(self) -> Self::Mask {
        !self.eq(self)
    }
    /// Either is a NaN.
    fn unordered(self, rhs: Self) -> Self::Mask {
        self.is_nan() | rhs.is_nan()
    }
    /// A constant that differs between the formats.
    fn lit2(self, single: f64, double: f64) -> Self {
        self.lit(self.format().pick(single, double))
    }
}

macro_rules! plain {
    ($float:ty, $uint:ty, $sint:ty, $format:ident, $f1:ident, $f2:ident, $f3:ident, $i2:ident) => {
        impl Int for Wrapping<$uint> {
            type Mask = bool;

            fn lit(self, value: u64) -> Self {
                Wrapping(value as $uint)
            }
            fn shl(self, amount: u32) -> Self {
                Wrapping(self.0 << amount)
            }
            fn shr(self, amount: u32) -> Self {
                Wrapping(self.0 >> amount)
            }
            fn sar(self, amount: u32) -> Self {
                Wrapping(((self.0 as $sint) >> amount) as $uint)
            }
            fn eq(self, rhs: Self) -> bool {
                self.0 == rhs.0
            }
            fn slt(self, rhs: Self) -> bool {
                (self.0 as $sint) < (rhs.0 as $sint)
            }
            fn select(mask: bool, a: Self, b: Self) -> Self {
                if mask { a } else { b }
            }
        }

        impl Float for $float {
            type Mask = bool;
            type Int = Wrapping<$uint>;

            fn format(self) -> Format {
                Format::$format
            }
            fn lit(self, value: f64) -> Self {
                value as $float
            }
            fn int_lit(self, value: u64) -> Self::Int {
                Wrapping(value as $uint)
            }
            fn mask_lit(self, value: bool) -> bool {
                value
            }
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            fn sqrt(self) -> Self {
                <$float>::sqrt(self)
            }
            fn abs(self) -> Self {
                <$float>::abs(self)
            }
            fn floor(self) -> Self {
                <$float>::floor(self)
            }
            fn ceil(self) -> Self {
                <$float>::ceil(self)
            }
            fn trunc(self) -> Self {
                <$float>::trunc(self)
            }
            fn round_even(self) -> Self {
                self.round_ties_even()
            }
            fn eq(self, rhs: Self) -> bool {
                self == rhs
            }
            fn lt(self, rhs: Self) -> bool {
                self < rhs
            }
            fn le(self, rhs: Self) -> bool {
                self <= rhs
            }
            fn select(mask: bool, a: Self, b: Self) -> Self {
                if mask { a } else { b }
            }
            fn to_bits(self) -> Self::Int {
                Wrapping(<$float>::to_bits(self))
            }
            fn from_bits(bits: Self::Int) -> Self {
                <$float>::from_bits(bits.0)
            }
            fn lookup(self, number: Self::Int, table: Table) -> Self {
                table.entries()[number.0 as usize & 15] as $float
            }
            fn rare1(self, mask: bool, fast: Self, r: Routine) -> Self {
                match r.target(Format::$format) {
                    Target::$f1(f) if mask => f(self),
                    Target::$f1(_) => fast,
                    _ => unreachable!("{r:?} does not take one {:?}", Format::$format),
                }
            }
            fn rare2(self, y: Self, mask: bool, fast: Self, r: Routine) -> Self {
                match r.target(Format::$format) {
                    Target::$f2(f) if mask => f(self, y),
                    Target::$f2(_) => fast,
                    _ => unreachable!("{r:?} does not take two {:?}", Format::$format),
                }
            }
            fn rare3(self, [y, z]: [Self; 2], mask: bool, fast: Self, r: Routine) -> Self {
                match r.target(Format::$format) {
                    Target::$f3(f) if mask => f(self, y, z),
                    Target::$f3(_) => fast,
                    _ => unreachable!("{r:?} does not take three {:?}", Format::$format),
                }
            }
            fn rare2_int(self, y: Self, mask: bool, fast: Self::Int, r: Routine) -> Self::Int {
                match r.target(Format::$format) {
                    Target::$i2(f) if mask => Wrapping(f(self, y) as $uint),
                    Target::$i2(_) => fast,
                    _ => unreachable!("{r:?} is not an integer of two {:?}", Format::$format),
                }
            }
        }
    };
}

plain!(
    f32,
    u32,
    i32,
    F32,
    F32ToF32,
    F32F32ToF32,
    F32F32F32ToF32,
    F32F32ToI32
);
plain!(
    f64,
    u64,
    i64,
    F64,
    F64ToF64,
    F64F64ToF64,
    F64F64F64ToF64,
    F64F64ToI64
);
