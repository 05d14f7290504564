//! Taking floats apart and stepping through them: `frexp`, `ldexp`, `ilogb`, `logb`, `modf`,
//! `fract`, `nextafter`, `nan`. All exact.

use crate::bits::{
    copysign, from_int, infinity, min_normal, nan as quiet_nan, not_positive_normal, scale,
    sign_bit, xor_sign,
};
use crate::number::{Float, Int};
use crate::routine::Routine;

/// Whether x is zero, infinite or NaN.
fn has_no_exponent<F: Float>(x: F) -> F::Mask {
    x.eq(x.lit(0.0)) | !x.abs().lt(infinity(x))
}

/// A significand of magnitude in [1, 2) and the exponent, denormals included; arbitrary where
/// [`has_no_exponent`].
fn significand<F: Float>(x: F) -> (F, F::Int) {
    let format = x.format();
    let width = format.mantissa_bits();
    let tiny = x.abs().lt(min_normal(x));
    let up = x.lit2(2f64.powi(24), 2f64.powi(53));
    let bits = F::select(tiny, x * up, x).to_bits();
    let field = bits.lit((1 << (format.bits() - 1 - width)) - 1);
    let bias = i64::from(format.bias());
    let missing = F::Int::select(
        tiny,
        bits.ilit(bias + i64::from(width) + 1),
        bits.ilit(bias),
    );
    let e = (bits.shr(width) & field) - missing;
    let m = (bits & !field.shl(width)) | bits.ilit(bias).shl(width);
    (F::from_bits(m), e)
}

/// x as m * 2^e with |m| in [1/2, 1). 0, infinity and NaN give themselves and 0.
pub fn frexp<F: Float>(x: F) -> (F, F::Int) {
    let (m, e) = significand(x);
    let special = has_no_exponent(x);
    (
        F::select(special, x, m * x.lit(0.5)),
        F::Int::select(special, e.lit(0), e + e.lit(1)),
    )
}

/// Limits a signed integer.
fn clamp_int<I: Int>(n: I, lo: i64, hi: i64) -> I {
    let n = I::select(n.slt(n.ilit(lo)), n.ilit(lo), n);
    I::select(n.sgt(n.ilit(hi)), n.ilit(hi), n)
}

/// x * 2^n, rounded once.
pub fn ldexp<F: Float>(x: F, n: F::Int) -> F {
    x.ldexp(n)
}

/// What [`Float::ldexp`] means.
pub fn ldexp_in_steps<F: Float>(x: F, n: F::Int) -> F {
    let (m, e) = significand(x);
    // First so that the sum does not wrap, then to where the result is 0 or infinity anyway.
    let n = clamp_int(n, -5000, 5000);
    let (lo, hi) = x.format().pick((-160, 140), (-1100, 1040));
    let r = scale(m, clamp_int(e + n, lo, hi));
    F::select(has_no_exponent(x), x, r)
}

/// The exponent as an integer: `FP_ILOGB0` = `INT_MIN` for 0, `FP_ILOGBNAN` = `INT_MAX` for NaN,
/// `INT_MAX` for infinity.
pub fn ilogb<F: Float>(x: F) -> F::Int {
    let (_, e) = significand(x);
    let e = F::Int::select(x.eq(x.lit(0.0)), e.ilit(i64::from(i32::MIN)), e);
    F::Int::select(x.abs().lt(infinity(x)), e, e.ilit(i64::from(i32::MAX)))
}

/// The exponent as a float.
pub fn logb<F: Float>(x: F) -> F {
    let a = x.abs();
    let e = a.to_bits().shr(x.format().mantissa_bits());
    let e = e - e.ilit(i64::from(x.format().bias()));
    x.rare1(not_positive_normal(a), from_int(x, e), Routine::Logb)
}

/// [`logb`] of any number: what the routine is.
pub(crate) fn logb_of_any<F: Float>(x: F) -> F {
    let (_, e) = significand(x);
    let r = F::select(x.eq(x.lit(0.0)), -infinity(x), from_int(x, e));
    F::select(x.abs().lt(infinity(x)), r, x.abs())
}

/// Fraction and integer part, both with the sign of x.
pub fn modf<F: Float>(x: F) -> (F, F) {
    let whole = x.trunc();
    let fraction = F::select(x.abs().eq(infinity(x)), x.lit(0.0), x - whole);
    (F::select(x.is_nan(), x, copysign(fraction, x)), whole)
}

/// x - floor(x), below 1, and floor(x).
pub fn fract<F: Float>(x: F) -> (F, F) {
    fract_below(x, x.lit2(f64::from(1f32.next_down()), 1f64.next_down()))
}

/// [`fract`] of a `half` in a `float`: below 1 also as a `half`.
pub fn fract_half<F: Float>(x: F) -> (F, F) {
    fract_below(x, x.lit(1.0 - 2f64.powi(-11)))
}

fn fract_below<F: Float>(x: F, most: F) -> (F, F) {
    let floor = x.floor();
    let r = x - floor;
    let r = F::select(r.gt(most), most, r);
    // Infinity has a fraction of 0; every zero has the sign of x.
    let zero = copysign(x.lit(0.0), x);
    let r = F::select(x.eq(floor), zero, r);
    (r, floor)
}

/// The next float after x towards y.
pub fn nextafter<F: Float>(x: F, y: F) -> F {
    let bits = x.to_bits();
    let one = bits.lit(1);
    // Away from zero is up in the encoding.
    let away = (y.gt(x) & x.gt(x.lit(0.0))) | (y.lt(x) & x.lt(x.lit(0.0)));
    let r = F::from_bits(F::Int::select(away, bits + one, bits - one));
    let smallest = xor_sign(F::from_bits(one), sign_bit(y));
    let r = F::select(x.eq(x.lit(0.0)), smallest, r);
    let r = F::select(x.eq(y), y, r);
    F::select(x.unordered(y), quiet_nan(x), r)
}

/// [`nextafter`] of `half` values in `float`s.
pub fn nextafter_half<F: Float>(x: F, y: F) -> F {
    let bits = x.to_bits();
    // The step of a half: 13 significand bits of the float, but constant below 2^-14.
    let step = bits.lit(1 << 13);
    let away = (y.gt(x) & x.gt(x.lit(0.0))) | (y.lt(x) & x.lt(x.lit(0.0)));
    let normal = F::from_bits(F::Int::select(away, bits + step, bits - step));
    let tiny = x.lit(2f64.powi(-24));
    let denormal = F::select(y.gt(x), x + tiny, x - tiny);
    let denormal = F::select(x.eq(x.lit(0.0)), denormal, copysign(denormal, x));
    // 2^-14 itself steps up by a normal's step, which is the same there, and down by the constant.
    let r = F::select(x.abs().le(x.lit(2f64.powi(-14))), denormal, normal);
    // Past the largest finite half, 65504, comes infinity, and before infinity comes 65504.
    let edge = x.lit(65_504.0);
    let r = F::select(r.abs().gt(edge), copysign(infinity(x), r), r);
    let r = F::select(x.abs().eq(infinity(x)), copysign(edge, x), r);
    let r = F::select(x.eq(y), y, r);
    F::select(x.unordered(y), quiet_nan(x), r)
}

/// A quiet NaN with the low bits of `code` as payload. `like` supplies the format.
pub fn nan<F: Float>(like: F, code: F::Int) -> F {
    let width = like.format().mantissa_bits();
    let payload = code & code.lit((1 << (width - 1)) - 1);
    let quiet = like.format().pick(0x7fc0_0000, 0x7ff8_0000_0000_0000);
    F::from_bits(payload | code.lit(quiet))
}
