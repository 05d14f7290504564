//! Semaphores (`cl_khr_semaphore`), and those that processes share
//! (`cl_khr_external_semaphore_opaque_fd`).

use std::os::fd::IntoRawFd;
use std::sync::Arc;

use brolga_runtime::Semaphore as RuntimeSemaphore;
use opencl_sys::*;

use super::context::{Context, OfContext};
use super::device::Device;
use super::external_handles::EXTERNAL_SEMAPHORES;
use super::queue::Queue;
use super::wait::EventArguments;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InList, InPtr, RawHandle};
use crate::abi::property_list::{Property, PropertyList, SemaphoreProperties};

/// `cl_semaphore_khr`
pub struct Semaphore {
    pub runtime: Arc<RuntimeSemaphore>,
    pub context: Ref<Context>,
    devices: Vec<Ref<Device>>,
    /// The types of handles that it may be exported as.
    exports: Vec<cl_external_semaphore_handle_type_khr>,
    /// As given, with the final zero.
    properties: Vec<cl_semaphore_properties_khr>,
}

object!(Semaphore, ClError::INVALID_SEMAPHORE);

const EXPORTED_AS: cl_semaphore_info_khr =
    CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR as cl_semaphore_info_khr;

/// What the properties of a new semaphore say.
#[derive(Default)]
struct Wanted {
    kind: Option<cl_semaphore_properties_khr>,
    devices: Option<Vec<RawHandle>>,
    exports: Option<Vec<cl_semaphore_properties_khr>>,
    descriptor: Option<i32>,
    as_given: Vec<cl_semaphore_properties_khr>,
}

impl Wanted {
    /// Reads a list of properties, some of which are followed by lists of their own.
    fn read(list: PropertyList<SemaphoreProperties>) -> CLResult<Wanted> {
        // > CL_INVALID_PROPERTY if a property name in sema_props is not a supported property name,
        // > if the value specified for a supported property name is not valid, or if the same
        // > property name is specified more than once.
        let words = list.read();
        require(words.is_known, ClError::INVALID_PROPERTY)?;
        let mut wanted = Wanted::default();
        for Property { name, values } in words.list {
            match (name as cl_semaphore_info_khr, &values[..]) {
                (CL_SEMAPHORE_TYPE_KHR, [kind]) if wanted.kind.is_none() => {
                    wanted.kind = Some(*kind);
                }
                (CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, raws) if wanted.devices.is_none() => {
                    let raws = raws
                        .iter()
                        .map(|&raw| RawHandle::from_address(raw as usize));
                    wanted.devices = Some(raws.collect());
                }
                (EXPORTED_AS, kinds) if wanted.exports.is_none() => {
                    wanted.exports = Some(kinds.to_vec());
                }
                (CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, [fd]) if wanted.descriptor.is_none() => {
                    wanted.descriptor = Some(*fd as i32);
                }
                _ => return Err(ClError::INVALID_PROPERTY),
            }
        }
        wanted.as_given = words.as_given;
        Ok(wanted)
    }
}

/// `clCreateSemaphoreWithPropertiesKHR`
pub fn create(
    context: RawHandle,
    properties: PropertyList<SemaphoreProperties>,
) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    // > CL_INVALID_VALUE if sema_props is NULL.
    require(!properties.is_null(), ClError::INVALID_VALUE)?;
    let wanted = Wanted::read(properties)?;
    // > CL_INVALID_VALUE if sema_props do not specify <property, value> pairs for minimum set of
    // > properties (i.e. CL_SEMAPHORE_TYPE_KHR) required for successful creation.
    let kind = wanted.kind.ok_or(ClError::INVALID_VALUE)?;
    require(
        kind == cl_properties::from(CL_SEMAPHORE_TYPE_BINARY_KHR),
        ClError::INVALID_PROPERTY,
    )?;
    let devices = match wanted.devices {
        // > CL_INVALID_PROPERTY if context is a multiple device context and sema_props does not
        // > specify CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR.
        None => {
            require(context.devices.len() == 1, ClError::INVALID_PROPERTY)?;
            context.devices.clone()
        }
        // > CL_INVALID_DEVICE if CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR is specified as part of
        // > sema_props, but it does not identify exactly one valid device, or if a device
        // > identified by it is not one of the devices within context.
        Some(raws) => {
            require(raws.len() == 1, ClError::INVALID_DEVICE)?;
            vec![context.device(raws[0])?]
        }
    };
    // > CL_INVALID_VALUE if more than one semaphore handle type is specified in the
    // > CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR list.
    let exports = wanted.exports.unwrap_or_default();
    require(exports.len() <= 1, ClError::INVALID_VALUE)?;
    let known = |kind: &u64| {
        EXTERNAL_SEMAPHORES
            .iter()
            .any(|&one| u64::from(one) == *kind)
    };
    require(exports.iter().all(known), ClError::INVALID_PROPERTY)?;
    // > CL_INVALID_OPERATION if props_list specifies a cl_external_semaphore_handle_type_khr
    // > followed by a handle as well as CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR.
    let runtime = match (wanted.descriptor, exports.is_empty()) {
        (Some(_), false) => return Err(ClError::INVALID_OPERATION),
        (Some(fd), true) => RuntimeSemaphore::imported(&context.runtime, fd)?,
        (None, false) => RuntimeSemaphore::exportable(&context.runtime)?,
        (None, true) => RuntimeSemaphore::new(&context.runtime),
    };
    Ok(Handle::new(Semaphore {
        runtime,
        context,
        devices,
        exports: exports.into_iter().map(|kind| kind as u32).collect(),
        properties: wanted.as_given,
    })
    .raw())
}

/// `clGetSemaphoreInfoKHR`
pub fn get_info(
    semaphore: RawHandle,
    name: cl_semaphore_info_khr,
    writer: InfoWriter,
) -> CLResult<()> {
    let semaphore = Semaphore::from_raw(semaphore)?;
    match name {
        CL_SEMAPHORE_CONTEXT_KHR => writer.value(semaphore.context.raw()),
        CL_SEMAPHORE_REFERENCE_COUNT_KHR => writer.value(semaphore.reference_count()),
        CL_SEMAPHORE_PROPERTIES_KHR => writer.array(&semaphore.properties),
        CL_SEMAPHORE_TYPE_KHR => writer.value(CL_SEMAPHORE_TYPE_BINARY_KHR),
        CL_SEMAPHORE_PAYLOAD_KHR => writer.value(semaphore.runtime.payload()),
        CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR => {
            let raws: Vec<RawHandle> = semaphore.devices.iter().map(|one| one.raw()).collect();
            writer.array(&raws)
        }
        EXPORTED_AS => writer.array(&semaphore.exports),
        CL_SEMAPHORE_EXPORTABLE_KHR => writer.boolean(!semaphore.exports.is_empty()),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// `clGetSemaphoreHandleForTypeKHR`
pub fn get_handle(
    semaphore: RawHandle,
    device: RawHandle,
    kind: cl_external_semaphore_handle_type_khr,
    writer: InfoWriter,
) -> CLResult<()> {
    let semaphore = Semaphore::from_raw(semaphore)?;
    // > CL_INVALID_DEVICE if device is not a valid device, or if sema_object belongs to a context
    // > that is not associated with device, or if sema_object can not be shared with device.
    let device = semaphore.context.device(device)?;
    require(
        semaphore
            .devices
            .iter()
            .any(|one| Arc::ptr_eq(one, &device)),
        ClError::INVALID_DEVICE,
    )?;
    // > CL_INVALID_VALUE if the requested external semaphore handle type was not specified when
    // > sema_object was created.
    require(semaphore.exports.contains(&kind), ClError::INVALID_VALUE)?;
    // A descriptor is made only if there is room to return it.
    match writer.takes::<i32>() {
        true => writer.value(semaphore.runtime.export()?.into_raw_fd()),
        false => writer.value(-1i32),
    }
}

/// The queue and the semaphores of a command. No semaphore takes a payload.
fn queue_and_semaphores(
    queue: RawHandle,
    semaphores: InList<RawHandle>,
) -> CLResult<(Ref<Queue>, Vec<Arc<RuntimeSemaphore>>)> {
    let queue = Queue::usable(queue)?;
    // > CL_INVALID_VALUE if num_sema_objects is 0.
    require(semaphores.count() != 0, ClError::INVALID_VALUE)?;
    // > CL_INVALID_SEMAPHORE_KHR if any of the semaphore objects specified by sema_objects is not
    // > valid.
    let raws = semaphores.get()?.ok_or(ClError::INVALID_SEMAPHORE)?;
    let semaphores = Semaphore::from_raws(&raws)?;
    // > CL_INVALID_CONTEXT if the context associated with command_queue and any of the semaphore
    // > objects in sema_objects are not the same.
    require(
        semaphores
            .iter()
            .all(|semaphore| Arc::ptr_eq(&semaphore.context, &queue.context)),
        ClError::INVALID_CONTEXT,
    )?;
    // > CL_INVALID_COMMAND_QUEUE if the device associated with command_queue is not same as one of
    // > the devices specified by CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR at the time of creating one or
    // > more of sema_objects.
    queue.require_device_in(semaphores.iter().map(|semaphore| &semaphore.devices[..]))?;
    let runtime = semaphores.iter().map(|one| one.runtime.clone()).collect();
    Ok((queue, runtime))
}

/// `clEnqueueWaitSemaphoresKHR`
pub fn enqueue_wait(
    queue: RawHandle,
    semaphores: InList<RawHandle>,
    _payloads: InPtr<cl_semaphore_payload_khr>,
    events: EventArguments,
) -> CLResult<()> {
    let (queue, semaphores) = queue_and_semaphores(queue, semaphores)?;
    events.enqueue(&queue, |wait| queue.runtime.enqueue_wait(&semaphores, wait))
}

/// `clEnqueueSignalSemaphoresKHR`
pub fn enqueue_signal(
    queue: RawHandle,
    semaphores: InList<RawHandle>,
    _payloads: InPtr<cl_semaphore_payload_khr>,
    events: EventArguments,
) -> CLResult<()> {
    let (queue, semaphores) = queue_and_semaphores(queue, semaphores)?;
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_signal(&semaphores, wait)
    })
}
