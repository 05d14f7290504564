//! Commands that move bytes of buffers.
//!
//! Bounds, access flags and overlaps are checked by the runtime, which knows the buffers; handles,
//! null pointers and lists are checked here.

use std::ffi::c_void;
use std::sync::Arc;

use brolga_runtime::{
    Buffer as RuntimeBuffer, Event as RuntimeEvent, HostPtr, Queue as RuntimeQueue, RectSide,
};
use opencl_sys::*;

use super::context::OfContext;
use super::memory::Mem;
use super::queue::Queue;
use super::wait::Events;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::pointers::{InPtr, OutPtr, RawHandle};

/// Three sizes; a null pointer is a wrong value.
pub fn triple(values: InPtr<usize>) -> CLResult<[usize; 3]> {
    let values = values.array(3).ok_or(ClError::INVALID_VALUE)?;
    Ok([values[0], values[1], values[2]])
}

/// One side of a rectangular transfer; a null pointer is a wrong value.
pub fn side(origin: InPtr<usize>, row_pitch: usize, slice_pitch: usize) -> CLResult<RectSide> {
    Ok(RectSide {
        origin: triple(origin)?,
        row_pitch,
        slice_pitch,
    })
}

/// The runtime's read or write.
type HostTransfer = fn(
    &Arc<RuntimeQueue>,
    &Arc<RuntimeBuffer>,
    bool,
    usize,
    usize,
    HostPtr,
    &[Arc<RuntimeEvent>],
) -> CLResult<Arc<RuntimeEvent>>;

/// What reading and writing do.
fn host_transfer(
    transfer: HostTransfer,
    queue: RawHandle,
    buffer: RawHandle,
    blocking: cl_bool,
    offset: usize,
    size: usize,
    host: HostPtr,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let buffer = Mem::for_queue(buffer, &queue)?;
    // > CL_INVALID_VALUE if the region being read or written specified by (offset, size) is out of
    // > bounds or if ptr is a NULL value.
    require(!host.is_null(), ClError::INVALID_VALUE)?;
    let blocking = blocking != CL_FALSE;
    events.enqueue(&queue, |wait| {
        transfer(
            &queue.runtime,
            &buffer.runtime,
            blocking,
            offset,
            size,
            host,
            wait,
        )
    })
}

/// `clEnqueueReadBuffer`
pub fn read(
    queue: RawHandle,
    buffer: RawHandle,
    blocking: cl_bool,
    offset: usize,
    size: usize,
    to: OutPtr<c_void>,
    events: Events,
) -> CLResult<()> {
    let (transfer, host): (HostTransfer, _) = (RuntimeQueue::enqueue_read, to.host_ptr());
    host_transfer(
        transfer, queue, buffer, blocking, offset, size, host, events,
    )
}

/// `clEnqueueWriteBuffer`
pub fn write(
    queue: RawHandle,
    buffer: RawHandle,
    blocking: cl_bool,
    offset: usize,
    size: usize,
    from: InPtr<c_void>,
    events: Events,
) -> CLResult<()> {
    let (transfer, host): (HostTransfer, _) = (RuntimeQueue::enqueue_write, from.host_ptr());
    host_transfer(
        transfer, queue, buffer, blocking, offset, size, host, events,
    )
}

/// `clEnqueueCopyBuffer`
pub fn copy(
    queue: RawHandle,
    source: RawHandle,
    destination: RawHandle,
    source_offset: usize,
    destination_offset: usize,
    size: usize,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let source = Mem::for_queue(source, &queue)?;
    let destination = Mem::for_queue(destination, &queue)?;
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_copy(
            &source.runtime,
            &destination.runtime,
            source_offset,
            destination_offset,
            size,
            wait,
        )
    })
}

/// The runtime's rectangular read or write.
type HostRectTransfer = fn(
    &Arc<RuntimeQueue>,
    &Arc<RuntimeBuffer>,
    bool,
    RectSide,
    RectSide,
    [usize; 3],
    HostPtr,
    &[Arc<RuntimeEvent>],
) -> CLResult<Arc<RuntimeEvent>>;

/// What rectangular reading and writing do.
fn host_rect_transfer(
    transfer: HostRectTransfer,
    queue: RawHandle,
    buffer: RawHandle,
    blocking: cl_bool,
    buffer_origin: InPtr<usize>,
    host_origin: InPtr<usize>,
    region: InPtr<usize>,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    host: HostPtr,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let buffer = Mem::for_queue(buffer, &queue)?;
    // > CL_INVALID_VALUE if buffer_origin, host_origin, or region is NULL.
    let inside = side(buffer_origin, buffer_row_pitch, buffer_slice_pitch)?;
    let outside = side(host_origin, host_row_pitch, host_slice_pitch)?;
    let region = triple(region)?;
    // > CL_INVALID_VALUE if ptr is NULL.
    require(!host.is_null(), ClError::INVALID_VALUE)?;
    let (runtime, blocking) = (&queue.runtime, blocking != CL_FALSE);
    events.enqueue(&queue, |wait| {
        transfer(
            runtime,
            &buffer.runtime,
            blocking,
            inside,
            outside,
            region,
            host,
            wait,
        )
    })
}

/// `clEnqueueReadBufferRect`
pub fn read_rect(
    queue: RawHandle,
    buffer: RawHandle,
    blocking: cl_bool,
    buffer_origin: InPtr<usize>,
    host_origin: InPtr<usize>,
    region: InPtr<usize>,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    to: OutPtr<c_void>,
    events: Events,
) -> CLResult<()> {
    let (transfer, host): (HostRectTransfer, _) = (RuntimeQueue::enqueue_read_rect, to.host_ptr());
    host_rect_transfer(
        transfer,
        queue,
        buffer,
        blocking,
        buffer_origin,
        host_origin,
        region,
        buffer_row_pitch,
        buffer_slice_pitch,
        host_row_pitch,
        host_slice_pitch,
        host,
        events,
    )
}

/// `clEnqueueWriteBufferRect`
pub fn write_rect(
    queue: RawHandle,
    buffer: RawHandle,
    blocking: cl_bool,
    buffer_origin: InPtr<usize>,
    host_origin: InPtr<usize>,
    region: InPtr<usize>,
    buffer_row_pitch: usize,
    buffer_slice_pitch: usize,
    host_row_pitch: usize,
    host_slice_pitch: usize,
    from: InPtr<c_void>,
    events: Events,
) -> CLResult<()> {
    let (transfer, host): (HostRectTransfer, _) =
        (RuntimeQueue::enqueue_write_rect, from.host_ptr());
    host_rect_transfer(
        transfer,
        queue,
        buffer,
        blocking,
        buffer_origin,
        host_origin,
        region,
        buffer_row_pitch,
        buffer_slice_pitch,
        host_row_pitch,
        host_slice_pitch,
        host,
        events,
    )
}

/// `clEnqueueCopyBufferRect`
pub fn copy_rect(
    queue: RawHandle,
    source: RawHandle,
    destination: RawHandle,
    source_origin: InPtr<usize>,
    destination_origin: InPtr<usize>,
    region: InPtr<usize>,
    source_row_pitch: usize,
    source_slice_pitch: usize,
    destination_row_pitch: usize,
    destination_slice_pitch: usize,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let source = Mem::for_queue(source, &queue)?;
    let destination = Mem::for_queue(destination, &queue)?;
    // > CL_INVALID_VALUE if src_origin, dst_origin, or region is NULL.
    let source_side = side(source_origin, source_row_pitch, source_slice_pitch)?;
    let destination_side = side(
        destination_origin,
        destination_row_pitch,
        destination_slice_pitch,
    )?;
    let region = triple(region)?;
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_copy_rect(
            &source.runtime,
            &destination.runtime,
            source_side,
            destination_side,
            region,
            wait,
        )
    })
}

/// Bytes of the largest scalar or vector type (`cl_long16`), the longest pattern.
pub const MAX_PATTERN_SIZE: usize = 128;

/// A fill pattern, copied.
pub fn pattern(pattern: InPtr<c_void>, size: usize) -> CLResult<Vec<u8>> {
    // > CL_INVALID_VALUE if pattern is NULL or if pattern_size is 0 or if pattern_size is not one >
    // of {1, 2, 4, 8, 16, 32, 64, 128}.
    require(
        size.is_power_of_two() && size <= MAX_PATTERN_SIZE,
        ClError::INVALID_VALUE,
    )?;
    pattern.bytes(size).ok_or(ClError::INVALID_VALUE)
}

/// `clEnqueueFillBuffer`
pub fn fill(
    queue: RawHandle,
    buffer: RawHandle,
    pattern_pointer: InPtr<c_void>,
    pattern_size: usize,
    offset: usize,
    size: usize,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let buffer = Mem::for_queue(buffer, &queue)?;
    let pattern = pattern(pattern_pointer, pattern_size)?;
    events.enqueue(&queue, |wait| {
        queue
            .runtime
            .enqueue_fill(&buffer.runtime, &pattern, offset, size, wait)
    })
}

/// `clEnqueueMapBuffer`
pub fn map(
    queue: RawHandle,
    buffer: RawHandle,
    blocking: cl_bool,
    flags: cl_map_flags,
    offset: usize,
    size: usize,
    num_events: cl_uint,
    event_list: InPtr<RawHandle>,
    event: OutPtr<RawHandle>,
) -> CLResult<*mut c_void> {
    let queue = Queue::usable(queue)?;
    let buffer = Mem::for_queue(buffer, &queue)?;
    let events = Events::new(num_events, event_list, event);
    let wait = events.wait_list(&queue.context)?;
    let (event, address) = queue.runtime.enqueue_map(
        &buffer.runtime,
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
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let mem = Mem::any_for_queue(mem, &queue)?;
    events.enqueue(&queue, |wait| {
        // > CL_INVALID_VALUE if mapped_ptr is not a valid pointer returned by clEnqueueMapBuffer >
        // or clEnqueueMapImage for memobj.
        queue
            .runtime
            .enqueue_unmap(&mem.runtime, mapped.address(), wait)
    })
}

/// What is to be migrated.
fn memory_objects(
    queue: &Queue,
    count: cl_uint,
    list: InPtr<RawHandle>,
) -> CLResult<Vec<Arc<RuntimeBuffer>>> {
    // > CL_INVALID_VALUE if num_mem_objects is zero or if mem_objects is NULL.
    require(count != 0, ClError::INVALID_VALUE)?;
    let raws = list.array(count as usize).ok_or(ClError::INVALID_VALUE)?;
    raws.into_iter()
        .map(|raw| Ok(Mem::any_for_queue(raw, queue)?.runtime.clone()))
        .collect()
}

/// `clEnqueueMigrateMemObjectEXT` of `cl_ext_migrate_memobject`
pub fn migrate_ext(
    queue: RawHandle,
    num_mem_objects: cl_uint,
    mem_objects: InPtr<RawHandle>,
    flags: cl_mem_migration_flags_ext,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let buffers = memory_objects(&queue, num_mem_objects, mem_objects)?;
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_migrate_ext(&buffers, flags, wait)
    })
}

/// `clEnqueueMigrateMemObjects`
pub fn migrate(
    queue: RawHandle,
    num_mem_objects: cl_uint,
    mem_objects: InPtr<RawHandle>,
    flags: cl_mem_migration_flags,
    events: Events,
) -> CLResult<()> {
    let queue = Queue::usable(queue)?;
    let buffers = memory_objects(&queue, num_mem_objects, mem_objects)?;
    // > CL_INVALID_VALUE if flags is not 0 or is not any of the values described in the table.
    events.enqueue(&queue, |wait| {
        queue.runtime.enqueue_migrate(&buffers, flags, wait)
    })
}
