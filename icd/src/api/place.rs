//! Where a command goes: to a queue, by `clEnqueue...`, or into a command-buffer, by
//! `clCommand...`.
//!
//! The two entry points of a command take the same arguments for the command itself, and differ in
//! the others: queue, wait list and event, or command-buffer and sync-points. So there is one
//! function for both, over a [`Place`]: it looks up what the arguments mean, and hands over the
//! runtime's description of the command, which the runtime checks.

use std::any::Any;
use std::sync::Arc;

use brolga_runtime::{Buffer, Image, Recordable};

use super::command_buffer::CommandBuffer;
use super::context::OfContext;
use super::memory::Mem;
use super::queue::Queue;
use super::recording::RecordingArguments;
use super::wait::Submission;
use crate::abi::error::CLResult;
use crate::abi::handle::{Object, Ref};
use crate::abi::pointers::RawHandle;

/// A place, by the arguments of the entry point.
pub trait Place {
    type Open: OpenPlace;

    /// The place, ready to take a command.
    fn open(self) -> CLResult<Self::Open>;
}

/// A place that is ready to take a command.
pub trait OpenPlace: Sized {
    /// Takes the command that is described, after what it waits for has been looked up.
    fn take<D: Recordable>(self, describe: impl FnOnce() -> CLResult<D>) -> CLResult<()>;

    /// Records an object that the command uses.
    fn attach(&mut self, mem: Ref<Mem>);

    /// The buffer behind `raw`, which the command uses.
    fn buffer(&mut self, raw: RawHandle) -> CLResult<Arc<Buffer>> {
        let mem = Mem::from_raw(raw)?;
        let buffer = mem.buffer()?.clone();
        self.attach(mem);
        Ok(buffer)
    }

    /// The image behind `raw`, which the command uses.
    fn image(&mut self, raw: RawHandle) -> CLResult<Arc<Image>> {
        let mem = Mem::from_raw(raw)?;
        let image = mem.image()?.clone();
        self.attach(mem);
        Ok(image)
    }
}

/// A queue, and what a command for it waits for.
pub struct OpenQueue {
    queue: Ref<Queue>,
    submission: Submission,
}

impl Place for Submission {
    type Open = OpenQueue;

    fn open(self) -> CLResult<OpenQueue> {
        Ok(OpenQueue {
            queue: Queue::usable(self.queue)?,
            submission: self,
        })
    }
}

impl OpenPlace for OpenQueue {
    fn take<D: Recordable>(self, describe: impl FnOnce() -> CLResult<D>) -> CLResult<()> {
        let queue = &self.queue;
        self.submission
            .events
            .enqueue(queue, |wait| queue.runtime.submit(describe()?, wait))
    }

    /// The runtime keeps what the command uses, until it is complete.
    fn attach(&mut self, _: Ref<Mem>) {}
}

/// A command-buffer that is being recorded, and what a command for it waits for.
pub struct OpenRecording {
    buffer: Ref<CommandBuffer>,
    recording: RecordingArguments,
    objects: Vec<Arc<dyn Any + Send + Sync>>,
}

impl Place for RecordingArguments {
    type Open = OpenRecording;

    fn open(self) -> CLResult<OpenRecording> {
        Ok(OpenRecording {
            buffer: self.plain()?,
            recording: self,
            objects: Vec::new(),
        })
    }
}

impl OpenPlace for OpenRecording {
    fn take<D: Recordable>(self, describe: impl FnOnce() -> CLResult<D>) -> CLResult<()> {
        let site = self.recording.site(&self.buffer)?;
        let point = self.buffer.runtime.record(&site, describe()?)?;
        self.recording.give(point);
        self.buffer.attach(self.objects);
        Ok(())
    }

    fn attach(&mut self, mem: Ref<Mem>) {
        self.objects.push(mem);
    }
}
