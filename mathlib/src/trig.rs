//! `sin`, `cos`, `tan` and their `pi` forms.
//!
//! The argument is reduced by multiples of pi/2 (Cody and Waite, with fused multiply-adds) up to a
//! limit, beyond which a [`Routine`] takes over. For both at once, the sine and the cosine of the
//! rest are evaluated and the quadrant selects, as lanes differ in theirs; for the tangent, that of
//! the rest as a quotient of polynomials, which the quadrant may turn over. The sine and the cosine
//! alone are reduced by multiples of pi instead, where one polynomial is enough, and their `pi`
//! forms to between -1/2 and 1/2.

use crate::bits::{clamp, poly2, round_scaled, sign_bit, to_int, xor_sign};
use crate::constants::PI;
use crate::number::{Float, Format, Int};
use crate::routine::Routine;

/// (sin(r)/r - 1)/r^2 in r^2 for |r| <= 0.81; the sine then has relative error 2^-27.3, 2^-57.3.
const SIN_F32: [f64; 3] = [
    -0.16666652262210846,
    0.00833202712237835,
    -0.0001949685683939606,
];
const SIN_F64: [f64; 7] = [
    -0.16666666666666666,
    0.008333333333333302,
    -0.00019841269841232566,
    2.7557319203330393e-06,
    -2.5052102275724733e-08,
    1.6058053236926252e-10,
    -7.564176509959601e-13,
];

/// (cos(r) - 1 + r^2/2)/r^4 in r^2, relative error of the cosine 2^-30.9 and 2^-59.9.
const COS_F32: [f64; 3] = [
    0.04166664183139801,
    -0.0013887168606743217,
    2.4415518055320717e-05,
];
const COS_F64: [f64; 7] = [
    0.041666666666666664,
    -0.0013888888888888868,
    2.4801587301565855e-05,
    -2.7557319212994805e-07,
    2.0876753839502776e-09,
    -1.1470234593079707e-11,
    4.735511381519144e-14,
];

/// pi/2 as the sum of three values of the format. Those of `float` are all positive, so that -0
/// keeps its sign.
const PI_2_F32: [f64; 3] = [
    1.570796251296997,
    7.549789415861596e-08,
    5.390302529957765e-15,
];
const PI_2_F64: [f64; 3] = [
    std::f64::consts::FRAC_PI_2,
    6.123233995736766e-17,
    -1.4973849048591698e-33,
];

/// (sin(r)/r - 1)/r^2 in r^2 for |r| <= pi/2; the sine then has relative error 2^-27.2, 2^-61.5.
const HALF_WAVE_F32: [f64; 4] = [
    -0.16666659712791443,
    0.00833306834101677,
    -0.00019809666264336556,
    2.6057839477289235e-06,
];
const HALF_WAVE_F64: [f64; 8] = [
    -0.16666666666666666,
    0.008333333333333207,
    -0.0001984126984121247,
    2.7557319211565925e-06,
    -2.5052106903863325e-08,
    1.6058940961401046e-10,
    -7.643017958766601e-13,
    2.7214009136823627e-15,
];

/// (sin(pi r)/r - pi)/r^2 in r^2 for |r| <= 1/2; the sine then has relative error 2^-27.2, 2^-60.3.
const SINE_PI_F32: [f64; 4] = [
    -5.167710781097412,
    2.550086259841919,
    -0.5983313322067261,
    0.07771901786327362,
];
const SINE_PI_F64: [f64; 8] = [
    -5.167712780049969,
    2.550164039877269,
    -0.5992645293177654,
    0.08214588655280064,
    -0.007370430321696938,
    0.0004662989047048399,
    -2.190117110583035e-05,
    7.673865341432499e-07,
];

/// tan(r) = r (1 + z N(z)) / (1 + z D(z)) with z = r^2, for |r| <= pi/4, relative error 2^-25.8 and
/// 2^-55.4: N and D.
const TAN_F32: ([f64; 1], [f64; 2]) = (
    [-0.0957820862531662],
    [-0.4291159212589264, 0.009709772653877735],
);
const TAN_F64: ([f64; 3], [f64; 3]) = (
    [
        -0.128282617901019,
        0.0028058232425251877,
        -7.482714063320236e-06,
    ],
    [
        -0.4616159512343503,
        0.02334447365391554,
        -0.00020843440179030862,
    ],
);

/// tan(pi r) = r (pi + z N(z)) / (1 + z D(z)), likewise, for |r| <= 1/4.
const TANPI_F32: ([f64; 1], [f64; 2]) = (
    [-2.969845771789551],
    [-4.235204219818115, 0.9458200931549072],
);
const TANPI_F64: ([f64; 3], [f64; 3]) = (
    [-3.977566343912178, 0.8586371442407742, -0.02259999061083627],
    [-4.555966823915594, 2.2739639592951306, -0.20038658145053578],
);

/// pi as the sum of three values of `float`, all positive, so that -0 keeps its sign.
const PI_F32: [f64; 3] = [
    3.141592502593994,
    1.5099578831723193e-07,
    1.078060505991553e-14,
];

/// Sine and cosine of r + low, for |r| <= 0.81 and low below an ulp of r. Without `low`, the sine
/// of -0 is -0.
pub(crate) fn kernel<F: Float>(r: F, low: Option<F>) -> (F, F) {
    let z = r * r;
    // The fused addition of +0 keeps the sign of a zero r in the sine below.
    let s = z.fma(poly2(z, &SIN_F32, &SIN_F64), r.lit(0.0));
    let one = r.lit(1.0);
    let c = poly2(z, &COS_F32, &COS_F64);
    let cosine = z.fma(z.fma(c, r.lit(-0.5)), one);
    match low {
        None => (r.fma(s, r), cosine),
        Some(low) => (r + r.fma(s, low), r.fma(-low, cosine)),
    }
}

/// The tangent of r + low as a quotient, for |r| <= 0.79 and low below an ulp of r. Without `low`,
/// that of -0 is -0.
pub(crate) fn tan_kernel<F: Float>(r: F, low: Option<F>) -> (F, F) {
    let z = r * r;
    // As in [`kernel`].
    let n = z.fma(poly2(z, &TAN_F32.0, &TAN_F64.0), r.lit(0.0));
    let d = z.fma(poly2(z, &TAN_F32.1, &TAN_F64.1), r.lit(1.0));
    let n = r.fma(n, r);
    match low {
        None => (n, d),
        // tan(r + low) = (tan(r) + low) / (1 - low tan(r)), as low is its own tangent.
        Some(low) => (d.fma(low, n), n.fma(-low, d)),
    }
}

/// Whether x is more than [`reduce`] takes.
pub(crate) fn beyond_limit<F: Float>(x: F) -> F::Mask {
    x.abs().gt(x.lit2(131_072.0, 1_073_741_824.0))
}

/// The quadrant and the rest of x by pi/2, the rest as a sum of two for `double`.
///
/// The first difference is exact: the product and x are multiples of 2^-23 (2^-52) or of an ulp of
/// x, and the difference is below 1. What is left of pi/2 after the third part is below 2^-71
/// (2^-160), times a quotient below 2^17 (2^30), against a rest of no less than about 2^-30
/// (2^-63). The low part of a `double` is exact but for its last rounding: `first` is a multiple of
/// the ulp of the second product, if not larger (M. Joldes, J.-M. Muller and V. Popescu, "Tight and
/// rigorous error bounds for basic building blocks of double-word arithmetic", on `Fast2Sum`).
fn reduce<F: Float>(x: F) -> (F::Int, F, Option<F>) {
    match x.format() {
        Format::F32 => {
            let (k, r) = reduce_float(x);
            (k, r, None)
        }
        Format::F64 => {
            let part = |i: usize| x.lit(-PI_2_F64[i]);
            let (kf, k) = round_scaled(x, x.lit(std::f64::consts::FRAC_2_PI));
            let first = kf.fma(part(0), x);
            // The second product in two words, and the difference too: next to a multiple of pi/2
            // most of `first` cancels.
            let second = kf * part(1);
            let second_low = kf.fma(part(1), -second);
            let r = first + second;
            let low = ((first - r) + second) + second_low;
            (k, r, Some(kf.fma(part(2), low)))
        }
    }
}

/// [`reduce`] for `float` only.
pub(crate) fn reduce_float<F: Float>(x: F) -> (F::Int, F) {
    let (kf, k) = round_scaled(x, x.lit(std::f64::consts::FRAC_2_PI));
    let r = PI_2_F32.iter().fold(x, |r, &part| kf.fma(x.lit(-part), r));
    (k, r)
}

/// Bit `bit` of a quadrant, moved to the sign bit.
fn as_sign<F: Float>(like: F, quadrant: F::Int, bit: u32) -> F::Int {
    (quadrant & quadrant.lit(1 << bit)).shl(like.format().bits() - 1 - bit)
}

/// The sine from the quadrant and the kernel of the rest.
pub(crate) fn sin_in<F: Float>(quadrant: F::Int, (s, c): (F, F)) -> F {
    let odd = (quadrant & quadrant.lit(1)).ne(quadrant.lit(0));
    xor_sign(F::select(odd, c, s), as_sign(s, quadrant, 1))
}

/// The cosine from the quadrant and the kernel of the rest.
pub(crate) fn cos_in<F: Float>(quadrant: F::Int, (s, c): (F, F)) -> F {
    sin_in(quadrant + quadrant.lit(1), (s, c))
}

/// The tangent from the quadrant and that of the rest, a quotient.
pub(crate) fn tan_in<F: Float>(quadrant: F::Int, (s, c): (F, F)) -> F {
    let odd = (quadrant & quadrant.lit(1)).ne(quadrant.lit(0));
    let quotient = F::select(odd, c, s) / F::select(odd, s, c);
    xor_sign(quotient, as_sign(s, quadrant, 0))
}

/// The rest of x by pi, x - shift pi: for `double` the sum of two, the second with its sign
/// changed. Differences are as in [`reduce`].
fn rest_by_pi<F: Float>(x: F, shift: F) -> (F, Option<F>) {
    match x.format() {
        Format::F32 => {
            let r = PI_F32.iter().fold(x, |r, &part| shift.fma(x.lit(-part), r));
            (r, None)
        }
        Format::F64 => {
            let part = |i: usize| x.lit(-2.0 * PI_2_F64[i]);
            let first = shift.fma(part(0), x);
            let second = shift * part(1);
            let second_low = shift.fma(part(1), -second);
            let r = first + second;
            let minus_low = ((r - first) - second) - second_low;
            (r, Some(shift.fma(-part(2), minus_low)))
        }
    }
}

/// (-1)^k sin(x - shift pi), where k is `shift` rounded up.
fn half_wave<F: Float>(x: F, shift: F, k: F::Int) -> F {
    let (r, minus_low) = rest_by_pi(x, shift);
    let z = r * r;
    // The fused addition of +0 keeps the sign of a zero, as does that of -0 below.
    let s = z.fma(poly2(z, &HALF_WAVE_F32, &HALF_WAVE_F64), x.lit(0.0));
    let sine = match minus_low {
        None => r.fma(s, r),
        Some(minus_low) => r + r.fma(s, -minus_low),
    };
    // Rounding might lead beyond 1, and programs into the root of a negative number.
    xor_sign(clamp(sine, -1.0, 1.0), as_sign(x, k, 0))
}

/// The sine of a number within [`beyond_limit`]; of a larger `float`, anything from -1 to 1.
pub(crate) fn sin_short<F: Float>(x: F) -> F {
    let (kf, k) = round_scaled(x, x.lit(std::f64::consts::FRAC_1_PI));
    half_wave(x, kf, k)
}

/// The cosine, likewise: (-1)^k sin(x - (k - 1/2) pi).
pub(crate) fn cos_short<F: Float>(x: F) -> F {
    let half = x.lit(0.5);
    let turned = x.fma(x.lit(std::f64::consts::FRAC_1_PI), half);
    let (kf, k) = round_scaled(turned, x.lit(1.0));
    half_wave(x, kf - half, k)
}

/// The sine of x, radians.
pub fn sin<F: Float>(x: F) -> F {
    x.rare1(beyond_limit(x), sin_short(x), Routine::SinLarge)
}

/// The cosine of x, radians.
pub fn cos<F: Float>(x: F) -> F {
    x.rare1(beyond_limit(x), cos_short(x), Routine::CosLarge)
}

/// Sine and cosine of x, radians.
pub fn sincos<F: Float>(x: F) -> (F, F) {
    let (q, r, low) = reduce(x);
    let both = kernel(r, low);
    let large = beyond_limit(x);
    (
        x.rare1(large, keep_zero(x, sin_in(q, both)), Routine::SinLarge),
        x.rare1(large, cos_in(q, both), Routine::CosLarge),
    )
}

/// The tangent of x, radians.
pub fn tan<F: Float>(x: F) -> F {
    let (q, r, low) = reduce(x);
    let fast = tan_in(q, tan_kernel(r, low));
    x.rare1(beyond_limit(x), keep_zero(x, fast), Routine::TanLarge)
}

/// Restores -0 where the kernel ran with a low part.
fn keep_zero<F: Float>(x: F, r: F) -> F {
    match x.format() {
        Format::F32 => r,
        Format::F64 => F::select(x.eq(x.lit(0.0)), x, r),
    }
}

/// x modulo 2, in [-1, 1], exact.
fn modulo_2<F: Float>(x: F) -> F {
    let turns = (x * x.lit(0.5)).round_even();
    turns.fma(x.lit(-2.0), x)
}

/// Reduces x by half-turns: (x modulo 2 in [-1, 1], quadrant, the rest in [-1/4, 1/4]), all exact.
fn reduce_pi<F: Float>(x: F) -> (F, F::Int, F) {
    let y = modulo_2(x);
    let k = (y + y).round_even();
    (y, to_int(k), k.fma(x.lit(-0.5), y))
}

/// The tangent of pi r as a quotient, for |r| <= 1/4.
fn tan_kernel_pi<F: Float>(r: F) -> (F, F) {
    let z = r * r;
    let rest = z.fma(poly2(z, &TANPI_F32.0, &TANPI_F64.0), PI.low(r));
    let d = z.fma(poly2(z, &TANPI_F32.1, &TANPI_F64.1), r.lit(1.0));
    (r.fma(PI.high(r), r * rest), d)
}

/// sin(pi r) for |r| <= 1/2. As for the sine, rounding might lead beyond 1.
fn sine_pi<F: Float>(r: F) -> F {
    let z = r * r;
    let rest = z.fma(poly2(z, &SINE_PI_F32, &SINE_PI_F64), PI.low(r));
    r.fma(PI.high(r), r * rest)
}

/// sin(pi x).
pub fn sinpi<F: Float>(x: F) -> F {
    let y = modulo_2(x.abs());
    let r = y.abs();
    let mirrored = x.lit(1.0) - r;
    let r = F::select(r.lt(mirrored), r, mirrored);
    // The sine of |x| has the sign of y, but that zeros are positive. Less 1, the encoding of 0
    // alone is negative.
    let is_zero = r.to_bits() - r.to_bits().lit(1);
    let s = sine_pi(r);
    let s = F::select(s.gt(x.lit(1.0)), x.lit(1.0), s);
    let sign = x.to_bits() ^ (y.to_bits() & !is_zero);
    xor_sign(s, sign & sign_bit(x.lit(-0.0)))
}

/// cos(pi x) = sin(pi (1/2 - |x|)), whose zeros are +0, as the specification wants.
pub fn cospi<F: Float>(x: F) -> F {
    clamp(sine_pi(x.lit(0.5) - modulo_2(x).abs()), -1.0, 1.0)
}

/// tan(pi x).
pub fn tanpi<F: Float>(x: F) -> F {
    let (y, k, r) = reduce_pi(x);
    let t = tan_in(k, tan_kernel_pi(r));
    // Zeros and poles have prescribed signs ("Additional Requirements Beyond ISO/IEC 9899:TC2"): at
    // a pole that of x modulo 2, at an integer that of x, flipped for odd ones.
    let odd_half = (k & k.lit(1)).ne(k.lit(0));
    let at_integer = sign_bit(x) ^ as_sign(x, k, 1);
    let sign = F::Int::select(odd_half, sign_bit(y), at_integer);
    F::select(r.eq(x.lit(0.0)), xor_sign(t.abs(), sign), t)
}
