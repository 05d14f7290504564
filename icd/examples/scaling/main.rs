//! How compile time grows with the size of a program: `cargo run --release -p brolga-icd --example
//! scaling`.
//!
//! Makes SPIR-V of several shapes with 100, 1,000, 10,000 and 100,000 instructions and prints the
//! processor time that each stage of the compiler takes for an instruction, and how many times as
//! much that is for the largest program as for the smallest. With `--drivers`, the same modules go
//! to every OpenCL CPU driver of the machine as well.
//!
//! ```text
//! shapes.rs   the programs
//! worker.rs   what a driver takes from SPIR-V to a finished launch; runs in a process that has one driver loaded
//! ```

mod shapes;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use brolga_compiler::image::Bindings;
use brolga_compiler::times::Stopwatch;
use brolga_compiler::{NdRange, Program, Times};
use serde_json::json;

use brolga_icd_testing::drivers::{self, Candidate};
use brolga_icd_testing::host::Result;
use shapes::{SHAPES, Shape};

const USAGE: &str = "\
Usage: scaling [options]

  --drivers        also by way of every OpenCL CPU driver that is found
  --driver PATH    by way of this one too (a library or an .icd file); may be repeated
  --only NAMES     only these shapes (separated by commas)
  --max N          programs of at most N instructions (default 100000)
  --write FOLDER   only write the modules there, as SHAPE-SIZE.spv
";

const SIZES: [usize; 4] = [100, 1_000, 10_000, 100_000];

/// Small programs are compiled again until this has passed; the best time counts.
const BUDGET: Duration = Duration::from_millis(300);

/// A driver that took this long for one size is not asked for the next, ten times as long.
const TIME_LIMIT: f64 = 15.0;

fn main() -> ExitCode {
    let result = match std::env::args().nth(1).as_deref() {
        Some("--worker") => worker::serve(),
        Some("--help" | "-h") => {
            print!("{USAGE}");
            Ok(())
        }
        _ => run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("scaling: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut only: Vec<String> = Vec::new();
    let mut max = usize::MAX;
    let mut with_drivers = false;
    let mut named = Vec::new();
    let mut write = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| format!("{argument} needs a value\n{USAGE}"))
        };
        match argument.as_str() {
            "--drivers" => with_drivers = true,
            "--driver" => {
                with_drivers = true;
                named.push(PathBuf::from(value()?));
            }
            "--only" => only.extend(value()?.split(',').map(str::to_owned)),
            "--max" => max = value()?.parse().map_err(|_| "--max needs a number")?,
            "--write" => write = Some(PathBuf::from(value()?)),
            _ => return Err(format!("unknown option {argument}\n{USAGE}")),
        }
    }
    let shapes: Vec<&Shape> = SHAPES
        .iter()
        .filter(|shape| only.is_empty() || only.iter().any(|name| name == shape.name))
        .collect();
    let sizes: Vec<usize> = SIZES.into_iter().filter(|&size| size <= max).collect();
    if let Some(folder) = write {
        for shape in shapes {
            for &size in &sizes {
                let path = folder.join(format!("{}-{size}.spv", shape.name));
                std::fs::write(&path, bytes(&shape.module(size).words))
                    .map_err(|e| format!("{}: {e}", path.display()))?;
            }
        }
        return Ok(());
    }
    own(&shapes, &sizes);
    if with_drivers {
        peers(&shapes, &sizes, &named)?;
    }
    Ok(())
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Processor time of the stages, in the order of the table's columns.
#[derive(Clone, Copy)]
struct Stages {
    translate: Duration,
    kernels: Times,
}

impl Stages {
    fn total(&self) -> Duration {
        self.translate + self.kernels.total()
    }

    /// Everything before `codegen`.
    fn ours(&self) -> Duration {
        self.total() - self.kernels.machine
    }

    fn columns(&self) -> [Duration; 7] {
        let times = &self.kernels;
        [
            self.translate,
            times.prepare,
            times.vectorize,
            times.lower,
            self.ours(),
            times.machine,
            self.total(),
        ]
    }
}

/// Prints the table of the compiler's stages.
fn own(shapes: &[&Shape], sizes: &[usize]) {
    println!("Processor time for an instruction of SPIR-V, in microseconds\n");
    println!(
        "{:<14}{:>13}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}",
        "shape",
        "instructions",
        "translate",
        "transform",
        "vectorize",
        "lower",
        "so far",
        "codegen",
        "all"
    );
    for shape in shapes {
        let mut rows: Vec<[f64; 7]> = Vec::new();
        for &size in sizes {
            let module = shape.module(size);
            print!("{:<14}{:>13}", shape.name, module.instructions);
            match measure(&module.words) {
                Ok(stages) => {
                    let row = stages
                        .columns()
                        .map(|time| time.as_secs_f64() * 1e6 / module.instructions as f64);
                    row.iter().for_each(|time| print!("{time:>11.2}"));
                    rows.push(row);
                }
                Err(error) => print!("  {error}"),
            }
            println!();
        }
        if let [first, .., last] = &rows[..] {
            print!("{:<27}", "  largest / smallest");
            for (first, last) in first.iter().zip(last) {
                print!("{:>10.2}x", last / first);
            }
            println!();
        }
    }
}

/// Compiles a module's kernels for the usual launch, several times if it is small; the best time.
fn measure(words: &[u32]) -> std::result::Result<Stages, String> {
    let start = Instant::now();
    let mut best: Option<Stages> = None;
    while best.is_none() || start.elapsed() < BUDGET {
        let stages = compile(words)?;
        if best.is_none_or(|best| stages.total() < best.total()) {
            best = Some(stages);
        }
    }
    best.ok_or_else(|| "not measured".to_owned())
}

fn compile(words: &[u32]) -> std::result::Result<Stages, String> {
    let range = NdRange {
        work_dim: 1,
        global_offset: [0; 3],
        global_size: [1024, 1, 1],
        local_size: [64, 1, 1],
    };
    let mut watch = Stopwatch::start();
    let program = Program::from_spirv(&[words], &Default::default(), &Default::default())
        .map_err(|e| e.to_string())?;
    let mut stages = Stages {
        translate: watch.lap(),
        kernels: Times::default(),
    };
    for kernel in 0..program.kernels().len() {
        let key = program.launch_key(kernel, &range, Bindings::NONE);
        let code = program.compile(kernel, &key).map_err(|e| e.to_string())?;
        let (sum, times) = (&mut stages.kernels, code.times());
        sum.prepare += times.prepare;
        sum.vectorize += times.vectorize;
        sum.lower += times.lower;
        sum.machine += times.machine;
    }
    Ok(stages)
}

/// Prints a table of drivers.
fn peers(shapes: &[&Shape], sizes: &[usize], named: &[PathBuf]) -> Result<()> {
    let mut candidates: Vec<Candidate> = Vec::new();
    for driver in drivers::find(named)? {
        match Candidate::start(&driver) {
            Ok(candidate) if candidate.info["il"] == json!(true) => candidates.push(candidate),
            Ok(_) => eprintln!("{}: takes no SPIR-V", driver.library.display()),
            Err(error) => eprintln!("{}: left out: {error}", driver.library.display()),
        }
    }
    println!(
        "\nProcessor time for an instruction from SPIR-V to the end of a first launch of each kernel, in microseconds\n"
    );
    print!("{:<14}{:>13}", "shape", "instructions");
    for candidate in &candidates {
        let name = candidate.info["platform"].as_str().unwrap_or("?");
        print!("{:>14}", name.chars().take(12).collect::<String>());
    }
    println!();
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    for shape in shapes {
        let mut first = vec![None; candidates.len()];
        let mut last = vec![None; candidates.len()];
        let mut tired = vec![false; candidates.len()];
        for &size in sizes {
            let module = shape.module(size);
            let path = folder.path().join(format!("{}-{size}.spv", shape.name));
            std::fs::write(&path, bytes(&module.words)).map_err(|e| e.to_string())?;
            print!("{:<14}{:>13}", shape.name, module.instructions);
            for (i, candidate) in candidates.iter_mut().enumerate() {
                let request = json!({ "il": path, "kernels": module.kernels });
                let name = format!("{}, {size}", shape.name);
                let repeat = if size <= 1000 { 3 } else { 1 };
                let time = (0..repeat)
                    .filter(|_| !tired[i])
                    .filter_map(|_| candidate.measure_fresh(&name, &request))
                    .filter_map(|answer| answer["seconds"].as_f64())
                    .min_by(f64::total_cmp);
                match time {
                    Some(seconds) => {
                        let each = seconds * 1e6 / module.instructions as f64;
                        print!("{each:>14.1}");
                        first[i].get_or_insert(each);
                        last[i] = Some(each);
                        tired[i] = seconds > TIME_LIMIT;
                    }
                    None => {
                        print!("{:>14}", if tired[i] { "not tried" } else { "failed" });
                        (last[i], tired[i]) = (None, true);
                    }
                }
            }
            println!();
        }
        print!("{:<27}", "  largest / smallest");
        for (first, last) in first.iter().zip(&last) {
            match (first, last) {
                (Some(first), Some(last)) => print!("{:>13.2}x", last / first),
                _ => print!("{:>14}", "-"),
            }
        }
        println!();
    }
    Ok(())
}
