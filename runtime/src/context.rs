//! Contexts: what memory objects, programs, queues and events belong to.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::device::Device;
use crate::error::{CLResult, ClError};
use crate::memory::svm::SvmTable;
use crate::on_device::DeviceQueues;

/// Receives runtime error reports: `pfn_notify` of `clCreateContext`.
pub type ErrorNotify = Box<dyn Fn(&str) + Send + Sync>;

/// Receives what kernels print, instead of the standard output.
pub type PrintfOutput = Box<dyn Fn(&[u8]) + Send + Sync>;

/// What to create a context with.
#[derive(Default)]
pub struct ContextOptions {
    /// `CL_CONTEXT_PROPERTIES` exactly as given, terminating zero included; empty when none was given.
    pub properties: Vec<isize>,
    pub notify: Option<ErrorNotify>,
    pub printf: Option<PrintfOutput>,
}

/// An OpenCL context.
pub struct Context {
    devices: Vec<Arc<Device>>,
    options: ContextOptions,
    svm: SvmTable,
    device_queues: DeviceQueues,
    destructors: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

impl Context {
    /// Creates a context. Errors: `CL_INVALID_VALUE` without devices.
    pub fn new(devices: Vec<Arc<Device>>, options: ContextOptions) -> CLResult<Arc<Context>> {
        // CL_INVALID_VALUE if devices is NULL or num_devices is equal to zero ("Contexts").
        if devices.is_empty() {
            return Err(ClError::INVALID_VALUE);
        }
        Ok(Arc::new(Context {
            devices,
            options,
            svm: SvmTable::default(),
            device_queues: DeviceQueues::default(),
            destructors: Mutex::default(),
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

    /// `clSetContextDestructorCallback`: callbacks run in the reverse order of registration when the last
    /// object of the context is gone.
    pub fn on_destroy(&self, callback: Box<dyn FnOnce() + Send>) {
        self.destructors.lock().push(callback);
    }

    /// Reports an error that no return value can carry to the application's `pfn_notify`.
    pub fn report(&self, message: &str) {
        if let Some(notify) = &self.options.notify {
            notify(message);
        }
    }

    pub(crate) fn printf_output(&self) -> Option<&PrintfOutput> {
        self.options.printf.as_ref()
    }

    pub(crate) fn device_queues(&self) -> &DeviceQueues {
        &self.device_queues
    }

    /// The context's shared virtual memory.
    pub fn svm(&self) -> &SvmTable {
        &self.svm
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let mut callbacks = std::mem::take(self.destructors.get_mut());
        while let Some(callback) = callbacks.pop() {
            callback();
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("devices", &self.devices.len())
            .finish()
    }
}
