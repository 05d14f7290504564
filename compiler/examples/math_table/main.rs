//! Writes `mathlib/ULP.md`: the largest error of every built-in function beside the bound of the
//! specification, and how fast it is.
//!
//! ```sh
//! cargo run --release -p brolga-compiler --example math_table -- --points 100000000 --stride 1
//! ```
//!
//! Functions run as programs run them: kernels of vectorized generated code (`kernel.rs`).
//! `sweep.rs` tries them with the arguments of `arguments.rs` against the references of
//! `reference.rs` and `exact.rs`, `geometric.rs` those of vectors; `speed.rs` times them. Rows of
//! the file (`table.rs`) stay where nothing is measured anew, so that a run may be for some
//! functions: `--only sin,cos`, `--types float,double`. `--errors no` leaves the errors as they
//! are; `--times no` the times, which only a quiet machine gives, and `--times new` those that are
//! there. A run of hours writes another file, `--table FILE`, of which `--merge FILE` takes the
//! errors. The exit status is 1 if a bound is exceeded.

mod arguments;
mod exact;
mod geometric;
mod kernel;
mod number;
mod reference;
mod speed;
mod sweep;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use arguments::Effort;
use brolga_mathlib::{Accuracy, Func};
use geometric::Geometric;
use number::Type;
use reference::reference_name;
use sweep::{Found, sweep};
use table::{Cells, Table};

/// Which times to measure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    All,
    New,
    None,
}

/// What the command line asks for.
struct Options {
    effort: Effort,
    only: Vec<String>,
    types: Vec<String>,
    errors: bool,
    times: Times,
    table: PathBuf,
    merge: Option<PathBuf>,
}

impl Options {
    fn parse() -> Options {
        let mut options = Options {
            effort: Effort {
                stride: 257,
                points: 1_000_000,
            },
            only: Vec::new(),
            types: Vec::new(),
            errors: true,
            times: Times::All,
            table: PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../mathlib/ULP.md"),
            merge: None,
        };
        let args: Vec<String> = std::env::args().skip(1).collect();
        for pair in args.chunks(2) {
            let value = pair.get(1).expect("each option has a value");
            let number = || value.parse().expect("a number");
            let names = || value.split(',').map(str::to_owned).collect();
            match pair[0].as_str() {
                "--stride" => options.effort.stride = number(),
                "--points" => options.effort.points = number(),
                "--only" => options.only = names(),
                "--types" => options.types = names(),
                "--errors" => options.errors = value != "no",
                "--times" => {
                    options.times = match value.as_str() {
                        "no" => Times::None,
                        "new" => Times::New,
                        _ => Times::All,
                    }
                }
                "--table" => options.table = value.into(),
                "--merge" => options.merge = Some(value.into()),
                other => panic!("unknown option {other}"),
            }
        }
        options
    }

    fn wants(&self, func: &str, ty: Type) -> bool {
        let listed = |list: &[String], name| list.is_empty() || list.iter().any(|n| n == name);
        listed(&self.only, func) && listed(&self.types, ty.c_name())
    }

    fn wants_times(&self, cells: &Cells) -> bool {
        match self.times {
            Times::All => true,
            Times::New => cells[4].is_empty(),
            Times::None => false,
        }
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    let mut table = Table::read(&options.table);
    if let Some(from) = &options.merge {
        table.merge(Table::read(from));
        table.write(&options.table).expect("a writable file");
        return ExitCode::SUCCESS;
    }
    let mut exceeded = false;
    for ty in Type::ALL {
        let mut wanted: Vec<Func> = Func::ALL
            .iter()
            .copied()
            .filter(|func| func.accuracy()[ty as usize] != Accuracy::Absent)
            .filter(|func| options.wants(func.name(), ty))
            .collect();
        while let Some(&first) = wanted.first() {
            let together = |func: &Func| reference_name(*func) == reference_name(first);
            let group: Vec<Func> = wanted.iter().copied().filter(together).collect();
            wanted.retain(|func| !together(func));
            exceeded |= functions(&options, &mut table, &group, ty);
        }
        for function in Geometric::all(ty).filter(|f| options.wants(f.name, ty)) {
            exceeded |= of_vectors(&options, &mut table, function, ty);
        }
    }
    ExitCode::from(u8::from(exceeded))
}

/// Fills the rows of functions with a common reference. Returns whether a bound is exceeded.
fn functions(options: &Options, table: &mut Table, group: &[Func], ty: Type) -> bool {
    let start = Instant::now();
    let mut exceeded = false;
    if options.errors {
        for (&func, found) in group.iter().zip(sweep(group, ty, options.effort)) {
            exceeded |= exceeds(bound(func, ty), &found);
            errors(func, ty, &found, table.row(func.name(), ty.c_name()));
        }
    }
    let seconds = start.elapsed().as_secs();
    for &func in group {
        let cells = table.row(func.name(), ty.c_name());
        if options.wants_times(cells) {
            let times = speed::columns(|how| speed::nanoseconds(func, ty, how));
            let times = times.into_iter().chain([speed::libm(func, ty)]);
            show_times(cells, times);
        }
        println!("{} {}: {}", func.name(), ty.c_name(), cells.join(" | "));
    }
    println!("{seconds} s");
    // After every group: a run takes hours and may be interrupted.
    table.write(&options.table).expect("a writable file");
    exceeded
}

/// Likewise a function of vectors.
fn of_vectors(options: &Options, table: &mut Table, function: Geometric, ty: Type) -> bool {
    let start = Instant::now();
    let mut exceeded = false;
    let cells = table.row(function.name, &function.type_name(ty));
    if options.errors {
        let found = function.sweep(ty, options.effort.points);
        let (bound, unit) = function.bound(ty);
        exceeded = exceeds(Some(bound), &found);
        cells[0] = format!("{bound}{unit}");
        cells[1] = format!("{}{unit}{}", rounded_up(found.error), mark(exceeded));
        found_at(&found, cells);
    }
    let seconds = start.elapsed().as_secs();
    if options.wants_times(cells) {
        show_times(
            cells,
            speed::columns(|how| speed::of_vectors(function, ty, how)),
        );
    }
    println!(
        "{} {}: {}\n{seconds} s",
        function.name,
        function.type_name(ty),
        cells.join(" | ")
    );
    table.write(&options.table).expect("a writable file");
    exceeded
}

fn show_times(cells: &mut Cells, times: impl IntoIterator<Item = Option<f64>>) {
    for (cell, time) in cells[4..].iter_mut().zip(times) {
        *cell = time.map_or(String::new(), |time| format!("{time:.2}"));
    }
}

/// The bound of a `native_` function as a stand-in for the plain one, and how the table writes it.
/// Where it grows with the argument, its least.
fn relaxed_bound(func: Func) -> Option<(f64, &'static str)> {
    Some(match func {
        Func::NativeExp | Func::NativeExp2 => (3.0, "3 + 2\\|x\\|"),
        Func::NativeLog | Func::NativeLog2 | Func::NativeLog10 => (3.0, "3 outside [1/2, 2]"),
        Func::NativeExp10 | Func::NativePowr => (8192.0, "8192"),
        _ => return None,
    })
}

/// The number that the error must not be above.
fn bound(func: Func, ty: Type) -> Option<f64> {
    match func.accuracy()[ty as usize] {
        Accuracy::Correct => Some(0.5),
        Accuracy::Ulp(bound) | Accuracy::Absolute(bound) => Some(bound),
        _ => relaxed_bound(func).map(|(bound, _)| bound),
    }
}

fn exceeds(bound: Option<f64>, found: &Found) -> bool {
    let half = if found.of_rounded && found.error > 0.0 {
        0.5
    } else {
        0.0
    };
    bound.is_some_and(|bound| found.error + half > bound)
}

fn mark(exceeded: bool) -> &'static str {
    if exceeded { " **exceeded**" } else { "" }
}

/// To two digits, and no less than it is.
fn rounded_up(error: f64) -> String {
    format!("{:.2}", (error * 100.0 - 1e-9).ceil().max(0.0) / 100.0)
}

/// Fills the cells about errors: bound, error, where, tried.
fn errors(func: Func, ty: Type, found: &Found, cells: &mut Cells) {
    let accuracy = func.accuracy()[ty as usize];
    cells[0] = match accuracy {
        Accuracy::Correct => "0".into(),
        Accuracy::Ulp(bound) => format!("{bound}"),
        Accuracy::Absolute(bound) => format!("{bound:.1e} absolute"),
        _ => match relaxed_bound(func) {
            Some((_, text)) => format!("any; relaxed {text}"),
            None => "any".into(),
        },
    };
    let mark = mark(exceeds(bound(func, ty), found));
    cells[1] = match found.error {
        error if matches!(accuracy, Accuracy::Absolute(_)) => format!("{error:.1e}{mark}"),
        error if error <= 0.5 && accuracy == Accuracy::Correct => "0".into(),
        error if found.of_rounded => format!("{}{mark}", rounded_up(error + 0.5)),
        error => format!("{}{mark}", rounded_up(error)),
    };
    found_at(found, cells);
}

fn found_at(found: &Found, cells: &mut Cells) {
    let at: Vec<String> = found.at.iter().map(|x| format!("{x:e}")).collect();
    cells[2] = at.join(", ");
    cells[3] = found.tried.to_string();
}
