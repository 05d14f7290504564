//! Control flow: order, dominators, loops.
//!
//! Blocks are by their place in reverse postorder. Dominators are found by Cooper, Harvey and
//! Kennedy's algorithm; loops by a walk back from their latches, innermost first, in which a loop
//! that was found is one node.

use rustc_hash::FxHashMap;

use super::ir::{Block, Id};

pub(crate) struct Graph {
    pub successors: Vec<Vec<usize>>,
    pub predecessors: Vec<Vec<usize>>,
    /// The immediate dominator; that of the first block is itself.
    pub idom: Vec<usize>,
}

impl Graph {
    /// Of blocks in reverse postorder, all of which are reached.
    pub fn of(blocks: &[Block]) -> Graph {
        let index: FxHashMap<Id, usize> = blocks
            .iter()
            .enumerate()
            .map(|(at, b)| (b.label, at))
            .collect();
        let mut successors = Vec::new();
        let mut predecessors = vec![Vec::new(); blocks.len()];
        for (at, block) in blocks.iter().enumerate() {
            let mut all: Vec<usize> = block
                .successors()
                .iter()
                .map(|label| index[label])
                .collect();
            let mut seen = rustc_hash::FxHashSet::default();
            all.retain(|&next| seen.insert(next));
            for &next in &all {
                predecessors[next].push(at);
            }
            successors.push(all);
        }
        let idom = dominators(&predecessors);
        Graph {
            successors,
            predecessors,
            idom,
        }
    }

    /// Whether each edge that goes back goes to a dominator.
    pub fn is_reducible(&self) -> bool {
        let depth = self.depths();
        (0..self.successors.len()).all(|at| {
            let mut back = self.successors[at].iter().filter(|&&next| next <= at);
            back.all(|&next| self.dominates(&depth, next, at))
        })
    }

    fn depths(&self) -> Vec<usize> {
        let mut depth = vec![0; self.idom.len()];
        for at in 1..self.idom.len() {
            depth[at] = depth[self.idom[at]] + 1;
        }
        depth
    }

    fn dominates(&self, depth: &[usize], above: usize, mut at: usize) -> bool {
        while depth[at] > depth[above] {
            at = self.idom[at];
        }
        at == above
    }
}

/// Immediate dominators, of nodes in reverse postorder.
pub(crate) fn dominators(predecessors: &[Vec<usize>]) -> Vec<usize> {
    const UNKNOWN: usize = usize::MAX;
    let mut idom = vec![UNKNOWN; predecessors.len()];
    idom[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for at in 1..predecessors.len() {
            let mut new = UNKNOWN;
            for &from in &predecessors[at] {
                if idom[from] == UNKNOWN {
                    continue;
                }
                new = match new {
                    UNKNOWN => from,
                    _ => {
                        let (mut a, mut b) = (new, from);
                        while a != b {
                            match a > b {
                                true => a = idom[a],
                                false => b = idom[b],
                            }
                        }
                        a
                    }
                };
            }
            if idom[at] != new {
                idom[at] = new;
                changed = true;
            }
        }
    }
    idom
}

/// The loops of a reducible graph.
pub(crate) struct Loops {
    /// The header of the innermost loop that a block is in; a header is in its own.
    pub of: Vec<Option<usize>>,
    /// By header, that of the loop around it.
    pub around: Vec<Option<usize>>,
}

impl Loops {
    pub fn find(graph: &Graph) -> Loops {
        let count = graph.successors.len();
        let mut loops = Loops {
            of: vec![None; count],
            around: vec![None; count],
        };
        // The outermost loop found that a header is in, for the walk.
        let mut outer: Vec<usize> = (0..count).collect();
        fn root(outer: &mut [usize], mut at: usize) -> usize {
            while outer[at] != at {
                outer[at] = outer[outer[at]];
                at = outer[at];
            }
            at
        }
        for header in (0..count).rev() {
            let latches: Vec<usize> = graph.predecessors[header]
                .iter()
                .copied()
                .filter(|&from| from >= header)
                .collect();
            if latches.is_empty() {
                continue;
            }
            let mut work = latches;
            while let Some(at) = work.pop() {
                let at = root(&mut outer, at);
                if at == header {
                    continue;
                }
                outer[at] = header;
                match loops.of[at] {
                    Some(own) if own == at => loops.around[at] = Some(header),
                    _ => loops.of[at] = Some(header),
                }
                let before = graph.predecessors[at].iter();
                work.extend(before.filter(|&&from| from < at || loops.of[at] != Some(at)));
            }
            loops.of[header] = Some(header);
        }
        loops
    }
}
