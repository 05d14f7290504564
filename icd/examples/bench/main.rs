//! Benchmarks: a fixed set of kernels on Brolga and on every other OpenCL CPU driver of the
//! machine.
//!
//! An example of the `icd` crate because it is an application: it knows drivers only through the C
//! interface and the loader, and compiling it with the crate's tests keeps it from rotting.
//!
//! ```text
//! suite.rs, suite/   the benchmarks: kernels, inputs, checks
//! worker.rs          measures; runs in a process that has one driver loaded
//! builds.rs          from nothing to every kernel of a program launched once
//! functions.rs       rates of the built-in functions
//! limits.rs          what the machine can do at most
//! local_sizes.rs     the local size that the driver chooses beside given ones
//! report.rs          ratios and JSON
//! ```
//!
//! Other programs run on the machine meanwhile, so each measurement goes round the drivers several
//! times and the best time counts.

mod builds;
mod functions;
mod limits;
mod local_sizes;
mod report;
mod suite;
mod worker;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::{Value, json};

use brolga_icd_testing::drivers::{self, Candidate, Driver};
use brolga_icd_testing::host::Result;
use limits::Limits;
use report::Section;
use suite::Source;

const USAGE: &str = "\
Usage: bench [options]

  --driver PATH    measure this driver too (a library or an .icd file); may be repeated
  --only NAMES     only these benchmarks (separated by commas)
  --rounds N       go round the drivers N times (default 3)
  --seconds S      per benchmark, driver and round (default 0.25)
  --kernels        only the kernels' times, no builds, latencies and transfers
  --width          compare Brolga with itself at BROLGA_WIDTH=1 instead of with other drivers
  --frontend       compare Brolga with itself at BROLGA_FRONTEND=clang, too
  --builds         only the times from nothing to first launches
  --overheads      only what launches, events and transfers cost
  --functions      only the rates of the built-in functions; --only and --types choose some
  --types NAMES    of these types (half, float, double)
  --isa NAMES      Brolga with these values of BROLGA_ISA, too (separated by commas)
  --program FILE   build this OpenCL C, too, and launch its kernels; may be repeated
  --options TEXT   the build options of the programs that are named after it, and of the functions
  --local-sizes    compare the local size that Brolga chooses when none is given with given ones, instead
  --json FILE      write the results there (default bench.json beside the program)
";

struct Arguments {
    drivers: Vec<PathBuf>,
    only: Vec<String>,
    rounds: usize,
    seconds: f64,
    kernels_only: bool,
    width: bool,
    frontend: bool,
    builds_only: bool,
    overheads_only: bool,
    functions: bool,
    types: Vec<String>,
    isas: Vec<String>,
    options: String,
    programs: Vec<builds::File>,
    local_sizes: bool,
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.first().map(String::as_str) {
        Some("--worker") => worker::serve(),
        Some("--help" | "-h") => {
            print!("{USAGE}");
            Ok(())
        }
        _ => parse(arguments).and_then(|arguments| run(&arguments)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: Vec<String>) -> Result<Arguments> {
    let mut parsed = Arguments {
        drivers: Vec::new(),
        only: Vec::new(),
        rounds: 3,
        seconds: 0.25,
        kernels_only: false,
        width: false,
        frontend: false,
        builds_only: false,
        overheads_only: false,
        functions: false,
        types: Vec::new(),
        isas: Vec::new(),
        options: String::new(),
        programs: Vec::new(),
        local_sizes: false,
        json: None,
    };
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| format!("{argument} needs a value\n{USAGE}"))
        };
        let number = |e: std::num::ParseIntError| e.to_string();
        let names = |list: &str| -> Vec<String> { list.split(',').map(str::to_owned).collect() };
        match argument.as_str() {
            "--driver" => parsed.drivers.push(PathBuf::from(value()?)),
            "--only" => parsed.only.extend(names(&value()?)),
            "--types" => parsed.types.extend(names(&value()?)),
            "--isa" => parsed.isas.extend(names(&value()?)),
            "--functions" => parsed.functions = true,
            "--rounds" => parsed.rounds = value()?.parse().map_err(number)?,
            "--seconds" => {
                parsed.seconds = value()?
                    .parse()
                    .map_err(|e: std::num::ParseFloatError| e.to_string())?
            }
            "--kernels" => parsed.kernels_only = true,
            "--width" => parsed.width = true,
            "--frontend" => parsed.frontend = true,
            "--builds" => parsed.builds_only = true,
            "--overheads" => parsed.overheads_only = true,
            "--options" => parsed.options = value()?,
            "--program" => parsed.programs.push(builds::File {
                path: value()?,
                options: parsed.options.clone(),
            }),
            "--local-sizes" => parsed.local_sizes = true,
            "--json" => parsed.json = Some(PathBuf::from(value()?)),
            _ => return Err(format!("unknown option {argument}\n{USAGE}")),
        }
    }
    Ok(parsed)
}

fn run(arguments: &Arguments) -> Result<()> {
    if arguments.local_sizes {
        return local_sizes::compare(arguments);
    }
    let mut candidates = candidates(arguments)?;
    for candidate in &candidates {
        println!(
            "{:<16} {}, {}, driver {}",
            candidate.driver.label,
            candidate.info["platform"].as_str().unwrap_or_default(),
            candidate.info["device"].as_str().unwrap_or_default(),
            candidate.info["driver"].as_str().unwrap_or_default(),
        );
    }
    let mut sections = Vec::new();
    let one_section = arguments.builds_only || arguments.overheads_only;
    if arguments.functions {
        sections.push(functions::measure(arguments, &mut candidates));
    } else if !one_section {
        sections.push(kernels(arguments, &mut candidates));
    }
    let everything =
        !(arguments.functions || arguments.kernels_only || arguments.width || one_section);
    if arguments.builds_only || everything {
        sections.push(builds::measure(arguments, &mut candidates));
    }
    if arguments.overheads_only || everything {
        sections.extend(overheads(arguments, &mut candidates));
    }
    report::print(&sections, &candidates);
    let path = match &arguments.json {
        Some(path) => path.clone(),
        None => std::env::current_exe()
            .map_err(|e| e.to_string())?
            .with_file_name("bench.json"),
    };
    let text = serde_json::to_string_pretty(&report::json(&sections, &candidates))
        .map_err(|e| e.to_string())?;
    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    println!("Details in {}", path.display());
    match candidates.iter().filter(|c| !c.failures.is_empty()).count() {
        0 => Ok(()),
        count => Err(format!("{count} drivers had failures, listed above")),
    }
}

/// The drivers to compare, the one to compare with first.
fn candidates(arguments: &Arguments) -> Result<Vec<Candidate>> {
    let mut found = drivers::find(&arguments.drivers)?;
    let brolga = found.first().cloned().ok_or("no driver found")?;
    if arguments.width {
        let usual = Driver {
            label: "chosen width".to_owned(),
            ..brolga.clone()
        };
        return [usual, with(&brolga, "W = 1", "BROLGA_WIDTH", "1")]
            .iter()
            .map(Candidate::start)
            .collect();
    }
    found.dedup_by(|a, b| a.library == b.library);
    let mut candidates = Vec::new();
    for driver in &found {
        match Candidate::start(driver) {
            Ok(mut candidate) => {
                candidate.driver.label = label(&candidate.info);
                candidates.push(candidate);
            }
            Err(error) => eprintln!("{}: left out: {error}", driver.library.display()),
        }
    }
    for isa in &arguments.isas {
        let label = format!("Brolga {isa}");
        candidates.push(Candidate::start(&with(&brolga, &label, "BROLGA_ISA", isa))?);
    }
    if arguments.frontend {
        let clang = with(&brolga, "with clang", "BROLGA_FRONTEND", "clang");
        candidates.push(Candidate::start(&clang)?);
    }
    if candidates.is_empty() {
        return Err("no OpenCL CPU driver can be used".to_owned());
    }
    Ok(candidates)
}

/// The same driver with a variable set.
fn with(driver: &Driver, label: &str, name: &str, value: &str) -> Driver {
    Driver {
        label: label.to_owned(),
        environment: vec![(name.to_owned(), value.to_owned())],
        ..driver.clone()
    }
}

/// A short name for a column.
fn label(info: &Value) -> String {
    let platform = info["platform"].as_str().unwrap_or("?");
    if platform.starts_with("Portable") {
        return "pocl".to_owned();
    }
    platform
        .split([' ', '('])
        .next()
        .unwrap_or(platform)
        .to_owned()
}

/// The benchmarks to run.
fn wanted(arguments: &Arguments) -> Vec<String> {
    suite::BENCHMARKS
        .iter()
        .map(|b| b.name.to_owned())
        .filter(|name| arguments.only.is_empty() || arguments.only.contains(name))
        .collect()
}

fn kernels(arguments: &Arguments, candidates: &mut [Candidate]) -> Section {
    let rows = wanted(arguments);
    let mut limits = Limits::default();
    let mut work = BTreeMap::new();
    for name in &rows {
        eprintln!("measuring {name}");
        let request = json!({ "do": "measure", "kernel": name, "seconds": arguments.seconds });
        for _ in 0..arguments.rounds {
            limits.measure();
            for candidate in &mut *candidates {
                if let Some(answer) = candidate.measure(name, &request) {
                    candidate.record(name, &answer);
                    work.insert(name, answer["work"].clone());
                }
            }
        }
    }
    println!("{limits}");
    let first = candidates.first();
    let notes = rows.iter().map(|name| {
        let best = first.and_then(|candidate| candidate.result(name))?.best;
        limits.share(work.get(name)?, best)
    });
    Section {
        title: "kernel",
        averaged: true,
        notes: notes.collect(),
        rows,
    }
}

fn overheads(arguments: &Arguments, candidates: &mut [Candidate]) -> [Section; 2] {
    let mut sections = [
        Section {
            title: "launch",
            averaged: false,
            notes: Vec::new(),
            rows: vec![],
        },
        Section {
            title: "transfer",
            averaged: false,
            notes: Vec::new(),
            rows: vec![],
        },
    ];
    for (section, request) in sections.iter_mut().zip(["latency", "transfer"]) {
        eprintln!("measuring {request}");
        for _ in 0..arguments.rounds {
            for candidate in &mut *candidates {
                let Some(answer) = candidate.measure(request, &json!({ "do": request })) else {
                    continue;
                };
                for (name, value) in answer.as_object().into_iter().flatten() {
                    let row = match name.as_str() {
                        "single" => "enqueue and finish",
                        "batched" => "enqueue, of 500",
                        "event" => "event to event",
                        "callback" => "enqueue to callback",
                        name => name,
                    };
                    candidate.record(row, value);
                    if !section.rows.iter().any(|r| r == row) {
                        section.rows.push(row.to_owned());
                    }
                }
            }
        }
    }
    sections
}

/// The kernels as SPIR-V 1.2, which every driver that takes IL understands, in a folder that lives
/// as long as it is needed.
fn compile_to_il() -> Result<(tempfile::TempDir, PathBuf)> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let source = folder.path().join("suite.cl");
    let bitcode = folder.path().join("suite.bc");
    let il = folder.path().join("suite.spv");
    std::fs::write(&source, Source::Kernels.text()).map_err(|e| e.to_string())?;
    // The translator does not know all that the optimizer makes of a program.
    for level in ["-O2", "-O1", "-O0"] {
        let clang = [
            "--target=spir64",
            "-x",
            "cl",
            "-cl-std=CL1.2",
            "-Xclang",
            "-finclude-default-header",
            "-emit-llvm",
            "-c",
            level,
        ];
        run_tool(
            Command::new("clang-15")
                .args(clang)
                .arg(&source)
                .arg("-o")
                .arg(&bitcode),
        )?;
        let translated = run_tool(
            Command::new("llvm-spirv-15")
                .arg("--spirv-max-version=1.2")
                .arg(&bitcode)
                .arg("-o")
                .arg(&il),
        );
        if translated.is_ok() && validates(&il) {
            return Ok((folder, il));
        }
    }
    Err("llvm-spirv-15 cannot translate the kernels".to_owned())
}

fn run_tool(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| format!("{name}: {e}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!(
            "{name}: {}",
            String::from_utf8_lossy(&output.stderr)
        ))
    }
}

/// Whether `spirv-val` accepts a module; without that tool, no module is rejected.
fn validates(il: &Path) -> bool {
    Command::new("spirv-val")
        .arg(il)
        .output()
        .map_or(true, |output| output.status.success())
}
