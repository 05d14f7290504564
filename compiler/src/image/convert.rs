//! Numbers of channels: "Conversion Rules".

use brolga_mathlib::{Float, Int};

use super::machine::Machine;

/// A normalized signed integer that is not scaled yet; there are two for -1.
pub(super) fn from_snorm<M: Machine>(m: &mut M, value: M::Int, most: u32) -> M::Float {
    let value = m.signed_to_float(value);
    let least = value.lit(-f64::from(most));
    m.fmax(value, least)
}

/// The sum of a number of at most 22 bits and this has it, rounded to the nearest integer (the even
/// one of two), as its lowest bits.
const INTEGERS: f64 = 1.5 * (1u64 << 23) as f64;

/// The nearest normalized unsigned integer, the even one of two; a NaN is 0.
pub(super) fn to_unorm<M: Machine>(m: &mut M, value: M::Float, most: u32) -> M::Int {
    let value = value * value.lit(most.into());
    let value = m.fmax(value, value.lit(0.0));
    let value = m.fmin(value, value.lit(most.into()));
    let bits = (value + value.lit(INTEGERS)).to_bits();
    let kept = bits.lit(most.into());
    bits & kept
}

/// The nearest normalized signed integer, saturated, of as many bits as `2 * most + 1` has; a NaN
/// is 0.
pub(super) fn to_snorm<M: Machine>(m: &mut M, value: M::Float, most: u32) -> M::Int {
    let value = value * value.lit(most.into());
    let value = M::Float::select(value.is_nan(), value.lit(0.0), value);
    let value = m.fmax(value, value.lit(-f64::from(most) - 1.0));
    let value = m.fmin(value, value.lit(most.into()));
    let bits = (value + value.lit(INTEGERS)).to_bits();
    let kept = bits.lit(u64::from(2 * most + 1));
    bits & kept
}

/// "Conversion Rules for sRGBA and sBGRA Images": to a linear color.
pub(super) fn from_srgb<F: Float>(c: F) -> F {
    let dark = c * c.lit(1.0 / 12.92);
    let base = c.fma(c.lit(1.0 / 1.055), c.lit(0.055 / 1.055));
    let curved = base * polynomial(base.sqrt(), &BY_POWER_1_4);
    F::select(c.le(c.lit(0.04045)), dark, curved)
}

/// "Conversion Rules for sRGBA and sBGRA Images": from a linear color. A NaN is 0.
pub(super) fn to_srgb<M: Machine>(m: &mut M, value: M::Float) -> M::Int {
    let c = m.fmax(value, value.lit(0.0));
    let c = m.fmin(c, value.lit(1.0));
    let dark = c * c.lit(12.92);
    let curved = polynomial(c.sqrt().sqrt(), &CURVE);
    let curved = M::Float::select(c.lt(c.lit(0.0031308)), dark, curved);
    to_unorm(m, curved, u8::MAX.into())
}

/// `x^2.4 / x` as a polynomial in the square root of `x`, from 0.0904 to 1: less than 4 ULP, and
/// exact at 1. Coefficients of the minimax polynomial, then moved by some units in the last place.
const BY_POWER_1_4: [f64; 8] = [
    0.000338865415,
    -0.00715270732,
    0.0912425891,
    1.12019992,
    -0.334999591,
    0.191715598,
    -0.0749112293,
    0.013566602,
];

/// `1.055 * x^(1 / 2.4) - 0.055` as a polynomial in the fourth root of `x`, from 0.0031308 to 1:
/// the minimax polynomial, whose error is 5e-6, a thousandth of an 8-bit unit.
const CURVE: [f64; 7] = [
    -0.0590938826,
    0.1337950434,
    1.3953553,
    -0.9283988946,
    0.7606301658,
    -0.3906437684,
    0.08836102325,
];

/// The polynomial with these coefficients, that of degree 0 first, by Horner's rule.
fn polynomial<F: Float>(x: F, coefficients: &[f64]) -> F {
    let mut highest_first = coefficients.iter().rev().map(|&c| x.lit(c));
    let highest = highest_first.next().expect("a coefficient");
    highest_first.fold(highest, |sum, c| sum.fma(x, c))
}
