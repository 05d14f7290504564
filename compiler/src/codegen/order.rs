//! In which order Cranelift puts blocks.
//!
//! It orders them by a depth-first search that goes to a branch's first target first, and what it goes to first lies last. Where that
//! is the way on in a loop, the loop's body ends up behind everything that comes after the loop: each iteration
//! jumps there and back. What is worse, the register allocator takes all that lies between a loop's header and its last jump back for the
//! loop, so that values used after a loop weigh as much as those used in it, which are then in memory.
//!
//! So a branch's first target is the one that leaves the loop, if one does.

use cranelift_codegen::ir::{
    self as clif, InstBuilder, InstructionData,
    condcodes::{CondCode, IntCC},
};

use super::function::Gen;
use crate::analysis::LoopForest;
use crate::ir::Block;

/// Whether the jump from a block to another leaves a loop.
fn leaves(loops: &LoopForest, from: Block, to: Block) -> bool {
    loops
        .innermost(from)
        .is_some_and(|inner| !loops.contains(inner, to))
}

impl Gen<'_> {
    /// Whether the branch at the end of a block is to name its targets the other way round.
    pub(super) fn is_turned(&self, block: Block, then: Block, els: Block) -> bool {
        leaves(&self.loops, block, els) && !leaves(&self.loops, block, then)
    }

    /// Whether a condition does not hold. A comparison is another comparison, which a branch can have in flags as well.
    pub(super) fn negated(&mut self, cond: clif::Value) -> clif::Value {
        let dfg = &self.b.func.dfg;
        let def = dfg.value_def(cond).inst().map(|inst| dfg.insts[inst]);
        match def {
            Some(InstructionData::IntCompare { cond, args, .. }) => {
                self.b.ins().icmp(cond.complement(), args[0], args[1])
            }
            Some(InstructionData::FloatCompare { cond, args, .. }) => {
                self.b.ins().fcmp(cond.complement(), args[0], args[1])
            }
            _ => self.b.ins().icmp_imm_u(IntCC::Equal, cond, 0),
        }
    }
}
