//! Random programs without undefined behaviour, in OpenCL C and, piece by piece the same, in C.
//!
//! A [`Gen`] makes one from choices. Expressions and statements are [`text::Text`], which is in
//! both languages at once: most of it is the same in both, for vectors it differs.
//!
//! - `text.rs`: text in two languages. `types.rs`: types and their layout.
//! - `scope.rs`: variables, and what a full expression may read and change. Open it first.
//! - `expr.rs`, `vector.rs`, `literal.rs`, `init.rs`: values.
//! - `statements.rs`, `functions.rs`, `globals.rs`, `kernel.rs`: the program around them.

mod expr;
mod functions;
mod globals;
mod init;
mod kernel;
mod literal;
mod scope;
mod statements;
pub mod text;
mod types;
mod vector;

use brolga_opencl_c::Std;

use crate::choices::Choices;
use text::Text;
use types::{Record, Scalar, Type};

/// Work-items of a work-group; there are two of these.
pub const ITEMS: usize = 4;

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A buffer of so many bytes, 0 at first, that must have the same contents in the end.
    Out(usize),
    /// An `int`, likewise.
    Counter,
    /// A buffer that the kernel reads.
    Input(usize),
    /// A buffer that is nobody's interest before and after.
    Scratch(usize),
    /// A value by its bytes, of a type with this name.
    Value { ty: String, size: usize },
}

/// A program with one kernel.
#[derive(Clone, Debug)]
pub struct Program {
    pub std: Std,
    /// Before each name of the program scope, the kernel's (`k`) included.
    pub prefix: String,
    pub text: Text,
    pub args: Vec<Argument>,
}

/// The bytes of a buffer or value that a kernel gets.
pub fn pattern(size: usize) -> Vec<u8> {
    (0..size)
        .map(|at| (at * 37 + 11) as u8 ^ (at >> 3) as u8)
        .collect()
}

/// A program being made.
struct Gen<'c> {
    choices: &'c mut Choices,
    prefix: String,
    /// The version has an unnamed address space for pointers to most others.
    has_generic: bool,
    /// It has variables in global memory at program scope.
    has_program_scope: bool,
    vars: Vec<scope::Var>,
    records: Vec<Record>,
    functions: Vec<functions::Function>,
    /// Names of constants.
    constants: Vec<expr::Expr>,
    /// An expression for the address of a counter, its type, what may be done to it.
    counters: Vec<(String, Scalar, &'static [&'static str])>,
    next_name: usize,
    next_root: usize,
    /// Roots that the full expression has read so far, and those that it has changed.
    used: Vec<usize>,
    changed: Vec<usize>,
    /// No side effects.
    pure: bool,
    /// How deeply expressions may still nest.
    depth: u32,
    /// How many blocks there are around a statement, and how many loops.
    nesting: u32,
    loops: u32,
    /// How often it runs, and how much has been run.
    times: u64,
    cost: u64,
    /// What the function returns, outside of kernels.
    returns: Option<Option<Type>>,
}

/// clang knows the type `half` only behind this.
const HEAD: &str = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n\n";

/// The program that the choices make, with this before the names of its program scope.
pub fn program(choices: &mut Choices, prefix: &str) -> Program {
    let std = choices.one(&[Std::C30, Std::C12, Std::C20, Std::C31]);
    let mut g = Gen {
        choices,
        prefix: prefix.to_owned(),
        has_generic: std >= Std::C20,
        has_program_scope: std >= Std::C20,
        vars: Vec::new(),
        records: Vec::new(),
        functions: Vec::new(),
        constants: Vec::new(),
        counters: Vec::new(),
        next_name: 0,
        next_root: 0,
        used: Vec::new(),
        changed: Vec::new(),
        pure: false,
        depth: 1,
        nesting: 0,
        loops: 0,
        times: 1,
        cost: 0,
        returns: None,
    };
    let mut text = Text::new(HEAD, "");
    text.push(&format!(
        "static ulong {prefix}mix(ulong h, ulong v) {{\n  return (h ^ v) * 0x9e3779b97f4a7c15ul;\n}}\n\n"
    ));
    for _ in 0..g.choices.index(4) {
        let part = match g.choices.percent(50) {
            true => g.part(Gen::object_macro),
            false => g.part(Gen::enumeration),
        };
        text.push(&part);
    }
    for _ in 0..g.choices.index(5) {
        let record = g.part(Gen::record);
        text.push(&record);
    }
    for _ in 0..g.choices.index(4) {
        let table = g.part(Gen::table);
        text.push(&table);
    }
    for _ in 0..g.choices.index(4) {
        let function = g.part(Gen::function);
        text.push(&function);
    }
    let (kernel, args) = g.kernel(&format!("{prefix}k"));
    text.push(&kernel);
    Program {
        std,
        prefix: prefix.to_owned(),
        text,
        args,
    }
}

impl Gen<'_> {
    fn number(&mut self) -> usize {
        self.next_name += 1;
        self.next_name
    }

    fn global_name(&mut self, kind: &str) -> String {
        let number = self.number();
        format!("{}{kind}{number}", self.prefix)
    }

    fn local_name(&mut self) -> String {
        format!("v{}", self.number())
    }

    /// What `make` makes is a part of the program by itself, which may be left out.
    fn part<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let begin = self.choices.begin();
        let made = make(self);
        self.choices.end(begin);
        made
    }

    /// A name for a label, or for a variable within an expression in C.
    fn temporary(&mut self) -> String {
        format!("x{}", self.number())
    }
}
