//! Structured control flow, as Vulkan wants it, from any.
//!
//! SPIR-V Specification, "Structured Control Flow": where control parts, an instruction says where
//! it meets again (a *merge block*), and a loop has one place that goes back. Control may leave a
//! selection to its merge block, and the innermost loop to its merge block and continue target.
//!
//! 1. A cycle with several entries is entered through a block that dispatches by a variable. Each
//!    back edge leads to a dominator then.
//! 2. Blocks are put by the dominator tree (Ramsey, "Beyond Relooper"). What has one predecessor is
//!    written in its place; a *join* goes behind the construct of the block that dominates it. What
//!    leaves a loop goes behind the loop: those blocks are the loop's *followers*.
//! 3. A jump to a follower of a construct further out says in a variable where it goes and leaves
//!    the constructs one after the other; behind each, the variable is tested, where several jumps
//!    arrive.
//!
//! Most source needs no test. The time is that of dominators, and of one visit of each block; the
//! first step repeats the search for cycles by the depth of loops.

use std::collections::BTreeSet;

use rspirv::spirv::{Op, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};

use super::flatten::remove_unreachable;
use super::graph::{Graph, Loops};
use super::ir::{Arg, Block, Id, Inst};
use super::target::Target;
use super::types::Ty;

/// Something that control leaves for its merge block.
struct Construct {
    merge: Id,
    /// Of a loop, its header and its continue target.
    repeats: Option<(usize, Id)>,
    /// Where those go that leave for the merge block.
    arrivals: BTreeSet<usize>,
}

struct Structurer<'a> {
    target: &'a mut Target,
    blocks: Vec<Block>,
    graph: Graph,
    loops: Loops,
    /// Joins by the block behind whose construct they go.
    joins: Vec<Vec<usize>>,
    followers: Vec<Vec<usize>>,
    /// Blocks that are written where control goes to them.
    inline: Vec<bool>,
    constructs: Vec<Construct>,
    /// Places of the loops among the constructs.
    inner_loops: Vec<usize>,
    /// By block, the construct behind which it goes.
    hosts: FxHashMap<usize, usize>,
    selector: Id,
    selector_ty: Ty,
    out: Vec<Block>,
}

/// Puts blocks in structured order. Variables that this needs are added.
pub(crate) fn structure(
    target: &mut Target,
    mut blocks: Vec<Block>,
    variables: &mut Vec<(Ty, Id)>,
) -> Vec<Block> {
    remove_unreachable(&mut blocks);
    let mut graph = Graph::of(&blocks);
    if !graph.is_reducible() {
        make_reducible(target, &mut blocks, variables);
        remove_unreachable(&mut blocks);
        graph = Graph::of(&blocks);
        debug_assert!(graph.is_reducible());
    }
    let loops = Loops::find(&graph);
    let word = target.types.int(32);
    let pointer = target.types.pointer(StorageClass::Function, word);
    let selector = target.id();
    let count = blocks.len();
    let mut structurer = Structurer {
        target,
        blocks,
        graph,
        loops,
        joins: vec![Vec::new(); count],
        followers: vec![Vec::new(); count],
        inline: vec![false; count],
        constructs: Vec::new(),
        inner_loops: Vec::new(),
        hosts: FxHashMap::default(),
        selector,
        selector_ty: word,
        out: Vec::new(),
    };
    structurer.place();
    let first = structurer.blocks[0].label;
    structurer.node(0, first);
    let mut out = structurer.out;
    let tested = out.iter().flat_map(|block| &block.insts);
    let is_tested = tested
        .into_iter()
        .any(|inst| inst.op == Op::Load && inst.id_at(0) == selector);
    if is_tested {
        variables.push((pointer, selector));
    } else {
        for block in &mut out {
            block
                .insts
                .retain(|inst| inst.op != Op::Store || inst.id_at(0) != selector);
        }
    }
    out
}

impl Structurer<'_> {
    /// Decides for each block where it goes.
    fn place(&mut self) {
        for at in 1..self.blocks.len() {
            let above = self.graph.idom[at];
            let own = self.loops.of[at] == Some(at);
            let around = match own {
                true => self.loops.around[at],
                false => self.loops.of[at],
            };
            let mut inner = self.loops.of[above];
            if inner != around {
                // The outermost loop that is left.
                while let Some(header) = inner {
                    if self.loops.around[header] == around {
                        self.followers[header].push(at);
                        break;
                    }
                    inner = self.loops.around[header];
                }
                continue;
            }
            let forward = self.graph.predecessors[at]
                .iter()
                .filter(|&&from| from < at);
            match forward.count() {
                1 => self.inline[at] = true,
                _ => self.joins[above].push(at),
            }
        }
    }

    /// Whether a block is written where another one jumps to it.
    fn is_inline(&self, from: usize, to: usize) -> bool {
        self.inline[to] && to > from
    }

    fn number(&mut self, at: usize) -> Id {
        self.target.u32(at as u32)
    }

    fn emit(&mut self, inst: Inst) {
        let block = self.out.last_mut().expect("a block was begun");
        block.insts.push(inst);
    }

    fn begin(&mut self, label: Id) {
        self.out.push(Block::new(label));
    }

    /// How control goes from here to a block that is not written here: the label to jump to, and
    /// the construct by whose merge block it goes.
    fn way(&self, to: usize) -> (Id, Option<usize>) {
        let innermost = self.inner_loops.last().copied();
        if let Some(at) = innermost
            && let Some((header, next)) = self.constructs[at].repeats
            && header == to
        {
            return (next, None);
        }
        let host = self.hosts.get(&to).copied();
        let by = match innermost {
            // What is not outside the innermost loop is behind a selection in it.
            Some(at) if host.is_none_or(|host| host <= at) => at,
            _ => self.constructs.len() - 1,
        };
        (self.constructs[by].merge, Some(by))
    }

    /// The label to jump to; those who get there by a merge block are noted there.
    fn hop(&mut self, to: usize) -> (Id, bool) {
        let (label, by) = self.way(to);
        if let Some(by) = by {
            self.constructs[by].arrivals.insert(to);
        }
        (label, by.is_some())
    }

    /// Jumps from here to a block that is not written here.
    fn jump(&mut self, to: usize) {
        let (label, says) = self.hop(to);
        if says {
            self.say(to);
        }
        self.emit(Inst::of(Op::Branch, &[label]));
    }

    fn say(&mut self, to: usize) {
        let number = self.number(to);
        self.emit(Inst::of(Op::Store, &[self.selector, number]));
    }

    fn push(&mut self, merge: Id, repeats: Option<(usize, Id)>, followers: &[usize]) {
        let depth = self.constructs.len();
        for &follower in followers {
            self.hosts.insert(follower, depth);
        }
        if repeats.is_some() {
            self.inner_loops.push(depth);
        }
        self.constructs.push(Construct {
            merge,
            repeats,
            arrivals: BTreeSet::new(),
        });
    }

    fn pop(&mut self) -> BTreeSet<usize> {
        let done = self.constructs.pop().expect("a construct was begun");
        if done.repeats.is_some() {
            self.inner_loops.pop();
        }
        done.arrivals
    }

    /// Writes a block and what it dominates, as a block of this label.
    fn node(&mut self, at: usize, label: Id) {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.node_on_stack(at, label));
    }

    fn node_on_stack(&mut self, at: usize, label: Id) {
        self.begin(label);
        if self.loops.of[at] != Some(at) {
            return self.body(at);
        }
        let [merge, next, inside] = [(); 3].map(|()| self.target.id());
        let followers = std::mem::take(&mut self.followers[at]);
        let args = vec![Arg::Id(merge), Arg::Id(next), Arg::Lit(0)];
        self.emit(Inst::new(Op::LoopMerge, args));
        self.emit(Inst::of(Op::Branch, &[inside]));
        self.push(merge, Some((at, next)), &followers);
        self.hosts.insert(at, self.constructs.len() - 1);
        self.begin(inside);
        self.body(at);
        let arrivals = self.pop();
        self.begin(next);
        self.emit(Inst::of(Op::Branch, &[label]));
        self.behind(&followers, merge, arrivals);
    }

    /// Writes a block's instructions, and what follows them.
    fn body(&mut self, at: usize) {
        let mut insts = std::mem::take(&mut self.blocks[at].insts);
        let Some(end) = insts.pop() else { return };
        for inst in insts {
            self.emit(inst);
        }
        match end.op {
            Op::Branch => {
                let to = self.graph.successors[at][0];
                match self.is_inline(at, to) {
                    true => {
                        let label = self.blocks[to].label;
                        self.emit(Inst::of(Op::Branch, &[label]));
                        self.node(to, label);
                    }
                    false => self.jump(to),
                }
            }
            Op::BranchConditional => self.conditional(at, &end),
            Op::Switch => self.switch(at, end),
            _ => self.emit(end),
        }
    }

    fn conditional(&mut self, at: usize, end: &Inst) {
        let condition = end.id_at(0);
        let targets = [end.id_at(1), end.id_at(2)].map(|label| {
            let successors = &self.graph.successors[at];
            let found = successors
                .iter()
                .find(|&&to| self.blocks[to].label == label);
            *found.expect("a successor is a target")
        });
        let joins = std::mem::take(&mut self.joins[at]);
        let written = targets.map(|to| self.is_inline(at, to));
        let exits = written.iter().filter(|inline| !**inline).count();
        if joins.is_empty() && exits > 0 && self.exits(condition, targets, written) {
            return;
        }
        let merge = self.target.id();
        self.push(merge, None, &joins);
        self.emit(Inst::new(
            Op::SelectionMerge,
            vec![Arg::Id(merge), Arg::Lit(0)],
        ));
        let mut jumps = Vec::new();
        let labels = targets.map(|to| match self.is_inline(at, to) {
            true => self.blocks[to].label,
            false => {
                let label = self.target.id();
                jumps.push((label, to));
                label
            }
        });
        let all = [condition, labels[0], labels[1]];
        self.emit(Inst::of(Op::BranchConditional, &all));
        self.cases(at, &targets, jumps);
        let arrivals = self.pop();
        self.behind(&joins, merge, arrivals);
    }

    /// A branch of which one side, or both, leaves the construct needs no merge block.
    fn exits(&mut self, condition: Id, targets: [usize; 2], written: [bool; 2]) -> bool {
        let mut labels = [0; 2];
        let mut said = None;
        for side in 0..2 {
            let to = targets[side];
            let (label, by) = match written[side] {
                true => (self.blocks[to].label, None),
                false => self.way(to),
            };
            labels[side] = label;
            // The variable cannot say both.
            if by.is_some() && said.replace(to).is_some() {
                return false;
            }
        }
        if labels[0] == labels[1] {
            return false;
        }
        if let Some(to) = said {
            self.hop(to);
            self.say(to);
        }
        let all = [condition, labels[0], labels[1]];
        self.emit(Inst::of(Op::BranchConditional, &all));
        for side in 0..2 {
            if written[side] {
                self.node(targets[side], labels[side]);
            }
        }
        true
    }

    /// The blocks behind a branch: those that are written there, and jumps to others.
    fn cases(&mut self, at: usize, targets: &[usize], jumps: Vec<(Id, usize)>) {
        let mut seen = FxHashSet::default();
        for &to in targets {
            if self.is_inline(at, to) && seen.insert(to) {
                let label = self.blocks[to].label;
                self.node(to, label);
            }
        }
        for (label, to) in jumps {
            self.begin(label);
            self.jump(to);
        }
    }

    fn switch(&mut self, at: usize, mut end: Inst) {
        let joins = std::mem::take(&mut self.joins[at]);
        let targets = self.graph.successors[at].clone();
        let merge = self.target.id();
        self.push(merge, None, &joins);
        let mut jumps = Vec::new();
        let mut labels = FxHashMap::default();
        for &to in &targets {
            if !self.is_inline(at, to) {
                let label = self.target.id();
                jumps.push((label, to));
                labels.insert(self.blocks[to].label, label);
            }
        }
        for arg in end.args.iter_mut().skip(1) {
            if let Arg::Id(id) = arg {
                *id = labels.get(id).copied().unwrap_or(*id);
            }
        }
        self.emit(Inst::new(
            Op::SelectionMerge,
            vec![Arg::Id(merge), Arg::Lit(0)],
        ));
        self.emit(end);
        self.cases(at, &targets, jumps);
        let arrivals = self.pop();
        self.behind(&joins, merge, arrivals);
    }

    /// Writes what follows a construct: its followers, in order, each if control goes there.
    fn behind(&mut self, followers: &[usize], merge: Id, arrivals: BTreeSet<usize>) {
        let (mut followers, mut merge, mut arrivals) = (followers, merge, arrivals);
        while let [first, rest @ ..] = followers {
            if arrivals.len() == 1 && arrivals.contains(first) {
                debug_assert!(rest.is_empty(), "others would be dominated by it");
                return self.node(*first, merge);
            }
            self.begin(merge);
            let is_first = self.test(*first);
            let inside = self.target.id();
            arrivals.remove(first);
            if rest.is_empty()
                && let Some(label) = self.shared_hop(&arrivals)
            {
                let all = [is_first, inside, label];
                self.emit(Inst::of(Op::BranchConditional, &all));
                return self.node(*first, inside);
            }
            let next = self.target.id();
            self.push(next, None, rest);
            self.emit(Inst::new(
                Op::SelectionMerge,
                vec![Arg::Id(next), Arg::Lit(0)],
            ));
            self.emit(Inst::of(Op::BranchConditional, &[is_first, inside, next]));
            self.node(*first, inside);
            arrivals.extend(self.pop());
            (followers, merge) = (rest, next);
        }
        self.begin(merge);
        let mut left: Vec<usize> = arrivals.into_iter().collect();
        loop {
            let all = left.iter().copied().collect();
            if let Some(label) = self.shared_hop(&all) {
                return self.emit(Inst::of(Op::Branch, &[label]));
            }
            let Some(to) = left.pop() else {
                return self.emit(Inst::new(Op::Unreachable, Vec::new()));
            };
            let is_there = self.test(to);
            let (label, _) = self.hop(to);
            let next = self.target.id();
            self.emit(Inst::of(Op::BranchConditional, &[is_there, label, next]));
            self.begin(next);
        }
    }

    /// The label by which all of these are reached from here, if it is one.
    fn shared_hop(&mut self, all: &BTreeSet<usize>) -> Option<Id> {
        let mut ways = all.iter().map(|&to| self.way(to).0);
        let label = ways.next()?;
        if ways.any(|other| other != label) {
            return None;
        }
        for &to in all {
            self.hop(to);
        }
        Some(label)
    }

    /// Whether the variable says that control goes to a block.
    fn test(&mut self, to: usize) -> Id {
        let (value, equal) = (self.target.id(), self.target.id());
        let (word, bool) = (self.selector_ty, self.target.types.bool());
        let number = self.number(to);
        self.emit(Inst::of(Op::Load, &[self.selector]).with(word, value));
        self.emit(Inst::of(Op::IEqual, &[value, number]).with(bool, equal));
        equal
    }
}

/// Lets each cycle be entered through one block.
fn make_reducible(target: &mut Target, blocks: &mut Vec<Block>, variables: &mut Vec<(Ty, Id)>) {
    let mut work: Vec<Vec<usize>> = vec![(0..blocks.len()).collect()];
    while let Some(region) = work.pop() {
        for cycle in cycles(blocks, &region) {
            let inside: FxHashSet<usize> = cycle.iter().copied().collect();
            let labels: FxHashMap<Id, usize> = (0..)
                .zip(&*blocks)
                .map(|(at, block)| (block.label, at))
                .collect();
            let mut entries = BTreeSet::new();
            for (at, block) in blocks.iter().enumerate() {
                if !inside.contains(&at) {
                    let next = block.successors();
                    let next = next.iter().map(|label| labels[label]);
                    entries.extend(next.filter(|next| inside.contains(next)));
                }
            }
            let mut rest = cycle.clone();
            if let [only] = entries.iter().copied().collect::<Vec<_>>()[..] {
                rest.retain(|&at| at != only);
            } else {
                rest.extend(dispatch(target, blocks, variables, &inside, &entries));
            }
            work.push(rest);
        }
    }
}

/// Adds a block that dispatches to entries, and sends all jumps to them through it, each by a block
/// that says where it goes: other ones for jumps from inside the cycle, which are in it, too, and
/// are returned.
fn dispatch(
    target: &mut Target,
    blocks: &mut Vec<Block>,
    variables: &mut Vec<(Ty, Id)>,
    inside: &FxHashSet<usize>,
    entries: &BTreeSet<usize>,
) -> std::ops::Range<usize> {
    let word = target.types.int(32);
    let pointer = target.types.pointer(StorageClass::Function, word);
    let variable = target.id();
    variables.push((pointer, variable));
    let head = target.id();
    let labels: Vec<Id> = entries.iter().map(|&at| blocks[at].label).collect();
    let value = target.id();
    let mut block = Block::new(head);
    block
        .insts
        .push(Inst::of(Op::Load, &[variable]).with(word, value));
    let mut args = vec![Arg::Id(value), Arg::Id(labels[0])];
    for (number, &label) in (0..).zip(&labels).skip(1) {
        args.extend([Arg::Lit(number), Arg::Id(label)]);
    }
    block.insts.push(Inst::new(Op::Switch, args));
    let mut through = FxHashMap::default();
    let first = blocks.len();
    blocks.push(block);
    for from_inside in [true, false] {
        for (number, &label) in (0..).zip(&labels) {
            let id = target.id();
            let number = target.u32(number);
            let mut block = Block::new(id);
            block.insts.push(Inst::of(Op::Store, &[variable, number]));
            block.insts.push(Inst::of(Op::Branch, &[head]));
            blocks.push(block);
            through.insert((from_inside, label), id);
        }
    }
    for (at, block) in blocks[..first].iter_mut().enumerate() {
        let Some(end) = block.insts.last_mut() else {
            continue;
        };
        let skip = usize::from(end.op != Op::Branch);
        for arg in end.args.iter_mut().skip(skip) {
            if let Arg::Id(id) = arg {
                let by = through.get(&(inside.contains(&at), *id));
                *id = by.copied().unwrap_or(*id);
            }
        }
    }
    first + 1..first + 1 + labels.len()
}

/// The cycles among some blocks that are in no other one: strongly connected components, by
/// Tarjan's algorithm.
fn cycles(blocks: &[Block], region: &[usize]) -> Vec<Vec<usize>> {
    let labels: FxHashMap<Id, usize> = region.iter().map(|&at| (blocks[at].label, at)).collect();
    let next = |at: usize| -> Vec<usize> {
        let all = blocks[at].successors();
        all.iter()
            .filter_map(|label| labels.get(label).copied())
            .collect()
    };
    let mut number: FxHashMap<usize, usize> = FxHashMap::default();
    let mut low: FxHashMap<usize, usize> = FxHashMap::default();
    let mut on_stack = FxHashSet::default();
    let (mut stack, mut found) = (Vec::new(), Vec::new());
    for &start in region {
        if number.contains_key(&start) {
            continue;
        }
        let mut work = vec![(start, next(start))];
        number.insert(start, number.len());
        low.insert(start, number[&start]);
        stack.push(start);
        on_stack.insert(start);
        while let Some((at, rest)) = work.last_mut() {
            let at = *at;
            match rest.pop() {
                Some(to) if !number.contains_key(&to) => {
                    number.insert(to, number.len());
                    low.insert(to, number[&to]);
                    stack.push(to);
                    on_stack.insert(to);
                    work.push((to, next(to)));
                }
                Some(to) => {
                    if on_stack.contains(&to) {
                        let least = low[&at].min(number[&to]);
                        low.insert(at, least);
                    }
                }
                None => {
                    work.pop();
                    if let Some((above, _)) = work.last() {
                        let least = low[above].min(low[&at]);
                        low.insert(*above, least);
                    }
                    if low[&at] == number[&at] {
                        let mut all = Vec::new();
                        while let Some(one) = stack.pop() {
                            on_stack.remove(&one);
                            all.push(one);
                            if one == at {
                                break;
                            }
                        }
                        if all.len() > 1 || next(at).contains(&at) {
                            found.push(all);
                        }
                    }
                }
            }
        }
    }
    found
}
