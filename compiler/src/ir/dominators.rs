//! Dominator and post-dominator trees.
//!
//! Block `a` *dominates* `b` when every path from the entry to `b` passes `a`; it *post-dominates*
//! `b` when every path from `b` to an exit passes `a`. Every block does both to itself.
//!
//! Both trees come from one routine, Semi-NCA (Georgiadis, "Linear-Time Algorithms for Dominators
//! and Related Problems", 2005, section 2.4): number the nodes by depth-first search, find each
//! node's semidominator by path compression, then walk up the tree built so far from the node's
//! parent to the first ancestor that is not numbered above its semidominator. Quadratic in theory,
//! linear on what programs look like. Nothing recurses, so nesting may be as deep as memory allows.
//!
//! Post-dominators run it on reversed edges from a virtual exit, which every `ret` and
//! `unreachable` reaches. A loop without a way out has no path to an exit; its last block in
//! reverse post-order gets an edge to the virtual exit, so that every reachable block has a place
//! in the tree.

use cranelift_entity::{EntityRef, SecondaryMap, packed_option::PackedOption};

use super::{Block, Function};

/// A graph of nodes `0..n` with its edges in one array, so that walking it allocates nothing.
struct Graph {
    /// `edges[starts[n]..starts[n + 1]]` are the targets of node `n`.
    starts: Vec<u32>,
    edges: Vec<u32>,
}

impl Graph {
    fn new(nodes: usize, edges: &[(u32, u32)]) -> Graph {
        let mut starts = vec![0u32; nodes + 1];
        for &(from, _) in edges {
            starts[from as usize + 1] += 1;
        }
        for n in 0..nodes {
            starts[n + 1] += starts[n];
        }
        let mut next = starts.clone();
        let mut targets = vec![0; edges.len()];
        for &(from, to) in edges {
            targets[next[from as usize] as usize] = to;
            next[from as usize] += 1;
        }
        Graph {
            starts,
            edges: targets,
        }
    }

    fn targets(&self, node: u32) -> &[u32] {
        &self.edges[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }
}

/// No node.
pub(crate) const NONE: u32 = u32::MAX;

/// Immediate dominators of the nodes reachable from `root`; [`NONE`] for the root and the rest.
pub(crate) fn semi_nca(nodes: usize, root: u32, edges: &[(u32, u32)]) -> Vec<u32> {
    let forward = Graph::new(nodes, edges);
    let reversed: Vec<(u32, u32)> = edges.iter().map(|&(a, b)| (b, a)).collect();
    let backward = Graph::new(nodes, &reversed);

    // Depth-first numbers; from here on nodes are known by theirs.
    let mut number = vec![NONE; nodes];
    let mut node_of = Vec::with_capacity(nodes);
    let mut parent = Vec::with_capacity(nodes);
    let mut stack = vec![(root, NONE)];
    while let Some((node, from)) = stack.pop() {
        if number[node as usize] != NONE {
            continue;
        }
        let n = node_of.len() as u32;
        number[node as usize] = n;
        node_of.push(node);
        parent.push(from);
        stack.extend(forward.targets(node).iter().rev().map(|&next| (next, n)));
    }

    let count = node_of.len();
    let mut semi: Vec<u32> = (0..count as u32).collect();
    let mut label = semi.clone();
    let mut idom = parent.clone();
    // `ancestor` is `parent`, shortened as paths are compressed.
    let mut ancestor = parent.clone();
    let mut path = Vec::new();
    for w in (1..count as u32).rev() {
        let mut best = w;
        for &pred in backward.targets(node_of[w as usize]) {
            let v = number[pred as usize];
            if v == NONE {
                continue;
            }
            // The node of least semidominator on the path from `v` up to, without, the last node
            // not yet processed (numbers up to `w`); compresses that path.
            let mut at = v;
            while at > w && ancestor[at as usize] > w {
                path.push(at);
                at = ancestor[at as usize];
            }
            while let Some(below) = path.pop() {
                let above = ancestor[below as usize];
                if semi[label[above as usize] as usize] < semi[label[below as usize] as usize] {
                    label[below as usize] = label[above as usize];
                }
                ancestor[below as usize] = ancestor[above as usize];
            }
            let candidate = if v > w {
                semi[label[v as usize] as usize]
            } else {
                v
            };
            best = best.min(candidate);
        }
        semi[w as usize] = best;
        label[w as usize] = w;
    }
    for w in 1..count {
        let mut up = parent[w];
        while up > semi[w] {
            up = idom[up as usize];
        }
        idom[w] = up;
    }

    let mut result = vec![NONE; nodes];
    for w in 1..count {
        result[node_of[w] as usize] = node_of[idom[w] as usize];
    }
    result
}

/// A tree over blocks with constant-time ancestor tests.
#[derive(Clone, Debug)]
struct Tree {
    parent: SecondaryMap<Block, PackedOption<Block>>,
    children: SecondaryMap<Block, Vec<Block>>,
    /// Position in `preorder` and the end of the subtree there; `end` is 0 for blocks outside.
    begin: SecondaryMap<Block, u32>,
    end: SecondaryMap<Block, u32>,
    depth: SecondaryMap<Block, u32>,
    preorder: Vec<Block>,
}

impl Tree {
    /// `blocks` orders siblings; `roots` are the blocks without a parent.
    fn new(func: &Function, blocks: &[Block], roots: &[Block], idom: &[u32]) -> Tree {
        let mut tree = Tree {
            parent: SecondaryMap::with_capacity(func.blocks.len()),
            children: SecondaryMap::with_capacity(func.blocks.len()),
            begin: SecondaryMap::with_capacity(func.blocks.len()),
            end: SecondaryMap::with_capacity(func.blocks.len()),
            depth: SecondaryMap::with_capacity(func.blocks.len()),
            preorder: Vec::with_capacity(blocks.len()),
        };
        for &block in blocks {
            let up = idom[block.index()];
            if (up as usize) < func.blocks.len() {
                let up = Block::from_u32(up);
                tree.parent[block] = up.into();
                tree.children[up].push(block);
            }
        }
        // A block is entered when first popped and left when popped again.
        let mut stack: Vec<(Block, bool)> = roots.iter().rev().map(|&r| (r, false)).collect();
        while let Some((block, entered)) = stack.pop() {
            if entered {
                tree.end[block] = tree.preorder.len() as u32;
                continue;
            }
            tree.begin[block] = tree.preorder.len() as u32;
            tree.preorder.push(block);
            if let Some(up) = tree.parent[block].expand() {
                tree.depth[block] = tree.depth[up] + 1;
            }
            stack.push((block, true));
            stack.extend(tree.children[block].iter().rev().map(|&c| (c, false)));
        }
        tree
    }

    fn contains(&self, block: Block) -> bool {
        self.end[block] != 0
    }

    fn is_ancestor(&self, a: Block, b: Block) -> bool {
        self.contains(a)
            && self.contains(b)
            && self.begin[a] <= self.begin[b]
            && self.end[b] <= self.end[a]
    }

    fn nearest_common(&self, mut a: Block, b: Block) -> Option<Block> {
        while !self.is_ancestor(a, b) {
            a = self.parent[a].expand()?;
        }
        Some(a)
    }
}

/// Which blocks every path from the entry passes. Unreachable blocks are not in the tree.
#[derive(Clone, Debug)]
pub struct DominatorTree {
    tree: Tree,
}

impl DominatorTree {
    pub fn new(func: &Function) -> DominatorTree {
        let order = func.reverse_post_order();
        let mut edges = Vec::new();
        for &block in &order {
            edges.extend(func.successors(block).map(|s| (block.as_u32(), s.as_u32())));
        }
        let idom = semi_nca(func.blocks.len(), func.entry().as_u32(), &edges);
        DominatorTree {
            tree: Tree::new(func, &order, &[func.entry()], &idom),
        }
    }

    /// The nearest other dominator; `None` for the entry and unreachable blocks.
    pub fn idom(&self, block: Block) -> Option<Block> {
        self.tree.parent[block].expand()
    }

    pub fn is_reachable(&self, block: Block) -> bool {
        self.tree.contains(block)
    }

    /// Whether `a` dominates `b` (every block dominates itself); false when either is unreachable.
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        self.tree.is_ancestor(a, b)
    }

    /// Blocks immediately dominated, in reverse post-order.
    pub fn children(&self, block: Block) -> &[Block] {
        &self.tree.children[block]
    }

    /// Dominators above the block; 0 for the entry.
    pub fn depth(&self, block: Block) -> u32 {
        self.tree.depth[block]
    }

    /// Every reachable block after its dominators, a subtree contiguous.
    pub fn preorder(&self) -> &[Block] {
        &self.tree.preorder
    }

    /// The nearest block that dominates both; `None` when `a` or `b` is unreachable.
    pub fn nearest_common(&self, a: Block, b: Block) -> Option<Block> {
        self.tree.nearest_common(a, b)
    }
}

/// Which blocks every path to an exit passes. Blocks that the entry does not reach are not in it.
#[derive(Clone, Debug)]
pub struct PostDominatorTree {
    tree: Tree,
    infinite: Vec<Block>,
}

impl PostDominatorTree {
    pub fn new(func: &Function) -> PostDominatorTree {
        let order = func.reverse_post_order();
        let exit = func.blocks.len() as u32;
        let mut edges = Vec::new();
        let mut leaves = Vec::new();
        for &block in &order {
            let before = edges.len();
            edges.extend(func.successors(block).map(|s| (s.as_u32(), block.as_u32())));
            if edges.len() == before {
                leaves.push(block.as_u32());
            }
        }
        let backward = Graph::new(func.blocks.len(), &edges);
        let mut reaches_exit = vec![false; func.blocks.len()];
        let mut mark = |from: u32| {
            let mut stack = vec![from];
            let mut new = false;
            while let Some(node) = stack.pop() {
                if !std::mem::replace(&mut reaches_exit[node as usize], true) {
                    new = true;
                    stack.extend(backward.targets(node));
                }
            }
            new
        };
        edges.extend(leaves.iter().map(|&leaf| (exit, leaf)));
        for &leaf in &leaves {
            mark(leaf);
        }
        let mut infinite = Vec::new();
        for &block in order.iter().rev() {
            if mark(block.as_u32()) {
                edges.push((exit, block.as_u32()));
                infinite.push(block);
            }
        }
        let idom = semi_nca(func.blocks.len() + 1, exit, &edges);
        let roots: Vec<Block> = order
            .iter()
            .copied()
            .filter(|block| idom[block.index()] == exit)
            .collect();
        PostDominatorTree {
            tree: Tree::new(func, &order, &roots, &idom),
            infinite,
        }
    }

    /// The nearest other post-dominator; `None` when that is only the virtual exit.
    pub fn ipdom(&self, block: Block) -> Option<Block> {
        self.tree.parent[block].expand()
    }

    /// Whether `a` post-dominates `b` (every block post-dominates itself).
    pub fn post_dominates(&self, a: Block, b: Block) -> bool {
        self.tree.is_ancestor(a, b)
    }

    /// Blocks immediately post-dominated.
    pub fn children(&self, block: Block) -> &[Block] {
        &self.tree.children[block]
    }

    /// The nearest block that post-dominates both; `None` when only the virtual exit does.
    pub fn nearest_common(&self, a: Block, b: Block) -> Option<Block> {
        self.tree.nearest_common(a, b)
    }

    /// One block of each loop that has no way out, treated as if it could exit.
    pub fn infinite(&self) -> &[Block] {
        &self.infinite
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::HashSet;

    use rand::{Rng, SeedableRng};

    use super::*;
    use crate::ir::{BlockCall, Builder, Terminator, Type};

    /// A function of `n` blocks with random jumps.
    pub(crate) fn random_function(n: usize, seed: u64) -> Function {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut func = Function::new("random", &[Type::I1], &[]);
        let blocks: Vec<Block> = std::iter::once(func.entry())
            .chain((1..n).map(|_| func.add_block()).collect::<Vec<_>>())
            .collect();
        let cond = func.params()[0];
        for &block in &blocks {
            // The entry has no predecessors.
            let mut target = || BlockCall::new(blocks[rng.random_range(1..n)], &[]);
            let (a, b) = (target(), target());
            func.blocks[block].term = match rng.random_range(0..5) {
                0 => Terminator::Ret(Default::default()),
                1 | 2 => Terminator::Br(a),
                _ => Terminator::CondBr {
                    cond,
                    then: a,
                    els: b,
                },
            };
        }
        func
    }

    /// The blocks reached from `from` without passing `without`.
    fn reach(
        next: impl Fn(Block) -> Vec<Block>,
        from: Block,
        without: Option<Block>,
    ) -> HashSet<Block> {
        let mut seen = HashSet::new();
        let mut stack = vec![from];
        while let Some(block) = stack.pop() {
            if Some(block) != without && seen.insert(block) {
                stack.extend(next(block));
            }
        }
        seen
    }

    #[test]
    fn dominance_is_what_its_definition_says() {
        for seed in 0..200 {
            let func = random_function(2 + seed as usize % 14, seed);
            let tree = DominatorTree::new(&func);
            let next = |b| func.successors(b).collect::<Vec<_>>();
            let all = reach(next, func.entry(), None);
            for &a in &func.layout {
                let without = reach(next, func.entry(), Some(a));
                for &b in &func.layout {
                    let expected = all.contains(&a) && all.contains(&b) && !without.contains(&b);
                    assert_eq!(
                        tree.dominates(a, b),
                        expected,
                        "seed {seed}, {a} {b}\n{func}"
                    );
                }
            }
        }
    }

    #[test]
    fn post_dominance_is_what_its_definition_says() {
        for seed in 0..200 {
            let func = random_function(2 + seed as usize % 14, seed);
            let tree = PostDominatorTree::new(&func);
            let next = |b| func.successors(b).collect::<Vec<_>>();
            let all = reach(next, func.entry(), None);
            let exits = |from, without| {
                reach(next, from, without)
                    .iter()
                    .any(|&b| func.successors(b).next().is_none() || tree.infinite().contains(&b))
            };
            for &a in &all {
                for &b in &all {
                    let expected = a == b || !exits(b, Some(a));
                    let got = tree.post_dominates(a, b);
                    assert_eq!(got, expected, "seed {seed}, {a} {b}\n{func}");
                }
            }
        }
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let mut func = Function::new("deep", &[Type::I1], &[]);
        let cond = func.params()[0];
        let entry = func.entry();
        let exit = func.add_block();
        func.blocks[exit].term = Terminator::Ret(Default::default());
        let mut b = Builder::new(&mut func, entry);
        for _ in 0..50_000 {
            let next = b.new_block(&[]);
            b.cond_br(cond, next, &[], exit, &[]);
            b.switch_to(next);
        }
        let last = b.block;
        b.ret(&[]);
        let tree = DominatorTree::new(&func);
        assert_eq!(tree.depth(last), 50_000);
        assert_eq!(tree.idom(exit), Some(func.entry()));
        assert!(PostDominatorTree::new(&func).ipdom(last).is_none());
    }
}
