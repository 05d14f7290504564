//! What the commands of a queue have in common, as far as it decides how they are run.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};

use crate::callbacks::{NO_TICKET, Ticket};
use crate::domain::Domain;
use crate::entry::{Entry, Line, Priority};
use crate::failures::Failures;
use crate::pool::Pool;

/// Of commands `E`.
pub struct Lane<E: Entry + ?Sized> {
    line: Line,
    /// Whether the commands' time stamps may be asked for.
    is_profiled: bool,
    pool: Arc<Pool<E>>,
    domain: Arc<Domain<E>>,
    /// Failures that the application has not been told of.
    failures: Failures<E>,
    /// The last callback that came due with a command.
    last_due: AtomicU64,
}

impl<E: Entry + ?Sized> Lane<E> {
    /// The lane of a queue.
    pub fn new(
        priority: Priority,
        is_in_order: bool,
        is_profiled: bool,
        pool: &Arc<Pool<E>>,
        domain: &Arc<Domain<E>>,
    ) -> Lane<E> {
        Lane {
            line: Line::new(priority, is_in_order),
            is_profiled,
            pool: Arc::clone(pool),
            domain: Arc::clone(domain),
            failures: Failures::default(),
            last_due: AtomicU64::new(NO_TICKET),
        }
    }

    /// The queue's number, and what the pool knows of the queue.
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// The threads that execute the commands.
    pub fn pool(&self) -> &Arc<Pool<E>> {
        &self.pool
    }

    pub fn domain(&self) -> &Arc<Domain<E>> {
        &self.domain
    }

    pub fn is_profiled(&self) -> bool {
        self.is_profiled
    }

    /// Failures that the application has not been told of.
    pub fn failures(&self) -> &Failures<E> {
        &self.failures
    }

    /// A callback came due with a command.
    pub(super) fn note_due(&self, ticket: Ticket) {
        if ticket != NO_TICKET {
            self.last_due.fetch_max(ticket, Release);
        }
    }

    /// Returns when the callbacks have been called that came due with commands of the lane, or soon
    /// will be (see `callbacks.rs`).
    pub fn wait_callbacks(&self) {
        let last = self.last_due.load(Acquire);
        self.pool.callbacks().wait_run(last);
    }
}

impl<E: Entry + ?Sized> Drop for Lane<E> {
    fn drop(&mut self) {
        self.pool.remove_line(&self.line);
    }
}
