//! Divergent control flow turned into masks: partial linearization.
//!
//! Uniform branches stay branches. At a divergent branch lanes go both ways, so both targets must run: the first
//! in [`Order`] is jumped to, the other is *pending* and runs when the order comes to it (Moll & Hack,
//! "Partial Control-Flow Linearization", PLDI 2018). A divergent loop runs until no lane wants another iteration; lanes that
//! left wait at its latch, and the loop's exits are pending when it ends.
//!
//! What flows along edges is kept in *variables*, one state of them for each edge of the new graph:
//! - `Mask(b)`: the lanes that go to `b`, for blocks whose mask is not another block's;
//! - `Param(b, i)`: what they hand to its i-th parameter;
//! - `Out(v, loop)`: the value that `v` had in each lane when it left the divergent loop, for uses after it.
//!
//! Taking an edge with mask `m` sets its variables, `x = select(m, new, x)` when lanes can arrive on several
//! edges. Where edges of the new graph meet, differing states become block parameters. A divergent loop carries the variables
//! of its exits through its header.
//!
//! The invariant on which scalar code rests: a block that touches memory, has effects or is a loop header
//! runs only while some lane is active (`nonempty`); if control alone does not see to it, the block begins with a test of its mask
//! that jumps to the next pending block. When nothing is pending, all lanes of the iteration are here.
//!
//! Cost: linear in instructions, plus at each join of the new graph the number of variables that differ there (`state.rs`).

use std::collections::HashMap;

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use super::Predicate;
use super::order::{Order, waits_at};
use super::state::{State, Waiting, WaitingSets};
use super::variables::Var;
use crate::analysis::{Cfg, Loop, Shape, Shapes};
use crate::ir::{
    BinOp, Block, BlockCall, Builder, Function, Op, Scalar, SourceLoc, Terminator, Type, UnOp,
    Value,
};

/// A function for several work-items.
#[derive(Clone, Debug)]
pub struct Vectorized {
    pub function: Function,
    /// What diverges and what is gathered, with the source location.
    pub remarks: Vec<(SourceLoc, String)>,
}

/// The lanes that are active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    Full,
    Of(Value),
}

/// An edge of the new graph on its way to a block.
pub(super) struct Incoming {
    /// A block of the new function, and which of its jumps.
    pub(super) from: Block,
    pub(super) jump: usize,
    pub(super) state: State,
    /// Whether some lane certainly takes it.
    pub(super) nonempty: bool,
}

/// A divergent loop being made.
pub(super) struct LoopFrame {
    header: Block,
    carried: Vec<Var>,
}

pub(super) struct Linearizer<'a> {
    pub(super) src: &'a Function,
    pub(super) cfg: &'a Cfg,
    pub(super) shapes: &'a Shapes,
    pub(super) order: &'a Order,
    pub(super) width: u8,
    /// What is decided of results; nothing: they are what the first lane has.
    pub(super) predicates: &'a [Predicate],
    pub(super) out: Function,
    pub(super) remarks: Vec<(SourceLoc, String)>,

    /// The block of `src` being translated and that of `out` being written.
    pub(super) at: Block,
    pub(super) to: Block,
    /// Its mask.
    pub(super) mask: Mask,
    /// Lane 0 of a value, all there is of a uniform one; all lanes of a varying one.
    pub(super) scalars: SecondaryMap<Value, PackedOption<Value>>,
    pub(super) vectors: SecondaryMap<Value, PackedOption<Value>>,
    /// Values widened in `to` or a block that dominates it.
    pub(super) widened: HashMap<Value, Value>,
    pub(super) outs: HashMap<(Value, Loop), Value>,

    /// The variables, by number, and the number of each.
    pub(super) vars: Vec<Var>,
    pub(super) numbers: HashMap<Var, u32>,
    /// What was assigned on the way to the current block and belongs to blocks to come.
    pub(super) state: State,
    pub(super) masks: SecondaryMap<Block, Option<Mask>>,
    pub(super) nonempty: SecondaryMap<Block, bool>,
    pub(super) entries: SecondaryMap<Block, PackedOption<Block>>,
    pub(super) incoming: SecondaryMap<Block, Vec<usize>>,
    pub(super) edges: Vec<Option<Incoming>>,
    pub(super) waiting: WaitingSets,
    pub(super) pending: SecondaryMap<Block, Waiting>,
    pub(super) frames: HashMap<Loop, LoopFrame>,
    /// For each divergent loop, what is used after it.
    pub(super) live_out: HashMap<Loop, Vec<Value>>,
}

pub(super) fn linearize<'a>(
    src: &'a Function,
    cfg: &'a Cfg,
    shapes: &'a Shapes,
    order: &'a Order,
    width: u8,
    predicates: &'a [Predicate],
) -> Vectorized {
    let params: Vec<Type> = src.params().iter().map(|&p| src.ty(p)).collect();
    let results = match predicates {
        [] => src.results.clone(),
        predicates => vec![Type::I1; predicates.len()],
    };
    let mut out = Function::new(src.name.clone(), &params, &results);
    out.locals = src.locals.clone();
    out.slots = src.slots.clone();
    let entry = out.entry();
    let mut this = Linearizer {
        src,
        cfg,
        shapes,
        order,
        width,
        predicates,
        out,
        remarks: Vec::new(),
        at: src.entry(),
        to: entry,
        mask: Mask::Full,
        scalars: SecondaryMap::with_capacity(src.values.len()),
        vectors: SecondaryMap::with_capacity(src.values.len()),
        widened: HashMap::new(),
        outs: HashMap::new(),
        vars: Vec::new(),
        numbers: HashMap::new(),
        state: State::default(),
        masks: SecondaryMap::new(),
        nonempty: SecondaryMap::new(),
        entries: SecondaryMap::new(),
        incoming: SecondaryMap::new(),
        edges: Vec::new(),
        waiting: WaitingSets::default(),
        pending: SecondaryMap::new(),
        frames: HashMap::new(),
        live_out: HashMap::new(),
    };
    this.find_live_outs();
    for (i, &param) in src.params().iter().enumerate() {
        this.scalars[param] = this.out.params()[i].into();
    }
    for &block in &order.blocks {
        if this.begin(block) {
            for &inst in &src.blocks[block].insts {
                this.emit(inst);
            }
            this.finish();
        }
    }
    Vectorized {
        function: this.out,
        remarks: this.remarks,
    }
}

impl Linearizer<'_> {
    pub(super) fn builder(&mut self) -> Builder<'_> {
        Builder::new(&mut self.out, self.to)
    }

    /// The outermost divergent loop between a value's definition and the current block.
    pub(super) fn escaped(&self, value: Value, block: Block) -> Option<Loop> {
        let def = self.cfg.def_block[value]?;
        self.cfg.loops.innermost(def)?;
        if self.src.as_const(value).is_some() {
            return None;
        }
        self.cfg
            .loops_left(def, block)
            .filter(|&id| self.shapes.divergence.loops[id])
            .last()
    }

    pub(super) fn out_value(&self, value: Value, id: Loop) -> Value {
        self.outs[&(value, id)]
    }

    pub(super) fn has_own_mask(&self, block: Block) -> bool {
        self.order.same_mask[block].is_none()
    }

    /// The type of what stands for a value in the new function.
    pub(super) fn new_type(&self, value: Value) -> Type {
        let ty = self.src.ty(value);
        match self.shapes.of(value) {
            Shape::Varying => ty.with_lanes(self.width),
            _ => ty,
        }
    }

    fn define(&mut self, value: Value, new: Value) {
        match self.shapes.of(value) {
            Shape::Varying => self.vectors[value] = new.into(),
            _ => self.scalars[value] = new.into(),
        }
    }

    /// Opens the current position for a block; false if nothing leads there.
    fn begin(&mut self, block: Block) -> bool {
        self.at = block;
        self.widened.clear();
        if block == self.src.entry() {
            self.masks[block] = Some(Mask::Full);
            self.mask = Mask::Full;
            self.nonempty[block] = true;
            return true;
        }
        let Some(to) = self.entries[block].expand() else {
            return false;
        };
        self.to = to;
        let mut state = self.merge(block);
        let pending = std::mem::take(&mut self.pending[block]);
        let mask = match self.order.same_mask[block] {
            Some(other) => self.masks[other].unwrap_or(Mask::Full),
            None => {
                let number = self.number(Var::Mask(block));
                match state.remove(number) {
                    Some(mask) => mask,
                    None => Mask::Of(self.read(&State::default(), Var::Mask(block), to)),
                }
            }
        };
        let known = mask == Mask::Full
            || pending.is_empty()
            || self.order.same_mask[block].is_some_and(|other| self.nonempty[other])
            || self.incoming[block]
                .iter()
                .all(|&e| self.edges[e].as_ref().is_none_or(|edge| edge.nonempty));
        self.nonempty[block] = known;
        self.mask = mask;
        let mut params = Vec::new();
        for i in 0..self.src.blocks[block].params.len() {
            let var = Var::Param(block, i as u16);
            let number = self.number(var);
            let value = match state.remove(number) {
                Some(Mask::Of(value)) => value,
                _ => self.read(&State::default(), var, to),
            };
            params.push(value);
        }
        let header = self
            .cfg
            .loops
            .innermost(block)
            .filter(|&id| self.cfg.loops.loops[id].header == block);
        if let Mask::Of(lanes) = mask
            && !known
            && (header.is_some() || is_worth_skipping(self.src, block))
        {
            self.guard(lanes, &state, pending);
            self.nonempty[block] = true;
        }
        match header {
            Some(id) => self.open_loop(id, params, &mut state),
            None => {
                for (i, value) in params.into_iter().enumerate() {
                    self.define(self.src.blocks[block].params[i], value);
                }
            }
        }
        self.masks[block] = Some(self.mask);
        self.pending[block] = pending;
        self.state = state;
        true
    }

    /// Goes on in a new block if any of `lanes` is active, to the next pending block otherwise.
    fn guard(&mut self, lanes: Value, state: &State, pending: Waiting) {
        let any = self.builder().val(Op::AnyTrue, &[lanes], Type::I1);
        let body = self.out.add_block();
        let from = self.to;
        let skip = self.jump_to(pending, from, 1, state.clone(), false);
        self.builder().cond_br(any, body, &[], skip, &[]);
        self.to = body;
    }

    /// The block of the new function for the first of `targets`, the others pending there; records the
    /// edge that the caller is about to make as jump number `jump` of `from`.
    fn jump_to(
        &mut self,
        targets: Waiting,
        from: Block,
        jump: usize,
        state: State,
        nonempty: bool,
    ) -> Block {
        let (first, others) = self.waiting.split(targets).expect("control goes somewhere");
        let next = self.order.blocks[first as usize];
        self.pending[next] = self.waiting.union(self.pending[next], others);
        self.incoming[next].push(self.edges.len());
        self.edges.push(Some(Incoming {
            from,
            jump,
            state,
            nonempty,
        }));
        match self.entries[next].expand() {
            Some(block) => block,
            None => {
                let block = self.out.add_block();
                self.entries[next] = block.into();
                block
            }
        }
    }

    /// Makes the header of a loop: its parameters, and for a divergent one its mask and what its exits collect.
    fn open_loop(&mut self, id: Loop, entry_args: Vec<Value>, state: &mut State) {
        let data = &self.cfg.loops.loops[id];
        let block = data.header;
        let divergent = self.shapes.divergence.loops[id];
        let carried = if divergent {
            self.carried(id)
        } else {
            Vec::new()
        };
        let before = self.to;
        let header = self.out.add_block();
        let mut args = Vec::new();
        if divergent {
            let lanes = match self.mask {
                Mask::Of(lanes) => lanes,
                Mask::Full => {
                    let ty = Type::new(Scalar::I1, self.width);
                    self.builder().iconst(ty, 1)
                }
            };
            args.push(lanes);
            let ty = self.out.ty(lanes);
            self.mask = Mask::Of(self.out.add_param(header, ty));
        }
        for (i, arg) in entry_args.into_iter().enumerate() {
            let param = self.src.blocks[block].params[i];
            let ty = self.new_type(param);
            let new = self.out.add_param(header, ty);
            self.define(param, new);
            args.push(arg);
        }
        for &var in &carried {
            args.push(self.read(state, var, before));
            let ty = self.var_type(var);
            let param = self.out.add_param(header, ty);
            let number = self.number(var);
            state.insert(number, Mask::Of(param));
        }
        self.builder().br(header, &args);
        self.to = header;
        self.nonempty[block] = true;
        self.frames.insert(id, LoopFrame { header, carried });
    }

    /// Ends the current block: decides where control goes and what flows there.
    fn finish(&mut self) {
        let block = self.at;
        let pending = std::mem::take(&mut self.pending[block]);
        let around = self.cfg.loops.innermost(block);
        let mut state = std::mem::take(&mut self.state);
        if let Some(id) = around
            && self.cfg.loops.loops[id].latches[0] == block
        {
            self.close_loop(id, state, pending);
            return;
        }
        let nonempty = self.nonempty[block];
        let target = |call: &BlockCall| {
            let to = waits_at(self.cfg, self.shapes, around, call.block);
            self.order.index[to]
        };
        let term = self.src.blocks[block].term.clone();
        match &term {
            Terminator::Ret(values) => {
                let values: Vec<Value> = values
                    .iter()
                    .enumerate()
                    .map(|(i, &v)| self.result(i, v))
                    .collect();
                self.builder().ret(&values);
            }
            Terminator::Unreachable => unreachable!("canonical code returns"),
            Terminator::Br(call) => {
                let direct = target(call);
                let targets = self.waiting.with(pending, direct);
                // Another block may come first; the lanes then are not where control is.
                let nonempty = nonempty && self.comes_first(targets, direct);
                self.assign(&mut state, call, self.mask);
                let from = self.to;
                let next = self.jump_to(targets, from, 0, state, nonempty);
                self.builder().br(next, &[]);
            }
            Terminator::CondBr { cond, then, els } if self.shapes.branches[block] => {
                self.note_branch(*cond);
                let (then_at, els_at) = (target(then), target(els));
                let targets = self.waiting.with(pending, then_at);
                let targets = self.waiting.with(targets, els_at);
                let cond = self.vector(*cond);
                let not = self.builder().unary(UnOp::Not, cond);
                let (yes, no) = match self.mask {
                    Mask::Full => (cond, not),
                    Mask::Of(mask) => {
                        let mut b = self.builder();
                        (
                            b.binary(BinOp::And, mask, cond),
                            b.binary(BinOp::And, mask, not),
                        )
                    }
                };
                self.assign(&mut state, then, Mask::Of(yes));
                self.assign(&mut state, els, Mask::Of(no));
                let from = self.to;
                let next = self.jump_to(targets, from, 0, state, false);
                self.builder().br(next, &[]);
            }
            Terminator::CondBr { cond: value, .. } | Terminator::Switch { value, .. } => {
                let subject = self.scalar(*value);
                let calls: Vec<BlockCall> = term.targets().cloned().collect();
                let indices: SmallVec<[u32; 4]> = calls.iter().map(target).collect();
                let mut states: Vec<State> = Vec::new();
                for call in &calls {
                    let mut state = state.clone();
                    self.assign(&mut state, call, self.mask);
                    states.push(state);
                }
                let from = self.to;
                let mut next = Vec::new();
                for ((jump, direct), state) in indices.into_iter().enumerate().zip(states) {
                    let targets = self.waiting.with(pending, direct);
                    let nonempty = nonempty
                        && self.comes_first(targets, direct)
                        && self.order.blocks[direct as usize] == calls[jump].block;
                    next.push(self.jump_to(targets, from, jump, state, nonempty));
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
                self.builder().terminate(new);
            }
        }
    }

    /// Ends a latch: around again, and for a divergent loop out to what is pending when no lane is left.
    fn close_loop(&mut self, id: Loop, state: State, pending: Waiting) {
        let data = &self.cfg.loops.loops[id];
        let frame = self.frames.remove(&id).expect("the header came first");
        let mut args = Vec::new();
        let divergent = self.shapes.divergence.loops[id];
        let from = self.to;
        let mut any = None;
        if divergent {
            let lanes = match self.mask {
                Mask::Of(lanes) => lanes,
                Mask::Full => {
                    let ty = Type::new(Scalar::I1, self.width);
                    self.builder().iconst(ty, 1)
                }
            };
            any = Some(self.builder().val(Op::AnyTrue, &[lanes], Type::I1));
            args.push(lanes);
        }
        let Terminator::Br(back) = self.src.blocks[self.at].term.clone() else {
            unreachable!("a latch only jumps")
        };
        for (i, &arg) in back.args.iter().enumerate() {
            let param = self.src.blocks[data.header].params[i];
            args.push(match self.shapes.of(param) {
                Shape::Varying => self.vector(arg),
                _ => self.scalar(arg),
            });
        }
        for &var in &frame.carried {
            let value = self.read(&state, var, from);
            args.push(value);
            if let Var::Out(value_of, inner) = var
                && inner == id
            {
                self.outs.insert((value_of, id), value);
            }
        }
        let Some(any) = any else {
            // What is pending outside the loop is pending at its exits too.
            self.builder().br(frame.header, &args);
            return;
        };
        let mut targets = pending;
        for &(_, exit) in &data.exits {
            let to = waits_at(self.cfg, self.shapes, data.parent, exit);
            targets = self.waiting.with(targets, self.order.index[to]);
        }
        let next = self.jump_to(targets, from, 1, state, false);
        self.builder().cond_br(any, frame.header, &args, next, &[]);
    }

    /// Whether a block is the next of `targets`.
    fn comes_first(&self, targets: Waiting, block: u32) -> bool {
        matches!(self.waiting.split(targets), Some((first, _)) if first == block)
    }

    fn note_branch(&mut self, cond: Value) {
        let loc = self.src.def_inst(cond).map(|inst| self.src.insts[inst].loc);
        self.remarks
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
