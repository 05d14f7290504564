//! Control flow: order, dominators, loops.
//!
//! Blocks are by their place in reverse postorder. Dominators are found by Lengauer and Tarjan's
//! algorithm with path compression; loops by a walk back from their latches, innermost first, in
//! which a loop that was found is one node. A [`Tree`] answers who is above whom.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ir::{Block, Id};

/// A forest whose parents have smaller numbers, with a second, longer way up for each node: the
/// ancestor at a depth is found in logarithmic time (Myers, "An applicative random-access stack").
pub(crate) struct Tree {
    /// 0 is above all nodes, which are one more than they are outside.
    parents: Vec<usize>,
    jumps: Vec<usize>,
    depths: Vec<usize>,
}

impl Tree {
    pub fn new(parent_of: impl ExactSizeIterator<Item = Option<usize>>) -> Tree {
        let count = parent_of.len() + 1;
        let mut tree = Tree {
            parents: Vec::with_capacity(count),
            jumps: Vec::with_capacity(count),
            depths: Vec::with_capacity(count),
        };
        tree.add(0, 0, 0);
        for parent in parent_of {
            let parent = parent.map_or(0, |parent| parent + 1);
            let over = tree.jumps[parent];
            let further = tree.jumps[over];
            let depths = &tree.depths;
            let same = depths[parent] - depths[over] == depths[over] - depths[further];
            let depth = depths[parent] + 1;
            tree.add(parent, if same { further } else { parent }, depth);
        }
        tree
    }

    fn add(&mut self, parent: usize, jump: usize, depth: usize) {
        self.parents.push(parent);
        self.jumps.push(jump);
        self.depths.push(depth);
    }

    /// Of the node itself and those above it the one right below `above`; `above` is above the
    /// node, and `None` is above all.
    pub fn below(&self, above: Option<usize>, node: usize) -> usize {
        let depth = above.map_or(0, |above| self.depths[above + 1]) + 1;
        self.at_depth(node + 1, depth) - 1
    }

    /// Whether a node is another one or above it.
    pub fn is_above(&self, above: usize, node: usize) -> bool {
        let depth = self.depths[above + 1];
        depth <= self.depths[node + 1] && self.at_depth(node + 1, depth) == above + 1
    }

    fn at_depth(&self, mut node: usize, depth: usize) -> usize {
        while self.depths[node] > depth {
            let far = self.jumps[node];
            node = match self.depths[far] >= depth {
                true => far,
                false => self.parents[node],
            };
        }
        node
    }
}

pub(crate) struct Graph {
    pub successors: Vec<Vec<usize>>,
    pub predecessors: Vec<Vec<usize>>,
    /// The immediate dominator; that of the first block is itself.
    pub idom: Vec<usize>,
    pub dominators: Tree,
}

/// The blocks that control reaches, in reverse postorder.
pub(crate) fn reverse_postorder(blocks: &[Block]) -> Vec<usize> {
    let index: FxHashMap<Id, usize> = (0..).zip(blocks).map(|(at, b)| (b.label, at)).collect();
    let mut seen = vec![false; blocks.len()];
    let mut order = Vec::new();
    let mut work = vec![(0, blocks[0].successors())];
    seen[0] = true;
    while let Some((at, rest)) = work.last_mut() {
        match rest.pop() {
            Some(label) => {
                let next = index[&label];
                if !std::mem::replace(&mut seen[next], true) {
                    let successors = blocks[next].successors();
                    work.push((next, successors));
                }
            }
            None => {
                order.push(*at);
                work.pop();
            }
        }
    }
    order.reverse();
    order
}

impl Graph {
    /// Of the blocks in this order, a reverse postorder.
    pub fn of(blocks: &[Block], order: &[usize]) -> Graph {
        let index: FxHashMap<Id, usize> = order
            .iter()
            .enumerate()
            .map(|(at, &block)| (blocks[block].label, at))
            .collect();
        let mut successors = Vec::new();
        let mut predecessors = vec![Vec::new(); order.len()];
        for (at, &block) in order.iter().enumerate() {
            let all = blocks[block].successors();
            let mut all: Vec<usize> = all.iter().map(|label| index[label]).collect();
            let mut seen = FxHashSet::default();
            all.retain(|&next| seen.insert(next));
            for &next in &all {
                predecessors[next].push(at);
            }
            successors.push(all);
        }
        let idom = dominators(&successors, &predecessors);
        let above = (0..idom.len()).map(|at| (at > 0).then(|| idom[at]));
        Graph {
            dominators: Tree::new(above),
            successors,
            predecessors,
            idom,
        }
    }

    /// Whether each edge that goes back goes to a dominator.
    pub fn is_reducible(&self) -> bool {
        (0..self.successors.len()).all(|at| {
            let mut back = self.successors[at].iter().filter(|&&next| next <= at);
            back.all(|&next| self.dominators.is_above(next, at))
        })
    }
}

/// What Lengauer and Tarjan's algorithm knows. Nodes are by their number in preorder.
struct Semidominators {
    semi: Vec<usize>,
    /// The node of the smallest semidominator on the way up that was compressed.
    label: Vec<usize>,
    ancestor: Vec<Option<usize>>,
}

impl Semidominators {
    /// The node with the smallest semidominator on the way up, of those that were linked.
    fn eval(&mut self, at: usize) -> usize {
        let mut path = Vec::new();
        let mut above = at;
        while let Some(next) = self.ancestor[above] {
            path.push((above, next));
            above = next;
        }
        // The one below the topmost has nothing to compress.
        path.pop();
        while let Some((node, next)) = path.pop() {
            if self.semi[self.label[next]] < self.semi[self.label[node]] {
                self.label[node] = self.label[next];
            }
            self.ancestor[node] = self.ancestor[next];
        }
        self.label[at]
    }
}

/// Immediate dominators; node 0 is where control begins, and reaches all.
fn dominators(successors: &[Vec<usize>], predecessors: &[Vec<usize>]) -> Vec<usize> {
    let count = successors.len();
    const UNKNOWN: usize = usize::MAX;
    let (mut number, mut order) = (vec![UNKNOWN; count], Vec::with_capacity(count));
    let mut parent = vec![0; count];
    let mut work = vec![(0, 0)];
    while let Some((node, from)) = work.pop() {
        if number[node] == UNKNOWN {
            number[node] = order.len();
            parent[order.len()] = from;
            order.push(node);
            let from = number[node];
            work.extend(successors[node].iter().rev().map(|&next| (next, from)));
        }
    }
    let mut known = Semidominators {
        semi: (0..count).collect(),
        label: (0..count).collect(),
        ancestor: vec![None; count],
    };
    let mut waiting = vec![Vec::new(); count];
    let mut idom = vec![0; count];
    for at in (1..count).rev() {
        for &from in &predecessors[order[at]] {
            let by = known.eval(number[from]);
            known.semi[at] = known.semi[at].min(known.semi[by]);
        }
        waiting[known.semi[at]].push(at);
        known.ancestor[at] = Some(parent[at]);
        for node in std::mem::take(&mut waiting[parent[at]]) {
            let by = known.eval(node);
            idom[node] = match known.semi[by] < known.semi[node] {
                true => by,
                false => parent[at],
            };
        }
    }
    for at in 1..count {
        if idom[at] != known.semi[at] {
            idom[at] = idom[idom[at]];
        }
    }
    let mut by_node = vec![0; count];
    for at in 0..count {
        by_node[order[at]] = order[idom[at]];
    }
    by_node
}

/// The natural loops of a graph: those of edges back to a dominator.
pub(crate) struct Loops {
    /// By block, the header of the innermost loop that it is in; that of the loop around it for a
    /// header.
    pub around: Vec<Option<usize>>,
    pub is_header: Vec<bool>,
    /// The blocks of a loop are below its header.
    pub tree: Tree,
}

impl Loops {
    pub fn find(graph: &Graph) -> Loops {
        let count = graph.successors.len();
        let mut around = vec![None; count];
        let mut is_header = vec![false; count];
        // The outermost loop found that a block is in, for the walk.
        let mut outer: Vec<usize> = (0..count).collect();
        fn root(outer: &mut [usize], mut at: usize) -> usize {
            while outer[at] != at {
                outer[at] = outer[outer[at]];
                at = outer[at];
            }
            at
        }
        for header in (0..count).rev() {
            let from = graph.predecessors[header].iter().copied();
            let latches = from.filter(|&from| graph.dominators.is_above(header, from));
            let mut work: Vec<usize> = latches.collect();
            is_header[header] = !work.is_empty();
            while let Some(at) = work.pop() {
                let at = root(&mut outer, at);
                if at == header {
                    continue;
                }
                outer[at] = header;
                around[at] = Some(header);
                work.extend(&graph.predecessors[at]);
            }
        }
        Loops {
            tree: Tree::new(around.iter().copied()),
            around,
            is_header,
        }
    }

    /// The header of the innermost loop that a block is in; a header is in its own.
    pub fn of(&self, at: usize) -> Option<usize> {
        match self.is_header[at] {
            true => Some(at),
            false => self.around[at],
        }
    }
}
