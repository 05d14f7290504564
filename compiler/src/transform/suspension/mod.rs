//! Suspension points: kernels that work-items leave and resume, as state machines.
//!
//! A *suspension point* is an instruction at which work-items wait for others: a barrier, or a
//! collective of the work-group. Code between barriers runs for all work-items one after another,
//! which is right where all of them come to the same one. Where they do not, the kernel becomes a
//! loop, as a coroutine does when it is lowered:
//!
//! ```text
//!     state = start
//! dispatch:
//!     switch state {                 a work-item resumes
//!         start: ..                  until it comes to a suspension point, or ends: state = which
//!         behind point 1: ..
//!     }
//!     go to dispatch
//! ```
//!
//! What flows in: a kernel without calls. What is here are the parts that such transformations
//! share: [`cut`] ends blocks at suspension points, [`StateMachine`] (`machine.rs`) keeps the state
//! and dispatches, and `resume.rs` leads to points within loops by way of the loops' headers.
//! Values that live across points go through private memory ([`super::demote`]).
//!
//! There are two such transformations. [`super::named_barriers`] has sub-groups wait at different
//! barriers: each work-item's own state says where it resumes, in the code that is there.
//! `workgroup/divergent_barriers.rs` has work-items differ about which barrier is next: all agree
//! on one state, and work-items in it resume, in a copy of the code that leads from there to the
//! next points, so that no more than that runs between two barriers.

mod machine;
mod resume;

use cranelift_entity::SecondaryMap;

use crate::ir::{Block, BlockCall, Function, Inst, Op, Terminator};

pub use machine::StateMachine;
pub use resume::{Resumption, headers_around, resume_through_headers};

/// Where a work-item is suspended.
#[derive(Clone, Copy, Debug)]
pub struct SuspensionPoint {
    /// The block that ends there, by a jump to the one in which it resumes.
    pub block: Block,
    pub resume: Block,
    /// The barrier or collective, in no block any more.
    pub inst: Inst,
}

/// Ends blocks at certain instructions, which are taken out. The points are in reverse post-order.
/// Cost: linear.
pub fn cut(func: &mut Function, is_point: impl Fn(&Op) -> bool) -> Vec<SuspensionPoint> {
    let mut at_end: SecondaryMap<Block, Option<SuspensionPoint>> = SecondaryMap::new();
    for first in func.layout.clone() {
        let insts = &func.blocks[first].insts;
        if !insts.iter().any(|&inst| is_point(&func.insts[inst].op)) {
            continue;
        }
        let term = std::mem::replace(&mut func.blocks[first].term, Terminator::Unreachable);
        let mut block = first;
        for inst in std::mem::take(&mut func.blocks[first].insts) {
            if !is_point(&func.insts[inst].op) {
                func.blocks[block].insts.push(inst);
                continue;
            }
            let resume = func.add_block();
            func.blocks[block].term = Terminator::Br(BlockCall::new(resume, &[]));
            at_end[block] = Some(SuspensionPoint {
                block,
                resume,
                inst,
            });
            block = resume;
        }
        func.blocks[block].term = term;
    }
    func.layout = func.reverse_post_order();
    func.layout.iter().filter_map(|&b| at_end[b]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Stage, parse, verify::verify};

    #[test]
    fn a_block_ends_at_each_point_in_it() {
        let barrier = "barrier.workgroup.acqrel.local";
        let text = format!(
            "func \"f\" (i32, i1) -> (i32) {{\nblock0(v0: i32, v1: i1):\n{barrier}\n\
             v2: i32 = iadd v0, v0\n{barrier}\n{barrier}\ncond_br v1, block1, block2\n\
             block1:\nv3: i32 = iadd v2, v0\nret v3\nblock2:\n{barrier}\nret v2\n}}"
        );
        let module = parse::module(&text).expect("a module");
        let mut func = module.functions.values().next().expect("it").clone();
        let blocks = func.layout.clone();
        let points = cut(&mut func, |op| matches!(op, Op::Barrier(_)));
        verify(&func, Stage::Scalarized, None).expect("a valid function");
        assert_eq!(points.len(), 4);
        for point in &points {
            assert!(func.successors(point.block).eq([point.resume]), "{func}");
            assert!(matches!(func.insts[point.inst].op, Op::Barrier(_)));
        }
        let in_entry = points.iter().filter(|point| point.block != blocks[2]);
        let chain: Vec<SuspensionPoint> = in_entry.copied().collect();
        assert_eq!(chain[0].block, blocks[0]);
        let links = chain.windows(2).map(|pair| (pair[0].resume, pair[1].block));
        assert!(
            links.into_iter().all(|(resume, next)| resume == next),
            "{func}"
        );
        assert!(
            func.successors(chain[2].resume).eq([blocks[1], blocks[2]]),
            "{func}"
        );
        let insts = func
            .layout
            .iter()
            .map(|&block| func.blocks[block].insts.len());
        assert_eq!(insts.sum::<usize>(), 2, "{func}");
    }
}
