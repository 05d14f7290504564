//! Buffers and sub-buffers, and what all memory objects have in common. Pipes are in `pipe.rs`,
//! images in `image.rs`.

use std::sync::Arc;

use brolga_runtime::{
    Buffer as RuntimeBuffer, HostPtr, Image as RuntimeImage, MemObject, Pipe as RuntimePipe,
};
use opencl_sys::*;

use super::context::{Context, OfContext};
use super::device::Device;
use super::mem_properties::{External, Properties};
use crate::abi::callback::{self, MemNotify};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref, object};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InPtr, RawHandle, UserData};
use crate::abi::property_list::{MemProperties, PropertyList};

/// `cl_mem`
pub struct Mem {
    pub runtime: MemKind,
    pub context: Ref<Context>,
    /// The buffer that a sub-buffer is part of, and what an image is made from.
    pub parent: Option<Ref<Mem>>,
    /// The devices that imported memory is for; empty if it is not imported.
    pub imported_for: Vec<Ref<Device>>,
}

/// What a memory object is.
pub enum MemKind {
    Buffer(Arc<RuntimeBuffer>),
    Pipe(Arc<RuntimePipe>),
    Image(Arc<RuntimeImage>),
}

object!(Mem, ClError::INVALID_MEM_OBJECT);

impl OfContext for Mem {
    fn context(&self) -> &Context {
        &self.context
    }
}

impl Mem {
    /// What is common to all memory objects.
    pub fn memory(&self) -> &Arc<MemObject> {
        match &self.runtime {
            MemKind::Buffer(buffer) => buffer.memory(),
            MemKind::Pipe(pipe) => pipe.memory(),
            MemKind::Image(image) => image.memory(),
        }
    }

    /// The buffer that it is.
    pub fn buffer(&self) -> CLResult<&Arc<RuntimeBuffer>> {
        match &self.runtime {
            MemKind::Buffer(buffer) => Ok(buffer),
            // > CL_INVALID_MEM_OBJECT if buffer is not a valid buffer object.
            MemKind::Pipe(_) | MemKind::Image(_) => Err(ClError::INVALID_MEM_OBJECT),
        }
    }

    /// The image that it is.
    pub fn image(&self) -> CLResult<&Arc<RuntimeImage>> {
        match &self.runtime {
            MemKind::Image(image) => Ok(image),
            // > CL_INVALID_MEM_OBJECT if image is not a valid image object.
            MemKind::Buffer(_) | MemKind::Pipe(_) => Err(ClError::INVALID_MEM_OBJECT),
        }
    }

    /// The pipe that it is.
    pub fn pipe(&self) -> CLResult<&Arc<RuntimePipe>> {
        match &self.runtime {
            MemKind::Pipe(pipe) => Ok(pipe),
            // > CL_INVALID_MEM_OBJECT if pipe is not a valid pipe object.
            MemKind::Buffer(_) | MemKind::Image(_) => Err(ClError::INVALID_MEM_OBJECT),
        }
    }
}

/// `clCreateBuffer`
pub fn create_buffer(
    context: RawHandle,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: HostPtr,
) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    finish(context, flags, size, host_ptr, Vec::new(), None)
}

/// `clCreateBufferWithProperties`
pub fn create_buffer_with_properties(
    context: RawHandle,
    properties: PropertyList<MemProperties>,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: HostPtr,
) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    let properties = Properties::read(properties)?;
    let external = properties.external(&context)?;
    finish(
        context,
        flags,
        size,
        host_ptr,
        properties.as_given,
        external,
    )
}

/// `clCreateBufferWithPropertiesINTEL` of `cl_intel_create_buffer_with_properties`, which is the
/// same but for one error.
pub fn create_buffer_with_properties_intel(
    context: RawHandle,
    properties: PropertyList<MemProperties>,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: HostPtr,
) -> CLResult<RawHandle> {
    create_buffer_with_properties(context, properties, flags, size, host_ptr).map_err(|error| {
        match error {
            // > CL_INVALID_VALUE if a property name in properties is not a supported property name,
            // > if the value specified for a supported property name is not valid, or if the same
            // > property name is specified more than once.
            ClError::INVALID_PROPERTY => ClError::INVALID_VALUE,
            error => error,
        }
    })
}

/// Flags and sizes are checked by the runtime, in the order of the specification's list.
fn finish(
    context: Ref<Context>,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: HostPtr,
    properties: Vec<cl_mem_properties>,
    external: Option<External>,
) -> CLResult<RawHandle> {
    let (of, host) = (&context.runtime, host_ptr);
    let runtime = match &external {
        None => RuntimeBuffer::new(of, flags, size, host, properties),
        Some(external) => {
            RuntimeBuffer::imported(of, flags, size, host, properties, external.handle)
        }
    }?;
    Ok(Handle::new(Mem {
        imported_for: external.map_or(Vec::new(), |external| external.devices),
        runtime: MemKind::Buffer(runtime),
        context,
        parent: None,
    })
    .raw())
}

/// `clCreateSubBuffer`
pub fn create_sub_buffer(
    buffer: RawHandle,
    flags: cl_mem_flags,
    create_type: cl_buffer_create_type,
    create_info: InPtr<cl_buffer_region>,
) -> CLResult<RawHandle> {
    // > CL_INVALID_MEM_OBJECT if buffer is not a valid buffer object or is a sub-buffer object.
    let parent = Mem::usable(buffer)?;
    let runtime = parent.buffer()?;
    require(parent.parent.is_none(), ClError::INVALID_MEM_OBJECT)?;
    // > CL_INVALID_VALUE if the value specified in buffer_create_type is not valid.
    require(
        create_type == CL_BUFFER_CREATE_TYPE_REGION,
        ClError::INVALID_VALUE,
    )?;
    // > CL_INVALID_VALUE if value(s) specified in buffer_create_info (for a given
    // > buffer_create_type) is not valid or if buffer_create_info is NULL.
    let region = create_info.get().ok_or(ClError::INVALID_VALUE)?;
    let part = runtime.sub_buffer(flags, region.origin, region.size)?;
    Ok(Handle::new(Mem {
        imported_for: Vec::new(),
        runtime: MemKind::Buffer(part),
        context: parent.context.clone(),
        parent: Some(parent),
    })
    .raw())
}

/// `clGetMemObjectInfo`
pub fn get_info(mem: RawHandle, name: cl_mem_info, writer: InfoWriter) -> CLResult<()> {
    let mem = Mem::from_raw(mem)?;
    let memory = mem.memory();
    match name {
        CL_MEM_TYPE => writer.value(match &mem.runtime {
            MemKind::Buffer(_) => CL_MEM_OBJECT_BUFFER,
            MemKind::Pipe(_) => CL_MEM_OBJECT_PIPE,
            MemKind::Image(image) => image.image_type() as cl_mem_object_type,
        }),
        CL_MEM_FLAGS => writer.value(memory.flags()),
        CL_MEM_SIZE => writer.value(memory.size()),
        CL_MEM_HOST_PTR => writer.value(memory.host_ptr() as usize),
        CL_MEM_MAP_COUNT => writer.value(memory.map_count()),
        CL_MEM_REFERENCE_COUNT => writer.value(mem.reference_count()),
        CL_MEM_CONTEXT => writer.value(mem.context.raw()),
        CL_MEM_ASSOCIATED_MEMOBJECT => writer.value(
            mem.parent
                .as_ref()
                .map_or(RawHandle::NULL, |parent| parent.raw()),
        ),
        CL_MEM_OFFSET => writer.value(memory.offset()),
        CL_MEM_USES_SVM_POINTER => writer.boolean(memory.uses_svm_pointer()),
        CL_MEM_PROPERTIES => writer.array(memory.properties()),
        // > Returns a list of device addresses for the buffer, one for each device in the context.
        CL_MEM_DEVICE_ADDRESS_EXT => {
            let address = memory.device_address()?;
            writer.array(&vec![address; mem.context.devices.len()])
        }
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// `clSetMemObjectDestructorCallback`
pub fn set_destructor_callback(
    mem: RawHandle,
    notify: MemNotify,
    user_data: UserData,
) -> CLResult<()> {
    let mem = Mem::from_raw(mem)?;
    // > CL_INVALID_VALUE if pfn_notify is NULL.
    let notify = notify.ok_or(ClError::INVALID_VALUE)?;
    mem.memory()
        .on_destroy(Box::new(callback::on_handle(notify, mem.raw(), user_data)));
    Ok(())
}
