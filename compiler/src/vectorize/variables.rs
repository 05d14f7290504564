//! The variables of linearization: what flows along the edges of the new graph.

use std::collections::BTreeSet;

use super::linearize::{Linearizer, Mask};
use super::state::State;
use crate::analysis::{Loop, Shape};
use crate::ir::{BinOp, Block, BlockCall, Builder, Scalar, Type, Value};

/// See `linearize.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Var {
    Mask(Block),
    Param(Block, u16),
    Out(Value, Loop),
}

impl Linearizer<'_> {
    /// The number that states know a variable by.
    pub(super) fn number(&mut self, var: Var) -> u32 {
        *self.numbers.entry(var).or_insert_with(|| {
            self.vars.push(var);
            self.vars.len() as u32 - 1
        })
    }

    pub(super) fn find_live_outs(&mut self) {
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

    /// The value that a variable has in a state, at the end of block `at`. One that has none does not matter (a mask: is empty);
    /// `Mask::Full` is for masks only.
    pub(super) fn read(&mut self, state: &State, var: Var, at: Block) -> Value {
        let ty = self.var_type(var);
        let number = self.number(var);
        match state.get(number) {
            Some(Mask::Of(value)) => value,
            Some(Mask::Full) => Builder::new(&mut self.out, at).iconst(ty, 1),
            None => Builder::new(&mut self.out, at).iconst(ty, 0),
        }
    }

    pub(super) fn var_type(&self, var: Var) -> Type {
        match var {
            Var::Mask(_) => Type::new(Scalar::I1, self.width),
            Var::Param(block, i) => self.new_type(self.src.blocks[block].params[usize::from(i)]),
            Var::Out(value, _) => self.src.ty(value).with_lanes(self.width),
        }
    }

    /// Joins the states of a block's incoming edges; where they differ, the block gets a parameter.
    pub(super) fn merge(&mut self, block: Block) -> State {
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
        let mut differing: BTreeSet<Var> = BTreeSet::new();
        for id in incoming {
            if let Some(edge) = self.edges[id].as_mut() {
                let state = std::mem::take(&mut edge.state);
                if let Some((_, _, first)) = edges.first() {
                    first.differences(&state, |number| {
                        let var = self.vars[number as usize];
                        if live(&var) {
                            differing.insert(var);
                        }
                    });
                }
                edges.push((edge.from, edge.jump, state));
            }
        }
        let mut merged = edges.first().map_or_else(State::default, |e| e.2.clone());
        for var in differing {
            let ty = self.var_type(var);
            let param = self.out.add_param(self.to, ty);
            let number = self.number(var);
            merged.insert(number, Mask::Of(param));
            for (from, jump, state) in &edges {
                let value = self.read(state, var, *from);
                self.push_arg(*from, *jump, value);
            }
        }
        merged
    }

    fn push_arg(&mut self, from: Block, jump: usize, value: Value) {
        let term = &mut self.out.blocks[from].term;
        if let Some(call) = term.target_mut(jump) {
            call.args.push(value);
        }
    }

    /// The variables that are set where lanes leave a divergent loop.
    pub(super) fn carried(&self, id: Loop) -> Vec<Var> {
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
    pub(super) fn assign(&mut self, state: &mut State, call: &BlockCall, mask: Mask) {
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
            let number = self.number(var);
            state.insert(number, Mask::Of(value));
        }
        for var in outs {
            if let Var::Out(value, _) = var {
                let new = self.vector(value);
                let new = self.blend(state, var, new, mask);
                let number = self.number(var);
                state.insert(number, Mask::Of(new));
            }
        }
        if self.has_own_mask(block) {
            let number = self.number(Var::Mask(block));
            let new = match (state.get(number), mask) {
                (Some(Mask::Of(old)), Mask::Of(more)) if join && old != more => {
                    Mask::Of(self.builder().binary(BinOp::Or, old, more))
                }
                (Some(Mask::Full), _) if join => Mask::Full,
                _ => mask,
            };
            state.insert(number, new);
        }
    }

    /// `new` in the lanes of `mask`, what the variable had before elsewhere.
    fn blend(&mut self, state: &State, var: Var, new: Value, mask: Mask) -> Value {
        let number = self.number(var);
        match (state.get(number), mask) {
            (Some(Mask::Of(old)), Mask::Of(lanes)) if old != new => {
                self.builder().select(lanes, new, old)
            }
            _ => new,
        }
    }
}
