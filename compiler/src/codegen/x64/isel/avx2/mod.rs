//! What takes several instructions where AVX-512 has one.
//!
//! - `arithmetic.rs`: products of 64 bits, shifts of 16.
//! - `resize.rs`: narrower lanes.
//! - `permute.rs`: lanes that move.
//! - `convert.rs`: between integers and floating-point numbers.

mod arithmetic;
mod convert;
mod permute;
mod resize;
