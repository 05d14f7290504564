//! Loop-invariant code moves in front of its loop.
//!
//! Every loop first gets a preheader. Then blocks are visited in reverse post-order; a pure
//! instruction whose operands are all defined outside the loop moves to the end of the preheader,
//! and further out as long as that holds, at once. Since operands were visited (and moved) before,
//! one walk is enough. What is expensive moves only from blocks that every iteration runs.
//!
//! A load, or a read of an image, moves too, when nothing in the loop may write the memory it reads
//! and its block runs whenever the loop is entered: the block dominates every latch and every exit.
//! So no memory is read that the program does not read.
//!
//! Of comparisons, so many move out of a loop (`COMPARISONS`): with more of them than registers
//! each is kept in memory through the loop, and loading it costs what computing it does. A chain of
//! `else if` on an argument has one for each case, alive in all the others.
//!
//! Cost: instructions times the loops each leaves.

use cranelift_entity::SecondaryMap;

use super::memory::Spaces;
use crate::analysis::{Loop, LoopForest};
use crate::ir::{
    BinOp, Block, BlockCall, DominatorTree, Function, Image, Inst, Mem, Op, Terminator, UnOp,
    Value, ValueDef,
};

/// Comparisons that move out of one loop.
const COMPARISONS: usize = 128;

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
    let written = written_in(func, &forest);
    let mut comparisons: SecondaryMap<Loop, usize> = SecondaryMap::new();
    for block in func.reverse_post_order() {
        let Some(innermost) = forest.innermost(block) else {
            continue;
        };
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            let mut to = None;
            let mut around = Some(innermost);
            let op = &func.insts[inst].op;
            let is_comparison = matches!(op, Op::ICmp(_) | Op::FCmp(_));
            while let Some(id) = around
                && let Some(before) = preheader[id]
                && match op {
                    Op::Load(Mem {
                        space,
                        volatile: false,
                        ..
                    })
                    | Op::ImageRead(Image { space, .. }) => {
                        !written[id].contains(*space)
                            && runs_once(&dominators, &forest, id, to.unwrap_or(block))
                    }
                    op if is_expensive(op) => runs_always(&dominators, &forest, id, block),
                    op => op.is_pure(),
                }
                && is_invariant(func, &forest, &home, id, inst)
                && !(is_comparison && comparisons[id] == COMPARISONS)
            {
                comparisons[id] += usize::from(is_comparison);
                to = Some(before);
                around = forest.loops[id].parent;
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

/// The memory that each loop, with the loops in it, may write.
fn written_in(func: &Function, forest: &LoopForest) -> SecondaryMap<Loop, Spaces> {
    let mut written: SecondaryMap<Loop, Spaces> = SecondaryMap::new();
    for &block in &func.layout {
        let Some(id) = forest.innermost(block) else {
            continue;
        };
        for &inst in &func.blocks[block].insts {
            written[id] = written[id].with(Spaces::written_by(&func.insts[inst].op));
        }
    }
    // Inner loops come first.
    for (id, data) in &forest.loops {
        if let Some(parent) = data.parent {
            written[parent] = written[parent].with(written[id]);
        }
    }
    written
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
            | Op::Rounded(..)
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

/// Whether the block runs at least once whenever the loop is entered.
fn runs_once(dominators: &DominatorTree, forest: &LoopForest, id: Loop, block: Block) -> bool {
    let mut exits = forest.loops[id].exits.iter();
    block == forest.loops[id].header
        || runs_always(dominators, forest, id, block)
            && exits.all(|&(from, _)| dominators.dominates(block, from))
}

/// Gives each loop one block that alone enters it and does nothing else. Returns whether one was
/// missing.
pub fn add_preheaders(func: &mut Function, forest: &LoopForest) -> bool {
    let preds = func.predecessors();
    let jumps = func.jumps();
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
        for &jump in &jumps[header] {
            if !forest.contains(id, jump.from) {
                func.redirect(jump, before);
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
    fn a_chain_of_cases_leaves_most_comparisons_where_they_are() {
        let cases = 4 * super::COMPARISONS;
        let mut body = "br block1\nblock1:\nbr block2\n".to_owned();
        for case in 0..cases {
            let (block, [number, cond]) = (3 * case + 2, [3 + 2 * case, 4 + 2 * case]);
            body += &format!(
                "block{block}:\nv{number}: i32 = const {case}\nv{cond}: i1 = icmp.eq v1, v{number}\n\
                 cond_br v{cond}, block{}, block{}\nblock{}:\nstore.global.align4 v0, v{number}\n\
                 br block{last}\n",
                block + 1,
                block + 3,
                block + 1,
                last = 3 * cases + 3,
            );
        }
        body += &format!(
            "block{}:\nbr block{last}\nblock{last}:\ncond_br v2, block1, block{end}\nblock{end}:\nret",
            3 * cases + 2,
            last = 3 * cases + 3,
            end = 3 * cases + 4,
        );
        let func = moved(&body);
        let mut before = func.blocks[func.entry()].insts.iter();
        let is_comparison =
            |&&inst: &&crate::ir::Inst| matches!(func.insts[inst].op, crate::ir::Op::ICmp(_));
        assert_eq!(
            before.by_ref().filter(is_comparison).count(),
            super::COMPARISONS
        );
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
    fn a_load_leaves_a_loop_that_does_not_write_where_it_always_runs() {
        let in_header = |mem: &str, rest: &str| {
            let func = moved(&format!(
                "br block1\nblock1:\nv3: i32 = load.{mem} v0\n{rest}\n\
                 v4: i32 = atomic_rmw.add.private.device.relaxed v0, v3\ncond_br v2, block1, block2\nblock2:\nret"
            ));
            func.blocks[func.entry()].insts.len() == 1
        };
        assert!(in_header(
            "constant.align4",
            "barrier.workgroup.acqrel.local"
        ));
        assert!(!in_header("global.align4", ""));
        let behind = |mem: &str, between: &str| {
            let func = moved(&format!(
                "br block1\nblock1:\n{between}\nblock2:\nv3: i32 = load.{mem} v0\n\
                 store.local.align4 v0, v3\ncond_br v2, block1, block3\nblock3:\nret"
            ));
            func.blocks[func.entry()].insts.len() == 1
        };
        assert!(behind("global.align4", "br block2"));
        assert!(behind("constant.align4", "br block2"));
        assert!(!behind("local.align4", "br block2"));
        assert!(!behind("generic.align4", "br block2"));
        assert!(!behind("global.align4.volatile", "br block2"));
        // Left before it is read.
        assert!(!behind("global.align4", "cond_br v2, block2, block3"));
    }

    #[test]
    fn a_texel_is_read_before_a_loop_that_does_not_write_it() {
        let leaves = |space: &str, written: &str| {
            let func = moved(&format!(
                "br block1\nblock1:\nv3: i32 = image_read.{space}.1d.int v0, v1, v1\n\
                 {written}, v3\ncond_br v2, block1, block2\nblock2:\nret"
            ));
            func.blocks[func.entry()].insts.len() == 1
        };
        let image = "image_write.global.1d.int v0, v1";
        assert!(leaves("constant", image));
        assert!(!leaves("global", image));
        assert!(leaves("global", "store.local.align4 v0"));
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
