//! Access to memory objects without a transfer: mapping, migrating, and handing external memory
//! over.

use std::sync::Arc;

use opencl_sys::*;

use super::{check_memory, retained};
use crate::memory::buffer::Buffer;
use crate::memory::host::HostPtr;
use crate::memory::mappings::Area;
use crate::memory::object::MemObject;
use crate::queue::{Ordering, Queue, wait_if_blocking};
use brolga_engine::Event;
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::work::{Nothing, Once};

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
pub(super) fn check_map_access(memory: &MemObject, flags: u64) -> CLResult<()> {
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
struct Unmapping(Arc<MemObject>);

impl Drop for Unmapping {
    fn drop(&mut self) {
        self.0.mapped_regions().count_down();
    }
}

impl Queue {
    /// `clEnqueueMapBuffer`: returns the event and the address, which points into the buffer
    /// itself.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (out of bounds, empty, flags),
    /// `CL_INVALID_OPERATION` (host access flags, or regions mapped for writing would overlap).
    pub fn enqueue_map(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        flags: u64,
        offset: usize,
        size: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<(Arc<Event>, *mut u8)> {
        let memory = buffer.memory();
        check_memory(self.context(), memory)?;
        self.check_wait_list(wait)?;
        // CL_INVALID_VALUE if region being mapped given by (offset, size) is out of bounds or if
        // size is 0 or if values specified in map_flags are not valid ("Mapping Buffer Objects").
        memory.check_range(offset, size)?;
        check_map_flags(flags)?;
        if size == 0 {
            return Err(ClError::INVALID_VALUE);
        }
        check_map_access(memory, flags)?;
        let address = memory.pointer().offset(offset);
        let area = Area::bytes(offset, size);
        memory.mapped_regions().add(area, address.addr(), flags)?;
        let event = self.enqueue_mapped(CL_COMMAND_MAP_BUFFER, memory, address, blocking, wait)?;
        Ok((event, address.as_ptr()))
    }

    /// The command of a mapping that is among the mapped regions of `memory`, and is taken out of
    /// them if that fails.
    pub(super) fn enqueue_mapped(
        self: &Arc<Self>,
        command_type: u32,
        memory: &Arc<MemObject>,
        address: HostPtr,
        blocking: bool,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        let retained = retained([memory]);
        self.enqueue(command_type, Nothing, retained, wait, Ordering::Queue)
            .and_then(|event| wait_if_blocking(event, blocking))
            .inspect_err(|_| {
                // The application never sees the address.
                if memory.mapped_regions().remove(address.addr()).is_ok() {
                    memory.mapped_regions().count_down();
                }
            })
    }

    /// `clEnqueueUnmapMemObject`.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` when `address` is not what mapping `memory`
    /// returned (and unmapping has not used up).
    pub fn enqueue_unmap(
        self: &Arc<Self>,
        memory: &Arc<MemObject>,
        address: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        check_memory(self.context(), memory)?;
        self.check_wait_list(wait)?;
        memory.mapped_regions().remove(address)?;
        let unmapping = Unmapping(Arc::clone(memory));
        let work = Once::instant(move || drop(unmapping));
        self.enqueue(
            CL_COMMAND_UNMAP_MEM_OBJECT,
            work,
            retained([memory]),
            wait,
            Ordering::Queue,
        )
    }

    /// `clEnqueueMigrateMemObjects`: all memory is where it should be already.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (no objects, flags).
    pub fn enqueue_migrate(
        self: &Arc<Self>,
        objects: &[Arc<MemObject>],
        flags: u64,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        check_migration_flags(flags)?;
        self.enqueue_migration(CL_COMMAND_MIGRATE_MEM_OBJECTS, objects, wait)
    }

    /// `clEnqueueMigrateMemObjectEXT`, the same before it was in the core.
    ///
    /// Errors: as [`Queue::enqueue_migrate`].
    pub fn enqueue_migrate_ext(
        self: &Arc<Self>,
        objects: &[Arc<MemObject>],
        flags: u64,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        // CL_INVALID_VALUE if flags is none of what the extension defines.
        if flags & !CL_MIGRATE_MEM_OBJECT_HOST_EXT != 0 {
            return Err(ClError::INVALID_VALUE);
        }
        self.enqueue_migration(CL_COMMAND_MIGRATE_MEM_OBJECT_EXT as u32, objects, wait)
    }

    fn enqueue_migration(
        self: &Arc<Self>,
        command_type: u32,
        objects: &[Arc<MemObject>],
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        // CL_INVALID_VALUE if num_mem_objects is zero or if mem_objects is NULL ("Migrating Memory
        // Objects").
        if objects.is_empty() {
            return Err(ClError::INVALID_VALUE);
        }
        for memory in objects {
            check_memory(self.context(), memory)?;
        }
        let retained = retained(objects);
        self.enqueue(command_type, Nothing, retained, wait, Ordering::Queue)
    }
}

impl Queue {
    /// `clEnqueueAcquireExternalMemObjectsKHR`. An empty list only waits.
    ///
    /// Errors: `CL_INVALID_MEM_OBJECT` for one that is not imported.
    pub fn enqueue_acquire_external(
        self: &Arc<Self>,
        objects: &[Arc<MemObject>],
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        self.enqueue_hand_over(objects, true, wait)
    }

    /// `clEnqueueReleaseExternalMemObjectsKHR`. An empty list only waits.
    ///
    /// Errors: as [`Queue::enqueue_acquire_external`].
    pub fn enqueue_release_external(
        self: &Arc<Self>,
        objects: &[Arc<MemObject>],
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        self.enqueue_hand_over(objects, false, wait)
    }

    fn enqueue_hand_over(
        self: &Arc<Self>,
        objects: &[Arc<MemObject>],
        acquire: bool,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        // CL_INVALID_MEM_OBJECT if any of the memory objects in mem_objects is not a valid OpenCL
        // memory object created using an external memory handle ("Acquiring and Releasing External
        // Memory Objects").
        if objects.iter().any(|memory| memory.external().is_none()) {
            return Err(ClError::INVALID_MEM_OBJECT);
        }
        let is_synchronized = |memory: &&Arc<MemObject>| {
            let external = memory.external();
            external.is_some_and(|external| external.is_synchronized())
        };
        let synchronized: Vec<_> = objects.iter().filter(is_synchronized).cloned().collect();
        let work = (!synchronized.is_empty()).then(|| {
            Once::blocking(move || {
                let mut all = synchronized.iter().filter_map(|memory| memory.external());
                all.try_for_each(|external| external.synchronize(acquire))
            })
        });
        let command_type = match acquire {
            true => CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR,
            false => CL_COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR,
        };
        self.enqueue(command_type, work, retained(objects), wait, Ordering::Queue)
    }
}
