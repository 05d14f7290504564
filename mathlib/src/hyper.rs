//! `sinh`, `cosh`, `tanh` and their inverses.

use crate::bits::{copysign, from_int, infinity, nan, poly2, pow2, sign_bit, xor_sign};
use crate::constants::LN_2;
use crate::exp::{exp_halved, expm1, reduce};
use crate::log::log_sum;
use crate::number::{Float, Format, Int};
use crate::root::{short_root, short_root_of_sum};

/// (cosh(r) - 1)/r^2 and (sinh(r)/r - 1)/r^2 in r^2 for |r| <= ln(2)/2; cosh(r) and sinh(r) then
/// have relative errors of 2^-33.2 and 2^-26.1, of 2^-57.9 and 2^-61.6.
const COSH_F32: [f64; 3] = [0.5, 0.04166645556688309, 0.001393577316775918];
const COSH_F64: [f64; 5] = [
    0.5000000000000013,
    0.04166666666651161,
    0.0013888888947870132,
    2.4801489146022835e-05,
    2.763154466284506e-07,
];
const SINH_F32: [f64; 2] = [0.16666540503501892, 0.008366836234927177];
const SINH_F64: [f64; 5] = [
    0.16666666666666677,
    0.008333333333321436,
    0.00019841269886597393,
    2.75572437437406e-06,
    2.5109198472375955e-08,
];

/// (atanh(s)/s - 1)/s^2 in s^2 for |s| <= 0.204; atanh(s) then has relative error 2^-28.1 and
/// 2^-62.1.
const ATANH_F32: [f64; 3] = [
    0.33333492279052734,
    0.19977129995822906,
    0.15217304229736328,
];
const ATANH_F64: [f64; 8] = [
    0.33333333333333287,
    0.20000000000036106,
    0.14285714276099584,
    0.11111112347307842,
    0.0909082134610535,
    0.07695924578087761,
    0.06580757449370893,
    0.06961451110899392,
];

/// The hyperbolic sine: by the addition theorem for |x| = k ln(2) + r, without a division.
pub fn sinh<F: Float>(x: F) -> F {
    let a = x.abs();
    // Beyond, the result is infinite.
    let limit = x.lit2(89.6, 710.6);
    let limited = F::select(a.gt(limit), limit, a);
    let (_, k, r) = reduce(limited, std::f64::consts::LOG2_E, &LN_2);
    let z = r * r;
    let c = z * poly2(z, &COSH_F32, &COSH_F64);
    let s = r.fma(z * poly2(z, &SINH_F32, &SINH_F64), r);
    let two = k.lit(2);
    let up = pow2(x, k - two);
    // Far below an ulp of the other one, and at last without an encoding.
    let down = F::select(a.gt(x.lit(40.0)), x.lit(0.0), pow2(x, k.lit(0) - two - k));
    // Half of the result, where cosh(r) is 1 + c: what is 1 is exact.
    let difference = up - down;
    let half = difference + (up + down).fma(s, difference * c);
    let r = xor_sign(half + half, sign_bit(x));
    // A denormal would lose a bit at half scale.
    F::select(a.lt(x.lit(1e-20)), x, r)
}

/// The hyperbolic cosine.
pub fn cosh<F: Float>(x: F) -> F {
    let up = exp_halved(x.abs());
    up + x.lit(0.25) / up
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

/// What the rounded sum of two lacks (Knuth's two-sum).
fn two_sum_rest<F: Float>(a: F, b: F, sum: F) -> F {
    let added = sum - b;
    (b - (sum - added)) + (a - added)
}

/// Above this the square of the argument swallows a 1.
fn large<F: Float>(a: F) -> F::Mask {
    a.gt(a.lit2(4096.0, 268_435_456.0))
}

/// log(u + c), where |c| is below an ulp of u, where `large` is not set, log(2 a) where it is.
fn log_of_either<F: Float>(large: F::Mask, a: F, (u, c): (F, F)) -> F {
    let extra = F::Int::select(large, a.int_lit(1), a.int_lit(0));
    let r = log_sum(
        F::select(large, a, u),
        F::select(large, a.lit(0.0), c),
        extra,
    );
    F::select(a.eq(infinity(a)), a, r)
}

/// 1 + t as a sum of two.
fn one_more<F: Float>(t: F) -> (F, F) {
    let one = t.lit(1.0);
    let u = one + t;
    (u, two_sum_rest(t, one, u))
}

/// The inverse hyperbolic sine, as log(a + sqrt(a^2 + 1)).
pub fn asinh<F: Float>(x: F) -> F {
    let a = x.abs();
    let one = x.lit(1.0);
    let square = a * a;
    let sum = match x.format() {
        // 1 + a + a^2 / (1 + sqrt(a^2 + 1))
        Format::F32 => one_more(a + square / (one + (square + one).sqrt())),
        // A root and a division would take longer than all the rest: the root as a sum of two
        // instead, as what is small beside 1 is the result.
        Format::F64 => {
            let v = square + one;
            let lack = a.fma(a, -square) + two_sum_rest(square, one, v);
            let (high, low) = short_root_of_sum(v, lack);
            let u = a + high;
            (u, (a - (u - high)) + low)
        }
    };
    let r = log_of_either(large(a), a, sum);
    // Where the cube is below an ulp. A NaN stays, too.
    let simple = !a.ge(x.lit2(2f64.powi(-13), 2f64.powi(-28)));
    F::select(simple, x, copysign(r, x))
}

/// The inverse hyperbolic cosine.
pub fn acosh<F: Float>(x: F) -> F {
    let t = x - x.lit(1.0);
    // x + sqrt(x^2 - 1) = 1 + t + sqrt(t^2 + 2 t)
    let square = t.fma(t, t + t);
    let root = match x.format() {
        Format::F32 => square.sqrt(),
        Format::F64 => short_root(square),
    };
    let r = log_of_either(large(x), x, one_more(t + root));
    F::select(x.ge(x.lit(1.0)), r, nan(x))
}

/// The inverse hyperbolic tangent: half the logarithm of (1 + a)/(1 - a), or 2^k (1 + s)/(1 - s).
pub fn atanh<F: Float>(x: F) -> F {
    let a = x.abs();
    let one = x.lit(1.0);
    let (n, d) = (one + a, one - a);
    // The encoding is nearly a logarithm: the quotient over 2^k is from 0.66 to 1.51.
    let half = x.format().mantissa_bits() - 1;
    let log = n.to_bits() - d.to_bits();
    let k = (log + log.lit(1 << half)).sar(half + 1);
    let p = pow2(x, k);
    // n - p d. Below 1/2 these are rounded, but p is small.
    let small = a.fma(one + p, one - p);
    let difference = F::select(a.lt(x.lit(0.5)), small, p.fma(-d, n));
    let s = difference / p.fma(d, n);
    let z = s * s;
    let k = from_int(x, k) * x.lit(0.5);
    let tail = k.fma(LN_2.low(x), (s * z) * poly2(z, &ATANH_F32, &ATANH_F64));
    let r = k.fma(LN_2.high(x), s + tail);
    let r = F::select(a.eq(one), infinity(x), r);
    F::select(a.le(one), copysign(r, x), nan(x))
}
