//! Tail duplication: blocks that several regions lead to, some of them for some work-items only.
//!
//! Where control arrives from two regions another begins, at which work-items converge. That is
//! right when all of them come: when the block post-dominates the region they come from. It is not
//! when an inner branch decides which come: producers merge what the ends of two branches have in
//! common, with a barrier in each and a condition in one. Then the region gets a copy of the block
//! for itself, and what the block leads to is looked at again.
//!
//! A value of a copied block that is used elsewhere has several definitions then. It is demoted,
//! and `promote` turns it into values again.
//!
//! Cost: linear for each layer of such blocks, and what is copied: a block once for each region.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

use super::regions::{find_regions, region_heads};
use crate::ir::{Block, Builder, Cloner, Fence, Function, PostDominatorTree, Value};
use crate::transform::demote::demote;
use crate::transform::promote;

/// Layers of blocks, over the number of blocks, after which something is wrong.
const LAYERS: usize = 64;

/// Gives regions blocks of their own. Returns whether any needed some.
pub(super) fn run(
    func: &mut Function,
    barriers: &SecondaryMap<Block, Option<Fence>>,
    outer: &SecondaryMap<Block, bool>,
) -> bool {
    let mut copies = Copies::new();
    for _ in 0..func.layout.len() + LAYERS {
        let tails = shared_tails(func, barriers, outer);
        if tails.is_empty() {
            break;
        }
        let blocks: BTreeSet<Block> = tails.iter().map(|tail| tail.block).collect();
        demote_results(func, &blocks);
        for tail in &tails {
            copies.give(func, tail);
        }
        func.layout = func.reverse_post_order();
    }
    if copies.made.is_empty() {
        return false;
    }
    promote::run(func);
    true
}

/// A block, a region that needs a copy of it, and the region's blocks that lead to it.
struct Tail {
    block: Block,
    region: Block,
    from: Vec<Block>,
}

fn shared_tails(
    func: &Function,
    barriers: &SecondaryMap<Block, Option<Fence>>,
    outer: &SecondaryMap<Block, bool>,
) -> Vec<Tail> {
    let (entries, owner) = find_regions(func, region_heads(func, barriers, outer));
    let preds = func.predecessors();
    let post = PostDominatorTree::new(func);
    let mut found = Vec::new();
    for &block in &entries {
        // Whether another region, or all work-items, keep the block itself.
        let mut kept = false;
        let mut some_come: BTreeMap<Block, Vec<Block>> = BTreeMap::new();
        for &pred in &preds[block] {
            let Some(region) = owner[pred] else { continue };
            if outer[pred] || barriers[pred].is_some() {
                kept = true;
            } else if region != block {
                if post.post_dominates(block, region) {
                    kept = true;
                } else {
                    some_come.entry(region).or_default().push(pred);
                }
            }
        }
        let tails = some_come.into_iter().skip(usize::from(!kept));
        found.extend(tails.map(|(region, from)| Tail {
            block,
            region,
            from,
        }));
    }
    found
}

/// Which block is a copy of which, and for which region.
struct Copies {
    original: SecondaryMap<Block, PackedOption<Block>>,
    made: BTreeMap<(Block, Block), Block>,
    cloner: Cloner<'static>,
}

impl Copies {
    fn new() -> Copies {
        Copies {
            original: SecondaryMap::new(),
            made: BTreeMap::new(),
            cloner: Cloner::within(),
        }
    }

    fn give(&mut self, func: &mut Function, tail: &Tail) {
        let original = self.original[tail.block].expand().unwrap_or(tail.block);
        // In a loop, the copy exists when its latch is copied.
        let copy = *self
            .made
            .entry((original, tail.region))
            .or_insert_with(|| copy(func, tail.block, &mut self.cloner));
        self.original[copy] = original.into();
        for &pred in &tail.from {
            for call in func.blocks[pred].term.targets_mut() {
                if call.block == tail.block {
                    call.block = copy;
                }
            }
        }
    }
}

/// A copy of a block, which leads to where the block leads.
fn copy(func: &mut Function, block: Block, cloner: &mut Cloner<'_>) -> Block {
    let before = cloner.checkpoint();
    let copy = func.add_block();
    cloner.add_params(func, block, copy);
    let insts = func.blocks[block].insts.clone();
    let term = func.blocks[block].term.clone();
    let mut b = Builder::new(func, copy);
    for inst in insts {
        cloner.inst(&mut b, inst);
    }
    let term = cloner.terminator(&mut b, &term);
    b.terminate(term);
    cloner.roll_back(before);
    copy
}

/// Demotes what some blocks define.
fn demote_results(func: &mut Function, blocks: &BTreeSet<Block>) {
    let mut values: SecondaryMap<Value, bool> = SecondaryMap::new();
    for &block in blocks {
        for &param in &func.blocks[block].params {
            values[param] = true;
        }
        for &inst in &func.blocks[block].insts {
            for &result in &func.insts[inst].results {
                values[result] = true;
            }
        }
    }
    demote(func, &values);
}
