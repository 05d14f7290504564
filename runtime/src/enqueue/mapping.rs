//! Access to buffers without a transfer: mapping, migrating, and handing external memory over.

use std::sync::Arc;

use opencl_sys::*;

use super::buffers::{check_buffer, retained};
use crate::memory::buffer::{Area, Buffer};
use crate::memory::host::HostPtr;
use crate::queue::{Ordering, Queue, settle};
use brolga_engine::Event;
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::work::{Nothing, Once, RetainedResources};

/// Checks map flags. Errors: `CL_INVALID_VALUE`.
pub(super) fn check_map_flags(flags: u64) -> CLResult<()> {
    // CL_INVALID_VALUE if values specified in map_flags are not valid ("Mapping Buffer Objects"):
    // CL_MAP_READ or CL_MAP_WRITE and CL_MAP_WRITE_INVALIDATE_REGION are mutually exclusive.
    let known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    let invalidate = flags & CL_MAP_WRITE_INVALIDATE_REGION != 0;
    if flags & !known != 0 || invalidate && flags & (CL_MAP_READ | CL_MAP_WRITE) != 0 {
        return Err(ClError::INVALID_VALUE);
    }
    Ok(())
}

/// Checks that a memory object may be mapped so. Errors: `CL_INVALID_OPERATION`.
pub(super) fn check_map_access(memory: &Buffer, flags: u64) -> CLResult<()> {
    // CL_INVALID_OPERATION if buffer has been created with CL_MEM_HOST_WRITE_ONLY or
    // CL_MEM_HOST_NO_ACCESS and CL_MAP_READ is set in map_flags, or with CL_MEM_HOST_READ_ONLY or
    // CL_MEM_HOST_NO_ACCESS and a write is.
    if flags & CL_MAP_READ != 0 {
        memory.check_host_read()?;
    }
    if flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0 {
        memory.check_host_write()?;
    }
    Ok(())
}

/// Errors: `CL_INVALID_VALUE`.
pub(super) fn check_migration_flags(flags: u64) -> CLResult<()> {
    // CL_INVALID_VALUE if flags is not 0 or is not any of the values described in the table
    // ("Migrating Memory Objects").
    match flags & !(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) {
        0 => Ok(()),
        _ => Err(ClError::INVALID_VALUE),
    }
}

/// Counts a mapping down when its unmap is done with, also if that fails since something did that
/// it waits for: the mapping is forgotten, and no other unmap can count it down.
struct Unmapping(Arc<Buffer>);

impl Drop for Unmapping {
    fn drop(&mut self) {
        self.0.unmapped();
    }
}

impl Queue {
    /// `clEnqueueMapBuffer`: returns the event and the address, which points into the buffer
    /// itself.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds, empty, flags),
    /// `CL_INVALID_OPERATION` (host access flags, or regions mapped for writing would overlap).
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
        // CL_INVALID_VALUE if region being mapped given by (offset, size) is out of bounds or if
        // size is 0 or if values specified in map_flags are not valid ("Mapping Buffer Objects").
        buffer.check_range(offset, size)?;
        check_map_flags(flags)?;
        if size == 0 {
            return Err(ClError::INVALID_VALUE);
        }
        check_map_access(buffer, flags)?;
        let address = buffer.pointer().offset(offset);
        buffer.map(Area::bytes(offset, size), address.addr(), flags)?;
        let retained = retained([buffer]);
        let event = self.mapped(
            CL_COMMAND_MAP_BUFFER,
            buffer,
            address,
            retained,
            wait,
            blocking,
        )?;
        Ok((event, address.as_ptr()))
    }

    /// The command of a mapping that is recorded in `memory`, which is forgotten if that fails.
    pub(super) fn mapped(
        self: &Arc<Self>,
        command_type: u32,
        memory: &Buffer,
        address: HostPtr,
        retained: RetainedResources,
        wait: &[Arc<Event>],
        blocking: bool,
    ) -> CLResult<Arc<Event>> {
        self.enqueue(command_type, Nothing, retained, wait, Ordering::Queue)
            .and_then(|event| settle(event, blocking))
            .inspect_err(|_| {
                // The application never sees the address.
                if memory.take_mapping(address.addr()).is_ok() {
                    memory.unmapped();
                }
            })
    }

    /// `clEnqueueUnmapMemObject`.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` when `address` is not what mapping `buffer`
    /// returned (and unmapping has not used up).
    pub fn enqueue_unmap(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        address: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        check_buffer(self.context(), buffer)?;
        self.check_wait_list(wait)?;
        buffer.take_mapping(address)?;
        let unmapping = Unmapping(Arc::clone(buffer));
        let work = Once::instant(move || drop(unmapping));
        self.enqueue(
            CL_COMMAND_UNMAP_MEM_OBJECT,
            work,
            retained([buffer]),
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
        // CL_INVALID_VALUE if num_mem_objects is zero or if mem_objects is NULL ("Migrating Memory
        // Objects").
        if buffers.is_empty() {
            return Err(ClError::INVALID_VALUE);
        }
        for buffer in buffers {
            check_buffer(self.context(), buffer)?;
        }
        let retained = retained(buffers);
        self.enqueue(command_type, Nothing, retained, wait, Ordering::Queue)
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
        // CL_INVALID_MEM_OBJECT if any of the memory objects in mem_objects is not a valid OpenCL
        // memory object created using an external memory handle ("Acquiring and Releasing External
        // Memory Objects").
        if buffers.iter().any(|buffer| buffer.external().is_none()) {
            return Err(ClError::INVALID_MEM_OBJECT);
        }
        let is_synchronized = |buffer: &&Arc<Buffer>| {
            let external = buffer.external();
            external.is_some_and(|external| external.is_synchronized())
        };
        let synchronized: Vec<_> = buffers.iter().filter(is_synchronized).cloned().collect();
        let work = (!synchronized.is_empty()).then(|| {
            Once::blocking(move || {
                let mut all = synchronized.iter().filter_map(|buffer| buffer.external());
                all.try_for_each(|external| external.synchronize(acquire))
            })
        });
        let command_type = match acquire {
            true => CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR,
            false => CL_COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR,
        };
        self.enqueue(command_type, work, retained(buffers), wait, Ordering::Queue)
    }
}
