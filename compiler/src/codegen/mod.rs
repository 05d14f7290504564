//! Vector IR to machine code: one function in, its code out.
//!
//! In comes a function at [`crate::ir::Stage::Vectorized`] that [`crate::lower`] has legalised: no
//! OpenCL built-ins, no half-precision arithmetic, no integer operation that the target's vectors
//! lack.
//!
//! - `cranelift/`: by way of Cranelift, whose vectors are 128 bits wide; for every CPU.
//! - `x64/`: by instructions of our own choosing, for AVX2 and AVX-512.
//! - `host.rs`: the functions of this process that generated code calls.

mod cranelift;
mod host;
mod x64;

pub use cranelift::{Translated, host_isa, translate};
