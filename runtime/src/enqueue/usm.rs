//! Commands on unified shared memory (`cl_intel_unified_shared_memory`, "Filling and Copying
//! Unified Shared Memory", "Unified Shared Memory Hints").

use std::sync::Arc;

use opencl_sys::*;

use super::buffers::check_pointer;
use super::mapping::check_migration_flags;
use crate::command::Command;
use crate::error::{CLResult, ClError};
use crate::event::Event;
use crate::memory::host::HostPtr;
use crate::queue::{Ordering, Queue, settle};

impl Queue {
    /// `clEnqueueMemFillINTEL`, `clEnqueueMemsetINTEL`. `destination` must be valid for `size`
    /// bytes until the command completes.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (null, not aligned to the pattern, pattern
    /// size).
    pub fn enqueue_usm_fill(
        self: &Arc<Self>,
        destination: HostPtr,
        pattern: &[u8],
        size: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        // CL_INVALID_VALUE if dst_ptr is NULL.
        check_pointer(destination)?;
        let command = Command::fill_at(CL_COMMAND_MEMFILL_INTEL, destination, pattern, size)?;
        self.submit(command, wait)
    }

    /// `clEnqueueMemcpyINTEL`. Both must be valid for `size` bytes until the command completes.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (null), `CL_MEM_COPY_OVERLAP`, of a
    /// blocking copy `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST`.
    pub fn enqueue_usm_memcpy(
        self: &Arc<Self>,
        blocking: bool,
        destination: HostPtr,
        source: HostPtr,
        size: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        // CL_INVALID_VALUE if either dst_ptr or src_ptr are NULL.
        check_pointer(destination)?;
        check_pointer(source)?;
        let command = Command::copy_at(CL_COMMAND_MEMCPY_INTEL, destination, source, size)?;
        let event = self.submit(command, wait)?;
        settle(event, blocking)
    }

    /// `clEnqueueMigrateMemINTEL`: all memory is where it should be already.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (null, flags).
    pub fn enqueue_usm_migrate(
        self: &Arc<Self>,
        pointer: HostPtr,
        flags: u64,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        // "ptr is a pointer to the start of the shared Unified Shared Memory allocation"
        check_pointer(pointer)?;
        // CL_INVALID_VALUE if flags is not a supported combination of memory migration flags.
        check_migration_flags(flags)?;
        self.enqueue_nothing(CL_COMMAND_MIGRATEMEM_INTEL, wait, Ordering::Queue)
    }

    /// `clEnqueueMemAdviseINTEL`: no advice is defined yet.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_VALUE` (null, advice).
    pub fn enqueue_usm_advise(
        self: &Arc<Self>,
        pointer: HostPtr,
        advice: u32,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        check_pointer(pointer)?;
        // CL_INVALID_VALUE if advice is not supported advice for the device associated with
        // command_queue: the numbers are reserved.
        if advice != 0 {
            return Err(ClError::INVALID_VALUE);
        }
        self.enqueue_nothing(CL_COMMAND_MEMADVISE_INTEL, wait, Ordering::Queue)
    }
}
