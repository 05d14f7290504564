//! In which order blocks are linearized, and which blocks have equal masks.
//!
//! Notation: *waiting graph*: the control-flow graph in which lanes that leave a divergent loop
//! wait for the others. An edge that leaves a divergent loop goes to the loop's latch instead, and
//! the latch has edges to the loop's exits. Where it leaves several loops, uniform ones first, the
//! innermost divergent loop's latch is meant.
//!
//! The order is a pre-order walk of the waiting graph's dominator tree that visits siblings in
//! reverse post-order, those inside more of the parent's loops first. Of siblings that may come in
//! either order the one with fewer blocks below it comes first: few masks wait then, whatever the
//! depth, and a chain of `else if` is run case by case. It has the properties that partial
//! linearization (Moll & Hack, "Partial Control-Flow Linearization", PLDI 2018, section 4) asks
//! for: topological but for back edges; the blocks that a block dominates follow it without a gap;
//! so do the blocks of a divergent loop.
//!
//! A block has the mask of an earlier block when every lane that passes one passes the other in the
//! same iteration of the same loops: when it is dominated by it, in the same loop, and
//! post-dominates it in the graph without back edges, where latches jump to the loop's exits
//! instead.

use cranelift_entity::{EntityRef, SecondaryMap};

use crate::analysis::{Cfg, Loop, Shapes};
use crate::ir::dominators::{NONE, semi_nca};
use crate::ir::{Block, Function};

pub struct Order {
    pub blocks: Vec<Block>,
    /// Place in `blocks`.
    pub index: SecondaryMap<Block, u32>,
    /// The earlier block that has the same mask.
    pub same_mask: SecondaryMap<Block, Option<Block>>,
}

impl Order {
    /// `None` if some loop cannot be left.
    pub fn new(func: &Function, cfg: &Cfg, shapes: &Shapes) -> Option<Order> {
        let blocks = visit(func, cfg, shapes);
        let mut index = SecondaryMap::new();
        for (i, &block) in blocks.iter().enumerate() {
            index[block] = i as u32;
        }
        Some(Order {
            same_mask: same_masks(func, cfg, shapes)?,
            blocks,
            index,
        })
    }
}

/// Where a jump out of `from`, a loop or none, to `target` leads in the waiting graph.
pub fn waits_at(cfg: &Cfg, shapes: &Shapes, from: Option<Loop>, target: Block) -> Block {
    let mut at = from;
    while let Some(id) = at.filter(|&id| !cfg.loops.contains(id, target)) {
        if shapes.divergence.loops[id] {
            return cfg.loops.loops[id].latches[0];
        }
        at = cfg.loops.loops[id].parent;
    }
    target
}

fn visit(func: &Function, cfg: &Cfg, shapes: &Shapes) -> Vec<Block> {
    let count = func.blocks.len();
    let mut succs: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut edges = Vec::new();
    let mut add = |from: Block, to: Block| {
        succs[from.index()].push(to.as_u32());
        edges.push((from.as_u32(), to.as_u32()));
    };
    for &block in &cfg.order {
        for succ in func.successors(block) {
            add(
                block,
                waits_at(cfg, shapes, cfg.loops.innermost(block), succ),
            );
        }
    }
    for (id, data) in &cfg.loops.loops {
        if shapes.divergence.loops[id] {
            for &(_, exit) in &data.exits {
                add(data.latches[0], waits_at(cfg, shapes, data.parent, exit));
            }
        }
    }
    let root = func.entry().as_u32();
    let idom = semi_nca(count, root, &edges);
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); count];
    for &block in &cfg.order {
        let up = idom[block.index()];
        if up != NONE {
            children[up as usize].push(block.as_u32());
        }
    }
    // Who is visited first comes last.
    let place = intervals(root, &idom);
    let below = |node: u32| place[node as usize].1 - place[node as usize].0;
    for succs in &mut succs {
        succs.sort_by_key(|&succ| std::cmp::Reverse(below(succ)));
    }
    let position = reverse_post_order(root, &succs);
    let mut order = Vec::with_capacity(cfg.order.len());
    let mut stack = vec![root];
    while let Some(node) = stack.pop() {
        let block = Block::from_u32(node);
        order.push(block);
        let mut below = std::mem::take(&mut children[node as usize]);
        below.sort_by_key(|&child| {
            let left = cfg.loops_left(block, Block::from_u32(child)).count();
            (left, position[child as usize])
        });
        stack.extend(below.into_iter().rev());
    }
    order
}

/// The place of each node in reverse post-order.
fn reverse_post_order(root: u32, succs: &[Vec<u32>]) -> Vec<u32> {
    let mut position = vec![NONE; succs.len()];
    let mut seen = vec![false; succs.len()];
    let mut next = succs.len() as u32;
    let mut stack = vec![(root, 0usize)];
    seen[root as usize] = true;
    while let Some((node, at)) = stack.last_mut() {
        match succs[*node as usize].get(*at) {
            Some(&succ) => {
                *at += 1;
                if !std::mem::replace(&mut seen[succ as usize], true) {
                    stack.push((succ, 0));
                }
            }
            None => {
                next -= 1;
                position[*node as usize] = next;
                stack.pop();
            }
        }
    }
    position
}

fn same_masks(
    func: &Function,
    cfg: &Cfg,
    shapes: &Shapes,
) -> Option<SecondaryMap<Block, Option<Block>>> {
    let count = func.blocks.len();
    let exit = count as u32;
    // Reversed: from the virtual exit backwards.
    let mut edges = Vec::new();
    for &block in &cfg.order {
        let mut leaves = true;
        for succ in func.successors(block) {
            leaves = false;
            if !cfg.is_back_edge(block, succ) {
                edges.push((succ.as_u32(), block.as_u32()));
            }
        }
        if leaves {
            edges.push((exit, block.as_u32()));
        }
    }
    for data in cfg.loops.loops.values() {
        for &(_, target) in &data.exits {
            edges.push((target.as_u32(), data.latches[0].as_u32()));
        }
    }
    let ipdom = semi_nca(count + 1, exit, &edges);
    if cfg.order.iter().any(|block| ipdom[block.index()] == NONE) {
        return None;
    }
    let place = intervals(exit, &ipdom);
    let post_dominates = |a: Block, b: Block| {
        let ((a0, a1), (b0, b1)) = (place[a.index()], place[b.index()]);
        a0 <= b0 && b1 <= a1
    };
    let mut same = SecondaryMap::new();
    for &block in &cfg.order {
        let level = |block: Block| {
            let inner = cfg.loops.innermost(block);
            match inner {
                Some(id) if cfg.loops.loops[id].header == block => cfg.loops.loops[id].parent,
                _ => inner,
            }
        };
        let around = level(block);
        let waits = cfg.loops.innermost(block).is_some_and(|id| {
            shapes.divergence.loops[id] && cfg.loops.loops[id].latches[0] == block
        });
        if waits {
            // Lanes that are done come here on edges of the waiting graph alone.
            continue;
        }
        let mut above = cfg.dominators.idom(block);
        // A header seen from inside its own loop counts as being in it.
        while let Some(up) = above.filter(|&up| cfg.loops.innermost(up) != around) {
            above = cfg.dominators.idom(up);
        }
        same[block] = above.filter(|&up| post_dominates(block, up));
    }
    Some(same)
}

/// For each node of a tree, when a walk from the root enters and leaves it.
fn intervals(root: u32, parent: &[u32]) -> Vec<(u32, u32)> {
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); parent.len()];
    for (node, &up) in parent.iter().enumerate() {
        if up != NONE {
            children[up as usize].push(node as u32);
        }
    }
    let mut place = vec![(0, 0); parent.len()];
    let mut clock = 0;
    let mut stack = vec![(root, false)];
    while let Some((node, entered)) = stack.pop() {
        if entered {
            place[node as usize].1 = clock;
            continue;
        }
        place[node as usize].0 = clock;
        clock += 1;
        stack.push((node, true));
        stack.extend(children[node as usize].iter().map(|&c| (c, false)));
    }
    place
}
