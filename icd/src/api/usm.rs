//! Unified shared memory: `cl_intel_unified_shared_memory`, which the sentences quoted are from.

use std::ffi::c_void;

use brolga_runtime::storage::info::UsmKind;
use brolga_runtime::{HostPtr, Pattern, UsmCopy, UsmFill};
use opencl_sys::*;

use super::context::{Context, OfContext};
use super::queue::Queue;
use super::transfer;
use super::wait::{EventArguments, Submission};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Object, Ref};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InList, InPtr, OutPtr, RawHandle};
use crate::abi::property_list::{Pairs, PropertyList};

/// Properties and sizes are checked by the runtime, in the order of the specification's list.
fn allocate(
    context: &Ref<Context>,
    kind: UsmKind,
    device: RawHandle,
    properties: PropertyList<Pairs<cl_mem_properties_intel>>,
    size: usize,
    alignment: cl_uint,
) -> CLResult<*mut c_void> {
    // > CL_INVALID_DEVICE if device is not a valid device or is not associated with context.
    let device = match device.is_null() && kind != UsmKind::Device {
        true => None,
        false => Some(context.device(device)?),
    };
    // > CL_INVALID_OPERATION if ... MEM_CAPABILITIES_INTEL is zero for device.
    let owner = device.as_ref().unwrap_or(&context.devices[0]);
    require(
        owner.runtime.usm_capabilities != 0,
        ClError::INVALID_OPERATION,
    )?;
    let pointer = context.runtime.usm_alloc(
        kind,
        device.as_ref().map(|device| &device.runtime),
        &properties.read().pairs().collect::<Vec<_>>(),
        size,
        alignment as usize,
    )?;
    Ok(pointer.cast())
}

/// `clHostMemAllocINTEL`
pub fn alloc_host(
    context: RawHandle,
    properties: PropertyList<Pairs<cl_mem_properties_intel>>,
    size: usize,
    alignment: cl_uint,
) -> CLResult<*mut c_void> {
    let context = Context::usable(context)?;
    let device = RawHandle::NULL;
    allocate(&context, UsmKind::Host, device, properties, size, alignment)
}

/// `clDeviceMemAllocINTEL`
pub fn alloc_device(
    context: RawHandle,
    device: RawHandle,
    properties: PropertyList<Pairs<cl_mem_properties_intel>>,
    size: usize,
    alignment: cl_uint,
) -> CLResult<*mut c_void> {
    let context = Context::usable(context)?;
    allocate(
        &context,
        UsmKind::Device,
        device,
        properties,
        size,
        alignment,
    )
}

/// `clSharedMemAllocINTEL`
pub fn alloc_shared(
    context: RawHandle,
    device: RawHandle,
    properties: PropertyList<Pairs<cl_mem_properties_intel>>,
    size: usize,
    alignment: cl_uint,
) -> CLResult<*mut c_void> {
    let context = Context::usable(context)?;
    allocate(
        &context,
        UsmKind::Shared,
        device,
        properties,
        size,
        alignment,
    )
}

/// `clMemFreeINTEL`
pub fn free(context: RawHandle, pointer: OutPtr<c_void>) -> CLResult<()> {
    let context = Context::from_raw(context)?;
    // > If ptr is NULL then no action occurs.
    match pointer.is_null() {
        true => Ok(()),
        false => context.runtime.usm_free(pointer.address()),
    }
}

/// `clMemBlockingFreeINTEL`
pub fn blocking_free(context: RawHandle, pointer: OutPtr<c_void>) -> CLResult<()> {
    let context = Context::from_raw(context)?;
    // > If ptr is NULL then no action occurs.
    match pointer.is_null() {
        true => Ok(()),
        false => context.runtime.usm_blocking_free(pointer.address()),
    }
}

/// `clGetMemAllocInfoINTEL`: an address that is in no allocation gets answers, too.
pub fn get_info(
    context: RawHandle,
    pointer: InPtr<c_void>,
    name: cl_mem_info_intel,
    writer: InfoWriter,
) -> CLResult<()> {
    let context = Context::from_raw(context)?;
    let found = context.runtime.shared().find_usm(pointer.address());
    let allocation = found.as_deref();
    let info = allocation.and_then(|allocation| allocation.usm());
    // It has the same number as a property, whose type is another.
    const FLAGS: cl_mem_info_intel = CL_MEM_ALLOC_FLAGS_INTEL as cl_mem_info_intel;
    match name {
        CL_MEM_ALLOC_TYPE_INTEL => writer.value(match info.map(|info| info.kind) {
            None => CL_MEM_TYPE_UNKNOWN_INTEL,
            Some(UsmKind::Host) => CL_MEM_TYPE_HOST_INTEL,
            Some(UsmKind::Device) => CL_MEM_TYPE_DEVICE_INTEL,
            Some(UsmKind::Shared) => CL_MEM_TYPE_SHARED_INTEL,
        }),
        CL_MEM_ALLOC_BASE_PTR_INTEL => {
            writer.value(allocation.map_or(0, |allocation| allocation.as_ptr() as usize))
        }
        CL_MEM_ALLOC_SIZE_INTEL => {
            writer.value(allocation.map_or(0, |allocation| allocation.size()))
        }
        CL_MEM_ALLOC_DEVICE_INTEL => {
            writer.value(context.handle_of(info.and_then(|info| info.device.as_ref())))
        }
        FLAGS => writer.value(info.map_or(0, |info| info.flags)),
        // > CL_INVALID_VALUE if param_name is not a valid Unified Shared Memory allocation query.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// Enqueues a fill.
fn enqueue_fill(
    submission: Submission,
    destination: HostPtr,
    pattern: impl FnOnce() -> CLResult<Pattern>,
    size: usize,
) -> CLResult<()> {
    let queue = Queue::usable(submission.queue)?;
    submission.events.enqueue(&queue, |wait| {
        let fill = UsmFill {
            destination,
            pattern: pattern()?,
            size,
        };
        queue.runtime.submit(fill, wait)
    })
}

/// `clEnqueueMemFillINTEL`
pub fn fill(
    submission: Submission,
    destination: HostPtr,
    pattern: InList<u8>,
    size: usize,
) -> CLResult<()> {
    // > CL_INVALID_VALUE if pattern is NULL.
    // > CL_INVALID_VALUE if pattern_size is not a power of two or is greater than the size of the
    // > largest integer or floating-point vector data type supported by the device associated with
    // > command_queue.
    let pattern = || transfer::pattern(pattern);
    enqueue_fill(submission, destination, pattern, size)
}

/// `clEnqueueMemsetINTEL`, which `clEnqueueMemFillINTEL` replaced: a fill with one byte.
pub fn set(
    submission: Submission,
    destination: HostPtr,
    value: cl_int,
    size: usize,
) -> CLResult<()> {
    let pattern = || Ok(Pattern::byte(value as u8));
    enqueue_fill(submission, destination, pattern, size)
}

/// `clEnqueueMemcpyINTEL`
pub fn memcpy(
    submission: Submission,
    blocking: cl_bool,
    destination: HostPtr,
    source: HostPtr,
    size: usize,
) -> CLResult<()> {
    let queue = Queue::usable(submission.queue)?;
    let copy = UsmCopy {
        destination,
        source,
        size,
    };
    submission.submit(&queue, blocking, copy)
}

/// `clEnqueueMigrateMemINTEL`. No size is wrong: "the memory range may be expanded".
pub fn migrate(
    queue: RawHandle,
    pointer: HostPtr,
    _size: usize,
    flags: cl_mem_migration_flags,
    events: EventArguments,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_usm_migrate(pointer, flags, wait)
    })
}

/// `clEnqueueMemAdviseINTEL`
pub fn advise(
    queue: RawHandle,
    pointer: HostPtr,
    _size: usize,
    advice: cl_mem_advice_intel,
    events: EventArguments,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_usm_advise(pointer, advice, wait)
    })
}
