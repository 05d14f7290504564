//! Binary semaphores (`cl_khr_semaphore`).
//!
//! A wait belongs to one signal, and which one is decided when they are enqueued: the command that
//! waits then depends on the command that signals, like on an event of its wait list. So a
//! semaphore may be signalled again as soon as the wait for it has been enqueued, as the
//! specification wants it, and no thread ever sleeps on one. A wait that is enqueued before its
//! signal depends on a placeholder, which the next signal opens.
//!
//! Semaphores that other processes share cannot do that: `external.rs` has what they do instead.

mod external;

use std::collections::VecDeque;
use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use brolga_engine::Event;
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::job::Single;
use brolga_engine::pool::Push;
use brolga_engine::work::{Nothing, Once, RetainedResources, Work};
use opencl_sys::*;
use parking_lot::Mutex;

use crate::context::{Context, Unqueued};
use crate::queue::{Ordering, Queue};
use external::Shared;

/// A binary semaphore.
pub struct Semaphore {
    context: Arc<Context>,
    operations: Mutex<EnqueuedOperations>,
    /// The payload, if others share it.
    shared: Option<Arc<Shared>>,
}

/// Signals and waits that have been enqueued.
#[derive(Default)]
struct EnqueuedOperations {
    /// The last signal.
    signal: Option<Arc<Event>>,
    /// The wait for it.
    wait: Option<Arc<Event>>,
    /// What waits depend on that were enqueued before their signals.
    placeholders: VecDeque<Arc<Event>>,
}

impl Semaphore {
    /// A semaphore that is not signalled.
    pub fn new(context: &Arc<Context>) -> Arc<Semaphore> {
        Semaphore::with(context, None)
    }

    /// A semaphore that is not signalled and may be shared. Errors: `CL_OUT_OF_RESOURCES`.
    pub fn exportable(context: &Arc<Context>) -> CLResult<Arc<Semaphore>> {
        Ok(Semaphore::with(context, Some(Shared::new()?)))
    }

    /// A semaphore with the payload of the one that `fd` was exported from, which takes the
    /// descriptor over.
    ///
    /// Errors: `CL_INVALID_PROPERTY` for a descriptor of something else, which stays the caller's.
    pub fn imported(context: &Arc<Context>, fd: i32) -> CLResult<Arc<Semaphore>> {
        Ok(Semaphore::with(context, Some(Shared::import(fd)?)))
    }

    fn with(context: &Arc<Context>, shared: Option<Shared>) -> Arc<Semaphore> {
        Arc::new(Semaphore {
            context: Arc::clone(context),
            operations: Mutex::default(),
            shared: shared.map(Arc::new),
        })
    }

    /// A descriptor that refers to the payload. Errors: `CL_INVALID_VALUE` if it is not shared.
    pub fn export(&self) -> CLResult<OwnedFd> {
        let shared = self.shared.as_ref().ok_or(ClError::INVALID_VALUE)?;
        shared.export()
    }

    /// `CL_SEMAPHORE_CONTEXT_KHR`
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// `CL_SEMAPHORE_PAYLOAD_KHR`: 1 from when a signal command is complete to when the command
    /// that waits for it is.
    pub fn payload(&self) -> u64 {
        if let Some(shared) = &self.shared {
            return u64::from(shared.is_signalled());
        }
        let (signal, wait) = {
            let operations = self.operations.lock();
            (operations.signal.clone(), operations.wait.clone())
        };
        let is_signalled = signal.is_some_and(|signal| signal.polled_status() == CL_COMPLETE);
        let is_taken = wait.is_some_and(|wait| wait.polled_status() <= CL_COMPLETE);
        u64::from(is_signalled && !is_taken)
    }

    /// `event`, which is being enqueued, signals.
    fn signal(&self, event: &Arc<Event>) {
        let mut operations = self.operations.lock();
        let Some(placeholder) = operations.placeholders.pop_front() else {
            let before = operations.signal.replace(Arc::clone(event));
            let before = (before, operations.wait.take());
            // The last references, perhaps, and what goes with them may tell the application.
            drop(operations);
            drop(before);
            return;
        };
        drop(operations);
        placeholder.depend_on(event, true);
        placeholder.release(Push::Notify);
    }

    /// `event`, which is being enqueued, waits.
    fn wait(&self, event: &Arc<Event>) {
        let mut operations = self.operations.lock();
        match &operations.signal {
            // A signal that failed signals nothing: a wait for it fails too.
            Some(signal) if operations.wait.is_none() => {
                event.depend_on(signal, true);
                operations.wait = Some(Arc::clone(event));
            }
            _ => {
                let placeholder = Event::placeholder(Unqueued::new(&self.context));
                event.depend_on(&placeholder, true);
                operations.placeholders.push_back(placeholder);
            }
        }
    }
}

impl Queue {
    /// `clEnqueueSignalSemaphoresKHR`.
    ///
    /// Errors: `CL_INVALID_VALUE` without semaphores, `CL_INVALID_CONTEXT`,
    /// `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST` for an event that has failed already.
    pub fn enqueue_signal(
        self: &Arc<Self>,
        semaphores: &[Arc<Semaphore>],
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        self.check_semaphores(semaphores, wait)?;
        let shared = shared(semaphores);
        let work = (!shared.is_empty())
            .then(|| Once::instant(move || shared.iter().for_each(|one| one.signal())));
        let command_type = CL_COMMAND_SEMAPHORE_SIGNAL_KHR;
        self.enqueue_linked(command_type, work, wait, &|event| {
            own(semaphores).for_each(|one| one.signal(event));
        })
    }

    /// `clEnqueueWaitSemaphoresKHR`. Errors: as [`Queue::enqueue_signal`].
    pub fn enqueue_wait(
        self: &Arc<Self>,
        semaphores: &[Arc<Semaphore>],
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        self.check_semaphores(semaphores, wait)?;
        let command_type = CL_COMMAND_SEMAPHORE_WAIT_KHR;
        let shared = shared(semaphores);
        if shared.is_empty() {
            return self.enqueue_linked(command_type, Nothing, wait, &|event| {
                own(semaphores).for_each(|one| one.wait(event));
            });
        }
        // What is shared is taken when everything before is done, by a command in front of the one
        // that the application sees. Should it fail, the placeholders go away with it.
        let placeholders = shared
            .into_iter()
            .map(|one| (one, Event::placeholder(Unqueued::new(self.context()))));
        let placeholders: Vec<_> = placeholders.collect();
        let opened: Vec<_> = placeholders
            .iter()
            .map(|(_, placeholder)| Arc::clone(placeholder))
            .collect();
        let work = Once::instant(move || {
            for (one, placeholder) in placeholders {
                one.wait(placeholder);
            }
        });
        let before = self.enqueue_linked(CL_COMMAND_MARKER, work, wait, &|_| {})?;
        self.enqueue_linked(command_type, Nothing, &[before], &|event| {
            opened
                .iter()
                .for_each(|placeholder| event.depend_on(placeholder, true));
            own(semaphores).for_each(|one| one.wait(event));
        })
    }

    fn check_semaphores(&self, semaphores: &[Arc<Semaphore>], wait: &[Arc<Event>]) -> CLResult<()> {
        // CL_INVALID_VALUE if num_sema_objects is 0 ("Waiting On and Signaling Semaphores").
        if semaphores.is_empty() {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_CONTEXT if the context associated with command_queue and any of the semaphore
        // objects in sema_objects are not the same.
        if semaphores
            .iter()
            .any(|semaphore| !Arc::ptr_eq(&semaphore.context, self.context()))
        {
            return Err(ClError::INVALID_CONTEXT);
        }
        self.check_wait_list(wait)?;
        // CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the execution status of any of the events
        // in event_wait_list is a negative integer value.
        match wait.iter().any(|event| event.status() < 0) {
            true => Err(ClError::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
            false => Ok(()),
        }
    }

    /// Enqueues a command of no time that `link` connects with others before it may complete.
    fn enqueue_linked(
        self: &Arc<Self>,
        command_type: u32,
        work: impl Work<Event> + 'static,
        wait: &[Arc<Event>],
        link: &dyn Fn(&Arc<Event>),
    ) -> CLResult<Arc<Event>> {
        self.check_host()?;
        let retained = RetainedResources::new();
        let event = Event::new(self, command_type, Single::new(work), retained);
        self.place(&event, wait, Ordering::Queue);
        link(&event);
        event.release(Push::Notify);
        Ok(event)
    }
}

/// The payloads that others share.
fn shared(semaphores: &[Arc<Semaphore>]) -> Vec<Arc<Shared>> {
    semaphores
        .iter()
        .filter_map(|one| one.shared.clone())
        .collect()
}

/// The semaphores of this process alone.
fn own(semaphores: &[Arc<Semaphore>]) -> impl Iterator<Item = &Arc<Semaphore>> {
    semaphores.iter().filter(|one| one.shared.is_none())
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operations = self.operations.lock();
        f.debug_struct("Semaphore")
            .field("signal", &operations.signal)
            .field("placeholders", &operations.placeholders.len())
            .finish()
    }
}
