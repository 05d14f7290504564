//! Shared virtual memory of the core: `clSVMAlloc` and `clSVMFree`.

use opencl_sys::*;

use crate::context::Context;
use crate::storage::info::{AllocationInfo, COARSE_GRAIN_BUFFER, FINE_GRAIN_BUFFER, SvmInfo};
use crate::storage::shared::is_alignment;
use brolga_engine::error::{CLResult, ClError};

impl Context {
    /// `clSVMAlloc`: `size` bytes aligned to `alignment`, 0 meaning the largest OpenCL type's.
    ///
    /// Errors (the entry point turns each into a null pointer): `CL_INVALID_VALUE` for bad flags, a
    /// zero or too large size or a bad alignment, `CL_OUT_OF_RESOURCES` without memory.
    pub fn svm_alloc(&self, flags: u64, size: usize, alignment: usize) -> CLResult<*mut u8> {
        let known = CL_MEM_READ_WRITE
            | CL_MEM_WRITE_ONLY
            | CL_MEM_READ_ONLY
            | CL_MEM_SVM_FINE_GRAIN_BUFFER
            | CL_MEM_SVM_ATOMICS;
        let access = flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY);
        // Values specified in flags do not follow rules described for supported values ("SVM
        // Allocation").
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
        if !is_alignment(alignment) {
            return Err(ClError::INVALID_VALUE);
        }
        let type_index = match flags & CL_MEM_SVM_FINE_GRAIN_BUFFER {
            0 => COARSE_GRAIN_BUFFER,
            _ => FINE_GRAIN_BUFFER,
        };
        self.shared()
            .allocate(size, AllocationInfo::Svm(SvmInfo::of_type(type_index)))
    }

    /// `clSVMFree`: frees an allocation. An address that is not the start of one is ignored.
    pub fn svm_free(&self, address: usize) {
        self.shared()
            .free(address, |allocation| allocation.svm().is_some());
    }
}
