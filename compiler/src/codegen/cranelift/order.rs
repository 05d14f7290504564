//! In which order Cranelift puts blocks.
//!
//! It orders them by a depth-first search that goes to a branch's first target first, and what it
//! goes to first lies last. Where that is the way on in a loop, the loop's body ends up behind
//! everything that comes after the loop: each iteration jumps there and back. What is worse, the
//! register allocator takes all that lies between a loop's header and its last jump back for the
//! loop, so that values used after a loop weigh as much as those used in it, which are then in
//! memory.
//!
//! So a branch's first target is the one that leaves the loop, if one does.

use cranelift_codegen::ir::{
    self as clif, InstBuilder, InstructionData,
    condcodes::{CondCode, IntCC},
};
use cranelift_frontend::FunctionBuilder;

use crate::analysis::LoopForest;
use crate::ir::Block;

/// Whether the branch at the end of a block is to name its targets the other way round.
pub(super) fn is_turned(loops: &LoopForest, block: Block, then: Block, els: Block) -> bool {
    loops.is_exit(block, els) && !loops.is_exit(block, then)
}

/// Whether a condition does not hold. A comparison is another comparison, which a branch can have
/// in flags as well.
pub(super) fn negated(b: &mut FunctionBuilder, cond: clif::Value) -> clif::Value {
    let dfg = &b.func.dfg;
    let def = dfg.value_def(cond).inst().map(|inst| dfg.insts[inst]);
    match def {
        Some(InstructionData::IntCompare { cond, args, .. }) => {
            b.ins().icmp(cond.complement(), args[0], args[1])
        }
        Some(InstructionData::FloatCompare { cond, args, .. }) => {
            b.ins().fcmp(cond.complement(), args[0], args[1])
        }
        _ => b.ins().icmp_imm_u(IntCC::Equal, cond, 0),
    }
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::dominator_tree::DominatorTree;
    use cranelift_codegen::flowgraph::ControlFlowGraph;
    use cranelift_entity::EntityRef;

    use crate::codegen::cranelift::function::translate;
    use crate::ir::parse;

    /// The blocks of a function in Cranelift's order, numbered as here.
    fn order(body: &str) -> Vec<usize> {
        let text = format!("func \"f\" (i32, f32) -> () {{\n{body}\n}}");
        let module = parse::module(&text).expect("a module");
        let func = module.functions.values().next().expect("a function");
        let made = translate(func, None).expect("translates");
        let flow = ControlFlowGraph::with_function(&made.function);
        let tree = DominatorTree::with_function(&made.function, &flow);
        tree.cfg_rpo().map(|block| block.index()).collect()
    }

    #[test]
    fn a_loop_tested_first_lies_before_what_follows_it() {
        for test in ["icmp.slt i, n", "fcmp.olt x, x", "and c, d"] {
            let way_on = order(&format!(
                "block0(n: i32, x: f32):\n  zero: i32 = const 0\n  br block1(zero)\n\
                 block1(i: i32):\n  c: i1 = icmp.slt i, n\n  d: i1 = icmp.ne i, n\n  e: i1 = {test}\n\
                 cond_br e, block2, block3\n\
                 block2:\n  j: i32 = iadd i, n\n  br block1(j)\n\
                 block3:\n  ret"
            ));
            assert_eq!(way_on, [0, 1, 2, 3], "{test}");
        }
    }

    #[test]
    fn inner_loops_lie_within_outer_ones() {
        // Block 5 is the way on of the outer loop, block 6 what follows it.
        let nest = order(
            "block0(n: i32, x: f32):\n  zero: i32 = const 0\n  br block1(zero)\n\
             block1(i: i32):\n  c: i1 = icmp.slt i, n\n  cond_br c, block2, block6\n\
             block2:\n  br block3(i)\n\
             block3(j: i32):\n  d: i1 = icmp.slt j, n\n  cond_br d, block4, block5\n\
             block4:\n  k: i32 = iadd j, n\n  br block3(k)\n\
             block5:\n  m: i32 = iadd i, n\n  br block1(m)\n\
             block6:\n  ret",
        );
        assert_eq!(nest, [0, 1, 2, 3, 4, 5, 6]);
    }
}
