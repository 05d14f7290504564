//! One piece of work as what a command has to do: run once, by as many threads as it is worth.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use crate::chunks::{ChunkScheduler, MoreThreads, WorkShape};
use crate::entry::Entry;
use crate::error::ClError;
use crate::event::{Event, Job};
use crate::pool::{Pool, Push};
use crate::system::clock::timestamp;
use crate::system::nodes;
use crate::tree::Tree;
use crate::work::{Attempt, Runner, TraceInfo, Work};

/// Commands that take less than this many nanoseconds are left to the thread that waits for them:
/// waking another thread costs about as much.
const TINY: u64 = 8_000;

/// Whether work of one thread is left to the thread that waits for it.
pub(crate) fn push_of(is_single: bool, estimate: u64) -> Push {
    match is_single && estimate < TINY {
        true => Push::Defer,
        false => Push::Notify,
    }
}

/// One piece of work, and the state of sharing it.
pub struct Single<W> {
    work: W,
    /// Made when the command becomes ready: until then, which may be long, it takes no memory.
    chunks: OnceLock<Box<ChunkScheduler>>,
}

impl<W: Work<Event>> Single<W> {
    pub fn new(work: W) -> Single<W> {
        Single {
            work,
            chunks: OnceLock::new(),
        }
    }

    fn shape(&self) -> WorkShape {
        match self.chunks.get() {
            Some(chunks) => *chunks.shape(),
            None => self.work.shape(),
        }
    }
}

impl<W: Work<Event> + 'static> Job for Single<W> {
    fn is_instant(&self) -> bool {
        self.work.runner() == Runner::Finder
    }

    fn run_instant(&self) {
        let _ = self.work.run(None, 0..1);
    }

    fn take_unused(&self) -> Option<Attempt> {
        self.work.take_unused()
    }

    fn prepare(&self, pool: &Pool<Event>) {
        let shape = self.work.shape();
        self.chunks.get_or_init(|| {
            let nodes = pool.threads_of_nodes();
            Box::new(ChunkScheduler::new(shape, pool.threads(), nodes))
        });
    }

    fn push(&self) -> Push {
        let shape = self.shape();
        push_of(shape.threads == 1, shape.estimate)
    }

    fn is_short(&self) -> bool {
        self.push() == Push::Defer
    }

    fn may_help(&self, stack: u64) -> bool {
        self.work.runner() == Runner::Any && self.work.stack_bytes() <= stack
    }

    fn is_single(&self) -> bool {
        self.chunks.get().is_none_or(|chunks| chunks.threads() == 1)
    }

    fn is_exhausted(&self) -> bool {
        let chunks = self.chunks.get();
        chunks.is_some_and(|chunks| chunks.is_exhausted())
    }

    fn threads(&self) -> u32 {
        let chunks = self.chunks.get().filter(|chunks| !chunks.is_exhausted());
        chunks.map_or(0, |chunks| chunks.threads())
    }

    fn run_chunks(&self, event: &Arc<Event>, stop: &dyn Fn() -> bool) {
        let Some(chunks) = self.chunks.get() else {
            return;
        };
        let mut before = timestamp();
        event.begin_at(before);
        let node = nodes::current();
        let (mut done, mut busy) = (0, 0);
        while let Some((begin, end)) = chunks.claim(node) {
            let now = run_units(
                event,
                &self.work,
                (begin, end, chunks.shape().units),
                before,
            );
            let took = now.saturating_sub(before);
            match chunks.record_time(end - begin, took) {
                None => {}
                // The pool has forgotten the command, because one thread was to do all of it.
                Some(MoreThreads::FromOne) => event.pool().push(Arc::clone(event), Push::Notify),
                Some(MoreThreads::FromSeveral) => event.pool().wake_for(event.missing()),
            }
            before = now;
            done += end - begin;
            busy += took;
            // What one thread was to do alone is in no list any more: no other thread would finish
            // it.
            if chunks.threads() > 1 && stop() {
                break;
            }
        }
        if done > 0 && chunks.done(done, busy) {
            event.note_due(self.work.finish(chunks.busy()));
            event.end(Push::NoWake);
        }
        self.work.leave();
    }

    fn tree(&self) -> Option<&Arc<Tree<Event>>> {
        self.work.tree()
    }

    fn trace_info(&self) -> TraceInfo<'_> {
        self.work.trace_info()
    }
}

/// Runs some units of an event's command, of as many, unless something before has failed; they
/// count as done in any case. Returns the time.
pub(crate) fn run_units<W: Work<Event> + ?Sized>(
    event: &Arc<Event>,
    work: &W,
    (begin, end, of): (u64, u64, u64),
    before: u64,
) -> u64 {
    if event.failure() == 0 {
        // A panic in here is a bug of the driver; the application gets an error for it, not a
        // crash.
        let run = || work.run(Some(event), begin..end);
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => event.fail(error),
            Err(_) => event.fail(ClError::OUT_OF_RESOURCES),
        }
    }
    let now = timestamp();
    if let Some(observer) = event.lane().domain().observer()
        && let Some((category, name)) = &work.trace_info().pieces
    {
        observer.took_part((category, name), (begin, end, of), (before, now));
    }
    now
}
