//! `rsqrt`, `cbrt` and `hypot`.

use crate::bits::{copysign, from_int, infinity, to_int};
use crate::number::{Float, Int};

/// 1 / sqrt(x).
pub fn rsqrt<F: Float>(x: F) -> F {
    x.lit(1.0) / x.sqrt()
}

/// The cube root.
pub fn cbrt<F: Float>(x: F) -> F {
    let format = x.format();
    let a = x.abs();
    // Scale by a cube, up for denormals and down for room above 3 v.
    let tiny = a.lt(x.lit2(2f64.powi(-100), 2f64.powi(-1000)));
    let v = a * F::select(tiny, x.lit2(2f64.powi(24), 2f64.powi(54)), x.lit(0.125));
    // Dividing the encoding by 3 divides the exponent by 3, which is within 3.3 % (W. Kahan,
    // "Computing a real cube root"). The high bits are enough, and fit a conversion.
    let shift = format.pick(9, 32);
    let high = from_int(x, v.to_bits().shr(shift));
    let unit = 2f64.powi((format.mantissa_bits() - shift) as i32);
    let offset = (f64::from(format.bias()) * (2.0 / 3.0) - 0.033_062_356_51) * unit;
    let guess = high.fma(x.lit(1.0 / 3.0), x.lit(offset.round()));
    let mut t = F::from_bits(to_int(guess).shl(shift));
    // Halley's iteration cubes the error.
    for _ in 0..format.pick(1, 2) {
        let cube = t * t * t;
        t = t * ((cube + (v + v)) / ((cube + cube) + v));
    }
    // Newton's, with an exact residual, to the last bit.
    let square = t * t;
    let square_low = t.fma(t, -square);
    let residual = t.fma(square_low, t.fma(square, -v));
    let t = t - residual / (square * x.lit(3.0));
    let t = t * F::select(tiny, x.lit2(2f64.powi(-8), 2f64.powi(-18)), x.lit(2.0));
    let special = a.eq(x.lit(0.0)) | !a.lt(infinity(x));
    F::select(special, x, copysign(t, x))
}

/// A power of two, and its inverse, that brings numbers of which `largest` is the largest to where
/// their squares can be added without overflow or harmful underflow.
fn scaling<F: Float>(largest: F) -> (F, F) {
    let one = largest.lit(1.0);
    let p = |single: i32, double: i32| largest.lit2(2f64.powi(single), 2f64.powi(double));
    let big = largest.gt(p(60, 500));
    let small = largest.lt(p(-60, -500));
    let down = F::select(small, p(90, 600), one);
    let up = F::select(small, p(-90, -600), one);
    (
        F::select(big, p(-70, -600), down),
        F::select(big, p(70, 600), up),
    )
}

/// sqrt(x^2 + y^2); infinite when either is, even beside a NaN.
pub fn hypot<F: Float>(x: F, y: F) -> F {
    let (a, b) = (x.abs(), y.abs());
    let swap = b.gt(a);
    let (large, small) = (F::select(swap, b, a), F::select(swap, a, b));
    let (scale, back) = scaling(large);
    let (l, s) = (large * scale, small * scale);
    let r = l.fma(l, s * s).sqrt() * back;
    F::select(a.eq(infinity(x)) | b.eq(infinity(x)), infinity(x), r)
}
