//! Random programs without undefined behaviour, in OpenCL C and, piece by piece the same, in C.
//!
//! A [`Gen`] makes one from choices. Expressions and statements are [`text::Text`], which is in
//! both languages at once: most of it is the same in both, for vectors it differs.
//!
//! - `text.rs`: text in two languages. `types.rs`: types and their layout.
//! - `scope.rs`: variables, and what a full expression may read and change. Open it first.
//! - `expr.rs`, `vector.rs`, `literal.rs`, `init.rs`, `builtins.rs`, `pointers.rs`: values.
//! - `statements.rs`, `functions.rs`, `globals.rs`, `macros.rs`, `kernel.rs`: the program around
//!   them.

mod builtins;
mod expr;
mod functions;
mod globals;
mod init;
mod kernel;
mod literal;
mod macros;
mod pointers;
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
    /// Those without pointers come first.
    records: Vec<Record>,
    plain_records: usize,
    functions: Vec<functions::Function>,
    /// Names of constants.
    constants: Vec<expr::Expr>,
    /// An expression for the address of a counter, its type, what may be done to it.
    counters: Vec<(String, Scalar, &'static [&'static str])>,
    /// How large the program is.
    scale: usize,
    next_name: usize,
    next_root: usize,
    /// Roots that the full expression has read so far, and those that it has changed.
    used: Vec<usize>,
    changed: Vec<usize>,
    macros: Vec<macros::Macro>,
    /// No side effects.
    pure: bool,
    /// Only what a constant expression may have.
    is_constant: bool,
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
        plain_records: 0,
        functions: Vec::new(),
        constants: Vec::new(),
        counters: Vec::new(),
        scale: 1,
        next_name: 0,
        next_root: 0,
        used: Vec::new(),
        changed: Vec::new(),
        macros: Vec::new(),
        pure: false,
        is_constant: false,
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
    // Most are small, which shrink well; what only large ones show is sought, too.
    let most = if g.choices.percent(6) { 4 } else { 1 };
    g.scale = most;
    g.repeat(3, |g| {
        let part = match g.choices.below(4) {
            0 => g.object_macro(),
            1 => g.enumeration(),
            2 => g.conditional_macro(),
            _ => g.function_macro(),
        };
        text.push(&part);
    });
    g.repeat(2 * most, |g| text.push(&g.record()));
    g.repeat(1, |g| text.push(&g.holder()));
    g.repeat(2 * most, |g| {
        text.push(&g.table());
        if let Some(pointers) = g.pointer_table() {
            text.push(&pointers);
        }
    });
    g.repeat(2 * most, |g| text.push(&g.function()));
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

    /// Makes parts of the program, `usual` of them on average.
    fn repeat(&mut self, usual: usize, mut make: impl FnMut(&mut Self)) {
        let another = 100 * usual as u64 / (usual as u64 + 1);
        // Whether there is another belongs to it, so that it can be left out alone.
        while self.part(|g| {
            let another = g.choices.percent(another);
            if another {
                make(g);
            }
            another
        }) {}
    }

    /// A name for a label, or for a variable within an expression in C.
    fn temporary(&mut self) -> String {
        format!("x{}", self.number())
    }
}
