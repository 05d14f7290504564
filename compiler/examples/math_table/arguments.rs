//! The arguments that are tried, in blocks.

use std::fmt;

use brolga_mathlib::{Func, Signature};
use brolga_mathlib_testing::{Random, pair, special_values};

use super::kernel::ELEMENTS;
use super::number::{Number, Type};
use super::reference::plain_name;

/// How many arguments to try.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Every so many encodings of a `float` are tried as the one argument.
    pub stride: u64,
    /// So many arguments where all are too many.
    pub points: u64,
}

/// Which arguments a sweep tries.
#[derive(Clone, Copy)]
pub enum Tried {
    /// Every so many encodings of the one argument.
    Every(u64),
    /// So many, special and random.
    Points(u64),
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tried::Every(1) => f.write_str("all"),
            Tried::Every(stride) => write!(f, "1 in {stride}"),
            Tried::Points(points) => write!(f, "{:.0e}", *points as f64),
        }
    }
}

impl Tried {
    pub fn of(func: Func, ty: Type, effort: Effort) -> Tried {
        match (func.signature().arity(), ty) {
            (1, Type::Half) => Tried::Every(1),
            (1, Type::Float) => Tried::Every(effort.stride),
            _ => Tried::Points(effort.points),
        }
    }

    /// How many there are.
    pub fn count(self, ty: Type) -> u64 {
        match (self, ty) {
            (Tried::Points(points), _) => points,
            (Tried::Every(stride), Type::Half) => (1u64 << 16).div_ceil(stride),
            (Tried::Every(stride), _) => (1u64 << 32).div_ceil(stride),
        }
    }
}

/// The arguments of [`ELEMENTS`] elements.
pub struct Block<T> {
    pub floats: [Vec<T>; 3],
    pub integers: Vec<i32>,
}

impl<T: Number> Block<T> {
    pub fn new() -> Block<T> {
        Block {
            floats: [0; 3].map(|_| vec![T::default(); ELEMENTS]),
            integers: vec![0; ELEMENTS],
        }
    }

    /// The floats of an element.
    pub fn values(&self, at: usize) -> [f64; 3] {
        [0, 1, 2].map(|index| self.floats[index][at].value())
    }
}

/// Where results overflow, underflow, or are computed another way: of exponential functions, gamma,
/// trigonometry.
const THRESHOLDS: [f64; 34] = [
    0.0625,
    0.3333333333333333,
    std::f64::consts::FRAC_1_SQRT_2,
    std::f64::consts::FRAC_PI_4,
    std::f64::consts::FRAC_PI_2,
    std::f64::consts::PI,
    std::f64::consts::E,
    6.0,
    9.0,
    26.54325845425098,
    27.226017111108366,
    36.0,
    37.5,
    38.530839418703486,
    88.02969193111305,
    88.72283905206835,
    103.97207708399179,
    127.0,
    128.0,
    149.0,
    150.0,
    171.624376956302,
    177.0,
    184.0,
    307.0,
    308.25471555991674,
    323.60724533877976,
    708.3964185322641,
    709.782712893384,
    745.1332191019411,
    1023.0,
    1075.0,
    65536.0,
    131072.0,
];

/// Integers where something happens.
const INTEGERS: [i32; 30] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    4,
    -4,
    5,
    -5,
    7,
    31,
    32,
    -33,
    127,
    -128,
    149,
    -150,
    1023,
    -1024,
    1074,
    -1075,
    1 << 24,
    (1 << 24) + 1,
    1 << 30,
    i32::MAX,
    i32::MIN,
    i32::MAX - 1,
    i32::MIN + 1,
];

/// Steps to each side of a special argument of functions that have one.
const STEPS: u64 = 32;

/// Arguments, block after block.
pub struct Source<T> {
    func: Func,
    tried: Tried,
    index: u64,
    random: Random,
    special: Vec<T>,
}

impl<T: Number> Source<T> {
    pub fn new(func: Func, tried: Tried) -> Source<T> {
        let mut special: Vec<T> = special_values().into_iter().map(T::nearest).collect();
        if func.signature().arity() == 1 {
            let signed = |x: &f64| [T::nearest(*x), T::nearest(-x)];
            special.extend(THRESHOLDS.iter().flat_map(signed));
        }
        special.sort_by_key(|x| x.bits());
        special.dedup_by_key(|x| x.bits());
        Source {
            func,
            tried,
            index: 0,
            random: Random(1),
            special,
        }
    }

    /// The next ones; beyond the last, more of the kind.
    pub fn fill(&mut self, block: &mut Block<T>) {
        let from = self.index;
        self.index += ELEMENTS as u64;
        if let Tried::Every(stride) = self.tried {
            for (i, x) in block.floats[0].iter_mut().enumerate() {
                *x = T::from_bits((from + i as u64) * stride);
            }
            return;
        }
        let arity = self.func.signature().arity();
        let with_int = self.func.signature() == Signature::WithInt;
        for (at, i) in (from..).take(ELEMENTS).enumerate() {
            match arity {
                1 => block.floats[0][at] = self.one(i),
                _ if with_int => {
                    (block.floats[0][at], block.integers[at]) = self.with_integer(i);
                }
                2 => [block.floats[0][at], block.floats[1][at]] = self.two(i),
                _ => {
                    let [x, y, z] = self.three(i);
                    block.floats[0][at] = x;
                    block.floats[1][at] = y;
                    block.floats[2][at] = z;
                }
            }
        }
    }

    fn any(&mut self) -> T {
        T::from_bits(self.random.next())
    }

    /// A number at most so many steps away.
    fn near(&mut self, x: f64, steps: u64) -> T {
        T::nearest(x).step((self.random.next() % (2 * steps + 1)) as i64 - steps as i64)
    }

    /// An integer of either sign with at most so many bits, small ones as often as large ones.
    fn integer(&mut self, bits: u64) -> f64 {
        let bits = self.random.next() % bits + 1;
        ((self.random.next() as i64) >> (64 - bits.min(63))) as f64
    }

    fn one(&mut self, i: u64) -> T {
        let around = 2 * STEPS + 1;
        let special = &self.special;
        if i < special.len() as u64 * around {
            let step = (i % around) as i64 - STEPS as i64;
            return special[(i / around) as usize].step(step);
        }
        match i % 8 {
            0 | 1 => self.any(),
            2 | 3 => T::nearest(self.random.with_exponent(-12, 11)),
            4 => {
                // Near simple fractions: zeros and poles of the functions with pi, of logarithms
                // and gamma.
                let x = self.integer(12) / 4.0;
                self.near(x, 16)
            }
            5 => {
                // Near multiples of pi/2.
                let bits = if i % 64 == 5 { 60 } else { 16 };
                let x = self.integer(bits) * std::f64::consts::FRAC_PI_2;
                self.near(x, 2)
            }
            6 => {
                let x = self.random.with_exponent(-1022, 1023);
                let power = f64::from_bits(x.to_bits() >> 52 << 52);
                self.near(power, 16)
            }
            _ => {
                // Results in range of exponential functions and gamma, up to where they overflow.
                let unit = (self.random.next() >> 11) as f64 / (1u64 << 53) as f64;
                T::nearest((unit - 0.5) * 1500.0)
            }
        }
    }

    fn two(&mut self, i: u64) -> [T; 2] {
        let special = self.special.len() as u64;
        if i < special * special {
            return [i % special, i / special].map(|i| self.special[i as usize]);
        }
        match i % 8 {
            0..4 => {
                let any = |bits| T::from_bits(bits).value();
                let (x, y) = pair(&mut self.random, i, any);
                [T::nearest(x), T::nearest(y)]
            }
            4 => {
                // Powers of two, or nearly, by simple fractions.
                let exponent = self.integer(11);
                let x = self.near(exponent.exp2(), 2);
                let y = self.integer(8) / (self.random.next() % 4 + 1) as f64;
                [x, self.near(y, 1)]
            }
            5 => {
                let (x, y) = (self.integer(12), self.integer(8));
                [T::nearest(x), T::nearest(y / 2.0)]
            }
            6 => {
                // Multiples of a half of each other, or nearly.
                let y = match i % 16 {
                    6 => self.any(),
                    _ => T::nearest(self.random.with_exponent(-14, 14)),
                };
                let x = y.value() * self.integer(8) / 2.0;
                [self.near(x, 2), y]
            }
            _ if i % 16 == 7 => {
                // Subnormal numbers and their neighbours.
                let least = T::TYPE.precision().min_positive();
                let mut tiny = || {
                    let below = self.random.next() % (4 * T::nearest(least).bits());
                    T::from_bits(below).value() * if i % 32 == 7 { 1.0 } else { -1.0 }
                };
                [tiny(), tiny()].map(T::nearest)
            }
            _ => {
                // Near 1, to a power that is in range.
                let off = self
                    .random
                    .with_exponent(-T::TYPE.precision().stored_bits(), -3);
                let y = self.random.with_exponent(-2, 9) / off;
                [T::nearest(1.0 + off), T::nearest(y)]
            }
        }
    }

    fn three(&mut self, i: u64) -> [T; 3] {
        let [x, y] = self.two(i);
        let special = self.special.len() as u64;
        let z = match (i / 8) % 4 {
            _ if i < special * special => self.special[(self.random.next() % special) as usize],
            // A sum that cancels.
            0 => self.near(-(x.value() * y.value()), 4),
            1 => self.any(),
            2 => T::nearest((self.random.next() >> 11) as f64 / (1u64 << 53) as f64),
            _ => T::nearest(self.random.with_exponent(-6, 6)),
        };
        [x, y, z]
    }

    fn with_integer(&mut self, i: u64) -> (T, i32) {
        let special = self.special.len() as u64;
        if i < special * INTEGERS.len() as u64 {
            let x = self.special[(i % special) as usize];
            return (x, INTEGERS[(i / special) as usize]);
        }
        let n = match i % 4 {
            0 => self.random.next() as i32,
            1 => (self.random.next() % 64) as i32 - 32,
            2 => (self.random.next() % 4096) as i32 - 2048,
            _ => (self.random.next() as i32) >> (self.random.next() % 32),
        };
        let x = match (i / 4) % 4 {
            0 | 1 if plain_name(self.func) == "pown" => {
                // A base whose power is in range.
                let range = match T::TYPE {
                    Type::Half => 20.0,
                    Type::Float => 140.0,
                    Type::Double => 1070.0,
                };
                let spread = range / f64::from(n).abs().max(1.0);
                let sign = 1f64.copysign(self.random.next() as i64 as f64);
                T::nearest(sign * (spread * self.random.with_exponent(-4, -1)).exp2())
            }
            0 => self.any(),
            1 => T::nearest(self.random.with_exponent(-14, 14)),
            2 => {
                // Perfect powers, or nearly.
                let root = self.integer(8);
                let power = root.powi((self.random.next() % 12) as i32);
                self.near(power, 1)
            }
            _ => {
                let exponent = self.integer(11);
                self.near(exponent.exp2(), 4)
            }
        };
        (x, n)
    }
}
