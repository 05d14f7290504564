//! Runs of command-buffers whose queues are of several devices.
//!
//! The threads of one device do not work for another, so that such a run is not one job: each
//! command is an event of its own, on the device of the queue that it was recorded to, between one
//! that waits for what was enqueued before on any of the queues, and the one that the application
//! sees.

use std::sync::Arc;

use opencl_sys::*;

use super::graph::Graph;
use crate::command::{Job, RetainedResources, Work};
use crate::error::CLResult;
use crate::event::Event;
use crate::pool::Push;
use crate::queue::Queue;

/// Whether the queues are of different devices.
pub(super) fn is_needed(queues: &[Arc<Queue>]) -> bool {
    queues
        .iter()
        .any(|queue| !Arc::ptr_eq(queue.device(), queues[0].device()))
}

/// Runs a graph on `queues`. There may be fewer than the graph was recorded to, which share them in
/// turn.
///
/// Errors: as [`Queue::submit`].
pub(super) fn enqueue(
    graph: &Graph,
    retained: RetainedResources,
    queues: &[Arc<Queue>],
    wait: &[Arc<Event>],
) -> CLResult<Arc<Event>> {
    let nothing = || Job::single(Work::Nothing);
    let start = Queue::submit_to_all(
        queues,
        CL_COMMAND_BARRIER,
        nothing(),
        RetainedResources::new(),
        wait,
    )?;
    let event = |queue: usize, work: &Arc<Work>| {
        let queue = &queues[queue % queues.len()];
        let job = Job::new(Work::Recorded(Arc::clone(work)), queue.device().pool());
        Event::command(
            queue,
            CL_COMMAND_COMMAND_BUFFER_KHR,
            job,
            RetainedResources::new(),
            None,
        )
    };
    let nodes = graph.nodes();
    let mut events: Vec<_> = nodes
        .iter()
        .map(|node| event(node.queue, &node.work))
        .collect();
    for (node, event) in nodes.iter().zip(&events) {
        if node.dependencies == 0 {
            event.depend_on(&start, true);
        }
        for &successor in &node.successors {
            events[successor as usize].depend_on(event, true);
        }
    }
    // The last waits for all of them, before any of them can run.
    events.push(start);
    let last = CL_COMMAND_COMMAND_BUFFER_KHR;
    let end = Queue::submit_to_all(queues, last, nothing(), retained, &events)?;
    events.pop();
    for event in events {
        event.release(Push::Notify);
    }
    Ok(end)
}
