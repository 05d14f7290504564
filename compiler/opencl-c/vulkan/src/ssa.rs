//! Values: those that nothing uses are left out, and those whose definition does not dominate a use
//! once control flow is structured pass through variables.

use rspirv::spirv::{Op, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Graph, reverse_postorder};
use super::ir::{Block, Id, Inst};
use super::target::Target;
use super::types::Ty;

/// Whether an instruction does nothing but to make its result.
fn is_pure(op: Op) -> bool {
    let number = op as u32;
    let group =
        (Op::GroupNonUniformElect as u32..=Op::GroupNonUniformLogicalXor as u32).contains(&number);
    !group && !super::pointers::is_atomic(op)
}

/// Leaves out values that are not used, and variables that are never read.
pub(crate) fn remove_unused(blocks: &mut [Block], variables: &mut Vec<(Ty, Id)>) {
    // Writes to what is never read count for nothing.
    let own: FxHashSet<Id> = variables.iter().map(|&(_, id)| id).collect();
    let mut bases = FxHashMap::default();
    for inst in blocks.iter().flat_map(|block| &block.insts) {
        if inst.op == Op::AccessChain {
            let base = inst.id_at(0);
            bases.insert(inst.id, *bases.get(&base).unwrap_or(&base));
        }
    }
    let base = |id: Id| *bases.get(&id).unwrap_or(&id);
    let mut read = FxHashSet::default();
    for inst in blocks.iter().flat_map(|block| &block.insts) {
        match inst.op {
            Op::AccessChain => {}
            Op::Store => read.extend(inst.ids().skip(1).map(base)),
            _ => read.extend(inst.ids().map(base)),
        }
    }
    let is_dead = |inst: &Inst| {
        inst.op == Op::Store && {
            let to = base(inst.id_at(0));
            own.contains(&to) && !read.contains(&to)
        }
    };
    let mut definitions = FxHashMap::default();
    let mut work = Vec::new();
    for inst in blocks.iter().flat_map(|block| &block.insts) {
        if inst.id != 0 && is_pure(inst.op) {
            definitions.insert(inst.id, inst);
        } else if !is_dead(inst) {
            work.extend(inst.ids());
        }
    }
    let mut used = FxHashSet::default();
    while let Some(id) = work.pop() {
        if used.insert(id)
            && let Some(inst) = definitions.get(&id)
        {
            work.extend(inst.ids());
        }
    }
    let kept: FxHashSet<Id> = definitions
        .keys()
        .copied()
        .filter(|id| used.contains(id))
        .collect();
    let pure: FxHashSet<Id> = definitions.keys().copied().collect();
    let dead: Vec<Vec<bool>> = blocks
        .iter()
        .map(|block| {
            let insts = block.insts.iter();
            insts
                .map(|inst| is_dead(inst) || pure.contains(&inst.id) && !kept.contains(&inst.id))
                .collect()
        })
        .collect();
    for (block, dead) in blocks.iter_mut().zip(dead) {
        let mut dead = dead.into_iter();
        block.insts.retain(|_| !dead.next().unwrap_or(false));
    }
    variables.retain(|(_, id)| used.contains(id));
}

/// Passes values through variables where they have to.
pub(crate) fn repair(target: &mut Target, blocks: &mut [Block], variables: &mut Vec<(Ty, Id)>) {
    let order = reverse_postorder(blocks);
    let mut number = vec![usize::MAX; blocks.len()];
    for (new, &at) in order.iter().enumerate() {
        number[at] = new;
    }
    let dominators = Graph::of(blocks, &order).dominators;
    let mut home: FxHashMap<Id, (usize, Ty)> = FxHashMap::default();
    for (at, block) in blocks.iter().enumerate() {
        for inst in &block.insts {
            if let (Some(ty), true) = (inst.ty, inst.id != 0) {
                home.insert(inst.id, (number[at], ty));
            }
        }
    }
    let mut places: FxHashMap<Id, (Id, Ty)> = FxHashMap::default();
    for (at, block) in blocks.iter().enumerate() {
        for id in block.insts.iter().flat_map(Inst::ids) {
            let Some(&(of, ty)) = home.get(&id) else {
                continue;
            };
            let here = number[at];
            if of == here || places.contains_key(&id) {
                continue;
            }
            if here != usize::MAX && (of == usize::MAX || !dominators.is_above(of, here)) {
                let pointer = target.types.pointer(StorageClass::Function, ty);
                let place = target.id();
                variables.push((pointer, place));
                places.insert(id, (place, ty));
            }
        }
    }
    if places.is_empty() {
        return;
    }
    for at in 0..blocks.len() {
        let insts = std::mem::take(&mut blocks[at].insts);
        let mut out = Vec::with_capacity(insts.len());
        for mut inst in insts {
            for arg in &mut inst.args {
                let super::ir::Arg::Id(id) = arg else {
                    continue;
                };
                if let Some(&(place, ty)) = places.get(id)
                    && home[id].0 != number[at]
                {
                    let value = target.id();
                    insert(&mut out, Inst::of(Op::Load, &[place]).with(ty, value));
                    *id = value;
                }
            }
            let stored = places.get(&inst.id).map(|&(place, _)| (place, inst.id));
            out.push(inst);
            if let Some((place, id)) = stored {
                out.push(Inst::of(Op::Store, &[place, id]));
            }
        }
        blocks[at].insts = out;
    }
}

/// Puts an instruction before the next one, of which a merge instruction is a part.
fn insert(out: &mut Vec<Inst>, inst: Inst) {
    match out.last().map(|last| last.op) {
        Some(Op::SelectionMerge | Op::LoopMerge) => out.insert(out.len() - 1, inst),
        _ => out.push(inst),
    }
}
