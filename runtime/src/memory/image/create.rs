//! Making images: "Creating Image Objects". The sentences quoted are those of its sections "Image
//! Format Descriptor" and "Image Descriptor".

use std::sync::Arc;

use brolga_compiler::image::{ChannelOrder, DataType, Extent, Format};
use opencl_sys::*;

use super::{Image, ImageType, Layout, formats};
use crate::base::limits::ImageLimits;
use crate::context::Context;
use crate::memory::buffer::Buffer;
use crate::memory::external::ExternalHandle;
use crate::memory::flags::{self, check_host_ptr};
use crate::memory::host::HostPtr;
use crate::memory::object::MemObject;
use brolga_engine::error::{CLResult, ClError};

/// `cl_image_desc`, without its memory object. Sizes are texels, pitches bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageDesc {
    /// `cl_mem_object_type`
    pub image_type: u32,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub array_size: usize,
    pub row_pitch: usize,
    pub slice_pitch: usize,
    pub num_mip_levels: u32,
    pub num_samples: u32,
}

/// Where an image's texels are.
#[derive(Clone, Debug)]
pub enum ImageSource {
    /// In memory of its own, or of the host pointer.
    New,
    External(ExternalHandle),
    Buffer(Arc<Buffer>),
    Image(Arc<Image>),
}

impl ImageSource {
    /// The memory object that the image is made from.
    fn memory(&self) -> Option<&Arc<MemObject>> {
        match self {
            ImageSource::Buffer(buffer) => Some(buffer.memory()),
            ImageSource::Image(image) => Some(image.memory()),
            ImageSource::New | ImageSource::External(_) => None,
        }
    }

    fn external(&self) -> Option<ExternalHandle> {
        match self {
            ImageSource::External(handle) => Some(*handle),
            _ => None,
        }
    }
}

/// The format with these numbers of the API.
///
/// Errors: `CL_INVALID_IMAGE_FORMAT_DESCRIPTOR`, `CL_IMAGE_FORMAT_NOT_SUPPORTED`.
fn format_of(order: u32, data_type: u32) -> CLResult<Format> {
    // CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if values specified in image_format are not valid.
    let orders = CL_R..=CL_ABGR;
    let types = CL_SNORM_INT8..=CL_UNORM_INT14X2_EXT;
    if !orders.contains(&order) || !types.contains(&data_type) {
        return Err(ClError::INVALID_IMAGE_FORMAT_DESCRIPTOR);
    }
    // CL_IMAGE_FORMAT_NOT_SUPPORTED if there are no devices in context that support image_format:
    // of formats for depth and stencil at once and for Bayer patterns.
    let numbers = ChannelOrder::from_number(order).zip(DataType::from_number(data_type));
    let (order, data_type) = numbers.ok_or(ClError::IMAGE_FORMAT_NOT_SUPPORTED)?;
    Format::new(order, data_type).ok_or(ClError::INVALID_IMAGE_FORMAT_DESCRIPTOR)
}

/// `CL_UNORM_INT14X2_EXT`, the last data type in the registry of the specification.
const CL_UNORM_INT14X2_EXT: cl_channel_type = 0x10ea;

impl Image {
    /// `clCreateImage`, `clCreateImageWithProperties`. `format` is the channel order and the data
    /// type; `host` is null when the application gave none, and valid for the image's size as for
    /// [`Buffer::new`]; `properties` are as given, with the final 0, or empty.
    ///
    /// Errors: `CL_INVALID_VALUE` (flags), `CL_INVALID_IMAGE_FORMAT_DESCRIPTOR`,
    /// `CL_INVALID_IMAGE_DESCRIPTOR`, `CL_INVALID_IMAGE_SIZE`, `CL_INVALID_HOST_PTR`,
    /// `CL_IMAGE_FORMAT_NOT_SUPPORTED`, `CL_MEM_OBJECT_ALLOCATION_FAILURE`; `CL_INVALID_PROPERTY`
    /// if external memory cannot be used.
    pub fn new(
        context: &Arc<Context>,
        flags: u64,
        format: (u32, u32),
        desc: &ImageDesc,
        host: HostPtr,
        source: ImageSource,
        properties: Vec<u64>,
    ) -> CLResult<Arc<Image>> {
        let is_external = source.external().is_some();
        let inherited = match source.memory() {
            None => {
                flags::check(flags, is_external)?;
                flags
            }
            // CL_INVALID_VALUE if CL_MEM_IMMUTABLE_EXT is not set in flags and mem_object was
            // created with CL_MEM_IMMUTABLE_EXT.
            Some(memory) if memory.flags() & CL_MEM_IMMUTABLE_EXT & !flags != 0 => {
                return Err(ClError::INVALID_VALUE);
            }
            Some(memory) => flags::inherited(memory.flags(), flags)?,
        };
        let format = format_of(format.0, format.1)?;
        let image_type = check_type(desc, &source)?;
        let extent = extent(image_type, desc, &context.device().image_limits)?;
        check_levels(image_type, desc, extent, flags, &source)?;
        check_host_ptr(flags, host)?;
        // CL_IMAGE_FORMAT_NOT_SUPPORTED if there are no devices in context that support
        // image_format: what pitches and addresses it would want is no question then.
        let check_support = || match formats::is_supported(format, image_type) {
            true => Ok(()),
            false => Err(ClError::IMAGE_FORMAT_NOT_SUPPORTED),
        };
        if !matches!(source, ImageSource::Image(_)) {
            check_support()?;
        }
        let layout = match &source {
            ImageSource::Image(of) => {
                // The formats that an image may be seen in are fewer.
                check_view(format, desc, extent, of)?;
                check_support()?;
                Layout {
                    format,
                    ..of.layout
                }
            }
            ImageSource::New if host.is_null() => {
                // image_row_pitch and image_slice_pitch must be zero if host_ptr is NULL.
                if desc.row_pitch != 0 || desc.slice_pitch != 0 {
                    return Err(ClError::INVALID_IMAGE_DESCRIPTOR);
                }
                layout(image_type, format, desc, extent)?
            }
            ImageSource::New | ImageSource::External(_) => {
                layout(image_type, format, desc, extent)?
            }
            // CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if an image is created from a buffer and the row
            // pitch, or slice pitch, or base address alignment do not follow the rules described
            // for creating an image from a buffer.
            ImageSource::Buffer(buffer) => layout(image_type, format, desc, extent)
                .ok()
                .filter(|layout| {
                    (buffer.memory().as_ptr() as usize).is_multiple_of(layout.element_size())
                })
                .ok_or(ClError::INVALID_IMAGE_FORMAT_DESCRIPTOR)?,
        };
        let size = layout.size().unwrap_or(usize::MAX);
        let memory = match source.memory() {
            // CL_INVALID_IMAGE_SIZE if the buffer passed in mem_object is too small to be used as a
            // data store for the image.
            Some(memory) if size > memory.size() => return Err(ClError::INVALID_IMAGE_SIZE),
            Some(memory) => memory.part(inherited, 0, size, properties),
            // CL_MEM_OBJECT_ALLOCATION_FAILURE if there is a failure to allocate memory for image
            // object.
            None if size as u64 > context.device().max_mem_alloc_size => {
                return Err(ClError::MEM_OBJECT_ALLOCATION_FAILURE);
            }
            None => MemObject::create(context, flags, size, host, properties, source.external())
                .map_err(of_image)?,
        };
        Ok(Arc::new(Image {
            descriptors: layout.descriptors(memory.as_ptr() as u64),
            memory,
            layout,
        }))
    }
}

/// The error of an image for that of a buffer: memory that is given may be too small.
fn of_image(error: ClError) -> ClError {
    match error {
        ClError::INVALID_BUFFER_SIZE => ClError::INVALID_IMAGE_SIZE,
        error => error,
    }
}

/// Checks that an image of this type may be made of what it is made of.
///
/// Errors: `CL_INVALID_IMAGE_DESCRIPTOR`.
fn check_type(desc: &ImageDesc, source: &ImageSource) -> CLResult<ImageType> {
    // image_type describes the image type and must be one of those.
    let image_type =
        ImageType::from_number(desc.image_type).ok_or(ClError::INVALID_IMAGE_DESCRIPTOR)?;
    // mem_object can be a buffer memory object if image_type is CL_MEM_OBJECT_IMAGE1D_BUFFER, or
    // any other image_type if the cl_ext_image_from_buffer extension is supported; an image object
    // if image_type is CL_MEM_OBJECT_IMAGE2D. Otherwise it must be NULL.
    let suits = match source {
        ImageSource::Buffer(_) => true,
        ImageSource::Image(of) => {
            image_type == ImageType::Dim2 && of.image_type() == ImageType::Dim2
        }
        ImageSource::New | ImageSource::External(_) => image_type != ImageType::Dim1Buffer,
    };
    match suits {
        true => Ok(image_type),
        false => Err(ClError::INVALID_IMAGE_DESCRIPTOR),
    }
}

/// The sizes that matter for a type of images; the others are 1.
///
/// Errors: `CL_INVALID_IMAGE_SIZE`.
fn extent(image_type: ImageType, desc: &ImageDesc, limits: &ImageLimits) -> CLResult<Extent> {
    let [width, height, depth, layers] = limits.of(image_type);
    let check = |size: usize, most: Option<u32>| match most {
        None => Ok(1),
        // CL_INVALID_IMAGE_SIZE if the image dimensions specified in image_desc are not valid or
        // exceed the maximum image dimensions.
        Some(most) => u32::try_from(size)
            .ok()
            .filter(|size| (1..=most).contains(size))
            .ok_or(ClError::INVALID_IMAGE_SIZE),
    };
    Ok(Extent {
        width: check(desc.width, width)?,
        height: check(desc.height, height)?,
        depth: check(desc.depth, depth)?,
        layers: check(desc.array_size, layers)?,
    })
}

/// Checks the number of levels and samples.
///
/// Errors: `CL_INVALID_IMAGE_DESCRIPTOR`, `CL_INVALID_HOST_PTR`.
fn check_levels(
    image_type: ImageType,
    desc: &ImageDesc,
    extent: Extent,
    flags: u64,
    source: &ImageSource,
) -> CLResult<()> {
    // num_samples must be 0.
    if desc.num_samples != 0 {
        return Err(ClError::INVALID_IMAGE_DESCRIPTOR);
    }
    if desc.num_mip_levels <= 1 {
        return Ok(());
    }
    // num_mip_levels may specify the total number of mipmap levels in the image, including the base
    // level, which is then the only one if it is 1. Mip-mapped images cannot be created for
    // CL_MEM_OBJECT_IMAGE1D_BUFFER images ("Mipmap Images"), and not of other memory objects, which
    // have no levels. Depth images, which that section excludes too, may have levels, since OpenCL
    // C has functions that read them, and the CTS makes such images. There are as many levels as
    // halving yields.
    let largest = extent.width.max(extent.height).max(extent.depth);
    let may_have = matches!(source, ImageSource::New)
        && image_type != ImageType::Dim1Buffer
        && desc.num_mip_levels <= largest.ilog2() + 1;
    if !may_have {
        return Err(ClError::INVALID_IMAGE_DESCRIPTOR);
    }
    // CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR cannot be specified if a mipmapped image is
    // created. The host_ptr argument to clCreateImage must be a NULL value.
    match flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) {
        0 => Ok(()),
        _ => Err(ClError::INVALID_HOST_PTR),
    }
}

/// Fills in pitches.
///
/// Errors: `CL_INVALID_IMAGE_DESCRIPTOR`.
fn layout(
    image_type: ImageType,
    format: Format,
    desc: &ImageDesc,
    extent: Extent,
) -> CLResult<Layout> {
    let wrong = ClError::INVALID_IMAGE_DESCRIPTOR;
    let element_size = format.texel_size();
    let row = extent.width as usize * element_size;
    // If image_row_pitch is non-zero, then it must be greater than or equal to the image_width
    // times the size of an image element in bytes, and must be a multiple of the size of an image
    // element in bytes.
    let row_pitch = match desc.row_pitch {
        0 => row,
        pitch if pitch < row || !pitch.is_multiple_of(element_size) => return Err(wrong),
        pitch => pitch,
    };
    // The image slice pitch must be >= the image row pitch x image_height for a 2D image array or a
    // 3D image, must be >= the image row pitch for a 1D image array, and must be a multiple of the
    // image row pitch.
    let slice = row_pitch.checked_mul(extent.height as usize).ok_or(wrong)?;
    let slice_pitch = match desc.slice_pitch {
        pitch if pitch == 0 || !image_type.has_slices() => slice,
        pitch if pitch < slice || !pitch.is_multiple_of(row_pitch) => return Err(wrong),
        pitch => pitch,
    };
    Ok(Layout {
        image_type,
        format,
        extent,
        row_pitch,
        slice_pitch,
        levels: desc.num_mip_levels,
    })
}

/// "Creating a 2D image object from another 2D image object creates a new 2D image object that
/// shares the image data store with mem_object but views the pixels in the image with a different
/// image channel order."
///
/// Errors: `CL_INVALID_IMAGE_DESCRIPTOR`, `CL_INVALID_IMAGE_FORMAT_DESCRIPTOR`.
fn check_view(format: Format, desc: &ImageDesc, extent: Extent, of: &Image) -> CLResult<()> {
    // All of the values specified in image_desc must match the image descriptor information
    // associated with mem_object. A pitch of 0 is what it is calculated to be.
    let matches = extent == of.layout.extent
        && [0, of.layout.row_pitch].contains(&desc.row_pitch)
        && desc.slice_pitch == 0
        && desc.num_mip_levels.max(1) as usize == of.descriptors.len();
    if !matches {
        return Err(ClError::INVALID_IMAGE_DESCRIPTOR);
    }
    // The image channel data type specified in image_format must match the image channel data type
    // associated with mem_object; the order must be compatible with that of mem_object.
    match format.data_type == of.format().data_type
        && formats::is_compatible(format.order, of.format().order)
    {
        true => Ok(()),
        false => Err(ClError::INVALID_IMAGE_FORMAT_DESCRIPTOR),
    }
}

/// What images made with some parameters want: `clGetImageRequirementsInfoEXT`. Alignments and
/// sizes are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirements {
    pub base_address_alignment: usize,
    pub row_pitch_alignment: usize,
    pub slice_pitch_alignment: usize,
    /// Of a buffer, if both the format and the shape are known and are of an image that there may
    /// be.
    pub size: Option<usize>,
    /// Whether the shape, if it is known, is one that an image may have.
    pub is_possible: bool,
    /// Width, height, depth, and layers: the greatest that are always allowed, none where the type
    /// of image has no such size.
    pub most: [Option<u32>; 4],
}

/// The largest element, bytes.
const MAX_ELEMENT_SIZE: usize = 16;

/// `clGetImageRequirementsInfoEXT`. What is not given may be anything; so may sizes that are 0.
///
/// Errors: `CL_INVALID_VALUE` (flags), `CL_INVALID_IMAGE_FORMAT_DESCRIPTOR`,
/// `CL_INVALID_IMAGE_DESCRIPTOR`, `CL_IMAGE_FORMAT_NOT_SUPPORTED`.
pub fn requirements(
    context: &Context,
    flags: u64,
    format: Option<(u32, u32)>,
    desc: Option<&ImageDesc>,
) -> CLResult<Requirements> {
    // CL_INVALID_VALUE if values specified in flags are not valid.
    formats::check_query_flags(flags)?;
    let format = format.map(|(order, data_type)| format_of(order, data_type));
    let format = format.transpose()?;
    let limits = &context.device().image_limits;
    let image_type = match desc {
        None | Some(ImageDesc { image_type: 0, .. }) => None,
        // CL_INVALID_IMAGE_DESCRIPTOR if values specified in image_desc are not valid.
        Some(desc) => {
            let known = ImageType::from_number(desc.image_type);
            Some(known.ok_or(ClError::INVALID_IMAGE_DESCRIPTOR)?)
        }
    };
    let most = match image_type {
        Some(image_type) => limits.of(image_type),
        None => limits.of_any(),
    };
    let element = format.map_or(MAX_ELEMENT_SIZE, Format::texel_size);
    let shape = desc.zip(image_type).and_then(|(desc, image_type)| {
        let extent = extent(image_type, desc, limits).ok()?;
        Some((image_type, desc, extent))
    });
    let size = shape.zip(format).and_then(|(shape, format)| {
        let (image_type, desc, extent) = shape;
        layout(image_type, format, desc, extent).ok()?.size()
    });
    Ok(Requirements {
        base_address_alignment: element,
        row_pitch_alignment: element,
        slice_pitch_alignment: element,
        size,
        is_possible: desc.is_none() || shape.is_some(),
        most,
    })
}
