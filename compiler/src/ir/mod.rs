//! Brolga IR: typed SSA with block parameters and explicit memory.
//!
//! Open `op.rs` first (what an instruction can do), then `function.rs` (what a function is made
//! of). `builder.rs` makes instructions, `clone.rs` copies them, `print.rs` and `parse/` are the
//! text form, `verify/` says what is well formed at each [`Stage`] (that values are used where
//! their definition dominates, by `dominators.rs`), and [`crate::interp`] is what it all means.
//!
//! Values are defined once, by an instruction or as a block's parameter; control flow hands values
//! to block parameters (there is no phi). Entities are small keys into arenas (`cranelift-entity`);
//! what a pass learns lives in side tables keyed by entity. A pass that drops an instruction
//! removes it from its block's list; the arena slot stays behind, unused.
//!
//! # The text form
//!
//! ```text
//! global @g0 "table" constant size 8 align 4 = 0x000000000000803f
//! kernel "scale" @0 (value 0, value 8)
//! func "scale" (ptr, f32) -> () {
//!   local l0 "tile" size 1024 align 16
//! block0(v0: ptr, v1: f32):
//!   v2: i64 = dim_query.global_id.0
//!   v3: i64 = const 0x4
//!   v4: i64 = imul.nsw v2, v3
//!   v5: ptr = ptr_add v0, v4
//!   v6: f32 = load.global.align4 v5
//!   v7: f32 = fmul v6, v1
//!   store.global.align4 v5, v7
//!   ret
//! }
//! ```

pub mod builder;
pub mod builtin;
mod callee;
pub mod clone;
pub mod collective;
mod device;
pub mod dominators;
pub mod eval;
pub mod expansion;
pub mod function;
pub mod host_function;
pub mod module;
pub mod op;
pub mod parse;
pub mod print;
mod softfloat;
pub mod types;
pub mod verify;

use cranelift_entity::entity_impl;
use serde::{Deserialize, Serialize};

pub use builder::Builder;
pub use builtin::Builtin;
pub use callee::{Argument, Callee};
pub use clone::Cloner;
pub use collective::Collective;
pub use device::DeviceOp;
pub use dominators::{DominatorTree, PostDominatorTree};
pub use function::{
    BlockCall, BlockData, Function, InstData, Jump, LocalVar, Slot, SourceLoc, Terminator, ValueDef,
};
pub use host_function::HostFunction;
pub use module::{
    Global, GlobalInit, HostName, Kernel, KernelRole, Module, ParamSource, Relocation,
};
pub use op::{
    Arith, Atomic, AtomicOp, BinOp, ConvertOp, DimQuery, Fence, FloatCC, Image, Index, IntCC,
    Interleaving, Mem, Op, Order, Query, Rounding, Scope, UnOp, Wrap,
};
pub use types::{Scalar, Type};

/// An SSA value of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(u32);
entity_impl!(Value, "v");

/// A basic block of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block(u32);
entity_impl!(Block, "block");

/// An instruction of a function; terminators are part of their block instead.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Inst(u32);
entity_impl!(Inst, "inst");

/// A function of a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FuncId(u32);
entity_impl!(FuncId, "@");

/// A module-scope object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GlobalId(u32);
entity_impl!(GlobalId, "@g");

/// A work-group variable of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(u32);
entity_impl!(LocalId, "l");

/// A barrier-context slot of a kernel: one value per work-item that survives barriers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotId(u32);
entity_impl!(SlotId, "slot");

/// How far a function has come on its way through the compiler, for the verifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// As translated: calls, OpenCL vectors.
    Translated,
    /// No calls but of functions that stay functions.
    Inlined,
    /// One lane per value; loads and stores of several elements have several results or operands.
    Scalarized,
    /// One or W lanes per value.
    Vectorized,
    /// What is left when `lower` is done: what [`crate::codegen`] takes.
    Lowered,
}
