//! The out-of-line scalar routines: what they are called, what they take, where they are.
//!
//! Every routine exists for both formats under one name. Generated code calls [`Target::address`]
//! lane by lane; plain Rust calls the function inside the [`Target`]. A routine takes any argument:
//! a code generator may call it for all lanes when one lane needs it, and select.

use crate::log::Base;
use crate::number::{Float, Format};
use crate::scalar::{common, gamma, log, pow, rem, root, trig};

/// Where a routine is and what it takes. All are C ABI functions of scalars, pure, never unwinding;
/// integer results have the width of the float.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// `float f(float)`
    F32ToF32(extern "C" fn(f32) -> f32),
    /// `float f(float, float)`
    F32F32ToF32(extern "C" fn(f32, f32) -> f32),
    /// `float f(float, float, float)`
    F32F32F32ToF32(extern "C" fn(f32, f32, f32) -> f32),
    /// `int f(float, float)`
    F32F32ToI32(extern "C" fn(f32, f32) -> i32),
    /// `double f(double)`
    F64ToF64(extern "C" fn(f64) -> f64),
    /// `double f(double, double)`
    F64F64ToF64(extern "C" fn(f64, f64) -> f64),
    /// `double f(double, double, double)`
    F64F64F64ToF64(extern "C" fn(f64, f64, f64) -> f64),
    /// `long f(double, double)`
    F64F64ToI64(extern "C" fn(f64, f64) -> i64),
}

impl Target {
    /// The entry point, for a code generator.
    pub fn address(self) -> usize {
        match self {
            Target::F32ToF32(f) => f as usize,
            Target::F32F32ToF32(f) => f as usize,
            Target::F32F32F32ToF32(f) => f as usize,
            Target::F32F32ToI32(f) => f as usize,
            Target::F64ToF64(f) => f as usize,
            Target::F64F64ToF64(f) => f as usize,
            Target::F64F64F64ToF64(f) => f as usize,
            Target::F64F64ToI64(f) => f as usize,
        }
    }

    /// The number of arguments: one to three floats.
    pub fn arity(self) -> usize {
        match self {
            Target::F32ToF32(_) | Target::F64ToF64(_) => 1,
            Target::F32F32F32ToF32(_) | Target::F64F64F64ToF64(_) => 3,
            _ => 2,
        }
    }

    /// Whether the result is an integer (of the float's width).
    pub fn returns_int(self) -> bool {
        matches!(self, Target::F32F32ToI32(_) | Target::F64F64ToI64(_))
    }
}
/// A scalar function out of line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Routine {
    /// Sine of an argument beyond the inline reduction.
    SinLarge,
    /// Cosine of an argument beyond the inline reduction.
    CosLarge,
    /// Tangent of an argument beyond the inline reduction.
    TanLarge,
    /// The natural logarithm of what is not a positive normal number.
    Log,
    /// The base-2 logarithm, likewise.
    Log2,
    /// The base-10 logarithm, likewise.
    Log10,
    /// `logb` of what is not normal.
    Logb,
    /// `rsqrt` of what is not a positive normal number.
    Rsqrt,
    /// `cbrt` of tiny numbers, infinity and NaN.
    Cbrt,
    /// `hypot` of numbers whose squares are not in range.
    Hypot,
    /// `pow` of a denormal, infinity or NaN, or by a number that is infinite, NaN or huge; of
    /// `double`, with a result that is not normal, too.
    Pow,
    /// `powr`, likewise.
    Powr,
    /// The root of a number that is not negative, likewise, by a degree as a float.
    Rootn,
    /// `fmod` with a quotient too large for one division.
    Fmod,
    /// `remainder`, likewise.
    Remainder,
    /// The low seven bits of the quotient of `remquo`, signed.
    RemquoQuotient,
    /// `lgamma` where it is small and its argument negative.
    Lgamma,
    /// `smoothstep` between edges whose distance is no finite number.
    Smoothstep,
}

impl Routine {
    /// Every routine.
    pub const ALL: [Routine; 18] = [
        Routine::SinLarge,
        Routine::CosLarge,
        Routine::TanLarge,
        Routine::Log,
        Routine::Log2,
        Routine::Log10,
        Routine::Logb,
        Routine::Rsqrt,
        Routine::Cbrt,
        Routine::Hypot,
        Routine::Pow,
        Routine::Powr,
        Routine::Rootn,
        Routine::Fmod,
        Routine::Remainder,
        Routine::RemquoQuotient,
        Routine::Lgamma,
        Routine::Smoothstep,
    ];

    /// The symbol generated code refers to.
    pub fn symbol(self, format: Format) -> &'static str {
        macro_rules! names {
            ($($variant:ident $name:literal),* $(,)?) => {
                match self {
                    $(Routine::$variant => format.pick(
                        concat!("brolga_", $name, "_f32"),
                        concat!("brolga_", $name, "_f64"),
                    ),)*
                }
            };
        }
        names!(
            SinLarge "sin_large",
            CosLarge "cos_large",
            TanLarge "tan_large",
            Log "log",
            Log2 "log2",
            Log10 "log10",
            Logb "logb",
            Rsqrt "rsqrt",
            Cbrt "cbrt",
            Hypot "hypot",
            Pow "pow",
            Powr "powr",
            Rootn "rootn",
            Fmod "fmod",
            Remainder "remainder",
            RemquoQuotient "remquo_quotient",
            Lgamma "lgamma",
            Smoothstep "smoothstep",
        )
    }

    /// The entry point for a format.
    pub fn target(self, format: Format) -> Target {
        use Target::{
            F32F32F32ToF32, F32F32ToF32, F32F32ToI32, F32ToF32, F64F64F64ToF64, F64F64ToF64,
            F64F64ToI64, F64ToF64,
        };
        match self {
            Routine::SinLarge => format.pick(F32ToF32(trig::sin_f32), F64ToF64(trig::sin_f64)),
            Routine::CosLarge => format.pick(F32ToF32(trig::cos_f32), F64ToF64(trig::cos_f64)),
            Routine::TanLarge => format.pick(F32ToF32(trig::tan_f32), F64ToF64(trig::tan_f64)),
            Routine::Log => format.pick(F32ToF32(log::log_f32), F64ToF64(log::log_f64)),
            Routine::Log2 => format.pick(F32ToF32(log::log2_f32), F64ToF64(log::log2_f64)),
            Routine::Log10 => format.pick(F32ToF32(log::log10_f32), F64ToF64(log::log10_f64)),
            Routine::Logb => format.pick(F32ToF32(log::logb_f32), F64ToF64(log::logb_f64)),
            Routine::Rsqrt => format.pick(F32ToF32(root::rsqrt_f32), F64ToF64(root::rsqrt_f64)),
            Routine::Cbrt => format.pick(F32ToF32(root::cbrt_f32), F64ToF64(root::cbrt_f64)),
            Routine::Hypot => {
                format.pick(F32F32ToF32(root::hypot_f32), F64F64ToF64(root::hypot_f64))
            }
            Routine::Pow => format.pick(F32F32ToF32(pow::pow_f32), F64F64ToF64(pow::pow_f64)),
            Routine::Powr => format.pick(F32F32ToF32(pow::powr_f32), F64F64ToF64(pow::powr_f64)),
            Routine::Rootn => format.pick(F32F32ToF32(pow::rootn_f32), F64F64ToF64(pow::rootn_f64)),
            Routine::Fmod => format.pick(F32F32ToF32(rem::fmod_f32), F64F64ToF64(rem::fmod_f64)),
            Routine::Remainder => format.pick(
                F32F32ToF32(rem::remainder_f32),
                F64F64ToF64(rem::remainder_f64),
            ),
            Routine::RemquoQuotient => format.pick(
                F32F32ToI32(rem::quotient_f32),
                F64F64ToI64(rem::quotient_f64),
            ),
            Routine::Lgamma => {
                format.pick(F32ToF32(gamma::lgamma_f32), F64ToF64(gamma::lgamma_f64))
            }
            Routine::Smoothstep => format.pick(
                F32F32F32ToF32(common::smoothstep_f32),
                F64F64F64ToF64(common::smoothstep_f64),
            ),
        }
    }

    /// What the routine computes, for those that are written for any number: a code generator may
    /// emit it. `None` for [`Routine::of_rest`]'s, for what is done with integers, and for what is
    /// done in another format.
    pub fn evaluate<F: Float>(self, args: &[F]) -> Option<F> {
        Some(match (self, args) {
            (Routine::Log, &[x]) => crate::log::of_any(Base::E, x),
            (Routine::Log2, &[x]) => crate::log::of_any(Base::Two, x),
            (Routine::Log10, &[x]) => crate::log::of_any(Base::Ten, x),
            (Routine::Logb, &[x]) => crate::parts::logb_of_any(x),
            (Routine::Rsqrt, &[x]) => x.lit(1.0) / x.sqrt(),
            (Routine::Cbrt, &[x]) => crate::root::cbrt_of_any(x),
            (Routine::Hypot, &[x, y]) => crate::root::hypot_of_any(x, y),
            (Routine::Pow, &[x, y]) => crate::pow::pow_of_any(x, y),
            (Routine::Powr, &[x, y]) => crate::pow::powr_of_any(x, y),
            (Routine::Rootn, &[x, d]) => crate::pow::root_of_any(x, d),
            (Routine::Smoothstep, &[lo, hi, x]) => crate::common::smoothstep_between_any(lo, hi, x),
            _ => return None,
        })
    }

    /// The sine, cosine or tangent of an angle by its quadrant and what it is more than that, the
    /// sum of two; `None` for other routines.
    pub fn of_rest<F: Float>(self, quadrant: F::Int, rest: F, low: F) -> Option<F> {
        use crate::trig::{cos_in, kernel, sin_in, tan_in, tan_kernel};
        Some(match self {
            Routine::SinLarge => sin_in(quadrant, kernel(rest, Some(low))),
            Routine::CosLarge => cos_in(quadrant, kernel(rest, Some(low))),
            Routine::TanLarge => tan_in(quadrant, tan_kernel(rest, Some(low))),
            _ => return None,
        })
    }
}
