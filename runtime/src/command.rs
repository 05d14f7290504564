//! What a command does when its dependencies are done, and how threads share it.
//!
//! A [`Job`] is [`Work`] divided into units (work-groups, blocks of bytes, rows) that threads claim in
//! chunks from a counter. A chunk is a share of what is left, so chunks shrink towards the end and the
//! threads finish together.
//!
//! How many threads are worth their while is guessed beforehand, from earlier launches of the same code. A guess may be
//! far off (code that never ran, work that depends on the data), so a thread alone on a command claims a
//! sixteenth first and looks at the clock; whenever what is left turns out to be worth more threads
//! than were guessed, they are called.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64};

use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::error::{CLResult, ClError};
use crate::event::{Event, timestamp};
use crate::launch::{LaunchWork, NANOSECONDS_PER_CHUNK, NANOSECONDS_PER_THREAD};
use crate::memory::transfer::Transfer;
use crate::on_device::Lineage;
use crate::pool::{Pool, Push};

/// Objects that a command keeps alive until it completes.
pub(crate) type Keep = SmallVec<[Arc<dyn Any + Send + Sync>; 4]>;

/// A closure that runs once.
pub(crate) type Action = Box<dyn FnOnce() + Send>;

/// What a command does.
pub(crate) enum Work {
    /// Markers, barriers, maps, migrations: only their place in the order matters.
    Nothing,
    /// Bookkeeping that takes no time, done by the thread that finds the command ready.
    Instant(Mutex<Option<Action>>),
    /// Code of the application (native kernels, free callbacks). It may block, so that only pool threads run it.
    Application(Mutex<Option<Action>>),
    Transfer(Transfer),
    Launch(Box<LaunchWork>),
}

impl Work {
    pub(crate) fn instant(action: Action) -> Work {
        Work::Instant(Mutex::new(Some(action)))
    }

    pub(crate) fn application(action: Action) -> Work {
        Work::Application(Mutex::new(Some(action)))
    }
}

/// How work may be shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// How many units there are.
    pub(crate) units: u64,
    /// How many threads are worth their while.
    pub(crate) threads: u32,
    /// Units in a chunk at least.
    pub(crate) min_chunk: u64,
    /// How long it takes one thread, nanoseconds, as far as can be guessed.
    pub(crate) estimate: u64,
}

impl Shape {
    pub(crate) const SINGLE: Shape = Shape {
        units: 1,
        threads: 1,
        min_chunk: 1,
        estimate: u64::MAX,
    };
}

/// Commands that take less than this many nanoseconds are left to whoever waits for them: waking
/// another thread costs about as much.
const TINY: u64 = 8_000;

/// A chunk is this fraction of a thread's part of what is left: small enough that nobody waits long for a thread that the
/// system has interrupted.
const SHARES: u64 = 8;

/// Work and the state of sharing it.
pub(crate) struct Job {
    work: Work,
    shape: Shape,
    /// Threads that are worth their while, as known by now.
    threads: AtomicU32,
    /// Units in a chunk at least, as known by now.
    min_chunk: AtomicU64,
    /// The first unit that nobody has claimed.
    next: AtomicU64,
    /// Units done.
    done: AtomicU64,
    /// Threads that joined and have not left.
    participants: AtomicU32,
    /// Nanoseconds that threads have spent on it.
    busy: AtomicU64,
}

impl Job {
    pub(crate) fn new(work: Work) -> Job {
        let shape = match &work {
            Work::Nothing | Work::Instant(_) | Work::Application(_) => Shape::SINGLE,
            Work::Transfer(transfer) => transfer.shape(),
            Work::Launch(launch) => launch.shape(),
        };
        debug_assert!(shape.units > 0 && shape.threads > 0 && shape.min_chunk > 0);
        Job {
            work,
            shape,
            threads: AtomicU32::new(shape.threads),
            min_chunk: AtomicU64::new(shape.min_chunk),
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            participants: AtomicU32::new(0),
            busy: AtomicU64::new(0),
        }
    }

    /// Whether completing the command needs no thread of its own.
    pub(crate) fn is_instant(&self) -> bool {
        matches!(self.work, Work::Nothing | Work::Instant(_))
    }

    /// Does what an instant command does.
    pub(crate) fn run_instant(&self) {
        if let Work::Instant(action) = &self.work
            && let Some(action) = action.lock().take()
        {
            action();
        }
    }

    /// How an enqueue offers the command.
    pub(crate) fn push(&self) -> Push {
        if self.shape.threads == 1 && self.shape.estimate < TINY {
            Push::Defer
        } else {
            Push::Notify
        }
    }

    /// The family that a command of the host founds if it is this that it does.
    pub(crate) fn lineage(&self) -> Option<Lineage> {
        match &self.work {
            Work::Launch(launch) => launch
                .spawner()
                .map(|spawner| Lineage::root(&spawner.family)),
            _ => None,
        }
    }

    /// Whether threads of the application may run it while they wait.
    pub(crate) fn may_help(&self) -> bool {
        !matches!(self.work, Work::Application(_))
    }

    /// Whether one thread does all of it, as far as is known.
    pub(crate) fn is_single(&self) -> bool {
        self.threads.load(SeqCst) == 1
    }

    /// Whether every unit is claimed.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.next.load(SeqCst) >= self.shape.units
    }

    /// Whether another thread would be of use.
    pub(crate) fn has_room(&self) -> bool {
        !self.is_exhausted() && self.participants.load(SeqCst) < self.threads.load(SeqCst)
    }

    /// Counts a thread in. The pool's lock makes this exact.
    pub(crate) fn join(&self) {
        self.participants.fetch_add(1, SeqCst);
    }

    /// Claims the next chunk of units.
    fn claim(&self) -> Option<(u64, u64)> {
        let units = self.shape.units;
        let threads = self.threads.load(Relaxed);
        let mut begin = self.next.load(Relaxed);
        loop {
            if begin >= units {
                return None;
            }
            let left = units - begin;
            let chunk = match threads {
                1 if begin == 0 && self.is_guess() => units.div_ceil(16),
                1 => left,
                _ => {
                    let share = left / (SHARES * u64::from(threads));
                    share.max(self.min_chunk.load(Relaxed)).min(left)
                }
            };
            match self
                .next
                .compare_exchange_weak(begin, begin + chunk, SeqCst, Relaxed)
            {
                Ok(_) => return Some((begin, begin + chunk)),
                Err(now) => begin = now,
            }
        }
    }

    /// Whether the shape rests on a guess of how long kernels take.
    fn is_guess(&self) -> bool {
        matches!(self.work, Work::Launch(_))
    }

    /// Corrects the guess: `units` units took `nanoseconds`. Tells when more threads should come than before.
    fn correct(&self, units: u64, nanoseconds: u64) -> Option<Widened> {
        let left = self.shape.units.saturating_sub(self.next.load(Relaxed));
        if left == 0 || !self.is_guess() {
            return None;
        }
        let time_left = u128::from(nanoseconds) * u128::from(left) / u128::from(units);
        let wanted = (time_left / u128::from(NANOSECONDS_PER_THREAD))
            .min(u128::from(left))
            .min(u128::from(Pool::get().threads())) as u32;
        if wanted <= self.threads.load(Relaxed) {
            return None;
        }
        let chunk = NANOSECONDS_PER_CHUNK.saturating_mul(units) / nanoseconds.max(1);
        self.min_chunk.fetch_min(chunk.max(1), Relaxed);
        match self.threads.fetch_max(wanted, SeqCst) {
            1 => Some(Widened::FromOne),
            before if before < wanted => Some(Widened::FromSeveral),
            _ => None,
        }
    }

    fn run(&self, event: &Arc<Event>, begin: u64, end: u64) -> CLResult<()> {
        match &self.work {
            Work::Nothing | Work::Instant(_) => {}
            Work::Application(action) => {
                if let Some(action) = action.lock().take() {
                    action();
                }
            }
            Work::Transfer(transfer) => transfer.run(begin, end),
            Work::Launch(launch) => return launch.run(Some(event), begin, end),
        }
        Ok(())
    }

    /// What is left to do when the last unit is done and before anybody is told.
    fn finish(&self) {
        if let Work::Launch(launch) = &self.work {
            launch.finish(self.busy.load(Acquire));
        }
    }
}

/// A command turned out to be worth more threads.
enum Widened {
    /// The pool has forgotten the command, because one thread was to do all of it.
    FromOne,
    FromSeveral,
}

/// Runs chunks of a command that this thread has joined until none is left or `stop` says so (asked
/// between the chunks of a shared command), and completes the command when the last unit was done here.
///
/// Dependents that become ready are pushed quietly: the caller goes on to look for work.
pub(crate) fn participate(event: &Arc<Event>, stop: &dyn Fn() -> bool) {
    let job = &event.job;
    let mut before = timestamp();
    event.begin(before);
    while let Some((begin, end)) = job.claim() {
        // After an error the rest is claimed and counted but not run.
        if event.failure() == 0 {
            // A panic in here is a bug of the driver; the application gets an error for it, not a crash.
            match catch_unwind(AssertUnwindSafe(|| job.run(event, begin, end))) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => event.fail(error),
                Err(_) => event.fail(ClError::OUT_OF_RESOURCES),
            }
        }
        let now = timestamp();
        let elapsed = now.saturating_sub(before);
        job.busy.fetch_add(elapsed, AcqRel);
        before = now;
        match job.correct(end - begin, elapsed) {
            None => {}
            Some(Widened::FromOne) => Pool::get().push(Arc::clone(event), Push::Notify),
            Some(Widened::FromSeveral) => Pool::get().wake_one(),
        }
        if job.done.fetch_add(end - begin, AcqRel) + (end - begin) == job.shape.units {
            job.finish();
            event.end(Push::Quiet);
            break;
        }
        // What one thread was to do alone is in no list any more: nobody else would finish it.
        if !job.is_single() && stop() {
            break;
        }
    }
    job.participants.fetch_sub(1, SeqCst);
}
