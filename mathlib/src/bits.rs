//! Exponents, signs and integer conversions by bit manipulation: what the functions are built of.

use crate::number::{Float, Int};

/// The constant 1.5 * 2^mantissa: adding it to a small float leaves the nearest integer in the low
/// bits of the encoding.
fn magic<F: Float>(x: F) -> F {
    x.lit2(12_582_912.0, 6_755_399_441_055_744.0)
}

/// `x * scale` rounded to the nearest integer, ties to even, as a float and as a signed integer,
/// with one rounding. For `|x * scale| < 2^22` (`float`) or `2^51` (`double`); otherwise both are
/// arbitrary (the float is a NaN for a NaN).
///
/// The integer is right in its low 22 or 51 bits only, which is all that quadrants and [`pow2`]
/// look at, also of its half.
pub fn round_scaled<F: Float>(x: F, scale: F) -> (F, F::Int) {
    let t = x.fma(scale, magic(x));
    (t - magic(x), t.to_bits())
}

/// A float with an integer value of magnitude below 2^22 (`float`) or 2^51 (`double`) as a signed
/// integer; others round to nearest even, out of range is arbitrary.
pub fn to_int<F: Float>(x: F) -> F::Int {
    (x + magic(x)).to_bits() - magic(x).to_bits()
}

/// A signed integer of magnitude below 2^22 (`float`) or 2^51 (`double`) as a float. Exact. `like`
/// supplies the format.
pub fn from_int<F: Float>(like: F, i: F::Int) -> F {
    like.of_int(i)
}

/// What [`Float::of_int`] means.
pub fn of_small_int<F: Float>(like: F, i: F::Int) -> F {
    F::from_bits(i + magic(like).to_bits()) - magic(like)
}

/// 2^n for an exponent of a normal number. Only the low bits of n count, as many as the exponent
/// has, and one more.
pub fn pow2<F: Float>(like: F, n: F::Int) -> F {
    let bias = n.ilit(i64::from(like.format().bias()));
    F::from_bits((n + bias).shl(like.format().mantissa_bits()))
}

/// `x * 2^n`, rounded once, for `0.5 < |x| < 2` and `n` within twice the exponent range: the result
/// may be denormal or overflow.
pub fn scale<F: Float>(x: F, n: F::Int) -> F {
    // Two steps, because 2^n itself may have no encoding. The first is exact.
    let half = n.sar(1);
    x * pow2(x, half) * pow2(x, n - half)
}

/// `x * 2^n` for a normal result. Only the low bits of n count, as many as the exponent has, and
/// one more.
pub fn scale_normal<F: Float>(x: F, n: F::Int) -> F {
    F::from_bits(x.to_bits() + n.shl(x.format().mantissa_bits()))
}

/// The sign bit alone, in place.
pub fn sign_bit<F: Float>(x: F) -> F::Int {
    x.to_bits() & x.int_lit(1 << (x.format().bits() - 1))
}

/// Set in lanes whose sign bit is set, -0 and NaN included.
pub fn is_negative<F: Float>(x: F) -> F::Mask {
    x.to_bits().slt(x.int_lit(0))
}

/// `x` with its sign flipped where `sign` (a [`sign_bit`]) is set.
pub fn xor_sign<F: Float>(x: F, sign: F::Int) -> F {
    F::from_bits(x.to_bits() ^ sign)
}

/// The magnitude of `x` with the sign of `y`.
pub fn copysign<F: Float>(x: F, y: F) -> F {
    F::from_bits(x.abs().to_bits() | sign_bit(y))
}

/// Limits `x` to `[lo, hi]`; a NaN stays.
pub fn clamp<F: Float>(x: F, lo: f64, hi: f64) -> F {
    let x = F::select(x.lt(x.lit(lo)), x.lit(lo), x);
    F::select(x.gt(x.lit(hi)), x.lit(hi), x)
}

/// Positive infinity.
pub fn infinity<F: Float>(like: F) -> F {
    like.lit(f64::INFINITY)
}

/// A quiet NaN.
pub fn nan<F: Float>(like: F) -> F {
    like.lit(f64::NAN)
}

/// The smallest normal number.
pub fn min_normal<F: Float>(like: F) -> F {
    like.lit2(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE)
}

/// A polynomial with the constant term first, by Horner's rule.
pub fn poly<F: Float>(x: F, coefficients: &[f64]) -> F {
    horner(x, coefficients.iter().rev())
}

/// With the constant term last.
fn horner<'a, F: Float>(x: F, mut terms: impl Iterator<Item = &'a f64>) -> F {
    let first = x.lit(*terms.next().expect("a polynomial has a coefficient"));
    terms.fold(first, |sum, &c| sum.fma(x, x.lit(c)))
}

/// [`poly`] as two of half the length, for a function so long that what it waits for takes longer
/// than what it does. `square` is that of x.
pub fn poly_even_odd<F: Float>(x: F, square: F, coefficients: &[f64]) -> F {
    let every_other = |from: usize| coefficients[from..].iter().step_by(2).rev();
    let odd = horner(square, every_other(1));
    odd.fma(x, horner(square, every_other(0)))
}

/// [`poly`] with coefficients by format.
pub fn poly2<F: Float>(x: F, single: &[f64], double: &[f64]) -> F {
    poly(x, x.format().pick(single, double))
}

/// Splits a positive finite `x` into a significand in [sqrt(1/2), sqrt(2)) and the exponent with `x
/// = m * 2^e`. Denormals included. Zero, infinity, NaN and negative numbers give arbitrary finite
/// or non-finite results; their lanes are to be overridden.
pub fn split<F: Float>(x: F) -> (F, F::Int) {
    let tiny = x.lt(min_normal(x));
    let up = i64::from(x.format().mantissa_bits()) + 1;
    let x = F::select(tiny, x * x.lit2(16_777_216.0, 9_007_199_254_740_992.0), x);
    let (m, e) = split_normal(x);
    (m, F::Int::select(tiny, e - e.ilit(up), e))
}

/// [`split`] of a normal number; denormals give arbitrary results, too.
pub fn split_normal<F: Float>(x: F) -> (F, F::Int) {
    let width = x.format().mantissa_bits();
    // The encoding of sqrt(1/2): subtracting it makes the exponent field change at sqrt(1/2).
    let root = x.lit(std::f64::consts::FRAC_1_SQRT_2).to_bits();
    let e = (x.to_bits() - root).sar(width);
    (F::from_bits(x.to_bits() - e.shl(width)), e)
}

/// Set in lanes that are not positive normal numbers: zero, denormals, negative ones, infinity and
/// NaN.
pub fn not_positive_normal<F: Float>(x: F) -> F::Mask {
    let least = x
        .format()
        .pick(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE);
    not_between(x, least, f64::INFINITY)
}

/// Set in lanes that are not in `[least, most)`, of positive numbers of the format.
pub fn not_between<F: Float>(x: F, least: f64, most: f64) -> F::Mask {
    let format = x.format();
    let encoding = |v: f64| format.pick(u64::from((v as f32).to_bits()), v.to_bits());
    // Moved so that the encodings wanted are the smallest signed integers.
    let bottom = 1u64 << (format.bits() - 1);
    let start = bottom - encoding(least);
    let last = bottom + (encoding(most) - encoding(least)) - 1;
    let bits = x.to_bits();
    (bits + bits.lit(start)).sgt(bits.lit(last))
}
