//! The engine that executes commands: what waits for what, which threads run what is ready, and
//! what follows from the end. It knows nothing of OpenCL's objects: a command is some
//! [`Work`](work::Work) that belongs to a [`Lane`](event::Lane), and what lies behind either is the
//! caller's.
//!
//! Each file imports from those before it only:
//!
//! ```text
//! error, system/       error codes; the machine: clock, threads, processors, NUMA nodes, stacks
//! sync/                atomics, locks and futexes, of the system or of loom
//! sleep                threads that sleep until a status changes or there is work
//! chunks, schedule     how threads share the units of one piece of work, or of a graph of them
//! weak_list, failures  lists of commands that others keep alive; failures to be told of
//! callbacks            functions of the application, and the thread that calls them
//! tree, work           what commands enqueue themselves; what a command does
//! domain               what commands have in common that may be ended together
//! entry, awaited       what a pool knows of commands; what a thread waits for
//! ready, pool          the commands that are ready, by line; the threads that run them
//! event/               a command: its dependencies, status, and what follows from its end
//! job, graph           one piece of work, or a graph of them, as what a command has to do
//! models/              all of the above, in every order that loom finds
//! ```
//!
//! Open `event/command.rs` for what a command is, `event/advance.rs` for its life, `pool.rs` for
//! the threads.
//!
//! With `cfg(loom)` the same files are compiled on loom's threads, atomics and locks: that is the
//! package in `loom/`, whose tests are in `models/`.
//!
//! `unsafe` is used for system calls and control registers (`system/`), and to write times where a
//! kernel asked for them (`event/command.rs`); and in tests (`models/`).

pub mod awaited;
pub mod callbacks;
pub mod chunks;
pub mod domain;
pub mod entry;
pub mod error;
pub mod event;
pub mod failures;
pub mod graph;
pub mod job;
pub mod pool;
mod ready;
mod schedule;
mod sleep;
mod sync;
pub mod system;
pub mod tree;
pub mod weak_list;
pub mod work;

#[cfg(all(test, loom))]
mod models;

pub use error::{CLResult, ClError};
pub use event::Event;
