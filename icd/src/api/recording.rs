//! The arguments that every command of a command-buffer shares: where it is recorded, what it waits
//! for, and what is returned of it.

use brolga_runtime::{RecordingSite, SyncPoint};
use opencl_sys::*;

use super::command_buffer::CommandBuffer;
use super::context::OfContext;
use crate::abi::error::{CLResult, ClError, require};
use crate::abi::handle::Ref;
use crate::abi::pointers::{InList, OutPtr, RawHandle};
use crate::abi::property_list::{Pairs, PropertyList};

/// `command_buffer`, `command_queue`, `properties`; `num_sync_points_in_wait_list`,
/// `sync_point_wait_list`, `sync_point` and `mutable_handle`.
#[derive(Clone, Copy)]
pub struct RecordingArguments {
    pub buffer: RawHandle,
    pub queue: RawHandle,
    pub properties: PropertyList<Pairs<cl_command_properties_khr>>,
    pub list: InList<cl_sync_point_khr>,
    pub point: OutPtr<cl_sync_point_khr>,
    pub handle: OutPtr<RawHandle>,
}

impl RecordingArguments {
    /// The command-buffer, ready to take a command without properties.
    pub fn plain(&self) -> CLResult<Ref<CommandBuffer>> {
        let buffer = self.buffer()?;
        // > CL_INVALID_VALUE if values specified in properties are not valid.
        require(
            self.properties.read_among(|_| false).is_known,
            ClError::INVALID_VALUE,
        )?;
        // > CL_INVALID_VALUE if mutable_handle is not NULL.
        require(self.handle.is_null(), ClError::INVALID_VALUE)?;
        Ok(buffer)
    }

    /// The command-buffer, ready to take a command.
    pub fn buffer(&self) -> CLResult<Ref<CommandBuffer>> {
        // > CL_INVALID_COMMAND_BUFFER_KHR if command_buffer is not a valid command-buffer.
        let buffer = CommandBuffer::usable(self.buffer)?;
        self.queue(&buffer)?;
        // > CL_INVALID_OPERATION if command_buffer has been finalized.
        buffer.runtime.check_recording()?;
        Ok(buffer)
    }

    /// Index of the queue that the command is recorded to.
    pub fn queue(&self, buffer: &CommandBuffer) -> CLResult<usize> {
        // > CL_INVALID_COMMAND_QUEUE if either command_queue is NULL and command_buffer was created
        // > with more than one queue, or command_queue is not NULL and not a command-queue listed
        // > on command_buffer creation.
        let mut queues = buffer.queues.iter();
        let index = match self.queue.is_null() {
            true => Some(0).filter(|_| queues.len() == 1),
            false => queues.position(|queue| queue.raw() == self.queue),
        };
        index.ok_or(ClError::INVALID_COMMAND_QUEUE)
    }

    /// Where the command goes.
    pub fn site(&self, buffer: &CommandBuffer) -> CLResult<RecordingSite> {
        // > CL_INVALID_SYNC_POINT_WAIT_LIST_KHR if sync_point_wait_list is NULL and
        // > num_sync_points_in_wait_list is > 0, or sync_point_wait_list is not NULL and
        // > num_sync_points_in_wait_list is 0, or if synchronization-point objects in
        // > sync_point_wait_list are not valid synchronization-points.
        require(
            self.list.is_null_if_empty(),
            ClError::INVALID_SYNC_POINT_WAIT_LIST,
        )?;
        let wait = self.list.get()?.unwrap_or_default().into_vec();
        buffer.runtime.check_sync_points(&wait)?;
        let queue = self.queue(buffer)?;
        Ok(RecordingSite { queue, wait })
    }

    /// Returns the command's sync-point if the application wants it.
    pub fn give(&self, point: SyncPoint) {
        self.point.set(point);
    }
}
