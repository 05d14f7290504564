//! The arguments that every enqueue shares: what to wait for, and where to return an event.

use std::sync::Arc;

use brolga_runtime::Event as RuntimeEvent;
use opencl_sys::cl_uint;

use super::context::Context;
use super::event::Event;
use super::queue::Queue;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref};
use crate::abi::pointers::{InPtr, OutPtr, RawHandle};

/// `num_events_in_wait_list`, `event_wait_list` and `event`.
#[derive(Clone, Copy)]
pub struct Events {
    count: cl_uint,
    list: InPtr<RawHandle>,
    event: OutPtr<RawHandle>,
}

impl Events {
    pub fn new(count: cl_uint, list: InPtr<RawHandle>, event: OutPtr<RawHandle>) -> Self {
        Events { count, list, event }
    }

    /// Nothing to wait for, and an event to return.
    pub fn returning(event: OutPtr<RawHandle>) -> Self {
        Events {
            count: 0,
            list: InPtr::null(),
            event,
        }
    }

    /// The events to wait for.
    pub fn wait_list(&self, context: &Ref<Context>) -> CLResult<Vec<Arc<RuntimeEvent>>> {
        // > CL_INVALID_EVENT_WAIT_LIST if event_wait_list is NULL and num_events_in_wait_list > 0,
        // > or event_wait_list is not NULL and num_events_in_wait_list is 0, or if event objects in
        // > event_wait_list are not valid events.
        require(
            self.list.is_null() == (self.count == 0),
            ClError::INVALID_EVENT_WAIT_LIST,
        )?;
        let raws = self.list.array(self.count as usize).unwrap_or_default();
        let events = Event::from_raws(&raws).map_err(|_| ClError::INVALID_EVENT_WAIT_LIST)?;
        // > CL_INVALID_CONTEXT if the context associated with command_queue and events in >
        // event_wait_list are not the same.
        require(
            events
                .iter()
                .all(|event| Arc::ptr_eq(&event.context, context)),
            ClError::INVALID_CONTEXT,
        )?;
        Ok(events.iter().map(|event| event.runtime.clone()).collect())
    }

    /// Enqueues what waits for the list, and hands its event out.
    pub fn enqueue(
        self,
        queue: &Ref<Queue>,
        command: impl FnOnce(&[Arc<RuntimeEvent>]) -> CLResult<Arc<RuntimeEvent>>,
    ) -> CLResult<()> {
        let wait = self.wait_list(&queue.context)?;
        let event = command(&wait)?;
        self.give(queue, event);
        Ok(())
    }

    /// Hands the command's event to the application if it asked for one.
    pub fn give(self, queue: &Ref<Queue>, runtime: Arc<RuntimeEvent>) {
        self.give_of(&queue.context, Some(queue.clone()), runtime);
    }

    /// As [`Events::give`], for a command that may be of several queues, and so of none.
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
