//! The variables of linearization: what flows along the edges of the new graph.

use std::collections::{BTreeSet, HashMap};

use super::edges::Incoming;
use super::source::Source;
use super::state::{Mask, State};
use super::values::Emitter;
use crate::analysis::{Loop, Shape};
use crate::ir::{BinOp, Block, BlockCall, Builder, Scalar, Type, Value};

/// See `linearize.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Var {
    Mask(Block),
    Param(Block, u16),
    Out(Value, Loop),
}

/// The variables of a function.
pub(super) struct Variables<'a> {
    source: Source<'a>,
    /// By number, and the number of each.
    vars: Vec<Var>,
    numbers: HashMap<Var, u32>,
    /// For each divergent loop, what is used after it.
    live_out: HashMap<Loop, Vec<Value>>,
}

impl<'a> Variables<'a> {
    pub fn new(source: Source<'a>) -> Self {
        let mut this = Variables {
            source,
            vars: Vec::new(),
            numbers: HashMap::new(),
            live_out: HashMap::new(),
        };
        this.find_live_outs();
        this
    }

    /// The number that states know a variable by.
    pub fn number(&mut self, var: Var) -> u32 {
        *self.numbers.entry(var).or_insert_with(|| {
            self.vars.push(var);
            self.vars.len() as u32 - 1
        })
    }

    fn find_live_outs(&mut self) {
        let mut needed: BTreeSet<(Loop, Value)> = BTreeSet::new();
        let mut todo = Vec::new();
        for &block in &self.source.cfg.order {
            let mut note = |value: Value| {
                if let Some(id) = self.source.escaped(value, block)
                    && needed.insert((id, value))
                {
                    todo.push((id, value));
                }
            };
            for &inst in &self.source.func.blocks[block].insts {
                self.source.func.insts[inst]
                    .args
                    .iter()
                    .copied()
                    .for_each(&mut note);
            }
            self.source.func.blocks[block]
                .term
                .for_each_value(&mut note);
        }
        // What leaves an outer loop is read at its exits, perhaps after it left an inner one.
        while let Some((id, value)) = todo.pop() {
            for &(from, _) in &self.source.cfg.loops.loops[id].exits {
                if self.source.defined_before(value, from)
                    && let Some(inner) = self.source.escaped(value, from)
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

    /// The value that a variable has in a state, at the end of block `at`. One that has none does
    /// not matter (a mask: is empty); `Mask::Full` is for masks only.
    pub fn read(&mut self, e: &mut Emitter, state: &State, var: Var, at: Block) -> Value {
        let ty = self.var_type(var);
        let number = self.number(var);
        match state.get(number) {
            Some(Mask::Of(value)) => value,
            Some(Mask::Full) => Builder::new(&mut e.out, at).iconst(ty, 1),
            None => Builder::new(&mut e.out, at).iconst(ty, 0),
        }
    }

    pub fn var_type(&self, var: Var) -> Type {
        match var {
            Var::Mask(_) => Type::new(Scalar::I1, self.source.width),
            Var::Param(block, i) => self
                .source
                .new_type(self.source.func.blocks[block].params[usize::from(i)]),
            Var::Out(value, _) => self.source.func.ty(value).with_lanes(self.source.width),
        }
    }

    /// Joins the states of the current block's incoming edges; where they differ, the block gets a
    /// parameter.
    pub fn merge(&mut self, e: &mut Emitter, incoming: Vec<Incoming>) -> State {
        let mut merged = match incoming.first() {
            Some(edge) => edge.state.clone(),
            None => return State::default(),
        };
        if incoming.len() == 1 {
            return merged;
        }
        let index = &self.source.order.index;
        let live = |var: &Var| match *var {
            Var::Mask(b) | Var::Param(b, _) => index[b] >= index[e.at],
            Var::Out(..) => true,
        };
        let mut differing: BTreeSet<Var> = BTreeSet::new();
        for edge in &incoming[1..] {
            merged.differences(&edge.state, |number| {
                let var = self.vars[number as usize];
                if live(&var) {
                    differing.insert(var);
                }
            });
        }
        for var in differing {
            let ty = self.var_type(var);
            let param = e.out.add_param(e.to, ty);
            let number = self.number(var);
            merged.insert(number, Mask::Of(param));
            for edge in &incoming {
                let value = self.read(e, &edge.state, var, edge.from);
                if let Some(call) = e.out.blocks[edge.from].term.target_mut(edge.jump) {
                    call.args.push(value);
                }
            }
        }
        merged
    }

    /// The variables that are set where lanes leave a divergent loop.
    pub fn carried(&self, id: Loop) -> Vec<Var> {
        let mut vars = BTreeSet::new();
        for &(from, exit) in &self.source.cfg.loops.loops[id].exits {
            if self.source.has_own_mask(exit) {
                vars.insert(Var::Mask(exit));
            }
            let params = self.source.func.blocks[exit].params.len();
            vars.extend((0..params).map(|i| Var::Param(exit, i as u16)));
            vars.extend(self.outs_of_edge(from, exit));
        }
        vars.into_iter().collect()
    }

    fn outs_of_edge(&self, from: Block, to: Block) -> Vec<Var> {
        let mut vars = Vec::new();
        for id in self.source.cfg.loops_left(from, to) {
            if let Some(values) = self.live_out.get(&id) {
                let known = values
                    .iter()
                    .filter(|&&v| self.source.defined_before(v, from));
                vars.extend(known.map(|&v| Var::Out(v, id)));
            }
        }
        vars
    }

    /// Lanes `mask` take a jump of the current block.
    pub fn assign(&mut self, e: &mut Emitter, state: &mut State, call: &BlockCall, mask: Mask) {
        let block = call.block;
        let join = self.source.shapes.divergence.joins[block];
        let outs = self.outs_of_edge(e.at, block);
        for (i, &arg) in call.args.iter().enumerate() {
            let var = Var::Param(block, i as u16);
            let param = self.source.func.blocks[block].params[i];
            let value = match self.source.shapes.of(param) {
                Shape::Varying => {
                    let new = e.vector(arg);
                    if join {
                        self.blend(e, state, var, new, mask)
                    } else {
                        new
                    }
                }
                _ => e.scalar(arg),
            };
            let number = self.number(var);
            state.insert(number, Mask::Of(value));
        }
        for var in outs {
            if let Var::Out(value, _) = var {
                let new = e.vector(value);
                let new = self.blend(e, state, var, new, mask);
                let number = self.number(var);
                state.insert(number, Mask::Of(new));
            }
        }
        if self.source.has_own_mask(block) {
            let number = self.number(Var::Mask(block));
            let new = match (state.get(number), mask) {
                (Some(Mask::Of(old)), Mask::Of(more)) if join && old != more => {
                    Mask::Of(e.builder().binary(BinOp::Or, old, more))
                }
                (Some(Mask::Full), _) if join => Mask::Full,
                _ => mask,
            };
            state.insert(number, new);
        }
    }

    /// `new` in the lanes of `mask`, what the variable had before elsewhere.
    fn blend(&mut self, e: &mut Emitter, state: &State, var: Var, new: Value, mask: Mask) -> Value {
        let number = self.number(var);
        match (state.get(number), mask) {
            (Some(Mask::Of(old)), Mask::Of(lanes)) if old != new => {
                e.builder().select(lanes, new, old)
            }
            _ => new,
        }
    }
}
