//! Executable memory: a CLIF function in, an address out.
//!
//! `globals.rs` holds module-scope objects; `tools/` shows code to profilers and debuggers. Each
//! compiled kernel owns its memory and gives it back when dropped.

pub mod globals;
mod tools;

use std::cell::Cell;

use cranelift_codegen::{CompiledCode, Context};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, default_libcall_names};

use crate::codegen::{Translated, host_isa};
use crate::diagnostic::Diagnostic;

thread_local! {
    /// The code generator's memory, to be used again: for a small kernel, getting it takes a tenth
    /// of the time.
    static SPARE: Cell<Option<Box<Context>>> = const { Cell::new(None) };
}

/// The memory is kept after functions of so many instructions at most, which take some megabytes.
const MOST_KEPT: usize = 10_000;

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
    /// Where the code of another line begins, and that line as `file:line`.
    lines: Box<[(usize, Box<str>)]>,
    _registration: Option<tools::DebuggerRegistration>,
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
    /// Compiles a function. `locations` are those that instructions refer to, as `file:line`. With
    /// `listing`, keeps the machine code's text.
    pub fn compile(
        name: &str,
        translated: Translated,
        locations: &[String],
        listing: bool,
    ) -> Result<Code, Diagnostic> {
        let Translated {
            function,
            constants,
            allocator,
        } = translated;
        let isa = host_isa(allocator)?;
        let mut module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
        let failed = |what: &str, why: String| Diagnostic::new(format!("{what}: {why}"));
        let id = module
            .declare_function(name, Linkage::Export, &function.signature)
            .map_err(|e| {
                failed(
                    "the kernel cannot be declared to the code generator",
                    e.to_string(),
                )
            })?;
        let mut context = SPARE.take().unwrap_or_else(|| Box::new(Context::new()));
        context.func = function;
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
        let lines = compiled.map_or_else(Vec::new, |code| lines(code, locations));
        let registration = tools::are_wanted().then(|| {
            tools::tell(&tools::Described {
                name,
                address: entry as u64,
                code: compiled.map_or(&[], |code| code.code_buffer()),
                lines: &lines,
            })
        });
        let lines = lines.iter().map(|line| {
            let text = format!("{}:{}", line.file, line.line);
            (line.offset as usize, text.into())
        });
        let lines = lines.collect();
        if context.func.dfg.num_insts() <= MOST_KEPT {
            context.clear();
            SPARE.set(Some(context));
        }
        Ok(Code {
            module: Some(module),
            entry,
            _constants: constants,
            size,
            listing,
            lines,
            _registration: registration,
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

    /// The line that the code at an offset comes from, as `file:line`, if the module says lines.
    pub fn line(&self, offset: usize) -> Option<&str> {
        let after = self.lines.partition_point(|&(begin, _)| begin <= offset);
        Some(&self.lines[after.checked_sub(1)?].1)
    }

    /// The machine code as text, if [`Code::compile`] was asked for it.
    pub fn listing(&self) -> Option<&str> {
        self.listing.as_deref()
    }
}

/// Which lines the code comes from.
fn lines<'a>(code: &CompiledCode, locations: &'a [String]) -> Vec<tools::Line<'a>> {
    let mut lines: Vec<tools::Line<'a>> = Vec::new();
    for range in code.buffer.get_srclocs_sorted() {
        let at = (!range.loc.is_default()).then(|| range.loc.bits() as usize);
        let Some(place) = at.and_then(|at| locations.get(at)) else {
            continue;
        };
        let (file, line) = place.rsplit_once(':').unwrap_or((place, "0"));
        let line = line.parse().unwrap_or(0);
        if lines
            .last()
            .is_some_and(|last| (last.file, last.line) == (file, line))
        {
            continue;
        }
        lines.push(tools::Line {
            offset: range.start,
            file,
            line,
        });
    }
    // What comes before is of no line. Debuggers want one for a function's first instruction.
    if let Some(first) = lines.first_mut() {
        first.offset = 0;
    }
    lines
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: whoever calls the code keeps this object alive while it runs.
            unsafe { module.free_memory() };
        }
    }
}
