//! Two collections of which many versions live at once, each made from another by a few changes:
//! what is known along an edge of the new graph ([`State`]), and the blocks that wait there
//! ([`Waiting`]).
//!
//! Nested code has as many of both as it is deep, at every block. So versions share what they have
//! in common, and comparing or joining two skips what they share: the cost is that of the changes.

use std::rc::Rc;

use crate::ir::Value;

const BITS: u32 = 4;
const FANOUT: usize = 1 << BITS;

/// The lanes that are active; in a [`State`], any value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    Full,
    Of(Value),
}

/// The values of variables, which are known by number; those without a value do not matter. A copy
/// costs nothing.
///
/// A tree of arrays: each level decides on four bits of the number, the topmost first.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    root: Option<Rc<Node>>,
    /// Levels of [`Node::Inner`].
    height: u32,
}

#[derive(Clone, Debug)]
enum Node {
    Leaf([Option<Mask>; FANOUT]),
    Inner([Option<Rc<Node>>; FANOUT]),
}

fn digit(key: u32, level: u32) -> usize {
    (key >> (BITS * level)) as usize & (FANOUT - 1)
}

impl State {
    pub fn get(&self, key: u32) -> Option<Mask> {
        if key.checked_shr(BITS * (self.height + 1)).unwrap_or(0) != 0 {
            return None;
        }
        let mut node = self.root.as_deref()?;
        let mut level = self.height;
        loop {
            match node {
                Node::Leaf(values) => return values[digit(key, 0)],
                Node::Inner(below) => node = below[digit(key, level)].as_deref()?,
            }
            level -= 1;
        }
    }

    pub fn insert(&mut self, key: u32, value: Mask) {
        self.put(key, Some(value));
    }

    pub fn remove(&mut self, key: u32) -> Option<Mask> {
        let old = self.get(key);
        if old.is_some() {
            self.put(key, None);
        }
        old
    }

    fn put(&mut self, key: u32, value: Option<Mask>) {
        while key.checked_shr(BITS * (self.height + 1)).unwrap_or(0) != 0 {
            self.raise();
        }
        let mut slot = &mut self.root;
        let mut level = self.height;
        loop {
            let node = slot.get_or_insert_with(|| {
                Rc::new(match level {
                    0 => Node::Leaf([None; FANOUT]),
                    _ => Node::Inner(Default::default()),
                })
            });
            match Rc::make_mut(node) {
                Node::Leaf(values) => {
                    values[digit(key, 0)] = value;
                    return;
                }
                Node::Inner(below) => slot = &mut below[digit(key, level)],
            }
            level -= 1;
        }
    }

    /// Makes room for numbers with four more bits.
    fn raise(&mut self) {
        if let Some(root) = self.root.take() {
            let mut below: [Option<Rc<Node>>; FANOUT] = Default::default();
            below[0] = Some(root);
            self.root = Some(Rc::new(Node::Inner(below)));
        }
        self.height += 1;
    }

    /// Calls `f` with the variables that two states disagree on.
    pub fn differences(&self, other: &State, mut f: impl FnMut(u32)) {
        let (mut a, mut b) = (self.clone(), other.clone());
        while a.height < b.height {
            a.raise();
        }
        while b.height < a.height {
            b.raise();
        }
        // Pairs of subtrees, their level, and the number their first variable has.
        type Tree<'a> = Option<&'a Rc<Node>>;
        let mut todo: Vec<(Tree, Tree, u32, u32)> =
            vec![(a.root.as_ref(), b.root.as_ref(), a.height, 0)];
        while let Some((a, b, level, first)) = todo.pop() {
            if let (Some(a), Some(b)) = (a, b)
                && Rc::ptr_eq(a, b)
            {
                continue;
            }
            for digit in 0..FANOUT {
                let key = first | (digit as u32) << (BITS * level);
                if level == 0 {
                    let value = |tree: Tree| match tree.map(|node| &**node) {
                        Some(Node::Leaf(values)) => values[digit],
                        _ => None,
                    };
                    if value(a) != value(b) {
                        f(key);
                    }
                } else {
                    let (a, b) = (below(a, digit), below(b, digit));
                    if a.is_some() || b.is_some() {
                        todo.push((a, b, level - 1, key));
                    }
                }
            }
        }
    }
}

fn below(tree: Option<&Rc<Node>>, digit: usize) -> Option<&Rc<Node>> {
    match &**tree? {
        Node::Inner(below) => below[digit].as_ref(),
        Node::Leaf(_) => None,
    }
}

/// Sets of blocks, by their place in the order, in ascending lists that share their ends.
#[derive(Debug, Default)]
pub(super) struct WaitingSets {
    /// A member, and the list of those after it.
    cells: Vec<(u32, Waiting)>,
}

/// One of the sets in [`WaitingSets`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waiting(Option<u32>);

impl Waiting {
    pub fn is_empty(self) -> bool {
        self.0.is_none()
    }
}

impl WaitingSets {
    /// The first member, and the set of the others.
    pub fn split(&self, set: Waiting) -> Option<(u32, Waiting)> {
        set.0.map(|cell| self.cells[cell as usize])
    }

    fn cons(&mut self, first: u32, rest: Waiting) -> Waiting {
        self.cells.push((first, rest));
        Waiting(Some(self.cells.len() as u32 - 1))
    }

    /// A set with one more member. Cost: the members before it.
    pub fn with(&mut self, set: Waiting, member: u32) -> Waiting {
        let one = self.cons(member, Waiting(None));
        self.union(set, one)
    }

    /// All members of both. Cost: those before what the sets share.
    pub fn union(&mut self, mut a: Waiting, mut b: Waiting) -> Waiting {
        let mut before = Vec::new();
        let mut all = loop {
            if a == b {
                break a;
            }
            let (Some((x, after_x)), Some((y, after_y))) = (self.split(a), self.split(b)) else {
                break if a.is_empty() { b } else { a };
            };
            before.push(x.min(y));
            if x <= y {
                a = after_x;
            }
            if y <= x {
                b = after_y;
            }
        };
        while let Some(member) = before.pop() {
            all = self.cons(member, all);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn states_are_maps() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut versions: Vec<(State, BTreeMap<u32, Mask>)> = vec![Default::default()];
        for _ in 0..3000 {
            let (mut state, mut model) = versions[rng.random_range(0..versions.len())].clone();
            for _ in 0..rng.random_range(1..4) {
                let bits = rng.random_range(1..20);
                let key = rng.random_range(0..1 << bits);
                if rng.random_bool(0.7) {
                    let value = Mask::Of(Value::from_u32(rng.random_range(0..4)));
                    state.insert(key, value);
                    model.insert(key, value);
                } else {
                    assert_eq!(state.remove(key), model.remove(&key));
                }
                assert_eq!(state.get(key), model.get(&key).copied());
            }
            let (other, other_model) = &versions[rng.random_range(0..versions.len())];
            let mut found = BTreeSet::new();
            state.differences(other, |key| assert!(found.insert(key)));
            let keys = model.keys().chain(other_model.keys()).copied();
            let expected: BTreeSet<u32> = keys
                .filter(|key| model.get(key) != other_model.get(key))
                .collect();
            assert_eq!(found, expected);
            if versions.len() < 50 {
                versions.push((state, model));
            }
        }
    }

    #[test]
    fn waiting_sets_are_sets() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut sets = WaitingSets::default();
        let mut versions: Vec<(Waiting, BTreeSet<u32>)> = vec![Default::default()];
        for _ in 0..500 {
            let (set, model) = versions[rng.random_range(0..versions.len())].clone();
            let (other, other_model) = versions[rng.random_range(0..versions.len())].clone();
            let mut union = sets.union(set, other);
            let mut model: BTreeSet<u32> = model.union(&other_model).copied().collect();
            let member = rng.random_range(0..100);
            union = sets.with(union, member);
            model.insert(member);
            let members = std::iter::successors(sets.split(union), |&(_, rest)| sets.split(rest));
            assert!(members.map(|(member, _)| member).eq(model.iter().copied()));
            versions.push((union, model));
        }
    }
}
