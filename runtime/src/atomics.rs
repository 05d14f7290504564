//! What [`crate::chunks`] is made of. `tests/chunks.rs` compiles that file on other ones.

pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
