//! Command queues.

use std::any::Any;
use std::sync::{Arc, Weak};

use brolga_runtime::Queue as RuntimeQueue;
use brolga_runtime::queue::Priority;
use opencl_sys::*;

use super::context::{Context, OfContext};
use super::device::Device;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{OutPtr, RawHandle};
use crate::abi::property_list::{Pairs, PropertyList};

/// `cl_command_queue`
pub struct Queue {
    pub runtime: Arc<RuntimeQueue>,
    pub context: Ref<Context>,
    pub device: Ref<Device>,
}

object!(Queue, ClError::INVALID_COMMAND_QUEUE);

impl OfContext for Queue {
    fn context(&self) -> &Context {
        &self.context
    }
}

impl Queue {
    /// Requires each of some lists of devices to have the queue's. Errors:
    /// `CL_INVALID_COMMAND_QUEUE`.
    pub fn require_device_in<'a>(
        &self,
        mut lists: impl Iterator<Item = &'a [Ref<Device>]>,
    ) -> CLResult<()> {
        let has_device =
            |list: &[Ref<Device>]| list.iter().any(|one| Arc::ptr_eq(one, &self.device));
        require(lists.all(has_device), ClError::INVALID_COMMAND_QUEUE)
    }
}

const HOST_PROPERTIES: cl_command_queue_properties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
const DEVICE_PROPERTIES: cl_command_queue_properties =
    CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

// `opencl-sys` gives these names the type of the bit-field `CL_QUEUE_PROPERTIES`.
const PRIORITY: cl_command_queue_info = CL_QUEUE_PRIORITY_KHR as cl_command_queue_info;
const THROTTLE: cl_command_queue_info = CL_QUEUE_THROTTLE_KHR as cl_command_queue_info;

/// `clCreateCommandQueue`
pub fn create(
    context: RawHandle,
    device: RawHandle,
    properties: cl_command_queue_properties,
) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    // > CL_INVALID_DEVICE if device is not a valid device or is not associated with context.
    let device = context.device(device)?;
    // > CL_INVALID_VALUE if values specified in properties are not valid.
    require(properties & !HOST_PROPERTIES == 0, ClError::INVALID_VALUE)?;
    finish(
        context,
        device,
        properties,
        None,
        Vec::new(),
        Priority::default(),
    )
}

/// `clCreateCommandQueueWithProperties`, `clCreateCommandQueueWithPropertiesKHR`
pub fn create_with_properties(
    context: RawHandle,
    device: RawHandle,
    list: PropertyList<Pairs<cl_queue_properties>>,
) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    // > CL_INVALID_DEVICE if device is not a valid device or is not associated with context.
    let device = context.device(device)?;
    let list = list.read();
    let mut properties = 0;
    let mut size = None;
    let mut has_hints = false;
    let mut priority = Priority::default();
    for (i, (name, value)) in list.pairs().enumerate() {
        // > CL_INVALID_VALUE if values specified in properties are not valid.
        require(list.is_first(i), ClError::INVALID_VALUE)?;
        match name as cl_command_queue_info {
            CL_QUEUE_PROPERTIES => properties = value,
            // > CL_QUEUE_SIZE must be a value <= CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE.
            CL_QUEUE_SIZE => {
                size = Some(cl_uint::try_from(value).map_err(|_| ClError::INVALID_VALUE)?);
            }
            PRIORITY => {
                has_hints = true;
                priority = match value as cl_queue_priority_khr {
                    CL_QUEUE_PRIORITY_HIGH_KHR => Priority::High,
                    CL_QUEUE_PRIORITY_MED_KHR => Priority::Medium,
                    CL_QUEUE_PRIORITY_LOW_KHR => Priority::Low,
                    _ => return Err(ClError::INVALID_VALUE),
                };
            }
            // Without effect: the system decides how fast the processors run.
            THROTTLE => {
                has_hints = true;
                let known = [
                    CL_QUEUE_THROTTLE_HIGH_KHR,
                    CL_QUEUE_THROTTLE_MED_KHR,
                    CL_QUEUE_THROTTLE_LOW_KHR,
                ];
                require(
                    known.contains(&(value as cl_queue_throttle_khr)),
                    ClError::INVALID_VALUE,
                )?;
            }
            _ => return Err(ClError::INVALID_VALUE),
        }
    }
    require(
        properties & !(HOST_PROPERTIES | DEVICE_PROPERTIES) == 0,
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_QUEUE_PROPERTIES if the CL_QUEUE_PRIORITY_KHR or CL_QUEUE_THROTTLE_KHR property
    // > is specified, and the queue is a CL_QUEUE_ON_DEVICE.
    require(
        !has_hints || properties & CL_QUEUE_ON_DEVICE == 0,
        ClError::INVALID_QUEUE_PROPERTIES,
    )?;
    finish(context, device, properties, size, list.as_given, priority)
}

fn finish(
    context: Ref<Context>,
    device: Ref<Device>,
    properties: cl_command_queue_properties,
    size: Option<cl_uint>,
    list: Vec<cl_queue_properties>,
    priority: Priority,
) -> CLResult<RawHandle> {
    let is_default = properties & CL_QUEUE_ON_DEVICE_DEFAULT != 0;
    // One default queue of a device is made at a time.
    let mut defaults = is_default.then(|| context.default_queues.lock());
    // > If a default device queue has already been created, calling
    // > clCreateCommandQueueWithProperties with CL_QUEUE_PROPERTIES set to CL_QUEUE_ON_DEVICE and
    // > CL_QUEUE_ON_DEVICE_DEFAULT will return the default device queue that has already been
    // > created and increment its reference count by 1.
    if properties & CL_QUEUE_ON_DEVICE != 0
        && let Some(defaults) = &defaults
        && let Some(queue) = default_of(defaults, &device)
    {
        queue.retain();
        return Ok(queue.raw());
    }
    let runtime = RuntimeQueue::with_priority(
        &context.runtime,
        &device.runtime,
        properties,
        size,
        list,
        priority,
    )?;
    let queue = Handle::new(Queue {
        runtime,
        context: context.clone(),
        device: device.clone(),
    });
    if let Some(defaults) = &mut defaults {
        set_default_of(defaults, &device, &queue);
    }
    Ok(queue.raw())
}

/// The default on-device queues of a context, by the handle of their device.
type DefaultQueues = [(RawHandle, Weak<dyn Any + Send + Sync>)];

/// The default on-device queue of a device, if it has one.
fn default_of(queues: &DefaultQueues, device: &Ref<Device>) -> Option<Ref<Queue>> {
    let (_, queue) = queues.iter().find(|(of, _)| *of == device.raw())?;
    queue.upgrade()?.downcast().ok()
}

fn set_default_of(
    queues: &mut Vec<(RawHandle, Weak<dyn Any + Send + Sync>)>,
    device: &Ref<Device>,
    queue: &Ref<Queue>,
) {
    queues.retain(|(of, _)| *of != device.raw());
    let queue = Arc::clone(queue) as Arc<dyn Any + Send + Sync>;
    queues.push((device.raw(), Arc::downgrade(&queue)));
}

/// `clSetDefaultDeviceCommandQueue`
pub fn set_default(context: RawHandle, device: RawHandle, queue: RawHandle) -> CLResult<()> {
    let context = Context::usable(context)?;
    // > CL_INVALID_DEVICE if device is not a valid device or is not associated with context.
    let device = context.device(device)?;
    // > CL_INVALID_OPERATION if device does not support a replaceable default on-device queue.
    let capabilities = device.runtime.device_enqueue_capabilities;
    require(
        capabilities & CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT != 0,
        ClError::INVALID_OPERATION,
    )?;
    // > CL_INVALID_COMMAND_QUEUE if command_queue is not a valid command-queue for device.
    let queue = Queue::from_raw(queue)?;
    require(
        Arc::ptr_eq(&queue.context, &context) && Arc::ptr_eq(&queue.device, &device),
        ClError::INVALID_COMMAND_QUEUE,
    )?;
    let mut defaults = context.default_queues.lock();
    queue.runtime.make_default()?;
    set_default_of(&mut defaults, &device, &queue);
    Ok(())
}

/// `clReleaseCommandQueue`
pub fn release(queue: RawHandle) -> CLResult<()> {
    let queue = Queue::from_raw(queue)?;
    // > clReleaseCommandQueue performs an implicit flush to issue any previously queued OpenCL
    // > commands.
    if !queue.runtime.is_on_device() {
        queue.runtime.flush()?;
    }
    queue.release()
}

/// `clGetCommandQueueInfo`
pub fn get_info(queue: RawHandle, name: cl_command_queue_info, writer: InfoWriter) -> CLResult<()> {
    let queue = Queue::from_raw(queue)?;
    match name {
        CL_QUEUE_CONTEXT => writer.value(queue.context.raw()),
        CL_QUEUE_DEVICE => writer.value(queue.device.raw()),
        CL_QUEUE_REFERENCE_COUNT => writer.value(queue.reference_count()),
        CL_QUEUE_PROPERTIES => writer.value(queue.runtime.properties()),
        CL_QUEUE_PROPERTIES_ARRAY => writer.array(queue.runtime.property_list()),
        // > CL_INVALID_COMMAND_QUEUE if command_queue is not a valid command-queue for param_name.
        CL_QUEUE_SIZE => writer.value(queue.runtime.size().ok_or(ClError::INVALID_COMMAND_QUEUE)?),
        // > Return the current default command-queue for the underlying device.
        CL_QUEUE_DEVICE_DEFAULT => {
            let default = default_of(&queue.context.default_queues.lock(), &queue.device);
            writer.value(default.map_or(RawHandle::NULL, |default| default.raw()))
        }
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// `clSetCommandQueueProperty`
pub fn set_property(
    queue: RawHandle,
    properties: cl_command_queue_properties,
    enable: cl_bool,
    old_properties: OutPtr<cl_command_queue_properties>,
) -> CLResult<()> {
    let queue = Queue::from_raw(queue)?;
    let _ = enable;
    // > CL_INVALID_VALUE if values specified in properties are not valid.
    require(properties & !HOST_PROPERTIES == 0, ClError::INVALID_VALUE)?;
    old_properties.set(queue.runtime.properties());
    // Since OpenCL 1.1 a queue's properties are fixed when it is made.
    Err(ClError::INVALID_OPERATION)
}

/// `clFlush`
pub fn flush(queue: RawHandle) -> CLResult<()> {
    Queue::from_raw(queue)?.runtime.flush()
}

/// `clFinish`
pub fn finish_all(queue: RawHandle) -> CLResult<()> {
    Queue::from_raw(queue)?.runtime.finish()
}
