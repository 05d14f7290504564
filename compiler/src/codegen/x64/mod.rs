//! Vector IR to machine code of x86-64: with AVX2, vectors of up to 256 bits, and masks in them;
//! with AVX-512, vectors of up to 512 bits, masks in mask registers.
//!
//! - `isel/`: instruction selection. Open it first.
//! - `inst.rs`, `vcode.rs`: machine instructions over virtual registers, and functions of them.
//! - `regalloc.rs`: what the register allocator is told.
//! - `emit.rs`: allocated code to bytes, by way of the crate `brolga-x64-encoding`. `prologue.rs`:
//!   how functions are entered and left.
//! - `pool.rs`: the constant pool. `preserve.rs`: calls that keep registers.
//! - `listing.rs`: emitted code as text.

mod emit;
mod inst;
mod isel;
mod listing;
mod pool;
mod preserve;
mod prologue;
mod regalloc;
#[cfg(test)]
mod tests;
mod vcode;

pub(crate) use brolga_x64_encoding as encoding;

use cranelift_entity::PrimaryMap;

use super::MachineCode;
use super::allocator::Allocator;
use crate::diagnostic::Diagnostic;
use crate::ir::{Function, GlobalId};
use crate::target::Target;
use emit::Emitter;
use regalloc::Allocatable;

/// Compiles a function. With `listing`, also to text. An error names an operation that is not
/// there.
pub fn compile(
    func: &Function,
    globals: &PrimaryMap<GlobalId, u64>,
    target: &Target,
    listing: bool,
) -> Result<MachineCode, Diagnostic> {
    let selected = isel::select(func, globals, target)?;
    let allocatable = Allocatable::new(&selected.code, selected.vector.bytes(), target.isa);
    let output = allocatable
        .allocate(Allocator::suited_to(func, target))
        .map_err(|why| Diagnostic::new(format!("register allocation: {why:?}")))?;
    let emitter = Emitter::new(
        &selected.code,
        &output,
        &selected.frame,
        selected.pool,
        selected.vector,
        target.isa,
    );
    let emitted = emitter.emit(&allocatable, listing);
    Ok(MachineCode {
        bytes: emitted.bytes,
        instruction_bytes: emitted.code_size,
        align: 64,
        stack_bytes: emitted.stack_bytes,
        relocations: Vec::new(),
        lines: emitted.lines,
        constants: Box::default(),
        listing: emitted.listing,
    })
}
