//! From what OpenCL says to what the machine has.
//!
//! Three passes, all over functions at any lane count: [`collectives::expand`] turns what work-items do together into
//! operations on lanes, [`builtins::expand`] built-in functions into arithmetic (clean-up passes then share and hoist
//! it), [`legalize::run`], last before `codegen`, turns arithmetic that the machine lacks into arithmetic that it has.
//!
//! - `emit.rs`: how a pass replays a block. Open it first.
//! - `math.rs`: `brolga-mathlib`'s number traits for values being built.
//! - `collectives.rs`, `builtins.rs`, `division.rs`, `legalize.rs`, `half.rs`, `rounding.rs`: the expansions.

pub mod builtins;
pub mod collectives;
mod division;
mod emit;
mod half;
pub mod legalize;
mod math;
mod rounding;
