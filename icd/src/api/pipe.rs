//! Pipes.

use opencl_sys::*;

use brolga_runtime::Pipe as RuntimePipe;

use super::context::{Context, OfContext};
use super::memory::{Mem, MemKind};
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::{Handle, Object};
use crate::abi::info::InfoWriter;
use crate::abi::pointers::{InPtr, RawHandle};

/// `clCreatePipe`
pub fn create(
    context: RawHandle,
    flags: cl_mem_flags,
    packet_size: cl_uint,
    max_packets: cl_uint,
    properties: InPtr<cl_pipe_properties>,
) -> CLResult<RawHandle> {
    let context = Context::usable(context)?;
    // > CL_INVALID_VALUE if properties is not NULL.
    require(properties.is_null(), ClError::INVALID_VALUE)?;
    // Flags and sizes are checked by the runtime, in the order of the specification's list.
    let pipe = RuntimePipe::new(&context.runtime, flags, packet_size, max_packets)?;
    Ok(Handle::new(Mem {
        runtime: MemKind::Pipe(pipe),
        context,
        parent: None,
        imported_for: Vec::new(),
    })
    .raw())
}

/// `clGetPipeInfo`
pub fn get_info(pipe: RawHandle, name: cl_pipe_info, writer: InfoWriter) -> CLResult<()> {
    let mem = Mem::from_raw(pipe)?;
    let pipe = mem.pipe()?;
    match name {
        CL_PIPE_PACKET_SIZE => writer.value(pipe.packet_size()),
        CL_PIPE_MAX_PACKETS => writer.value(pipe.max_packets()),
        // > If the properties argument specified in clCreatePipe used to create pipe was NULL, the
        // > implementation must return param_value_size_ret equal to 0.
        // `create` accepts nothing else.
        CL_PIPE_PROPERTIES => writer.array::<cl_pipe_properties>(&[]),
        // > CL_INVALID_VALUE if param_name is not one of the supported values.
        _ => Err(ClError::INVALID_VALUE),
    }
}
