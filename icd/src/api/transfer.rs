//! Commands that move bytes of buffers.
//!
//! What handles, lists, origins, regions and patterns are is looked up here; all that their values
//! and the state of the buffers decide is checked by the runtime.

use std::ffi::c_void;
use std::sync::Arc;

use brolga_runtime::{
    CopyBuffer, CopyRect, Direction, FillBuffer, HostCopy, HostPtr, HostRect, MemObject, Pattern,
    RectSide,
};
use opencl_sys::*;

use super::context::OfContext;
use super::memory::Mem;
use super::place::{OpenPlace, Place};
use super::queue::Queue;
use super::wait::{EventArguments, Submission};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::Object;
use crate::abi::pointers::{InList, InPtr, OutPtr, RawHandle};

/// One side of a rectangular transfer; `pitches` are of rows and slices. Errors: `CL_INVALID_VALUE`
/// for a null origin.
fn side(origin: InPtr<[usize; 3]>, pitches: [usize; 2]) -> CLResult<RectSide> {
    let [row_pitch, slice_pitch] = pitches;
    Ok(RectSide {
        origin: origin.get().ok_or(ClError::INVALID_VALUE)?,
        row_pitch,
        slice_pitch,
    })
}

/// What `clEnqueueReadBuffer` and `clEnqueueWriteBuffer` have in common.
fn host_copy(
    direction: Direction,
    submission: Submission,
    buffer: RawHandle,
    blocking: cl_bool,
    offset: usize,
    size: usize,
    host: HostPtr,
) -> CLResult<()> {
    let queue = Queue::usable(submission.queue)?;
    let buffer = Mem::from_raw(buffer)?;
    let copy = HostCopy {
        direction,
        buffer: buffer.buffer()?,
        offset,
        size,
        host,
    };
    submission.submit(&queue, blocking, copy)
}

/// `clEnqueueReadBuffer`
pub fn read(
    submission: Submission,
    buffer: RawHandle,
    blocking: cl_bool,
    offset: usize,
    size: usize,
    to: HostPtr,
) -> CLResult<()> {
    let direction = Direction::Read;
    host_copy(direction, submission, buffer, blocking, offset, size, to)
}

/// `clEnqueueWriteBuffer`
pub fn write(
    submission: Submission,
    buffer: RawHandle,
    blocking: cl_bool,
    offset: usize,
    size: usize,
    from: HostPtr,
) -> CLResult<()> {
    let direction = Direction::Write;
    host_copy(direction, submission, buffer, blocking, offset, size, from)
}

/// `clEnqueueCopyBuffer`, `clCommandCopyBufferKHR`
pub fn copy(
    place: impl Place,
    source: RawHandle,
    destination: RawHandle,
    source_offset: usize,
    destination_offset: usize,
    size: usize,
) -> CLResult<()> {
    let mut place = place.open()?;
    let source = place.buffer(source)?;
    let destination = place.buffer(destination)?;
    let copy = CopyBuffer {
        source: &source,
        destination: &destination,
        source_offset,
        destination_offset,
        size,
    };
    place.take(|| Ok(copy))
}

/// Where rectangular reading and writing take place: origins and pitches, of the buffer and then of
/// the host.
struct HostRegion {
    origins: [InPtr<[usize; 3]>; 2],
    region: InPtr<[usize; 3]>,
    pitches: [[usize; 2]; 2],
}

/// What `clEnqueueReadBufferRect` and `clEnqueueWriteBufferRect` have in common.
fn host_rect(
    direction: Direction,
    submission: Submission,
    buffer: RawHandle,
    blocking: cl_bool,
    place: &HostRegion,
    host: HostPtr,
) -> CLResult<()> {
    let queue = Queue::usable(submission.queue)?;
    let buffer = Mem::from_raw(buffer)?;
    let [buffer_pitches, host_pitches] = place.pitches;
    // > CL_INVALID_VALUE if buffer_origin, host_origin, or region is NULL.
    let rect = HostRect {
        direction,
        buffer: buffer.buffer()?,
        buffer_side: side(place.origins[0], buffer_pitches)?,
        host,
        host_side: side(place.origins[1], host_pitches)?,
        region: place.region.get().ok_or(ClError::INVALID_VALUE)?,
    };
    submission.submit(&queue, blocking, rect)
}

/// `clEnqueueReadBufferRect`
pub fn read_rect(
    submission: Submission,
    buffer: RawHandle,
    blocking: cl_bool,
    buffer_origin: InPtr<[usize; 3]>,
    host_origin: InPtr<[usize; 3]>,
    region: InPtr<[usize; 3]>,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    to: HostPtr,
) -> CLResult<()> {
    let place = HostRegion {
        origins: [buffer_origin, host_origin],
        region,
        pitches: [
            [buffer_row_pitch, buffer_slice_pitch],
            [host_row_pitch, host_slice_pitch],
        ],
    };
    host_rect(Direction::Read, submission, buffer, blocking, &place, to)
}

/// `clEnqueueWriteBufferRect`
pub fn write_rect(
    submission: Submission,
    buffer: RawHandle,
    blocking: cl_bool,
    buffer_origin: InPtr<[usize; 3]>,
    host_origin: InPtr<[usize; 3]>,
    region: InPtr<[usize; 3]>,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    from: HostPtr,
) -> CLResult<()> {
    let place = HostRegion {
        origins: [buffer_origin, host_origin],
        region,
        pitches: [
            [buffer_row_pitch, buffer_slice_pitch],
            [host_row_pitch, host_slice_pitch],
        ],
    };
    host_rect(Direction::Write, submission, buffer, blocking, &place, from)
}

/// `clEnqueueCopyBufferRect`, `clCommandCopyBufferRectKHR`
pub fn copy_rect(
    place: impl Place,
    source: RawHandle,
    destination: RawHandle,
    source_origin: InPtr<[usize; 3]>,
    destination_origin: InPtr<[usize; 3]>,
    region: InPtr<[usize; 3]>,
    source_row_pitch: usize,
    source_slice_pitch: usize,
    destination_row_pitch: usize,
    destination_slice_pitch: usize,
) -> CLResult<()> {
    let mut place = place.open()?;
    let source = place.buffer(source)?;
    let destination = place.buffer(destination)?;
    // > CL_INVALID_VALUE if src_origin, dst_origin, or region is NULL.
    let copy = CopyRect {
        source: &source,
        destination: &destination,
        source_side: side(source_origin, [source_row_pitch, source_slice_pitch])?,
        destination_side: side(
            destination_origin,
            [destination_row_pitch, destination_slice_pitch],
        )?,
        region: region.get().ok_or(ClError::INVALID_VALUE)?,
    };
    place.take(|| Ok(copy))
}

/// A fill pattern, copied. What is too long is not read.
pub fn pattern(pattern: InList<u8>) -> CLResult<Pattern> {
    // > CL_INVALID_VALUE if pattern is NULL or if pattern_size is 0 or if pattern_size is not one
    // > of {1, 2, 4, 8, 16, 32, 64, 128}.
    let bytes = pattern.at_most(Pattern::MAX_SIZE + 1).get()?;
    Pattern::new(&bytes.ok_or(ClError::INVALID_VALUE)?)
}

/// `clEnqueueFillBuffer`, `clCommandFillBufferKHR`
pub fn fill(
    place: impl Place,
    buffer: RawHandle,
    pattern: InList<u8>,
    offset: usize,
    size: usize,
) -> CLResult<()> {
    let mut place = place.open()?;
    let buffer = place.buffer(buffer)?;
    let fill = FillBuffer {
        buffer: &buffer,
        pattern: self::pattern(pattern)?,
        offset,
        size,
    };
    place.take(|| Ok(fill))
}

/// `clEnqueueMapBuffer`
pub fn map(
    queue: RawHandle,
    buffer: RawHandle,
    blocking: cl_bool,
    flags: cl_map_flags,
    offset: usize,
    size: usize,
    event_list: InList<RawHandle>,
    event: OutPtr<RawHandle>,
) -> CLResult<*mut c_void> {
    let queue = Queue::usable(queue)?;
    let buffer = Mem::from_raw(buffer)?;
    let events = EventArguments::new(event_list, event);
    let wait = events.wait_list()?;
    let (event, address) = queue.runtime.enqueue_map(
        buffer.buffer()?,
        blocking != CL_FALSE,
        flags,
        offset,
        size,
        &wait,
    )?;
    events.give(&queue, event);
    Ok(address.cast())
}

/// `clEnqueueUnmapMemObject`
pub fn unmap(
    queue: RawHandle,
    mem: RawHandle,
    mapped: OutPtr<c_void>,
    events: EventArguments,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let mem = Mem::from_raw(mem)?;
    events.enqueue(&queue, |wait| {
        // > CL_INVALID_VALUE if mapped_ptr is not a valid pointer returned by clEnqueueMapBuffer
        // > or clEnqueueMapImage for memobj.
        queue
            .runtime
            .enqueue_unmap(mem.memory(), mapped.address(), wait)
    })
}

/// The memory objects of a migration.
fn memory_objects(list: InList<RawHandle>) -> CLResult<Vec<Arc<MemObject>>> {
    // > CL_INVALID_VALUE if num_mem_objects is zero or if mem_objects is NULL.
    require(list.count() != 0, ClError::INVALID_VALUE)?;
    let raws = list.get()?.ok_or(ClError::INVALID_VALUE)?;
    let objects = Mem::from_raws(&raws)?;
    Ok(objects.iter().map(|mem| mem.memory().clone()).collect())
}

/// `clEnqueueMigrateMemObjectEXT` of `cl_ext_migrate_memobject`
pub fn migrate_ext(
    queue: RawHandle,
    mem_objects: InList<RawHandle>,
    flags: cl_mem_migration_flags_ext,
    events: EventArguments,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let objects = memory_objects(mem_objects)?;
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_migrate_ext(&objects, flags, wait)
    })
}

/// `clEnqueueMigrateMemObjects`
pub fn migrate(
    queue: RawHandle,
    mem_objects: InList<RawHandle>,
    flags: cl_mem_migration_flags,
    events: EventArguments,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let objects = memory_objects(mem_objects)?;
    // > CL_INVALID_VALUE if flags is not 0 or is not any of the values described in the table.
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_migrate(&objects, flags, wait)
    })
}
