//! Memory objects and what moves bytes between them.
//!
//! Device memory *is* host memory: a buffer is an allocation, mapping one returns a pointer into
//! it, and every transfer is a `memcpy` by whichever thread executes the command.
//!
//! `buffer.rs` has the objects, `pipe.rs` and `image/` those of them that are pipes and images,
//! `sampler.rs` how images are read, `allocation.rs` the memory below them (with `mapping.rs` and
//! `freed.rs`), `external.rs` that which comes from elsewhere. `shared.rs` has the allocations that
//! are used by address, which `svm.rs`, `unified_svm.rs` and `usm.rs` make, one file for each
//! interface; `origin.rs` says what they are told. `rect.rs` is the arithmetic of rectangular
//! regions, `transfer.rs` the copying itself and `host.rs` the pointer type that stands for
//! application memory.

pub mod allocation;
pub mod buffer;
pub mod external;
mod freed;
pub mod host;
pub mod image;
mod mapping;
pub mod origin;
pub mod pipe;
pub mod rect;
pub mod sampler;
pub mod shared;
pub mod svm;
pub mod transfer;
pub mod unified_svm;
pub mod usm;
