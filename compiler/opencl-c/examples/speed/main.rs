//! How long compiling takes, stage by stage, and how that grows with a source's length:
//! `cargo run --release -p brolga-opencl-c --example speed`.
//!
//! Makes sources of several shapes with 500, 10,000, 20,000 and 40,000 lines and prints the
//! processor time of each stage, the memory that a process needs at most, and how many times as
//! much the longest takes for a line as the one of 10,000 lines. Given files, it measures those.
//!
//! ```text
//! shapes.rs   the sources
//! ```
//!
//! Each source is compiled in a process of its own, whose first compilation is shown apart from the
//! best one: it is the one that applications wait for.

mod shapes;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use brolga_compiler::times::Stopwatch;
use brolga_opencl_c::diag::Diagnostics;
use brolga_opencl_c::emit::{self, Lines};
use brolga_opencl_c::options::Define;
use brolga_opencl_c::{Device, Input, Options, Std, parse, pp, sema};
use shapes::SHAPES;

const USAGE: &str = "\
Usage: speed [options] [FILE.cl...]

  --only NAMES     only these shapes (separated by commas)
  --lines N,N,...  these lengths (default 500,10000,20000,40000)
  -g, -I FOLDER, -D NAME[=VALUE]
  --write FOLDER   only write the sources there, as SHAPE-LINES.cl
  --again FILE     compile the file until a second has passed, for a profiler
";

/// A source is compiled again until this has passed; the best time counts.
const BUDGET: Duration = Duration::from_millis(500);

type Result<T> = std::result::Result<T, String>;

struct Arguments {
    only: Vec<String>,
    lengths: Vec<usize>,
    /// `-g`, `-I` and `-D`, as given.
    options: Vec<String>,
    write: Option<String>,
    /// A source to be compiled again and again, and for how long.
    again: Option<(String, Duration)>,
    files: Vec<String>,
}

fn main() -> ExitCode {
    match parse_arguments().and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("speed: {message}");
            ExitCode::FAILURE
        }
    }
}

fn parse_arguments() -> Result<Arguments> {
    let mut parsed = Arguments {
        only: Vec::new(),
        lengths: vec![500, 10_000, 20_000, 40_000],
        options: Vec::new(),
        write: None,
        again: None,
        files: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or(format!("{argument} needs a value\n{USAGE}"))
        };
        match argument.as_str() {
            "--only" => parsed.only.extend(value()?.split(',').map(str::to_owned)),
            "--lines" => {
                let lengths: std::result::Result<_, _> =
                    value()?.split(',').map(str::parse).collect();
                parsed.lengths = lengths.map_err(|_| "--lines needs numbers")?;
            }
            "-g" => parsed.options.push(argument),
            "-I" | "-D" => {
                let value = value()?;
                parsed.options.extend([argument, value]);
            }
            "--write" => parsed.write = Some(value()?),
            "--again" => parsed.again = Some((value()?, Duration::from_secs(1))),
            "--worker" => parsed.again = Some((value()?, BUDGET)),
            _ if argument.starts_with('-') => {
                return Err(format!("unknown option {argument}\n{USAGE}"));
            }
            _ => parsed.files.push(argument),
        }
    }
    Ok(parsed)
}

fn run(arguments: &Arguments) -> Result<()> {
    if let Some((path, budget)) = &arguments.again {
        return again(path, *budget, &arguments.options);
    }
    println!(
        "{:<14}{:>8}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}",
        "milliseconds", "lines", "pp", "parse", "sema", "emit", "all", "first", "us/line", "MB"
    );
    for path in &arguments.files {
        let text = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
        let lines = text.iter().filter(|&&byte| byte == b'\n').count();
        let name = Path::new(path).file_stem().unwrap_or_default();
        measure(&name.to_string_lossy(), path, lines, arguments)?;
    }
    if !arguments.files.is_empty() {
        return Ok(());
    }
    let temporary = tempfile::tempdir().map_err(|e| e.to_string())?;
    let folder = match &arguments.write {
        Some(folder) => Path::new(folder),
        None => temporary.path(),
    };
    let only = &arguments.only;
    for shape in SHAPES
        .iter()
        .filter(|s| only.is_empty() || only.iter().any(|n| n == s.name))
    {
        let mut each: Vec<(usize, f64)> = Vec::new();
        for &lines in &arguments.lengths {
            let path = folder.join(format!("{}-{lines}.cl", shape.name));
            std::fs::write(&path, shape.source(lines)).map_err(|e| e.to_string())?;
            if arguments.write.is_none() {
                let time = measure(shape.name, &path.to_string_lossy(), lines, arguments)?;
                each.push((lines, time));
            }
        }
        each.retain(|&(lines, _)| lines >= 10_000);
        if let [(_, first), .., (_, last)] = each[..] {
            println!("{:>83.2}x", last / first);
        }
    }
    Ok(())
}

/// Prints a row of the table; the best time for a line.
fn measure(name: &str, path: &str, lines: usize, arguments: &Arguments) -> Result<f64> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = Command::new(program);
    command.args(["--worker", path]).args(&arguments.options);
    let output = command.output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text
        .split_whitespace()
        .filter_map(|n| n.parse().ok())
        .collect();
    let [pp, parse, sema, emit, all, first, memory] = numbers[..] else {
        return Err(format!("{path}: unexpected answer {text:?}"));
    };
    let each = all * 1e3 / lines as f64;
    print!("{name:<14}{lines:>8}");
    for time in [pp, parse, sema, emit, all, first] {
        print!("{time:>9.2}");
    }
    println!("{each:>9.2}{memory:>8.1}");
    Ok(each)
}

/// Compiles a file until the budget is used up, and prints the best time of each stage, that of the
/// first compilation, and the memory that was used at most.
fn again(path: &str, budget: Duration, given: &[String]) -> Result<()> {
    let source = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let mut options = Options {
        std: Std::C12,
        whole_program: true,
        ..Options::default()
    };
    let mut given = given.iter();
    while let Some(option) = given.next() {
        let mut value = || given.next().cloned().unwrap_or_default();
        match option.as_str() {
            "-I" => options.include_dirs.push(value()),
            "-D" => options.defines.push(Define::Define(value())),
            _ => options.debug_info = true,
        }
    }
    let device = device();
    let mut watch = Stopwatch::start();
    let first = stages(path, &source, &options, &device)?;
    let memory = peak_memory();
    let mut best = first;
    let mut spent = watch.lap();
    while spent < budget {
        let times = stages(path, &source, &options, &device)?;
        for (best, time) in best.iter_mut().zip(times) {
            *best = time.min(*best);
        }
        spent += watch.lap();
    }
    for time in best.into_iter().chain([first[4]]) {
        print!("{} ", time.as_secs_f64() * 1e3);
    }
    println!("{memory}");
    Ok(())
}

/// Processor time of the preprocessor, the parser, semantic analysis and emission, and all
/// together, with giving back the memory.
fn stages(path: &str, source: &str, options: &Options, device: &Device) -> Result<[Duration; 5]> {
    let mut watch = Stopwatch::start();
    let mut all = Stopwatch::start();
    let mut times = [Duration::ZERO; 5];
    let mut diags = Diagnostics::new(false, false);
    let input = Input {
        name: path,
        source,
        headers: &[],
    };
    let mut unit = pp::preprocess(&input, options, device, &mut diags);
    times[0] = watch.lap();
    let ast = parse::parse(&unit.tokens, &mut unit.interner, options, &mut diags);
    times[1] = watch.lap();
    let (tokens, interner) = (&unit.tokens, &mut unit.interner);
    let module = sema::analyze(&ast, tokens, interner, options, device, &mut diags);
    times[2] = watch.lap();
    if !diags.has_errors() {
        let lines = options.debug_info.then_some(Lines {
            tokens: &unit.tokens,
            map: &unit.map,
        });
        let context = (options, device);
        emit::emit(module, &unit.interner, lines, context, &mut diags);
        times[3] = watch.lap();
    }
    if diags.has_errors() {
        return Err(diags.render(&unit.tokens, &unit.map, &unit.interner));
    }
    drop((ast, unit));
    times[4] = all.lap();
    Ok(times)
}

/// A device like the driver's.
fn device() -> Device {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Device {
        version: 310,
        extensions: owned(&[
            "cl_khr_global_int32_base_atomics",
            "cl_khr_local_int32_base_atomics",
            "cl_khr_byte_addressable_store",
            "cl_khr_int64_base_atomics",
            "cl_khr_fp64",
            "cl_khr_fp16",
            "cl_khr_subgroups",
        ]),
        features: owned(&[
            "__opencl_c_fp64",
            "__opencl_c_int64",
            "__opencl_c_images",
            "__opencl_c_generic_address_space",
        ]),
    }
}

/// The memory that this process has used at most, in megabytes; 0 where the system does not tell.
fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0.0) / 1024.0
}
