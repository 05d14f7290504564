//! The schedule of a graph in every order in which two threads can run it, on the atomics of
//! [loom](https://docs.rs/loom): each node runs once and after those that it waits for, whose
//! writes it sees, and one thread finds the graph done and sees all of them.

use crate::chunks::WorkShape;
use crate::schedule::{Edges, Schedule};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// A node: units, whether they are for two threads, and the nodes that it waits for. Without units
/// it is instant.
type Node = (u64, bool, &'static [u32]);

struct Graph {
    nodes: &'static [Node],
    successors: Vec<Vec<u32>>,
}

impl Edges for Graph {
    fn successors(&self, node: u32) -> &[u32] {
        &self.successors[node as usize]
    }

    fn is_instant(&self, node: u32) -> bool {
        self.nodes[node as usize].0 == 0
    }
}

/// A run in which each unit of each node writes to memory of its own.
struct Run {
    graph: Graph,
    schedule: Schedule,
    memory: Vec<Vec<UnsafeCell<u32>>>,
}

impl Run {
    fn new(nodes: &'static [Node], numa_nodes: &[u32]) -> Arc<Run> {
        let is_before = |earlier: u32, node: &Node| node.2.contains(&earlier);
        let successors = (0..nodes.len() as u32).map(|earlier| {
            let later = (0..nodes.len()).filter(|&node| is_before(earlier, &nodes[node]));
            later.map(|node| node as u32).collect()
        });
        let graph = Graph {
            nodes,
            successors: successors.collect(),
        };
        let shapes = nodes.iter().map(|&(units, is_wide, before)| {
            let shape = WorkShape {
                units: units.max(1),
                threads: 1 + u32::from(is_wide),
                min_chunk: 1,
                estimate: 1,
                is_guess: true,
            };
            (shape, before.len() as u32)
        });
        let memory = |&(units, ..): &Node| (0..units).map(|_| UnsafeCell::new(0)).collect();
        Arc::new(Run {
            schedule: Schedule::new(&graph, shapes, 2, numa_nodes),
            memory: nodes.iter().map(memory).collect(),
            graph,
        })
    }

    /// Asserts that all units of a node have run.
    fn check(&self, node: u32) {
        for word in &self.memory[node as usize] {
            assert_eq!(word.with(|word| unsafe { *word }), 1, "{node}");
        }
    }

    /// What a thread of a NUMA node does in a run that it leaves after so many chunks, or when
    /// nothing is open. True if it has done the last of the graph.
    fn take_part(&self, numa_node: usize, limit: usize) -> bool {
        let mut chunks = 0;
        while chunks < limit
            && let Some(node) = self.schedule.front()
        {
            let mut done = 0;
            while chunks < limit
                && let Some((begin, end)) = self.schedule.claim(node, numa_node)
            {
                for &earlier in self.graph.nodes[node as usize].2 {
                    self.check(earlier);
                }
                for unit in begin..end {
                    // Two threads with one unit would be a data race, which loom reports.
                    let word = &self.memory[node as usize][unit as usize];
                    word.with_mut(|word| unsafe { *word += 1 });
                }
                let of_node = self.schedule.chunks(node);
                // Long enough for the other to be called.
                if of_node.record_time(end - begin, 50_000).is_some() {
                    self.schedule.widen(node);
                    self.schedule.share();
                    assert!(self.schedule.is_shared());
                }
                done += end - begin;
                chunks += 1;
            }
            if done > 0
                && self.schedule.chunks(node).done(done, 1)
                && self.schedule.finish(&self.graph, node)
            {
                (0..self.memory.len() as u32).for_each(|node| self.check(node));
                assert!(self.schedule.is_done() && self.schedule.is_exhausted());
                assert_eq!(self.schedule.threads(), 0);
                assert_eq!(self.schedule.front(), None);
                return true;
            }
        }
        false
    }
}

/// Runs a graph in every order with so few preemptions, two threads of which leave after `limits`
/// chunks. One does what is left in the end.
fn model(preemptions: usize, nodes: &'static [Node], limits: [usize; 2]) {
    model_of_nodes(preemptions, nodes, &[], limits);
}

/// The same with a thread on each of two NUMA nodes, if there are two.
fn model_of_nodes(
    preemptions: usize,
    nodes: &'static [Node],
    numa_nodes: &'static [u32],
    limits: [usize; 2],
) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        let run = Run::new(nodes, numa_nodes);
        let other = Arc::clone(&run);
        let second = thread::spawn(move || other.take_part(1, limits[1]));
        let mut completed = usize::from(run.take_part(0, limits[0]));
        completed += usize::from(second.join().unwrap());
        // What a thread left by going early, or the other opened after it had gone.
        completed += usize::from(run.take_part(0, usize::MAX));
        assert_eq!(completed, 1);
    });
}

const ALL: [usize; 2] = [usize::MAX; 2];

#[test]
fn a_chain_is_in_order() {
    model(
        3,
        &[(1, false, &[]), (1, false, &[0]), (1, false, &[1])],
        ALL,
    );
}

#[test]
fn a_node_waits_for_all_before_it() {
    let diamond: &[Node] = &[
        (1, true, &[]),
        (1, true, &[0]),
        (1, true, &[0]),
        (1, true, &[1, 2]),
    ];
    model(2, diamond, ALL);
    model(1, diamond, [1, 2]);
}

#[test]
fn threads_share_a_node_and_the_next() {
    model(2, &[(3, true, &[]), (2, true, &[0])], ALL);
    model(3, &[(2, true, &[]), (2, true, &[0])], [1, 1]);
    model_of_nodes(2, &[(2, true, &[]), (2, true, &[0])], &[1, 1], ALL);
}

/// It was thought to be for one thread.
#[test]
fn a_node_may_become_wider() {
    model(2, &[(3, false, &[]), (2, false, &[0])], ALL);
}

#[test]
fn instant_nodes_are_passed_through() {
    let nodes: &[Node] = &[
        (0, false, &[]),
        (1, true, &[0]),
        (1, true, &[0]),
        (0, false, &[1, 2]),
        (0, false, &[3]),
        (1, true, &[4]),
    ];
    model(2, nodes, ALL);
    model(
        3,
        &[(1, true, &[]), (1, true, &[]), (0, false, &[0, 1])],
        ALL,
    );
}

#[test]
fn a_graph_without_work_is_done() {
    loom::model(|| {
        assert!(Run::new(&[], &[]).schedule.is_done());
        assert!(
            Run::new(&[(0, false, &[]), (0, false, &[0])], &[])
                .schedule
                .is_done()
        );
    });
}
