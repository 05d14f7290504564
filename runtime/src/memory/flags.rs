//! The flags that memory objects are created with ("Memory Flags"), and what parts of them inherit.

use opencl_sys::*;

use crate::memory::host::HostPtr;
use brolga_engine::error::{CLResult, ClError};

const DEVICE_ACCESS: u64 = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
const HOST_ACCESS: u64 = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
const HOST_POINTER: u64 = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
/// What an immutable memory object cannot be created with.
const WRITES: u64 = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_HOST_WRITE_ONLY;

/// At most one bit of `mask` is set in `flags`.
fn at_most_one(flags: u64, mask: u64) -> bool {
    (flags & mask).count_ones() <= 1
}

/// Checks the flags of a new memory object that is not a part of another. Errors:
/// `CL_INVALID_VALUE`.
pub(crate) fn check(flags: u64, is_external: bool) -> CLResult<()> {
    let known = DEVICE_ACCESS | HOST_ACCESS | HOST_POINTER | CL_MEM_IMMUTABLE_EXT;
    // CL_INVALID_VALUE if values specified in flags are not valid as defined in the Memory
    // Flags table ("Creating Buffer Objects"): unknown bits, or bits that exclude each other.
    let exclusive = at_most_one(flags, DEVICE_ACCESS)
        && at_most_one(flags, HOST_ACCESS)
        && at_most_one(flags, CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR)
        && at_most_one(flags, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    if flags & !known != 0 || !exclusive {
        return Err(ClError::INVALID_VALUE);
    }
    // CL_INVALID_VALUE if properties includes a supported external memory handle and flags
    // includes CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR, or CL_MEM_COPY_HOST_PTR
    // (cl_khr_external_memory).
    if is_external && flags & HOST_POINTER != 0 {
        return Err(ClError::INVALID_VALUE);
    }
    // CL_INVALID_VALUE if CL_MEM_IMMUTABLE_EXT is set in flags and CL_MEM_READ_WRITE,
    // CL_MEM_WRITE_ONLY, or CL_MEM_HOST_WRITE_ONLY is set in flags, or neither
    // CL_MEM_COPY_HOST_PTR nor CL_MEM_USE_HOST_PTR is, nor does properties include an external
    // memory handle (cl_ext_immutable_memory_objects).
    let immutable = flags & CL_MEM_IMMUTABLE_EXT != 0;
    let filled = flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR) != 0 || is_external;
    if immutable && (flags & WRITES != 0 || !filled) {
        return Err(ClError::INVALID_VALUE);
    }
    Ok(())
}

/// Checks that a new memory object has a host pointer if its flags are about one. Errors:
/// `CL_INVALID_HOST_PTR`.
pub(crate) fn check_host_ptr(flags: u64, host: HostPtr) -> CLResult<()> {
    // CL_INVALID_HOST_PTR if host_ptr is NULL and CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR
    // are set in flags or if host_ptr is not NULL but CL_MEM_COPY_HOST_PTR or
    // CL_MEM_USE_HOST_PTR are not set in flags, which is so with an external memory handle.
    let wants_host = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    match wants_host == host.is_null() {
        true => Err(ClError::INVALID_HOST_PTR),
        false => Ok(()),
    }
}

/// The flags of a memory object that is created with `flags` and is not a part of another:
/// `CL_MEM_READ_WRITE` is the default ("Memory Flags"), of what may be written.
pub(crate) fn with_default(flags: u64) -> u64 {
    match flags & (DEVICE_ACCESS | CL_MEM_IMMUTABLE_EXT) {
        0 => flags | CL_MEM_READ_WRITE,
        _ => flags,
    }
}

/// The flags of a part that is created with `flags` of a memory object that has those of `parent`:
/// what is not specified is inherited.
///
/// Errors: `CL_INVALID_VALUE`.
pub(crate) fn inherited(parent: u64, flags: u64) -> CLResult<u64> {
    // CL_INVALID_VALUE if flags contains anything but access flags, or contradictory ones.
    let exclusive = at_most_one(flags, DEVICE_ACCESS) && at_most_one(flags, HOST_ACCESS);
    if flags & !(DEVICE_ACCESS | HOST_ACCESS | CL_MEM_IMMUTABLE_EXT) != 0 || !exclusive {
        return Err(ClError::INVALID_VALUE);
    }
    // CL_INVALID_VALUE if buffer was created with CL_MEM_WRITE_ONLY and flags specifies
    // CL_MEM_READ_WRITE or CL_MEM_READ_ONLY, or if buffer was created with CL_MEM_READ_ONLY and
    // flags specifies CL_MEM_READ_WRITE or CL_MEM_WRITE_ONLY.
    let device = flags & DEVICE_ACCESS;
    let parent_device = match parent & DEVICE_ACCESS {
        0 => CL_MEM_READ_ONLY,
        access => access,
    };
    if device != 0 && parent_device != CL_MEM_READ_WRITE && device != parent_device {
        return Err(ClError::INVALID_VALUE);
    }
    // CL_INVALID_VALUE if buffer was created with CL_MEM_HOST_WRITE_ONLY and flags specify
    // CL_MEM_HOST_READ_ONLY, the reverse, or with CL_MEM_HOST_NO_ACCESS and flags specify
    // CL_MEM_HOST_READ_ONLY or CL_MEM_HOST_WRITE_ONLY.
    let host = flags & HOST_ACCESS;
    let parent_host = parent & HOST_ACCESS;
    let widens =
        host & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY) != 0 && host != parent_host;
    if parent_host != 0 && widens {
        return Err(ClError::INVALID_VALUE);
    }
    // CL_INVALID_VALUE if buffer was created with CL_MEM_IMMUTABLE_EXT and flags specifies
    // CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, or CL_MEM_HOST_WRITE_ONLY. What is not specified is
    // inherited, so the same holds for a part that alone is to be immutable.
    let immutable = (parent | flags) & CL_MEM_IMMUTABLE_EXT;
    if immutable != 0 && flags & WRITES != 0 {
        return Err(ClError::INVALID_VALUE);
    }
    // What is not specified is inherited; the host pointer flags always are.
    let device = match device {
        0 if immutable != 0 => parent & CL_MEM_READ_ONLY,
        0 => parent_device,
        given => given,
    };
    let host = if host == 0 { parent_host } else { host };
    Ok(device | host | immutable | parent & HOST_POINTER)
}
