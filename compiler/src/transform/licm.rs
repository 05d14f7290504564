//! Loop-invariant code moves in front of its loop.
//!
//! Every loop first gets a preheader. Then blocks are visited in reverse post-order; a pure instruction whose operands are all
//! defined outside the loop moves to the end of the preheader, and further out as long as that holds, at once.
//! Since operands were visited (and moved) before, one walk is enough. What is expensive moves only from blocks that
//! every iteration runs. Cost: instructions times the loops each leaves.

use cranelift_entity::SecondaryMap;

use crate::analysis::{DominatorTree, Loop, LoopForest};
use crate::ir::{BinOp, Block, BlockCall, Function, Inst, Op, Terminator, UnOp, Value, ValueDef};

/// Moves what can be moved. Returns whether anything was.
pub fn run(func: &mut Function) -> bool {
    let dominators = DominatorTree::new(func);
    let forest = LoopForest::new(func, &dominators);
    if forest.loops.is_empty() {
        return false;
    }
    let mut changed = add_preheaders(func, &forest);
    // Blocks that were added change both.
    let dominators = DominatorTree::new(func);
    let forest = LoopForest::new(func, &dominators);
    let preds = func.predecessors();
    let mut preheader: SecondaryMap<Loop, Option<Block>> = SecondaryMap::new();
    for id in forest.loops.keys() {
        preheader[id] = forest.preheader(func, &preds, id);
    }

    // Where each value is defined now.
    let mut home: SecondaryMap<Value, Block> = SecondaryMap::with_default(func.entry());
    for &block in &func.layout {
        for &param in &func.blocks[block].params {
            home[param] = block;
        }
        for &inst in &func.blocks[block].insts {
            for &result in &func.insts[inst].results {
                home[result] = block;
            }
        }
    }
    for block in func.reverse_post_order() {
        let Some(innermost) = forest.innermost(block) else {
            continue;
        };
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            let mut to = None;
            let mut around = Some(innermost);
            if func.insts[inst].op.is_pure() {
                while let Some(id) = around
                    && let Some(before) = preheader[id]
                    && is_invariant(func, &forest, &home, id, inst)
                    && (!is_expensive(&func.insts[inst].op)
                        || runs_always(&dominators, &forest, id, block))
                {
                    to = Some(before);
                    around = forest.loops[id].parent;
                }
            }
            match to {
                Some(before) => {
                    for &result in &func.insts[inst].results {
                        home[result] = before;
                    }
                    func.blocks[before].insts.push(inst);
                    changed = true;
                }
                None => kept.push(inst),
            }
        }
        // What moves here comes from loops that this block dominates, so from later blocks.
        debug_assert!(func.blocks[block].insts.is_empty());
        func.blocks[block].insts = kept;
    }
    changed
}

fn is_invariant(
    func: &Function,
    forest: &LoopForest,
    home: &SecondaryMap<Value, Block>,
    id: Loop,
    inst: Inst,
) -> bool {
    let args = &func.insts[inst].args;
    args.iter().all(|&arg| !forest.contains(id, home[arg]))
}

fn is_expensive(op: &Op) -> bool {
    matches!(
        op,
        Op::Builtin(_)
            | Op::Routine(..)
            | Op::Unary(UnOp::Sqrt)
            | Op::Binary(
                BinOp::SDiv | BinOp::UDiv | BinOp::SRem | BinOp::URem | BinOp::FDiv | BinOp::FRem,
                _
            )
    )
}

/// Whether every iteration of the loop that goes round runs the block.
fn runs_always(dominators: &DominatorTree, forest: &LoopForest, id: Loop, block: Block) -> bool {
    let latches = &forest.loops[id].latches;
    latches
        .iter()
        .all(|&latch| dominators.dominates(block, latch))
}

/// Gives each loop one block that alone enters it and does nothing else. Returns whether one was missing.
pub fn add_preheaders(func: &mut Function, forest: &LoopForest) -> bool {
    let preds = func.predecessors();
    let mut changed = false;
    let mut position: SecondaryMap<Block, usize> = SecondaryMap::new();
    let mut inserted: Vec<(usize, Block)> = Vec::new();
    for (i, &block) in func.layout.iter().enumerate() {
        position[block] = i;
    }
    for (id, data) in &forest.loops {
        if forest.preheader(func, &preds, id).is_some() {
            continue;
        }
        let header = data.header;
        let before = func.add_block();
        func.layout.pop();
        inserted.push((position[header], before));
        for n in 0..func.blocks[header].params.len() {
            let ty = func.ty(func.blocks[header].params[n]);
            func.add_param(before, ty);
        }
        let params = func.blocks[before].params.clone();
        func.blocks[before].term = Terminator::Br(BlockCall::new(header, &params));
        let mut outside = preds[header].clone();
        outside.retain(|pred| !forest.contains(id, *pred));
        for pred in outside {
            for call in func.blocks[pred].term.targets_mut() {
                if call.block == header {
                    call.block = before;
                }
            }
        }
        changed = true;
    }
    // One merge instead of an insertion each.
    inserted.sort_by_key(|&(at, _)| at);
    let old = std::mem::take(&mut func.layout);
    let mut inserted = inserted.into_iter().peekable();
    for (i, block) in old.into_iter().enumerate() {
        while let Some((_, before)) = inserted.next_if(|&(at, _)| at == i) {
            func.layout.push(before);
        }
        func.layout.push(block);
    }
    debug_assert!(func.layout.iter().all(|&b| {
        func.blocks[b]
            .params
            .iter()
            .all(|&p| matches!(func.values[p].def, ValueDef::Param(of, _) if of == b))
    }));
    changed
}

#[cfg(test)]
mod tests {
    use crate::ir::{Block, Function, Stage, parse, verify::verify};

    fn moved(body: &str) -> Function {
        let text = format!(
            "func \"f\" (ptr, i32, i1) -> () {{\nblock0(v0: ptr, v1: i32, v2: i1):\n{body}\n}}"
        );
        let mut module = parse::module(&text).unwrap();
        let func = module.functions.values_mut().next().unwrap();
        super::run(func);
        verify(func, Stage::Translated, None).unwrap();
        func.clone()
    }

    #[test]
    fn an_invariant_leaves_all_its_loops_at_once() {
        let func = moved(
            "br block1\nblock1:\nbr block2\nblock2:\nv3: i32 = iadd v1, v1\nv4: i32 = imul v3, v3\n\
             store.global.align4 v0, v4\ncond_br v2, block2, block3\nblock3:\ncond_br v2, block1, block4\n\
             block4:\nret",
        );
        assert_eq!(func.blocks[func.entry()].insts.len(), 2, "{func}");
    }

    #[test]
    fn a_division_behind_a_branch_stays_an_addition_moves() {
        let func = moved(
            "br block1\nblock1:\ncond_br v2, block2, block3\n\
             block2:\nv3: i32 = sdiv v1, v1\nv4: i32 = iadd v1, v1\nv5: i32 = iadd v3, v4\n\
             store.global.align4 v0, v5\nbr block3\nblock3:\ncond_br v2, block1, block4\nblock4:\nret",
        );
        assert_eq!(func.blocks[func.entry()].insts.len(), 1, "{func}");
        assert_eq!(func.blocks[Block::from_u32(2)].insts.len(), 3, "{func}");
    }

    #[test]
    fn a_loop_entered_from_a_branch_gets_a_preheader() {
        let func = moved(
            "cond_br v2, block1(v1), block2\nblock1(v3: i32):\nv4: i32 = imul v1, v1\nv5: i32 = iadd v3, v4\n\
             store.global.align4 v0, v5\ncond_br v2, block1(v5), block2\nblock2:\nret",
        );
        assert_eq!(func.layout.len(), 4, "{func}");
        assert_eq!(func.blocks[func.layout[1]].insts.len(), 1, "{func}");
    }
}
