//! Images of two and three dimensions, and samplers.

use std::marker::PhantomData;
use std::ptr;

use opencl_sys::*;

use super::{Cl, Result, Session};

/// An image of texels that are each as large as a `T`.
pub struct Image<T> {
    cl: &'static Cl,
    pub(super) id: cl_mem,
    /// Width, height and depth.
    size: [usize; 3],
    _texels: PhantomData<T>,
}

impl<T> Image<T> {
    fn texels(&self) -> usize {
        self.size.iter().product()
    }
}

pub struct Sampler {
    cl: &'static Cl,
    pub(super) id: cl_sampler,
}

impl Session {
    /// An image with undefined contents; of three dimensions if it is deeper than 1.
    pub fn image<T: Copy>(
        &self,
        (order, data_type): (cl_channel_order, cl_channel_type),
        size: [usize; 3],
    ) -> Result<Image<T>> {
        let format = cl_image_format {
            image_channel_order: order,
            image_channel_data_type: data_type,
        };
        // SAFETY: all-zero bytes are a valid `cl_image_desc`.
        let mut desc: cl_image_desc = unsafe { std::mem::zeroed() };
        desc.image_type = CL_MEM_OBJECT_IMAGE2D;
        desc.image_width = size[0];
        desc.image_height = size[1];
        if size[2] > 1 {
            desc.image_type = CL_MEM_OBJECT_IMAGE3D;
            desc.image_depth = size[2];
        }
        let flags = CL_MEM_READ_WRITE;
        let id = create!(
            self.cl,
            clCreateImage(self.context, flags, &format, &desc, ptr::null_mut())
        )?;
        Ok(Image {
            cl: self.cl,
            id,
            size,
            _texels: PhantomData,
        })
    }

    /// An image with the given texels.
    pub fn image_from<T: Copy>(
        &self,
        format: (cl_channel_order, cl_channel_type),
        size: [usize; 3],
        texels: &[T],
    ) -> Result<Image<T>> {
        let image = self.image(format, size)?;
        self.write_image(&image, texels)?;
        Ok(image)
    }

    pub fn sampler(
        &self,
        normalized: bool,
        addressing: cl_addressing_mode,
        filter: cl_filter_mode,
    ) -> Result<Sampler> {
        let id = create!(
            self.cl,
            clCreateSampler(self.context, cl_bool::from(normalized), addressing, filter)
        )?;
        Ok(Sampler { cl: self.cl, id })
    }

    /// Writes all of an image and waits.
    pub fn write_image<T: Copy>(&self, image: &Image<T>, texels: &[T]) -> Result<()> {
        assert_eq!(texels.len(), image.texels());
        call!(
            self.cl,
            clEnqueueWriteImage(
                self.queue,
                image.id,
                CL_TRUE,
                [0; 3].as_ptr(),
                image.size.as_ptr(),
                0,
                0,
                texels.as_ptr().cast(),
                0,
                ptr::null(),
                ptr::null_mut()
            )
        )
    }

    /// Reads all of an image and waits.
    pub fn read_image_into<T: Copy>(&self, image: &Image<T>, texels: &mut [T]) -> Result<()> {
        assert_eq!(texels.len(), image.texels());
        call!(
            self.cl,
            clEnqueueReadImage(
                self.queue,
                image.id,
                CL_TRUE,
                [0; 3].as_ptr(),
                image.size.as_ptr(),
                0,
                0,
                texels.as_mut_ptr().cast(),
                0,
                ptr::null(),
                ptr::null_mut()
            )
        )
    }

    pub fn read_image<T: Copy + Default>(&self, image: &Image<T>) -> Result<Vec<T>> {
        let mut texels = vec![T::default(); image.texels()];
        self.read_image_into(image, &mut texels)?;
        Ok(texels)
    }

    /// Copies all of an image to another of the same size and format, and waits.
    pub fn copy_image<T>(&self, from: &Image<T>, to: &Image<T>) -> Result<()> {
        assert_eq!(from.size, to.size);
        call!(
            self.cl,
            clEnqueueCopyImage(
                self.queue,
                from.id,
                to.id,
                [0; 3].as_ptr(),
                [0; 3].as_ptr(),
                from.size.as_ptr(),
                0,
                ptr::null(),
                ptr::null_mut()
            )
        )?;
        self.finish()
    }

    /// Fills all of an image of normalized or floating-point channels with a colour, and waits.
    pub fn fill_image<T>(&self, image: &Image<T>, colour: [f32; 4]) -> Result<()> {
        call!(
            self.cl,
            clEnqueueFillImage(
                self.queue,
                image.id,
                colour.as_ptr().cast(),
                [0; 3].as_ptr(),
                image.size.as_ptr(),
                0,
                ptr::null(),
                ptr::null_mut()
            )
        )?;
        self.finish()
    }
}

impl<T> Drop for Image<T> {
    fn drop(&mut self) {
        let release = || -> Result<()> { call!(self.cl, clReleaseMemObject(self.id)) };
        let _ = release();
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        let release = || -> Result<()> { call!(self.cl, clReleaseSampler(self.id)) };
        let _ = release();
    }
}
