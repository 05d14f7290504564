//! `sinh`, `cosh`, `tanh` and their inverses.

use crate::bits::{copysign, infinity, nan, poly2, sign_bit, xor_sign};
use crate::exp::{exp_scaled, expm1};
use crate::log::{log_sum, log1p_finite};
use crate::number::{Float, Int};

/// (sinh(x)/x - 1)/x^2 in x^2 for |x| <= 1, relative error 2^-27.1 and 2^-56.4.
const SINH_F32: [f64; 4] = [
    0.1666666716337204,
    0.008333351463079453,
    0.00019835961575154215,
    2.818063194354181e-06,
];
const SINH_F64: [f64; 8] = [
    0.16666666666666666,
    0.008333333333333316,
    0.00019841269841284117,
    2.7557319218240735e-06,
    2.5052109618435192e-08,
    1.605889926683506e-10,
    7.655815258431538e-13,
    2.6151278271081936e-15,
];

/// e^|x| / 2, which is finite wherever the hyperbolic functions are, and e^-|x| / 2.
fn halves<F: Float>(x: F) -> (F, F) {
    let up = exp_scaled(x.abs(), -1);
    (up, x.lit(0.25) / up)
}

/// The hyperbolic sine.
pub fn sinh<F: Float>(x: F) -> F {
    let (up, down) = halves(x);
    let large = xor_sign(up - down, sign_bit(x));
    let z = x * x;
    let small = x.fma(z * poly2(z, &SINH_F32, &SINH_F64), x);
    F::select(x.abs().lt(x.lit(1.0)), small, large)
}

/// The hyperbolic cosine.
pub fn cosh<F: Float>(x: F) -> F {
    let (up, down) = halves(x);
    up + down
}

/// The hyperbolic tangent, from t = e^(2|x|) - 1 as t / (t + 2).
pub fn tanh<F: Float>(x: F) -> F {
    let a = x.abs();
    // Beyond, the result rounds to 1.
    let limit = x.lit2(10.0, 20.0);
    let a = F::select(a.gt(limit), limit, a);
    let t = expm1(a + a);
    xor_sign(t / (t + x.lit(2.0)), sign_bit(x))
}

/// Above this the square of the argument swallows a 1.
fn large<F: Float>(a: F) -> F::Mask {
    a.gt(a.lit2(4096.0, 268_435_456.0))
}

/// log(1 + t) where `large` is not set, log(2 a) where it is.
fn log_of_either<F: Float>(large: F::Mask, a: F, t: F) -> F {
    let one = a.lit(1.0);
    let u = one + t;
    let added = u - one;
    let c = (one - (u - added)) + (t - added);
    let extra = F::Int::select(large, a.int_lit(1), a.int_lit(0));
    let r = log_sum(
        F::select(large, a, u),
        F::select(large, a.lit(0.0), c),
        extra,
    );
    F::select(a.eq(infinity(a)), a, r)
}

/// The inverse hyperbolic sine.
pub fn asinh<F: Float>(x: F) -> F {
    let a = x.abs();
    let one = x.lit(1.0);
    // a + sqrt(a^2 + 1) = 1 + a + a^2 / (1 + sqrt(a^2 + 1))
    let t = a + (a * a) / (one + a.fma(a, one).sqrt());
    let r = log_of_either(large(a), a, t);
    F::select(x.is_nan(), x, copysign(r, x))
}

/// The inverse hyperbolic cosine.
pub fn acosh<F: Float>(x: F) -> F {
    let t = x - x.lit(1.0);
    // x + sqrt(x^2 - 1) = 1 + t + sqrt(t^2 + 2 t)
    let t = t + t.fma(t, t + t).sqrt();
    let r = log_of_either(large(x), x, t);
    F::select(x.ge(x.lit(1.0)), r, nan(x))
}

/// The inverse hyperbolic tangent, as log(1 + 2a/(1 - a)) / 2.
pub fn atanh<F: Float>(x: F) -> F {
    let a = x.abs();
    let one = x.lit(1.0);
    let r = log1p_finite((a + a) / (one - a)) * x.lit(0.5);
    let r = F::select(a.eq(one), infinity(x), r);
    F::select(a.le(one), copysign(r, x), nan(x))
}
