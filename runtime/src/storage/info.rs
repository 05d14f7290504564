//! How memory that is used by address was allocated.

use std::sync::Arc;

use opencl_sys::*;

use crate::base::device::Device;

/// The interface that an allocation was made with, and what it was told.
#[derive(Debug)]
pub enum AllocationInfo {
    Svm(SvmInfo),
    Usm(UsmInfo),
}

/// Places in [`SVM_TYPES`].
pub const COARSE_GRAIN_BUFFER: usize = 0;
pub const FINE_GRAIN_BUFFER: usize = 1;

/// What is true of all memory on this device, beyond what the headers' names for common types
/// promise.
const HERE: u64 = CL_SVM_CAPABILITY_DEVICE_ATOMIC_ACCESS_KHR
    | CL_SVM_CAPABILITY_CONCURRENT_ACCESS_KHR
    | CL_SVM_CAPABILITY_CONCURRENT_ATOMIC_ACCESS_KHR
    | CL_SVM_CAPABILITY_INDIRECT_ACCESS_KHR;

/// `CL_PLATFORM_SVM_TYPE_CAPABILITIES_KHR`, `CL_DEVICE_SVM_TYPE_CAPABILITIES_KHR`: coarse-grain and
/// fine-grain buffers, device, host and shared memory, and what the system allocates.
pub const SVM_TYPES: [u64; 6] = [
    CL_SVM_TYPE_MACRO_COARSE_GRAIN_BUFFER_KHR | CL_SVM_CAPABILITY_INDIRECT_ACCESS_KHR,
    CL_SVM_TYPE_MACRO_FINE_GRAIN_BUFFER_KHR | HERE,
    CL_SVM_TYPE_MACRO_DEVICE_KHR,
    CL_SVM_TYPE_MACRO_HOST_KHR | CL_SVM_CAPABILITY_HOST_MAP_KHR | HERE,
    // With a device or without, accessible to all.
    CL_SVM_TYPE_MACRO_SINGLE_DEVICE_SHARED_KHR
        | CL_SVM_CAPABILITY_DEVICE_UNASSOCIATED_KHR
        | CL_SVM_CAPABILITY_CONTEXT_ACCESS_KHR
        | CL_SVM_CAPABILITY_HOST_MAP_KHR
        | HERE,
    CL_SVM_TYPE_MACRO_SYSTEM_KHR,
];

/// What an allocation may be given besides its type and size.
#[derive(Clone, Debug, Default)]
pub struct SvmProperties {
    /// `CL_SVM_ALLOC_ASSOCIATED_DEVICE_HANDLE_KHR`
    pub device: Option<Arc<Device>>,
    /// `CL_SVM_ALLOC_ACCESS_FLAGS_KHR`
    pub access_flags: u64,
    /// `CL_SVM_ALLOC_ALIGNMENT_KHR`, bytes.
    pub alignment: usize,
    /// The list as it was given, with its final 0, or empty.
    pub list: Vec<u64>,
}

/// How an allocation of shared virtual memory was made, by `clSVMAlloc` too.
#[derive(Debug)]
pub struct SvmInfo {
    /// `CL_SVM_INFO_TYPE_INDEX_KHR`: the place in [`SVM_TYPES`].
    pub type_index: usize,
    pub properties: SvmProperties,
}

impl SvmInfo {
    /// Of this type, without properties.
    pub fn of_type(type_index: usize) -> SvmInfo {
        SvmInfo {
            type_index,
            properties: SvmProperties::default(),
        }
    }

    /// `CL_SVM_INFO_CAPABILITIES_KHR`
    pub fn capabilities(&self) -> u64 {
        SVM_TYPES[self.type_index]
    }
}

/// Whose memory an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsmKind {
    Host,
    Device,
    Shared,
}

/// How an allocation was made.
#[derive(Debug)]
pub struct UsmInfo {
    pub kind: UsmKind,
    /// `CL_MEM_ALLOC_DEVICE_INTEL`: for device allocations, and for shared ones that were given
    /// one.
    pub device: Option<Arc<Device>>,
    /// `CL_MEM_ALLOC_FLAGS_INTEL`
    pub flags: u64,
}
