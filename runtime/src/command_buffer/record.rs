//! Recording commands ("Recording Commands to a Command-Buffer").
//!
//! A description is checked as a queue checks it, and becomes a node of the graph; what is returned
//! is its sync-point.

use std::sync::Arc;

use opencl_sys::*;

use super::{CommandBuffer, Recording, RecordingSite, SyncPoint};
use crate::command::{Captured, Command};
use crate::enqueue::{Launch, Recordable};
use brolga_engine::error::{CLResult, ClError};

impl CommandBuffer {
    /// Records a command. It uses objects and memory as they are whenever the command-buffer runs.
    ///
    /// Errors: `CL_INVALID_OPERATION` if the command-buffer is finalized,
    /// `CL_INVALID_SYNC_POINT_WAIT_LIST_KHR` for a sync-point that is none, and those of the
    /// description.
    pub fn record(
        &self,
        site: &RecordingSite,
        description: impl Recordable,
    ) -> CLResult<SyncPoint> {
        let command = description.command(&self.context, self.context.device())?;
        self.add(site, command)
    }

    /// `clCommandBarrierWithWaitListKHR`: done when what it waits for is, or everything recorded
    /// before if that is nothing. What is recorded later waits for it.
    ///
    /// Errors: as [`CommandBuffer::record`].
    pub fn barrier(&self, site: &RecordingSite) -> CLResult<SyncPoint> {
        let command = Command::retaining_nothing(CL_COMMAND_BARRIER, Captured::Nothing);
        self.add(site, command)
    }

    /// `clCommandNDRangeKernelKHR`, with the arguments that the kernel has now.
    ///
    /// Errors: as [`CommandBuffer::record`]; `CL_INVALID_OPERATION` also for a kernel that
    /// enqueues.
    pub fn nd_range(&self, site: &RecordingSite, launch: &Launch) -> CLResult<SyncPoint> {
        launch.check_context(&self.context)?;
        // CL_INVALID_KERNEL_ARGS if the kernel argument values have not been specified.
        let command = launch.recorded()?.ok_or(ClError::INVALID_KERNEL_ARGS)?;
        self.add(site, command)
    }

    /// As [`CommandBuffer::nd_range`], for a launch that may change and be asked about. With
    /// `may_defer` its arguments need not be set; it takes a copy of the kernel.
    pub fn mutable_nd_range(
        &self,
        site: &RecordingSite,
        mut launch: Launch,
        may_defer: bool,
    ) -> CLResult<SyncPoint> {
        launch.check_context(&self.context)?;
        launch.kernel = launch.kernel.duplicate();
        let command = launch.recorded()?;
        let is_complete = command.is_some();
        // CL_INVALID_KERNEL_ARGS if the kernel argument values have not been specified and the
        // CL_MUTABLE_DISPATCH_ARGUMENTS_KHR flag was not set in the properties parameter.
        if !is_complete && !may_defer {
            return Err(ClError::INVALID_KERNEL_ARGS);
        }
        let command = command.unwrap_or_else(|| {
            Command::retaining_nothing(CL_COMMAND_NDRANGE_KERNEL, Captured::Nothing)
        });
        let mut recording = self.recording.lock();
        let point = self.add_to(&mut recording, site, command)?;
        recording.remember(point, launch, is_complete);
        Ok(point)
    }

    /// Checks a list of sync-points. Errors: `CL_INVALID_SYNC_POINT_WAIT_LIST_KHR`.
    pub fn check_sync_points(&self, wait: &[SyncPoint]) -> CLResult<()> {
        self.recording.lock().dependencies(wait).map(|_| ())
    }

    fn add(&self, site: &RecordingSite, command: Command) -> CLResult<SyncPoint> {
        self.add_to(&mut self.recording.lock(), site, command)
    }

    fn add_to(
        &self,
        recording: &mut Recording,
        site: &RecordingSite,
        command: Command,
    ) -> CLResult<SyncPoint> {
        // CL_INVALID_OPERATION if command_buffer has been finalized.
        if recording.is_finalized {
            return Err(ClError::INVALID_OPERATION);
        }
        let dependencies = recording.dependencies(&site.wait)?;
        let in_order = !self.queues[site.queue].is_out_of_order();
        recording.add(command, site, dependencies, in_order)
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
        site: &RecordingSite,
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
            dependencies.extend(self.last[site.queue]);
        }
        // Any following commands recorded after a barrier do not execute until it completes.
        dependencies.extend(self.barrier);
        if command.command_type == CL_COMMAND_BARRIER {
            // If the list is empty it waits for all commands previously recorded in command_buffer.
            // Those before the last barrier are done when that is.
            if site.wait.is_empty() {
                dependencies.extend(self.barrier.unwrap_or(0)..node);
            }
            self.barrier = Some(node);
        }
        dependencies.sort_unstable();
        dependencies.dedup();
        self.last[site.queue] = Some(node);
        Arc::make_mut(&mut self.graph).add(Arc::new(command.work), site.queue, &dependencies);
        Arc::make_mut(&mut self.retained).push(command.retained);
        Ok(point)
    }
}
