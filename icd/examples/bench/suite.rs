//! The fixed set of benchmarks: how each is set up, and how its result is checked.
//!
//! A benchmark's host side is in one of the files below, next to the computation that checks it.
//! Kernels are in `kernels.cl`, and those that read or write images in `images.cl`.

#[path = "suite/arithmetic.rs"]
mod arithmetic;
#[path = "suite/bytes.rs"]
mod bytes;
#[path = "suite/cooperating.rs"]
mod cooperating;
#[path = "suite/images.rs"]
mod images;
#[path = "suite/linear.rs"]
mod linear;
#[path = "suite/sampling.rs"]
mod sampling;
#[path = "suite/streaming.rs"]
mod streaming;

use crate::limits::Work;
use brolga_icd_testing::host::{Kernel, Program, Result, Session};

/// A program that benchmarks are in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    Kernels,
    Images,
}

impl Source {
    pub const ALL: [Source; 2] = [Source::Kernels, Source::Images];

    pub fn name(self) -> &'static str {
        match self {
            Source::Kernels => "kernels",
            Source::Images => "images",
        }
    }

    pub fn text(self) -> &'static str {
        match self {
            Source::Kernels => include_str!("kernels.cl"),
            Source::Images => include_str!("images.cl"),
        }
    }
}

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
    pub work: Option<Work>,
}

pub type Action = Box<dyn Fn(&Session) -> Result<()>>;

pub struct Benchmark {
    pub name: &'static str,
    pub source: Source,
    pub prepare: Prepare,
}

/// In the order of the report.
pub const BENCHMARKS: &[Benchmark] = &[
    Benchmark::new("copy", streaming::copy),
    Benchmark::new("triad", streaming::triad),
    Benchmark::new("float8_sums", streaming::float8_sums),
    Benchmark::new("saxpy", streaming::saxpy),
    Benchmark::new("matmul_naive", linear::matmul_naive),
    Benchmark::new("matmul_tiled", linear::matmul_tiled),
    Benchmark::new("spmv", linear::spmv),
    Benchmark::new("transpose", linear::transpose),
    Benchmark::new("stencil", linear::stencil),
    Benchmark::new("nbody", arithmetic::nbody),
    Benchmark::new("mandelbrot", arithmetic::mandelbrot),
    Benchmark::new("black_scholes", arithmetic::black_scholes),
    Benchmark::new("transcendental", arithmetic::transcendental),
    Benchmark::new("reduce", cooperating::reduce),
    Benchmark::new("scan", cooperating::scan),
    Benchmark::new("histogram", cooperating::histogram),
    Benchmark::new("bitonic", cooperating::bitonic),
    Benchmark::new("hash", bytes::hash),
    Benchmark::new("sharpen", bytes::sharpen),
    Benchmark::new("luma", bytes::luma),
    Benchmark::of_images("image_blur", images::blur),
    Benchmark::of_images("image_resize", images::resize),
    Benchmark::of_images("image_rotate", images::rotate),
    Benchmark::of_images("image_convert", images::convert),
    Benchmark::of_images("image_slice", images::slice),
    Benchmark::of_images("image_convolve", images::convolve),
    Benchmark::of_images("image_histogram", images::histogram),
];

type Prepare = fn(&Session, &Program, Scale) -> Result<Prepared>;

impl Benchmark {
    const fn new(name: &'static str, prepare: Prepare) -> Self {
        Benchmark {
            name,
            source: Source::Kernels,
            prepare,
        }
    }

    const fn of_images(name: &'static str, prepare: Prepare) -> Self {
        Benchmark {
            name,
            source: Source::Images,
            prepare,
        }
    }
}

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
            work: None,
        }
    }

    fn doing(self, work: Work) -> Self {
        Prepared {
            work: Some(work),
            ..self
        }
    }

    /// Runs it once, with another local size than its own if one is given.
    pub fn run(&self, session: &Session, local: &[usize]) -> Result<()> {
        for launch in &self.launches {
            let local = match local {
                [] => &launch.local,
                given => given,
            };
            session.launch(&launch.kernel, &launch.global, local)?;
        }
        session.finish()
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
