//! Events: a command's dependencies, status, time stamps and callbacks, and what follows from its
//! end.
//!
//! - `progress.rs`: the status, and who is told of it.
//! - `lane.rs`: what a command has in common with those of its queue.
//! - `command.rs`: the event itself; what it waits for, and what waits for it.
//! - `advance.rs`: its life. What follows from a command's end for those that depend on it.
//! - `wait.rs`: threads that wait for it, ask for its status, or want to be called.

mod advance;
mod command;
mod lane;
mod progress;
mod wait;

pub use command::{Command, Event, Job, Lane, Owner, Profile};
pub use progress::EventCallback;
pub use wait::wait_all;

#[cfg(all(test, loom))]
pub(crate) use progress::{Progress, Registered};
