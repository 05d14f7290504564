//! Constants to twice the precision of a format.

// The parts are the nearest values of each format, whatever constant of the library they are near.
#![allow(clippy::approx_constant)]

use crate::number::Float;

/// A constant as the sum of two values of the format, the second below half an ulp of the first.
pub(crate) struct Pair {
    single: [f64; 2],
    double: [f64; 2],
}

impl Pair {
    /// The constant rounded to nearest.
    pub fn high<F: Float>(&self, like: F) -> F {
        like.lit2(self.single[0], self.double[0])
    }

    /// What the high part misses.
    pub fn low<F: Float>(&self, like: F) -> F {
        like.lit2(self.single[1], self.double[1])
    }
}

macro_rules! pairs {
    ($($(#[$doc:meta])* $name:ident [$s0:literal, $s1:literal] [$d0:literal, $d1:literal];)*) => {
        $($(#[$doc])* pub(crate) const $name: Pair = Pair { single: [$s0, $s1], double: [$d0, $d1] };)*
    };
}

pairs! {
    /// ln(2)
    LN_2 [0.6931471824645996, -1.9046542121259336e-09] [0.6931471805599453, 2.3190468138462996e-17];
    /// log2(e)
    LOG2_E [1.4426950216293335, 1.925963033500011e-08] [1.4426950408889634, 2.0355273740931033e-17];
    /// log10(e)
    LOG10_E [0.4342944920063019, -1.0103049952192578e-08] [0.4342944819032518, 1.098319650216765e-17];
    /// log10(2)
    LOG10_2 [0.3010300099849701, -1.432098883924482e-08] [0.3010299956639812, -2.8037281277851704e-18];
    /// pi
    PI [3.1415927410125732, -8.742277657347586e-08] [3.141592653589793, 1.2246467991473532e-16];
    /// pi/4
    PI_4 [0.7853981852531433, -2.1855694143368964e-08] [0.7853981633974483, 3.061616997868383e-17];
    /// 1/pi
    INVERSE_PI [0.31830987334251404, 1.2841276486597053e-08] [0.3183098861837907, -1.9678676675182486e-17];
    /// 2/ln(2)
    TWO_LOG2_E [2.885390043258667, 3.851926067000022e-08] [2.8853900817779268, 4.0710547481862066e-17];
}
