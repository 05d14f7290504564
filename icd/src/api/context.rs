//! Contexts.

use std::any::Any;
use std::sync::{Arc, Weak};

use brolga_runtime::Context as RuntimeContext;
use brolga_runtime::Device as RuntimeDevice;
use brolga_runtime::context::ContextOptions;
use opencl_sys::*;
use parking_lot::Mutex;

use super::device::{Device, devices_of_type};
use super::platform::Platform;
use crate::abi::callback::{self, ContextDestroyed, ContextNotify};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InList, RawHandle, UserData};
use crate::abi::property_list::{Pairs, ParsedProperties, PropertyList};

/// `cl_context`
pub struct Context {
    pub runtime: Arc<RuntimeContext>,
    pub devices: Vec<Ref<Device>>,
    /// The default on-device queue of each device that has one, by the device's handle. They live
    /// as long as something holds them; `queue.rs`, above this file, has their type.
    pub default_queues: Mutex<Vec<(RawHandle, Weak<dyn Any + Send + Sync>)>>,
}

object!(Context, ClError::INVALID_CONTEXT);

/// An object of a context. Once that is terminated no object can be created from it and no command
/// enqueued to it.
pub trait OfContext: Object {
    fn context(&self) -> &Context;

    /// The object behind `raw`, for a call that creates an object, enqueues a command, or uses a
    /// context.
    fn usable(raw: RawHandle) -> CLResult<Ref<Self>> {
        let object = Self::from_raw(raw)?;
        // > Once a context has been terminated, all OpenCL API calls that create objects or enqueue
        // > commands will return CL_CONTEXT_TERMINATED_KHR.
        require(
            !object.context().runtime.is_terminated(),
            ClError::CONTEXT_TERMINATED,
        )?;
        Ok(object)
    }

    /// The objects behind `raws`, or the error of the first that is not valid or not usable.
    fn all_usable(raws: &[RawHandle]) -> CLResult<Vec<Ref<Self>>> {
        raws.iter().map(|&raw| Self::usable(raw)).collect()
    }
}

impl OfContext for Context {
    fn context(&self) -> &Context {
        self
    }
}

impl Context {
    /// The device of this context that `raw` means.
    pub fn device(&self, raw: RawHandle) -> CLResult<Ref<Device>> {
        self.devices
            .iter()
            .find(|device| device.raw() == raw)
            .cloned()
            .ok_or(ClError::INVALID_DEVICE)
    }

    /// The handle of a device of this context, or null.
    pub fn handle_of(&self, runtime: Option<&Arc<RuntimeDevice>>) -> RawHandle {
        self.devices
            .iter()
            .find(|device| runtime.is_some_and(|runtime| Arc::ptr_eq(&device.runtime, runtime)))
            .map_or(RawHandle::NULL, |device| device.raw())
    }

    /// The devices that a `num_devices` and `device_list` pair means, where an empty pair means all
    /// of them.
    pub fn device_list(&self, device_list: InList<RawHandle>) -> CLResult<Vec<Ref<Device>>> {
        // > CL_INVALID_VALUE if device_list is NULL and num_devices is greater than zero, or if
        // > device_list is not NULL and num_devices is zero.
        require(device_list.is_null_if_empty(), ClError::INVALID_VALUE)?;
        match device_list.get()? {
            None => Ok(self.devices.clone()),
            Some(raws) => raws.into_iter().map(|raw| self.device(raw)).collect(),
        }
    }
}

/// `clCreateContext`
pub fn create(
    properties: PropertyList<Pairs<cl_context_properties>>,
    devices: InList<RawHandle>,
    notify: ContextNotify,
    user_data: UserData,
) -> CLResult<RawHandle> {
    let list = check_properties(properties)?;
    // > CL_INVALID_VALUE if devices is NULL, if num_devices is equal to zero, or if pfn_notify is
    // > NULL but user_data is not NULL.
    require(devices.count() != 0, ClError::INVALID_VALUE)?;
    let raws = devices.get()?.ok_or(ClError::INVALID_VALUE)?;
    check_notify(notify, user_data)?;
    // > CL_INVALID_DEVICE if any device in devices is not a valid device.
    let devices = Device::from_raws(&raws)?;
    finish(list, devices.into_vec(), notify, user_data)
}

/// `clCreateContextFromType`
pub fn create_from_type(
    properties: PropertyList<Pairs<cl_context_properties>>,
    device_type: cl_device_type,
    notify: ContextNotify,
    user_data: UserData,
) -> CLResult<RawHandle> {
    let list = check_properties(properties)?;
    // > CL_INVALID_VALUE if pfn_notify is NULL but user_data is not NULL.
    check_notify(notify, user_data)?;
    // > CL_INVALID_DEVICE_TYPE if device_type is not a valid value.
    let devices = devices_of_type(device_type)?;
    // > CL_DEVICE_NOT_FOUND if no devices that match device_type and the property values in
    // > properties were found.
    require(!devices.is_empty(), ClError::DEVICE_NOT_FOUND)?;
    finish(list, devices, notify, user_data)
}

const INITIALIZE: cl_context_properties = CL_CONTEXT_MEMORY_INITIALIZE_KHR as cl_context_properties;
const TERMINATE: cl_context_properties = CL_CONTEXT_TERMINATE_KHR as cl_context_properties;
/// What a context may have initialized.
const INITIALIZED: cl_context_memory_initialize_khr =
    CL_CONTEXT_MEMORY_INITIALIZE_LOCAL_KHR | CL_CONTEXT_MEMORY_INITIALIZE_PRIVATE_KHR;

/// Reads and checks a property list.
fn check_properties(
    list: PropertyList<Pairs<cl_context_properties>>,
) -> CLResult<ParsedProperties<cl_context_properties>> {
    let properties = list.read();
    for (i, (name, value)) in properties.pairs().enumerate() {
        // > CL_INVALID_PROPERTY if a context property name in properties is not a supported
        // > property name, if the value for a supported property name is not valid, or if the same
        // > property name is specified more than once.
        require(properties.is_first(i), ClError::INVALID_PROPERTY)?;
        match name {
            // > CL_INVALID_PLATFORM if the platform value specified in properties is not a valid
            // > platform.
            CL_CONTEXT_PLATFORM => {
                Platform::from_raw(RawHandle::from_address(value as usize))?;
            }
            CL_CONTEXT_INTEROP_USER_SYNC | TERMINATE => require(
                value == CL_TRUE as isize || value == CL_FALSE as isize,
                ClError::INVALID_PROPERTY,
            )?,
            INITIALIZE => require(
                value as cl_bitfield & !INITIALIZED == 0,
                ClError::INVALID_PROPERTY,
            )?,
            _ => return Err(ClError::INVALID_PROPERTY),
        }
    }
    Ok(properties)
}

fn check_notify(notify: ContextNotify, user_data: UserData) -> CLResult<()> {
    require(
        notify.is_some() || user_data.to_c().is_null(),
        ClError::INVALID_VALUE,
    )
}

fn finish(
    properties: ParsedProperties<cl_context_properties>,
    devices: Vec<Ref<Device>>,
    notify: ContextNotify,
    user_data: UserData,
) -> CLResult<RawHandle> {
    // > Duplicate devices specified in devices are ignored.
    let mut distinct: Vec<Ref<Device>> = Vec::new();
    for device in devices {
        if !distinct.iter().any(|known| Arc::ptr_eq(known, &device)) {
            distinct.push(device);
        }
    }
    let initialize = properties.value(INITIALIZE).unwrap_or(0) as cl_bitfield;
    // > CL_INVALID_PROPERTY if CL_CONTEXT_TERMINATE_KHR is set to CL_TRUE in properties, but not
    // > all of the devices associated with the context support the ability to support context
    // > termination.
    let may_be_terminated = properties.value(TERMINATE) == Some(CL_TRUE as isize);
    let runtime = RuntimeContext::new(
        distinct
            .iter()
            .map(|device| device.runtime.clone())
            .collect(),
        ContextOptions {
            properties: properties.as_given,
            initialize,
            may_be_terminated,
            notify: notify.map(|notify| callback::on_context_error(notify, user_data)),
            ..ContextOptions::default()
        },
    )?;
    Ok(Handle::new(Context {
        runtime,
        devices: distinct,
        default_queues: Mutex::default(),
    })
    .raw())
}

/// `clTerminateContextKHR`
pub fn terminate(context: RawHandle) -> CLResult<()> {
    // > CL_INVALID_CONTEXT if context is not a valid OpenCL context.
    // > CL_CONTEXT_TERMINATED_KHR if context has already been terminated.
    // > CL_INVALID_OPERATION if context was not created with CL_CONTEXT_TERMINATE_KHR set to
    // > CL_TRUE.
    Context::from_raw(context)?.runtime.terminate()
}

/// `clGetContextInfo`
pub fn get_info(context: RawHandle, name: cl_context_info, writer: InfoWriter) -> CLResult<()> {
    let context = Context::from_raw(context)?;
    match name {
        CL_CONTEXT_REFERENCE_COUNT => writer.value(context.reference_count()),
        CL_CONTEXT_NUM_DEVICES => writer.value(context.devices.len() as cl_uint),
        CL_CONTEXT_DEVICES => {
            let raws: Vec<RawHandle> = context.devices.iter().map(|device| device.raw()).collect();
            writer.array(&raws)
        }
        CL_CONTEXT_PROPERTIES => writer.array(context.runtime.properties()),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// `clSetContextDestructorCallback`
pub fn set_destructor_callback(
    context: RawHandle,
    notify: ContextDestroyed,
    user_data: UserData,
) -> CLResult<()> {
    let context = Context::usable(context)?;
    // > CL_INVALID_VALUE if pfn_notify is NULL.
    let notify = notify.ok_or(ClError::INVALID_VALUE)?;
    context.runtime.on_destroy(Box::new(callback::on_handle(
        notify,
        context.raw(),
        user_data,
    )));
    Ok(())
}
