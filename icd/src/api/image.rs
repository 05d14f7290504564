//! Images, which the device does not have (`CL_DEVICE_IMAGE_SUPPORT` is false).
//!
//! None can be made, so a memory object is never an image, and each entry point ends in the error
//! for that.

use std::ffi::c_void;

use opencl_sys::*;

use super::context::{Context, OfContext};
use super::memory::Mem;
use super::queue::Queue;
use super::wait::Events;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::Object;
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InPtr, OutPtr, RawHandle};

/// Every access and host pointer flag.
const MEM_FLAGS: cl_mem_flags = CL_MEM_READ_WRITE
    | CL_MEM_WRITE_ONLY
    | CL_MEM_READ_ONLY
    | CL_MEM_USE_HOST_PTR
    | CL_MEM_ALLOC_HOST_PTR
    | CL_MEM_COPY_HOST_PTR
    | CL_MEM_HOST_WRITE_ONLY
    | CL_MEM_HOST_READ_ONLY
    | CL_MEM_HOST_NO_ACCESS
    | CL_MEM_KERNEL_READ_AND_WRITE
    | CL_MEM_IMMUTABLE_EXT;

fn check_creation(
    context: RawHandle,
    flags: cl_mem_flags,
    format: InPtr<cl_image_format>,
) -> CLResult<()> {
    Context::usable(context)?;
    // > CL_INVALID_VALUE if values specified in flags are not valid.
    require(flags & !MEM_FLAGS == 0, ClError::INVALID_VALUE)?;
    // > CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if values specified in image_format are not valid or if
    // > image_format is NULL.
    require(!format.is_null(), ClError::INVALID_IMAGE_FORMAT_DESCRIPTOR)
}

/// `clCreateImage`
pub fn create(
    context: RawHandle,
    flags: cl_mem_flags,
    format: InPtr<cl_image_format>,
    descriptor: InPtr<cl_image_desc>,
    host_ptr: OutPtr<c_void>,
) -> CLResult<RawHandle> {
    create_with_properties(context, InPtr::null(), flags, format, descriptor, host_ptr)
}

/// `clCreateImageWithProperties`
pub fn create_with_properties(
    context: RawHandle,
    properties: InPtr<cl_mem_properties>,
    flags: cl_mem_flags,
    format: InPtr<cl_image_format>,
    descriptor: InPtr<cl_image_desc>,
    host_ptr: OutPtr<c_void>,
) -> CLResult<RawHandle> {
    let _ = (properties, host_ptr);
    check_creation(context, flags, format)?;
    // > CL_INVALID_IMAGE_DESCRIPTOR if values specified in image_desc are not valid or if >
    // image_desc is NULL.
    require(!descriptor.is_null(), ClError::INVALID_IMAGE_DESCRIPTOR)?;
    // > CL_INVALID_OPERATION if there are no devices in context that support images.
    Err(ClError::INVALID_OPERATION)
}

/// `clCreateImage2D`
pub fn create_2d(
    context: RawHandle,
    flags: cl_mem_flags,
    format: InPtr<cl_image_format>,
    width: usize,
    height: usize,
    row_pitch: usize,
    host_ptr: OutPtr<c_void>,
) -> CLResult<RawHandle> {
    let _ = (row_pitch, host_ptr);
    check_creation(context, flags, format)?;
    // > CL_INVALID_IMAGE_SIZE if image_width or image_height are 0.
    require(width != 0 && height != 0, ClError::INVALID_IMAGE_SIZE)?;
    Err(ClError::INVALID_OPERATION)
}

/// `clCreateImage3D`
pub fn create_3d(
    context: RawHandle,
    flags: cl_mem_flags,
    format: InPtr<cl_image_format>,
    width: usize,
    height: usize,
    depth: usize,
    row_pitch: usize,
    slice_pitch: usize,
    host_ptr: OutPtr<c_void>,
) -> CLResult<RawHandle> {
    let _ = (row_pitch, slice_pitch, host_ptr);
    check_creation(context, flags, format)?;
    // > CL_INVALID_IMAGE_SIZE if image_width, image_height are 0 or if image_depth <= 1.
    require(
        width != 0 && height != 0 && depth > 1,
        ClError::INVALID_IMAGE_SIZE,
    )?;
    Err(ClError::INVALID_OPERATION)
}

/// `clGetSupportedImageFormats`: there are none.
pub fn get_supported_formats(
    context: RawHandle,
    flags: cl_mem_flags,
    image_type: cl_mem_object_type,
    num_entries: cl_uint,
    formats: OutPtr<cl_image_format>,
    num_formats: OutPtr<cl_uint>,
) -> CLResult<()> {
    Context::from_raw(context)?;
    // > CL_INVALID_VALUE if flags is not valid, if image_type is not valid, or if num_entries is >
    // zero and image_formats is not NULL.
    require(flags & !MEM_FLAGS == 0, ClError::INVALID_VALUE)?;
    require(
        (CL_MEM_OBJECT_IMAGE2D..=CL_MEM_OBJECT_IMAGE1D_BUFFER).contains(&image_type),
        ClError::INVALID_VALUE,
    )?;
    require(
        num_entries != 0 || formats.is_null(),
        ClError::INVALID_VALUE,
    )?;
    num_formats.set(0);
    Ok(())
}

/// `clGetImageInfo`
pub fn get_info(image: RawHandle, name: cl_image_info, writer: InfoWriter) -> CLResult<()> {
    let _ = (name, writer);
    not_an_image(image)
}

/// > CL_INVALID_MEM_OBJECT if image is not a valid image object.
fn not_an_image(image: RawHandle) -> CLResult<()> {
    Mem::from_raw(image)?;
    Err(ClError::INVALID_MEM_OBJECT)
}

/// The checks of every command on an image.
fn reject(queue: RawHandle, image: RawHandle) -> CLResult<()> {
    Queue::usable(queue)?;
    not_an_image(image)
}

/// `clEnqueueReadImage`
pub fn read(
    queue: RawHandle,
    image: RawHandle,
    _blocking: cl_bool,
    _origin: InPtr<usize>,
    _region: InPtr<usize>,
    _row_pitch: usize,
    _slice_pitch: usize,
    _to: OutPtr<c_void>,
    _events: Events,
) -> CLResult<()> {
    reject(queue, image)
}

/// `clEnqueueWriteImage`
pub fn write(
    queue: RawHandle,
    image: RawHandle,
    _blocking: cl_bool,
    _origin: InPtr<usize>,
    _region: InPtr<usize>,
    _row_pitch: usize,
    _slice_pitch: usize,
    _from: InPtr<c_void>,
    _events: Events,
) -> CLResult<()> {
    reject(queue, image)
}

/// `clEnqueueCopyImage`
pub fn copy(
    queue: RawHandle,
    source: RawHandle,
    _destination: RawHandle,
    _source_origin: InPtr<usize>,
    _destination_origin: InPtr<usize>,
    _region: InPtr<usize>,
    _events: Events,
) -> CLResult<()> {
    reject(queue, source)
}

/// `clEnqueueCopyImageToBuffer`
pub fn copy_to_buffer(
    queue: RawHandle,
    source: RawHandle,
    _destination: RawHandle,
    _origin: InPtr<usize>,
    _region: InPtr<usize>,
    _offset: usize,
    _events: Events,
) -> CLResult<()> {
    reject(queue, source)
}

/// `clEnqueueCopyBufferToImage`
pub fn copy_from_buffer(
    queue: RawHandle,
    source: RawHandle,
    destination: RawHandle,
    _offset: usize,
    _origin: InPtr<usize>,
    _region: InPtr<usize>,
    _events: Events,
) -> CLResult<()> {
    let queue_object = Queue::usable(queue)?;
    Mem::for_queue(source, &queue_object)?;
    reject(queue, destination)
}

/// `clEnqueueMapImage`
pub fn map(
    queue: RawHandle,
    image: RawHandle,
    _blocking: cl_bool,
    _flags: cl_map_flags,
    _origin: InPtr<usize>,
    _region: InPtr<usize>,
    _row_pitch: OutPtr<usize>,
    _slice_pitch: OutPtr<usize>,
    _num_events: cl_uint,
    _event_list: InPtr<RawHandle>,
    _event: OutPtr<RawHandle>,
) -> CLResult<*mut c_void> {
    reject(queue, image)?;
    Err(ClError::INVALID_OPERATION)
}

/// `clEnqueueFillImage`
pub fn fill(
    queue: RawHandle,
    image: RawHandle,
    _colour: InPtr<c_void>,
    _origin: InPtr<usize>,
    _region: InPtr<usize>,
    _events: Events,
) -> CLResult<()> {
    reject(queue, image)
}
