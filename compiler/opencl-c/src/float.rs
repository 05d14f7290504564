//! Rounding to the formats of floating-point numbers, once.

use std::cmp::Ordering;

use crate::token::RoundingMode;
use crate::types::Scalar;

/// The `double` nearest to a result, and how the exact result compares with it: enough to round it
/// to any format as if once.
#[derive(Clone, Copy, Debug)]
pub struct Nearest {
    value: f64,
    exact: Ordering,
    /// The sum of numbers of different signs that is zero, which has no sign of its own.
    is_difference_of_equals: bool,
}

impl Nearest {
    pub fn exactly(value: f64) -> Nearest {
        Nearest {
            value,
            exact: Ordering::Equal,
            is_difference_of_equals: false,
        }
    }

    pub fn of_integer(value: i128) -> Nearest {
        let nearest = value as f64;
        Nearest {
            exact: value.cmp(&(nearest as i128)),
            ..Nearest::exactly(nearest)
        }
    }

    pub fn sum(x: f64, y: f64) -> Nearest {
        let value = x + y;
        // Knuth's TwoSum: what the sum has lost, exactly.
        let part = value - x;
        let lost = (x - (value - part)) + (y - part);
        Nearest {
            value,
            exact: overflow(value, x.is_finite() && y.is_finite())
                .unwrap_or_else(|| beside_zero(lost)),
            is_difference_of_equals: value == 0.0 && x.is_sign_negative() != y.is_sign_negative(),
        }
    }

    pub fn product(x: f64, y: f64) -> Nearest {
        let value = x * y;
        Nearest {
            exact: overflow(value, x.is_finite() && y.is_finite())
                .unwrap_or_else(|| product_beside(x, y, value)),
            ..Nearest::exactly(value)
        }
    }

    pub fn quotient(x: f64, y: f64) -> Nearest {
        let value = x / y;
        // x / y and `value` compare as x and `value * y` do, or the other way for a negative y.
        let exact = || {
            if y.is_infinite() {
                return Ordering::Equal;
            }
            let product = product_beside(value, y, x);
            if y < 0.0 { product } else { product.reverse() }
        };
        Nearest {
            exact: overflow(value, x.is_finite() && y != 0.0).unwrap_or_else(exact),
            ..Nearest::exactly(value)
        }
    }

    /// The bits of the result in a format.
    pub fn round(self, to: Scalar, mode: RoundingMode) -> u64 {
        let value = if self.is_difference_of_equals {
            // IEEE 754, "The sign bit".
            if mode == RoundingMode::ToNegative {
                -0.0
            } else {
                0.0
            }
        } else {
            self.value
        };
        let odd = self.odd(value);
        let beside = |nearest: f64| odd.partial_cmp(&nearest).unwrap_or(Ordering::Equal);
        let (bits, nearest, order) = match to {
            Scalar::Half => {
                let bits = half_from_f64(odd);
                let nearest = half::f16::from_bits(bits).to_f64();
                (u64::from(bits), nearest, beside(nearest))
            }
            Scalar::Float => {
                let nearest = odd as f32;
                (
                    nearest.to_bits().into(),
                    nearest.into(),
                    beside(nearest.into()),
                )
            }
            _ => (value.to_bits(), value, self.exact),
        };
        let up = match (mode, order) {
            (RoundingMode::ToEven, _) | (_, Ordering::Equal) => return bits,
            (RoundingMode::ToPositive, Ordering::Greater) => true,
            (RoundingMode::ToNegative, Ordering::Less) => false,
            (RoundingMode::ToZero, Ordering::Greater) if nearest < 0.0 => true,
            (RoundingMode::ToZero, Ordering::Less) if nearest > 0.0 => false,
            _ => return bits,
        };
        next(bits, to.bits(), up)
    }

    /// Rounded to odd: the `double` itself if it is exact, else of the two around the result the
    /// one whose last bit is 1. It lies on the side of any number of fewer bits that the exact
    /// result does.
    fn odd(self, value: f64) -> f64 {
        let inward = match self.exact {
            Ordering::Equal => return value,
            Ordering::Less if value == 0.0 => return -f64::from_bits(1),
            Ordering::Greater if value == 0.0 => return f64::from_bits(1),
            Ordering::Less => value > 0.0,
            Ordering::Greater => value < 0.0,
        };
        let bits = value.to_bits() - u64::from(inward);
        f64::from_bits(bits | 1)
    }
}

/// How the exact result compares with one that is not finite; `None` for one that is.
fn overflow(value: f64, is_finite: bool) -> Option<Ordering> {
    if value.is_finite() {
        None
    } else if value.is_nan() || !is_finite {
        Some(Ordering::Equal)
    } else {
        Some(0.0f64.total_cmp(&value))
    }
}

/// How `a * b` compares with the number nearest to it, or a number with what is nearest to their
/// quotient.
fn product_beside(a: f64, b: f64, nearest: f64) -> Ordering {
    let (mut small, large) = if a.abs() < b.abs() { (a, b) } else { (b, a) };
    let mut nearest = nearest;
    if nearest == 0.0 {
        return beside_zero(a.signum() * b.signum() * f64::from(a != 0.0 && b != 0.0));
    }
    // What is lost is 2^-106 of the product and must not underflow.
    if nearest.abs() < f64::powi(2.0, -900) {
        small *= f64::powi(2.0, 400);
        nearest *= f64::powi(2.0, 400);
    }
    beside_zero(small.mul_add(large, -nearest))
}

fn beside_zero(lost: f64) -> Ordering {
    lost.partial_cmp(&0.0).unwrap_or(Ordering::Equal)
}

/// The number of the format above or below one.
fn next(bits: u64, width: u32, up: bool) -> u64 {
    let sign = 1 << (width - 1);
    let flip = if up { 0 } else { sign };
    // Upwards, with the signs swapped for downwards.
    let bits = bits ^ flip;
    let above = if bits & sign == 0 {
        bits + 1
    } else if bits == sign {
        1
    } else {
        bits - 1
    };
    above ^ flip
}

/// `bits * 2^scale`, rounded to nearest even at `precision` bits or at the unit `2^least`, as a
/// double's bits. From `2^limit` on it is infinite.
pub fn round(bits: u64, scale: i64, precision: i64, least: i64, limit: i64) -> u64 {
    if bits == 0 {
        return 0;
    }
    let length = 64 - i64::from(bits.leading_zeros());
    let unit = (length + scale - precision).max(least);
    let shift = unit - scale;
    let (rounded, exponent) = if shift <= 0 {
        (bits, scale)
    } else if shift > 64 {
        (0, unit)
    } else {
        let bits = u128::from(bits);
        let (quotient, remainder) = (bits >> shift, bits & ((1 << shift) - 1));
        let half = 1u128 << (shift - 1);
        let up = remainder > half || remainder == half && quotient & 1 == 1;
        ((quotient + u128::from(up)) as u64, unit)
    };
    if rounded == 0 {
        return 0;
    }
    let length = 64 - i64::from(rounded.leading_zeros());
    if length + exponent > limit {
        return f64::INFINITY.to_bits();
    }
    // At most 53 significant bits are left, so both steps are exact: no step goes below the least
    // double.
    let trailing = rounded.trailing_zeros();
    let (mantissa, exponent) = (rounded >> trailing, exponent + i64::from(trailing));
    let half = exponent / 2;
    let power = |exponent: i64| f64::powi(2.0, exponent as i32);
    (mantissa as f64 * power(half) * power(exponent - half)).to_bits()
}

/// A double rounded to half precision, as bits; all of its bits count.
pub fn half_from_f64(value: f64) -> u16 {
    if value.is_nan() {
        let payload = (value.to_bits() >> 42) as u16 & 0x1ff;
        return sign(value) | 0x7e00 | payload;
    }
    let bits = value.abs().to_bits();
    let exponent = (bits >> 52) as i64;
    if exponent == 0x7ff {
        return sign(value) | 0x7c00;
    }
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, scale) = match exponent {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, exponent - 1075),
    };
    let rounded = f64::from_bits(round(mantissa, scale, 11, -24, 16));
    if rounded.is_infinite() {
        return sign(value) | 0x7c00;
    }
    // At most eleven bits are left: multiples of 2^-24 below 2^-14, and of a power of two above.
    if rounded < f64::powi(2.0, -14) {
        return sign(value) | (rounded * f64::powi(2.0, 24)) as u16;
    }
    let bits = rounded.to_bits();
    let exponent = (bits >> 52) as u16 + 15 - 1023;
    sign(value) | exponent << 10 | (bits >> 42) as u16 & 0x3ff
}

fn sign(value: f64) -> u16 {
    u16::from(value.is_sign_negative()) << 15
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [RoundingMode; 4] = [
        RoundingMode::ToEven,
        RoundingMode::ToZero,
        RoundingMode::ToPositive,
        RoundingMode::ToNegative,
    ];

    fn doubles(result: Nearest) -> [f64; 4] {
        MODES.map(|mode| f64::from_bits(result.round(Scalar::Double, mode)))
    }

    fn floats(result: Nearest) -> [f32; 4] {
        MODES.map(|mode| f32::from_bits(result.round(Scalar::Float, mode) as u32))
    }

    #[test]
    fn results_round_in_every_mode() {
        let (one, above, below) = (1.0, 1.0 + f64::EPSILON, 1.0 - f64::EPSILON / 2.0);
        let tiny = f64::from_bits(1);
        assert_eq!(doubles(Nearest::sum(1.0, tiny)), [one, one, above, one]);
        assert_eq!(doubles(Nearest::sum(1.0, -tiny)), [one, below, one, below]);
        assert_eq!(
            doubles(Nearest::sum(-1.0, tiny)),
            [-one, -below, -below, -one]
        );
        let third: f64 = 1.0 / 3.0;
        let up = f64::from_bits(third.to_bits() + 1);
        assert_eq!(
            doubles(Nearest::quotient(1.0, 3.0)),
            [third, third, up, third]
        );
        assert_eq!(
            doubles(Nearest::quotient(1.0, -3.0)),
            [-third, -third, -third, -up]
        );
        assert_eq!(
            doubles(Nearest::product(above, above))[2],
            1.0 + 3.0 * f64::EPSILON
        );
    }

    #[test]
    fn results_beyond_the_range_round_in_every_mode() {
        let (tiny, max, inf) = (f64::from_bits(1), f64::MAX, f64::INFINITY);
        assert_eq!(doubles(Nearest::product(tiny, tiny)), [0.0, 0.0, tiny, 0.0]);
        assert_eq!(
            doubles(Nearest::product(-tiny, 0.25)),
            [0.0, 0.0, 0.0, -tiny]
        );
        assert_eq!(doubles(Nearest::quotient(tiny, max)), [0.0, 0.0, tiny, 0.0]);
        let (three, two) = (3.0 * tiny, 2.0 * tiny);
        assert_eq!(
            doubles(Nearest::product(three, 0.5)),
            [two, tiny, two, tiny]
        );
        assert_eq!(doubles(Nearest::sum(max, max)), [inf, max, inf, max]);
        assert_eq!(
            doubles(Nearest::product(-max, 2.0)),
            [-inf, -max, -max, -inf]
        );
        assert_eq!(doubles(Nearest::quotient(1.0, 0.0)), [inf; 4]);
        assert_eq!(doubles(Nearest::quotient(1.0, inf)), [0.0; 4]);
        let signs = doubles(Nearest::sum(2.0, -2.0)).map(f64::is_sign_negative);
        assert_eq!(signs, [false, false, false, true]);
    }

    #[test]
    fn fewer_bits_are_rounded_to_once() {
        // Half-way between two floats, and a little more than a double has.
        let middle = (1i128 << 60) + (1 << 36);
        let (low, high) = (f32::powi(2.0, 60), f32::powi(2.0, 60) + f32::powi(2.0, 37));
        assert_eq!(floats(Nearest::of_integer(middle)), [low, low, high, low]);
        assert_eq!(
            floats(Nearest::of_integer(middle + 1)),
            [high, low, high, low]
        );
        assert_eq!(
            floats(Nearest::of_integer(-middle - 1)),
            [-high, -low, -low, -high]
        );
        assert_eq!(floats(Nearest::exactly(1e300))[1], f32::MAX);
        let half = |mode| Nearest::exactly(70000.0).round(Scalar::Half, mode);
        assert_eq!(MODES.map(half), [0x7c00, 0x7bff, 0x7c00, 0x7bff]);
        let half = |mode| Nearest::exactly(-1e-300).round(Scalar::Half, mode);
        assert_eq!(MODES.map(half), [0x8000, 0x8000, 0x8000, 0x8001]);
    }

    #[test]
    fn every_half_is_itself_and_midpoints_go_to_even() {
        for bits in 0..=u16::MAX {
            let half = half::f16::from_bits(bits);
            if half.is_nan() {
                continue;
            }
            assert_eq!(half_from_f64(half.to_f64()), bits);
            if bits & 0x7fff >= 0x7bff {
                continue;
            }
            let next = half::f16::from_bits(bits + 1).to_f64();
            let middle = (half.to_f64() + next) / 2.0;
            let even = if bits & 1 == 0 { bits } else { bits + 1 };
            assert_eq!(half_from_f64(middle), even);
            // Nearer to one of the two by a double's last bit.
            let (towards, away) = (middle.to_bits() - 1, middle.to_bits() + 1);
            assert_eq!(half_from_f64(f64::from_bits(towards)), bits);
            assert_eq!(half_from_f64(f64::from_bits(away)), bits + 1);
        }
        assert_eq!(half_from_f64(65519.999), 0x7bff);
        assert_eq!(half_from_f64(-65520.0), 0xfc00);
    }
}
