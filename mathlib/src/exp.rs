//! `exp`, `exp2`, `exp10`, `expm1`: reduce to k + r with a small |r|, a polynomial, then 2^k by
//! building the exponent field.
//!
//! The polynomials are minimax fits (Remez exchange, coefficients then rounded to the format).

// Coefficients close to well known constants are coefficients all the same.
#![allow(clippy::approx_constant)]

use crate::bits::{clamp, poly2, pow2, round_scaled};
use crate::constants::{LN_2, LOG10_2, Pair};
use crate::number::{Float, Int};

/// e^r for |r| <= ln(2)/2, relative error 2^-23.4 and 2^-59.4.
pub(crate) const EXP_F32: [f64; 6] = [
    1.0,
    0.9999997019767761,
    0.4999914765357971,
    0.16667647659778595,
    0.041898246854543686,
    0.008289819583296776,
];
const EXP_F64: [f64; 13] = [
    1.0,
    1.0,
    0.5,
    0.16666666666666669,
    0.04166666666666683,
    0.008333333333330141,
    0.0013888888888714042,
    0.0001984126986099494,
    2.480158783534174e-05,
    2.7557272481209977e-06,
    2.7556698846629514e-07,
    2.509833576584671e-08,
    2.1131132564517595e-09,
];

/// 2^r for |r| <= 1/2, relative error 2^-23.3 and 2^-59.3.
pub(crate) const EXP2_F32: [f64; 6] = [
    1.0,
    0.6931470036506653,
    0.24022245407104492,
    0.0555071085691452,
    0.009671391919255257,
    0.001326970523223281,
];
const EXP2_F64: [f64; 13] = [
    1.0,
    0.6931471805599453,
    0.2402265069591007,
    0.0555041086648235,
    0.009618129107629865,
    0.001333355814598246,
    0.00015403530390340706,
    1.5252734231783194e-05,
    1.3215489539171999e-06,
    1.0177900335436554e-07,
    7.0538164293736146e-09,
    4.478678000758099e-10,
    2.728852003287226e-11,
];

/// 10^r for |r| <= log10(2)/2, relative error 2^-23.4 and 2^-57.9.
pub(crate) const EXP10_F32: [f64; 6] = [
    1.0,
    2.302584409713745,
    2.6509037017822266,
    2.0347981452941895,
    1.1777734756469727,
    0.5365719795227051,
];
const EXP10_F64: [f64; 13] = [
    1.0,
    2.3025850929940455,
    2.6509490552391983,
    2.0346785922936808,
    1.1712551489128105,
    0.5393829291442638,
    0.20699584856830086,
    0.06808937034794826,
    0.019597707274217436,
    0.005013688810853707,
    0.0011539503157900557,
    0.00024585133423087274,
    5.5126912628061685e-05,
];

/// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2; e^r - 1 then has relative error 2^-29.7 and 2^-60.9.
const EXPM1_F32: [f64; 6] = [
    0.5,
    0.1666666567325592,
    0.041666481643915176,
    0.008333420380949974,
    0.0013933421578258276,
    0.00019824061018880457,
];
const EXPM1_F64: [f64; 11] = [
    0.5,
    0.16666666666666666,
    0.04166666666666658,
    0.008333333333329059,
    0.0013888888888948867,
    0.0001984126986939261,
    2.4801587172632587e-05,
    2.7557259514865264e-06,
    2.7557417586989233e-07,
    2.5104123763950136e-08,
    2.0867464444951082e-09,
];

/// `x` as `k * unit + r`: (k as a float, k, r). With a fused multiply-add the first difference is
/// exact, as `k * unit.high` and `x` are multiples of the same power of two and nearly cancel.
fn reduce<F: Float>(x: F, per_unit: f64, unit: &Pair) -> (F, F::Int, F) {
    let (kf, k) = round_scaled(x, x.lit(per_unit));
    let r = kf.fma(-unit.high(x), x);
    let r = kf.fma(-unit.low(x), r);
    (kf, k, r)
}

/// e^x * 2^extra, rounded once more than e^x only where the result is denormal.
pub(crate) fn exp_scaled<F: Float>(x: F, extra: i64) -> F {
    // Beyond these the result is 0 or infinity all the same, and k stays encodable.
    let x = clamp(
        x,
        x.format().pick(-110.0, -760.0),
        x.format().pick(100.0, 720.0),
    );
    let (kf, k, r) = reduce(x, std::f64::consts::LOG2_E, &LN_2);
    let p = poly2(r, &EXP_F32, &EXP_F64);
    match extra {
        0 => p.scale(kf, k),
        _ => p.scale(kf + x.lit(extra as f64), k + k.ilit(extra)),
    }
}

/// e^x.
pub fn exp<F: Float>(x: F) -> F {
    exp_scaled(x, 0)
}

/// 2^r for |r| <= 1/2 (a little more is harmless), in [0.7, 1.42].
pub(crate) fn exp2_core<F: Float>(r: F) -> F {
    poly2(r, &EXP2_F32, &EXP2_F64)
}

/// 2^x.
pub fn exp2<F: Float>(x: F) -> F {
    let x = clamp(
        x,
        x.format().pick(-160.0, -1100.0),
        x.format().pick(140.0, 1040.0),
    );
    let (kf, k) = round_scaled(x, x.lit(1.0));
    exp2_core(x - kf).scale(kf, k)
}

/// 10^x.
pub fn exp10<F: Float>(x: F) -> F {
    let x = clamp(
        x,
        x.format().pick(-50.0, -330.0),
        x.format().pick(42.0, 315.0),
    );
    let (kf, k, r) = reduce(x, std::f64::consts::LOG2_10, &LOG10_2);
    poly2(r, &EXP10_F32, &EXP10_F64).scale(kf, k)
}

/// e^x - 1, accurate near zero.
pub fn expm1<F: Float>(x: F) -> F {
    // Below the lower bound the result rounds to -1; at the upper one it is infinite.
    let limited = clamp(
        x,
        x.format().pick(-30.0, -60.0),
        x.format().pick(89.0, 710.0),
    );
    let (_, k, r) = reduce(limited, std::f64::consts::LOG2_E, &LN_2);
    let p = (r * r).fma(poly2(r, &EXPM1_F32, &EXPM1_F64), r);
    // 2^k (p + 1) - 1, at half scale as 2^k may be just out of range.
    let s = pow2(x, k - k.ilit(1));
    let half = s.fma(p, s - x.lit(0.5));
    // A denormal would lose a bit at half scale, and -0 its sign.
    F::select(x.abs().lt(x.lit(1e-20)), x, half + half)
}
