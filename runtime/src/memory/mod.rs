//! Memory objects and what moves bytes between them.
//!
//! Device memory *is* host memory: a buffer is an allocation, mapping one returns a pointer into
//! it, and every transfer is a `memcpy` by whichever thread executes the command.
//!
//! `buffer.rs` has the objects, `pipe.rs` and `image/` those of them that are pipes and images,
//! `sampler.rs` how images are read, `external.rs` memory that comes from elsewhere. `svm.rs`,
//! `unified_svm.rs` and `usm.rs` make allocations that are used by address, one file for each
//! interface. `rect.rs` is the arithmetic of rectangular regions, `pattern.rs` what fills repeat,
//! `transfer.rs` the copying itself and `host.rs` the pointer type that stands for application
//! memory. The memory below all of them is in `storage/`.

pub mod buffer;
pub mod external;
pub mod host;
pub mod image;
pub mod pattern;
pub mod pipe;
pub mod rect;
pub mod sampler;
pub mod svm;
pub mod transfer;
pub mod unified_svm;
pub mod usm;
