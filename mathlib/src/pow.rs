//! `pow`, `powr`, `pown`, `rootn`: 2^(y log2|x|) with the logarithm and the product in
//! double-word arithmetic, then the sign and the edge cases by selection.

use crate::bits::{
    copysign, from_int, infinity, is_negative, nan, poly2, round_scaled, scale, sign_bit, split,
    xor_sign,
};
use crate::constants::{THIRD, TWO_LOG2_E};
use crate::exp::exp2_core;
use crate::number::{Float, Int};

/// (atanh(s)/s - 1 - s^2/3) / s^4 in s^2, for log(1 + f) = 2 atanh(s), s = f / (2 + f). The
/// relative error of the logarithm is 2^-38.5 and 2^-66.9.
const ATANH_F32: [f64; 4] = [
    0.19999998807907104,
    0.14285935951637268,
    0.11092469096183777,
    0.09734585136175156,
];
const ATANH_F64: [f64; 9] = [
    0.2,
    0.14285714285714063,
    0.11111111111181675,
    0.09090909079107322,
    0.07692308860032482,
    0.06666594811956719,
    0.05885127711779261,
    0.051980119875549534,
    0.056027575744649005,
];

/// Sum of two as a double word, for |a| >= |b| or a = 0 (Dekker's fast two-sum).
fn fast_two_sum<F: Float>(a: F, b: F) -> (F, F) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// log2 of a positive finite x as a double word.
fn log2_double<F: Float>(x: F) -> (F, F) {
    let one = x.lit(1.0);
    let (m, e) = split(x);
    // s = f / d with d = m + 1, to twice the precision.
    let f = m - one;
    let d = m + one;
    let added = d - one;
    let d_low = (one - (d - added)) + (m - added);
    let inverse = one / d;
    let s = f * inverse;
    let s_low = (s * d_low + s.fma(d, -f)) * -inverse;
    let z = s * s;
    let z_low = s.fma(s, -z) + (s + s) * s_low;
    // q = z (1/3 + z T(z)), of which only 1/3 needs a low part.
    let series = poly2(z, &ATANH_F32, &ATANH_F64);
    let third = THIRD.high(x);
    let (inner, inner_low) = fast_two_sum(third, z * series);
    let inner_low = inner_low + THIRD.low(x);
    let q = inner * z;
    let q_low = inner.fma(z, -q) + inner.fma(z_low, inner_low * z);
    // atanh(s) = s + s q.
    let p = s * q;
    let p_low = s.fma(q, -p) + s.fma(q_low, s_low * q);
    let (half_log, low) = fast_two_sum(s, p);
    let half_log_low = low + (s_low + p_low);
    let c = TWO_LOG2_E.high(x);
    let c_low = TWO_LOG2_E.low(x);
    let g = half_log * c;
    let g_low = half_log.fma(c, -g) + half_log.fma(c_low, half_log_low * c);
    let (high, low) = fast_two_sum(from_int(x, e), g);
    (high, low + g_low)
}

/// x^(y + y_low) for positive finite x and finite y, below 2^40 (`float`) or 2^80 (`double`).
fn pow_positive<F: Float>(x: F, y: F, y_low: F) -> F {
    let (l, l_low) = log2_double(x);
    let t = y * l;
    let t_low = y.fma(l, -t) + y.fma(l_low, y_low * l);
    // Where the result is 0 or infinity anyway, keep the exponent encodable.
    let limit = x.lit2(200.0, 1200.0);
    let beyond = t.abs().gt(limit);
    let t = F::select(beyond, copysign(limit, t), t);
    let t_low = F::select(beyond, x.lit(0.0), t_low);
    let (kf, k) = round_scaled(t, x.lit(1.0));
    scale(exp2_core((t - kf) + t_low), k)
}

/// `y` limited so that products with a logarithm stay finite; the power is 0, 1 or infinity there.
fn limit_exponent<F: Float>(y: F) -> F {
    let limit = y.lit2((1u64 << 40) as f64, (1u128 << 80) as f64);
    F::select(y.abs().gt(limit), copysign(limit, y), y)
}

/// The power of |x| by y, given `inner` for ordinary x: x = 0 and infinity are 0 or infinity by
/// the sign of y. NaN in x passes.
fn zero_and_infinity<F: Float>(magnitude: F, y: F, inner: F) -> F {
    let zero = magnitude.lit(0.0);
    let inf = infinity(magnitude);
    let down = F::select(is_negative(y), inf, zero);
    let up = F::select(is_negative(y), zero, inf);
    let r = F::select(magnitude.eq(zero), down, inner);
    F::select(magnitude.eq(inf), up, r)
}

/// x^y with the edge cases of C99 F.9.4.4.
pub fn pow<F: Float>(x: F, y: F) -> F {
    let zero = x.lit(0.0);
    let one = x.lit(1.0);
    let magnitude = x.abs();
    let r = pow_positive(magnitude, limit_exponent(y), zero);
    let r = zero_and_infinity(magnitude, y, r);
    // An integer is odd when half of it is not an integer. Beyond 2^mantissa all are even.
    let integral = y.eq(y.trunc());
    let half = y * x.lit(0.5);
    let odd = integral & half.ne(half.trunc());
    let odd = odd & y.abs().lt(infinity(x));
    let r = xor_sign(r, F::Int::select(odd, sign_bit(x), x.int_lit(0)));
    let r = F::select(
        x.lt(zero) & !integral & magnitude.lt(infinity(x)),
        nan(x),
        r,
    );
    let r = F::select(x.unordered(y), nan(x), r);
    F::select(x.eq(one) | y.eq(zero), one, r)
}

/// x^y for x >= 0, with the edge cases the OpenCL specification adds for `powr`.
pub fn powr<F: Float>(x: F, y: F) -> F {
    let zero = x.lit(0.0);
    let one = x.lit(1.0);
    let magnitude = x.abs();
    let r = pow_positive(magnitude, limit_exponent(y), zero);
    let r = zero_and_infinity(magnitude, y, r);
    let r = F::select(y.eq(zero), one, r);
    // 0^0, infinity^0 and 1^infinity have no limit; negative x has no real power.
    let end = magnitude.eq(zero) | magnitude.eq(infinity(x));
    let undefined =
        (end & y.eq(zero)) | (x.eq(one) & y.abs().eq(infinity(x))) | x.lt(zero) | x.unordered(y);
    F::select(undefined, nan(x), r)
}

/// A signed 32-bit integer, in a lane of any width, as a double word.
fn int_double<F: Float>(like: F, n: F::Int) -> (F, F) {
    let high = from_int(like, n.sar(12)) * like.lit(4096.0);
    let low = from_int(like, n & n.lit(0xfff));
    fast_two_sum(high, low)
}

/// The sign bit of x where n is odd, else zero.
fn odd_sign<F: Float>(x: F, n: F::Int) -> F::Int {
    let odd = (n & n.lit(1)).ne(n.lit(0));
    F::Int::select(odd, sign_bit(x), n.lit(0))
}

/// x^n for a 32-bit integer n, sign-extended to the lane.
pub fn pown<F: Float>(x: F, n: F::Int) -> F {
    let magnitude = x.abs();
    let (y, y_low) = int_double(x, n);
    let r = pow_positive(magnitude, y, y_low);
    let r = zero_and_infinity(magnitude, y, r);
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
    let r = pow_positive(magnitude, y, y_low);
    let r = zero_and_infinity(magnitude, y, r);
    let r = xor_sign(r, odd_sign(x, n));
    let even = (n & n.lit(1)).eq(n.lit(0));
    let undefined = n.eq(n.lit(0)) | (even & x.lt(x.lit(0.0))) | x.is_nan();
    F::select(undefined, nan(x), r)
}
