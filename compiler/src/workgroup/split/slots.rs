//! Which slot of the barrier context holds what.
//!
//! What needs a place in the context is a [`Node`]: a varying value that outlives its region, or one handed to a parameter
//! of a region's first block. A node is *live* where a region begins if that region or a later one loads it before it is set again.
//! Values are stored where their region ends, and loaded where one begins, before anything is stored; so it is enough to look at
//! the ends of regions. Two nodes *interfere*, and must not share a slot, when
//! - both are live where some region begins;
//! - a region defines one and the other is live where it leads to;
//! - one is handed on at an exit, where stores are made for every way that control may go, and the other is live on
//!   another way, unless it is the same value.
//!
//! A parameter interferes with itself when its old value is wanted on another way; then the region that begins
//! with it moves it to a node of its own, [`Node::Kept`]. A value and the parameter it is handed to share a slot when they can, so that a
//! variable of a loop around a barrier stays where it is (copy coalescing; Chaitin et al., "Register Allocation via
//! Coloring", 1981). Cost: nodes times regions, and pairs of nodes that are live together.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::PrimaryMap;

use crate::ir::{Block, Slot, SlotId, Type, Value};

/// See the module's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    /// A value, stored where its region ends.
    Kept(Value),
    /// A parameter of a region's first block, stored on the way in.
    Handed(Value),
}

/// A way out of a region: the region that it leads to, and `(parameter, argument)`s handed on.
pub(super) type Way = (Block, Vec<(Value, Value)>);

/// A region, as far as values cross its borders.
pub(super) struct Crossing {
    pub loads: BTreeSet<Value>,
    /// For each exit, the ways out there.
    pub exits: Vec<Vec<Way>>,
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

type Live = BTreeMap<Block, BTreeSet<Node>>;

impl Crossings {
    /// Makes slots; a node that is never live has none.
    pub fn assign(
        &self,
        ty: impl Fn(Value) -> Type,
        table: &mut PrimaryMap<SlotId, Slot>,
    ) -> BTreeMap<Node, SlotId> {
        let moved = self.moved();
        let live = self.live(&moved);
        let mut classes = Classes::new(&live, self.interference(&moved, &live));
        for crossing in self.regions.values() {
            for (_, handed) in crossing.exits.iter().flatten() {
                for &(param, arg) in handed {
                    let (to, from) = (Node::Handed(param), self.node(arg, &moved));
                    if ty(param) == ty(arg) {
                        classes.unite(from, to);
                    }
                }
            }
        }
        let mut slots: BTreeMap<usize, SlotId> = BTreeMap::new();
        let mut result = BTreeMap::new();
        for (&node, &class) in &classes.of {
            let (Node::Kept(value) | Node::Handed(value)) = node;
            let slot = *slots.entry(class).or_insert_with(|| {
                table.push(Slot {
                    ty: ty(value),
                    bytes: 0,
                    align: 0,
                })
            });
            result.insert(node, slot);
        }
        result
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
        let live = self.live(&BTreeSet::new());
        let mut moved = BTreeSet::new();
        for ways in self.regions.values().flat_map(|crossing| &crossing.exits) {
            for (i, (_, handed)) in ways.iter().enumerate() {
                for &(param, _) in handed {
                    let elsewhere = ways.iter().enumerate().any(|(j, (to, _))| {
                        j != i
                            && *to != self.params[&param]
                            && live[to].contains(&Node::Handed(param))
                    });
                    if elsewhere {
                        moved.insert(param);
                    }
                }
            }
        }
        moved
    }

    /// What each region defines, other than by handing it on.
    fn defined(&self, region: Block, moved: &BTreeSet<Value>) -> BTreeSet<Node> {
        let values = self.home.iter().filter(|&(_, &home)| home == region);
        let params = moved.iter().filter(|&param| self.params[param] == region);
        values
            .map(|(&value, _)| Node::Kept(value))
            .chain(params.map(|&param| Node::Kept(param)))
            .collect()
    }

    /// The nodes live where each region begins.
    fn live(&self, moved: &BTreeSet<Value>) -> Live {
        let mut live = Live::new();
        let mut defined = BTreeMap::new();
        for (&region, crossing) in &self.regions {
            let loads = crossing.loads.iter().map(|&value| {
                if self.params.get(&value) == Some(&region) {
                    Node::Handed(value)
                } else {
                    self.node(value, moved)
                }
            });
            // A moved parameter is loaded to be moved.
            let moves = moved.iter().filter(|&param| self.params[param] == region);
            let moves = moves.map(|&param| Node::Handed(param));
            live.insert(region, loads.chain(moves).collect());
            defined.insert(region, self.defined(region, moved));
        }
        loop {
            let mut changed = false;
            for &region in self.regions.keys().rev() {
                let after = self.live_after(region, &live);
                let before: Vec<Node> = after.difference(&defined[&region]).copied().collect();
                let known = live.get_mut(&region).expect("every region has an entry");
                for node in before {
                    changed |= known.insert(node);
                }
            }
            if !changed {
                return live;
            }
        }
    }

    /// The nodes live where a region leads to, without those set on the way.
    fn live_after(&self, region: Block, live: &Live) -> BTreeSet<Node> {
        let ways = self.regions[&region].exits.iter().flatten();
        ways.flat_map(|(to, handed)| {
            let set = |node: &Node| {
                handed
                    .iter()
                    .any(|&(param, _)| Node::Handed(param) == *node)
            };
            live[to].iter().copied().filter(move |node| !set(node))
        })
        .collect()
    }

    fn interference(&self, moved: &BTreeSet<Value>, live: &Live) -> BTreeSet<(Node, Node)> {
        let mut pairs = BTreeSet::new();
        let mut add = |a: Node, b: Node| {
            if a != b {
                pairs.insert((a.min(b), a.max(b)));
            }
        };
        for nodes in live.values() {
            for (i, &a) in nodes.iter().enumerate() {
                for &b in nodes.iter().skip(i + 1) {
                    add(a, b);
                }
            }
        }
        for (&region, crossing) in &self.regions {
            let after = self.live_after(region, live);
            let defined = self.defined(region, moved);
            for &a in &defined {
                after.iter().chain(&defined).for_each(|&b| add(a, b));
            }
            for ways in &crossing.exits {
                for (i, (_, handed)) in ways.iter().enumerate() {
                    for &(param, arg) in handed {
                        for (j, (to, others)) in ways.iter().enumerate() {
                            for &b in live[to].iter().filter(|_| j != i) {
                                let same = b == self.node(arg, moved)
                                    || others.iter().any(|&(other, value)| {
                                        Node::Handed(other) == b && value == arg
                                    });
                                if !same {
                                    add(Node::Handed(param), b);
                                }
                            }
                        }
                    }
                }
            }
        }
        pairs
    }
}

/// Nodes that share a slot, by the number of their class.
struct Classes {
    of: BTreeMap<Node, usize>,
    members: Vec<Vec<Node>>,
    interference: BTreeSet<(Node, Node)>,
}

impl Classes {
    fn new(live: &Live, interference: BTreeSet<(Node, Node)>) -> Classes {
        let nodes: BTreeSet<Node> = live.values().flatten().copied().collect();
        Classes {
            of: nodes
                .iter()
                .enumerate()
                .map(|(i, &node)| (node, i))
                .collect(),
            members: nodes.into_iter().map(|node| vec![node]).collect(),
            interference,
        }
    }

    /// Puts two nodes in one class if they have places at all and no members of their classes interfere.
    fn unite(&mut self, a: Node, b: Node) {
        let (Some(&x), Some(&y)) = (self.of.get(&a), self.of.get(&b)) else {
            return;
        };
        let clash = self.members[x].iter().any(|&a| {
            let mut others = self.members[y].iter();
            others.any(|&b| self.interference.contains(&(a.min(b), a.max(b))))
        });
        if x != y && !clash {
            let more = std::mem::take(&mut self.members[y]);
            for &node in &more {
                self.of.insert(node, x);
            }
            self.members[x].extend(more);
        }
    }
}
