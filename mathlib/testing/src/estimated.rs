//! Numbers of a machine with estimates of reciprocals and inverse roots. They are as far off as
//! they may be, this way or that, so what keeps its bounds with these keeps them with those of any
//! machine.

use std::ops::{Add, Div, Mul, Neg, Sub};

use brolga_mathlib::{Float, Format, Int, Routine, Table};

/// A number that is one of `F` but for [`Float::recip_estimate`] and [`Float::rsqrt_estimate`].
#[derive(Clone, Copy, Debug)]
pub struct Estimated<F>(pub F);

/// How far off an estimate is, relative.
const ERROR: f64 = 1.0 / 16384.0;

impl<F: Float<Mask = bool>> Estimated<F> {
    /// `exact` and an error that depends on the low bits of the argument.
    fn estimate(self, exact: F) -> Option<Self> {
        let bits = self.0.to_bits();
        let is_odd = |bit: u32| (bits.shr(bit) & bits.lit(1)).ne(bits.lit(0));
        let error = match (is_odd(0), is_odd(1)) {
            (false, _) => -ERROR,
            (true, false) => ERROR,
            (true, true) => 0.0,
        };
        // Rounded to 16 bits, so that it is not nearer to what is exact than a machine's.
        let width = self.0.format().mantissa_bits() - 16;
        let rough = exact * self.0.lit(1.0 + error * (1.0 - ERROR));
        let finite = rough.abs().lt(rough.lit(f64::INFINITY));
        let cut = F::from_bits(rough.to_bits().shr(width).shl(width));
        Some(Estimated(F::select(finite, cut, rough)))
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident),*) => {
        $(impl<F: Float> $trait for Estimated<F> {
            type Output = Self;
            fn $method(self, rhs: Self) -> Self {
                Estimated(self.0.$method(rhs.0))
            }
        })*
    };
}

operators!(Add add, Sub sub, Mul mul, Div div);

impl<F: Float> Neg for Estimated<F> {
    type Output = Self;
    fn neg(self) -> Self {
        Estimated(-self.0)
    }
}

impl<F: Float<Mask = bool>> Float for Estimated<F> {
    type Mask = bool;
    type Int = F::Int;

    fn format(self) -> Format {
        self.0.format()
    }
    fn lit(self, value: f64) -> Self {
        Estimated(self.0.lit(value))
    }
    fn int_lit(self, value: u64) -> F::Int {
        self.0.int_lit(value)
    }
    fn mask_lit(self, value: bool) -> bool {
        value
    }
    fn fma(self, b: Self, c: Self) -> Self {
        Estimated(self.0.fma(b.0, c.0))
    }
    fn sqrt(self) -> Self {
        Estimated(self.0.sqrt())
    }
    fn abs(self) -> Self {
        Estimated(self.0.abs())
    }
    fn floor(self) -> Self {
        Estimated(self.0.floor())
    }
    fn ceil(self) -> Self {
        Estimated(self.0.ceil())
    }
    fn trunc(self) -> Self {
        Estimated(self.0.trunc())
    }
    fn round_even(self) -> Self {
        Estimated(self.0.round_even())
    }
    fn eq(self, rhs: Self) -> bool {
        self.0.eq(rhs.0)
    }
    fn lt(self, rhs: Self) -> bool {
        self.0.lt(rhs.0)
    }
    fn le(self, rhs: Self) -> bool {
        self.0.le(rhs.0)
    }
    fn select(mask: bool, a: Self, b: Self) -> Self {
        if mask { a } else { b }
    }
    fn to_bits(self) -> F::Int {
        self.0.to_bits()
    }
    fn from_bits(bits: F::Int) -> Self {
        Estimated(F::from_bits(bits))
    }
    fn lookup(self, number: F::Int, table: Table) -> Self {
        Estimated(self.0.lookup(number, table))
    }
    fn recip_estimate(self) -> Option<Self> {
        self.estimate(self.0.lit(1.0) / self.0)
    }
    fn rsqrt_estimate(self) -> Option<Self> {
        self.estimate(self.0.lit(1.0) / self.0.sqrt())
    }
    fn rare1(self, mask: bool, fast: Self, r: Routine) -> Self {
        Estimated(self.0.rare1(mask, fast.0, r))
    }
    fn rare2(self, y: Self, mask: bool, fast: Self, r: Routine) -> Self {
        Estimated(self.0.rare2(y.0, mask, fast.0, r))
    }
    fn rare3(self, rest: [Self; 2], mask: bool, fast: Self, r: Routine) -> Self {
        Estimated(self.0.rare3(rest.map(|y| y.0), mask, fast.0, r))
    }
    fn rare2_int(self, y: Self, mask: bool, fast: F::Int, r: Routine) -> F::Int {
        self.0.rare2_int(y.0, mask, fast, r)
    }
}
