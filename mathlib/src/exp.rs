//! `exp`, `exp2`, `exp10`, `expm1`: reduce to k + r with a small |r|, a polynomial, then 2^k by
//! building the exponent field.
//!
//! The polynomials are minimax fits (Remez exchange, coefficients then rounded to the format).

// Coefficients close to well known constants are coefficients all the same.
#![allow(clippy::approx_constant)]

use crate::bits::{clamp, poly2, pow2, round_scaled};
use crate::constants::{LN_2, LOG10_2, Pair};
use crate::number::{Float, Int};

/// e^r for |r| <= ln(2)/2, relative error 2^-23.4 and 2^-56.3.
pub(crate) const EXP_F32: [f64; 6] = [
    1.0,
    0.9999997019767761,
    0.4999914765357971,
    0.16667647659778595,
    0.041898246854543686,
    0.008289819583296776,
];
pub(crate) const EXP_F64: [f64; 12] = [
    1.0,
    1.0,
    0.5000000000000011,
    0.1666666666666641,
    0.041666666666530405,
    0.008333333333496198,
    0.001388888894358137,
    0.00019841269503156566,
    2.4801493139716462e-05,
    2.7557589234411755e-06,
    2.763023612633657e-07,
    2.4999198239320555e-08,
];

/// 2^r for |r| <= 1/2, relative error 2^-23.3 and 2^-57.8.
pub(crate) const EXP2_F32: [f64; 6] = [
    1.0,
    0.6931470036506653,
    0.24022245407104492,
    0.0555071085691452,
    0.009671391919255257,
    0.001326970523223281,
];
const EXP2_F64: [f64; 12] = [
    1.0,
    0.6931471805599453,
    0.24022650695910122,
    0.05550410866482072,
    0.009618129107597042,
    0.0013333558146688864,
    0.00015403530454009782,
    1.5252733544262893e-05,
    1.321543663203139e-06,
    1.0178185703952648e-07,
    7.073576015315981e-09,
    4.436150754636086e-10,
];

/// 10^r for |r| <= log10(2)/2, relative error 2^-23.4 and 2^-57.1.
pub(crate) const EXP10_F32: [f64; 6] = [
    1.0,
    2.302584409713745,
    2.6509037017822266,
    2.0347981452941895,
    1.1777734756469727,
    0.5365719795227051,
];
const EXP10_F64: [f64; 12] = [
    1.0,
    2.302585092994046,
    2.6509490552392045,
    2.034678592293445,
    1.1712551489084366,
    0.539382929206123,
    0.2069958495119885,
    0.06808936391413238,
    0.01959762022174113,
    0.005013977960943749,
    0.0011575545952875257,
    0.0002411563245207307,
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
pub(crate) fn reduce<F: Float>(x: F, per_unit: f64, unit: &Pair) -> (F, F::Int, F) {
    let (kf, k) = round_scaled(x, x.lit(per_unit));
    let r = kf.fma(-unit.high(x), x);
    let r = kf.fma(-unit.low(x), r);
    (kf, k, r)
}

/// e^x for x within twice the exponent range.
pub(crate) fn exp_in_range<F: Float>(x: F) -> F {
    let (kf, k, r) = reduce(x, std::f64::consts::LOG2_E, &LN_2);
    poly2(r, &EXP_F32, &EXP_F64).scale(kf, k)
}

/// x, limited to where the power of e is neither 0 nor infinity, and a little more.
fn limited<F: Float>(x: F) -> F {
    let (low, high) = x.format().pick((-110.0, 100.0), (-760.0, 720.0));
    clamp(x, low, high)
}

/// e^x.
pub fn exp<F: Float>(x: F) -> F {
    exp_in_range(limited(x))
}

/// e^x / 2, which is finite where e^x just is not.
pub(crate) fn exp_halved<F: Float>(x: F) -> F {
    let (kf, k, r) = reduce(limited(x), std::f64::consts::LOG2_E, &LN_2);
    let p = poly2(r, &EXP_F32, &EXP_F64);
    p.scale(kf - x.lit(1.0), k - k.lit(1))
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
