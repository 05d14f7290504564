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
//! Most source needs no test. The time is that of dominators, of one visit of each block, and of
//! sets of targets that are merged and split where constructs end. Control flow that is nested
//! deeper than SPIR-V allows is refused.

use std::collections::{BTreeMap, BTreeSet};

use rspirv::spirv::{Op, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Error;
use super::flatten::remove_unreachable;
use super::graph::{Graph, Loops};
use super::ir::{Arg, Block, Id, Inst, Line};
use super::target::Target;
use super::types::Ty;

/// Most constructs in one another: SPIR-V Specification, "Universal Limits". A loop is two.
const MOST_NESTED: usize = 1023;
/// How deep branches may go on in their constructs where they need not.
const DEEP: usize = 64;
/// Most cases of a switch: the same.
const MOST_CASES: usize = 16383;

/// Something that control leaves for its merge block.
struct Construct {
    merge: Id,
    /// Of a loop, its header's number and its continue target.
    repeats: Option<(u32, Id)>,
    /// Numbers of those that are gone to by the merge block.
    arrivals: BTreeSet<u32>,
}

/// Blocks that are gone to by one jump.
struct Way {
    label: Id,
    /// The construct whose merge block it is.
    by: Option<usize>,
    all: BTreeSet<u32>,
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
    /// How many blocks each dominates.
    sizes: Vec<usize>,
    constructs: Vec<Construct>,
    /// Places of the loops among the constructs.
    inner_loops: Vec<usize>,
    /// By block, the number by which the variable knows it: those that go behind a construct have
    /// smaller ones than those that go behind a construct in it.
    numbers: Vec<u32>,
    next_number: u32,
    selector: Id,
    selector_ty: Ty,
    out: Vec<Block>,
    /// Where control flow is nested too deep, and what is there.
    too_deep: Option<Option<Line>>,
}

/// Puts blocks in structured order. Variables that this needs are added.
///
/// # Errors
/// Control flow that is nested too deep.
pub(crate) fn structure(
    target: &mut Target,
    mut blocks: Vec<Block>,
    variables: &mut Vec<(Ty, Id)>,
) -> Result<Vec<Block>, Error> {
    thread_jumps(&mut blocks);
    split_switches(target, &mut blocks);
    let mut graph = in_order(&mut blocks);
    if !graph.is_reducible() {
        make_reducible(target, &mut blocks, &graph, variables);
        split_switches(target, &mut blocks);
        graph = in_order(&mut blocks);
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
        sizes: vec![1; count],
        constructs: Vec::new(),
        inner_loops: Vec::new(),
        numbers: vec![0; count],
        next_number: 0,
        selector,
        selector_ty: word,
        out: Vec::new(),
        too_deep: None,
    };
    structurer.place();
    let first = structurer.blocks[0].label;
    structurer.node(0, first);
    if let Some(line) = structurer.too_deep {
        return Err(Error::at(
            line,
            "control flow is nested deeper than the 1023 levels that SPIR-V has",
        ));
    }
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
    Ok(out)
}

/// Has jumps to blocks that only jump on go where those do, so that breaks and the like are edges.
fn thread_jumps(blocks: &mut [Block]) {
    let only_jumps = |block: &Block| match &block.insts[..] {
        [end] if end.op == Op::Branch => Some((block.label, end.id_at(0))),
        _ => None,
    };
    let next: FxHashMap<Id, Id> = blocks.iter().filter_map(only_jumps).collect();
    let mut goes_to: FxHashMap<Id, Id> = FxHashMap::default();
    for &label in next.keys() {
        let (mut path, mut at) = (FxHashSet::default(), label);
        let end = loop {
            if let Some(&known) = goes_to.get(&at) {
                break known;
            }
            match next.get(&at) {
                // A loop of nothing stays one.
                Some(&to) if path.insert(at) => at = to,
                _ => break at,
            }
        };
        goes_to.extend(path.into_iter().map(|label| (label, end)));
    }
    for block in blocks {
        let Some(end) = block.insts.last_mut() else {
            continue;
        };
        let skip = usize::from(end.op != Op::Branch);
        for arg in end.args.iter_mut().skip(skip) {
            if let Arg::Id(label) = arg {
                *label = goes_to.get(label).copied().unwrap_or(*label);
            }
        }
        if end.op == Op::BranchConditional && end.id_at(1) == end.id_at(2) {
            *end = Inst::of(Op::Branch, &[end.id_at(1)]);
        }
    }
}

/// Puts blocks in reverse postorder.
fn in_order(blocks: &mut Vec<Block>) -> Graph {
    remove_unreachable(blocks);
    let order: Vec<usize> = (0..blocks.len()).collect();
    Graph::of(blocks, &order)
}

/// Lets switches that have too many cases go on to another one.
fn split_switches(target: &mut Target, blocks: &mut Vec<Block>) {
    for at in 0..blocks.len() {
        let Some(end) = blocks[at].insts.last_mut() else {
            continue;
        };
        let cases = end.ids().skip(2).count();
        if end.op != Op::Switch || cases <= MOST_CASES {
            continue;
        }
        let each = (end.args.len() - 2) / cases;
        let rest = end.args.split_off(2);
        let (value, default) = (end.args[0], end.args[1]);
        let mut chunks = rest.chunks(each * MOST_CASES).peekable();
        let mut ends = Vec::new();
        while let Some(chunk) = chunks.next() {
            let next = match chunks.peek() {
                Some(_) => Arg::Id(target.id()),
                None => default,
            };
            let args = [&[value, next][..], chunk].concat();
            ends.push((next, Inst::new(Op::Switch, args)));
        }
        let mut ends = ends.into_iter();
        let Some((mut next, first)) = ends.next() else {
            continue;
        };
        end.args = first.args;
        for (after, inst) in ends {
            let Arg::Id(label) = next else { continue };
            let mut block = Block::new(label);
            block.insts.push(inst);
            blocks.push(block);
            next = after;
        }
    }
}

impl Structurer<'_> {
    /// Decides for each block where it goes.
    fn place(&mut self) {
        for at in (1..self.blocks.len()).rev() {
            self.sizes[self.graph.idom[at]] += self.sizes[at];
        }
        for at in 1..self.blocks.len() {
            let above = self.graph.idom[at];
            let around = self.loops.around[at];
            if self.loops.of(above) != around {
                // The outermost loop that is left.
                let left = self.loops.tree.below(around, above);
                self.followers[left].push(at);
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

    fn emit(&mut self, inst: Inst) {
        let block = self.out.last_mut().expect("a block was begun");
        block.insts.push(inst);
    }

    fn begin(&mut self, label: Id) {
        self.out.push(Block::new(label));
    }

    /// Of the blocks behind a loop's construct and others those have smaller numbers than its
    /// header that go behind it or one around it, and those greater ones that go behind a construct
    /// in it.
    fn repeats(&self) -> Option<(usize, u32, Id)> {
        let at = *self.inner_loops.last()?;
        let (header, next) = self.constructs[at].repeats?;
        Some((at, header, next))
    }

    /// How control goes from here to blocks that are not written here: each way with those that are
    /// gone to by it. At most three.
    fn ways(&self, mut all: BTreeSet<u32>) -> Vec<Way> {
        let mut ways = Vec::new();
        let by = |by: usize, all| Way {
            label: self.constructs[by].merge,
            by: Some(by),
            all,
        };
        if let Some((at, header, next)) = self.repeats() {
            if all.remove(&header) {
                ways.push(Way {
                    label: next,
                    by: None,
                    all: BTreeSet::from([header]),
                });
            }
            if all.first().is_some_and(|&first| first < header) {
                let inner = match all.last().is_some_and(|&last| last > header) {
                    true => all.split_off(&header),
                    false => BTreeSet::new(),
                };
                ways.push(by(at, all));
                all = inner;
            }
        }
        if !all.is_empty() {
            ways.push(by(self.constructs.len() - 1, all));
        }
        ways
    }

    /// Notes at a merge block who gets there.
    fn go(&mut self, way: Way) -> Id {
        if let Some(by) = way.by {
            let (mut less, mut more) = (way.all, std::mem::take(&mut self.constructs[by].arrivals));
            if less.len() > more.len() {
                std::mem::swap(&mut less, &mut more);
            }
            more.extend(less);
            self.constructs[by].arrivals = more;
        }
        way.label
    }

    fn way(&self, to: usize) -> Way {
        let mut ways = self.ways(BTreeSet::from([self.numbers[to]]));
        ways.pop().expect("there is a way to each block")
    }

    /// Jumps from here to a block that is not written here.
    fn jump(&mut self, to: usize) {
        let way = self.way(to);
        if way.by.is_some() {
            self.say(to);
        }
        let label = self.go(way);
        self.emit(Inst::of(Op::Branch, &[label]));
    }

    fn say(&mut self, to: usize) {
        let number = self.target.u32(self.numbers[to]);
        self.emit(Inst::of(Op::Store, &[self.selector, number]));
    }

    fn push(&mut self, merge: Id, followers: &[usize]) {
        for &follower in followers {
            self.number(follower);
        }
        self.constructs.push(Construct {
            merge,
            repeats: None,
            arrivals: BTreeSet::new(),
        });
        if self.constructs.len() + self.inner_loops.len() >= MOST_NESTED && self.too_deep.is_none()
        {
            let lines = self.out.iter().rev().flat_map(|block| &block.insts);
            let line = lines.into_iter().find_map(|inst| inst.line);
            self.too_deep = Some(line);
        }
    }

    fn push_loop(&mut self, merge: Id, header: usize, next: Id, followers: &[usize]) {
        self.inner_loops.push(self.constructs.len());
        self.push(merge, followers);
        self.number(header);
        let number = self.numbers[header];
        if let Some(construct) = self.constructs.last_mut() {
            construct.repeats = Some((number, next));
        }
    }

    fn number(&mut self, at: usize) {
        self.numbers[at] = self.next_number;
        self.next_number += 1;
    }

    fn pop(&mut self) -> BTreeSet<u32> {
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
        if !self.loops.is_header[at] {
            return self.body(at);
        }
        let [merge, next, inside] = [(); 3].map(|()| self.target.id());
        let followers = std::mem::take(&mut self.followers[at]);
        let args = vec![Arg::Id(merge), Arg::Id(next), Arg::Lit(0)];
        self.emit(Inst::new(Op::LoopMerge, args));
        self.emit(Inst::of(Op::Branch, &[inside]));
        self.push_loop(merge, at, next, &followers);
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
        let mut joins = std::mem::take(&mut self.joins[at]);
        if joins.is_empty() && self.constructs.len() > DEEP {
            // The larger side goes behind the construct: of a chain of alternatives, the rest.
            let [yes, no] = targets.map(|to| self.is_inline(at, to).then_some(self.sizes[to]));
            if let (Some(yes), Some(no)) = (yes, no) {
                let larger = targets[usize::from(yes < no)];
                self.inline[larger] = false;
                joins.push(larger);
            }
        }
        let written = targets.map(|to| self.is_inline(at, to));
        let exits = written.iter().filter(|inline| !**inline).count();
        if joins.is_empty() && exits > 0 && self.exits(condition, targets, written) {
            return;
        }
        let merge = self.target.id();
        self.push(merge, &joins);
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
            if written[side] {
                labels[side] = self.blocks[to].label;
                continue;
            }
            let way = self.way(to);
            labels[side] = way.label;
            // The variable cannot say both.
            if way.by.is_some() && said.replace((to, way)).is_some() {
                return false;
            }
        }
        if labels[0] == labels[1] {
            return false;
        }
        if let Some((to, way)) = said {
            self.go(way);
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
        self.push(merge, &joins);
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
    fn behind(&mut self, followers: &[usize], merge: Id, arrivals: BTreeSet<u32>) {
        let (mut followers, mut merge, mut arrivals) = (followers, merge, arrivals);
        while let [first, rest @ ..] = followers {
            let number = self.numbers[*first];
            if arrivals.len() == 1 && arrivals.contains(&number) {
                debug_assert!(rest.is_empty(), "others would be dominated by it");
                return self.node(*first, merge);
            }
            self.begin(merge);
            let is_first = self.test(Op::IEqual, number);
            let inside = self.target.id();
            arrivals.remove(&number);
            if rest.is_empty() {
                let mut ways = self.ways(std::mem::take(&mut arrivals));
                if ways.len() == 1
                    && let Some(way) = ways.pop()
                {
                    let label = self.go(way);
                    let all = [is_first, inside, label];
                    self.emit(Inst::of(Op::BranchConditional, &all));
                    return self.node(*first, inside);
                }
                ways.into_iter()
                    .for_each(|mut way| arrivals.append(&mut way.all));
            }
            let next = self.target.id();
            // The rest have their numbers, of this place among the constructs.
            self.push(next, &[]);
            if let Some(construct) = self.constructs.last_mut() {
                construct.arrivals = arrivals;
            }
            self.emit(Inst::new(
                Op::SelectionMerge,
                vec![Arg::Id(next), Arg::Lit(0)],
            ));
            self.emit(Inst::of(Op::BranchConditional, &[is_first, inside, next]));
            self.node(*first, inside);
            arrivals = self.pop();
            (followers, merge) = (rest, next);
        }
        self.begin(merge);
        let mut ways = self.ways(arrivals).into_iter().peekable();
        while let Some(way) = ways.next() {
            let (by, last) = (way.by, way.all.last().copied().unwrap_or(0));
            let label = self.go(way);
            if ways.peek().is_none() {
                return self.emit(Inst::of(Op::Branch, &[label]));
            }
            let is_there = match by {
                None => self.test(Op::IEqual, last),
                // All that are left have greater numbers.
                Some(_) => self.test(Op::ULessThanEqual, last),
            };
            let next = self.target.id();
            self.emit(Inst::of(Op::BranchConditional, &[is_there, label, next]));
            self.begin(next);
        }
        self.emit(Inst::new(Op::Unreachable, Vec::new()));
    }

    /// Compares the number of the block that control goes to.
    fn test(&mut self, op: Op, number: u32) -> Id {
        let (value, result) = (self.target.id(), self.target.id());
        let (word, bool) = (self.selector_ty, self.target.types.bool());
        let number = self.target.u32(number);
        self.emit(Inst::of(Op::Load, &[self.selector]).with(word, value));
        self.emit(Inst::of(op, &[value, number]).with(bool, result));
        result
    }
}

/// How an edge looks from the loop that its target is in, in which inner loops are one block each.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// It goes back to the header of a loop.
    Back,
    /// From the header of the loop.
    Header,
    /// From a block, or an inner loop by its header.
    Block(usize),
}

fn origin(loops: &Loops, from: usize, to: usize) -> Origin {
    if loops.is_header[to] && loops.tree.is_above(to, from) {
        return Origin::Back;
    }
    match loops.around[to] {
        Some(header) if header == from => Origin::Header,
        around => Origin::Block(loops.tree.below(around, from)),
    }
}

/// Lets each cycle be entered through one block. Natural loops are: within each, with inner ones as
/// one block each, other cycles are what is strongly connected. Of each the blocks are gone to by
/// way of a block that dispatches where they are entered or gone back to, so that no cycle is left
/// but by that block.
fn make_reducible(
    target: &mut Target,
    blocks: &mut Vec<Block>,
    graph: &Graph,
    variables: &mut Vec<(Ty, Id)>,
) {
    let loops = Loops::find(graph);
    let mut within = vec![Vec::new(); blocks.len()];
    let edges = || {
        let all = graph.successors.iter().enumerate();
        all.flat_map(|(from, next)| next.iter().map(move |&to| (from, to)))
    };
    for (from, to) in edges() {
        if let Origin::Block(from) = origin(&loops, from, to) {
            within[from].push(to);
        }
    }
    let cycle_of = cycles(&within);
    // By cycle, the blocks that are dispatched to; by block, whether from inside, from outside.
    let mut entries: BTreeMap<usize, BTreeMap<usize, [bool; 2]>> = BTreeMap::new();
    let by_dispatch = |from: usize, to: usize| {
        let cycle = cycle_of[to]?;
        let inside = match origin(&loops, from, to) {
            Origin::Back => return None,
            Origin::Header => false,
            Origin::Block(from) => {
                let inside = cycle_of[from] == Some(cycle);
                if inside && from < to {
                    return None;
                }
                inside
            }
        };
        Some((cycle, usize::from(!inside)))
    };
    for (from, to) in edges() {
        if let Some((cycle, side)) = by_dispatch(from, to) {
            entries.entry(cycle).or_default().entry(to).or_default()[side] = true;
        }
    }
    let mut through = FxHashMap::default();
    for entries in entries.values() {
        dispatch(target, blocks, variables, entries, &mut through);
    }
    let index: FxHashMap<Id, usize> = (0..)
        .zip(&blocks[..within.len()])
        .map(|(at, block)| (block.label, at))
        .collect();
    for (from, block) in blocks[..within.len()].iter_mut().enumerate() {
        let Some(end) = block.insts.last_mut() else {
            continue;
        };
        let skip = usize::from(end.op != Op::Branch);
        for arg in end.args.iter_mut().skip(skip) {
            if let Arg::Id(label) = arg
                && let Some(&to) = index.get(label)
                && let Some((_, side)) = by_dispatch(from, to)
            {
                *label = through[&(to, side)];
            }
        }
    }
}

/// Adds a block that dispatches to entries of a cycle, and for each of them blocks that say that
/// control goes to it: one for jumps from inside the cycle, one for those from outside.
fn dispatch(
    target: &mut Target,
    blocks: &mut Vec<Block>,
    variables: &mut Vec<(Ty, Id)>,
    entries: &BTreeMap<usize, [bool; 2]>,
    through: &mut FxHashMap<(usize, usize), Id>,
) {
    let word = target.types.int(32);
    let pointer = target.types.pointer(StorageClass::Function, word);
    let (variable, head, value) = (target.id(), target.id(), target.id());
    variables.push((pointer, variable));
    let mut args = vec![Arg::Id(value)];
    for (number, (&entry, sides)) in (0..).zip(entries) {
        if number > 0 {
            args.push(Arg::Lit(number));
        }
        args.push(Arg::Id(blocks[entry].label));
        let number = target.u32(number);
        for side in (0..2).filter(|&side| sides[side]) {
            let mut block = Block::new(target.id());
            block.insts.push(Inst::of(Op::Store, &[variable, number]));
            block.insts.push(Inst::of(Op::Branch, &[head]));
            through.insert((entry, side), block.label);
            blocks.push(block);
        }
    }
    let mut block = Block::new(head);
    block
        .insts
        .push(Inst::of(Op::Load, &[variable]).with(word, value));
    block.insts.push(Inst::new(Op::Switch, args));
    blocks.push(block);
}

/// The strongly connected components of more than one node, by Tarjan's algorithm: for each node
/// the number of the one that it is in.
fn cycles(successors: &[Vec<usize>]) -> Vec<Option<usize>> {
    const UNKNOWN: usize = usize::MAX;
    let count = successors.len();
    let (mut number, mut low) = (vec![UNKNOWN; count], vec![UNKNOWN; count]);
    let mut on_stack = vec![false; count];
    let mut cycle_of = vec![None; count];
    let (mut stack, mut next_number, mut found) = (Vec::new(), 0, 0);
    for start in 0..count {
        if number[start] != UNKNOWN {
            continue;
        }
        let mut work = vec![(start, 0)];
        while let Some((at, done)) = work.last_mut() {
            let at = *at;
            if *done == 0 {
                (number[at], low[at]) = (next_number, next_number);
                next_number += 1;
                stack.push(at);
                on_stack[at] = true;
            }
            match successors[at].get(*done) {
                Some(&to) => {
                    *done += 1;
                    match number[to] {
                        UNKNOWN => work.push((to, 0)),
                        other if on_stack[to] => low[at] = low[at].min(other),
                        _ => {}
                    }
                }
                None => {
                    work.pop();
                    if let Some(&(above, _)) = work.last() {
                        low[above] = low[above].min(low[at]);
                    }
                    if low[at] == number[at] {
                        let from = stack.iter().rposition(|&one| one == at).unwrap_or(0);
                        let all = stack.split_off(from);
                        for &one in &all {
                            on_stack[one] = false;
                            cycle_of[one] = (all.len() > 1).then_some(found);
                        }
                        found += 1;
                    }
                }
            }
        }
    }
    cycle_of
}
