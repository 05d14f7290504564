//! Memory objects and what moves bytes between them.
//!
//! Device memory *is* host memory: a buffer is an allocation, mapping one returns a pointer into
//! it, and every transfer is a `memcpy` by whichever thread executes the command.
//!
//! `object.rs` has what all memory objects have in common, `flags.rs` the rules of their flags and
//! `mappings.rs` what of them is mapped; `buffer.rs`, `pipe.rs` and `image/` have the three kinds,
//! `sampler.rs` how images are read, `external.rs` memory that comes from elsewhere. `svm.rs`,
//! `unified_svm.rs` and `usm.rs` make allocations that are used by address, one file for each
//! interface. `rect.rs` is the arithmetic of rectangular regions, `pattern.rs` what fills repeat,
//! `transfer.rs` the copying itself and `host.rs` the pointer type that stands for application
//! memory. The memory below all of them is in `storage/`.

pub mod buffer;
pub mod external;
mod flags;
pub mod host;
pub mod image;
pub(crate) mod mappings;
pub mod object;
pub mod pattern;
pub mod pipe;
pub mod rect;
pub mod sampler;
pub mod svm;
pub mod transfer;
pub mod unified_svm;
pub mod usm;
