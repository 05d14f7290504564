//! What [`crate::chunks`], the schedule of a graph and the progress of an event are made of. Their
//! tests compile them on those of loom (`tests/loom/`).

pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
pub(crate) use std::thread::yield_now;

pub(crate) use parking_lot::Mutex;
