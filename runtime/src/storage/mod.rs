//! Memory without the objects that it belongs to: `allocation.rs` is a block of it, `pages.rs` one
//! that comes from the system, `freed.rs` what is kept to be used again, `guarded.rs` one between
//! guard pages; `shared.rs` finds allocations by address, and `info.rs` says how they were made.

pub(crate) mod allocation;
pub(crate) mod freed;
pub(crate) mod guarded;
pub mod info;
pub(crate) mod pages;
pub mod shared;
