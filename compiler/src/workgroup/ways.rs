//! Work-items that go different ways between barriers.
//!
//! "If the barrier is inside a conditional statement, then all work-items in the work-group must enter the conditional if any
//! work-item in the work-group enters the conditional statement and executes the barrier", and likewise for each iteration of a loop (OpenCL C Specification,
//! "Synchronization Functions"). So a branch that decides about barriers may go different ways as long as no barrier is met on
//! them: the last iterations of a loop whose barrier has a guard, or a block for the first work-item with a barrier that is for debugging.
//!
//! `split/` lets the first work-item decide such branches. Where that might be wrong ([`Found::Parting`](super::split::Found))
//! the kernel is rewritten here, so that nothing is left to decide:
//!
//! ```text
//!     the code up to each first barrier or the end; next = which
//! again:
//!     now = the least `next` of the work-group            a collective, which is a barrier
//!     if now is the end: return
//!     if next == now: the code after barrier `now`, up to the next barrier or the end; next = which
//!     go to again
//! ```
//!
//! A collective of the work-group ends the code before it as a barrier does, and is done by all before those who are there go on.
//! Code that several barriers lead to is there once for each. Values that live across barriers go by way of private
//! variables, which become values again, all of them varying: that is what it costs.

use cranelift_entity::{EntityRef, SecondaryMap, packed_option::PackedOption};

use super::again;
use super::collectives::is_collective;
use super::split::cut_at_barriers;
use super::subgroups;
use crate::analysis::{DominatorTree, LoopForest};
use crate::ir::{
    BinOp, Block, BlockCall, Builder, Collective, Fence, Function, Inst, IntCC, Op, Scope,
    Terminator, Type, Value,
};
use crate::transform;
use crate::transform::demote::{demote, demote_undominated};
use crate::transform::resume::{self, Place, headers_around};

/// Instructions that the code may come to, and by which factor it may grow.
const MOST: usize = 20_000;
const GROWTH: usize = 4;

/// Rewrites a kernel. `None` if it would become too large.
pub(super) fn take_turns(kernel: &Function) -> Option<Function> {
    let mut func = kernel.clone();
    let barriers = cut_at_barriers(&mut func);
    let before_collectives = cut_before_collectives(&mut func);
    // Where code begins: at the entry, after each barrier, and with each collective.
    let mut starts = vec![func.entry()];
    let mut number: SecondaryMap<Block, Option<usize>> = SecondaryMap::new();
    for &block in &func.layout {
        if barriers[block].is_some() || before_collectives[block] {
            number[block] = Some(starts.len());
            starts.extend(func.successors(block));
        }
    }
    let cheap = cheap_values(&func);
    let forest =
        subgroups::work_together(&func).then(|| LoopForest::new(&func, &DominatorTree::new(&func)));
    keep_in_variables(&mut func, &starts, &cheap);
    let turns = Turns {
        pieces: starts.iter().map(|&s| piece(&func, s, &number)).collect(),
        func: &func,
        barriers: &barriers,
        number,
        cheap: &cheap,
        forest,
    };
    let before: usize = size(kernel, &kernel.layout);
    let after: usize = turns.pieces.iter().map(|blocks| size(&func, blocks)).sum();
    if after > MOST.max(before * GROWTH) {
        return None;
    }
    let mut out = turns.assemble();
    if turns.forest.is_some() {
        demote_undominated(&mut out);
    }
    transform::promote_scalarized(&mut out);
    Some(out)
}

fn size(func: &Function, blocks: &[Block]) -> usize {
    blocks.iter().map(|&b| func.blocks[b].insts.len()).sum()
}

/// Begins a new block with each collective of the work-group; says which blocks come before one.
fn cut_before_collectives(func: &mut Function) -> SecondaryMap<Block, bool> {
    let mut cut = SecondaryMap::new();
    for first in func.layout.clone() {
        let mut block = first;
        loop {
            // One that a block begins with already has been cut off.
            let from = usize::from(block != first);
            let insts = func.blocks[block].insts.iter().enumerate().skip(from);
            let at = insts
                .map(|(at, &inst)| (at, is_collective(&func.insts[inst].op)))
                .find_map(|(at, found)| found.then_some(at));
            let Some(at) = at else { break };
            let rest = func.blocks[block].insts.split_off(at);
            let next = func.add_block();
            func.blocks[next].insts = rest;
            let jump = Terminator::Br(BlockCall::new(next, &[]));
            func.blocks[next].term = std::mem::replace(&mut func.blocks[block].term, jump);
            cut[block] = true;
            block = next;
        }
    }
    func.layout = func.reverse_post_order();
    cut
}

/// The blocks that run from a start until the next turn or the end.
fn piece(func: &Function, start: Block, number: &SecondaryMap<Block, Option<usize>>) -> Vec<Block> {
    let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
    seen[start] = true;
    let mut blocks = vec![start];
    let mut at = 0;
    while let Some(&block) = blocks.get(at) {
        at += 1;
        if number[block].is_some() {
            continue;
        }
        for next in func.successors(block) {
            if !std::mem::replace(&mut seen[next], true) {
                blocks.push(next);
            }
        }
    }
    blocks
}

/// Which values are computed again where they are needed: few operations on ids, arguments and constants.
fn cheap_values(func: &Function) -> SecondaryMap<Value, bool> {
    // What each costs; nothing is known of the others.
    let mut costs: SecondaryMap<Value, Option<u32>> =
        SecondaryMap::with_capacity(func.values.len());
    for &param in func.params() {
        costs[param] = Some(0);
    }
    for &block in &func.reverse_post_order() {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            let Some(base) = again::cost(func, data) else {
                continue;
            };
            let args = data.args.iter().map(|&arg| costs[arg]);
            costs[data.results[0]] = args
                .sum::<Option<u32>>()
                .map(|sum| sum + base)
                .filter(|&cost| cost <= again::CHEAP);
        }
    }
    let mut cheap = SecondaryMap::with_capacity(func.values.len());
    for value in func.values.keys() {
        cheap[value] = costs[value].is_some();
    }
    cheap
}

/// Sends what lives at a start, but for cheap values, through private variables.
fn keep_in_variables(func: &mut Function, starts: &[Block], cheap: &SecondaryMap<Value, bool>) {
    let preds = func.predecessors();
    let mut home: SecondaryMap<Value, PackedOption<Block>> = SecondaryMap::new();
    let mut users: SecondaryMap<Value, Vec<Block>> = SecondaryMap::new();
    for &block in &func.layout {
        let data = &func.blocks[block];
        for &param in &data.params {
            home[param] = block.into();
        }
        let mut uses = |value: Value| {
            if users[value].last() != Some(&block) {
                users[value].push(block);
            }
        };
        for &inst in &data.insts {
            func.insts[inst].args.iter().for_each(|&arg| uses(arg));
            for &result in &func.insts[inst].results {
                home[result] = block.into();
            }
        }
        data.term.for_each_value(uses);
    }
    let mut is_start: SecondaryMap<Block, bool> = SecondaryMap::new();
    starts.iter().for_each(|&start| is_start[start] = true);
    // Marks hold the number of the value that set them, so that nothing is cleared between values.
    let mut live: SecondaryMap<Block, u32> = SecondaryMap::new();
    let mut crossing: SecondaryMap<Value, bool> = SecondaryMap::new();
    for value in func.values.keys() {
        let Some(home) = home[value].expand() else {
            continue;
        };
        if cheap[value] || func.params().contains(&value) {
            continue;
        }
        let mark = value.index() as u32 + 1;
        let elsewhere = users[value].iter().filter(|&&user| user != home);
        let mut todo: Vec<Block> = elsewhere.copied().collect();
        while let Some(block) = todo.pop() {
            if std::mem::replace(&mut live[block], mark) != mark {
                crossing[value] |= is_start[block];
                todo.extend(preds[block].iter().filter(|&&pred| pred != home));
            }
        }
    }
    demote(func, &crossing);
}

struct Turns<'a> {
    func: &'a Function,
    barriers: &'a SecondaryMap<Block, Option<Fence>>,
    /// Which turn a block that ends with one leads to.
    number: SecondaryMap<Block, Option<usize>>,
    pieces: Vec<Vec<Block>>,
    cheap: &'a SecondaryMap<Value, bool>,
    /// The loops, if it matters who is in which iteration.
    forest: Option<LoopForest>,
}

type Map = SecondaryMap<Value, PackedOption<Value>>;

impl Turns<'_> {
    fn assemble(&self) -> Function {
        let func = self.func;
        let params: Vec<Type> = func.params().iter().map(|&p| func.ty(p)).collect();
        let mut out = Function::new(func.name.clone(), &params, &[]);
        out.locals = func.locals.clone();
        out.slots = func.slots.clone();
        let mut common: Map = SecondaryMap::with_capacity(func.values.len());
        for (&old, &new) in func.params().iter().zip(out.params()) {
            common[old] = new.into();
        }
        let entry = out.entry();
        for &inst in &func.blocks[func.entry()].insts {
            let data = &func.insts[inst];
            if matches!(data.op, Op::Alloca { .. }) {
                let new = Builder::new(&mut out, entry).val(data.op.clone(), &[], Type::PTR);
                common[data.results[0]] = new.into();
            }
        }
        let mut b = Builder::new(&mut out, entry);
        let again = b.new_block(&[Type::I32]);
        let join = b.new_block(&[Type::I32]);
        b.switch_to(join);
        let first = b.param(join, 0);
        b.br(again, &[first]);
        self.copy(&mut out, 0, (entry, join), 0, common.clone());

        let mut b = Builder::new(&mut out, again);
        let next = b.param(again, 0);
        let least = Op::Collective {
            what: Collective::Reduce(BinOp::UMin),
            scope: Scope::WorkGroup,
            masked: false,
        };
        let now = b.val(least, &[next], Type::I32);
        let done = b.new_block(&[]);
        let turns = 1..self.pieces.len();
        let tests: Vec<Block> = turns.map(|_| b.new_block(&[])).collect();
        let cases = tests.iter().enumerate();
        b.terminate(Terminator::Switch {
            value: now,
            cases: cases
                .map(|(i, &test)| (i as u64 + 1, BlockCall::new(test, &[])))
                .collect(),
            default: BlockCall::new(done, &[]),
        });
        b.switch_to(done);
        b.ret(&[]);
        for (piece, test) in (1..).zip(tests) {
            let mut map = common.clone();
            let start = self.pieces[piece][0];
            let insts = &func.blocks[start].insts;
            let with = insts
                .iter()
                .position(|&inst| is_collective(&func.insts[inst].op))
                .filter(|_| self.leads_to_collective(piece))
                .map_or(0, |at| at + 1);
            for &inst in &insts[..with] {
                self.copy_inst(&mut out, inst, (test, test), &mut map);
            }
            let mut b = Builder::new(&mut out, test);
            let this = b.iconst(Type::I32, piece as u64);
            let mine = b.icmp(IntCC::Eq, next, this);
            let (code, join) = (b.new_block(&[]), b.new_block(&[Type::I32]));
            b.cond_br(mine, code, &[], join, &[next]);
            b.switch_to(join);
            let next = b.param(join, 0);
            b.br(again, &[next]);
            self.copy(&mut out, piece, (code, join), with, map);
        }
        out.layout = out.reverse_post_order();
        out
    }

    /// Whether a piece begins with a collective that ended the code before it.
    fn leads_to_collective(&self, piece: usize) -> bool {
        self.func
            .layout
            .iter()
            .any(|&block| self.number[block] == Some(piece) && self.barriers[block].is_none())
    }

    /// Copies a piece, without its first so many instructions, to `start` and blocks of its own; it goes on at `join` with the number of
    /// the next one. Who begins in a loop comes there by way of its header, if that matters.
    fn copy(
        &self,
        out: &mut Function,
        piece: usize,
        (start, join): (Block, Block),
        without: usize,
        mut map: Map,
    ) {
        let func = self.func;
        let mut blocks: SecondaryMap<Block, PackedOption<Block>> = SecondaryMap::new();
        let order: Vec<Block> = self.order(piece);
        let forest = self.forest.as_ref();
        let around = forest.map_or_else(Vec::new, |forest| headers_around(forest, order[0]));
        for &block in &order {
            let new = if block == order[0] && around.is_empty() {
                start
            } else {
                out.add_block()
            };
            blocks[block] = new.into();
            if block != func.entry() {
                for &param in &func.blocks[block].params {
                    map[param] = out.add_param(new, func.ty(param)).into();
                }
            }
        }
        for &block in &order {
            let to = blocks[block].expect("just made");
            let skip = if block == order[0] { without } else { 0 };
            for &inst in &func.blocks[block].insts[skip..] {
                self.copy_inst(out, inst, (start, to), &mut map);
            }
            if let Some(fence) = self.barriers[block]
                && fence.scope > Scope::WorkGroup
            {
                Builder::new(out, to).ins(Op::Fence(fence), &[], &[]);
            }
            let mut term = func.blocks[block].term.clone();
            let next = match (self.number[block], &term) {
                (Some(next), _) => Some(next),
                (None, Terminator::Ret(_) | Terminator::Unreachable) => Some(self.pieces.len()),
                _ => None,
            };
            if let Some(next) = next {
                let mut b = Builder::new(out, to);
                let next = b.iconst(Type::I32, next as u64);
                b.br(join, &[next]);
                continue;
            }
            term.for_each_value_mut(|value| *value = self.value(out, start, &mut map, *value));
            for call in term.targets_mut() {
                call.block = blocks[call.block].expect("jumps stay in the piece");
            }
            out.blocks[to].term = term;
        }
        if let Some(to) = blocks[order[0]].expand().filter(|&to| to != start) {
            let copies = |of: &[Block]| of.iter().filter_map(|&b| blocks[b].expand()).collect();
            // Those of headers that one cannot come back to before the next turn are not there.
            let headers: Vec<Block> = copies(&around);
            let place = Place {
                from: start,
                to,
                headers,
            };
            let copies: Vec<Block> = copies(&order);
            resume::go_on(out, &[place], &copies);
        }
    }

    /// Copies an instruction of the piece that begins at `start` to the end of a block.
    fn copy_inst(
        &self,
        out: &mut Function,
        inst: Inst,
        (start, to): (Block, Block),
        map: &mut Map,
    ) {
        let func = self.func;
        let data = &func.insts[inst];
        let is_made = matches!(data.op, Op::Alloca { .. });
        if is_made || data.results.iter().any(|&result| self.cheap[result]) {
            return;
        }
        let args: Vec<Value> = data
            .args
            .iter()
            .map(|&arg| self.value(out, start, map, arg))
            .collect();
        let types: Vec<Type> = data.results.iter().map(|&r| func.ty(r)).collect();
        let mut b = Builder::new(out, to);
        b.loc = data.loc;
        let new = b.ins(data.op.clone(), &args, &types);
        for (&old, &new) in data.results.iter().zip(&out.insts[new].results) {
            map[old] = new.into();
        }
    }

    /// The blocks of a piece, each after those that dominate it.
    fn order(&self, piece: usize) -> Vec<Block> {
        let blocks = &self.pieces[piece];
        let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
        let mut order = Vec::with_capacity(blocks.len());
        let mut stack = vec![(blocks[0], false)];
        while let Some((block, finished)) = stack.pop() {
            if finished {
                order.push(block);
            } else if !std::mem::replace(&mut seen[block], true) {
                stack.push((block, true));
                if self.number[block].is_none() {
                    stack.extend(self.func.successors(block).map(|next| (next, false)));
                }
            }
        }
        order.reverse();
        order
    }

    /// A value in the copy; cheap ones are computed at the start of the piece when first asked for.
    fn value(&self, out: &mut Function, start: Block, map: &mut Map, value: Value) -> Value {
        if let Some(new) = map[value].expand() {
            return new;
        }
        let inst = self
            .func
            .def_inst(value)
            .expect("cheap values are instructions");
        let data = &self.func.insts[inst];
        let args: Vec<Value> = data
            .args
            .iter()
            .map(|&arg| self.value(out, start, map, arg))
            .collect();
        let mut b = Builder::new(out, start);
        b.loc = data.loc;
        let new = b.val(data.op.clone(), &args, self.func.ty(value));
        map[value] = new.into();
        new
    }
}
