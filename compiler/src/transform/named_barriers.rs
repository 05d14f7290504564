//! Named barriers: sub-groups of a work-group that wait for some of the others, wherever these are.
//!
//! At named barriers sub-groups diverge: some wait at one, some at another, some at none. So a
//! kernel that has any becomes a state machine ([`suspension`]) with barriers of the whole
//! work-group only:
//!
//! ```text
//! state = start
//! loop {
//!     switch state {                    each work-item resumes where it was suspended
//!         start: ..                     until it is again, at any barrier, or ends: state = which
//!         at a named barrier: if it was opened since, resume
//!         else: nothing
//!     }
//!     if all have ended { return }
//!     if all that have not ended are at one barrier of the work-group { state = behind it }
//!     if none has resumed since the last time { return }
//! }
//! ```
//!
//! A collective of the work-group is a barrier at which, in the second half, it is done. A
//! sub-group arrives at a named barrier by counting itself in the barrier's record; the last opens
//! it by counting its *generation*, and sub-groups that wait see another number than when they
//! came. Too few sub-groups at a barrier is undefined behaviour; here the kernel ends.
//!
//! Resumption inside loops goes by way of their headers, so that loops stay what they were. Control
//! that goes through the switch no longer comes by where values were defined: they are demoted,
//! those that live across suspension points to variables that they share. What depends on nothing
//! moves to the entry block instead.
//!
//! Cost: linear, but for values that live at once across suspension points.

use super::demote::{Variable, demote_sharing, demote_undominated};
use super::lifetimes::wanted_at;
use super::suspension::{
    self, Resumption, StateMachine, SuspensionPoint, headers_around, resume_through_headers,
};
use crate::analysis::LoopForest;
use crate::ir::{
    BinOp, Block, BlockCall, Builder, Collective, DominatorTree, Fence, Function, Inst, IntCC, Mem,
    Op, Scope, SourceLoc, Terminator, Type, Value,
};
use crate::kernel_info::AddressSpace;

/// The state of a work-item that has ended.
const ENDED: u64 = 0;
/// The state of a work-item that has not begun. Suspension points have two each, from here on:
/// being there, and being allowed to resume.
const START: u64 = 1;

/// The state of being at a suspension point.
fn state_at(number: usize) -> u64 {
    START + 1 + 2 * number as u64
}

/// Rewrites a kernel that has named barriers, which has been inlined; false for others.
pub fn run(func: &mut Function) -> bool {
    let mut insts = func
        .layout
        .iter()
        .flat_map(|&block| &func.blocks[block].insts);
    if !insts.any(|&inst| matches!(func.insts[inst].op, Op::NamedBarrier(_))) {
        return false;
    }
    let start = move_entry(func);
    let points = suspension::cut(func, is_suspension_point);
    let crossing = wanted_at(func, points.iter().map(|point| point.resume));
    demote_sharing(func, &crossing);
    build(func, start, &points);
    func.layout = func.reverse_post_order();
    demote_undominated(func);
    true
}

/// Whether work-items wait for others there.
fn is_suspension_point(op: &Op) -> bool {
    matches!(
        op,
        Op::Barrier(_)
            | Op::NamedBarrier(_)
            | Op::Collective {
                scope: Scope::WorkGroup,
                ..
            }
    )
}

/// Moves what the entry block does to a new block; what depends on nothing, from anywhere, stays or
/// goes there.
fn move_entry(func: &mut Function) -> Block {
    let (entry, start) = (func.entry(), func.add_block());
    let insts = std::mem::take(&mut func.blocks[entry].insts);
    func.blocks[start].insts = insts;
    func.blocks[start].term =
        std::mem::replace(&mut func.blocks[entry].term, Terminator::Unreachable);
    for block in func.layout.clone() {
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let (first, rest): (Vec<Inst>, Vec<Inst>) = insts.into_iter().partition(|&inst| {
            matches!(
                func.insts[inst].op,
                Op::Const(_)
                    | Op::Alloca { .. }
                    | Op::GlobalAddr(_)
                    | Op::LocalAddr(_)
                    | Op::DimQuery(..)
                    | Op::Query(_)
            )
        });
        func.blocks[block].insts = rest;
        func.blocks[entry].insts.extend(first);
    }
    func.blocks[entry].term = Terminator::Br(BlockCall::new(start, &[]));
    start
}

/// A field of a barrier's record.
fn field(b: &mut Builder<'_>, record: Value, index: u64) -> Value {
    let offset = b.iconst(Type::I64, 4 * index);
    b.ptr_add(record, offset)
}

const RECORD: Mem = Mem {
    space: AddressSpace::Local,
    align: 4,
    volatile: false,
    masked: false,
    stride: 0,
    index: None,
};

fn collective(scope: Scope, what: Collective) -> Op {
    Op::Collective {
        what,
        scope,
        masked: false,
    }
}

/// The variables of the machine, beside its state.
#[derive(Clone, Copy)]
struct Variables {
    /// Whether the work-item has resumed in this round.
    resumed: Variable,
    /// The record of the named barrier that it is at, and the generation at which it came.
    record: Variable,
    generation: Variable,
}

fn build(func: &mut Function, start: Block, points: &[SuspensionPoint]) {
    let forest = LoopForest::new(func, &DominatorTree::new(func));
    let blocks = func.layout.clone();
    let mut ends = blocks.clone();
    ends.retain(|&block| func.blocks[block].term.target_count() == 0);
    let mut machine = StateMachine::new(func);
    let variables = Variables {
        resumed: Variable::new(func, Type::I32),
        record: Variable::new(func, Type::PTR),
        generation: Variable::new(func, Type::I32),
    };
    let entry = func.entry();
    let mut b = Builder::new(func, entry);
    // Nothing to do in this round, and the second half of it.
    let (idle, meet) = (b.new_block(&[]), b.new_block(&[]));
    machine.suspend(&mut b, START, machine.dispatch);
    machine.resume(START, start);
    for block in ends {
        b.switch_to(block);
        machine.suspend(&mut b, ENDED, meet);
    }
    let mut resumptions = Vec::new();
    for (number, point) in points.iter().enumerate() {
        let state = state_at(number);
        let on = b.new_block(&[]);
        resumptions.push(Resumption {
            from: on,
            to: point.resume,
            headers: headers_around(&forest, point.block),
        });
        b.switch_to(point.block);
        b.loc = b.func.insts[point.inst].loc;
        if let Op::NamedBarrier(fence) = b.func.insts[point.inst].op {
            let record = b.func.insts[point.inst].args[0];
            arrive(&mut b, variables, record, fence);
            let poll = b.new_block(&[]);
            machine.resume(state, poll);
            let after = b.block;
            b.switch_to(poll);
            resume_if_open(&mut b, variables, on, idle);
            b.switch_to(after);
            acquire(&mut b, point.resume, fence);
        } else {
            machine.resume(state + 1, on);
        }
        machine.suspend(&mut b, state, meet);
    }
    b.loc = SourceLoc::default();
    b.switch_to(meet);
    synchronize(&mut b, &machine, variables, points);
    b.switch_to(machine.dispatch);
    set_number(&mut b, variables.resumed, 1);
    let state = machine.state.load(&mut b);
    machine.switch(&mut b, state, idle);
    b.switch_to(idle);
    set_number(&mut b, variables.resumed, 0);
    b.br(meet, &[]);
    resume_through_headers(func, &resumptions, &blocks);
}

fn set_number(b: &mut Builder<'_>, variable: Variable, number: u64) {
    let number = b.iconst(Type::I32, number);
    variable.store(b, number);
}

/// A sub-group arrives: the last one opens the barrier.
fn arrive(b: &mut Builder<'_>, variables: Variables, record: Value, fence: Fence) {
    b.ins(collective(Scope::SubGroup, Collective::Sync), &[], &[]);
    b.ins(Op::Fence(fence), &[], &[]);
    variables.record.store(b, record);
    let generation_at = field(b, record, 2);
    let generation = b.load(RECORD, generation_at, Type::I32);
    variables.generation.store(b, generation);
    // All have read the number before the first of them counts.
    let first = b.val(
        collective(Scope::SubGroup, Collective::Elect),
        &[],
        Type::I1,
    );
    let (count, after) = (b.new_block(&[]), b.new_block(&[]));
    b.cond_br(first, count, &[], after, &[]);
    b.switch_to(count);
    let (zero, one) = (b.iconst(Type::I32, 0), b.iconst(Type::I32, 1));
    let wanted = b.load(RECORD, record, Type::I32);
    let arrived_at = field(b, record, 1);
    let arrived = b.load(RECORD, arrived_at, Type::I32);
    let arrived = b.binary(BinOp::IAdd, arrived, one);
    let all = b.icmp(IntCC::Uge, arrived, wanted);
    let left = b.select(all, zero, arrived);
    b.store(RECORD, arrived_at, left);
    let more = b.binary(BinOp::IAdd, generation, one);
    let generation = b.select(all, more, generation);
    b.store(RECORD, generation_at, generation);
    b.br(after, &[]);
    b.switch_to(after);
}

/// Resumes at `on` if the barrier that the work-item is at has been opened.
fn resume_if_open(b: &mut Builder<'_>, variables: Variables, on: Block, idle: Block) {
    let record = variables.record.load(b);
    let before = variables.generation.load(b);
    let generation_at = field(b, record, 2);
    let generation = b.load(RECORD, generation_at, Type::I32);
    let open = b.icmp(IntCC::Ne, generation, before);
    b.cond_br(open, on, &[], idle, &[]);
}

/// Puts a fence at the start of a block.
fn acquire(b: &mut Builder<'_>, block: Block, fence: Fence) {
    let inst = b.func.make_inst(Op::Fence(fence), &[], &[], b.loc);
    b.func.blocks[block].insts.insert(0, inst);
}

/// The second half of a round, which is the same for all work-items.
fn synchronize(
    b: &mut Builder<'_>,
    machine: &StateMachine,
    variables: Variables,
    points: &[SuspensionPoint],
) {
    let (exit, on) = (b.new_block(&[]), b.new_block(&[]));
    let (state, has_ended) = machine.is_in(b, ENDED);
    let most = b.iconst(Type::I32, u64::MAX);
    let counted = b.select(has_ended, most, state);
    let reduce = |op| collective(Scope::WorkGroup, Collective::Reduce(op));
    let last = b.val(reduce(BinOp::UMax), &[state], Type::I32);
    let first = b.val(reduce(BinOp::UMin), &[counted], Type::I32);
    let none = b.iconst(Type::I32, ENDED);
    let all_ended = b.icmp(IntCC::Eq, last, none);
    b.cond_br(all_ended, exit, &[], on, &[]);
    b.switch_to(exit);
    b.ret(&[]);

    b.switch_to(on);
    let at_one = b.icmp(IntCC::Eq, first, last);
    let point = b.select(at_one, first, none);
    let diverged = b.new_block(&[]);
    let mut cases = Vec::new();
    for (number, suspended) in points.iter().enumerate() {
        if matches!(b.func.insts[suspended.inst].op, Op::NamedBarrier(_)) {
            continue;
        }
        let at = state_at(number);
        let pass = b.new_block(&[]);
        cases.push((at, BlockCall::new(pass, &[])));
        let here = b.block;
        b.switch_to(pass);
        b.func.blocks[pass].insts.push(suspended.inst);
        let (state, has_ended) = machine.is_in(b, ENDED);
        let behind = b.iconst(Type::I32, at + 1);
        let next = b.select(has_ended, state, behind);
        machine.state.store(b, next);
        b.br(machine.dispatch, &[]);
        b.switch_to(here);
    }
    b.terminate(Terminator::Switch {
        value: point,
        cases,
        default: BlockCall::new(diverged, &[]),
    });
    b.switch_to(diverged);
    let resumed = variables.resumed.load(b);
    let zero = b.iconst(Type::I32, 0);
    let resumed = b.icmp(IntCC::Ne, resumed, zero);
    let any = collective(Scope::WorkGroup, Collective::Any);
    let any = b.val(any, &[resumed], Type::I1);
    b.cond_br(any, machine.dispatch, &[], exit, &[]);
}
