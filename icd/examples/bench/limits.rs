//! What the machine can do at most: multiply-adds of single precision, copying, and adding what two
//! streams have to a third, which is more memory than the cache has where copying is not. Measured
//! by code of this program, on all cores at once, in the same run as the kernels.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What a run of a benchmark cannot do without.
#[derive(Clone, Copy)]
pub enum Work {
    /// Floating-point operations, of which a multiply-add is two.
    Operations(f64),
    /// Bytes read and written, each byte of a buffer once.
    Bytes(f64),
    /// The same of a kernel that has two inputs and an output of one size.
    Sums(f64),
}

impl Work {
    pub fn json(self) -> Value {
        match self {
            Work::Operations(count) => json!({ "operations": count }),
            Work::Bytes(count) => json!({ "bytes": count }),
            Work::Sums(count) => json!({ "bytes": count, "bytes of sums": count }),
        }
    }
}

/// The best rates seen, each second.
#[derive(Default)]
pub struct Limits {
    operations: f64,
    bytes: f64,
    sums: f64,
}

/// Of each measurement: as long as that of a kernel.
const TIME: Duration = Duration::from_millis(5);

impl Limits {
    /// Measures once more.
    pub fn measure(&mut self) {
        self.operations = self.operations.max(on_all_cores(multiply_adds));
        self.bytes = self.bytes.max(on_all_cores(copies));
        self.sums = self.sums.max(on_all_cores(sums));
    }

    /// What part of its limits work done in so many seconds is, if there are any.
    pub fn share(&self, work: &Value, seconds: f64) -> Option<String> {
        let share = |count: &Value, limit: f64, of: &str| {
            let rate = count.as_f64()? / seconds;
            (limit > 0.0).then(|| format!("{:.0} % of {of}", 100.0 * rate / limit))
        };
        let shares = [
            share(&work["operations"], self.operations, "multiply-adds"),
            share(&work["bytes"], self.bytes, "copying"),
            share(&work["bytes of sums"], self.sums, "adding"),
        ];
        let shares: Vec<String> = shares.into_iter().flatten().collect();
        (!shares.is_empty()).then(|| shares.join(", "))
    }
}

impl std::fmt::Display for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rates = [self.operations, self.bytes, self.sums];
        let [operations, bytes, sums] = rates.map(|rate| rate / 1e9);
        write!(
            f,
            "the machine: {operations:.0} GFLOP/s of multiply-adds, copying reads and writes \
             {bytes:.1} GB/s, adding {sums:.1} GB/s"
        )
    }
}

/// The sum of the rates that all cores reach together.
fn on_all_cores(work: fn() -> f64) -> f64 {
    let cores = thread::available_parallelism().map_or(1, |count| count.get());
    thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        threads.into_iter().filter_map(|t| t.join().ok()).sum()
    })
}

/// Repeats work for a while: how much was done each second.
fn rate(amount: f64, mut work: impl FnMut()) -> f64 {
    work();
    let start = Instant::now();
    let mut times = 0.0;
    while start.elapsed() < TIME {
        work();
        times += 1.0;
    }
    amount * times / start.elapsed().as_secs_f64()
}

/// Two floating-point operations each; 0 where the machine has no instruction for it.
fn multiply_adds() -> f64 {
    const STEPS: usize = 1000;
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the machine has the instructions.
            return rate((STEPS * 12 * 16 * 2) as f64, || unsafe { x64::wide(STEPS) });
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the machine has the instructions.
            return rate((STEPS * 12 * 8 * 2) as f64, || unsafe { x64::half(STEPS) });
        }
    }
    0.0
}

/// Chains that do not depend on each other, more than an instruction takes cycles on two units.
#[cfg(target_arch = "x86_64")]
mod x64 {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps, _mm512_fmadd_ps, _mm512_set1_ps};
    use std::hint::black_box;

    macro_rules! chains {
        ($name:ident, $features:literal, $splat:ident, $fma:ident) => {
            #[target_feature(enable = $features)]
            pub fn $name(steps: usize) {
                let factor = $splat(black_box(0.5));
                let mut sums = [factor; 12];
                for _ in 0..steps {
                    for sum in &mut sums {
                        *sum = $fma(*sum, factor, factor);
                    }
                }
                black_box(sums);
            }
        };
    }

    #[target_feature(enable = "avx2")]
    pub fn add(a: &[f32], b: &[f32], to: &mut [f32]) {
        super::add(a, b, to);
    }

    chains!(wide, "avx512f", _mm512_set1_ps, _mm512_fmadd_ps);
    chains!(half, "avx2,fma", _mm256_set1_ps, _mm256_fmadd_ps);
}

/// Bytes of a stream, on each of two cores as many as the kernels that stream have.
const BYTES: usize = 8 << 20;

/// Bytes read and written.
fn copies() -> f64 {
    let from = vec![1_u8; BYTES];
    let mut to = vec![2_u8; BYTES];
    rate(2.0 * BYTES as f64, || {
        to.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(&mut to);
    })
}

/// The same of `to = a + 3 b`.
fn sums() -> f64 {
    let [a, b, mut to] = [1.0_f32, 2.0, 3.0].map(|value| vec![value; BYTES / size_of::<f32>()]);
    rate(3.0 * BYTES as f64, || {
        let (a, b) = (std::hint::black_box(&a), std::hint::black_box(&b));
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has the instructions.
            unsafe { x64::add(a, b, &mut to) };
            std::hint::black_box(&mut to);
            return;
        }
        add(a, b, &mut to);
        std::hint::black_box(&mut to);
    })
}

#[inline(always)]
fn add(a: &[f32], b: &[f32], to: &mut [f32]) {
    for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
        *to = a + 3.0 * b;
    }
}
