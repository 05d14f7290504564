//! Buffers and sub-buffers.

use crate::{CLResult, Context, HostPtr};
use std::sync::Arc;

/// A region of an existing mapping, for queries and unmapping.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    pub address: usize,
    pub offset: usize,
    pub size: usize,
    pub flags: u64,
}

#[derive(Debug)]
pub struct Buffer {
    _private: (),
}

#[allow(unused_variables)]
impl Buffer {
    /// `clCreateBuffer(WithProperties)`. `host` is null when the application gave none. All flag and size checks
    /// are made here, `CL_INVALID_HOST_PTR` included. `properties` as given with the final 0, else empty.
    pub fn new(
        context: &Arc<Context>,
        flags: u64,
        size: usize,
        host: HostPtr,
        properties: Vec<u64>,
    ) -> CLResult<Arc<Buffer>> {
        todo!()
    }
    /// `clCreateSubBuffer` with `CL_BUFFER_CREATE_TYPE_REGION`.
    pub fn sub_buffer(
        self: &Arc<Self>,
        flags: u64,
        origin: usize,
        size: usize,
    ) -> CLResult<Arc<Buffer>> {
        todo!()
    }
    pub fn context(&self) -> &Arc<Context> {
        todo!()
    }
    /// Flags after inheritance and defaults (`CL_MEM_FLAGS`).
    pub fn flags(&self) -> u64 {
        todo!()
    }
    pub fn size(&self) -> usize {
        todo!()
    }
    /// `CL_MEM_HOST_PTR`
    pub fn host_ptr(&self) -> *mut u8 {
        todo!()
    }
    pub fn map_count(&self) -> u32 {
        todo!()
    }
    /// `CL_MEM_ASSOCIATED_MEMOBJECT`
    pub fn parent(&self) -> Option<&Arc<Buffer>> {
        todo!()
    }
    /// `CL_MEM_OFFSET`
    pub fn offset(&self) -> usize {
        todo!()
    }
    pub fn uses_svm_pointer(&self) -> bool {
        todo!()
    }
    pub fn properties(&self) -> &[u64] {
        todo!()
    }
    pub fn on_destroy(&self, callback: Box<dyn FnOnce() + Send>) {
        todo!()
    }
    /// The first byte of the buffer in memory.
    pub fn as_ptr(&self) -> *mut u8 {
        todo!()
    }
}
