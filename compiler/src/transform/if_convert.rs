//! Branches around a few cheap operations become selects.
//!
//! For a branch `P -> T, E` where `T` and `E` meet at once in `M` (either may be `M` itself): when
//! what `T` and `E` do is pure, cheap and short, both are done in `P` and each value handed to `M`
//! is a `select`. Wrong guesses of the branch predictor, and masks after vectorization, cost more
//! than that.
//!
//! Blocks are visited in post-order, so that an inner branch is gone when the outer is looked at.
//! Linear.

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use crate::ir::{BinOp, Block, BlockCall, Function, Op, SourceLoc, Terminator, UnOp, Value};

/// The most instructions moved, and the most values selected, for one branch.
const MOVED: usize = 6;
const SELECTED: usize = 4;

/// Converts what is worth it. Returns whether there was anything.
pub fn run(func: &mut Function) -> bool {
    let mut jumps: SecondaryMap<Block, u32> = SecondaryMap::new();
    for &block in &func.layout {
        for succ in func.successors(block) {
            jumps[succ] += 1;
        }
    }
    let mut changed = false;
    let mut order = func.reverse_post_order();
    order.reverse();
    let mut gone: SecondaryMap<Block, bool> = SecondaryMap::new();
    for block in order {
        while let Some(meet) = convert(func, block, &jumps, &mut gone) {
            changed = true;
            // Two jumps to the meeting point became one.
            jumps[meet] -= 1;
        }
    }
    func.layout.retain(|&block| !gone[block]);
    changed
}

/// One side of a branch: what it does and what it hands on.
struct Side {
    /// The block between, unless the branch goes straight to where the sides meet.
    block: Option<Block>,
    jump: BlockCall,
}

fn side(func: &Function, call: &BlockCall, jumps: &SecondaryMap<Block, u32>) -> Option<Side> {
    let data = &func.blocks[call.block];
    let Terminator::Br(next) = &data.term else {
        return None;
    };
    let alone = jumps[call.block] == 1 && data.params.is_empty() && data.insts.len() <= MOVED;
    let ok = alone
        && next.block != call.block
        && data
            .insts
            .iter()
            .all(|&inst| is_cheap(&func.insts[inst].op));
    ok.then(|| Side {
        block: Some(call.block),
        jump: next.clone(),
    })
}

/// Converts the branch that ends `block`; returns where its sides met.
fn convert(
    func: &mut Function,
    block: Block,
    jumps: &SecondaryMap<Block, u32>,
    gone: &mut SecondaryMap<Block, bool>,
) -> Option<Block> {
    let Terminator::CondBr { cond, then, els } = &func.blocks[block].term else {
        return None;
    };
    let cond = *cond;
    let direct = |call: &BlockCall| Side {
        block: None,
        jump: call.clone(),
    };
    let (a, b) = if then.block == els.block {
        (direct(then), direct(els))
    } else {
        let through_then = side(func, then, jumps);
        let through_els = side(func, els, jumps);
        match (through_then, through_els) {
            (Some(a), Some(b)) if a.jump.block == b.jump.block => (a, b),
            (Some(a), _) if a.jump.block == els.block => (a, direct(els)),
            (_, Some(b)) if b.jump.block == then.block => (direct(then), b),
            _ => return None,
        }
    };
    let meet = a.jump.block;
    if meet == block {
        return None;
    }
    let insts = |s: &Side| s.block.map_or(0, |b| func.blocks[b].insts.len());
    let different = a.jump.args.iter().zip(&b.jump.args);
    let selected = different.filter(|(x, y)| x != y).count();
    if insts(&a) + insts(&b) > MOVED || selected > SELECTED {
        return None;
    }
    for moved in [a.block, b.block].into_iter().flatten() {
        let insts = std::mem::take(&mut func.blocks[moved].insts);
        func.blocks[block].insts.extend(insts);
        func.blocks[moved].term = Terminator::Unreachable;
        gone[moved] = true;
    }
    let mut args: SmallVec<[Value; 4]> = SmallVec::new();
    for (&x, &y) in a.jump.args.iter().zip(&b.jump.args) {
        args.push(if x == y {
            x
        } else {
            let ty = func.ty(x);
            let select = func.make_inst(Op::Select, &[cond, x, y], &[ty], SourceLoc::default());
            func.blocks[block].insts.push(select);
            func.insts[select].results[0]
        });
    }
    func.blocks[block].term = Terminator::Br(BlockCall { block: meet, args });
    Some(meet)
}

/// Whether doing the operation where the program does not costs next to nothing.
fn is_cheap(op: &Op) -> bool {
    match op {
        Op::Builtin(_) | Op::Routine(..) | Op::Rounded(..) | Op::Unary(UnOp::Sqrt) => false,
        Op::Binary(op, _) => !matches!(
            op,
            BinOp::SDiv | BinOp::UDiv | BinOp::SRem | BinOp::URem | BinOp::FDiv | BinOp::FRem
        ),
        Op::ExtractDyn
        | Op::InsertDyn
        | Op::Shuffle(_)
        | Op::LaneIds
        | Op::Deinterleave
        | Op::Interleave => false,
        other => other.is_pure(),
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::{Function, Stage, parse, verify::verify};

    fn converted(body: &str) -> Function {
        let text = format!(
            "func \"f\" (i32, i1, ptr) -> (i32) {{\nblock0(v0: i32, v1: i1, v2: ptr):\n{body}\n}}"
        );
        let mut module = parse::module(&text).unwrap();
        let func = module.functions.values_mut().next().unwrap();
        super::super::simplify_cfg::run(func);
        verify(func, Stage::Translated, None).unwrap();
        func.clone()
    }

    #[test]
    fn nested_diamonds_become_straight_code() {
        let func = converted(
            "cond_br v1, block1, block4\nblock1:\nv3: i1 = icmp.slt v0, v0\ncond_br v3, block2, block3\n\
             block2:\nv4: i32 = iadd v0, v0\nbr block5(v4)\nblock3:\nbr block5(v0)\n\
             block4:\nv5: i32 = ineg v0\nbr block5(v5)\nblock5(v6: i32):\nret v6",
        );
        assert_eq!(func.layout.len(), 1, "{func}");
        assert_eq!(func.to_string().matches("select").count(), 2, "{func}");
    }

    #[test]
    fn loads_and_divisions_stay_behind_their_branch() {
        for op in [
            "load.global.align4 v2",
            "sdiv v0, v0",
            "sqrt v9",
            "builtin.exp v9",
        ] {
            let ty = if op.contains("v9") { "f32" } else { "i32" };
            let func = converted(&format!(
                "v9: f32 = const 2.0\ncond_br v1, block1, block2\nblock1:\nv3: {ty} = {op}\n\
                 v4: i32 = {}\nbr block3(v4)\nblock2:\nbr block3(v0)\nblock3(v6: i32):\nret v6",
                if ty == "f32" {
                    "convert.f_to_s.rtz v3"
                } else {
                    "ineg v3"
                }
            ));
            assert!(func.layout.len() > 1, "{func}");
        }
    }
}
