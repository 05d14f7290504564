//! Shared virtual memory.

use std::ffi::c_void;

use brolga_runtime::{HostPtr, SvmCopy, SvmFill};
use opencl_sys::*;

use super::context::{Context, OfContext};
use super::place::{OpenPlace, Place};
use super::queue::Queue;
use super::transfer;
use super::wait::{EventArguments, Submission};
use crate::abi::callback::{self, SvmFreeNotify};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::Object;
use crate::abi::pointers::{InList, OutPtr, RawHandle, UserData};

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
    pointers: InList<*mut c_void>,
    notify: SvmFreeNotify,
    user_data: UserData,
    events: EventArguments,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    // > CL_INVALID_VALUE if num_svm_pointers is 0 and svm_pointers is non-NULL, or if svm_pointers
    // > is NULL and num_svm_pointers is not 0.
    require(pointers.is_null_if_empty(), ClError::INVALID_VALUE)?;
    let pointers = pointers.host_ptrs()?;
    events.enqueue(&queue, |wait| {
        let notify = notify.map(|notify| callback::on_svm_free(notify, queue.raw(), user_data));
        queue.runtime.enqueue_svm_free(pointers, notify, wait)
    })
}

/// `clEnqueueSVMMemcpy`
pub fn memcpy(
    submission: Submission,
    blocking: cl_bool,
    destination: HostPtr,
    source: HostPtr,
    size: usize,
) -> CLResult<()> {
    let queue = Queue::usable(submission.queue)?;
    let copy = SvmCopy {
        destination,
        source,
        size,
    };
    submission.submit(&queue, blocking, copy)
}

/// `clCommandSVMMemcpyKHR`
pub fn record_memcpy(
    place: impl Place,
    destination: HostPtr,
    source: HostPtr,
    size: usize,
) -> CLResult<()> {
    let copy = SvmCopy {
        destination,
        source,
        size,
    };
    place.open()?.take(|| Ok(copy))
}

/// `clEnqueueSVMMemFill`, `clCommandSVMMemFillKHR`
pub fn mem_fill(
    place: impl Place,
    destination: HostPtr,
    pattern: InList<u8>,
    size: usize,
) -> CLResult<()> {
    let fill = || {
        Ok(SvmFill {
            destination,
            pattern: transfer::pattern(pattern)?,
            size,
        })
    };
    place.open()?.take(fill)
}

/// `clEnqueueSVMMap`
pub fn map(
    queue: RawHandle,
    blocking: cl_bool,
    flags: cl_map_flags,
    pointer: HostPtr,
    size: usize,
    events: EventArguments,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| {
        queue
            .runtime
            .enqueue_svm_map(blocking != CL_FALSE, flags, pointer, size, wait)
    })
}

/// `clEnqueueSVMUnmap`
pub fn unmap(queue: RawHandle, pointer: HostPtr, events: EventArguments) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_svm_unmap(pointer, wait)
    })
}

/// `clEnqueueSVMMigrateMem`
pub fn migrate(
    queue: RawHandle,
    pointers: InList<*const c_void>,
    sizes: InList<usize>,
    flags: cl_mem_migration_flags,
    events: EventArguments,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| {
        // > CL_INVALID_VALUE if num_svm_pointers is zero or svm_pointers is NULL.
        require(
            pointers.count() != 0 && !pointers.is_null(),
            ClError::INVALID_VALUE,
        )?;
        // > If sizes is NULL, or sizes[i] is zero, the entire allocation is migrated.
        let sizes = sizes.get()?.unwrap_or_default();
        queue
            .runtime
            .enqueue_svm_migrate(&pointers.host_ptrs()?, &sizes, flags, wait)
    })
}
