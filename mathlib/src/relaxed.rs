//! The `native_` and `half_` functions, for `float`.
//!
//! `half_` may err by 8192 ulp but keeps the edge cases, so it leaves out the double-word parts and
//! the out-of-line reduction. `native_` is free: no edge cases, denormals or large arguments beyond
//! what comes by itself, yet some 20 bits of accuracy, as programs use it without thinking.

use crate::bits::{from_int, infinity, nan, poly, pow2, round_scaled};
use crate::exp::exp2;
use crate::log::log2;
use crate::number::{Float, Int};
use crate::trig::{cos_in, kernel, reduce_float, sin_in, tan_in};

/// 2^r for |r| <= 1/2, relative error 2^-23.2.
const EXP2: [f64; 6] = [
    1.0,
    0.6931470036506653,
    0.24022239446640015,
    0.0555073618888855,
    0.009671726264059544,
    0.001326446421444416,
];

/// log2(1 + f)/f for 1 + f in [sqrt(1/2), sqrt(2)], relative error 2^-22.1.
const LOG2: [f64; 8] = [
    1.442694902420044,
    -0.7213528156280518,
    0.48092323541641235,
    -0.3602396249771118,
    0.2870987057685852,
    -0.24887686967849731,
    0.23404237627983093,
    -0.14581169188022614,
];

/// 2^x, 0 below 2^-127.
pub fn native_exp2<F: Float>(x: F) -> F {
    let x = F::select(x.lt(x.lit(-127.0)), x.lit(-127.0), x);
    let x = F::select(x.gt(x.lit(128.0)), x.lit(128.0), x);
    let (kf, k) = round_scaled(x, x.lit(1.0));
    // The encodings of 2^-127 and 2^128 are those of 0 and infinity.
    poly(x - kf, &EXP2) * pow2(x, k)
}

/// e^x.
pub fn native_exp<F: Float>(x: F) -> F {
    native_exp2(x * x.lit(std::f64::consts::LOG2_E))
}

/// 10^x.
pub fn native_exp10<F: Float>(x: F) -> F {
    native_exp2(x * x.lit(std::f64::consts::LOG2_10))
}

/// The base-2 logarithm of a normal x; 128 for infinity. Zero and negative numbers keep their edge
/// cases, as programs test for them.
pub fn native_log2<F: Float>(x: F) -> F {
    let width = x.format().mantissa_bits();
    let bits = x.to_bits();
    let root = x.lit(std::f64::consts::FRAC_1_SQRT_2).to_bits();
    let e = (bits - root).sar(width);
    let f = F::from_bits(bits - e.shl(width)) - x.lit(1.0);
    let r = f.fma(poly(f, &LOG2), from_int(x, e));
    let zero = x.lit(0.0);
    let edge = F::select(x.eq(zero), -infinity(x), nan(x));
    F::select(x.gt(zero), r, edge)
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

/// The natural logarithm.
pub fn half_log<F: Float>(x: F) -> F {
    log2(x) * x.lit(std::f64::consts::LN_2)
}

/// The base-10 logarithm.
pub fn half_log10<F: Float>(x: F) -> F {
    log2(x) * x.lit(std::f64::consts::LOG10_2)
}

/// x^y for x >= 0. All edge cases of `powr` follow from those of the parts; a negative x has no
/// logarithm.
pub fn half_powr<F: Float>(x: F, y: F) -> F {
    let r = exp2(y * log2(x));
    F::select(x.unordered(y), nan(x), r)
}

/// Zero for a finite x beyond the range in which `half_sin`, `half_cos` and `half_tan` are accurate, NaN for an infinite one.
fn within_half_range<F: Float>(x: F) -> F {
    F::select(x.abs().gt(x.lit(65536.0)), x * x.lit(0.0), x)
}

/// The sine of |x| <= 2^16; beyond, that of zero, as the result must be one that the sine can have.
pub fn half_sin<F: Float>(x: F) -> F {
    native_sin(within_half_range(x))
}

/// The sine of |x| <= 2^16; beyond, anything.
pub fn native_sin<F: Float>(x: F) -> F {
    let (q, r) = reduce_float(x);
    sin_in(q, kernel(r, None))
}

/// The cosine of |x| <= 2^16; beyond, that of zero, as the result must be one that the cosine can have.
pub fn half_cos<F: Float>(x: F) -> F {
    native_cos(within_half_range(x))
}

/// The cosine of |x| <= 2^16; beyond, anything.
pub fn native_cos<F: Float>(x: F) -> F {
    let (q, r) = reduce_float(x);
    cos_in(q, kernel(r, None))
}

/// The tangent of |x| <= 2^16; beyond, that of zero, as the result must be one that the tangent can have.
pub fn half_tan<F: Float>(x: F) -> F {
    native_tan(within_half_range(x))
}

/// The tangent of |x| <= 2^16; beyond, anything.
pub fn native_tan<F: Float>(x: F) -> F {
    let (q, r) = reduce_float(x);
    tan_in(q, kernel(r, None))
}
