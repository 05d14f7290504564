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
pub(super) fn from_srgb<M: Machine>(m: &mut M, c: M::Float) -> M::Float {
    let dark = c * c.lit(1.0 / 12.92);
    let curved = c.fma(c.lit(1.0 / 1.055), c.lit(0.055 / 1.055));
    let curved = m.powr(curved, 2.4);
    M::Float::select(c.le(c.lit(0.04045)), dark, curved)
}

/// "Conversion Rules for sRGBA and sBGRA Images": from a linear color. A NaN is 0.
pub(super) fn to_srgb<M: Machine>(m: &mut M, value: M::Float) -> M::Int {
    let c = m.fmax(value, value.lit(0.0));
    let c = m.fmin(c, value.lit(1.0));
    let dark = c * c.lit(12.92);
    let curved = m.powr(c, 1.0 / 2.4);
    let curved = curved.fma(c.lit(1.055), c.lit(-0.055));
    let curved = M::Float::select(c.lt(c.lit(0.0031308)), dark, curved);
    to_unorm(m, curved, u8::MAX.into())
}
