//! Commands that run kernels.

use brolga_runtime::{Launch, Sizes};
use opencl_sys::*;
use std::ffi::c_void;

use super::context::OfContext;
use super::kernel::Kernel;
use super::memory::Mem;
use super::queue::Queue;
use super::wait::EventArguments;
use crate::abi::callback::{self, NativeKernel};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::Object;
use crate::abi::pointers::{InList, List, RawHandle};

/// The sizes of a launch, or nothing for null.
fn sizes(list: InList<usize>) -> CLResult<Option<Sizes>> {
    Ok(list.get()?.as_deref().map(Sizes::from_slice))
}

/// A launch of `kernel`. Arguments and sizes are checked by the runtime, but for how many sizes
/// there are to read.
pub fn describe(
    kernel: &Kernel,
    offset: InList<usize>,
    global: InList<usize>,
    local: InList<usize>,
) -> CLResult<Launch> {
    // > CL_INVALID_WORK_DIMENSION if work_dim is not a valid value (i.e. a value between 1 and
    // > CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS).
    let work_dim = global.count();
    require((1..=3).contains(&work_dim), ClError::INVALID_WORK_DIMENSION)?;
    Ok(Launch {
        kernel: kernel.runtime.clone(),
        work_dim: work_dim as cl_uint,
        offset: sizes(offset)?,
        global: sizes(global)?,
        local: sizes(local)?,
    })
}

/// `clEnqueueNDRangeKernel`
pub fn nd_range(
    queue: RawHandle,
    kernel: RawHandle,
    offset: InList<usize>,
    global: InList<usize>,
    local: InList<usize>,
    events: EventArguments,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let kernel = Kernel::from_raw(kernel)?;
    let launch = describe(&kernel, offset, global, local)?;
    events.enqueue(&queue, |wait| queue.runtime.submit(launch, wait))
}

/// `clEnqueueTask`
pub fn task(queue: RawHandle, kernel: RawHandle, events: EventArguments) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let kernel = Kernel::from_raw(kernel)?;
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_task(&kernel.runtime, wait)
    })
}

/// `clEnqueueNativeKernel`
pub fn native_kernel(
    queue: RawHandle,
    function: NativeKernel,
    args: InList<u8>,
    mem_list: InList<RawHandle>,
    args_mem_loc: InList<*const c_void>,
    events: EventArguments,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let wait = events.wait_list()?;
    // > CL_INVALID_VALUE if user_func is NULL.
    let function = function.ok_or(ClError::INVALID_VALUE)?;
    // > CL_INVALID_VALUE if args is a NULL value and cb_args > 0, or if args is a NULL value and
    // > num_mem_objects > 0.
    // > CL_INVALID_VALUE if args is not NULL and cb_args is 0.
    require(
        args.is_null_if_empty() && (!args.is_null() || mem_list.count() == 0),
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_VALUE if num_mem_objects > 0 and mem_list or args_mem_loc are NULL, or if
    // > num_mem_objects = 0 and mem_list or args_mem_loc are not NULL.
    require(
        mem_list.is_null_if_empty() && args_mem_loc.is_null_if_empty(),
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
    let raws = mem_list.get()?.unwrap_or_default();
    let mems = Mem::from_raws(&raws)?;
    let objects = mems.iter().map(|mem| Ok(mem.buffer()?.memory().clone()));
    let objects = objects.collect::<CLResult<Vec<_>>>()?;
    let places = args_mem_loc.get()?.unwrap_or_default();
    let mut block = args.get()?.map(List::into_vec);
    for (memory, place) in objects.iter().zip(places) {
        let block = block.as_mut().ok_or(ClError::INVALID_VALUE)?;
        // A place is the address within args where the buffer's own address belongs.
        let at = (place as usize).wrapping_sub(args.address());
        let end = at.checked_add(size_of::<usize>());
        let target = end
            .and_then(|end| block.get_mut(at..end))
            .ok_or(ClError::INVALID_VALUE)?;
        target.copy_from_slice(&(memory.as_ptr() as usize).to_ne_bytes());
    }
    let event =
        queue
            .runtime
            .enqueue_native(callback::native_kernel(function, block), &objects, &wait)?;
    events.give(&queue, event);
    Ok(())
}
