//! Events that stand for no work: those that an application completes, and those that commands may
//! wait for before it is known what they wait for.

use std::sync::Arc;

use opencl_sys::*;

use super::command::{Event, Job, Owner};
use crate::pool::{Pool, Push};
use crate::tree::Tree;
use crate::work::{Attempt, RetainedResources, TraceInfo};

/// What an event has to do that stands for no work.
struct Placeholder;

impl Job for Placeholder {
    fn is_instant(&self) -> bool {
        true
    }

    fn run_instant(&self) {}

    fn take_unused(&self) -> Option<Attempt> {
        None
    }

    fn prepare(&self, _: &Pool<Event>) {}

    fn push(&self) -> Push {
        Push::Notify
    }

    fn is_short(&self) -> bool {
        true
    }

    fn may_help(&self, _: u64) -> bool {
        false
    }

    fn is_single(&self) -> bool {
        true
    }

    fn is_exhausted(&self) -> bool {
        true
    }

    fn threads(&self) -> u32 {
        0
    }

    fn run_chunks(&self, _: &Arc<Event>, _: &dyn Fn() -> bool) {}

    fn tree(&self) -> Option<&Arc<Tree<Event>>> {
        None
    }

    fn trace_info(&self) -> TraceInfo<'_> {
        TraceInfo::default()
    }
}

impl Event {
    /// Something that commands may wait for before it is known what they wait for. It depends on
    /// whatever it is made to, and is done when that is, after [`Event::release`].
    pub fn placeholder<O: Owner>(owner: Arc<O>) -> Arc<Event> {
        let retained = RetainedResources::new();
        Event::create(owner, CL_COMMAND_BARRIER, Placeholder, retained, None)
    }

    /// `clCreateUserEvent`: an event in the state `CL_SUBMITTED` that only the application
    /// completes.
    pub fn user<O: Owner>(owner: Arc<O>) -> Arc<Event> {
        let retained = RetainedResources::new();
        Event::create(owner, CL_COMMAND_USER, Placeholder, retained, None)
    }
}
