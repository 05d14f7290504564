//! What a pool has to know of commands, and of their queues.

use std::sync::Arc;

use crate::sync::Ordering::Relaxed;
use crate::sync::{AtomicU32, AtomicU64};

/// What a pool has to know of a command.
pub trait Entry: Send + Sync + 'static {
    fn line(&self) -> &Line;

    /// Where the command comes in its line; 0 if it has no place there.
    fn place(&self) -> u64;

    /// Whether it is complete or has failed.
    fn is_done(&self) -> bool;

    /// Sleeps until the status changes; returns at once when it is final.
    fn sleep(&self);

    /// A thread is about to run some of it.
    fn begin(&self);

    /// Whether every unit is claimed.
    fn is_exhausted(&self) -> bool;

    /// Whether one thread does all of it, as far as is known.
    fn is_single(&self) -> bool;

    /// Whether it takes less time than waking a thread, as far as is known.
    fn is_short(&self) -> bool;

    /// Whether threads of the application may run it while they wait, if they have so many bytes of
    /// stack left.
    fn may_help(&self, stack: u64) -> bool;

    /// How many more threads would be of use.
    fn missing(&self) -> u32;

    /// Counts a thread in. The pool's lock makes this exact.
    fn join(&self);

    /// Runs chunks of a command that this thread has joined until none is left or `stop` says so.
    /// What becomes ready is pushed without waking a worker: the caller goes on to look for work.
    fn run_chunks(self: &Arc<Self>, stop: &dyn Fn() -> bool);

    /// Calls `visit` with what waits for the command, as long as it returns true, with a lock of
    /// the command's held.
    fn for_each_dependent(&self, visit: &mut dyn FnMut(&Arc<Self>) -> bool);
}

/// `CL_QUEUE_PRIORITY_KHR`: what is ready of queues with a higher one is begun first. Nothing that
/// has begun is interrupted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    High,
    #[default]
    Medium,
    Low,
}

/// What a pool has to know of a queue: commands of a line have places in it.
#[derive(Debug)]
pub struct Line {
    /// No other line of the process has it.
    number: u64,
    priority: Priority,
    /// Whether each command waits for those before it.
    is_in_order: bool,
    /// Where a pool has the line's commands; [`NO_SLOT`] before the first. Written with the pool's
    /// lists locked.
    slot: AtomicU32,
    /// A place up to which commands are under way, or done.
    seen: AtomicU64,
}

const NO_SLOT: u32 = u32::MAX;

impl Line {
    pub fn new(priority: Priority, is_in_order: bool) -> Line {
        static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        Line {
            number: NUMBER.fetch_add(1, Relaxed),
            priority,
            is_in_order,
            slot: AtomicU32::new(NO_SLOT),
            seen: AtomicU64::new(0),
        }
    }

    /// The number that people know the queue by.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn priority(&self) -> Priority {
        self.priority
    }

    pub fn is_in_order(&self) -> bool {
        self.is_in_order
    }

    /// Where the pool has the line's commands.
    pub(crate) fn slot(&self) -> Option<u32> {
        let slot = self.slot.load(Relaxed);
        (slot != NO_SLOT).then_some(slot)
    }

    /// With the pool's lists locked.
    pub(crate) fn set_slot(&self, slot: u32) {
        self.slot.store(slot, Relaxed);
    }

    /// The line has a command at this place now: whether so many have come since this was true the
    /// last time, or since a thread waited for one.
    pub(crate) fn has_grown(&self, place: u64, by: u64) -> bool {
        let has_grown = place >= self.seen.load(Relaxed) + by;
        if has_grown {
            self.has_seen(place);
        }
        has_grown
    }

    /// The command at this place is under way or done. Threads that say so at the same time may
    /// overwrite each other: then the line is looked at once too often.
    pub(crate) fn has_seen(&self, place: u64) {
        self.seen.store(place, Relaxed);
    }
}
