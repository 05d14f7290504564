//! What handlers know of threads: a table that each thread enters before it first runs a kernel.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicUsize};

use super::{Fault, arch};
use brolga_engine::system::threads::MAX_THREADS;

/// Threads that have been in kernels and have not ended; more run without protection. So many
/// workers `BROLGA_THREADS` may ask for, and as many threads of the application.
const THREADS: usize = 2 * MAX_THREADS as usize;

/// Bytes of a stack for the handler: the registers that the kernel saves there take some thousand.
const HANDLER_STACK: usize = 64 << 10;

/// What the handler knows of a thread. No two threads write to one cache line.
#[repr(align(64))]
pub(super) struct Slot {
    /// 0 if the slot is free.
    pub(super) thread: AtomicI32,
    /// Whether generated code is running.
    pub(super) running: AtomicBool,
    pub(super) begin: AtomicUsize,
    pub(super) end: AtomicUsize,
    /// What says that the kernel is to end; null if nothing does. It lives as long as the kernel
    /// runs.
    pub(super) stop: AtomicPtr<AtomicBool>,
    /// Whether only `SIGBUS` is a fault of what is running.
    pub(super) is_guard: AtomicBool,
    /// Where the thread goes on after a fault.
    pub(super) resume_point: arch::ResumePoint,
    pub(super) signal: AtomicI32,
    pub(super) address: AtomicUsize,
    /// The processor does not tell an address that is not canonical.
    pub(super) address_is_known: AtomicBool,
    pub(super) offset: AtomicUsize,
    pub(super) stack_is_full: AtomicBool,
}

impl Slot {
    pub(super) const fn free() -> Slot {
        Slot {
            thread: AtomicI32::new(0),
            running: AtomicBool::new(false),
            begin: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            stop: AtomicPtr::new(ptr::null_mut()),
            is_guard: AtomicBool::new(false),
            resume_point: arch::ResumePoint::none(),
            signal: AtomicI32::new(0),
            address: AtomicUsize::new(0),
            address_is_known: AtomicBool::new(false),
            offset: AtomicUsize::new(0),
            stack_is_full: AtomicBool::new(false),
        }
    }

    /// That of this thread, if it is running generated code. For handlers.
    pub(super) fn running() -> Option<&'static Slot> {
        // SAFETY: `gettid` has no conditions.
        let thread = unsafe { libc::syscall(libc::SYS_gettid) } as i32;
        SLOTS
            .iter()
            .find(|slot| slot.thread.load(Relaxed) == thread && slot.running.load(Relaxed))
    }

    /// Where the code is that is running.
    pub(super) fn code(&self) -> Range<usize> {
        self.begin.load(Relaxed)..self.end.load(Relaxed)
    }
}

pub(super) static SLOTS: [Slot; THREADS] = [const { Slot::free() }; THREADS];

/// This thread's entry in the table, and the stack that the handler has on it.
pub(super) struct ThreadEntry {
    pub(super) slot: Option<&'static Slot>,
    stack: *mut libc::c_void,
    /// What the running kernel did in a function that it called.
    pub(super) recorded: Cell<Option<Fault>>,
}

thread_local! {
    pub(super) static ENTRY: ThreadEntry = ThreadEntry::new();
}

impl ThreadEntry {
    fn new() -> ThreadEntry {
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        let slot = SLOTS.iter().find(|slot| {
            let taken = slot.thread.compare_exchange(0, thread, Acquire, Relaxed);
            taken.is_ok()
        });
        ThreadEntry {
            slot,
            stack: give_handler_stack(),
            recorded: Cell::new(None),
        }
    }
}

impl Drop for ThreadEntry {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            slot.thread.store(0, Release);
        }
        if !self.stack.is_null() {
            let none = libc::stack_t {
                ss_sp: ptr::null_mut(),
                ss_flags: libc::SS_DISABLE,
                ss_size: 0,
            };
            // SAFETY: the handler does not run, so its stack may go.
            unsafe {
                libc::sigaltstack(&none, ptr::null_mut());
                libc::munmap(self.stack, HANDLER_STACK);
            }
        }
    }
}

/// A stack for handlers, unless the thread has one; null if there is none to give back.
fn give_handler_stack() -> *mut libc::c_void {
    let mut old = MaybeUninit::<libc::stack_t>::zeroed();
    // SAFETY: `old` is valid for writes, and zeros are a valid `stack_t`; the mapping is new.
    unsafe {
        libc::sigaltstack(ptr::null(), old.as_mut_ptr());
        if old.assume_init().ss_flags & libc::SS_DISABLE == 0 {
            return ptr::null_mut();
        }
        let stack = libc::mmap(
            ptr::null_mut(),
            HANDLER_STACK,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if stack == libc::MAP_FAILED {
            return ptr::null_mut();
        }
        let new = libc::stack_t {
            ss_sp: stack,
            ss_flags: 0,
            ss_size: HANDLER_STACK,
        };
        libc::sigaltstack(&new, ptr::null_mut());
        stack
    }
}
