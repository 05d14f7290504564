//! CLIF to machine code: Cranelift's own part, and the memory that it works in.

use std::cell::Cell;
use std::num::NonZeroU32;
use std::sync::{Arc, OnceLock};

use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{
    CompiledCode, Context, FinalizedMachReloc, FinalizedRelocTarget, ir as clif,
};

use super::{POOL, Translated};
use crate::codegen::allocator::Allocator;
use crate::codegen::{MachineCode, Relocation, Symbol};
use crate::diagnostic::Diagnostic;
use crate::ir::SourceLoc;

thread_local! {
    /// The code generator's memory, to be used again: for a small kernel, getting it takes a tenth
    /// of the time.
    static SPARE: Cell<Option<Box<Context>>> = const { Cell::new(None) };
}

/// The memory is kept after functions of so many instructions at most, which take some megabytes.
const MOST_KEPT: usize = 10_000;

/// Compiles a CLIF function. With `listing`, also to text.
pub(super) fn compile(translated: Translated, listing: bool) -> Result<MachineCode, Diagnostic> {
    let isa = isa(translated.allocator)?;
    let (private_bytes, private_align) = translated.private_memory;
    let mut context = SPARE.take().unwrap_or_else(|| Box::new(Context::new()));
    context.func = translated.function;
    context.set_disasm(listing);
    context
        .compile(&*isa, &mut ControlPlane::default())
        .map_err(|error| {
            let why = format!("the code generator refused the kernel: {:?}", error.inner);
            Diagnostic::new(why)
        })?;
    let code = context.compiled_code().expect("it was compiled");
    let mut bytes = code.code_buffer().to_vec();
    bytes.resize(bytes.len().next_multiple_of(size_of::<u128>()), 0);
    let pool = bytes.len() as i64;
    bytes.extend(translated.constants.iter().flat_map(|v| v.to_le_bytes()));
    let relocations = code.buffer.relocs().iter();
    let relocations = relocations
        .map(|reloc| relocation(reloc, &context.func, &translated.symbols, pool))
        .collect::<Result<_, _>>()?;
    let code = MachineCode {
        bytes,
        instruction_bytes: code.code_info().total_size,
        align: code.buffer.alignment.max(size_of::<u128>() as u32),
        // Up to the frame pointer; that and the return address are above.
        stack_bytes: code
            .buffer
            .frame_layout()
            .map_or(0, |layout| layout.frame_to_fp_offset + 16),
        private_bytes,
        private_align,
        relocations,
        lines: lines(code),
        listing: code.vcode.clone(),
    };
    if context.func.dfg.num_insts() <= MOST_KEPT {
        context.clear();
        SPARE.set(Some(context));
    }
    Ok(code)
}

/// A relocation of a function whose constants are `pool` bytes behind its start.
fn relocation(
    found: &FinalizedMachReloc,
    func: &clif::Function,
    symbols: &[Symbol],
    pool: i64,
) -> Result<Relocation, Diagnostic> {
    let refused = || Diagnostic::new(format!("a relocation that is not placed: {found:?}"));
    if found.kind != Reloc::Abs8 {
        return Err(refused());
    }
    let (symbol, addend) = match &found.target {
        FinalizedRelocTarget::ExternalName(clif::ExternalName::User(name)) => {
            let name = &func.params.user_named_funcs()[*name];
            match name.namespace {
                POOL => (Symbol::Code, pool),
                _ => (symbols[name.index as usize], 0),
            }
        }
        FinalizedRelocTarget::ExternalName(clif::ExternalName::LibCall(call)) => {
            (Symbol::Library(*call), 0)
        }
        FinalizedRelocTarget::Func(offset) => (Symbol::Code, i64::from(*offset)),
        FinalizedRelocTarget::ExternalName(_) => return Err(refused()),
    };
    Ok(Relocation {
        offset: found.offset,
        symbol,
        addend: addend + found.addend,
    })
}

/// Where code of another location begins.
fn lines(code: &CompiledCode) -> Vec<(u32, SourceLoc)> {
    let ranges = code.buffer.get_srclocs_sorted().iter();
    ranges
        .map(|range| (range.start, source_loc(range.loc)))
        .collect()
}

/// A location as CLIF has it, which begins at 0 and has a number for none.
pub(super) fn clif_loc(loc: SourceLoc) -> clif::SourceLoc {
    loc.0.map_or(clif::SourceLoc::default(), |n| {
        clif::SourceLoc::new(n.get() - 1)
    })
}

fn source_loc(loc: clif::SourceLoc) -> SourceLoc {
    SourceLoc(NonZeroU32::new(loc.bits().wrapping_add(1)))
}

/// The one of `isa`, for who does not generate code.
pub fn host_isa() -> Result<Arc<dyn TargetIsa>, Diagnostic> {
    isa(Allocator::Backtracking)
}

/// The machine that code is generated for: this one, with every instruction it has.
pub(super) fn isa(allocator: Allocator) -> Result<Arc<dyn TargetIsa>, Diagnostic> {
    type Isa = OnceLock<Result<Arc<dyn TargetIsa>, String>>;
    static ISAS: [Isa; 2] = [OnceLock::new(), OnceLock::new()];
    let (isa, algorithm) = match allocator {
        Allocator::Backtracking => (&ISAS[0], "backtracking"),
        Allocator::SinglePass => (&ISAS[1], "single_pass"),
    };
    let make = || {
        let mut flags = settings::builder();
        for (name, value) in [
            // Our own passes have folded, numbered and hoisted; Cranelift's would hoist constants
            // into registers that loops need.
            ("opt_level", "none"),
            ("regalloc_algorithm", algorithm),
            ("is_pic", "false"),
            ("use_colocated_libcalls", "false"),
            ("enable_probestack", "true"),
            ("probestack_strategy", "inline"),
            (
                "enable_verifier",
                if cfg!(debug_assertions) {
                    "true"
                } else {
                    "false"
                },
            ),
        ] {
            flags.set(name, value).map_err(|e| e.to_string())?;
        }
        let builder = cranelift_native::builder().map_err(str::to_string)?;
        builder
            .finish(settings::Flags::new(flags))
            .map_err(|e| e.to_string())
    };
    isa.get_or_init(make)
        .clone()
        .map_err(|why| Diagnostic::new(format!("this machine cannot be generated code for: {why}")))
}
