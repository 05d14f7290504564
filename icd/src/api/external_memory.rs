//! Memory that is imported (`cl_khr_external_memory`, `cl_khr_external_memory_opaque_fd`,
//! `cl_khr_external_memory_dma_buf`).

use std::sync::Arc;

use brolga_runtime::Buffer as RuntimeBuffer;
use brolga_runtime::memory::external::{ExternalHandle, HandleType};
use opencl_sys::*;

use super::context::{Context, OfContext};
use super::device::Device;
use super::memory::Mem;
use super::queue::Queue;
use super::wait::Events;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Object, Ref};
use crate::abi::pointers::{InPtr, RawHandle};

const OPAQUE_FD: cl_mem_properties = CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR as cl_mem_properties;
const DMA_BUF: cl_mem_properties = CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR as cl_mem_properties;

/// What the properties of a new buffer or image say.
#[derive(Default)]
pub struct Properties {
    handle: Option<(HandleType, i32)>,
    devices: Option<Vec<RawHandle>>,
    has_address: bool,
    /// With the final zero; empty for null.
    pub as_given: Vec<cl_mem_properties>,
}

/// A handle, and the devices that may use the memory.
pub struct External {
    pub handle: ExternalHandle,
    pub devices: Vec<Ref<Device>>,
}

impl Properties {
    /// Reads a list, one of whose properties is followed by a list of its own.
    pub fn read(list: InPtr<cl_mem_properties>) -> CLResult<Properties> {
        let mut wanted = Properties::default();
        if list.is_null() {
            return Ok(wanted);
        }
        let mut values = list.values();
        let mut next = || {
            let value = values.next().unwrap_or_default();
            wanted.as_given.push(value);
            value
        };
        loop {
            // > CL_INVALID_PROPERTY if a property name in properties is not a supported property >
            // name, if the value specified for a supported property name is not valid, or if the >
            // same property name is specified more than once.
            match next() {
                0 => return Ok(wanted),
                // Of cl_ext_buffer_device_address; the property value is a cl_bool.
                CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT if !wanted.has_address => {
                    wanted.has_address = true;
                    let values = [CL_TRUE, CL_FALSE].map(u64::from);
                    require(values.contains(&next()), ClError::INVALID_PROPERTY)?;
                }
                // > or if properties includes more than one external memory handle.
                OPAQUE_FD if wanted.handle.is_none() => {
                    wanted.handle = Some((HandleType::OpaqueFd, next() as i32));
                }
                DMA_BUF if wanted.handle.is_none() => {
                    wanted.handle = Some((HandleType::DmaBuf, next() as i32));
                }
                CL_MEM_DEVICE_HANDLE_LIST_KHR if wanted.devices.is_none() => {
                    let raws = std::iter::from_fn(|| {
                        Some(next()).filter(|&raw| raw != CL_MEM_DEVICE_HANDLE_LIST_END_KHR)
                    });
                    let raws = raws.map(|raw| RawHandle::from_address(raw as usize));
                    wanted.devices = Some(raws.collect());
                }
                _ => return Err(ClError::INVALID_PROPERTY),
            }
        }
    }

    /// As [`Properties::read`], for an image: it has no address.
    pub fn of_image(list: InPtr<cl_mem_properties>) -> CLResult<Properties> {
        let properties = Properties::read(list)?;
        require(!properties.has_address, ClError::INVALID_PROPERTY)?;
        Ok(properties)
    }

    /// What is to be imported, if anything is.
    pub fn external(&self, context: &Context) -> CLResult<Option<External>> {
        let Some((kind, fd)) = self.handle else {
            // > CL_INVALID_PROPERTY if properties does not include a supported external memory >
            // handle and CL_MEM_DEVICE_HANDLE_LIST_KHR is specified as part of properties.
            require(self.devices.is_none(), ClError::INVALID_PROPERTY)?;
            return Ok(None);
        };
        let handle = ExternalHandle::new(kind, fd)?;
        let devices = match &self.devices {
            None => context.devices.clone(),
            // > CL_INVALID_DEVICE if a device identified by the property >
            // CL_MEM_DEVICE_HANDLE_LIST_KHR is not a valid device or is not associated with >
            // context.
            Some(raws) => {
                require(!raws.is_empty(), ClError::INVALID_PROPERTY)?;
                let devices = raws.iter().map(|&raw| context.device(raw));
                devices.collect::<CLResult<_>>()?
            }
        };
        Ok(Some(External { handle, devices }))
    }
}

/// The queue and the memory objects of a command.
fn queue_and_buffers(
    queue: RawHandle,
    count: cl_uint,
    list: InPtr<RawHandle>,
) -> CLResult<(Ref<Queue>, Vec<Arc<RuntimeBuffer>>)> {
    let queue = Queue::usable(queue)?;
    // > CL_INVALID_VALUE if num_mem_objects is zero and mem_objects is not a NULL value, or if >
    // num_mem_objects is greater than 0 and mem_objects is NULL.
    require(list.is_null() == (count == 0), ClError::INVALID_VALUE)?;
    let raws = list.array(count as usize).unwrap_or_default();
    // > CL_INVALID_MEM_OBJECT if any of the memory objects in mem_objects is not a valid OpenCL >
    // memory object created using an external memory handle.
    let objects = Mem::from_raws(&raws)?;
    require(
        objects.iter().all(|mem| !mem.imported_for.is_empty()),
        ClError::INVALID_MEM_OBJECT,
    )?;
    // > CL_INVALID_COMMAND_QUEUE if device associated with command_queue is not one of the devices
    // > specified by CL_MEM_DEVICE_HANDLE_LIST_KHR at the time of creating one or more of >
    // mem_objects, or if one or more of mem_objects belong to a context that does not contain a >
    // device associated with command_queue.
    queue.require_device_in(objects.iter().map(|mem| &mem.imported_for[..]))?;
    let runtime = objects.iter().map(|mem| mem.runtime.clone()).collect();
    Ok((queue, runtime))
}

/// `clEnqueueAcquireExternalMemObjectsKHR`
pub fn enqueue_acquire(
    queue: RawHandle,
    count: cl_uint,
    list: InPtr<RawHandle>,
    events: Events,
) -> CLResult<()> {
    let (queue, buffers) = queue_and_buffers(queue, count, list)?;
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_acquire_external(&buffers, wait)
    })
}

/// `clEnqueueReleaseExternalMemObjectsKHR`
pub fn enqueue_release(
    queue: RawHandle,
    count: cl_uint,
    list: InPtr<RawHandle>,
    events: Events,
) -> CLResult<()> {
    let (queue, buffers) = queue_and_buffers(queue, count, list)?;
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_release_external(&buffers, wait)
    })
}
