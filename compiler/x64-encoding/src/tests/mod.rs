//! Every row of the table, decoded by another project: what comes back is the instruction that was
//! encoded, in the shortest encoding, in all its bytes.
//!
//! The bits of an encoding's fields are independent of each other, so that each field goes through
//! its values (each bit alone, and the extremes) with few values of the others.
//!
//! - `decoded.rs`: compares an instruction with what it is decoded to. Open it first.
//! - `names.rs`: what the decoder calls an opcode.
//! - `values.rs`: the registers, addresses and immediates to try; whole instructions.
//! - `registers.rs`, `memory.rs`, `immediates.rs`, `masking.rs`: one field each, for every row.
//! - `forms.rs`: every opcode with fields that it has and has not: what is encoded and what is
//!   refused.
//! - `claims.rs`: that rows say what opcodes can do, and nothing more.
//! - `print.rs`: instructions as text.
//! - `known.rs`: a few encodings by their bytes.
//! - `buffer.rs`: labels, jumps, tables, padding, the pool.

mod buffer;
mod claims;
mod decoded;
mod forms;
mod immediates;
mod known;
mod masking;
mod memory;
mod names;
mod print;
mod registers;
mod values;
