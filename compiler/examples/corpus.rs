//! Compiles every SPIR-V module (`.spv`) under some folders to machine code, and says what could
//! not be, why, and how much processor time it took.
//!
//! `cargo run --release -p brolga-compiler --example corpus -- [--slow MS] [--jobs N] PATH...`
//!
//! Every kernel is compiled for two launch keys: the usual one (a linear range of whole chunks) and
//! the one that promises nothing. Each module has a process of its own, so that one that crashes or
//! hangs is a line of the report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use brolga_compiler::image::Bindings;
use brolga_compiler::times::Stopwatch;
use brolga_compiler::{NdRange, Program};

/// A module that takes longer than this hangs.
const TIME_LIMIT: Duration = Duration::from_secs(300);

/// A launch like most, and one that nothing can be taken for granted of.
fn ranges() -> [NdRange; 2] {
    let usual = NdRange {
        work_dim: 1,
        global_offset: [0; 3],
        global_size: [1024, 1, 1],
        local_size: [64, 1, 1],
    };
    let general = NdRange {
        work_dim: 3,
        global_offset: [1 << 40, 1, 1],
        global_size: [1001, 5, 5],
        local_size: [33, 2, 2],
    };
    [usual, general]
}

fn main() -> ExitCode {
    let mut paths = Vec::new();
    let mut slow = 50.0;
    let mut jobs = 1;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().expect("a value after the option");
        match argument.as_str() {
            "--one" => return one(Path::new(&value())),
            "--slow" => slow = value().parse().expect("a number of milliseconds"),
            "--jobs" => jobs = value().parse().expect("a number of processes"),
            path => paths.push(PathBuf::from(path)),
        }
    }
    let modules = modules(paths);
    let reports = Mutex::new(BTreeMap::new());
    let next = Mutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let mut index = next.lock().expect("no panics");
                    let Some(path) = modules.get(*index) else {
                        break;
                    };
                    *index += 1;
                    drop(index);
                    let report = compile(path);
                    let mut reports = reports.lock().expect("no panics");
                    reports.insert(path.clone(), report);
                }
            });
        }
    });
    print(&reports.into_inner().expect("no panics"), slow);
    ExitCode::SUCCESS
}

/// The modules under some folders, in order.
fn modules(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a readable folder");
            paths.extend(entries.flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|e| e == "spv") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// What came of a module: a line of numbers for each thing that was compiled, and what went wrong.
#[derive(Default)]
struct Report {
    kernels: Vec<Kernel>,
    failures: Vec<String>,
    /// Seconds from words to IR.
    translate: f64,
}

struct Kernel {
    name: String,
    /// Instructions after inlining and optimisation.
    insts: usize,
    /// Milliseconds for the usual key: transform, vectorize, lower, machine code.
    stages: [f64; 4],
    /// Milliseconds for the other key, without transform.
    general: f64,
}

impl Kernel {
    fn total(&self) -> f64 {
        self.stages.iter().sum()
    }
}

/// Compiles a module in this process and prints what [`parse`] reads.
fn one(path: &Path) -> ExitCode {
    let bytes = std::fs::read(path).expect("a readable file");
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
        .collect();
    let mut watch = Stopwatch::start();
    let program = match Program::from_spirv(&[&words], &Default::default(), &Default::default()) {
        Ok(program) => program,
        Err(error) => {
            println!("failure\tmodule: {}", error.to_string().replace('\n', " "));
            return ExitCode::SUCCESS;
        }
    };
    println!("translate\t{}", watch.lap().as_secs_f64() * 1e3);
    for (index, info) in program.kernels().iter().enumerate() {
        println!("begin\t{}", info.name);
        let codes = ranges().map(|range| {
            program.compile(index, &program.launch_key(index, &range, Bindings::NONE))
        });
        match codes {
            [Ok(usual), Ok(general)] => {
                let ms = |time: Duration| time.as_secs_f64() * 1e3;
                let (t, g) = (usual.times(), general.times());
                println!(
                    "kernel\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
                    info.name,
                    program.instructions(index),
                    ms(t.prepare),
                    ms(t.vectorize),
                    ms(t.lower),
                    ms(t.machine),
                    ms(g.total() - g.prepare)
                );
            }
            [Err(error), _] | [_, Err(error)] => {
                println!(
                    "failure\tkernel {}: {}",
                    info.name,
                    error.to_string().replace('\n', " ")
                );
            }
        }
    }
    println!("end");
    ExitCode::SUCCESS
}

/// Compiles a module in a process of its own.
fn compile(path: &Path) -> Report {
    let program = std::env::current_exe().expect("the path of this program");
    let mut child = Command::new(program)
        .arg("--one")
        .arg(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process");
    // Both pipes are read to their ends while the time limit is watched.
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
    let read = |pipe: &mut dyn std::io::Read| {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (text, messages, status) = std::thread::scope(|scope| {
        let text = scope.spawn(move || stdout.as_mut().map(|p| read(p)).unwrap_or_default());
        let messages = scope.spawn(move || stderr.as_mut().map(|p| read(p)).unwrap_or_default());
        let start = Instant::now();
        let status = loop {
            match child.try_wait().expect("a status") {
                Some(status) => break Some(status),
                None if start.elapsed() > TIME_LIMIT => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        (
            text.join().unwrap_or_default(),
            messages.join().unwrap_or_default(),
            status,
        )
    });
    let mut report = parse(&text);
    let within = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("begin\t"));
    let place = within.map_or("module".to_owned(), |name| format!("kernel {name}"));
    match status {
        None => report
            .failures
            .push(format!("{place}: hangs ({TIME_LIMIT:?})")),
        Some(status) if !status.success() => {
            let message = messages.trim().replace('\n', " ");
            report
                .failures
                .push(format!("{place}: CRASH, {status}: {message}"));
        }
        Some(_) => {}
    }
    report
}

fn parse(text: &str) -> Report {
    let mut report = Report::default();
    for line in text.lines() {
        let mut fields = line.split('\t');
        match fields.next() {
            Some("translate") => {
                report.translate = fields.next().and_then(|f| f.parse().ok()).unwrap_or(0.0);
            }
            Some("failure") => report
                .failures
                .push(fields.next().unwrap_or_default().into()),
            Some("kernel") => {
                let name = fields.next().unwrap_or_default().to_owned();
                let numbers: Vec<f64> = fields.filter_map(|f| f.parse().ok()).collect();
                if let &[insts, prepare, vectorize, lower, machine, general] = &numbers[..] {
                    report.kernels.push(Kernel {
                        name,
                        insts: insts as usize,
                        stages: [prepare, vectorize, lower, machine],
                        general,
                    });
                }
            }
            _ => {}
        }
    }
    report
}

fn print(reports: &BTreeMap<PathBuf, Report>, slow: f64) {
    let file = |path: &Path| {
        path.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    for (path, report) in reports {
        for failure in &report.failures {
            println!("failed  {}: {failure}", file(path));
        }
    }
    let kernels: Vec<(&PathBuf, &Kernel)> = reports
        .iter()
        .flat_map(|(path, report)| report.kernels.iter().map(move |k| (path, k)))
        .collect();
    let mut slowest: Vec<_> = kernels.iter().filter(|(_, k)| k.total() > slow).collect();
    slowest.sort_by(|a, b| b.1.total().total_cmp(&a.1.total()));
    for (path, kernel) in slowest {
        let [prepare, vectorize, lower, machine] = kernel.stages;
        println!(
            "slow    {:8.1} ms, {:6} instructions, {:6.1} us each (transform {prepare:.1}, vectorize {vectorize:.1}, \
             lower {lower:.1}, machine code {machine:.1} ms)  {}: {}",
            kernel.total(),
            kernel.insts,
            kernel.total() * 1e3 / kernel.insts.max(1) as f64,
            file(path),
            kernel.name
        );
    }
    let failed = reports.values().filter(|r| !r.failures.is_empty()).count();
    let failures: usize = reports.values().map(|r| r.failures.len()).sum();
    println!(
        "\n{} modules, {failed} of them with failures ({failures}); {} kernels compiled",
        reports.len(),
        kernels.len()
    );
    println!(
        "\n{:<34}{:>10}{:>10}{:>10}{:>10}",
        "", "median", "p95", "max", "sum"
    );
    let row = |name: &str, unit: &str, values: Vec<f64>| {
        if let Some([median, p95, max, sum]) = summary(values) {
            println!(
                "{:<34}{median:>10.2}{p95:>10.2}{max:>10.2}{sum:>10.0}",
                format!("{name}, {unit}")
            );
        }
    };
    row(
        "translate, a module",
        "ms",
        reports.values().map(|r| r.translate).collect(),
    );
    let stage = |n: usize| kernels.iter().map(|(_, k)| k.stages[n]).collect();
    row("transform, a kernel", "ms", stage(0));
    row("vectorize", "ms", stage(1));
    row("lower", "ms", stage(2));
    row("machine code", "ms", stage(3));
    row(
        "all four",
        "ms",
        kernels.iter().map(|(_, k)| k.total()).collect(),
    );
    row(
        "another launch key",
        "ms",
        kernels.iter().map(|(_, k)| k.general).collect(),
    );
    row(
        "instructions",
        "",
        kernels.iter().map(|(_, k)| k.insts as f64).collect(),
    );
    row(
        "time for an instruction",
        "us",
        kernels
            .iter()
            .map(|(_, k)| k.total() * 1e3 / k.insts.max(1) as f64)
            .collect(),
    );
}

/// Median, 95th percentile, maximum and sum.
fn summary(mut values: Vec<f64>) -> Option<[f64; 4]> {
    values.sort_by(f64::total_cmp);
    let max = *values.last()?;
    let at = |part: f64| values[((values.len() - 1) as f64 * part).round() as usize];
    Some([at(0.5), at(0.95), max, values.iter().sum()])
}
