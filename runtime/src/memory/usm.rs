//! Unified shared memory: `cl_intel_unified_shared_memory`.
//!
//! Host, device and shared allocations differ in what owns them, and all memory has one owner here.
//! The sentences about errors are those of the extension's section "Allocating and Freeing Unified
//! Shared Memory".

use std::sync::Arc;

use opencl_sys::*;

use crate::base::device::Device;
use crate::context::Context;
use crate::storage::info::{AllocationInfo, UsmInfo, UsmKind};
use crate::storage::shared::is_alignment;
use brolga_engine::error::{CLResult, ClError};

impl Context {
    /// `clHostMemAllocINTEL`, `clDeviceMemAllocINTEL`, `clSharedMemAllocINTEL`: `size` bytes
    /// aligned to `alignment`, 0 meaning the largest OpenCL type's. `device` is one of the
    /// context's.
    ///
    /// Errors: `CL_INVALID_VALUE` (alignment), `CL_INVALID_PROPERTY`, `CL_INVALID_BUFFER_SIZE`,
    /// `CL_OUT_OF_RESOURCES`.
    pub fn usm_alloc(
        &self,
        kind: UsmKind,
        device: Option<&Arc<Device>>,
        properties: &[(u64, u64)],
        size: usize,
        alignment: usize,
    ) -> CLResult<*mut u8> {
        // CL_INVALID_VALUE if alignment is not zero or a power of two, or is greater than the size
        // of the largest data type supported by device.
        if !is_alignment(alignment) {
            return Err(ClError::INVALID_VALUE);
        }
        let flags = alloc_flags(kind, properties)?;
        // CL_INVALID_BUFFER_SIZE if size is zero or greater than CL_DEVICE_MAX_MEM_ALLOC_SIZE for
        // device.
        if size == 0 || size as u64 > self.device().max_mem_alloc_size {
            return Err(ClError::INVALID_BUFFER_SIZE);
        }
        let info = UsmInfo {
            kind,
            device: device.cloned(),
            flags,
        };
        self.shared().allocate(size, AllocationInfo::Usm(info))
    }

    /// `clMemFreeINTEL`: frees an allocation at once.
    ///
    /// Errors: `CL_INVALID_VALUE` when `address` is not the start of one.
    pub fn usm_free(&self, address: usize) -> CLResult<()> {
        let freed = self
            .shared()
            .free(address, |allocation| allocation.usm().is_some());
        // CL_INVALID_VALUE if ptr is not a value returned by clHostMemAllocINTEL,
        // clDeviceMemAllocINTEL, clSharedMemAllocINTEL, or a NULL pointer.
        match freed {
            true => Ok(()),
            false => Err(ClError::INVALID_VALUE),
        }
    }

    /// `clMemBlockingFreeINTEL`: frees an allocation when every command enqueued so far is
    /// complete.
    ///
    /// Errors: as [`Context::usm_free`].
    pub fn usm_blocking_free(&self, address: usize) -> CLResult<()> {
        let allocation = self.shared().find_usm(address);
        if allocation.is_none_or(|found| found.as_ptr() as usize != address) {
            return Err(ClError::INVALID_VALUE);
        }
        // "a kernel with indirect memory access counts as using all memory allocations", so every
        // command may be using this one.
        self.finish_all();
        self.usm_free(address)
    }
}

/// `CL_MEM_ALLOC_FLAGS_INTEL` of a property list.
fn alloc_flags(kind: UsmKind, properties: &[(u64, u64)]) -> CLResult<u64> {
    const PLACEMENT: u64 =
        CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL | CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;
    // CL_INVALID_PROPERTY if a memory property name in properties is not a supported property name,
    // if the value specified for a supported property name is not valid, or if the same property
    // name is specified more than once.
    let flags = match properties {
        [] => 0,
        [(CL_MEM_ALLOC_FLAGS_INTEL, flags)] => *flags,
        _ => return Err(ClError::INVALID_PROPERTY),
    };
    let known = flags & !(CL_MEM_ALLOC_WRITE_COMBINED_INTEL | PLACEMENT) == 0;
    // CL_INVALID_PROPERTY if either the CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL or
    // CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL flags are specified; both of them, for shared
    // allocations.
    let placed = match kind {
        UsmKind::Shared => flags & PLACEMENT != PLACEMENT,
        UsmKind::Host | UsmKind::Device => flags & PLACEMENT == 0,
    };
    match known && placed {
        true => Ok(flags),
        false => Err(ClError::INVALID_PROPERTY),
    }
}
