//! Command queues, and the commands that only order others.

use std::sync::Arc;

use brolga_runtime::Queue as RuntimeQueue;
use brolga_runtime::queue::Priority;
use opencl_sys::*;

use super::context::Context;
use super::device::Device;
use super::event::Event;
use super::wait::Events;
use crate::abi::edge::{In, Out, RawHandle};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::Answer;

/// `cl_command_queue`
pub struct Queue {
    pub runtime: Arc<RuntimeQueue>,
    pub context: Ref<Context>,
    pub device: Ref<Device>,
}

object!(Queue, ClError::INVALID_COMMAND_QUEUE);

const HOST_PROPERTIES: cl_command_queue_properties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
const DEVICE_PROPERTIES: cl_command_queue_properties =
    CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

// Hints are properties, not what is asked about.
const PRIORITY: cl_command_queue_info = CL_QUEUE_PRIORITY_KHR as cl_command_queue_info;
const THROTTLE: cl_command_queue_info = CL_QUEUE_THROTTLE_KHR as cl_command_queue_info;

/// `clCreateCommandQueue`
pub fn create(
    context: RawHandle,
    device: RawHandle,
    properties: cl_command_queue_properties,
) -> CLResult<RawHandle> {
    let context = Context::from_raw(context)?;
    // > CL_INVALID_DEVICE if device is not a valid device or is not associated with context.
    let device = context.device(device)?;
    // > CL_INVALID_VALUE if values specified in properties are not valid.
    require(properties & !HOST_PROPERTIES == 0, ClError::INVALID_VALUE)?;
    let priority = Priority::default();
    finish(context, device, properties, Vec::new(), priority)
}

/// `clCreateCommandQueueWithProperties`, `clCreateCommandQueueWithPropertiesKHR`
pub fn create_with_properties(
    context: RawHandle,
    device: RawHandle,
    list: In<cl_queue_properties>,
) -> CLResult<RawHandle> {
    let context = Context::from_raw(context)?;
    // > CL_INVALID_DEVICE if device is not a valid device or is not associated with context.
    let device = context.device(device)?;
    let pairs = list.properties();
    let mut properties = 0;
    let mut has_size = false;
    let mut has_hints = false;
    let mut priority = Priority::default();
    for (i, &(name, value)) in pairs.iter().enumerate() {
        // > CL_INVALID_VALUE if values specified in properties are not valid.
        require(
            pairs[..i].iter().all(|&(earlier, _)| earlier != name),
            ClError::INVALID_VALUE,
        )?;
        match name as cl_command_queue_info {
            CL_QUEUE_PROPERTIES => properties = value,
            CL_QUEUE_SIZE => has_size = true,
            PRIORITY => {
                has_hints = true;
                priority = match value as cl_queue_priority_khr {
                    CL_QUEUE_PRIORITY_HIGH_KHR => Priority::High,
                    CL_QUEUE_PRIORITY_MED_KHR => Priority::Medium,
                    CL_QUEUE_PRIORITY_LOW_KHR => Priority::Low,
                    _ => return Err(ClError::INVALID_VALUE),
                };
            }
            // How fast the processors run is not the driver's business.
            THROTTLE => {
                has_hints = true;
                let known = [
                    CL_QUEUE_THROTTLE_HIGH_KHR,
                    CL_QUEUE_THROTTLE_MED_KHR,
                    CL_QUEUE_THROTTLE_LOW_KHR,
                ];
                require(
                    known.contains(&(value as cl_queue_throttle_khr)),
                    ClError::INVALID_VALUE,
                )?;
            }
            _ => return Err(ClError::INVALID_VALUE),
        }
    }
    require(
        properties & !(HOST_PROPERTIES | DEVICE_PROPERTIES) == 0,
        ClError::INVALID_VALUE,
    )?;
    // > CL_QUEUE_SIZE can only be specified if CL_QUEUE_ON_DEVICE is set in CL_QUEUE_PROPERTIES.
    require(
        !has_size || properties & CL_QUEUE_ON_DEVICE != 0,
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_QUEUE_PROPERTIES if the CL_QUEUE_PRIORITY_KHR or CL_QUEUE_THROTTLE_KHR property is specified, and the queue is
    // > a CL_QUEUE_ON_DEVICE.
    require(
        !has_hints || properties & CL_QUEUE_ON_DEVICE == 0,
        ClError::INVALID_QUEUE_PROPERTIES,
    )?;
    let mut given = Vec::new();
    if !list.is_null() {
        given.extend(pairs.iter().flat_map(|&(name, value)| [name, value]));
        given.push(0);
    }
    finish(context, device, properties, given, priority)
}

fn finish(
    context: Ref<Context>,
    device: Ref<Device>,
    properties: cl_command_queue_properties,
    list: Vec<cl_queue_properties>,
    priority: Priority,
) -> CLResult<RawHandle> {
    // > CL_INVALID_QUEUE_PROPERTIES if values specified in properties are valid but are not supported by the device.
    require(
        properties & !device.runtime.queue_on_host_properties == 0,
        ClError::INVALID_QUEUE_PROPERTIES,
    )?;
    let runtime = RuntimeQueue::with_priority(
        &context.runtime,
        &device.runtime,
        properties,
        list,
        priority,
    )?;
    Ok(Handle::new(Queue {
        runtime,
        context,
        device,
    })
    .raw())
}

/// `clRetainCommandQueue`
pub fn retain(queue: RawHandle) -> CLResult<()> {
    Queue::from_raw(queue)?.retain();
    Ok(())
}

/// `clReleaseCommandQueue`
pub fn release(queue: RawHandle) -> CLResult<()> {
    let queue = Queue::from_raw(queue)?;
    // > clReleaseCommandQueue performs an implicit flush to issue any previously queued OpenCL commands.
    queue.runtime.flush()?;
    queue.release()
}

/// `clGetCommandQueueInfo`
pub fn get_info(queue: RawHandle, name: cl_command_queue_info, answer: Answer) -> CLResult<()> {
    let queue = Queue::from_raw(queue)?;
    match name {
        CL_QUEUE_CONTEXT => answer.value(queue.context.raw()),
        CL_QUEUE_DEVICE => answer.value(queue.device.raw()),
        CL_QUEUE_REFERENCE_COUNT => answer.value(queue.reference_count()),
        CL_QUEUE_PROPERTIES => answer.value(queue.runtime.properties()),
        CL_QUEUE_PROPERTIES_ARRAY => answer.array(queue.runtime.property_list()),
        // > CL_INVALID_COMMAND_QUEUE if command_queue is not a valid command-queue for param_name.
        CL_QUEUE_SIZE => Err(ClError::INVALID_COMMAND_QUEUE),
        // > CL_QUEUE_DEVICE_DEFAULT: the current default command-queue for the underlying device; there is none.
        CL_QUEUE_DEVICE_DEFAULT => answer.value(RawHandle::NULL),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// `clSetCommandQueueProperty`
pub fn set_property(
    queue: RawHandle,
    properties: cl_command_queue_properties,
    enable: cl_bool,
    old_properties: Out<cl_command_queue_properties>,
) -> CLResult<()> {
    let queue = Queue::from_raw(queue)?;
    let _ = enable;
    // > CL_INVALID_VALUE if values specified in properties are not valid.
    require(properties & !HOST_PROPERTIES == 0, ClError::INVALID_VALUE)?;
    old_properties.set(queue.runtime.properties());
    // Since OpenCL 1.1 a queue's properties are fixed when it is made.
    Err(ClError::INVALID_OPERATION)
}

/// `clFlush`
pub fn flush(queue: RawHandle) -> CLResult<()> {
    Queue::from_raw(queue)?.runtime.flush()
}

/// `clFinish`
pub fn finish_all(queue: RawHandle) -> CLResult<()> {
    Queue::from_raw(queue)?.runtime.finish()
}

/// `clEnqueueMarkerWithWaitList`
pub fn marker_with_wait_list(queue: RawHandle, events: Events) -> CLResult<()> {
    let queue = Queue::from_raw(queue)?;
    let wait = events.wait_list(&queue.context)?;
    events.give(&queue, queue.runtime.enqueue_marker(&wait)?);
    Ok(())
}

/// `clEnqueueBarrierWithWaitList`
pub fn barrier_with_wait_list(queue: RawHandle, events: Events) -> CLResult<()> {
    let queue = Queue::from_raw(queue)?;
    let wait = events.wait_list(&queue.context)?;
    events.give(&queue, queue.runtime.enqueue_barrier(&wait)?);
    Ok(())
}

/// `clEnqueueMarker`
pub fn marker(queue: RawHandle, event: Out<RawHandle>) -> CLResult<()> {
    let queue = Queue::from_raw(queue)?;
    // > CL_INVALID_VALUE if event is a NULL value.
    require(!event.is_null(), ClError::INVALID_VALUE)?;
    let runtime = queue.runtime.enqueue_marker(&[])?;
    Events::returning(event).give(&queue, runtime);
    Ok(())
}

/// `clEnqueueWaitForEvents`
pub fn wait_for_events(queue: RawHandle, num_events: cl_uint, list: In<RawHandle>) -> CLResult<()> {
    let queue = Queue::from_raw(queue)?;
    // > CL_INVALID_VALUE if num_events is zero or event_list is NULL.
    require(num_events != 0, ClError::INVALID_VALUE)?;
    let raws = list
        .array(num_events as usize)
        .ok_or(ClError::INVALID_VALUE)?;
    // > CL_INVALID_EVENT if event objects specified in event_list are not valid events.
    let events = Event::from_raws(&raws)?;
    // > CL_INVALID_CONTEXT if the context associated with command_queue and events in event_list are not the same.
    require(
        events
            .iter()
            .all(|event| Arc::ptr_eq(&event.context, &queue.context)),
        ClError::INVALID_CONTEXT,
    )?;
    let wait: Vec<_> = events.iter().map(|event| event.runtime.clone()).collect();
    queue.runtime.enqueue_barrier(&wait)?;
    Ok(())
}

/// `clEnqueueBarrier`
pub fn barrier(queue: RawHandle) -> CLResult<()> {
    Queue::from_raw(queue)?.runtime.enqueue_barrier(&[])?;
    Ok(())
}
