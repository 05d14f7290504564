//! The chunk scheduler in every order in which two threads can use it, on the atomics of
//! [loom](https://docs.rs/loom): each unit is one thread's alone, and who finds the last one done
//! sees what all have written.

use crate::chunks::{ChunkScheduler, MoreThreads, WorkShape};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// Work of which each unit writes to memory of its own.
struct Job {
    chunks: ChunkScheduler,
    memory: Vec<UnsafeCell<u32>>,
}

fn shape(units: u64, threads: u32, min_chunk: u64) -> WorkShape {
    WorkShape {
        units,
        threads,
        min_chunk,
        estimate: 1,
        is_guess: true,
    }
}

impl Job {
    /// `nodes` are the threads of each NUMA node.
    fn new(shape: WorkShape, nodes: &[u32]) -> Arc<Job> {
        let units = shape.units;
        Arc::new(Job {
            chunks: ChunkScheduler::new(shape, 2, nodes),
            memory: (0..units).map(|_| UnsafeCell::new(0)).collect(),
        })
    }

    /// The part of a thread of a node: it leaves after `limit` chunks. True if it completed the
    /// work.
    fn take_part(&self, node: usize, limit: usize) -> bool {
        let (mut done, mut busy) = (0, 0);
        for _ in 0..limit {
            let Some((begin, end)) = self.chunks.claim(node) else {
                break;
            };
            for unit in begin..end {
                // Two threads with one unit would be a data race, which loom reports.
                self.memory[unit as usize].with_mut(|word| unsafe { *word += 1 });
            }
            // Long enough for the other to be called.
            let _: Option<MoreThreads> = self.chunks.record_time(end - begin, 50_000);
            done += end - begin;
            busy += 50_000;
        }
        let is_last = done > 0 && self.chunks.done(done, busy);
        if is_last {
            for word in &self.memory {
                assert_eq!(word.with(|word| unsafe { *word }), 1);
            }
            assert!(self.chunks.is_exhausted());
            assert!(self.chunks.busy() >= 50_000);
        }
        is_last
    }
}

/// Two threads, which leave after so many chunks.
fn model(shape: WorkShape, limits: [usize; 2]) {
    model_of_nodes(shape, &[], [0, 0], limits);
}

/// Two threads of some NUMA nodes.
fn model_of_nodes(
    shape: WorkShape,
    nodes: &'static [u32],
    of_threads: [usize; 2],
    limits: [usize; 2],
) {
    loom::model(move || {
        let job = Job::new(shape, nodes);
        let other = Arc::clone(&job);
        let second = thread::spawn(move || other.take_part(of_threads[1], limits[1]));
        let mut completed = usize::from(job.take_part(of_threads[0], limits[0]));
        completed += usize::from(second.join().unwrap());
        // What a thread left by going early.
        completed += usize::from(job.take_part(0, usize::MAX));
        assert_eq!(completed, 1);
    });
}

#[test]
fn every_unit_is_one_threads_and_seen_by_the_last() {
    model(shape(3, 2, 1), [usize::MAX; 2]);
}

#[test]
fn a_thread_may_leave_early() {
    model(shape(3, 2, 1), [1, usize::MAX]);
    model(shape(2, 2, 1), [1, 1]);
}

/// One thread was thought to be enough; it claims a sixteenth first.
#[test]
fn a_thread_may_come_late() {
    model(shape(3, 1, 1), [usize::MAX; 2]);
}

#[test]
fn chunks_cover_all_units() {
    for (units, threads, min_chunk) in [(1, 1, 1), (100, 1, 1), (100, 2, 7), (33, 2, 64)] {
        loom::model(move || {
            let job = Job::new(shape(units, threads, min_chunk), &[]);
            assert!(job.take_part(0, usize::MAX));
            assert!(!job.take_part(0, usize::MAX));
        });
    }
}

/// Each has its own part, and takes of the other's at the end.
#[test]
fn threads_of_two_nodes_share_the_units() {
    model_of_nodes(shape(3, 2, 1), &[1, 1], [0, 1], [usize::MAX; 2]);
    model_of_nodes(shape(3, 2, 1), &[1, 1], [1, 1], [1, usize::MAX]);
    // It was thought to be for one thread, and is not divided.
    model_of_nodes(shape(3, 1, 1), &[1, 1], [0, 1], [usize::MAX; 2]);
}

/// Runs `test` in one thread, which may claim often.
fn alone(test: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 1 << 20;
    builder.check(test);
}

/// The chunks that threads of these nodes claim, in turn.
fn claims(shape: WorkShape, nodes: &'static [u32], turns: &[usize]) -> Vec<(u64, u64)> {
    let chunks = ChunkScheduler::new(shape, nodes.iter().sum(), nodes);
    let turns = turns.iter().cycle();
    turns.map_while(|&node| chunks.claim(node)).collect()
}

#[test]
fn a_node_has_a_contiguous_range_by_its_threads() {
    alone(|| {
        let of_node = |node, units| {
            let mut claimed = claims(shape(units, 8, 1), &[4, 2, 2], &[node]);
            let end = claimed.iter().position(|&(begin, _)| match node {
                0 => begin >= units / 2,
                1 => begin >= units * 3 / 4 || begin < units / 2,
                _ => begin < units * 3 / 4,
            });
            // First its own, in order; what comes after that is of others.
            claimed.truncate(end.unwrap());
            (claimed[0].0, claimed.last().unwrap().1)
        };
        for units in [16, 100, 4096] {
            assert_eq!(of_node(0, units), (0, units / 2));
            assert_eq!(of_node(1, units), (units / 2, units * 3 / 4));
            assert_eq!(of_node(2, units), (units * 3 / 4, units));
        }
    });
}

#[test]
fn the_ranges_of_nodes_cover_all_units_once() {
    alone(|| {
        let cases: [(u64, &[u32], &[usize]); 6] = [
            (1, &[1, 1], &[1]),
            (2, &[3, 2, 1], &[2, 0]),
            (97, &[3, 2, 1], &[2, 2, 0, 1]),
            (1000, &[1, 0, 7], &[1, 2]),
            (1000, &[64, 64], &[0, 1, 1]),
            (u64::MAX / 2, &[64, 63], &[1, 0]),
        ];
        for (units, nodes, turns) in cases {
            let mut claimed = claims(shape(units, 16, 1), nodes, turns);
            claimed.sort_unstable();
            let mut end = 0;
            for (begin, next) in claimed {
                assert_eq!(begin, end, "{units}");
                end = next;
            }
            assert_eq!(end, units);
        }
    });
}
