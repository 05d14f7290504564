//! Vector IR to machine code: one function in, its code out.
//!
//! In comes a function at [`crate::ir::Stage::Lowered`], out goes [`MachineCode`], which
//! [`crate::jit`] places.
//!
//! - `cranelift/`: by way of Cranelift, whose vectors are 128 bits wide; for every CPU.
//! - `x64/`: by instructions of our own choosing, for AVX2 and AVX-512.
//! - `link.rs`: the codes of functions that call each other, put together.
//! - `frame.rs`: where private variables are: on the stack, or in private memory.
//! - `symbol.rs`: what code refers to by address.
//! - `host/`: the functions of this process that generated code calls.
//! - `allocator.rs`: which register allocator suits a function.
//!
//! # What back ends receive
//!
//! Values have one lane or W lanes. [`crate::lower::legalize`] has the table of arithmetic that is
//! left for a target; the rest is what [`crate::lower::gathers`] and [`crate::lower::lanes`] leave,
//! and all there is:
//!
//! | operations | of |
//! | --- | --- |
//! | `Const`, `Splat`, `Build`, `Extract`, `Insert`, `ExtractDyn`, `Shuffle`, `Permute`, `LaneIds`, `Deinterleave`, `Interleave` | one or W lanes |
//! | `Unary`, `Binary`, `Fma`, `ICmp`, `FCmp`, `Select`, `Convert` | one or W lanes; integer division one, no `FRem` |
//! | `Rounded` | only where [`Target::static_rounding`] |
//! | `AnyTrue`, `AllTrue`, `MaskBits` | W lanes |
//! | `GlobalAddr`, `FuncAddr`, `NoImageAddr`, `Alloca` (in the entry block), `PtrAdd` | |
//! | `Load`, `Store` | one lane without a mask; W lanes with or without: at one address and a stride, one address and an index ([`crate::ir::Index`]; signed words, scaled by 1, 2, 4 or 8, where [`Target::gathers`] or, of stores, [`Target::scatters`]), or an address for each lane |
//! | `AtomicRmw` | one lane, no mask, an integer, memory of several threads: exchange, sum, difference; bitwise operations whose result is not used |
//! | `AtomicCmpXchg`, `AtomicLoad`, `AtomicStore` | the same |
//! | `Fence` | of memory of several threads, not relaxed |
//! | `HostCall`, `CallPointer` | calls by the host's C ABI; operands and results of one lane and 32 or 64 bits, at most six integers and pointers, at most four floats |
//! | `Br`, `CondBr`, `Switch`, `Ret`, `Unreachable` | |
//!
//! A load that is volatile is to stay although nothing uses what it gives. `Unreachable` returns.

mod allocator;
mod cranelift;
mod frame;
mod host;
mod link;
mod symbol;
mod x64;

use std::sync::OnceLock;

pub use cranelift::host_isa;
pub use frame::PrivateMemory;
pub use link::link;
pub use symbol::{Relocation, Symbol};

use crate::diagnostic::Diagnostic;
use crate::dump::KernelDump;
use crate::ir::{Function, Op, Scalar, SourceLoc};
use crate::target::{Isa, Target};

/// What a back end makes of a function.
#[derive(Debug, PartialEq, Eq)]
pub struct MachineCode {
    /// Instructions, from the entry point on, then what they address relative to themselves.
    pub bytes: Vec<u8>,
    /// How many of `bytes` are instructions.
    pub instruction_bytes: u32,
    /// Of `bytes`, a power of two.
    pub align: u32,
    /// Bytes of stack that a call takes, without what the functions take that the code calls; once
    /// linked, with those of the program.
    pub stack_bytes: u32,
    /// Bytes of private memory, with those of the functions that were compiled before.
    pub private_bytes: u32,
    /// What the scratch pointer is to be a multiple of for it, bytes.
    pub private_align: u32,
    /// Addresses that are to be written into `bytes`.
    pub relocations: Vec<Relocation>,
    /// The offsets at which code of another location begins, sorted.
    pub lines: Vec<(u32, SourceLoc)>,
    /// The instructions as text, if `asm` is dumped.
    pub listing: Option<String>,
}

/// The most that back ends generate code for.
const MOST: Isa = Isa::Avx512;

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
        Backend::X64 => *target,
    }
}

/// Which back end compiles a function.
enum Backend {
    Cranelift,
    X64,
}

impl Backend {
    /// The one for a target.
    fn of(target: &Target) -> Backend {
        match target.isa {
            Isa::Sse42 => Backend::Cranelift,
            Isa::Avx2 | Isa::Avx512 => Backend::X64,
        }
    }
}

/// The lane width that masks in vectors have where nothing else says: that of most comparisons, so
/// that most masks are never repacked.
fn usual_mask_bits(func: &Function, vector_bits: u32) -> u32 {
    let mut votes = [0usize; 4];
    let mut lanes = 1;
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            if let (Op::ICmp(_) | Op::FCmp(_), Some(&arg)) = (&data.op, data.args.first()) {
                let ty = func.ty(arg);
                if ty.lanes > 1 && ty.scalar != Scalar::I1 {
                    votes[(ty.scalar.bits() / 8).trailing_zeros() as usize] += 1;
                    lanes = ty.lanes;
                }
            }
        }
    }
    let best = (0..4).max_by_key(|&i| votes[i]).unwrap_or(2);
    if votes[best] == 0 {
        (vector_bits / u32::from(lanes.max(4))).clamp(8, 32)
    } else {
        8 << best
    }
}

/// Compiles a function that has been legalised for `target`. Without private memory all variables
/// are on the stack.
pub fn compile(
    func: &Function,
    target: &Target,
    private: Option<PrivateMemory>,
    dump: &KernelDump<'_>,
) -> Result<MachineCode, Diagnostic> {
    let code = match Backend::of(target) {
        Backend::Cranelift => cranelift::compile(func, private, dump)?,
        Backend::X64 => x64::compile(func, target, private, dump.wants("asm"))?,
    };
    dump.write("asm", || code.listing.clone().unwrap_or_default());
    Ok(code)
}
