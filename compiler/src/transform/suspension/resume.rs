//! Resumption inside loops, by way of their headers.
//!
//! Code that is suspended in a loop resumes in another part of the function. A jump from there
//! right into the loop would make another loop of it: iterations would begin at the suspension
//! point, inner loops that lead there would be around it, and which iteration of which loop a
//! work-item is in decides about convergence. So it resumes the way it came:
//!
//! ```text
//!     from: br to                  from:   br outer'(1, 0)
//!     outer(x):                    outer'(which, x): switch which, 1: inner'(1), default outer(x)
//!         .. br inner              outer(x):   .. br inner'(0)
//!     inner:                       inner'(which): switch which, 1: to, default inner
//!         ..                       inner:  ..
//!     to: .. br inner              to:     .. br inner'(0)
//! ```
//!
//! All jumps to a header go by way of the block that stands in for it. Definitions in a loop no
//! longer dominate all their uses behind `to`
//! ([`demote_undominated`](crate::transform::demote::demote_undominated)). Cost: linear, times the
//! loops around a suspension point.

use std::collections::BTreeMap;

use crate::analysis::LoopForest;
use crate::ir::{Block, BlockCall, Builder, Function, Terminator, Type, Value};

/// A jump to where a work-item resumes.
pub struct Resumption {
    /// The block that ends with it; its end is made.
    pub from: Block,
    /// A block without parameters.
    pub to: Block,
    /// The headers of the loops around `to`, outermost first.
    pub headers: Vec<Block>,
}

/// The headers of the loops around a block, outermost first.
pub fn headers_around(forest: &LoopForest, block: Block) -> Vec<Block> {
    let loops = std::iter::successors(forest.innermost(block), |&id| forest.loops[id].parent);
    let mut headers: Vec<Block> = loops.map(|id| forest.loops[id].header).collect();
    headers.reverse();
    headers
}

/// Makes jumps to where work-items resume, by way of headers, which `blocks` jump to.
pub fn resume_through_headers(func: &mut Function, resumptions: &[Resumption], blocks: &[Block]) {
    let instead = headers_instead(func, resumptions);
    for &block in blocks {
        let mut term = std::mem::replace(&mut func.blocks[block].term, Terminator::Unreachable);
        for call in term.targets_mut() {
            if let Some(&block_instead) = instead.get(&call.block) {
                let zero = Builder::new(func, block).iconst(Type::I32, 0);
                call.block = block_instead;
                call.args.insert(0, zero);
            }
        }
        func.blocks[block].term = term;
    }
    let mut cases: BTreeMap<Block, Vec<(u64, BlockCall)>> = BTreeMap::new();
    for (number, resumption) in (1..).zip(resumptions) {
        let mut at = resumption.from;
        let mut steps = Vec::new();
        for header in &resumption.headers {
            let next = instead[header];
            let mut b = Builder::new(func, at);
            let types: Vec<Type> = b.func.blocks[next]
                .params
                .iter()
                .map(|&p| b.ty(p))
                .collect();
            let mut args: Vec<Value> = vec![b.iconst(Type::I32, number)];
            args.extend(types[1..].iter().map(|&ty| b.iconst(ty, 0)));
            steps.push((at, BlockCall::new(next, &args)));
            at = next;
        }
        steps.push((at, BlockCall::new(resumption.to, &[])));
        let mut steps = steps.into_iter();
        if let Some((from, call)) = steps.next() {
            func.blocks[from].term = Terminator::Br(call);
        }
        for (at, call) in steps {
            cases.entry(at).or_default().push((number, call));
        }
    }
    for (header, block) in instead {
        let params = &func.blocks[block].params;
        func.blocks[block].term = Terminator::Switch {
            value: params[0],
            default: BlockCall::new(header, &params[1..]),
            cases: cases.remove(&block).unwrap_or_default(),
        };
    }
}

/// A block for each header: its parameters are which resumption it is, or 0, and the header's.
fn headers_instead(func: &mut Function, resumptions: &[Resumption]) -> BTreeMap<Block, Block> {
    let mut instead: BTreeMap<Block, Block> = BTreeMap::new();
    for &header in resumptions
        .iter()
        .flat_map(|resumption| &resumption.headers)
    {
        instead.entry(header).or_insert_with(|| {
            let own = func.blocks[header].params.iter().map(|&p| func.ty(p));
            let types: Vec<Type> = [Type::I32].into_iter().chain(own).collect();
            Builder::new(func, header).new_block(&types)
        });
    }
    instead
}
