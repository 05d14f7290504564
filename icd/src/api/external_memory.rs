//! Acquiring and releasing imported memory (`cl_khr_external_memory`, "Acquiring and Releasing
//! External Memory Objects"). `mem_properties.rs` says what is imported.

use std::sync::Arc;

use brolga_runtime::MemObject;

use super::context::OfContext;
use super::memory::Mem;
use super::queue::Queue;
use super::wait::EventArguments;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Object, Ref};
use crate::abi::pointers::{InList, RawHandle};

/// The queue and the memory objects of a command.
fn queue_and_objects(
    queue: RawHandle,
    list: InList<RawHandle>,
) -> CLResult<(Ref<Queue>, Vec<Arc<MemObject>>)> {
    let queue = Queue::usable(queue)?;
    // > CL_INVALID_VALUE if num_mem_objects is zero and mem_objects is not a NULL value, or if
    // > num_mem_objects is greater than 0 and mem_objects is NULL.
    require(list.is_null_if_empty(), ClError::INVALID_VALUE)?;
    let raws = list.get()?.unwrap_or_default();
    // > CL_INVALID_MEM_OBJECT if any of the memory objects in mem_objects is not a valid OpenCL
    // > memory object created using an external memory handle.
    let objects = Mem::from_raws(&raws)?;
    require(
        objects.iter().all(|mem| !mem.imported_for.is_empty()),
        ClError::INVALID_MEM_OBJECT,
    )?;
    // > CL_INVALID_COMMAND_QUEUE if device associated with command_queue is not one of the devices
    // > specified by CL_MEM_DEVICE_HANDLE_LIST_KHR at the time of creating one or more of
    // > mem_objects, or if one or more of mem_objects belong to a context that does not contain a
    // > device associated with command_queue.
    queue.require_device_in(objects.iter().map(|mem| &mem.imported_for[..]))?;
    let runtime = objects.iter().map(|mem| mem.memory().clone()).collect();
    Ok((queue, runtime))
}

/// `clEnqueueAcquireExternalMemObjectsKHR`
pub fn enqueue_acquire(
    queue: RawHandle,
    list: InList<RawHandle>,
    events: EventArguments,
) -> CLResult<()> {
    let (queue, objects) = queue_and_objects(queue, list)?;
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_acquire_external(&objects, wait)
    })
}

/// `clEnqueueReleaseExternalMemObjectsKHR`
pub fn enqueue_release(
    queue: RawHandle,
    list: InList<RawHandle>,
    events: EventArguments,
) -> CLResult<()> {
    let (queue, objects) = queue_and_objects(queue, list)?;
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_release_external(&objects, wait)
    })
}
