//! Throughput, in nanoseconds an element.

use std::hint::black_box;
use std::time::Instant;

use brolga_compiler::{Isa, Target};
use brolga_mathlib::{Func, Signature};

use super::geometric::Geometric;
use super::kernel::{ELEMENTS, Kernel};
use super::number::Type;

/// Runs of which the fastest counts: others have been interrupted.
const RUNS: usize = 60;

/// Ordinary arguments, from 0 to 1 times this and above this.
fn arguments(func: Func) -> (f64, f64) {
    match func.name() {
        "acosh" => (1.0, 10.0),
        "asin" | "acos" | "asinpi" | "acospi" | "atanh" => (-0.99, 1.98),
        "log" | "log2" | "log10" | "log1p" | "native_log" | "native_log2" | "native_log10"
        | "half_log" | "half_log2" | "half_log10" | "tgamma" | "lgamma" | "lgamma_r" | "pow"
        | "powr" | "native_powr" | "half_powr" | "rsqrt" | "half_rsqrt" | "native_rsqrt"
        | "sqrt" => (0.1, 10.0),
        _ => (-5.0, 10.0),
    }
}

fn argument(func: Func, index: usize, i: usize) -> f64 {
    let (from, size) = arguments(func);
    from + size * scattered(index, i)
}

/// Numbers from 0 to 1 in no order that a branch predictor learns.
fn scattered(index: usize, i: usize) -> f64 {
    let at = (i * 2_654_435_761 * (index + 1)) % 1_000_003;
    at as f64 / 1_000_003.0
}

/// What code is timed for, and how many work-items a vector.
const COLUMNS: [(Isa, u8); 4] = [
    (Isa::Sse42, 1),
    (Isa::Sse42, 8),
    (Isa::Avx2, 16),
    (Isa::Avx512, 16),
];

/// Times in the order of the table's columns; none for instruction sets that this machine lacks.
pub fn columns(time: impl Fn((Target, u8)) -> f64) -> [Option<f64>; 4] {
    let best = Target::detect();
    COLUMNS.map(|(isa, width)| (isa <= best.isa).then(|| time((best.at_most(isa), width))))
}

/// Nanoseconds for an element.
pub fn nanoseconds(func: Func, ty: Type, how: (Target, u8)) -> f64 {
    let mut kernel = Kernel::of(func, ty, how);
    for index in 0..func.signature().arity() {
        let integers = matches!(
            (func.signature(), index),
            (Signature::WithInt, 1) | (Signature::OfInt, 0)
        );
        for i in 0..ELEMENTS {
            let x = argument(func, index, i);
            match ty {
                _ if integers => kernel.argument(index)[i] = (i % 37) as i32 - 18,
                Type::Half => kernel.argument(index)[i] = half::f16::from_f64(x),
                Type::Float => kernel.argument(index)[i] = x as f32,
                Type::Double => kernel.argument(index)[i] = x,
            }
        }
    }
    fastest(|| kernel.run())
}

/// Likewise for a vector.
pub fn of_vectors(function: Geometric, ty: Type, how: (Target, u8)) -> f64 {
    let mut kernel = function.kernel(ty, how);
    for index in 0..function.arity() {
        for i in 0..ELEMENTS * function.stride() {
            let x = scattered(index, i) * 10.0 - 5.0;
            match ty {
                Type::Half => kernel.argument(index)[i] = half::f16::from_f64(x),
                Type::Float => kernel.argument(index)[i] = x as f32,
                Type::Double => kernel.argument(index)[i] = x,
            }
        }
    }
    fastest(|| kernel.run())
}

fn fastest(mut run: impl FnMut()) -> f64 {
    run();
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    let best = (0..RUNS).map(time).min().expect("some runs");
    best.as_secs_f64() * 1e9 / ELEMENTS as f64
}

/// The function of the C library, where Rust's standard library calls it.
pub fn libm(func: Func, ty: Type) -> Option<f64> {
    macro_rules! table {
        ($($name:literal $method:ident),* $(,)?) => {
            match (func.name(), ty) {
                $(($name, Type::Float) => one(func, |x| x as f32, f32::$method),
                ($name, Type::Double) => one(func, |x| x, f64::$method),)*
                ("atan2", Type::Float) => two(func, |x| x as f32, f32::atan2),
                ("atan2", Type::Double) => two(func, |x| x, f64::atan2),
                ("hypot", Type::Float) => two(func, |x| x as f32, f32::hypot),
                ("hypot", Type::Double) => two(func, |x| x, f64::hypot),
                ("pow", Type::Float) => two(func, |x| x as f32, f32::powf),
                ("pow", Type::Double) => two(func, |x| x, f64::powf),
                _ => return None,
            }
        };
    }
    Some(table!(
        "acos" acos, "asin" asin, "atan" atan, "cbrt" cbrt, "cos" cos, "cosh" cosh, "exp" exp,
        "exp2" exp2, "expm1" exp_m1, "log" ln, "log2" log2, "log10" log10, "log1p" ln_1p,
        "sin" sin, "sinh" sinh, "tan" tan, "tanh" tanh,
    ))
}

fn one<T: Copy>(func: Func, make: impl Fn(f64) -> T, f: impl Fn(T) -> T) -> f64 {
    let inputs: Vec<T> = (0..ELEMENTS).map(|i| make(argument(func, 0, i))).collect();
    let mut outputs = inputs.clone();
    fastest(|| {
        for (to, &x) in outputs.iter_mut().zip(&inputs) {
            *to = f(x);
        }
        black_box(&outputs);
    })
}

fn two<T: Copy>(func: Func, make: impl Fn(f64) -> T, f: impl Fn(T, T) -> T) -> f64 {
    let inputs: Vec<(T, T)> = (0..ELEMENTS)
        .map(|i| (make(argument(func, 0, i)), make(argument(func, 1, i))))
        .collect();
    let mut outputs: Vec<T> = inputs.iter().map(|&(x, _)| x).collect();
    fastest(|| {
        for (to, &(x, y)) in outputs.iter_mut().zip(&inputs) {
            *to = f(x, y);
        }
        black_box(&outputs);
    })
}
