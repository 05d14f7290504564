//! From nothing to every kernel of a program launched once: of the suite's programs, and of any
//! source file.
//!
//! Each time is taken in a new process, whose driver has no cache on disk. The program is then
//! built once more in the same process, with a macro more, so that a cache in memory has it not
//! either.

use std::time::{Duration, Instant};

use brolga_icd_testing::drivers::Candidate;
use brolga_icd_testing::host::{Program, Result, Session};
use serde_json::{Value, json};

use crate::report::Section;
use crate::suite::{BENCHMARKS, Scale, Source};
use crate::{Arguments, compile_to_il};

/// A source file to build, and how.
pub struct File {
    pub path: String,
    pub options: String,
}

/// Defined for the second build.
const AGAIN: &str = "-D AGAIN";

/// What buffers of kernels of which nothing is known have, in bytes.
const DATA: usize = 64 << 20;
const LOCAL: usize = 16 << 10;

/// Measures all programs on all drivers.
pub fn measure(arguments: &Arguments, candidates: &mut [Candidate]) -> Section {
    let mut wanted = Vec::new();
    for source in Source::ALL {
        let request = json!({ "do": "build", "source": source.name() });
        wanted.push((source.name().to_owned(), request));
    }
    let il = compile_to_il();
    match &il {
        Ok((_, path)) => {
            let source = Source::Kernels.name();
            let request = json!({ "do": "build", "source": source, "il": path });
            wanted.push((format!("{source}, IL"), request));
        }
        Err(error) => eprintln!("builds from IL are left out: {error}"),
    }
    for File { path, options } in &arguments.programs {
        let name = path.rsplit('/').next().unwrap_or(path);
        let request = json!({ "do": "program", "path": path, "options": options });
        wanted.push((name.to_owned(), request));
    }
    let mut rows = Vec::new();
    for (name, request) in wanted {
        eprintln!("measuring builds of {name}");
        let mut found = Vec::new();
        for _ in 0..arguments.rounds {
            for candidate in &mut *candidates {
                if !request["il"].is_null() && candidate.info["il"] != json!(true) {
                    continue;
                }
                if let Some(answer) = candidate.measure_fresh(&format!("{name}: both"), &request) {
                    found = record(candidate, &name, &answer);
                }
            }
        }
        rows.extend(found);
    }
    Section {
        title: "program",
        averaged: false,
        notes: Vec::new(),
        rows,
    }
}

/// Puts down the times of one process; the names of the rows.
fn record(candidate: &mut Candidate, name: &str, answer: &Value) -> Vec<String> {
    let mut rows = Vec::new();
    let runs = answer.as_array().into_iter().flatten();
    for (run, again) in runs.zip(["", " again"]) {
        let [build, launches] = ["build", "first launches"].map(|key| run[key].as_f64());
        let [build, launches] = [build, launches].map(Option::unwrap_or_default);
        let parts = [
            ("build", build),
            ("first launches", launches),
            ("both", build + launches),
        ];
        for (part, time) in parts {
            let row = format!("{name}: {part}{again}");
            candidate.record(&row, &json!({ "best": time, "median": time }));
            rows.push(row);
        }
    }
    rows
}

/// In the worker: a program of the suite, whose kernels are launched on tiny problems and checked.
pub fn suite(session: &Session, request: &Value) -> Result<Value> {
    let name = request["source"].as_str().unwrap_or_default();
    let source = Source::ALL.into_iter().find(|source| source.name() == name);
    let source = source.ok_or_else(|| format!("no program {name}"))?;
    let words = request["il"]
        .as_str()
        .map(|path| std::fs::read(path).map_err(|e| format!("{path}: {e}")))
        .transpose()?;
    twice(
        |options| match &words {
            Some(words) => session.build_il(words, &[]),
            None => session.build_source(source.text(), options),
        },
        |program| {
            let mut launches = Duration::ZERO;
            for benchmark in BENCHMARKS.iter().filter(|b| b.source == source) {
                let prepared = (benchmark.prepare)(session, program, Scale::Tiny)?;
                let start = Instant::now();
                prepared.run(session, &[])?;
                launches += start.elapsed();
                (prepared.check)(session)?;
            }
            Ok(launches)
        },
    )
}

/// In the worker: a source file. Its kernels get zeros and are launched with one work-group, as
/// small as can be.
pub fn file(session: &Session, request: &Value) -> Result<Value> {
    let path = request["path"].as_str().unwrap_or_default();
    let options = request["options"].as_str().unwrap_or_default();
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let data = session.buffer_from(&vec![0_u8; DATA])?;
    twice(
        |again| session.build_source(&text, &format!("-cl-kernel-arg-info {options} {again}")),
        |program| {
            let mut launches = Duration::ZERO;
            for kernel in program.kernels()? {
                let kernel = kernel.any_arguments(&data, LOCAL)?;
                let size = kernel.smallest_local_size(session)?;
                let start = Instant::now();
                session.launch(&kernel, &size, &size)?;
                session.finish()?;
                launches += start.elapsed();
            }
            Ok(launches)
        },
    )
}

fn twice(
    build: impl Fn(&str) -> Result<Program>,
    launch: impl Fn(&Program) -> Result<Duration>,
) -> Result<Value> {
    let mut runs = Vec::new();
    for options in ["", AGAIN] {
        let start = Instant::now();
        let program = build(options)?;
        let build = start.elapsed().as_secs_f64();
        let launches = launch(&program)?.as_secs_f64();
        runs.push(json!({ "build": build, "first launches": launches }));
    }
    Ok(Value::Array(runs))
}
