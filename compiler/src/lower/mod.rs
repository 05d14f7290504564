//! From what OpenCL says to what the machine has.
//!
//! [`images::expand`] comes before a kernel is split and vectorized: it turns reads and writes of
//! images into arithmetic and accesses to memory. The others are passes over functions at
//! any lane count: [`collectives::expand`] turns what work-items
//! do together into operations on lanes, [`memory_order::run`] keeps vectors of the program's own
//! as they lie in memory, [`builtins::expand`] turns built-in functions into arithmetic
//! (clean-up passes then share and hoist it), [`calls::run`] calls of functions into calls by
//! address, [`legalize::run`] turns arithmetic that the target
//! ([`crate::target`]) lacks into arithmetic that it has, [`narrow::run`] does in 16 bits
//! what is done in 32 without need, [`lanes::run`] makes loops,
//! branches and calls of what vectors do not do at all, [`elements::run`] single loads of those
//! whose results all lanes share, and [`reassociate::run`], last before `codegen`, has bitwise
//! operations wait for as little as possible.
//!
//! - `emit.rs`: how a pass replays a block. Open it first. `replay.rs`: how one that makes blocks
//!   does.
//! - `math.rs`: `brolga-mathlib`'s number traits for values being built.
//! - `images/`: the expansion of images.
//! - `memory_order/`: vectors that stay as they lie in memory.
//! - `lanes/`: loops over lanes, calls, atomics.
//! - `collectives.rs`, `builtins.rs`, `division.rs`, `legalize.rs`, `bits.rs`, `half.rs`,
//!   `rounding.rs`: the other expansions.

mod bits;
pub mod builtins;
pub mod calls;
pub mod collectives;
mod division;
pub mod elements;
mod emit;
pub mod gathers;
mod half;
pub mod images;
pub mod lanes;
pub mod legalize;
mod math;
pub mod memory_order;
pub mod narrow;
pub mod reassociate;
mod replay;
mod rounding;
