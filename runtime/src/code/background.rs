//! What is compiled in the background, on threads of its own: each may take long, and pool threads
//! have commands to run. Builds come first, then kernels that are compiled ahead of their launches.
//!
//! There are as many threads as compile at once on the processors, and one fewer where nobody waits
//! for what they do; what is beyond that waits. A thread goes when there is nothing left. The
//! callback of a build is called on the thread that built, which is then no longer counted:
//! callbacks are the application's code and may block, until another build has ended, too. Without
//! a thread a build runs in the call that asks for it, and nothing is compiled ahead.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;

use brolga_engine::system::{stack, threads};
use parking_lot::{Mutex, MutexGuard};

use crate::base::root::thread_count;

/// A build, and what is to be called after it.
struct Build {
    work: Work,
    callback: Work,
}

/// What waits, each in order, and threads that build.
struct Builds {
    waiting: VecDeque<Build>,
    /// What nobody waits for, and by how many threads it may be done.
    ahead: VecDeque<Work>,
    most_ahead: u32,
    threads: u32,
}

type Work = Box<dyn FnOnce() + Send>;

static BUILDS: Mutex<Builds> = Mutex::new(Builds::none());

impl Builds {
    const fn none() -> Builds {
        Builds {
            waiting: VecDeque::new(),
            ahead: VecDeque::new(),
            most_ahead: 0,
            threads: 0,
        }
    }

    /// What a thread does next, which has been counted.
    fn next(&mut self) -> Option<Build> {
        if self.waiting.is_empty() && self.threads <= self.most_ahead {
            let work = self.ahead.pop_front()?;
            let callback = Box::new(|| ());
            return Some(Build { work, callback });
        }
        self.waiting.pop_front()
    }
}

/// What starts a thread.
trait Start: Fn(Work) -> io::Result<JoinHandle<()>> + Send + Copy {}

impl<F> Start for F where F: Fn(Work) -> io::Result<JoinHandle<()>> + Send + Copy {}

fn start_thread(work: Work) -> io::Result<JoinHandle<()>> {
    threads::spawn("brolga-build", Some(stack::WORKER), work)
}

/// Runs a build in the background, and the callback after it.
pub(crate) fn in_background(
    work: impl FnOnce() + Send + 'static,
    callback: impl FnOnce() + Send + 'static,
) {
    let build = Build {
        work: Box::new(work),
        callback: Box::new(callback),
    };
    enqueue(&BUILDS, build, thread_count(), start_thread);
}

/// Runs what nobody waits for where a processor is left for it, or never. It may panic.
pub(super) fn ahead(work: impl FnOnce() + Send + 'static) {
    let work = Box::new(|| {
        // Whoever needs what it makes makes it again, and is told.
        let _ = catch_unwind(AssertUnwindSafe(work));
    });
    enqueue_ahead(&BUILDS, work, thread_count() - 1, start_thread);
}

/// Has a thread run the build, a new one unless there are `most`; or runs it here if none can be
/// started.
fn enqueue(builds: &'static Mutex<Builds>, build: Build, most: u32, start: impl Start + 'static) {
    let mut state = builds.lock();
    state.waiting.push_back(build);
    if !start_one(builds, state, most, start) {
        serve(builds, start);
    }
}

/// As [`enqueue`] of what nobody waits for: no thread, no work.
fn enqueue_ahead(
    builds: &'static Mutex<Builds>,
    work: Work,
    most: u32,
    start: impl Start + 'static,
) {
    let mut state = builds.lock();
    state.most_ahead = most;
    if most == 0 {
        return;
    }
    state.ahead.push_back(work);
    if !start_one(builds, state, most, start) {
        let mut state = builds.lock();
        state.threads -= 1;
        state.ahead.clear();
    }
}

/// Starts a thread unless there are `most`. False if it was counted and there can be none.
fn start_one(
    builds: &'static Mutex<Builds>,
    mut state: MutexGuard<'_, Builds>,
    most: u32,
    start: impl Start + 'static,
) -> bool {
    if state.threads >= most {
        return true;
    }
    state.threads += 1;
    drop(state);
    start(Box::new(move || serve(builds, start))).is_ok()
}

/// Builds until nothing waits. This thread has been counted.
fn serve(builds: &'static Mutex<Builds>, start: impl Start + 'static) {
    loop {
        let mut state = builds.lock();
        let Some(build) = state.next() else {
            state.threads -= 1;
            return;
        };
        drop(state);
        (build.work)();
        // While the callback runs another thread takes this one's place, if there is more to build.
        let mut state = builds.lock();
        let is_wanted = !state.waiting.is_empty() || !state.ahead.is_empty();
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

    fn on_thread(work: Work) -> io::Result<JoinHandle<()>> {
        std::thread::Builder::new().spawn(work)
    }

    /// As when there can be no more threads: what it was to do is gone.
    fn on_none(work: Work) -> io::Result<JoinHandle<()>> {
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

    #[test]
    fn builds_come_before_what_nobody_waits_for() {
        let builds = builds();
        let (send, receive) = mpsc::channel();
        let (go, wait) = mpsc::channel::<()>();
        let first = send.clone();
        let ahead = Box::new(move || {
            first.send(0).unwrap();
            wait.recv().unwrap();
        });
        enqueue_ahead(builds, ahead, 1, on_thread);
        let limit = Duration::from_secs(60);
        assert_eq!(receive.recv_timeout(limit), Ok(0));
        for number in 1..=2 {
            let (work, callback) = (send.clone(), send.clone());
            let later = send.clone();
            let ahead = Box::new(move || later.send(100 * number).unwrap());
            enqueue_ahead(builds, ahead, 1, on_thread);
            let build = Build {
                work: Box::new(move || work.send(number).unwrap()),
                callback: Box::new(move || callback.send(10 * number).unwrap()),
            };
            enqueue(builds, build, 1, on_thread);
        }
        go.send(()).unwrap();
        let order: Vec<i32> = (0..6)
            .map(|_| receive.recv_timeout(limit).unwrap())
            .collect();
        let place = |what| order.iter().position(|&entry| entry == what);
        assert!(
            place(2) < place(100) && place(100) < place(200),
            "{order:?}"
        );
    }

    #[test]
    fn nothing_is_done_ahead_without_a_processor_or_a_thread() {
        let builds = builds();
        let never = || Box::new(|| panic!("it runs"));
        enqueue_ahead(builds, never(), 0, on_thread);
        enqueue_ahead(builds, never(), 3, on_none);
        let state = builds.lock();
        assert_eq!((state.threads, state.ahead.len()), (0, 0));
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
