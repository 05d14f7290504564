//! Memory without the objects that it belongs to: `allocation.rs` is a block of it, `mapping.rs`
//! one that is mapped, `freed.rs` what is kept to be used again, `guarded.rs` one with pages around
//! it that fault; `shared.rs` finds allocations by address, and `origin.rs` says how they were
//! made.

pub(crate) mod allocation;
pub(crate) mod freed;
pub(crate) mod guarded;
pub(crate) mod mapping;
pub mod origin;
pub mod shared;
