//! Rounding to the formats of floating-point numbers, once.

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
