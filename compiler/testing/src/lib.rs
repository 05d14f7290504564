//! What the compiler's tests and the `fuzz` example share.
//!
//! ```text
//! file test (text) ---------> filetest/  --+
//! a number -> kernels/ -> file test -------+--> engines/  every way to run a kernel --> the same outcome?
//! a number -> modules/valid.rs -> SPIR-V --+              (judge.rs: for random ones)
//! a number -> modules/mutate.rs -> SPIR-V that may be wrong --> refused or compiled, never a panic
//! ```
//!
//! `allocation.rs` counts allocated memory. `children.rs` has such work done by processes that may
//! crash. `machine.rs` compiles one function. `validator.rs` asks `spirv-val`.
//!
//! Open `engines/mod.rs` first. The tests are in `../tests`, with a page on the format of file
//! tests.

pub mod allocation;
pub mod assembly;
pub mod children;
pub mod engines;
pub mod filetest;
pub mod judge;
pub mod kernels;
pub mod machine;
pub mod modules;
pub mod validator;
