//! The measure of an error in units in the last place.

/// A floating-point format.
#[derive(Clone, Copy, Debug)]
pub struct Precision {
    /// The least power of two above all finite numbers.
    overflow: i32,
    /// Of the least normal number.
    min_exponent: i32,
    /// Stored bits of the significand.
    width: i32,
}

/// `(high + low) 2^exponent`, where `low` is small beside `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wide {
    pub high: f64,
    pub low: f64,
    pub exponent: i32,
}

impl From<f64> for Wide {
    fn from(high: f64) -> Wide {
        Wide {
            high,
            low: 0.0,
            exponent: 0,
        }
    }
}

impl Wide {
    /// Rounded to `double`, once or, where it is subnormal, twice.
    pub fn to_f64(self) -> f64 {
        times_exp2(self.high + self.low, self.exponent)
    }
}

impl Precision {
    pub const HALF: Precision = Precision {
        overflow: 16,
        min_exponent: -14,
        width: 10,
    };
    pub const FLOAT: Precision = Precision {
        overflow: 128,
        min_exponent: -126,
        width: 23,
    };
    pub const DOUBLE: Precision = Precision {
        overflow: 1024,
        min_exponent: -1022,
        width: 52,
    };

    /// Stored bits of the significand.
    pub fn stored_bits(self) -> i32 {
        self.width
    }

    /// The distance between 1 and the next number.
    pub fn epsilon(self) -> f64 {
        exp2(-self.width)
    }

    /// The least and the largest exponent of a normal number.
    pub fn exponents(self) -> (i32, i32) {
        (self.min_exponent, self.overflow - 1)
    }

    /// The largest finite number.
    pub fn max(self) -> f64 {
        (2.0 - self.epsilon()) * exp2(self.overflow - 1)
    }

    /// The least normal number.
    pub fn min_positive(self) -> f64 {
        exp2(self.min_exponent)
    }

    /// The error of `got` in ulp of the exact result ("Relative Error as ULPs"): infinite where one
    /// is NaN and the other is not. Infinity stands for the power of two that ends the range, so
    /// that it may take the place of the largest finite number within the error.
    pub fn error(self, got: f64, reference: impl Into<Wide>) -> f64 {
        let Wide {
            high,
            low,
            exponent: scale,
        } = reference.into();
        if got.is_nan() || high.is_nan() {
            return if got.is_nan() && high.is_nan() {
                0.0
            } else {
                f64::INFINITY
            };
        }
        if times_exp2(got, -scale) == high && low == 0.0 {
            return 0.0;
        }
        let beyond =
            |x: f64, e: i32| x.is_infinite() || (x != 0.0 && exponent(x) + e >= self.overflow);
        if beyond(got, 0) && beyond(high, scale) {
            return if got.signum() == high.signum() {
                0.0
            } else {
                f64::INFINITY
            };
        }
        // Near overflow at a fraction of the scale, so that infinity has a stand-in.
        let down = if got.abs().max(high.abs()) >= exp2(self.overflow.min(1000)) {
            4
        } else {
            0
        };
        let (got, got_scale) = if got.is_infinite() {
            (1f64.copysign(got), self.overflow - scale - down)
        } else {
            (got, -scale - down)
        };
        let high_at = if high.is_infinite() {
            exp2(self.overflow - scale - down).copysign(high)
        } else {
            times_exp2(high, -down)
        };
        let difference = (times_exp2(got, got_scale) - high_at) - times_exp2(low, -down);
        let at = if high == 0.0 {
            self.min_exponent
        } else {
            // The ulp of a power of two is that below it.
            let power = high.to_bits() << 12 == 0 && low <= 0.0;
            let of_ulp = exponent(high) + scale - i32::from(power);
            of_ulp.clamp(self.min_exponent, self.overflow - 1)
        };
        times_exp2(difference, self.width + scale + down - at).abs()
    }
}

/// The error of `got` in ulp of `float`, against a reference good to `double`.
pub fn error_f32(got: f32, reference: f64) -> f64 {
    Precision::FLOAT.error(f64::from(got), reference)
}

/// The error of `got` in ulp of `double`, against a correctly rounded reference, so to within half
/// an ulp.
pub fn error_f64(got: f64, reference: f64) -> f64 {
    Precision::DOUBLE.error(got, reference)
}

/// The exponent of a number that is not zero; infinity has one above all.
pub fn exponent(x: f64) -> i32 {
    match ((x.to_bits() >> 52) & 0x7ff) as i32 {
        0 => exponent(x * exp2(64)) - 64,
        biased => biased - 1023,
    }
}

/// 2^n, 0 or infinity.
pub fn exp2(n: i32) -> f64 {
    match n {
        1024.. => f64::INFINITY,
        -1022.. => f64::from_bits(((n + 1023) as u64) << 52),
        -1074.. => f64::from_bits(1 << (n + 1074)),
        _ => 0.0,
    }
}

/// `x 2^n`, rounded once.
pub fn times_exp2(mut x: f64, mut n: i32) -> f64 {
    for _ in 0..3 {
        if n > 1023 {
            x *= exp2(1023);
            n -= 1023;
        } else if n < -1022 {
            // At most so much that, if this step rounds to a subnormal number, the next one leaves
            // nothing of it.
            x *= exp2(-1022 + 53);
            n += 1022 - 53;
        }
    }
    x * exp2(n.clamp(-1022, 1023))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_in_units_of_the_exact_result() {
        assert_eq!(error_f32(1.5f32.next_up(), 1.5), 1.0);
        assert_eq!(error_f64(1.5f64.next_down(), 1.5), 1.0);
        // "the two non-equal finite floating-point numbers nearest x": below a power of two they
        // are closer.
        assert_eq!(error_f32(1f32.next_up(), 1.0), 2.0);
        assert_eq!(error_f32(1f32.next_down(), 1.0), 1.0);
        assert_eq!(error_f64(3.0 * 5e-324, 2.0 * 5e-324), 1.0);
        assert_eq!(error_f64(0.0, 5e-324), 1.0);
        assert_eq!(error_f32(f32::INFINITY, f64::from(f32::MAX)), 1.0);
        assert_eq!(error_f64(f64::INFINITY, f64::MAX), 1.0);
        assert_eq!(error_f64(f64::MAX, f64::INFINITY), 1.0);
        assert_eq!(error_f32(f32::INFINITY, 1e300), 0.0);
        assert_eq!(error_f32(f32::INFINITY, -1e300), f64::INFINITY);
        assert_eq!(error_f64(f64::NAN, 1.0), f64::INFINITY);
        assert_eq!(error_f64(f64::NAN, f64::NAN), 0.0);
        assert_eq!(Precision::HALF.error(65504.0, 65536.0 + 16.0), 1.5);
    }

    #[test]
    fn wide_references_count_below_the_last_place() {
        let third = Wide {
            high: 1.0 / 3.0,
            low: 2f64.powi(-56),
            exponent: 0,
        };
        assert_eq!(Precision::DOUBLE.error(1.0 / 3.0, third), 0.25);
        let tiny = Wide {
            high: 1.25,
            low: 0.0,
            exponent: -1074,
        };
        assert_eq!(Precision::DOUBLE.error(5e-324, tiny), 0.25);
        let huge = Wide {
            high: 1.5,
            low: 0.0,
            exponent: 1023,
        };
        assert_eq!(Precision::DOUBLE.error(1.5 * 2f64.powi(1023), huge), 0.0);
        assert_eq!(Precision::DOUBLE.error(f64::INFINITY, huge), 2f64.powi(51));
        assert_eq!(tiny.to_f64(), 5e-324);
    }
}
