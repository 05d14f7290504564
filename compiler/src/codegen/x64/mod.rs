//! Vector IR to machine code of x86-64: with AVX2, vectors of up to 256 bits, and masks in them;
//! with AVX-512, vectors of up to 512 bits, masks in mask registers.
//!
//! - `isel/`: instruction selection. Open it first.
//! - `inst.rs`, `vcode.rs`: machine instructions over virtual registers, and functions of them.
//! - `masking.rs`: blends that become write masks.
//! - `split.rs`: live ranges made shorter. `regalloc.rs`: what the register allocator is told.
//! - `emit.rs`: allocated code to bytes, by way of the crate `brolga-x64-encoding`. `prologue.rs`:
//!   how functions are entered and left.
//! - `pool.rs`: the constant pool. `preserve.rs`: calls that keep registers.
//! - `listing.rs`: emitted code as text.

mod emit;
mod inst;
mod isel;
mod listing;
mod masking;
mod pool;
mod preserve;
mod prologue;
mod regalloc;
mod split;
#[cfg(test)]
mod tests;
mod vcode;

pub(crate) use brolga_x64_encoding as encoding;

use cranelift_codegen::binemit::Reloc;
use cranelift_entity::PrimaryMap;
use cranelift_module::{ModuleReloc, ModuleRelocTarget};

use super::MachineCode;
use super::allocator::Allocator;
use super::frame::PrivateMemory;
use crate::diagnostic::Diagnostic;
use crate::ir::{Function, GlobalId};
use crate::target::{Isa, Target};
use emit::Emitter;
use encoding::{Extension, Features};
use regalloc::Allocatable;

/// Compiles a function. With `listing`, also to text. An error names an operation or an instruction
/// that is not there.
pub fn compile(
    func: &Function,
    globals: &PrimaryMap<GlobalId, u64>,
    target: &Target,
    private: Option<PrivateMemory>,
    listing: bool,
) -> Result<MachineCode, Diagnostic> {
    let mut selected = isel::select(func, globals, target, private)?;
    if target.isa == Isa::Avx512 {
        masking::fold(&mut selected.code);
    }
    split::around_loops(&mut selected.code, selected.vector, target.isa);
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
        target,
    );
    let emitted = emitter.emit(&allocatable, listing)?;
    Ok(MachineCode {
        bytes: emitted.bytes,
        instruction_bytes: emitted.code_size,
        align: 64,
        stack_bytes: emitted.stack_bytes,
        private_bytes: selected.frame.private_size,
        private_align: selected.frame.private_align,
        relocations: emitted.functions.into_iter().map(address).collect(),
        lines: emitted.lines,
        constants: Vec::new(),
        listing: emitted.listing,
    })
}

/// What instructions may be of.
fn features(target: &Target) -> Features {
    let extensions = [
        (Extension::Bitalg, target.small_popcounts),
        (Extension::Vbmi, target.byte_permutes),
        (Extension::Vbmi2, target.double_shifts),
        (Extension::Vpopcntdq, target.popcounts),
    ];
    let least = match target.isa {
        Isa::Avx512 => Features::AVX512,
        _ => Features::AVX2,
    };
    let there = extensions.into_iter().filter(|&(_, is_there)| is_there);
    there.fold(least, |all, (extension, _)| all.with(extension))
}

/// The address of a function, to be written at an offset.
fn address((offset, number): (u32, u32)) -> ModuleReloc {
    ModuleReloc {
        offset,
        kind: Reloc::Abs8,
        name: ModuleRelocTarget::user(0, number),
        addend: 0,
    }
}
