//! Divergent control flow turned into masks: partial linearization.
//!
//! Uniform branches stay branches. At a divergent branch lanes go both ways, so both targets must
//! run: the first in [`Order`](super::order::Order) is jumped to, the other is *pending* and runs
//! when the order comes to it (Moll & Hack, "Partial Control-Flow Linearization", PLDI 2018). A
//! divergent loop runs until no lane wants another iteration; lanes that left wait at its latch,
//! and the loop's exits are pending when it ends.
//!
//! What flows along edges is kept in *variables*, one state of them for each edge of the new graph:
//! - `Mask(b)`: the lanes that go to `b`, for blocks whose mask is not another block's;
//! - `Param(b, i)`: what they hand to its i-th parameter;
//! - `Out(v, loop)`: the value that `v` had in each lane when it left the divergent loop, for uses
//!   after it.
//!
//! Taking an edge with mask `m` sets its variables, `x = select(m, new, x)` when lanes can arrive
//! on several edges. Where edges of the new graph meet, differing states become block parameters. A
//! divergent loop carries the variables of its exits through its header.
//!
//! The invariant on which scalar code rests: a block that touches memory, has effects or is a loop
//! header runs only while some lane is active (`nonempty`); if control alone does not see to it,
//! the block begins with a test of its mask that jumps to the next pending block. When nothing is
//! pending, all lanes of the iteration are here.
//!
//! Cost: linear in instructions, plus at each join of the new graph the number of variables that
//! differ there (`state.rs`).

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;
use smallvec::SmallVec;

use super::edges::Edges;
use super::order::waits_at;
use super::source::Source;
use super::state::{Mask, State, Waiting};
use super::values::Emitter;
use super::variables::{Var, Variables};
use crate::analysis::{Loop, Shape};
use crate::ir::{BinOp, Block, BlockCall, Function, Op, SourceLoc, Terminator, Type, UnOp, Value};

/// A function for several work-items.
#[derive(Clone, Debug)]
pub struct Vectorized {
    pub function: Function,
    /// What diverges and what is gathered, with the source location.
    pub remarks: Vec<(SourceLoc, String)>,
}

/// A divergent loop being made.
struct LoopFrame {
    header: Block,
    carried: Vec<Var>,
}

struct Linearizer<'a> {
    source: Source<'a>,
    emitter: Emitter<'a>,
    variables: Variables<'a>,
    edges: Edges,
    /// What was assigned on the way to the current block and belongs to blocks to come.
    state: State,
    /// What is pending at it.
    pending: Waiting,
    masks: SecondaryMap<Block, Option<Mask>>,
    nonempty: SecondaryMap<Block, bool>,
    frames: HashMap<Loop, LoopFrame>,
}

pub(super) fn linearize(source: Source) -> Vectorized {
    let mut this = Linearizer {
        source,
        emitter: Emitter::new(source),
        variables: Variables::new(source),
        edges: Edges::default(),
        state: State::default(),
        pending: Waiting::default(),
        masks: SecondaryMap::new(),
        nonempty: SecondaryMap::new(),
        frames: HashMap::new(),
    };
    for &block in &source.order.blocks {
        if this.begin(block) {
            for &inst in &source.func.blocks[block].insts {
                this.emitter.emit(inst);
            }
            this.finish();
        }
    }
    Vectorized {
        function: this.emitter.out,
        remarks: this.emitter.remarks,
    }
}

impl Linearizer<'_> {
    /// Opens the current position for a block; false if nothing leads there.
    fn begin(&mut self, block: Block) -> bool {
        self.emitter.at = block;
        self.emitter.widened.clear();
        if block == self.source.func.entry() {
            self.masks[block] = Some(Mask::Full);
            self.emitter.mask = Mask::Full;
            self.nonempty[block] = true;
            return true;
        }
        let Some(to) = self.edges.entries[block].expand() else {
            return false;
        };
        self.emitter.to = to;
        let (incoming, pending) = self.edges.arrive(block);
        let taken = incoming.iter().all(|edge| edge.nonempty);
        let mut state = self.variables.merge(&mut self.emitter, incoming);
        let mask = match self.source.order.same_mask[block] {
            Some(other) => self.masks[other].unwrap_or(Mask::Full),
            None => {
                let number = self.variables.number(Var::Mask(block));
                match state.remove(number) {
                    Some(mask) => mask,
                    None => Mask::Of(self.variables.read(
                        &mut self.emitter,
                        &State::default(),
                        Var::Mask(block),
                        to,
                    )),
                }
            }
        };
        let known = mask == Mask::Full
            || pending.is_empty()
            || self.source.order.same_mask[block].is_some_and(|other| self.nonempty[other])
            || taken;
        self.nonempty[block] = known;
        self.emitter.mask = mask;
        let mut params = Vec::new();
        for i in 0..self.source.func.blocks[block].params.len() {
            let var = Var::Param(block, i as u16);
            let number = self.variables.number(var);
            let value = match state.remove(number) {
                Some(Mask::Of(value)) => value,
                _ => self
                    .variables
                    .read(&mut self.emitter, &State::default(), var, to),
            };
            params.push(value);
        }
        let header = self
            .source
            .cfg
            .loops
            .innermost(block)
            .filter(|&id| self.source.cfg.loops.loops[id].header == block);
        if let Mask::Of(lanes) = mask
            && !known
            && (header.is_some() || is_worth_skipping(self.source.func, block))
        {
            self.guard(lanes, &state, pending);
            self.nonempty[block] = true;
        }
        match header {
            Some(id) => self.open_loop(id, params, &mut state),
            None => {
                for (i, value) in params.into_iter().enumerate() {
                    self.emitter
                        .define(self.source.func.blocks[block].params[i], value);
                }
            }
        }
        self.masks[block] = Some(self.emitter.mask);
        self.pending = pending;
        self.state = state;
        true
    }

    /// Goes on in a new block if any of `lanes` is active, to the next pending block otherwise.
    fn guard(&mut self, lanes: Value, state: &State, pending: Waiting) {
        let any = self.emitter.builder().val(Op::AnyTrue, &[lanes], Type::I1);
        let body = self.emitter.out.add_block();
        let skip = self
            .edges
            .jump_to(&mut self.emitter, pending, 1, state.clone(), false);
        self.emitter.builder().cond_br(any, body, &[], skip, &[]);
        self.emitter.to = body;
    }

    /// Makes the header of a loop: its parameters, and for a divergent one its mask and what its
    /// exits collect.
    fn open_loop(&mut self, id: Loop, entry_args: Vec<Value>, state: &mut State) {
        let data = &self.source.cfg.loops.loops[id];
        let block = data.header;
        let divergent = self.source.shapes.divergence.loops[id];
        let carried = if divergent {
            self.variables.carried(id)
        } else {
            Vec::new()
        };
        let before = self.emitter.to;
        let header = self.emitter.out.add_block();
        let mut args = Vec::new();
        if divergent {
            let lanes = self.emitter.mask_lanes();
            args.push(lanes);
            let ty = self.emitter.out.ty(lanes);
            self.emitter.mask = Mask::Of(self.emitter.out.add_param(header, ty));
        }
        for (i, arg) in entry_args.into_iter().enumerate() {
            let param = self.source.func.blocks[block].params[i];
            let ty = self.source.new_type(param);
            let new = self.emitter.out.add_param(header, ty);
            self.emitter.define(param, new);
            args.push(arg);
        }
        for &var in &carried {
            args.push(self.variables.read(&mut self.emitter, state, var, before));
            let ty = self.variables.var_type(var);
            let param = self.emitter.out.add_param(header, ty);
            let number = self.variables.number(var);
            state.insert(number, Mask::Of(param));
        }
        self.emitter.builder().br(header, &args);
        self.emitter.to = header;
        self.nonempty[block] = true;
        self.frames.insert(id, LoopFrame { header, carried });
    }

    /// Ends the current block: decides where control goes and what flows there.
    fn finish(&mut self) {
        let block = self.emitter.at;
        let pending = self.pending;
        let around = self.source.cfg.loops.innermost(block);
        let mut state = std::mem::take(&mut self.state);
        if let Some(id) = around
            && self.source.cfg.loops.loops[id].latches[0] == block
        {
            self.close_loop(id, state, pending);
            return;
        }
        let nonempty = self.nonempty[block];
        let mask = self.emitter.mask;
        let target = |call: &BlockCall| {
            let to = waits_at(self.source.cfg, self.source.shapes, around, call.block);
            self.source.order.index[to]
        };
        let term = self.source.func.blocks[block].term.clone();
        match &term {
            Terminator::Ret(values) => {
                let values: Vec<Value> = values
                    .iter()
                    .enumerate()
                    .map(|(i, &v)| self.emitter.result(i, v))
                    .collect();
                self.emitter.builder().ret(&values);
            }
            Terminator::Unreachable => unreachable!("canonical code returns"),
            Terminator::Br(call) => {
                let direct = target(call);
                let targets = self.edges.waiting.with(pending, direct);
                // Another block may come first; the lanes then are not where control is.
                let nonempty = nonempty && self.edges.comes_first(targets, direct);
                self.variables
                    .assign(&mut self.emitter, &mut state, call, mask);
                let next = self
                    .edges
                    .jump_to(&mut self.emitter, targets, 0, state, nonempty);
                self.emitter.builder().br(next, &[]);
            }
            Terminator::CondBr { cond, then, els } if self.source.shapes.branches[block] => {
                self.note_branch(*cond);
                let (then_at, els_at) = (target(then), target(els));
                let targets = self.edges.waiting.with(pending, then_at);
                let targets = self.edges.waiting.with(targets, els_at);
                let cond = self.emitter.vector(*cond);
                let not = self.emitter.builder().unary(UnOp::Not, cond);
                let (yes, no) = match mask {
                    Mask::Full => (cond, not),
                    Mask::Of(mask) => {
                        let mut b = self.emitter.builder();
                        (
                            b.binary(BinOp::And, mask, cond),
                            b.binary(BinOp::And, mask, not),
                        )
                    }
                };
                self.variables
                    .assign(&mut self.emitter, &mut state, then, Mask::Of(yes));
                self.variables
                    .assign(&mut self.emitter, &mut state, els, Mask::Of(no));
                let next = self
                    .edges
                    .jump_to(&mut self.emitter, targets, 0, state, false);
                self.emitter.builder().br(next, &[]);
            }
            Terminator::CondBr { cond: value, .. } | Terminator::Switch { value, .. } => {
                let subject = self.emitter.scalar(*value);
                let calls: Vec<BlockCall> = term.targets().cloned().collect();
                let indices: SmallVec<[u32; 4]> = calls.iter().map(target).collect();
                let mut states: Vec<State> = Vec::new();
                for call in &calls {
                    let mut state = state.clone();
                    self.variables
                        .assign(&mut self.emitter, &mut state, call, mask);
                    states.push(state);
                }
                let mut next = Vec::new();
                for ((jump, direct), state) in indices.into_iter().enumerate().zip(states) {
                    let targets = self.edges.waiting.with(pending, direct);
                    let nonempty = nonempty
                        && self.edges.comes_first(targets, direct)
                        && self.source.order.blocks[direct as usize] == calls[jump].block;
                    next.push(self.edges.jump_to(
                        &mut self.emitter,
                        targets,
                        jump,
                        state,
                        nonempty,
                    ));
                }
                let mut new = term.clone();
                match &mut new {
                    Terminator::CondBr { cond: value, .. } | Terminator::Switch { value, .. } => {
                        *value = subject;
                    }
                    _ => {}
                }
                for (call, &to) in new.targets_mut().zip(&next) {
                    call.block = to;
                    call.args.clear();
                }
                self.emitter.builder().terminate(new);
            }
        }
    }

    /// Ends a latch: around again, and for a divergent loop out to what is pending when no lane is
    /// left.
    fn close_loop(&mut self, id: Loop, state: State, pending: Waiting) {
        let data = &self.source.cfg.loops.loops[id];
        let frame = self.frames.remove(&id).expect("the header came first");
        let mut args = Vec::new();
        let divergent = self.source.shapes.divergence.loops[id];
        let from = self.emitter.to;
        let mut any = None;
        if divergent {
            let lanes = self.emitter.mask_lanes();
            any = Some(self.emitter.builder().val(Op::AnyTrue, &[lanes], Type::I1));
            args.push(lanes);
        }
        let Terminator::Br(back) = self.source.func.blocks[self.emitter.at].term.clone() else {
            unreachable!("a latch only jumps")
        };
        for (i, &arg) in back.args.iter().enumerate() {
            let param = self.source.func.blocks[data.header].params[i];
            args.push(match self.source.shapes.of(param) {
                Shape::Varying => self.emitter.vector(arg),
                _ => self.emitter.scalar(arg),
            });
        }
        for &var in &frame.carried {
            let value = self.variables.read(&mut self.emitter, &state, var, from);
            args.push(value);
            if let Var::Out(value_of, inner) = var
                && inner == id
            {
                self.emitter.outs.insert((value_of, id), value);
            }
        }
        let Some(any) = any else {
            // What is pending outside the loop is pending at its exits too.
            self.emitter.builder().br(frame.header, &args);
            return;
        };
        let mut targets = pending;
        for &(_, exit) in &data.exits {
            let to = waits_at(self.source.cfg, self.source.shapes, data.parent, exit);
            targets = self
                .edges
                .waiting
                .with(targets, self.source.order.index[to]);
        }
        let next = self
            .edges
            .jump_to(&mut self.emitter, targets, 1, state, false);
        self.emitter
            .builder()
            .cond_br(any, frame.header, &args, next, &[]);
    }

    fn note_branch(&mut self, cond: Value) {
        let loc = self
            .source
            .func
            .def_inst(cond)
            .map(|inst| self.source.func.insts[inst].loc);
        self.emitter
            .remarks
            .push((loc.unwrap_or_default(), "branch diverges".into()));
    }
}

/// Whether a block should be jumped around when no lane is active: it touches memory, has effects,
/// or is long.
fn is_worth_skipping(func: &Function, block: Block) -> bool {
    const MANY: usize = 12;
    let insts = &func.blocks[block].insts;
    insts.len() >= MANY
        || insts.iter().any(|&inst| {
            let op = &func.insts[inst].op;
            op.reads_memory() || matches!(op, Op::Builtin(_) | Op::Printf { .. })
        })
}
