//! Events: a command's dependencies, status, time stamps and callbacks.
//!
//! Every command is one [`Event`]; a user event is one without work. The life of a command:
//!
//! ```text
//! queued     created; counts its unfinished dependencies (plus one while the enqueue is going on)
//! submitted  the count reached zero: offered to the pool, or completed on the spot when it has
//!            nothing to do or a dependency failed
//! running    the first thread took a chunk of its work
//! complete   the last chunk is done (or a negative error code): waiters are woken, counts of
//!            dependents decremented, callbacks handed to the pool
//! ```
//!
//! A command that may enqueue others, or was enqueued by one (`on_device/`), has a parent link. It
//! *ends* when the last share is done, and is complete when all that it enqueued is.
//!
//! The status changes to a final one under the lock of the event's links, and dependents and
//! callbacks are added under the same lock, so each is either seen by the completion or sees it
//! (`progress.rs`). The status is also what waiters sleep on (`sleep.rs`).
//!
//! # Orderings
//!
//! - Who sees a final status sees all that the command did, and its time stamps, which are written
//!   before.
//! - `pending` is raised under the lock of the other event's links, while that is not final or
//!   before the enqueue lets go, so that it cannot reach zero in between: relaxed. Each decrement
//!   acquires and releases, so that the one that reaches zero, and makes the command ready, sees
//!   what all dependencies did. The pool's lock, or the chunk scheduler, passes that on.
//! - `failure` is decided by one compare-exchange. A thread that loads 0 may run a chunk more than
//!   need be; the last chunk's thread has seen the failures of all others by `done`.
//! - `start` is decided by one compare-exchange, too; a thread that loads 0 in vain only tries it.
//!
//! `advance.rs` is what follows from a command's end for those that depend on it; `awaited.rs`
//! says which commands a waiting thread helps with; `progress.rs` has the status, and who is told
//! of it.

mod advance;
mod awaited;
mod progress;

use std::fmt;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};
use std::sync::{Arc, Weak};

use opencl_sys::*;
use smallvec::SmallVec;

use crate::callbacks::{self, Ticket};
use crate::clock::timestamp;
use crate::command::{Job, RetainedResources, Work};
use crate::context::Context;
use crate::error::{CLResult, ClError};
use crate::on_device::ParentLink;
use crate::pool::{Pool, Push};
use crate::queue::{Priority, Queue};
use crate::trace;
use advance::{Step, advance, hand_out};
pub(crate) use awaited::{Awaited, Search};
use progress::Progress;

/// `CL_PROFILING_COMMAND_...` time stamps: nanoseconds of the clock of [`timestamp`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    pub queued: u64,
    pub submit: u64,
    pub start: u64,
    pub end: u64,
    pub complete: u64,
}

/// Called with the status that was reached, or the error that came instead.
pub type EventCallback = Box<dyn FnOnce(i32) + Send>;

/// An OpenCL event together with the command it stands for.
pub struct Event {
    origin: Origin,
    command_type: u32,
    /// Counts the commands of the queue, the first is 1; 0 if the event has no place in one.
    place: AtomicU64,
    progress: Progress<Links, EventCallback>,
    /// Dependencies not finished yet, plus one until the enqueue lets go.
    pending: AtomicU32,
    /// The first error of the command or of a dependency; 0 while there is none.
    failure: AtomicI32,
    queued: AtomicU64,
    submit: AtomicU64,
    start: AtomicU64,
    end: AtomicU64,
    complete: AtomicU64,
    parent_link: Option<ParentLink>,
    pub(crate) job: Job,
}

/// Where an event comes from, which decides where its command runs, and how.
enum Origin {
    Queue(Arc<Queue>),
    /// A command of several queues. It runs on the first one's device, and has time stamps if it
    /// would have them in each.
    Queues {
        first: Arc<Queue>,
        profiled: bool,
    },
    /// A user event, or a placeholder.
    Context(Arc<Context>),
}

/// What waits for the end of a command, and what it keeps alive until then.
#[derive(Default)]
struct Links {
    dependents: SmallVec<[Dependent; 2]>,
    retained: RetainedResources,
    /// Children that may begin when the command has ended.
    after_end: Vec<Arc<Event>>,
    /// Where kernels want the times written (`capture_event_profiling_info`).
    captures: Vec<usize>,
}

/// What became of a command that was to be submitted.
enum Submitted {
    /// It had been.
    Before,
    /// There is something to do for the pool.
    WithWork,
    /// There is not.
    WithoutWork,
}

struct Dependent {
    event: Arc<Event>,
    /// Whether a failure of the event is a failure of the dependent: true for wait lists, false for
    /// the mere order of an in-order queue.
    inherits: bool,
}

/// Whether a status is final.
fn is_final(status: i32) -> bool {
    status <= CL_COMPLETE
}

impl Event {
    /// A command that nothing has been decided about: it depends on nothing yet and runs only after
    /// [`Event::release`].
    pub(crate) fn command(
        queue: &Arc<Queue>,
        command_type: u32,
        job: Job,
        retained: RetainedResources,
        parent_link: Option<ParentLink>,
    ) -> Arc<Event> {
        let origin = Origin::Queue(Arc::clone(queue));
        let event = Event::create(origin, command_type, job, retained, parent_link);
        event.belong_to_context();
        event
    }

    /// As [`Event::command`], for a command of several queues.
    pub(crate) fn command_of_several(
        queues: &[&Arc<Queue>],
        command_type: u32,
        job: Job,
        retained: RetainedResources,
    ) -> Arc<Event> {
        let origin = Origin::Queues {
            first: Arc::clone(queues[0]),
            profiled: queues.iter().all(|queue| queue.profiles()),
        };
        let event = Event::create(origin, command_type, job, retained, None);
        event.belong_to_context();
        event
    }

    /// Has the context's termination end the command, also if that has been.
    fn belong_to_context(self: &Arc<Self>) {
        if let Err(terminated) = self.context().add_command(self) {
            self.fail(terminated);
        }
    }

    fn create(
        origin: Origin,
        command_type: u32,
        job: Job,
        retained: RetainedResources,
        parent_link: Option<ParentLink>,
    ) -> Arc<Event> {
        let status = match command_type {
            CL_COMMAND_USER => CL_SUBMITTED,
            _ => CL_QUEUED,
        };
        let links = Links {
            retained,
            ..Links::default()
        };
        Arc::new(Event {
            origin,
            command_type,
            place: AtomicU64::new(0),
            progress: Progress::new(status, links),
            pending: AtomicU32::new(1),
            failure: AtomicI32::new(0),
            queued: AtomicU64::new(timestamp()),
            submit: AtomicU64::new(0),
            start: AtomicU64::new(0),
            end: AtomicU64::new(0),
            complete: AtomicU64::new(0),
            parent_link,
            job,
        })
    }

    /// An event that stands for no work.
    fn without_work(context: &Arc<Context>, command_type: u32) -> Arc<Event> {
        let origin = Origin::Context(Arc::clone(context));
        let job = Job::single(Work::Nothing);
        Event::create(
            origin,
            command_type,
            job,
            RetainedResources::default(),
            None,
        )
    }

    /// Something that commands may wait for before it is known what they wait for. It depends on
    /// whatever it is made to, and is done when that is, after [`Event::release`].
    pub(crate) fn placeholder(context: &Arc<Context>) -> Arc<Event> {
        Event::without_work(context, CL_COMMAND_BARRIER)
    }

    /// `clCreateUserEvent`: an event in the state `CL_SUBMITTED` that only the application
    /// completes.
    pub fn user(context: &Arc<Context>) -> Arc<Event> {
        Event::without_work(context, CL_COMMAND_USER)
    }

    /// `clSetUserEventStatus`.
    ///
    /// Errors: `CL_INVALID_EVENT` when it is not a user event, `CL_INVALID_VALUE` for a status that
    /// is neither `CL_COMPLETE` nor negative, `CL_INVALID_OPERATION` when it was set before.
    pub fn set_user_status(self: &Arc<Self>, status: i32) -> CLResult<()> {
        // CL_INVALID_EVENT if event is not a valid user event object ("User Events").
        if !self.is_user() {
            return Err(ClError::INVALID_EVENT);
        }
        // CL_INVALID_VALUE if the execution_status is not CL_COMPLETE or a negative integer value.
        if !is_final(status) {
            return Err(ClError::INVALID_VALUE);
        }
        // CL_INVALID_OPERATION if the execution_status for event has already been changed. The
        // enqueue's hold, which nothing else lets go of for a user event, decides between two
        // threads.
        if self
            .pending
            .compare_exchange(1, 0, AcqRel, Relaxed)
            .is_err()
        {
            return Err(ClError::INVALID_OPERATION);
        }
        self.complete(status, Push::Notify);
        self.wait_callbacks();
        Ok(())
    }

    pub(crate) fn is_user(&self) -> bool {
        self.command_type == CL_COMMAND_USER
    }

    /// Where the command is in its tree, if it has one.
    pub(crate) fn parent_link(&self) -> Option<&ParentLink> {
        self.parent_link.as_ref()
    }

    /// Whether the command waits for others.
    pub(crate) fn is_blocked(&self) -> bool {
        self.raw_status() > CL_SUBMITTED
    }

    /// `CL_EVENT_COMMAND_EXECUTION_STATUS`. Asking makes sure that the command gets going, so that
    /// an application may poll.
    pub fn status(&self) -> i32 {
        let status = self.raw_status();
        if !is_final(status) {
            Pool::flush();
        }
        status
    }

    fn raw_status(&self) -> i32 {
        self.progress.status()
    }

    /// Whether the command is complete or has failed.
    pub(crate) fn is_done(&self) -> bool {
        self.progress.is_final()
    }

    /// Whether there is a command that is neither complete nor has failed.
    pub(crate) fn may_run(event: &Weak<Event>) -> bool {
        event.upgrade().is_some_and(|event| !event.is_done())
    }

    /// The queue that has its place for the command, or the first of several.
    fn any_queue(&self) -> Option<&Arc<Queue>> {
        match &self.origin {
            Origin::Queue(queue) | Origin::Queues { first: queue, .. } => Some(queue),
            Origin::Context(_) => None,
        }
    }

    /// The threads that execute the command.
    pub(crate) fn pool(&self) -> &Arc<Pool> {
        match self.any_queue() {
            Some(queue) => queue.device().pool(),
            None => Pool::get(),
        }
    }

    /// `CL_EVENT_COMMAND_TYPE`
    pub fn command_type(&self) -> u32 {
        self.command_type
    }

    /// `CL_EVENT_CONTEXT`
    pub fn context(&self) -> &Arc<Context> {
        match &self.origin {
            Origin::Queue(queue) | Origin::Queues { first: queue, .. } => queue.context(),
            Origin::Context(context) => context,
        }
    }

    /// `CL_EVENT_COMMAND_QUEUE`: none for a user event, and for a command of several queues.
    pub fn queue(&self) -> Option<&Arc<Queue>> {
        match &self.origin {
            Origin::Queue(queue) => Some(queue),
            Origin::Queues { .. } | Origin::Context(_) => None,
        }
    }

    /// Where the command comes among those of its queue.
    pub(crate) fn place(&self) -> u64 {
        self.place.load(Relaxed)
    }

    /// Before [`Event::release`], by which other threads come to see it.
    pub(crate) fn set_place(&self, place: u64) {
        self.place.store(place, Relaxed);
    }

    /// Calls `visit` with what waits for the event, as long as it returns true. It is called with
    /// the lock of the links held.
    fn for_each_dependent(&self, mut visit: impl FnMut(&Arc<Event>) -> bool) {
        self.progress.with_links(|links| {
            let dependents = links.dependents.iter().map(|dependent| &dependent.event);
            if dependents.chain(&links.after_end).all(&mut visit)
                && let Some(parent_link) = &self.parent_link
            {
                parent_link.with_parent(|parent| visit(parent));
            }
        });
    }

    /// Of its queue; medium if it is of several or none.
    pub(crate) fn priority(&self) -> Priority {
        self.queue()
            .map_or(Priority::Medium, |queue| queue.priority())
    }

    /// Whether the application may ask for time stamps.
    fn is_profiled(&self) -> bool {
        match &self.origin {
            Origin::Queue(queue) => queue.profiles(),
            Origin::Queues { profiled, .. } => *profiled,
            Origin::Context(_) => false,
        }
    }

    /// `clGetEventProfilingInfo`.
    ///
    /// Errors: `CL_PROFILING_INFO_NOT_AVAILABLE` for a user event, for a queue without
    /// `CL_QUEUE_PROFILING_ENABLE`, and while the command is not complete.
    pub fn profile(&self) -> CLResult<Profile> {
        // CL_PROFILING_INFO_NOT_AVAILABLE if the CL_QUEUE_PROFILING_ENABLE flag is not set for the
        // command-queue, if the execution status of the command identified by event is not
        // CL_COMPLETE or if event is a user event ("Profiling Operations on Memory Objects and
        // Kernels").
        if !self.is_profiled() || self.status() != CL_COMPLETE {
            return Err(ClError::PROFILING_INFO_NOT_AVAILABLE);
        }
        Ok(Profile {
            queued: self.queued.load(Acquire),
            submit: self.submit.load(Acquire),
            start: self.start.load(Acquire),
            end: self.end.load(Acquire),
            complete: self.complete.load(Acquire),
        })
    }

    /// `clSetEventCallback`: `callback` runs on the thread for callbacks once the command has
    /// reached `status` or failed; soon, when it already has.
    ///
    /// Errors: `CL_INVALID_VALUE` for a status other than `CL_SUBMITTED`, `CL_RUNNING` and
    /// `CL_COMPLETE`.
    pub fn on_status(&self, status: i32, callback: EventCallback) -> CLResult<()> {
        // CL_INVALID_VALUE if command_exec_callback_type is not CL_SUBMITTED, CL_RUNNING, or
        // CL_COMPLETE ("Event Objects").
        if !(CL_COMPLETE..=CL_SUBMITTED).contains(&status) {
            return Err(ClError::INVALID_VALUE);
        }
        match self.progress.register(status, callback) {
            // Like a query, so that a callback can be waited for without a flush.
            Ok(()) => Pool::flush_for_callback(),
            Err((reached, callback)) => {
                self.note_due(hand_out(vec![(status, callback)], reached));
            }
        }
        Ok(())
    }

    /// `clWaitForEvents`: returns when all are done; this thread helps meanwhile.
    ///
    /// Errors: `CL_INVALID_VALUE` for an empty list, `CL_INVALID_CONTEXT` when contexts differ,
    /// `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST` when one failed.
    pub fn wait_all(events: &[Arc<Event>]) -> CLResult<()> {
        // CL_INVALID_VALUE if num_events is zero or event_list is NULL ("Event Objects").
        let Some(first) = events.first() else {
            return Err(ClError::INVALID_VALUE);
        };
        // CL_INVALID_CONTEXT if events specified in event_list do not belong to the same context.
        if events
            .iter()
            .any(|event| !Arc::ptr_eq(event.context(), first.context()))
        {
            return Err(ClError::INVALID_CONTEXT);
        }
        let awaited = Awaited::events(events.iter().map(|event| &**event));
        let mut failed = false;
        for event in events {
            failed |= event.wait_among(&awaited) < 0;
        }
        // CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the execution status of any of the events
        // in event_list is a negative integer value.
        if failed {
            return Err(ClError::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        }
        Ok(())
    }

    /// Waits, helping, and returns the final status.
    pub(crate) fn wait(&self) -> i32 {
        match self.is_done() {
            true => self.wait_among(&Awaited::default()),
            false => self.wait_among(&Awaited::events([self])),
        }
    }

    /// As [`Event::wait`], helping with whatever `awaited` depends on, which the event is one of.
    pub(crate) fn wait_among(&self, awaited: &Awaited) -> i32 {
        if !self.is_done() {
            self.pool().help_until_done(self, awaited);
        }
        self.wait_callbacks();
        self.raw_status()
    }

    /// The event is done: returns when its callbacks have been called, or soon will be (see
    /// `callbacks.rs`).
    fn wait_callbacks(&self) {
        callbacks::wait_run(self.progress.last_due());
    }

    /// A callback came due with the command.
    pub(crate) fn note_due(&self, ticket: Ticket) {
        self.progress.note_due(ticket);
    }

    /// Sleeps until the status changes from what it is now; returns at once when it is final.
    pub(crate) fn sleep(&self) {
        self.progress.sleep();
    }

    /// Makes this command wait for `other`; with `inherits`, a failure of `other` becomes its own.
    pub(crate) fn depend_on(self: &Arc<Self>, other: &Event, inherits: bool) {
        let added = other.progress.unless_final(|links| {
            self.pending.fetch_add(1, Relaxed);
            links.dependents.push(Dependent {
                event: Arc::clone(self),
                inherits,
            });
        });
        if added.is_err_and(|status| status < 0) && inherits {
            self.inherit_failure();
        }
    }

    /// Makes this command, a child, wait until the launch that enqueues it has ended.
    pub(crate) fn depend_on_end(self: &Arc<Self>, parent: &Event) {
        self.pending.fetch_add(1, Relaxed);
        let child = Arc::clone(self);
        parent
            .progress
            .with_links(|links| links.after_end.push(child));
    }

    /// Has the times of the command written to an address, as `capture_event_profiling_info` wants
    /// them, when it is complete.
    pub(crate) fn capture_times(&self, address: usize) {
        let added = self
            .progress
            .unless_final(|links| links.captures.push(address));
        if added.is_err() {
            self.write_times(address);
        }
    }

    /// "value is a pointer to two 64-bit values": the time to the end, and the time until all
    /// children are complete.
    fn write_times(&self, address: usize) {
        let start = self.start.load(Acquire);
        let times = [&self.end, &self.complete];
        let times = times.map(|time| time.load(Acquire).saturating_sub(start));
        // SAFETY: the kernel says that two values fit there, and that they stay there until the
        // command is complete.
        unsafe { (address as *mut [u64; 2]).write_unaligned(times) };
    }

    /// Ends the enqueue: from now on the command runs as soon as its dependencies allow.
    pub(crate) fn release(self: &Arc<Self>, push: Push) {
        if self.context().is_terminated() {
            // The termination may not have come to this one yet; it waits for nothing any more.
            self.fail(ClError::CONTEXT_TERMINATED);
        } else if !self.resolve() {
            return;
        }
        match self.submit() {
            Submitted::Before => {}
            Submitted::WithWork => self.pool().push(Arc::clone(self), push),
            // Whatever hangs on it was enqueued by other threads in the meantime.
            Submitted::WithoutWork => advance(Step::Ended(Arc::clone(self)), Push::Notify),
        }
    }

    /// Ends commands of a context that was terminated: none is begun any more, and what waits for
    /// something waits no longer.
    pub(crate) fn terminate_all(commands: &[Arc<Event>]) {
        for event in commands {
            event.failure.store(ClError::CONTEXT_TERMINATED.0, Release);
        }
        for event in commands {
            advance(Step::Ready(Arc::clone(event)), Push::Notify);
        }
        // What is ready but deferred would wait for a thread to wait for it.
        Pool::flush();
    }

    /// Takes one dependency off; true when it was the last.
    fn resolve(&self) -> bool {
        self.pending.fetch_sub(1, AcqRel) == 1
    }

    /// Records an error; the first one stays.
    pub(crate) fn fail(&self, error: ClError) {
        debug_assert!(error.0 < 0);
        let _ = self.failure.compare_exchange(0, error.0, AcqRel, Relaxed);
    }

    pub(crate) fn inherit_failure(&self) {
        self.fail(match self.context().is_terminated() {
            true => ClError::CONTEXT_TERMINATED,
            false => ClError::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        });
    }

    /// The error recorded so far, 0 for none: what the final status will be.
    pub(crate) fn failure(&self) -> i32 {
        self.failure.load(Acquire)
    }

    /// The status that the command will have, as far as is known.
    fn outcome(&self) -> i32 {
        match (self.failure(), &self.parent_link) {
            (0, Some(parent_link)) => parent_link.failure(),
            (failure, _) => failure,
        }
    }

    /// All dependencies are done, or need not be since the command has failed. Only the first call
    /// counts.
    fn submit(&self) -> Submitted {
        let now = timestamp();
        if !self.reach(CL_SUBMITTED) {
            return Submitted::Before;
        }
        self.submit.store(now, Relaxed);
        if let Some(parent_link) = &self.parent_link {
            parent_link.wake();
            if let Some(on_device) = self.queue().and_then(|queue| queue.on_device()) {
                on_device.give(parent_link.take_room());
            }
        }
        if self.failure() < 0 {
            self.start.store(now, Relaxed);
            return Submitted::WithoutWork;
        }
        if self.job.is_instant() {
            self.start.store(now, Relaxed);
            self.job.run_instant();
            return Submitted::WithoutWork;
        }
        Submitted::WithWork
    }

    /// The first thread that takes a chunk marks the command as running.
    pub(crate) fn begin(&self, now: u64) {
        if self.start.load(Relaxed) == 0
            && self.start.compare_exchange(0, now, AcqRel, Relaxed).is_ok()
        {
            self.reach(CL_RUNNING);
        }
    }

    /// Steps to a status that is not final and hands out the callbacks for it. False if it was
    /// reached before.
    fn reach(&self, status: i32) -> bool {
        let due = self.progress.reach(status);
        let is_first = due.is_some();
        due.into_iter()
            .for_each(|due| self.note_due(hand_out(due, status)));
        is_first
    }

    /// Completes the command and everything that follows from it without work: dependents that
    /// become ready are pushed as `push` says, those with nothing to do complete in turn.
    pub(crate) fn complete(self: &Arc<Self>, status: i32, push: Push) {
        advance(Step::Complete(Arc::clone(self), status), push);
    }

    /// The last chunk is done. The rest is as for [`Event::complete`].
    pub(crate) fn end(self: &Arc<Self>, push: Push) {
        advance(Step::Ended(Arc::clone(self)), push);
    }

    /// Makes `status` final and wakes the threads that wait for it; returns the dependents.
    fn settle(&self, status: i32) -> SmallVec<[Dependent; 2]> {
        // What the command kept alive goes first, so that a waiter finds destructor callbacks
        // called.
        let before = callbacks::last_of_this_thread();
        let retained = self
            .progress
            .with_links(|links| std::mem::take(&mut links.retained));
        callbacks::executing(|| {
            drop(retained);
            self.job.discard();
        });
        let last = callbacks::last_of_this_thread();
        if last != before {
            self.note_due(last);
        }
        if status < 0 {
            // Perhaps some thread has reported the failure to the context.
            self.note_due(callbacks::last());
        }
        let now = timestamp();
        let _ = self.end.compare_exchange(0, now, Release, Relaxed);
        self.complete.store(now, Release);
        if trace::is_on() {
            self.record(status);
        }
        let (dependents, callbacks) = self.progress.settle(status, |links| {
            for address in std::mem::take(&mut links.captures) {
                self.write_times(address);
            }
            std::mem::take(&mut links.dependents)
        });
        self.note_due(hand_out(callbacks, status));
        self.progress.settled();
        dependents
    }
}

impl Event {
    /// Writes the command to the trace, where one of several queues stands with the first; a user
    /// event's life is the application's.
    fn record(&self, status: i32) {
        let Some(queue) = self.any_queue() else {
            return;
        };
        trace::command(trace::Command {
            queue: queue.number(),
            command_type: self.command_type,
            kernel: self.job.kernel(),
            times: [&self.queued, &self.submit, &self.start, &self.end]
                .map(|time| time.load(Relaxed)),
            status,
            args: self.job.describe(),
        });
    }
}

impl Drop for Event {
    /// An event that goes away unfinished (a user event released before its status was set) can
    /// never let its dependents run: they fail, so that no thread waits for them for ever.
    fn drop(&mut self) {
        for dependent in std::mem::take(&mut self.progress.links_mut().dependents) {
            dependent.event.inherit_failure();
            if dependent.event.resolve() {
                advance(Step::Ready(dependent.event), Push::Notify);
            }
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("command_type", &format_args!("{:#x}", self.command_type))
            .field("status", &self.raw_status())
            .field("pending", &self.pending.load(Relaxed))
            .finish()
    }
}
