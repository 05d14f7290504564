//! The geometric functions in double-double arithmetic (T. J. Dekker, "A floating-point technique
//! for extending the available precision"): some 100 bits, over the whole range of `double`.

use crate::ulp::{Wide, exponent, times_exp2};

/// The unevaluated sum of two numbers, the second below the last place of the first.
#[derive(Clone, Copy, Debug)]
struct Two(f64, f64);

impl Two {
    /// a + b, exactly.
    fn sum(a: f64, b: f64) -> Two {
        let s = a + b;
        let of_b = s - a;
        Two(s, (a - (s - of_b)) + (b - of_b))
    }

    /// a b, exactly if nothing underflows.
    fn product(a: f64, b: f64) -> Two {
        let p = a * b;
        Two(p, a.mul_add(b, -p))
    }

    fn add(self, other: Two) -> Two {
        let Two(high, low) = Two::sum(self.0, other.0);
        let Two(low, rest) = Two::sum(low, self.1 + other.1);
        let Two(high, low) = Two::sum(high, low);
        Two(high, low + rest)
    }

    fn square(self) -> Two {
        let Two(high, low) = Two::product(self.0, self.0);
        Two::sum(high, low + 2.0 * self.0 * self.1)
    }

    fn sqrt(self) -> Two {
        let root = self.0.sqrt();
        if root == 0.0 {
            return Two(0.0, 0.0);
        }
        let Two(square, low) = Two::product(root, root);
        Two::sum(root, (((self.0 - square) - low) + self.1) / (2.0 * root))
    }

    fn over(self, divisor: Two) -> Two {
        let quotient = self.0 / divisor.0;
        let Two(product, low) = Two::product(quotient, divisor.0);
        let rest = ((self.0 - product) - low) + (self.1 - quotient * divisor.1);
        Two::sum(quotient, rest / divisor.0)
    }

    fn scaled(self, exponent: i32) -> Two {
        Two(times_exp2(self.0, exponent), times_exp2(self.1, exponent))
    }

    fn wide(self, exponent: i32) -> Wide {
        Wide {
            high: self.0,
            low: self.1,
            exponent,
        }
    }
}

/// The largest exponent of finite numbers, 0 if all are 0.
fn common_exponent(x: impl Iterator<Item = f64>) -> i32 {
    x.filter(|&x| x != 0.0).map(exponent).max().unwrap_or(0)
}

/// x . y for finite components.
pub fn dot(x: &[f64], y: &[f64]) -> Wide {
    let (of_x, of_y) = (
        common_exponent(x.iter().copied()),
        common_exponent(y.iter().copied()),
    );
    x.iter()
        .zip(y)
        .map(|(&x, &y)| Two::product(times_exp2(x, -of_x), times_exp2(y, -of_y)))
        .reduce(Two::add)
        .expect("a vector has a component")
        .wide(of_x + of_y)
}

/// The cross product of three finite components; others are 0.
pub fn cross(x: &[f64], y: &[f64]) -> Vec<Wide> {
    let component = |i: usize, j: usize| dot(&[x[i], -x[j]], &[y[j], y[i]]);
    let mut result = vec![component(1, 2), component(2, 0), component(0, 1)];
    result.resize(x.len(), Wide::from(0.0));
    result
}

/// The length of a vector of finite components times 2 to the minus second.
fn length_of(x: &[Two]) -> (Two, i32) {
    let e = common_exponent(x.iter().map(|x| x.0));
    let sum = x
        .iter()
        .map(|x| x.scaled(-e).square())
        .reduce(Two::add)
        .expect("a vector has a component");
    (sum.sqrt(), e)
}

/// The length of a vector: infinite if a component is, NaN if one is and none is infinite.
pub fn length(x: &[f64]) -> Wide {
    if x.iter().any(|x| x.is_infinite()) {
        return f64::INFINITY.into();
    }
    if x.iter().any(|x| x.is_nan()) {
        return f64::NAN.into();
    }
    let words: Vec<Two> = x.iter().map(|&x| Two(x, 0.0)).collect();
    let (length, e) = length_of(&words);
    length.wide(e)
}

/// The length of x - y for finite components.
pub fn distance(x: &[f64], y: &[f64]) -> Wide {
    // A difference may overflow; beside it, nothing that is lost at an eighth of the scale matters.
    let far = x.iter().zip(y).any(|(x, y)| (x - y).is_infinite());
    let down = if far { -3 } else { 0 };
    let words: Vec<Two> = x
        .iter()
        .zip(y)
        .map(|(&x, &y)| Two::sum(times_exp2(x, down), -times_exp2(y, down)))
        .collect();
    let (length, e) = length_of(&words);
    length.wide(e - down)
}

/// The unit vector ("Additional Requirements Beyond ISO/IEC 9899:TC2"): zeros stay, a NaN spreads,
/// infinite components count as 1 beside finite ones as 0.
pub fn normalize(x: &[f64]) -> Vec<Wide> {
    if x.iter().any(|x| x.is_nan()) {
        return vec![f64::NAN.into(); x.len()];
    }
    if x.iter().all(|&x| x == 0.0) {
        return x.iter().map(|&x| x.into()).collect();
    }
    if x.iter().any(|x| x.is_infinite()) {
        let replaced: Vec<f64> = x
            .iter()
            .map(|&x| if x.is_infinite() { 1f64 } else { 0.0 }.copysign(x))
            .collect();
        return normalize(&replaced);
    }
    let words: Vec<Two> = x.iter().map(|&x| Two(x, 0.0)).collect();
    let (length, of_length) = length_of(&words);
    x.iter()
        .map(|&x| {
            let e = if x == 0.0 { 0 } else { exponent(x) };
            let unit = Two(times_exp2(x, -e), 0.0).over(length);
            unit.wide(e - of_length)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_any_size() {
        for e in [-1074, -1060, -500, 0, 500, 1020] {
            let unit = times_exp2(1.0, e);
            assert_eq!(length(&[3.0 * unit, 4.0 * unit]).to_f64(), 5.0 * unit);
            assert_eq!(
                distance(&[2.0 * unit, unit], &[-unit, -3.0 * unit]).to_f64(),
                5.0 * unit
            );
            let direction = normalize(&[3.0 * unit, -4.0 * unit]);
            assert_eq!(direction[0].to_f64(), 0.6);
            assert_eq!(direction[1].to_f64(), -0.8);
        }
        assert_eq!(
            distance(&[f64::MAX, 0.0], &[-f64::MAX, 0.0]).to_f64(),
            f64::INFINITY
        );
        let half = f64::MAX / 2.0;
        assert_eq!(distance(&[half, 0.0], &[-half, 0.0]).to_f64(), f64::MAX);
    }

    #[test]
    fn low_words_have_what_rounding_takes() {
        let Wide { high, low, .. } = length(&[1.0, 1.0]);
        assert_eq!(high, std::f64::consts::SQRT_2);
        // The square root of 2 minus the nearest double.
        assert!((low - -9.667293313452913e-17).abs() < 1e-31);
        let tiny = 2f64.powi(-60);
        let sum = dot(&[1.0, tiny, -1.0], &[1.0, tiny, 1.0]);
        assert_eq!(sum.to_f64(), tiny * tiny);
        let turned = cross(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]);
        let turned: Vec<f64> = turned.into_iter().map(Wide::to_f64).collect();
        assert_eq!(turned, [-3.0, 6.0, -3.0]);
    }
}
