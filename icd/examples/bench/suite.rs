//! The fixed set of benchmarks: how each is set up, and how its result is checked.
//!
//! A benchmark's host side is in one of the files below, next to the computation that checks it.
//! Every kernel is in `kernels.cl`.

#[path = "suite/arithmetic.rs"]
mod arithmetic;
#[path = "suite/bytes.rs"]
mod bytes;
#[path = "suite/cooperating.rs"]
mod cooperating;
#[path = "suite/linear.rs"]
mod linear;
#[path = "suite/streaming.rs"]
mod streaming;

use brolga_icd_testing::host::{Kernel, Program, Result, Session};

/// The program that all benchmarks are in.
pub const SOURCE: &str = include_str!("kernels.cl");

/// How large a problem to set up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// For measuring: a few milliseconds.
    Full,
    /// For first launches, where making the code is what counts.
    Tiny,
}

impl Scale {
    pub fn pick(self, full: usize, tiny: usize) -> usize {
        match self {
            Scale::Full => full,
            Scale::Tiny => tiny,
        }
    }
}

/// One launch.
pub struct Launch {
    pub kernel: Kernel,
    pub global: Vec<usize>,
    pub local: Vec<usize>,
}

/// A benchmark that is ready to run any number of times.
pub struct Prepared {
    /// Enqueued in order, then waited for.
    pub launches: Vec<Launch>,
    /// Restores the input, where a run changes it; not measured.
    pub reset: Option<Action>,
    /// Compares the buffers after a run with what the host computes.
    pub check: Action,
}

pub type Action = Box<dyn Fn(&Session) -> Result<()>>;

pub struct Benchmark {
    pub name: &'static str,
    pub prepare: fn(&Session, &Program, Scale) -> Result<Prepared>,
}

/// In the order of the report.
pub const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "copy",
        prepare: streaming::copy,
    },
    Benchmark {
        name: "triad",
        prepare: streaming::triad,
    },
    Benchmark {
        name: "saxpy",
        prepare: streaming::saxpy,
    },
    Benchmark {
        name: "matmul_naive",
        prepare: linear::matmul_naive,
    },
    Benchmark {
        name: "matmul_tiled",
        prepare: linear::matmul_tiled,
    },
    Benchmark {
        name: "spmv",
        prepare: linear::spmv,
    },
    Benchmark {
        name: "transpose",
        prepare: linear::transpose,
    },
    Benchmark {
        name: "stencil",
        prepare: linear::stencil,
    },
    Benchmark {
        name: "nbody",
        prepare: arithmetic::nbody,
    },
    Benchmark {
        name: "mandelbrot",
        prepare: arithmetic::mandelbrot,
    },
    Benchmark {
        name: "black_scholes",
        prepare: arithmetic::black_scholes,
    },
    Benchmark {
        name: "transcendental",
        prepare: arithmetic::transcendental,
    },
    Benchmark {
        name: "reduce",
        prepare: cooperating::reduce,
    },
    Benchmark {
        name: "scan",
        prepare: cooperating::scan,
    },
    Benchmark {
        name: "histogram",
        prepare: cooperating::histogram,
    },
    Benchmark {
        name: "bitonic",
        prepare: cooperating::bitonic,
    },
    Benchmark {
        name: "hash",
        prepare: bytes::hash,
    },
    Benchmark {
        name: "sharpen",
        prepare: bytes::sharpen,
    },
    Benchmark {
        name: "luma",
        prepare: bytes::luma,
    },
];

impl Prepared {
    /// One launch, nothing to restore.
    fn single(kernel: Kernel, global: &[usize], local: &[usize], check: Action) -> Self {
        Prepared {
            launches: vec![Launch {
                kernel,
                global: global.to_vec(),
                local: local.to_vec(),
            }],
            reset: None,
            check,
        }
    }
}

/// Compares floating-point results with a relative tolerance.
fn compare(
    name: &str,
    got: &[f32],
    expected: impl Iterator<Item = (usize, f64)>,
    tolerance: f64,
) -> Result<()> {
    for (at, want) in expected {
        let have = f64::from(got[at]);
        // Written so that a NaN is an error.
        let right = (have - want).abs() <= tolerance * want.abs().max(1.0);
        if !right {
            return Err(format!("{name}: element {at} is {have}, not {want}"));
        }
    }
    Ok(())
}

fn compare_exactly<T: PartialEq + std::fmt::Debug>(
    name: &str,
    got: &[T],
    expected: &[T],
) -> Result<()> {
    match got.iter().zip(expected).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(at) => Err(format!(
            "{name}: element {at} is {:?}, not {:?}",
            got[at], expected[at]
        )),
    }
}

/// Reproducible numbers, spread over all 32 bits.
fn random(count: usize) -> impl Iterator<Item = u32> {
    let mut state = 0x9e37_79b9_u32;
    (0..count).map(move |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    })
}

/// Reproducible numbers in `low..high`.
fn random_floats(count: usize, low: f32, high: f32) -> Vec<f32> {
    random(count)
        .map(|r| low + (high - low) * (r >> 8) as f32 / (1 << 24) as f32)
        .collect()
}
