//! The loop forest.
//!
//! A *loop* here is a natural loop: a header that dominates the sources (latches) of some jumps
//! back to it, and every block that reaches a latch without passing the header. Two loops are
//! disjoint or one contains the other. A cycle whose entry does not dominate it (irreducible
//! control flow) is no loop; the forest says that there is one and which jumps make it.
//!
//! Headers are visited innermost first (dominator tree, deepest first); each walks backwards from
//! its latches, and steps over loops found before as a whole, so the cost is near linear: blocks
//! plus jumps, times the nesting only for the lists of blocks.

use std::collections::HashSet;

use cranelift_entity::{PrimaryMap, SecondaryMap, entity_impl, packed_option::PackedOption};

use crate::ir::{Block, DominatorTree, Function, Terminator};

/// A loop of a [`LoopForest`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loop(u32);
entity_impl!(Loop, "loop");

/// What is known of one loop.
#[derive(Clone, Debug)]
pub struct LoopData {
    pub header: Block,
    /// The innermost loop around this one.
    pub parent: Option<Loop>,
    /// 1 for an outermost loop.
    pub depth: u32,
    /// The blocks that jump back to the header; one entry per jump.
    pub latches: Vec<Block>,
    /// Jumps out: from a block of the loop, to one outside.
    pub exits: Vec<(Block, Block)>,
}

/// Every loop of a function.
#[derive(Clone, Debug)]
pub struct LoopForest {
    /// Inner loops before the loops around them.
    pub loops: PrimaryMap<Loop, LoopData>,
    /// Jumps that close a cycle without a dominating header, as from and to.
    pub irreducible: Vec<(Block, Block)>,
    innermost: SecondaryMap<Block, PackedOption<Loop>>,
    /// In reverse post-order.
    position: SecondaryMap<Block, u32>,
}

/// The place of each block in an order.
pub fn positions(order: &[Block]) -> SecondaryMap<Block, u32> {
    let mut position = SecondaryMap::new();
    for (i, &block) in order.iter().enumerate() {
        position[block] = i as u32;
    }
    position
}

/// Jumps, as from and to, to a block no later in reverse post-order: each loop has one.
pub fn jumps_back(
    func: &Function,
    order: &[Block],
    position: &SecondaryMap<Block, u32>,
) -> Vec<(Block, Block)> {
    let from = order.iter().copied();
    let jumps = from.flat_map(|block| func.successors(block).map(move |succ| (block, succ)));
    let back = jumps.filter(|&(block, succ)| position[succ] <= position[block]);
    back.collect()
}

impl LoopForest {
    pub fn new(func: &Function, dominators: &DominatorTree) -> LoopForest {
        let order = func.reverse_post_order();
        let preds = func.predecessors();
        let position = positions(&order);
        let mut irreducible = jumps_back(func, &order, &position);
        irreducible.retain(|&(from, to)| !dominators.dominates(to, from));
        let mut forest = LoopForest {
            loops: PrimaryMap::new(),
            irreducible,
            innermost: SecondaryMap::with_capacity(func.blocks.len()),
            position,
        };
        // For each loop, one around it or itself: the way to the outermost, shortened when it is
        // walked.
        let mut up: PrimaryMap<Loop, Loop> = PrimaryMap::new();
        for &header in dominators.preorder().iter().rev() {
            let latches: Vec<Block> = preds[header]
                .iter()
                .copied()
                .filter(|&pred| dominators.dominates(header, pred))
                .collect();
            if !latches.is_empty() {
                forest.discover(header, latches, dominators, &preds, &mut up);
            }
        }
        // Inner loops came first, so parents are complete from the back.
        for index in (0..forest.loops.len() as u32).rev() {
            let id = Loop::from_u32(index);
            let depth = forest.loops[id]
                .parent
                .map_or(0, |up| forest.loops[up].depth);
            forest.loops[id].depth = depth + 1;
        }
        for &block in &order {
            for succ in func.successors(block) {
                let mut left = forest.innermost(block);
                while let Some(id) = left.filter(|&id| !forest.contains(id, succ)) {
                    forest.loops[id].exits.push((block, succ));
                    left = forest.loops[id].parent;
                }
            }
        }
        forest
    }

    /// Adds the loop of `header`, and makes it the parent of the loops found in it.
    fn discover(
        &mut self,
        header: Block,
        latches: Vec<Block>,
        dominators: &DominatorTree,
        preds: &SecondaryMap<Block, smallvec::SmallVec<[Block; 4]>>,
        up: &mut PrimaryMap<Loop, Loop>,
    ) {
        let id = self.loops.push(LoopData {
            header,
            parent: None,
            depth: 0,
            latches: latches.clone(),
            exits: Vec::new(),
        });
        up.push(id);
        let mut work = latches;
        while let Some(block) = work.pop() {
            // The outermost loop found so far around the block.
            let outer = self.innermost(block).map(|mut at| {
                while up[at] != at {
                    up[at] = up[up[at]];
                    at = up[at];
                }
                at
            });
            let entry = match outer {
                Some(outer) if outer == id => continue,
                Some(outer) => {
                    self.loops[outer].parent = Some(id);
                    up[outer] = id;
                    self.loops[outer].header
                }
                None => {
                    self.innermost[block] = id.into();
                    if block == header {
                        continue;
                    }
                    block
                }
            };
            let reachable = preds[entry].iter().filter(|&&p| dominators.is_reachable(p));
            // Latches of the inner loop are inside it and are stepped over when popped.
            work.extend(reachable);
        }
        self.innermost[header] = id.into();
    }

    /// The innermost loop that contains a block.
    pub fn innermost(&self, block: Block) -> Option<Loop> {
        self.innermost[block].expand()
    }

    /// How many loops contain a block.
    pub fn depth(&self, block: Block) -> u32 {
        self.innermost(block).map_or(0, |id| self.loops[id].depth)
    }

    /// Whether a jump from a block to another leaves a loop.
    pub fn is_exit(&self, from: Block, to: Block) -> bool {
        self.innermost(from)
            .is_some_and(|inner| !self.contains(inner, to))
    }

    /// Whether a block is in a loop or in a loop inside it. Cost: the difference in depth.
    pub fn contains(&self, id: Loop, block: Block) -> bool {
        let mut around = self.innermost(block);
        while let Some(inner) = around {
            if inner == id {
                return true;
            }
            if self.loops[inner].depth <= self.loops[id].depth {
                return false;
            }
            around = self.loops[inner].parent;
        }
        false
    }

    /// Every block of the loop and of those in it, in reverse post-order, the header first; `None`
    /// if they are more than `max`.
    pub fn blocks(&self, func: &Function, id: Loop, max: usize) -> Option<Vec<Block>> {
        let mut found = vec![self.loops[id].header];
        let mut seen: HashSet<Block> = HashSet::from_iter(found.iter().copied());
        let mut next = 0;
        while next < found.len() {
            if found.len() > max {
                return None;
            }
            for succ in func.successors(found[next]) {
                if self.contains(id, succ) && seen.insert(succ) {
                    found.push(succ);
                }
            }
            next += 1;
        }
        found.sort_by_key(|&block| self.position[block]);
        Some(found)
    }

    /// The only block outside the loop that jumps to its header, if it jumps nowhere else.
    pub fn preheader(
        &self,
        func: &Function,
        preds: &SecondaryMap<Block, smallvec::SmallVec<[Block; 4]>>,
        id: Loop,
    ) -> Option<Block> {
        let mut outside = preds[self.loops[id].header]
            .iter()
            .copied()
            .filter(|&pred| !self.contains(id, pred));
        let only = outside.next()?;
        let plain = matches!(func.blocks[only].term, Terminator::Br(_));
        (plain && outside.next().is_none()).then_some(only)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse;

    fn forest(body: &str) -> (Function, LoopForest) {
        let text = format!("func \"f\" (i1) -> () {{\nblock0(v0: i1):\n{body}\n}}");
        let module = parse::module(&text).unwrap();
        let func = module.functions.values().next().unwrap().clone();
        let forest = LoopForest::new(&func, &DominatorTree::new(&func));
        (func, forest)
    }

    #[test]
    fn nested_loops_know_their_blocks_latches_and_exits() {
        let (func, forest) = forest(
            "br block1\nblock1:\nbr block2\nblock2:\ncond_br v0, block2, block3\n\
             block3:\ncond_br v0, block1, block4\nblock4:\nret",
        );
        let b = |n| Block::from_u32(n);
        assert_eq!(forest.loops.len(), 2);
        let inner = forest.innermost(b(2)).unwrap();
        let outer = forest.innermost(b(1)).unwrap();
        assert_eq!(forest.loops[inner].parent, Some(outer));
        assert_eq!(forest.blocks(&func, inner, 1), Some(vec![b(2)]));
        assert_eq!(forest.blocks(&func, outer, 3), Some(vec![b(1), b(2), b(3)]));
        assert_eq!(forest.blocks(&func, outer, 2), None);
        assert_eq!(forest.loops[outer].latches, [b(3)]);
        assert_eq!(forest.loops[outer].exits, [(b(3), b(4))]);
        assert_eq!(forest.loops[inner].exits, [(b(2), b(3))]);
        assert_eq!(
            (forest.depth(b(2)), forest.depth(b(3)), forest.depth(b(4))),
            (2, 1, 0)
        );
        let preds = func.predecessors();
        assert_eq!(forest.preheader(&func, &preds, outer), Some(b(0)));
        assert_eq!(forest.preheader(&func, &preds, inner), Some(b(1)));
        assert!(forest.irreducible.is_empty());
    }

    #[test]
    fn one_jump_may_leave_several_loops() {
        let (_, forest) = forest(
            "br block1\nblock1:\nbr block2\nblock2:\ncond_br v0, block3, block4\n\
             block3:\ncond_br v0, block2, block1\nblock4:\nret",
        );
        let exits: Vec<_> = forest.loops.values().map(|l| l.exits.len()).collect();
        assert_eq!(exits, [2, 1]);
    }

    #[test]
    fn a_cycle_with_two_entries_is_reported_and_is_no_loop() {
        let (_, forest) = forest(
            "cond_br v0, block1, block2\nblock1:\nbr block2\nblock2:\ncond_br v0, block1, block3\nblock3:\nret",
        );
        assert!(forest.loops.is_empty());
        assert_eq!(forest.irreducible.len(), 1);
    }
}
