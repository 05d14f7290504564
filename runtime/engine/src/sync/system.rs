//! The system's: atomics, locks, futexes, threads.

use std::hint::spin_loop;
use std::io;
pub(crate) use std::sync::atomic::Ordering;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize};
pub(crate) use std::thread::{LocalKey, yield_now};

pub(crate) use parking_lot::{Condvar, Mutex};
use rustix::thread::futex;

use crate::system::clock::timestamp;
use crate::system::threads;

/// Values that each thread has its own of.
macro_rules! locals {
    ($($(#[$attribute:meta])* static $name:ident: $type:ty = $value:expr;)*) => {
        std::thread_local! {
            $($(#[$attribute])* static $name: $type = const { $value };)*
        }
    };
}
pub(crate) use locals;

/// Sleeps until woken, or until something else happens; not at all if the word is not `value`.
pub(crate) fn futex_wait(word: &AtomicU32, value: u32) {
    // Woken, interrupted or too late: the caller looks again in any case.
    let _ = futex::wait(word, futex::Flags::PRIVATE, value, None);
}

/// Wakes as many threads.
pub(crate) fn futex_wake(word: &AtomicU32, threads: u32) {
    let _ = futex::wake(word, futex::Flags::PRIVATE, threads);
}

/// Starts a thread with so many bytes of stack.
pub(crate) fn spawn(name: &str, stack: usize, work: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    threads::spawn(name, Some(stack), work).map(|_| ())
}

/// Looks again and again, for so many nanoseconds at most, until something is found.
pub(crate) fn spin<T>(nanoseconds: u64, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let limit = timestamp() + nanoseconds;
    loop {
        let found = look();
        if found.is_some() || timestamp() >= limit {
            return found;
        }
        for _ in 0..16 {
            spin_loop();
        }
    }
}
