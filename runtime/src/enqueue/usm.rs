//! Commands on unified shared memory (`cl_intel_unified_shared_memory`, "Filling and Copying
//! Unified Shared Memory", "Unified Shared Memory Hints").

use std::sync::Arc;

use opencl_sys::*;

use super::buffers::check_pointer;
use super::mapping::check_migration_flags;
use super::{Description, svm};
use crate::base::device::Device;
use crate::command::Command;
use crate::context::Context;
use crate::memory::host::HostPtr;
use crate::memory::pattern::Pattern;
use crate::queue::{Ordering, Queue};
use brolga_engine::Event;
use brolga_engine::error::{CLResult, ClError};

/// `clEnqueueMemFillINTEL`, `clEnqueueMemsetINTEL`. `destination` must be valid for `size` bytes
/// until the command completes.
///
/// Errors: `CL_INVALID_VALUE` (null, not aligned to the pattern, no whole patterns).
#[derive(Clone, Debug)]
pub struct UsmFill {
    pub destination: HostPtr,
    pub pattern: Pattern,
    pub size: usize,
}

impl Description for UsmFill {
    fn command(self, _: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        // CL_INVALID_VALUE if dst_ptr is NULL.
        check_pointer(self.destination)?;
        let command_type = CL_COMMAND_MEMFILL_INTEL;
        svm::fill(command_type, self.destination, self.pattern, self.size)
    }
}

/// `clEnqueueMemcpyINTEL`. Both must be valid for `size` bytes until the command completes.
///
/// Errors: `CL_INVALID_VALUE` (null), `CL_MEM_COPY_OVERLAP`.
#[derive(Clone, Copy, Debug)]
pub struct UsmCopy {
    pub destination: HostPtr,
    pub source: HostPtr,
    pub size: usize,
}

impl Description for UsmCopy {
    fn command(self, _: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        // CL_INVALID_VALUE if either dst_ptr or src_ptr are NULL.
        check_pointer(self.destination)?;
        check_pointer(self.source)?;
        let command_type = CL_COMMAND_MEMCPY_INTEL;
        svm::copy(command_type, self.destination, self.source, self.size)
    }
}

impl Queue {
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
