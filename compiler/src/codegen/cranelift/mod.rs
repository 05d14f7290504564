//! By way of Cranelift IR: a CLIF function with the same blocks.
//!
//! A value of W lanes is a list of 128-bit *parts* here, a mask is parts of all-ones and all-zeros
//! lanes.
//!
//! - `function.rs`: blocks and terminators. Open it first.
//! - `machine.rs`: Cranelift's own part: CLIF to machine code.
//! - `dispatch.rs`: which file an operation belongs to.
//! - `values.rs`: the values so far and how a use gets them; all operations work on it.
//! - `parts.rs`: what an IR value is in CLIF; masks and their element widths.
//! - `build.rs`: values made of constants, lanes and parts.
//! - `pool.rs`: the constant pool.
//! - `spill_slots.rs`: where lanes are spilled during one instruction.
//! - `order.rs`: which targets of branches come first.
//! - `frame.rs`: where private variables are.
//! - `known.rs`: what has been computed already.
//! - `arith.rs`, `convert.rs`: lane-wise operations.
//! - `memory/`: loads, stores, atomics, by shape.
//! - `lanes.rs`: lanes that are seen to one by one, and calls.
//! - `shuffle.rs`: lanes that move.

mod arith;
mod build;
mod convert;
mod dispatch;
mod frame;
mod function;
mod known;
mod lanes;
mod machine;
mod memory;
mod order;
mod parts;
mod pool;
mod shuffle;
mod spill_slots;
mod values;

use cranelift_codegen::ir as clif;

use super::allocator::Allocator;
use super::frame::PrivateMemory;
use super::{MachineCode, Symbol};
use crate::diagnostic::Diagnostic;
use crate::dump::KernelDump;
use crate::ir::Function;
pub use machine::host_isa;

/// The namespace of [`Translated::symbols`], where names are their indices.
const SYMBOLS: u32 = 0;
/// The namespace of [`Translated::constants`], where there is one name.
const POOL: u32 = 1;

/// A CLIF function and what it refers to.
#[derive(Debug)]
struct Translated {
    function: clif::Function,
    symbols: Vec<Symbol>,
    constants: Vec<u128>,
    /// Bytes, and how its end is aligned.
    private_memory: (u32, u32),
    allocator: Allocator,
}

/// Compiles a function.
pub fn compile(
    func: &Function,
    private: Option<PrivateMemory>,
    dump: &KernelDump<'_>,
) -> Result<MachineCode, Diagnostic> {
    let translated = function::translate(func, private)?;
    dump.write("clif", || translated.function.display().to_string());
    machine::compile(translated, dump.wants("asm"))
}
