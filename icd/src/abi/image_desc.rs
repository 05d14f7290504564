//! `cl_image_desc`, whose last member is a union in C.

use std::mem::offset_of;

use opencl_sys::{cl_image_desc, cl_mem_object_type, cl_uint};

use super::pointers::{FromC, InPtr, RawHandle};

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
    /// One of which nothing is known yet.
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
