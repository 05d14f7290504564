//! Sine, cosine and tangent of large arguments: M. H. Payne and R. N. Hanek, "Radian reduction for
//! trigonometric functions", SIGNUM Newsletter 18 (1983). A `float` is done in `double`.

use crate::trig::{cos_in, kernel, sin_in, tan_in, tan_kernel};
use std::num::Wrapping;

/// The binary expansion of 2/pi, for reductions of large angles: first bit 2^-1 at the top of the
/// second word; the zero word in front lets the window start before the point.
pub const TWO_OVER_PI: [u64; 21] = [
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
    0xf0cfbc209af4361d,
];

/// Quadrant and rest (a sum of two) of a finite x >= 1/2 by pi/2.
fn reduce(x: f64) -> (Wrapping<u64>, f64, f64) {
    let bits = x.to_bits();
    let m = (bits & ((1 << 52) - 1)) | (1 << 52);
    let e = ((bits >> 52) & 0x7ff) as i32 - 1075;
    // x = m 2^e. Bits of 2/pi worth 2^(2-e) and more only add whole turns. The 192 bits after them,
    // times m, modulo 2^192, are x * 2/pi modulo 4 with 190 bits after the point, of which the last
    // 53 are wrong.
    let start = (64 + e - 2) as usize;
    let (word, shift) = (start / 64, start % 64);
    let window = |i: usize| {
        let pair = u128::from(TWO_OVER_PI[word + i]) << 64 | u128::from(TWO_OVER_PI[word + i + 1]);
        (pair << shift >> 64) as u64
    };
    let product = |i: usize, carry: u128| u128::from(m) * u128::from(window(i)) + (carry >> 64);
    let p2 = product(2, 0);
    let p1 = product(1, p2);
    let p0 = product(0, p1);
    let (high, middle, low) = (p0 as u64, p1 as u64, p2 as u64);
    let mut quadrant = high >> 62;
    let mut fraction =
        u128::from(high << 2 | middle >> 62) << 64 | u128::from(middle << 2 | low >> 62);
    let mut tail = low << 2;
    // To the nearest quadrant.
    let negative = fraction >> 127 == 1;
    if negative {
        quadrant += 1;
        tail = tail.wrapping_neg();
        fraction = (!fraction).wrapping_add(u128::from(tail == 0));
    }
    let zeros = fraction.leading_zeros().min(63);
    let normal = fraction << zeros | u128::from(tail) << zeros >> 64;
    // 2^-zeros times a power of two that is less.
    let scale = |power: u64| f64::from_bits((1023 - power - u64::from(zeros)) << 52);
    let f_high = (normal >> 75) as u64 as f64 * scale(53);
    let f_low = ((normal >> 22) as u64 & ((1 << 53) - 1)) as f64 * scale(106);
    let half_pi = std::f64::consts::FRAC_PI_2;
    let half_pi_low = 6.123233995736766e-17;
    let r = f_high * half_pi;
    let r_low = f_high.mul_add(half_pi, -r) + (f_high * half_pi_low + f_low * half_pi);
    // Renormalise: r_low may reach an ulp of r.
    let sum = r + r_low;
    let rest = r_low - (sum - r);
    if negative {
        (Wrapping(quadrant), -sum, -rest)
    } else {
        (Wrapping(quadrant), sum, rest)
    }
}

/// A function of a quadrant and a rest, the sum of two.
type OfRest = fn(Wrapping<u64>, f64, f64) -> f64;

fn sin_cos_tan(x: f64, of: OfRest) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    // Generated code may call for a lane that has no need, as long as another has.
    let (quadrant, r, low) = match x.abs() {
        small if small < 0.5 => (Wrapping(0), small, 0.0),
        large => reduce(large),
    };
    of(quadrant, r, low)
}

pub(crate) extern "C" fn sin_f64(x: f64) -> f64 {
    let r = sin_cos_tan(x, |q, r, low| sin_in(q, kernel(r, Some(low))));
    if x < 0.0 { -r } else { r }
}

pub(crate) extern "C" fn cos_f64(x: f64) -> f64 {
    sin_cos_tan(x, |q, r, low| cos_in(q, kernel(r, Some(low))))
}

pub(crate) extern "C" fn tan_f64(x: f64) -> f64 {
    let r = sin_cos_tan(x, |q, r, low| tan_in(q, tan_kernel(r, Some(low))));
    if x < 0.0 { -r } else { r }
}

pub(crate) extern "C" fn sin_f32(x: f32) -> f32 {
    sin_f64(f64::from(x)) as f32
}

pub(crate) extern "C" fn cos_f32(x: f32) -> f32 {
    cos_f64(f64::from(x)) as f32
}

pub(crate) extern "C" fn tan_f32(x: f32) -> f32 {
    tan_f64(f64::from(x)) as f32
}
