//! Program-scope variables by name (`cl_intel_global_variable_access`).

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use brolga_runtime::{Direction, HostPtr, HostVariable};
use opencl_sys::*;

use super::context::OfContext;
use super::device::Device;
use super::program::Program;
use super::queue::Queue;
use super::wait::Submission;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::Object;
use crate::abi::pointers::{InPtr, OutPtr, RawHandle};

/// What reading and writing a variable have in common.
fn enqueue(
    direction: Direction,
    submission: Submission,
    program: RawHandle,
    name: InPtr<c_char>,
    blocking: cl_bool,
    size: usize,
    offset: usize,
    host: HostPtr,
) -> CLResult<()> {
    // > CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue.
    let queue = Queue::usable(submission.queue)?;
    // > CL_INVALID_PROGRAM if program is not a valid program object.
    let program = Program::from_raw(program)?;
    // > CL_INVALID_VALUE if name or ptr are NULL.
    let name = name.string().ok_or(ClError::INVALID_VALUE)?;
    let access = HostVariable {
        direction,
        program: &program.runtime,
        name: &String::from_utf8_lossy(&name),
        offset,
        size,
        host,
    };
    submission.submit(&queue, blocking, access)
}

/// `clEnqueueReadGlobalVariableINTEL`
pub fn read(
    submission: Submission,
    program: RawHandle,
    name: InPtr<c_char>,
    blocking: cl_bool,
    size: usize,
    offset: usize,
    to: HostPtr,
) -> CLResult<()> {
    let direction = Direction::Read;
    enqueue(
        direction, submission, program, name, blocking, size, offset, to,
    )
}

/// `clEnqueueWriteGlobalVariableINTEL`
pub fn write(
    submission: Submission,
    program: RawHandle,
    name: InPtr<c_char>,
    blocking: cl_bool,
    size: usize,
    offset: usize,
    from: HostPtr,
) -> CLResult<()> {
    let direction = Direction::Write;
    enqueue(
        direction, submission, program, name, blocking, size, offset, from,
    )
}

/// `clGetDeviceGlobalVariablePointerINTEL`: the address on the device, which is that on the host.
pub fn get_pointer(
    device: RawHandle,
    program: RawHandle,
    name: InPtr<c_char>,
    size: OutPtr<usize>,
    pointer: OutPtr<*mut c_void>,
) -> CLResult<()> {
    let device = Device::from_raw(device)?;
    let program = Program::from_raw(program)?;
    require(
        program.devices.iter().any(|one| Arc::ptr_eq(one, &device)),
        ClError::INVALID_DEVICE,
    )?;
    let name = name.string().ok_or(ClError::INVALID_VALUE)?;
    require(!pointer.is_null(), ClError::INVALID_VALUE)?;
    let name = String::from_utf8_lossy(&name);
    let (address, bytes) = program.runtime.global_variable(&name)?;
    size.set(bytes);
    pointer.set(address as *mut c_void);
    Ok(())
}
