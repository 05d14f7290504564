//! Commands on images.
//!
//! As in `transfer.rs`, what an image decides is checked by the runtime; what handles, origins,
//! regions and colors are is looked up here.

use std::ffi::c_void;

use brolga_runtime::{
    CopyBufferToImage, CopyImage, CopyImageToBuffer, Direction, FillImage, HostImage, HostPtr,
    HostTexels, Image as RuntimeImage, ImageOrigin,
};
use opencl_sys::*;

use super::context::OfContext;
use super::memory::Mem;
use super::place::{OpenPlace, Place};
use super::queue::Queue;
use super::wait::{EventArguments, Submission};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::Object;
use crate::abi::image::{ColorPtr, OriginPtr};
use crate::abi::pointers::{InList, InPtr, OutPtr, RawHandle};

/// Where a region begins, and its size.
fn region_of(
    image: &RuntimeImage,
    origin: OriginPtr,
    region: InPtr<[usize; 3]>,
) -> CLResult<(ImageOrigin, [usize; 3])> {
    // > CL_INVALID_VALUE if origin or region is NULL.
    let origin = origin.of(image)?;
    let region = region.get().ok_or(ClError::INVALID_VALUE)?;
    Ok((origin, region))
}

/// What `clEnqueueReadImage` and `clEnqueueWriteImage` have in common.
fn host_image(
    direction: Direction,
    submission: Submission,
    image: RawHandle,
    blocking: cl_bool,
    origin: OriginPtr,
    region: InPtr<[usize; 3]>,
    host: HostTexels,
) -> CLResult<()> {
    let queue = Queue::usable(submission.queue)?;
    let mem = Mem::from_raw(image)?;
    let image = mem.image()?;
    let (origin, region) = region_of(image, origin, region)?;
    let transfer = HostImage {
        direction,
        image,
        origin,
        region,
        host,
    };
    submission.submit(&queue, blocking, transfer)
}

/// `clEnqueueReadImage`
pub fn read(
    submission: Submission,
    image: RawHandle,
    blocking: cl_bool,
    from: OriginPtr,
    region: InPtr<[usize; 3]>,
    row_pitch: usize,
    slice_pitch: usize,
    to: HostPtr,
) -> CLResult<()> {
    let host = HostTexels {
        pointer: to,
        row_pitch,
        slice_pitch,
    };
    let direction = Direction::Read;
    host_image(direction, submission, image, blocking, from, region, host)
}

/// `clEnqueueWriteImage`
pub fn write(
    submission: Submission,
    image: RawHandle,
    blocking: cl_bool,
    to: OriginPtr,
    region: InPtr<[usize; 3]>,
    row_pitch: usize,
    slice_pitch: usize,
    from: HostPtr,
) -> CLResult<()> {
    let host = HostTexels {
        pointer: from,
        row_pitch,
        slice_pitch,
    };
    let direction = Direction::Write;
    host_image(direction, submission, image, blocking, to, region, host)
}

/// `clEnqueueCopyImage`, `clCommandCopyImageKHR`
pub fn copy(
    place: impl Place,
    source: RawHandle,
    destination: RawHandle,
    source_origin: OriginPtr,
    destination_origin: OriginPtr,
    region: InPtr<[usize; 3]>,
) -> CLResult<()> {
    let mut place = place.open()?;
    let (source, destination) = (place.image(source)?, place.image(destination)?);
    // > CL_INVALID_VALUE if src_origin, dst_origin or region is NULL.
    let source_origin = source_origin.of(&source)?;
    let (destination_origin, region) = region_of(&destination, destination_origin, region)?;
    let copy = CopyImage {
        source: &source,
        destination: &destination,
        source_origin,
        destination_origin,
        region,
    };
    place.take(|| Ok(copy))
}

/// `clEnqueueCopyImageToBuffer`, `clCommandCopyImageToBufferKHR`
pub fn copy_to_buffer(
    place: impl Place,
    source: RawHandle,
    destination: RawHandle,
    source_origin: OriginPtr,
    region: InPtr<[usize; 3]>,
    offset: usize,
) -> CLResult<()> {
    let mut place = place.open()?;
    let source = place.image(source)?;
    let destination = place.buffer(destination)?;
    let (origin, region) = region_of(&source, source_origin, region)?;
    let copy = CopyImageToBuffer {
        source: &source,
        destination: &destination,
        origin,
        region,
        offset,
    };
    place.take(|| Ok(copy))
}

/// `clEnqueueCopyBufferToImage`, `clCommandCopyBufferToImageKHR`
pub fn copy_from_buffer(
    place: impl Place,
    source: RawHandle,
    destination: RawHandle,
    offset: usize,
    destination_origin: OriginPtr,
    region: InPtr<[usize; 3]>,
) -> CLResult<()> {
    let mut place = place.open()?;
    let source = place.buffer(source)?;
    let destination = place.image(destination)?;
    let (origin, region) = region_of(&destination, destination_origin, region)?;
    let copy = CopyBufferToImage {
        source: &source,
        destination: &destination,
        offset,
        origin,
        region,
    };
    place.take(|| Ok(copy))
}

/// `clEnqueueFillImage`, `clCommandFillImageKHR`
pub fn fill(
    place: impl Place,
    image: RawHandle,
    color: ColorPtr,
    origin: OriginPtr,
    region: InPtr<[usize; 3]>,
) -> CLResult<()> {
    let mut place = place.open()?;
    let image = place.image(image)?;
    // > CL_INVALID_VALUE if fill_color is NULL.
    let color = color.of(&image)?;
    let (origin, region) = region_of(&image, origin, region)?;
    let fill = FillImage {
        image: &image,
        color,
        origin,
        region,
    };
    place.take(|| Ok(fill))
}

/// `clEnqueueMapImage`
pub fn map(
    queue: RawHandle,
    image: RawHandle,
    blocking: cl_bool,
    flags: cl_map_flags,
    from: OriginPtr,
    region: InPtr<[usize; 3]>,
    row_pitch: OutPtr<usize>,
    slice_pitch: OutPtr<usize>,
    event_list: InList<RawHandle>,
    event: OutPtr<RawHandle>,
) -> CLResult<*mut c_void> {
    let queue = Queue::usable(queue)?;
    let mem = Mem::from_raw(image)?;
    let image = mem.image()?;
    let (from, region) = region_of(image, from, region)?;
    // The CTS asks for what may not be mapped with null pointers, so that these are looked at last.
    image.check_map(flags)?;
    // > if image_row_pitch is NULL, or if image is a 1D or 2D image array object or a 3D image and
    // > image_slice_pitch is NULL.
    require(
        !(row_pitch.is_null() || image.image_type().has_slices() && slice_pitch.is_null()),
        ClError::INVALID_VALUE,
    )?;
    let events = EventArguments::new(event_list, event);
    let wait = events.wait_list()?;
    let blocking = blocking != CL_FALSE;
    let (event, address, pitches) = queue
        .runtime
        .enqueue_map_image(image, blocking, flags, from, region, &wait)?;
    row_pitch.set(pitches[0]);
    slice_pitch.set(pitches[1]);
    events.give(&queue, event);
    Ok(address.cast())
}
