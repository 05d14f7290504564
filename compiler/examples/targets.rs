//! Code and compile time of the kernels of SPIR-V modules, for each target of this machine: bytes
//! of machine code, and processor time by stage.
//!
//! `cargo run --release -p brolga-compiler --example targets -- MODULE.spv...`
//!
//! Kernels are compiled for a linear launch of whole chunks, several times over; the best time of
//! each stage counts.

use std::time::{Duration, Instant};

use brolga_compiler::image::Bindings;
use brolga_compiler::{Isa, NdRange, Program, Target, Times, spirv};

/// Each kernel is compiled again until this has passed.
const BUDGET: Duration = Duration::from_millis(100);

fn main() {
    let best = Target::detect();
    let mut targets = vec![Target::cranelift()];
    targets.extend((best.isa == Isa::Avx512).then_some(Target::avx2()));
    targets.extend((best.isa > Isa::Sse42).then_some(best));
    println!(
        "Processor time in microseconds\n\n{:<26}{:>10}{:>7}{:>9}{:>11}{:>11}{:>9}{:>9}{:>9}",
        "kernel", "", "width", "bytes", "transform", "vectorize", "lower", "codegen", "all"
    );
    let mut sums = vec![Sum::default(); targets.len()];
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).expect("a readable file");
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect();
        let module = spirv::translate(&[&words], &Default::default(), &Default::default())
            .unwrap_or_else(|error| panic!("{path}: {error}"));
        for kernel in 0..module.kernels.len() {
            for (target, sum) in targets.iter().zip(&mut sums) {
                let compile = || {
                    let program = Program::for_target(module.clone(), &Default::default(), target)
                        .unwrap_or_else(|error| panic!("{path}: {error}"));
                    compile(&program, kernel)
                };
                let measured = measure(compile);
                let name = &module.kernels[kernel].info.name;
                print_row(name, target.isa.name(), &measured);
                sum.add(&measured);
            }
        }
    }
    println!();
    let first = sums[0];
    for (target, sum) in targets.iter().zip(&sums) {
        println!(
            "{:<8} {:>9} bytes ({:.2}), {:>9.0} us in codegen ({:.2}), {:>9.0} us in all ({:.2})",
            target.isa.name(),
            sum.bytes,
            sum.bytes as f64 / first.bytes as f64,
            sum.codegen,
            sum.codegen / first.codegen,
            sum.all,
            sum.all / first.all,
        );
    }
    println!(
        "\nIn brackets: as a multiple of {}'s.",
        targets[0].isa.name()
    );
}

/// What came of compiling a kernel.
struct Measured {
    width: u32,
    bytes: usize,
    /// Transform, vectorize, lower, codegen.
    stages: [f64; 4],
}

#[derive(Clone, Copy, Default)]
struct Sum {
    bytes: usize,
    codegen: f64,
    all: f64,
}

impl Sum {
    fn add(&mut self, measured: &Measured) {
        self.bytes += measured.bytes;
        self.codegen += measured.stages[3];
        self.all += measured.stages.iter().sum::<f64>();
    }
}

fn compile(program: &Program, kernel: usize) -> Measured {
    let range = NdRange {
        work_dim: 1,
        global_offset: [0; 3],
        global_size: [1024, 1, 1],
        local_size: [64, 1, 1],
    };
    let key = program.launch_key(kernel, &range, Bindings::NONE);
    let code = program
        .compile(kernel, &key)
        .unwrap_or_else(|error| panic!("{}: {error}", program.kernels()[kernel].name));
    let Times {
        prepare,
        vectorize,
        lower,
        machine,
        ..
    } = *code.times();
    Measured {
        width: code.width(),
        bytes: code.code_size(),
        stages: [prepare, vectorize, lower, machine].map(|time| time.as_secs_f64() * 1e6),
    }
}

fn measure(compile: impl Fn() -> Measured) -> Measured {
    let start = Instant::now();
    let mut best = compile();
    while start.elapsed() < BUDGET {
        let again = compile();
        for (best, again) in best.stages.iter_mut().zip(again.stages) {
            *best = best.min(again);
        }
    }
    best
}

fn print_row(name: &str, target: &str, measured: &Measured) {
    let [transform, vectorize, lower, codegen] = measured.stages;
    println!(
        "{name:<26}{target:>10}{:>7}{:>9}{transform:>11.0}{vectorize:>11.0}{lower:>9.0}\
         {codegen:>9.0}{:>9.0}",
        measured.width,
        measured.bytes,
        measured.stages.iter().sum::<f64>(),
    );
}
