//! The gamma functions, branch-free.
//!
//! Negative arguments by the reflection formula, small ones of `lgamma` by the recurrence, large
//! ones by Stirling's series (NIST Digital Library of Mathematical Functions, 5.5 and 5.11).
//! `tgamma` is C. Lanczos' form ("A precision approximation of the gamma function", SIAM J. Numer.
//! Anal. 1, 1964), with a rational minimax fit in place of his series.

use crate::bits::{infinity, nan, poly, poly2, split, split_normal};
use crate::log::{Base, of_parts};
use crate::number::{Float, Format, Int};
use crate::pow::stirling_power;
use crate::routine::Routine;
use crate::trig::sinpi;

/// What is added to an argument: for `float`, for `double`.
const SHIFT: (f64, f64) = (3.0, 6.0);

/// gamma(1 + x) (e / (x + SHIFT))^(x - 1/2) as a quotient, for 0 <= x <= 45 (190), relative error
/// 2^-26.4 and 2^-61.
const LANCZOS_F32: ([f64; 4], [f64; 3]) = (
    [
        1.050541877746582,
        1.0409529209136963,
        0.34379321336746216,
        0.037849362939596176,
    ],
    [1.0, 1.5000336170196533, 0.5000337362289429],
);
const LANCZOS_F64: ([f64; 8], [f64; 7]) = (
    [
        1.4856906296496097,
        1.7976825659224713,
        0.930872837960103,
        0.2674301584736189,
        0.046040256495292066,
        0.004750170597159885,
        0.00027197830434807574,
        6.66712678489084e-06,
    ],
    [
        1.0,
        2.495639716948181,
        2.3597643993881534,
        1.1064039616054453,
        0.2753809985429168,
        0.03487086227044448,
        0.0017691428929839674,
    ],
);

/// log(gamma(2 + u)) / u for |u| <= 1/2, relative error 2^-24.6 and 2^-56.
const NEAR_F32: [f64; 8] = [
    0.42278432846069336,
    0.3224669396877289,
    -0.06735280901193619,
    0.02058403380215168,
    -0.007370092906057835,
    0.002859947970137,
    -0.0013041425263509154,
    0.0006130531546659768,
];
const NEAR_F64: [f64; 18] = [
    0.42278433509846713,
    0.3224670334241133,
    -0.06735230105319542,
    0.020580808427766804,
    -0.0073855510289472705,
    0.0028905103317586433,
    -0.0011927539007104446,
    0.0005096694977044174,
    -0.00022315498122129281,
    9.945790532676482e-05,
    -4.4923699658219344e-05,
    2.0503860571137128e-05,
    -9.456406777100712e-06,
    4.392084882994522e-06,
    -1.9740442724602054e-06,
    9.033108909472679e-07,
    -5.813752894527841e-07,
    2.94402385564334e-07,
];

/// x (log(gamma(x)) - (x - 1/2)(log(x) - 1) - log(2 pi)/2 + 1/2) in 1/x^2 for x >= 4.5 (6.5); the
/// logarithm then has relative error 2^-27.8 and 2^-58.8.
const STIRLING_F32: [f64; 2] = [0.083332359790802, -0.0027210828848183155];
const STIRLING_F64: [f64; 6] = [
    0.083333333333323,
    -0.002777777770417662,
    0.0007936489507622031,
    -0.000595018388761248,
    0.0008280750907622102,
    -0.0014778069370979159,
];

/// (log(2 pi) - 1) / 2
const STIRLING_CONSTANT: f64 = 0.418_938_533_204_672_7;

/// The gamma function.
pub fn tgamma<F: Float>(x: F) -> F {
    let zero = x.lit(0.0);
    let one = x.lit(1.0);
    // Beyond, the result is 0 or infinity.
    let limit = x.lit2(45.0, 190.0);
    let a = x.abs();
    let a = F::select(a.gt(limit), limit, a);
    let (numerator, denominator) = match x.format() {
        Format::F32 => (&LANCZOS_F32.0[..], &LANCZOS_F32.1[..]),
        Format::F64 => (&LANCZOS_F64.0[..], &LANCZOS_F64.1[..]),
    };
    let (p, q) = (poly(a, numerator), poly(a, denominator));
    // gamma(a) = gamma(1 + a)/a, and gamma(-a) = -pi / (sin(pi a) gamma(1 + a)).
    let negative = x.lt(zero);
    let s = sinpi(x);
    let above = F::select(negative, q * x.lit(std::f64::consts::PI), p);
    let below = F::select(negative, p * s, q * a);
    let y = a - x.lit(0.5);
    let y = F::select(negative, -y, y);
    // Near zero it is 1/x.
    let tiny = a.lt(x.lit2(2f64.powi(-30), 2f64.powi(-60)));
    let factor = F::select(tiny, one, above) / F::select(tiny, x, below);
    let y = F::select(tiny, zero, y);
    let shift = x.lit2(SHIFT.0, SHIFT.1);
    let b = a + shift;
    let r = stirling_power((b, a - (b - shift)), y, factor);
    F::select(negative & s.eq(zero), nan(x), r)
}

/// The natural logarithm of a positive finite number.
fn log_positive<F: Float>(x: F) -> F {
    let (m, e) = split(x);
    of_parts(Base::E, m, e)
}

/// log(gamma(a)) for a >= 0. Arbitrary for infinity and NaN.
fn lgamma_positive<F: Float>(a: F) -> F {
    let one = a.lit(1.0);
    let whole = (a + a.lit(0.5)).floor();
    // gamma(2 + u) = gamma(a) a (a + 1), or the like, and gamma(a) = gamma(2 + u) (a - 1)(a - 2)...
    let u = a - whole;
    let below = F::select(whole.lt(one), a.fma(a, a), a);
    let mut product = F::select(whole.gt(a.lit(2.0)), a - one, one);
    for k in 3..a.format().pick(4, 6) {
        let k = f64::from(k);
        let longer = product * (a - a.lit(k - 1.0));
        product = F::select(whole.gt(a.lit(k)), longer, product);
    }
    let raised = whole.lt(a.lit(2.0));
    let large = a.ge(a.lit2(4.5, 6.5));
    let l = log_positive(F::select(large, a, F::select(raised, below, product)));
    let near = u * poly2(u, &NEAR_F32, &NEAR_F64);
    let small = F::select(raised, near - l, near + l);
    let inverse = one / a;
    let series = inverse * poly2(inverse * inverse, &STIRLING_F32, &STIRLING_F64);
    let constant = series + a.lit(STIRLING_CONSTANT);
    let stirling = (a - a.lit(0.5)).fma(l - one, constant);
    F::select(large, stirling, small)
}

/// Whether gamma has a pole: at zero and the negative integers.
fn is_pole<F: Float>(x: F) -> F::Mask {
    x.le(x.lit(0.0)) & x.eq(x.floor())
}

/// The logarithm of the magnitude of gamma.
pub fn lgamma<F: Float>(x: F) -> F {
    let a = x.abs();
    let positive = lgamma_positive(a);
    // gamma(-a) gamma(a) = -pi / (a sin(pi a)). Near zero it is 1/x.
    let reflected = x.lt(x.lit2(-1e-10, -1e-20));
    let product = a * sinpi(a).abs() * x.lit(std::f64::consts::FRAC_1_PI);
    let (m, e) = split_normal(product);
    let negative = -(of_parts(Base::E, m, e) + positive);
    let r = F::select(reflected, negative, positive);
    let r = F::select(is_pole(x), infinity(x), r);
    let r = F::select(a.lt(infinity(x)), r, a);
    match x.format() {
        // Near zeros on the negative axis little is left of the two logarithms.
        Format::F32 => {
            let cancelled = r.abs().lt(positive.fma(x.lit(0.125), x.lit(0.25)));
            x.rare1(cancelled & x.lt(x.lit(-2.0)), r, Routine::Lgamma)
        }
        Format::F64 => r,
    }
}

/// [`lgamma`] and the sign of gamma: 1, -1, or 0 at zero and the negative integers.
pub fn lgamma_r<F: Float>(x: F) -> (F, F::Int) {
    let half = x.floor() * x.lit(0.5);
    let odd = half.ne(half.floor());
    let one = x.int_lit(1);
    let sign = F::Int::select(x.lt(x.lit(0.0)) & odd, x.int_lit(u64::MAX), one);
    (lgamma(x), F::Int::select(is_pole(x), x.int_lit(0), sign))
}
