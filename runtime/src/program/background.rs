//! Builds that go on in the background, on threads of their own: each may take long, and pool
//! threads have commands to run.
//!
//! There are as many threads as compile at once on the processors; what is beyond that waits. A
//! thread goes when there is nothing left. The callback of a build is called on the thread that
//! built, which is then no longer counted: callbacks are the application's code and may block,
//! until another build has ended, too. Without a thread a build runs in the call that asks for it.

use std::collections::VecDeque;
use std::io;
use std::thread::JoinHandle;

use brolga_engine::system::{stack, threads};
use parking_lot::Mutex;

use crate::base::root::thread_count;

/// A build, and what is to be called after it.
struct Build {
    work: Box<dyn FnOnce() + Send>,
    callback: Box<dyn FnOnce() + Send>,
}

/// Builds that wait, in order, and threads that build.
struct Builds {
    waiting: VecDeque<Build>,
    threads: u32,
}

impl Builds {
    const fn none() -> Builds {
        Builds {
            waiting: VecDeque::new(),
            threads: 0,
        }
    }
}

/// What starts a thread.
trait Start: Fn(Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> + Send + Copy {}

impl<F> Start for F where F: Fn(Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> + Send + Copy
{}

/// Runs a build in the background, and the callback after it.
pub(super) fn in_background(
    work: impl FnOnce() + Send + 'static,
    callback: impl FnOnce() + Send + 'static,
) {
    static BUILDS: Mutex<Builds> = Mutex::new(Builds::none());
    let build = Build {
        work: Box::new(work),
        callback: Box::new(callback),
    };
    enqueue(&BUILDS, build, thread_count(), |work| {
        threads::spawn("brolga-build", Some(stack::WORKER), work)
    });
}

/// Has a thread run the build, a new one unless there are `most`; or runs it here if none can be
/// started.
fn enqueue(builds: &'static Mutex<Builds>, build: Build, most: u32, start: impl Start + 'static) {
    let mut state = builds.lock();
    state.waiting.push_back(build);
    if state.threads >= most {
        return;
    }
    state.threads += 1;
    drop(state);
    if start(Box::new(move || serve(builds, start))).is_err() {
        serve(builds, start);
    }
}

/// Builds until nothing waits. This thread has been counted.
fn serve(builds: &'static Mutex<Builds>, start: impl Start + 'static) {
    loop {
        let mut state = builds.lock();
        let Some(build) = state.waiting.pop_front() else {
            state.threads -= 1;
            return;
        };
        drop(state);
        (build.work)();
        // While the callback runs another thread takes this one's place, if there is more to build.
        let mut state = builds.lock();
        let is_wanted = !state.waiting.is_empty();
        if !is_wanted {
            state.threads -= 1;
        }
        drop(state);
        let is_replaced = is_wanted && start(Box::new(move || serve(builds, start))).is_ok();
        (build.callback)();
        if is_replaced || !is_wanted {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;
    use std::sync::atomic::Ordering::SeqCst;
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    fn builds() -> &'static Mutex<Builds> {
        Box::leak(Box::new(Mutex::new(Builds::none())))
    }

    fn on_thread(work: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        std::thread::Builder::new().spawn(work)
    }

    /// As when there can be no more threads: what it was to do is gone.
    fn on_none(work: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
        drop(work);
        Err(io::Error::from(io::ErrorKind::WouldBlock))
    }

    #[test]
    fn without_a_thread_the_build_runs_all_the_same() {
        let builds = builds();
        let (send, receive) = mpsc::channel();
        let after = send.clone();
        let build = Build {
            work: Box::new(move || send.send(1).unwrap()),
            callback: Box::new(move || after.send(2).unwrap()),
        };
        enqueue(builds, build, 3, on_none);
        assert_eq!(receive.try_iter().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(builds.lock().threads, 0);
    }

    #[test]
    fn there_are_as_many_threads_as_are_allowed() {
        let builds = builds();
        let (now, peak) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (send, receive) = mpsc::channel();
        for _ in 0..100 {
            let (now, peak, send) = (now.clone(), peak.clone(), send.clone());
            let build = Build {
                work: Box::new(move || {
                    peak.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                    std::thread::sleep(Duration::from_millis(1));
                    now.fetch_sub(1, SeqCst);
                }),
                callback: Box::new(move || send.send(()).unwrap()),
            };
            enqueue(builds, build, 3, on_thread);
        }
        for _ in 0..100 {
            receive.recv_timeout(Duration::from_secs(60)).unwrap();
        }
        assert!((1..=3).contains(&peak.load(SeqCst)));
    }

    /// A callback that waits for a build behind its own does not keep that from going on.
    #[test]
    fn a_callback_may_wait_for_another_build() {
        let builds = builds();
        let (send, receive) = mpsc::channel();
        let (done, wait) = mpsc::channel();
        let first = Build {
            work: Box::new(|| std::thread::sleep(Duration::from_millis(50))),
            callback: Box::new(move || {
                let waited = receive.recv_timeout(Duration::from_secs(60));
                done.send(waited.is_ok()).unwrap();
            }),
        };
        let second = Build {
            work: Box::new(move || send.send(()).unwrap()),
            callback: Box::new(|| ()),
        };
        enqueue(builds, first, 1, on_thread);
        enqueue(builds, second, 1, on_thread);
        assert!(wait.recv().unwrap());
    }
}
