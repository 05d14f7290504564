//! The interpreter: what the IR means.
//!
//! It runs a kernel over an ND-range, work-group by work-group and work-item by work-item,
//! switching at barriers ([`Interpreter::run`]), or one function as a plain function
//! ([`Interpreter::call`]), such as an assembled work-group function with vectors in it. Every
//! stage's IR runs here, so every stage can be compared with the one before, and generated code
//! with all of them.
//!
//! In go a module, memory as segments of bytes with addresses, and a launch. Out come the changed
//! segments, the `printf` calls as records, or an [`Error`] that names the access or instruction at
//! fault: nothing an IR program does makes the interpreter panic or run forever.
//!
//! - `memory.rs`: segments, bounds-checked access.
//! - `checks.rs`: the checked mode: uninitialised reads, data races, divergent barriers.
//! - `exec.rs`: frames and control flow, one work-item until it ends or reaches a barrier. Open it
//!   first.
//! - `access.rs`: instructions that touch memory, by lanes, masks and strides.
//! - `images.rs`: instructions on images. `device.rs`: those that enqueue.
//! - `builtin.rs`: `OpenCL.std` built-ins on constant lanes; the constant folder uses it too.
//! - `ndrange.rs`: groups and barriers. `work_item.rs`: one work-item. `convergence.rs`:
//!   collectives, and which work-items execute one together.
//! - `nest.rs`: loops and iterations, which decide that.

mod access;
pub mod builtin;
mod checks;
mod convergence;
mod device;
mod exec;
mod images;
mod memory;
mod ndrange;
mod nest;
mod work_item;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use cranelift_entity::{EntityRef, PrimaryMap};

use crate::ir::eval::Lanes;
use crate::ir::{FuncId, Function, GlobalId, GlobalInit, Module, Type};

use crate::device::Sequence;

pub use memory::{Memory, SegmentId};
pub use ndrange::Launch;

/// Why a run stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub message: String,
}

impl Error {
    fn new(message: impl Into<String>) -> Error {
        Error {
            message: message.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// One `printf` call of one work-item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintfCall {
    /// The format, without its NUL.
    pub format: Vec<u8>,
    pub args: Vec<PrintfArg>,
}

/// An argument of a `printf` call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintfArg {
    pub ty: Type,
    pub lanes: Lanes,
    /// The NUL-terminated bytes a pointer points to, without the NUL, when they can be read.
    pub string: Option<Vec<u8>>,
}

/// What is refused and what is tolerated.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Instructions that one run may execute in all.
    pub budget: u64,
    /// The checked mode: also refuses reads of uninitialised memory, data races between work-items,
    /// and barriers that not all work-items of the group reach together.
    pub checked: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            budget: 1 << 32,
            checked: false,
        }
    }
}

/// Calls deeper than this are refused; OpenCL C has no recursion.
const MAX_DEPTH: usize = 64;

/// A module ready to run, with the memory that it runs on.
pub struct Interpreter<'m> {
    pub memory: Memory,
    /// `printf` calls so far, in the order they happened.
    pub printf: Vec<PrintfCall>,
    module: &'m Module,
    globals: PrimaryMap<GlobalId, u64>,
    layouts: exec::FrameLayouts,
    /// What [`crate::ir::Op::CallFunction`] calls.
    pub called: Option<&'m BTreeMap<FuncId, Function>>,
    options: Options,
    /// Instructions left.
    budget: u64,
    checks: checks::Checks,
    /// What was enqueued and has yet to run.
    enqueued: Sequence,
}

impl<'m> Interpreter<'m> {
    /// Places the module's globals in memory. `memory` holds what the host allocated.
    pub fn new(module: &'m Module, mut memory: Memory, options: Options) -> Interpreter<'m> {
        let mut globals: PrimaryMap<GlobalId, u64> = PrimaryMap::new();
        let mut segments = Vec::new();
        for global in module.globals.values() {
            let bytes = match &global.init {
                GlobalInit::Zero => vec![0; usize::try_from(global.size).unwrap_or(0)],
                GlobalInit::Bytes(bytes, _) => bytes.clone(),
            };
            let id = memory.add(&global.name, bytes, u64::from(global.align));
            globals.push(memory.base(id));
            segments.push(id);
        }
        for (global, &id) in module.globals.values().zip(&segments) {
            if let GlobalInit::Bytes(_, relocations) = &global.init {
                for r in relocations {
                    let target = globals.get(r.target).copied().unwrap_or(0);
                    let address = target.wrapping_add_signed(r.addend);
                    let at = r.offset as usize;
                    if let Some(bytes) = memory.bytes_mut(id).get_mut(at..at + 8) {
                        bytes.copy_from_slice(&address.to_le_bytes());
                    }
                }
            }
        }
        Interpreter {
            memory,
            printf: Vec::new(),
            module,
            globals,
            layouts: exec::FrameLayouts::default(),
            called: None,
            options,
            budget: options.budget,
            checks: checks::Checks::new(options.checked),
            enqueued: Sequence::default(),
        }
    }

    /// The addresses of the module's globals.
    pub fn globals(&self) -> &PrimaryMap<GlobalId, u64> {
        &self.globals
    }

    /// Runs a kernel of the module over an ND-range.
    pub fn run(&mut self, kernel: usize, launch: &Launch) -> Result<(), Error> {
        let module = self.module;
        let Some(kernel) = module.kernels.get(kernel) else {
            return Err(Error::new(format!("there is no kernel {kernel}")));
        };
        self.run_function(&module.functions[kernel.func], &kernel.params, launch)
    }

    /// Calls a function of the module, by id, with the lanes of each parameter; gives the lanes of
    /// each result.
    pub fn call_id(&mut self, func: FuncId, args: &[Lanes]) -> Result<Vec<Lanes>, Error> {
        let Some(function) = self.module.functions.get(func) else {
            return Err(Error::new(format!("there is no function {}", func.index())));
        };
        self.call(function, args)
    }

    /// Calls a function as a plain function: no work-item queries, barriers or work-group
    /// variables. Globals and calls in it are this module's. Gives the lanes of each result.
    pub fn call(&mut self, func: &Function, args: &[Lanes]) -> Result<Vec<Lanes>, Error> {
        let mut item = exec::Item::new(func, exec::FrameLayout::new(func), args)?;
        match self.resume(&mut item, None)? {
            exec::Stop::Finished(results) => Ok(results),
            exec::Stop::Barrier(_) | exec::Stop::SubGroup | exec::Stop::Named(_) => {
                Err(Error::new("a barrier in a plain function"))
            }
        }
    }
}
