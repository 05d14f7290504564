//! `erf` and `erfc`, branch-free.

// Coefficients close to well known constants are coefficients all the same.
#![allow(clippy::approx_constant)]

use crate::bits::{clamp, poly, poly2, sign_bit, xor_sign};
use crate::exp::exp_in_range;
use crate::number::{Float, Format};

/// erf(x)/x in x^2 for |x| <= 1, relative error 2^-23.7 and 2^-56.
const ERF_F32: [f64; 7] = [
    1.1283791065216064,
    -0.3761262595653534,
    0.1128358468413353,
    -0.02685379423201084,
    0.005188297480344772,
    -0.0008009954472072423,
    7.853132410673425e-05,
];
const ERF_F64: [f64; 12] = [
    1.1283791670955126,
    -0.37612638903183454,
    0.11283791670942442,
    -0.02686617064289931,
    0.005223977604689966,
    -0.0008548325870703971,
    0.00012055292035174393,
    -1.4924685750072198e-05,
    1.6446833684025832e-06,
    -1.6204216644959769e-07,
    1.370256913134439e-08,
    -7.764805895007783e-10,
];

/// erf(x)/x in x^2 for |x| <= 1/2; erfc(x) then has relative error 2^-24 and 2^-55.8.
const ERF_HALF_F32: [f64; 5] = [
    1.1283791065216064,
    -0.37612324953079224,
    0.11278984695672989,
    -0.026560908183455467,
    0.004379559773951769,
];
const ERF_HALF_F64: [f64; 9] = [
    1.1283791670955126,
    -0.37612638903183226,
    0.11283791670910115,
    -0.026866170628791746,
    0.005223977315638319,
    -0.0008548293244310697,
    0.00012053134847707631,
    -1.4841155327900943e-05,
    1.468075045503968e-06,
];

/// log(erfc(x)) for 1 <= x <= 4; erf(x) then has an error of 2^-29.2.
const LOG_ERFC_F32: [f64; 7] = [
    -0.0003336547233629972,
    -1.1271183490753174,
    -0.6381008625030518,
    -0.10314131528139114,
    0.021853022277355194,
    -0.002951033879071474,
    0.00018668580742087215,
];

/// log(erfc(2 + t)) in t for -1 <= t <= 3.95; erf(x) then has an error of 2^-52.7.
const LOG_ERFC_F64: [f64; 16] = [
    -5.364941264616642,
    -4.4181608059941055,
    -0.9237508418220393,
    -0.016465118143080396,
    0.0035707563075154207,
    -0.0007323993748318813,
    0.00013530956322649546,
    -2.0706332230092657e-05,
    1.9516413916254237e-06,
    2.0328914682985662e-07,
    -1.725295330956613e-07,
    5.8207072761289836e-08,
    -1.4428456396310601e-08,
    2.354251410462545e-09,
    -7.449117456321007e-11,
    -3.200285301248604e-11,
];

/// (1 + 2x) e^(x^2) erfc(x) in t = (x - 4)/(x + 4), the form of M. M. Shepherd and J. G.
/// Laframboise ("Chebyshev approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity", Math.
/// Comp. 36, 1981), for 0.5 <= x <= 11 (28), relative error 2^-24.8 and 2^-53.2.
const ERFC_F32: [f64; 10] = [
    1.2329951524734497,
    -0.1396210640668869,
    0.015379812568426132,
    0.06809455901384354,
    -0.10104431957006454,
    0.0937676727771759,
    -0.06626260280609131,
    0.036992985755205154,
    -0.016571782529354095,
    0.005275118164718151,
];
const ERFC_F64: [f64; 20] = [
    1.2329951186255526,
    -0.13962111684056228,
    0.015379652102592548,
    0.06809705425465591,
    -0.10103906603460741,
    0.09373283499999414,
    -0.06633036585146923,
    0.03716751550430029,
    -0.016197733602269556,
    0.005031970340771528,
    -0.0007577763161943992,
    -0.00019925905099818,
    0.00015063394748860968,
    -2.4389701954898237e-05,
    -1.1253008979698821e-05,
    5.685581654481075e-06,
    3.417320292268507e-07,
    -7.877077611126157e-07,
    3.219988374462691e-08,
    7.64040615887008e-08,
];

/// erf(x) for |x| <= 1.
fn erf_small<F: Float>(x: F) -> F {
    x * poly2(x * x, &ERF_F32, &ERF_F64)
}

/// erfc(a) for a >= 1/2.
fn erfc_large<F: Float>(a: F) -> F {
    // Beyond, the result is 0 and the square may overflow.
    let a = clamp(a, 0.0, a.format().pick(11.0, 28.0));
    // Both quotients by one division.
    let (one, four) = (a.lit(1.0), a.lit(4.0));
    let twice = a.fma(a.lit(2.0), one);
    let sum = a + four;
    let inverse = one / (sum * twice);
    let t = (a - four) * (twice * inverse);
    // e^(-a^2), with the rounding error of the square.
    let square = a * a;
    let error = a.fma(a, -square);
    let e = exp_in_range(-square);
    let e = e.fma(-error, e);
    poly2(t, &ERFC_F32, &ERFC_F64) * (sum * inverse) * e
}

/// The error function. Beyond 1 only the first bits of erfc(x) matter.
pub fn erf<F: Float>(x: F) -> F {
    let a = x.abs();
    // Beyond, the result rounds to 1.
    let limit = x.lit2(4.0, 5.95);
    let limited = F::select(a.gt(limit), limit, a);
    let log_erfc = match x.format() {
        Format::F32 => poly(limited, &LOG_ERFC_F32),
        Format::F64 => poly(limited - x.lit(2.0), &LOG_ERFC_F64),
    };
    let large = xor_sign(x.lit(1.0) - exp_in_range(log_erfc), sign_bit(x));
    F::select(a.lt(x.lit(1.0)), erf_small(x), large)
}

/// 1 - erf(x), accurate where it is small.
pub fn erfc<F: Float>(x: F) -> F {
    let a = x.abs();
    let large = erfc_large(a);
    let large = F::select(x.lt(x.lit(0.0)), x.lit(2.0) - large, large);
    let small = x * poly2(x * x, &ERF_HALF_F32, &ERF_HALF_F64);
    F::select(a.lt(x.lit(0.5)), x.lit(1.0) - small, large)
}
