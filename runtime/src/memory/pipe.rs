//! Pipes: memory that kernels alone use, laid out as the compiler says.

use std::sync::Arc;

use brolga_compiler::pipe;
use opencl_sys::*;

use crate::context::Context;
use crate::memory::object::MemObject;
use brolga_engine::error::{CLResult, ClError};

/// A pipe: a first-in, first-out queue of packets of one size.
#[derive(Debug)]
pub struct Pipe {
    memory: Arc<MemObject>,
    packet_size: u32,
    max_packets: u32,
}

impl Pipe {
    /// `clCreatePipe`, without packets. `packet_size` is in bytes.
    ///
    /// Errors: `CL_INVALID_VALUE` (flags), `CL_INVALID_PIPE_SIZE`,
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE`.
    pub fn new(
        context: &Arc<Context>,
        flags: u64,
        packet_size: u32,
        max_packets: u32,
    ) -> CLResult<Arc<Pipe>> {
        const ALLOWED: u64 = CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS;
        // CL_INVALID_VALUE if values specified in flags are not as defined above: only
        // CL_MEM_READ_WRITE and CL_MEM_HOST_NO_ACCESS can be specified when creating a pipe object
        // ("Creating Pipe Objects").
        if flags & !ALLOWED != 0 {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_PIPE_SIZE if pipe_packet_size is 0 or the pipe_packet_size exceeds
        // CL_DEVICE_PIPE_MAX_PACKET_SIZE value for all devices in context or if pipe_max_packets is
        // 0.
        let device = context.device();
        if packet_size == 0 || packet_size > device.pipe_max_packet_size || max_packets == 0 {
            return Err(ClError::INVALID_PIPE_SIZE);
        }
        // CL_MEM_OBJECT_ALLOCATION_FAILURE if there is a failure to allocate memory for the pipe
        // object.
        let size = pipe::size(packet_size, max_packets)
            .filter(|&size| size <= device.max_mem_alloc_size)
            .ok_or(ClError::MEM_OBJECT_ALLOCATION_FAILURE)?;
        // If the value specified for flags is 0, the default is used which is CL_MEM_READ_WRITE |
        // CL_MEM_HOST_NO_ACCESS.
        let flags = if flags == 0 { ALLOWED } else { flags };
        // After the header all is zero. Only what is written takes memory.
        let memory = MemObject::zeroed(context, flags, size as usize)?;
        let header = pipe::header(packet_size, max_packets);
        // SAFETY: the memory is new and larger than the header. It is aligned to
        // `pipe::ALIGN`.
        unsafe {
            std::ptr::copy_nonoverlapping(header.as_ptr(), memory.as_ptr(), header.len());
        }
        Ok(Arc::new(Pipe {
            memory,
            packet_size,
            max_packets,
        }))
    }

    /// What is common to all memory objects; its address is what kernels get.
    pub fn memory(&self) -> &Arc<MemObject> {
        &self.memory
    }

    /// `CL_PIPE_PACKET_SIZE`, bytes.
    pub fn packet_size(&self) -> u32 {
        self.packet_size
    }

    /// `CL_PIPE_MAX_PACKETS`
    pub fn max_packets(&self) -> u32 {
        self.max_packets
    }
}

// What `Pipe::new` relies on.
const _: () = assert!(crate::storage::allocation::MIN_ALIGN as u64 >= pipe::ALIGN);
