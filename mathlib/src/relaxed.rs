//! The `native_`, `half_` and `relaxed_` functions, for `float`.
//!
//! `half_` may err by 8192 ulp but keeps the edge cases, so it leaves out the double-word parts and
//! the out-of-line reduction. `native_` is free: no edge cases, denormals or large arguments beyond
//! what comes by itself, yet some 19 bits of accuracy, as programs use it without thinking.
//!
//! The compiler takes `native_` and `relaxed_` functions for the plain ones in programs built with
//! `-cl-unsafe-math-optimizations`, so that they keep the bounds of "ULP Values for Math
//! Instructions - Unsafe Math Optimizations Enabled". `native_exp`, `native_exp2` and
//! `native_exp10` are as accurate as the plain ones, and stand in for them where denormals may be
//! flushed (`-cl-denorms-are-zero`), too.

use crate::atrig::below_diagonal_angle;
use crate::bits::{
    from_int, infinity, min_normal, nan, poly, round_scaled, sign_bit, split_normal, xor_sign,
};
use crate::constants::{LN_2, LOG10_2, Pair};
use crate::exp::{EXP_F32, EXP2_F32, EXP10_F32, exp2};
use crate::log::log2;
use crate::number::{Float, Int};
use crate::pow::{int_double, odd_exponent, odd_sign};
use crate::trig::{cos_short, reduce_float, sin_short, tan_in, tan_kernel};

/// (atan(t)/t - 1)/t^2 in t^2 for |t| <= 1, relative error of the angle 2^-17.6.
const ATAN: [f64; 5] = [
    -0.3330889940261841,
    0.19618302583694458,
    -0.12251479178667068,
    0.05876997858285904,
    -0.013954983092844486,
];

/// log2(1 + f)/f for 1 + f in [sqrt(1/2), sqrt(2)], relative error 2^-25.1.
const LOG2: [f64; 9] = [
    1.4426950216293335,
    -0.7213473916053772,
    0.48090896010398865,
    -0.3607005774974823,
    0.2879534959793091,
    -0.23901484906673431,
    0.2154807597398758,
    -0.20678746700286865,
    0.12584342062473297,
];

/// p 2^k, which is base^x, for x from `range.0`, where the result is the smallest normal number; 0
/// below. Infinite above `range.1`. k need be right in its low bits only.
fn scale_normal<F: Float>(x: F, range: (f64, f64), p: F, k: F::Int) -> F {
    let width = x.format().mantissa_bits();
    let r = F::from_bits(p.to_bits() + k.shl(width));
    let r = F::select(x.lt(x.lit(range.0)), x.lit(0.0), r);
    F::select(x.le(x.lit(range.1)), r, x * infinity(x))
}

/// k units and a rest below half a unit: the power of the rest, and k.
fn reduced<F: Float>(x: F, per_unit: f64, unit: &Pair, series: &[f64]) -> (F, F::Int) {
    let (kf, k) = round_scaled(x, x.lit(per_unit));
    let r = kf.fma(-unit.high(x), x);
    (poly(kf.fma(-unit.low(x), r), series), k)
}

/// 2^x, 0 instead of denormals.
pub fn native_exp2<F: Float>(x: F) -> F {
    let (kf, k) = round_scaled(x, x.lit(1.0));
    scale_normal(x, (-126.0, 127.999_99), poly(x - kf, &EXP2_F32), k)
}

/// e^x, 0 instead of denormals.
pub fn native_exp<F: Float>(x: F) -> F {
    let (p, k) = reduced(x, std::f64::consts::LOG2_E, &LN_2, &EXP_F32);
    scale_normal(x, (-87.336_54, 88.722_839), p, k)
}

/// 10^x, 0 instead of denormals.
pub fn native_exp10<F: Float>(x: F) -> F {
    let (p, k) = reduced(x, std::f64::consts::LOG2_10, &LOG10_2, &EXP10_F32);
    scale_normal(x, (-37.929_779, 38.531_837), p, k)
}

/// The base-2 logarithm of a finite x, denormals taken for zero. Zero and negative numbers keep
/// their edge cases, as programs test for them.
pub fn native_log2<F: Float>(x: F) -> F {
    let (m, e) = split_normal(x);
    let f = m - x.lit(1.0);
    let r = f.fma(poly(f, &LOG2), from_int(x, e));
    let edge = F::select(x.ge(x.lit(0.0)), -infinity(x), nan(x));
    F::select(x.ge(min_normal(x)), r, edge)
}

/// The natural logarithm.
pub fn native_log<F: Float>(x: F) -> F {
    native_log2(x) * x.lit(std::f64::consts::LN_2)
}

/// The base-10 logarithm.
pub fn native_log10<F: Float>(x: F) -> F {
    native_log2(x) * x.lit(std::f64::consts::LOG10_2)
}

/// x^y for positive x.
pub fn native_powr<F: Float>(x: F, y: F) -> F {
    native_exp2(y * native_log2(x))
}

/// e^x.
pub fn half_exp<F: Float>(x: F) -> F {
    // exp2 of an infinite product is right, and of a NaN.
    exp2(x * x.lit(std::f64::consts::LOG2_E))
}

/// 10^x.
pub fn half_exp10<F: Float>(x: F) -> F {
    exp2(x * x.lit(std::f64::consts::LOG2_10))
}

/// x^y for x >= 0. All edge cases of `powr` follow from those of the parts; a negative x has no
/// logarithm.
pub fn half_powr<F: Float>(x: F, y: F) -> F {
    let r = exp2(y * log2(x));
    F::select(x.unordered(y), nan(x), r)
}

/// Zero for a finite x beyond the range in which `half_sin`, `half_cos` and `half_tan` are
/// accurate, NaN for an infinite one.
fn within_half_range<F: Float>(x: F) -> F {
    F::select(x.abs().gt(x.lit(65536.0)), x * x.lit(0.0), x)
}

/// The sine of |x| <= 2^16; beyond, that of zero, as the result must be one that the sine can have.
pub fn half_sin<F: Float>(x: F) -> F {
    sin_short(within_half_range(x))
}

/// The sine of |x| <= 2^17; beyond, anything.
pub fn native_sin<F: Float>(x: F) -> F {
    sin_short(x)
}

/// The cosine of |x| <= 2^16; beyond, that of zero, as the result must be one that the cosine can
/// have.
pub fn half_cos<F: Float>(x: F) -> F {
    cos_short(within_half_range(x))
}

/// The cosine of |x| <= 2^17; beyond, anything.
pub fn native_cos<F: Float>(x: F) -> F {
    cos_short(x)
}

/// The tangent of |x| <= 2^16; beyond, that of zero, as the result must be one that the tangent can
/// have.
pub fn half_tan<F: Float>(x: F) -> F {
    native_tan(within_half_range(x))
}

/// The tangent of |x| <= 2^17; beyond, anything.
pub fn native_tan<F: Float>(x: F) -> F {
    let (q, r) = reduce_float(x);
    tan_in(q, tan_kernel(r, None))
}

/// x^y: 2^(y log2|x|) with the sign, as the table of relaxed bounds derives it.
pub fn relaxed_pow<F: Float>(x: F, y: F) -> F {
    let r = native_powr(x.abs(), y);
    let sign = F::Int::select(odd_exponent(y), sign_bit(x), x.int_lit(0));
    xor_sign(r, sign)
}

/// x^n, likewise.
pub fn relaxed_pown<F: Float>(x: F, n: F::Int) -> F {
    let (high, low) = int_double(x, n);
    let r = native_powr(x.abs(), high + low);
    xor_sign(r, odd_sign(x, n))
}

/// The n-th root of x, as 2^(log2|x| / n) with the sign.
pub fn relaxed_rootn<F: Float>(x: F, n: F::Int) -> F {
    let (high, low) = int_double(x, n);
    let r = native_exp2(native_log2(x.abs()) / (high + low));
    xor_sign(r, odd_sign(x, n))
}

/// The angle of the point (x, y), radians, to 17 bits; arbitrary for two infinities.
pub fn relaxed_atan2<F: Float>(y: F, x: F) -> F {
    let (num, den) = (y.abs(), x.abs());
    let zero = x.lit(0.0);
    let den = F::select(num.eq(zero) & den.eq(zero), x.lit(1.0), den);
    let angle = below_diagonal_angle(num, den, &ATAN, x);
    xor_sign(angle, sign_bit(y))
}
