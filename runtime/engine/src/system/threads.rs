//! Threads of the driver in a process that is the application's.
//!
//! *Signals.* The handlers of the application's signals run on its own threads: those of the driver
//! block all but what a thread does to itself, what ends kernels (`SIGURG`), and what profilers
//! send (`SIGPROF`).
//!
//! *Forks.* A child process has none of the threads, and locks may be held for ever that they held.
//! [`are_gone`] says so, and every entry point of the API fails then. A child of a process that had
//! started no thread may use the driver.
//!
//! *Floating-point environment.* A thread begins with that of the one that starts it, which is the
//! default one (`float_env.rs`).

use std::io;
use std::mem::MaybeUninit;
use std::sync::Once;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{Builder, JoinHandle};

use super::{float_env, nodes};

/// More workers than this `BROLGA_THREADS` cannot ask for.
pub const MAX_THREADS: u32 = 1024;

/// Set in a child process that has lost threads.
static GONE: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked from one with threads of the driver, and has none.
pub fn are_gone() -> bool {
    GONE.load(Relaxed)
}

/// What a thread does to itself, ends kernels, or is of profilers.
const TAKEN: [i32; 9] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGSYS,
    libc::SIGURG,
    libc::SIGPROF,
];

/// Starts a thread with so many bytes of stack, or as many as is usual.
pub fn spawn(
    name: &str,
    stack: Option<usize>,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    static WATCH_FORKS: Once = Once::new();
    // SAFETY: the handler does nothing but store to a static.
    WATCH_FORKS.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(after_fork));
    });
    let builder = Builder::new().name(name.to_owned());
    let builder = stack.into_iter().fold(builder, Builder::stack_size);
    debug_assert!(float_env::is_default());
    // A thread begins with the masks of the one that starts it.
    let work = nodes::leaving(work);
    without_signals(|| builder.spawn(work))
}

/// In the child process.
unsafe extern "C" fn after_fork() {
    GONE.store(true, Relaxed);
}

/// Calls `work` with all signals blocked but [`TAKEN`].
fn without_signals<R>(work: impl FnOnce() -> R) -> R {
    let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the sets are initialized by what is called with them first.
    unsafe {
        let mut blocked = MaybeUninit::<libc::sigset_t>::zeroed();
        libc::sigfillset(blocked.as_mut_ptr());
        for signal in TAKEN {
            libc::sigdelset(blocked.as_mut_ptr(), signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, blocked.as_ptr(), before.as_mut_ptr());
    }
    let result = work();
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signals that this thread blocks.
    fn blocked() -> Vec<i32> {
        let mut mask = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: the set is written before it is read.
        unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), mask.as_mut_ptr());
            let is_blocked = |&signal: &i32| libc::sigismember(mask.as_ptr(), signal) == 1;
            (1..32).filter(is_blocked).collect()
        }
    }

    #[test]
    fn a_thread_of_the_driver_blocks_what_is_sent_to_the_process() {
        let before = blocked();
        let (send, receive) = std::sync::mpsc::channel();
        let thread = spawn("test", None, move || send.send(blocked()).unwrap()).unwrap();
        let mask = receive.recv().unwrap();
        thread.join().unwrap();
        for signal in [
            libc::SIGINT,
            libc::SIGTERM,
            libc::SIGALRM,
            libc::SIGCHLD,
            libc::SIGUSR1,
        ] {
            assert!(mask.contains(&signal), "{signal}");
        }
        assert!(
            TAKEN.iter().all(|signal| !mask.contains(signal)),
            "{mask:?}"
        );
        assert_eq!(
            blocked(),
            before,
            "the thread that started it has its own mask again"
        );
    }
}
