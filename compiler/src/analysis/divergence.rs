//! Where work-items that parted at a branch meet again.
//!
//! When work-items take different targets of a branch `d`, a block that two of them can reach on
//! paths that share nothing but `d` is a *join*: its parameters depend on the path, so they vary
//! even when each value handed to them does not. A loop is *divergent* when work-items may leave it
//! in different iterations or by different exits; what is computed in it varies for whoever uses it
//! outside.
//!
//! Joins are found as LLVM's sync-dependence analysis does: every target of `d` starts with itself
//! as its label; labels flow along forward edges in reverse post-order; a block that two different
//! labels reach is a join and goes on with itself as label; when one block is all that is left to
//! visit, everyone has met. An edge that leaves a loop around `d` before that makes the loop
//! divergent, and its exits then act as the targets of one more branch, in the loop around it.
//!
//! Where all paths from a block `b` on meet again without leaving the iteration, and nothing comes
//! to what is between but by way of `b`, all of it has one label, so the label goes to the meeting
//! point at once. That makes nests and chains cheap. Cost otherwise: the blocks between `d` and the
//! meeting point, for each `d`, as jumps hither and thither make them. Long functions of those get
//! a bound, in proportion to their blocks, beyond which every block is taken for a join and every
//! loop for divergent.

use std::collections::BTreeMap;

use cranelift_entity::{EntityRef, SecondaryMap};
use smallvec::SmallVec;

use super::{Loop, LoopForest};
use crate::ir::dominators::{DominatorTree, NONE, semi_nca};
use crate::ir::{Block, Function, Jump, Value, ValueDef};

/// What analyses of control flow share.
#[derive(Clone, Debug)]
pub struct Cfg {
    pub dominators: DominatorTree,
    pub loops: LoopForest,
    /// Reachable blocks in reverse post-order, and each one's place in it.
    pub order: Vec<Block>,
    pub position: SecondaryMap<Block, u32>,
    /// The jumps to each block.
    pub jumps: SecondaryMap<Block, SmallVec<[Jump; 4]>>,
    /// The block that defines a value.
    pub def_block: SecondaryMap<Value, Option<Block>>,
    /// Where all that comes to a block meets again, if nothing comes to what is between but by way
    /// of the block.
    meets: SecondaryMap<Block, Option<Block>>,
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
        let mut cfg = Cfg {
            dominators,
            loops,
            order,
            position,
            jumps: func.jumps(),
            def_block,
            meets: SecondaryMap::new(),
        };
        cfg.meets = cfg.meeting_points(func);
        cfg
    }

    /// See [`Cfg::meets`].
    ///
    /// Taken are immediate post-dominators in the graph in which the end of an iteration leads to
    /// the loop's exits instead of its header. The blocks between `b` and its own, `p`, are
    /// dominated by `b` if none of them has an immediate dominator that is less deep in the
    /// dominator tree than `b`: on a path from `b`, the first block that `b` does not dominate
    /// would have one above `b`. The least depth of those is found from the ends upwards: between
    /// `b` and `p` are, for each successor of `b`, the chain of immediate post-dominators from
    /// there to `p`, and what is between its links.
    fn meeting_points(&self, func: &Function) -> SecondaryMap<Block, Option<Block>> {
        let mut meets = SecondaryMap::new();
        if !self.loops.irreducible.is_empty() {
            return meets;
        }
        // Besides blocks: an exit of the function, and for each loop the end of an iteration.
        let exit = func.blocks.len() as u32;
        let nodes = func.blocks.len() + 1 + self.loops.loops.len();
        let end = |id: Loop| exit + 1 + id.as_u32();
        let mut succs: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); nodes];
        for &block in &self.order {
            let to = &mut succs[block.index()];
            to.extend(
                func.successors(block)
                    .map(|succ| match self.loops.innermost(succ) {
                        Some(id) if self.is_back_edge(block, succ) => end(id),
                        _ => succ.as_u32(),
                    }),
            );
            if to.is_empty() {
                to.push(exit);
            }
        }
        for (id, data) in &self.loops.loops {
            succs[end(id) as usize].extend(data.exits.iter().map(|&(_, target)| target.as_u32()));
        }
        let edges = succs.iter().enumerate();
        let reversed: Vec<(u32, u32)> = edges
            .flat_map(|(from, to)| to.iter().map(move |&to| (to, from as u32)))
            .collect();
        let ipdom = semi_nca(nodes, exit, &reversed);
        let depth = |block: Option<Block>| block.map_or(0, |b| self.dominators.depth(b));
        // The least depth of the immediate dominators of what is between a node and its immediate
        // post-dominator.
        let mut least = vec![u32::MAX; nodes];
        for node in post_order(func.entry().as_u32(), &succs) {
            let stop = ipdom[node as usize];
            if stop == NONE {
                continue;
            }
            let mut bound = u32::MAX;
            for &succ in &succs[node as usize] {
                let mut at = succ;
                while at != stop && at != NONE {
                    bound = bound.min(least[at as usize]);
                    if at < exit {
                        bound = bound.min(depth(self.dominators.idom(Block::from_u32(at))));
                    } else if node < exit && at > exit {
                        let id = Loop::from_u32(at - exit - 1);
                        if self.loops.contains(id, Block::from_u32(node)) {
                            // More comes to the exits than from here.
                            bound = 0;
                        }
                    }
                    at = ipdom[at as usize];
                }
            }
            least[node as usize] = bound;
            if node < exit && stop < exit {
                let block = Block::from_u32(node);
                if bound >= self.dominators.depth(block) {
                    meets[block] = Some(Block::from_u32(stop));
                }
            }
        }
        meets
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

/// The nodes of a graph without cycles, each after all that it leads to.
fn post_order(root: u32, succs: &[SmallVec<[u32; 2]>]) -> Vec<u32> {
    let mut seen = vec![false; succs.len()];
    seen[root as usize] = true;
    let mut stack = vec![(root, 0)];
    let mut order = Vec::new();
    while let Some((node, next)) = stack.last_mut() {
        match succs[*node as usize].get(*next) {
            Some(&succ) => {
                *next += 1;
                if !std::mem::replace(&mut seen[succ as usize], true) {
                    stack.push((succ, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}

/// The joins and divergent loops found so far; grows with every branch told to
/// [`Divergence::part`].
#[derive(Clone, Debug)]
pub struct Divergence {
    pub joins: SecondaryMap<Block, bool>,
    pub loops: SecondaryMap<Loop, bool>,
    /// How many more blocks may be visited; none once all that may be a join is taken for one.
    left: usize,
}

impl Divergence {
    /// Visits of blocks, at about 100 ns, that any function may take, and for each of its blocks.
    /// Every branch of 500 blocks may see all others.
    const VISITS: usize = 250_000;
    const VISITS_FOR_BLOCK: usize = 8;

    /// Before any branch is told of.
    pub fn new(cfg: &Cfg) -> Divergence {
        // Without a loop forest that tells the whole story, every block may be a join.
        let is_irreducible = !cfg.loops.irreducible.is_empty();
        Divergence {
            joins: SecondaryMap::with_default(is_irreducible),
            loops: SecondaryMap::new(),
            left: Divergence::VISITS + Divergence::VISITS_FOR_BLOCK * cfg.order.len(),
        }
    }

    /// Work-items part at the branch that ends `block`.
    pub fn part(&mut self, func: &Function, cfg: &Cfg, block: Block) {
        if self.left > 0 {
            self.propagate_all(func, cfg, block);
        }
        if self.left == 0 {
            self.joins = SecondaryMap::with_default(true);
            self.loops = SecondaryMap::with_default(true);
        }
    }

    fn propagate_all(&mut self, func: &Function, cfg: &Cfg, block: Block) {
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

    /// Sends the targets of `edges`, which leave from within the loop `around`, on their way as
    /// labels; returns the loops left by work-items that have not met.
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
            if pending.is_empty() && !apart || self.left == 0 {
                break;
            }
            self.left -= 1;
            let outside = |to: Block| around.is_some_and(|id| !cfg.loops.contains(id, to));
            let shortcut = cfg.meets[block].filter(|&to| !outside(to));
            let all = shortcut.is_none().then(|| func.successors(block));
            for succ in shortcut.into_iter().chain(all.into_iter().flatten()) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse;

    /// A block for each of `length` steps, from which control goes on to the next or to the one
    /// that `far` says; the last returns.
    fn steps(length: usize, far: impl Fn(usize) -> usize) -> Function {
        let mut text = "func \"f\" (i1) -> () {\nblock0(v0: i1):\nbr block1\n".to_owned();
        for step in 1..length {
            let far = far(step).min(length);
            let next = step + 1;
            text += &format!("block{step}:\ncond_br v0, block{next}, block{far}\n");
        }
        text += &format!("block{length}:\nret\n}}");
        let module = parse::module(&text).expect("a module");
        let mut functions = module.functions.values();
        functions.next().expect("a function").clone()
    }

    /// What is found where all branches are divergent.
    fn all_divergent(func: &Function) -> (Cfg, Divergence) {
        let cfg = Cfg::new(func);
        let mut divergence = Divergence::new(&cfg);
        for &block in &cfg.order {
            if func.successors(block).count() > 1 {
                divergence.part(func, &cfg, block);
            }
        }
        (cfg, divergence)
    }

    #[test]
    fn chains_of_any_length_have_their_joins_only() {
        // Steps over every other block: what is stepped over is no join.
        let func = steps(
            20_001,
            |step| if step % 2 == 1 { step + 2 } else { step + 1 },
        );
        let (cfg, divergence) = all_divergent(&func);
        assert!(divergence.left > 0);
        let joins = cfg.order.iter().filter(|&&block| divergence.joins[block]);
        assert!(joins.count() < cfg.order.len() * 2 / 3);
    }

    #[test]
    fn long_functions_of_jumps_hither_and_thither_take_bounded_time() {
        let func = steps(3000, |step| step + 2 + step * 7919 % 1009);
        let (cfg, divergence) = all_divergent(&func);
        assert_eq!(
            divergence.left, 0,
            "each branch leads to nearly all blocks behind it"
        );
        assert!(cfg.order.iter().all(|&block| divergence.joins[block]));
    }
}
