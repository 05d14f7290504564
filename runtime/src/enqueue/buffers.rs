//! Reading, writing, copying and filling buffers.

use std::sync::Arc;

use opencl_sys::*;
use smallvec::SmallVec;

use crate::command::{Command, RetainedResources, Work};
use crate::context::Context;
use crate::error::{CLResult, ClError};
use crate::event::Event;
use crate::memory::buffer::Buffer;
use crate::memory::host::HostPtr;
use crate::memory::rect::{self, RectSide};
use crate::memory::transfer::Transfer;
use crate::queue::{Ordering, Queue, settle};

/// What a command on buffers keeps alive.
pub(super) fn retained<'a>(
    buffers: impl IntoIterator<Item = &'a Arc<Buffer>>,
) -> RetainedResources {
    buffers
        .into_iter()
        .map(|buffer| Arc::clone(buffer) as _)
        .collect()
}

/// Checks a fill's pattern and size. Errors: `CL_INVALID_VALUE`.
pub(super) fn check_pattern(pattern: &[u8], size: usize) -> CLResult<()> {
    // CL_INVALID_VALUE if pattern_size is 0 or not one of { 1, 2, 4, 8, 16, 32, 64, 128 }, or if
    // size is not a multiple of pattern_size ("Filling Buffer Objects").
    let length = pattern.len();
    if !length.is_power_of_two() || length > 128 || !size.is_multiple_of(length) {
        return Err(ClError::INVALID_VALUE);
    }
    Ok(())
}

/// Checks that a buffer belongs to the context of a command. Errors: `CL_INVALID_CONTEXT`.
pub(super) fn check_buffer(context: &Arc<Context>, buffer: &Buffer) -> CLResult<()> {
    // CL_INVALID_CONTEXT if the context associated with command_queue and buffer are not the same.
    match Arc::ptr_eq(buffer.context(), context) {
        true => Ok(()),
        false => Err(ClError::INVALID_CONTEXT),
    }
}

/// Which way bytes go between a memory object and the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

impl Direction {
    /// Errors: `CL_INVALID_OPERATION`.
    pub(super) fn check_access(self, buffer: &Buffer) -> CLResult<()> {
        match self {
            // CL_INVALID_OPERATION if clEnqueueReadBuffer is called on buffer which has been
            // created with CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS; so with images.
            Direction::Read => buffer.check_host_read(),
            // CL_INVALID_OPERATION if clEnqueueWriteBuffer is called on buffer which has been
            // created with CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS or CL_MEM_IMMUTABLE_EXT.
            Direction::Write => buffer.check_host_write(),
        }
    }

    /// The destination, then the source.
    pub(super) fn ends<T>(self, host: T, buffer: T) -> (T, T) {
        match self {
            Direction::Read => (host, buffer),
            Direction::Write => (buffer, host),
        }
    }
}

/// The commands that a command-buffer takes as well. Errors: as [`Queue::enqueue_copy`],
/// [`Queue::enqueue_copy_rect`] and [`Queue::enqueue_fill`].
impl Command {
    pub(crate) fn copy(
        context: &Arc<Context>,
        source: &Arc<Buffer>,
        destination: &Arc<Buffer>,
        source_offset: usize,
        destination_offset: usize,
        size: usize,
    ) -> CLResult<Command> {
        check_buffer(context, source)?;
        check_buffer(context, destination)?;
        source.check_range(source_offset, size)?;
        destination.check_range(destination_offset, size)?;
        let from = source.pointer().offset(source_offset);
        let to = destination.pointer().offset(destination_offset);
        // CL_MEM_COPY_OVERLAP if src_buffer and dst_buffer are the same buffer or sub-buffer object
        // and the source and destination regions overlap or if src_buffer and dst_buffer are
        // different sub-buffers of the same associated buffer object and they overlap.
        if source.shares_memory_with(destination) && from.addr().abs_diff(to.addr()) < size {
            return Err(ClError::MEM_COPY_OVERLAP);
        }
        // CL_INVALID_OPERATION if dst_buffer was created with CL_MEM_IMMUTABLE_EXT.
        destination.check_mutable()?;
        Ok(Command {
            command_type: CL_COMMAND_COPY_BUFFER,
            work: Work::Transfer(Transfer::Copy {
                destination: to,
                source: from,
                size,
            }),
            retained: retained([source, destination]),
        })
    }

    pub(crate) fn copy_rect(
        context: &Arc<Context>,
        source: &Arc<Buffer>,
        destination: &Arc<Buffer>,
        source_side: RectSide,
        destination_side: RectSide,
        region: [usize; 3],
    ) -> CLResult<Command> {
        check_buffer(context, source)?;
        check_buffer(context, destination)?;
        let from = source_side.layout(region)?;
        let to = destination_side.layout(region)?;
        source.check_range(0, from.end)?;
        destination.check_range(0, to.end)?;
        // CL_INVALID_VALUE if src_buffer and dst_buffer are the same buffer object and
        // src_slice_pitch is not equal to dst_slice_pitch and src_row_pitch is not equal to
        // dst_row_pitch.
        let pitches_differ = from.row_pitch != to.row_pitch || from.slice_pitch != to.slice_pitch;
        if Arc::ptr_eq(source, destination) && pitches_differ {
            return Err(ClError::INVALID_VALUE);
        }
        if source.shares_memory_with(destination) {
            let shifted = |side: rect::RectLayout, buffer: &Buffer| rect::RectLayout {
                offset: side.offset + buffer.offset(),
                end: side.end + buffer.offset(),
                ..side
            };
            let (a, b) = (shifted(from, source), shifted(to, destination));
            // CL_MEM_COPY_OVERLAP if src_buffer and dst_buffer are the same buffer or sub-buffer
            // object and the source and destination regions overlap, or different sub-buffers of
            // the same buffer that do.
            let overlap = match pitches_differ {
                true => a.offset < b.end && b.offset < a.end,
                false => rect::overlap(&a, &b, region),
            };
            if overlap {
                return Err(ClError::MEM_COPY_OVERLAP);
            }
        }
        // CL_INVALID_OPERATION if dst_buffer was created with CL_MEM_IMMUTABLE_EXT.
        destination.check_mutable()?;
        Ok(Command {
            command_type: CL_COMMAND_COPY_BUFFER_RECT,
            work: Work::Transfer(Transfer::rect(
                (destination.pointer(), to),
                (source.pointer(), from),
                region,
            )),
            retained: retained([source, destination]),
        })
    }

    pub(crate) fn fill(
        context: &Arc<Context>,
        buffer: &Arc<Buffer>,
        pattern: &[u8],
        offset: usize,
        size: usize,
    ) -> CLResult<Command> {
        check_buffer(context, buffer)?;
        buffer.check_range(offset, size)?;
        check_pattern(pattern, size)?;
        // CL_INVALID_VALUE if offset and size are not a multiple of pattern_size.
        if !offset.is_multiple_of(pattern.len()) {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_OPERATION if buffer was created with CL_MEM_IMMUTABLE_EXT.
        buffer.check_mutable()?;
        Ok(Command {
            command_type: CL_COMMAND_FILL_BUFFER,
            work: Work::Transfer(Transfer::Fill {
                destination: buffer.pointer().offset(offset),
                size,
                pattern: SmallVec::from_slice(pattern),
            }),
            retained: retained([buffer]),
        })
    }
}

impl Queue {
    /// `clEnqueueReadBuffer`. `host` must be valid for `size` bytes until the command completes.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds, null),
    /// `CL_INVALID_OPERATION` (host access flags).
    #[allow(clippy::too_many_arguments)]
    pub fn enqueue_read(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        offset: usize,
        size: usize,
        host: HostPtr,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        let work = self.host_copy(Direction::Read, buffer, offset, size, host)?;
        self.transfer(CL_COMMAND_READ_BUFFER, work, buffer, wait, blocking)
    }

    /// `clEnqueueWriteBuffer`. `host` must be valid for `size` bytes until the command completes.
    ///
    /// Errors: as [`Queue::enqueue_read`].
    #[allow(clippy::too_many_arguments)]
    pub fn enqueue_write(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        offset: usize,
        size: usize,
        host: HostPtr,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        let work = self.host_copy(Direction::Write, buffer, offset, size, host)?;
        self.transfer(CL_COMMAND_WRITE_BUFFER, work, buffer, wait, blocking)
    }

    /// The work of a read or write.
    fn host_copy(
        &self,
        direction: Direction,
        buffer: &Buffer,
        offset: usize,
        size: usize,
        host: HostPtr,
    ) -> CLResult<Work> {
        check_buffer(self.context(), buffer)?;
        // CL_INVALID_VALUE if the region being read or written specified by (offset, size) is out
        // of bounds or if ptr is a NULL value ("Reading, Writing and Copying Buffer Objects").
        buffer.check_range(offset, size)?;
        check_pointer(host)?;
        direction.check_access(buffer)?;
        let inside = buffer.pointer().offset(offset);
        let (destination, source) = direction.ends(host, inside);
        Ok(Work::Transfer(Transfer::Copy {
            destination,
            source,
            size,
        }))
    }

    /// Enqueues a transfer between a buffer and the host, and waits for it if the caller does.
    fn transfer(
        self: &Arc<Self>,
        command_type: cl_command_type,
        work: Work,
        buffer: &Arc<Buffer>,
        wait: &[Arc<Event>],
        blocking: bool,
    ) -> CLResult<Arc<Event>> {
        let event = self.enqueue(
            command_type,
            work,
            retained([buffer]),
            wait,
            Ordering::Queue,
        )?;
        settle(event, blocking)
    }

    /// `clEnqueueCopyBuffer`.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds), `CL_MEM_COPY_OVERLAP`,
    /// `CL_INVALID_OPERATION` (immutable).
    #[allow(clippy::too_many_arguments)]
    pub fn enqueue_copy(
        self: &Arc<Self>,
        source: &Arc<Buffer>,
        destination: &Arc<Buffer>,
        source_offset: usize,
        destination_offset: usize,
        size: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        let command = Command::copy(
            self.context(),
            source,
            destination,
            source_offset,
            destination_offset,
            size,
        )?;
        self.submit(command, wait)
    }

    /// `clEnqueueReadBufferRect`. `host` must be valid for what `host_side` and `region` reach
    /// until the command completes.
    ///
    /// Errors: as [`Queue::enqueue_read`]; `CL_INVALID_VALUE` also for an empty region and pitches
    /// too small.
    #[allow(clippy::too_many_arguments)]
    pub fn enqueue_read_rect(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        buffer_side: RectSide,
        host_side: RectSide,
        region: [usize; 3],
        host: HostPtr,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        let sides = (buffer_side, host_side);
        let work = self.host_rect(Direction::Read, buffer, sides, region, host)?;
        self.transfer(CL_COMMAND_READ_BUFFER_RECT, work, buffer, wait, blocking)
    }

    /// `clEnqueueWriteBufferRect`. `host` as in [`Queue::enqueue_read_rect`].
    ///
    /// Errors: as [`Queue::enqueue_read_rect`].
    #[allow(clippy::too_many_arguments)]
    pub fn enqueue_write_rect(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        buffer_side: RectSide,
        host_side: RectSide,
        region: [usize; 3],
        host: HostPtr,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        let sides = (buffer_side, host_side);
        let work = self.host_rect(Direction::Write, buffer, sides, region, host)?;
        self.transfer(CL_COMMAND_WRITE_BUFFER_RECT, work, buffer, wait, blocking)
    }

    /// The work of a rectangular read or write, of which `sides` are the buffer's and the host's.
    fn host_rect(
        &self,
        direction: Direction,
        buffer: &Buffer,
        sides: (RectSide, RectSide),
        region: [usize; 3],
        host: HostPtr,
    ) -> CLResult<Work> {
        check_buffer(self.context(), buffer)?;
        check_pointer(host)?;
        direction.check_access(buffer)?;
        let inside = sides.0.layout(region)?;
        buffer.check_range(0, inside.end)?;
        let outside = sides.1.layout(region)?;
        let (destination, source) = direction.ends((host, outside), (buffer.pointer(), inside));
        Ok(Work::Transfer(Transfer::rect(destination, source, region)))
    }

    /// `clEnqueueCopyBufferRect`.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds, empty region, pitches),
    /// `CL_MEM_COPY_OVERLAP`, `CL_INVALID_OPERATION` (immutable).
    #[allow(clippy::too_many_arguments)]
    pub fn enqueue_copy_rect(
        self: &Arc<Self>,
        source: &Arc<Buffer>,
        destination: &Arc<Buffer>,
        source_side: RectSide,
        destination_side: RectSide,
        region: [usize; 3],
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        let command = Command::copy_rect(
            self.context(),
            source,
            destination,
            source_side,
            destination_side,
            region,
        )?;
        self.submit(command, wait)
    }

    /// `clEnqueueFillBuffer`: repeats `pattern` (copied now) over `size` bytes from `offset`.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds, pattern size, alignment),
    /// `CL_INVALID_OPERATION` (immutable).
    pub fn enqueue_fill(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        pattern: &[u8],
        offset: usize,
        size: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        let command = Command::fill(self.context(), buffer, pattern, offset, size)?;
        self.submit(command, wait)
    }
}

/// CL_INVALID_VALUE if ptr is a NULL value.
pub(super) fn check_pointer(pointer: HostPtr) -> CLResult<()> {
    match pointer.is_null() {
        true => Err(ClError::INVALID_VALUE),
        false => Ok(()),
    }
}
