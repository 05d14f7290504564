//! Changing recorded launches between runs (`cl_khr_command_buffer_mutable_dispatch`).
//!
//! A launch that may change keeps a [`Dispatch`]: a kernel object of its own, with the arguments,
//! and the sizes as they were given. An update changes copies of these, makes work from them as
//! recording does, and puts all of it into the graph if nothing was wrong. Runs that are under way
//! hold the graph as it was.

use std::collections::BTreeMap;
use std::sync::Arc;

use opencl_sys::*;

use super::{Command, CommandBuffer, Recording, SyncPoint};
use crate::command::{RetainedResources, Work};
use crate::error::{CLResult, ClError};
use crate::kernel::Kernel;

/// A recorded launch as the application described it.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// A copy of the kernel, whose arguments are the launch's.
    pub kernel: Arc<Kernel>,
    pub work_dim: u32,
    pub offset: Option<Vec<usize>>,
    pub global: Option<Vec<usize>>,
    pub local: Option<Vec<usize>>,
}

impl Dispatch {
    /// What to do, captured; nothing yet while arguments are missing.
    ///
    /// Errors: as [`Queue::enqueue_nd_range`](crate::Queue::enqueue_nd_range), but for the context,
    /// and for arguments that were never set.
    pub(super) fn command(&self) -> CLResult<Option<Command>> {
        // CL_INVALID_OPERATION if the device associated with command_queue does not support
        // CL_COMMAND_BUFFER_CAPABILITY_DEVICE_SIDE_ENQUEUE_KHR and kernel contains a kernel-enqueue
        // call.
        if self.kernel.info().enqueues {
            return Err(ClError::INVALID_OPERATION);
        }
        let (offset, global, local) = (
            self.offset.as_deref(),
            self.global.as_deref(),
            self.local.as_deref(),
        );
        if self.kernel.has_unset_args() {
            self.kernel
                .check_range(self.work_dim, offset, global, local)?;
            return Ok(None);
        }
        let command_type = CL_COMMAND_NDRANGE_KERNEL;
        let kernel = &self.kernel;
        let device = kernel.context().device();
        let work_dim = self.work_dim;
        Command::launch(
            command_type,
            device,
            kernel,
            work_dim,
            offset,
            global,
            local,
        )
        .map(Some)
    }

    /// Whether all work-groups have the same size, as far as the application says.
    fn is_uniform(&self) -> bool {
        let (Some(global), Some(local)) = (&self.global, &self.local) else {
            return true;
        };
        global
            .iter()
            .zip(local)
            .all(|(global, &local)| local != 0 && global.is_multiple_of(local))
    }
}

/// Launches as they will be, by sync-point.
pub type Drafts = BTreeMap<SyncPoint, Dispatch>;

impl CommandBuffer {
    /// A launch as it is now, if it may be updated or asked about.
    pub fn dispatch(&self, point: SyncPoint) -> Option<Dispatch> {
        self.recording.lock().dispatches.get(&point).cloned()
    }

    /// A copy of a launch to change. Errors: `CL_INVALID_OPERATION` if there is no such launch.
    pub fn draft(&self, point: SyncPoint) -> CLResult<Dispatch> {
        let mut draft = self.dispatch(point).ok_or(ClError::INVALID_OPERATION)?;
        draft.kernel = draft.kernel.duplicate();
        Ok(draft)
    }

    /// `clUpdateMutableCommandsKHR`: makes the launches what the drafts say, all of them or none.
    ///
    /// Errors: `CL_INVALID_OPERATION` (not finalized, not mutable, work-groups become uniform or
    /// cease to be), and those of launches.
    pub fn update(&self, drafts: Drafts) -> CLResult<()> {
        self.check_updatable()?;
        let mut recording = self.recording.lock();
        let mut commands = Vec::with_capacity(drafts.len());
        for (point, draft) in &drafts {
            let before = recording.dispatches.get(point);
            let before = before.ok_or(ClError::INVALID_OPERATION)?;
            // CL_INVALID_OPERATION if the values of local_work_size and/or global_work_size result
            // in a change to work-group uniformity ("Mutable Commands").
            if before.is_uniform() != draft.is_uniform() {
                return Err(ClError::INVALID_OPERATION);
            }
            commands.push(draft.command()?);
        }
        for ((point, draft), command) in drafts.into_iter().zip(commands) {
            recording.replace(point, draft, command);
        }
        Ok(())
    }

    /// Checks that updates are possible. Errors: `CL_INVALID_OPERATION`.
    pub fn check_updatable(&self) -> CLResult<()> {
        // CL_INVALID_OPERATION if command_buffer has not been finalized, or was not created with
        // the CL_COMMAND_BUFFER_MUTABLE_KHR flag ("Mutable Commands").
        match self.is_mutable && self.recording.lock().is_finalized {
            true => Ok(()),
            false => Err(ClError::INVALID_OPERATION),
        }
    }
}

impl Recording {
    /// Remembers a launch that has been recorded.
    pub(super) fn remember(&mut self, point: SyncPoint, dispatch: Dispatch, is_complete: bool) {
        self.dispatches.insert(point, dispatch);
        if !is_complete {
            self.incomplete.insert(point);
        }
    }

    fn replace(&mut self, point: SyncPoint, dispatch: Dispatch, command: Option<Command>) {
        let node = point - 1;
        let is_complete = command.is_some();
        let (work, retained) = match command {
            Some(command) => (command.work, command.retained),
            None => (Work::Nothing, RetainedResources::new()),
        };
        Arc::make_mut(&mut self.graph).replace(node, Arc::new(work));
        Arc::make_mut(&mut self.retained)[node as usize] = retained;
        self.incomplete.remove(&point);
        self.remember(point, dispatch, is_complete);
    }
}
