//! `erf` and `erfc`, branch-free.

// Coefficients close to well known constants are coefficients all the same.
#![allow(clippy::approx_constant)]

use crate::bits::{clamp, poly, poly2, sign_bit, xor_sign};
use crate::exp::{exp, exp_in_range};
use crate::number::{Float, Format};

/// erf(x)/x in x^2 for |x| <= 1, relative error 2^-23.7 and 2^-55.8.
const ERF_F32: [f64; 7] = [
    1.1283791065216064,
    -0.3761262595653534,
    0.1128358468413353,
    -0.02685379423201084,
    0.005188297480344772,
    -0.0008009954472072423,
    7.853132410673425e-05,
];
const ERF_F64: [f64; 13] = [
    1.1283791670955126,
    -0.3761263890318375,
    0.11283791670954879,
    -0.026866170645076792,
    0.0052239776248180145,
    -0.000854832698083379,
    0.0001205533111164271,
    -1.4925595266831182e-05,
    1.6461000484121368e-06,
    -1.6350312701054695e-07,
    1.4659775274047436e-08,
    -1.1372848856791674e-09,
    5.957176147748911e-11,
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

/// log(erfc(2 + t)) in t for -1 <= t <= 3.95; erf(x) then has an error of 2^-54.8.
const LOG_ERFC_F64: [f64; 18] = [
    -5.364941264616636,
    -4.418160805994413,
    -0.9237508418239425,
    -0.016465118137392338,
    0.0035707563478076442,
    -0.0007323993779797238,
    0.00013530933083416615,
    -2.0706470514195833e-05,
    1.952186778068978e-06,
    2.0372700256184745e-07,
    -1.7317157877703053e-07,
    5.769639565236753e-08,
    -1.3990095215480226e-08,
    2.6095021247096774e-09,
    -2.568275265092128e-10,
    -7.153988893376502e-11,
    3.661078456040356e-11,
    -4.862370703659526e-12,
];

/// (1 + 2x) e^(x^2) erfc(x) in t = (x - 4)/(x + 4), the form of M. M. Shepherd and J. G.
/// Laframboise ("Chebyshev approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity", Math.
/// Comp. 36, 1981), for 0.5 <= x <= 11 (28), relative error 2^-24.8 and 2^-54.1.
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
const ERFC_F64: [f64; 23] = [
    1.2329951186255526,
    -0.1396211168405625,
    0.015379652102619901,
    0.06809705425468844,
    -0.1010390660363143,
    0.09373283499853434,
    -0.06633036581196795,
    0.03716751553379472,
    -0.016197734061059108,
    0.00503197001856426,
    -0.0007577732634973155,
    -0.00019925696553927866,
    0.00015062155590137163,
    -2.4398057333996413e-05,
    -1.1221668942295945e-05,
    5.706494720146254e-06,
    2.9313186423696087e-07,
    -8.195085083459565e-07,
    7.540467350144586e-08,
    1.03256669073015e-07,
    -1.8406671051403966e-08,
    -9.652213521087604e-09,
    1.9717656765049794e-09,
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
    let e = exp(-square);
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
    F::select(a.lt(x.lit(0.5)), x.lit(1.0) - erf_small(x), large)
}
