//! Where a kernel is cut: barriers, the branches that decide about them, and the regions in
//! between.
//!
//! Blocks are cut so that a barrier ends one. An *outer branch* is one that decides whether, or how
//! often, a barrier is reached: one that a block ending in a barrier is control dependent on,
//! directly or through another outer branch (control dependence by post-dominators; Ferrante,
//! Ottenstein & Warren, "The Program Dependence Graph and Its Use in Optimization", 1987). It is
//! uniform for a group, by the rules for barriers.
//!
//! A *region* begins at the function's entry, after a barrier, at a target of an outer branch, or
//! where control arrives from two regions; it holds the blocks reached from there before the next
//! region begins. Found by passes in reverse post-order until nothing changes. Cost: linear for
//! each pass; few passes. All work-items come to a region's beginning, or none:
//! `tail_duplication.rs` sees to it.

use std::collections::BTreeSet;

use cranelift_entity::SecondaryMap;

use super::tail_duplication;
use crate::ir::{Block, BlockCall, Fence, Function, Op, PostDominatorTree, Terminator};
use crate::transform::canonical;
use crate::transform::suspension;

/// A kernel cut into regions.
pub(super) struct Cut {
    pub func: Function,
    /// Where regions begin, in reverse post-order, the function's entry first.
    pub entries: Vec<Block>,
    /// The beginning of the region that a block is in.
    pub owner: SecondaryMap<Block, Option<Block>>,
    /// Blocks that end with an outer branch.
    pub outer: SecondaryMap<Block, bool>,
    /// Blocks that end with a barrier.
    pub barriers: SecondaryMap<Block, Option<Fence>>,
}

pub(super) fn cut(kernel: &Function) -> Cut {
    let mut func = kernel.clone();
    canonical::unify(&mut func);
    let barriers = cut_at_barriers(&mut func);
    split_repeated_targets(&mut func);
    let mut outer = outer_branches(&func, &barriers);
    if tail_duplication::run(&mut func, &barriers, &outer) {
        canonical::unify(&mut func);
        split_repeated_targets(&mut func);
        outer = outer_branches(&func, &barriers);
    }
    split_inner_exits(&mut func, &barriers, outer)
}

/// Ends blocks at barriers, and says which.
fn cut_at_barriers(func: &mut Function) -> SecondaryMap<Block, Option<Fence>> {
    let points = suspension::cut(func, |op| matches!(op, Op::Barrier(_)));
    let mut barriers = SecondaryMap::new();
    for point in points {
        if let Op::Barrier(fence) = func.insts[point.inst].op {
            barriers[point.block] = Some(fence);
        }
    }
    barriers
}

/// Gives each of several jumps of a `switch` to one block with parameters a block of its own.
fn split_repeated_targets(func: &mut Function) {
    for block in func.layout.clone() {
        if !matches!(func.blocks[block].term, Terminator::Switch { .. }) {
            continue;
        }
        let mut seen = BTreeSet::new();
        split_edges(func, block, |call| {
            !seen.insert(call.block) && !call.args.is_empty()
        });
    }
    func.layout = func.reverse_post_order();
}

/// Gives some jumps of a block a block of their own.
fn split_edges(func: &mut Function, block: Block, mut is_split: impl FnMut(&BlockCall) -> bool) {
    let mut term = std::mem::replace(&mut func.blocks[block].term, Terminator::Unreachable);
    for call in term.targets_mut().filter(|call| is_split(call)) {
        let middle = func.add_block();
        let onward = std::mem::replace(call, BlockCall::new(middle, &[]));
        func.blocks[middle].term = Terminator::Br(onward);
    }
    func.blocks[block].term = term;
}

fn outer_branches(
    func: &Function,
    barriers: &SecondaryMap<Block, Option<Fence>>,
) -> SecondaryMap<Block, bool> {
    let post = PostDominatorTree::new(func);
    // For each block, the branches that it is control dependent on.
    let mut depends: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    for &branch in &func.layout {
        if func.successors(branch).count() < 2 {
            continue;
        }
        let join = post.ipdom(branch);
        for succ in func.successors(branch) {
            let mut at = Some(succ);
            while let Some(block) = at.filter(|&block| Some(block) != join) {
                if depends[block].last() != Some(&branch) {
                    depends[block].push(branch);
                }
                at = post.ipdom(block);
            }
        }
    }
    let mut outer: SecondaryMap<Block, bool> = SecondaryMap::new();
    let mut todo: Vec<Block> = func
        .layout
        .iter()
        .copied()
        .filter(|&block| barriers[block].is_some())
        .collect();
    while let Some(block) = todo.pop() {
        for &branch in &depends[block] {
            if !std::mem::replace(&mut outer[branch], true) {
                todo.push(branch);
            }
        }
    }
    outer
}

/// Finds the regions; jumps of inner branches out of a region get a block of their own, so that a
/// region is left by whole terminators only.
fn split_inner_exits(
    func: &mut Function,
    barriers: &SecondaryMap<Block, Option<Fence>>,
    outer: SecondaryMap<Block, bool>,
) -> Cut {
    let (entries, _) = find_regions(func, region_heads(func, barriers, &outer));
    let is_entry: BTreeSet<Block> = entries.into_iter().collect();
    for block in func.layout.clone() {
        if !outer[block] && func.blocks[block].term.target_count() > 1 {
            split_edges(func, block, |call| is_entry.contains(&call.block));
        }
    }
    func.layout = func.reverse_post_order();
    let (entries, owner) = find_regions(func, region_heads(func, barriers, &outer));
    Cut {
        func: func.clone(),
        entries,
        owner,
        outer,
        barriers: barriers.clone(),
    }
}

/// Where regions begin at least: at the entry, after barriers and outer branches.
pub(super) fn region_heads(
    func: &Function,
    barriers: &SecondaryMap<Block, Option<Fence>>,
    outer: &SecondaryMap<Block, bool>,
) -> SecondaryMap<Block, bool> {
    let mut is_head: SecondaryMap<Block, bool> = SecondaryMap::new();
    is_head[func.entry()] = true;
    for &block in &func.layout {
        if outer[block] || barriers[block].is_some() {
            for succ in func.successors(block) {
                is_head[succ] = true;
            }
        }
    }
    is_head
}

/// Regions that begin at certain heads, the entry among them, and where control arrives from two
/// regions: all heads, and the one that each block belongs to. So a region is left by its jumps to
/// heads, and entered at its own only.
pub(in crate::workgroup) fn find_regions(
    func: &Function,
    mut is_head: SecondaryMap<Block, bool>,
) -> (Vec<Block>, SecondaryMap<Block, Option<Block>>) {
    let preds = func.predecessors();
    let mut owner: SecondaryMap<Block, Option<Block>> = SecondaryMap::new();
    loop {
        let mut changed = false;
        for &block in &func.layout {
            if !is_head[block] {
                let mut owners = preds[block].iter().filter_map(|&pred| owner[pred]);
                let first = owners.next();
                if owners.all(|other| Some(other) == first) {
                    changed |= owner[block] != first;
                    owner[block] = first;
                    continue;
                }
                is_head[block] = true;
            }
            changed |= owner[block] != Some(block);
            owner[block] = Some(block);
        }
        if !changed {
            break;
        }
    }
    let heads = func.layout.iter().copied();
    (heads.filter(|&block| is_head[block]).collect(), owner)
}
