//! A module: functions, module-scope objects, kernels.

use cranelift_entity::PrimaryMap;
use serde::{Deserialize, Serialize};

use super::{FuncId, Function, GlobalId};
use crate::kernel_info::{AddressSpace, KernelInfo};

/// An address stored in a global's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relocation {
    /// Byte offset of the eight bytes to set.
    pub offset: u64,
    pub target: GlobalId,
    /// Bytes added to the target's address.
    pub addend: i64,
}

/// What a global holds before any kernel ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GlobalInit {
    Zero,
    /// As many bytes as the global has, with addresses to fill in.
    Bytes(Vec<u8>, Vec<Relocation>),
}

/// A module-scope object: a constant, or a program-scope variable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Global {
    pub name: String,
    /// [`AddressSpace::Constant`] or [`AddressSpace::Global`].
    pub space: AddressSpace,
    /// Bytes.
    pub size: u64,
    /// Bytes, a power of two.
    pub align: u32,
    pub init: GlobalInit,
}

/// Where a kernel function's parameter comes from: a byte offset in the argument block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamSource {
    /// The parameter's value is at the offset.
    Value { offset: u32 },
    /// The parameter is the address of the offset: a structure passed by value, not to be written
    /// to.
    Address { offset: u32 },
    /// At the offset is a byte offset in work-group memory; the parameter is its address.
    Local { offset: u32 },
}

/// Who launches a kernel, and when ("Execution Mode": `Initializer`, `Finalizer`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum KernelRole {
    /// The application, whenever it likes.
    #[default]
    Ordinary,
    /// The runtime, before any other kernel of the program: one work-item.
    Initializer,
    /// The runtime, when the program goes: one work-item.
    Finalizer,
    /// Other kernels ([`crate::device`]).
    Block,
}

/// A kernel: a function whose parameters come from the argument block.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub info: KernelInfo,
    pub func: FuncId,
    /// One for each parameter of the function.
    pub params: Vec<ParamSource>,
    /// Whether `a * b + c` may be rounded once (no `ContractionOff`).
    pub contract: bool,
    pub role: KernelRole,
}

/// A translated module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    pub functions: PrimaryMap<FuncId, Function>,
    pub globals: PrimaryMap<GlobalId, Global>,
    pub kernels: Vec<Kernel>,
    /// Source positions, `file:line`; [`super::SourceLoc`] n is entry n - 1.
    pub locations: Vec<String>,
    /// Globals that the host may read or write by name. Not in the text: kernels know nothing of
    /// it.
    pub host_names: Vec<HostName>,
    /// What was wrong with the modules that this was translated from, and as what it was taken:
    /// lines for a build log. Not in the text either.
    pub warnings: Vec<String>,
}

/// A name that the host may know a global by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostName {
    pub name: String,
    pub global: GlobalId,
    /// What the host may do.
    pub is_readable: bool,
    pub is_writable: bool,
}

impl Module {
    /// The kernel, as an index, that is launched as the block that a function is.
    pub fn block(&self, func: FuncId) -> Option<usize> {
        let is_it = |kernel: &Kernel| kernel.role == KernelRole::Block && kernel.func == func;
        self.kernels.iter().position(is_it)
    }
}
