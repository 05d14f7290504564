//! Floating-point arithmetic in integers: the exact result, rounded once, in any direction, to any
//! format.
//!
//! What `eval` cannot ask the host for: directed rounding, and half precision where rounding to
//! another format first would round twice. A finite number is a sign, a significand and an
//! exponent; operations keep enough bits of the exact result, with a lowest bit that is set when
//! anything nonzero was dropped below it (a sticky bit).

use super::{Rounding, Scalar};

/// Stored significand bits and the least exponent of a normal number.
fn format(scalar: Scalar) -> (u32, i32) {
    match scalar {
        Scalar::F16 => (10, -14),
        Scalar::F32 => (23, -126),
        _ => (52, -1022),
    }
}

/// A lane taken apart.
#[derive(Clone, Copy, Debug)]
enum Number {
    Nan,
    Infinity {
        negative: bool,
    },
    /// `significand * 2^exponent`; a zero has a significand of 0.
    Finite {
        negative: bool,
        significand: u128,
        exponent: i32,
    },
}

fn infinity(scalar: Scalar) -> u64 {
    let (stored, _) = format(scalar);
    (scalar.mask() >> 1) >> stored << stored
}

fn signed_infinity(scalar: Scalar, negative: bool) -> u64 {
    infinity(scalar) | sign_bit(scalar, negative)
}

fn nan(scalar: Scalar) -> u64 {
    let (stored, _) = format(scalar);
    infinity(scalar) | 1 << (stored - 1)
}

fn sign_bit(scalar: Scalar, negative: bool) -> u64 {
    u64::from(negative) << (scalar.bits() - 1)
}

fn unpack(scalar: Scalar, bits: u64) -> Number {
    let (stored, min) = format(scalar);
    let negative = bits >> (scalar.bits() - 1) != 0;
    let magnitude = bits & (scalar.mask() >> 1);
    let (field, fraction) = (magnitude >> stored, magnitude & ((1 << stored) - 1));
    if magnitude > infinity(scalar) {
        return Number::Nan;
    }
    if magnitude == infinity(scalar) {
        return Number::Infinity { negative };
    }
    let implicit = u64::from(field != 0) << stored;
    Number::Finite {
        negative,
        significand: u128::from(fraction | implicit),
        exponent: min - stored as i32 + field.max(1) as i32 - 1,
    }
}

/// `a * 2^floor(power)`, rounded to nearest.
pub fn scale(scalar: Scalar, a: u64, power: f64) -> u64 {
    match unpack(scalar, a) {
        Number::Nan => nan(scalar),
        _ if power.is_nan() => nan(scalar),
        Number::Infinity { negative } => match power {
            f64::NEG_INFINITY => nan(scalar),
            _ => signed_infinity(scalar, negative),
        },
        Number::Finite {
            negative,
            significand,
            exponent,
        } => {
            if significand == 0 && power == f64::INFINITY {
                return nan(scalar);
            }
            // Beyond this results are zero or infinite all the same.
            let power = power.floor().clamp(-5000.0, 5000.0) as i32;
            round(
                scalar,
                negative,
                significand,
                exponent + power,
                Rounding::NearestEven,
            )
        }
    }
}

/// The lane of type `to` that `significand * 2^exponent` rounds to.
pub fn round(
    to: Scalar,
    negative: bool,
    significand: u128,
    exponent: i32,
    rounding: Rounding,
) -> u64 {
    let (stored, min) = format(to);
    let sign = sign_bit(to, negative);
    if significand == 0 {
        return sign;
    }
    // Everything below the unit in the last place of the result is rounded away.
    let top = exponent + 127 - significand.leading_zeros() as i32;
    let unit = top.max(min) - stored as i32;
    let drop = unit - exponent;
    let (kept, rest, half) = match drop {
        ..=0 => (significand << -drop, 0, 1),
        1..=127 => (
            significand >> drop,
            significand & ((1 << drop) - 1),
            1 << (drop - 1),
        ),
        // Fewer bits than `drop - 1`: less than half of the unit.
        _ if significand.leading_zeros() as i32 + drop > 128 => (0, 1, 2),
        // 128 bits, all dropped: half of the unit or more.
        _ => (0, significand, 1 << 127),
    };
    let up = match rounding {
        Rounding::NearestEven => rest > half || rest == half && kept & 1 == 1,
        Rounding::Zero => false,
        Rounding::Up => rest != 0 && !negative,
        Rounding::Down => rest != 0 && negative,
    };
    // A carry out of the significand moves into the exponent field by itself.
    let field = (unit + stored as i32 - min) as u64;
    let magnitude = (field << stored).wrapping_add(kept as u64 + u64::from(up));
    let overflows = top > min.abs() + 1 || magnitude >= infinity(to);
    if !overflows {
        return sign | magnitude;
    }
    let to_infinity = match rounding {
        Rounding::NearestEven => true,
        Rounding::Zero => false,
        Rounding::Up => !negative,
        Rounding::Down => negative,
    };
    sign | (infinity(to) - u64::from(!to_infinity))
}

/// Between floating-point types. A NaN keeps the high bits of its payload and becomes quiet.
pub fn convert(from: Scalar, to: Scalar, a: u64, rounding: Rounding) -> u64 {
    match unpack(from, a) {
        Number::Nan => {
            let ((have, _), (want, _)) = (format(from), format(to));
            let fraction = a & ((1 << have) - 1);
            let payload = if want >= have {
                fraction << (want - have)
            } else {
                fraction >> (have - want)
            };
            let negative = a >> (from.bits() - 1) != 0;
            nan(to) | payload | sign_bit(to, negative)
        }
        Number::Infinity { negative } => signed_infinity(to, negative),
        Number::Finite {
            negative,
            significand,
            exponent,
        } => round(to, negative, significand, exponent, rounding),
    }
}

/// The sum of two numbers, one of which may be a product of two.
fn sum(scalar: Scalar, x: Number, y: Number, rounding: Rounding) -> u64 {
    use Number::{Finite, Infinity, Nan};
    let (x, y) = match (x, y) {
        (Nan, _) | (_, Nan) => return nan(scalar),
        (Infinity { negative: a }, Infinity { negative: b }) if a != b => return nan(scalar),
        (Infinity { negative }, _) | (_, Infinity { negative }) => {
            return signed_infinity(scalar, negative);
        }
        (
            Finite {
                negative: a,
                significand: s,
                exponent: m,
            },
            Finite {
                negative: b,
                significand: t,
                exponent: n,
            },
        ) => ((a, s, m), (b, t, n)),
    };
    // IEEE 754, "The sign bit": an exact zero sum is +0, or -0 when rounding down; like zeros keep
    // their sign.
    let zero = sign_bit(scalar, rounding == Rounding::Down);
    let (x, y) = match (x.1, y.1) {
        (0, 0) if x.0 == y.0 => return sign_bit(scalar, x.0),
        (0, 0) => return zero,
        (0, _) => return round(scalar, y.0, y.1, y.2, rounding),
        (_, 0) => return round(scalar, x.0, x.1, x.2, rounding),
        _ => (normalized(x), normalized(y)),
    };
    let (big, small) = if (x.2, x.1) >= (y.2, y.1) {
        (x, y)
    } else {
        (y, x)
    };
    // The highest bits are at 125 and a significand has at most 106, so bits fall off only after a
    // shift by 20 or more. Then a difference loses at most one bit at the top, and the sticky bit
    // stays far below what is kept.
    let aligned = shift_right_sticky(small.1, (big.2 - small.2) as u32);
    let total = if big.0 == small.0 {
        big.1 + aligned
    } else {
        big.1 - aligned
    };
    if total == 0 {
        return zero;
    }
    round(scalar, big.0, total, big.2, rounding)
}

/// The same number with its highest bit at 125.
fn normalized((negative, significand, exponent): (bool, u128, i32)) -> (bool, u128, i32) {
    let shift = significand.leading_zeros() as i32 - 2;
    (negative, significand << shift, exponent - shift)
}

fn shift_right_sticky(significand: u128, amount: u32) -> u128 {
    if amount >= 128 {
        return u128::from(significand != 0);
    }
    let dropped = significand & ((1 << amount) - 1);
    (significand >> amount) | u128::from(dropped != 0)
}

fn negated(x: Number) -> Number {
    match x {
        Number::Nan => Number::Nan,
        Number::Infinity { negative } => Number::Infinity {
            negative: !negative,
        },
        Number::Finite {
            negative,
            significand,
            exponent,
        } => Number::Finite {
            negative: !negative,
            significand,
            exponent,
        },
    }
}

fn is_negative(x: Number) -> bool {
    match x {
        Number::Nan => false,
        Number::Infinity { negative } | Number::Finite { negative, .. } => negative,
    }
}

/// Exact: significands of 53 bits have products of 106.
fn product(x: Number, y: Number) -> Number {
    use Number::{Finite, Infinity, Nan};
    let negative = is_negative(x) != is_negative(y);
    match (x, y) {
        (Nan, _) | (_, Nan) => Nan,
        (Infinity { .. }, Finite { significand: 0, .. })
        | (Finite { significand: 0, .. }, Infinity { .. }) => Nan,
        (Infinity { .. }, _) | (_, Infinity { .. }) => Infinity { negative },
        (
            Finite {
                significand: s,
                exponent: m,
                ..
            },
            Finite {
                significand: t,
                exponent: n,
                ..
            },
        ) => Finite {
            negative,
            significand: s * t,
            exponent: m + n,
        },
    }
}

pub fn add(scalar: Scalar, a: u64, b: u64, rounding: Rounding) -> u64 {
    sum(scalar, unpack(scalar, a), unpack(scalar, b), rounding)
}

pub fn sub(scalar: Scalar, a: u64, b: u64, rounding: Rounding) -> u64 {
    let b = negated(unpack(scalar, b));
    sum(scalar, unpack(scalar, a), b, rounding)
}

pub fn mul(scalar: Scalar, a: u64, b: u64, rounding: Rounding) -> u64 {
    finish(
        scalar,
        product(unpack(scalar, a), unpack(scalar, b)),
        rounding,
    )
}

/// `a * b + c`, rounded once.
pub fn fma(scalar: Scalar, a: u64, b: u64, c: u64, rounding: Rounding) -> u64 {
    let product = product(unpack(scalar, a), unpack(scalar, b));
    sum(scalar, product, unpack(scalar, c), rounding)
}

fn finish(scalar: Scalar, x: Number, rounding: Rounding) -> u64 {
    match x {
        Number::Nan => nan(scalar),
        Number::Infinity { negative } => signed_infinity(scalar, negative),
        Number::Finite {
            negative,
            significand,
            exponent,
        } => round(scalar, negative, significand, exponent, rounding),
    }
}

pub fn div(scalar: Scalar, a: u64, b: u64, rounding: Rounding) -> u64 {
    use Number::{Finite, Infinity, Nan};
    let (x, y) = (unpack(scalar, a), unpack(scalar, b));
    let negative = is_negative(x) != is_negative(y);
    let quotient = match (x, y) {
        (Nan, _)
        | (_, Nan)
        | (Infinity { .. }, Infinity { .. })
        | (Finite { significand: 0, .. }, Finite { significand: 0, .. }) => Nan,
        (Infinity { .. }, _) | (_, Finite { significand: 0, .. }) => Infinity { negative },
        (_, Infinity { .. }) => Finite {
            negative,
            significand: 0,
            exponent: 0,
        },
        (
            Finite {
                significand: s,
                exponent: m,
                ..
            },
            Finite {
                significand: t,
                exponent: n,
                ..
            },
        ) => {
            // A quotient of at least 72 bits, the last of them sticky.
            let shift = s.leading_zeros().min(127);
            let (s, m) = (s << shift >> 1, m - shift as i32 + 1);
            Finite {
                negative,
                significand: (s / t) | u128::from(!s.is_multiple_of(t)),
                exponent: m - n,
            }
        }
    };
    finish(scalar, quotient, rounding)
}

pub fn sqrt(scalar: Scalar, a: u64, rounding: Rounding) -> u64 {
    let root = match unpack(scalar, a) {
        Number::Finite {
            significand: 0,
            negative,
            ..
        } => return sign_bit(scalar, negative),
        Number::Finite {
            negative: false,
            significand,
            exponent,
        } => {
            // Highest bit at 124 or 125, so that the exponent is even: a root of 63 bits, the last
            // of them sticky.
            let shift = significand.leading_zeros() as i32 - 2;
            let shift = shift - ((exponent - shift) & 1);
            let (wide, exponent) = (significand << shift, exponent - shift);
            let root = wide.isqrt();
            Number::Finite {
                negative: false,
                significand: root | u128::from(root * root != wide),
                exponent: exponent / 2,
            }
        }
        Number::Infinity { negative: false } => Number::Infinity { negative: false },
        _ => Number::Nan,
    };
    finish(scalar, root, rounding)
}
