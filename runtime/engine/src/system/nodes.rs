//! NUMA nodes: which one each thread works for.
//!
//! On a machine of several nodes a worker stays on the processors of one, any of them, and takes
//! its work from that node's part of a launch first (`chunks.rs`). The parts are the same from
//! launch to launch. Memory is on the node of the thread that touches it first: what the driver
//! allocates is not touched before it is written, and kernels, copies and fills that write it are
//! divided in the same way; so nothing else has to place it.
//!
//! Threads of the application run where the system likes; one that helps works for the node that it
//! is on when it begins to.
//!
//! `BROLGA_NUMA=0` switches all of this off, and a machine of one node has none of it.

use std::cell::Cell;

use brolga_host::environment;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

use super::topology::{self, Sharing};

thread_local! {
    /// The index of the node that this thread works for.
    static NODE: Cell<usize> = const { Cell::new(0) };
    /// Where this thread could run before it was to stay on some processors.
    static BEFORE: Cell<Option<CpuSet>> = const { Cell::new(None) };
}

/// The nodes of a pool's processors, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Nodes {
    /// The processors of each; none if there are not several nodes.
    processors: Vec<Vec<usize>>,
    /// How many workers stay on each, one for each of `processors`.
    threads: Vec<u32>,
}

impl Nodes {
    /// Of a machine's processors, for so many workers.
    pub fn new(processors: &[usize], threads: u32) -> Nodes {
        if !environment::is_on("BROLGA_NUMA", true) {
            return Nodes::default();
        }
        Nodes::of_groups(
            topology::groups(Sharing::NumaNode, processors),
            processors,
            threads,
        )
    }

    /// `groups` has indices into `processors`.
    fn of_groups(groups: Vec<Vec<u32>>, processors: &[usize], threads: u32) -> Nodes {
        if groups.len() < 2 {
            return Nodes::default();
        }
        let of_group = |group: Vec<u32>| group.iter().map(|&i| processors[i as usize]).collect();
        let mut nodes = Nodes {
            threads: vec![0; groups.len()],
            processors: groups.into_iter().map(of_group).collect(),
        };
        for worker in 0..threads {
            let node = nodes.of_worker(worker, threads);
            nodes.threads[node] += 1;
        }
        nodes
    }

    /// The workers of each node; none if there are not several nodes.
    pub fn threads(&self) -> &[u32] {
        &self.threads
    }

    /// The node of one of so many workers. They are spread as the processors are.
    fn of_worker(&self, worker: u32, threads: u32) -> usize {
        let all: usize = self.processors.iter().map(Vec::len).sum();
        let mut processor = (all as u64 * u64::from(worker) / u64::from(threads)) as usize;
        let mut sizes = self.processors.iter().map(Vec::len);
        let node = sizes.position(|size| match processor.checked_sub(size) {
            None => true,
            Some(rest) => {
                processor = rest;
                false
            }
        });
        node.unwrap_or(0)
    }

    /// Has this thread, one of so many workers, work for its node and stay there.
    pub fn join_worker(&self, worker: u32, threads: u32) {
        if self.processors.is_empty() {
            return;
        }
        let node = self.of_worker(worker, threads);
        NODE.set(node);
        stay_on(&self.processors[node]);
    }

    /// Has this thread, one of the application, work for the node that it is on.
    pub fn join_helper(&self) {
        if self.processors.is_empty() {
            return;
        }
        let here = sched_getcpu();
        let mut nodes = self.processors.iter();
        NODE.set(nodes.position(|node| node.contains(&here)).unwrap_or(0));
    }
}

/// The node that this thread works for.
pub fn current() -> usize {
    NODE.get()
}

/// Has this thread stay on some logical processors, but not the threads that it starts; no
/// processors mean any.
pub fn stay_on(processors: &[usize]) {
    if BEFORE.get().is_none() {
        BEFORE.set(sched_getaffinity(None).ok());
    }
    topology::pin(processors);
}

/// What a thread that this one starts is to begin with. The system would have it stay on the same
/// processors, too, where that is a matter of this thread's only.
pub fn leaving<R>(work: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let before = BEFORE.try_with(Cell::get).unwrap_or(None);
    move || {
        if let Some(before) = before {
            let _ = sched_setaffinity(None, &before);
        }
        work()
    }
}

#[cfg(test)]
mod tests {
    use super::super::threads;
    use super::*;

    /// Nodes of processors 0 to 3, and 4 and 5.
    fn nodes(threads: u32) -> Nodes {
        Nodes::of_groups(
            vec![vec![0, 1, 2, 3], vec![4, 5]],
            &[0, 1, 2, 3, 4, 5],
            threads,
        )
    }

    #[test]
    fn workers_are_spread_as_processors_are() {
        assert_eq!(nodes(6).threads(), [4, 2]);
        assert_eq!(nodes(3).threads(), [2, 1]);
        assert_eq!(nodes(1).threads(), [1, 0]);
        assert_eq!(nodes(60).threads(), [40, 20]);
        // Part of the machine, as an affinity mask leaves it.
        let part = Nodes::of_groups(vec![vec![0], vec![1, 2]], &[3, 4, 5], 3);
        assert_eq!(part.processors, [vec![3], vec![4, 5]]);
        assert_eq!(part.threads(), [1, 2]);
    }

    /// A machine as the system describes it: processors of two nodes in turn.
    #[test]
    fn nodes_are_read_from_the_system() {
        let folder = tempfile::tempdir().unwrap();
        for processor in 0..8 {
            let node = format!("cpu/cpu{processor}/node{}", processor % 2);
            std::fs::create_dir_all(folder.path().join(node)).unwrap();
        }
        let nodes = |processors: &[usize]| {
            let groups = topology::groups_in(folder.path(), Sharing::NumaNode, processors);
            Nodes::of_groups(groups, processors, processors.len() as u32)
        };
        let all = nodes(&[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(all.processors, [[0, 2, 4, 6], [1, 3, 5, 7]]);
        assert_eq!(all.threads(), [4, 4]);
        // What an affinity mask leaves of it.
        assert_eq!(nodes(&[1, 2, 3]).processors, [vec![1, 3], vec![2]]);
        assert_eq!(nodes(&[1, 3, 5]), Nodes::default());
    }

    #[test]
    fn one_node_is_as_none() {
        let one = Nodes::of_groups(vec![vec![0, 1]], &[0, 1], 2);
        assert_eq!(one, Nodes::default());
        assert!(one.threads().is_empty());
        one.join_worker(1, 2);
        assert_eq!(current(), 0);
    }

    /// Each processor that this machine has is a node.
    #[test]
    fn a_worker_stays_on_its_node() {
        let processors = topology::affinity(None);
        let groups = (0..processors.len() as u32).map(|index| vec![index]);
        let workers = processors.len() as u32;
        let nodes = Nodes::of_groups(groups.collect(), &processors, workers);
        let expected = match processors.len() {
            1 => return,
            _ => vec![*processors.last().unwrap()],
        };
        let all = processors.clone();
        let worker = std::thread::spawn(move || {
            nodes.join_worker(workers - 1, workers);
            let pinned = topology::affinity(None);
            nodes.join_helper();
            // A thread that it starts does not.
            let (send, receive) = std::sync::mpsc::channel();
            let look = move || send.send(topology::affinity(None)).unwrap();
            let started = threads::spawn("test", None, look).unwrap();
            started.join().unwrap();
            assert_eq!(receive.recv().unwrap(), all);
            (pinned, current())
        });
        assert_eq!(worker.join().unwrap(), (expected, processors.len() - 1));
    }
}
