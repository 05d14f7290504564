//! `asin`, `acos`, `atan`, `atan2` and their `pi` forms.
//!
//! Each is a multiple of pi/4 plus a small angle from an odd polynomial; the `pi` forms differ only
//! in how the two are put together.

use crate::bits::{infinity, is_negative, poly, poly2, sign_bit, xor_sign};
use crate::constants::{INVERSE_PI, PI_4};
use crate::number::{Float, Format};

/// (atan(t)/t - 1)/t^2 in t^2 for |t| <= 1, relative error of the angle 2^-25.8.
const ATAN_TO_1_F32: [f64; 8] = [
    -0.33333152532577515,
    0.19993767142295837,
    -0.14211003482341766,
    0.10665785521268845,
    -0.07551723718643188,
    0.043205857276916504,
    -0.01636413298547268,
    0.0029197228141129017,
];

/// The same for |t| <= tan(pi/8), relative error of the angle 2^-28.5, 2^-58.5.
const ATAN_F32: [f64; 5] = [
    -0.3333331346511841,
    0.1999843418598175,
    -0.14242738485336304,
    0.10587343573570251,
    -0.060604747384786606,
];
const ATAN_F64: [f64; 12] = [
    -0.3333333333333331,
    0.19999999999991827,
    -0.14285714284689163,
    0.11111111046616852,
    -0.09090906712161692,
    0.0769225178488251,
    -0.06665788786746628,
    0.058729098984752606,
    -0.05192994631788404,
    0.044042403303847746,
    -0.03124957537321379,
    0.013018209831689173,
];

/// (asin(t)/t - 1)/t^2 in t^2 for |t| <= 1/2, relative error of the angle 2^-30.7 and 2^-59.3.
const ASIN_F32: [f64; 6] = [
    0.16666659712791443,
    0.07500512152910233,
    0.044515471905469894,
    0.03181982412934303,
    0.014393786899745464,
    0.03757818415760994,
];
const ASIN_F64: [f64; 13] = [
    0.16666666666666763,
    0.07499999999970093,
    0.04464285717529025,
    0.030381942675103996,
    0.02237221591028198,
    0.017351595430261334,
    0.013981019280208786,
    0.011397287614045737,
    0.010789348443574901,
    0.0036720922124255863,
    0.021790851783103294,
    -0.021116982753531178,
    0.032702312462434664,
];

/// `eighths` * pi/4 + `rest`: an angle in two parts. `eighths` is an integer from 0 to 4.
#[derive(Clone, Copy)]
struct Angle<F> {
    eighths: F,
    rest: F,
}

impl<F: Float> Angle<F> {
    /// In radians.
    fn radians(self) -> F {
        let rest = self.eighths.fma(PI_4.low(self.rest), self.rest);
        self.eighths.fma(PI_4.high(self.rest), rest)
    }

    /// The angle to the right becomes that to the left where x is negative.
    fn mirrored(self, x: F) -> Angle<F> {
        let left = is_negative(x);
        Angle {
            eighths: F::select(left, x.lit(4.0) - self.eighths, self.eighths),
            rest: F::select(left, -self.rest, self.rest),
        }
    }

    /// As a multiple of pi.
    fn half_turns(self) -> F {
        let high = self.rest * INVERSE_PI.high(self.rest);
        let rest = self.rest.fma(INVERSE_PI.low(self.rest), high);
        self.eighths.fma(rest.lit(0.25), rest)
    }
}

/// The angle of the point (den, num), neither negative, not both zero or both infinite: by one
/// polynomial up to the diagonal, mirrored beyond. Neither overflows nor loses bits of small
/// numbers.
fn below_diagonal<F: Float>(num: F, den: F, series: &[f64]) -> Angle<F> {
    let steep = num.gt(den);
    let n = F::select(steep, den, num);
    let d = F::select(steep, num, den);
    let t = n / d;
    let z = t * t;
    let rest = t.fma(z * poly(z, series), t);
    Angle {
        eighths: F::select(steep, num.lit(2.0), num.lit(0.0)),
        rest: F::select(steep, -rest, rest),
    }
}

/// The same by a short polynomial around 0, pi/4 and pi/2, for numbers whose sum and multiples
/// neither overflow nor lose bits.
fn in_octants<F: Float>(num: F, den: F) -> Angle<F> {
    let middle = num.gt(den * num.lit(0.414_213_562_373_095));
    let steep = num.gt(den * num.lit(2.414_213_562_373_095));
    // atan(v) = pi/4 + atan((v - 1)/(v + 1)) = pi/2 + atan(-1/v).
    let n = F::select(steep, -den, F::select(middle, num - den, num));
    let d = F::select(steep, num, F::select(middle, num + den, den));
    let eighths = F::select(
        steep,
        num.lit(2.0),
        F::select(middle, num.lit(1.0), num.lit(0.0)),
    );
    let t = n / d;
    let z = t * t;
    let rest = t.fma(z * poly2(z, &ATAN_F32, &ATAN_F64), t);
    Angle { eighths, rest }
}

/// The arc tangent, radians.
pub fn atan<F: Float>(x: F) -> F {
    let angle = in_octants(x.abs(), x.lit(1.0));
    xor_sign(angle.radians(), sign_bit(x))
}

/// The arc tangent over pi.
pub fn atanpi<F: Float>(x: F) -> F {
    let angle = in_octants(x.abs(), x.lit(1.0));
    xor_sign(angle.half_turns(), sign_bit(x))
}

/// The angle of (x, |y|), from 0 to pi.
fn upper_half<F: Float>(y: F, x: F) -> Angle<F> {
    let one = x.lit(1.0);
    let zero = x.lit(0.0);
    let (num, den) = (y.abs(), x.abs());
    // (infinity, infinity) has the angle of (1, 1).
    let both_infinite = num.eq(infinity(x)) & den.eq(infinity(x));
    let num = F::select(both_infinite, one, num);
    let den = F::select(both_infinite, one, den);
    // (0, 0) has the angle of (1, 0).
    let den = F::select(num.eq(zero) & den.eq(zero), one, den);
    let angle = match x.format() {
        Format::F32 => below_diagonal(num, den, &ATAN_TO_1_F32),
        Format::F64 => {
            let large = x.lit(2f64.powi(1021));
            let tiny = x.lit(2f64.powi(-1018));
            let down = F::select(num.gt(large) | den.gt(large), x.lit(0.125), one);
            let scale = F::select(den.lt(tiny), x.lit(2f64.powi(60)), down);
            in_octants(num * scale, den * scale)
        }
    };
    angle.mirrored(x)
}

/// The angle of the point (x, y), radians, from -pi to pi.
pub fn atan2<F: Float>(y: F, x: F) -> F {
    xor_sign(upper_half(y, x).radians(), sign_bit(y))
}

/// The angle of (x, num) from 0 to pi by a series of one's own; den is |x|, or 1 where both are
/// zero.
pub(crate) fn below_diagonal_angle<F: Float>(num: F, den: F, series: &[f64], x: F) -> F {
    below_diagonal(num, den, series).mirrored(x).radians()
}

/// The angle of the point (x, y) over pi.
pub fn atan2pi<F: Float>(y: F, x: F) -> F {
    xor_sign(upper_half(y, x).half_turns(), sign_bit(y))
}

/// Whether |x| <= 1/2, and then asin|x|; otherwise asin(sqrt((1 - |x|)/2)) = acos|x| / 2.
fn half_range<F: Float>(x: F) -> (F::Mask, F) {
    let a = x.abs();
    let half = x.lit(0.5);
    let small = a.le(half);
    let z = F::select(small, a * a, (x.lit(1.0) - a) * half);
    let s = F::select(small, a, z.sqrt());
    (small, s.fma(z * poly2(z, &ASIN_F32, &ASIN_F64), s))
}

fn asin_angle<F: Float>(x: F) -> Angle<F> {
    let (small, r) = half_range(x);
    Angle {
        eighths: F::select(small, x.lit(0.0), x.lit(2.0)),
        rest: F::select(small, r, r * x.lit(-2.0)),
    }
}

fn acos_angle<F: Float>(x: F) -> Angle<F> {
    let (small, r) = half_range(x);
    let left = is_negative(x);
    let outer = F::select(left, x.lit(4.0), x.lit(0.0));
    let r = F::select(small, -r, r + r);
    Angle {
        eighths: F::select(small, x.lit(2.0), outer),
        rest: F::select(left, -r, r),
    }
}

/// The arc sine, radians.
pub fn asin<F: Float>(x: F) -> F {
    xor_sign(asin_angle(x).radians(), sign_bit(x))
}

/// The arc sine over pi.
pub fn asinpi<F: Float>(x: F) -> F {
    xor_sign(asin_angle(x).half_turns(), sign_bit(x))
}

/// The arc cosine, radians.
pub fn acos<F: Float>(x: F) -> F {
    acos_angle(x).radians()
}

/// The arc cosine over pi.
pub fn acospi<F: Float>(x: F) -> F {
    acos_angle(x).half_turns()
}
