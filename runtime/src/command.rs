//! What a command does when its dependencies are done, and how threads take part in it.
//!
//! A [`Command`] is what an application asked for, checked and captured by value. A queue runs it
//! once: its [`Work`] becomes the [`Job`] of an event. A command-buffer records it as a node of a
//! graph, and each enqueue of the graph is one job ([`GraphRun`]).

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

use parking_lot::Mutex;
use serde_json::{Value, json};
use smallvec::SmallVec;

use crate::callbacks::{NO_TICKET, Ticket};
use crate::chunks::{ChunkScheduler, MoreThreads, WorkShape};
use crate::clock::timestamp;
use crate::command_buffer::graph::GraphRun;
use crate::error::{CLResult, ClError};
use crate::event::Event;
use crate::fault;
use crate::launch::LaunchWork;
use crate::memory::transfer::Transfer;
use crate::nodes;
use crate::on_device::ParentLink;
use crate::pool::{Pool, Push};
use crate::trace;

/// An object that a command keeps alive.
pub(crate) type Resource = Arc<dyn Any + Send + Sync>;

/// Objects that a command keeps alive until it completes.
pub(crate) type RetainedResources = SmallVec<[Resource; 4]>;

/// A closure that runs once.
pub(crate) type Action = Box<dyn FnOnce() + Send>;

/// A closure that runs once and may fail.
pub(crate) type Attempt = Box<dyn FnOnce() -> CLResult<()> + Send>;

/// A command before it has a place in any order.
pub(crate) struct Command {
    /// `CL_COMMAND_...`
    pub(crate) command_type: u32,
    pub(crate) work: Work,
    pub(crate) retained: RetainedResources,
}

impl Command {
    /// A command on memory that the application keeps alive, or on none.
    pub(crate) fn retaining_nothing(command_type: u32, work: Work) -> Command {
        Command {
            command_type,
            work,
            retained: RetainedResources::new(),
        }
    }
}

/// What a command does.
pub(crate) enum Work {
    /// Markers, barriers, maps, migrations: only their place in the order matters.
    Nothing,
    /// Bookkeeping that takes no time, done by the thread that finds the command ready.
    Instant(Mutex<Option<Action>>),
    /// Code of the application (native kernels, free callbacks). It may block, so that only pool
    /// threads run it.
    Application(Mutex<Option<Action>>),
    /// Something of the driver's that may block.
    Blocking(Mutex<Option<Attempt>>),
    Transfer(Transfer),
    Launch(Box<LaunchWork>),
    /// A command of a command-buffer, which runs again and again.
    Recorded(Arc<Work>),
}

impl Work {
    pub(crate) fn instant(action: Action) -> Work {
        Work::Instant(Mutex::new(Some(action)))
    }

    pub(crate) fn application(action: Action) -> Work {
        Work::Application(Mutex::new(Some(action)))
    }

    pub(crate) fn blocking(attempt: Attempt) -> Work {
        Work::Blocking(Mutex::new(Some(attempt)))
    }

    /// Whether it takes no thread of its own.
    pub(crate) fn is_instant(&self) -> bool {
        match self {
            Work::Nothing | Work::Instant(_) => true,
            Work::Recorded(work) => work.is_instant(),
            Work::Application(_) | Work::Blocking(_) | Work::Transfer(_) | Work::Launch(_) => false,
        }
    }

    pub(crate) fn shape(&self) -> WorkShape {
        match self {
            Work::Nothing | Work::Instant(_) | Work::Application(_) | Work::Blocking(_) => {
                WorkShape::SINGLE
            }
            Work::Transfer(transfer) => transfer.shape(),
            Work::Launch(launch) => launch.shape(),
            Work::Recorded(work) => work.shape(),
        }
    }

    /// Bytes of stack that a thread needs for it, beside what is there for all.
    pub(crate) fn stack_bytes(&self) -> u64 {
        match self {
            Work::Launch(launch) => launch.stack_bytes(),
            Work::Recorded(work) => work.stack_bytes(),
            _ => 0,
        }
    }

    /// Runs the units `begin..end` of `event`'s command, unless something before has failed.
    pub(crate) fn run(&self, event: &Arc<Event>, begin: u64, end: u64) {
        if event.failure() != 0 {
            return;
        }
        // A panic in here is a bug of the driver; the application gets an error for it, not a
        // crash.
        match catch_unwind(AssertUnwindSafe(|| self.run_units(Some(event), begin, end))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => event.fail(error),
            Err(_) => event.fail(ClError::OUT_OF_RESOURCES),
        }
    }

    fn run_units(&self, event: Option<&Arc<Event>>, begin: u64, end: u64) -> CLResult<()> {
        match self {
            Work::Nothing => {}
            Work::Instant(action) | Work::Application(action) => {
                // The lock is not held while code of the application runs.
                let action = action.lock().take();
                if let Some(action) = action {
                    action();
                }
            }
            Work::Blocking(attempt) => {
                let attempt = attempt.lock().take();
                return attempt.map_or(Ok(()), |attempt| attempt());
            }
            Work::Transfer(transfer) => {
                return fault::guard(&|| transfer.run(begin, end)).map_err(|address| {
                    let message = format!("a transfer found no memory at address {address:#x}");
                    eprintln!("brolga: {message}");
                    if let Some(event) = event {
                        event.context().report(&message);
                    }
                    ClError::OUT_OF_RESOURCES
                });
            }
            Work::Launch(launch) => return launch.run(event, begin, end),
            Work::Recorded(work) => return work.run_units(event, begin, end),
        }
        Ok(())
    }

    /// Drops what was to run once and never did, and so what it keeps alive.
    fn discard(&self) {
        match self {
            Work::Instant(action) | Work::Application(action) => {
                let action = action.lock().take();
                drop(action);
            }
            Work::Blocking(attempt) => {
                let attempt = attempt.lock().take();
                drop(attempt);
            }
            // A recorded command may run again.
            Work::Nothing | Work::Transfer(_) | Work::Launch(_) | Work::Recorded(_) => {}
        }
    }

    /// The kernel's name, if it is a launch.
    pub(crate) fn kernel(&self) -> Option<&str> {
        match self {
            Work::Launch(launch) => Some(launch.name()),
            Work::Recorded(work) => work.kernel(),
            _ => None,
        }
    }

    /// What a trace says of the whole.
    pub(crate) fn describe(&self) -> Value {
        match self {
            Work::Launch(launch) => launch.describe(),
            Work::Transfer(transfer) => json!({ "bytes": transfer.bytes() }),
            Work::Recorded(work) => work.describe(),
            _ => json!({}),
        }
    }

    /// Writes to the trace that this thread did some of it.
    pub(crate) fn record(&self, units: Range<u64>, of: u64, times: (u64, u64)) {
        let (category, name) = match self {
            Work::Nothing | Work::Instant(_) | Work::Blocking(_) => return,
            Work::Application(_) => ("application", "native function"),
            Work::Transfer(_) => ("transfer", "transfer"),
            Work::Launch(launch) => ("work-groups", launch.name()),
            Work::Recorded(work) => return work.record(units, of, times),
        };
        let args = json!({ "begin": units.start, "end": units.end, "of": of });
        trace::record(category, name, times, &args);
    }

    /// What is left to do when the last unit is done and before any thread is told; threads have
    /// spent `busy` nanoseconds. Returns the callback that came due.
    pub(crate) fn finish(&self, busy: u64) -> Ticket {
        match self {
            Work::Launch(launch) => launch.finish(busy),
            Work::Recorded(work) => work.finish(busy),
            _ => NO_TICKET,
        }
    }
}

/// Commands that take less than this many nanoseconds are left to the thread that waits for them:
/// waking another thread costs about as much.
const TINY: u64 = 8_000;

/// The work of one event and the state of sharing it.
pub(crate) struct Job {
    body: Body,
    /// Threads that joined and have not left.
    participants: AtomicU32,
}

#[expect(
    clippy::large_enum_variant,
    reason = "nearly all commands are the large one, and a box would be one more allocation"
)]
enum Body {
    One { work: Work, chunks: ChunkScheduler },
    Graph(GraphRun),
}

impl Job {
    /// Work for the threads of a pool.
    pub(crate) fn new(work: Work, pool: &Pool) -> Job {
        let chunks = ChunkScheduler::new(work.shape(), pool.threads(), pool.threads_of_nodes());
        Job::one(work, chunks)
    }

    /// Work for one thread.
    pub(crate) fn single(work: Work) -> Job {
        let chunks = ChunkScheduler::new(work.shape(), 1, &[]);
        Job::one(work, chunks)
    }

    fn one(work: Work, chunks: ChunkScheduler) -> Job {
        Job {
            body: Body::One { work, chunks },
            participants: AtomicU32::new(0),
        }
    }

    /// All commands of a command-buffer.
    pub(crate) fn graph(run: GraphRun) -> Job {
        if run.is_done() {
            return Job::single(Work::Nothing);
        }
        Job {
            body: Body::Graph(run),
            participants: AtomicU32::new(0),
        }
    }

    /// Whether completing the command needs no thread of its own.
    pub(crate) fn is_instant(&self) -> bool {
        matches!(&self.body, Body::One { work, .. } if work.is_instant())
    }

    /// Drops what the command keeps alive and will not use again.
    pub(crate) fn discard(&self) {
        if let Body::One { work, .. } = &self.body {
            work.discard();
        }
    }

    /// Does what an instant command does.
    pub(crate) fn run_instant(&self) {
        if let Body::One { work, .. } = &self.body {
            let _ = work.run_units(None, 0, 1);
        }
    }

    /// The kernel's name, if it is a launch.
    pub(crate) fn kernel(&self) -> Option<&str> {
        match &self.body {
            Body::One { work, .. } => work.kernel(),
            Body::Graph(_) => None,
        }
    }

    /// What a trace says of it.
    pub(crate) fn describe(&self) -> Value {
        match &self.body {
            Body::One { work, .. } => work.describe(),
            Body::Graph(run) => json!({ "commands": run.len() }),
        }
    }

    /// The root of a launch tree, if that is what a command of the host becomes by doing this.
    pub(crate) fn parent_link(&self) -> Option<ParentLink> {
        match &self.body {
            Body::One {
                work: Work::Launch(launch),
                ..
            } => launch
                .spawner()
                .map(|spawner| ParentLink::root(&spawner.tree)),
            _ => None,
        }
    }

    /// How an enqueue offers the command.
    pub(crate) fn push(&self) -> Push {
        let (is_single, estimate) = match &self.body {
            Body::One { chunks, .. } => (chunks.shape().threads == 1, chunks.shape().estimate),
            Body::Graph(run) => (!run.is_shared(), run.estimate()),
        };
        if is_single && estimate < TINY {
            Push::Defer
        } else {
            Push::Notify
        }
    }

    /// Whether it is a single command that takes less time than waking a thread, as far as is
    /// known.
    pub(crate) fn is_short(&self) -> bool {
        matches!(self.body, Body::One { .. }) && self.push() == Push::Defer
    }

    /// Whether threads of the application may run it while they wait, if they have so many bytes of
    /// stack left.
    pub(crate) fn may_help(&self, stack: u64) -> bool {
        match &self.body {
            Body::One { work, .. } => {
                !matches!(work, Work::Application(_) | Work::Blocking(_))
                    && work.stack_bytes() <= stack
            }
            Body::Graph(run) => run.stack_bytes() <= stack,
        }
    }

    /// Whether one thread does all of it, as far as is known.
    pub(crate) fn is_single(&self) -> bool {
        match &self.body {
            Body::One { chunks, .. } => chunks.threads() == 1,
            Body::Graph(run) => !run.is_shared(),
        }
    }

    /// Whether every unit is claimed.
    pub(crate) fn is_exhausted(&self) -> bool {
        match &self.body {
            Body::One { chunks, .. } => chunks.is_exhausted(),
            Body::Graph(run) => run.is_exhausted(),
        }
    }

    /// How many more threads would be of use.
    pub(crate) fn missing(&self) -> u32 {
        let wanted = match &self.body {
            Body::One { chunks, .. } if chunks.is_exhausted() => 0,
            Body::One { chunks, .. } => chunks.threads(),
            Body::Graph(run) => run.threads(),
        };
        wanted.saturating_sub(self.participants())
    }

    /// Whether another thread would be of use.
    pub(crate) fn has_room(&self) -> bool {
        self.missing() > 0
    }

    /// Threads that joined and have not left.
    pub(crate) fn participants(&self) -> u32 {
        self.participants.load(SeqCst)
    }

    /// Counts a thread in. The pool's lock makes this exact.
    pub(crate) fn join(&self) {
        self.participants.fetch_add(1, SeqCst);
    }
}

/// Runs chunks of a command that this thread has joined until none is left or `stop` says so (asked
/// between the chunks of a shared command), and completes the command when the last unit was done
/// here.
///
/// Dependents that become ready are pushed without waking a worker: the caller goes on to look for
/// work.
pub(crate) fn run_chunks(event: &Arc<Event>, stop: &dyn Fn() -> bool) {
    match &event.job.body {
        Body::One { work, chunks } => run_chunks_of_one(event, work, chunks, stop),
        Body::Graph(run) => run.run_chunks(event, stop),
    }
    event.job.participants.fetch_sub(1, SeqCst);
}

fn run_chunks_of_one(
    event: &Arc<Event>,
    work: &Work,
    chunks: &ChunkScheduler,
    stop: &dyn Fn() -> bool,
) {
    let mut before = timestamp();
    event.begin(before);
    let node = nodes::current();
    let (mut done, mut busy) = (0, 0);
    while let Some((begin, end)) = chunks.claim(node) {
        // After an error the rest is claimed and counted but not run.
        work.run(event, begin, end);
        let now = timestamp();
        if trace::is_on() {
            work.record(begin..end, chunks.shape().units, (before, now));
        }
        let took = now.saturating_sub(before);
        match chunks.record_time(end - begin, took) {
            None => {}
            // The pool has forgotten the command, because one thread was to do all of it.
            Some(MoreThreads::FromOne) => event.pool().push(Arc::clone(event), Push::Notify),
            Some(MoreThreads::FromSeveral) => event.pool().wake_for(event.job.missing()),
        }
        before = now;
        done += end - begin;
        busy += took;
        // What one thread was to do alone is in no list any more: no other thread would finish it.
        if chunks.threads() > 1 && stop() {
            break;
        }
    }
    if done > 0 && chunks.done(done, busy) {
        event.note_due(work.finish(chunks.busy()));
        event.end(Push::NoWake);
    }
}
