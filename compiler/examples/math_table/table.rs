//! `mathlib/ULP.md`: rows of cells under a head.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::Path;

use brolga_mathlib::{Accuracy, Func};

use super::geometric::Geometric;
use super::number::Type;

/// Cells of a row beside the function and the type: bound, error, at, tried, and five times.
pub const CELLS: usize = 9;

/// The cells of a row, without the function and the type.
pub type Cells = Vec<String>;

/// The rows by function and type.
pub struct Table(BTreeMap<(String, String), Cells>);

impl Table {
    /// An earlier table, or an empty one.
    pub fn read(path: &Path) -> Table {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut rows = BTreeMap::new();
        for line in text.lines().filter(|line| line.starts_with("| ")) {
            let line = line.trim_start_matches("| ").trim_end_matches(" |");
            let cells: Vec<String> = line.split(" | ").map(|c| c.trim().to_owned()).collect();
            if let [func, ty, rest @ ..] = cells.as_slice() {
                rows.insert((func.clone(), ty.clone()), rest.to_vec());
            }
        }
        Table(rows)
    }

    pub fn row(&mut self, func: &str, ty: &str) -> &mut Cells {
        let cells = self.0.entry((func.to_owned(), ty.to_owned())).or_default();
        cells.resize(CELLS, String::new());
        cells
    }

    /// Takes the errors, and times that are new, from another table.
    pub fn merge(&mut self, other: Table) {
        for ((func, ty), from) in other.0 {
            let cells = self.row(&func, &ty);
            if from.len() != CELLS {
                continue;
            }
            cells[..4].clone_from_slice(&from[..4]);
            if cells[4..].iter().all(String::is_empty) {
                cells[4..].clone_from_slice(&from[4..]);
            }
        }
    }

    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut text = String::from(HEAD);
        for (func, ty) in keys() {
            if let Some(cells) = self.0.get(&(func.clone(), ty.clone())) {
                let _ = writeln!(text, "| {func} | {ty} | {} |", cells.join(" | "));
            }
        }
        std::fs::write(path, text)
    }
}

/// Every function and type, in the table's order.
fn keys() -> impl Iterator<Item = (String, String)> {
    let plain = Func::ALL.iter().flat_map(|func| {
        Type::ALL
            .into_iter()
            .filter(|&ty| func.accuracy()[ty as usize] != Accuracy::Absent)
            .map(|ty| (func.name().to_owned(), ty.c_name().to_owned()))
    });
    let of_vectors = Type::ALL.into_iter().flat_map(|ty| {
        Geometric::all(ty).map(move |function| (function.name.to_owned(), function.type_name(ty)))
    });
    plain.chain(of_vectors)
}

const HEAD: &str = "\
# Accuracy and speed of the built-in functions

Made by `cargo run --release -p brolga-compiler --example math_table`, from generated code: errors 8 work-items a vector, the larger of
with the machine's estimates of roots and reciprocals and without.

- *bound*: what the full profile asks for (\"ULP Values for Math Instructions - Full Profile\"), in ulp; \"max² ε\" is the square of the
  largest component times the distance between 1 and the next number of the type. The specification has no bound for `lgamma` and
  `lgamma_r`, nor for `mix` and `smoothstep` of `half` and `double`: *any*. For `relaxed_` functions,
  which stand in for the plain ones in programs built with `-cl-unsafe-math-optimizations`, that of \"Unsafe Math Optimizations
  Enabled\", in the domain that it names and where results are normal; `native_` functions may do anything, and those with a
  second bound stand in likewise.
- *error*: the largest found, against CORE-MATH's correctly rounded results, and the arguments; the last digit is rounded up. For `double`
  the distance from the rounded result and half an ulp: no error is larger. 0.50, or 0 where the bound is 0, is correct rounding.
  Lengths, directions and products of vectors are compared with wider arithmetic.
- *tried*: which arguments: `all` encodings, every so many of them, or so many points, the special ones in every combination, the
  others random in range, in encoding, and near where it is difficult. Where it is not `all`, the error is the largest of those
  tried, and others may have a larger one.
- *W1*: nanoseconds an element, one work-item at a time; *sse4.2*: 8 a vector; *avx2*, *avx512*: 16; *libm*: the C library, one at a
  time. Arguments and results are in memory; [`RATES.md`](RATES.md) has what the functions take by themselves, beside another driver.

| function | type | bound | error | at | tried | W1 | sse4.2 | avx2 | avx512 | libm |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";
