//! Commands on program-scope variables (`cl_intel_global_variable_access`).

use std::sync::Arc;

use super::Description;
use super::buffers::{Direction, check_pointer};
use super::svm::copy_work;
use crate::base::device::Device;
use crate::base::trace::{READ_GLOBAL_VARIABLE, WRITE_GLOBAL_VARIABLE};
use crate::command::Command;
use crate::context::Context;
use crate::memory::host::HostPtr;
use crate::program::Program;
use brolga_engine::error::{CLResult, ClError};

/// `clEnqueueReadGlobalVariableINTEL`, `clEnqueueWriteGlobalVariableINTEL`: bytes of a variable, of
/// which as many must be valid at `host` until the command completes.
///
/// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_PROGRAM_EXECUTABLE`, `CL_INVALID_ARG_VALUE` (no such
/// variable), `CL_INVALID_VALUE` (null, out of bounds), `CL_INVALID_OPERATION` (not readable, or
/// not writable).
#[derive(Clone, Copy, Debug)]
pub struct HostVariable<'a> {
    pub direction: Direction,
    pub program: &'a Arc<Program>,
    pub name: &'a str,
    /// Bytes from the beginning of the variable.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
    pub host: HostPtr,
}

impl Description for HostVariable<'_> {
    fn command(self, context: &Arc<Context>, _: &Arc<Device>) -> CLResult<Command> {
        // CL_INVALID_CONTEXT if the context associated with command_queue and program are not the
        // same ("Global Variable Access").
        if !Arc::ptr_eq(self.program.context(), context) {
            return Err(ClError::INVALID_CONTEXT);
        }
        // CL_INVALID_VALUE if name or ptr are NULL.
        check_pointer(self.host)?;
        // CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built program executable.
        let executable = self.program.executable()?;
        // CL_INVALID_ARG_VALUE if name does not identify a global variable defined in program.
        let variable = executable.host_variable(self.name);
        let variable = variable.ok_or(ClError::INVALID_ARG_VALUE)?;
        // CL_INVALID_VALUE if the region being read or written specified by (offset, size) is not
        // fully contained by the size of the global variable.
        let end = self.offset.checked_add(self.size);
        if end.is_none_or(|end| end as u64 > variable.size) {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_OPERATION if the global variable is not readable, or not writable, from the
        // host.
        let allowed = self
            .direction
            .either(variable.is_readable, variable.is_writable);
        if !allowed {
            return Err(ClError::INVALID_OPERATION);
        }
        // SAFETY: the variable is as large, and the command keeps the executable that it is in.
        let own = unsafe { HostPtr::new(variable.address as *mut u8) }.offset(self.offset);
        let (destination, source) = self.direction.ends(self.host, own);
        Ok(Command {
            command_type: self
                .direction
                .either(READ_GLOBAL_VARIABLE, WRITE_GLOBAL_VARIABLE),
            work: copy_work(destination, source, self.size),
            retained: std::iter::once(executable as _).collect(),
        })
    }
}
