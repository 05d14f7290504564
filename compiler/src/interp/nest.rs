//! What an iteration is, for work-items that part and meet again.
//!
//! A *loop* is a set of blocks that can all reach each other; those that a jump from outside leads
//! to are its *entries*. To come to an entry begins an iteration. Loops inside are found in the
//! same way once jumps to the entries are left out. Nothing is assumed of the control flow: a loop
//! may have any number of entries. This is written down here, and not taken from the compiler's
//! analyses, so that a mistake in either shows.

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use crate::ir::{Block, Function, Inst, Op};

/// The loops around a place, outermost first, by number, and how many iterations of each were begun
/// before this one.
pub(super) type Around = SmallVec<[(usize, u32); 2]>;

#[derive(Debug)]
struct Loop {
    parent: Option<usize>,
    /// The least position of its entries.
    position: u32,
}

/// In which order work-items that parted go on.
#[derive(Debug)]
pub(super) struct Nest {
    loops: Vec<Loop>,
    /// The innermost loop that a block is in.
    innermost: SecondaryMap<Block, Option<usize>>,
    /// The loop that a block is an entry of.
    entry_of: SecondaryMap<Block, Option<usize>>,
    /// If a block can come to another in the same iterations, its position is less.
    position: SecondaryMap<Block, u32>,
}

impl Nest {
    /// For functions with a collective, or that may call one with it.
    pub fn new(func: &Function) -> Option<Nest> {
        let matters =
            |inst: &Inst| matches!(func.insts[*inst].op, Op::Collective { .. } | Op::Call(_));
        let mut blocks = func.layout.iter();
        if !blocks.any(|&block| func.blocks[block].insts.iter().any(matters)) {
            return None;
        }
        let mut nest = Nest {
            loops: Vec::new(),
            innermost: SecondaryMap::new(),
            entry_of: SecondaryMap::new(),
            position: SecondaryMap::new(),
        };
        nest.find_loops(func, &func.layout, None);
        nest.order(func);
        Some(nest)
    }

    /// Finds the loops among `blocks`, which are in the loop `parent` and not its entries.
    fn find_loops(&mut self, func: &Function, blocks: &[Block], parent: Option<usize>) {
        let mut inside = SecondaryMap::new();
        for &block in blocks {
            inside[block] = true;
        }
        let next = |block: Block| -> Vec<Block> {
            func.successors(block)
                .filter(|&next| inside[next])
                .collect()
        };
        for group in mutually_reachable(blocks, next) {
            let repeats = group.len() > 1 || func.successors(group[0]).any(|b| b == group[0]);
            if repeats {
                self.add_loop(func, &group, parent);
            }
        }
    }

    fn add_loop(&mut self, func: &Function, blocks: &[Block], parent: Option<usize>) {
        let id = self.loops.len();
        self.loops.push(Loop {
            parent,
            position: u32::MAX,
        });
        let mut inside = SecondaryMap::new();
        for &block in blocks {
            inside[block] = true;
            self.innermost[block] = Some(id);
        }
        let mut entered = SecondaryMap::new();
        entered[func.entry()] = true;
        for &from in &func.layout {
            if !inside[from] {
                for to in func.successors(from) {
                    entered[to] = true;
                }
            }
        }
        let (entries, rest): (Vec<Block>, Vec<Block>) =
            blocks.iter().partition(|&&block| entered[block]);
        for entry in entries {
            self.entry_of[entry] = Some(id);
        }
        // A loop that nothing leads to never runs.
        if rest.len() < blocks.len() {
            self.find_loops(func, &rest, Some(id));
        }
    }

    fn contains(&self, id: usize, block: Block) -> bool {
        let mut around = self.innermost[block];
        while let Some(inner) = around {
            if inner == id {
                return true;
            }
            around = self.loops[inner].parent;
        }
        false
    }

    /// Positions: blocks after those that lead to them, jumps that begin another iteration aside.
    /// Whatever leads to one entry of a loop comes before all of them.
    fn order(&mut self, func: &Function) {
        let mut entries: Vec<Vec<Block>> = vec![Vec::new(); self.loops.len()];
        for &block in &func.layout {
            if let Some(id) = self.entry_of[block] {
                entries[id].push(block);
            }
        }
        let next = |block: Block| -> Vec<Block> {
            let mut all = Vec::new();
            for to in func.successors(block) {
                match self.entry_of[to] {
                    Some(id) if self.contains(id, block) => {}
                    Some(id) => all.extend_from_slice(&entries[id]),
                    None => all.push(to),
                }
            }
            all
        };
        let mut finished = Vec::new();
        let mut seen = SecondaryMap::new();
        for &root in [func.entry()].iter().chain(&func.layout) {
            depth_first(root, &mut seen, &next, &mut finished);
        }
        // Several roots: those of later ones come first, which nobody reaches.
        for (position, &block) in finished.iter().rev().enumerate() {
            self.position[block] = position as u32;
        }
        for (id, entries) in entries.iter().enumerate() {
            let positions = entries.iter().map(|&entry| self.position[entry]);
            self.loops[id].position = positions.min().unwrap_or(u32::MAX);
        }
    }

    /// A work-item that is in some loops comes to a block.
    pub fn come_to(&self, block: Block, around: &mut Around) {
        while let Some(&(id, _)) = around.last()
            && !self.contains(id, block)
        {
            around.pop();
        }
        if let Some(id) = self.entry_of[block] {
            match around.last_mut() {
                Some((innermost, iterations)) if *innermost == id => *iterations += 1,
                _ => around.push((id, 0)),
            }
        }
    }

    /// Adds a place in this function to that of its caller: see [`super::exec::Item::place`].
    pub fn place(&self, block: Block, next: usize, around: &Around, place: &mut Vec<u32>) {
        for &(id, iterations) in around {
            place.extend([self.loops[id].position, iterations]);
        }
        place.extend([self.position[block], next as u32]);
    }
}

/// Visits what is reachable from `root` and was not seen before; blocks are added to `finished`
/// after all that they lead to.
fn depth_first(
    root: Block,
    seen: &mut SecondaryMap<Block, bool>,
    next: &impl Fn(Block) -> Vec<Block>,
    finished: &mut Vec<Block>,
) {
    if seen[root] {
        return;
    }
    seen[root] = true;
    let mut path = vec![(root, next(root))];
    while let Some((block, open)) = path.last_mut() {
        let block = *block;
        match open.pop() {
            Some(to) if seen[to] => {}
            Some(to) => {
                seen[to] = true;
                path.push((to, next(to)));
            }
            None => {
                finished.push(block);
                path.pop();
            }
        }
    }
}

/// Blocks by groups whose members can all reach each other: Kosaraju's algorithm.
fn mutually_reachable(blocks: &[Block], next: impl Fn(Block) -> Vec<Block>) -> Vec<Vec<Block>> {
    let mut finished = Vec::new();
    let mut seen = SecondaryMap::new();
    for &block in blocks {
        depth_first(block, &mut seen, &next, &mut finished);
    }
    let mut before: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    for &block in blocks {
        for to in next(block) {
            before[to].push(block);
        }
    }
    let mut seen = SecondaryMap::new();
    let mut groups = Vec::new();
    for &block in finished.iter().rev() {
        let mut group = Vec::new();
        depth_first(block, &mut seen, &|b: Block| before[b].clone(), &mut group);
        if !group.is_empty() {
            groups.push(group);
        }
    }
    groups
}
