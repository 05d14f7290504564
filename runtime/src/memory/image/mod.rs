//! Images: a memory object with the shape and the format of what is in it.
//!
//! ```text
//! flags, a format, a shape, perhaps memory -> create.rs   what may be made, and of which memory
//!                                          -> layout.rs   where texels are: sizes, pitches, levels
//!                     what a command is of -> region.rs   origins and regions to bytes
//! ```
//!
//! `formats.rs` says which formats there are for what; what the bytes of a texel mean is the
//! compiler's business (`brolga_compiler::image`), and there alone.
//!
//! An image is a [`MemObject`] of its texels, a [`Layout`], and the [`Descriptor`] that kernels get
//! the address of. Levels of a mipmapped image lie one after the other.

mod create;
pub mod formats;
mod layout;
mod region;

use std::fmt;
use std::sync::Arc;

use brolga_compiler::ImageArg;
use brolga_compiler::image::{ChannelOrder, Descriptor, Format, ImageDim};
use opencl_sys::*;

use crate::base::limits::ImageLimits;
use crate::context::Context;
use crate::memory::object::MemObject;

pub use create::{ImageDesc, ImageSource, Requirements, requirements};
pub use layout::Layout;

/// `cl_mem_object_type`, of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum ImageType {
    Dim1 = CL_MEM_OBJECT_IMAGE1D,
    Dim1Buffer = CL_MEM_OBJECT_IMAGE1D_BUFFER,
    Dim1Array = CL_MEM_OBJECT_IMAGE1D_ARRAY,
    Dim2 = CL_MEM_OBJECT_IMAGE2D,
    Dim2Array = CL_MEM_OBJECT_IMAGE2D_ARRAY,
    Dim3 = CL_MEM_OBJECT_IMAGE3D,
}

impl ImageLimits {
    /// Width, height, depth and layers, as far as a type of images has them.
    pub fn of(&self, image_type: ImageType) -> [Option<u32>; 4] {
        let (width, height) = (Some(self.width_2d), Some(self.height_2d));
        match image_type {
            ImageType::Dim1 => [width, None, None, None],
            ImageType::Dim1Buffer => [Some(self.buffer), None, None, None],
            ImageType::Dim1Array => [width, None, None, Some(self.array)],
            ImageType::Dim2 => [width, height, None, None],
            ImageType::Dim2Array => [width, height, None, Some(self.array)],
            ImageType::Dim3 => [
                Some(self.width_3d),
                Some(self.height_3d),
                Some(self.depth_3d),
                None,
            ],
        }
    }

    /// What all types have that have such a size.
    pub fn of_any(&self) -> [Option<u32>; 4] {
        let all = ImageType::ALL.map(|image_type| self.of(image_type));
        std::array::from_fn(|n| all.iter().filter_map(|limits| limits[n]).min())
    }
}

impl ImageType {
    pub const ALL: [ImageType; 6] = [
        ImageType::Dim1,
        ImageType::Dim1Buffer,
        ImageType::Dim1Array,
        ImageType::Dim2,
        ImageType::Dim2Array,
        ImageType::Dim3,
    ];

    /// The type with the API's number.
    pub fn from_number(number: u32) -> Option<ImageType> {
        ImageType::ALL.into_iter().find(|&it| it as u32 == number)
    }

    /// The dimensions that a kernel sees.
    pub fn dim(self) -> ImageDim {
        match self {
            ImageType::Dim1 | ImageType::Dim1Buffer => ImageDim::Dim1,
            ImageType::Dim1Array => ImageDim::Dim1Array,
            ImageType::Dim2 => ImageDim::Dim2,
            ImageType::Dim2Array => ImageDim::Dim2Array,
            ImageType::Dim3 => ImageDim::Dim3,
        }
    }

    /// Whether there is a slice pitch: between planes, or between the images of an array.
    pub fn has_slices(self) -> bool {
        self == ImageType::Dim3 || self.dim().is_array()
    }
}

/// An image of any type.
pub struct Image {
    memory: Arc<MemObject>,
    layout: Layout,
    /// Of each level.
    descriptors: Box<[Descriptor]>,
}

impl Image {
    /// What is common to all memory objects.
    pub fn memory(&self) -> &Arc<MemObject> {
        &self.memory
    }

    pub fn context(&self) -> &Arc<Context> {
        self.memory.context()
    }

    /// `CL_MEM_TYPE`
    pub fn image_type(&self) -> ImageType {
        self.layout.image_type
    }

    /// `CL_IMAGE_FORMAT`
    pub fn format(&self) -> Format {
        self.layout.format
    }

    /// `CL_IMAGE_ELEMENT_SIZE`, bytes.
    pub fn element_size(&self) -> usize {
        self.layout.element_size()
    }

    /// `CL_IMAGE_WIDTH`, texels.
    pub fn width(&self) -> usize {
        self.layout.extent.width as usize
    }

    /// `CL_IMAGE_HEIGHT`, texels; 0 for images without one.
    pub fn height(&self) -> usize {
        match self.image_type().dim().dimensions() {
            1 => 0,
            _ => self.layout.extent.height as usize,
        }
    }

    /// `CL_IMAGE_DEPTH`, texels; 0 for images without one.
    pub fn depth(&self) -> usize {
        match self.image_type() {
            ImageType::Dim3 => self.layout.extent.depth as usize,
            _ => 0,
        }
    }

    /// `CL_IMAGE_ARRAY_SIZE`; 0 for images that are not an array.
    pub fn array_size(&self) -> usize {
        match self.image_type().dim().is_array() {
            true => self.layout.extent.layers as usize,
            false => 0,
        }
    }

    /// `CL_IMAGE_ROW_PITCH`, bytes.
    pub fn row_pitch(&self) -> usize {
        self.layout.row_pitch
    }

    /// `CL_IMAGE_SLICE_PITCH`, bytes; 0 for images without one.
    pub fn slice_pitch(&self) -> usize {
        match self.image_type().has_slices() {
            true => self.layout.slice_pitch,
            false => 0,
        }
    }

    /// Which arguments of kernels it may be.
    pub(crate) fn as_arg(&self) -> ImageArg {
        ImageArg {
            dim: self.image_type().dim(),
            is_buffer: self.image_type() == ImageType::Dim1Buffer,
            is_depth: self.format().order == ChannelOrder::Depth,
        }
    }

    /// The address of what kernels are told of the image, which is valid as long as it.
    pub(crate) fn descriptor_address(&self) -> u64 {
        self.descriptors.as_ptr() as u64
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("layout", &self.layout)
            .finish()
    }
}
