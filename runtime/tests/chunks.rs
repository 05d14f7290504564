//! The chunk scheduler in every order in which two threads can use it, on the atomics of
//! [loom](https://docs.rs/loom): each unit is one thread's alone, and who finds the last one done
//! sees what all have written.

#[path = "../src/chunks.rs"]
#[expect(dead_code, reason = "the pool and graphs ask for more")]
mod chunks;

#[path = "loom/atomics.rs"]
#[expect(
    dead_code,
    unused_imports,
    reason = "the others that share it need more"
)]
mod atomics;

use chunks::{ChunkScheduler, MoreThreads, WorkShape};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// Work of which each unit writes to memory of its own.
struct Job {
    chunks: ChunkScheduler,
    memory: Vec<UnsafeCell<u32>>,
}

impl Job {
    fn new(units: u64, threads: u32, min_chunk: u64) -> Arc<Job> {
        let shape = WorkShape {
            units,
            threads,
            min_chunk,
            estimate: 1,
            is_guess: true,
        };
        Arc::new(Job {
            chunks: ChunkScheduler::new(shape, 2),
            memory: (0..units).map(|_| UnsafeCell::new(0)).collect(),
        })
    }

    /// A thread's part: leaves after `limit` chunks. True if it completed the work.
    fn take_part(&self, limit: usize) -> bool {
        let (mut done, mut busy) = (0, 0);
        for _ in 0..limit {
            let Some((begin, end)) = self.chunks.claim() else {
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

fn model(units: u64, threads: u32, min_chunk: u64, limits: [usize; 2]) {
    loom::model(move || {
        let job = Job::new(units, threads, min_chunk);
        let other = Arc::clone(&job);
        let helper = thread::spawn(move || other.take_part(limits[1]));
        let mut completed = usize::from(job.take_part(limits[0]));
        completed += usize::from(helper.join().unwrap());
        // What a thread left by going early.
        completed += usize::from(job.take_part(usize::MAX));
        assert_eq!(completed, 1);
    });
}

#[test]
fn every_unit_is_one_threads_and_seen_by_the_last() {
    model(3, 2, 1, [usize::MAX; 2]);
}

#[test]
fn a_thread_may_leave_early() {
    model(3, 2, 1, [1, usize::MAX]);
    model(2, 2, 1, [1, 1]);
}

/// One thread was thought to be enough; it claims a sixteenth first.
#[test]
fn a_thread_may_come_late() {
    model(3, 1, 1, [usize::MAX; 2]);
}

#[test]
fn chunks_cover_all_units() {
    for (units, threads, min_chunk) in [(1, 1, 1), (100, 1, 1), (100, 2, 7), (33, 2, 64)] {
        loom::model(move || {
            let job = Job::new(units, threads, min_chunk);
            assert!(job.take_part(usize::MAX));
            assert!(!job.take_part(usize::MAX));
        });
    }
}
