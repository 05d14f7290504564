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
