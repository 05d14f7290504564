//! Barriers that work-items may differ about.
//!
//! "If the barrier is inside a conditional statement, then all work-items in the work-group must
//! enter the conditional if any work-item in the work-group enters the conditional statement and
//! executes the barrier", and likewise for each iteration of a loop (OpenCL C Specification,
//! "Synchronization Functions"). So a branch that decides about barriers may be divergent as long
//! as no barrier is met on what follows: the last iterations of a loop whose barrier is
//! conditional, or a block for the first work-item with a barrier that is for debugging.
//!
//! `split/` lets the first work-item decide such branches. Where that might be wrong
//! ([`Found::DivergentBarrier`](super::split::Found)) the kernel becomes a state machine here
//! ([`suspension`]), so that nothing is left to decide:
//!
//! ```text
//!     the code up to each first suspension point or the end; state = which
//! dispatch:
//!     now = the least state of the work-group           a collective, which is a barrier
//!     if now is the end: return
//!     if state == now: the code behind point `now`, up to the next point or the end; state = which
//!     go to dispatch
//! ```
//!
//! A collective of the work-group ends the code before it as a barrier does, and all work-items do
//! it before any in that state resumes. The code behind a point is a copy of its own, so what
//! several points lead to is there once for each. Values that live across points are demoted, and
//! promoted again in the end, all of them varying: that is what it costs. Every variable is then
//! handed on at every point, so values of which one is wanted at a time share one
//! ([`demote_sharing`]): there are as many as live at once, not as many as there are points.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

use super::collectives::is_collective;
use super::rematerialize;
use super::split::find_regions;
use super::subgroups;
use crate::analysis::LoopForest;
use crate::ir::{
    BinOp, Block, Builder, Cloner, Collective, DominatorTree, Function, Inst, Op, Scope,
    Terminator, Type, Value,
};
use crate::transform;
use crate::transform::demote::{demote_sharing, demote_undominated};
use crate::transform::suspension::{
    self, Resumption, StateMachine, SuspensionPoint, headers_around, resume_through_headers,
};

/// Instructions that the code may come to, and by which factor it may grow.
const MAX_SIZE: usize = 20_000;
const MAX_GROWTH: usize = 4;

/// Rewrites a kernel. `None` if it would become too large.
pub(super) fn rewrite(kernel: &Function) -> Option<Function> {
    let mut func = kernel.clone();
    let points = suspension::cut(&mut func, |op| {
        matches!(op, Op::Barrier(_)) || is_collective(op)
    });
    let mut starts = vec![func.entry()];
    let mut ends: SecondaryMap<Block, Option<usize>> = SecondaryMap::new();
    for (number, point) in points.iter().enumerate() {
        starts.push(point.resume);
        ends[point.block] = Some(number);
        if is_collective(&func.insts[point.inst].op) {
            // It is done where work-items resume, with what it needs.
            func.blocks[point.resume].insts.insert(0, point.inst);
        }
    }
    let cheap = cheap_values(&func);
    let forest = subgroups::has_sub_group_operations(&func)
        .then(|| LoopForest::new(&func, &DominatorTree::new(&func)));
    demote_crossing(&mut func, &starts, &cheap);
    let plan = Plan {
        sections: sections(&func, &starts, &ends, size_limit(kernel))?,
        func: &func,
        points: &points,
        ends,
        cheap: &cheap,
        forest,
    };
    let mut out = Emitter::new(&plan).run();
    if plan.forest.is_some() {
        demote_undominated(&mut out);
    }
    transform::promote_scalarized(&mut out);
    Some(out)
}

fn size_limit(kernel: &Function) -> usize {
    let blocks = kernel.layout.iter();
    let before: usize = blocks.map(|&block| kernel.blocks[block].insts.len()).sum();
    MAX_SIZE.max(before * MAX_GROWTH)
}

/// For each start, the blocks that run from there until the next suspension point or the end, each
/// after those that dominate it. `None` if they are more instructions in all than a limit.
fn sections(
    func: &Function,
    starts: &[Block],
    ends: &SecondaryMap<Block, Option<usize>>,
    limit: usize,
) -> Option<Vec<Vec<Block>>> {
    let mut size = 0;
    // Marks hold the number of the section that set them, so that nothing is cleared between
    // sections.
    let mut seen: SecondaryMap<Block, u32> = SecondaryMap::new();
    let mut sections = Vec::with_capacity(starts.len());
    for (mark, &start) in (1..).zip(starts) {
        let mut order = Vec::new();
        let mut stack = vec![(start, false)];
        while let Some((block, finished)) = stack.pop() {
            if finished {
                order.push(block);
            } else if std::mem::replace(&mut seen[block], mark) != mark {
                size += func.blocks[block].insts.len();
                if size > limit {
                    return None;
                }
                stack.push((block, true));
                if ends[block].is_none() {
                    stack.extend(func.successors(block).map(|next| (next, false)));
                }
            }
        }
        order.reverse();
        sections.push(order);
    }
    Some(sections)
}

/// Which values are computed again where they are needed: few operations on ids, arguments and
/// constants.
fn cheap_values(func: &Function) -> SecondaryMap<Value, bool> {
    // What each costs; nothing is known of the others.
    let mut costs: SecondaryMap<Value, Option<u32>> =
        SecondaryMap::with_capacity(func.values.len());
    for &param in func.params() {
        costs[param] = Some(0);
    }
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            let Some(base) = rematerialize::cost(func, data) else {
                continue;
            };
            let args = data.args.iter().map(|&arg| costs[arg]);
            costs[data.results[0]] = args
                .sum::<Option<u32>>()
                .map(|sum| sum + base)
                .filter(|&cost| cost <= rematerialize::CHEAP);
        }
    }
    let mut cheap = SecondaryMap::with_capacity(func.values.len());
    for value in func.values.keys() {
        cheap[value] = costs[value].is_some();
    }
    cheap
}

/// Demotes what lives at a start, but for cheap values and parameters.
///
/// Starts are heads of regions, so a value lives at one only if it is used in another region than
/// where it is defined. It is live at the head of the region then, and at those of the regions that
/// lead there, back to its own: the definition dominates the use, and in its own region no path
/// from it comes by a start.
fn demote_crossing(func: &mut Function, starts: &[Block], cheap: &SecondaryMap<Value, bool>) {
    let mut is_start: SecondaryMap<Block, bool> = SecondaryMap::new();
    starts.iter().for_each(|&start| is_start[start] = true);
    let (_, region) = find_regions(func, is_start.clone());
    let preds = func.predecessors();
    let mut home: SecondaryMap<Value, PackedOption<Block>> = SecondaryMap::new();
    for &block in &func.layout[1..] {
        for &param in &func.blocks[block].params {
            home[param] = region[block].into();
        }
    }
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            for &result in &func.insts[inst].results {
                if !cheap[result] {
                    home[result] = region[block].into();
                }
            }
        }
    }
    let mut users: SecondaryMap<Value, Vec<Block>> = SecondaryMap::new();
    for &block in &func.layout {
        let here = region[block].expect("every block is in a region");
        let mut note = |value: Value| {
            let elsewhere = home[value].expand().is_some_and(|home| home != here);
            if elsewhere && users[value].last() != Some(&here) {
                users[value].push(here);
            }
        };
        for &inst in &func.blocks[block].insts {
            func.insts[inst].args.iter().copied().for_each(&mut note);
        }
        func.blocks[block].term.for_each_value(note);
    }
    // Marks hold the number of the value that set them.
    let mut live: SecondaryMap<Block, u32> = SecondaryMap::new();
    let mut crossing: SecondaryMap<Value, bool> = SecondaryMap::new();
    for (value, mark) in func.values.keys().zip(1..) {
        let mut todo = std::mem::take(&mut users[value]);
        while let Some(head) = todo.pop() {
            if is_start[head] {
                crossing[value] = true;
                break;
            }
            if std::mem::replace(&mut live[head], mark) != mark {
                let before = preds[head].iter().filter_map(|&pred| region[pred]);
                todo.extend(before.filter(|&head| home[value] != head.into()));
            }
        }
    }
    demote_sharing(func, &crossing);
}

/// What the state machine is made of.
struct Plan<'a> {
    func: &'a Function,
    /// The section behind point n is section n + 1.
    points: &'a [SuspensionPoint],
    sections: Vec<Vec<Block>>,
    /// The point at which a block ends.
    ends: SecondaryMap<Block, Option<usize>>,
    cheap: &'a SecondaryMap<Value, bool>,
    /// The loops, if it matters which iteration a work-item is in.
    forest: Option<LoopForest>,
}

/// Makes the state machine. A work-item's state is the number of the section that it resumes with,
/// or how many there are if it has ended. The first section runs without being dispatched.
struct Emitter<'a> {
    plan: &'a Plan<'a>,
    cloner: Cloner<'a>,
    machine: StateMachine,
    out: Function,
}

impl<'a> Emitter<'a> {
    fn new(plan: &'a Plan<'a>) -> Emitter<'a> {
        let func = plan.func;
        let params: Vec<Type> = func.params().iter().map(|&p| func.ty(p)).collect();
        let mut out = Function::new(func.name.clone(), &params, &[]);
        out.locals = func.locals.clone();
        out.slots = func.slots.clone();
        let machine = StateMachine::new(&mut out);
        let mut cloner = Cloner::from(func);
        cloner.bind_all(func.params(), out.params());
        // Private objects are one each, whichever sections use them.
        let entry = out.entry();
        let mut b = Builder::new(&mut out, entry);
        for &inst in &func.blocks[func.entry()].insts {
            if matches!(func.insts[inst].op, Op::Alloca { .. }) {
                cloner.inst(&mut b, inst);
            }
        }
        Emitter {
            plan,
            cloner,
            machine,
            out,
        }
    }

    fn run(mut self) -> Function {
        let before = self.cloner.checkpoint();
        let start = self.out.entry();
        let join = self.join();
        self.section(0, 0, (start, join));
        self.cloner.roll_back(before);
        for number in 1..self.plan.sections.len() {
            let test = self.resumption(number);
            self.cloner.roll_back(before);
            self.machine.resume(number as u64, test);
        }
        let Emitter {
            machine, mut out, ..
        } = self;
        let mut b = Builder::new(&mut out, machine.dispatch);
        let state = machine.state.load(&mut b);
        let least = Op::Collective {
            what: Collective::Reduce(BinOp::UMin),
            scope: Scope::WorkGroup,
            masked: false,
        };
        let now = b.val(least, &[state], Type::I32);
        let done = b.new_block(&[]);
        machine.switch(&mut b, now, done);
        b.switch_to(done);
        b.ret(&[]);
        out.layout = out.reverse_post_order();
        out
    }

    /// A block where work-items that ran a section and all others converge.
    fn join(&mut self) -> Block {
        let join = self.out.add_block();
        Builder::new(&mut self.out, join).br(self.machine.dispatch, &[]);
        join
    }

    /// The code for when work-items in a state resume: all work-items do the collective that these
    /// wait at, if it is one, and work-items in the state the rest of the section.
    fn resumption(&mut self, number: usize) -> Block {
        let func = self.plan.func;
        let test = self.out.add_block();
        let point = &self.plan.points[number - 1];
        let insts = &func.blocks[point.resume].insts;
        let collective = match is_collective(&func.insts[point.inst].op) {
            true => insts.iter().position(|&inst| inst == point.inst),
            false => None,
        };
        let done = collective.map_or(0, |at| at + 1);
        for &inst in &insts[..done] {
            self.inst(inst, (test, test));
        }
        let join = self.join();
        let mut b = Builder::new(&mut self.out, test);
        let (_, is_in) = self.machine.is_in(&mut b, number as u64);
        let start = b.new_block(&[]);
        b.cond_br(is_in, start, &[], join, &[]);
        self.section(number, done, (start, join));
        test
    }

    /// Copies a section, without its first so many instructions, to `start` and blocks of its own.
    /// Work-items are suspended at `join`. They resume inside loops by way of the headers, if that
    /// matters.
    fn section(&mut self, number: usize, done: usize, (start, join): (Block, Block)) {
        let blocks = &self.plan.sections[number];
        let forest = self.plan.forest.as_ref();
        let around = forest.map_or_else(Vec::new, |forest| headers_around(forest, blocks[0]));
        for &block in blocks {
            if block != blocks[0] || !around.is_empty() {
                self.cloner.add_block(&mut self.out, block);
            } else {
                self.cloner.bind_block(block, start);
            }
        }
        for &block in blocks {
            let to = self.cloner.block(block);
            let skip = if block == blocks[0] { done } else { 0 };
            for &inst in &self.plan.func.blocks[block].insts[skip..] {
                self.inst(inst, (start, to));
            }
            self.end_block(block, (start, join));
        }
        let first = self.cloner.block(blocks[0]);
        if first != start {
            let copy = |&block: &Block| self.cloner.get_block(block);
            // Headers that are not come back to before the next point have no copies.
            let resumption = Resumption {
                from: start,
                to: first,
                headers: around.iter().filter_map(copy).collect(),
            };
            let copies: Vec<Block> = blocks.iter().filter_map(copy).collect();
            resume_through_headers(&mut self.out, &[resumption], &copies);
        }
    }

    /// Ends the copy of a block: where it ends at a suspension point or the kernel ends, the
    /// work-item is suspended.
    fn end_block(&mut self, block: Block, (start, join): (Block, Block)) {
        let plan = self.plan;
        let to = self.cloner.block(block);
        let term = &plan.func.blocks[block].term;
        let next = match (plan.ends[block], term) {
            (Some(point), _) => point + 1,
            (None, Terminator::Ret(_) | Terminator::Unreachable) => plan.sections.len(),
            (None, term) => {
                let mut b = Builder::new(&mut self.out, start);
                term.for_each_value(|value| {
                    self.cloner.rematerialize(&mut b, value);
                });
                b.switch_to(to);
                let term = self.cloner.terminator(&mut b, term);
                return b.terminate(term);
            }
        };
        let mut b = Builder::new(&mut self.out, to);
        if let Some(point) = plan.ends[block]
            && let Op::Barrier(fence) = plan.func.insts[plan.points[point].inst].op
            && fence.scope > Scope::WorkGroup
        {
            b.ins(Op::Fence(fence), &[], &[]);
        }
        self.machine.suspend(&mut b, next as u64, join);
    }

    /// Copies an instruction of the section that begins at `start` to the end of a block. Cheap
    /// values are computed at the start, when they are first asked for.
    fn inst(&mut self, inst: Inst, (start, to): (Block, Block)) {
        let data = &self.plan.func.insts[inst];
        let is_made = matches!(data.op, Op::Alloca { .. });
        if is_made || data.results.iter().any(|&result| self.plan.cheap[result]) {
            return;
        }
        let mut b = Builder::new(&mut self.out, start);
        for &arg in &data.args {
            self.cloner.rematerialize(&mut b, arg);
        }
        b.switch_to(to);
        self.cloner.inst(&mut b, inst);
    }
}
