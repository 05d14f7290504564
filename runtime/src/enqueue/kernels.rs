//! Launches of kernels and of native functions.

use std::any::Any;
use std::sync::Arc;

use opencl_sys::*;

use super::buffers::{check_buffer, retained};
use crate::command::{Command, RetainedResources, Work};
use crate::context::Context;
use crate::device::Device;
use crate::error::{CLResult, ClError};
use crate::event::Event;
use crate::kernel::Kernel;
use crate::memory::buffer::Buffer;
use crate::queue::{Ordering, Queue};

/// Checks that a kernel belongs to the context of a command. Errors: `CL_INVALID_CONTEXT`.
pub(crate) fn check_kernel(context: &Arc<Context>, kernel: &Kernel) -> CLResult<()> {
    // CL_INVALID_CONTEXT if context associated with command_queue and kernel are not the same
    // ("Executing Kernels").
    match Arc::ptr_eq(context, kernel.context()) {
        true => Ok(()),
        false => Err(ClError::INVALID_CONTEXT),
    }
}

impl Command {
    /// A launch on `device` with the arguments that `kernel` has now. Errors: as
    /// [`Queue::enqueue_nd_range`], but for the context.
    pub(crate) fn launch(
        command_type: u32,
        device: &Arc<Device>,
        kernel: &Arc<Kernel>,
        work_dim: u32,
        offset: Option<&[usize]>,
        global: Option<&[usize]>,
        local: Option<&[usize]>,
    ) -> CLResult<Command> {
        let (work, mut retained) = match kernel.prepare(device, work_dim, offset, global, local)? {
            Some((launch, retained)) => (Work::Launch(Box::new(launch)), retained),
            None => (Work::Nothing, RetainedResources::new()),
        };
        retained.push(Arc::clone(kernel) as Arc<dyn Any + Send + Sync>);
        Ok(Command {
            command_type,
            work,
            retained,
        })
    }
}

impl Queue {
    /// `clEnqueueNDRangeKernel`. Slices have `work_dim` elements; without `local` a size is chosen.
    /// A range without elements (or without `global`) does nothing.
    ///
    /// Errors: `CL_INVALID_CONTEXT`, `CL_INVALID_KERNEL_ARGS`, `CL_INVALID_WORK_DIMENSION`,
    /// `CL_INVALID_GLOBAL_OFFSET`, `CL_INVALID_GLOBAL_WORK_SIZE`, `CL_INVALID_WORK_GROUP_SIZE`,
    /// `CL_INVALID_WORK_ITEM_SIZE`, `CL_OUT_OF_RESOURCES` (work-group memory, or no code could be
    /// made).
    pub fn enqueue_nd_range(
        self: &Arc<Self>,
        kernel: &Arc<Kernel>,
        work_dim: u32,
        offset: Option<&[usize]>,
        global: Option<&[usize]>,
        local: Option<&[usize]>,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        self.launch(
            CL_COMMAND_NDRANGE_KERNEL,
            kernel,
            work_dim,
            offset,
            global,
            local,
            wait,
        )
    }

    /// `clEnqueueTask`: one work-item. Errors: those of [`Queue::enqueue_nd_range`].
    pub fn enqueue_task(
        self: &Arc<Self>,
        kernel: &Arc<Kernel>,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        self.launch(
            CL_COMMAND_TASK,
            kernel,
            1,
            None,
            Some(&[1]),
            Some(&[1]),
            wait,
        )
    }

    #[allow(clippy::too_many_arguments)]
    fn launch(
        self: &Arc<Self>,
        command_type: u32,
        kernel: &Arc<Kernel>,
        work_dim: u32,
        offset: Option<&[usize]>,
        global: Option<&[usize]>,
        local: Option<&[usize]>,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        check_kernel(self.context(), kernel)?;
        // Before anything expensive.
        self.check_wait_list(wait)?;
        let device = self.device();
        let command = Command::launch(
            command_type,
            device,
            kernel,
            work_dim,
            offset,
            global,
            local,
        )?;
        self.submit(command, wait)
    }

    /// `clEnqueueNativeKernel`: a pool thread calls `function` once. `buffers` are kept alive until
    /// then; where they are, [`Buffer::as_ptr`] tells.
    ///
    /// Errors: `CL_INVALID_CONTEXT` (also for a buffer of another context).
    pub fn enqueue_native(
        self: &Arc<Self>,
        function: Box<dyn FnOnce() + Send>,
        buffers: &[Arc<Buffer>],
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        for buffer in buffers {
            check_buffer(self.context(), buffer)?;
        }
        let work = Work::application(function);
        self.enqueue(
            CL_COMMAND_NATIVE_KERNEL,
            work,
            retained(buffers),
            wait,
            Ordering::Queue,
        )
    }
}
