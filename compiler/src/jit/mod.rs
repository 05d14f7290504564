//! Executable memory: a CLIF function in, an address out.
//!
//! `globals.rs` holds module-scope objects. Each compiled kernel owns its memory and gives it back when dropped.

pub mod globals;

use cranelift_codegen::Context;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};

use crate::Diagnostic;
use crate::codegen::{Translated, host_isa};

/// Machine code in executable memory.
pub struct Code {
    /// Emptied only by `drop`.
    module: Option<JITModule>,
    entry: *const u8,
    /// What the code loads vectors from.
    _constants: Box<[u128]>,
    /// Bytes of machine code.
    size: usize,
    /// The machine code as text, when it was asked for.
    listing: Option<String>,
}

// SAFETY: after `compile` returns the memory is only read and executed, and nothing in `module` is
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
    /// Compiles a function. With `listing`, keeps the machine code's text.
    pub fn compile(translated: Translated, listing: bool) -> Result<Code, Diagnostic> {
        let Translated {
            function,
            constants,
            allocator,
        } = translated;
        let isa = host_isa(allocator)?;
        let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let failed = |what: &str, why: String| Diagnostic::new(format!("{what}: {why}"));
        let id = module
            .declare_function("kernel", Linkage::Export, &function.signature)
            .map_err(|e| {
                failed(
                    "the kernel cannot be declared to the code generator",
                    e.to_string(),
                )
            })?;
        let mut context = Context::for_function(function);
        context.set_disasm(listing);
        module
            .define_function(id, &mut context)
            .map_err(|e| failed("the code generator refused the kernel", format!("{e:?}")))?;
        let compiled = context.compiled_code();
        let size = compiled.map_or(0, |code| code.code_info().total_size as usize);
        let listing = compiled.and_then(|code| code.vcode.clone());
        module
            .finalize_definitions()
            .map_err(|e| failed("no executable memory", e.to_string()))?;
        let entry = module.get_finalized_function(id);
        Ok(Code {
            module: Some(module),
            entry,
            _constants: constants,
            size,
            listing,
        })
    }

    /// The address of the first instruction.
    pub fn entry(&self) -> *const u8 {
        self.entry
    }

    /// Bytes of machine code.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The machine code as text, if [`Code::compile`] was asked for it.
    pub fn listing(&self) -> Option<&str> {
        self.listing.as_deref()
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: whoever calls the code keeps this object alive while it runs.
            unsafe { module.free_memory() };
        }
    }
}
