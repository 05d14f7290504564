//! Program-scope variables by name (`cl_intel_global_variable_access`).

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use brolga_runtime::{Event as RuntimeEvent, HostPtr, Queue as RuntimeQueue, VariableRegion};
use opencl_sys::*;

use super::context::OfContext;
use super::device::Device;
use super::program::Program;
use super::queue::Queue;
use super::wait::Events;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::Object;
use crate::abi::pointers::{InPtr, OutPtr, RawHandle};

/// The runtime's read or write.
type Access = fn(
    &Arc<RuntimeQueue>,
    VariableRegion<'_>,
    bool,
    HostPtr,
    &[Arc<RuntimeEvent>],
) -> CLResult<Arc<RuntimeEvent>>;

/// What both commands do.
fn enqueue(
    access: Access,
    queue: RawHandle,
    program: RawHandle,
    name: InPtr<c_char>,
    blocking: cl_bool,
    size: usize,
    offset: usize,
    host: HostPtr,
    events: Events,
) -> CLResult<()> {
    // > CL_INVALID_COMMAND_QUEUE if command_queue is not a valid host command-queue.
    let queue = Queue::usable(queue)?;
    require(
        !queue.runtime.is_on_device(),
        ClError::INVALID_COMMAND_QUEUE,
    )?;
    // > CL_INVALID_PROGRAM if program is not a valid program object.
    let program = Program::from_raw(program)?;
    // > CL_INVALID_VALUE if name or ptr are NULL.
    let name = name.string().ok_or(ClError::INVALID_VALUE)?;
    require(!host.is_null(), ClError::INVALID_VALUE)?;
    let region = VariableRegion {
        program: &program.runtime,
        name: &String::from_utf8_lossy(&name),
        offset,
        size,
    };
    events.enqueue(&queue, |wait| {
        access(&queue.runtime, region, blocking != CL_FALSE, host, wait)
    })
}

/// `clEnqueueReadGlobalVariableINTEL`
pub fn read(
    queue: RawHandle,
    program: RawHandle,
    name: InPtr<c_char>,
    blocking: cl_bool,
    size: usize,
    offset: usize,
    to: OutPtr<c_void>,
    events: Events,
) -> CLResult<()> {
    let (access, host): (Access, _) = (RuntimeQueue::enqueue_read_variable, to.host_ptr());
    enqueue(
        access, queue, program, name, blocking, size, offset, host, events,
    )
}

/// `clEnqueueWriteGlobalVariableINTEL`
pub fn write(
    queue: RawHandle,
    program: RawHandle,
    name: InPtr<c_char>,
    blocking: cl_bool,
    size: usize,
    offset: usize,
    from: InPtr<c_void>,
    events: Events,
) -> CLResult<()> {
    let (access, host): (Access, _) = (RuntimeQueue::enqueue_write_variable, from.host_ptr());
    enqueue(
        access, queue, program, name, blocking, size, offset, host, events,
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
