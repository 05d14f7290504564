//! Cuts a kernel at its barriers into a skeleton and regions.
//!
//! `regions.rs` says which blocks make a region. This file decides what becomes of values, by where they are
//! used and whether all work-items of the group have the same (*uniform*; [`Across::Group`]):
//!
//! - used in their region only: nothing; the region's code computes them;
//! - uniform, used elsewhere, computed from uniform values by pure operations: computed in the skeleton as well;
//! - uniform, used elsewhere, else (loaded, or merged inside the region): a result of the region;
//! - varying, used elsewhere, cheap to compute again from ids and uniform values: computed again where used;
//! - varying, used elsewhere, else: stored to a *slot* of the barrier context where its region ends, loaded where regions
//!   that use it begin (`slots.rs`). A private array that outlives a region is a slot itself.
//!
//! Parameters of a region's first block are parameters of the skeleton's block when uniform, so that a loop counter around a
//! barrier costs nothing, and have slots when varying, stored on the way in.
//!
//! A work-item that returns where others go on to a barrier has broken the rules for barriers, but many kernels begin with
//! `if (id >= n) return`. So a branch that may vary, one side of which does nothing but return, leaves a mark in the
//! context, and regions after it run for work-items that are still *alive*. If the first one is not, none is taken to be.
//!
//! Cost: linear, but for the number of values that live across cuts times regions.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::{EntityRef, SecondaryMap, packed_option::PackedOption};

use super::regions::{Cut, cut};
use super::slots::{Crossing, Crossings, Node, Way};
use super::{Region, Remark, Split};
use crate::analysis::{Across, Cfg, Shape, Shapes};
use crate::ir::{
    BinOp, Block, BlockCall, Builder, ConvertOp, FuncId, Function, Inst, Op, Query, Scalar, Scope,
    Slot, SlotId, SourceLoc, Terminator, Type, UnOp, Value,
};
use crate::{Diagnostic, LaunchKey};

/// Values computed again in another region cost at most this many instructions.
const CHEAP: u32 = 8;

pub(super) fn split(kernel: &Function, key: &LaunchKey) -> Result<Split, Diagnostic> {
    let has_barrier = kernel.layout.iter().any(|&block| {
        let mut insts = kernel.blocks[block].insts.iter();
        insts.any(|&inst| matches!(kernel.insts[inst].op, Op::Barrier(_)))
    });
    if has_barrier {
        let cut = cut(kernel);
        Splitter::new(&cut, key).run()
    } else {
        Ok(whole(kernel))
    }
}

/// A kernel without barriers is one region.
fn whole(kernel: &Function) -> Split {
    let params: Vec<Type> = kernel.params().iter().map(|&p| kernel.ty(p)).collect();
    let mut skeleton = Function::new(kernel.name.clone(), &params, &[]);
    skeleton.locals = kernel.locals.clone();
    let args = skeleton.params().to_vec();
    let entry = skeleton.entry();
    let mut b = Builder::new(&mut skeleton, entry);
    b.ins(Op::Call(FuncId::from_u32(0)), &args, &[]);
    b.ret(&[]);
    Split {
        skeleton,
        regions: vec![Region {
            scalar: kernel.clone(),
            vector: None,
            guard: None,
            masked: None,
        }],
        remarks: Vec::new(),
    }
}

/// A region while it is planned.
#[derive(Default)]
struct Plan {
    /// Its blocks in reverse post-order, and those that end it.
    blocks: Vec<Block>,
    exits: Vec<Block>,
    /// Uniform values from elsewhere, its parameters.
    inputs: BTreeSet<Value>,
    /// Varying values from elsewhere, loaded or computed again.
    loads: BTreeSet<Value>,
    again: BTreeSet<Value>,
    /// Uniform values that the skeleton cannot compute.
    results: BTreeSet<Value>,
}

struct Splitter<'a> {
    cut: &'a Cut,
    func: &'a Function,
    cfg: Cfg,
    shapes: Shapes,
    plans: BTreeMap<Block, Plan>,
    /// Uniform values that the skeleton computes.
    in_skeleton: BTreeSet<Value>,
    /// Private arrays that outlive a region.
    arrays: BTreeMap<Value, SlotId>,
    /// Varying values, but for parameters of first blocks, that outlive their region.
    saved: BTreeSet<Value>,
    /// The slots of values and parameters.
    slots: BTreeMap<Node, SlotId>,
    /// Blocks that end by returning or going on, and whether going on is their first target.
    returns: BTreeMap<Block, bool>,
    /// The slot that says whether a work-item is alive, and the regions that ask.
    alive: Option<SlotId>,
    guarded: BTreeSet<Block>,
    costs: SecondaryMap<Value, Option<u32>>,
    table: cranelift_entity::PrimaryMap<SlotId, Slot>,
    remarks: Vec<Remark>,
}

impl<'a> Splitter<'a> {
    fn new(cut: &'a Cut, key: &LaunchKey) -> Splitter<'a> {
        let func = &cut.func;
        let cfg = Cfg::new(func);
        let shapes = Shapes::assuming(func, &cfg, key, Across::Group, |block| cut.outer[block]);
        Splitter {
            cut,
            func,
            cfg,
            shapes,
            plans: BTreeMap::new(),
            in_skeleton: BTreeSet::new(),
            arrays: BTreeMap::new(),
            saved: BTreeSet::new(),
            slots: BTreeMap::new(),
            returns: BTreeMap::new(),
            alive: None,
            guarded: BTreeSet::new(),
            costs: SecondaryMap::with_capacity(func.values.len()),
            table: cranelift_entity::PrimaryMap::new(),
            remarks: Vec::new(),
        }
    }

    fn run(mut self) -> Result<Split, Diagnostic> {
        self.find_exits();
        self.find_early_returns();
        self.place_private_arrays();
        self.note_uses();
        self.assign_slots();
        let mut regions = Vec::new();
        let mut called = BTreeMap::new();
        for &entry in &self.cut.entries {
            let body = self.body(entry);
            if has_effect(&body) {
                called.insert(entry, regions.len());
                regions.push(Region {
                    scalar: body,
                    vector: None,
                    guard: None,
                    masked: None,
                });
            }
        }
        let skeleton = self.skeleton(&called);
        for region in &mut regions {
            region.scalar.locals = skeleton.locals.clone();
            region.scalar.slots = skeleton.slots.clone();
        }
        let saved = self.table.values().filter(|slot| slot.bytes == 0).count();
        let arrays = self.table.len() - saved;
        self.remarks.push(Remark::new(
            SourceLoc::default(),
            format!(
                "barriers make {} regions; {saved} values and {arrays} private arrays of each work-item are kept across them",
                regions.len(),
            ),
        ));
        Ok(Split {
            skeleton,
            regions,
            remarks: self.remarks,
        })
    }

    fn owner(&self, block: Block) -> Block {
        self.cut.owner[block].expect("every block is in a region")
    }

    /// The region that defines a value.
    fn home(&self, value: Value) -> Block {
        self.owner(self.cfg.def_block[value].expect("used values are defined"))
    }

    fn is_entry(&self, block: Block) -> bool {
        self.cut.owner[block] == Some(block)
    }

    fn is_varying(&self, value: Value, user: Block) -> bool {
        self.shapes.at(self.func, &self.cfg, value, user) == Shape::Varying
    }

    fn is_kernel_param(&self, value: Value) -> bool {
        self.func.params().contains(&value)
    }

    /// The parameter is of the first block of a region other than the function's.
    fn is_entry_param(&self, value: Value) -> bool {
        self.func.def_inst(value).is_none()
            && !self.is_kernel_param(value)
            && self.cfg.def_block[value].is_some_and(|block| self.is_entry(block))
    }

    /// Whether a value of this or another region is there when control leaves its region, or passes another, at `exit`.
    fn defined_at(&self, value: Value, exit: Block) -> bool {
        self.cfg.def_block[value].is_none_or(|def| {
            self.owner(def) != self.owner(exit) || self.cfg.dominators.dominates(def, exit)
        })
    }

    fn find_exits(&mut self) {
        for &block in &self.cfg.order {
            let leaves = match &self.func.blocks[block].term {
                Terminator::Ret(_) | Terminator::Unreachable => true,
                term => term.targets().any(|call| self.is_entry(call.block)),
            };
            let plan = self.plans.entry(self.owner(block)).or_default();
            plan.blocks.push(block);
            if leaves || self.cut.outer[block] {
                plan.exits.push(block);
            }
        }
        for (&entry, plan) in &self.plans {
            if plan.exits.len() > 1 {
                let loc = self.func.blocks[entry].insts.first();
                self.remarks.push(Remark::new(
                    loc.map(|&inst| self.func.insts[inst].loc)
                        .unwrap_or_default(),
                    "work-items may leave for a barrier from several places; the first one decides",
                ));
            }
        }
    }

    fn find_early_returns(&mut self) {
        let mut meets_barrier: SecondaryMap<Block, bool> = SecondaryMap::new();
        let mut todo: Vec<Block> = self
            .cfg
            .order
            .iter()
            .copied()
            .filter(|&block| self.cut.barriers[block].is_some())
            .collect();
        while let Some(block) = todo.pop() {
            if !std::mem::replace(&mut meets_barrier[block], true) {
                todo.extend(&self.cfg.preds[block]);
            }
        }
        for &block in &self.cfg.order {
            let Terminator::CondBr { cond, then, els } = &self.func.blocks[block].term else {
                continue;
            };
            if !self.cut.outer[block] || !self.is_varying(*cond, block) {
                continue;
            }
            let onward = match (self.just_returns(then.block), self.just_returns(els.block)) {
                (false, true) => then.block,
                (true, false) => els.block,
                _ => continue,
            };
            if meets_barrier[onward] {
                self.returns.insert(block, onward == then.block);
                let mut todo = vec![onward];
                while let Some(region) = todo.pop() {
                    if self.guarded.insert(region) {
                        todo.extend(self.next_regions(region));
                    }
                }
            }
        }
        if !self.returns.is_empty() {
            self.alive = Some(self.table.push(Slot {
                ty: Type::I1,
                bytes: 0,
                align: 0,
            }));
        }
    }

    /// Whether nothing happens from here to the end of the kernel.
    fn just_returns(&self, mut block: Block) -> bool {
        // More blocks than there are make a loop.
        for _ in 0..self.func.layout.len() {
            let data = &self.func.blocks[block];
            if data
                .insts
                .iter()
                .any(|&inst| self.func.insts[inst].op.has_side_effect())
            {
                return false;
            }
            match &data.term {
                Terminator::Br(call) if self.cut.barriers[block].is_none() => block = call.block,
                Terminator::Ret(_) => return true,
                _ => return false,
            }
        }
        false
    }

    /// Private arrays that are used in several regions, or in one that runs several times, become slots.
    fn place_private_arrays(&mut self) {
        let users = self.users();
        for &inst in &self.func.blocks[self.func.entry()].insts.clone() {
            let data = &self.func.insts[inst];
            let Op::Alloca { size, align } = data.op else {
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
                let slot = self.table.push(Slot {
                    ty: Type::PTR,
                    bytes: size.next_multiple_of(align),
                    align,
                });
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

    /// Whether a region can run more than once.
    fn repeats(&self, region: Block) -> bool {
        let mut seen = BTreeSet::new();
        let mut todo = vec![region];
        while let Some(at) = todo.pop() {
            for next in self.next_regions(at) {
                if next == region {
                    return true;
                }
                if seen.insert(next) {
                    todo.push(next);
                }
            }
        }
        false
    }

    fn next_regions(&self, region: Block) -> Vec<Block> {
        let exits = self.plans[&region].exits.iter();
        exits.flat_map(|&exit| self.func.successors(exit)).collect()
    }

    /// Decides for every use of a value outside its region how the value gets there.
    fn note_uses(&mut self) {
        let entries = self.cut.entries.clone();
        for entry in entries {
            let blocks = self.plans[&entry].blocks.clone();
            for block in blocks {
                for &inst in &self.func.blocks[block].insts {
                    for &arg in &self.func.insts[inst].args {
                        self.use_in_region(entry, arg, block);
                    }
                }
                self.note_terminator(entry, block);
            }
        }
    }

    fn note_terminator(&mut self, region: Block, block: Block) {
        let term = &self.func.blocks[block].term;
        if !self.plans[&region].exits.contains(&block) {
            let mut values = Vec::new();
            term.for_each_value(|value| values.push(value));
            for value in values {
                self.use_in_region(region, value, block);
            }
            return;
        }
        if let Terminator::CondBr { cond: value, .. } | Terminator::Switch { value, .. } = term {
            let value = *value;
            if self.returns.contains_key(&block) {
                self.use_in_region(region, value, block);
            }
            self.use_in_skeleton(value, block);
        }
        let term = &self.func.blocks[block].term;
        for call in term.targets() {
            let params = &self.func.blocks[call.block].params;
            for (&param, &arg) in params.iter().zip(&call.args) {
                if self.shapes.of(param) == Shape::Varying {
                    self.use_in_region(region, arg, block);
                } else {
                    self.use_in_skeleton(arg, block);
                }
            }
        }
    }

    fn plan(&mut self, region: Block) -> &mut Plan {
        self.plans
            .get_mut(&region)
            .expect("every region has a plan")
    }

    fn use_in_region(&mut self, region: Block, value: Value, user: Block) {
        if self.func.as_const(value).is_some() {
            return;
        }
        if self.is_alloca(value) {
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
            self.use_in_skeleton(value, user);
        } else if !self.shapes.of(value).is_uniform()
            && self.cost(value).is_some_and(|cost| cost <= CHEAP)
        {
            // What varies only for those after a divergent loop took that loop to compute, and is saved below.
            if self.plan(region).again.insert(value) {
                let inst = self.func.def_inst(value).expect("parameters are not cheap");
                for &arg in &self.func.insts[inst].args {
                    let def = self.cfg.def_block[value].expect("defined");
                    // The operand is as uniform as it was for the value itself.
                    self.use_in_region(region, arg, def);
                }
            }
        } else {
            self.plan(region).loads.insert(value);
            if !self.is_entry_param(value) {
                self.saved.insert(value);
            }
        }
    }

    fn is_alloca(&self, value: Value) -> bool {
        matches!(self.func.def_op(value), Some(Op::Alloca { .. }))
    }

    /// A value the skeleton needs: a condition, a uniform argument, something it passes on.
    fn use_in_skeleton(&mut self, value: Value, user: Block) {
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
            for &arg in &self.func.insts[inst].args {
                self.use_in_skeleton(arg, def);
            }
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
                self.use_in_region(region, value, user);
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

    /// Instructions to compute a varying value from ids and uniform values; `None` if it takes more
    /// than arithmetic.
    fn cost(&mut self, value: Value) -> Option<u32> {
        if let Some(cost) = self.costs[value] {
            return (cost != u32::MAX).then_some(cost);
        }
        // Found again on the way, it depends on itself.
        self.costs[value] = Some(u32::MAX);
        let cost = self.find_cost(value);
        self.costs[value] = Some(cost.unwrap_or(u32::MAX));
        cost
    }

    fn find_cost(&mut self, value: Value) -> Option<u32> {
        if self.shapes.of(value).is_uniform() {
            return Some(0);
        }
        let inst = self.func.def_inst(value)?;
        let data = &self.func.insts[inst];
        let base = match &data.op {
            Op::DimQuery(..) => 1,
            Op::Query(Query::GlobalLinearId) => 3,
            Op::Query(_) => 1,
            Op::Alloca { .. } => 0,
            Op::PtrAdd | Op::Select | Op::ICmp(_) => 1,
            Op::Unary(_) if !self.func.ty(value).scalar.is_float() => 1,
            Op::Binary(op, _) if !self.func.ty(value).scalar.is_float() => match op {
                BinOp::SDiv | BinOp::UDiv | BinOp::SRem | BinOp::URem => return None,
                _ => 1,
            },
            Op::Convert(
                ConvertOp::SExt | ConvertOp::ZExt | ConvertOp::Trunc | ConvertOp::Bitcast,
                _,
            ) => 1,
            _ => return None,
        };
        let def = self.cfg.def_block[value]?;
        let mut sum = base;
        for &arg in &data.args {
            // What varies only for those after a divergent loop is not to be had again.
            if self.is_varying(arg, def) && self.shapes.of(arg).is_uniform() {
                return None;
            }
            sum += self.cost(arg)?;
            if sum > CHEAP {
                return None;
            }
        }
        Some(sum)
    }

    fn assign_slots(&mut self) {
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
        self.slots = cross.assign(types, &mut self.table);
        for node in self.slots.keys().copied().collect::<Vec<_>>() {
            if let Node::Kept(value) = node
                && self.is_entry_param(value)
            {
                let home = self.home(value);
                self.plan(home).loads.insert(value);
            }
        }
    }

    /// The ways out of a region at `exit`, with the varying values handed on.
    fn passed_on(&self, exit: Block) -> Vec<Way> {
        let targets = self.func.blocks[exit].term.targets();
        targets
            .map(|call| {
                let params = self.func.blocks[call.block].params.iter();
                let pairs = params.zip(&call.args).map(|(&param, &arg)| (param, arg));
                let varying = pairs.filter(|&(param, _)| self.shapes.of(param) == Shape::Varying);
                (call.block, varying.collect())
            })
            .collect()
    }

    /// What a region loads a value from.
    fn load_node(&self, region: Block, value: Value) -> Node {
        if self.is_entry_param(value)
            && (self.home(value) == region || !self.slots.contains_key(&Node::Kept(value)))
        {
            Node::Handed(value)
        } else {
            Node::Kept(value)
        }
    }

    /// The code of a region for one work-item.
    fn body(&self, entry: Block) -> Function {
        let plan = &self.plans[&entry];
        let params: Vec<Type> = plan.inputs.iter().map(|&v| self.func.ty(v)).collect();
        let mut results = Vec::new();
        if plan.exits.len() > 1 {
            results.push(Type::I32);
        }
        results.extend(plan.results.iter().map(|&v| self.func.ty(v)));
        let index = self.cut.entries.iter().position(|&e| e == entry);
        let name = format!("{}.{}", self.func.name, index.unwrap_or(0));
        let mut out = Function::new(name, &params, &results);
        out.locals = self.func.locals.clone();
        out.slots = self.table.clone();
        let mut copy = Copier {
            splitter: self,
            plan,
            map: SecondaryMap::with_capacity(self.func.values.len()),
            blocks: SecondaryMap::new(),
            out,
        };
        copy.run(entry);
        copy.out
    }

    /// The code of the work-group; `called` numbers the regions that have any.
    fn skeleton(&self, called: &BTreeMap<Block, usize>) -> Function {
        let func = self.func;
        let params: Vec<Type> = func.params().iter().map(|&p| func.ty(p)).collect();
        let mut out = Function::new(func.name.clone(), &params, &[]);
        out.locals = func.locals.clone();
        out.slots = self.table.clone();
        let mut map: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
        let mut blocks: BTreeMap<Block, Block> = BTreeMap::new();
        for &entry in &self.cut.entries {
            let block = if entry == func.entry() {
                for (&old, &new) in func.params().iter().zip(out.params()) {
                    map[old] = new.into();
                }
                out.entry()
            } else {
                let block = out.add_block();
                for &param in &func.blocks[entry].params {
                    if self.shapes.of(param) != Shape::Varying {
                        map[param] = out.add_param(block, func.ty(param)).into();
                    }
                }
                block
            };
            blocks.insert(entry, block);
        }
        for &entry in &self.cut.entries {
            let plan = &self.plans[&entry];
            let mut b = Builder::new(&mut out, blocks[&entry]);
            let mut which = None;
            if let Some(&region) = called.get(&entry) {
                let args: Vec<Value> = plan
                    .inputs
                    .iter()
                    .map(|&v| map[v].expect("live in"))
                    .collect();
                let mut types: Vec<Type> = plan.results.iter().map(|&v| func.ty(v)).collect();
                let several = plan.exits.len() > 1;
                if several {
                    types.insert(0, Type::I32);
                }
                let call = b.ins(Op::Call(FuncId::new(region)), &args, &types);
                let new = b.func.insts[call].results.clone();
                which = several.then(|| new[0]);
                for (&old, &new) in plan.results.iter().zip(&new[usize::from(several)..]) {
                    map[old] = new.into();
                }
            }
            for &block in &plan.blocks {
                for &inst in &func.blocks[block].insts {
                    let data = &func.insts[inst];
                    if data.results.len() != 1 || !self.in_skeleton.contains(&data.results[0]) {
                        continue;
                    }
                    let args: Vec<Value> = data
                        .args
                        .iter()
                        .map(|&arg| uniform_value(func, &mut b, &map, arg))
                        .collect();
                    b.loc = data.loc;
                    let new = b.val(data.op.clone(), &args, func.ty(data.results[0]));
                    map[data.results[0]] = new.into();
                }
            }
            match which {
                None => match plan.exits.first() {
                    Some(&exit) => self.end_block(&mut b, &mut map, &blocks, exit),
                    // The region loops for ever.
                    None => b.terminate(Terminator::Unreachable),
                },
                Some(which) => {
                    let exits: Vec<Block> = plan.exits.iter().map(|_| b.new_block(&[])).collect();
                    let cases = (1..exits.len())
                        .map(|i| (i as u64, BlockCall::new(exits[i], &[])))
                        .collect();
                    b.terminate(Terminator::Switch {
                        value: which,
                        cases,
                        default: BlockCall::new(exits[0], &[]),
                    });
                    for (&exit, &block) in plan.exits.iter().zip(&exits) {
                        b.switch_to(block);
                        self.end_block(&mut b, &mut map, &blocks, exit);
                    }
                }
            }
        }
        out.layout = out.reverse_post_order();
        out
    }

    /// Ends a block of the skeleton as block `exit` of the kernel ends.
    fn end_block(
        &self,
        b: &mut Builder<'_>,
        map: &mut SecondaryMap<Value, PackedOption<Value>>,
        blocks: &BTreeMap<Block, Block>,
        exit: Block,
    ) {
        let func = self.func;
        if let Some(fence) = self.cut.barriers[exit]
            && fence.scope > Scope::WorkGroup
        {
            b.ins(Op::Fence(fence), &[], &[]);
        }
        let mut term = func.blocks[exit].term.clone();
        if let Terminator::CondBr { cond: value, .. } | Terminator::Switch { value, .. } = &mut term
        {
            *value = uniform_value(func, b, map, *value);
        }
        for call in term.targets_mut() {
            let params = &func.blocks[call.block].params;
            let args: Vec<Value> = params
                .iter()
                .zip(&call.args)
                .filter(|&(&param, _)| self.shapes.of(param) != Shape::Varying)
                .map(|(_, &arg)| uniform_value(func, b, map, arg))
                .collect();
            *call = BlockCall::new(blocks[&call.block], &args);
        }
        if matches!(term, Terminator::Unreachable) {
            term = Terminator::Ret(smallvec::SmallVec::new());
        }
        b.terminate(term);
    }
}

fn uniform_value(
    func: &Function,
    b: &mut Builder<'_>,
    map: &SecondaryMap<Value, PackedOption<Value>>,
    value: Value,
) -> Value {
    match func.as_const(value) {
        Some(bits) => b.iconst(func.ty(value), bits),
        None => map[value].expect("the skeleton has what it uses"),
    }
}

/// Whether running a region's code makes any difference.
fn has_effect(body: &Function) -> bool {
    !body.results.is_empty()
        || body.layout.iter().any(|&block| {
            let mut insts = body.blocks[block].insts.iter();
            insts.any(|&inst| body.insts[inst].op.has_side_effect())
        })
}

/// Copies a region's blocks to a function of their own.
struct Copier<'a> {
    splitter: &'a Splitter<'a>,
    plan: &'a Plan,
    map: SecondaryMap<Value, PackedOption<Value>>,
    blocks: SecondaryMap<Block, PackedOption<Block>>,
    out: Function,
}

impl Copier<'_> {
    fn run(&mut self, entry: Block) {
        let func = self.splitter.func;
        let mut first = self.out.entry();
        for (&old, &new) in self.plan.inputs.iter().zip(self.out.params()) {
            self.map[old] = new.into();
        }
        self.private_arrays(first);
        if let Some(alive) = self.splitter.alive
            && self.splitter.guarded.contains(&entry)
        {
            first = self.only_alive(first, alive);
        }
        self.blocks[entry] = first.into();
        for &block in &self.plan.blocks {
            if block != entry {
                let new = self.out.add_block();
                self.blocks[block] = new.into();
                for &param in &func.blocks[block].params {
                    self.map[param] = self.out.add_param(new, func.ty(param)).into();
                }
            }
        }
        for &value in &self.plan.loads {
            let node = self.splitter.load_node(entry, value);
            let slot = self.splitter.slots[&node];
            let ty = func.ty(value);
            let new = Builder::new(&mut self.out, first).val(Op::ContextLoad(slot), &[], ty);
            self.map[value] = new.into();
        }
        // Definitions before uses: values are numbered so only by chance.
        for &value in &self.plan.again {
            self.compute_again(first, value);
        }
        for &block in &self.plan.blocks {
            self.copy_block(block);
        }
    }

    /// Ends a block by returning for work-items that are not alive; the block for the others.
    fn only_alive(&mut self, block: Block, alive: SlotId) -> Block {
        let results = self.out.results.clone();
        let mut b = Builder::new(&mut self.out, block);
        let is_alive = b.val(Op::ContextLoad(alive), &[], Type::I1);
        let (go_on, stop) = (b.new_block(&[]), b.new_block(&[]));
        b.cond_br(is_alive, go_on, &[], stop, &[]);
        b.switch_to(stop);
        let zeros: Vec<Value> = results.iter().map(|&ty| b.iconst(ty, 0)).collect();
        b.ret(&zeros);
        go_on
    }

    fn private_arrays(&mut self, first: Block) {
        let func = self.splitter.func;
        for &inst in &func.blocks[func.entry()].insts {
            let data = &func.insts[inst];
            if !matches!(data.op, Op::Alloca { .. }) {
                continue;
            }
            let op = match self.splitter.arrays.get(&data.results[0]) {
                Some(&slot) => Op::ContextLoad(slot),
                None => data.op.clone(),
            };
            let new = Builder::new(&mut self.out, first).val(op, &[], Type::PTR);
            self.map[data.results[0]] = new.into();
        }
    }

    fn value(&mut self, block: Block, value: Value) -> Value {
        let func = self.splitter.func;
        match (self.map[value].expand(), func.as_const(value)) {
            (Some(new), _) => new,
            (None, Some(bits)) => Builder::new(&mut self.out, block).iconst(func.ty(value), bits),
            (None, None) => self.compute_again(block, value),
        }
    }

    fn compute_again(&mut self, block: Block, value: Value) -> Value {
        if let Some(new) = self.map[value].expand() {
            return new;
        }
        let func = self.splitter.func;
        let inst = func.def_inst(value).expect("cheap values are instructions");
        let data = &func.insts[inst];
        let args: Vec<Value> = data
            .args
            .iter()
            .map(|&arg| self.value(block, arg))
            .collect();
        let mut b = Builder::new(&mut self.out, block);
        b.loc = data.loc;
        let new = b.val(data.op.clone(), &args, func.ty(value));
        self.map[value] = new.into();
        new
    }

    fn copy_block(&mut self, block: Block) {
        let func = self.splitter.func;
        let to = self.blocks[block].expect("the region's blocks are made");
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            if matches!(data.op, Op::Alloca { .. } | Op::Const(_)) {
                continue;
            }
            let args: Vec<Value> = data.args.iter().map(|&arg| self.value(to, arg)).collect();
            let types: Vec<Type> = data.results.iter().map(|&r| func.ty(r)).collect();
            let mut b = Builder::new(&mut self.out, to);
            b.loc = data.loc;
            let new = b.ins(data.op.clone(), &args, &types);
            let new = self.out.insts[new].results.clone();
            for (&old, &new) in data.results.iter().zip(&new) {
                self.map[old] = new.into();
            }
        }
        if self.plan.exits.contains(&block) {
            self.leave(block, to);
            return;
        }
        let mut term = func.blocks[block].term.clone();
        term.for_each_value_mut(|value| *value = self.value(to, *value));
        for call in term.targets_mut() {
            call.block = self.blocks[call.block].expect("inner jumps stay in the region");
        }
        self.out.blocks[to].term = term;
    }

    /// Says whether the work-item is alive from here on, if it is decided here.
    fn mark_alive(&mut self, block: Block, to: Block) {
        let splitter = self.splitter;
        let Some(alive) = splitter.alive else {
            return;
        };
        let value = match (
            splitter.returns.get(&block),
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

    /// Ends the region: stores what outlives it and what is handed on, returns which exit it was and what is uniform.
    fn leave(&mut self, block: Block, to: Block) {
        let splitter = self.splitter;
        let func = splitter.func;
        let region = splitter.owner(block);
        let mut stores: BTreeMap<SlotId, Value> = BTreeMap::new();
        for (&node, &slot) in &splitter.slots {
            if let Node::Kept(value) = node
                && splitter.home(value) == region
                && splitter.defined_at(value, block)
                && self.map[value].is_some()
            {
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
            let which = self.plan.exits.iter().position(|&exit| exit == block);
            let which = which.unwrap_or(0) as u64;
            results.push(Builder::new(&mut self.out, to).iconst(Type::I32, which));
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
