//! Buffers and sub-buffers ("Buffer Objects").

use std::sync::Arc;

use crate::context::Context;
use crate::memory::external::ExternalHandle;
use crate::memory::flags;
use crate::memory::host::HostPtr;
use crate::memory::object::MemObject;
use brolga_engine::error::{CLResult, ClError};

/// A buffer or sub-buffer.
#[derive(Debug)]
pub struct Buffer {
    memory: Arc<MemObject>,
}

impl Buffer {
    /// `clCreateBuffer` and `clCreateBufferWithProperties`.
    ///
    /// `host` is null when the application gave none; `CL_MEM_USE_HOST_PTR` wants it valid for
    /// `size` bytes for the life of the buffer, `CL_MEM_COPY_HOST_PTR` during the call.
    /// `properties` are as given, with the final 0, or empty.
    ///
    /// Errors: `CL_INVALID_VALUE` (flags), `CL_INVALID_BUFFER_SIZE`, `CL_INVALID_HOST_PTR`,
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE`.
    pub fn new(
        context: &Arc<Context>,
        flags: u64,
        size: usize,
        host: HostPtr,
        properties: Vec<u64>,
    ) -> CLResult<Arc<Buffer>> {
        let memory = MemObject::create(context, flags, size, host, properties, None)?;
        Ok(Arc::new(Buffer { memory }))
    }

    /// `clCreateBufferWithProperties` with an external memory handle, which is taken over if that
    /// succeeds. The rest is as for [`Buffer::new`].
    ///
    /// Errors: also `CL_INVALID_PROPERTY` if the memory cannot be used, `CL_INVALID_BUFFER_SIZE` if
    /// there is less of it.
    pub fn imported(
        context: &Arc<Context>,
        flags: u64,
        size: usize,
        host: HostPtr,
        properties: Vec<u64>,
        handle: ExternalHandle,
    ) -> CLResult<Arc<Buffer>> {
        let memory = MemObject::create(context, flags, size, host, properties, Some(handle))?;
        Ok(Arc::new(Buffer { memory }))
    }

    /// `clCreateSubBuffer` with `CL_BUFFER_CREATE_TYPE_REGION`: `size` bytes from `origin`.
    ///
    /// Errors: `CL_INVALID_MEM_OBJECT` for a sub-buffer of a sub-buffer, `CL_INVALID_VALUE` (flags,
    /// bounds), `CL_INVALID_BUFFER_SIZE`, `CL_MISALIGNED_SUB_BUFFER_OFFSET`.
    pub fn sub_buffer(&self, flags: u64, origin: usize, size: usize) -> CLResult<Arc<Buffer>> {
        let parent = &self.memory;
        // CL_INVALID_MEM_OBJECT if buffer is not a valid buffer object or is a sub-buffer object
        // ("Creating Buffer Objects").
        if parent.parent().is_some() {
            return Err(ClError::INVALID_MEM_OBJECT);
        }
        let flags = flags::inherited(parent.flags(), flags)?;
        // CL_INVALID_BUFFER_SIZE if the size field of the cl_buffer_region structure is 0.
        if size == 0 {
            return Err(ClError::INVALID_BUFFER_SIZE);
        }
        // CL_INVALID_VALUE if the region specified by the cl_buffer_region structure is out of
        // bounds in buffer.
        parent.check_range(origin, size)?;
        // CL_MISALIGNED_SUB_BUFFER_OFFSET if there are no devices in context associated with buffer
        // for which the origin field is aligned to the CL_DEVICE_MEM_BASE_ADDR_ALIGN value.
        let align = parent.context().device().mem_base_addr_align as usize / 8;
        if !origin.is_multiple_of(align) {
            return Err(ClError::MISALIGNED_SUB_BUFFER_OFFSET);
        }
        let memory = parent.part(flags, origin, size, Vec::new());
        Ok(Arc::new(Buffer { memory }))
    }

    /// What is common to all memory objects.
    pub fn memory(&self) -> &Arc<MemObject> {
        &self.memory
    }

    /// `CL_MEM_CONTEXT`
    pub fn context(&self) -> &Arc<Context> {
        self.memory.context()
    }
}
