//! Commands on images.
//!
//! As in `transfer.rs`, what an image decides is checked by the runtime; handles, null pointers and
//! lists are checked here.

use std::ffi::c_void;

use brolga_runtime::{HostTexels, Image as RuntimeImage, ImageOrigin};
use opencl_sys::*;

use super::context::OfContext;
use super::memory::Mem;
use super::queue::Queue;
use super::transfer::triple;
use super::wait::Events;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::Ref;
use crate::abi::pointers::{InPtr, OutPtr, RawHandle};

/// The origin of a region; a null pointer is a wrong value.
///
/// > If image is a 2D image array or a 3D image, origin\[3\] specifies the mip level to use.
pub fn origin(image: &RuntimeImage, values: InPtr<usize>) -> CLResult<ImageOrigin> {
    let has_fourth = image.level_coordinate() == Some(3);
    let values = values.array(if has_fourth { 4 } else { 3 });
    let mut origin = ImageOrigin::default();
    let values = values.ok_or(ClError::INVALID_VALUE)?;
    origin[..values.len()].copy_from_slice(&values);
    Ok(origin)
}

/// The color of a fill, copied; a null pointer is a wrong value.
pub fn fill_color(image: &RuntimeImage, color: InPtr<c_void>) -> CLResult<[u32; 4]> {
    // > CL_INVALID_VALUE if fill_color is NULL.
    let values = color.cast::<u32>().array(image.fill_components());
    let mut color = [0; 4];
    let values = values.ok_or(ClError::INVALID_VALUE)?;
    color[..values.len()].copy_from_slice(&values);
    Ok(color)
}

/// The memory object behind `raw`, which is an image, for a command of `queue`.
fn image(raw: RawHandle, queue: &Queue) -> CLResult<Ref<Mem>> {
    // > CL_INVALID_MEM_OBJECT if image is not a valid image object.
    let mem = Mem::any_for_queue(raw, queue)?;
    mem.image()?;
    Ok(mem)
}

/// `clEnqueueReadImage`
pub fn read(
    queue: RawHandle,
    raw_image: RawHandle,
    blocking: cl_bool,
    from: InPtr<usize>,
    region: InPtr<usize>,
    row_pitch: usize,
    slice_pitch: usize,
    to: OutPtr<c_void>,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let mem = image(raw_image, &queue)?;
    let image = mem.image()?;
    // > CL_INVALID_VALUE if origin, region or ptr is NULL.
    let (from, region) = (origin(image, from)?, triple(region)?);
    let host = HostTexels {
        pointer: to.host_ptr(),
        row_pitch,
        slice_pitch,
    };
    let blocking = blocking != CL_FALSE;
    events.enqueue(&queue, |wait| {
        queue
            .runtime
            .enqueue_read_image(image, blocking, from, region, host, wait)
    })
}

/// `clEnqueueWriteImage`
pub fn write(
    queue: RawHandle,
    raw_image: RawHandle,
    blocking: cl_bool,
    to: InPtr<usize>,
    region: InPtr<usize>,
    row_pitch: usize,
    slice_pitch: usize,
    from: InPtr<c_void>,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let mem = image(raw_image, &queue)?;
    let image = mem.image()?;
    // > CL_INVALID_VALUE if origin, region or ptr is NULL.
    let (to, region) = (origin(image, to)?, triple(region)?);
    let host = HostTexels {
        pointer: from.host_ptr(),
        row_pitch,
        slice_pitch,
    };
    let blocking = blocking != CL_FALSE;
    events.enqueue(&queue, |wait| {
        queue
            .runtime
            .enqueue_write_image(image, blocking, to, region, host, wait)
    })
}

/// `clEnqueueCopyImage`
pub fn copy(
    queue: RawHandle,
    source: RawHandle,
    destination: RawHandle,
    source_origin: InPtr<usize>,
    destination_origin: InPtr<usize>,
    region: InPtr<usize>,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let (source, destination) = (image(source, &queue)?, image(destination, &queue)?);
    let (source, destination) = (source.image()?, destination.image()?);
    // > CL_INVALID_VALUE if src_origin, dst_origin or region is NULL.
    let from = origin(source, source_origin)?;
    let to = origin(destination, destination_origin)?;
    let region = triple(region)?;
    events.enqueue(&queue, |wait| {
        queue
            .runtime
            .enqueue_copy_image(source, destination, from, to, region, wait)
    })
}

/// `clEnqueueCopyImageToBuffer`
pub fn copy_to_buffer(
    queue: RawHandle,
    source: RawHandle,
    destination: RawHandle,
    source_origin: InPtr<usize>,
    region: InPtr<usize>,
    offset: usize,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let source = image(source, &queue)?;
    let destination = Mem::for_queue(destination, &queue)?;
    let source = source.image()?;
    // > CL_INVALID_VALUE if src_origin or region is NULL.
    let (from, region) = (origin(source, source_origin)?, triple(region)?);
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_copy_image_to_buffer(
            source,
            &destination.runtime,
            from,
            region,
            offset,
            wait,
        )
    })
}

/// `clEnqueueCopyBufferToImage`
pub fn copy_from_buffer(
    queue: RawHandle,
    source: RawHandle,
    destination: RawHandle,
    offset: usize,
    destination_origin: InPtr<usize>,
    region: InPtr<usize>,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let source = Mem::for_queue(source, &queue)?;
    let destination = image(destination, &queue)?;
    let destination = destination.image()?;
    // > CL_INVALID_VALUE if dst_origin or region is NULL.
    let (to, region) = (origin(destination, destination_origin)?, triple(region)?);
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_copy_buffer_to_image(
            &source.runtime,
            destination,
            offset,
            to,
            region,
            wait,
        )
    })
}

/// `clEnqueueMapImage`
pub fn map(
    queue: RawHandle,
    raw_image: RawHandle,
    blocking: cl_bool,
    flags: cl_map_flags,
    from: InPtr<usize>,
    region: InPtr<usize>,
    row_pitch: OutPtr<usize>,
    slice_pitch: OutPtr<usize>,
    num_events: cl_uint,
    event_list: InPtr<RawHandle>,
    event: OutPtr<RawHandle>,
) -> CLResult<*mut c_void> {
    let queue = Queue::usable(queue)?;
    let mem = image(raw_image, &queue)?;
    let image = mem.image()?;
    // > CL_INVALID_VALUE if origin or region is NULL.
    let (from, region) = (origin(image, from)?, triple(region)?);
    // The CTS asks for what may not be mapped with null pointers.
    image.check_map(flags)?;
    // > if image_row_pitch is NULL, or if image is a 1D or 2D image array object or a 3D image and
    // > image_slice_pitch is NULL.
    require(
        !row_pitch.is_null() && !(image.image_type().has_slices() && slice_pitch.is_null()),
        ClError::INVALID_VALUE,
    )?;
    let events = Events::new(num_events, event_list, event);
    let wait = events.wait_list(&queue.context)?;
    let blocking = blocking != CL_FALSE;
    let (event, address, pitches) = queue
        .runtime
        .enqueue_map_image(image, blocking, flags, from, region, &wait)?;
    row_pitch.set(pitches[0]);
    slice_pitch.set(pitches[1]);
    events.give(&queue, event);
    Ok(address.cast())
}

/// `clEnqueueFillImage`
pub fn fill(
    queue: RawHandle,
    raw_image: RawHandle,
    color: InPtr<c_void>,
    to: InPtr<usize>,
    region: InPtr<usize>,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let mem = image(raw_image, &queue)?;
    let image = mem.image()?;
    let color = fill_color(image, color)?;
    // > CL_INVALID_VALUE if origin or region is NULL.
    let (to, region) = (origin(image, to)?, triple(region)?);
    events.enqueue(&queue, |wait| {
        queue
            .runtime
            .enqueue_fill_image(image, color, to, region, wait)
    })
}
