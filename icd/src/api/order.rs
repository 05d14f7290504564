//! Markers and barriers: commands that only order others.

use super::context::OfContext;
use super::event::Event;
use super::queue::Queue;
use super::recording::RecordingArguments;
use super::wait::EventArguments;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::Object;
use crate::abi::pointers::{InList, OutPtr, RawHandle};

/// `clEnqueueMarkerWithWaitList`
pub fn marker_with_wait_list(queue: RawHandle, events: EventArguments) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| queue.runtime.enqueue_marker(wait))
}

/// `clEnqueueBarrierWithWaitList`
pub fn barrier_with_wait_list(queue: RawHandle, events: EventArguments) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    events.enqueue(&queue, |wait| queue.runtime.enqueue_barrier(wait))
}

/// `clCommandBarrierWithWaitListKHR`
pub fn record_barrier(recording: RecordingArguments) -> CLResult<()> {
    let buffer = recording.plain()?;
    let site = recording.site(&buffer)?;
    recording.give(buffer.runtime.barrier(&site)?);
    Ok(())
}

/// `clEnqueueMarker`
pub fn marker(queue: RawHandle, event: OutPtr<RawHandle>) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    // > CL_INVALID_VALUE if event is a NULL value.
    require(!event.is_null(), ClError::INVALID_VALUE)?;
    let runtime = queue.runtime.enqueue_marker(&[])?;
    EventArguments::returning(event).give(&queue, runtime);
    Ok(())
}

/// `clEnqueueWaitForEvents`
pub fn wait_for_events(queue: RawHandle, list: InList<RawHandle>) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    // > CL_INVALID_VALUE if num_events is zero or event_list is NULL.
    require(list.count() != 0, ClError::INVALID_VALUE)?;
    let raws = list.get()?.ok_or(ClError::INVALID_VALUE)?;
    // > CL_INVALID_EVENT if event objects specified in event_list are not valid events.
    let events = Event::from_raws(&raws)?;
    let wait: Vec<_> = events.iter().map(|event| event.runtime.clone()).collect();
    queue.runtime.enqueue_barrier(&wait)?;
    Ok(())
}

/// `clEnqueueBarrier`
pub fn barrier(queue: RawHandle) -> CLResult<()> {
    Queue::usable(queue)?.runtime.enqueue_barrier(&[])?;
    Ok(())
}
