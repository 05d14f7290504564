//! Named barriers: sub-groups of a work-group that wait for some of the others, wherever these are.
//!
//! Code between barriers runs for all work-items in turn (`workgroup`), which is right where all meet at the same barrier. At
//! named barriers sub-groups part: some wait here, some there, some not at all. So a kernel that has them becomes a
//! machine that stops and goes on, with barriers of the whole work-group only:
//!
//! ```text
//! state = start
//! loop {
//!     switch state {                    each work-item goes on from where it stopped
//!         start: ..                     until it stops again, at any barrier, or ends: state = where
//!         at a named barrier: if it was opened since, go on
//!         else: nothing
//!     }
//!     if all have ended { return }
//!     if all that have not ended are at one barrier of the work-group { state = behind it }
//!     if nobody has gone on since the last time { return }
//! }
//! ```
//!
//! A collective of the work-group is a barrier at which, in the second half, it is done. A sub-group arrives at a named barrier by counting
//! itself in the barrier's record; the last opens it: it counts the times, and those who wait see another number than when they came.
//! Too few sub-groups at a barrier is undefined behaviour; here the kernel ends.
//!
//! Who goes on in a loop comes there by way of its header ([`resume`]), so that loops stay what they were.
//!
//! Control that goes through the switch no longer comes by where values were defined: those go through private memory. What
//! depends on nothing moves to the entry block instead.
//!
//! Cost: linear, but for values that live across stops.

use std::collections::BTreeSet;

use super::demote::demote_undominated;
use super::resume::{self, Place, headers_around};
use crate::analysis::{DominatorTree, LoopForest};
use crate::ir::{
    BinOp, Block, BlockCall, Builder, Collective, ConvertOp, Fence, Function, Inst, IntCC, Mem, Op,
    Scalar, Scope, SourceLoc, Terminator, Type, Value,
};
use crate::kernel_info::AddressSpace;

/// The state of a work-item that has ended.
const ENDED: u64 = 0;
/// The state of a work-item that has not begun. Stops have two each, from here on: being there, and being allowed to go on.
const START: u64 = 1;

/// Where a work-item stops.
struct Stop {
    /// The block that it ends, and the one behind it.
    block: Block,
    behind: Block,
    /// The barrier or collective, in no block any more.
    inst: Inst,
    /// The headers of the loops that it is in, outermost first.
    headers: Vec<Block>,
}

impl Stop {
    fn state(number: usize) -> u64 {
        START + 1 + 2 * number as u64
    }
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
    let forest = LoopForest::new(func, &DominatorTree::new(func));
    let start = move_entry(func);
    let stops = cut(func, &forest);
    build(func, start, &stops);
    func.layout = func.reverse_post_order();
    demote_undominated(func);
    true
}

/// Whether work-items wait for others there.
fn is_stop(op: &Op) -> bool {
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

/// Moves what the entry block does to a new block; what depends on nothing, from anywhere, stays or goes there.
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
    start
}

/// Ends blocks at stops.
fn cut(func: &mut Function, forest: &LoopForest) -> Vec<Stop> {
    let mut stops = Vec::new();
    for first in func.layout.clone() {
        let mut block = first;
        loop {
            let mut insts = func.blocks[block].insts.iter();
            let Some(at) = insts.position(|&inst| is_stop(&func.insts[inst].op)) else {
                break;
            };
            let behind = func.add_block();
            let rest = func.blocks[block].insts.split_off(at + 1);
            let inst = func.blocks[block].insts.pop().expect("it is there");
            func.blocks[behind].insts = rest;
            func.blocks[behind].term =
                std::mem::replace(&mut func.blocks[block].term, Terminator::Unreachable);
            stops.push(Stop {
                block,
                behind,
                inst,
                headers: headers_around(forest, first),
            });
            block = behind;
        }
    }
    stops
}

/// A variable of each work-item in private memory.
#[derive(Clone, Copy)]
struct Variable {
    address: Value,
    ty: Type,
}

impl Variable {
    /// Truth values are bytes in memory.
    fn in_memory(self) -> Type {
        match self.ty.scalar {
            Scalar::I1 => self.ty.with_scalar(Scalar::I8),
            _ => self.ty,
        }
    }

    fn mem(self) -> Mem {
        Mem::new(AddressSpace::Private, self.in_memory().scalar.bytes())
    }
}

/// Makes a variable, in the entry block.
fn variable(func: &mut Function, ty: Type) -> Variable {
    let entry = func.entry();
    let bytes = ty.scalar.bytes().max(1);
    let op = Op::Alloca {
        size: bytes,
        align: bytes,
    };
    let inst = func.make_inst(op, &[], &[Type::PTR], SourceLoc::default());
    func.blocks[entry].insts.insert(0, inst);
    Variable {
        address: func.insts[inst].results[0],
        ty,
    }
}

fn get(b: &mut Builder<'_>, variable: Variable) -> Value {
    let value = b.load(variable.mem(), variable.address, variable.in_memory());
    match variable.ty.scalar {
        Scalar::I1 => b.convert(ConvertOp::Trunc, value, variable.ty),
        _ => value,
    }
}

fn set(b: &mut Builder<'_>, variable: Variable, value: Value) {
    let value = match variable.ty.scalar {
        Scalar::I1 => b.convert(ConvertOp::ZExt, value, variable.in_memory()),
        _ => value,
    };
    b.store(variable.mem(), variable.address, value);
}

fn set_number(b: &mut Builder<'_>, variable: Variable, number: u64) {
    let value = b.iconst(variable.ty, number);
    set(b, variable, value);
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
    nontemporal: false,
    masked: false,
    stride: 0,
};

fn collective(scope: Scope, what: Collective) -> Op {
    Op::Collective {
        what,
        scope,
        masked: false,
    }
}

/// The variables of the machine.
#[derive(Clone, Copy)]
struct Machine {
    state: Variable,
    /// Whether the work-item has gone on.
    moved: Variable,
    /// The record of the named barrier that it is at, and how often that had been opened before.
    record: Variable,
    times: Variable,
}

fn build(func: &mut Function, start: Block, stops: &[Stop]) {
    let machine = Machine {
        state: variable(func, Type::I32),
        moved: variable(func, Type::I32),
        record: variable(func, Type::PTR),
        times: variable(func, Type::I32),
    };
    let entry = func.entry();
    let cut: BTreeSet<Block> = stops.iter().map(|stop| stop.block).chain([entry]).collect();
    let ends: Vec<Block> = func
        .layout
        .iter()
        .copied()
        .filter(|block| !cut.contains(block) && func.blocks[*block].term.target_count() == 0)
        .collect();
    let mut b = Builder::new(func, entry);
    let (head, idle, meet) = (b.new_block(&[]), b.new_block(&[]), b.new_block(&[]));
    set_number(&mut b, machine.state, START);
    b.br(head, &[]);
    for block in ends {
        b.switch_to(block);
        set_number(&mut b, machine.state, ENDED);
        b.br(meet, &[]);
    }
    let mut cases = vec![(START, BlockCall::new(start, &[]))];
    let mut places = Vec::new();
    for (number, stop) in stops.iter().enumerate() {
        let state = Stop::state(number);
        let on = b.new_block(&[]);
        places.push(Place {
            from: on,
            to: stop.behind,
            headers: stop.headers.clone(),
        });
        b.switch_to(stop.block);
        b.loc = b.func.insts[stop.inst].loc;
        if let Op::NamedBarrier(fence) = b.func.insts[stop.inst].op {
            let record = b.func.insts[stop.inst].args[0];
            arrive(&mut b, machine, record, fence);
            let open = b.new_block(&[]);
            cases.push((state, BlockCall::new(open, &[])));
            let after = b.block;
            b.switch_to(open);
            ask(&mut b, machine, on, idle);
            b.switch_to(after);
            acquire(&mut b, stop.behind, fence);
        } else {
            cases.push((state + 1, BlockCall::new(on, &[])));
        }
        set_number(&mut b, machine.state, state);
        b.br(meet, &[]);
    }
    b.loc = SourceLoc::default();
    b.switch_to(head);
    set_number(&mut b, machine.moved, 1);
    let state = get(&mut b, machine.state);
    b.terminate(Terminator::Switch {
        value: state,
        cases,
        default: BlockCall::new(idle, &[]),
    });
    b.switch_to(idle);
    set_number(&mut b, machine.moved, 0);
    b.br(meet, &[]);
    b.switch_to(meet);
    meeting(&mut b, machine, head, stops);
    let blocks = func.layout.clone();
    resume::go_on(func, &places, &blocks);
}

/// A sub-group arrives: the last one opens the barrier.
fn arrive(b: &mut Builder<'_>, machine: Machine, record: Value, fence: Fence) {
    b.ins(collective(Scope::SubGroup, Collective::Sync), &[], &[]);
    b.ins(Op::Fence(fence), &[], &[]);
    set(b, machine.record, record);
    let times_at = field(b, record, 2);
    let times = b.load(RECORD, times_at, Type::I32);
    set(b, machine.times, times);
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
    let more = b.binary(BinOp::IAdd, times, one);
    let times = b.select(all, more, times);
    b.store(RECORD, times_at, times);
    b.br(after, &[]);
    b.switch_to(after);
}

/// Goes on if the barrier that the work-item is at has been opened.
fn ask(b: &mut Builder<'_>, machine: Machine, on: Block, idle: Block) {
    let record = get(b, machine.record);
    let before = get(b, machine.times);
    let times_at = field(b, record, 2);
    let times = b.load(RECORD, times_at, Type::I32);
    let open = b.icmp(IntCC::Ne, times, before);
    b.cond_br(open, on, &[], idle, &[]);
}

/// Puts a fence at the start of a block.
fn acquire(b: &mut Builder<'_>, block: Block, fence: Fence) {
    let inst = b.func.make_inst(Op::Fence(fence), &[], &[], b.loc);
    b.func.blocks[block].insts.insert(0, inst);
}

/// The second half of a round, which is the same for all work-items.
fn meeting(b: &mut Builder<'_>, machine: Machine, head: Block, stops: &[Stop]) {
    let (exit, on) = (b.new_block(&[]), b.new_block(&[]));
    let ended = |b: &mut Builder<'_>| {
        let state = get(b, machine.state);
        let none = b.iconst(Type::I32, ENDED);
        (state, b.icmp(IntCC::Eq, state, none))
    };
    let (state, has_ended) = ended(b);
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
    let together = b.icmp(IntCC::Eq, first, last);
    let place = b.select(together, first, none);
    let apart = b.new_block(&[]);
    let mut cases = Vec::new();
    for (number, stop) in stops.iter().enumerate() {
        if matches!(b.func.insts[stop.inst].op, Op::NamedBarrier(_)) {
            continue;
        }
        let at = Stop::state(number);
        let pass = b.new_block(&[]);
        cases.push((at, BlockCall::new(pass, &[])));
        let here = b.block;
        b.switch_to(pass);
        b.func.blocks[pass].insts.push(stop.inst);
        let (state, has_ended) = ended(b);
        let behind = b.iconst(Type::I32, at + 1);
        let next = b.select(has_ended, state, behind);
        set(b, machine.state, next);
        b.br(head, &[]);
        b.switch_to(here);
    }
    b.terminate(Terminator::Switch {
        value: place,
        cases,
        default: BlockCall::new(apart, &[]),
    });
    b.switch_to(apart);
    let moved = get(b, machine.moved);
    let zero = b.iconst(Type::I32, 0);
    let moved = b.icmp(IntCC::Ne, moved, zero);
    let any = collective(Scope::WorkGroup, Collective::Any);
    let any = b.val(any, &[moved], Type::I1);
    b.cond_br(any, head, &[], exit, &[]);
}
