//! Changing recorded launches between runs (`cl_khr_command_buffer_mutable_dispatch`).
//!
//! A launch that may change keeps its description: a kernel object of its own, with the arguments,
//! and the sizes as they were given. An update changes copies of these, makes work from them as
//! recording does, and puts all of it into the graph if nothing was wrong. Runs that are under way
//! hold the graph as it was.

use std::collections::BTreeMap;
use std::sync::Arc;

use opencl_sys::*;

use super::{CommandBuffer, Recording, SyncPoint};
use crate::command::{Captured, Command};
use crate::enqueue::Launch;
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::graph::NodeWork;
use brolga_engine::work::RetainedResources;

impl Launch {
    /// What to do, captured; nothing yet while arguments are missing.
    ///
    /// Errors: as the launch's, but for the context, and for arguments that were never set.
    pub(super) fn recorded(&self) -> CLResult<Option<Command>> {
        // CL_INVALID_OPERATION if the device associated with command_queue does not support
        // CL_COMMAND_BUFFER_CAPABILITY_DEVICE_SIDE_ENQUEUE_KHR and kernel contains a kernel-enqueue
        // call.
        if self.kernel.info().enqueues {
            return Err(ClError::INVALID_OPERATION);
        }
        if self.kernel.has_unset_args() {
            self.check_sizes()?;
            return Ok(None);
        }
        let device = self.kernel.context().device();
        self.clone()
            .capture(CL_COMMAND_NDRANGE_KERNEL, device)
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
pub type Drafts = BTreeMap<SyncPoint, Launch>;

impl CommandBuffer {
    /// A launch as it is now, if it may be updated or asked about.
    pub fn launch(&self, point: SyncPoint) -> Option<Launch> {
        self.recording.lock().launches.get(&point).cloned()
    }

    /// A copy of a launch to change. Errors: `CL_INVALID_OPERATION` if there is no such launch.
    pub fn draft(&self, point: SyncPoint) -> CLResult<Launch> {
        let mut draft = self.launch(point).ok_or(ClError::INVALID_OPERATION)?;
        draft.kernel = draft.kernel.duplicate();
        Ok(draft)
    }

    /// `clUpdateMutableCommandsKHR`: makes the launches what the drafts say, all of them or none.
    ///
    /// Errors: `CL_INVALID_OPERATION` (not finalized, not mutable, work-groups become uniform or
    /// cease to be), and those of launches.
    pub fn update(&self, drafts: Drafts) -> CLResult<()> {
        self.check_updatable()?;
        // Dropped after the lock is let go, also if something is wrong.
        let mut commands = Vec::with_capacity(drafts.len());
        let mut recording = self.recording.lock();
        for (point, draft) in &drafts {
            let before = recording.launches.get(point);
            let before = before.ok_or(ClError::INVALID_OPERATION)?;
            // CL_INVALID_OPERATION if the values of local_work_size and/or global_work_size result
            // in a change to work-group uniformity ("Mutable Commands").
            if before.is_uniform() != draft.is_uniform() {
                return Err(ClError::INVALID_OPERATION);
            }
            commands.push(draft.recorded()?);
        }
        let replaced: Vec<_> = drafts
            .into_iter()
            .zip(commands)
            .map(|((point, draft), command)| recording.replace(point, draft, command))
            .collect();
        // What the launches kept alive goes without the lock, which destructor callbacks may want.
        drop(recording);
        drop(replaced);
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
    /// Remembers a launch that has been recorded; returns the one that it takes the place of.
    pub(super) fn remember(
        &mut self,
        point: SyncPoint,
        launch: Launch,
        is_complete: bool,
    ) -> Option<Launch> {
        if !is_complete {
            self.incomplete.insert(point);
        }
        self.launches.insert(point, launch)
    }

    /// Makes a launch another one; returns what the one before kept alive.
    fn replace(
        &mut self,
        point: SyncPoint,
        launch: Launch,
        command: Option<Command>,
    ) -> (RetainedResources, Option<Launch>, NodeWork) {
        let node = point - 1;
        let is_complete = command.is_some();
        let (work, retained) = match command {
            Some(command) => (command.work, command.retained),
            None => (Captured::Nothing, RetainedResources::new()),
        };
        let work = Arc::make_mut(&mut self.graph).replace(node, Arc::new(work) as NodeWork);
        let place = &mut Arc::make_mut(&mut self.retained)[node as usize];
        let retained = std::mem::replace(place, retained);
        self.incomplete.remove(&point);
        let launch = self.remember(point, launch, is_complete);
        (retained, launch, work)
    }
}
