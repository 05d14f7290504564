//! Pipes, which the device does not have (`CL_DEVICE_PIPE_SUPPORT` is false).

use opencl_sys::*;

use super::context::Context;
use super::memory::Mem;
use crate::abi::edge::{In, RawHandle};
use crate::abi::error::{CLResult, ClError};
use crate::abi::handle::Object;
use crate::abi::info::Answer;

/// `clCreatePipe`
pub fn create(
    context: RawHandle,
    _flags: cl_mem_flags,
    _packet_size: cl_uint,
    _max_packets: cl_uint,
    _properties: In<cl_pipe_properties>,
) -> CLResult<RawHandle> {
    Context::from_raw(context)?;
    // > CL_INVALID_OPERATION if no devices in context support pipes.
    Err(ClError::INVALID_OPERATION)
}

/// `clGetPipeInfo`
pub fn get_info(pipe: RawHandle, _name: cl_pipe_info, _answer: Answer) -> CLResult<()> {
    Mem::from_raw(pipe)?;
    // > CL_INVALID_MEM_OBJECT if pipe is not a valid pipe object.
    Err(ClError::INVALID_MEM_OBJECT)
}
