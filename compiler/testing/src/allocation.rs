//! How much memory is allocated: a measure of what something takes that is the same each time, and
//! that whatever copies things has to ask for.
//!
//! A test program that measures has
//!
//! ```ignore
//! #[global_allocator]
//! static ALLOCATOR: Counting = Counting;
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that this thread has allocated.
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting.
pub struct Counting;

fn count(bytes: usize) {
    // Threads that end may still allocate.
    let _ = ALLOCATED.try_with(|all| all.set(all.get() + bytes as u64));
}

// SAFETY: all is left to the system's allocator; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(ptr, layout, size) }
    }
}

/// What `work` gives, and the bytes that this thread has allocated meanwhile, in all. Asks for
/// [`Counting`].
pub fn measured<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = ALLOCATED.get();
    let done = work();
    let taken = ALLOCATED.get() - before;
    assert!(taken > 0, "nothing is counted");
    (done, taken)
}

/// Four times as long an input takes not much more than four times the memory. `memory` says what
/// one of a length takes.
pub fn assert_linear(name: &str, length: usize, memory: impl Fn(usize) -> u64) {
    let [less, more] = [length, 4 * length].map(memory);
    let growth = more as f64 / less as f64;
    assert!(
        growth < 6.0,
        "{name}: {less} bytes at {length}, {growth:.1} times as much at four times that"
    );
}
