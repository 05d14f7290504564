//! `pow`, `powr`, `pown`, `rootn`: 2^(y log2|x|) with the logarithm and the product in double-word
//! arithmetic, then the sign and the edge cases by selection.

use crate::bits::{
    clamp, from_int, infinity, nan, not_positive_normal, poly, pow2, round_scaled, sign_bit, split,
    split_normal, xor_sign,
};
use crate::constants::{LOG2_E, THIRD, TWO_LOG2_E};
use crate::exp::exp2_core;
use crate::number::{Float, Format, Int};
use crate::routine::Routine;

/// 2 log2(e) (atanh(s)/s - 1) / s^2 in s^2, for log2(1 + f) = 2 log2(e) atanh(s), s = f / (2 + f).
/// The relative error of the logarithm is 2^-30.1.
const SERIES_F32: [f64; 3] = [0.9617983102798462, 0.576748788356781, 0.4311200678348541];

/// (atanh(s)/s - 1 - s^2/3) / s^4 in s^2; the relative error of the logarithm is 2^-66.3.
const ATANH_F64: [f64; 7] = [
    0.20000000000001128,
    0.14285714285049886,
    0.11111111259931844,
    0.0909089218668691,
    0.07693378518310823,
    0.06628412025119819,
    0.06598139752932627,
];

/// Sum of two as a double word, for |a| >= |b| or a = 0 (Dekker's fast two-sum).
fn fast_two_sum<F: Float>(a: F, b: F) -> (F, F) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// log2 of m 2^e as the sum of two, the second below a hundredth of the first, for m in [sqrt(1/2),
/// sqrt(2)].
fn log2_double<F: Float>(m: F, e: F::Int) -> (F, F) {
    log2_sum(m, None, e)
}

/// log2 of (m + m_low) 2^e, likewise, for an m_low below an ulp of m.
fn log2_sum<F: Float>(m: F, m_low: Option<F>, e: F::Int) -> (F, F) {
    let x = m;
    let one = x.lit(1.0);
    // s = f / d with d = m + 1, to twice the precision.
    let f = m - one;
    let d = m + one;
    let d_low = m - (d - one);
    let inverse = one / d;
    let s = f * inverse;
    let lack = s.fma(-d_low, s.fma(-d, f));
    let lack = match m_low {
        None => lack,
        Some(m_low) => lack + s.fma(-m_low, m_low),
    };
    let s_low = lack * inverse;
    let c = TWO_LOG2_E.high(x);
    let c_low = TWO_LOG2_E.low(x);
    let e = from_int(x, e);
    match x.format() {
        // What is below s is a fiftieth of it, so that a single word has bits enough.
        Format::F32 => {
            let z = s * s;
            let tail = z.fma(poly(z, &SERIES_F32), c_low);
            let g = s * c;
            let g_low = s.fma(tail, s_low.fma(c, s.fma(c, -g)));
            let (high, low) = fast_two_sum(e, g);
            (high, low + g_low)
        }
        Format::F64 => {
            let z = s * s;
            let z_low = (s + s).fma(s_low, s.fma(s, -z));
            // q = z (1/3 + z T(z)), of which only 1/3 needs a low part.
            let series = poly(z, &ATANH_F64);
            let third = THIRD.high(x);
            let (inner, inner_low) = fast_two_sum(third, z * series);
            let inner_low = inner_low + THIRD.low(x);
            let q = inner * z;
            let q_low = inner.fma(z_low, inner_low.fma(z, inner.fma(z, -q)));
            // atanh(s) = s + s q.
            let p = s * q;
            let p_low = s.fma(q_low, s_low.fma(q, s.fma(q, -p)));
            let (half_log, low) = fast_two_sum(s, p);
            let half_log_low = low + (s_low + p_low);
            let g = half_log * c;
            let g_low = half_log_low.fma(c, half_log.fma(c_low, half_log.fma(c, -g)));
            let (high, low) = fast_two_sum(e, g);
            (high, low + g_low)
        }
    }
}

/// Powers by more are 0, 1 or infinity all the same.
const LARGE_EXPONENT: f64 = (1u128 << 80) as f64;

/// 2^(y l), with l the logarithm of the base, and y_low what y lacks. Arbitrary where both are zero
/// and infinite, and for NaN.
fn power_of_log<F: Float>((l, l_low): (F, F), y: F, y_low: Option<F>) -> F {
    let t = y * l;
    let t_low = match y_low {
        None => y.fma(l_low, y.fma(l, -t)),
        Some(y_low) => y.fma(l, -t) + y.fma(l_low, y_low * l),
    };
    // Where the result is 0 or infinity anyway, keep the exponent encodable. The low part, below 2
    // elsewhere, is of no use there, and perhaps NaN: both comparisons are false then.
    let limit = t.format().pick(200.0, 1200.0);
    let t = clamp(t, -limit, limit);
    let (two, minus_two) = (t.lit(2.0), t.lit(-2.0));
    let t_low = F::select(t_low.lt(two), t_low, two);
    let t_low = F::select(t_low.gt(minus_two), t_low, minus_two);
    scaled_exp2((t, t_low), t.lit(1.0))
}

/// factor 2^(t + t_low), rounded once more than the product where the result is denormal, for t
/// within the exponent range and a little more.
fn scaled_exp2<F: Float>((t, t_low): (F, F), factor: F) -> F {
    let (kf, k) = round_scaled(t + t_low, t.lit(1.0));
    (exp2_core((t - kf) + t_low) * factor).scale(kf, k)
}

/// factor (b/e)^y, for b + b_low >= e, and powers within the exponent range and a little more.
pub(crate) fn stirling_power<F: Float>((b, b_low): (F, F), y: F, factor: F) -> F {
    let (m, e) = split_normal(b);
    let (l, l_low) = log2_sum(m, Some(b_low * pow2(b, e.lit(0) - e)), e);
    let (l, lack) = fast_two_sum(l, -LOG2_E.high(b));
    let l_low = l_low + (lack - LOG2_E.low(b));
    let t = y * l;
    scaled_exp2((t, y.fma(l_low, y.fma(l, -t))), factor)
}

/// The power by y (and y_low) of x >= 0, infinity included. Arbitrary where the logarithm or y is
/// zero, and for NaN.
fn pow_magnitude<F: Float>(x: F, y: F, y_low: Option<F>) -> F {
    let (m, e) = split(x);
    let (l, l_low) = log2_double(m, e);
    let inf = infinity(x);
    let l = F::select(x.eq(x.lit(0.0)), -inf, l);
    let l = F::select(x.eq(inf), inf, l);
    // So that its product with a logarithm of zero is zero, and not NaN.
    let y = clamp(y, -LARGE_EXPONENT, LARGE_EXPONENT);
    power_of_log((l, l_low), y, y_low)
}

/// The power by y of an x >= 0, but where [`is_unusual`]. NaN for zeros of both.
fn usual_magnitude<F: Float>(x: F, y: F) -> F {
    let (m, e) = split_normal(x);
    let (l, l_low) = log2_double(m, e);
    let l = F::select(x.eq(x.lit(0.0)), -infinity(x), l);
    power_of_log((l, l_low), y, None)
}

/// Whether a routine takes the power of x >= 0 by y: of a denormal, an infinity or a NaN, or by
/// more than what a finite product is sure with.
fn is_unusual<F: Float>(x: F, y: F) -> F::Mask {
    (not_positive_normal(x) & x.ne(x.lit(0.0))) | !y.abs().le(y.lit(LARGE_EXPONENT))
}

/// Whether y is an odd integer: half of it is none. Beyond 2^mantissa all are even.
pub(crate) fn odd_exponent<F: Float>(y: F) -> F::Mask {
    let half = y * y.lit(0.5);
    y.eq(y.trunc()) & half.ne(half.trunc())
}

/// r, the power of |x|, with the sign of that of x.
fn with_sign_of_power<F: Float>(x: F, y: F, r: F) -> F {
    let sign = F::Int::select(odd_exponent(y), sign_bit(x), x.int_lit(0));
    xor_sign(r, sign)
}

/// x^y with the edge cases of C99 F.9.4.4.
pub fn pow<F: Float>(x: F, y: F) -> F {
    let zero = x.lit(0.0);
    let magnitude = x.abs();
    let r = with_sign_of_power(x, y, usual_magnitude(magnitude, y));
    let r = F::select(x.lt(zero) & y.ne(y.trunc()), nan(x), r);
    let r = F::select(y.eq(zero), x.lit(1.0), r);
    x.rare2(y, is_unusual(magnitude, y), r, Routine::Pow)
}

/// [`pow`] of any numbers: what the routine is.
pub(crate) fn pow_of_any<F: Float>(x: F, y: F) -> F {
    let zero = x.lit(0.0);
    let one = x.lit(1.0);
    let magnitude = x.abs();
    let r = with_sign_of_power(x, y, pow_magnitude(magnitude, y, None));
    let undefined = x.lt(zero) & y.ne(y.trunc()) & magnitude.lt(infinity(x));
    let r = F::select(undefined, nan(x), r);
    let r = F::select(x.unordered(y), nan(x), r);
    F::select(x.eq(one) | y.eq(zero), one, r)
}

/// x^y for x >= 0, with the edge cases the OpenCL specification adds for `powr`.
pub fn powr<F: Float>(x: F, y: F) -> F {
    let magnitude = x.abs();
    let r = usual_magnitude(magnitude, y);
    let r = F::select(x.lt(x.lit(0.0)), nan(x), r);
    x.rare2(y, is_unusual(magnitude, y), r, Routine::Powr)
}

/// [`powr`] of any numbers: what the routine is.
pub(crate) fn powr_of_any<F: Float>(x: F, y: F) -> F {
    let zero = x.lit(0.0);
    let one = x.lit(1.0);
    let magnitude = x.abs();
    let r = pow_magnitude(magnitude, y, None);
    let r = F::select(y.eq(zero), one, r);
    // 0^0, infinity^0 and 1^infinity have no limit; negative x has no real power.
    let end = magnitude.eq(zero) | magnitude.eq(infinity(x));
    let undefined =
        (end & y.eq(zero)) | (x.eq(one) & y.abs().eq(infinity(x))) | x.lt(zero) | x.unordered(y);
    F::select(undefined, nan(x), r)
}

/// A signed 32-bit integer, in a lane of any width, as a double word.
pub(crate) fn int_double<F: Float>(like: F, n: F::Int) -> (F, F) {
    let high = from_int(like, n.sar(12)) * like.lit(4096.0);
    let low = from_int(like, n & n.lit(0xfff));
    fast_two_sum(high, low)
}

/// The sign bit of x where n is odd, else zero.
pub(crate) fn odd_sign<F: Float>(x: F, n: F::Int) -> F::Int {
    let odd = (n & n.lit(1)).ne(n.lit(0));
    F::Int::select(odd, sign_bit(x), n.lit(0))
}

/// x^n for a 32-bit integer n, sign-extended to the lane.
pub fn pown<F: Float>(x: F, n: F::Int) -> F {
    let magnitude = x.abs();
    let (y, y_low) = int_double(x, n);
    let r = pow_magnitude(magnitude, y, Some(y_low));
    let r = xor_sign(r, odd_sign(x, n));
    let r = F::select(x.is_nan(), x, r);
    F::select(n.eq(n.lit(0)), x.lit(1.0), r)
}

/// The n-th root of x for a 32-bit integer n, sign-extended to the lane.
pub fn rootn<F: Float>(x: F, n: F::Int) -> F {
    let magnitude = x.abs();
    let one = x.lit(1.0);
    let (d, d_low) = int_double(x, n);
    let y = one / d;
    let y_low = d_low.fma(-y, y.fma(-d, one)) * y;
    let r = pow_magnitude(magnitude, y, Some(y_low));
    let r = xor_sign(r, odd_sign(x, n));
    let even = (n & n.lit(1)).eq(n.lit(0));
    let undefined = n.eq(n.lit(0)) | (even & x.lt(x.lit(0.0))) | x.is_nan();
    F::select(undefined, nan(x), r)
}
