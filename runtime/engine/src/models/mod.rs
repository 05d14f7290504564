//! What a few threads can do to the engine, in every order: [loom](https://docs.rs/loom) runs each
//! model many times, and fails when all threads of one sleep. The code is the engine's itself.

mod chunks;
mod pool;
mod progress;
mod schedule;
mod sleep;

/// Runs `model` in every order with so few preemptions. Most mistakes need one or two.
fn in_every_order(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}
