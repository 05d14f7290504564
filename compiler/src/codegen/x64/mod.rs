//! By way of x86-64 instructions of our own choosing: AVX2 and AVX-512.
//!
//! - `encoding/`: instructions over physical registers to bytes.

pub mod encoding;
