//! Launches of kernels: code, arguments and a range of work-groups as work for the engine, and what
//! kernels ask of the driver while they run.
//!
//! - `work.rs`: a launch as work. Open it first.
//! - `scratch.rs`: memory that a thread has ready for generated code.
//! - `device_runtime.rs`: what generated code may call; `printf_sink.rs`, `printf.rs`: what it
//!   prints, also by itself (`printf_buffer.rs`); `reporter.rs`: what is said when a launch fails.
//! - `host_call.rs`: device-side enqueue.
//! - `lifetime.rs`: what runs at the beginning and the end of a program's life.
//!
//! # Device-side enqueue
//!
//! What kernels ask for while they run ([`brolga_compiler::device`]).
//!
//! What a kernel enqueues is a command like any other: an [`Event`] with a launch or nothing to do,
//! with dependencies, run by the pool. It never runs inside the call that enqueues it, so nothing
//! recurses and no thread waits. What is different is
//!
//! - its *parent*, the launch that enqueued it. That is complete when all its children are
//!   ("Determining When a Parent Kernel has Finished Execution"): each event counts those that are
//!   not, and itself. A failure of a child is one of the parent;
//! - when it may begin: with `CLK_ENQUEUE_FLAGS_WAIT_KERNEL` when the parent's own work has
//!   *ended*, with `CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP` when the call of generated code that runs
//!   the work-group returns;
//! - its *tree*: the launch that the host enqueued and everything that came of it
//!   (`brolga_engine::tree`). Events are handles of a table of the tree's, since they can be passed
//!   to nothing else. When nothing of a tree can run any more, what it still waits for never comes,
//!   and fails.
//!
//! On-device queues are in `context/device_queues.rs`.

pub(crate) mod device_runtime;
pub(crate) mod host_call;
pub(crate) mod lifetime;
pub mod printf;
pub(crate) mod printf_buffer;
pub(crate) mod printf_sink;
pub(crate) mod reporter;
pub(crate) mod scratch;
pub(crate) mod work;
