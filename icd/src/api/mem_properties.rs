//! Properties of new buffers and images: memory that is imported (`cl_khr_external_memory`,
//! `cl_khr_external_memory_opaque_fd`, `cl_khr_external_memory_dma_buf`), and device addresses.

use brolga_runtime::memory::external::{ExternalHandle, HandleType};
use opencl_sys::*;

use super::context::Context;
use super::device::Device;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::Ref;
use crate::abi::pointers::RawHandle;
use crate::abi::property_list::{MemProperties, Property, PropertyList};

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
    pub fn read(list: PropertyList<MemProperties>) -> CLResult<Properties> {
        // > CL_INVALID_PROPERTY if a property name in properties is not a supported property name,
        // > if the value specified for a supported property name is not valid, or if the same
        // > property name is specified more than once.
        let words = list.read();
        require(words.is_known, ClError::INVALID_PROPERTY)?;
        let mut wanted = Properties::default();
        for Property { name, values } in words.list {
            match (name, &values[..]) {
                // Of cl_ext_buffer_device_address; the property value is a cl_bool.
                (CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, [value]) if !wanted.has_address => {
                    wanted.has_address = true;
                    let booleans = [CL_TRUE, CL_FALSE].map(u64::from);
                    require(booleans.contains(value), ClError::INVALID_PROPERTY)?;
                }
                // > or if properties includes more than one external memory handle.
                (OPAQUE_FD, [fd]) if wanted.handle.is_none() => {
                    wanted.handle = Some((HandleType::OpaqueFd, *fd as i32));
                }
                (DMA_BUF, [fd]) if wanted.handle.is_none() => {
                    wanted.handle = Some((HandleType::DmaBuf, *fd as i32));
                }
                (CL_MEM_DEVICE_HANDLE_LIST_KHR, raws) if wanted.devices.is_none() => {
                    let raws = raws
                        .iter()
                        .map(|&raw| RawHandle::from_address(raw as usize));
                    wanted.devices = Some(raws.collect());
                }
                _ => return Err(ClError::INVALID_PROPERTY),
            }
        }
        wanted.as_given = words.as_given;
        Ok(wanted)
    }

    /// As [`Properties::read`], for an image: it has no address.
    pub fn of_image(list: PropertyList<MemProperties>) -> CLResult<Properties> {
        let properties = Properties::read(list)?;
        require(!properties.has_address, ClError::INVALID_PROPERTY)?;
        Ok(properties)
    }

    /// The memory to import, if any.
    pub fn external(&self, context: &Context) -> CLResult<Option<External>> {
        let Some((kind, fd)) = self.handle else {
            // > CL_INVALID_PROPERTY if properties does not include a supported external memory
            // > handle and CL_MEM_DEVICE_HANDLE_LIST_KHR is specified as part of properties.
            require(self.devices.is_none(), ClError::INVALID_PROPERTY)?;
            return Ok(None);
        };
        let handle = ExternalHandle::new(kind, fd)?;
        let devices = match &self.devices {
            None => context.devices.clone(),
            // > CL_INVALID_DEVICE if a device identified by the property
            // > CL_MEM_DEVICE_HANDLE_LIST_KHR is not a valid device or is not associated with
            // > context.
            Some(raws) => {
                require(!raws.is_empty(), ClError::INVALID_PROPERTY)?;
                let devices = raws.iter().map(|&raw| context.device(raw));
                devices.collect::<CLResult<_>>()?
            }
        };
        Ok(Some(External { handle, devices }))
    }
}
