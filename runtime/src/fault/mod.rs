//! Kernels that fault: a wild pointer or a full stack ends the launch, not the process.
//!
//! ```text
//! call()            this thread's slot says: generated code from here to there, come back so
//!   generated code  faults
//!     handler()     finds the slot, records the fault, and lets the thread go on where `call`
//!                   returns
//! ```
//!
//! The handler looks for its thread in a table that threads enter before they first run a kernel,
//! since it must neither take locks nor allocate, which thread-local variables of a library may do.
//! Only faults of instructions of the kernel itself are taken, and of the C library's `memmove`
//! when the kernel called that: any other function that it calls may hold locks. `printf` reads the
//! strings that it is given by way of [`access`], which says when an access faults instead of
//! faulting; then the launch fails when the call of generated code returns. Host calls are given
//! addresses that the kernel has touched. In a program where another function takes the place of
//! `memmove`, as the address and thread sanitizers' does, a fault in that is not the kernel's.
//!
//! A signal that a process sends is no fault. It and everything else goes to the handler that was
//! there before, or has the effect that it had, and a handler that the application
//! installs later comes first. `BROLGA_FAULTS=0` installs none.
//!
//! Copies are called in the same way, for one kind of fault: memory that has gone from below them,
//! as that of a file which has become shorter ([`guard`]).
//!
//! Where the kernel was interrupted its memory is left as it is, which is all that is promised of a
//! launch that failed.
//!
//! # Orderings
//!
//! A slot's fields are written by its thread and read by handlers that run on that thread, for
//! which the order of the program is enough, as long as the compiler keeps it: `running` is stored
//! with release after the fields that it is about, and the call of generated code is opaque. Only
//! `thread`, `running` and `stop` are read by others: by [`interrupt_kernels`], which stores the
//! context's mark, then loads `running`, where the thread stores `running`, then loads the mark,
//! all sequentially consistent, so that one of the two sees the other's. `stop` is only compared.
//! A slot passes from thread to thread by `thread` (acquire, release). What was there before a
//! handler is released before that is installed, and acquired by it.
//!
//! - `mod.rs`: the call of a kernel, and how it comes to an end.
//! - `slots.rs`: the table. `handler.rs`: which faults are taken.
//! - `guard.rs`: copies. `access.rs`: strings.
//! - `interrupt.rs` has kernels of a terminated context end by the same way.
//! - `arch.rs` is what depends on the processor.

pub(crate) mod access;
mod arch;
mod guard;
mod handler;
mod interrupt;
mod slots;

use std::fmt;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use brolga_compiler::{KernelFn, Launch};

use handler::INSTALLED;
use slots::ENTRY;

pub(crate) use guard::guard;
pub(crate) use interrupt::interrupt_kernels;

/// Whether kernels can be left before their end on this processor.
pub(crate) const IS_SUPPORTED: bool = arch::IS_SUPPORTED;

/// What a kernel did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    signal: i32,
    /// `None` if the processor does not tell it, since it is not canonical: no memory can have it.
    address: Option<usize>,
    place: FaultSite,
    stack_is_full: bool,
}

/// Where a kernel did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultSite {
    /// So many bytes into its code.
    Code(usize),
    /// In a call of the function that is called so.
    Call(&'static str),
}

impl fmt::Display for FaultSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultSite::Code(offset) => write!(f, "{offset} bytes into its code"),
            FaultSite::Call(name) => write!(f, "in a call of {name}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.signal {
            libc::SIGSEGV | libc::SIGBUS if self.stack_is_full => {
                f.write_str("does not fit on the stack")?;
                return match self.address {
                    Some(address) => write!(f, " (address {address:#x})"),
                    None => Ok(()),
                };
            }
            libc::SIGSEGV | libc::SIGBUS => {
                return match self.address {
                    None => write!(
                        f,
                        "accessed an address that is not canonical, {}",
                        self.place
                    ),
                    Some(address) if !arch::is_canonical(address) => write!(
                        f,
                        "accessed address {address:#x}, which is not canonical, {}",
                        self.place
                    ),
                    Some(0) => write!(f, "accessed address 0, a null pointer, {}", self.place),
                    Some(address) => write!(f, "accessed address {address:#x}, {}", self.place),
                };
            }
            libc::SIGFPE => "divided by zero",
            _ => "came to an instruction that the processor does not have",
        };
        write!(f, "{what}, {}", self.place)
    }
}

impl Fault {
    /// What was accessed, if that is known.
    pub(crate) fn address(&self) -> Option<usize> {
        self.address
    }

    /// How many bytes into the kernel's code it happened, if not in a call.
    pub(crate) fn offset(&self) -> Option<usize> {
        match self.place {
            FaultSite::Code(offset) => Some(offset),
            FaultSite::Call(_) => None,
        }
    }
}

/// Why a kernel did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitReason {
    Fault(Fault),
    /// Its context was terminated.
    Terminated,
    /// It was left by [`leave`].
    Left,
}

/// In place of a signal where a kernel is left without one.
const LEFT: i32 = 0;

/// The kernel that this thread runs had a function of ours, `name`, access an address that it
/// cannot.
pub(crate) fn record(address: usize, name: &'static str) {
    let fault = Fault {
        signal: libc::SIGSEGV,
        address: Some(address),
        place: FaultSite::Call(name),
        stack_is_full: false,
    };
    // A thread that is ending has no kernel.
    let _ = ENTRY.try_with(|entry| entry.recorded.set(Some(fault)));
}

/// Calls a kernel whose machine code is at `code`, unless `stop` says that it is to end.
///
/// # Safety
/// That of [`KernelFn`].
pub(crate) unsafe fn call(
    kernel: KernelFn,
    code: Range<usize>,
    launch: &Launch,
    scratch: *mut u8,
    groups: Range<u64>,
    stop: Option<&AtomicBool>,
) -> Result<(), ExitReason> {
    // SAFETY: the caller's.
    let result = unsafe { call_caught(kernel, code, launch, scratch, groups, stop) };
    let recorded = ENTRY.try_with(|entry| entry.recorded.take());
    match recorded {
        Ok(Some(fault)) => result.and(Err(ExitReason::Fault(fault))),
        _ => result,
    }
}

/// As [`call`], without what functions recorded.
///
/// # Safety
/// That of [`KernelFn`].
unsafe fn call_caught(
    kernel: KernelFn,
    code: Range<usize>,
    launch: &Launch,
    scratch: *mut u8,
    groups: Range<u64>,
    stop: Option<&AtomicBool>,
) -> Result<(), ExitReason> {
    let plainly = || {
        // SAFETY: the caller's.
        unsafe { kernel(launch, scratch, groups.start, groups.end) };
        Ok(())
    };
    if code.is_empty() || !*INSTALLED && stop.is_none() {
        return plainly();
    }
    let slot = ENTRY.try_with(|entry| entry.slot).ok().flatten();
    // A kernel that runs while another is interrupted on the same thread is that one's.
    let Some(slot) = slot.filter(|slot| !slot.running.load(Relaxed)) else {
        return plainly();
    };
    slot.begin.store(code.start, Relaxed);
    slot.end.store(code.end, Relaxed);
    let stop_address = stop.map_or(ptr::null_mut(), |stop| ptr::from_ref(stop).cast_mut());
    slot.stop.store(stop_address, Relaxed);
    slot.is_guard.store(false, Relaxed);
    // A thread that wants the kernel to end says so first and then looks for threads that run it,
    // both sequentially consistent. So either it finds this one, or this one finds out here.
    slot.running.store(true, SeqCst);
    if stop.is_some_and(|stop| stop.load(SeqCst)) {
        slot.running.store(false, Relaxed);
        return Err(ExitReason::Terminated);
    }
    // SAFETY: the caller's; the slot is this thread's.
    let faulted = unsafe {
        arch::call(
            kernel,
            launch,
            scratch,
            groups.start,
            groups.end,
            &slot.resume_point,
        )
    };
    slot.running.store(false, Relaxed);
    match slot.signal.load(Relaxed) {
        _ if !faulted => Ok(()),
        interrupt::SIGNAL => Err(ExitReason::Terminated),
        LEFT => Err(ExitReason::Left),
        signal => Err(ExitReason::Fault(Fault {
            signal,
            address: slot
                .address_is_known
                .load(Relaxed)
                .then(|| slot.address.load(Relaxed)),
            place: FaultSite::Code(slot.offset.load(Relaxed)),
            stack_is_full: slot.stack_is_full.load(Relaxed),
        })),
    }
}

/// Whether kernels that fault are handled here.
pub(crate) fn is_handled() -> bool {
    *INSTALLED
}

/// Has this thread go on where the call of the kernel returns that it is running. Returns if it is
/// running none that it could leave. Between the kernel and here there must be nothing to give
/// back.
pub(crate) fn leave() {
    let slot = ENTRY.try_with(|entry| entry.slot).ok().flatten();
    if let Some(slot) = slot.filter(|slot| slot.running.load(Relaxed)) {
        slot.signal.store(LEFT, Relaxed);
        slot.running.store(false, Relaxed);
        // SAFETY: the call that the way back is of has not returned, or the slot would not say that
        // it is running.
        unsafe { arch::leave(&slot.resume_point) };
    }
}
