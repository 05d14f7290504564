//! `tgamma` and `lgamma`. A `float` is done in `double`.
//!
//! Between 1 and 2 a polynomial, up to 9 the recurrence, beyond Stirling's series, for negative
//! arguments the reflection formula (NIST Digital Library of Mathematical Functions, 5.5 and 5.11).

use crate::bits::poly;
use crate::exp::exp;
use crate::log::log;
use crate::pow::pow;
use crate::trig::sinpi;

/// Gamma(1.5 + u), |u| <= 1/2, relative error 2^-54.3.
const GAMMA: [f64; 22] = [
    0.886226925452758,
    0.032338397448885,
    0.4148134536882826,
    -0.10729480456475984,
    0.1446453590475836,
    -0.07752305230182892,
    0.058610303633145476,
    -0.03800193543217766,
    0.02583761230507782,
    -0.017222447013020576,
    0.011522407277990318,
    -0.007690139287816347,
    0.005132883760616497,
    -0.003423629338262631,
    0.002273514062024839,
    -0.0015159595901781905,
    0.0010569633457018935,
    -0.0007046879722466143,
    0.0003320885800907498,
    -0.00022139952612051456,
    0.00037955491879486174,
    -0.00025303807808043895,
];

/// Gamma(x) / (sqrt(2 pi) x^(x - 1/2) e^-x) in 1/x, x >= 9, relative error 2^-63.
const STIRLING: [f64; 12] = [
    1.0,
    0.08333333333333337,
    0.0034722222222152064,
    -0.002681327159772526,
    -0.0002294721386174569,
    0.0007840410383836814,
    6.967892408930221e-05,
    -0.0005912573221890984,
    -6.314097261636032e-05,
    0.0009345426197447474,
    -0.0004147189398393113,
    -0.0006845522874596776,
];

/// x times the logarithm of that, in 1/x^2, relative error 2^-54.
const STIRLING_LOG: [f64; 7] = [
    0.08333333333333333,
    -0.002777777777776798,
    0.0007936507923767944,
    -0.0005952374715172973,
    0.0008416046109130156,
    -0.001899739290708521,
    0.005309112723037459,
];

/// log(Gamma(x)) / ((x - 1)(x - 2)) in x - 1.5, 1 <= x <= 2, relative error 2^-54.4.
const LGAMMA: [f64; 22] = [
    0.4831289505409809,
    -0.14595989591430608,
    0.06291140107456439,
    -0.031308487501010646,
    0.01679709863127416,
    -0.009425622448525798,
    0.005446457839126065,
    -0.0032120740737152814,
    0.0019229163127905161,
    -0.0011644145847310124,
    0.000711519067515296,
    -0.00043799307479613914,
    0.00027131373861446925,
    -0.0001689178215524898,
    0.00010535512483785591,
    -6.614136022346414e-05,
    4.30276814976503e-05,
    -2.7201673025504752e-05,
    1.3186019073996835e-05,
    -8.355075869795273e-06,
    1.2140008083973407e-05,
    -7.760660152513446e-06,
];

const SQRT_2_PI: f64 = 2.5066282746310007;
const HALF_LOG_2_PI: f64 = 0.9189385332046728;

/// Gamma(x) for finite x > 0 as a product of two, as it may overflow where its inverse is still
/// wanted.
fn gamma_positive(x: f64) -> (f64, f64) {
    if x < 1.0 {
        return (poly(x - 0.5, &GAMMA), 1.0 / x);
    }
    if x < 9.0 {
        let whole = x.floor();
        // Gamma(x) = (x - 1)(x - 2)...(1 + f) Gamma(1 + f), every difference exact.
        let product: f64 = (1..whole as i32).map(|k| x - f64::from(k)).product();
        return (poly(x - whole - 0.5, &GAMMA), product);
    }
    let limited = x.min(300.0);
    let root = pow(limited, 0.5 * (limited - 0.5));
    let rest = root * exp(-limited) * SQRT_2_PI * poly(1.0 / limited, &STIRLING);
    (root, rest)
}

/// log(Gamma(x)) for finite x > 0.
fn lgamma_positive(x: f64) -> f64 {
    // log(Gamma(1 + f)) for 0 <= f <= 1.
    let near = |f: f64| f * (f - 1.0) * poly(f - 0.5, &LGAMMA);
    if x < 1.0 {
        near(x) - log(x)
    } else if x <= 2.0 {
        // The zeros at 1 and 2 are +0.
        near(x - 1.0) + 0.0
    } else if x < 3.0 {
        near(x - 2.0) + log(x - 1.0)
    } else if x < 9.0 {
        let (a, b) = gamma_positive(x);
        log(a * b)
    } else {
        let inverse = 1.0 / x;
        let series = poly(inverse * inverse, &STIRLING_LOG) * inverse;
        // (x - 1/2) log(x) - x, which may only overflow where the result does.
        let l = log(x);
        (x - 0.5).mul_add(l - 1.0, HALF_LOG_2_PI - 0.5 + series)
    }
}

/// A pole of gamma: zero or a negative integer.
fn is_pole(x: f64) -> bool {
    x <= 0.0 && x == x.floor()
}

pub(crate) extern "C" fn tgamma_f64(x: f64) -> f64 {
    if x == 0.0 {
        return x.recip();
    }
    if x.is_nan() || x == f64::INFINITY {
        return x;
    }
    if is_pole(x) {
        return f64::NAN;
    }
    if x > 0.0 {
        let (a, b) = gamma_positive(x);
        return a * b;
    }
    // Gamma(-a) = -pi / (a sin(pi a) Gamma(a)).
    let a = -x;
    let (g, h) = gamma_positive(a);
    let s = sinpi(a);
    if a < 1.0 {
        // a times 1/a in h is 1, and either may be out of range.
        return -std::f64::consts::PI / (s * g);
    }
    -std::f64::consts::PI / (a * s * h) / g
}

pub(crate) extern "C" fn lgamma_f64(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.is_infinite() || is_pole(x) {
        return f64::INFINITY;
    }
    if x > 0.0 {
        return lgamma_positive(x);
    }
    let a = -x;
    if a < 1e-20 {
        return -log(a);
    }
    log(std::f64::consts::PI / (a * sinpi(a).abs())) - lgamma_positive(a)
}

pub(crate) extern "C" fn tgamma_f32(x: f32) -> f32 {
    tgamma_f64(f64::from(x)) as f32
}

pub(crate) extern "C" fn lgamma_f32(x: f32) -> f32 {
    lgamma_f64(f64::from(x)) as f32
}

pub(crate) extern "C" fn sign_f64(x: f64) -> i64 {
    if is_pole(x) {
        0
    } else if x < 0.0 && (x.floor() * 0.5).fract() != 0.0 {
        -1
    } else {
        1
    }
}

pub(crate) extern "C" fn sign_f32(x: f32) -> i32 {
    sign_f64(f64::from(x)) as i32
}
