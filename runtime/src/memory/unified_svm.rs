//! The types of shared virtual memory, and allocation by type: `cl_khr_unified_svm`.
//!
//! The extension is a draft; what is supported is its revision 0.9.0. A type is a set of
//! capabilities, known by its place in [`SVM_TYPES`], and all devices of the platform have the same
//! types. The sentences quoted are those of the draft's sections "Allocating SVM With Properties"
//! and "Suggesting an SVM Type".

use opencl_sys::*;

use crate::context::Context;
use crate::storage::info::{AllocationInfo, SVM_TYPES, SvmInfo, SvmProperties};
use crate::storage::shared::is_alignment;
use brolga_engine::error::{CLResult, ClError};

/// `CL_DEVICE_SVM_CONCURRENT_ACCESS_ATOM_SIZE_KHR`: bytes that may be accessed at the same time as
/// their neighbours, or 0, for each type.
pub fn concurrent_access_atom_sizes() -> [usize; SVM_TYPES.len()] {
    SVM_TYPES.map(|capabilities| {
        usize::from(capabilities & CL_SVM_CAPABILITY_CONCURRENT_ACCESS_KHR != 0)
    })
}

impl SvmProperties {
    /// Errors: `CL_INVALID_PROPERTY`.
    fn check(&self) -> CLResult<()> {
        let known = CL_SVM_ALLOC_ACCESS_HOST_NOREAD_KHR
            | CL_SVM_ALLOC_ACCESS_HOST_NOWRITE_KHR
            | CL_SVM_ALLOC_ACCESS_DEVICE_NOREAD_KHR
            | CL_SVM_ALLOC_ACCESS_DEVICE_NOWRITE_KHR;
        // CL_INVALID_PROPERTY if the value specified for a supported property name is not valid.
        match self.access_flags & !known == 0 && is_alignment(self.alignment) {
            true => Ok(()),
            false => Err(ClError::INVALID_PROPERTY),
        }
    }

    /// "The associated device handle property is required unless the specified SVM type contains
    /// CL_SVM_CAPABILITY_DEVICE_UNASSOCIATED_KHR."
    fn suit(&self, capabilities: u64) -> bool {
        self.device.is_some() || capabilities & CL_SVM_CAPABILITY_DEVICE_UNASSOCIATED_KHR != 0
    }
}

impl Context {
    /// `clSVMAllocWithPropertiesKHR`: `size` bytes, or null for none. There is no limit on the size
    /// but memory.
    ///
    /// Errors: `CL_INVALID_PROPERTY`, `CL_INVALID_VALUE` (type index), `CL_OUT_OF_RESOURCES`.
    pub fn svm_alloc_of_type(
        &self,
        type_index: usize,
        properties: SvmProperties,
        size: usize,
    ) -> CLResult<*mut u8> {
        properties.check()?;
        // CL_INVALID_VALUE if svm_type_index is greater than the number of SVM types supported by
        // the devices in context.
        let capabilities = *SVM_TYPES.get(type_index).ok_or(ClError::INVALID_VALUE)?;
        if !properties.suit(capabilities) {
            return Err(ClError::INVALID_PROPERTY);
        }
        // "When size is zero, clSVMAlloc and clSVMAllocWithPropertiesKHR must return a NULL pointer
        // and must not generate an error."
        if size == 0 {
            return Ok(std::ptr::null_mut());
        }
        let info = SvmInfo {
            type_index,
            properties,
        };
        self.shared().allocate(size, AllocationInfo::Svm(info))
    }

    /// `clSVMFreeWithPropertiesKHR`. Errors: `CL_INVALID_VALUE` when `address` is not the start of
    /// an allocation.
    pub fn svm_free_checked(&self, address: usize) -> CLResult<()> {
        let freed = self
            .shared()
            .free(address, |allocation| allocation.svm().is_some());
        // CL_INVALID_VALUE if ptr is not a value returned by clSVMAlloc,
        // clSVMAllocWithPropertiesKHR, or a NULL pointer.
        match freed {
            true => Ok(()),
            false => Err(ClError::INVALID_VALUE),
        }
    }

    /// `clGetSVMSuggestedTypeIndexKHR`: of the types that have what is required the one that has
    /// most of what is desired, the first in doubt. Without a device in the properties it is asked
    /// what the platform has: the device that a type needs may be said later, to allocate.
    ///
    /// Errors: `CL_INVALID_PROPERTY`.
    pub fn suggested_svm_type(
        &self,
        required: u64,
        desired: u64,
        properties: &SvmProperties,
    ) -> CLResult<Option<usize>> {
        properties.check()?;
        let suitable = SVM_TYPES
            .iter()
            .enumerate()
            .filter(|&(_, &capabilities)| capabilities & required == required);
        // The last of equal ones is the maximum, so they are looked at from behind.
        let best = suitable
            .rev()
            .max_by_key(|&(_, &capabilities)| (capabilities & desired).count_ones());
        Ok(best.map(|(index, _)| index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The notes below the draft's table of capabilities.
    #[test]
    fn types_are_consistent() {
        let host = CL_SVM_CAPABILITY_HOST_READ_KHR | CL_SVM_CAPABILITY_HOST_WRITE_KHR;
        for capabilities in SVM_TYPES {
            let has = |wanted: u64| capabilities & wanted == wanted;
            let unassociated = has(CL_SVM_CAPABILITY_DEVICE_UNASSOCIATED_KHR);
            assert!(!has(CL_SVM_CAPABILITY_DEVICE_OWNED_KHR) || !unassociated);
            assert!(!has(CL_SVM_CAPABILITY_HOST_OWNED_KHR) || unassociated && has(host));
        }
    }
}
