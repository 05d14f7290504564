//! The status of a command and its observers: callbacks, and what else waits for it.
//!
//! The status changes under the lock of the list of observers, and an observer is added under the
//! same lock, while the status is not yet the one that it is for. So a new observer is either in
//! the list when the status changes, and notified, or it finds the status changed: each callback is
//! handed out once, and no dependent is forgotten. `models/progress.rs` tests all interleavings.
//!
//! # Orderings
//!
//! - The status is sequentially consistent, for `sleep.rs`. A thread that reads a final one sees
//!   all that the command did, and `ticket` and `has_callbacks`, which are written before.
//! - `has_told_all` is released when all callbacks have been handed out, after `ticket`, and
//!   acquired by a thread that goes on to read that.

use crate::callbacks::{NO_TICKET, Ticket};
use crate::sleep::Status;
use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{AtomicBool, AtomicU64, Mutex, yield_now};

/// Called with the status that was reached, or the error that came instead.
pub type EventCallback = Box<dyn FnOnce(i32) + Send>;

/// A callback with the status that it is for.
pub(crate) type Registered<C> = (i32, C);

/// The status of a command, callbacks `C` for it, and `L`, which may wait for the end in other
/// ways.
pub(crate) struct Progress<L, C> {
    status: Status,
    observers: Mutex<Observers<L, C>>,
    /// The last callback that came due with the command.
    ticket: AtomicU64,
    /// Whether an application may find out when callbacks of the command are called.
    has_callbacks: AtomicBool,
    /// Whether all that come due with the command have.
    has_told_all: AtomicBool,
}

#[expect(clippy::box_collection, reason = "a vector is three words")]
struct Observers<L, C> {
    /// Boxed, since most commands have none.
    callbacks: Option<Box<Vec<Registered<C>>>>,
    links: L,
}

impl<L, C> Progress<L, C> {
    pub(crate) fn new(status: i32, links: L) -> Progress<L, C> {
        Progress {
            status: Status::new(status),
            observers: Mutex::new(Observers {
                callbacks: None,
                links,
            }),
            ticket: AtomicU64::new(NO_TICKET),
            has_callbacks: AtomicBool::new(false),
            has_told_all: AtomicBool::new(false),
        }
    }

    pub(crate) fn status(&self) -> i32 {
        self.status.get()
    }

    /// Whether the command is complete or has failed.
    pub(crate) fn is_final(&self) -> bool {
        self.status.is_final()
    }

    /// Sleeps until the status changes from what it is now; returns at once when it is final.
    pub(crate) fn sleep(&self) {
        self.status.sleep();
    }

    /// Has the callback handed out with `status` or an error. If that is so already, it is the
    /// caller's to call, with the status that was reached.
    pub(crate) fn register(&self, status: i32, callback: C) -> Result<(), Registered<C>> {
        let mut observers = self.observers.lock();
        let reached = self.status();
        if reached <= status {
            return Err((reached, callback));
        }
        observers
            .callbacks
            .get_or_insert_default()
            .push((status, callback));
        self.has_callbacks.store(true, Relaxed);
        Ok(())
    }

    /// Adds to what waits for the end; the final status if that is reached.
    pub(crate) fn unless_final(&self, add: impl FnOnce(&mut L)) -> Result<(), i32> {
        let mut observers = self.observers.lock();
        match self.status() {
            status if status <= 0 => Err(status),
            _ => {
                add(&mut observers.links);
                Ok(())
            }
        }
    }

    /// Looks at, or changes, what waits in other ways than for a status.
    pub(crate) fn with_links<R>(&self, visit: impl FnOnce(&mut L) -> R) -> R {
        visit(&mut self.observers.lock().links)
    }

    pub(crate) fn links_mut(&mut self) -> &mut L {
        &mut self.observers.get_mut().links
    }

    /// Steps to a status that is not final: the callbacks that come due. `None` if it was reached
    /// before.
    pub(crate) fn reach(&self, status: i32) -> Option<Vec<Registered<C>>> {
        let mut observers = self.observers.lock();
        // Another thread may have done all the work between this one's claim to be the first and
        // now.
        if self.status() <= status {
            return None;
        }
        self.status.set(status);
        let Some(callbacks) = &mut observers.callbacks else {
            return Some(Vec::new());
        };
        let due = callbacks.extract_if(.., |(at, _)| *at >= status);
        Some(due.collect())
    }

    /// Makes `status` final: what `take` takes of that which waits, and the callbacks, which are
    /// due; `take` is told whether there are any. [`Progress::told_all`] is to follow.
    pub(crate) fn make_final<R>(
        &self,
        status: i32,
        take: impl FnOnce(&mut L, bool) -> R,
    ) -> (R, Vec<Registered<C>>) {
        let mut observers = self.observers.lock();
        let callbacks = observers.callbacks.take().map_or(Vec::new(), |all| *all);
        let is_called = !callbacks.is_empty();
        let taken = take(&mut observers.links, is_called);
        self.status.set(status);
        (taken, callbacks)
    }

    /// A callback came due with the command.
    pub(crate) fn note_due(&self, ticket: Ticket) {
        if ticket != NO_TICKET {
            self.ticket.fetch_max(ticket, Relaxed);
        }
    }

    /// All callbacks are handed out and noted: wakes the threads that wait for the command.
    pub(crate) fn told_all(&self) {
        self.has_told_all.store(true, Release);
        self.status.wake();
    }

    /// The last callback that came due with the command, which is done.
    pub(crate) fn last_due(&self) -> Ticket {
        // Set before the status became final, both under the lock.
        if self.has_callbacks.load(Relaxed) {
            while !self.has_told_all.load(Acquire) {
                yield_now();
            }
        }
        self.ticket.load(Relaxed)
    }
}
