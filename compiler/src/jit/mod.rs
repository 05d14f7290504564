//! Executable memory: machine code in, an address out.
//!
//! `globals.rs` holds module-scope objects; `lines.rs` says which lines code comes from; `tools/`
//! shows code to profilers and debuggers. Each compiled kernel owns its memory and gives it back
//! when dropped.

pub mod globals;
pub mod lines;
mod tools;

use cranelift_codegen::binemit::Reloc;
use cranelift_entity::PrimaryMap;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{
    FuncId, Linkage, Module, ModuleReloc, ModuleRelocTarget, default_libcall_names,
};

use crate::codegen::{MachineCode, Symbol, host_isa};
use crate::diagnostic::Diagnostic;
use crate::ir::GlobalId;
use lines::LineTable;

/// Machine code in executable memory.
pub struct Code {
    /// Emptied only by `drop`.
    module: Option<JITModule>,
    entry: *const u8,
    /// Bytes of instructions.
    size: usize,
    /// Bytes of stack that a call takes.
    stack_bytes: u32,
    /// Bytes of private memory, and what the scratch pointer is to be a multiple of for it.
    private_memory: (u32, u32),
    lines: LineTable,
    _registration: Option<tools::DebuggerRegistration>,
}

// SAFETY: after `place` returns the memory is only read and executed, and nothing in `module` is
// touched again until `drop`, which has exclusive access.
unsafe impl Send for Code {}
// SAFETY: as above; shared access only reads `entry` and `size`.
unsafe impl Sync for Code {}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Code({:p}, {} bytes)", self.entry, self.size)
    }
}

impl Code {
    /// Places the code of a function. `globals` are the addresses of module-scope objects.
    pub fn place(
        name: &str,
        mut code: MachineCode,
        globals: &PrimaryMap<GlobalId, u64>,
        lines: LineTable,
    ) -> Result<Code, Diagnostic> {
        let isa = host_isa()?;
        let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let failed = |what: &str, why: String| Diagnostic::new(format!("{what}: {why}"));
        let signature = module.make_signature();
        let id = module
            .declare_function(name, Linkage::Export, &signature)
            .map_err(|e| failed("the kernel cannot be declared", e.to_string()))?;
        let relocations = resolve(&mut code, id, globals)?;
        module
            .define_function_bytes(id, code.align.into(), &code.bytes, &relocations)
            .map_err(|e| failed("the code cannot be placed", e.to_string()))?;
        module
            .finalize_definitions()
            .map_err(|e| failed("no executable memory", e.to_string()))?;
        let entry = module.get_finalized_function(id);
        let registration = tools::are_wanted().then(|| {
            tools::tell(&tools::Described {
                name,
                address: entry as u64,
                code: &code.bytes,
                lines: &lines.described(),
            })
        });
        Ok(Code {
            module: Some(module),
            entry,
            size: code.instruction_bytes as usize,
            stack_bytes: code.stack_bytes,
            private_memory: (code.private_bytes, code.private_align),
            lines,
            _registration: registration,
        })
    }

    /// The address of the first instruction.
    pub fn entry(&self) -> *const u8 {
        self.entry
    }

    /// Bytes of instructions.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Bytes of stack that a call takes.
    pub fn stack_bytes(&self) -> u32 {
        self.stack_bytes
    }

    /// Bytes of private memory, and what the scratch pointer is to be a multiple of for it.
    pub fn private_memory(&self) -> (u32, u32) {
        self.private_memory
    }

    /// The line that the code at an offset comes from, as `file:line`, if the module says lines.
    pub fn line(&self, offset: usize) -> Option<&str> {
        self.lines.at(offset)
    }
}

/// Writes the addresses that are known into a code, which is the function `id`. Returns where those
/// are to be written that are known when it is placed.
fn resolve(
    code: &mut MachineCode,
    id: FuncId,
    globals: &PrimaryMap<GlobalId, u64>,
) -> Result<Vec<ModuleReloc>, Diagnostic> {
    let mut later = Vec::new();
    for relocation in &code.relocations {
        let name = match relocation.symbol {
            Symbol::Code => ModuleRelocTarget::user(0, id.as_u32()),
            Symbol::Library(call) => ModuleRelocTarget::LibCall(call),
            symbol => {
                let at = relocation.offset as usize;
                let place = code.bytes.get_mut(at..at + 8);
                let (Some(place), Some(address)) = (place, symbol.address(globals)) else {
                    let why = format!("{symbol} at {at} cannot be addressed");
                    return Err(Diagnostic::new(why));
                };
                let address = address.wrapping_add_signed(relocation.addend);
                place.copy_from_slice(&address.to_le_bytes());
                continue;
            }
        };
        later.push(ModuleReloc {
            offset: relocation.offset,
            kind: Reloc::Abs8,
            name,
            addend: relocation.addend,
        });
    }
    Ok(later)
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: whoever calls the code keeps this object alive while it runs.
            unsafe { module.free_memory() };
        }
    }
}
