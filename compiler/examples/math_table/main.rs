//! Writes `mathlib/ULP.md`: the largest error of every built-in function beside the bound of the specification, and how fast it is.
//!
//! ```sh
//! cargo run --release -p brolga-compiler --example math_table -- --points 100000000 --stride 1
//! ```
//!
//! Functions run as programs run them: kernels of vectorized generated code (`kernel.rs`). `sweep.rs` tries them
//! against the references of `reference.rs` and `exact.rs`, `speed.rs` times them. Rows of the file stay where nothing is measured anew, so
//! that a run may be for some functions: `--only sin,cos`, `--types float,double`. `--errors no` leaves the errors as they are,
//! `--times no` the times, which only a quiet machine gives. The exit status is 1 if a bound is exceeded.

mod exact;
mod kernel;
mod reference;
mod speed;
#[path = "../../../mathlib/tests/support/mod.rs"]
mod support;
mod sweep;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use brolga_mathlib::{Accuracy, Func};
use sweep::{Effort, Found, sweep};

/// The type of a function's arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    Half,
    Float,
    Double,
}

impl Type {
    const ALL: [Type; 3] = [Type::Half, Type::Float, Type::Double];

    /// In IR.
    pub fn name(self) -> &'static str {
        ["f16", "f32", "f64"][self as usize]
    }

    /// The integer of the same width, in IR.
    pub fn int_name(self) -> &'static str {
        ["i16", "i32", "i64"][self as usize]
    }

    /// In OpenCL C.
    fn c_name(self) -> &'static str {
        ["half", "float", "double"][self as usize]
    }
}

/// What the command line asks for.
struct Options {
    effort: Effort,
    only: Vec<String>,
    types: Vec<String>,
    errors: bool,
    times: bool,
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
            times: true,
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
                "--times" => options.times = value != "no",
                other => panic!("unknown option {other}"),
            }
        }
        options
    }

    fn wants(&self, func: Func, ty: Type) -> bool {
        let listed = |list: &[String], name| list.is_empty() || list.iter().any(|n| n == name);
        func.accuracy()[ty as usize] != Accuracy::Absent
            && listed(&self.only, func.name())
            && listed(&self.types, ty.c_name())
    }
}

/// The cells of a row, without the function and the type.
type Cells = Vec<String>;

fn main() -> ExitCode {
    let options = Options::parse();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mathlib/ULP.md");
    let mut rows = read(&std::fs::read_to_string(&path).unwrap_or_default());
    let mut exceeded = false;
    for &func in Func::ALL {
        for ty in Type::ALL {
            if !options.wants(func, ty) {
                continue;
            }
            let key = (func.name().to_owned(), ty.c_name().to_owned());
            let cells = rows.entry(key).or_insert_with(|| vec![String::new(); 8]);
            cells.resize(8, String::new());
            if options.errors {
                let found = sweep(func, ty, options.effort);
                exceeded |= found.as_ref().is_some_and(|f| exceeds(func, ty, f));
                errors(func, ty, found.as_ref(), cells);
            }
            if options.times {
                for (cell, width) in cells[4..].iter_mut().zip([1, 4, 8]) {
                    *cell = format!("{:.2}", speed::nanoseconds(func, ty, width));
                }
                cells[7] = speed::libm(func, ty).map_or(String::new(), |t| format!("{t:.2}"));
            }
            println!("{} {}: {}", func.name(), ty.c_name(), cells.join(" | "));
            // After every row: a run takes hours and may be interrupted.
            std::fs::write(&path, write(&rows)).expect("a writable file");
        }
    }
    ExitCode::from(u8::from(exceeded))
}

/// The bound of a `native_` function as a stand-in for the plain one, and how the table writes it. Where it grows with
/// the argument, its least.
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

fn exceeds(func: Func, ty: Type, found: &Found) -> bool {
    let half = if found.of_rounded && found.error > 0.0 {
        0.5
    } else {
        0.0
    };
    bound(func, ty).is_some_and(|bound| found.error + half > bound)
}

/// Fills the cells about errors: bound, error, where, tried.
fn errors(func: Func, ty: Type, found: Option<&Found>, cells: &mut Cells) {
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
    let Some(found) = found else {
        cells[1..4].fill(String::new());
        return;
    };
    let mark = if exceeds(func, ty, found) {
        " **exceeded**"
    } else {
        ""
    };
    cells[1] = match found.error {
        error if matches!(accuracy, Accuracy::Absolute(_)) => format!("{error:.1e}{mark}"),
        error if error <= 0.5 && accuracy == Accuracy::Correct => "0".into(),
        error if found.of_rounded => format!("{:.2}{mark}", error + 0.5),
        error => format!("{error:.2}{mark}"),
    };
    let at: Vec<String> = found.at.iter().map(|x| format!("{x:e}")).collect();
    cells[2] = at.join(", ");
    cells[3] = found.tried.to_string();
}

/// The rows of an earlier table.
fn read(text: &str) -> BTreeMap<(String, String), Cells> {
    let mut rows = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with("| ")) {
        let line = line.trim_start_matches("| ").trim_end_matches(" |");
        let cells: Vec<String> = line.split(" | ").map(|c| c.trim().to_owned()).collect();
        if let [func, ty, rest @ ..] = cells.as_slice()
            && Func::from_name(func).is_some()
        {
            rows.insert((func.clone(), ty.clone()), rest.to_vec());
        }
    }
    rows
}

fn write(rows: &BTreeMap<(String, String), Cells>) -> String {
    let mut text = String::from(HEAD);
    for &func in Func::ALL {
        for ty in Type::ALL {
            let key = (func.name().to_owned(), ty.c_name().to_owned());
            if let Some(cells) = rows.get(&key) {
                let _ = writeln!(text, "| {} | {} | {} |", key.0, key.1, cells.join(" | "));
            }
        }
    }
    text
}

const HEAD: &str = "\
# Accuracy and speed of the built-in functions

Made by `cargo run --release -p brolga-compiler --example math_table`, from generated code, 8 work-items a vector.

- *bound*: what the full profile asks for (\"ULP Values for Math Instructions - Full Profile\"), in ulp. For `relaxed_` functions,
  which stand in for the plain ones in programs built with `-cl-unsafe-math-optimizations`, that of \"Unsafe Math Optimizations
  Enabled\", in the domain that it names and where results are normal; `native_` functions may do anything, and those with a
  second bound stand in likewise.
- *error*: the largest found, against CORE-MATH's correctly rounded results, and the arguments. For `double` the distance from
  the rounded result and half an ulp: no error is larger. 0.50, or 0 where the bound is 0, is correct rounding. No number:
  not measured here (`nan`, for which `tests/exact.rs` has the definition).
- *tried*: which arguments: `all` encodings, every so many of them, or so many points, the special ones in every combination, the
  others random in range and encoding. Where it is not `all`, the error is the largest of those tried, and others may have a larger one.
- *W1*, *W4*, *W8*: nanoseconds an element with so many work-items a vector; *libm*: the C library, one at a time.

| function | type | bound | error | at | tried | W1 | W4 | W8 | libm |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";
