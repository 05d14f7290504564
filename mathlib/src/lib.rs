//! The OpenCL built-in math functions, each written once.
//!
//! A function here is branch-free and generic over [`Float`]. With `f32` or `f64` it is ordinary
//! Rust (constant folding, the IR interpreter, the accuracy tests). With a value of an IR builder,
//! of any lane count, the same text emits instructions. Both run the same operations in the same
//! order, so they give the same bits; only the payload and sign of a NaN may differ.
//!
//! # The traits
//!
//! - [`Float`]: one float per lane. Its format is asked of a value ([`Float::format`]), never of
//!   the type, so that a builder may use one Rust type for both formats.
//! - [`Int`]: an integer per lane, as wide as the float it came from, wrapping arithmetic.
//! - [`Mask`]: a truth value per lane; only `& | ^ !`.
//!
//! Constants come from a receiver (`x.lit(1.5)`), because a builder value has to know its builder.
//! There is no branch on a value: choices are [`Float::select`]. Integers reach conversions only
//! through the bit tricks in [`bits`], so an implementation needs no int/float conversion at all,
//! no variable shift and no integer multiply. Tables are short, and looked up with
//! [`Float::lookup`], which vectors do in registers.
//!
//! A few operations that some machines have are methods with a meaning in the others
//! ([`Float::scale`], [`Float::ldexp`], [`Float::of_int`]). An implementation of its own gives the
//! same bits. Estimates ([`Float::rsqrt_estimate`], [`Float::recip_estimate`]) do not: whoever has
//! them gets other bits, within the same bounds.
//!
//! What is rare or long is a [`Routine`]: a scalar function out of line. `x.rare1(mask, fast, r)`
//! is `r` of the lanes where `mask` is set and `fast` elsewhere; a builder emits a branch around
//! calls, lane by lane. The interpreter calls the same Rust function.
//!
//! # Going in and coming out
//!
//! [`Func`] names every function, with its signature and the accuracy the specification asks for;
//! [`eval`] and [`eval_values`] dispatch on it. Integer arguments and results (`ldexp`, `ilogb`,
//! `remquo`, ...) are [`Int`]s of the float's width: sign-extend an `int` for `double`, truncate on
//! the way out.
//!
//! `half` is not a format of its own: widen to `float`, evaluate with [`eval_half`], round to
//! `half`. Vectors are the caller's affair.
//!
//! Open [`number`] first, then [`exp`] as the pattern of a function, then [`func`].

pub mod atrig;
pub mod bits;
pub mod common;
mod constants;
mod double_word;
pub mod erf;
pub mod exp;
pub mod func;
pub mod gamma;
pub mod half_in_float;
pub mod hyper;
pub mod log;
pub mod number;
pub mod parts;
pub mod pow;
pub mod relaxed;
pub mod rem;
pub mod root;
pub mod routine;
mod scalar;
pub mod table;
pub mod trig;

pub use func::{Accuracy, Func, Signature, Value, eval, eval_values};
pub use half_in_float::{eval_f16, eval_half};
pub use number::{Float, Format, Int, Mask};
pub use routine::{Routine, Target};
pub use scalar::trig::TWO_OVER_PI;
pub use table::Table;
