//! `log`, `log2`, `log10`, `log1p`: split off the exponent, then log(1 + f) for f in [sqrt(1/2) -
//! 1, sqrt(2) - 1].
//!
//! For `double` the kernel is the series in s = f / (2 + f), arranged as in FDLIBM's `e_log.c` so
//! that f itself enters exactly; for `float` a polynomial in f, which needs no division, and whose
//! coefficients are those of the base. The coefficients are minimax fits of our own.

use crate::bits::{from_int, infinity, nan, not_positive_normal, poly, pow2, split, split_normal};
use crate::constants::{LN_2, LOG2_E, LOG10_2, LOG10_E, Pair};
use crate::number::{Float, Format, Int};
use crate::routine::Routine;

/// (log(1 + f) - f + f^2/2) / f^3; log(1 + f) then has relative error 2^-24.9.
const LOG_F32: [f64; 7] = [
    0.3333390951156616,
    -0.2500133514404297,
    0.199631005525589,
    -0.16577652096748352,
    0.14914508163928986,
    -0.14266932010650635,
    0.08700401335954666,
];

/// (log2(1 + f) - f log2(e)) / f^2, relative error of the logarithm 2^-24.7 beside that of log2(e).
const LOG2_F32: [f64; 8] = [
    -0.7213475108146667,
    0.4809066653251648,
    -0.3606930077075958,
    0.28800666332244873,
    -0.23916496336460114,
    0.21517087519168854,
    -0.20582832396030426,
    0.125520259141922,
];

/// (log10(1 + f) - f log10(e)) / f^2, likewise.
const LOG10_F32: [f64; 8] = [
    -0.21714724600315094,
    0.14476732909679413,
    -0.10857941955327988,
    0.08669864386320114,
    -0.0719958245754242,
    0.06477288901805878,
    -0.06196049973368645,
    0.0377853624522686,
];

/// (log(1 + f)/s - 2) / s^2 in s^2, relative error of the logarithm 2^-61.5.
const LOG_F64: [f64; 8] = [
    0.6666666666666677,
    0.39999999999908414,
    0.2857142859757113,
    0.22222218710361702,
    0.18182066832217136,
    0.15375247745724882,
    0.1349988330347529,
    0.11117083108700851,
];

/// log(1 + f) - f for f in the reduced range; small beside f.
fn log1p_tail<F: Float>(f: F) -> F {
    match f.format() {
        Format::F32 => {
            let p = poly(f, &LOG_F32);
            (f * f) * p.fma(f, f.lit(-0.5))
        }
        Format::F64 => {
            let s = f / (f + f.lit(2.0));
            let z = s * s;
            let half_square = f * f * f.lit(0.5);
            let r = z * poly(z, &LOG_F64);
            s.fma(half_square + r, -half_square)
        }
    }
}

/// e ln(2) + log(1 + f).
fn assemble<F: Float>(e: F::Int, f: F) -> F {
    let e = from_int(f, e);
    let tail = e.fma(LN_2.low(f), log1p_tail(f));
    e.fma(LN_2.high(f), f + tail)
}

/// Which logarithm.
#[derive(Clone, Copy)]
pub(crate) enum Base {
    E,
    Two,
    Ten,
}

/// The logarithm of m 2^e, for m in [sqrt(1/2), sqrt(2)].
pub(crate) fn of_parts<F: Float>(base: Base, m: F, e: F::Int) -> F {
    let f = m - m.lit(1.0);
    match f.format() {
        Format::F32 => of_parts_float(base, f, from_int(f, e)),
        Format::F64 => of_parts_double(base, f, e),
    }
}

/// For `float`. A part for 2^e that is not zero is larger than the other one, whose low bits do not
/// matter then.
fn of_parts_float<F: Float>(base: Base, f: F, e: F) -> F {
    let z = f * f;
    match base {
        Base::E => {
            let p = poly(f, &LOG_F32).fma(f, f.lit(-0.5));
            e.fma(LN_2.high(f), z.fma(p, f))
        }
        Base::Two => e + f.fma(LOG2_E.high(f), z * poly(f, &LOG2_F32)),
        Base::Ten => {
            let tail = z.fma(poly(f, &LOG10_F32), e * LOG10_2.low(f));
            e.fma(LOG10_2.high(f), f.fma(LOG10_E.high(f), tail))
        }
    }
}

/// For `double`.
fn of_parts_double<F: Float>(base: Base, f: F, e: F::Int) -> F {
    match base {
        Base::E => assemble(e, f),
        Base::Two => {
            let (high, low) = in_base(f, &LOG2_E);
            (from_int(f, e) + high) + low
        }
        Base::Ten => {
            let (high, low) = in_base(f, &LOG10_E);
            let e = from_int(f, e);
            let low = e.fma(LOG10_2.low(f), low);
            e.fma(LOG10_2.high(f), high) + low
        }
    }
}

/// Any logarithm of any number: what the routines are.
pub(crate) fn of_any<F: Float>(base: Base, x: F) -> F {
    let (m, e) = split(x);
    let r = of_parts(base, m, e);
    let r = F::select(x.eq(infinity(x)), x, r);
    let r = F::select(x.eq(x.lit(0.0)), -infinity(x), r);
    F::select(x.ge(x.lit(0.0)), r, nan(x))
}

/// A logarithm of a positive normal number, the routine for others.
fn of_normal<F: Float>(base: Base, x: F, routine: Routine) -> F {
    let (m, e) = split_normal(x);
    x.rare1(not_positive_normal(x), of_parts(base, m, e), routine)
}

/// The natural logarithm.
pub fn log<F: Float>(x: F) -> F {
    of_normal(Base::E, x, Routine::Log)
}

/// The base-2 logarithm.
pub fn log2<F: Float>(x: F) -> F {
    of_normal(Base::Two, x, Routine::Log2)
}

/// The base-10 logarithm.
pub fn log10<F: Float>(x: F) -> F {
    of_normal(Base::Ten, x, Routine::Log10)
}

/// log(1 + f) times a constant, as a sum of two. The product with f is exact, as it may cancel
/// against the exponent's part.
fn in_base<F: Float>(f: F, factor: &Pair) -> (F, F) {
    let high = f * factor.high(f);
    let error = f.fma(factor.high(f), -high);
    let low = f.fma(factor.low(f), error);
    (high, log1p_tail(f).fma(factor.high(f), low))
}

/// log(u + c) + extra ln(2), where |c| is below an ulp of a normal u > 0.
pub(crate) fn log_sum<F: Float>(u: F, c: F, extra: F::Int) -> F {
    let (m, e) = split_normal(u);
    // Beyond some point c has no effect, and at the end 2^-e no encoding.
    let huge = u.gt(u.lit2(2f64.powi(100), 2f64.powi(1000)));
    let inverse = F::select(huge, u.lit(0.0), pow2(u, e.lit(0) - e));
    let f = c.fma(inverse, m - u.lit(1.0));
    assemble(e + extra, f)
}

/// log(1 + x) for finite x > -1, or NaN for NaN.
pub(crate) fn log1p_finite<F: Float>(x: F) -> F {
    // 1 + x exactly, by Knuth's two-sum.
    let one = x.lit(1.0);
    let u = one + x;
    let added = u - one;
    let c = (one - (u - added)) + (x - added);
    log_sum(u, c, x.int_lit(0))
}

/// log(1 + x), accurate near zero.
pub fn log1p<F: Float>(x: F) -> F {
    let r = log1p_finite(x);
    let r = F::select(x.eq(infinity(x)) | x.eq(x.lit(0.0)), x, r);
    let r = F::select(x.eq(x.lit(-1.0)), -infinity(x), r);
    F::select(x.ge(x.lit(-1.0)), r, nan(x))
}
