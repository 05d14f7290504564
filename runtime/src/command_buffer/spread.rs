//! Runs of command-buffers whose queues are of several devices.
//!
//! The threads of one device do not work for another, so that such a run is not one job: each
//! command is an event of its own, on the device of the queue that it was recorded to, between one
//! that waits for what was enqueued before on any of the queues, and the one that the application
//! sees.

use std::sync::Arc;

use brolga_engine::Event;
use brolga_engine::error::CLResult;
use brolga_engine::graph::{Graph, NodeWork};
use brolga_engine::job::Single;
use brolga_engine::pool::Push;
use brolga_engine::work::{Nothing, RetainedResources};
use opencl_sys::*;

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
    let nothing = || Single::new(Nothing);
    let start = Queue::submit_to_all(
        queues,
        CL_COMMAND_BARRIER,
        nothing(),
        RetainedResources::new(),
        wait,
    )?;
    let event = |queue: usize, work: &NodeWork| {
        let queue = &queues[queue % queues.len()];
        let (job, retained) = (Single::new(Arc::clone(work)), RetainedResources::new());
        Event::new(queue, CL_COMMAND_COMMAND_BUFFER_KHR, job, retained)
    };
    let nodes = graph.nodes();
    let events: Vec<_> = nodes
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
    let last = CL_COMMAND_COMMAND_BUFFER_KHR;
    let mut wait = events.clone();
    wait.push(start);
    let end = Queue::submit_with_parts(queues, last, nothing(), retained, &wait, &events)?;
    for event in events {
        event.release(Push::Notify);
    }
    Ok(end)
}
