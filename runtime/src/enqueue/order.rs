//! Markers and barriers ("Markers, Barriers and Waiting for Events").

use std::sync::Arc;

use opencl_sys::*;

use crate::queue::{Ordering, Queue};
use brolga_engine::Event;
use brolga_engine::error::CLResult;

impl Queue {
    /// `clEnqueueMarkerWithWaitList`: done when the events of `wait` are, or everything enqueued
    /// before when it is empty.
    pub fn enqueue_marker(self: &Arc<Self>, wait: &[Arc<Event>]) -> CLResult<Arc<Event>> {
        let ordering = match wait {
            [] => Ordering::AfterAll,
            _ => Ordering::Queue,
        };
        self.enqueue_nothing(CL_COMMAND_MARKER, wait, ordering)
    }

    /// `clEnqueueBarrierWithWaitList`: like a marker, and everything enqueued later waits for it.
    pub fn enqueue_barrier(self: &Arc<Self>, wait: &[Arc<Event>]) -> CLResult<Arc<Event>> {
        let ordering = match wait {
            [] => Ordering::FullBarrier,
            _ => Ordering::Barrier,
        };
        self.enqueue_nothing(CL_COMMAND_BARRIER, wait, ordering)
    }
}
