//! `fmod`, `remainder`, `remquo`. All exact.
//!
//! While the quotient is far from filling the significand, one division gives it to within one, and
//! a fused multiply-add gives the remainder exactly.

use crate::bits::{infinity, sign_bit, xor_sign};
use crate::number::Float;
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

/// x - y n, where n is x/y to the nearest integer, ties to even.
pub fn remainder<F: Float>(x: F, y: F) -> F {
    let (a, b) = (x.abs(), y.abs());
    let quotient = a / b;
    // A tie of the exact quotient is exact; a quotient rounded to a tie may go the wrong way.
    let r = quotient.round_even().fma(-b, a);
    let r = F::select(r.gt(b - r), r - b, r);
    let r = F::select((-r).gt(b + r), r + b, r);
    // A zero has the sign of x, as it is +0 here.
    let fast = xor_sign(r, sign_bit(x));
    x.rare2(y, needs_routine(quotient, b), fast, Routine::Remainder)
}

/// [`remainder`] and the low 31 bits of the quotient's magnitude with the quotient's sign.
pub fn remquo<F: Float>(x: F, y: F) -> (F, F::Int) {
    (remainder(x, y), x.call2_int(y, Routine::RemquoQuotient))
}
