//! The commands that queues take, and what of them command-buffers take as well.
//!
//! A command that does something is *described*: by a structure of what its entry point is given,
//! such as [`CopyRect`]. A description is submitted to a queue ([`Queue::submit`]) or recorded in a
//! command-buffer ([`CommandBuffer::record`](crate::CommandBuffer::record)), and is checked once,
//! there: against the state of the objects that it names, each check under the sentence of the
//! specification that asks for it. What the command needs is captured by value then, so that the
//! description is gone before the command has its place in any order.
//!
//! Commands that are only bookkeeping in the order of a queue, and those that return something
//! besides an event, are methods of [`Queue`].
//!
//! `buffers.rs` and `images.rs` describe transfers, `kernels.rs` launches, `svm.rs` and `usm.rs`
//! copies and fills of memory used by address, `variables.rs` those of programs' variables.
//! `mapping.rs` maps and migrates, `order.rs` has markers and barriers.

mod buffers;
mod images;
mod kernels;
mod mapping;
mod order;
mod svm;
mod usm;
mod variables;

use std::sync::Arc;

pub use buffers::{CopyBuffer, CopyRect, Direction, FillBuffer, HostCopy, HostRect};
pub use images::{
    CopyBufferToImage, CopyImage, CopyImageToBuffer, FillImage, HostImage, HostTexels, ImageOrigin,
};
pub use kernels::{Launch, Sizes, Task};
pub use svm::{SvmCopy, SvmFill, SvmFreeCallback};
pub use usm::{UsmCopy, UsmFill};
pub use variables::HostVariable;

use crate::base::device::Device;
use crate::command::Command;
use crate::context::Context;
use crate::memory::object::MemObject;
use crate::queue::{Queue, wait_if_blocking};
use brolga_engine::Event;
use brolga_engine::error::{CLResult, ClError};
use brolga_engine::work::RetainedResources;

/// A command as its entry point is told of it.
pub trait Description {
    /// Checks it for a place in `context` on `device`, and captures what it needs.
    ///
    /// Errors: those that the description documents.
    fn command(self, context: &Arc<Context>, device: &Arc<Device>) -> CLResult<Command>;
}

/// Checks that a memory object belongs to the context of a command. Errors: `CL_INVALID_CONTEXT`.
fn check_memory(context: &Arc<Context>, memory: &MemObject) -> CLResult<()> {
    // CL_INVALID_CONTEXT if the context associated with command_queue and buffer are not the same.
    match Arc::ptr_eq(memory.context(), context) {
        true => Ok(()),
        false => Err(ClError::INVALID_CONTEXT),
    }
}

/// What a command on memory objects keeps alive.
fn retained<'a>(objects: impl IntoIterator<Item = &'a Arc<MemObject>>) -> RetainedResources {
    let objects = objects.into_iter();
    objects.map(|memory| Arc::clone(memory) as _).collect()
}

/// A command that command-buffers take as well.
pub trait Recordable: Description {}

impl Recordable for CopyBuffer<'_> {}
impl Recordable for CopyRect<'_> {}
impl Recordable for FillBuffer<'_> {}
impl Recordable for CopyImage<'_> {}
impl Recordable for CopyImageToBuffer<'_> {}
impl Recordable for CopyBufferToImage<'_> {}
impl Recordable for FillImage<'_> {}
impl Recordable for SvmCopy {}
impl Recordable for SvmFill {}

impl Queue {
    /// Enqueues a command, which comes after what was enqueued before in the order of the queue,
    /// and after the events of `wait`.
    ///
    /// Errors: `CL_INVALID_COMMAND_QUEUE` for a queue on the device; `CL_INVALID_CONTEXT` when an
    /// event of `wait` is of another context; those of the description.
    pub fn submit(
        self: &Arc<Self>,
        description: impl Description,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        // Before anything expensive.
        self.check_host()?;
        self.check_wait_list(wait)?;
        let command = description.command(self.context(), self.device())?;
        self.submit_checked(command, wait)
    }

    /// As [`Queue::submit`]; a blocking command is complete when this returns.
    ///
    /// Errors: of a blocking command also `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST` when what
    /// it waited for failed, or its own.
    pub fn submit_blocking(
        self: &Arc<Self>,
        description: impl Description,
        blocking: bool,
        wait: &[Arc<Event>],
    ) -> CLResult<Arc<Event>> {
        wait_if_blocking(self.submit(description, wait)?, blocking)
    }
}
