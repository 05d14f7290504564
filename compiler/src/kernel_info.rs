//! What a host needs to know of a kernel to set its arguments and answer queries about it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::image::ImageDim;

/// The OpenCL address spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum AddressSpace {
    Private,
    Global,
    Constant,
    Local,
    Generic,
}

/// What kind of value `clSetKernelArg` takes for an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArgKind {
    /// Bytes by value: scalars, vectors, structures.
    Value,
    /// A memory object or SVM pointer (global, constant), or a size in bytes (local).
    Pointer(AddressSpace),
    Image(ImageArg),
    Sampler,
    Pipe,
    DeviceQueue,
    /// Anything: nothing uses it, and nothing says what it is in the source.
    Unused,
}

/// Which images an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageArg {
    pub dim: ImageDim,
    /// Rows of texels that are a buffer.
    pub is_buffer: bool,
    /// Images of depth components.
    pub is_depth: bool,
}

/// Access qualifier of an image or pipe argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccessQualifier {
    None,
    ReadOnly,
    WriteOnly,
    ReadWrite,
}

/// Type qualifiers of a pointer argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeQualifiers {
    pub is_const: bool,
    pub is_restrict: bool,
    pub is_volatile: bool,
    pub is_pipe: bool,
}

/// One argument of a kernel.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ArgInfo {
    /// Name in the source, when the module carries it.
    pub name: Option<String>,
    /// Type name in the source (`float*`), when the module carries it or it can be derived.
    pub type_name: Option<String>,
    pub kind: ArgKind,
    pub access: AccessQualifier,
    pub qualifiers: TypeQualifiers,
    /// Bytes the argument takes in the argument block: what `clSetKernelArg` must be given for a
    /// value; 8 for pointers and objects.
    pub size: u32,
    /// Byte offset in the argument block, aligned to the type's own alignment.
    pub offset: u32,
    /// Bytes of the largest memory object or work-group memory that the argument may be set to
    /// (`MaxByteOffset`).
    pub max_bytes: Option<u64>,
}

impl ArgInfo {
    /// An argument of which nothing is known but what it takes.
    pub fn new(kind: ArgKind, size: u32, offset: u32) -> ArgInfo {
        ArgInfo {
            name: None,
            type_name: None,
            kind,
            access: AccessQualifier::None,
            qualifiers: TypeQualifiers::default(),
            size,
            offset,
            max_bytes: None,
        }
    }
}

/// What the driver itself puts into the argument block: no argument of the source is it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ImplicitArg {
    pub what: Implicit,
    /// Byte offset in the argument block of the 8 bytes that it takes.
    pub offset: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Implicit {
    /// How many bytes the memory object has that an argument is set to.
    Size { arg: u32 },
    /// The address of memory of the launch that its work-items print to.
    Printed(Arc<PrintfBuffer>),
}

/// Memory that work-items print to by themselves: words of 32 bits, the first of which says how
/// many of the others are taken. These are calls one after another, each an id and its arguments.
#[derive(Debug, Serialize, Deserialize)]
pub struct PrintfBuffer {
    pub bytes: u32,
    /// What ids stand for: formats of calls, and strings that are arguments.
    pub formats: BTreeMap<u32, PrintfFormat>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PrintfFormat {
    pub text: String,
    /// Bytes of each argument, which takes whole words.
    pub sizes: Vec<u32>,
}

/// One kernel (entry point of execution model `Kernel`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelInfo {
    pub name: String,
    pub args: Vec<ArgInfo>,
    pub implicit: Vec<ImplicitArg>,
    /// Bytes of the argument block.
    pub args_size: u32,
    /// `reqd_work_group_size`.
    pub required_work_group_size: Option<[u32; 3]>,
    pub work_group_size_hint: Option<[u32; 3]>,
    /// `vec_type_hint` as written in OpenCL C.
    pub vec_type_hint: Option<String>,
    pub required_sub_group_size: Option<u32>,
    /// Sub-groups that a work-group must have.
    pub required_num_sub_groups: Option<u32>,
    /// Bytes of work-group memory of the kernel's own variables.
    pub local_mem_size: u64,
    /// Bytes of private memory one work-item uses, as far as known.
    pub private_mem_size: u64,
    /// Whether the kernel or anything it calls executes a work-group barrier or collective.
    pub has_barrier: bool,
    /// Whether the kernel or anything it calls asks for a service of device-side enqueue.
    pub enqueues: bool,
    /// OpenCL C attributes, space separated, for `CL_KERNEL_ATTRIBUTES`.
    pub attributes: String,
}

impl KernelInfo {
    /// A kernel without arguments that asks for nothing.
    pub fn new(name: impl Into<String>) -> KernelInfo {
        KernelInfo {
            name: name.into(),
            args: Vec::new(),
            implicit: Vec::new(),
            args_size: 0,
            required_work_group_size: None,
            work_group_size_hint: None,
            vec_type_hint: None,
            required_sub_group_size: None,
            required_num_sub_groups: None,
            local_mem_size: 0,
            private_mem_size: 0,
            has_barrier: false,
            enqueues: false,
            attributes: String::new(),
        }
    }
}
