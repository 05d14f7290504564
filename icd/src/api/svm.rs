//! Shared virtual memory.

use std::ffi::c_void;

use opencl_sys::*;

use super::context::{Context, OfContext};
use super::queue::Queue;
use super::transfer::pattern;
use super::wait::Events;
use crate::abi::callback::{self, SvmFreeNotify};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::Object;
use crate::abi::pointers::{InPtr, OutPtr, RawHandle, UserData};

/// `clSVMAlloc`: every error is a null pointer.
pub fn alloc(
    context: RawHandle,
    flags: cl_svm_mem_flags,
    size: usize,
    alignment: cl_uint,
) -> CLResult<*mut c_void> {
    let context = Context::usable(context)?;
    let pointer = context.runtime.svm_alloc(flags, size, alignment as usize)?;
    Ok(pointer.cast())
}

/// `clSVMFree`
pub fn free(context: RawHandle, pointer: OutPtr<c_void>) -> CLResult<()> {
    let context = Context::from_raw(context)?;
    // > If svm_pointer is NULL, no action occurs.
    if !pointer.is_null() {
        context.runtime.svm_free(pointer.address());
    }
    Ok(())
}

/// `clEnqueueSVMFree`
pub fn enqueue_free(
    queue: RawHandle,
    num_pointers: cl_uint,
    pointers: InPtr<*mut c_void>,
    notify: SvmFreeNotify,
    user_data: UserData,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    // > CL_INVALID_VALUE if num_svm_pointers is 0 and svm_pointers is non-NULL, or if svm_pointers
    // > is NULL and num_svm_pointers is not 0.
    require(
        pointers.is_null() == (num_pointers == 0),
        ClError::INVALID_VALUE,
    )?;
    let pointers = pointers.host_ptrs(num_pointers as usize);
    events.enqueue(&queue, |wait| {
        let notify = notify.map(|notify| callback::on_svm_free(notify, queue.raw(), user_data));
        queue.runtime.enqueue_svm_free(pointers, notify, wait)
    })
}

/// `clEnqueueSVMMemcpy`
pub fn memcpy(
    queue: RawHandle,
    blocking: cl_bool,
    destination: OutPtr<c_void>,
    source: InPtr<c_void>,
    size: usize,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| {
        // > CL_INVALID_VALUE if dst_ptr is NULL or src_ptr is NULL and size is non-zero. >
        // CL_MEM_COPY_OVERLAP if the values specified for dst_ptr, src_ptr and size result in an >
        // overlapping copy.
        queue.runtime.enqueue_svm_memcpy(
            blocking != CL_FALSE,
            destination.host_ptr(),
            source.host_ptr(),
            size,
            wait,
        )
    })
}

/// `clEnqueueSVMMemFill`
pub fn mem_fill(
    queue: RawHandle,
    destination: OutPtr<c_void>,
    pattern_pointer: InPtr<c_void>,
    pattern_size: usize,
    size: usize,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| {
        // > CL_INVALID_VALUE if svm_ptr is NULL and size is non-zero.
        let pattern = pattern(pattern_pointer, pattern_size)?;
        // > CL_INVALID_VALUE if svm_ptr is not aligned to pattern_size bytes, or size is not a >
        // multiple of pattern_size.
        queue
            .runtime
            .enqueue_svm_fill(destination.host_ptr(), &pattern, size, wait)
    })
}

/// `clEnqueueSVMMap`
pub fn map(
    queue: RawHandle,
    blocking: cl_bool,
    flags: cl_map_flags,
    pointer: OutPtr<c_void>,
    size: usize,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| {
        // > CL_INVALID_VALUE if svm_ptr is NULL, if size is zero, or if values specified in >
        // map_flags are not valid.
        require(!pointer.is_null() && size != 0, ClError::INVALID_VALUE)?;
        queue
            .runtime
            .enqueue_svm_map(blocking != CL_FALSE, flags, pointer.host_ptr(), size, wait)
    })
}

/// `clEnqueueSVMUnmap`
pub fn unmap(queue: RawHandle, pointer: OutPtr<c_void>, events: Events) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| {
        // > CL_INVALID_VALUE if svm_ptr is NULL.
        require(!pointer.is_null(), ClError::INVALID_VALUE)?;
        queue.runtime.enqueue_svm_unmap(pointer.host_ptr(), wait)
    })
}

/// `clEnqueueSVMMigrateMem`
pub fn migrate(
    queue: RawHandle,
    num_pointers: cl_uint,
    pointers: InPtr<*const c_void>,
    sizes: InPtr<usize>,
    flags: cl_mem_migration_flags,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| {
        // > CL_INVALID_VALUE if num_svm_pointers is zero or svm_pointers is NULL.
        require(
            num_pointers != 0 && !pointers.is_null(),
            ClError::INVALID_VALUE,
        )?;
        let count = num_pointers as usize;
        let pointers = pointers.host_ptrs(count);
        // > If sizes is NULL, or sizes[i] is zero, the entire allocation is migrated.
        let sizes = sizes.array(count).unwrap_or_else(|| vec![0; count]);
        queue
            .runtime
            .enqueue_svm_migrate(&pointers, &sizes, flags, wait)
    })
}
