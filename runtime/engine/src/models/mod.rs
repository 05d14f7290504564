//! What a few threads can do to the engine, in every order: [loom](https://docs.rs/loom) runs each
//! model many times, and fails when all threads of one sleep. The code is the engine's itself.

mod callbacks;
mod chunks;
mod pool;
mod progress;
mod schedule;
mod sleep;

use loom::sync::{Condvar, Mutex};
use std::sync::Arc;

/// What somebody waits for.
struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    fn new() -> Arc<Gate> {
        Arc::new(Gate {
            is_open: Mutex::new(false),
            opened: Condvar::new(),
        })
    }

    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    fn wait(&self) {
        let mut is_open = self.is_open.lock().unwrap();
        while !*is_open {
            is_open = self.opened.wait(is_open).unwrap();
        }
    }
}

/// Runs `model` in every order with so few preemptions. Most mistakes need one or two.
fn in_every_order(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}
