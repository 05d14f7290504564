//! Reading, writing, copying and filling buffers ("Reading, Writing and Copying Buffer Objects",
//! "Filling Buffer Objects").

use std::sync::Arc;

use opencl_sys::*;

use super::{Description, check_memory, retained};
use crate::base::device::Device;
use crate::command::{Captured, Command};
use crate::context::Context;
use crate::memory::buffer::Buffer;
use crate::memory::host::HostPtr;
use crate::memory::object::MemObject;
use crate::memory::pattern::Pattern;
use crate::memory::rect::{self, RectLayout, RectSide};
use crate::memory::transfer::Transfer;
use brolga_engine::error::{CLResult, ClError};

/// CL_INVALID_VALUE if ptr is a NULL value.
pub(super) fn check_pointer(pointer: HostPtr) -> CLResult<()> {
    match pointer.is_null() {
        true => Err(ClError::INVALID_VALUE),
        false => Ok(()),
    }
}

/// Which way bytes go between a memory object and the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Read,
    Write,
}

impl Direction {
    /// Errors: `CL_INVALID_OPERATION`.
    pub(super) fn check_access(self, memory: &MemObject) -> CLResult<()> {
        match self {
            // CL_INVALID_OPERATION if clEnqueueReadBuffer is called on buffer which has been
            // created with CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS; so with images.
            Direction::Read => memory.check_host_read(),
            // CL_INVALID_OPERATION if clEnqueueWriteBuffer is called on buffer which has been
            // created with CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS or CL_MEM_IMMUTABLE_EXT.
            Direction::Write => memory.check_host_write(),
        }
    }

    /// The destination, then the source.
    pub(super) fn ends<T>(self, host: T, memory: T) -> (T, T) {
        match self {
            Direction::Read => (host, memory),
            Direction::Write => (memory, host),
        }
    }

    /// What is right for reading, or for writing.
    pub(super) fn either<T>(self, read: T, write: T) -> T {
        match self {
            Direction::Read => read,
            Direction::Write => write,
        }
    }
}

/// `clEnqueueReadBuffer`, `clEnqueueWriteBuffer`. `host` must be valid for `size` bytes until the
/// command completes.
///
/// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds, null), `CL_INVALID_OPERATION`
/// (host access flags, immutable).
#[derive(Clone, Copy, Debug)]
pub struct HostCopy<'a> {
    pub direction: Direction,
    pub buffer: &'a Arc<Buffer>,
    pub offset: usize,
    pub size: usize,
    pub host: HostPtr,
}

impl Description for HostCopy<'_> {
    fn command(self, context: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        let memory = self.buffer.memory();
        check_memory(context, memory)?;
        // CL_INVALID_VALUE if the region being read or written specified by (offset, size) is out
        // of bounds or if ptr is a NULL value.
        memory.check_range(self.offset, self.size)?;
        check_pointer(self.host)?;
        self.direction.check_access(memory)?;
        let inside = memory.pointer().offset(self.offset);
        let (destination, source) = self.direction.ends(self.host, inside);
        Ok(Command {
            command_type: self
                .direction
                .either(CL_COMMAND_READ_BUFFER, CL_COMMAND_WRITE_BUFFER),
            work: Captured::Transfer(Transfer::Copy {
                destination,
                source,
                size: self.size,
            }),
            retained: retained([memory]),
        })
    }
}

/// `clEnqueueReadBufferRect`, `clEnqueueWriteBufferRect`. `host` must be valid for what `host_side`
/// and `region` reach until the command completes.
///
/// Errors: as [`HostCopy`]; `CL_INVALID_VALUE` also for an empty region and pitches too small.
#[derive(Clone, Copy, Debug)]
pub struct HostRect<'a> {
    pub direction: Direction,
    pub buffer: &'a Arc<Buffer>,
    pub buffer_side: RectSide,
    pub host: HostPtr,
    pub host_side: RectSide,
    pub region: [usize; 3],
}

impl Description for HostRect<'_> {
    fn command(self, context: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        let memory = self.buffer.memory();
        check_memory(context, memory)?;
        check_pointer(self.host)?;
        self.direction.check_access(memory)?;
        let inside = self.buffer_side.layout(self.region)?;
        memory.check_range(0, inside.end)?;
        let outside = self.host_side.layout(self.region)?;
        let (destination, source) = self
            .direction
            .ends((self.host, outside), (memory.pointer(), inside));
        Ok(Command {
            command_type: self
                .direction
                .either(CL_COMMAND_READ_BUFFER_RECT, CL_COMMAND_WRITE_BUFFER_RECT),
            work: Captured::Transfer(Transfer::rect(destination, source, self.region)),
            retained: retained([memory]),
        })
    }
}

/// `clEnqueueCopyBuffer`, `clCommandCopyBufferKHR`.
///
/// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds), `CL_MEM_COPY_OVERLAP`,
/// `CL_INVALID_OPERATION` (immutable).
#[derive(Clone, Copy, Debug)]
pub struct CopyBuffer<'a> {
    pub source: &'a Arc<Buffer>,
    pub destination: &'a Arc<Buffer>,
    pub source_offset: usize,
    pub destination_offset: usize,
    pub size: usize,
}

impl Description for CopyBuffer<'_> {
    fn command(self, context: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        let (source, destination) = (self.source.memory(), self.destination.memory());
        check_memory(context, source)?;
        check_memory(context, destination)?;
        source.check_range(self.source_offset, self.size)?;
        destination.check_range(self.destination_offset, self.size)?;
        let from = source.pointer().offset(self.source_offset);
        let to = destination.pointer().offset(self.destination_offset);
        // CL_MEM_COPY_OVERLAP if src_buffer and dst_buffer are the same buffer or sub-buffer object
        // and the source and destination regions overlap or if src_buffer and dst_buffer are
        // different sub-buffers of the same associated buffer object and they overlap.
        if source.shares_memory_with(destination) && from.addr().abs_diff(to.addr()) < self.size {
            return Err(ClError::MEM_COPY_OVERLAP);
        }
        // CL_INVALID_OPERATION if dst_buffer was created with CL_MEM_IMMUTABLE_EXT.
        destination.check_mutable()?;
        Ok(Command {
            command_type: CL_COMMAND_COPY_BUFFER,
            work: Captured::Transfer(Transfer::Copy {
                destination: to,
                source: from,
                size: self.size,
            }),
            retained: retained([source, destination]),
        })
    }
}

/// `clEnqueueCopyBufferRect`, `clCommandCopyBufferRectKHR`.
///
/// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds, empty region, pitches),
/// `CL_MEM_COPY_OVERLAP`, `CL_INVALID_OPERATION` (immutable).
#[derive(Clone, Copy, Debug)]
pub struct CopyRect<'a> {
    pub source: &'a Arc<Buffer>,
    pub destination: &'a Arc<Buffer>,
    pub source_side: RectSide,
    pub destination_side: RectSide,
    pub region: [usize; 3],
}

impl CopyRect<'_> {
    /// Whether two regions of memory that the buffers share have a byte in common. Errors:
    /// `CL_INVALID_VALUE`.
    fn overlaps(&self, from: RectLayout, to: RectLayout) -> CLResult<bool> {
        // CL_INVALID_VALUE if src_buffer and dst_buffer are the same buffer object and
        // src_slice_pitch is not equal to dst_slice_pitch and src_row_pitch is not equal to
        // dst_row_pitch.
        let pitches_differ = from.row_pitch != to.row_pitch || from.slice_pitch != to.slice_pitch;
        if Arc::ptr_eq(self.source, self.destination) && pitches_differ {
            return Err(ClError::INVALID_VALUE);
        }
        let (source, destination) = (self.source.memory(), self.destination.memory());
        if !source.shares_memory_with(destination) {
            return Ok(false);
        }
        let shifted = |side: RectLayout, memory: &MemObject| RectLayout {
            offset: side.offset + memory.offset(),
            end: side.end + memory.offset(),
            ..side
        };
        let (a, b) = (shifted(from, source), shifted(to, destination));
        Ok(match pitches_differ {
            true => a.offset < b.end && b.offset < a.end,
            false => rect::overlap(&a, &b, self.region),
        })
    }
}

impl Description for CopyRect<'_> {
    fn command(self, context: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        let (source, destination) = (self.source.memory(), self.destination.memory());
        check_memory(context, source)?;
        check_memory(context, destination)?;
        let from = self.source_side.layout(self.region)?;
        let to = self.destination_side.layout(self.region)?;
        source.check_range(0, from.end)?;
        destination.check_range(0, to.end)?;
        // CL_MEM_COPY_OVERLAP if src_buffer and dst_buffer are the same buffer or sub-buffer object
        // and the source and destination regions overlap, or different sub-buffers of the same
        // buffer that do.
        if self.overlaps(from, to)? {
            return Err(ClError::MEM_COPY_OVERLAP);
        }
        // CL_INVALID_OPERATION if dst_buffer was created with CL_MEM_IMMUTABLE_EXT.
        destination.check_mutable()?;
        Ok(Command {
            command_type: CL_COMMAND_COPY_BUFFER_RECT,
            work: Captured::Transfer(Transfer::rect(
                (destination.pointer(), to),
                (source.pointer(), from),
                self.region,
            )),
            retained: retained([source, destination]),
        })
    }
}

/// `clEnqueueFillBuffer`, `clCommandFillBufferKHR`: repeats `pattern` over `size` bytes from
/// `offset`.
///
/// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds, no whole patterns),
/// `CL_INVALID_OPERATION` (immutable).
#[derive(Clone, Debug)]
pub struct FillBuffer<'a> {
    pub buffer: &'a Arc<Buffer>,
    pub pattern: Pattern,
    pub offset: usize,
    pub size: usize,
}

impl Description for FillBuffer<'_> {
    fn command(self, context: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        let FillBuffer {
            buffer,
            pattern,
            offset,
            size,
        } = self;
        let memory = buffer.memory();
        check_memory(context, memory)?;
        memory.check_range(offset, size)?;
        pattern.check_fits(offset, size)?;
        // CL_INVALID_OPERATION if buffer was created with CL_MEM_IMMUTABLE_EXT.
        memory.check_mutable()?;
        Ok(Command {
            command_type: CL_COMMAND_FILL_BUFFER,
            work: Captured::Transfer(Transfer::Fill {
                destination: memory.pointer().offset(offset),
                size,
                pattern: pattern.into_bytes(),
            }),
            retained: retained([memory]),
        })
    }
}
