//! What becomes of each value that is used outside its region; the module's head says what there
//! is.

use std::collections::BTreeSet;
use std::sync::Arc;

use cranelift_entity::SecondaryMap;

use super::super::rematerialize::{self, CHEAP, CHEAP_IN_ONE_LANE};
use super::slots::{Crossing, Crossings, Node};
use super::{Splitter, array_slot};
use crate::analysis::{Across, Shape, Shapes};
use crate::diagnostic::Remark;
use crate::ir::{Block, Inst, Op, Terminator, Value};

/// Where a value is used, and by which block.
#[derive(Clone, Copy)]
enum Use {
    /// In the region that begins with a block, the first.
    InRegion(Block, Value, Block),
    /// In the skeleton.
    InSkeleton(Value, Block),
}

impl Splitter<'_> {
    /// Private arrays that are used in several regions, or in one that runs several times, become
    /// slots.
    pub(super) fn allocate_private_arrays(&mut self) {
        let users = self.users();
        for &inst in &self.func.blocks[self.func.entry()].insts.clone() {
            let data = &self.func.insts[inst];
            let Some(slot) = array_slot(&data.op) else {
                continue;
            };
            let array = data.results[0];
            let mut homes: BTreeSet<Block> = BTreeSet::new();
            let mut escapes = false;
            let mut seen = BTreeSet::from([array]);
            let mut todo = vec![array];
            while let Some(pointer) = todo.pop() {
                for &(user, block) in &users[pointer] {
                    homes.insert(self.owner(block));
                    let Some(user) = user else {
                        escapes = true;
                        continue;
                    };
                    let data = &self.func.insts[user];
                    match data.op {
                        Op::Load(_) => {}
                        Op::Store(_) => escapes |= data.args[1..].contains(&pointer),
                        Op::MemCopy { .. } | Op::MemCopyDyn { .. } | Op::ICmp(_) => {}
                        Op::PtrAdd | Op::Select | Op::Convert(..) => {
                            let result = data.results[0];
                            if seen.insert(result) {
                                todo.push(result);
                            }
                        }
                        _ => escapes = true,
                    }
                }
            }
            let once = homes.len() <= 1 && homes.iter().all(|&home| !self.repeats(home));
            if escapes || !once {
                let slot = Arc::make_mut(&mut self.table).push(slot);
                self.arrays.insert(array, slot);
            }
        }
    }

    /// The instructions (or terminators) that use each value, with their blocks.
    fn users(&self) -> SecondaryMap<Value, Vec<(Option<Inst>, Block)>> {
        let mut users: SecondaryMap<Value, Vec<(Option<Inst>, Block)>> = SecondaryMap::new();
        users.resize(self.func.values.len());
        for &block in &self.cfg.order {
            for &inst in &self.func.blocks[block].insts {
                for &arg in &self.func.insts[inst].args {
                    users[arg].push((Some(inst), block));
                }
            }
            let term = &self.func.blocks[block].term;
            term.for_each_value(|value| users[value].push((None, block)));
        }
        users
    }

    /// Decides for every use of a value outside its region how the value gets there.
    pub(super) fn note_uses(&mut self) {
        let entries = self.cut.entries.clone();
        for entry in entries {
            let blocks = self.plans[&entry].blocks.clone();
            for block in blocks {
                for &inst in &self.func.blocks[block].insts {
                    for &arg in &self.func.insts[inst].args {
                        self.note_use(Use::InRegion(entry, arg, block));
                    }
                }
                self.note_terminator(entry, block);
            }
        }
    }

    fn note_terminator(&mut self, region: Block, block: Block) {
        let term = &self.func.blocks[block].term;
        if self.exit_number[block].is_none() {
            let mut values = Vec::new();
            term.for_each_value(|value| values.push(value));
            for value in values {
                self.note_use(Use::InRegion(region, value, block));
            }
            return;
        }
        if let Terminator::CondBr { cond: value, .. } | Terminator::Switch { value, .. } = term {
            let value = *value;
            if self.early_returns.contains_key(&block) {
                self.note_use(Use::InRegion(region, value, block));
            }
            self.note_use(Use::InSkeleton(value, block));
        }
        let term = &self.func.blocks[block].term;
        for call in term.targets() {
            let params = &self.func.blocks[call.block].params;
            for (&param, &arg) in params.iter().zip(&call.args) {
                if self.shapes.of(param) == Shape::Varying {
                    self.note_use(Use::InRegion(region, arg, block));
                } else {
                    self.note_use(Use::InSkeleton(arg, block));
                }
            }
        }
    }

    /// Notes a use, and what follows from it for what the value is computed from.
    fn note_use(&mut self, first: Use) {
        let mut todo = vec![first];
        while let Some(next) = todo.pop() {
            match next {
                Use::InRegion(region, value, user) => {
                    self.use_in_region(region, value, user, &mut todo);
                }
                Use::InSkeleton(value, user) => self.use_in_skeleton(value, user, &mut todo),
            }
        }
    }

    fn use_in_region(&mut self, region: Block, value: Value, user: Block, todo: &mut Vec<Use>) {
        if self.func.as_const(value).is_some() {
            return;
        }
        if self.is_alloca(value) {
            self.plan(region).objects.insert(value);
            return;
        }
        if self.is_kernel_param(value) {
            self.plan(region).inputs.insert(value);
            return;
        }
        let varying = self.is_varying(value, user);
        if self.home(value) == region {
            if self.is_entry_param(value) {
                if varying {
                    self.plan(region).loads.insert(value);
                } else {
                    self.plan(region).inputs.insert(value);
                }
            }
            return;
        }
        if !varying {
            self.plan(region).inputs.insert(value);
            todo.push(Use::InSkeleton(value, user));
        } else if !self.shapes.of(value).is_uniform() && self.is_rematerialized(value) {
            // What varies only behind a divergent loop took that loop to compute, and is saved
            // below.
            if self.plan(region).rematerialized.insert(value) {
                let inst = self.func.def_inst(value).expect("parameters are not cheap");
                let def = self.cfg.def_block[value].expect("defined");
                // The operand is as uniform as it was for the value itself.
                let args = self.func.insts[inst].args.iter();
                todo.extend(args.map(|&arg| Use::InRegion(region, arg, def)));
            }
        } else {
            self.plan(region).loads.insert(value);
            if !self.is_entry_param(value) {
                self.saved.insert(value);
            }
        }
    }

    /// A value the skeleton needs: a condition, a uniform argument, something it passes on.
    fn use_in_skeleton(&mut self, value: Value, user: Block, todo: &mut Vec<Use>) {
        if self.func.as_const(value).is_some()
            || self.is_kernel_param(value)
            || self.is_entry_param(value) && !self.is_varying(value, user)
            || self.in_skeleton.contains(&value)
        {
            return;
        }
        let home = self.home(value);
        let computable = !self.is_varying(value, user)
            && self.func.def_inst(value).is_some_and(|inst| {
                let data = &self.func.insts[inst];
                data.op.is_pure() && data.results.len() == 1
            });
        if computable {
            self.in_skeleton.insert(value);
            let def = self.cfg.def_block[value].expect("defined");
            let inst = self.func.def_inst(value).expect("an instruction");
            let args = self.func.insts[inst].args.iter();
            todo.extend(args.map(|&arg| Use::InSkeleton(arg, def)));
        } else {
            if self.is_varying(value, user) {
                let loc = self
                    .func
                    .def_inst(value)
                    .map(|inst| self.func.insts[inst].loc);
                self.remarks.push(Remark::new(
                    loc.unwrap_or_default(),
                    "a barrier depends on a condition that may vary; the first work-item decides",
                ));
            }
            // Decided by the region that uses it last: where it is handed over.
            let region = if self.is_varying(value, user) && home != self.owner(user) {
                let region = self.owner(user);
                todo.push(Use::InRegion(region, value, user));
                region
            } else {
                home
            };
            if self.is_entry_param(value) {
                self.plan(region).loads.insert(value);
            }
            self.plan(region).results.insert(value);
        }
    }

    /// Whether a varying value is computed again rather than saved.
    fn is_rematerialized(&mut self, value: Value) -> bool {
        match self.cost(value) {
            Some(cost) if cost <= CHEAP => true,
            // Work-items that run one at a time share nothing: a load costs less.
            Some(_) => self.key.width > 1 && self.in_chunks().of(value) != Shape::Varying,
            None => false,
        }
    }

    /// How values vary over chunks.
    fn in_chunks(&self) -> &Shapes {
        self.in_chunks.get_or_init(|| {
            let across = Across::Chunk(self.key.width);
            Shapes::new(self.func, &self.cfg, self.key, across)
        })
    }

    /// Instructions to compute a varying value from ids and uniform values; `None` if it takes more
    /// than arithmetic, or too many. Each value is looked at once, after its operands.
    fn cost(&mut self, value: Value) -> Option<u32> {
        let mut todo = vec![value];
        while let Some(&value) = todo.last() {
            if self.costs[value].is_none() {
                let before = todo.len();
                todo.extend(self.costly_operands(value));
                if todo.len() > before {
                    continue;
                }
                self.costs[value] = Some(self.find_cost(value).unwrap_or(u32::MAX));
            }
            todo.pop();
        }
        self.costs[value].filter(|&cost| cost != u32::MAX)
    }

    /// Operands that have to be looked at before a value.
    fn costly_operands(&self, value: Value) -> impl Iterator<Item = Value> {
        let inst = self.func.def_inst(value).filter(|&inst| {
            !self.shapes.of(value).is_uniform()
                && rematerialize::cost(self.func, &self.func.insts[inst]).is_some()
        });
        let args = inst
            .into_iter()
            .flat_map(|inst| &self.func.insts[inst].args);
        args.copied().filter(|&arg| self.costs[arg].is_none())
    }

    fn find_cost(&self, value: Value) -> Option<u32> {
        if self.shapes.of(value).is_uniform() {
            return Some(0);
        }
        let inst = self.func.def_inst(value)?;
        let data = &self.func.insts[inst];
        let def = self.cfg.def_block[value]?;
        let mut sum = rematerialize::cost(self.func, data)?;
        for &arg in &data.args {
            // What varies only behind a divergent loop cannot be rematerialized.
            if self.is_varying(arg, def) && self.shapes.of(arg).is_uniform() {
                return None;
            }
            sum += self.costs[arg].filter(|&cost| cost != u32::MAX)?;
            if sum > CHEAP_IN_ONE_LANE {
                return None;
            }
        }
        Some(sum)
    }

    pub(super) fn assign_slots(&mut self) {
        let mut cross = Crossings::default();
        for &entry in &self.cut.entries {
            let plan = &self.plans[&entry];
            let exits = plan
                .exits
                .iter()
                .map(|&exit| self.passed_on(exit))
                .collect();
            cross.regions.insert(
                entry,
                Crossing {
                    loads: plan.loads.clone(),
                    exits,
                },
            );
        }
        for &value in &self.saved {
            cross.home.insert(value, self.home(value));
        }
        for &entry in &self.cut.entries[1..] {
            for &param in &self.func.blocks[entry].params {
                if self.shapes.of(param) == Shape::Varying {
                    cross.params.insert(param, entry);
                }
            }
        }
        let types = |value| self.func.ty(value);
        self.slots = cross.assign(types, Arc::make_mut(&mut self.table));
        for (node, slot) in self.slots.clone() {
            if let Node::Kept(value) = node {
                let home = self.home(value);
                self.stores.entry(home).or_default().push((slot, value));
                if self.is_entry_param(value) {
                    self.plan(home).loads.insert(value);
                }
            }
        }
    }
}
