//! Vector IR to machine code: one function in, its code out.
//!
//! In comes a function at [`crate::ir::Stage::Vectorized`] that [`crate::lower`] has legalised: no
//! OpenCL built-ins, no half-precision arithmetic, no integer operation that the target's vectors
//! lack. Out goes [`MachineCode`], which [`crate::jit`] places.
//!
//! - `cranelift/`: by way of Cranelift, whose vectors are 128 bits wide; for every CPU.
//! - `host.rs`: the functions of this process that generated code calls.

mod cranelift;
mod host;

use std::sync::OnceLock;

use cranelift_entity::PrimaryMap;
use cranelift_module::ModuleReloc;

pub use cranelift::host_isa;

use crate::diagnostic::Diagnostic;
use crate::dump::KernelDump;
use crate::ir::{Function, GlobalId, SourceLoc};
use crate::target::{Isa, Target};

/// What a back end makes of a function.
pub struct MachineCode {
    /// Instructions, from the entry point on, then what they address relative to themselves.
    pub bytes: Vec<u8>,
    /// How many of `bytes` are instructions.
    pub instruction_bytes: u32,
    /// Of `bytes`, a power of two.
    pub align: u32,
    /// Addresses that are to be written into `bytes`. The function itself is number 0.
    pub relocations: Vec<ModuleReloc>,
    /// The offsets at which code of another location begins, sorted.
    pub lines: Vec<(u32, SourceLoc)>,
    /// Vectors whose addresses the code holds: to be kept, unmoved and unchanged, as long as it.
    pub constants: Box<[u128]>,
    /// The instructions as text, if `asm` is dumped.
    pub listing: Option<String>,
}

/// The most that back ends generate code for.
const MOST: Isa = Isa::Sse42;

/// The target of this process: what the machine and the back ends have, or what `BROLGA_ISA` asks
/// for.
pub fn target() -> Target {
    static TARGET: OnceLock<Target> = OnceLock::new();
    *TARGET.get_or_init(|| Target::select(MOST))
}

/// What functions for a target are to be legalised for: what its back end generates code for.
pub fn generated(target: &Target) -> Target {
    match Backend::of(target) {
        Backend::Cranelift => Target::cranelift(),
    }
}

/// Which back end compiles a function.
enum Backend {
    Cranelift,
}

impl Backend {
    /// The one for a target.
    fn of(target: &Target) -> Backend {
        match target.isa {
            Isa::Sse42 | Isa::Avx2 | Isa::Avx512 => Backend::Cranelift,
        }
    }
}

/// Compiles a function that has been legalised for `target`. `globals` are the addresses of the
/// module-scope objects.
pub fn compile(
    func: &Function,
    globals: &PrimaryMap<GlobalId, u64>,
    target: &Target,
    dump: &KernelDump<'_>,
) -> Result<MachineCode, Diagnostic> {
    let code = match Backend::of(target) {
        Backend::Cranelift => cranelift::compile(func, globals, dump)?,
    };
    dump.write("asm", || code.listing.clone().unwrap_or_default());
    Ok(code)
}
