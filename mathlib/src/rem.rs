//! `fmod`, `remainder`, `remquo`. All exact.
//!
//! While the quotient is far from filling the significand, one division gives it to within one, and
//! a fused multiply-add gives the remainder exactly.

use crate::bits::{infinity, is_negative, sign_bit, to_int, xor_sign};
use crate::number::{Float, Int};
use crate::routine::Routine;

/// Where one division is not enough: a large or undefined quotient, or an infinite divisor.
fn needs_routine<F: Float>(quotient: F, y: F) -> F::Mask {
    !quotient.lt(quotient.lit2(4_194_304.0, 1_125_899_906_842_624.0)) | y.eq(infinity(y))
}

/// x - y trunc(x/y), with the sign of x.
pub fn fmod<F: Float>(x: F, y: F) -> F {
    let (a, b) = (x.abs(), y.abs());
    let quotient = a / b;
    // The quotient may have been rounded up to an integer.
    let r = quotient.trunc().fma(-b, a);
    let r = F::select(r.lt(x.lit(0.0)), r + b, r);
    let fast = xor_sign(r, sign_bit(x));
    x.rare2(y, needs_routine(quotient, b), fast, Routine::Fmod)
}

/// The remainder to the nearest multiple of b and the quotient, for a and b >= 0 that do not need
/// the routine.
fn nearest<F: Float>(a: F, b: F, quotient: F) -> (F, F) {
    let one = a.lit(1.0);
    // A tie of the exact quotient is exact; a quotient rounded to a tie may go the wrong way.
    let n = quotient.round_even();
    let r = n.fma(-b, a);
    let above = r.gt(b - r);
    let (r, n) = (F::select(above, r - b, r), F::select(above, n + one, n));
    let below = (-r).gt(b + r);
    (F::select(below, r + b, r), F::select(below, n - one, n))
}

/// x - y n, where n is x/y to the nearest integer, ties to even.
pub fn remainder<F: Float>(x: F, y: F) -> F {
    let (a, b) = (x.abs(), y.abs());
    let quotient = a / b;
    // A zero has the sign of x, as it is +0 here.
    let fast = xor_sign(nearest(a, b, quotient).0, sign_bit(x));
    x.rare2(y, needs_routine(quotient, b), fast, Routine::Remainder)
}

/// [`remainder`] and the low seven bits of the quotient's magnitude with the quotient's sign.
pub fn remquo<F: Float>(x: F, y: F) -> (F, F::Int) {
    let (a, b) = (x.abs(), y.abs());
    let quotient = a / b;
    let (r, n) = nearest(a, b, quotient);
    let rare = needs_routine(quotient, b);
    let r = x.rare2(y, rare, xor_sign(r, sign_bit(x)), Routine::Remainder);
    let n = to_int(n);
    let n = n & n.lit(0x7f);
    let negative = is_negative(x) ^ is_negative(y);
    let n = F::Int::select(negative, n.lit(0) - n, n);
    (r, x.rare2_int(y, rare, n, Routine::RemquoQuotient))
}
