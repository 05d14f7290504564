//! `half` functions, computed in `float`.
//!
//! A `half` function is: widen the arguments, evaluate here, round the float results to `half`. For
//! nearly all functions this is the `float` function itself, whose error of a few ulp of `float` is
//! below a thousandth of an ulp of `half`. The results that must be exact in `half`:
//!
//! - Sums, products, quotients and square roots survive rounding twice, as a `float` has more than
//!   2 * 11 + 2 significant bits (S. A. Figueroa, "When is double rounding innocuous?", SIGNUM
//!   Newsletter 30, 1995); remainders, `ldexp` and the parts of a number are exact in `float`.
//! - `fma` does not survive it, and rounds to odd first.
//! - `nextafter`, `fract` and `nan` speak of the format itself.

use crate::func::{Func, Results, Value, eval_values};
use crate::number::{Float, Int};
use crate::parts::{fract_half, nextafter_half};
use half::f16;

/// [`eval_values`] for `half` arguments held in `float`s. The float results are to be rounded to
/// `half`; integers are as wide as the `float`.
///
/// # Panics
///
/// If the arguments are not those of [`Func::signature`].
pub fn eval_half<F: Float>(func: Func, like: F, args: &[Value<F>]) -> Results<F> {
    match (func, args) {
        (Func::Fma | Func::Mad, &[Value::Float(x), Value::Float(y), Value::Float(z)]) => {
            (Value::Float(fma_half(x, y, z)), None)
        }
        (Func::Nextafter, &[Value::Float(x), Value::Float(y)]) => {
            (Value::Float(nextafter_half(x, y)), None)
        }
        (Func::Fract, &[Value::Float(x)]) => {
            let (fraction, floor) = fract_half(x);
            (Value::Float(fraction), Some(Value::Float(floor)))
        }
        (Func::Nan, &[Value::Int(code)]) => (Value::Float(nan_half(code)), None),
        _ => eval_values(func, like, args),
    }
}

/// Evaluates a `half` function of floats with one float result.
///
/// # Panics
///
/// If the function is of another kind, or takes another number of arguments.
pub fn eval_f16(func: Func, args: &[f16]) -> f16 {
    let args: Vec<Value<f32>> = args.iter().map(|x| Value::Float(x.to_f32())).collect();
    match eval_half(func, 0f32, &args) {
        (Value::Float(r), None) => f16::from_f32(r),
        _ => panic!("{} has not one float result", func.name()),
    }
}

/// x * y + z of `half` values, rounded to `float` so that rounding to `half` gives the nearest:
/// where the sum is inexact, to the neighbour with an odd encoding (S. Boldo and G. Melquiond,
/// "Emulation of FMA and correctly rounded sums", IEEE Trans. Computers 57, 2008).
fn fma_half<F: Float>(x: F, y: F, z: F) -> F {
    // The product is exact; the error of the sum is by Knuth's two-sum.
    let product = x * y;
    let sum = product + z;
    let added = sum - product;
    let error = (product - (sum - added)) + (z - added);
    let zero = x.lit(0.0);
    let inexact = error.lt(zero) | error.gt(zero);
    let too_large = error.lt(zero) ^ sum.lt(zero);
    let bits = sum.to_bits();
    let one = bits.lit(1);
    let odd = F::Int::select(too_large, bits - one, bits) | one;
    F::select(inexact, F::from_bits(odd), sum)
}

/// The `float` of the quiet `half` NaN with the low bits of `code` as payload.
fn nan_half<F: Float>(code: F::Int) -> F {
    let payload = (code & code.lit(0x1ff)).shl(13);
    F::from_bits(payload | code.lit(0x7fc0_0000))
}
