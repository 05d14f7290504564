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
//! into *ready* by whatever OpenCL counts as a flush, by a status query, by a thread that waits and
//! finds nothing to do, and when it grows long; so they never wait for longer than the
//! specification lets them.
//!
//! # What waiting threads run
//!
//! A thread that waits takes only what it waits for and what that depends on (`event/awaited.rs`),
//! whose end it has to wait for in any case. An unrelated command might hold it up, and one that
//! spins until the host does something might do so for ever, since the host waits for it. Code of
//! the application (native kernels), and kernels that want more stack than the thread has left, are
//! for workers.
//!
//! # Why no wake-up is lost
//!
//! Workers that find nothing spin, then park; a thread that makes work available tells them
//! afterwards (`sleep.rs`).
//!
//! "Work made available" is: an entry pushed to *ready*; a place in a shared command given up by a
//! thread that leaves early, or opened because the command turned out long; and entries left over
//! when a thread takes one, or looks and may take none, because one push wakes at most two workers,
//! which wake the next (`take` tells it). A thread inside `help_until_done` or the worker loop
//! pushes without waking a worker (the next thing it does is take), and one that leaves the former
//! wakes a worker if anything is left.
//!
//! When a callback is registered for a deferred command, the thread that calls callbacks is woken
//! in place of a worker, if it is free (`callbacks.rs`), and takes short commands. What it leaves,
//! or is kept from by a callback, it wakes a worker for.
//!
//! A waiting thread sleeps on its event when there is nothing it can take. Before that it makes
//! ready what is deferred, so that what its event depends on, which was enqueued before, is not
//! deferred (see `sleeping_waiters` for waits in the pools of sub-devices, where no thread helps),
//! but running, or ready and known to the workers by the rules above, or waits for something of
//! which the same is true, or for a user event. What kernels enqueue is never deferred: it is
//! pushed by the thread that runs the kernel, which wakes a worker, unless it goes on to take
//! itself.

use std::collections::VecDeque;
use std::fmt;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use parking_lot::Mutex;

use crate::callbacks;
use crate::clock::timestamp;
use crate::command::run_chunks;
use crate::event::{Awaited, Event, Search};
use crate::nodes::Nodes;
use crate::sleep::Workers;
use crate::stack;
use crate::threads::{self, MAX_THREADS};
use crate::topology;

/// How long a worker looks for work before it parks, nanoseconds.
const WORKER_SPIN: u64 = 10_000;
/// How long a waiting thread looks before it sleeps, nanoseconds.
const WAITER_SPIN: u64 = 20_000;
/// Deferred commands that are enough work to wake a worker for.
const MAX_DEFERRED: usize = 16;
/// Workers that a thread wakes at a time; each of them wakes as many in its turn.
const FAN_OUT: u32 = 2;

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
#[derive(Clone, Copy)]
enum Taker<'a> {
    Worker,
    /// The one that calls callbacks.
    Caller,
    /// One that waits.
    Helper {
        awaited: &'a Awaited,
        /// Bytes that are left.
        stack: u64,
        /// Whether it looks for what its events depend on, or only for themselves and what is
        /// before them in their queues. That is found sooner.
        searches: bool,
    },
}

impl Taker<'_> {
    /// Whether it may run a command that has room for it.
    fn may_run(self, event: &Event, search: &mut Search) -> bool {
        match self {
            Taker::Worker => true,
            Taker::Caller => event.job.is_short(),
            Taker::Helper {
                awaited,
                stack,
                searches,
            } => {
                event.job.may_help(stack)
                    && match searches {
                        false => awaited.contains(event),
                        true => awaited.depends_on(event, search),
                    }
            }
        }
    }
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
    /// Entries of `ready`.
    available: AtomicUsize,
    /// Entries of `deferred`.
    deferred: AtomicUsize,
    workers: Workers,
    /// Logical processors that the workers stay on; wherever the system likes if there are none.
    processors: Vec<usize>,
    /// Of these, or of the machine's.
    nodes: Nodes,
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

/// How many threads execute commands: `BROLGA_THREADS`, or the processors in the affinity mask, or
/// as many as the time that control groups leave the process is enough for.
pub(crate) fn thread_count() -> u32 {
    static COUNT: LazyLock<u32> = LazyLock::new(|| {
        std::env::var("BROLGA_THREADS")
            .ok()
            .and_then(|value| value.trim().parse::<u32>().ok())
            .filter(|&count| count > 0)
            .unwrap_or_else(topology::useful_threads)
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
        let nodes = match processors.is_empty() {
            true => Nodes::new(&topology::available_processors(), threads),
            false => Nodes::new(&processors, threads),
        };
        Pool {
            nodes,
            lists: Mutex::default(),
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
            let spawned =
                threads::spawn(&format!("brolga-{index}"), Some(stack::WORKER), move || {
                    topology::pin(&pool.processors);
                    pool.nodes.join_worker(index, pool.threads);
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

    /// How many of them each NUMA node has; none if there are not several nodes.
    pub(crate) fn threads_of_nodes(&self) -> &[u32] {
        self.nodes.threads()
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
        let missing = event.job.missing();
        lists.ready[event.priority() as usize].push_back(event);
        self.available.fetch_add(1, SeqCst);
        drop(lists);
        if push != Push::NoWake {
            self.wake_for(missing);
        }
    }

    /// Makes deferred commands ready for all threads. Only the root device's pool has any; but
    /// commands of all pools may wait for them, so that whatever counts as a flush of any queue
    /// asks for this.
    pub(crate) fn flush() {
        Pool::get().promote_deferred();
    }

    /// As [`Pool::flush`], when an event has got a callback: the thread that is to call it runs the
    /// command as well, if it is free.
    pub(crate) fn flush_for_callback() {
        let pool = Pool::get();
        if pool.promote() && !callbacks::ask() {
            pool.wake_one();
        }
    }

    fn promote_deferred(&self) {
        if self.promote() {
            self.wake_one();
        }
    }

    /// Makes deferred commands ready. True if there were any: a thread is to be woken.
    fn promote(&self) -> bool {
        if self.deferred.load(SeqCst) == 0 {
            return false;
        }
        let mut guard = self.lists.lock();
        let lists = &mut *guard;
        let count = lists.deferred.len();
        for event in lists.deferred.drain(..) {
            lists.ready[event.priority() as usize].push_back(event);
        }
        self.deferred.fetch_sub(count, SeqCst);
        self.available.fetch_add(count, SeqCst);
        count > 0
    }

    /// Wakes a worker if one sleeps and none is looking for work already.
    fn wake_one(&self) {
        self.workers.wake(1);
    }

    /// As [`Pool::wake_one`], if there is something to do.
    pub(crate) fn wake_if_available(&self) {
        if self.available.load(SeqCst) > 0 {
            self.wake_one();
        }
    }

    /// There is work for so many threads more, one of which may be this one: wakes one or two,
    /// which wake others.
    pub(crate) fn wake_for(&self, threads: u32) {
        match threads {
            0 => {}
            1 | 2 => self.wake_one(),
            _ => self.workers.wake(FAN_OUT),
        }
    }

    /// As [`Pool::wake_for`], if there is any, and none of it is for this thread.
    fn wake_others(&self, threads: u32) {
        if threads > 0 {
            self.workers.wake(threads.min(FAN_OUT));
        }
    }

    /// Takes a command, which the thread has then joined, and says how many workers there is more
    /// for, up to [`FAN_OUT`].
    fn take(&self, taker: Taker<'_>) -> (Option<Arc<Event>>, u32) {
        let is_helper = matches!(taker, Taker::Helper { .. });
        let nothing = self.available.load(SeqCst) == 0;
        if nothing && (!is_helper || self.deferred.load(SeqCst) == 0) {
            return (None, 0);
        }
        // Dropped after the lock is released: the last reference to an event may be the last to its
        // queue, which flushes when it goes, and that takes the lock.
        let mut exhausted = Vec::new();
        let mut search = Search::default();
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
                if !job.has_room() || !taker.may_run(event, &mut search) {
                    index += 1;
                    continue;
                }
                job.join();
                let event = if job.is_single() {
                    self.available.fetch_sub(1, SeqCst);
                    lists.ready[priority].remove(index)
                } else {
                    Some(Arc::clone(event))
                };
                return (event, missing(&lists));
            }
        }
        if !is_helper {
            return (None, 0);
        }
        let position = {
            let mut deferred = lists.deferred.iter();
            deferred.position(|event| taker.may_run(event, &mut search))
        };
        let event = position.and_then(|index| lists.deferred.remove(index));
        if let Some(event) = &event {
            self.deferred.fetch_sub(1, SeqCst);
            event.job.join();
        }
        (event, missing(&lists))
    }

    /// A worker's life.
    fn work(&self) {
        while !self.workers.are_stopped() {
            let (event, more) = match self.take(Taker::Worker) {
                (Some(event), more) => (event, more),
                (None, _) => match self.spin().or_else(|| self.park()) {
                    Some(taken) => taken,
                    None => continue,
                },
            };
            self.wake_others(more);
            // A panic must not end the worker.
            let run = || callbacks::executing(move || run_chunks(&event, &|| false));
            let _ = catch_unwind(AssertUnwindSafe(run));
        }
    }

    /// Runs short commands until there are none, or callbacks are due, on the thread that calls
    /// those.
    pub(crate) fn run_short(&self) {
        self.nodes.join_helper();
        while !callbacks::are_due()
            && let (Some(command), more) = self.take(Taker::Caller)
        {
            self.wake_others(more);
            command.begin(timestamp());
            callbacks::make_way();
            callbacks::executing(move || run_chunks(&command, &|| false));
        }
        // The thread has pushed without waking a worker, and was woken in place of one.
        self.wake_if_available();
    }

    /// What a worker finds, and how many workers there is more for.
    fn look(&self) -> Option<(Arc<Event>, u32)> {
        let (event, more) = self.take(Taker::Worker);
        event.map(|event| (event, more))
    }

    /// Looks for work for a while, unless another worker does.
    fn spin(&self) -> Option<(Arc<Event>, u32)> {
        let look = || {
            let limit = timestamp() + WORKER_SPIN;
            let mut found = None;
            while found.is_none() && timestamp() < limit {
                for _ in 0..16 {
                    spin_loop();
                }
                found = self.look();
            }
            found
        };
        // What is left must not wait for this thread's command to end.
        let is_left = || self.available.load(SeqCst) > 0;
        let ((event, more), left) = self.workers.spin(look, is_left)?;
        Some((event, more.max(u32::from(left))))
    }

    /// Sleeps until woken, unless there is work after all.
    fn park(&self) -> Option<(Arc<Event>, u32)> {
        self.workers.park(|| self.look())
    }

    /// Executes commands that `awaited` depends on, which `event` is one of, on this thread until
    /// `event` is done, sleeping when there is nothing to execute.
    pub(crate) fn help_until_done(&self, event: &Event, awaited: &Awaited) {
        callbacks::about_to_wait();
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
        self.nodes.join_helper();
        let stack = stack::left().unwrap_or(0);
        while !event.is_done() {
            let seen = self.counts();
            let take = |searches| {
                self.take(Taker::Helper {
                    awaited,
                    stack,
                    searches,
                })
            };
            let (command, more) = match take(false) {
                (None, _) => take(true),
                found => found,
            };
            // Also if there is nothing for this thread: it may have pushed without waking a worker.
            self.wake_others(more);
            if let Some(command) = command {
                callbacks::executing(move || run_chunks(&command, &|| event.is_done()));
                continue;
            }
            if !self.spin_for(event, seen) {
                self.promote_deferred();
                event.sleep();
            }
        }
        // This thread may have pushed without waking a worker, left a shared command, or been the
        // one a wake-up was spared for.
        self.wake_if_available();
        // Waiting implies a flush of the queue.
        self.promote_deferred();
    }

    /// Entries of the lists.
    fn counts(&self) -> [usize; 2] {
        [&self.available, &self.deferred].map(|count| count.load(SeqCst))
    }

    /// Watches `event` and the lists for a while; true when the event is done, or the lists are not
    /// what was `seen` of them. Entries that are of no use to this thread stay counted; only news
    /// matter.
    fn spin_for(&self, event: &Event, seen: [usize; 2]) -> bool {
        let limit = timestamp() + WAITER_SPIN;
        while timestamp() < limit {
            for _ in 0..16 {
                if event.is_done() {
                    return true;
                }
                spin_loop();
            }
            if self.counts() != seen {
                return true;
            }
        }
        event.is_done()
    }
}

/// How many workers there is something for, up to [`FAN_OUT`].
fn missing(lists: &Lists) -> u32 {
    let mut threads = 0;
    for event in lists.ready.iter().flatten() {
        threads += event.job.missing();
        if threads >= FAN_OUT {
            return FAN_OUT;
        }
    }
    threads
}
