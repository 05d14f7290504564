//! Contexts.

use std::sync::Arc;

use brolga_runtime::Context as RuntimeContext;
use brolga_runtime::Device as RuntimeDevice;
use brolga_runtime::context::ContextOptions;
use opencl_sys::*;
use parking_lot::Mutex;

use super::device::{Device, devices_of_type};
use super::platform::Platform;
use super::queue::DefaultQueues;
use crate::abi::callback::{self, ContextDestroyed, ContextNotify};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InPtr, RawHandle, UserData};

/// `cl_context`
pub struct Context {
    pub runtime: Arc<RuntimeContext>,
    pub devices: Vec<Ref<Device>>,
    pub default_queues: Mutex<DefaultQueues>,
}

object!(Context, ClError::INVALID_CONTEXT);

/// Something that nothing can be made from or enqueued to when its context is terminated.
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
    pub fn device_list(
        &self,
        num_devices: cl_uint,
        device_list: InPtr<RawHandle>,
    ) -> CLResult<Vec<Ref<Device>>> {
        // > CL_INVALID_VALUE if device_list is NULL and num_devices is greater than zero, or if >
        // device_list is not NULL and num_devices is zero.
        require(
            device_list.is_null() == (num_devices == 0),
            ClError::INVALID_VALUE,
        )?;
        match device_list.array(num_devices as usize) {
            None => Ok(self.devices.clone()),
            Some(raws) => raws.into_iter().map(|raw| self.device(raw)).collect(),
        }
    }
}

/// `clCreateContext`
pub fn create(
    properties: InPtr<cl_context_properties>,
    num_devices: cl_uint,
    devices: InPtr<RawHandle>,
    notify: ContextNotify,
    user_data: UserData,
) -> CLResult<RawHandle> {
    let list = check_properties(properties)?;
    // > CL_INVALID_VALUE if devices is NULL, if num_devices is equal to zero, or if pfn_notify is >
    // NULL but user_data is not NULL.
    require(num_devices != 0, ClError::INVALID_VALUE)?;
    let raws = devices
        .array(num_devices as usize)
        .ok_or(ClError::INVALID_VALUE)?;
    check_notify(notify, user_data)?;
    // > CL_INVALID_DEVICE if any device in devices is not a valid device.
    let devices = Device::from_raws(&raws)?;
    finish(list, devices, notify, user_data)
}

/// `clCreateContextFromType`
pub fn create_from_type(
    properties: InPtr<cl_context_properties>,
    device_type: cl_device_type,
    notify: ContextNotify,
    user_data: UserData,
) -> CLResult<RawHandle> {
    let list = check_properties(properties)?;
    // > CL_INVALID_VALUE if pfn_notify is NULL but user_data is not NULL.
    check_notify(notify, user_data)?;
    // > CL_INVALID_DEVICE_TYPE if device_type is not a valid value.
    let devices = devices_of_type(device_type)?;
    // > CL_DEVICE_NOT_FOUND if no devices that match device_type and the property values in >
    // properties were found.
    require(!devices.is_empty(), ClError::DEVICE_NOT_FOUND)?;
    finish(list, devices, notify, user_data)
}

const INITIALIZE: cl_context_properties = CL_CONTEXT_MEMORY_INITIALIZE_KHR as cl_context_properties;
const TERMINATE: cl_context_properties = CL_CONTEXT_TERMINATE_KHR as cl_context_properties;
/// What a context may have initialized.
const INITIALIZED: cl_context_memory_initialize_khr =
    CL_CONTEXT_MEMORY_INITIALIZE_LOCAL_KHR | CL_CONTEXT_MEMORY_INITIALIZE_PRIVATE_KHR;

/// Checks a property list and returns it as given, with its terminating zero.
fn check_properties(properties: InPtr<cl_context_properties>) -> CLResult<Vec<isize>> {
    let pairs = properties.properties();
    for (i, &(name, value)) in pairs.iter().enumerate() {
        // > CL_INVALID_PROPERTY if a context property name in properties is not a supported >
        // property name, if the value for a supported property name is not valid, or if the same >
        // property name is specified more than once.
        require(
            pairs[..i].iter().all(|&(earlier, _)| earlier != name),
            ClError::INVALID_PROPERTY,
        )?;
        match name {
            // > CL_INVALID_PLATFORM if the platform value specified in properties is not a valid >
            // platform.
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
    if properties.is_null() {
        return Ok(Vec::new());
    }
    let mut list: Vec<isize> = pairs
        .iter()
        .flat_map(|&(name, value)| [name, value])
        .collect();
    list.push(0);
    Ok(list)
}

fn check_notify(notify: ContextNotify, user_data: UserData) -> CLResult<()> {
    require(
        notify.is_some() || user_data.to_c().is_null(),
        ClError::INVALID_VALUE,
    )
}

fn finish(
    properties: Vec<isize>,
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
    let value = |name| {
        let mut pairs = properties.chunks_exact(2);
        pairs.find(|pair| pair[0] == name).map_or(0, |pair| pair[1])
    };
    let initialize = value(INITIALIZE) as cl_bitfield;
    // > CL_INVALID_PROPERTY if CL_CONTEXT_TERMINATE_KHR is set to CL_TRUE in properties, but not >
    // all of the devices associated with the context support the ability to support context >
    // termination.
    let may_be_terminated = value(TERMINATE) == CL_TRUE as isize;
    let runtime = RuntimeContext::new(
        distinct
            .iter()
            .map(|device| device.runtime.clone())
            .collect(),
        ContextOptions {
            properties,
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
    // > CL_INVALID_CONTEXT if context is not a valid OpenCL context. > CL_CONTEXT_TERMINATED_KHR if
    // context has already been terminated. > CL_INVALID_OPERATION if context was not created with
    // CL_CONTEXT_TERMINATE_KHR set to > CL_TRUE.
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
