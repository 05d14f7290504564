//! A command: its dependencies, its status, and what it holds.
//!
//! Every command is one [`Event`]; a user event is one without work. The life of a command:
//!
//! ```text
//! queued     created; counts its unfinished dependencies (plus one while the enqueue is going on)
//! submitted  the count reached zero: offered to the pool, or completed on the spot when it has
//!            nothing to do or a dependency failed
//! running    the first thread took a chunk of its work
//! complete   the last chunk is done (or a negative error code): waiters are woken, counts of
//!            dependents decremented, callbacks passed to the thread that calls them
//! ```
//!
//! A command that may enqueue others, or was enqueued by one (`tree.rs`), has a parent link. It
//! *ends* when the last share is done, and is complete when all that it enqueued is.
//!
//! The status changes to a final one under the lock of the event's links, and dependents and
//! callbacks are added under the same lock, so each is either seen by the completion or sees it
//! (`progress.rs`). The status is also what waiters sleep on (`sleep.rs`).
//!
//! # Orderings
//!
//! - A thread that reads a final status sees all that the command did, and its time stamps, which
//!   are written before.
//! - `pending` is raised under the lock of the other event's links, while that is not final or
//!   before the enqueue lets go, so that it cannot reach zero in between: relaxed. Each decrement
//!   acquires and releases, so that the one that reaches zero, and makes the command ready, sees
//!   what all dependencies did. The pool's lock, or the chunk scheduler, passes that on.
//! - `failure` is decided by one compare-exchange. A thread that loads 0 may run a chunk more than
//!   need be; the last chunk's thread has seen the failures of all others by `done`.
//! - `start` is decided by one compare-exchange, too; a thread that loads 0 in vain only tries it.
//!   Where there are no times, the lock of the links decides which thread is the first.
//! - `place` is written before the enqueue lets go, by which other threads come to see it.

use std::any::Any;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Weak};

use opencl_sys::*;

use super::lane;
use super::links::{Dependent, Links};
use super::progress::{EventCallback, Progress};
use crate::domain::Domain;
use crate::entry::{Entry, Line};
use crate::error::ClError;
use crate::pool::{Pool, Push};
use crate::sync::Ordering::{AcqRel, Acquire, Relaxed};
use crate::sync::{AtomicI32, AtomicU32};
use crate::system::clock::timestamp;
use crate::tree::{ParentLink, Tree};
use crate::work::{Attempt, Resource, RetainedResources, TraceInfo};

/// A command together with the event that stands for it.
pub type Event = Command<dyn Job>;

/// What the commands of a queue have in common.
pub type Lane = lane::Lane<Event>;

/// What a command has to do, and how much of it is done.
pub trait Job: Send + Sync + 'static {
    /// Whether completing the command needs no thread of its own.
    fn is_instant(&self) -> bool;

    /// Does what an instant command does.
    fn run_instant(&self);

    /// What the command was to run once and never did.
    fn take_unused(&self) -> Option<Attempt>;

    /// The dependencies are done: threads of the pool may come.
    fn prepare(&self, pool: &Pool<Event>);

    /// How an enqueue offers the command.
    fn push(&self) -> Push;

    /// Whether it is a single command that takes less time than waking a thread, as far as is
    /// known.
    fn is_short(&self) -> bool;

    /// Whether threads of the application may run it while they wait, if they have so many bytes of
    /// stack left.
    fn may_help(&self, stack: u64) -> bool;

    /// Whether one thread does all of it, as far as is known.
    fn is_single(&self) -> bool;

    /// Whether every unit is claimed.
    fn is_exhausted(&self) -> bool;

    /// How many threads are worth their while; none when every unit is claimed.
    fn threads(&self) -> u32;

    /// Runs chunks until none is left or `stop` says so, and ends the command when the last unit
    /// was done here.
    fn run_chunks(&self, event: &Arc<Event>, stop: &dyn Fn() -> bool);

    /// The tree that the command is the root of, if it may enqueue others.
    fn tree(&self) -> Option<&Arc<Tree<Event>>>;

    fn trace_info(&self) -> TraceInfo<'_>;
}

/// What a command belongs to, and keeps alive.
pub trait Owner: Any + Send + Sync {
    fn lane(&self) -> &Lane;

    /// Calls `tell` with the lanes of the host's queues that the command is of: where a failure of
    /// it is reported.
    fn for_each_reporting(&self, tell: &mut dyn FnMut(&Lane));
}

/// `CL_PROFILING_COMMAND_...` time stamps: nanoseconds of the host's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    pub queued: u64,
    pub submit: u64,
    pub start: u64,
    pub end: u64,
    pub complete: u64,
}

/// [`Profile`] as it is written.
#[derive(Default)]
pub(super) struct Times {
    queued: u64,
    pub(super) submit: AtomicU64,
    pub(super) start: AtomicU64,
    pub(super) end: AtomicU64,
    pub(super) complete: AtomicU64,
}

impl Times {
    pub(super) fn get(&self) -> Profile {
        Profile {
            queued: self.queued,
            submit: self.submit.load(Acquire),
            start: self.start.load(Acquire),
            end: self.end.load(Acquire),
            complete: self.complete.load(Acquire),
        }
    }
}

/// [`Event`], but for what it has to do. That comes last, and so is part of the same allocation.
pub struct Command<J: Job + ?Sized> {
    owner: Arc<dyn Owner>,
    command_type: u32,
    /// Counts the commands of the queue, the first is 1; 0 if the event has no place in one.
    place: AtomicU64,
    pub(super) progress: Progress<Links<Event>, EventCallback>,
    /// Dependencies not finished yet, plus one until the enqueue lets go.
    pub(super) pending: AtomicU32,
    /// The first error of the command or of a dependency; 0 while there is none.
    pub(super) failure: AtomicI32,
    /// Threads that joined and have not left.
    pub(super) participants: AtomicU32,
    /// Unless nobody can ask for them.
    pub(super) times: Option<Box<Times>>,
    pub(super) parent_link: Option<Box<ParentLink<Event>>>,
    pub(super) job: J,
}

/// Whether a status is final.
pub(super) fn is_final(status: i32) -> bool {
    status <= CL_COMPLETE
}

impl Event {
    /// A command that nothing has been decided about: it depends on nothing yet and runs only after
    /// [`Event::release`].
    pub fn new<O: Owner>(
        owner: &Arc<O>,
        command_type: u32,
        job: impl Job,
        retained: RetainedResources,
    ) -> Arc<Event> {
        let parent_link = job.tree().map(|tree| Box::new(ParentLink::root(tree)));
        let owner = Arc::clone(owner) as Arc<dyn Owner>;
        Event::create(owner, command_type, job, retained, parent_link).of_its_domain()
    }

    /// A command that another one of the tree has enqueued, which holds something until it begins.
    pub fn child<O: Owner>(
        owner: &Arc<O>,
        command_type: u32,
        job: impl Job,
        (parent, tree): (&Arc<Event>, &Arc<Tree<Event>>),
        until_begun: Resource,
    ) -> Arc<Event> {
        let parent_link = ParentLink::child(parent, parent.parent_link(), tree, until_begun);
        let (owner, retained) = (
            Arc::clone(owner) as Arc<dyn Owner>,
            RetainedResources::new(),
        );
        let parent_link = Some(Box::new(parent_link));
        Event::create(owner, command_type, job, retained, parent_link).of_its_domain()
    }

    pub(super) fn create<J: Job>(
        owner: Arc<dyn Owner>,
        command_type: u32,
        job: J,
        retained: RetainedResources,
        parent_link: Option<Box<ParentLink<Event>>>,
    ) -> Arc<Event> {
        let status = match command_type {
            CL_COMMAND_USER => CL_SUBMITTED,
            _ => CL_QUEUED,
        };
        let lane = owner.lane();
        let is_timed =
            lane.is_profiled() || lane.domain().observer().is_some() || parent_link.is_some();
        let times = is_timed.then(|| {
            Box::new(Times {
                queued: timestamp(),
                ..Times::default()
            })
        });
        Arc::new(Command {
            owner,
            command_type,
            place: AtomicU64::new(0),
            progress: Progress::new(status, Links::new(retained)),
            pending: AtomicU32::new(1),
            failure: AtomicI32::new(0),
            participants: AtomicU32::new(0),
            times,
            parent_link,
            job,
        })
    }

    /// Has the termination of its domain end the command, also if that has been.
    fn of_its_domain(self: Arc<Self>) -> Arc<Event> {
        if let Err(terminated) = self.domain().add(&self, Event::may_run) {
            self.fail(terminated);
        }
        self
    }

    /// What the command belongs to.
    pub fn owner(&self) -> &Arc<dyn Owner> {
        &self.owner
    }

    pub fn lane(&self) -> &Lane {
        self.owner.lane()
    }

    /// The threads that execute the command.
    pub fn pool(&self) -> &Arc<Pool<Event>> {
        self.lane().pool()
    }

    pub(super) fn domain(&self) -> &Arc<Domain<Event>> {
        self.lane().domain()
    }

    pub fn is_user(&self) -> bool {
        self.command_type == CL_COMMAND_USER
    }

    /// Where the command is in its tree, if it has one.
    fn parent_link(&self) -> Option<&ParentLink<Event>> {
        self.parent_link.as_deref()
    }

    /// Whether the command waits for others.
    pub fn is_blocked(&self) -> bool {
        self.progress.status() > CL_SUBMITTED
    }

    /// Whether there is a command that is neither complete nor has failed.
    pub fn may_run(event: &Weak<Event>) -> bool {
        event.upgrade().is_some_and(|event| !event.is_done())
    }

    /// `CL_EVENT_COMMAND_TYPE`
    pub fn command_type(&self) -> u32 {
        self.command_type
    }

    /// What a record of what ran says of it.
    pub fn trace_info(&self) -> TraceInfo<'_> {
        self.job.trace_info()
    }

    /// The times so far: zeros if there is nobody to ask for them, the application by its queue's
    /// properties, kernels by what enqueues, or an observer.
    pub fn times(&self) -> Profile {
        self.times
            .as_ref()
            .map_or(Profile::default(), |it| it.get())
    }

    /// How an enqueue offers the command.
    pub fn push(&self) -> Push {
        self.job.push()
    }

    /// Before [`Event::release`], by which other threads come to see it.
    pub fn set_place(&self, place: u64) {
        self.place.store(place, Relaxed);
    }

    /// Makes this command wait for `other`; with `inherits`, a failure of `other` becomes its own.
    pub fn depend_on(self: &Arc<Self>, other: &Event, inherits: bool) {
        let added = other.progress.unless_final(|links| {
            self.pending.fetch_add(1, Relaxed);
            links.dependents.push(Dependent {
                command: Arc::clone(self),
                inherits,
            });
        });
        if added.is_err_and(|status| status < 0) && inherits {
            self.inherit_failure();
        }
    }

    /// Makes this command, a child, wait until the launch that enqueues it has ended.
    pub fn depend_on_end(self: &Arc<Self>, parent: &Event) {
        self.pending.fetch_add(1, Relaxed);
        let child = Arc::clone(self);
        parent
            .progress
            .with_links(|links| links.of_kernels().after_end.push(child));
    }

    /// Has the times of the command written to an address, as `capture_event_profiling_info` wants
    /// them, when it is complete.
    pub fn capture_times(&self, address: usize) {
        let added = self
            .progress
            .unless_final(|links| links.of_kernels().captures.push(address));
        if added.is_err() {
            self.write_times(address);
        }
    }

    /// "value is a pointer to two 64-bit values": the time to the end, and the time until all
    /// children are complete.
    pub(super) fn write_times(&self, address: usize) {
        let times = self.times();
        let times = [times.end, times.complete].map(|time| time.saturating_sub(times.start));
        // SAFETY: the kernel says that two values fit there, and that they stay there until the
        // command is complete.
        unsafe { (address as *mut [u64; 2]).write_unaligned(times) };
    }

    /// Takes one dependency off; true when it was the last.
    pub(super) fn resolve(&self) -> bool {
        self.pending.fetch_sub(1, AcqRel) == 1
    }

    /// Records an error; the first one stays.
    pub fn fail(&self, error: ClError) {
        debug_assert!(error.0 < 0);
        let _ = self.failure.compare_exchange(0, error.0, AcqRel, Relaxed);
    }

    pub fn inherit_failure(&self) {
        self.fail(match self.domain().is_terminated() {
            true => ClError::CONTEXT_TERMINATED,
            false => ClError::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        });
    }

    /// The error recorded so far, 0 for none: what the final status will be.
    pub(crate) fn failure(&self) -> i32 {
        self.failure.load(Acquire)
    }

    /// The status that the command will have, as far as is known.
    pub(super) fn outcome(&self) -> i32 {
        match (self.failure(), &self.parent_link) {
            (0, Some(parent_link)) => parent_link.failure(),
            (failure, _) => failure,
        }
    }

    /// Whether this status is a failure of the command itself, and not one of what it waited for,
    /// of which the application is told elsewhere.
    pub(super) fn is_own_failure(&self, status: i32) -> bool {
        let inherited = [
            ClError::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
            ClError::CONTEXT_TERMINATED,
        ];
        status < 0 && !inherited.contains(&ClError(status))
    }

    /// The application knows that the command has failed.
    pub fn failure_is_told(&self) {
        self.owner
            .for_each_reporting(&mut |lane| lane.failures().forget(self));
    }

    /// Threads that joined and have not left.
    pub(crate) fn participants(&self) -> u32 {
        self.participants.load(crate::sync::Ordering::SeqCst)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("command_type", &format_args!("{:#x}", self.command_type))
            .field("status", &self.progress.status())
            .field("pending", &self.pending.load(Relaxed))
            .finish()
    }
}

impl Event {
    /// Where the command comes among those of its queue.
    pub fn place(&self) -> u64 {
        self.place.load(Relaxed)
    }

    /// Whether the command is complete or has failed.
    pub fn is_done(&self) -> bool {
        self.progress.is_final()
    }
}

impl Entry for Event {
    fn line(&self) -> &Line {
        self.lane().line()
    }

    fn place(&self) -> u64 {
        Event::place(self)
    }

    fn is_done(&self) -> bool {
        Event::is_done(self)
    }

    fn sleep(&self) {
        self.progress.sleep();
    }

    fn begin(&self) {
        self.begin_at(timestamp());
    }

    fn is_exhausted(&self) -> bool {
        self.job.is_exhausted()
    }

    fn is_single(&self) -> bool {
        self.job.is_single()
    }

    fn is_short(&self) -> bool {
        self.job.is_short()
    }

    fn may_help(&self, stack: u64) -> bool {
        self.job.may_help(stack)
    }

    fn missing(&self) -> u32 {
        self.job.threads().saturating_sub(self.participants())
    }

    fn join(&self) {
        self.participants
            .fetch_add(1, crate::sync::Ordering::SeqCst);
    }

    fn run_chunks(self: &Arc<Self>, stop: &dyn Fn() -> bool) {
        self.job.run_chunks(self, stop);
        self.participants
            .fetch_sub(1, crate::sync::Ordering::SeqCst);
    }

    fn for_each_dependent(&self, visit: &mut dyn FnMut(&Arc<Event>) -> bool) {
        self.progress.with_links(|links| {
            let children = links.of_kernels.iter().flat_map(|links| &links.after_end);
            let dependents = links.dependents.as_slice().iter();
            let dependents = dependents.map(|dependent| &dependent.command);
            if dependents.chain(children).all(&mut *visit)
                && let Some(parent_link) = &self.parent_link
            {
                parent_link.with_parent(|parent| visit(parent));
            }
        });
    }
}

impl Event {
    /// The first thread that takes a chunk marks the command as running.
    pub(crate) fn begin_at(&self, now: u64) {
        let is_first = match self.times.as_deref() {
            Some(Times { start, .. }) => {
                start.load(Relaxed) == 0 && start.compare_exchange(0, now, AcqRel, Relaxed).is_ok()
            }
            None => self.progress.status() > CL_RUNNING,
        };
        if is_first {
            self.reach(CL_RUNNING);
        }
    }

    /// Steps to a status that is not final and hands out the callbacks for it. False if it was
    /// reached before.
    pub(super) fn reach(&self, status: i32) -> bool {
        let due = self.progress.reach(status);
        let is_first = due.is_some();
        due.into_iter().for_each(|due| self.hand_out(due, status));
        is_first
    }

    /// Has callbacks called soon, each with its own status, or with the error.
    pub(super) fn hand_out(&self, callbacks: Vec<(i32, EventCallback)>, reached: i32) {
        for (status, callback) in callbacks {
            let argument = if reached < 0 { reached } else { status };
            let call = move || callback(argument);
            self.note_due(self.pool().callbacks().push(Box::new(call)));
        }
    }

    /// A callback came due with the command.
    pub(crate) fn note_due(&self, ticket: crate::callbacks::Ticket) {
        self.progress.note_due(ticket);
        self.lane().note_due(ticket);
    }
}
