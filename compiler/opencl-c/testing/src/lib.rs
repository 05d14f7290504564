//! What the front end's tests and its `fuzz` example share.
//!
//! ```text
//! choices.rs: a number, or a list of choices
//!   -> programs/   a random program without undefined behaviour, as OpenCL C and as C
//!   -> oracle/     what the C program computes, by way of gcc
//!   -> judge.rs    whether the OpenCL C program computes the same in every engine
//! ```
//!
//! Open `programs/mod.rs` first.

pub mod choices;
pub mod judge;
pub mod oracle;
pub mod programs;
