//! Code for kernels, and the ranges that it is called for: `executable.rs` has a built program's
//! kernels and makes their code, ahead of launches too (`credit.rs`), `background.rs` has threads
//! that compile, `store.rs` keeps code on disk, `ndrange.rs` checks a range and divides it into
//! work-groups.

pub(crate) mod background;
mod credit;
pub mod executable;
pub mod ndrange;
pub mod store;
