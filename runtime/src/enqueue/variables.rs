//! Commands on program-scope variables (`cl_intel_global_variable_access`).

use std::sync::Arc;

use crate::command::{Command, Work};
use crate::error::{CLResult, ClError};
use crate::event::Event;
use crate::memory::host::HostPtr;
use crate::memory::transfer::Transfer;
use crate::program::Program;
use crate::queue::{Queue, settle};

/// `CL_COMMAND_READ_GLOBAL_VARIABLE_INTEL`
pub(crate) const READ_GLOBAL_VARIABLE: u32 = 0x418E;
/// `CL_COMMAND_WRITE_GLOBAL_VARIABLE_INTEL`
pub(crate) const WRITE_GLOBAL_VARIABLE: u32 = 0x418F;

/// What is read or written of a variable.
#[derive(Clone, Copy, Debug)]
pub struct VariableRegion<'a> {
    pub program: &'a Arc<Program>,
    pub name: &'a str,
    /// Bytes from the beginning of the variable.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
}

impl Queue {
    /// `clEnqueueReadGlobalVariableINTEL`: a region of a variable to `host`, which must be valid
    /// for as many bytes until the command completes.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_PROGRAM_EXECUTABLE`, `CL_INVALID_ARG_VALUE` (no
    /// such variable), `CL_INVALID_VALUE` (out of bounds), `CL_INVALID_OPERATION` (not readable).
    pub fn enqueue_read_variable(
        self: &Arc<Self>,
        region: VariableRegion<'_>,
        blocking: bool,
        host: HostPtr,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        self.variable(region, false, host, blocking, wait)
    }

    /// `clEnqueueWriteGlobalVariableINTEL`: the reverse. Errors: as for reading.
    pub fn enqueue_write_variable(
        self: &Arc<Self>,
        region: VariableRegion<'_>,
        blocking: bool,
        host: HostPtr,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        self.variable(region, true, host, blocking, wait)
    }

    fn variable(
        self: &Arc<Self>,
        region: VariableRegion<'_>,
        is_write: bool,
        host: HostPtr,
        blocking: bool,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        let VariableRegion {
            program,
            name,
            offset,
            size,
        } = region;
        // CL_INVALID_CONTEXT if the context associated with command_queue and program are not the
        // same ("Global Variable Access").
        if !Arc::ptr_eq(program.context(), self.context()) {
            return Err(ClError::INVALID_CONTEXT);
        }
        // CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built program executable.
        let executable = program.executable()?;
        // CL_INVALID_ARG_VALUE if name does not identify a global variable defined in program.
        let variable = executable.host_variable(name);
        let variable = variable.ok_or(ClError::INVALID_ARG_VALUE)?;
        // CL_INVALID_VALUE if the region being read or written specified by (offset, size) is not
        // fully contained by the size of the global variable.
        let end = offset.checked_add(size);
        if end.is_none_or(|end| end as u64 > variable.size) {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_OPERATION if the global variable is not readable, or not writable, from the
        // host.
        let allowed = match is_write {
            true => variable.is_writable,
            false => variable.is_readable,
        };
        if !allowed {
            return Err(ClError::INVALID_OPERATION);
        }
        // SAFETY: the variable is as large, and the command keeps the executable that it is in.
        let own = unsafe { HostPtr::new(variable.address as *mut u8) }.offset(offset);
        let (command_type, destination, source) = match is_write {
            true => (WRITE_GLOBAL_VARIABLE, own, host),
            false => (READ_GLOBAL_VARIABLE, host, own),
        };
        let work = match size {
            0 => Work::Nothing,
            _ => Work::Transfer(Transfer::Copy {
                destination,
                source,
                size,
            }),
        };
        let command = Command {
            command_type,
            work,
            retained: std::iter::once(executable as _).collect(),
        };
        settle(self.submit(command, wait)?, blocking)
    }
}
