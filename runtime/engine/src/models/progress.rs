//! The progress of a command in every order in which threads can register callbacks, change its
//! status and wait for it, on the atomics of [loom](https://docs.rs/loom).

use super::in_every_order;
use crate::event::{Progress, Registered};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use loom::thread;
use opencl_sys::{CL_COMPLETE, CL_QUEUED, CL_RUNNING, CL_SUBMITTED};

/// Callbacks are numbers; so is what depends on the command.
struct Command {
    progress: Progress<Vec<usize>, usize>,
    /// How often each callback was called.
    calls: [AtomicU32; 3],
    /// How often each dependent was let go.
    resolved: [AtomicU32; 2],
    /// Callbacks that have come due.
    due: AtomicU64,
}

impl Command {
    fn new() -> Arc<Command> {
        Arc::new(Command {
            progress: Progress::new(CL_QUEUED, Vec::new()),
            calls: Default::default(),
            resolved: Default::default(),
            due: AtomicU64::new(0),
        })
    }

    /// Calls callbacks, and notes which was the last to come due, as an event does.
    fn call(&self, callbacks: impl IntoIterator<Item = Registered<usize>>, reached: i32) {
        for (status, callback) in callbacks {
            assert!(reached <= status, "{reached}");
            self.calls[callback].fetch_add(1, SeqCst);
            let ticket = self.due.fetch_add(1, SeqCst) + 1;
            self.progress.note_due(ticket);
        }
    }

    fn register(&self, status: i32, callback: usize) {
        if let Err((reached, callback)) = self.progress.register(status, callback) {
            self.call([(status, callback)], reached);
        }
    }

    fn depend(&self, dependent: usize) {
        let added = self.progress.unless_final(|links| links.push(dependent));
        if added.is_err() {
            self.resolved[dependent].fetch_add(1, SeqCst);
        }
    }

    fn reach(&self, status: i32) {
        if let Some(due) = self.progress.reach(status) {
            self.call(due, status);
        }
    }

    fn complete(&self, status: i32) {
        let (dependents, due) = self
            .progress
            .make_final(status, |links, _| std::mem::take(links));
        self.call(due, status);
        self.progress.told_all();
        for dependent in dependents {
            self.resolved[dependent].fetch_add(1, SeqCst);
        }
    }

    fn calls(&self) -> Vec<u32> {
        self.calls.iter().map(|calls| calls.load(SeqCst)).collect()
    }
}

#[test]
fn each_callback_is_called_once() {
    in_every_order(3, || {
        let command = Command::new();
        let other = Arc::clone(&command);
        let runner = thread::spawn(move || {
            other.reach(CL_SUBMITTED);
            other.reach(CL_RUNNING);
            other.complete(CL_COMPLETE);
        });
        for (callback, status) in [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE]
            .into_iter()
            .enumerate()
        {
            command.register(status, callback);
        }
        runner.join().unwrap();
        assert_eq!(command.calls(), [1, 1, 1]);
    });
}

/// One thread finds the command begun while another completes it, perhaps with an error.
#[test]
fn threads_that_change_the_status_share_the_callbacks() {
    for last in [CL_COMPLETE, -5] {
        in_every_order(3, move || {
            let command = Command::new();
            command.register(CL_RUNNING, 0);
            command.register(CL_COMPLETE, 1);
            let threads = [
                (|command: &Command, _| command.reach(CL_RUNNING)) as fn(&Command, i32),
                |command, last| command.complete(last),
            ];
            let threads = threads.map(|change| {
                let command = Arc::clone(&command);
                thread::spawn(move || change(&command, last))
            });
            command.register(CL_COMPLETE, 2);
            for thread in threads {
                thread.join().unwrap();
            }
            assert_eq!(command.calls(), [1, 1, 1]);
            assert_eq!(command.progress.status(), last);
        });
    }
}

#[test]
fn each_dependent_is_let_go_once() {
    in_every_order(3, || {
        let command = Command::new();
        let other = Arc::clone(&command);
        let runner = thread::spawn(move || other.complete(CL_COMPLETE));
        command.depend(0);
        command.depend(1);
        runner.join().unwrap();
        let resolved: Vec<_> = command.resolved.iter().map(|it| it.load(SeqCst)).collect();
        assert_eq!(resolved, [1, 1]);
    });
}

/// A thread that waits knows the callbacks that it registered itself.
#[test]
fn a_waiting_thread_knows_the_last_callback() {
    in_every_order(3, || {
        let command = Command::new();
        let other = Arc::clone(&command);
        let runner = thread::spawn(move || {
            other.reach(CL_SUBMITTED);
            other.complete(CL_COMPLETE);
        });
        command.register(CL_SUBMITTED, 0);
        command.register(CL_COMPLETE, 1);
        while !command.progress.is_final() {
            command.progress.sleep();
        }
        assert_eq!(command.progress.last_due(), 2);
        runner.join().unwrap();
    });
}
