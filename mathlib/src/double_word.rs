//! Logarithms and powers in double words: what has to be good to some ten bits more than the format
//! has, because an exponent multiplies it.
//!
//! The base is that which takes the fewest operations: 2 for `float`, and e for `double`.

use crate::bits::{
    from_int, poly, poly_even_odd, pow2, round_scaled, scale_normal, split, split_normal,
};
use crate::constants::{LN_2, LOG2_E, TWO_LOG2_E};
use crate::exp::{EXP_F64, exp2_core};
use crate::number::{Float, Format, Int};
use crate::table::Table;

/// 2 log2(e) (atanh(s)/s - 1) / s^2 in s^2, for log2(1 + f) = 2 log2(e) atanh(s), s = f / (2 + f).
/// The relative error of the logarithm is 2^-30.1.
const SERIES_F32: [f64; 3] = [0.9617983102798462, 0.576748788356781, 0.4311200678348541];

/// (ln(1 + r) - r + r^2/2) / r^3 for |r| < 0.0335: a minimax fit (Remez exchange) of the relative
/// error of the logarithm, which is 2^-67.0, and 2^-64.8 with coefficients rounded to the format.
const LOG_F64: [f64; 9] = [
    0.3333333333333333,
    -0.24999999999998618,
    0.1999999999999496,
    -0.16666666676802372,
    0.14285714305959243,
    -0.12499975486650063,
    0.11111076404524375,
    -0.10024121094940087,
    0.09117728466946955,
];

/// ln(2) as a multiple of 2^-42, so that its product with an exponent is exact, and what that
/// lacks.
const LN_2_F64: [f64; 2] = [0.6931471805598903, 5.497923018708371e-14];

/// The sum of two, the second small beside the first.
pub(crate) type DoubleWord<F> = (F, F);

/// Sum of two as a double word, for |a| >= |b| or a = 0 (Dekker's fast two-sum).
pub(crate) fn fast_two_sum<F: Float>(a: F, b: F) -> DoubleWord<F> {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// A number m 2^e.
pub(crate) struct Split<F: Float> {
    m: F,
    e: F,
    /// For `double`, the number of m's entry in a [`Table`] in the low bits.
    entry: F::Int,
}

impl<F: Float> Split<F> {
    /// Of a positive normal number. For `double` less will do: of others the logarithm that results
    /// is beyond 707, as is perhaps that of the smallest and the largest.
    pub(crate) fn of_normal(x: F) -> Split<F> {
        match x.format() {
            Format::F32 => {
                let (m, e) = split_normal(x);
                Split::of_parts(m, from_int(x, e))
            }
            Format::F64 => Split::by_table(x),
        }
    }

    /// Of a positive finite number, denormals included. Arbitrary for others.
    pub(crate) fn of_finite(x: F) -> Split<F> {
        let (m, e) = split(x);
        let e = from_int(x, e);
        match x.format() {
            Format::F32 => Split::of_parts(m, e),
            Format::F64 => {
                let split = Split::by_table(m);
                Split {
                    e: split.e + e,
                    ..split
                }
            }
        }
    }

    fn of_parts(m: F, e: F) -> Split<F> {
        Split {
            m,
            e,
            entry: m.int_lit(0),
        }
    }

    /// With a significand from 0.7036 on, so that entries have equal numbers of encodings and 1 is
    /// well inside of those of its entry.
    fn by_table(x: F) -> Split<F> {
        const BIAS: u64 = 1024;
        const WIDTH: u32 = 52;
        let first = x.int_lit(0x3fe6_8400_0000_0000);
        // Not negative, so that the exponent is moved by a shift of zeros.
        let moved = x.to_bits() - (first - first.lit(BIAS << WIDTH));
        // With so large a unit in the last place, the low bits of an encoding are an integer.
        let large = x.lit((1u64 << WIDTH) as f64);
        let e = F::from_bits(moved.shr(WIDTH) | large.to_bits());
        let fraction = moved & moved.lit((1u64 << WIDTH) - 1);
        Split {
            m: F::from_bits(fraction + first),
            e: e - x.lit(((1u64 << WIDTH) + BIAS) as f64),
            entry: moved.shr(WIDTH - 4),
        }
    }

    /// The logarithm, the second word below a thousandth of the first. With a `low`, that of
    /// m + low, which is below an ulp of m.
    pub(crate) fn log(&self, low: Option<F>) -> DoubleWord<F> {
        match self.m.format() {
            Format::F32 => self.log2_f32(low),
            Format::F64 => self.ln_f64(low),
        }
    }

    fn log2_f32(&self, m_low: Option<F>) -> DoubleWord<F> {
        let x = self.m;
        let one = x.lit(1.0);
        // s = f / d with d = m + 1, to twice the precision.
        let f = x - one;
        let d = x + one;
        let d_low = x - (d - one);
        let inverse = one / d;
        let s = f * inverse;
        let lack = s.fma(-d_low, s.fma(-d, f));
        let lack = match m_low {
            None => lack,
            Some(m_low) => lack + s.fma(-m_low, m_low),
        };
        let s_low = lack * inverse;
        let c = TWO_LOG2_E.high(x);
        let c_low = TWO_LOG2_E.low(x);
        // What is below s is a fiftieth of it, so that a single word has bits enough.
        let z = s * s;
        let tail = z.fma(poly(z, &SERIES_F32), c_low);
        let g = s * c;
        let g_low = s.fma(tail, s_low.fma(c, s.fma(c, -g)));
        let (high, low) = fast_two_sum(self.e, g);
        (high, low + g_low)
    }

    /// ln(m 2^e) = e ln(2) + ln(1/c) + ln(1 + r), r = c m - 1, with c from a table.
    fn ln_f64(&self, m_low: Option<F>) -> DoubleWord<F> {
        let m = self.m;
        let c = m.lookup(self.entry, Table::Inverse);
        let r = m.fma(c, m.lit(-1.0));
        // Exact, and not below r unless it is zero.
        let known = m.lookup(self.entry, Table::Logarithm);
        let known = self.e.fma(m.lit(LN_2_F64[0]), known);
        let known_low = m.lookup(self.entry, Table::LogarithmLow);
        let known_low = self.e.fma(m.lit(LN_2_F64[1]), known_low);
        let (sum, sum_low) = fast_two_sum(known, r);
        // Less r^2/2, to twice the precision.
        let half = r * m.lit(-0.5);
        let high = half.fma(r, sum);
        let low = half.fma(r, sum - high);
        let square = r * r;
        let series = poly_even_odd(r, square, &LOG_F64);
        let tail = (square * r).fma(series, sum_low + known_low);
        let tail = match m_low {
            None => tail,
            Some(m_low) => (m_low * c).fma(m.lit(1.0) - r, tail),
        };
        (high, low + tail)
    }

    /// 2^-e, for what is beside a normal number.
    pub(crate) fn inverse_power(&self) -> F {
        let (_, e) = round_scaled(-self.e, self.m.lit(1.0));
        pow2(self.m, e)
    }
}

/// A power of the base as p 2^k, p in [0.7, 1.42], and k as an integer, too; for t within twice the
/// exponent range.
fn power<F: Float>((t, t_low): DoubleWord<F>) -> (F, F, F::Int) {
    match t.format() {
        Format::F32 => {
            let (kf, k) = round_scaled(t + t_low, t.lit(1.0));
            (exp2_core((t - kf) + t_low), kf, k)
        }
        Format::F64 => {
            let (kf, k) = round_scaled(t + t_low, LOG2_E.high(t));
            // The first difference is exact: see `exp::reduce`.
            let r = kf.fma(-LN_2.high(t), t);
            let r_low = kf.fma(-LN_2.low(t), t_low);
            let r = r + r_low;
            let square = r * r;
            let [one, _, rest @ ..] = &EXP_F64;
            let p = square.fma(poly_even_odd(r, square, rest), r) + r.lit(*one);
            (p, kf, k)
        }
    }
}

/// A power of the base, rounded once more where it is denormal, times a factor.
pub(crate) fn scaled_power<F: Float>(t: DoubleWord<F>, factor: F) -> F {
    let (p, kf, k) = power(t);
    (p * factor).scale(kf, k)
}

/// A power of the base that is normal.
pub(crate) fn normal_power<F: Float>(t: DoubleWord<F>) -> F {
    let (p, _, k) = power(t);
    scale_normal(p, k)
}
