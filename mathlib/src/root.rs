//! `rsqrt`, `cbrt` and `hypot`.

use crate::bits::{copysign, from_int, infinity, not_between, not_positive_normal, poly, to_int};
use crate::number::{Float, Format, Int};
use crate::routine::Routine;

/// 1 / sqrt(x), roughly, and how it is improved.
struct InverseRoot<F> {
    rough: F,
    /// Whether it is the machine's, which knows zero, infinity and NaN, too.
    is_estimate: bool,
}

impl<F: Float> InverseRoot<F> {
    /// Of a positive normal number: the machine's estimate, or else a guess from the encoding and
    /// an iteration.
    fn of(x: F) -> InverseRoot<F> {
        let estimate = x.rsqrt_estimate();
        InverseRoot {
            rough: estimate.unwrap_or_else(|| guessed_inverse_root(x)),
            is_estimate: estimate.is_some(),
        }
    }

    /// y / sqrt(1 - h) for an h of this root: Householder's iteration,
    /// 1 + h/2 + 3 h^2/8 + 5 h^3/16 ..., the shorter the nearer the root is.
    fn improve(&self, y: F, h: F) -> F {
        let coefficients: &[f64] = match (self.is_estimate, y.format()) {
            (true, Format::F32) => &[0.5],
            // By which the error is least for |h| < 2^-13.
            (true, Format::F64) => &[0.5, 0.375_000_003_056, 0.3125],
            (false, Format::F32) => &[0.5, 0.375],
            (false, Format::F64) => &[0.5, 0.375, 0.3125, 0.273_437_5, 0.246_093_75],
        };
        (y * h).fma(poly(h, coefficients), y)
    }
}

/// 1 / sqrt(x) of a positive normal number, within 2^-10.1.
fn guessed_inverse_root<F: Float>(x: F) -> F {
    // Newton's iteration is y (3 - x y^2) / 2. A guess of y cbrt(1/2) makes a product less of it,
    // y (c - x y^2), with the constants by which the error is least.
    let guess = x.int_lit(x.format().pick(0x5f0b_3893, 0x5fe1_6712_7493_5000));
    let y = F::from_bits(guess - x.to_bits().shr(1));
    y * (x * y).fma(-y, x.lit(1.890_990_153_7))
}

/// The square root of v + low as the sum of two, for a positive normal v and a low below an ulp of
/// it.
pub(crate) fn short_root_of_sum<F: Float>(v: F, low: F) -> (F, F) {
    let root = InverseRoot::of(v);
    let y = root.rough;
    let y = root.improve(y, (v * y).fma(-y, v.lit(1.0)));
    let r = v * y;
    (r, (y * v.lit(0.5)) * ((-r).fma(r, v) + low))
}

/// The square root of a positive normal number or zero, within 1.1 ulp. Shorter than the
/// instruction.
pub(crate) fn short_root<F: Float>(x: F) -> F {
    let root = InverseRoot::of(x);
    let y = match root.is_estimate {
        // Not infinite, where x is zero.
        true => {
            let most = x.lit2(f64::from(f32::MAX), f64::MAX);
            F::select(root.rough.lt(most), root.rough, most)
        }
        false => root.rough,
    };
    let r = x * y;
    root.improve(r, r.fma(-y, x.lit(1.0)))
}

/// 1 / sqrt(x).
pub fn rsqrt<F: Float>(x: F) -> F {
    let root = InverseRoot::of(x);
    let y = root.rough;
    let h = (x * y).fma(-y, x.lit(1.0));
    let improved = root.improve(y, h);
    match root.is_estimate {
        // What is not positive and finite has its right result at once, and no residual.
        true => F::select(!h.is_nan(), improved, y),
        false => x.rare1(not_positive_normal(x), improved, Routine::Rsqrt),
    }
}

/// `half_rsqrt` and `native_rsqrt`, within 2^-14: the estimate, or an iteration of third order from
/// the guess that is best for it, with the coefficients by which the error is least. Of `float`
/// alone.
pub fn rough_rsqrt<F: Float>(x: F) -> F {
    if let Some(y) = x.rsqrt_estimate() {
        return y;
    }
    let y = F::from_bits(x.int_lit(0x5f37_59df) - x.to_bits().shr(1));
    let h = (x * y).fma(-y, x.lit(1.0));
    let rough = (y * h).fma(poly(h, &[0.5011, 0.3767]), y);
    x.rare1(not_positive_normal(x), rough, Routine::Rsqrt)
}

/// The cube root. By way of its inverse, whose iterations divide by nothing.
pub fn cbrt<F: Float>(x: F) -> F {
    let format = x.format();
    let v = x.abs();
    // The encoding over -3 has the exponent over -3, which is within 3.5 % (W. Kahan, "Computing a
    // real cube root", of the root itself). The high bits are enough, and fit a conversion.
    let shift = format.pick(9, 32);
    let high = from_int(x, v.to_bits().shr(shift));
    let unit = 2f64.powi((format.mantissa_bits() - shift) as i32);
    let offset = (f64::from(format.bias()) * (4.0 / 3.0) - 0.0665) * unit;
    let guess = high.fma(x.lit(-1.0 / 3.0), x.lit(offset.round()));
    let mut y = F::from_bits(to_int(guess).shl(shift));
    // With h = 1 - v y^3 the inverse is y (1 + h/3 + 2 h^2/9 + 14 h^3/81 ...).
    for _ in 0..format.pick(1, 2) {
        let h = (v * y * y).fma(-y, x.lit(1.0));
        y = (y * h).fma(poly(h, &[1.0 / 3.0, 2.0 / 9.0, 14.0 / 81.0]), y);
    }
    // Newton's iteration for the root.
    let square = y * y;
    let t = v * square;
    let residual = (t * t).fma(t, -v);
    let r = copysign((-residual).fma(square * x.lit(1.0 / 3.0), t), x);
    // Residuals of small numbers lose their bits.
    let usual = v.ge(x.lit2(2f64.powi(-75), 2f64.powi(-900))) & v.lt(infinity(x));
    x.rare1(!usual & v.ne(x.lit(0.0)), r, Routine::Cbrt)
}

/// The cube root of any number: what the routine is.
pub(crate) fn cbrt_of_any<F: Float>(x: F) -> F {
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

/// sqrt(x^2 + y^2) of any two numbers: what the routine is.
pub(crate) fn hypot_of_any<F: Float>(x: F, y: F) -> F {
    let (a, b) = (x.abs(), y.abs());
    let swap = b.gt(a);
    let (large, small) = (F::select(swap, b, a), F::select(swap, a, b));
    let (scale, back) = scaling(large);
    let (l, s) = (large * scale, small * scale);
    let r = l.fma(l, s * s).sqrt() * back;
    F::select(a.eq(infinity(x)) | b.eq(infinity(x)), infinity(x), r)
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

/// sqrt(x^2 + y^2); infinite when either is, even beside a NaN. The routine takes sums of squares
/// that are large or small enough to have lost something, and NaN.
pub fn hypot<F: Float>(x: F, y: F) -> F {
    let sum = x.fma(x, y * y);
    let (least, most) = x.format().pick((-90, 120), (-900, 1000));
    let unusual = not_between(sum, 2f64.powi(least), 2f64.powi(most));
    x.rare2(y, unusual, short_root(sum), Routine::Hypot)
}
