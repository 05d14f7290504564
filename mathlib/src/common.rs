//! The short ones: rounding, minimum and maximum, signs, interpolation.

use crate::bits::{copysign, infinity};
use crate::number::Float;
use crate::routine::Routine;

/// To the nearest integer, ties away from zero.
pub fn round<F: Float>(x: F) -> F {
    let whole = x.trunc();
    let up = (x - whole).abs().ge(x.lit(0.5));
    let step = F::select(up, x.lit(1.0), x.lit(0.0));
    copysign(whole.abs() + step, x)
}

/// "Returns y if y < x, otherwise it returns x": of two zeros x. One instruction on x86.
pub fn fmin_common<F: Float>(x: F, y: F) -> F {
    F::select(y.lt(x), y, x)
}

/// "Returns y if x < y, otherwise it returns x": of two zeros x. One instruction on x86.
pub fn fmax_common<F: Float>(x: F, y: F) -> F {
    F::select(y.gt(x), y, x)
}

/// The smaller; the other one beside a NaN.
pub fn fmin<F: Float>(x: F, y: F) -> F {
    F::select(y.is_nan(), x, fmin_common(y, x))
}

/// The larger; the other one beside a NaN.
pub fn fmax<F: Float>(x: F, y: F) -> F {
    F::select(y.is_nan(), x, fmax_common(y, x))
}

/// `fmin(fmax(x, lo), hi)` for bounds that are not NaN: `lo` for a NaN.
pub fn fclamp<F: Float>(x: F, lo: F, hi: F) -> F {
    fmin_common(hi, fmax_common(lo, x))
}

/// The one of larger magnitude, [`fmax`] if neither is.
pub fn maxmag<F: Float>(x: F, y: F) -> F {
    let (a, b) = (x.abs(), y.abs());
    F::select(a.gt(b), x, F::select(b.gt(a), y, fmax(x, y)))
}

/// The one of smaller magnitude, [`fmin`] if neither is.
pub fn minmag<F: Float>(x: F, y: F) -> F {
    let (a, b) = (x.abs(), y.abs());
    F::select(a.lt(b), x, F::select(b.lt(a), y, fmin(x, y)))
}

/// x - y where that is positive, else +0; NaN if either is.
pub fn fdim<F: Float>(x: F, y: F) -> F {
    F::select(x.le(y), x.lit(0.0), x - y)
}

/// -1, -0, +0 or 1; 0 for a NaN.
pub fn sign<F: Float>(x: F) -> F {
    let one = copysign(x.lit(1.0), x);
    let r = F::select(x.eq(x.lit(0.0)), x, one);
    F::select(x.is_nan(), x.lit(0.0), r)
}

/// Radians to degrees.
pub fn degrees<F: Float>(x: F) -> F {
    x * x.lit(180.0 / std::f64::consts::PI)
}

/// Degrees to radians.
pub fn radians<F: Float>(x: F) -> F {
    x * x.lit(std::f64::consts::PI / 180.0)
}

/// 0 below the edge, else 1.
pub fn step<F: Float>(edge: F, x: F) -> F {
    F::select(x.lt(edge), x.lit(0.0), x.lit(1.0))
}

/// Hermite interpolation from 0 at `lo` to 1 at `hi`.
pub fn smoothstep<F: Float>(lo: F, hi: F, x: F) -> F {
    let distance = hi - lo;
    let t = fclamp((x - lo) / distance, x.lit(0.0), x.lit(1.0));
    let unusual = !distance.abs().lt(infinity(x));
    lo.rare3([hi, x], unusual, hermite(t), Routine::Smoothstep)
}

/// From 0 at 0 to 1 at 1, level at both.
fn hermite<F: Float>(t: F) -> F {
    (t * t) * t.fma(t.lit(-2.0), t.lit(3.0))
}

/// [`smoothstep`] between any edges: what the routine is.
pub(crate) fn smoothstep_between_any<F: Float>(lo: F, hi: F, x: F) -> F {
    // Edges too far apart are halved, so that their distance is no infinity.
    let near = (hi - lo).abs().lt(infinity(x));
    let unit = F::select(near, x.lit(1.0), x.lit(0.5));
    let low = lo * unit;
    // The products are exact, or far below the other edge.
    let q = x.fma(unit, -low) / hi.fma(unit, -low);
    // Beside an infinite edge the quotient may be none, for which a clamp has 0.
    let t = fclamp(q, x.lit(0.0), x.lit(1.0));
    hermite(F::select(q.is_nan() & x.ge(hi), x.lit(1.0), t))
}

/// x + (y - x) a.
pub fn mix<F: Float>(x: F, y: F, a: F) -> F {
    (y - x).fma(a, x)
}
