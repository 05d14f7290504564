//! How much stack a thread has left. Spilled registers of kernels are on it, and a thread of the
//! application may have little: what does not fit there is for a worker.

use std::cell::Cell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Bytes of a worker's stack; untouched pages cost nothing.
pub const WORKER: usize = 16 << 20;
/// Bytes for whatever a kernel calls, and for what its caller does: printing, enqueueing, and what
/// a signal handler of the application may want.
const RESERVE: usize = 48 << 10;

thread_local! {
    /// Where this thread's stack is; `None` until it is asked for, empty if nobody knows.
    static STACK: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

/// The bytes that kernels may take of this thread's stack. `None` if nobody knows, as on a stack
/// that the application has switched to.
pub fn left() -> Option<u64> {
    let marker = MaybeUninit::<u8>::uninit();
    let here = marker.as_ptr() as usize;
    let (low, high) = STACK
        .try_with(|stack| match stack.get() {
            Some(known) => known,
            None => {
                let found = of_this_thread().map_or((0, 0), |range| (range.start, range.end));
                stack.set(Some(found));
                found
            }
        })
        .ok()?;
    (low..high)
        .contains(&here)
        .then(|| (here - low).saturating_sub(RESERVE) as u64)
}

/// The addresses of this thread's stack.
fn of_this_thread() -> Option<Range<usize>> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::zeroed();
    let mut low: *mut c_void = std::ptr::null_mut();
    let (mut size, mut guard) = (0, 0);
    // SAFETY: the thread is this one; what is initialized is destroyed.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let attributes = attributes.as_mut_ptr();
        let found = libc::pthread_attr_getstack(attributes, &mut low, &mut size) == 0
            && libc::pthread_attr_getguardsize(attributes, &mut guard) == 0;
        libc::pthread_attr_destroy(attributes);
        if !found {
            return None;
        }
    }
    let low = low as usize;
    Some(low + guard..low + size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_what_it_was_given() {
        for size in [256 << 10, 1 << 20, WORKER] {
            let thread = std::thread::Builder::new().stack_size(size);
            let left = thread.spawn(left).unwrap().join().unwrap().unwrap() as usize;
            // It may be the larger stack of a thread that has ended.
            assert!(left + RESERVE + (16 << 10) > size, "{left} of {size}");
        }
        assert!(left().is_some());
    }

    #[test]
    fn what_is_used_is_not_left() {
        #[inline(never)]
        fn deeper() -> u64 {
            let bytes = std::hint::black_box([1u8; 100_000]);
            left().unwrap() + u64::from(bytes[0])
        }
        let before = left().unwrap();
        assert!(deeper() + 100_000 <= before + 1000);
    }
}
