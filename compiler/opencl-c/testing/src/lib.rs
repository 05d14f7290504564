//! What the front end's tests and its `fuzz` example share.
//!
//! ```text
//! choices.rs: a number, or a list of choices
//!   -> programs/   a random program without undefined behaviour, as OpenCL C and as C
//!   -> oracle/     what the C program computes, by way of gcc
//!   -> judge.rs    whether the OpenCL C program computes the same in every engine
//! lavapipe/: kernels on an implementation of Vulkan
//! mutate.rs: a number -> a source that may be wrong -> a module or diagnostics, never a panic
//! ```
//!
//! Open `programs/mod.rs` first.

pub mod choices;
pub mod judge;
pub mod lavapipe;
pub mod mutate;
pub mod oracle;
pub mod programs;
