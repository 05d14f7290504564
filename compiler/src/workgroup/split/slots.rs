//! Which slot of the barrier context holds what.
//!
//! What needs room in the context is a [`Node`]: a varying value that outlives its region, or one
//! handed to a parameter of a region's first block. A node is *live* where a region begins if that
//! region or a later one loads it before it is set again. Values are stored where their region
//! ends, and loaded where one begins, before anything is stored; so it is enough to look at the
//! ends of regions. Two nodes *interfere*, and must not share a slot, when
//!
//! - both are live where some region begins;
//! - a region defines one and the other is live where it leads to;
//! - one is handed on at an exit, where stores are made for every edge that control may take, and
//!   the other is live on another edge, unless it is the same value.
//!
//! The first two have points in common: the beginning of a region, and its end, at which what it
//! defines is live and what is live where it leads to. (Of the latter, what it does not define is
//! live at its beginning, too.) So a node has a set of points, and only the third kind is kept as
//! pairs.
//!
//! A parameter interferes with itself when its old value is wanted on another edge; then the region
//! that begins with it moves it to a node of its own, [`Node::Kept`]. A value and the parameter it
//! is handed to share a slot when they can, so that a variable of a loop around a barrier stays
//! where it is (copy coalescing; Chaitin et al., "Register Allocation via Coloring", 1981).
//!
//! Cost: nodes times regions, in bits, and what is handed on times what is live on other edges from
//! there.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::{PrimaryMap, SecondaryMap};

use crate::ir::{Block, Slot, SlotId, Type, Value};

/// See the module's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    /// A value, stored where its region ends.
    Kept(Value),
    /// A parameter of a region's first block, stored where control comes in.
    Handed(Value),
}

/// An edge from a region: the region that it leads to, and `(parameter, argument)`s handed on.
pub(super) type Edge = (Block, Vec<(Value, Value)>);

/// A region, as far as values cross its borders.
pub(super) struct Crossing {
    pub loads: BTreeSet<Value>,
    /// For each exit, the edges from there.
    pub exits: Vec<Vec<Edge>>,
}

/// What crosses borders between regions, which are named by their first blocks.
#[derive(Default)]
pub(super) struct Crossings {
    pub regions: BTreeMap<Block, Crossing>,
    /// The region that defines each value that outlives it, parameters apart.
    pub home: BTreeMap<Value, Block>,
    /// The varying parameters of first blocks.
    pub params: BTreeMap<Value, Block>,
}

impl Crossings {
    /// Makes slots; a node that is never live has none.
    pub fn assign(
        &self,
        ty: impl Fn(Value) -> Type,
        table: &mut PrimaryMap<SlotId, Slot>,
    ) -> BTreeMap<Node, SlotId> {
        let moved = self.moved();
        let liveness = Liveness::new(self, &moved);
        let mut classes = Classes::new(&liveness);
        for crossing in self.regions.values() {
            for (_, handed) in crossing.exits.iter().flatten() {
                for &(param, arg) in handed {
                    let (to, from) = (Node::Handed(param), self.node(arg, &moved));
                    if ty(param) == ty(arg)
                        && let (Some(from), Some(to)) = (liveness.index(from), liveness.index(to))
                    {
                        classes.unite(from, to);
                    }
                }
            }
        }
        let mut slots: BTreeMap<usize, SlotId> = BTreeMap::new();
        let mut result = BTreeMap::new();
        for (index, &node) in liveness.nodes.iter().enumerate() {
            if !classes.is_live(index) {
                continue;
            }
            let (Node::Kept(value) | Node::Handed(value)) = node;
            let slot = *slots.entry(classes.of[index]).or_insert_with(|| {
                table.push(Slot {
                    ty: ty(value),
                    bytes: 0,
                    align: 0,
                    interleaving: None,
                })
            });
            result.insert(node, slot);
        }
        result
    }

    /// The regions, each after all that it leads to, but for those that lead back to it.
    fn post_order(&self) -> Vec<Block> {
        let successors = |region: Block| {
            let edges = self.regions[&region].exits.iter().flatten();
            edges.map(|&(to, _)| to)
        };
        let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
        let mut order = Vec::with_capacity(self.regions.len());
        let mut stack = Vec::new();
        for &root in self.regions.keys() {
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            stack.push((root, successors(root)));
            while let Some((region, todo)) = stack.last_mut() {
                match todo.next() {
                    Some(next) if !std::mem::replace(&mut seen[next], true) => {
                        stack.push((next, successors(next)));
                    }
                    Some(_) => {}
                    None => {
                        order.push(*region);
                        stack.pop();
                    }
                }
            }
        }
        order
    }

    /// The node that a value is loaded from outside the region that it is handed to.
    fn node(&self, value: Value, moved: &BTreeSet<Value>) -> Node {
        if self.params.contains_key(&value) && !moved.contains(&value) {
            Node::Handed(value)
        } else {
            Node::Kept(value)
        }
    }

    /// Parameters that are used in other regions, and would be overwritten there.
    fn moved(&self) -> BTreeSet<Value> {
        let none = BTreeSet::new();
        let liveness = Liveness::new(self, &none);
        let mut moved = BTreeSet::new();
        for edges in self.regions.values().flat_map(|crossing| &crossing.exits) {
            for (i, (_, handed)) in edges.iter().enumerate() {
                for &(param, _) in handed {
                    let elsewhere = edges.iter().enumerate().any(|(j, (to, _))| {
                        j != i
                            && *to != self.params[&param]
                            && liveness.is_live(Node::Handed(param), *to)
                    });
                    if elsewhere {
                        moved.insert(param);
                    }
                }
            }
        }
        moved
    }
}

/// Which nodes are live where each region begins.
struct Liveness<'a> {
    crossings: &'a Crossings,
    moved: &'a BTreeSet<Value>,
    /// In order; sets hold their indices.
    nodes: Vec<Node>,
    live: BTreeMap<Block, BitSet>,
    /// What each region defines, other than by handing it on.
    defined: BTreeMap<Block, BitSet>,
}

impl<'a> Liveness<'a> {
    fn new(crossings: &'a Crossings, moved: &'a BTreeSet<Value>) -> Liveness<'a> {
        let params = crossings.params.keys();
        let mut nodes: Vec<Node> = params
            .flat_map(|&param| [Node::Kept(param), Node::Handed(param)])
            .chain(crossings.home.keys().map(|&value| Node::Kept(value)))
            .collect();
        let regions = crossings.regions.values();
        let loads = regions.flat_map(|crossing| &crossing.loads);
        nodes.extend(loads.map(|&value| crossings.node(value, moved)));
        nodes.sort_unstable();
        nodes.dedup();
        let regions = crossings.regions.keys();
        let empty: BTreeMap<Block, BitSet> = regions
            .map(|&region| (region, BitSet::new(nodes.len())))
            .collect();
        let mut this = Liveness {
            crossings,
            moved,
            nodes,
            live: empty.clone(),
            defined: empty,
        };
        this.begin();
        this.solve();
        this
    }

    /// What regions define, and load where they begin.
    fn begin(&mut self) {
        let crossings = self.crossings;
        let mut define = |value: Value, region: Block| {
            let node = self.nodes.binary_search(&Node::Kept(value));
            let defined = self.defined.get_mut(&region).expect("it is a region");
            defined.insert(node.expect("it is a node"));
        };
        for (&value, &region) in &crossings.home {
            define(value, region);
        }
        for &param in self.moved {
            define(param, crossings.params[&param]);
        }
        let mut load = |node: Node, region: Block| {
            let node = self.nodes.binary_search(&node);
            let live = self.live.get_mut(&region).expect("it is a region");
            live.insert(node.expect("it is a node"));
        };
        for (&region, crossing) in &crossings.regions {
            for &value in &crossing.loads {
                let node = match crossings.params.get(&value) == Some(&region) {
                    true => Node::Handed(value),
                    false => crossings.node(value, self.moved),
                };
                load(node, region);
            }
        }
        // A moved parameter is loaded to be moved.
        for &param in self.moved {
            load(Node::Handed(param), crossings.params[&param]);
        }
    }

    /// Regions are visited after those that they lead to, as far as no loop leads back: a pass, and
    /// one more for each loop around another.
    fn solve(&mut self) {
        let order = self.crossings.post_order();
        loop {
            let mut changed = false;
            for &region in &order {
                let mut before = self.after(region);
                before.subtract(&self.defined[&region]);
                let live = self.live.get_mut(&region).expect("it is a region");
                changed |= live.unite(&before);
            }
            if !changed {
                return;
            }
        }
    }

    /// The nodes live where a region leads to, without what is set on the way.
    fn after(&self, region: Block) -> BitSet {
        let mut after = BitSet::new(self.nodes.len());
        for (to, handed) in self.crossings.regions[&region].exits.iter().flatten() {
            if handed.is_empty() {
                after.unite(&self.live[to]);
                continue;
            }
            let mut live = self.live[to].clone();
            for &(param, _) in handed {
                if let Some(node) = self.index(Node::Handed(param)) {
                    live.remove(node);
                }
            }
            after.unite(&live);
        }
        after
    }

    fn index(&self, node: Node) -> Option<usize> {
        self.nodes.binary_search(&node).ok()
    }

    fn is_live(&self, node: Node, region: Block) -> bool {
        let index = self.index(node);
        index.is_some_and(|index| self.live[&region].contains(index))
    }

    /// Calls `f` for each node that is handed on at an exit and one that is live on another edge,
    /// unless that is the same value.
    fn for_each_conflict(&self, mut f: impl FnMut(usize, usize)) {
        let exits = self.crossings.regions.values().flat_map(|c| &c.exits);
        for edges in exits.filter(|edges| edges.len() > 1) {
            for (i, (_, handed)) in edges.iter().enumerate() {
                for &(param, arg) in handed {
                    let handed_node = self.index(Node::Handed(param));
                    let same = self.crossings.node(arg, self.moved);
                    for (j, (to, others)) in edges.iter().enumerate() {
                        if j == i {
                            continue;
                        }
                        for other in self.live[to].iter() {
                            let node = self.nodes[other];
                            let is_same = node == same
                                || others.iter().any(|&(other, value)| {
                                    Node::Handed(other) == node && value == arg
                                });
                            if let Some(handed_node) = handed_node.filter(|_| !is_same) {
                                f(handed_node, other);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Nodes that share a slot, by the number of their class: the first of them.
struct Classes {
    of: Vec<usize>,
    members: Vec<Vec<usize>>,
    /// The points at which a class's nodes are live.
    points: Vec<BitSet>,
    /// Nodes that a class's nodes interfere with beside.
    conflicts: Vec<BTreeSet<usize>>,
    /// Whether nodes are live where any region begins.
    live: BitSet,
}

impl Classes {
    fn new(liveness: &Liveness<'_>) -> Classes {
        let count = liveness.nodes.len();
        let regions = liveness.crossings.regions.keys();
        let mut points = vec![BitSet::new(2 * regions.len()); count];
        let mut live = BitSet::new(count);
        for (n, region) in regions.enumerate() {
            let at_start = &liveness.live[region];
            live.unite(at_start);
            at_start.iter().for_each(|node| points[node].insert(2 * n));
            let mut at_end = liveness.after(*region);
            at_end.unite(&liveness.defined[region]);
            at_end
                .iter()
                .for_each(|node| points[node].insert(2 * n + 1));
        }
        let mut conflicts = vec![BTreeSet::new(); count];
        liveness.for_each_conflict(|a, b| {
            if a != b {
                conflicts[a].insert(b);
                conflicts[b].insert(a);
            }
        });
        Classes {
            of: (0..count).collect(),
            members: (0..count).map(|node| vec![node]).collect(),
            points,
            conflicts,
            live,
        }
    }

    fn is_live(&self, node: usize) -> bool {
        self.live.contains(node)
    }

    /// Puts two nodes in one class if they are live at all and no members of their classes
    /// interfere.
    fn unite(&mut self, a: usize, b: usize) {
        let (x, y) = (self.of[a], self.of[b]);
        let clash = self.points[x].intersects(&self.points[y])
            || self.conflicts[x].iter().any(|&node| self.of[node] == y);
        if x == y || clash || !self.is_live(a) || !self.is_live(b) {
            return;
        }
        for &node in &self.members[y] {
            self.of[node] = x;
        }
        let members = std::mem::take(&mut self.members[y]);
        self.members[x].extend(members);
        let conflicts = std::mem::take(&mut self.conflicts[y]);
        self.conflicts[x].extend(conflicts);
        let points = std::mem::take(&mut self.points[y]);
        self.points[x].unite(&points);
    }
}

/// A set of small numbers below a limit.
#[derive(Clone, Default)]
struct BitSet(Vec<u64>);

impl BitSet {
    fn new(limit: usize) -> BitSet {
        BitSet(vec![0; limit.div_ceil(64)])
    }

    fn insert(&mut self, n: usize) {
        self.0[n / 64] |= 1 << (n % 64);
    }

    fn remove(&mut self, n: usize) {
        self.0[n / 64] &= !(1 << (n % 64));
    }

    fn contains(&self, n: usize) -> bool {
        self.0[n / 64] >> (n % 64) & 1 != 0
    }

    /// Adds another set; whether there was anything new in it.
    fn unite(&mut self, other: &BitSet) -> bool {
        let mut new = 0;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            new |= theirs & !*mine;
            *mine |= theirs;
        }
        new != 0
    }

    fn subtract(&mut self, other: &BitSet) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine &= !theirs;
        }
    }

    fn intersects(&self, other: &BitSet) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros() as usize;
                    left &= left - 1;
                    64 * at + bit
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::ir::DominatorTree;
    use crate::ir::{BlockCall, Function, Terminator};

    /// Random edges between a few blocks: for each, the targets at each of several exits.
    fn random_exits(rng: &mut ChaCha8Rng) -> Vec<Vec<Vec<Block>>> {
        let count = rng.random_range(2..8);
        let mut targets = || {
            let mut targets: Vec<u32> = (0..3).map(|_| rng.random_range(1..count)).collect();
            targets.truncate(rng.random_range(1..4));
            targets.sort_unstable();
            targets.dedup();
            targets.into_iter().map(Block::from_u32).collect()
        };
        let mut exits = || vec![targets(), targets()];
        (0..count).map(|_| exits()).collect()
    }

    /// Regions that define values, and load and hand on values that are defined by then.
    fn random_crossings(rng: &mut ChaCha8Rng) -> Crossings {
        let exits = random_exits(rng);
        let mut func = Function::new("regions", &[Type::I32], &[]);
        let blocks: Vec<Block> = exits.iter().skip(1).map(|_| func.add_block()).collect();
        let value = func.params()[0];
        for (&block, exits) in [func.entry()].iter().chain(&blocks).zip(&exits) {
            let mut calls = exits.iter().flatten().map(|&to| BlockCall::new(to, &[]));
            func.blocks[block].term = Terminator::Switch {
                value,
                default: calls.next().expect("an edge"),
                cases: (0..).zip(calls).collect(),
            };
        }
        let dominators = DominatorTree::new(&func);
        let order = func.reverse_post_order();
        let mut crossings = Crossings::default();
        let mut values: Vec<(Value, Block)> = Vec::new();
        for &region in &order {
            let params = if region == func.entry() { 0 } else { 2 };
            for n in 0..rng.random_range(1..4) + params {
                let value = Value::from_u32(values.len() as u32);
                values.push((value, region));
                match n < params {
                    true => crossings.params.insert(value, region),
                    false => crossings.home.insert(value, region),
                };
            }
        }
        for &region in &order {
            let known = values
                .iter()
                .filter(|&&(_, home)| dominators.dominates(home, region));
            let known: Vec<Value> = known.map(|&(value, _)| value).collect();
            let mut any = || known[rng.random_range(0..known.len())];
            let mut loads = BTreeSet::from([any(), any()]);
            let mut edge = |&to: &Block| {
                let params = crossings.params.iter().filter(|&(_, &home)| home == to);
                let handed: Vec<(Value, Value)> = params.map(|(&p, _)| (p, any())).collect();
                loads.extend(handed.iter().map(|&(_, arg)| arg));
                (to, handed)
            };
            let exits = exits[region.as_u32() as usize].iter();
            let exits = exits.map(|targets| targets.iter().map(&mut edge).collect());
            let exits = exits.collect();
            loads.retain(|value| crossings.home.get(value) != Some(&region));
            crossings.regions.insert(region, Crossing { loads, exits });
        }
        crossings
    }

    /// Runs regions as `body.rs` makes them, along a random path; each definition is a number of
    /// its own.
    fn run(crossings: &Crossings, slots: &BTreeMap<Node, SlotId>, rng: &mut ChaCha8Rng) {
        let mut memory: BTreeMap<SlotId, u32> = BTreeMap::new();
        let mut current: BTreeMap<Value, u32> = BTreeMap::new();
        let mut definitions = 0;
        let mut region = Block::from_u32(0);
        for _ in 0..60 {
            let crossing = &crossings.regions[&region];
            let slot_of = |value: Value| {
                let is_own = crossings.params.get(&value) == Some(&region);
                let kept = slots.get(&Node::Kept(value)).filter(|_| !is_own);
                kept.or_else(|| slots.get(&Node::Handed(value))).copied()
            };
            for &value in &crossing.loads {
                let slot = slot_of(value).expect("what is loaded is live");
                assert_eq!(
                    memory.get(&slot),
                    current.get(&value),
                    "{value} in {region}"
                );
            }
            for (&value, _) in crossings.home.iter().filter(|&(_, &home)| home == region) {
                definitions += 1;
                current.insert(value, definitions);
            }
            let home = |value: &Value| crossings.home.get(value).or(crossings.params.get(value));
            let mut stores: BTreeMap<SlotId, Value> = BTreeMap::new();
            for (&node, &slot) in slots {
                if let Node::Kept(value) = node
                    && home(&value) == Some(&region)
                {
                    stores.insert(slot, value);
                }
            }
            let edges = &crossing.exits[rng.random_range(0..crossing.exits.len())];
            for &(param, arg) in edges.iter().flat_map(|(_, handed)| handed) {
                let Some(&slot) = slots.get(&Node::Handed(param)) else {
                    continue;
                };
                if crossing.loads.contains(&arg) && slot_of(arg) == Some(slot) {
                    stores.remove(&slot);
                } else {
                    stores.insert(slot, arg);
                }
            }
            for (slot, value) in stores {
                memory.insert(slot, current[&value]);
            }
            let (to, handed) = &edges[rng.random_range(0..edges.len())];
            let args: Vec<u32> = handed.iter().map(|(_, arg)| current[arg]).collect();
            let params = handed.iter().map(|&(param, _)| param);
            current.extend(params.zip(args));
            region = *to;
        }
    }

    #[test]
    fn what_is_loaded_is_what_was_stored_last() {
        let mut shared = 0;
        for seed in 0..3000 {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let crossings = random_crossings(&mut rng);
            let mut table = PrimaryMap::new();
            let slots = crossings.assign(|_| Type::I32, &mut table);
            shared += slots.len() - table.len();
            for _ in 0..4 {
                run(&crossings, &slots, &mut rng);
            }
        }
        assert!(shared > 1000, "only {shared} nodes share a slot");
    }
}
