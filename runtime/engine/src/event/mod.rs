//! Events: a command's dependencies, status, time stamps and callbacks, and what follows from its
//! end.
//!
//! - `progress.rs`: the status, and what observes it.
//! - `links.rs`: what waits for the end of a command.
//! - `lane.rs`: what a command has in common with those of its queue.
//! - `command.rs`: the event itself, and what it waits for.
//! - `placeholder.rs`: events without work, as user events are.
//! - `advance.rs`: the states of a command, and what follows from its end for those that depend on
//!   it.
//! - `wait.rs`: waiting for it, queries of its status, and registration of callbacks.

mod advance;
mod command;
mod lane;
mod links;
mod placeholder;
mod progress;
mod wait;

pub use command::{Command, Event, Job, Lane, Owner, Profile};
pub use progress::EventCallback;
pub use wait::wait_all;

#[cfg(all(test, loom))]
pub(crate) use progress::{Progress, Registered};
