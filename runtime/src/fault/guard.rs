//! Copies, called as kernels are, so that memory that has gone from below them fails the command
//! alone.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::Ordering::{Relaxed, Release};

use brolga_compiler::Launch;

use super::arch;
use super::handler::INSTALLED;
use super::slots::ENTRY;

/// What [`guard`] calls.
struct GuardedCall<'a> {
    work: &'a dyn Fn(),
    panic: Cell<Option<Box<dyn Any + Send>>>,
}

/// Copies memory that may not be there any more. Whatever `work` does, it holds nothing that would
/// have to be given back.
///
/// Errors: the address that had no memory behind it (`SIGBUS`).
pub(crate) fn guard(work: &dyn Fn()) -> Result<(), usize> {
    let slot = ENTRY.try_with(|entry| entry.slot).ok().flatten();
    let Some(slot) = slot.filter(|slot| *INSTALLED && !slot.running.load(Relaxed)) else {
        work();
        return Ok(());
    };
    slot.begin.store(0, Relaxed);
    slot.end.store(0, Relaxed);
    slot.stop.store(ptr::null_mut(), Relaxed);
    slot.is_guard.store(true, Relaxed);
    let guarded = GuardedCall {
        work,
        panic: Cell::new(None),
    };
    // After what it is about, for a handler on this thread.
    slot.running.store(true, Release);
    // SAFETY: `enter` keeps to what is said of the arguments there.
    let faulted = unsafe {
        arch::call(
            enter,
            ptr::null(),
            ptr::from_ref(&guarded).cast_mut().cast(),
            0,
            0,
            &slot.resume_point,
        )
    };
    slot.running.store(false, Relaxed);
    if let Some(panic) = guarded.panic.take() {
        resume_unwind(panic);
    }
    match faulted {
        true => Err(slot.address.load(Relaxed)),
        false => Ok(()),
    }
}

/// A [`KernelFn`] that does what the [`GuardedCall`] says that `scratch` points to.
///
/// # Safety
/// `scratch` points to one.
unsafe extern "C" fn enter(_launch: *const Launch, scratch: *mut u8, _begin: u64, _end: u64) {
    // SAFETY: as above.
    let guarded = unsafe { &*scratch.cast::<GuardedCall<'_>>() };
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (guarded.work)())) {
        guarded.panic.set(Some(panic));
    }
}
