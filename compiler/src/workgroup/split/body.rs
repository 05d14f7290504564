//! The code of a region for one work-item.

use std::collections::BTreeMap;

use super::slots::Node;
use super::{Plan, Splitter};
use crate::ir::{
    Block, Builder, Cloner, Function, Op, Scalar, SlotId, Terminator, Type, UnOp, Value,
};

impl Splitter<'_> {
    /// The code of the region with this index for one work-item. `cloner` is for copies from the
    /// kernel, and has nothing bound.
    pub(super) fn body<'a>(
        &'a self,
        entry: Block,
        index: usize,
        cloner: &mut Cloner<'a>,
    ) -> Function {
        let plan = &self.plans[&entry];
        let params: Vec<Type> = plan.inputs.iter().map(|&v| self.func.ty(v)).collect();
        let mut results = Vec::new();
        if plan.exits.len() > 1 {
            results.push(Type::I32);
        }
        results.extend(plan.results.iter().map(|&v| self.func.ty(v)));
        let name = format!("{}.{index}", self.func.name);
        let mut out = Function::new(name, &params, &results);
        out.locals = self.func.locals.clone();
        out.slots = self.table.clone();
        let mut copy = Copier {
            splitter: self,
            plan,
            cloner,
            out,
        };
        let before = copy.cloner.checkpoint();
        copy.run(entry);
        copy.cloner.roll_back(before);
        copy.out
    }
}

/// Copies a region's blocks to a function of their own.
struct Copier<'c, 'a> {
    splitter: &'a Splitter<'a>,
    plan: &'a Plan,
    cloner: &'c mut Cloner<'a>,
    out: Function,
}

impl Copier<'_, '_> {
    fn run(&mut self, entry: Block) {
        let func = self.splitter.func;
        let mut first = self.out.entry();
        for (&old, &new) in self.plan.inputs.iter().zip(self.out.params()) {
            self.cloner.bind(old, new);
        }
        self.private_objects(first);
        if let Some(alive) = self.splitter.alive
            && self.splitter.for_alive.contains(&entry)
        {
            first = self.only_alive(first, alive);
        }
        self.cloner.bind_block(entry, first);
        for &block in &self.plan.blocks {
            if block != entry {
                self.cloner.add_block(&mut self.out, block);
            }
        }
        for &value in &self.plan.loads {
            let node = self.splitter.load_node(entry, value);
            let slot = self.splitter.slots[&node];
            let ty = func.ty(value);
            let new = Builder::new(&mut self.out, first).val(Op::ContextLoad(slot), &[], ty);
            self.cloner.bind(value, new);
        }
        let mut b = Builder::new(&mut self.out, first);
        for &value in &self.plan.rematerialized {
            self.cloner.rematerialize(&mut b, value);
        }
        for &block in &self.plan.blocks {
            self.copy_block(block);
        }
    }

    /// Ends a block by returning for work-items that are not alive; the block for all others.
    fn only_alive(&mut self, block: Block, slot: SlotId) -> Block {
        let results = self.out.results.clone();
        let mut b = Builder::new(&mut self.out, block);
        let is_alive = b.val(Op::ContextLoad(slot), &[], Type::I1);
        let (alive, ended) = (b.new_block(&[]), b.new_block(&[]));
        b.cond_br(is_alive, alive, &[], ended, &[]);
        b.switch_to(ended);
        let zeros: Vec<Value> = results.iter().map(|&ty| b.iconst(ty, 0)).collect();
        b.ret(&zeros);
        alive
    }

    fn private_objects(&mut self, first: Block) {
        let func = self.splitter.func;
        for &object in &self.plan.objects {
            let op = match self.splitter.arrays.get(&object) {
                Some(&slot) => Op::ContextLoad(slot),
                None => func.def_op(object).expect("it is made").clone(),
            };
            let new = Builder::new(&mut self.out, first).val(op, &[], Type::PTR);
            self.cloner.bind(object, new);
        }
    }

    /// A value, used at the end of a block.
    fn value(&mut self, block: Block, value: Value) -> Value {
        let mut b = Builder::new(&mut self.out, block);
        self.cloner.operand(&mut b, value)
    }

    fn copy_block(&mut self, block: Block) {
        let func = self.splitter.func;
        let to = self.cloner.block(block);
        let mut b = Builder::new(&mut self.out, to);
        for &inst in &func.blocks[block].insts {
            // Constants are made again where they are used.
            if !matches!(func.insts[inst].op, Op::Alloca { .. } | Op::Const(_)) {
                self.cloner.inst(&mut b, inst);
            }
        }
        if self.splitter.exit_number[block].is_some() {
            self.leave(block, to);
            return;
        }
        let term = self.cloner.terminator(&mut b, &func.blocks[block].term);
        b.terminate(term);
    }

    /// Says whether the work-item is alive from here on, if it is decided here.
    fn mark_alive(&mut self, block: Block, to: Block) {
        let splitter = self.splitter;
        let Some(alive) = splitter.alive else {
            return;
        };
        let value = match (
            splitter.early_returns.get(&block),
            &splitter.func.blocks[block].term,
        ) {
            (Some(&onward_if), Terminator::CondBr { cond, .. }) => {
                let cond = self.value(to, *cond);
                let mut b = Builder::new(&mut self.out, to);
                if onward_if {
                    cond
                } else {
                    b.unary(UnOp::Not, cond)
                }
            }
            _ if splitter.owner(block) == splitter.func.entry() => {
                Builder::new(&mut self.out, to).iconst(Type::I1, 1)
            }
            _ => return,
        };
        Builder::new(&mut self.out, to).ins(Op::ContextStore(alive), &[value], &[]);
    }

    /// Ends the region: stores what outlives it and what is handed on, returns which exit it was
    /// and what is uniform.
    fn leave(&mut self, block: Block, to: Block) {
        let splitter = self.splitter;
        let func = splitter.func;
        let region = splitter.owner(block);
        let mut stores: BTreeMap<SlotId, Value> = BTreeMap::new();
        for &(slot, value) in splitter.stores.get(&region).into_iter().flatten() {
            if splitter.defined_at(value, block) && self.cloner.get(value).is_some() {
                stores.insert(slot, value);
            }
        }
        for (_, handed) in splitter.passed_on(block) {
            for (param, arg) in handed {
                // One that is never wanted has no slot.
                let Some(&slot) = splitter.slots.get(&Node::Handed(param)) else {
                    continue;
                };
                let in_place = self.plan.loads.contains(&arg)
                    && splitter.slots[&splitter.load_node(region, arg)] == slot;
                if in_place {
                    stores.remove(&slot);
                } else {
                    stores.insert(slot, arg);
                }
            }
        }
        for (slot, value) in stores {
            let value = self.value(to, value);
            Builder::new(&mut self.out, to).ins(Op::ContextStore(slot), &[value], &[]);
        }
        self.mark_alive(block, to);
        let mut results = Vec::new();
        if self.plan.exits.len() > 1 {
            let which = splitter.exit_number[block].expect("it is an exit");
            results.push(Builder::new(&mut self.out, to).iconst(Type::I32, which as u64));
        }
        for &value in &self.plan.results {
            results.push(if splitter.defined_at(value, block) {
                self.value(to, value)
            } else {
                let ty = func.ty(value);
                debug_assert_ne!(ty.scalar, Scalar::Ptr, "no pointer is merely maybe defined");
                Builder::new(&mut self.out, to).iconst(ty, 0)
            });
        }
        Builder::new(&mut self.out, to).ret(&results);
    }
}
