//! Markers and barriers: commands that only order others.

use std::sync::Arc;

use opencl_sys::*;

use super::context::OfContext;
use super::event::Event;
use super::queue::Queue;
use super::wait::Events;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::Object;
use crate::abi::pointers::{InPtr, OutPtr, RawHandle};

/// `clEnqueueMarkerWithWaitList`
pub fn marker_with_wait_list(queue: RawHandle, events: Events) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| queue.runtime.enqueue_marker(wait))
}

/// `clEnqueueBarrierWithWaitList`
pub fn barrier_with_wait_list(queue: RawHandle, events: Events) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| queue.runtime.enqueue_barrier(wait))
}

/// `clEnqueueMarker`
pub fn marker(queue: RawHandle, event: OutPtr<RawHandle>) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    // > CL_INVALID_VALUE if event is a NULL value.
    require(!event.is_null(), ClError::INVALID_VALUE)?;
    let runtime = queue.runtime.enqueue_marker(&[])?;
    Events::returning(event).give(&queue, runtime);
    Ok(())
}

/// `clEnqueueWaitForEvents`
pub fn wait_for_events(
    queue: RawHandle,
    num_events: cl_uint,
    list: InPtr<RawHandle>,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    // > CL_INVALID_VALUE if num_events is zero or event_list is NULL.
    require(num_events != 0, ClError::INVALID_VALUE)?;
    let raws = list
        .array(num_events as usize)
        .ok_or(ClError::INVALID_VALUE)?;
    // > CL_INVALID_EVENT if event objects specified in event_list are not valid events.
    let events = Event::from_raws(&raws)?;
    // > CL_INVALID_CONTEXT if the context associated with command_queue and events in event_list >
    // are not the same.
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
    Queue::usable(queue)?.runtime.enqueue_barrier(&[])?;
    Ok(())
}
