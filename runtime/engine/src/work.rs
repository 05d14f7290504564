//! What a command does when its dependencies are done.

use std::any::Any;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use smallvec::SmallVec;

use crate::callbacks::{NO_TICKET, Ticket};
use crate::chunks::WorkShape;
use crate::error::CLResult;
use crate::tree::Tree;

/// An object that a command keeps alive.
pub type Resource = Arc<dyn Any + Send + Sync>;

/// Objects that a command keeps alive until it completes.
pub type RetainedResources = SmallVec<[Resource; 2]>;

/// A closure that runs once.
pub type Action = Box<dyn FnOnce() + Send>;

/// A closure that runs once and may fail.
pub type Attempt = Box<dyn FnOnce() -> CLResult<()> + Send>;

/// Which threads run something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// The one that finds it ready: it takes no time.
    Finder,
    /// Workers, and threads that wait for it.
    Any,
    /// Workers only: it may block, as code of the application does.
    Worker,
}

/// What a record of what ran says of a command.
#[derive(Debug, Default)]
pub struct TraceInfo<'a> {
    /// What its pieces are called: what kind of work, and which.
    pub pieces: Option<(&'static str, Cow<'a, str>)>,
    /// The kernel's name, if it is a launch.
    pub kernel: Option<&'a str>,
    pub details: Value,
}

/// What a command does, for commands `E`. It is checked and captured: nothing that happens to the
/// objects it came from changes it.
pub trait Work<E: ?Sized>: Send + Sync {
    fn runner(&self) -> Runner {
        Runner::Any
    }

    /// How many units it has and how they may be shared, as far as is known now.
    fn shape(&self) -> WorkShape {
        WorkShape::SINGLE
    }

    /// Bytes of stack that a thread needs for it, beside what is there for all.
    fn stack_bytes(&self) -> u64 {
        0
    }

    /// Does some of the units, for a command unless it is a [`Runner::Finder`]'s.
    fn run(&self, command: Option<&Arc<E>>, units: Range<u64>) -> CLResult<()>;

    /// What is left to do when the last unit is done and before any thread is told; threads have
    /// spent `busy` nanoseconds. Returns the callback that came due.
    fn finish(&self, _busy: u64) -> Ticket {
        NO_TICKET
    }

    /// This thread has done its part: gives back what it has kept for that. False if threads keep
    /// nothing for such work.
    fn leave(&self) -> bool {
        false
    }

    /// What was to run once and never did, and is to be dropped with what it keeps alive.
    fn take_unused(&self) -> Option<Attempt> {
        None
    }

    /// The tree that a command by it is the root of, if it may enqueue others.
    fn tree(&self) -> Option<&Arc<Tree<E>>> {
        None
    }

    fn trace_info(&self) -> TraceInfo<'_> {
        TraceInfo::default()
    }
}

/// Markers, barriers, maps, migrations: only their place in the order matters.
pub struct Nothing;

impl<E: ?Sized> Work<E> for Nothing {
    fn runner(&self) -> Runner {
        Runner::Finder
    }

    fn run(&self, _: Option<&Arc<E>>, _: Range<u64>) -> CLResult<()> {
        Ok(())
    }
}

/// Something that is done once.
pub struct Once {
    runner: Runner,
    attempt: Mutex<Option<Attempt>>,
}

impl Once {
    /// Bookkeeping that takes no time.
    pub fn instant(action: impl FnOnce() + Send + 'static) -> Once {
        Once::new(Runner::Finder, action)
    }

    /// Code of the application (native kernels, free callbacks).
    pub fn application(action: impl FnOnce() + Send + 'static) -> Once {
        Once::new(Runner::Worker, action)
    }

    fn new(runner: Runner, action: impl FnOnce() + Send + 'static) -> Once {
        let attempt = move || {
            action();
            Ok(())
        };
        Once {
            runner,
            attempt: Mutex::new(Some(Box::new(attempt))),
        }
    }

    /// Something of the driver's that may block, and fail.
    pub fn blocking(attempt: impl FnOnce() -> CLResult<()> + Send + 'static) -> Once {
        Once {
            runner: Runner::Worker,
            attempt: Mutex::new(Some(Box::new(attempt))),
        }
    }
}

impl<E: ?Sized> Work<E> for Once {
    fn runner(&self) -> Runner {
        self.runner
    }

    fn run(&self, _: Option<&Arc<E>>, _: Range<u64>) -> CLResult<()> {
        // The lock is not held while code of the application runs.
        let attempt = self.attempt.lock().take();
        attempt.map_or(Ok(()), |attempt| attempt())
    }

    fn take_unused(&self) -> Option<Attempt> {
        self.attempt.lock().take()
    }

    fn trace_info(&self) -> TraceInfo<'_> {
        TraceInfo {
            pieces: (self.runner == Runner::Worker)
                .then_some(("host", Cow::Borrowed("host function"))),
            ..TraceInfo::default()
        }
    }
}

/// Work that several commands do, one after the other: a recorded command runs again and again.
impl<E: ?Sized, W: Work<E> + ?Sized> Work<E> for Arc<W> {
    fn runner(&self) -> Runner {
        (**self).runner()
    }

    fn shape(&self) -> WorkShape {
        (**self).shape()
    }

    fn stack_bytes(&self) -> u64 {
        (**self).stack_bytes()
    }

    fn run(&self, command: Option<&Arc<E>>, units: Range<u64>) -> CLResult<()> {
        (**self).run(command, units)
    }

    fn finish(&self, busy: u64) -> Ticket {
        (**self).finish(busy)
    }

    fn leave(&self) -> bool {
        (**self).leave()
    }

    fn trace_info(&self) -> TraceInfo<'_> {
        (**self).trace_info()
    }
}

/// Nothing, where there is no work.
impl<E: ?Sized, W: Work<E>> Work<E> for Option<W> {
    fn runner(&self) -> Runner {
        self.as_ref().map_or(Runner::Finder, |work| work.runner())
    }

    fn shape(&self) -> WorkShape {
        let shape = self.as_ref().map(|work| work.shape());
        shape.unwrap_or(WorkShape::SINGLE)
    }

    fn stack_bytes(&self) -> u64 {
        self.as_ref().map_or(0, |work| work.stack_bytes())
    }

    fn run(&self, command: Option<&Arc<E>>, units: Range<u64>) -> CLResult<()> {
        let run = |work: &W| work.run(command, units);
        self.as_ref().map_or(Ok(()), run)
    }

    fn finish(&self, busy: u64) -> Ticket {
        self.as_ref().map_or(NO_TICKET, |work| work.finish(busy))
    }

    fn leave(&self) -> bool {
        self.as_ref().is_some_and(|work| work.leave())
    }

    fn take_unused(&self) -> Option<Attempt> {
        self.as_ref()?.take_unused()
    }

    fn tree(&self) -> Option<&Arc<Tree<E>>> {
        self.as_ref()?.tree()
    }

    fn trace_info(&self) -> TraceInfo<'_> {
        let description = self.as_ref().map(|work| work.trace_info());
        description.unwrap_or_default()
    }
}
