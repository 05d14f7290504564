//! The C programs of `tests/c`, each through the system's ICD loader and linked with the library directly.

use crate::support;

/// Atomics of many threads, the host's among them.
#[test]
fn atomics() {
    support::c_program("atomics.c");
}

/// Every entry point with null, zero, too large and wrongly typed arguments.
#[test]
fn bad_arguments() {
    support::c_program("bad_arguments.c");
}

/// Kernels enqueue kernels; the launch that the host enqueued is complete when all of them are, and fails if one does.
#[test]
fn device_queues() {
    support::c_program("device_queues.c");
}

/// A kernel's fault ends its launch, and nothing else.
#[test]
fn faults() {
    support::c_program("faults.c");
}

/// Buffers, sub-buffers, mapping, SVM, events, callbacks and native kernels do what they are for.
#[test]
fn memory_and_events() {
    support::c_program("memory_and_events.c");
}

/// Packets come out whole, in order and once; everything that takes a pipe refuses what is none.
#[test]
fn pipes() {
    support::c_program("pipes.c");
}

/// Every query has the type and size that the specification gives it.
#[test]
fn queries() {
    support::c_program("queries.c");
}

/// Programs are compiled apart and linked; their variables are initialised once, and kept.
#[test]
fn programs() {
    support::c_program("programs.c");
}
