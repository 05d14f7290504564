//! Command queues.
use crate::{Buffer, CLResult, Context, Device, Event, HostPtr, Kernel};
use std::sync::Arc;

#[derive(Debug)]
pub struct Queue {
    _private: (),
}

/// Origin and pitches of one side of a rectangular transfer, bytes; a pitch of 0 means tight.
#[derive(Clone, Copy, Debug, Default)]
pub struct RectSide {
    pub origin: [usize; 3],
    pub row_pitch: usize,
    pub slice_pitch: usize,
}

/// `pfn_free_func` of `clEnqueueSVMFree`, given the pointers.
pub type SvmFreeCallback = Box<dyn FnOnce(&[HostPtr]) + Send>;

/// Every enqueue returns its event and checks its wait list: `CL_INVALID_CONTEXT` when contexts differ. A blocking
/// one returns after completion, with `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST` when an event it waited for failed.
#[allow(unused_variables, clippy::too_many_arguments)]
impl Queue {
    /// `properties` are `CL_QUEUE_...` bits; `property_list` is `CL_QUEUE_PROPERTIES_ARRAY` as given with the final 0, or empty.
    pub fn new(
        context: &Arc<Context>,
        device: &Arc<Device>,
        properties: u64,
        property_list: Vec<u64>,
    ) -> CLResult<Arc<Queue>> {
        todo!()
    }
    pub fn context(&self) -> &Arc<Context> {
        todo!()
    }
    pub fn device(&self) -> &Arc<Device> {
        todo!()
    }
    pub fn properties(&self) -> u64 {
        todo!()
    }
    pub fn property_list(&self) -> &[u64] {
        todo!()
    }
    pub fn flush(&self) -> CLResult<()> {
        todo!()
    }
    pub fn finish(&self) -> CLResult<()> {
        todo!()
    }

    pub fn enqueue_read(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        offset: usize,
        size: usize,
        host: HostPtr,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_write(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        offset: usize,
        size: usize,
        host: HostPtr,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_copy(
        self: &Arc<Self>,
        source: &Arc<Buffer>,
        destination: &Arc<Buffer>,
        source_offset: usize,
        destination_offset: usize,
        size: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_read_rect(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        buffer_side: RectSide,
        host_side: RectSide,
        region: [usize; 3],
        host: HostPtr,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_write_rect(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        buffer_side: RectSide,
        host_side: RectSide,
        region: [usize; 3],
        host: HostPtr,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_copy_rect(
        self: &Arc<Self>,
        source: &Arc<Buffer>,
        destination: &Arc<Buffer>,
        source_side: RectSide,
        destination_side: RectSide,
        region: [usize; 3],
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_fill(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        pattern: &[u8],
        offset: usize,
        size: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    /// Returns the event and the mapped address.
    pub fn enqueue_map(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        blocking: bool,
        flags: u64,
        offset: usize,
        size: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<(Arc<Event>, *mut u8)> {
        todo!()
    }
    /// `CL_INVALID_VALUE` when `address` is not a pointer that mapping `buffer` returned.
    pub fn enqueue_unmap(
        self: &Arc<Self>,
        buffer: &Arc<Buffer>,
        address: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_migrate(
        self: &Arc<Self>,
        buffers: &[Arc<Buffer>],
        flags: u64,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }

    /// Slices have `work_dim` elements. `global` None (a null pointer) is `CL_INVALID_GLOBAL_WORK_SIZE` or an empty range by version.
    pub fn enqueue_nd_range(
        self: &Arc<Self>,
        kernel: &Arc<Kernel>,
        work_dim: u32,
        offset: Option<&[usize]>,
        global: Option<&[usize]>,
        local: Option<&[usize]>,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_task(
        self: &Arc<Self>,
        kernel: &Arc<Kernel>,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    /// `clEnqueueNativeKernel`: `args` copied, the addresses of `buffers` already... see `native_args`. `function` runs once on some thread; `buffers` are kept alive.
    pub fn enqueue_native(
        self: &Arc<Self>,
        function: Box<dyn FnOnce() + Send>,
        buffers: &[Arc<Buffer>],
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_marker(self: &Arc<Self>, wait: &[Arc<Event>]) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_barrier(self: &Arc<Self>, wait: &[Arc<Event>]) -> CLResult<Arc<Event>> {
        todo!()
    }

    /// `callback` None: frees with `clSVMFree`.
    pub fn enqueue_svm_free(
        self: &Arc<Self>,
        pointers: Vec<HostPtr>,
        callback: Option<SvmFreeCallback>,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_svm_memcpy(
        self: &Arc<Self>,
        blocking: bool,
        destination: HostPtr,
        source: HostPtr,
        size: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_svm_fill(
        self: &Arc<Self>,
        destination: HostPtr,
        pattern: &[u8],
        size: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_svm_map(
        self: &Arc<Self>,
        blocking: bool,
        flags: u64,
        pointer: HostPtr,
        size: usize,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_svm_unmap(
        self: &Arc<Self>,
        pointer: HostPtr,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
    pub fn enqueue_svm_migrate(
        self: &Arc<Self>,
        pointers: &[HostPtr],
        sizes: &[usize],
        flags: u64,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        todo!()
    }
}
