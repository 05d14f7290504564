//! SPIR-V: a typed tree in, a module's words out.
//!
//! - `words.rs`: sections and instructions
//! - `module.rs`: what functions share; `types.rs`, `constants.rs`, `interned.rs` (each once);
//!   `kernel.rs`, entry points
//! - `function.rs`: a function, its variables and statements; `order.rs`, the order of its blocks;
//!   `calls.rs`, which functions there are
//! - `expr.rs`: expressions; `speculate.rs`, which of them need no blocks; `contraction.rs`, which
//!   of them may be rounded once; `convert.rs`, conversions; `aggregate.rs`, records and arrays
//! - `builtins/`: what calls of built-in functions become
//! - `lines.rs`: lines of the source
//!
//! Values are what their type is, with these exceptions. `bool` is an integer of 8 bits, and
//! [`Type::Truth`](crate::types::Type::Truth) is SPIR-V's Boolean. Records and arrays stay in
//! memory: an expression of such a type is the address of what it yields. Functions take records
//! by the address of a copy (`ByVal`) and return them through a first parameter (`Sret`), as other
//! compilers of OpenCL C do.
//!
//! A kernel that others call or may be linked to is two functions: its body, and an entry point
//! that calls it.
//!
//! Open [`emit`] first.

mod aggregate;
mod builtins;
mod calls;
mod constants;
mod contraction;
mod convert;
mod expr;
mod function;
mod interned;
mod kernel;
mod lines;
mod module;
mod order;
mod speculate;
mod types;
mod words;

pub use lines::Lines;

use crate::diag::Diagnostics;
use crate::hir;
use crate::options::{Device, Options};
use crate::symbol::Interner;
use crate::token::Loc;
use module::ModuleEmitter;

/// The words of a module. What SPIR-V cannot express becomes an error.
pub fn emit(
    module: hir::Module,
    interner: &Interner,
    lines: Option<Lines<'_>>,
    (options, device): (&Options, &Device),
    diags: &mut Diagnostics,
) -> Vec<u32> {
    let hir = (
        &module.functions[..],
        &module.globals[..],
        &module.roundings,
        &module.contractions,
    );
    let has_half = device.has("cl_khr_fp16");
    let mut emitter = ModuleEmitter::new(module.types, hir, options, interner, lines, has_half);
    emitter.module();
    emitter.source();
    emitter.check_lengths(None, Loc::default());
    for (loc, message) in std::mem::take(&mut emitter.errors) {
        diags.error(loc, message);
    }
    emitter.words.finish()
}
