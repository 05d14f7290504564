//! The commands of a command-buffer as a graph, and one run of it.
//!
//! A [`Graph`] is immutable and shared by all its runs: each node's work, which is what a queue's
//! command has too, and the nodes that wait for it. A [`GraphRun`] is what one enqueue adds: how
//! much of each node is claimed and done. All of a run is the [`Job`] of one
//! event, so that an enqueue costs one allocation for all nodes, and the pool sees one entry.
//!
//! Threads take part in a run as in any command. `schedule.rs` has what they share: which nodes
//! are open, and how much of each is claimed. The thread that does the last unit of a node opens
//! those that waited for nothing else, and goes on; so a chain of short kernels is run by one
//! thread, and no other is woken in between.
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

use std::sync::Arc;

use serde_json::json;

use crate::entry::Entry;
use crate::event::{Event, Job};
use crate::job::{push_of, run_units};
use crate::pool::{Pool, Push};
use crate::schedule::{Edges, Schedule};
use crate::system::clock::timestamp;
use crate::system::nodes;
use crate::tree::Tree;
use crate::work::{Attempt, Runner, TraceInfo, Work};

/// What a node does.
pub type NodeWork = Arc<dyn Work<Event>>;

/// Commands and their order.
#[derive(Clone, Default)]
pub struct Graph {
    nodes: Vec<Node>,
}

/// A command of a graph.
#[derive(Clone)]
pub struct Node {
    pub work: NodeWork,
    /// Index of the queue that it was recorded to.
    pub queue: usize,
    /// Nodes that this one waits for.
    pub dependencies: u32,
    /// Nodes that wait for this one.
    pub successors: Vec<u32>,
}

impl Graph {
    /// How many commands there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Adds a command that waits for `dependencies`, which are earlier ones, each named once. What
    /// it does must be something that can be done again and again.
    pub fn add(&mut self, work: NodeWork, queue: usize, dependencies: &[u32]) {
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

    /// Replaces what a command does; returns what it did.
    pub fn replace(&mut self, node: u32, work: NodeWork) -> NodeWork {
        std::mem::replace(&mut self.nodes[node as usize].work, work)
    }
}

impl Edges for Graph {
    fn successors(&self, node: u32) -> &[u32] {
        &self.nodes[node as usize].successors
    }

    fn is_instant(&self, node: u32) -> bool {
        self.nodes[node as usize].work.runner() == Runner::Finder
    }
}

/// One run of a graph.
pub struct GraphRun {
    graph: Arc<Graph>,
    /// Bytes of stack that the node needs that needs most.
    stack_bytes: u64,
    schedule: Schedule,
}

impl GraphRun {
    /// A run by the threads of a pool.
    pub fn new(graph: &Arc<Graph>, pool: &Pool<Event>) -> GraphRun {
        let nodes = graph.nodes.iter();
        let stack_bytes = nodes.clone().map(|node| node.work.stack_bytes());
        let shapes = nodes
            .clone()
            .map(|node| (node.work.shape(), node.dependencies));
        GraphRun {
            graph: Arc::clone(graph),
            stack_bytes: stack_bytes.max().unwrap_or(0),
            schedule: Schedule::new(&**graph, shapes, pool.threads(), pool.threads_of_nodes()),
        }
    }

    /// Nanoseconds that one thread takes for all of it, as far as can be guessed.
    fn estimate(&self) -> u64 {
        let nodes = (0..).zip(&self.graph.nodes);
        nodes
            .filter(|(_, node)| node.work.runner() != Runner::Finder)
            .map(|(index, _)| self.schedule.chunks(index).shape().estimate)
            .fold(0, u64::saturating_add)
    }

    /// Calls threads if there is more to do than those here are worth.
    fn call(&self, event: &Arc<Event>) {
        let threads = self.schedule.threads();
        if threads > 1 && self.schedule.share() {
            // Until now this thread was alone.
            event.pool().push(Arc::clone(event), Push::Notify);
        } else if self.schedule.is_shared() && threads > event.participants() {
            event.pool().wake_for(event.missing());
        }
    }
}

impl Job for GraphRun {
    /// A graph without work is done as it is made.
    fn is_instant(&self) -> bool {
        self.schedule.is_done()
    }

    fn run_instant(&self) {}

    fn take_unused(&self) -> Option<Attempt> {
        None
    }

    fn prepare(&self, _: &Pool<Event>) {}

    fn push(&self) -> Push {
        push_of(!self.schedule.is_shared(), self.estimate())
    }

    fn is_short(&self) -> bool {
        false
    }

    fn may_help(&self, stack: u64) -> bool {
        self.stack_bytes <= stack
    }

    fn is_single(&self) -> bool {
        !self.schedule.is_shared()
    }

    fn is_exhausted(&self) -> bool {
        self.schedule.is_exhausted()
    }

    fn threads(&self) -> u32 {
        self.schedule.threads()
    }

    fn run_chunks(&self, event: &Arc<Event>, stop: &dyn Fn() -> bool) {
        let mut before = timestamp();
        event.begin_at(before);
        let numa_node = nodes::current();
        let mut stopped = false;
        while !stopped && let Some(node) = self.schedule.front() {
            let work = &*self.graph.nodes[node as usize].work;
            let chunks = self.schedule.chunks(node);
            let (mut done, mut busy) = (0, 0);
            while !stopped && let Some((begin, end)) = self.schedule.claim(node, numa_node) {
                let now = run_units(event, work, (begin, end, chunks.shape().units), before);
                let took = now.saturating_sub(before);
                if chunks.record_time(end - begin, took).is_some() {
                    self.schedule.widen(node);
                }
                before = now;
                done += end - begin;
                busy += took;
                self.call(event);
                // Alone it is in no list: no other thread would finish it.
                stopped = self.schedule.is_shared() && stop();
            }
            if done > 0 && chunks.done(done, busy) {
                event.note_due(work.finish(chunks.busy()));
                if self.schedule.finish(&*self.graph, node) {
                    event.end(Push::NoWake);
                    break;
                }
                self.call(event);
            }
        }
        // What threads keep is the same for all work of a kind.
        let _ = self.graph.nodes.iter().any(|node| node.work.leave());
    }

    fn tree(&self) -> Option<&Arc<Tree<Event>>> {
        None
    }

    fn trace_info(&self) -> TraceInfo<'_> {
        TraceInfo {
            details: json!({ "commands": self.graph.len() }),
            ..TraceInfo::default()
        }
    }
}
