//! Reading, writing, copying, filling and mapping images: as `buffers.rs` and `mapping.rs`, with
//! regions of texels.

use std::sync::Arc;

use brolga_compiler::image::{ChannelOrder, Component};
use opencl_sys::*;
use smallvec::SmallVec;

use super::buffers::{Direction, check_pointer};
use super::mapping::{check_map_access, check_map_flags};
use super::{Description, check_memory, retained};
use crate::base::device::Device;
use crate::command::{Captured, Command};
use crate::context::Context;
use crate::memory::buffer::Buffer;
use crate::memory::host::HostPtr;
use crate::memory::image::Image;
use crate::memory::object::MemObject;
use crate::memory::transfer::Transfer;
use crate::queue::Queue;
use brolga_engine::Event;
use brolga_engine::error::{CLResult, ClError};

/// Where in an image a command begins: x, y, z, and what is left for the level ("Specifying Mipmap
/// Levels to Image Operations").
pub type ImageOrigin = [usize; 4];

/// Texels of the host's, and how they lie there. Pitches are bytes, 0 meaning tight.
#[derive(Clone, Copy, Debug)]
pub struct HostTexels {
    pub pointer: HostPtr,
    pub row_pitch: usize,
    pub slice_pitch: usize,
}

/// A command that keeps `objects` alive.
fn transfer<const N: usize>(
    command_type: cl_command_type,
    transfer: Transfer,
    objects: [&Arc<MemObject>; N],
) -> Command {
    Command {
        command_type,
        work: Captured::Transfer(transfer),
        retained: retained(objects),
    }
}

/// Checks that an image is not one that the memory of `buffer` is seen as.
///
/// Errors: `CL_INVALID_MEM_OBJECT`.
fn check_apart(image: &Image, buffer: &Buffer) -> CLResult<()> {
    // CL_INVALID_MEM_OBJECT if src_image is a 1D image buffer object created from dst_buffer, or
    // dst_image from src_buffer ("Copying Between Image and Buffer Objects").
    let is_buffer = image.image_type() as u32 == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    let parent = image.memory().parent();
    match is_buffer && parent.is_some_and(|parent| Arc::ptr_eq(parent, buffer.memory())) {
        true => Err(ClError::INVALID_MEM_OBJECT),
        false => Ok(()),
    }
}

/// `clEnqueueReadImage`, `clEnqueueWriteImage`. `host` must be valid for the region with its
/// pitches until the command completes.
///
/// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds, pitches, null),
/// `CL_INVALID_MIP_LEVEL`, `CL_INVALID_OPERATION` (host access flags, immutable).
#[derive(Clone, Copy, Debug)]
pub struct HostImage<'a> {
    pub direction: Direction,
    pub image: &'a Arc<Image>,
    pub origin: ImageOrigin,
    pub region: [usize; 3],
    pub host: HostTexels,
}

impl Description for HostImage<'_> {
    fn command(self, context: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        let HostImage {
            direction,
            image,
            host,
            ..
        } = self;
        let memory = image.memory();
        check_memory(context, memory)?;
        check_pointer(host.pointer)?;
        let region = image.region(self.origin, self.region)?;
        let outside = image.host_layout(&region, host.row_pitch, host.slice_pitch)?;
        direction.check_access(memory)?;
        let inside = (memory.pointer(), region.layout);
        let (destination, source) = direction.ends((host.pointer, outside), inside);
        let rect = Transfer::rect(destination, source, region.bytes);
        let command_type = direction.either(CL_COMMAND_READ_IMAGE, CL_COMMAND_WRITE_IMAGE);
        Ok(transfer(command_type, rect, [memory]))
    }
}

/// `clEnqueueCopyImage`, `clCommandCopyImageKHR`.
///
/// Errors: `CL_INVALID_CONTEXT`, `CL_IMAGE_FORMAT_MISMATCH`, `CL_INVALID_VALUE` (out of bounds),
/// `CL_INVALID_MIP_LEVEL`, `CL_MEM_COPY_OVERLAP`, `CL_INVALID_OPERATION` (immutable).
#[derive(Clone, Copy, Debug)]
pub struct CopyImage<'a> {
    pub source: &'a Arc<Image>,
    pub destination: &'a Arc<Image>,
    pub source_origin: ImageOrigin,
    pub destination_origin: ImageOrigin,
    pub region: [usize; 3],
}

impl Description for CopyImage<'_> {
    fn command(self, context: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        let (source, destination) = (self.source, self.destination);
        let (source_memory, destination_memory) = (source.memory(), destination.memory());
        check_memory(context, source_memory)?;
        check_memory(context, destination_memory)?;
        // CL_IMAGE_FORMAT_MISMATCH if src_image and dst_image do not use the same image format.
        if source.format() != destination.format() {
            return Err(ClError::IMAGE_FORMAT_MISMATCH);
        }
        let from = source.region(self.source_origin, self.region)?;
        let to = destination.region(self.destination_origin, self.region)?;
        // CL_MEM_COPY_OVERLAP if src_image and dst_image are the same image object and the source
        // and destination regions overlap.
        if Arc::ptr_eq(source, destination) && from.area.overlaps(&to.area) {
            return Err(ClError::MEM_COPY_OVERLAP);
        }
        // CL_INVALID_OPERATION if dst_image was created with CL_MEM_IMMUTABLE_EXT.
        destination_memory.check_mutable()?;
        let rect = Transfer::rect(
            (destination_memory.pointer(), to.layout),
            (source_memory.pointer(), from.layout),
            from.bytes,
        );
        let objects = [source_memory, destination_memory];
        Ok(transfer(CL_COMMAND_COPY_IMAGE, rect, objects))
    }
}

/// `clEnqueueCopyImageToBuffer`, `clCommandCopyImageToBufferKHR`: rows one after the other, from
/// `offset` on.
///
/// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_MEM_OBJECT`, `CL_INVALID_VALUE` (out of bounds),
/// `CL_INVALID_MIP_LEVEL`, `CL_INVALID_OPERATION` (immutable).
#[derive(Clone, Copy, Debug)]
pub struct CopyImageToBuffer<'a> {
    pub source: &'a Arc<Image>,
    pub destination: &'a Arc<Buffer>,
    pub origin: ImageOrigin,
    pub region: [usize; 3],
    pub offset: usize,
}

impl Description for CopyImageToBuffer<'_> {
    fn command(self, context: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        let (source, destination) = (self.source.memory(), self.destination.memory());
        check_memory(context, source)?;
        check_memory(context, destination)?;
        check_apart(self.source, self.destination)?;
        let from = self.source.region(self.origin, self.region)?;
        // CL_INVALID_VALUE if the region specified by dst_offset and the computed dst_cb is out of
        // bounds of dst_buffer.
        let to = from.tight(self.offset)?;
        destination.check_range(0, to.end)?;
        // CL_INVALID_OPERATION if dst_buffer was created with CL_MEM_IMMUTABLE_EXT.
        destination.check_mutable()?;
        let rect = Transfer::rect(
            (destination.pointer(), to),
            (source.pointer(), from.layout),
            from.bytes,
        );
        let objects = [source, destination];
        Ok(transfer(CL_COMMAND_COPY_IMAGE_TO_BUFFER, rect, objects))
    }
}

/// `clEnqueueCopyBufferToImage`, `clCommandCopyBufferToImageKHR`. Errors: as
/// [`CopyImageToBuffer`].
#[derive(Clone, Copy, Debug)]
pub struct CopyBufferToImage<'a> {
    pub source: &'a Arc<Buffer>,
    pub destination: &'a Arc<Image>,
    pub offset: usize,
    pub origin: ImageOrigin,
    pub region: [usize; 3],
}

impl Description for CopyBufferToImage<'_> {
    fn command(self, context: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        let (source, destination) = (self.source.memory(), self.destination.memory());
        check_memory(context, source)?;
        check_memory(context, destination)?;
        check_apart(self.destination, self.source)?;
        let to = self.destination.region(self.origin, self.region)?;
        // CL_INVALID_VALUE if the region specified by src_offset and the computed src_cb is out of
        // bounds of src_buffer.
        let from = to.tight(self.offset)?;
        source.check_range(0, from.end)?;
        // CL_INVALID_OPERATION if dst_image was created with CL_MEM_IMMUTABLE_EXT.
        destination.check_mutable()?;
        let rect = Transfer::rect(
            (destination.pointer(), to.layout),
            (source.pointer(), from),
            to.bytes,
        );
        let objects = [source, destination];
        Ok(transfer(CL_COMMAND_COPY_BUFFER_TO_IMAGE, rect, objects))
    }
}

/// `clEnqueueFillImage`, `clCommandFillImageKHR`: `color` are the bits of its components, as many
/// as [`Image::fill_components`] says.
///
/// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds), `CL_INVALID_MIP_LEVEL`,
/// `CL_INVALID_OPERATION` (immutable).
#[derive(Clone, Copy, Debug)]
pub struct FillImage<'a> {
    pub image: &'a Arc<Image>,
    pub color: [u32; 4],
    pub origin: ImageOrigin,
    pub region: [usize; 3],
}

impl Description for FillImage<'_> {
    fn command(self, context: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        let (image, memory) = (self.image, self.image.memory());
        check_memory(context, memory)?;
        let to = image.region(self.origin, self.region)?;
        // CL_INVALID_OPERATION if image was created with CL_MEM_IMMUTABLE_EXT.
        memory.check_mutable()?;
        // The fill color is floating-point if the image channel data type is not an unnormalized
        // integer type, else four components with the sign of that type, and will be converted to
        // the appropriate image channel format and order ("Filling Image Objects").
        let format = image.format();
        let component = match format.data_type.is_float() {
            true => Component::F32,
            false => Component::Int,
        };
        let texel = &format.encode(self.color, component)[..format.texel_size()];
        let fill = Transfer::fill_rect(
            (memory.pointer(), to.layout),
            to.bytes,
            SmallVec::from_slice(texel),
        );
        Ok(transfer(CL_COMMAND_FILL_IMAGE, fill, [memory]))
    }
}

impl Image {
    /// Checks that it may be mapped so.
    ///
    /// Errors: `CL_INVALID_VALUE` (flags), `CL_INVALID_OPERATION` (host access flags).
    pub fn check_map(&self, flags: u64) -> CLResult<()> {
        check_map_flags(flags)?;
        check_map_access(self.memory(), flags)
    }

    /// How many components a fill color has.
    pub fn fill_components(&self) -> usize {
        match self.format().order {
            // The fill color is a single floating-point value if the channel order is CL_DEPTH.
            ChannelOrder::Depth => 1,
            _ => 4,
        }
    }
}

impl Queue {
    /// `clEnqueueMapImage`: returns the event, the address, which points into the image itself, and
    /// the row and slice pitch of the region.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds, flags),
    /// `CL_INVALID_MIP_LEVEL`, `CL_INVALID_OPERATION` (host access flags, or regions mapped for
    /// writing would overlap).
    pub fn enqueue_map_image(
        self: &Arc<Self>,
        image: &Arc<Image>,
        blocking: bool,
        flags: u64,
        origin: ImageOrigin,
        region: [usize; 3],
        wait: &[Arc<Event>],
    ) -> CLResult<(Arc<Event>, *mut u8, [usize; 2])> {
        let memory = image.memory();
        check_memory(self.context(), memory)?;
        self.check_wait_list(wait)?;
        image.check_map(flags)?;
        let region = image.region(origin, region)?;
        let address = memory.pointer().offset(region.layout.offset);
        let regions = memory.mapped_regions();
        regions.add(region.area, address.addr(), flags)?;
        let event = self.enqueue_mapped(CL_COMMAND_MAP_IMAGE, memory, address, blocking, wait)?;
        Ok((event, address.as_ptr(), image.mapped_pitches(&region)))
    }
}
