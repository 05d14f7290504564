//! What [`crate::sleep`] is made of. `tests/sleep.rs` compiles that file on other ones.

pub(crate) use std::sync::atomic::Ordering::SeqCst;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32};

use rustix::thread::futex;

/// Sleeps until woken, or until something else happens; not at all if the word is not `value`.
pub(crate) fn wait(word: &AtomicU32, value: u32) {
    // Woken, interrupted or too late: the caller looks again in any case.
    let _ = futex::wait(word, futex::Flags::PRIVATE, value, None);
}

/// Wakes as many threads.
pub(crate) fn wake(word: &AtomicU32, threads: u32) {
    let _ = futex::wake(word, futex::Flags::PRIVATE, threads);
}
