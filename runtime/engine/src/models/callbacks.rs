//! The threads that call callbacks, in every order in which callbacks come due, commands are given
//! to them, and one takes over from another.

use std::sync::Arc;

use loom::sync::atomic::{AtomicU32, Ordering::SeqCst};
use loom::thread;

use super::{Gate, in_every_order};
use crate::callbacks::{Callback, Callbacks, ShortCommands};

/// What a thread does that is asked to run commands.
struct Commands<F>(F);

impl<F: Fn() + Send + Sync> ShortCommands for Commands<F> {
    fn run_short(&self) {
        (self.0)();
    }
}

/// A callback that opens a gate.
fn opening(gate: &Arc<Gate>) -> Callback {
    let gate = Arc::clone(gate);
    Box::new(move || gate.open())
}

/// A callback that waits for a gate.
fn waiting(gate: &Arc<Gate>) -> Callback {
    let gate = Arc::clone(gate);
    Box::new(move || gate.wait())
}

/// Callbacks of which the thread is there, and perhaps asleep.
fn started() -> Arc<Callbacks> {
    let callbacks = Callbacks::new();
    let called = Gate::new();
    callbacks.push(opening(&called));
    called.wait();
    callbacks
}

/// Has the thread do `commands`; if it is busy, this one does it after `meanwhile`, as a worker
/// would.
fn ask(
    callbacks: &Callbacks,
    commands: impl Fn() + Send + Sync + 'static,
    meanwhile: impl FnOnce(),
) {
    let commands = Arc::new(Commands(commands));
    let is_asked = callbacks.ask(Arc::clone(&commands) as Arc<dyn ShortCommands>);
    meanwhile();
    if !is_asked {
        commands.run_short();
    }
}

#[test]
fn each_callback_is_called_once() {
    in_every_order(2, || {
        let callbacks = Callbacks::new();
        let calls = Arc::new(AtomicU32::new(0));
        let push = |callbacks: &Arc<Callbacks>, calls: &Arc<AtomicU32>| {
            let calls = Arc::clone(calls);
            callbacks.push(Box::new(move || {
                calls.fetch_add(1, SeqCst);
            }))
        };
        let (others, counted) = (Arc::clone(&callbacks), Arc::clone(&calls));
        let other = thread::spawn(move || push(&others, &counted));
        let own = push(&callbacks, &calls);
        let last = other.join().unwrap().max(own);
        callbacks.wait_run(last);
        assert_eq!(calls.load(SeqCst), 2);
        callbacks.stop();
    });
}

/// A thread that is asked does run commands, also if it was about to sleep, or did.
#[test]
fn a_thread_that_is_asked_runs_commands() {
    in_every_order(2, || {
        let callbacks = started();
        let ran = Gate::new();
        let open = Arc::clone(&ran);
        ask(&callbacks, move || open.open(), || ());
        ran.wait();
        callbacks.stop();
    });
}

/// A command waits for a callback that comes due before it begins, or while it runs.
#[test]
fn a_command_does_not_hold_up_callbacks() {
    in_every_order(2, || {
        let callbacks = started();
        let (called, ran) = (Gate::new(), Gate::new());
        let (all, wait, open) = (
            Arc::clone(&callbacks),
            Arc::clone(&called),
            Arc::clone(&ran),
        );
        let command = move || {
            all.make_way();
            wait.wait();
            open.open();
        };
        ask(&callbacks, command, || {
            callbacks.push(opening(&called));
        });
        ran.wait();
        callbacks.stop();
    });
}

/// A command waits for a callback that it makes due itself.
#[test]
fn a_command_does_not_hold_up_its_own_callback() {
    in_every_order(2, || {
        let callbacks = started();
        let (called, ran) = (Gate::new(), Gate::new());
        let (all, open) = (Arc::clone(&callbacks), Arc::clone(&ran));
        let command = move || {
            all.push(opening(&called));
            all.make_way();
            called.wait();
            open.open();
        };
        ask(&callbacks, command, || ());
        ran.wait();
        callbacks.stop();
    });
}

/// A callback waits for a command that was given to the thread before the callback came due, or
/// after.
#[test]
fn a_callback_does_not_hold_up_commands() {
    for is_first in [true, false] {
        in_every_order(2, move || {
            let callbacks = started();
            let ran = Gate::new();
            let open = Arc::clone(&ran);
            let push = || {
                callbacks.push(waiting(&ran));
            };
            if is_first {
                push();
                ask(&callbacks, move || open.open(), || ());
            } else {
                ask(&callbacks, move || open.open(), push);
            }
            ran.wait();
            callbacks.stop();
        });
    }
}

/// A callback that waits for the next one lets another thread call that: a new one, and then the
/// one that is spare.
#[test]
fn a_callback_that_waits_lets_another_thread_call() {
    in_every_order(1, || {
        let callbacks = started();
        for _ in 0..2 {
            let (called, ended) = (Gate::new(), Gate::new());
            let (all, wait, end) = (
                Arc::clone(&callbacks),
                Arc::clone(&called),
                Arc::clone(&ended),
            );
            callbacks.push(Box::new(move || {
                all.about_to_wait();
                wait.wait();
                end.open();
            }));
            callbacks.push(opening(&called));
            ended.wait();
        }
        callbacks.stop();
    });
}

/// A callback that is alone with what another one of these counts.
fn alone(busy: &Arc<AtomicU32>, then: &Arc<Gate>) -> Callback {
    let (busy, then) = (Arc::clone(busy), Arc::clone(then));
    Box::new(move || {
        assert_eq!(busy.fetch_add(1, SeqCst), 0);
        thread::yield_now();
        busy.fetch_sub(1, SeqCst);
        then.open();
    })
}

/// A thread that comes back from a callback in which it has waited calls no others beside the one
/// that has taken its place.
#[test]
fn callbacks_are_called_one_at_a_time() {
    in_every_order(1, || {
        let callbacks = Callbacks::new();
        let called = Gate::new();
        let (all, wait) = (Arc::clone(&callbacks), Arc::clone(&called));
        callbacks.push(Box::new(move || {
            all.about_to_wait();
            wait.wait();
        }));
        callbacks.push(opening(&called));
        let busy = Arc::new(AtomicU32::new(0));
        let ends = [Gate::new(), Gate::new()];
        for end in &ends {
            callbacks.push(alone(&busy, end));
        }
        ends.iter().for_each(|end| end.wait());
        callbacks.stop();
    });
}

/// Of two threads that come back from callbacks in which they have waited one takes over the next
/// time.
#[test]
fn a_spare_thread_takes_over_whichever_there_were() {
    in_every_order(0, || {
        let callbacks = Callbacks::new();
        let push_waiting = |called: &Arc<Gate>, ended: &Arc<Gate>| {
            let (all, wait, end) = (
                Arc::clone(&callbacks),
                Arc::clone(called),
                Arc::clone(ended),
            );
            callbacks.push(Box::new(move || {
                all.about_to_wait();
                wait.wait();
                end.open();
            }));
        };
        let (called, ended) = (Gate::new(), [Gate::new(), Gate::new()]);
        ended.iter().for_each(|ended| push_waiting(&called, ended));
        callbacks.push(opening(&called));
        ended.iter().for_each(|ended| ended.wait());
        let (called, ended) = (Gate::new(), Gate::new());
        push_waiting(&called, &ended);
        callbacks.push(opening(&called));
        ended.wait();
        callbacks.stop();
    });
}

/// A wait ends when the callback has, not when one before it has.
#[test]
fn a_wait_for_a_callback_ends_with_it() {
    in_every_order(2, || {
        let callbacks = started();
        let calls = Arc::new(AtomicU32::new(0));
        let last = [(); 2].map(|()| {
            let calls = Arc::clone(&calls);
            callbacks.push(Box::new(move || {
                calls.fetch_add(1, SeqCst);
            }))
        });
        callbacks.wait_run(last[1]);
        assert_eq!(calls.load(SeqCst), 2);
        callbacks.stop();
    });
}

/// No thread is asked that is not there, and none that has something to call.
#[test]
fn a_thread_that_has_something_to_call_is_not_asked() {
    in_every_order(2, || {
        let callbacks = Callbacks::new();
        let ran = Gate::new();
        let open = Arc::clone(&ran);
        ask(&callbacks, move || open.open(), || ());
        ran.wait();
        let ran = Gate::new();
        callbacks.push(waiting(&ran));
        let open = Arc::clone(&ran);
        ask(&callbacks, move || open.open(), || ());
        ran.wait();
        callbacks.stop();
    });
}
