//! Reading, writing, copying, filling, mapping and migrating buffers.

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

fn retained(buffers: &[&Arc<Buffer>]) -> RetainedResources {
    buffers
        .iter()
        .map(|&buffer| Arc::clone(buffer) as _)
        .collect()
}

/// Checks a fill's pattern and size. Errors: `CL_INVALID_VALUE`.
pub(super) fn check_pattern(pattern: &[u8], size: usize) -> CLResult<()> {
    // CL_INVALID_VALUE if pattern_size is 0 or not one of { 1, 2, 4, 8, 16, 32, 64, 128 }, or if size is not a multiple of
    // pattern_size ("Filling Buffer Objects").
    let length = pattern.len();
    if !length.is_power_of_two() || length > 128 || !size.is_multiple_of(length) {
        return Err(ClError::INVALID_VALUE);
    }
    Ok(())
}

/// Checks map flags. Errors: `CL_INVALID_VALUE`.
pub(super) fn check_map_flags(flags: u64) -> CLResult<()> {
    // CL_INVALID_VALUE if values specified in map_flags are not valid ("Mapping Buffer Objects"): CL_MAP_READ or CL_MAP_WRITE and
    // CL_MAP_WRITE_INVALIDATE_REGION are mutually exclusive.
    let known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    let invalidate = flags & CL_MAP_WRITE_INVALIDATE_REGION != 0;
    if flags & !known != 0 || invalidate && flags & (CL_MAP_READ | CL_MAP_WRITE) != 0 {
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

/// The commands that a command-buffer takes as well. Errors: as [`Queue::enqueue_copy`], [`Queue::enqueue_copy_rect`] and
/// [`Queue::enqueue_fill`].
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
        // CL_MEM_COPY_OVERLAP if src_buffer and dst_buffer are the same buffer or sub-buffer object and the source and
        // destination regions overlap or if src_buffer and dst_buffer are different sub-buffers of the same associated
        // buffer object and they overlap.
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
            retained: retained(&[source, destination]),
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
        // CL_INVALID_VALUE if src_buffer and dst_buffer are the same buffer object and src_slice_pitch is not equal to
        // dst_slice_pitch and src_row_pitch is not equal to dst_row_pitch.
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
            // CL_MEM_COPY_OVERLAP if src_buffer and dst_buffer are the same buffer or sub-buffer object and the source and
            // destination regions overlap, or different sub-buffers of the same buffer that do.
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
            work: Work::Transfer(Transfer::Rect {
                destination: (destination.pointer(), to),
                source: (source.pointer(), from),
                region,
            }),
            retained: retained(&[source, destination]),
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
            retained: retained(&[buffer]),
        })
    }
}

impl Queue {
    /// `clEnqueueReadBuffer`. `host` must be valid for `size` bytes until the command completes.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds, null), `CL_INVALID_OPERATION` (host access flags).
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
        check_buffer(self.context(), buffer)?;
        // CL_INVALID_VALUE if the region being read specified by (offset, size) is out of bounds or if ptr is a NULL value
        // ("Reading, Writing and Copying Buffer Objects").
        buffer.check_range(offset, size)?;
        check_pointer(host)?;
        // CL_INVALID_OPERATION if clEnqueueReadBuffer is called on buffer which has been created with
        // CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS.
        buffer.check_host_read()?;
        let work = Work::Transfer(Transfer::Copy {
            destination: host,
            source: buffer.pointer().offset(offset),
            size,
        });
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
        check_buffer(self.context(), buffer)?;
        buffer.check_range(offset, size)?;
        check_pointer(host)?;
        // CL_INVALID_OPERATION if clEnqueueWriteBuffer is called on buffer which has been created with
        // CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS or CL_MEM_IMMUTABLE_EXT.
        buffer.check_host_write()?;
        let work = Work::Transfer(Transfer::Copy {
            destination: buffer.pointer().offset(offset),
            source: host,
            size,
        });
        self.transfer(CL_COMMAND_WRITE_BUFFER, work, buffer, wait, blocking)
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
            retained(&[buffer]),
            wait,
            Ordering::Queue,
        )?;
        settle(event, blocking)
    }

    /// `clEnqueueCopyBuffer`.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds), `CL_MEM_COPY_OVERLAP`, `CL_INVALID_OPERATION`
    /// (immutable).
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

    /// `clEnqueueReadBufferRect`. `host` must be valid for what `host_side` and `region` reach until the command
    /// completes.
    ///
    /// Errors: as [`Queue::enqueue_read`]; `CL_INVALID_VALUE` also for an empty region and pitches too small.
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
        check_buffer(self.context(), buffer)?;
        check_pointer(host)?;
        buffer.check_host_read()?;
        let inside = buffer_side.layout(region)?;
        buffer.check_range(0, inside.end)?;
        let work = Work::Transfer(Transfer::Rect {
            destination: (host, host_side.layout(region)?),
            source: (buffer.pointer(), inside),
            region,
        });
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
        check_buffer(self.context(), buffer)?;
        check_pointer(host)?;
        buffer.check_host_write()?;
        let inside = buffer_side.layout(region)?;
        buffer.check_range(0, inside.end)?;
        let work = Work::Transfer(Transfer::Rect {
            destination: (buffer.pointer(), inside),
            source: (host, host_side.layout(region)?),
            region,
        });
        self.transfer(CL_COMMAND_WRITE_BUFFER_RECT, work, buffer, wait, blocking)
    }

    /// `clEnqueueCopyBufferRect`.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds, empty region, pitches), `CL_MEM_COPY_OVERLAP`,
    /// `CL_INVALID_OPERATION` (immutable).
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
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds, pattern size, alignment), `CL_INVALID_OPERATION`
    /// (immutable).
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

    /// `clEnqueueMapBuffer`: returns the event and the address, which points into the buffer itself.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds, empty, flags), `CL_INVALID_OPERATION` (host access
    /// flags, or regions mapped for writing would overlap).
    #[allow(clippy::too_many_arguments)]
    pub fn enqueue_map(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        flags: u64,
        offset: usize,
        size: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<(Arc<Event>, *mut u8)> {
        check_buffer(self.context(), buffer)?;
        self.check_wait_list(wait)?;
        // CL_INVALID_VALUE if region being mapped given by (offset, size) is out of bounds or if size is 0 or if values
        // specified in map_flags are not valid ("Mapping Buffer Objects").
        buffer.check_range(offset, size)?;
        check_map_flags(flags)?;
        if size == 0 {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_OPERATION if buffer has been created with CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS and CL_MAP_READ
        // is set in map_flags, or with CL_MEM_HOST_READ_ONLY or CL_MEM_HOST_NO_ACCESS and a write is.
        if flags & CL_MAP_READ != 0 {
            buffer.check_host_read()?;
        }
        if flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0 {
            buffer.check_host_write()?;
        }
        buffer.map(offset, size, flags)?;
        let address = buffer.pointer().offset(offset);
        let retained = retained(&[buffer]);
        let result = self
            .enqueue(
                CL_COMMAND_MAP_BUFFER,
                Work::Nothing,
                retained,
                wait,
                Ordering::Queue,
            )
            .and_then(|event| settle(event, blocking));
        match result {
            Ok(event) => Ok((event, address.as_ptr())),
            Err(error) => {
                // The application never sees the address.
                if buffer.take_mapping(address.addr()).is_ok() {
                    buffer.unmapped();
                }
                Err(error)
            }
        }
    }

    /// `clEnqueueUnmapMemObject`.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` when `address` is not what mapping `buffer` returned (and
    /// unmapping has not used up).
    pub fn enqueue_unmap(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        address: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        check_buffer(self.context(), buffer)?;
        self.check_wait_list(wait)?;
        buffer.take_mapping(address)?;
        let mapped = Arc::clone(buffer);
        let work = Work::instant(Box::new(move || mapped.unmapped()));
        self.enqueue(
            CL_COMMAND_UNMAP_MEM_OBJECT,
            work,
            retained(&[buffer]),
            wait,
            Ordering::Queue,
        )
    }

    /// `clEnqueueMigrateMemObjects`: all memory is where it should be already.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (no buffers, flags).
    pub fn enqueue_migrate(
        self: &Arc<Self>,
        buffers: &[Arc<Buffer>],
        flags: u64,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        check_migration_flags(flags)?;
        self.enqueue_migration(CL_COMMAND_MIGRATE_MEM_OBJECTS, buffers, wait)
    }

    /// `clEnqueueMigrateMemObjectEXT`, the same before it was in the core.
    ///
    /// Errors: as [`Queue::enqueue_migrate`].
    pub fn enqueue_migrate_ext(
        self: &Arc<Self>,
        buffers: &[Arc<Buffer>],
        flags: u64,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        // CL_INVALID_VALUE if flags is none of what the extension defines.
        if flags & !CL_MIGRATE_MEM_OBJECT_HOST_EXT != 0 {
            return Err(ClError::INVALID_VALUE);
        }
        self.enqueue_migration(CL_COMMAND_MIGRATE_MEM_OBJECT_EXT as u32, buffers, wait)
    }

    fn enqueue_migration(
        self: &Arc<Self>,
        command_type: u32,
        buffers: &[Arc<Buffer>],
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        // CL_INVALID_VALUE if num_mem_objects is zero or if mem_objects is NULL ("Migrating Memory Objects").
        if buffers.is_empty() {
            return Err(ClError::INVALID_VALUE);
        }
        for buffer in buffers {
            check_buffer(self.context(), buffer)?;
        }
        let retained = buffers
            .iter()
            .map(|buffer| Arc::clone(buffer) as _)
            .collect();
        self.enqueue(command_type, Work::Nothing, retained, wait, Ordering::Queue)
    }
}

impl Queue {
    /// `clEnqueueAcquireExternalMemObjectsKHR`. An empty list only waits.
    ///
    /// Errors: `CL_INVALID_MEM_OBJECT` for a buffer that is not imported.
    pub fn enqueue_acquire_external(
        self: &Arc<Self>,
        buffers: &[Arc<Buffer>],
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        self.enqueue_hand_over(buffers, true, wait)
    }

    /// `clEnqueueReleaseExternalMemObjectsKHR`. An empty list only waits.
    ///
    /// Errors: as [`Queue::enqueue_acquire_external`].
    pub fn enqueue_release_external(
        self: &Arc<Self>,
        buffers: &[Arc<Buffer>],
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        self.enqueue_hand_over(buffers, false, wait)
    }

    fn enqueue_hand_over(
        self: &Arc<Self>,
        buffers: &[Arc<Buffer>],
        acquire: bool,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        // CL_INVALID_MEM_OBJECT if any of the memory objects in mem_objects is not a valid OpenCL memory object created using an
        // external memory handle ("Acquiring and Releasing External Memory Objects").
        if buffers.iter().any(|buffer| buffer.external().is_none()) {
            return Err(ClError::INVALID_MEM_OBJECT);
        }
        let is_synchronized = |buffer: &&Arc<Buffer>| {
            let external = buffer.external();
            external.is_some_and(|external| external.is_synchronized())
        };
        let synchronized: Vec<_> = buffers.iter().filter(is_synchronized).cloned().collect();
        let work = match synchronized.is_empty() {
            true => Work::Nothing,
            false => Work::blocking(Box::new(move || {
                let mut all = synchronized.iter().filter_map(|buffer| buffer.external());
                all.try_for_each(|external| external.synchronize(acquire))
            })),
        };
        let command_type = match acquire {
            true => CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR,
            false => CL_COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR,
        };
        let retained = buffers
            .iter()
            .map(|buffer| Arc::clone(buffer) as _)
            .collect();
        self.enqueue(command_type, work, retained, wait, Ordering::Queue)
    }
}

/// Errors: `CL_INVALID_VALUE`.
pub(super) fn check_migration_flags(flags: u64) -> CLResult<()> {
    // CL_INVALID_VALUE if flags is not 0 or is not any of the values described in the table ("Migrating Memory Objects").
    match flags & !(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) {
        0 => Ok(()),
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// CL_INVALID_VALUE if ptr is a NULL value.
pub(super) fn check_pointer(pointer: HostPtr) -> CLResult<()> {
    match pointer.is_null() {
        true => Err(ClError::INVALID_VALUE),
        false => Ok(()),
    }
}
