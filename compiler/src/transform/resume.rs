//! Going on inside loops, by way of their headers.
//!
//! Code that stops at a barrier in a loop goes on behind it later, in another place of the function. A jump from there right into the loop
//! would make another loop of it: iterations would begin where one goes on, loops in it that lead there would be around it, and who is in
//! which iteration of which loop decides about who takes part in a collective. So one goes on as one came:
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
//! All jumps to a header go by way of the block that takes its place. Definitions in a loop no longer dominate all their uses behind `to`
//! ([`demote_undominated`](super::demote::demote_undominated)). Cost: linear, times the loops around a place.

use std::collections::BTreeMap;

use crate::analysis::LoopForest;
use crate::ir::{Block, BlockCall, Builder, Function, Terminator, Type, Value};

/// A place to go on at.
pub struct Place {
    /// The block that goes there, whose end is made.
    pub from: Block,
    /// A block without parameters.
    pub to: Block,
    /// The headers of the loops around it, outermost first.
    pub headers: Vec<Block>,
}

/// The headers of the loops around a block, outermost first.
pub fn headers_around(forest: &LoopForest, block: Block) -> Vec<Block> {
    let loops = std::iter::successors(forest.innermost(block), |&id| forest.loops[id].parent);
    let mut headers: Vec<Block> = loops.map(|id| forest.loops[id].header).collect();
    headers.reverse();
    headers
}

/// Goes on at places by way of headers, which `blocks` jump to.
pub fn go_on(func: &mut Function, places: &[Place], blocks: &[Block]) {
    let mut instead: BTreeMap<Block, Block> = BTreeMap::new();
    for &header in places.iter().flat_map(|place| &place.headers) {
        instead.entry(header).or_insert_with(|| {
            let types: Vec<Type> = [Type::I32]
                .into_iter()
                .chain(func.blocks[header].params.iter().map(|&p| func.ty(p)))
                .collect();
            let block = func.add_block();
            types.iter().for_each(|&ty| {
                func.add_param(block, ty);
            });
            block
        });
    }
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
    let mut ways: BTreeMap<Block, Vec<(u64, BlockCall)>> = BTreeMap::new();
    for (number, place) in (1..).zip(places) {
        let mut at = place.from;
        let mut steps = Vec::new();
        for header in &place.headers {
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
        steps.push((at, BlockCall::new(place.to, &[])));
        let mut steps = steps.into_iter();
        if let Some((from, call)) = steps.next() {
            func.blocks[from].term = Terminator::Br(call);
        }
        for (at, call) in steps {
            ways.entry(at).or_default().push((number, call));
        }
    }
    for (header, block) in instead {
        let params = &func.blocks[block].params;
        func.blocks[block].term = Terminator::Switch {
            value: params[0],
            default: BlockCall::new(header, &params[1..]),
            cases: ways.remove(&block).unwrap_or_default(),
        };
    }
}
