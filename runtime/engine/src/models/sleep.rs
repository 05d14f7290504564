//! Every order in which a few threads can go to sleep and be woken, one after the other: [loom]
//! runs each test many times, and fails when all threads of it sleep. These are the smallest
//! parts; `pool.rs` has them together.
//!
//! [loom]: https://docs.rs/loom

use super::in_every_order;
use crate::sleep::{Status, Workers};
use crate::sync::AtomicU32;
use crate::sync::Ordering::SeqCst;
use loom::sync::Arc;
use loom::thread;

/// Workers, and how many pieces of work there are for them.
struct Pool {
    workers: Workers,
    available: AtomicU32,
}

impl Pool {
    fn new() -> Arc<Pool> {
        Arc::new(Pool {
            workers: Workers::new(),
            available: AtomicU32::new(0),
        })
    }

    fn push(&self, pieces: u32) {
        self.available.fetch_add(pieces, SeqCst);
        self.workers.wake(pieces.min(2));
    }

    fn is_left(&self) -> bool {
        self.available.load(SeqCst) > 0
    }

    /// Takes a piece, and says whether there are more.
    fn take(&self) -> Option<bool> {
        let mut left = self.available.load(SeqCst);
        while left > 0 {
            match self
                .available
                .compare_exchange(left, left - 1, SeqCst, SeqCst)
            {
                Ok(_) => return Some(left > 1),
                Err(now) => left = now,
            }
        }
        None
    }

    /// A worker's life up to its first piece of work, or until all are stopped.
    fn work(&self) {
        while !self.workers.are_stopped() {
            let found = self.take().or_else(|| {
                let spun = self.workers.spin(|| self.take(), || self.is_left());
                spun.map(|(more, left)| more || left)
                    .or_else(|| self.workers.park(|| self.take()))
            });
            if let Some(more) = found {
                if more {
                    self.workers.wake(2);
                }
                return;
            }
        }
    }

    fn start(pool: &Arc<Pool>) -> thread::JoinHandle<()> {
        let pool = Arc::clone(pool);
        thread::spawn(move || pool.work())
    }
}

#[test]
fn work_finds_a_worker() {
    in_every_order(4, || {
        let pool = Pool::new();
        let worker = Pool::start(&pool);
        pool.push(1);
        worker.join().unwrap();
    });
}

#[test]
fn each_piece_finds_a_worker() {
    in_every_order(4, || {
        let pool = Pool::new();
        let workers = [Pool::start(&pool), Pool::start(&pool)];
        pool.push(1);
        pool.push(1);
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

/// One push wakes two workers at most, which wake the next.
#[test]
fn pieces_that_come_together_find_workers() {
    in_every_order(3, || {
        let pool = Pool::new();
        let workers = [Pool::start(&pool), Pool::start(&pool)];
        pool.push(2);
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn workers_stop() {
    in_every_order(3, || {
        let pool = Pool::new();
        let workers = [Pool::start(&pool), Pool::start(&pool)];
        pool.workers.stop();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn a_waiting_thread_sees_the_end() {
    in_every_order(3, || {
        let status = Arc::new(Status::new(3));
        let waiters = [(); 2].map(|()| {
            let status = Arc::clone(&status);
            thread::spawn(move || {
                while !status.is_final() {
                    status.sleep();
                }
                status.get()
            })
        });
        status.set(1);
        status.set(-5);
        status.wake();
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), -5);
        }
    });
}
