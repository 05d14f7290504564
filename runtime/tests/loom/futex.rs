//! What `src/futex.rs` is for the driver: atomics, and a futex made of loom's locks.

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
