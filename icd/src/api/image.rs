//! Image objects: creation and queries. `image_transfer.rs` has the commands on them.

use std::sync::Arc;

use brolga_runtime::memory::image::{
    ImageDesc as RuntimeDesc, ImageSource, ImageType, formats, requirements,
};
use brolga_runtime::{HostPtr, Image as RuntimeImage};
use opencl_sys::*;

use super::context::{Context, OfContext};
use super::mem_properties::Properties;
use super::memory::{Mem, MemKind};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object, Ref};
use crate::abi::image::ImageDesc;
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InPtr, OutList, OutPtr, RawHandle};
use crate::abi::property_list::{MemProperties, PropertyList};

/// `clCreateImage`
pub fn create(
    context: RawHandle,
    flags: cl_mem_flags,
    format: InPtr<cl_image_format>,
    desc: InPtr<ImageDesc>,
    host_ptr: HostPtr,
) -> CLResult<RawHandle> {
    create_with_properties(context, PropertyList::null(), flags, format, desc, host_ptr)
}

/// `clCreateImageWithProperties`
pub fn create_with_properties(
    context: RawHandle,
    properties: PropertyList<MemProperties>,
    flags: cl_mem_flags,
    format: InPtr<cl_image_format>,
    desc: InPtr<ImageDesc>,
    host_ptr: HostPtr,
) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    // > CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if image_format is NULL.
    let format = format
        .get()
        .ok_or(ClError::INVALID_IMAGE_FORMAT_DESCRIPTOR)?;
    // > CL_INVALID_IMAGE_DESCRIPTOR if image_desc is NULL.
    let desc = desc.get().ok_or(ClError::INVALID_IMAGE_DESCRIPTOR)?;
    let properties = Properties::of_image(properties)?;
    finish(context, properties, flags, format, &desc, host_ptr)
}

/// Sizes, formats and flags are checked by the runtime.
fn finish(
    context: Ref<Context>,
    properties: Properties,
    flags: cl_mem_flags,
    format: cl_image_format,
    desc: &ImageDesc,
    host_ptr: HostPtr,
) -> CLResult<RawHandle> {
    let external = properties.external(&context)?;
    let parent = parent(&context, desc.mem_object)?;
    let source = match (&parent, &external) {
        (None, None) => ImageSource::New,
        (None, Some(external)) => ImageSource::External(external.handle),
        // External memory and a memory object exclude each other.
        (Some(_), Some(_)) => return Err(ClError::INVALID_IMAGE_DESCRIPTOR),
        (Some(parent), None) => match &parent.runtime {
            MemKind::Buffer(buffer) => ImageSource::Buffer(buffer.clone()),
            MemKind::Image(image) => ImageSource::Image(image.clone()),
            MemKind::Pipe(_) => return Err(ClError::INVALID_IMAGE_DESCRIPTOR),
        },
    };
    let runtime = RuntimeImage::new(
        &context.runtime,
        flags,
        (format.image_channel_order, format.image_channel_data_type),
        &described(desc),
        host_ptr,
        source,
        properties.as_given,
    )?;
    Ok(Handle::new(Mem {
        imported_for: external.map_or(Vec::new(), |external| external.devices),
        runtime: MemKind::Image(runtime),
        context,
        parent,
    })
    .raw())
}

/// The memory object that an image is to be made from, if any.
fn parent(context: &Ref<Context>, raw: RawHandle) -> CLResult<Option<Ref<Mem>>> {
    if raw.is_null() {
        return Ok(None);
    }
    // > mem_object may refer to a valid buffer or image memory object. Otherwise it must be NULL.
    let mem = Mem::from_raw(raw).map_err(|_| ClError::INVALID_IMAGE_DESCRIPTOR)?;
    require(
        Arc::ptr_eq(&mem.context, context),
        ClError::INVALID_IMAGE_DESCRIPTOR,
    )?;
    Ok(Some(mem))
}

fn described(desc: &ImageDesc) -> RuntimeDesc {
    RuntimeDesc {
        image_type: desc.image_type,
        width: desc.width,
        height: desc.height,
        depth: desc.depth,
        array_size: desc.array_size,
        row_pitch: desc.row_pitch,
        slice_pitch: desc.slice_pitch,
        num_mip_levels: desc.num_mip_levels,
        num_samples: desc.num_samples,
    }
}

/// What `clCreateImage2D` and `clCreateImage3D` have in common.
fn create_legacy(
    context: RawHandle,
    flags: cl_mem_flags,
    format: InPtr<cl_image_format>,
    desc: &ImageDesc,
    host_ptr: HostPtr,
) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    // > CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if image_format is NULL.
    let format = format
        .get()
        .ok_or(ClError::INVALID_IMAGE_FORMAT_DESCRIPTOR)?;
    let none = Properties::default();
    finish(context, none, flags, format, desc, host_ptr).map_err(|error| match error {
        // > CL_INVALID_IMAGE_SIZE if values specified by image_row_pitch and image_slice_pitch do
        // > not follow rules described in the argument description.
        ClError::INVALID_IMAGE_DESCRIPTOR => ClError::INVALID_IMAGE_SIZE,
        error => error,
    })
}

/// `clCreateImage2D`
pub fn create_2d(
    context: RawHandle,
    flags: cl_mem_flags,
    format: InPtr<cl_image_format>,
    width: usize,
    height: usize,
    row_pitch: usize,
    host_ptr: HostPtr,
) -> CLResult<RawHandle> {
    let desc = ImageDesc {
        width,
        height,
        row_pitch,
        ..ImageDesc::new(CL_MEM_OBJECT_IMAGE2D)
    };
    create_legacy(context, flags, format, &desc, host_ptr)
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
    host_ptr: HostPtr,
) -> CLResult<RawHandle> {
    // > CL_INVALID_IMAGE_SIZE if image_depth <= 1.
    require(depth > 1, ClError::INVALID_IMAGE_SIZE)?;
    let desc = ImageDesc {
        width,
        height,
        depth,
        row_pitch,
        slice_pitch,
        ..ImageDesc::new(CL_MEM_OBJECT_IMAGE3D)
    };
    create_legacy(context, flags, format, &desc, host_ptr)
}

/// `clGetSupportedImageFormats`
pub fn get_supported_formats(
    context: RawHandle,
    flags: cl_mem_flags,
    image_type: cl_mem_object_type,
    to: OutList<cl_image_format>,
    num_formats: OutPtr<cl_uint>,
) -> CLResult<()> {
    Context::from_raw(context)?;
    // > CL_INVALID_VALUE if flags is not valid.
    formats::check_query_flags(flags)?;
    // > if image_type is not valid
    let image_type = ImageType::from_number(image_type).ok_or(ClError::INVALID_VALUE)?;
    // > if num_entries is zero and image_formats is not NULL
    require(to.count() != 0 || to.is_null(), ClError::INVALID_VALUE)?;
    let all: Vec<cl_image_format> = formats::supported(image_type)
        .map(|format| cl_image_format {
            image_channel_order: format.order as cl_channel_order,
            image_channel_data_type: format.data_type as cl_channel_type,
        })
        .collect();
    to.set(&all);
    num_formats.set(all.len() as cl_uint);
    Ok(())
}

/// `clGetImageInfo`
pub fn get_info(image: RawHandle, name: cl_image_info, writer: InfoWriter) -> CLResult<()> {
    // > CL_INVALID_MEM_OBJECT if image is a not a valid image object.
    let mem = Mem::from_raw(image)?;
    let image = mem.image()?;
    match name {
        CL_IMAGE_FORMAT => writer.value(cl_image_format {
            image_channel_order: image.format().order as cl_channel_order,
            image_channel_data_type: image.format().data_type as cl_channel_type,
        }),
        CL_IMAGE_ELEMENT_SIZE => writer.value(image.element_size()),
        CL_IMAGE_ROW_PITCH => writer.value(image.row_pitch()),
        CL_IMAGE_SLICE_PITCH => writer.value(image.slice_pitch()),
        CL_IMAGE_WIDTH => writer.value(image.width()),
        CL_IMAGE_HEIGHT => writer.value(image.height()),
        CL_IMAGE_DEPTH => writer.value(image.depth()),
        CL_IMAGE_ARRAY_SIZE => writer.value(image.array_size()),
        CL_IMAGE_BUFFER => {
            let buffer = mem.parent.as_ref();
            let buffer = buffer.filter(|parent| parent.buffer().is_ok());
            writer.value(buffer.map_or(RawHandle::NULL, |buffer| buffer.raw()))
        }
        CL_IMAGE_NUM_MIP_LEVELS => writer.value(image.mip_levels()),
        CL_IMAGE_NUM_SAMPLES => writer.value(0 as cl_uint),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// `clGetImageRequirementsInfoEXT`
pub fn get_requirements(
    context: RawHandle,
    properties: PropertyList<MemProperties>,
    flags: cl_mem_flags,
    format: InPtr<cl_image_format>,
    desc: InPtr<ImageDesc>,
    name: cl_image_requirements_info_ext,
    writer: InfoWriter,
) -> CLResult<()> {
    let context = Context::from_raw(context)?;
    Properties::of_image(properties)?;
    let format = format.get();
    let format = format.map(|it| (it.image_channel_order, it.image_channel_data_type));
    let desc = desc.get().map(|desc| described(&desc));
    let found = requirements(&context.runtime, flags, format, desc.as_ref())?;
    // > If image_desc is not NULL, then image_type must be one that has the size that is asked for,
    // > otherwise CL_INVALID_IMAGE_DESCRIPTOR is returned.
    let most = |n: usize| {
        let most = found.most[n].ok_or(ClError::INVALID_IMAGE_DESCRIPTOR)?;
        writer.value(most as cl_uint)
    };
    // > CL_INVALID_IMAGE_DESCRIPTOR if values specified in image_desc are not valid.
    // A description without sizes is for the queries of the largest sizes only.
    let alignment = |value: usize| {
        require(found.is_possible, ClError::INVALID_IMAGE_DESCRIPTOR)?;
        writer.value(value)
    };
    match name {
        CL_IMAGE_REQUIREMENTS_BASE_ADDRESS_ALIGNMENT_EXT => alignment(found.base_address_alignment),
        CL_IMAGE_REQUIREMENTS_ROW_PITCH_ALIGNMENT_EXT => alignment(found.row_pitch_alignment),
        CL_IMAGE_REQUIREMENTS_SLICE_PITCH_ALIGNMENT_EXT => alignment(found.slice_pitch_alignment),
        CL_IMAGE_REQUIREMENTS_SIZE_EXT => {
            // > Both image_format and image_desc must be non-NULL, otherwise CL_INVALID_VALUE is
            // > returned.
            require(format.is_some() && desc.is_some(), ClError::INVALID_VALUE)?;
            // > CL_INVALID_IMAGE_DESCRIPTOR if values specified in image_desc are not valid.
            writer.value(found.size.ok_or(ClError::INVALID_IMAGE_DESCRIPTOR)?)
        }
        CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT => most(0),
        CL_IMAGE_REQUIREMENTS_MAX_HEIGHT_EXT => most(1),
        CL_IMAGE_REQUIREMENTS_MAX_DEPTH_EXT => most(2),
        CL_IMAGE_REQUIREMENTS_MAX_ARRAY_SIZE_EXT => most(3),
        // > CL_INVALID_VALUE if param_name is not valid.
        _ => Err(ClError::INVALID_VALUE),
    }
}
