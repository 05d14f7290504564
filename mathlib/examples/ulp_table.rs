//! Prints the largest error of each function against a correctly rounded reference, where it is,
//! the bound, and how fast the plain Rust form runs.
//!
//! `cargo run --release --example ulp_table -- [stride] [points] [name...]`: `float` functions of
//! one argument are tried at every `stride`-th encoding (1 is all of them; default 257), the others
//! at `points` places (default 2 million).

#[path = "../tests/support/mod.rs"]
mod support;

use brolga_mathlib::{Accuracy, Func, eval};
use std::time::Instant;
use support::{
    BINARY, Binary, RELAXED, Random, UNARY, Unary, error_f32, error_f64, pair, relaxed_limit,
};

struct Worst {
    error: f64,
    at: (f64, f64),
}

impl Worst {
    fn new() -> Worst {
        Worst {
            error: 0.0,
            at: (0.0, 0.0),
        }
    }

    fn see(&mut self, error: f64, x: f64, y: f64) {
        if error > self.error {
            *self = Worst { error, at: (x, y) };
        }
    }

    fn print(&self, func: Func, format: &str, bound: Accuracy, rate: f64) {
        let bound = match bound {
            Accuracy::Ulp(ulp) if self.error > ulp => format!("{ulp} EXCEEDED"),
            Accuracy::Ulp(ulp) => format!("{ulp}"),
            other => format!("{other:?}"),
        };
        println!(
            "{:13} {format} {:10.3} {bound:>12} {rate:8.1} Mop/s  at {:e} {:e}",
            func.name(),
            self.error,
            self.at.0,
            self.at.1
        );
    }
}

/// Million evaluations a second.
fn rate<T: Copy + std::iter::Sum>(inputs: &[T], f: impl Fn(T) -> T) -> f64 {
    let start = Instant::now();
    let sum: T = inputs.iter().map(|&x| f(x)).sum();
    std::hint::black_box(sum);
    inputs.len() as f64 / start.elapsed().as_secs_f64() / 1e6
}

fn unary_f32(u: &Unary, stride: usize) {
    let mut worst = Worst::new();
    for bits in (0..=u64::from(u32::MAX)).step_by(stride) {
        let x = f32::from_bits(bits as u32);
        if x.abs() > relaxed_limit(u.func) {
            continue;
        }
        let got = eval(u.func, &[x]);
        let rounded = (u.single)(x);
        // The exact error is only of interest where the result is not the nearest.
        if got.to_bits() != rounded.to_bits() {
            let x = f64::from(x);
            worst.see(error_f32(got, (u.double)(x)), x, 0.0);
        }
    }
    let inputs: Vec<f32> = (0..100_000).map(|i| 0.1 + i as f32 * 1e-5).collect();
    let rate = rate(&inputs, |x| eval(u.func, &[x]));
    worst.print(u.func, "f32", u.func.accuracy()[1], rate);
}

fn unary_f64(u: &Unary, points: u64) {
    let mut worst = Worst::new();
    let mut random = Random(1);
    for i in 0..points {
        let x = if i % 2 == 0 {
            f64::from_bits(random.next())
        } else {
            random.with_exponent(-12, 11)
        };
        worst.see(error_f64(eval(u.func, &[x]), (u.double)(x)), x, 0.0);
    }
    let inputs: Vec<f64> = (0..100_000).map(|i| 0.1 + f64::from(i) * 1e-5).collect();
    let rate = rate(&inputs, |x| eval(u.func, &[x]));
    worst.print(u.func, "f64", u.func.accuracy()[2], rate);
}

fn binary(b: &Binary, points: u64) {
    let mut worst = Worst::new();
    let mut random = Random(2);
    for i in 0..points {
        let (x, y) = pair(&mut random, i, |bits| {
            f64::from(f32::from_bits(bits as u32))
        });
        let (x, y) = (x as f32, y as f32);
        let got = eval(b.func, &[x, y]);
        let (x, y) = (f64::from(x), f64::from(y));
        worst.see(error_f32(got, (b.double)(x, y)), x, y);
    }
    let inputs: Vec<f32> = (0..100_000).map(|i| 0.1 + i as f32 * 1e-5).collect();
    let speed = rate(&inputs, |x| eval(b.func, &[x, 1.3]));
    worst.print(b.func, "f32", b.func.accuracy()[1], speed);

    let mut worst = Worst::new();
    for i in 0..points {
        let (x, y) = pair(&mut random, i, f64::from_bits);
        worst.see(error_f64(eval(b.func, &[x, y]), (b.double)(x, y)), x, y);
    }
    let inputs: Vec<f64> = (0..100_000).map(|i| 0.1 + f64::from(i) * 1e-5).collect();
    let speed = rate(&inputs, |x| eval(b.func, &[x, 1.3]));
    worst.print(b.func, "f64", b.func.accuracy()[2], speed);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u64| {
        arguments.get(i).map_or(default, |s| {
            s.parse().expect("stride and points are numbers")
        })
    };
    let stride = number(0, 257) as usize;
    let points = number(1, 2_000_000);
    let names = arguments.get(2..).unwrap_or_default();
    let wanted = |func: Func| names.is_empty() || names.iter().any(|n| n == func.name());
    for u in UNARY.iter().filter(|u| wanted(u.func)) {
        unary_f32(u, stride);
        unary_f64(u, points);
    }
    for u in RELAXED.iter().filter(|u| wanted(u.func)) {
        unary_f32(u, stride);
    }
    for b in BINARY.iter().filter(|b| wanted(b.func)) {
        binary(b, points);
    }
}
