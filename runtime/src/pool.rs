//! The threads that execute commands: workers, and threads of the application that wait.
//!
//! The root device's pool lives as long as the process. A sub-device has a pool of its own
//! ([`PinnedPool`]), whose workers stay on the sub-device's processors; threads of the application,
//! which may be anywhere, do not help there.
//!
//! # Lists
//!
//! Two lists are under one lock. *Ready*: commands whose dependencies are done, by the priority of
//! their queues. One that several threads share stays in the list until all of it is claimed;
//! another leaves it when a thread takes it. *Deferred*: ready commands so short that waking a
//! thread for them would cost more than they do. Only waiting threads take from it. It is emptied
//! into *ready* by whatever OpenCL counts as a flush, by a status query, and when it grows long; so
//! they never wait for longer than the specification lets them. A third has a lock of its own.
//! *Callbacks*: code of the application. Only workers run it, with no lock held: a waiting thread
//! of the application may hold a mutex that the callback wants. When many threads wait and help,
//! the first lock is asked for so often that two workers would get it too seldom to keep up with
//! the callbacks, and each callback keeps a command and all it refers to alive.
//!
//! # Why no wake-up is lost
//!
//! Workers that find nothing spin, then park; a thread that makes work available tells them
//! afterwards (`sleep.rs`).
//!
//! "Work made available" is: an entry pushed to *ready* or *callbacks*; a place in a shared command
//! given up by a thread that leaves early, or opened because the command turned out long; and
//! entries left over when a thread takes one, because one push wakes at most one worker, which
//! wakes the next (`take` tells it). A thread inside `help_until_done` or the worker loop pushes
//! without waking a worker (the next thing it does is take), and one that leaves the former wakes a
//! worker if anything is left.
//!
//! A waiting thread sleeps on its event when there is nothing it can take. What its event depends
//! on was enqueued before, so it is then not deferred (see `sleeping_waiters` for waits in the
//! pools of sub-devices, where no thread helps), but running, or ready and known to the workers by
//! the rules above, or waits for something of which the same is true, or for a user event. What
//! kernels enqueue is never deferred: it is pushed by the thread that runs the kernel, which wakes
//! a worker, unless it goes on to take itself.

use std::collections::VecDeque;
use std::fmt;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use parking_lot::Mutex;

use crate::clock::timestamp;
use crate::command::{Action, run_chunks};
use crate::event::Event;
use crate::sleep::Workers;
use crate::topology;

/// How long a worker looks for work before it parks, nanoseconds.
const WORKER_SPIN: u64 = 10_000;
/// How long a waiting thread looks before it sleeps, nanoseconds.
const WAITER_SPIN: u64 = 20_000;
/// Deferred commands that are enough work to wake a worker for.
const MAX_DEFERRED: usize = 16;
/// Bytes of a worker's stack, for kernels with large private arrays; untouched pages cost nothing.
const STACK_SIZE: usize = 16 << 20;
/// More threads than this `BROLGA_THREADS` cannot ask for.
const MAX_THREADS: u32 = 1024;

/// How a command that became ready is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Push {
    /// To threads that wait; see the module's head.
    Defer,
    /// The pushing thread is about to look for work itself.
    NoWake,
    /// To a worker, woken if need be.
    Notify,
}

/// The kind of thread that takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taker {
    Worker,
    Helper,
}

enum Task {
    Callback(Action),
    /// A command that the taker has joined.
    Command(Arc<Event>),
}

#[derive(Default)]
struct Lists {
    /// By priority, the highest first.
    ready: [VecDeque<Arc<Event>>; 3],
    deferred: VecDeque<Arc<Event>>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("threads", &self.threads)
            .field("processors", &self.processors)
            .finish_non_exhaustive()
    }
}

/// Threads and what they have to do.
pub(crate) struct Pool {
    lists: Mutex<Lists>,
    callbacks: Mutex<VecDeque<Action>>,
    /// Entries of `ready`.
    available: AtomicUsize,
    /// Entries of `callbacks`.
    due: AtomicUsize,
    /// Entries of `deferred`.
    deferred: AtomicUsize,
    workers: Workers,
    /// Logical processors that the workers stay on; wherever the system likes if there are none.
    processors: Vec<usize>,
    threads: u32,
    /// Threads asleep until a command is done that they cannot help with, of the root device's
    /// pool.
    sleeping_waiters: AtomicUsize,
}

/// A pool that goes with its owner.
#[derive(Debug)]
pub(crate) struct PinnedPool(Arc<Pool>);

impl PinnedPool {
    /// A worker for each of `processors`, on these processors.
    pub(crate) fn new(processors: Vec<usize>) -> PinnedPool {
        let pool = Arc::new(Pool::new(processors.len() as u32, processors));
        pool.start();
        PinnedPool(pool)
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.0
    }
}

impl Drop for PinnedPool {
    /// Every command keeps its device, and with it this, so that there is nothing left to do. The
    /// last one may be dropped by a worker, so that nothing waits for the workers.
    fn drop(&mut self) {
        self.0.workers.stop();
    }
}

/// How many threads execute commands: `BROLGA_THREADS`, or the processors in the affinity mask.
pub(crate) fn thread_count() -> u32 {
    static COUNT: LazyLock<u32> = LazyLock::new(|| {
        std::env::var("BROLGA_THREADS")
            .ok()
            .and_then(|value| value.trim().parse::<u32>().ok())
            .filter(|&count| count > 0)
            .unwrap_or_else(|| topology::available_processors().len() as u32)
            .clamp(1, MAX_THREADS)
    });
    *COUNT
}

impl Pool {
    /// The root device's pool; its workers start when this is first called.
    pub(crate) fn get() -> &'static Arc<Pool> {
        static POOL: LazyLock<Arc<Pool>> = LazyLock::new(|| {
            let pool = Arc::new(Pool::new(thread_count(), Vec::new()));
            pool.start();
            pool
        });
        &POOL
    }

    fn new(threads: u32, processors: Vec<usize>) -> Pool {
        Pool {
            lists: Mutex::default(),
            callbacks: Mutex::default(),
            due: AtomicUsize::new(0),
            available: AtomicUsize::new(0),
            deferred: AtomicUsize::new(0),
            workers: Workers::new(),
            processors,
            threads,
            sleeping_waiters: AtomicUsize::new(0),
        }
    }

    /// Starts the workers.
    fn start(self: &Arc<Pool>) {
        for index in 0..self.threads {
            let pool = Arc::clone(self);
            let spawned = std::thread::Builder::new()
                .name(format!("brolga-{index}"))
                .stack_size(STACK_SIZE)
                .spawn(move || {
                    topology::pin(&pool.processors);
                    pool.work();
                });
            if let Err(error) = spawned {
                eprintln!("brolga: cannot start worker thread {index}: {error}");
                break;
            }
        }
    }

    /// Whether threads of the application may run commands while they wait.
    fn takes_help(&self) -> bool {
        self.processors.is_empty()
    }

    /// Threads that may work on one command.
    pub(crate) fn threads(&self) -> u32 {
        self.threads
    }

    /// Offers a command whose dependencies are done.
    pub(crate) fn push(&self, event: Arc<Event>, push: Push) {
        let mut lists = self.lists.lock();
        if push == Push::Defer && self.takes_help() {
            lists.deferred.push_back(event);
            let count = self.deferred.fetch_add(1, SeqCst) + 1;
            drop(lists);
            if count >= MAX_DEFERRED || self.sleeping_waiters.load(SeqCst) > 0 {
                self.promote_deferred();
            }
            return;
        }
        lists.ready[event.priority() as usize].push_back(event);
        self.available.fetch_add(1, SeqCst);
        drop(lists);
        if push != Push::NoWake {
            self.wake_one();
        }
    }

    /// Has a worker call `callback` soon.
    pub(crate) fn push_callback(&self, callback: Action) {
        let mut callbacks = self.callbacks.lock();
        callbacks.push_back(callback);
        self.due.fetch_add(1, SeqCst);
        drop(callbacks);
        self.wake_one();
    }

    /// Makes deferred commands ready for all threads. Only the root device's pool has any; but
    /// commands of all pools may wait for them, so that whatever counts as a flush of any queue
    /// asks for this.
    pub(crate) fn flush() {
        Pool::get().promote_deferred();
    }

    fn promote_deferred(&self) {
        if self.deferred.load(SeqCst) == 0 {
            return;
        }
        let mut guard = self.lists.lock();
        let lists = &mut *guard;
        let count = lists.deferred.len();
        for event in lists.deferred.drain(..) {
            lists.ready[event.priority() as usize].push_back(event);
        }
        self.deferred.fetch_sub(count, SeqCst);
        self.available.fetch_add(count, SeqCst);
        drop(guard);
        self.wake_one();
    }

    /// Wakes a worker if one sleeps and none is looking for work already.
    pub(crate) fn wake_one(&self) {
        self.workers.wake_one();
    }

    /// Takes something to do, and says whether there is more for a worker.
    fn take(&self, taker: Taker) -> Option<(Task, bool)> {
        if taker == Taker::Worker
            && self.due.load(SeqCst) > 0
            && let Some(callback) = self.callbacks.lock().pop_front()
        {
            let more = self.due.fetch_sub(1, SeqCst) > 1 || self.available.load(SeqCst) > 0;
            return Some((Task::Callback(callback), more));
        }
        let nothing = self.available.load(SeqCst) == 0;
        if nothing && (taker == Taker::Worker || self.deferred.load(SeqCst) == 0) {
            return None;
        }
        // Dropped after the lock is released: the last reference to an event may be the last to its
        // queue, which flushes when it goes, and that takes the lock.
        let mut exhausted = Vec::new();
        let mut lists = self.lists.lock();
        for priority in 0..lists.ready.len() {
            let mut index = 0;
            while let Some(event) = lists.ready[priority].get(index) {
                let job = &event.job;
                if job.is_exhausted() {
                    exhausted.extend(lists.ready[priority].remove(index));
                    self.available.fetch_sub(1, SeqCst);
                    continue;
                }
                if !job.has_room() || taker == Taker::Helper && !job.may_help() {
                    index += 1;
                    continue;
                }
                job.join();
                let event = if job.is_single() {
                    self.available.fetch_sub(1, SeqCst);
                    lists.ready[priority].remove(index)?
                } else {
                    Arc::clone(event)
                };
                let more = self.has_work(&lists);
                return Some((Task::Command(event), more));
            }
        }
        if taker == Taker::Helper
            && let Some(event) = lists.deferred.pop_front()
        {
            self.deferred.fetch_sub(1, SeqCst);
            event.job.join();
            let more = self.has_work(&lists);
            return Some((Task::Command(event), more));
        }
        None
    }

    /// Whether there is something that a worker could take.
    fn has_work(&self, lists: &Lists) -> bool {
        self.due.load(SeqCst) > 0
            || lists
                .ready
                .iter()
                .flatten()
                .any(|event| event.job.has_room())
    }

    /// A worker's life.
    fn work(&self) {
        while !self.workers.are_stopped() {
            let (task, more) = match self.take(Taker::Worker) {
                Some(taken) => taken,
                None => match self.spin().or_else(|| self.park()) {
                    Some(taken) => taken,
                    None => continue,
                },
            };
            if more {
                self.wake_one();
            }
            // A panic (in a callback, say) must not end the worker.
            let _ = catch_unwind(AssertUnwindSafe(|| match task {
                Task::Callback(callback) => callback(),
                Task::Command(event) => run_chunks(&event, &|| false),
            }));
        }
    }

    /// Looks for work for a while, unless another worker does.
    fn spin(&self) -> Option<(Task, bool)> {
        let look = || {
            let limit = timestamp() + WORKER_SPIN;
            let mut found = None;
            while found.is_none() && timestamp() < limit {
                for _ in 0..16 {
                    spin_loop();
                }
                found = self.take(Taker::Worker);
            }
            found
        };
        // What is left must not wait for this thread's command to end.
        let is_left = || self.available.load(SeqCst) + self.due.load(SeqCst) > 0;
        let ((task, more), left) = self.workers.spin(look, is_left)?;
        Some((task, more || left))
    }

    /// Sleeps until woken, unless there is work after all.
    fn park(&self) -> Option<(Task, bool)> {
        self.workers.park(|| self.take(Taker::Worker))
    }

    /// Executes commands on this thread until `event` is done, sleeping when there is nothing to
    /// execute.
    pub(crate) fn help_until_done(&self, event: &Event) {
        if !self.takes_help() {
            // What it waits for may be deferred, or be about to be: either this flush sees it, or
            // its thread this sleeping waiter.
            let sleeping_waiters = &Pool::get().sleeping_waiters;
            sleeping_waiters.fetch_add(1, SeqCst);
            Pool::flush();
            while !event.is_done() {
                event.sleep();
            }
            sleeping_waiters.fetch_sub(1, SeqCst);
            return;
        }
        while !event.is_done() {
            if let Some((task, more)) = self.take(Taker::Helper) {
                if more {
                    self.wake_one();
                }
                let Task::Command(command) = task else {
                    unreachable!("callbacks are for workers");
                };
                run_chunks(&command, &|| event.is_done());
                continue;
            }
            if !self.spin_for(event) {
                // What this thread pushed without waking a worker and may not run itself (a native
                // kernel) would wait for no thread.
                if self.available.load(SeqCst) > 0 {
                    self.wake_one();
                }
                event.sleep();
            }
        }
        // This thread may have pushed without waking a worker, left a shared command, or been the
        // one a wake-up was spared for.
        if self.available.load(SeqCst) > 0 {
            self.wake_one();
        }
        // Waiting implies a flush of the queue.
        self.promote_deferred();
    }

    /// Watches `event` and the lists for a while; true when one of them changed.
    fn spin_for(&self, event: &Event) -> bool {
        let limit = timestamp() + WAITER_SPIN;
        let available = self.available.load(SeqCst);
        while timestamp() < limit {
            for _ in 0..16 {
                if event.is_done() {
                    return true;
                }
                spin_loop();
            }
            // Entries that this thread just found of no use to it stay counted; only news matter.
            if self.deferred.load(SeqCst) > 0 || self.available.load(SeqCst) != available {
                return true;
            }
        }
        event.is_done()
    }
}
