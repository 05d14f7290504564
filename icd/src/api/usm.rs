//! Unified shared memory: `cl_intel_unified_shared_memory`, which the sentences quoted are from.

use std::ffi::c_void;

use brolga_runtime::memory::origin::UsmKind;
use opencl_sys::*;

use super::context::{Context, OfContext};
use super::queue::Queue;
use super::transfer::pattern;
use super::wait::Events;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Object, Ref};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InPtr, OutPtr, RawHandle};

/// Properties and sizes are checked by the runtime, in the order of the specification's list.
fn allocate(
    context: &Ref<Context>,
    kind: UsmKind,
    device: RawHandle,
    properties: InPtr<cl_mem_properties_intel>,
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
        &properties.properties(),
        size,
        alignment as usize,
    )?;
    Ok(pointer.cast())
}

/// `clHostMemAllocINTEL`
pub fn alloc_host(
    context: RawHandle,
    properties: InPtr<cl_mem_properties_intel>,
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
    properties: InPtr<cl_mem_properties_intel>,
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
    properties: InPtr<cl_mem_properties_intel>,
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

/// `clEnqueueMemFillINTEL`
pub fn fill(
    queue: RawHandle,
    destination: OutPtr<c_void>,
    pattern_pointer: InPtr<c_void>,
    pattern_size: usize,
    size: usize,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| {
        // > CL_INVALID_VALUE if dst_ptr is NULL, or if dst_ptr is not aligned to pattern_size >
        // bytes. > CL_INVALID_VALUE if pattern is NULL. > CL_INVALID_VALUE if pattern_size is not a
        // power of two or is greater than the size of > the largest integer or floating-point
        // vector data type supported by the device > associated with command_queue. >
        // CL_INVALID_VALUE if size is not a multiple of pattern_size.
        let pattern = pattern(pattern_pointer, pattern_size)?;
        queue
            .runtime
            .enqueue_usm_fill(destination.host_ptr(), &pattern, size, wait)
    })
}

/// `clEnqueueMemsetINTEL`, which `clEnqueueMemFillINTEL` replaced: a fill with one byte.
pub fn set(
    queue: RawHandle,
    destination: OutPtr<c_void>,
    value: cl_int,
    size: usize,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| {
        queue
            .runtime
            .enqueue_usm_fill(destination.host_ptr(), &[value as u8], size, wait)
    })
}

/// `clEnqueueMemcpyINTEL`
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
        // > CL_INVALID_VALUE if either dst_ptr or src_ptr are NULL. > CL_MEM_COPY_OVERLAP if the
        // values specified for dst_ptr, src_ptr and size result in an > overlapping copy.
        queue.runtime.enqueue_usm_memcpy(
            blocking != CL_FALSE,
            destination.host_ptr(),
            source.host_ptr(),
            size,
            wait,
        )
    })
}

/// `clEnqueueMigrateMemINTEL`
pub fn migrate(
    queue: RawHandle,
    pointer: InPtr<c_void>,
    size: usize,
    flags: cl_mem_migration_flags,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| {
        // No size is wrong: "the memory range may be expanded".
        let _ = size;
        // > CL_INVALID_VALUE if flags is not a supported combination of memory migration flags.
        queue
            .runtime
            .enqueue_usm_migrate(pointer.host_ptr(), flags, wait)
    })
}

/// `clEnqueueMemAdviseINTEL`
pub fn advise(
    queue: RawHandle,
    pointer: InPtr<c_void>,
    size: usize,
    advice: cl_mem_advice_intel,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| {
        let _ = size;
        // > CL_INVALID_VALUE if advice is not supported advice for the device associated with >
        // command_queue.
        queue
            .runtime
            .enqueue_usm_advise(pointer.host_ptr(), advice, wait)
    })
}
