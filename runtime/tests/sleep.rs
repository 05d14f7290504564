//! Every order in which a few threads can go to sleep and be woken, one after the other: [loom]
//! runs each test many times, and fails when all threads of it sleep. The code is `src/sleep.rs`
//! itself, on loom's atomics and a futex made of loom's locks.
//!
//! [loom]: https://docs.rs/loom

#[path = "../src/sleep.rs"]
mod sleep;

/// What `src/futex.rs` is for the driver.
mod futex {
    use loom::sync::atomic::{self, fence};
    use loom::sync::{Condvar, Mutex};

    pub use loom::sync::atomic::Ordering::SeqCst;

    /// Loom takes sequentially consistent accesses for less than they are (acquire and release),
    /// but knows such fences. With one on each side an access is what it should be.
    fn ordered<T>(order: atomic::Ordering, access: impl FnOnce() -> T) -> T {
        if order != SeqCst {
            return access();
        }
        fence(SeqCst);
        let result = access();
        fence(SeqCst);
        result
    }

    pub struct AtomicBool(atomic::AtomicBool);

    impl AtomicBool {
        pub fn new(value: bool) -> AtomicBool {
            AtomicBool(atomic::AtomicBool::new(value))
        }

        pub fn load(&self, order: atomic::Ordering) -> bool {
            ordered(order, || self.0.load(order))
        }

        pub fn store(&self, value: bool, order: atomic::Ordering) {
            ordered(order, || self.0.store(value, order));
        }
    }

    /// A word and its futex.
    pub struct AtomicU32 {
        word: atomic::AtomicU32,
        /// Held while a thread compares and goes to sleep, as in the kernel.
        asleep: Mutex<()>,
        woken: Condvar,
    }

    impl AtomicU32 {
        pub fn new(value: u32) -> AtomicU32 {
            AtomicU32 {
                word: atomic::AtomicU32::new(value),
                asleep: Mutex::new(()),
                woken: Condvar::new(),
            }
        }

        pub fn load(&self, order: atomic::Ordering) -> u32 {
            ordered(order, || self.word.load(order))
        }

        pub fn store(&self, value: u32, order: atomic::Ordering) {
            ordered(order, || self.word.store(value, order));
        }

        pub fn fetch_add(&self, value: u32, order: atomic::Ordering) -> u32 {
            ordered(order, || self.word.fetch_add(value, order))
        }

        pub fn fetch_sub(&self, value: u32, order: atomic::Ordering) -> u32 {
            ordered(order, || self.word.fetch_sub(value, order))
        }

        pub fn compare_exchange(
            &self,
            old: u32,
            new: u32,
            success: atomic::Ordering,
            failure: atomic::Ordering,
        ) -> Result<u32, u32> {
            ordered(success, || {
                self.word.compare_exchange(old, new, success, failure)
            })
        }
    }

    pub fn wait(word: &AtomicU32, value: u32) {
        let asleep = word.asleep.lock().unwrap();
        if word.load(SeqCst) == value {
            drop(word.woken.wait(asleep).unwrap());
        }
    }

    pub fn wake(word: &AtomicU32, threads: u32) {
        let asleep = word.asleep.lock().unwrap();
        match threads {
            0..3 => (0..threads).for_each(|_| word.woken.notify_one()),
            _ => word.woken.notify_all(),
        }
        drop(asleep);
    }
}

use futex::{AtomicU32, SeqCst};
use loom::sync::Arc;
use loom::thread;
use sleep::{Status, Workers};

/// Runs `model` in every order with so few preemptions. Most mistakes need one or two.
fn in_every_order(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

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
