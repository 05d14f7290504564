//! The commands of a command-buffer as a graph, and one run of it.
//!
//! A [`Graph`] is immutable and shared by all its runs: each node's work, which is what a queue's
//! command has too, and the nodes that wait for it. A [`GraphRun`] is what one enqueue adds: how
//! much of each node is claimed and done. All of a run is one [`Job`](crate::command::Job) of one
//! event, so that an enqueue costs one allocation for all nodes, and the pool sees one entry.
//!
//! Threads take part in a run as in any command. The nodes that are *open* (everything they wait
//! for is done, and not all of their units are claimed) are in a list; a thread claims a chunk of
//! the first, and the thread that does the last unit of a node opens those that waited for nothing
//! else. A chain of short kernels is so run by one thread, and no other is woken in between.
//!
//! # Which threads are called
//!
//! A run begins with one thread, unless the nodes open at the beginning are worth more. While it is
//! *not shared* it is in no list of the pool once a thread has taken it, and that thread stays to
//! the end. When more is open than one thread is worth, the run becomes shared, for good: it is put
//! in the pool's list of ready commands and stays there until every node is claimed. From then on a
//! thread may leave between chunks, and one that finds nothing open does. No work is lost by that:
//! a thread that opens a node looks at the list again before it leaves, and if it leaves with
//! something open (because what it waited for is done) the run has room, of which the leaving
//! thread tells a worker, as with any shared command.
//!
//! # Orderings
//!
//! - A node's `pending` and the run's `left` are chains of decrements that acquire and release: the
//!   thread that opens a node, or completes the run, sees what the nodes before did. The lock of
//!   the open nodes passes it on to the threads that claim units.
//! - `weight`, `unclaimed` and `shared` say whether there is work for more threads: they are part
//!   of "work made available" (`pool.rs`) and so sequentially consistent. `weight` and `unclaimed`
//!   are written under the lock of the open nodes, once `GraphRun::new` has returned.
//! - What a node has added to the weight is written and read under that lock: relaxed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use parking_lot::Mutex;
use smallvec::SmallVec;

use crate::chunks::{ChunkScheduler, MoreThreads, NANOSECONDS_PER_THREAD};
use crate::clock::timestamp;
use crate::command::Work;
use crate::event::Event;
use crate::pool::Push;
use crate::trace;

/// Commands and their order.
#[derive(Clone, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
}

#[derive(Clone)]
pub(super) struct Node {
    pub(super) work: Arc<Work>,
    /// Index of the queue that it was recorded to.
    pub(super) queue: usize,
    /// Nodes that this one waits for.
    pub(super) dependencies: u32,
    /// Nodes that wait for this one.
    pub(super) successors: Vec<u32>,
}

impl Graph {
    /// How many commands there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Adds a command that waits for `dependencies`, which are earlier ones, each named once.
    pub(crate) fn add(&mut self, work: Arc<Work>, queue: usize, dependencies: &[u32]) {
        debug_assert!(
            !matches!(
                *work,
                Work::Instant(_) | Work::Application(_) | Work::Blocking(_)
            ),
            "a node runs again and again"
        );
        let index = self.nodes.len() as u32;
        for &earlier in dependencies {
            self.nodes[earlier as usize].successors.push(index);
        }
        self.nodes.push(Node {
            work,
            queue,
            dependencies: dependencies.len() as u32,
            successors: Vec::new(),
        });
    }

    /// Replaces what a command does.
    pub(crate) fn replace(&mut self, node: u32, work: Arc<Work>) {
        self.nodes[node as usize].work = work;
    }
}

/// One run of a graph.
pub(crate) struct GraphRun {
    graph: Arc<Graph>,
    limit: u32,
    /// Bytes of stack that the node needs that needs most.
    stack_bytes: u64,
    nodes: Box<[NodeRun]>,
    open: Mutex<VecDeque<u32>>,
    /// The nanoseconds of thread time that there are to share: the weights of the open nodes. 0 if
    /// and only if none is open.
    weight: AtomicU64,
    /// Nodes of which units may still be claimed, now or later.
    unclaimed: AtomicU32,
    /// Nodes that are not done.
    left: AtomicU32,
    shared: AtomicBool,
}

struct NodeRun {
    chunks: ChunkScheduler,
    /// Nodes to wait for that are not done.
    pending: AtomicU32,
    /// What the node has added to the run's weight.
    weight: AtomicU64,
}

/// Nodes to open, the next one last.
type Ready = SmallVec<[u32; 8]>;

/// The part of a node in what threads are worth: as many threads as it wants, or the time it takes
/// one.
fn weigh(chunks: &ChunkScheduler) -> u64 {
    match chunks.threads() {
        1 => chunks.shape().estimate.clamp(1, NANOSECONDS_PER_THREAD),
        threads => u64::from(threads) * NANOSECONDS_PER_THREAD,
    }
}

impl GraphRun {
    /// How many commands there are.
    pub(crate) fn len(&self) -> usize {
        self.graph.len()
    }

    /// `limit` is how many threads there are.
    pub(crate) fn new(graph: &Arc<Graph>, limit: u32) -> GraphRun {
        let count = graph.nodes.len() as u32;
        let nodes = graph.nodes.iter().map(|node| NodeRun {
            chunks: ChunkScheduler::new(node.work.shape(), limit),
            pending: AtomicU32::new(node.dependencies),
            weight: AtomicU64::new(0),
        });
        let stack_bytes = graph.nodes.iter().map(|node| node.work.stack_bytes());
        let run = GraphRun {
            graph: Arc::clone(graph),
            limit,
            stack_bytes: stack_bytes.max().unwrap_or(0),
            nodes: nodes.collect(),
            open: Mutex::default(),
            weight: AtomicU64::new(0),
            unclaimed: AtomicU32::new(count),
            left: AtomicU32::new(count),
            shared: AtomicBool::new(false),
        };
        let roots = (0..count).filter(|&node| graph.nodes[node as usize].dependencies == 0);
        run.make_ready(roots.rev().collect());
        run.shared.store(run.threads() > 1, Relaxed);
        run
    }

    /// Bytes of stack that a thread needs to take part.
    pub(crate) fn stack_bytes(&self) -> u64 {
        self.stack_bytes
    }

    /// Whether every node is done.
    pub(crate) fn is_done(&self) -> bool {
        self.left.load(Acquire) == 0
    }

    /// Whether the pool knows of the run while threads take part in it.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.load(SeqCst)
    }

    /// Whether nothing will be left to claim.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.unclaimed.load(SeqCst) == 0
    }

    /// Threads that the open nodes are worth; none if none is open.
    pub(crate) fn threads(&self) -> u32 {
        match self.weight.load(SeqCst) {
            0 => 0,
            weight => {
                let threads = (weight / NANOSECONDS_PER_THREAD).max(1);
                threads.min(u64::from(self.limit)) as u32
            }
        }
    }

    /// Nanoseconds that one thread takes for all of it, as far as can be guessed.
    pub(crate) fn estimate(&self) -> u64 {
        let works = self.graph.nodes.iter().zip(&self.nodes);
        works
            .filter(|(node, _)| !node.work.is_instant())
            .map(|(_, run)| run.chunks.shape().estimate)
            .fold(0, u64::saturating_add)
    }

    /// Opens nodes that have nothing left to wait for. Those without work are done at once, and
    /// open others in turn; returns whether that was all of the graph.
    fn make_ready(&self, mut ready: Ready) -> bool {
        let mut open = self.open.lock();
        while let Some(index) = ready.pop() {
            if self.graph.nodes[index as usize].work.is_instant() {
                self.unclaimed.fetch_sub(1, SeqCst);
                if self.retire(index, &mut ready) {
                    return true;
                }
                continue;
            }
            let node = &self.nodes[index as usize];
            let weight = weigh(&node.chunks);
            node.weight.store(weight, Relaxed);
            self.weight.fetch_add(weight, SeqCst);
            open.push_back(index);
        }
        false
    }

    /// A node is done: lists those that waited for it alone, and returns whether it was the last of
    /// all.
    fn retire(&self, index: u32, ready: &mut Ready) -> bool {
        // The other way round, so that the first recorded is the first opened.
        for &successor in self.graph.nodes[index as usize].successors.iter().rev() {
            let pending = &self.nodes[successor as usize].pending;
            if pending.fetch_sub(1, AcqRel) == 1 {
                ready.push(successor);
            }
        }
        self.left.fetch_sub(1, AcqRel) == 1
    }

    /// Claims a chunk of an open node.
    fn claim(&self) -> Option<(u32, u64, u64)> {
        let mut open = self.open.lock();
        let index = *open.front()?;
        let node = &self.nodes[index as usize];
        let claimed = node.chunks.claim();
        // Units are claimed under the lock only, so that no node is open of which there is nothing
        // left.
        if node.chunks.is_exhausted() {
            open.pop_front();
            self.weight.fetch_sub(node.weight.load(Relaxed), SeqCst);
            self.unclaimed.fetch_sub(1, SeqCst);
        }
        claimed.map(|(begin, end)| (index, begin, end))
    }

    /// A node turned out to be worth more threads.
    fn widen(&self, node: &NodeRun) {
        let _open = self.open.lock();
        // What is claimed in full has no weight any more.
        if !node.chunks.is_exhausted() {
            let weight = weigh(&node.chunks);
            let before = node.weight.swap(weight, Relaxed);
            self.weight.fetch_add(weight.saturating_sub(before), SeqCst);
        }
    }

    /// Calls threads if there is more to do than those here are worth.
    fn call(&self, event: &Arc<Event>) {
        let threads = self.threads();
        if threads > 1 && !self.shared.swap(true, SeqCst) {
            // Until now this thread was alone.
            event.pool().push(Arc::clone(event), Push::Notify);
        } else if self.is_shared() && threads > event.job.participants() {
            event.pool().wake_for(event.job.missing());
        }
    }

    /// Takes part in the run: see [`run_chunks`](crate::command::run_chunks).
    pub(crate) fn run_chunks(&self, event: &Arc<Event>, stop: &dyn Fn() -> bool) {
        let mut before = timestamp();
        event.begin(before);
        while let Some((index, begin, end)) = self.claim() {
            let work = &self.graph.nodes[index as usize].work;
            let node = &self.nodes[index as usize];
            // After an error the rest is claimed and counted but not run.
            work.run(event, begin, end);
            let now = timestamp();
            if trace::is_on() {
                work.record(begin..end, node.chunks.shape().units, (before, now));
            }
            match node
                .chunks
                .record_time(end - begin, now.saturating_sub(before))
            {
                None => {}
                Some(MoreThreads::FromOne | MoreThreads::FromSeveral) => self.widen(node),
            }
            if node.chunks.done(end - begin, now.saturating_sub(before)) {
                event.note_due(work.finish(node.chunks.busy()));
                let mut ready = Ready::new();
                if self.retire(index, &mut ready) || self.make_ready(ready) {
                    event.complete(event.failure(), Push::NoWake);
                    break;
                }
            }
            before = now;
            self.call(event);
            // Alone it is in no list: no other thread would finish it.
            if self.is_shared() && stop() {
                break;
            }
        }
    }
}
