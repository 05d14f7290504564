//! `pow`, `powr`, `pown`, `rootn`: the power of |x| with the logarithm and the product in double
//! words, then the sign and the edge cases by selection.

use crate::bits::{clamp, from_int, infinity, nan, not_positive_normal, sign_bit, xor_sign};
use crate::constants::LOG2_E;
use crate::double_word::{DoubleWord, Split, fast_two_sum, normal_power, scaled_power};
use crate::number::{Float, Format, Int};
use crate::routine::Routine;

/// Powers by more are 0, 1 or infinity all the same.
const LARGE_EXPONENT: f64 = (1u128 << 80) as f64;

/// Where the natural logarithm of a `double` is below, and that of its power, both are normal.
const IN_RANGE: f64 = 707.0;

/// y (+ y_low) times l + l_low, likewise the sum of two.
fn product<F: Float>(y: F, y_low: Option<F>, (l, l_low): DoubleWord<F>) -> DoubleWord<F> {
    let t = y * l;
    let t_low = match y_low {
        None => y.fma(l_low, y.fma(l, -t)),
        Some(y_low) => y.fma(l, -t) + y.fma(l_low, y_low * l),
    };
    (t, t_low)
}

/// The power by y of the number with the logarithm l. Arbitrary where both are zero and infinite,
/// and for NaN.
fn power_of_log<F: Float>(l: DoubleWord<F>, y: F, y_low: Option<F>) -> F {
    let (t, t_low) = product(y, y_low, l);
    // Where the result is 0 or infinity anyway, keep the exponent encodable. The low part, below 2
    // elsewhere, is of no use there, and perhaps NaN: both comparisons are false then.
    let limit = t.format().pick(200.0, 800.0);
    let t = clamp(t, -limit, limit);
    let (two, minus_two) = (t.lit(2.0), t.lit(-2.0));
    let t_low = F::select(t_low.lt(two), t_low, two);
    let t_low = F::select(t_low.gt(minus_two), t_low, minus_two);
    scaled_power((t, t_low), t.lit(1.0))
}

/// factor (b/e)^y, for b + b_low >= e, and powers within the exponent range and a little more.
pub(crate) fn stirling_power<F: Float>((b, b_low): DoubleWord<F>, y: F, factor: F) -> F {
    let split = Split::of_normal(b);
    let (l, l_low) = split.log(Some(b_low * split.inverse_power()));
    let (one, one_low) = match b.format() {
        Format::F32 => (LOG2_E.high(b), LOG2_E.low(b)),
        Format::F64 => (b.lit(1.0), b.lit(0.0)),
    };
    let (l, lack) = fast_two_sum(l, -one);
    let l_low = l_low + (lack - one_low);
    scaled_power(product(y, None, (l, l_low)), factor)
}

/// The power by y (and y_low) of x >= 0, infinity included. Arbitrary where the logarithm or y is
/// zero, and for NaN.
fn pow_magnitude<F: Float>(x: F, y: F, y_low: Option<F>) -> F {
    let (l, l_low) = Split::of_finite(x).log(None);
    let inf = infinity(x);
    let l = F::select(x.eq(x.lit(0.0)), -inf, l);
    let l = F::select(x.eq(inf), inf, l);
    // So that its product with a logarithm of zero is zero, and not NaN.
    let y = clamp(y, -LARGE_EXPONENT, LARGE_EXPONENT);
    power_of_log((l, l_low), y, y_low)
}

/// The power by y (and y_low) of an x >= 0, but where the mask is set: a routine's then.
fn usual_power<F: Float>(x: F, y: F, y_low: Option<F>) -> (F, F::Mask) {
    match x.format() {
        Format::F32 => usual_power_f32(x, y, y_low),
        Format::F64 => usual_power_f64(x, y, y_low),
    }
}

/// For `float`, whose powers underflow in ordinary programs. The routine's are those of a denormal,
/// an infinity or a NaN, or by more than what a finite product is sure with.
fn usual_power_f32<F: Float>(x: F, y: F, y_low: Option<F>) -> (F, F::Mask) {
    let zero = x.lit(0.0);
    let (l, l_low) = Split::of_normal(x).log(None);
    let l = F::select(x.eq(zero), -infinity(x), l);
    let r = power_of_log((l, l_low), y, y_low);
    let unusual = not_positive_normal(x) & x.ne(zero);
    // Integers, and what is one by them, are no larger.
    let unusual = match y_low {
        None => unusual | !y.abs().le(y.lit(LARGE_EXPONENT)),
        Some(_) => unusual,
    };
    (r, unusual)
}

/// For `double`: the routine has all that is not normal, zero to numbers apart.
fn usual_power_f64<F: Float>(x: F, y: F, y_low: Option<F>) -> (F, F::Mask) {
    let l = Split::of_normal(x).log(None);
    let t = product(y, y_low, l);
    let r = normal_power(t);
    // Of zero: infinity, zero or NaN, the last of which zero to zero is, too.
    let zero = x.lit(0.0);
    let of_zero = y * -infinity(y);
    let of_zero = F::select(zero.gt(of_zero), zero, of_zero);
    let r = F::select(x.eq(zero), of_zero, r);
    // The larger of both, and NaN for one of t.
    let (range, of_t) = (l.0.abs(), t.0.abs());
    let range = F::select(range.gt(of_t), range, of_t);
    let in_range = range.lt(x.lit(IN_RANGE));
    (r, !in_range & x.ne(zero))
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
    let (r, unusual) = usual_power(x.abs(), y, None);
    let r = with_sign_of_power(x, y, r);
    let r = F::select(x.lt(zero) & y.ne(y.trunc()), nan(x), r);
    let r = F::select(y.eq(zero), x.lit(1.0), r);
    x.rare2(y, unusual, r, Routine::Pow)
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
    let (r, unusual) = match x.format() {
        Format::F32 => {
            let (r, unusual) = usual_power(x.abs(), y, None);
            (F::select(x.lt(x.lit(0.0)), nan(x), r), unusual)
        }
        // To which negative numbers are out of range.
        Format::F64 => usual_power(x, y, None),
    };
    x.rare2(y, unusual, r, Routine::Powr)
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

/// A signed 32-bit integer, in a lane of any width, as a float and what it lacks.
fn exponent<F: Float>(like: F, n: F::Int) -> (F, Option<F>) {
    match like.format() {
        Format::F32 => {
            let (y, y_low) = int_double(like, n);
            (y, Some(y_low))
        }
        Format::F64 => (from_int(like, n), None),
    }
}

/// x^n for a 32-bit integer n, sign-extended to the lane.
pub fn pown<F: Float>(x: F, n: F::Int) -> F {
    let magnitude = x.abs();
    let (y, y_low) = exponent(x, n);
    let (r, unusual) = usual_power(magnitude, y, y_low);
    let r = F::select(n.eq(n.lit(0)), x.lit(1.0), r);
    let r = magnitude.rare2(y, unusual, r, Routine::Pow);
    xor_sign(r, odd_sign(x, n))
}

/// 1/d for an integer d + d_low, and what it lacks.
fn inverse<F: Float>(d: F, d_low: Option<F>) -> (F, F) {
    let one = d.lit(1.0);
    let y = one / d;
    let lack = y.fma(-d, one);
    let lack = d_low.map_or(lack, |d_low| d_low.fma(-y, lack));
    (y, lack * y)
}

/// The n-th root of x for a 32-bit integer n, sign-extended to the lane.
pub fn rootn<F: Float>(x: F, n: F::Int) -> F {
    let magnitude = x.abs();
    let (d, d_low) = exponent(x, n);
    let (y, y_low) = inverse(d, d_low);
    let (r, unusual) = usual_power(magnitude, y, Some(y_low));
    let r = magnitude.rare2(d, unusual, r, Routine::Rootn);
    let r = xor_sign(r, odd_sign(x, n));
    let even = (n & n.lit(1)).eq(n.lit(0));
    let undefined = n.eq(n.lit(0)) | (even & x.lt(x.lit(0.0)));
    F::select(undefined, nan(x), r)
}

/// The d-th root of any x >= 0, for an integer d that is not zero: what the routine is.
pub(crate) fn root_of_any<F: Float>(x: F, d: F) -> F {
    let (y, y_low) = inverse(d, None);
    let r = pow_magnitude(x, y, Some(y_low));
    F::select(x.is_nan(), x, r)
}
