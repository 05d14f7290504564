//! Commands that run kernels.

use std::ffi::c_void;
use std::sync::Arc;

use opencl_sys::*;

use super::context::OfContext;
use super::kernel::Kernel;
use super::memory::Mem;
use super::queue::Queue;
use super::wait::Events;
use crate::abi::callback::{self, NativeKernel};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Object, Ref};
use crate::abi::pointers::{InPtr, RawHandle};

/// The queue and kernel of a launch.
fn queue_and_kernel(queue: RawHandle, kernel: RawHandle) -> CLResult<(Ref<Queue>, Ref<Kernel>)> {
    let queue = Queue::usable(queue)?;
    let kernel = Kernel::from_raw(kernel)?;
    // > CL_INVALID_CONTEXT if context associated with command_queue and kernel are not the same.
    require(
        Arc::ptr_eq(&kernel.program.context, &queue.context),
        ClError::INVALID_CONTEXT,
    )?;
    Ok((queue, kernel))
}

/// `clEnqueueNDRangeKernel`
pub fn nd_range(
    queue: RawHandle,
    kernel: RawHandle,
    work_dim: cl_uint,
    offset: InPtr<usize>,
    global: InPtr<usize>,
    local: InPtr<usize>,
    events: Events,
) -> CLResult<()> {
    let (queue, kernel) = queue_and_kernel(queue, kernel)?;
    // > CL_INVALID_WORK_DIMENSION if work_dim is not a valid value (i.e. a value between 1 and >
    // CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS).
    require((1..=3).contains(&work_dim), ClError::INVALID_WORK_DIMENSION)?;
    events.enqueue(&queue, |wait| {
        // Arguments and sizes are checked by the runtime.
        let dimensions = work_dim as usize;
        queue.runtime.enqueue_nd_range(
            &kernel.runtime,
            work_dim,
            offset.array(dimensions).as_deref(),
            global.array(dimensions).as_deref(),
            local.array(dimensions).as_deref(),
            wait,
        )
    })
}

/// `clEnqueueTask`
pub fn task(queue: RawHandle, kernel: RawHandle, events: Events) -> CLResult<()> {
    let (queue, kernel) = queue_and_kernel(queue, kernel)?;
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_task(&kernel.runtime, wait)
    })
}

/// `clEnqueueNativeKernel`
pub fn native_kernel(
    queue: RawHandle,
    function: NativeKernel,
    args: InPtr<c_void>,
    args_size: usize,
    num_mem_objects: cl_uint,
    mem_list: InPtr<RawHandle>,
    args_mem_loc: InPtr<*const c_void>,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let wait = events.wait_list(&queue.context)?;
    // > CL_INVALID_VALUE if user_func is NULL.
    let function = function.ok_or(ClError::INVALID_VALUE)?;
    // > CL_INVALID_VALUE if args is a NULL value and cb_args > 0, or if args is a NULL value and >
    // num_mem_objects > 0. > CL_INVALID_VALUE if args is not NULL and cb_args is 0.
    require(
        args.is_null() == (args_size == 0) && (!args.is_null() || num_mem_objects == 0),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_VALUE if num_mem_objects > 0 and mem_list or args_mem_loc are NULL, or if >
    // num_mem_objects = 0 and mem_list or args_mem_loc are not NULL.
    require(
        mem_list.is_null() == (num_mem_objects == 0)
            && args_mem_loc.is_null() == (num_mem_objects == 0),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_OPERATION if the device associated with command_queue cannot execute the native
    // > kernel.
    require(
        queue.device.runtime.execution_capabilities & CL_EXEC_NATIVE_KERNEL != 0,
        ClError::INVALID_OPERATION,
    )?;
    // > CL_INVALID_MEM_OBJECT if one or more memory objects specified in mem_list are not valid or
    // > are not buffer objects.
    let count = num_mem_objects as usize;
    let raws = mem_list.array(count).unwrap_or_default();
    let mems: Vec<_> = raws.into_iter().map(Mem::buffer).collect::<CLResult<_>>()?;
    let places = args_mem_loc.array(count).unwrap_or_default();
    let mut block = args.bytes(args_size);
    for (mem, place) in mems.iter().zip(places) {
        let block = block.as_mut().ok_or(ClError::INVALID_VALUE)?;
        // A place is the address within args where the buffer's own address belongs.
        let at = (place as usize).wrapping_sub(args.address());
        let end = at.checked_add(size_of::<usize>());
        let target = end
            .and_then(|end| block.get_mut(at..end))
            .ok_or(ClError::INVALID_VALUE)?;
        target.copy_from_slice(&(mem.runtime.as_ptr() as usize).to_ne_bytes());
    }
    let buffers: Vec<_> = mems.iter().map(|mem| mem.runtime.clone()).collect();
    let event =
        queue
            .runtime
            .enqueue_native(callback::native_kernel(function, block), &buffers, &wait)?;
    events.give(&queue, event);
    Ok(())
}
