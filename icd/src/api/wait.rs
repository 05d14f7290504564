//! The arguments that every enqueue shares: what to wait for, and where to return an event.

use std::sync::Arc;

use brolga_runtime::{Description, Event as RuntimeEvent};
use opencl_sys::{CL_FALSE, cl_bool};

use super::context::Context;
use super::event::Event;
use super::queue::Queue;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref};
use crate::abi::pointers::{InList, List, OutPtr, RawHandle};

/// `command_queue`, and the arguments of [`EventArguments`].
#[derive(Clone, Copy)]
pub struct Submission {
    pub queue: RawHandle,
    pub events: EventArguments,
}

impl Submission {
    /// Submits a command to `queue`, which is looked up; a blocking one is complete then.
    pub fn submit(
        self,
        queue: &Ref<Queue>,
        blocking: cl_bool,
        description: impl Description,
    ) -> CLResult<()> {
        let blocking = blocking != CL_FALSE;
        self.events.enqueue(queue, |wait| {
            queue.runtime.submit_blocking(description, blocking, wait)
        })
    }
}

/// `num_events_in_wait_list`, `event_wait_list` and `event`.
#[derive(Clone, Copy)]
pub struct EventArguments {
    list: InList<RawHandle>,
    event: OutPtr<RawHandle>,
}

impl EventArguments {
    pub fn new(list: InList<RawHandle>, event: OutPtr<RawHandle>) -> Self {
        EventArguments { list, event }
    }

    /// Nothing to wait for, and an event to return.
    pub fn returning(event: OutPtr<RawHandle>) -> Self {
        EventArguments::new(InList::null(), event)
    }

    /// The events to wait for. Their context is checked by the runtime.
    pub fn wait_list(&self) -> CLResult<List<Arc<RuntimeEvent>>> {
        // > CL_INVALID_EVENT_WAIT_LIST if event_wait_list is NULL and num_events_in_wait_list > 0,
        // > or event_wait_list is not NULL and num_events_in_wait_list is 0, or if event objects in
        // > event_wait_list are not valid events.
        require(
            self.list.is_null_if_empty(),
            ClError::INVALID_EVENT_WAIT_LIST,
        )?;
        let raws = self.list.get()?.unwrap_or_default();
        let events = Event::from_raws(&raws).map_err(|_| ClError::INVALID_EVENT_WAIT_LIST)?;
        Ok(events.iter().map(|event| event.runtime.clone()).collect())
    }

    /// Enqueues a command that waits for the list, and returns its event to the application.
    pub fn enqueue(
        self,
        queue: &Ref<Queue>,
        command: impl FnOnce(&[Arc<RuntimeEvent>]) -> CLResult<Arc<RuntimeEvent>>,
    ) -> CLResult<()> {
        let wait = self.wait_list()?;
        // > CL_INVALID_CONTEXT if the context associated with command_queue and events in
        // > event_wait_list are not the same.
        // This error takes precedence over those of the command.
        queue.runtime.check_wait_list(&wait)?;
        let event = command(&wait)?;
        self.give(queue, event);
        Ok(())
    }

    /// Returns the command's event if the application wants one.
    pub fn give(self, queue: &Ref<Queue>, runtime: Arc<RuntimeEvent>) {
        self.give_of(&queue.context, Some(queue.clone()), runtime);
    }

    /// As [`EventArguments::give`], for a command that may be of several queues, and so of none.
    pub fn give_of(
        self,
        context: &Ref<Context>,
        queue: Option<Ref<Queue>>,
        runtime: Arc<RuntimeEvent>,
    ) {
        if !self.event.is_null() {
            let event = Handle::new(Event {
                runtime,
                context: context.clone(),
                queue,
            });
            self.event.set(event.raw());
        }
    }
}
