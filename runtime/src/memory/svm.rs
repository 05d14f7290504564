//! Shared virtual memory: allocations that host and kernels use by address.
//!
//! Host memory is device memory, so every granularity, up to fine-grain system with atomics, is
//! simply true. The table exists to answer which allocation an address belongs to.

use std::collections::BTreeMap;
use std::sync::Arc;

use opencl_sys::*;
use parking_lot::Mutex;

use crate::context::Context;
use crate::error::{CLResult, ClError};
use crate::memory::allocation::{Allocation, MIN_ALIGN};

/// One `clSVMAlloc`.
#[derive(Debug)]
pub struct SvmAllocation {
    block: Allocation,
    size: usize,
    flags: u64,
}

impl SvmAllocation {
    pub fn as_ptr(&self) -> *mut u8 {
        self.block.as_ptr()
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The flags it was allocated with.
    pub fn flags(&self) -> u64 {
        self.flags
    }
}

/// The SVM allocations of a context, by address.
#[derive(Debug, Default)]
pub struct SvmTable {
    allocations: Mutex<BTreeMap<usize, Arc<SvmAllocation>>>,
}

impl Context {
    /// `clSVMAlloc`: `size` bytes aligned to `alignment`, 0 meaning the largest OpenCL type's.
    ///
    /// Errors (the entry point turns each into a null pointer): `CL_INVALID_VALUE` for bad flags, a zero
    /// or too large size or a bad alignment, `CL_OUT_OF_RESOURCES` without memory.
    pub fn svm_alloc(&self, flags: u64, size: usize, alignment: usize) -> CLResult<*mut u8> {
        let known = CL_MEM_READ_WRITE
            | CL_MEM_WRITE_ONLY
            | CL_MEM_READ_ONLY
            | CL_MEM_SVM_FINE_GRAIN_BUFFER
            | CL_MEM_SVM_ATOMICS;
        let access = flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY);
        // Values specified in flags do not follow rules described for supported values ("SVM Allocation").
        if flags & !known != 0 || access.count_ones() > 1 {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_MEM_SVM_ATOMICS is only valid together with CL_MEM_SVM_FINE_GRAIN_BUFFER.
        if flags & CL_MEM_SVM_ATOMICS != 0 && flags & CL_MEM_SVM_FINE_GRAIN_BUFFER == 0 {
            return Err(ClError::INVALID_VALUE);
        }
        // size is 0 or > CL_DEVICE_MAX_MEM_ALLOC_SIZE.
        if size == 0 || size as u64 > self.device().max_mem_alloc_size {
            return Err(ClError::INVALID_VALUE);
        }
        // alignment is not a power of two or is larger than the largest supported data type.
        if alignment != 0 && (!alignment.is_power_of_two() || alignment > MIN_ALIGN) {
            return Err(ClError::INVALID_VALUE);
        }
        let block = Allocation::new(size, MIN_ALIGN).ok_or(ClError::OUT_OF_RESOURCES)?;
        let pointer = block.as_ptr();
        let allocation = Arc::new(SvmAllocation { block, size, flags });
        self.svm()
            .allocations
            .lock()
            .insert(pointer as usize, allocation);
        Ok(pointer)
    }

    /// `clSVMFree`: frees an allocation. An address that is not the start of one is ignored.
    pub fn svm_free(&self, address: usize) {
        let freed = self.svm().allocations.lock().remove(&address);
        drop(freed);
    }
}

impl SvmTable {
    /// The allocation that the byte at `address` belongs to.
    pub fn find(&self, address: usize) -> Option<Arc<SvmAllocation>> {
        let allocations = self.allocations.lock();
        let (start, allocation) = allocations.range(..=address).next_back()?;
        (address - start < allocation.size).then(|| Arc::clone(allocation))
    }
}
