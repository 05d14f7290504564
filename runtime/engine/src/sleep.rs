//! Threads that wait: workers for work, and others for the end of a command. All that decides
//! whether a wake-up can be lost is here, and `models/sleep.rs` goes through all orders in which a
//! few threads can do it.

use crate::sync::Ordering::SeqCst;
use crate::sync::{self, AtomicBool, AtomicU32};

/// More threads than there are.
const ALL: u32 = i32::MAX as u32;

/// Workers that have nothing to do.
///
/// One that finds nothing spins for a while (one worker at a time), then parks:
///
/// 1. it reads `epoch`, then counts itself in `sleepers`;
/// 2. it looks for work once more;
/// 3. it sleeps on the futex `epoch`, if that still has the value read.
///
/// A thread that makes work available does so first, then looks at `spinners` and `sleepers`; when
/// none spins and one sleeps, it increments `epoch` and wakes one or two. All these are
/// sequentially consistent. So either the worker's look in 2 comes after the work was made
/// available and finds it, or the other thread's look at `sleepers` comes after 1 and wakes the
/// worker; a wake between 1 and 3 changes `epoch`, and 3 does not sleep. A spinner stops by leaving
/// `spinners` *before* its look in 2, so the same argument covers it; and one that found something
/// looks after that whether there is more, which it was not woken for.
///
/// Work for many is made available once, and each worker that takes some of it wakes two more while
/// there is any left. So workers come as a tree grows: the time until all of `n` run grows with the
/// logarithm of `n`, and no thread pays for more than two wake-ups.
pub(crate) struct Workers {
    /// Workers spinning: 0 or 1.
    spinners: AtomicU32,
    /// Workers parked or about to be.
    sleepers: AtomicU32,
    /// The futex that parked workers sleep on.
    epoch: AtomicU32,
    /// They are to end.
    stopped: AtomicBool,
}

impl Workers {
    pub(crate) fn new() -> Workers {
        Workers {
            spinners: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
            epoch: AtomicU32::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// Wakes up to so many workers, if some sleep and none is looking for work already.
    pub(crate) fn wake(&self, workers: u32) {
        if self.spinners.load(SeqCst) == 0 && self.sleepers.load(SeqCst) > 0 {
            self.epoch.fetch_add(1, SeqCst);
            sync::futex_wake(&self.epoch, workers);
        }
    }

    /// Has all workers end.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, SeqCst);
        self.epoch.fetch_add(1, SeqCst);
        sync::futex_wake(&self.epoch, ALL);
    }

    /// Workers parked or about to be.
    #[cfg(all(test, loom))]
    pub(crate) fn sleepers(&self) -> u32 {
        self.sleepers.load(SeqCst)
    }

    pub(crate) fn are_stopped(&self) -> bool {
        self.stopped.load(SeqCst)
    }

    /// Finds something by way of `look`, which takes its time, unless another worker does. Says
    /// whether work is left then: a thread that saw a spinner woke none.
    pub(crate) fn spin<T>(
        &self,
        look: impl FnOnce() -> Option<T>,
        is_left: impl FnOnce() -> bool,
    ) -> Option<(T, bool)> {
        self.spinners.compare_exchange(0, 1, SeqCst, SeqCst).ok()?;
        let found = look();
        self.spinners.store(0, SeqCst);
        found.map(|found| (found, is_left()))
    }

    /// Sleeps until woken, unless `look` finds something after all.
    pub(crate) fn park<T>(&self, look: impl FnOnce() -> Option<T>) -> Option<T> {
        let epoch = self.epoch.load(SeqCst);
        self.sleepers.fetch_add(1, SeqCst);
        let found = look();
        if found.is_none() && !self.are_stopped() {
            sync::futex_wait(&self.epoch, epoch);
        }
        self.sleepers.fetch_sub(1, SeqCst);
        found
    }
}

/// The execution status of a command (a `cl_int`), which threads wait for to become final.
///
/// A waiter counts itself in `waiters` and looks at the status again before it sleeps on the value
/// it saw; the completion writes the status before it looks at `waiters` (both sequentially
/// consistent), so one of the two sees the other.
pub(crate) struct Status {
    word: AtomicU32,
    /// Threads asleep on `word`.
    waiters: AtomicU32,
}

impl Status {
    pub(crate) fn new(status: i32) -> Status {
        Status {
            word: AtomicU32::new(status as u32),
            waiters: AtomicU32::new(0),
        }
    }

    pub(crate) fn get(&self) -> i32 {
        self.word.load(SeqCst) as i32
    }

    /// After a final status, [`Status::wake`] is due.
    pub(crate) fn set(&self, status: i32) {
        self.word.store(status as u32, SeqCst);
    }

    /// Whether the command is complete or has failed: `CL_COMPLETE` is 0, errors are negative.
    pub(crate) fn is_final(&self) -> bool {
        self.get() <= 0
    }

    /// The status has become final: wakes the threads that wait.
    pub(crate) fn wake(&self) {
        if self.waiters.load(SeqCst) > 0 {
            sync::futex_wake(&self.word, ALL);
        }
    }

    /// Sleeps until the status is final, or something else happens; returns at once if it is.
    pub(crate) fn sleep(&self) {
        self.waiters.fetch_add(1, SeqCst);
        let status = self.get();
        if status > 0 {
            sync::futex_wait(&self.word, status as u32);
        }
        self.waiters.fetch_sub(1, SeqCst);
    }
}
