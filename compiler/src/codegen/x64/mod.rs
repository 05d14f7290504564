//! Vector IR to machine code of x86-64 with AVX-512: vectors of up to 512 bits, masks in mask
//! registers.
//!
//! - `isel/`: instruction selection. Open it first.
//! - `inst.rs`, `vcode.rs`: machine instructions over virtual registers, and functions of them.
//! - `regalloc.rs`: what the register allocator is told. `frame.rs`: the stack frame.
//! - `emit.rs`: allocated code to bytes, by way of `encoding/`.
//! - `pool.rs`: the constant pool.

pub mod encoding;

mod emit;
mod frame;
mod inst;
mod isel;
mod pool;
mod regalloc;
mod vcode;

use cranelift_entity::PrimaryMap;
use regalloc2::Algorithm;

use super::MachineCode;
use crate::diagnostic::Diagnostic;
use crate::dump::KernelDump;
use crate::ir::{Function, GlobalId};
use emit::Emitter;
use encoding::Size;
use regalloc::Allocatable;

/// Compiles a function. An error names an operation that is not there.
pub fn compile(
    func: &Function,
    globals: &PrimaryMap<GlobalId, u64>,
    _dump: &KernelDump<'_>,
) -> Result<MachineCode, Diagnostic> {
    let selected = isel::select(func, globals, Size::V512)?;
    let allocatable = Allocatable::new(&selected.code, selected.vector.bytes());
    let output = allocatable
        .allocate(Algorithm::Ion)
        .map_err(|why| Diagnostic::new(format!("register allocation: {why:?}")))?;
    let emitter = Emitter::new(&selected.code, &output, &selected.frame, selected.vector);
    let emitted = emitter.emit(&allocatable, &selected.pool);
    Ok(MachineCode {
        bytes: emitted.bytes,
        instruction_bytes: emitted.code_size,
        align: 64,
        relocations: Vec::new(),
        lines: emitted.lines,
        constants: Box::default(),
        listing: None,
    })
}
