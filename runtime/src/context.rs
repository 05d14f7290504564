//! Contexts: what memory objects, programs, queues and events belong to.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;

use opencl_sys::*;
use parking_lot::Mutex;

use crate::callbacks;
use crate::destructors::{DestructorCallback, DestructorCallbacks};
use crate::device::Device;
use crate::error::{CLResult, ClError};
use crate::event::Event;
use crate::fault;
use crate::memory::shared::SharedTable;
use crate::on_device::DeviceQueues;
use crate::queue::Queue;
use crate::weak_list::WeakList;

/// Receives runtime error reports: `pfn_notify` of `clCreateContext`.
pub type ErrorNotify = Box<dyn Fn(&str) + Send + Sync>;

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

/// An OpenCL context.
pub struct Context {
    devices: Vec<Arc<Device>>,
    options: ContextOptions,
    device_queues: DeviceQueues,
    shared: SharedTable,
    queues: Mutex<WeakList<Queue>>,
    terminated: AtomicBool,
    /// What a termination ends, if there may be one: commands that are not complete.
    commands: Option<Mutex<WeakList<Event>>>,
    destructors: DestructorCallbacks,
}

impl Context {
    /// Creates a context. Errors: `CL_INVALID_VALUE` without devices; `CL_INVALID_PROPERTY` if it
    /// is to be terminated and a device cannot.
    pub fn new(devices: Vec<Arc<Device>>, options: ContextOptions) -> CLResult<Arc<Context>> {
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
        Ok(Arc::new(Context {
            devices,
            options,
            terminated: AtomicBool::new(false),
            commands: may_be_terminated.then(Mutex::default),
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

    /// Reports an error that no return value can carry to the application's `pfn_notify`, which is
    /// called soon.
    pub fn report(self: &Arc<Self>, message: &str) {
        if self.options.notify.is_some() {
            let (context, message) = (Arc::clone(self), message.to_owned());
            callbacks::push(Box::new(move || {
                context
                    .options
                    .notify
                    .iter()
                    .for_each(|notify| notify(&message));
            }));
        }
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
    pub(crate) fn add_queue(&self, queue: &Arc<Queue>) {
        self.queues
            .lock()
            .add(queue, |queue| queue.strong_count() > 0);
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
        let commands = self.commands.as_ref().ok_or(ClError::INVALID_OPERATION)?;
        let commands: Vec<Arc<Event>> = {
            // Under the lock, so that each command is either in the list or finds the context
            // terminated.
            let commands = commands.lock();
            if self.terminated.swap(true, SeqCst) {
                return Err(ClError::CONTEXT_TERMINATED);
            }
            commands.alive().collect()
        };
        Event::terminate_all(&commands);
        fault::interrupt_kernels(self);
        // "A callback function registered when the context was created will be called."
        self.report("the context was terminated");
        Ok(())
    }

    /// The commands that had been begun when the context was terminated, and are not complete. None
    /// if it was not.
    pub(crate) fn terminated_commands(&self) -> Vec<Arc<Event>> {
        let Some(commands) = self.commands.as_ref().filter(|_| self.is_terminated()) else {
            return Vec::new();
        };
        let commands = commands.lock();
        commands.alive().filter(|event| !event.is_done()).collect()
    }

    /// Whether the context was terminated.
    pub fn is_terminated(&self) -> bool {
        self.terminated.load(SeqCst)
    }

    /// What is true from the termination on, if there may be one.
    pub(crate) fn termination(&self) -> Option<&AtomicBool> {
        self.commands.as_ref().map(|_| &self.terminated)
    }

    /// Remembers a new command, so that a termination finds it. Errors: `CL_CONTEXT_TERMINATED_KHR`
    /// if there was one.
    pub(crate) fn add_command(&self, event: &Arc<Event>) -> CLResult<()> {
        let Some(commands) = &self.commands else {
            return Ok(());
        };
        let mut commands = commands.lock();
        if self.is_terminated() {
            return Err(ClError::CONTEXT_TERMINATED);
        }
        commands.add(event, Event::may_run);
        Ok(())
    }

    /// Returns when everything that was enqueued in this context is done.
    pub(crate) fn finish_all(&self) -> CLResult<()> {
        let queues: Vec<Arc<Queue>> = self.queues.lock().alive().collect();
        queues.iter().try_for_each(|queue| queue.finish())
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
