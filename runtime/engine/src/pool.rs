//! The threads that execute commands: workers, and threads of the application that wait.
//!
//! The root device's pool lives as long as the process. A sub-device has a pool of its own
//! ([`PinnedPool`]), whose workers stay on the sub-device's processors; threads of the application,
//! which may be anywhere, do not help there.
//!
//! # Lists
//!
//! All lists are under one lock (`ready.rs` says what is taken of them). *Ready*: commands whose
//! dependencies are done. *Deferred*: ready commands so short that waking a thread for them would
//! cost more than they do. Only waiting threads take from it. It is emptied into *ready* by
//! whatever OpenCL counts as a flush, by a status query, by a thread that waits and finds nothing
//! to do, when it grows long, and when a queue goes on growing behind what is deferred
//! (`line_has_grown`); so commands overlap with the host without a flush.
//!
//! # What waiting threads run
//!
//! A thread that waits takes only what it waits for and what that depends on (`awaited.rs`),
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
//!
//! # Without workers
//!
//! If not one thread could be started, a thread that would wake a worker tries to start one, and
//! else runs what is ready itself, unless it is running commands: then it will take the next
//! anyway.

use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use brolga_host::notice;

use crate::awaited::{Awaited, DependentSearch};
use crate::callbacks::{self, Callbacks, ShortCommands, Spawn};
use crate::entry::{Entry, Line};
use crate::ready::{ReadyLists, Taker};
use crate::sleep::Workers;
use crate::sync::Ordering::{Relaxed, SeqCst};
use crate::sync::{self, AtomicU32, AtomicUsize, Mutex};
use crate::system::nodes::{self, Nodes};
use crate::system::stack;

/// How long a worker looks for work before it parks, nanoseconds.
const WORKER_SPIN: u64 = 10_000;
/// How long a waiting thread looks before it sleeps, nanoseconds.
const WAITER_SPIN: u64 = 20_000;
/// Deferred commands that are enough work to wake a worker for.
const MAX_DEFERRED: usize = 16;
/// Commands behind those that are deferred that are enough to wake a worker for. Together the
/// shortest that there are take about as long as the wake-up.
const MAX_BEHIND: u64 = 32;
/// Workers that a thread wakes at a time; each of them wakes as many in its turn.
const FAN_OUT: u32 = 2;

/// How a command that became ready is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Push {
    /// To threads that wait; see the module's head.
    Defer,
    /// The pushing thread is about to look for work itself.
    NoWake,
    /// To a worker, woken if need be.
    Notify,
}

/// A command, which the thread has joined, and how many workers there is more for, up to
/// [`FAN_OUT`].
type Taken<E> = (Option<Arc<E>>, u32);

impl<E: ?Sized> fmt::Debug for Pool<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("threads", &self.threads)
            .field("processors", &self.processors)
            .finish_non_exhaustive()
    }
}

/// Threads, and the commands that they have to run.
pub struct Pool<E: ?Sized> {
    lists: Mutex<ReadyLists<E>>,
    /// Entries of all lines.
    available: AtomicUsize,
    /// Entries of `deferred`.
    deferred: AtomicUsize,
    workers: Workers,
    /// Workers that could be started.
    started: AtomicU32,
    spawn: Spawn,
    callbacks: Arc<Callbacks>,
    /// The pool of the whole device, of one of a sub-device: there threads of the application help,
    /// and commands are deferred.
    root: Option<Arc<Pool<E>>>,
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
pub struct PinnedPool<E: Entry + ?Sized>(Arc<Pool<E>>);

impl<E: Entry + ?Sized> PinnedPool<E> {
    /// A worker for each of `processors`, on these processors, which are some of the root's.
    pub fn new(root: &Arc<Pool<E>>, processors: Vec<usize>) -> PinnedPool<E> {
        let threads = processors.len() as u32;
        let nodes = Nodes::new(&processors, threads);
        let mut pool = Pool::new(threads, nodes, Arc::clone(&root.callbacks), root.spawn);
        pool.root = Some(Arc::clone(root));
        pool.processors = processors;
        let pool = Arc::new(pool);
        pool.start();
        PinnedPool(pool)
    }

    pub fn pool(&self) -> &Arc<Pool<E>> {
        &self.0
    }
}

impl<E: Entry + ?Sized> Drop for PinnedPool<E> {
    /// Every command keeps its device, and with it this, so that there is nothing left to do. The
    /// last one may be dropped by a worker, so that nothing waits for the workers.
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl<E: Entry + ?Sized> Pool<E> {
    /// The pool of a whole device; its workers start now.
    pub fn start_root(threads: u32, nodes: Nodes, callbacks: Arc<Callbacks>) -> Arc<Pool<E>> {
        Pool::start_root_with(threads, nodes, callbacks, sync::spawn)
    }

    /// As [`Pool::start_root`], with threads that are started so.
    pub fn start_root_with(
        threads: u32,
        nodes: Nodes,
        callbacks: Arc<Callbacks>,
        spawn: Spawn,
    ) -> Arc<Pool<E>> {
        let pool = Arc::new(Pool::new(threads, nodes, callbacks, spawn));
        pool.start();
        pool
    }

    fn new(threads: u32, nodes: Nodes, callbacks: Arc<Callbacks>, spawn: Spawn) -> Pool<E> {
        Pool {
            lists: Mutex::new(ReadyLists::default()),
            available: AtomicUsize::new(0),
            deferred: AtomicUsize::new(0),
            workers: Workers::new(),
            started: AtomicU32::new(0),
            spawn,
            callbacks,
            root: None,
            processors: Vec::new(),
            nodes,
            threads,
            sleeping_waiters: AtomicUsize::new(0),
        }
    }

    /// Starts the workers.
    fn start(self: &Arc<Pool<E>>) {
        for index in 0..self.threads {
            if let Err(error) = self.start_worker(index) {
                notice(format_args!("cannot start worker thread {index}: {error}"));
                break;
            }
        }
    }

    fn start_worker(self: &Arc<Pool<E>>, index: u32) -> io::Result<()> {
        let pool = Arc::clone(self);
        let life = move || {
            if !pool.processors.is_empty() {
                nodes::stay_on(&pool.processors);
            }
            pool.nodes.join_worker(index, pool.threads);
            pool.work();
        };
        (self.spawn)(&format!("brolga-{index}"), stack::WORKER, Box::new(life))?;
        self.started.fetch_add(1, SeqCst);
        Ok(())
    }

    /// Workers parked or about to be.
    #[cfg(all(test, loom))]
    pub(crate) fn sleepers(&self) -> u32 {
        self.workers.sleepers()
    }

    /// Has the workers end.
    pub fn stop(&self) {
        self.workers.stop();
    }

    /// The callbacks of the process.
    pub fn callbacks(&self) -> &Arc<Callbacks> {
        &self.callbacks
    }

    /// Where threads of the application may run commands while they wait.
    fn root(self: &Arc<Self>) -> &Arc<Pool<E>> {
        self.root.as_ref().unwrap_or(self)
    }

    /// Threads that may work on one command.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// How many of them each NUMA node has; none if there are not several nodes.
    pub fn threads_of_nodes(&self) -> &[u32] {
        self.nodes.threads()
    }

    /// Offers a command whose dependencies are done.
    pub(crate) fn push(self: &Arc<Self>, command: Arc<E>, push: Push) {
        let mut lists = self.lists.lock();
        if push == Push::Defer && self.root.is_none() {
            lists.deferred.push_back(command);
            let count = self.deferred.fetch_add(1, SeqCst) + 1;
            drop(lists);
            if count >= MAX_DEFERRED || self.sleeping_waiters.load(SeqCst) > 0 {
                self.promote_deferred();
            }
            return;
        }
        let missing = command.missing();
        lists.push(command);
        self.available.fetch_add(1, SeqCst);
        drop(lists);
        if push != Push::NoWake {
            self.wake_for(missing);
        }
    }

    /// A line has a command at this place now, which need not be ready. When many have come since
    /// this looked, what they may be waiting for is not left to a thread that waits.
    pub(crate) fn line_has_grown(self: &Arc<Self>, line: &Line, place: u64) {
        // Whichever thread comes first: one look in so many commands is enough.
        if line.has_grown(place, MAX_BEHIND) {
            self.flush();
        }
    }

    /// No command of the line will come any more.
    pub(crate) fn remove_line(&self, line: &Line) {
        if line.slot().is_some() {
            self.lists.lock().remove_line(line);
        }
    }

    /// Makes deferred commands ready for all threads. Only the root device's pool has any; but
    /// commands of all pools may wait for them, so that whatever counts as a flush of any queue
    /// asks for this.
    pub fn flush(self: &Arc<Self>) {
        self.root().promote_deferred();
    }

    /// As [`Pool::flush`], when a command has got a callback: the thread that is to call it runs
    /// the command as well, if it is free.
    pub(crate) fn flush_for_callback(self: &Arc<Self>) {
        let root = self.root();
        if root.promote() && !self.callbacks.ask(root.short_commands()) {
            root.wake(1);
        }
    }

    fn short_commands(self: &Arc<Self>) -> Arc<dyn ShortCommands> {
        Arc::new(ShortOf(Arc::clone(self)))
    }

    fn promote_deferred(self: &Arc<Self>) {
        if self.promote() {
            self.wake(1);
        }
    }

    /// Makes deferred commands ready. True if there were any: a thread is to be woken.
    fn promote(&self) -> bool {
        if self.deferred.load(SeqCst) == 0 {
            return false;
        }
        let mut lists = self.lists.lock();
        let deferred = std::mem::take(&mut lists.deferred);
        let count = deferred.len();
        for command in deferred {
            lists.push(command);
        }
        self.deferred.fetch_sub(count, SeqCst);
        self.available.fetch_add(count, SeqCst);
        count > 0
    }

    /// Wakes so many workers if some sleep and none is looking for work already.
    fn wake(self: &Arc<Self>, workers: u32) {
        match self.started.load(Relaxed) {
            0 => self.do_without_workers(),
            _ => self.workers.wake(workers),
        }
    }

    /// Work was pushed, and no worker could be started.
    #[cold]
    fn do_without_workers(self: &Arc<Self>) {
        if callbacks::is_executing() || self.start_worker(0).is_ok() {
            return;
        }
        while let (Some(command), _) = self.take(Taker::Worker) {
            // A panic must not come out where a command happens to be enqueued.
            let run = || callbacks::executing(|| command.run_chunks(&|| false));
            let _ = catch_unwind(AssertUnwindSafe(run));
        }
        self.callbacks.call_overdue();
    }

    /// As [`Pool::wake`], if there is something to do.
    fn wake_if_available(self: &Arc<Self>) {
        if self.available.load(SeqCst) > 0 {
            self.wake(1);
        }
    }

    /// There is work for so many threads more, one of which may be this one: wakes one or two,
    /// which wake others.
    pub(crate) fn wake_for(self: &Arc<Self>, threads: u32) {
        match threads {
            0 => {}
            1 | 2 => self.wake(1),
            _ => self.wake(FAN_OUT),
        }
    }

    /// As [`Pool::wake_for`], if there is any, and none of it is for this thread.
    fn wake_others(&self, threads: u32) {
        if threads > 0 {
            self.workers.wake(threads.min(FAN_OUT));
        }
    }

    /// Takes a command by way of `look` at the lists.
    fn take_by(
        &self,
        look: impl FnOnce(&mut ReadyLists<E>, &mut Vec<Arc<E>>) -> Option<Arc<E>>,
    ) -> Taken<E> {
        // Dropped after the lock is released: the last reference to a command may be the last to
        // its queue, which flushes when it goes, and that takes the lock.
        let mut exhausted = Vec::new();
        let mut lists = self.lists.lock();
        let taken = look(&mut lists, &mut exhausted);
        // What one thread is to do alone is in no list any more.
        let gone = exhausted.len() + usize::from(taken.as_ref().is_some_and(|it| it.is_single()));
        if gone > 0 {
            self.available.fetch_sub(gone, SeqCst);
        }
        let missing = lists.missing(FAN_OUT);
        (taken, missing)
    }

    /// Takes a command for a thread that does not wait for it.
    fn take(&self, taker: Taker) -> Taken<E> {
        match self.available.load(SeqCst) {
            0 => (None, 0),
            _ => self.take_by(|lists, exhausted| lists.take_next(taker, exhausted)),
        }
    }

    /// Takes a command for a thread that waits, and has so many bytes of stack left.
    fn take_for(&self, awaited: &Awaited<'_>, stack: u64) -> Taken<E> {
        let mut taken = (None, 0);
        if self.deferred.load(SeqCst) > 0 {
            let mut search = DependentSearch::default();
            let mut lists = self.lists.lock();
            let mut is_awaited =
                lists.take_deferred(|it| it.may_help(stack) && awaited.contains(&**it));
            if is_awaited.is_none() && self.available.load(SeqCst) == 0 {
                is_awaited = lists.take_deferred(|it| {
                    it.may_help(stack) && awaited.depends_on(&**it, &mut search)
                });
            }
            if let Some(command) = is_awaited {
                self.deferred.fetch_sub(1, SeqCst);
                let missing = lists.missing(FAN_OUT);
                drop(lists);
                return (Some(command), missing);
            }
        }
        if self.available.load(SeqCst) > 0 {
            taken = self.take_by(|lists, exhausted| lists.take_awaited(awaited, stack, exhausted));
            if taken.0.is_none() {
                let mut search = DependentSearch::default();
                taken = self.take_by(|lists, exhausted| {
                    lists.take_before_awaited(awaited, stack, exhausted, &mut search)
                });
            }
        }
        taken
    }

    /// What a worker does until it is stopped.
    fn work(self: &Arc<Self>) {
        while !self.workers.are_stopped() {
            let (command, more) = match self.take(Taker::Worker) {
                (Some(command), more) => (command, more),
                (None, _) => match self.spin().or_else(|| self.park()) {
                    Some(taken) => taken,
                    None => continue,
                },
            };
            self.wake_others(more);
            // A panic must not end the worker.
            let run = || callbacks::executing(move || command.run_chunks(&|| false));
            let _ = catch_unwind(AssertUnwindSafe(run));
        }
    }

    /// A command for a worker, if there is one, and how many workers there is more for.
    fn look(&self) -> Option<(Arc<E>, u32)> {
        let (command, more) = self.take(Taker::Worker);
        command.map(|command| (command, more))
    }

    /// Looks for work for a while, unless another worker does.
    fn spin(&self) -> Option<(Arc<E>, u32)> {
        // What is left must not wait for this thread's command to end.
        let is_left = || self.available.load(SeqCst) > 0;
        let look = || sync::spin(WORKER_SPIN, || self.look());
        let ((command, more), left) = self.workers.spin(look, is_left)?;
        Some((command, more.max(u32::from(left))))
    }

    /// Sleeps until woken, unless there is work after all.
    fn park(&self) -> Option<(Arc<E>, u32)> {
        self.workers.park(|| self.look())
    }

    /// Executes commands that `awaited` depends on, which `command` is one of, on this thread until
    /// `command` is done, sleeping when there is nothing to execute.
    pub(crate) fn help_until_done(self: &Arc<Self>, command: &E, awaited: &Awaited<'_>) {
        self.callbacks.about_to_wait();
        if let Some(root) = &self.root {
            // What it waits for may be deferred, or be about to be: either this flush sees it, or
            // its thread this sleeping waiter.
            root.sleeping_waiters.fetch_add(1, SeqCst);
            root.promote_deferred();
            while !command.is_done() {
                command.sleep();
            }
            root.sleeping_waiters.fetch_sub(1, SeqCst);
            return;
        }
        self.nodes.join_helper();
        let stack = stack::left().unwrap_or(0);
        while !command.is_done() {
            let seen = self.counts();
            let (found, more) = self.take_for(awaited, stack);
            // Also if there is nothing for this thread: it may have pushed without waking a worker.
            self.wake_others(more);
            if let Some(found) = found {
                callbacks::executing(move || found.run_chunks(&|| command.is_done()));
                continue;
            }
            if !self.spin_for(command, seen) {
                self.promote_deferred();
                if self.started.load(Relaxed) == 0 {
                    // What this thread must not help with, as code of the application.
                    self.wake_if_available();
                }
                command.sleep();
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

    /// Watches `command` and the lists for a while; true when the command is done, or the lists are
    /// not what was `seen` of them. Entries that are of no use to this thread stay counted; only
    /// news matter.
    fn spin_for(&self, command: &E, seen: [usize; 2]) -> bool {
        let news = || (command.is_done() || self.counts() != seen).then_some(());
        sync::spin(WAITER_SPIN, news).is_some() || command.is_done()
    }
}

/// The short commands of a pool.
struct ShortOf<E: ?Sized>(Arc<Pool<E>>);

impl<E: Entry + ?Sized> ShortCommands for ShortOf<E> {
    fn run_short(&self) {
        let pool = &self.0;
        pool.nodes.join_helper();
        while !pool.callbacks.are_due()
            && let (Some(command), more) = pool.take(Taker::CallbackThread)
        {
            pool.wake_others(more);
            command.begin();
            pool.callbacks.make_way();
            callbacks::executing(move || command.run_chunks(&|| false));
        }
        // The thread has pushed without waking a worker, and was woken in place of one.
        pool.wake_if_available();
    }
}
