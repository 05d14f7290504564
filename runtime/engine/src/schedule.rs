//! Which commands of a graph may run now, and who runs what of them: the part of a run that its
//! threads share.
//!
//! A node *opens* when all that it waits for is done, and *closes* when its last unit is claimed.
//! The open nodes are in a list, and the first of them is the *front*, from which threads claim
//! chunks. A claim is an operation on the atomics of the node's chunk scheduler; the list's lock is
//! taken where a node opens or closes only. A thread that has done the last unit of a node opens
//! those that waited for nothing else, and goes on with the front.
//!
//! # Orderings
//!
//! - A node's `pending` and the run's `left` are chains of decrements that acquire and release: the
//!   thread that opens a node, or completes the run, sees what the nodes before did. `front` passes
//!   it on to the threads that claim units: it is released after a node has opened, and acquired by
//!   whoever claims from it.
//! - Only the front is claimed from, and it stays the front until it is claimed in full: a node
//!   behind it has all its units. A thread may have loaded `front` before the node closed; then it
//!   claims nothing of it and looks again.
//! - `weight`, `unclaimed` and `shared` say whether there is work for more threads: they are part
//!   of "work made available" (`pool.rs`) and so sequentially consistent. `weight` and `unclaimed`
//!   are written under the lock, once `Schedule::new` has returned.
//! - What a node has added to the weight is written and read under the lock: relaxed.
//!
//! `models/schedule.rs` goes through the orders in which two threads can run a graph.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::chunks::{ChunkScheduler, NANOSECONDS_PER_THREAD, WorkShape};
use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Mutex};

/// What a schedule has to know of a graph.
pub trait Edges {
    /// Nodes that wait for a node.
    fn successors(&self, node: u32) -> &[u32];
    /// Whether a node is done as soon as it opens.
    fn is_instant(&self, node: u32) -> bool;
}

/// The state of one run of a graph.
pub(crate) struct Schedule {
    /// How many threads there are.
    limit: u32,
    nodes: Box<[NodeState]>,
    /// The node that threads claim from, or `NONE`.
    front: AtomicU32,
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

struct NodeState {
    chunks: ChunkScheduler,
    /// Nodes to wait for that are not done.
    pending: AtomicU32,
    /// What the node has added to the run's weight.
    weight: AtomicU64,
}

/// No node is open.
const NONE: u32 = u32::MAX;

/// Nodes to open, the next one last.
type ReadyNodes = SmallVec<[u32; 8]>;

/// The part of a node in what threads are worth: as many threads as it wants, or the time it takes
/// one.
fn weigh(chunks: &ChunkScheduler) -> u64 {
    match chunks.threads() {
        1 => chunks.shape().estimate.clamp(1, NANOSECONDS_PER_THREAD),
        threads => u64::from(threads) * NANOSECONDS_PER_THREAD,
    }
}

impl Schedule {
    /// `nodes` are how each may be shared and how many nodes it waits for, `limit` is how many
    /// threads there are, `numa_nodes` how many of them each NUMA node has. A graph may be done by
    /// this, if it has no work.
    pub(crate) fn new(
        edges: &impl Edges,
        nodes: impl ExactSizeIterator<Item = (WorkShape, u32)>,
        limit: u32,
        numa_nodes: &[u32],
    ) -> Schedule {
        let count = nodes.len() as u32;
        let mut roots = ReadyNodes::new();
        let nodes = (0..).zip(nodes).map(|(index, (shape, dependencies))| {
            if dependencies == 0 {
                roots.push(index);
            }
            NodeState {
                chunks: ChunkScheduler::new(shape, limit, numa_nodes),
                pending: AtomicU32::new(dependencies),
                weight: AtomicU64::new(0),
            }
        });
        let schedule = Schedule {
            limit,
            nodes: nodes.collect(),
            front: AtomicU32::new(NONE),
            open: Mutex::new(VecDeque::new()),
            weight: AtomicU64::new(0),
            unclaimed: AtomicU32::new(count),
            left: AtomicU32::new(count),
            shared: AtomicBool::new(false),
        };
        roots.reverse();
        schedule.open(edges, roots);
        schedule.shared.store(schedule.threads() > 1, Relaxed);
        schedule
    }

    /// How a node's units are shared.
    pub(crate) fn chunks(&self, node: u32) -> &ChunkScheduler {
        &self.nodes[node as usize].chunks
    }

    /// Whether every node is done.
    pub(crate) fn is_done(&self) -> bool {
        self.left.load(Acquire) == 0
    }

    /// Whether the run is for several threads.
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.load(SeqCst)
    }

    /// Makes it one for several threads; false if it was.
    pub(crate) fn share(&self) -> bool {
        !self.shared.swap(true, SeqCst)
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

    /// The node to claim from, if one is open.
    pub(crate) fn front(&self) -> Option<u32> {
        let front = self.front.load(Acquire);
        (front != NONE).then_some(front)
    }

    /// Claims a chunk of a node that has been the front, for a thread of a NUMA node. If there is
    /// none left the front is another one when this returns.
    pub(crate) fn claim(&self, node: u32, numa_node: usize) -> Option<(u64, u64)> {
        let chunks = self.chunks(node);
        let claimed = chunks.claim(numa_node);
        match claimed {
            Some(_) if !chunks.is_exhausted() => {}
            // Another thread may have closed it.
            None if self.front.load(Relaxed) != node => {}
            _ => self.close(),
        }
        claimed
    }

    /// Closes what is claimed in full.
    fn close(&self) {
        let mut open = self.open.lock();
        while let Some(&first) = open.front() {
            let node = &self.nodes[first as usize];
            if !node.chunks.is_exhausted() {
                break;
            }
            open.pop_front();
            self.weight.fetch_sub(node.weight.load(Relaxed), SeqCst);
            self.unclaimed.fetch_sub(1, SeqCst);
        }
        self.set_front(&open);
    }

    /// With the list locked.
    fn set_front(&self, open: &VecDeque<u32>) {
        self.front
            .store(open.front().copied().unwrap_or(NONE), Release);
    }

    /// A node turned out to be worth more threads.
    pub(crate) fn widen(&self, node: u32) {
        let node = &self.nodes[node as usize];
        let _open = self.open.lock();
        // What is claimed in full has no weight any more, or soon has none.
        if !node.chunks.is_exhausted() {
            let weight = weigh(&node.chunks);
            let before = node.weight.swap(weight, Relaxed);
            self.weight.fetch_add(weight.saturating_sub(before), SeqCst);
        }
    }

    /// A node is done: opens those that waited for it alone. Returns whether it was the last of all
    /// of the graph.
    pub(crate) fn finish(&self, edges: &impl Edges, node: u32) -> bool {
        let mut ready = ReadyNodes::new();
        self.retire(edges, node, &mut ready) || self.open(edges, ready)
    }

    /// Opens nodes that have nothing left to wait for. Those without work are done at once, and
    /// open others in turn; returns whether that was all of the graph.
    fn open(&self, edges: &impl Edges, mut ready: ReadyNodes) -> bool {
        if ready.is_empty() {
            return false;
        }
        let mut open = self.open.lock();
        while let Some(index) = ready.pop() {
            if edges.is_instant(index) {
                self.unclaimed.fetch_sub(1, SeqCst);
                if self.retire(edges, index, &mut ready) {
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
        self.set_front(&open);
        false
    }

    /// A node is done: lists those that waited for it alone, and returns whether it was the last of
    /// all.
    fn retire(&self, edges: &impl Edges, index: u32, ready: &mut ReadyNodes) -> bool {
        // The other way round, so that the first recorded is the first opened.
        for &successor in edges.successors(index).iter().rev() {
            let pending = &self.nodes[successor as usize].pending;
            if pending.fetch_sub(1, AcqRel) == 1 {
                ready.push(successor);
            }
        }
        self.left.fetch_sub(1, AcqRel) == 1
    }
}
