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
pub(super) mod preserve;
mod prologue;
mod regalloc;
mod split;
#[cfg(test)]
mod tests;
mod vcode;

pub(crate) use brolga_x64_encoding as encoding;

use super::allocator::Allocator;
use super::frame::PrivateMemory;
use super::{MachineCode, Relocation, Symbol};
use crate::diagnostic::Diagnostic;
use crate::ir::Function;
use crate::target::{Isa, Target};
use emit::Emitter;
use encoding::{Extension, Features};
use regalloc::Allocatable;

/// Compiles a function. With `listing`, also to text. An error names an operation or an instruction
/// that is not there.
pub fn compile(
    func: &Function,
    target: &Target,
    private: Option<PrivateMemory>,
    listing: bool,
) -> Result<MachineCode, Diagnostic> {
    let mut selected = isel::select(func, target, private)?;
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
        relocations: emitted.symbols.into_iter().map(relocation).collect(),
        lines: emitted.lines,
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

/// An address, to be written at an offset.
fn relocation((offset, symbol): (u32, Symbol)) -> Relocation {
    Relocation {
        offset,
        symbol,
        addend: 0,
    }
}
