//! Launches of kernels and of native functions ("Executing Kernels").

use std::sync::Arc;

use opencl_sys::*;
use smallvec::SmallVec;

use super::{Description, check_memory, retained};
use crate::base::device::Device;
use crate::command::{Captured, Command};
use crate::context::Context;
use crate::kernel::Kernel;
use crate::memory::object::MemObject;
use crate::queue::{Ordering, Queue};
use brolga_engine::Event;
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::work::{Once, Resource};

/// One size for each dimension of a launch.
pub type Sizes = SmallVec<[usize; 3]>;

/// `clEnqueueNDRangeKernel`, `clCommandNDRangeKernelKHR`: a launch with the arguments that the
/// kernel has when this is checked. The sizes have `work_dim` elements; without `local` a size is
/// chosen. A range without elements (or without `global`) does nothing.
///
/// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_KERNEL_ARGS`, `CL_INVALID_WORK_DIMENSION`,
/// `CL_INVALID_GLOBAL_OFFSET`, `CL_INVALID_GLOBAL_WORK_SIZE`, `CL_INVALID_WORK_GROUP_SIZE`,
/// `CL_INVALID_WORK_ITEM_SIZE`, `CL_OUT_OF_RESOURCES` (work-group memory, or no code could be
/// made).
#[derive(Clone, Debug)]
pub struct Launch {
    pub kernel: Arc<Kernel>,
    pub work_dim: u32,
    pub offset: Option<Sizes>,
    pub global: Option<Sizes>,
    pub local: Option<Sizes>,
}

impl Launch {
    /// Checks that the kernel belongs to the context of a command. Errors: `CL_INVALID_CONTEXT`.
    pub(crate) fn check_context(&self, context: &Arc<Context>) -> CLResult<()> {
        // CL_INVALID_CONTEXT if context associated with command_queue and kernel are not the same.
        match Arc::ptr_eq(context, self.kernel.context()) {
            true => Ok(()),
            false => Err(ClError::INVALID_CONTEXT),
        }
    }

    /// Checks the sizes alone. Errors: as the launch's.
    pub(crate) fn check_sizes(&self) -> CLResult<()> {
        let [offset, global, local] = self.sizes();
        self.kernel
            .check_range(self.work_dim, offset, global, local)
    }

    /// The launch, captured. Errors: as the launch's, but for the context.
    pub(crate) fn capture(self, command_type: u32, device: &Arc<Device>) -> CLResult<Command> {
        let [offset, global, local] = self.sizes();
        let prepared = self
            .kernel
            .prepare(device, self.work_dim, offset, global, local)?;
        let (work, retained) = match prepared {
            Some((launch, retained)) => (Captured::Launch(launch), retained),
            None => (Captured::Nothing, self.kernel as Resource),
        };
        Ok(Command {
            command_type,
            work,
            retained: std::iter::once(retained).collect(),
        })
    }

    /// Offset, global and local size.
    fn sizes(&self) -> [Option<&[usize]>; 3] {
        [&self.offset, &self.global, &self.local].map(Option::as_deref)
    }
}

impl Description for Launch {
    fn command(self, context: &Arc<Context>, device: &Arc<Device>) -> CLResult<Command> {
        self.check_context(context)?;
        self.capture(CL_COMMAND_NDRANGE_KERNEL, device)
    }
}

/// `clEnqueueTask`: one work-item. Errors: those of [`Launch`].
#[derive(Clone, Debug)]
pub struct Task {
    pub kernel: Arc<Kernel>,
}

impl Description for Task {
    fn command(self, context: &Arc<Context>, device: &Arc<Device>) -> CLResult<Command> {
        let one = || Some(Sizes::from_slice(&[1]));
        let launch = Launch {
            kernel: self.kernel,
            work_dim: 1,
            offset: None,
            global: one(),
            local: one(),
        };
        launch.check_context(context)?;
        launch.capture(CL_COMMAND_TASK, device)
    }
}

impl Queue {
    /// Submits a [`Launch`] of these sizes.
    pub fn enqueue_nd_range(
        self: &Arc<Self>,
        kernel: &Arc<Kernel>,
        work_dim: u32,
        offset: Option<&[usize]>,
        global: Option<&[usize]>,
        local: Option<&[usize]>,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        let launch = Launch {
            kernel: Arc::clone(kernel),
            work_dim,
            offset: offset.map(Sizes::from_slice),
            global: global.map(Sizes::from_slice),
            local: local.map(Sizes::from_slice),
        };
        self.submit(launch, wait)
    }

    /// Submits a [`Task`].
    pub fn enqueue_task(
        self: &Arc<Self>,
        kernel: &Arc<Kernel>,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        let kernel = Arc::clone(kernel);
        self.submit(Task { kernel }, wait)
    }

    /// `clEnqueueNativeKernel`: a pool thread calls `function` once. `objects` are kept alive until
    /// then; [`MemObject::as_ptr`] says where their bytes are.
    ///
    /// Errors: `CL_INVALID_CONTEXT` (also for an object of another context).
    pub fn enqueue_native(
        self: &Arc<Self>,
        function: Box<dyn FnOnce() + Send>,
        objects: &[Arc<MemObject>],
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        for memory in objects {
            check_memory(self.context(), memory)?;
        }
        let work = Once::application(function);
        self.enqueue(
            CL_COMMAND_NATIVE_KERNEL,
            work,
            retained(objects),
            wait,
            Ordering::Queue,
        )
    }
}
