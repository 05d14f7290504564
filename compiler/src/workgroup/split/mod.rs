//! Cuts a kernel at its barriers into a skeleton and regions.
//!
//! `regions.rs` says which blocks make a region, `tail_duplication.rs` sees to blocks that several
//! would have. `values.rs` decides what becomes of values, by where they are used and whether all
//! work-items of the group have the same (*uniform*; [`Across::Group`]):
//!
//! - used in their region only: nothing; the region's code computes them;
//! - uniform, used elsewhere, computed from uniform values by pure operations: computed in the
//!   skeleton as well;
//! - uniform, used elsewhere, else (loaded, or merged inside the region): a result of the region;
//! - varying, used elsewhere, cheap to compute from ids and uniform values: rematerialized where
//!   used;
//! - varying, used elsewhere, else: stored to a *slot* of the barrier context where its region
//!   ends, loaded where regions that use it begin (`slots.rs`). A private array that outlives a
//!   region is a slot itself.
//!
//! Parameters of a region's first block are parameters of the skeleton's block when uniform, so
//! that a loop counter around a barrier costs nothing, and have slots when varying, stored where
//! control comes in.
//!
//! `early.rs` is for work-items that return before a barrier; `body.rs` and `skeleton.rs` make the
//! code.
//!
//! Cost: linear, but for the number of values that live across cuts times regions.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cranelift_entity::{PrimaryMap, SecondaryMap};

mod body;
mod early;
mod regions;
mod skeleton;
mod slots;
mod tail_duplication;
mod values;

pub(super) use regions::find_regions;
use regions::{Cut, cut};
use slots::{Edge, Node};

use super::collectives::is_collective;
use super::{Region, Split};
use crate::analysis::{Across, Cfg, Shape, Shapes};
use crate::diagnostic::{Diagnostic, Remark};
use crate::ir::{
    Block, Builder, Cloner, FuncId, Function, Op, Slot, SlotId, SourceLoc, Terminator, Type, Value,
    ValueDef,
};
use crate::launch::LaunchKey;

fn has_barrier(kernel: &Function) -> bool {
    kernel.layout.iter().any(|&block| {
        let mut insts = kernel.blocks[block].insts.iter();
        insts.any(|&inst| matches!(kernel.insts[inst].op, Op::Barrier(_)))
    })
}

/// What [`split`] finds.
pub(super) enum Found {
    Split(Box<Split>),
    /// A branch here is divergent although barriers depend on it, and is not a return that is seen
    /// to.
    DivergentBarrier(SourceLoc),
}

/// Splits a kernel. Where barriers may be divergent, it only says so; unless that is `allowed`:
/// then the first work-item decides.
pub(super) fn split(
    kernel: &Function,
    key: &LaunchKey,
    allowed: bool,
) -> Result<Found, Diagnostic> {
    if !has_barrier(kernel) {
        return Ok(Found::Split(whole(kernel).into()));
    }
    let cut = cut(kernel);
    let mut splitter = Splitter::new(&cut, key);
    splitter.find_exits();
    splitter.find_early_returns();
    match splitter.divergent_barrier() {
        Some(loc) if !allowed => Ok(Found::DivergentBarrier(loc)),
        _ => Ok(Found::Split(splitter.run()?.into())),
    }
}

/// A kernel without barriers is one region.
fn whole(kernel: &Function) -> Split {
    let params: Vec<Type> = kernel.params().iter().map(|&p| kernel.ty(p)).collect();
    let mut skeleton = Function::new(kernel.name.clone(), &params, &[]);
    skeleton.locals = kernel.locals.clone();
    let mut region = kernel.clone();
    keep_private_objects(&mut region);
    skeleton.slots = region.slots.clone();
    let args = skeleton.params().to_vec();
    let entry = skeleton.entry();
    let mut b = Builder::new(&mut skeleton, entry);
    b.ins(Op::Call(FuncId::from_u32(0)), &args, &[]);
    b.ret(&[]);
    Split {
        skeleton,
        regions: vec![Region {
            scalar: region,
            vector: None,
            jam: None,
            guard: None,
            masked: None,
            partial: None,
            masked_for_all: false,
            has_outside: false,
        }],
        carry: None,
        remarks: Vec::new(),
    }
}

/// Where a kernel asks whether pointers are private, makes its private objects slots: of what is in
/// the context addresses say that it is private, of what is elsewhere they do not. In kernels with
/// barriers, [`Splitter::allocate_private_arrays`] sees to that.
fn keep_private_objects(kernel: &mut Function) {
    let asks = kernel.layout.iter().any(|&block| {
        let mut insts = kernel.blocks[block].insts.iter();
        insts.any(|&inst| matches!(kernel.insts[inst].op, Op::InSpace(_)))
    });
    if !asks {
        return;
    }
    for inst in kernel.blocks[kernel.entry()].insts.clone() {
        if let Some(slot) = array_slot(&kernel.insts[inst].op) {
            let slot = Arc::make_mut(&mut kernel.slots).push(slot);
            kernel.insts[inst].op = Op::ContextLoad(slot);
        }
    }
}

/// A slot for the private object that an instruction makes, if it makes one.
fn array_slot(op: &Op) -> Option<Slot> {
    let &Op::Alloca {
        size,
        align,
        interleaving,
    } = op
    else {
        return None;
    };
    Some(Slot {
        ty: Type::PTR,
        bytes: size.next_multiple_of(align),
        align,
        interleaving,
    })
}

/// A region while it is planned.
#[derive(Default)]
struct Plan {
    /// Its blocks in reverse post-order, and those that end it.
    blocks: Vec<Block>,
    exits: Vec<Block>,
    /// Private objects that it uses.
    objects: BTreeSet<Value>,
    /// Uniform values from elsewhere, its parameters.
    inputs: BTreeSet<Value>,
    /// Varying values from elsewhere, loaded or rematerialized.
    loads: BTreeSet<Value>,
    rematerialized: BTreeSet<Value>,
    /// Uniform values that the skeleton cannot compute.
    results: BTreeSet<Value>,
}

struct Splitter<'a> {
    cut: &'a Cut,
    func: &'a Function,
    key: &'a LaunchKey,
    cfg: Cfg,
    shapes: Shapes,
    plans: BTreeMap<Block, Plan>,
    /// The number of each exit among those of its region.
    exit_number: SecondaryMap<Block, Option<usize>>,
    /// Uniform values that the skeleton computes.
    in_skeleton: BTreeSet<Value>,
    /// Private arrays that outlive a region.
    arrays: BTreeMap<Value, SlotId>,
    /// Varying values, but for parameters of first blocks, that outlive their region.
    saved: BTreeSet<Value>,
    /// The slots of values and parameters.
    slots: BTreeMap<Node, SlotId>,
    /// The slots of values that each region defines and stores where it ends.
    stores: BTreeMap<Block, Vec<(SlotId, Value)>>,
    /// Blocks that end with an early return, and whether their first target is the other one.
    early_returns: BTreeMap<Block, bool>,
    /// The slot that says whether a work-item is alive, and the regions that run only for
    /// work-items that are.
    alive: Option<SlotId>,
    for_alive: BTreeSet<Block>,
    costs: SecondaryMap<Value, Option<u32>>,
    /// Found when first asked for.
    in_chunks: OnceCell<Shapes>,
    /// What all regions have.
    table: Arc<PrimaryMap<SlotId, Slot>>,
    remarks: Vec<Remark>,
}

/// The ending of a noun after a number.
fn plural(number: usize) -> &'static str {
    if number == 1 { "" } else { "s" }
}

impl<'a> Splitter<'a> {
    fn new(cut: &'a Cut, key: &'a LaunchKey) -> Splitter<'a> {
        let func = &cut.func;
        let cfg = Cfg::new(func);
        let shapes =
            Shapes::with_uniform_branches(func, &cfg, key, Across::Group, |block| cut.outer[block]);
        Splitter {
            cut,
            func,
            cfg,
            shapes,
            plans: BTreeMap::new(),
            exit_number: SecondaryMap::new(),
            in_skeleton: BTreeSet::new(),
            arrays: BTreeMap::new(),
            saved: BTreeSet::new(),
            slots: BTreeMap::new(),
            stores: BTreeMap::new(),
            early_returns: BTreeMap::new(),
            alive: None,
            for_alive: BTreeSet::new(),
            costs: SecondaryMap::with_capacity(func.values.len()),
            in_chunks: OnceCell::new(),
            key,
            table: Arc::default(),
            remarks: Vec::new(),
        }
    }

    fn run(mut self) -> Result<Split, Diagnostic> {
        self.allocate_private_arrays();
        let carry = self.allocate_carry();
        self.note_uses();
        self.assign_slots();
        let mut regions = Vec::new();
        let mut called = BTreeMap::new();
        let mut cloner = Cloner::from(self.func);
        for (index, &entry) in self.cut.entries.iter().enumerate() {
            let body = self.body(entry, index, &mut cloner);
            if has_effect(&body) {
                called.insert(entry, regions.len());
                regions.push(Region {
                    scalar: body,
                    vector: None,
                    jam: None,
                    guard: None,
                    masked: None,
                    partial: None,
                    masked_for_all: false,
                    has_outside: false,
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
        let saved = saved - usize::from(carry.is_some());
        self.remarks.push(Remark::new(
            SourceLoc::default(),
            format!(
                "barriers make {} regions; {saved} value{} and {arrays} private array{} of each \
                 work-item are kept across them",
                regions.len(),
                plural(saved),
                plural(arrays),
            ),
        ));
        for &value in &self.saved {
            let def = self.func.def_inst(value);
            let loc = def
                .map(|inst| self.func.insts[inst].loc)
                .unwrap_or_default();
            if loc != SourceLoc::default() {
                let text = format!("this {} is kept across a barrier", self.func.ty(value));
                self.remarks.push(Remark::new(loc, text));
            }
        }
        Ok(Split {
            skeleton,
            regions,
            carry,
            remarks: self.remarks,
        })
    }

    /// The slot of the carry; its first element is for the whole group.
    fn allocate_carry(&mut self) -> Option<SlotId> {
        let blocks = self.func.layout.iter();
        let mut insts = blocks.flat_map(|&block| &self.func.blocks[block].insts);
        insts
            .any(|&inst| is_collective(&self.func.insts[inst].op))
            .then(|| {
                Arc::make_mut(&mut self.table).push(Slot {
                    ty: Type::I64,
                    bytes: 0,
                    align: 0,
                    interleaving: None,
                })
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
        let def = self.func.values[value].def;
        matches!(def, ValueDef::Param(block, _) if block == self.func.entry())
    }

    /// The parameter is of the first block of a region other than the function's.
    fn is_entry_param(&self, value: Value) -> bool {
        self.func.def_inst(value).is_none()
            && !self.is_kernel_param(value)
            && self.cfg.def_block[value].is_some_and(|block| self.is_entry(block))
    }

    /// Whether a value of this or another region is there when control leaves its region, or passes
    /// another, at `exit`.
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
                self.exit_number[block] = Some(plan.exits.len());
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

    /// A branch between regions, or an end of one, that may be divergent.
    fn divergent_barrier(&self) -> Option<SourceLoc> {
        let loc = |block: Block| {
            let last = self.func.blocks[block].insts.last();
            last.map(|&inst| self.func.insts[inst].loc)
                .unwrap_or_default()
        };
        for &block in &self.cfg.order {
            if let Terminator::CondBr { cond: value, .. } | Terminator::Switch { value, .. } =
                &self.func.blocks[block].term
                && self.cut.outer[block]
                && self.is_varying(*value, block)
                && !self.early_returns.contains_key(&block)
            {
                return Some(loc(block));
            }
        }
        self.plans.values().find_map(|plan| {
            plan.blocks.iter().find(|&&block| {
                let term = &self.func.blocks[block].term;
                let (Terminator::CondBr { cond: value, .. } | Terminator::Switch { value, .. }) =
                    term
                else {
                    return false;
                };
                !self.cut.outer[block] && self.is_varying(*value, block)
            })?;
            let mut targets = plan.exits.iter().map(|&exit| {
                let mut targets: Vec<Block> = self.func.successors(exit).collect();
                targets.sort_unstable();
                targets
            });
            let first = targets.next()?;
            let mut others = targets.filter(|other| *other != first);
            others.next().map(|_| loc(plan.exits[0]))
        })
    }

    /// Whether a region may run more than once.
    fn repeats(&self, region: Block) -> bool {
        let loops = &self.cfg.loops;
        loops.innermost(region).is_some() || !loops.irreducible.is_empty()
    }

    fn next_regions(&self, region: Block) -> Vec<Block> {
        let exits = self.plans[&region].exits.iter();
        exits.flat_map(|&exit| self.func.successors(exit)).collect()
    }

    fn plan(&mut self, region: Block) -> &mut Plan {
        self.plans
            .get_mut(&region)
            .expect("every region has a plan")
    }

    fn is_alloca(&self, value: Value) -> bool {
        matches!(self.func.def_op(value), Some(Op::Alloca { .. }))
    }

    /// The edges from a region at `exit`, with the varying values handed on.
    fn passed_on(&self, exit: Block) -> Vec<Edge> {
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
}

/// Whether running a region's code makes any difference.
fn has_effect(body: &Function) -> bool {
    !body.results.is_empty()
        || body.layout.iter().any(|&block| {
            let mut insts = body.blocks[block].insts.iter();
            insts.any(|&inst| body.insts[inst].op.has_side_effect())
        })
}
