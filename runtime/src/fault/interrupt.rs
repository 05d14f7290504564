//! Ending kernels that run: those of a context that was terminated.
//!
//! "The implementation cannot implement this extension by waiting for currently executing commands
//! to finish" (`clTerminateContextKHR`), and a kernel may never. So threads that run one are sent a
//! signal, whose handler has them go on where the call of the kernel returns, as after a fault. A
//! thread that is not in generated code just then, but in a function that a kernel calls, may hold
//! locks: it is left alone, and sent the signal again until it has come out.
//!
//! The signal is `SIGURG`, which is ignored by default: one that comes too late, when the thread
//! does something else, does nothing. A handler that the application had installed for it before is
//! called for its own; if it installs one later, kernels come to the end of their work-groups.

use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use brolga_host::notice;

use super::arch;
use super::handler::{install_handler, pass_on, stay_loaded};
use super::slots::{SLOTS, Slot};
use brolga_engine::Event;
use brolga_engine::domain::Domain;
use brolga_engine::system::threads;

pub(super) const SIGNAL: i32 = libc::SIGURG;

/// How often the caller of [`interrupt_kernels`] looks whether the threads have come out, before it
/// leaves that to a thread.
const LOOKS: u32 = 20;
/// Time between looks: at first, and at most.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(10));

/// The handler before this one. It stays for ever.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());

static INSTALLED: LazyLock<()> = LazyLock::new(|| {
    stay_loaded();
    // SAFETY: the handler keeps to what handlers may do.
    unsafe { install_handler(SIGNAL, handler, libc::SA_RESTART, &BEFORE) };
});

/// Has the kernels of a terminated context end that are running. They have by and by when this
/// returns.
pub(crate) fn interrupt_kernels(domain: &Arc<Domain<Event>>) {
    let Some(stop) = domain.termination() else {
        return;
    };
    if !has_running(stop) {
        return;
    }
    LazyLock::force(&INSTALLED);
    let mut pause = PAUSES.0;
    for _ in 0..LOOKS {
        send(stop);
        std::thread::sleep(pause);
        if !has_running(stop) {
            return;
        }
    }
    let kept = Arc::clone(domain);
    let spawned = threads::spawn("brolga-terminate", None, move || {
        while let Some(stop) = kept.termination()
            && has_running(stop)
        {
            send(stop);
            std::thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
        }
    });
    if let Err(error) = spawned {
        notice(format_args!(
            "kernels of a terminated context run to their end: {error}"
        ));
    }
}

/// Threads that run kernels which `stop` ends.
fn running(stop: &AtomicBool) -> impl Iterator<Item = &'static Slot> {
    SLOTS.iter().filter(move |slot| {
        slot.running.load(SeqCst) && ptr::eq(slot.stop.load(Relaxed), ptr::from_ref(stop))
    })
}

fn has_running(stop: &AtomicBool) -> bool {
    running(stop).next().is_some()
}

fn send(stop: &AtomicBool) {
    for slot in running(stop) {
        // SAFETY: a thread of this process, if it is still there.
        unsafe {
            libc::syscall(
                libc::SYS_tgkill,
                libc::getpid(),
                slot.thread.load(Relaxed),
                SIGNAL,
            );
        }
    }
}

extern "C" fn handler(signal: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    if let Some(slot) = Slot::running() {
        // SAFETY: it lives as long as the kernel runs, and that is what this thread is doing.
        let stop = unsafe { slot.stop.load(Relaxed).as_ref() };
        if stop.is_some_and(|stop| stop.load(SeqCst)) {
            // SAFETY: the system calls handlers with a context.
            let mut at = unsafe { arch::Interrupted::new(context) };
            if slot.code().contains(&at.instruction()) {
                slot.signal.store(signal, Relaxed);
                slot.running.store(false, Relaxed);
                at.resume_at(&slot.resume_point);
            }
            return;
        }
    }
    // SAFETY: it was stored before this handler was installed, for ever, and the system calls
    // handlers with such arguments.
    unsafe {
        if let Some(old) = BEFORE.load(Acquire).as_ref() {
            pass_on(old, signal, info, context);
        }
    }
}
