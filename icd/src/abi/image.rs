//! Arguments about images: `cl_image_desc`, whose last member is a union in C, and lists whose
//! length an image decides.

use std::ffi::c_void;
use std::mem::offset_of;

use brolga_runtime::{Image, ImageOrigin};
use opencl_sys::{cl_image_desc, cl_mem_object_type, cl_uint};

use super::error::{CLResult, ClError};
use super::pointers::{FromC, FromCArray, InList, InPtr, RawHandle};

/// `cl_image_desc`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ImageDesc {
    pub image_type: cl_mem_object_type,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub array_size: usize,
    pub row_pitch: usize,
    pub slice_pitch: usize,
    pub num_mip_levels: cl_uint,
    pub num_samples: cl_uint,
    /// Also `buffer`, its name in OpenCL 1.2.
    pub mem_object: RawHandle,
}

const _: () = assert!(size_of::<ImageDesc>() == size_of::<cl_image_desc>());
const _: () = assert!(offset_of!(ImageDesc, num_samples) == offset_of!(cl_image_desc, num_samples));

impl FromC<*const cl_image_desc> for InPtr<ImageDesc> {
    unsafe fn from_c(raw: *const cl_image_desc) -> Self {
        // SAFETY: the caller's; both have the same members, and the union is of handles.
        unsafe { InPtr::from_c(raw.cast::<ImageDesc>()) }
    }
}

impl ImageDesc {
    /// A description that has the type alone.
    pub fn new(image_type: cl_mem_object_type) -> ImageDesc {
        ImageDesc {
            image_type,
            width: 0,
            height: 0,
            depth: 0,
            array_size: 0,
            row_pitch: 0,
            slice_pitch: 0,
            num_mip_levels: 0,
            num_samples: 0,
            mem_object: RawHandle::NULL,
        }
    }
}

/// The origin of a region of an image: null, or three sizes, or four.
#[derive(Clone, Copy)]
pub struct OriginPtr(*const usize);

impl FromC<*const usize> for OriginPtr {
    unsafe fn from_c(raw: *const usize) -> Self {
        OriginPtr(raw)
    }
}

impl OriginPtr {
    /// Where a region of `image` begins. Errors: `CL_INVALID_VALUE` for null.
    ///
    /// > If image is a 2D image array or a 3D image, origin\[3\] specifies the mip level to use
    /// > ("Specifying Mipmap Levels to Image Operations").
    pub fn of(self, image: &Image) -> CLResult<ImageOrigin> {
        let count = match image.level_coordinate() {
            Some(3) => 4,
            _ => 3,
        };
        // SAFETY: so many are there by the promise of `from_c`.
        let values: InList<usize> = unsafe { InList::from_c_array(self.0, count) };
        let values = values.get()?.ok_or(ClError::INVALID_VALUE)?;
        let mut origin = ImageOrigin::default();
        origin[..values.len()].copy_from_slice(&values);
        Ok(origin)
    }
}

/// The color of a fill: null, or as many components as the image has for it.
#[derive(Clone, Copy)]
pub struct ColorPtr(*const u32);

impl FromC<*const c_void> for ColorPtr {
    unsafe fn from_c(raw: *const c_void) -> Self {
        ColorPtr(raw.cast())
    }
}

impl ColorPtr {
    /// The color that `image` is filled with. Errors: `CL_INVALID_VALUE` for null.
    pub fn of(self, image: &Image) -> CLResult<[u32; 4]> {
        // SAFETY: so many are there by the promise of `from_c`.
        let values: InList<u32> = unsafe { InList::from_c_array(self.0, image.fill_components()) };
        let values = values.get()?.ok_or(ClError::INVALID_VALUE)?;
        let mut color = [0; 4];
        color[..values.len()].copy_from_slice(&values);
        Ok(color)
    }
}
