//! Where work-items that parted at a branch meet again.
//!
//! When work-items take different targets of a branch `d`, a block that two of them can reach on paths that
//! share nothing but `d` is a *join*: its parameters depend on the path, so they vary even when each value
//! handed to them does not. A loop is *divergent* when work-items may leave it in different
//! iterations or by different exits; what is computed in it varies for whoever uses it outside.
//!
//! Joins are found as LLVM's sync-dependence analysis does: every target of `d` starts with itself as its label;
//! labels flow along forward edges in reverse post-order; a block that two different labels reach is a join and goes
//! on with itself as label; when one block is all that is left to visit, everyone has met. An edge
//! that leaves a loop around `d` before that makes the loop divergent, and its exits then act as the targets of
//! one more branch, in the loop around it. Cost: the blocks between `d` and the meeting point, for each `d`.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use super::{DominatorTree, Loop, LoopForest};
use crate::ir::{Block, Function, Value, ValueDef};

/// What analyses of control flow share.
#[derive(Clone, Debug)]
pub struct Cfg {
    pub dominators: DominatorTree,
    pub loops: LoopForest,
    /// Reachable blocks in reverse post-order, and each one's place in it.
    pub order: Vec<Block>,
    pub position: SecondaryMap<Block, u32>,
    pub preds: SecondaryMap<Block, SmallVec<[Block; 4]>>,
    /// The block that defines a value.
    pub def_block: SecondaryMap<Value, Option<Block>>,
}

impl Cfg {
    pub fn new(func: &Function) -> Cfg {
        let dominators = DominatorTree::new(func);
        let loops = LoopForest::new(func, &dominators);
        let order = func.reverse_post_order();
        let mut position = SecondaryMap::with_capacity(func.blocks.len());
        let mut def_block = SecondaryMap::with_capacity(func.values.len());
        for (i, &block) in order.iter().enumerate() {
            position[block] = i as u32;
            for &inst in &func.blocks[block].insts {
                for &result in &func.insts[inst].results {
                    def_block[result] = Some(block);
                }
            }
        }
        for (value, data) in &func.values {
            if let ValueDef::Param(block, _) = data.def {
                def_block[value] = Some(block);
            }
        }
        Cfg {
            dominators,
            loops,
            order,
            position,
            preds: func.predecessors(),
            def_block,
        }
    }

    /// Whether an edge goes back to the header of a loop.
    pub fn is_back_edge(&self, from: Block, to: Block) -> bool {
        self.position[to] <= self.position[from]
    }

    /// The loops that an edge leaves, innermost first.
    pub fn loops_left(&self, from: Block, to: Block) -> impl Iterator<Item = Loop> {
        let mut at = self.loops.innermost(from);
        std::iter::from_fn(move || {
            let id = at.filter(|&id| !self.loops.contains(id, to))?;
            at = self.loops.loops[id].parent;
            Some(id)
        })
    }
}

/// The joins and divergent loops found so far; grows with every branch told to [`Divergence::part`].
#[derive(Clone, Debug, Default)]
pub struct Divergence {
    pub joins: SecondaryMap<Block, bool>,
    pub loops: SecondaryMap<Loop, bool>,
}

impl Divergence {
    /// Work-items part at the branch that ends `block`.
    pub fn part(&mut self, func: &Function, cfg: &Cfg, block: Block) {
        type Branch = (Option<Loop>, Vec<(Block, Block)>);
        let mut todo: Vec<Branch> = vec![(
            cfg.loops.innermost(block),
            func.successors(block).map(|succ| (block, succ)).collect(),
        )];
        while let Some((around, edges)) = todo.pop() {
            for id in self.propagate(func, cfg, around, &edges) {
                if self.loops[id] {
                    continue;
                }
                self.loops[id] = true;
                let data = &cfg.loops.loops[id];
                for &(_, exit) in &data.exits {
                    // Even work-items that leave by one edge do so in different iterations.
                    self.joins[exit] = true;
                }
                todo.push((data.parent, data.exits.clone()));
            }
        }
    }

    /// Sends the targets of `edges`, which leave from within the loop `around`, on their way as labels;
    /// returns the loops left by work-items that have not met.
    fn propagate(
        &mut self,
        func: &Function,
        cfg: &Cfg,
        around: Option<Loop>,
        edges: &[(Block, Block)],
    ) -> Vec<Loop> {
        // Blocks to visit by position, with the label that reached them.
        let mut pending: BTreeMap<u32, (Block, Block)> = BTreeMap::new();
        let mut left = Vec::new();
        let mut apart = false;
        let mut visit = |joins: &mut SecondaryMap<Block, bool>,
                         pending: &mut BTreeMap<u32, (Block, Block)>,
                         apart: &mut bool,
                         from: Block,
                         to: Block,
                         label: Block| {
            if cfg.is_back_edge(from, to) {
                // Another iteration of a loop around the branch; of one after it, nothing new.
                *apart |= around.is_some_and(|id| cfg.loops.loops[id].header == to);
                return;
            }
            let outside = around.is_some_and(|id| !cfg.loops.contains(id, to));
            if outside {
                let mut at = around;
                while let Some(id) = at.filter(|&id| !cfg.loops.contains(id, to)) {
                    left.push(id);
                    at = cfg.loops.loops[id].parent;
                }
                *apart = true;
                return;
            }
            let (_, known) = pending.entry(cfg.position[to]).or_insert((to, label));
            if *known != label {
                joins[to] = true;
                *known = to;
            }
        };
        for &(from, to) in edges {
            visit(&mut self.joins, &mut pending, &mut apart, from, to, to);
        }
        while let Some((_, (block, label))) = pending.pop_first() {
            if pending.is_empty() && !apart {
                break;
            }
            for succ in func.successors(block) {
                visit(
                    &mut self.joins,
                    &mut pending,
                    &mut apart,
                    block,
                    succ,
                    label,
                );
            }
        }
        left
    }
}
