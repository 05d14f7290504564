//! The binary contract between generated code and the code that runs it.
//!
//! A compiled kernel is one function that runs a *range* of work-groups on the calling thread. The
//! host gives it a [`Launch`], the same for every work-group of an ND-range, and scratch memory of
//! its own that no other thread touches meanwhile.
//!
//! Scratch memory: `[private memory | gap | work-group memory | barrier context]`, and the scratch
//! pointer is where work-group memory begins. That is [`Launch::local_mem_size`] bytes (the
//! kernel's static variables first, from offset 0, then whatever the host placed there for `local`
//! pointer arguments); the context follows at the next multiple of its alignment, [`SCRATCH_ALIGN`]
//! at least. Private memory has those private variables that are not on the stack
//! (`codegen/frame.rs`), and ends [`PRIVATE_GAP`] bytes below the scratch pointer.
//! [`crate::CompiledKernel::scratch_size`] says how much there is of each.
//!
//! A kernel may access any address. What a host does not want to have overwritten by an index that
//! is too large or negative it keeps away from scratch memory: pages that fault belong before it,
//! behind it, and in the gap.
//!
//! Argument block: each argument at [`crate::kernel_info::ArgInfo::offset`], little-endian, as the
//! host's C ABI lays it out. A pointer to global or constant memory is its 64-bit address (0 for a
//! null buffer). A pointer to local memory is its 64-bit byte *offset in work-group memory*;
//! generated code adds the base of the scratch memory it was given. An image is the address of its
//! [`crate::image::Descriptor`], which stays as it is while the kernel runs; a sampler is its
//! number ([`crate::image::Sampler::bits`]), in eight bytes.

use std::ffi::c_void;

/// Alignment in bytes of the scratch pointer, of the barrier context, and of each `local` argument,
/// where no variable asks for more.
pub const SCRATCH_ALIGN: u64 = 128;

/// Bytes between private memory and the scratch pointer: whole pages, whatever their size is.
pub const PRIVATE_GAP: u64 = 64 << 10;

/// Bytes of private memory at most: offsets in it have 32 bits.
pub const MOST_PRIVATE: u64 = 0x7000_0000;

/// How much scratch memory a thread needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScratchSize {
    /// Bytes of private memory.
    pub private: u64,
    /// Bytes from the scratch pointer on: work-group memory and barrier context.
    pub shared: u64,
    /// What the scratch pointer is a multiple of, bytes, a power of two.
    pub align: u64,
}

/// Runs the work-groups with linear ids `begin..end` (x fastest) on the calling thread.
///
/// # Safety
/// `launch` and all memory its arguments point to must outlive the call; `scratch` must be the
/// scratch pointer of as much memory as [`crate::CompiledKernel::scratch_size`] says, aligned as it
/// says, which this call alone uses.
pub type KernelFn =
    unsafe extern "C" fn(launch: *const Launch, scratch: *mut u8, begin: u64, end: u64);

/// Receives one `printf` call of one work-item.
///
/// `format` is the NUL-terminated format string; `types` describes `count` arguments, two bytes
/// each ([`PrintfScalar`] code, lane count); `lanes` holds every lane of every argument in order,
/// each zero-extended to eight bytes. A string argument (`%s`) is a [`PrintfScalar::Pointer`] to
/// NUL-terminated bytes.
pub type PrintfFn = unsafe extern "C" fn(
    context: *mut c_void,
    format: *const u8,
    types: *const u8,
    lanes: *const u64,
    count: u64,
);

/// Does a service of device-side enqueue for one work-item, as [`crate::device`] says, and gives
/// its result, or 0.
///
/// `what` is the service and its block ([`crate::device::decode`]), `words` the `count` operands,
/// each zero-extended to eight bytes.
pub type DeviceFn =
    unsafe extern "C" fn(context: *mut c_void, what: u64, words: *const u64, count: u64) -> u64;

/// How one lane of a `printf` argument is to be read from its eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PrintfScalar {
    I8 = 1,
    I16 = 2,
    I32 = 3,
    I64 = 4,
    F16 = 5,
    F32 = 6,
    F64 = 7,
    Pointer = 8,
}

/// What every work-group of one ND-range shares. Sizes are in work-items, x first; dimensions the
/// launch does not use have size 1 and offset 0.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Launch {
    /// The argument block.
    pub args: *const u8,
    pub global_offset: [u64; 3],
    pub global_size: [u64; 3],
    /// The enqueued local size; the last group of a dimension is smaller when it does not divide
    /// the global size.
    pub local_size: [u64; 3],
    pub num_groups: [u64; 3],
    pub work_dim: u64,
    /// Bytes of work-group memory, static and dynamic together.
    pub local_mem_size: u64,
    pub printf: PrintfFn,
    pub printf_context: *mut c_void,
    pub device: DeviceFn,
    pub device_context: *mut c_void,
}
