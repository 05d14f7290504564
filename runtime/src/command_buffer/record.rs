//! Recording commands ("Recording Commands to a Command-Buffer").
//!
//! Each method checks as the queue's method of the same kind does, adds a node to the graph and
//! returns its sync-point. All return `CL_INVALID_OPERATION` if the command-buffer is finalized and
//! `CL_INVALID_SYNC_POINT_WAIT_LIST_KHR` for a sync-point that is none, besides the errors of the
//! queue's method.

use std::sync::Arc;

use opencl_sys::*;

use super::{Command, CommandBuffer, Dispatch, Recording, RecordingSite, SyncPoint};
use crate::command::Work;
use crate::enqueue::{ImageOrigin, check_kernel};
use crate::error::{CLResult, ClError};
use crate::memory::buffer::Buffer;
use crate::memory::host::HostPtr;
use crate::memory::image::Image;
use crate::memory::rect::RectSide;

impl CommandBuffer {
    /// `clCommandBarrierWithWaitListKHR`: done when what it waits for is, or everything recorded
    /// before if that is nothing. What is recorded later waits for it.
    pub fn barrier(&self, place: &RecordingSite) -> CLResult<SyncPoint> {
        let command = Command::retaining_nothing(CL_COMMAND_BARRIER, Work::Nothing);
        self.record(place, command)
    }

    /// `clCommandCopyBufferKHR`
    pub fn copy(
        &self,
        place: &RecordingSite,
        source: &Arc<Buffer>,
        destination: &Arc<Buffer>,
        source_offset: usize,
        destination_offset: usize,
        size: usize,
    ) -> CLResult<SyncPoint> {
        let command = Command::copy(
            &self.context,
            source,
            destination,
            source_offset,
            destination_offset,
            size,
        )?;
        self.record(place, command)
    }

    /// `clCommandCopyBufferRectKHR`
    pub fn copy_rect(
        &self,
        place: &RecordingSite,
        source: &Arc<Buffer>,
        destination: &Arc<Buffer>,
        source_side: RectSide,
        destination_side: RectSide,
        region: [usize; 3],
    ) -> CLResult<SyncPoint> {
        let command = Command::copy_rect(
            &self.context,
            source,
            destination,
            source_side,
            destination_side,
            region,
        )?;
        self.record(place, command)
    }

    /// `clCommandFillBufferKHR`
    pub fn fill(
        &self,
        place: &RecordingSite,
        buffer: &Arc<Buffer>,
        pattern: &[u8],
        offset: usize,
        size: usize,
    ) -> CLResult<SyncPoint> {
        let command = Command::fill(&self.context, buffer, pattern, offset, size)?;
        self.record(place, command)
    }

    /// `clCommandCopyImageKHR`
    pub fn copy_image(
        &self,
        place: &RecordingSite,
        source: &Arc<Image>,
        destination: &Arc<Image>,
        source_origin: ImageOrigin,
        destination_origin: ImageOrigin,
        region: [usize; 3],
    ) -> CLResult<SyncPoint> {
        let command = Command::copy_image(
            &self.context,
            source,
            destination,
            source_origin,
            destination_origin,
            region,
        )?;
        self.record(place, command)
    }

    /// `clCommandCopyImageToBufferKHR`
    pub fn copy_image_to_buffer(
        &self,
        place: &RecordingSite,
        source: &Arc<Image>,
        destination: &Arc<Buffer>,
        origin: ImageOrigin,
        region: [usize; 3],
        offset: usize,
    ) -> CLResult<SyncPoint> {
        let context = &self.context;
        let command =
            Command::copy_image_to_buffer(context, source, destination, origin, region, offset)?;
        self.record(place, command)
    }

    /// `clCommandCopyBufferToImageKHR`
    pub fn copy_buffer_to_image(
        &self,
        place: &RecordingSite,
        source: &Arc<Buffer>,
        destination: &Arc<Image>,
        offset: usize,
        origin: ImageOrigin,
        region: [usize; 3],
    ) -> CLResult<SyncPoint> {
        let context = &self.context;
        let command =
            Command::copy_buffer_to_image(context, source, destination, offset, origin, region)?;
        self.record(place, command)
    }

    /// `clCommandFillImageKHR`
    pub fn fill_image(
        &self,
        place: &RecordingSite,
        image: &Arc<Image>,
        color: [u32; 4],
        origin: ImageOrigin,
        region: [usize; 3],
    ) -> CLResult<SyncPoint> {
        let command = Command::fill_image(&self.context, image, color, origin, region)?;
        self.record(place, command)
    }

    /// `clCommandSVMMemcpyKHR`. Both must be valid for `size` bytes whenever the command-buffer
    /// runs.
    pub fn svm_memcpy(
        &self,
        place: &RecordingSite,
        destination: HostPtr,
        source: HostPtr,
        size: usize,
    ) -> CLResult<SyncPoint> {
        self.record(place, Command::svm_copy(destination, source, size)?)
    }

    /// `clCommandSVMMemFillKHR`. `destination` must be valid for `size` bytes whenever the
    /// command-buffer runs.
    pub fn svm_fill(
        &self,
        place: &RecordingSite,
        destination: HostPtr,
        pattern: &[u8],
        size: usize,
    ) -> CLResult<SyncPoint> {
        self.record(place, Command::svm_fill(destination, pattern, size)?)
    }

    /// `clCommandNDRangeKernelKHR`, with the arguments that the kernel has now.
    pub fn nd_range(&self, place: &RecordingSite, dispatch: &Dispatch) -> CLResult<SyncPoint> {
        check_kernel(&self.context, &dispatch.kernel)?;
        // CL_INVALID_KERNEL_ARGS if the kernel argument values have not been specified.
        let command = dispatch.command()?.ok_or(ClError::INVALID_KERNEL_ARGS)?;
        self.record(place, command)
    }

    /// As [`CommandBuffer::nd_range`], for a launch that may change and be asked about. With
    /// `may_defer` its arguments need not be set; it takes a copy of the kernel.
    pub fn mutable_nd_range(
        &self,
        place: &RecordingSite,
        mut dispatch: Dispatch,
        may_defer: bool,
    ) -> CLResult<SyncPoint> {
        check_kernel(&self.context, &dispatch.kernel)?;
        dispatch.kernel = dispatch.kernel.duplicate();
        let command = dispatch.command()?;
        let is_complete = command.is_some();
        // CL_INVALID_KERNEL_ARGS if the kernel argument values have not been specified and the
        // CL_MUTABLE_DISPATCH_ARGUMENTS_KHR flag was not set in the properties parameter.
        if !is_complete && !may_defer {
            return Err(ClError::INVALID_KERNEL_ARGS);
        }
        let command = command.unwrap_or_else(|| {
            Command::retaining_nothing(CL_COMMAND_NDRANGE_KERNEL, Work::Nothing)
        });
        let mut recording = self.recording.lock();
        let point = self.record_into(&mut recording, place, command)?;
        recording.remember(point, dispatch, is_complete);
        Ok(point)
    }

    /// Checks a list of sync-points. Errors: `CL_INVALID_SYNC_POINT_WAIT_LIST_KHR`.
    pub fn check_sync_points(&self, wait: &[SyncPoint]) -> CLResult<()> {
        self.recording.lock().dependencies(wait).map(|_| ())
    }

    fn record(&self, place: &RecordingSite, command: Command) -> CLResult<SyncPoint> {
        self.record_into(&mut self.recording.lock(), place, command)
    }

    fn record_into(
        &self,
        recording: &mut Recording,
        place: &RecordingSite,
        command: Command,
    ) -> CLResult<SyncPoint> {
        // CL_INVALID_OPERATION if command_buffer has been finalized.
        if recording.is_finalized {
            return Err(ClError::INVALID_OPERATION);
        }
        let dependencies = recording.dependencies(&place.wait)?;
        let in_order = !self.queues[place.queue].is_out_of_order();
        recording.add(command, place, dependencies, in_order)
    }
}

impl Recording {
    /// The commands behind sync-points. Errors: `CL_INVALID_SYNC_POINT_WAIT_LIST_KHR`.
    fn dependencies(&self, wait: &[SyncPoint]) -> CLResult<Vec<u32>> {
        // CL_INVALID_SYNC_POINT_WAIT_LIST_KHR if synchronization-point objects in
        // sync_point_wait_list are not valid synchronization-points.
        let node = |&point: &SyncPoint| {
            point
                .checked_sub(1)
                .filter(|&node| (node as usize) < self.graph.len())
                .ok_or(ClError::INVALID_SYNC_POINT_WAIT_LIST)
        };
        wait.iter().map(node).collect()
    }

    fn add(
        &mut self,
        command: Command,
        place: &RecordingSite,
        mut dependencies: Vec<u32>,
        in_order: bool,
    ) -> CLResult<SyncPoint> {
        // CL_OUT_OF_RESOURCES when no sync-point is left ("Command Synchronization").
        let node = self.graph.len() as u32;
        let point = node.checked_add(1).ok_or(ClError::OUT_OF_RESOURCES)?;
        // If the queue is an in-order queue, then an additional dependency is created on the last
        // command appended to the command-buffer using the same queue parameter
        // ("Command-Buffers").
        if in_order {
            dependencies.extend(self.last[place.queue]);
        }
        // Any following commands recorded after a barrier do not execute until it completes.
        dependencies.extend(self.barrier);
        if command.command_type == CL_COMMAND_BARRIER {
            // If the list is empty it waits for all commands previously recorded in command_buffer.
            // Those before the last barrier are done when that is.
            if place.wait.is_empty() {
                dependencies.extend(self.barrier.unwrap_or(0)..node);
            }
            self.barrier = Some(node);
        }
        dependencies.sort_unstable();
        dependencies.dedup();
        self.last[place.queue] = Some(node);
        Arc::make_mut(&mut self.graph).add(Arc::new(command.work), place.queue, &dependencies);
        Arc::make_mut(&mut self.retained).push(command.retained);
        Ok(point)
    }
}
