//! Contexts: what memory objects, programs, queues and events belong to. `destructors.rs` has the
//! callbacks of objects that go, `device_queues.rs` the queues that kernels enqueue to.

pub(crate) mod destructors;
pub(crate) mod device_queues;

use std::fmt;
use std::sync::Arc;

use brolga_engine::Event;
use brolga_engine::domain::Domain;
use brolga_engine::entry::Priority;
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::event::{self, Lane, Owner};
use brolga_engine::weak_list::WeakList;
use opencl_sys::*;
use parking_lot::Mutex;

use crate::base::device::Device;
use crate::base::root;
use crate::base::trace;
use crate::context::destructors::{DestructorCallback, DestructorCallbacks};
use crate::context::device_queues::DeviceQueues;
use crate::fault;
use crate::storage::shared::SharedTable;

/// Receives runtime error reports: `pfn_notify` of `clCreateContext`.
pub use brolga_engine::domain::Notify as ErrorNotify;

/// Receives what kernels print, instead of the standard output.
pub type PrintfOutput = Box<dyn Fn(&[u8]) + Send + Sync>;

/// What to create a context with.
#[derive(Default)]
pub struct ContextOptions {
    /// `CL_CONTEXT_PROPERTIES` exactly as given, terminating zero included; empty when none was
    /// given.
    pub properties: Vec<isize>,
    pub notify: Option<ErrorNotify>,
    pub printf: Option<PrintfOutput>,
    /// `CL_CONTEXT_MEMORY_INITIALIZE_KHR`
    pub initialize: u64,
    /// `CL_CONTEXT_TERMINATE_KHR`
    pub may_be_terminated: bool,
}

/// What has commands enqueued: a queue.
pub(crate) trait Commands: Send + Sync {
    /// Returns when all that were enqueued so far are done.
    fn wait_for_all(&self);
}

/// An OpenCL context.
pub struct Context {
    devices: Vec<Arc<Device>>,
    options: ContextOptions,
    device_queues: DeviceQueues,
    shared: SharedTable,
    queues: Mutex<WeakList<dyn Commands>>,
    /// What a termination ends.
    domain: Arc<Domain<Event>>,
    destructors: DestructorCallbacks,
}

impl Context {
    /// Creates a context. Errors: `CL_INVALID_VALUE` without devices; `CL_INVALID_PROPERTY` if it
    /// is to be terminated and a device cannot.
    pub fn new(devices: Vec<Arc<Device>>, mut options: ContextOptions) -> CLResult<Arc<Context>> {
        // CL_INVALID_VALUE if devices is NULL or num_devices is equal to zero ("Contexts").
        if devices.is_empty() {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_PROPERTY if CL_CONTEXT_TERMINATE_KHR is set to CL_TRUE in properties, but not
        // all of the devices associated with the context support the ability to support context
        // termination.
        let may_be_terminated = options.may_be_terminated;
        if may_be_terminated && devices.iter().any(|d| d.terminate_capability == 0) {
            return Err(ClError::INVALID_PROPERTY);
        }
        let notify = options.notify.take();
        let callbacks = root::callbacks();
        let domain = Domain::new(may_be_terminated, trace::observer(), notify, callbacks);
        Ok(Arc::new(Context {
            devices,
            options,
            domain,
            device_queues: DeviceQueues::default(),
            shared: SharedTable::default(),
            queues: Mutex::default(),
            destructors: DestructorCallbacks::default(),
        }))
    }

    /// `CL_CONTEXT_DEVICES`
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The device that limits are taken from; all devices of a context are the same CPU.
    pub fn device(&self) -> &Arc<Device> {
        &self.devices[0]
    }

    /// Whether `device` is one of the context's.
    pub fn has_device(&self, device: &Arc<Device>) -> bool {
        self.devices.iter().any(|own| Arc::ptr_eq(own, device))
    }

    /// `CL_CONTEXT_PROPERTIES`
    pub fn properties(&self) -> &[isize] {
        &self.options.properties
    }

    /// `clSetContextDestructorCallback`: callbacks run in the reverse order of registration when
    /// the last object of the context is gone.
    pub fn on_destroy(&self, callback: DestructorCallback) {
        self.destructors.register(callback);
    }

    /// What its commands have in common.
    pub(crate) fn domain(&self) -> &Arc<Domain<Event>> {
        &self.domain
    }

    /// Reports an error that no return value can carry to the application's `pfn_notify`, which is
    /// called soon.
    pub fn report(&self, message: &str) {
        self.domain.report(message);
    }

    /// Whether work-group memory is zero before a work-group begins.
    pub(crate) fn initializes_local_memory(&self) -> bool {
        self.options.initialize & CL_CONTEXT_MEMORY_INITIALIZE_LOCAL_KHR != 0
    }

    /// Whether private variables are zero before they are written.
    pub(crate) fn initializes_private_memory(&self) -> bool {
        self.options.initialize & CL_CONTEXT_MEMORY_INITIALIZE_PRIVATE_KHR != 0
    }

    pub(crate) fn printf_output(&self) -> Option<&PrintfOutput> {
        self.options.printf.as_ref()
    }

    pub(crate) fn device_queues(&self) -> &DeviceQueues {
        &self.device_queues
    }

    /// The context's allocations that are used by address.
    pub fn shared(&self) -> &SharedTable {
        &self.shared
    }

    /// Remembers a queue of this context. Its commands keep it alive, so that it is found here as
    /// long as there are any.
    pub(crate) fn add_queue(&self, queue: Arc<dyn Commands>) {
        self.queues
            .lock()
            .add(&queue, |queue| queue.strong_count() > 0);
    }

    /// Whether it has a queue: something is going to be enqueued.
    pub(crate) fn has_queue(&self) -> bool {
        self.queues.lock().any_alive()
    }

    /// `clTerminateContextKHR`: every command that is not complete ends with
    /// `CL_CONTEXT_TERMINATED_KHR`. What no thread has begun is complete when this returns; kernels
    /// that run are interrupted, transfers and native kernels go on to the end of what they are at.
    ///
    /// Errors: `CL_CONTEXT_TERMINATED_KHR` if it was terminated before, `CL_INVALID_OPERATION` if
    /// it was not made for that.
    pub fn terminate(self: &Arc<Self>) -> CLResult<()> {
        // CL_CONTEXT_TERMINATED_KHR if context has already been terminated. CL_INVALID_OPERATION if
        // context was not created with CL_CONTEXT_TERMINATE_KHR set to CL_TRUE ("Contexts").
        self.domain.terminate(root::pool())?;
        fault::interrupt_kernels(&self.domain);
        // "A callback function registered when the context was created will be called."
        self.report("the context was terminated");
        Ok(())
    }

    /// Whether the context was terminated.
    pub fn is_terminated(&self) -> bool {
        self.domain.is_terminated()
    }

    /// Returns when everything that was enqueued in this context is done.
    pub(crate) fn finish_all(&self) {
        let queues: Vec<Arc<dyn Commands>> = self.queues.lock().alive().collect();
        for queue in queues {
            queue.wait_for_all();
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.destructors.call_all(|| ());
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("devices", &self.devices.len())
            .finish()
    }
}

/// What stands for no command of a queue: user events, and placeholders.
pub(crate) struct Unqueued {
    /// Kept alive by the event.
    _context: Arc<Context>,
    lane: Lane,
}

impl Unqueued {
    pub(crate) fn new(context: &Arc<Context>) -> Arc<Unqueued> {
        let (priority, pool) = (Priority::default(), root::pool());
        Arc::new(Unqueued {
            _context: Arc::clone(context),
            lane: Lane::new(priority, false, false, pool, context.domain()),
        })
    }
}

impl Owner for Unqueued {
    fn lane(&self) -> &Lane {
        &self.lane
    }

    fn for_each_reporting(&self, _: &mut dyn FnMut(&Lane)) {}
}

/// `clCreateUserEvent`: an event in the state `CL_SUBMITTED` that only the application completes.
pub fn user_event(context: &Arc<Context>) -> Arc<Event> {
    Event::user(Unqueued::new(context))
}

/// `clWaitForEvents`: returns when all are done; this thread helps meanwhile.
///
/// Errors: `CL_INVALID_CONTEXT` when contexts differ, and those of [`event::wait_all`].
pub fn wait_for_events(events: &[Arc<Event>]) -> CLResult<()> {
    // CL_INVALID_CONTEXT if events specified in event_list do not belong to the same context
    // ("Event Objects").
    let mut domains = events.iter().map(|event| event.lane().domain());
    if let Some(first) = domains.next()
        && domains.any(|domain| !Arc::ptr_eq(domain, first))
    {
        return Err(ClError::INVALID_CONTEXT);
    }
    event::wait_all(events)
}
