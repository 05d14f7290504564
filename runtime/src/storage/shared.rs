//! Memory that host and kernels use by address.
//!
//! Host memory is device memory, so everything that the interfaces for such memory promise is
//! simply true: the same addresses everywhere, access from both sides at once, atomics between
//! them, and kernels that find their way to allocations that they were not told of. What is left is
//! to remember which allocation an address belongs to, and how it was made. That is this table, one
//! for each context, whichever of the interfaces allocates: `svm.rs` and `unified_svm.rs` (shared
//! virtual memory of the core and of `cl_khr_unified_svm`), `usm.rs`
//! (`cl_intel_unified_shared_memory`).

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::storage::allocation::{Allocation, MIN_ALIGN};
use crate::storage::info::{AllocationInfo, SvmInfo, UsmInfo};
use brolga_engine::error::{CLResult, ClError};

/// One allocation.
#[derive(Debug)]
pub struct SharedAllocation {
    block: Allocation,
    size: usize,
    info: AllocationInfo,
}

impl SharedAllocation {
    pub fn as_ptr(&self) -> *mut u8 {
        self.block.as_ptr()
    }

    /// Bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// What it was allocated as, if by `clSVMAlloc` or `clSVMAllocWithPropertiesKHR`.
    pub fn svm(&self) -> Option<&SvmInfo> {
        match &self.info {
            AllocationInfo::Svm(info) => Some(info),
            AllocationInfo::Usm(_) => None,
        }
    }

    /// What it was allocated as, if by `clHostMemAllocINTEL`, `clDeviceMemAllocINTEL` or
    /// `clSharedMemAllocINTEL`.
    pub fn usm(&self) -> Option<&UsmInfo> {
        match &self.info {
            AllocationInfo::Usm(info) => Some(info),
            AllocationInfo::Svm(_) => None,
        }
    }
}

/// The allocations of a context, by address.
#[derive(Debug, Default)]
pub struct SharedTable {
    allocations: Mutex<BTreeMap<usize, Arc<SharedAllocation>>>,
}

impl SharedTable {
    /// Allocates `size` bytes, at least one, aligned to [`MIN_ALIGN`] or more.
    ///
    /// Errors: `CL_OUT_OF_RESOURCES` without memory.
    pub(crate) fn allocate(&self, size: usize, info: AllocationInfo) -> CLResult<*mut u8> {
        let block = Allocation::new(size, MIN_ALIGN).ok_or(ClError::OUT_OF_RESOURCES)?;
        let pointer = block.as_ptr();
        let allocation = Arc::new(SharedAllocation { block, size, info });
        self.allocations.lock().insert(pointer as usize, allocation);
        Ok(pointer)
    }

    /// Frees the allocation that starts at `address` and is of the wanted kind. Whether there was
    /// one.
    pub(crate) fn free(&self, address: usize, wanted: impl Fn(&SharedAllocation) -> bool) -> bool {
        let mut allocations = self.allocations.lock();
        let freed = match allocations.get(&address) {
            Some(allocation) if wanted(allocation) => allocations.remove(&address),
            _ => None,
        };
        drop(allocations);
        // The memory goes back outside the lock, when nothing looks at it any more.
        freed.is_some()
    }

    /// The allocation that the byte at `address` belongs to.
    pub fn find(&self, address: usize) -> Option<Arc<SharedAllocation>> {
        let allocations = self.allocations.lock();
        let (start, allocation) = allocations.range(..=address).next_back()?;
        (address - start < allocation.size).then(|| Arc::clone(allocation))
    }

    /// The same, if it is shared virtual memory.
    pub fn find_svm(&self, address: usize) -> Option<Arc<SharedAllocation>> {
        self.find(address).filter(|found| found.svm().is_some())
    }

    /// The same, if it is unified shared memory.
    pub fn find_usm(&self, address: usize) -> Option<Arc<SharedAllocation>> {
        self.find(address).filter(|found| found.usm().is_some())
    }
}

/// Whether memory may be asked for with this alignment: 0, which stands for the largest OpenCL
/// type's, or a power of two that is not larger than that type.
pub(crate) fn is_alignment(alignment: usize) -> bool {
    alignment == 0 || alignment.is_power_of_two() && alignment <= MIN_ALIGN
}
