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
//! Cost: linear in instructions, plus at each join of the new graph the number of variables waiting there.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use super::Asked;
use super::canonical::is_worth_skipping;
use super::order::{Order, waits_at};
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

/// See the module's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Var {
    Mask(Block),
    Param(Block, u16),
    Out(Value, Loop),
}

/// Variables that have a value; the others do not matter (a mask: is empty). `Mask::Full` is for masks only.
type State = BTreeMap<Var, Mask>;

/// An edge of the new graph on its way to a block.
struct Incoming {
    /// A block of the new function, and which of its jumps.
    from: Block,
    jump: usize,
    state: State,
    /// Whether some lane certainly takes it.
    nonempty: bool,
}

/// A divergent loop being made.
struct LoopFrame {
    header: Block,
    carried: Vec<Var>,
}

pub(super) struct Linearizer<'a> {
    pub src: &'a Function,
    pub cfg: &'a Cfg,
    pub shapes: &'a Shapes,
    order: &'a Order,
    pub width: u8,
    /// What results are to answer; nothing: they are what the first lane has.
    asked: &'a [Asked],
    pub out: Function,
    pub remarks: Vec<(SourceLoc, String)>,

    /// The block of `src` being translated and that of `out` being written.
    pub at: Block,
    pub to: Block,
    /// Its mask.
    pub mask: Mask,
    /// Lane 0 of a value, all there is of a uniform one; all lanes of a varying one.
    pub scalars: SecondaryMap<Value, PackedOption<Value>>,
    pub vectors: SecondaryMap<Value, PackedOption<Value>>,
    /// Values widened in `to` or a block that dominates it.
    pub widened: HashMap<Value, Value>,
    outs: HashMap<(Value, Loop), Value>,

    /// What was assigned on the way to the current block and belongs to blocks to come.
    state: State,
    masks: SecondaryMap<Block, Option<Mask>>,
    nonempty: SecondaryMap<Block, bool>,
    entries: SecondaryMap<Block, PackedOption<Block>>,
    incoming: SecondaryMap<Block, Vec<usize>>,
    edges: Vec<Option<Incoming>>,
    pending: SecondaryMap<Block, BTreeSet<u32>>,
    frames: HashMap<Loop, LoopFrame>,
    /// For each divergent loop, what is used after it.
    live_out: HashMap<Loop, Vec<Value>>,
}

pub(super) fn linearize<'a>(
    src: &'a Function,
    cfg: &'a Cfg,
    shapes: &'a Shapes,
    order: &'a Order,
    width: u8,
    asked: &'a [Asked],
) -> Vectorized {
    let params: Vec<Type> = src.params().iter().map(|&p| src.ty(p)).collect();
    let results = match asked {
        [] => src.results.clone(),
        asked => vec![Type::I1; asked.len()],
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
        asked,
        out,
        remarks: Vec::new(),
        at: src.entry(),
        to: entry,
        mask: Mask::Full,
        scalars: SecondaryMap::with_capacity(src.values.len()),
        vectors: SecondaryMap::with_capacity(src.values.len()),
        widened: HashMap::new(),
        outs: HashMap::new(),
        state: State::new(),
        masks: SecondaryMap::new(),
        nonempty: SecondaryMap::new(),
        entries: SecondaryMap::new(),
        incoming: SecondaryMap::new(),
        edges: Vec::new(),
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

    fn find_live_outs(&mut self) {
        let mut needed: BTreeSet<(Loop, Value)> = BTreeSet::new();
        let mut todo = Vec::new();
        for &block in &self.cfg.order {
            let mut note = |value: Value| {
                if let Some(id) = self.escaped(value, block)
                    && needed.insert((id, value))
                {
                    todo.push((id, value));
                }
            };
            for &inst in &self.src.blocks[block].insts {
                self.src.insts[inst]
                    .args
                    .iter()
                    .copied()
                    .for_each(&mut note);
            }
            self.src.blocks[block].term.for_each_value(&mut note);
        }
        // What leaves an outer loop is read at its exits, perhaps after it left an inner one.
        while let Some((id, value)) = todo.pop() {
            for &(from, _) in &self.cfg.loops.loops[id].exits {
                if self.defined_before(value, from)
                    && let Some(inner) = self.escaped(value, from)
                    && needed.insert((inner, value))
                {
                    todo.push((inner, value));
                }
            }
        }
        for (id, value) in needed {
            self.live_out.entry(id).or_default().push(value);
        }
    }

    fn defined_before(&self, value: Value, block: Block) -> bool {
        self.cfg.def_block[value].is_some_and(|def| self.cfg.dominators.dominates(def, block))
    }

    fn has_own_mask(&self, block: Block) -> bool {
        self.order.same_mask[block].is_none()
    }

    fn var_type(&self, var: Var) -> Type {
        match var {
            Var::Mask(_) => Type::new(Scalar::I1, self.width),
            Var::Param(block, i) => self.new_type(self.src.blocks[block].params[usize::from(i)]),
            Var::Out(value, _) => self.src.ty(value).with_lanes(self.width),
        }
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

    /// The value that a variable has in a state, at the end of block `at`.
    fn read(&mut self, state: &State, var: Var, at: Block) -> Value {
        let ty = self.var_type(var);
        match state.get(&var) {
            Some(&Mask::Of(value)) => value,
            Some(Mask::Full) => Builder::new(&mut self.out, at).iconst(ty, 1),
            None => Builder::new(&mut self.out, at).iconst(ty, 0),
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
            None => match state.remove(&Var::Mask(block)) {
                Some(mask) => mask,
                None => Mask::Of(self.read(&State::new(), Var::Mask(block), to)),
            },
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
            let value = match state.remove(&var) {
                Some(Mask::Of(value)) => value,
                _ => self.read(&State::new(), var, to),
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
            self.guard(lanes, &state, &pending);
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

    /// Joins the states of a block's incoming edges; where they differ, the block gets a parameter.
    fn merge(&mut self, block: Block) -> State {
        let incoming = self.incoming[block].clone();
        if let [only] = incoming[..] {
            return self.edges[only]
                .as_mut()
                .map(|edge| std::mem::take(&mut edge.state))
                .unwrap_or_default();
        }
        let index = &self.order.index;
        let live = |var: &Var| match *var {
            Var::Mask(b) | Var::Param(b, _) => index[b] >= index[block],
            Var::Out(..) => true,
        };
        let mut edges: Vec<(Block, usize, State)> = Vec::new();
        let mut vars: BTreeSet<Var> = BTreeSet::new();
        for id in incoming {
            if let Some(edge) = self.edges[id].as_mut() {
                let state = std::mem::take(&mut edge.state);
                vars.extend(state.keys().filter(|var| live(var)));
                edges.push((edge.from, edge.jump, state));
            }
        }
        let mut merged = State::new();
        for var in vars {
            let first = edges[0].2.get(&var).copied();
            if let Some(value) = first
                && edges.iter().all(|edge| edge.2.get(&var) == Some(&value))
            {
                merged.insert(var, value);
                continue;
            }
            let ty = self.var_type(var);
            let param = self.out.add_param(self.to, ty);
            merged.insert(var, Mask::Of(param));
            for (from, jump, state) in &edges {
                let value = self.read(state, var, *from);
                self.push_arg(*from, *jump, value);
            }
        }
        merged
    }

    fn push_arg(&mut self, from: Block, jump: usize, value: Value) {
        let term = &mut self.out.blocks[from].term;
        if let Some(call) = term.targets_mut().nth(jump) {
            call.args.push(value);
        }
    }

    /// Goes on in a new block if any of `lanes` is active, to the next pending block otherwise.
    fn guard(&mut self, lanes: Value, state: &State, pending: &BTreeSet<u32>) {
        let any = self.builder().val(Op::AnyTrue, &[lanes], Type::I1);
        let body = self.out.add_block();
        let from = self.to;
        let skip = self.jump_to(pending.clone(), from, 1, state.clone(), false);
        self.builder().cond_br(any, body, &[], skip, &[]);
        self.to = body;
    }

    /// The block of the new function for the first of `targets`, the others pending there; records the
    /// edge that the caller is about to make as jump number `jump` of `from`.
    fn jump_to(
        &mut self,
        mut targets: BTreeSet<u32>,
        from: Block,
        jump: usize,
        state: State,
        nonempty: bool,
    ) -> Block {
        let first = targets.pop_first().expect("control goes somewhere");
        let next = self.order.blocks[first as usize];
        self.pending[next].extend(targets);
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
            state.insert(var, Mask::Of(param));
        }
        self.builder().br(header, &args);
        self.to = header;
        self.nonempty[block] = true;
        self.frames.insert(id, LoopFrame { header, carried });
    }

    /// The variables that are set where lanes leave a divergent loop.
    fn carried(&self, id: Loop) -> Vec<Var> {
        let mut vars = BTreeSet::new();
        for &(from, exit) in &self.cfg.loops.loops[id].exits {
            if self.has_own_mask(exit) {
                vars.insert(Var::Mask(exit));
            }
            let params = self.src.blocks[exit].params.len();
            vars.extend((0..params).map(|i| Var::Param(exit, i as u16)));
            vars.extend(self.outs_of_edge(from, exit));
        }
        vars.into_iter().collect()
    }

    fn outs_of_edge(&self, from: Block, to: Block) -> Vec<Var> {
        let mut vars = Vec::new();
        for id in self.cfg.loops_left(from, to) {
            if let Some(values) = self.live_out.get(&id) {
                let known = values.iter().filter(|&&v| self.defined_before(v, from));
                vars.extend(known.map(|&v| Var::Out(v, id)));
            }
        }
        vars
    }

    /// Lanes `mask` take a jump of the current block.
    fn assign(&mut self, state: &mut State, call: &BlockCall, mask: Mask) {
        let block = call.block;
        let join = self.shapes.divergence.joins[block];
        let outs = self.outs_of_edge(self.at, block);
        for (i, &arg) in call.args.iter().enumerate() {
            let var = Var::Param(block, i as u16);
            let param = self.src.blocks[block].params[i];
            let value = match self.shapes.of(param) {
                Shape::Varying => {
                    let new = self.vector(arg);
                    if join {
                        self.blend(state, var, new, mask)
                    } else {
                        new
                    }
                }
                _ => self.scalar(arg),
            };
            state.insert(var, Mask::Of(value));
        }
        for var in outs {
            if let Var::Out(value, _) = var {
                let new = self.vector(value);
                let new = self.blend(state, var, new, mask);
                state.insert(var, Mask::Of(new));
            }
        }
        if self.has_own_mask(block) {
            let var = Var::Mask(block);
            let new = match (state.get(&var), mask) {
                (Some(&Mask::Of(old)), Mask::Of(more)) if join && old != more => {
                    Mask::Of(self.builder().binary(BinOp::Or, old, more))
                }
                (Some(Mask::Full), _) if join => Mask::Full,
                _ => mask,
            };
            state.insert(var, new);
        }
    }

    /// `new` in the lanes of `mask`, what the variable had before elsewhere.
    fn blend(&mut self, state: &State, var: Var, new: Value, mask: Mask) -> Value {
        match (state.get(&var), mask) {
            (Some(&Mask::Of(old)), Mask::Of(lanes)) if old != new => {
                self.builder().select(lanes, new, old)
            }
            _ => new,
        }
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
                let mut targets = pending;
                let direct = target(call);
                targets.insert(direct);
                // Another block may come first; the lanes then are not where control is.
                let nonempty = nonempty && targets.first() == Some(&direct);
                self.assign(&mut state, call, self.mask);
                let from = self.to;
                let next = self.jump_to(targets, from, 0, state, nonempty);
                self.builder().br(next, &[]);
            }
            Terminator::CondBr { cond, then, els } if self.shapes.branches[block] => {
                self.note_branch(*cond);
                let mut targets = pending;
                targets.extend([target(then), target(els)]);
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
                    let mut targets = pending.clone();
                    targets.insert(direct);
                    let nonempty = nonempty
                        && targets.first() == Some(&direct)
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
    fn close_loop(&mut self, id: Loop, state: State, pending: BTreeSet<u32>) {
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
            targets.insert(self.order.index[to]);
        }
        let next = self.jump_to(targets, from, 1, state, false);
        self.builder().cond_br(any, frame.header, &args, next, &[]);
    }

    fn result(&mut self, index: usize, value: Value) -> Value {
        match self.asked.get(index) {
            None => self.first_lane(value),
            Some(Asked::All) => self.bound(value, true),
            Some(Asked::Any) => self.bound(value, false),
            Some(Asked::NoWrap { signed }) => self.no_wrap(value, *signed),
        }
    }

    /// Something that implies that a condition holds in all lanes, or that is implied by its holding in any.
    fn bound(&mut self, value: Value, all: bool) -> Value {
        if self.shapes.of(value) != Shape::Varying {
            return self.scalar(value);
        }
        let inst = self.src.def_inst(value).map(|inst| &self.src.insts[inst]);
        let last = u64::from(self.width) - 1;
        match inst.map(|data| (&data.op, &data.args[..])) {
            Some((&Op::ICmp(cc), &[a, b])) if self.shapes.is_monotone(value) => {
                let (first_a, first_b) = (self.scalar(a), self.scalar(b));
                let (last_a, last_b) = (self.lane(a, last), self.lane(b, last));
                let mut b = self.builder();
                let first = b.icmp(cc, first_a, first_b);
                let last = b.icmp(cc, last_a, last_b);
                b.binary(if all { BinOp::And } else { BinOp::Or }, first, last)
            }
            Some((&Op::Binary(op @ (BinOp::And | BinOp::Or), _), &[a, b])) => {
                let (a, b) = (self.bound(a, all), self.bound(b, all));
                self.builder().binary(op, a, b)
            }
            Some((Op::Unary(UnOp::Not), &[a])) => {
                let a = self.bound(a, !all);
                self.builder().unary(UnOp::Not, a)
            }
            _ => {
                let lanes = self.vector(value);
                let op = if all { Op::AllTrue } else { Op::AnyTrue };
                self.builder().val(op, &[lanes], Type::I1)
            }
        }
    }

    /// A lane of a uniform or affine value.
    fn lane(&mut self, value: Value, lane: u64) -> Value {
        let base = self.scalar(value);
        match self.shapes.of(value) {
            Shape::Affine(stride) => {
                let ty = self.out.ty(base);
                let mut b = self.builder();
                let offset = b.iconst(ty, (stride as u64).wrapping_mul(lane));
                b.binary(BinOp::IAdd, base, offset)
            }
            _ => base,
        }
    }

    fn note_branch(&mut self, cond: Value) {
        let loc = self.src.def_inst(cond).map(|inst| self.src.insts[inst].loc);
        self.remarks
            .push((loc.unwrap_or_default(), "branch diverges".into()));
    }
}
