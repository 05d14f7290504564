//! The types of external memory and semaphore handles that are supported.

use opencl_sys::*;

/// What memory can be imported from.
pub const EXTERNAL_MEMORY: [cl_external_memory_handle_type_khr; 2] = [
    CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR,
    CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR,
];

/// The handles that semaphores may be imported from and exported as. Sync files are made by drivers
/// in the kernel, of which there is none here.
pub const EXTERNAL_SEMAPHORES: [cl_external_semaphore_handle_type_khr; 1] =
    [CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR];
