//! Values by way of private memory, which [`promote`](super::promote) turns into values again: what one does where blocks are about to be copied, so
//! that a value comes to have several definitions.

use std::collections::BTreeMap;

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

use crate::analysis::DominatorTree;
use crate::ir::{
    Block, BlockCall, Builder, Function, Inst, Mem, Op, SourceLoc, Terminator, Type, Value,
};
use crate::kernel_info::AddressSpace;

/// Stores some values where they are defined, and loads them where another block uses them. Constants are made again instead.
pub fn demote(func: &mut Function, values: &SecondaryMap<Value, bool>) {
    let mut home: SecondaryMap<Value, PackedOption<Block>> = SecondaryMap::new();
    for &block in &func.layout {
        let data = &func.blocks[block];
        let results = data
            .insts
            .iter()
            .flat_map(|&inst| &func.insts[inst].results);
        for &value in data.params.iter().chain(results) {
            if values[value] {
                home[value] = block.into();
            }
        }
    }
    let mut places: BTreeMap<Value, Value> = BTreeMap::new();
    for block in func.layout.clone() {
        let mut here: BTreeMap<Value, Value> = BTreeMap::new();
        let insts = std::mem::take(&mut func.blocks[block].insts);
        for inst in insts {
            for n in 0..func.insts[inst].args.len() {
                let value = func.insts[inst].args[n];
                if home[value].expand().is_some_and(|home| home != block) {
                    let value = *here
                        .entry(value)
                        .or_insert_with(|| read(func, block, value, &mut places));
                    func.insts[inst].args[n] = value;
                }
            }
            func.blocks[block].insts.push(inst);
        }
        let mut term = std::mem::replace(
            &mut func.blocks[block].term,
            Terminator::Br(BlockCall::new(block, &[])),
        );
        term.for_each_value_mut(|value| {
            if home[*value].expand().is_some_and(|home| home != block) {
                *value = *here
                    .entry(*value)
                    .or_insert_with(|| read(func, block, *value, &mut places));
            }
        });
        func.blocks[block].term = term;
    }
    let entry = func.entry();
    let mut first = Vec::new();
    for (value, place) in places {
        first.extend(func.def_inst(place));
        let store = func.make_inst(
            Op::Store(private(func.ty(value))),
            &[place, value],
            &[],
            SourceLoc::default(),
        );
        let block = home[value].expect("one of the values");
        let at = match func.def_inst(value) {
            Some(def) => position(func, block, def) + 1,
            None => 0,
        };
        func.blocks[block].insts.insert(at, store);
    }
    func.blocks[entry].insts.splice(0..0, first);
}

/// The same for the values that are used where their definition no longer dominates, because control comes there in new ways.
pub fn demote_undominated(func: &mut Function) {
    let tree = DominatorTree::new(func);
    let mut home: SecondaryMap<Value, Option<Block>> =
        SecondaryMap::with_capacity(func.values.len());
    for &block in &func.layout {
        for &param in &func.blocks[block].params {
            home[param] = Some(block);
        }
        for &inst in &func.blocks[block].insts {
            for &result in &func.insts[inst].results {
                home[result] = Some(block);
            }
        }
    }
    let mut kept: SecondaryMap<Value, bool> = SecondaryMap::new();
    for &block in &func.layout {
        let mut note = |value: Value| {
            kept[value] |= home[value].is_some_and(|def| !tree.dominates(def, block));
        };
        for &inst in &func.blocks[block].insts {
            func.insts[inst].args.iter().copied().for_each(&mut note);
        }
        func.blocks[block].term.for_each_value(&mut note);
    }
    demote(func, &kept);
}

/// A value of another block, at the end of this one. The private variable that it is in is yet to be placed.
fn read(
    func: &mut Function,
    block: Block,
    value: Value,
    places: &mut BTreeMap<Value, Value>,
) -> Value {
    let ty = func.ty(value);
    if let Some(bits) = func.as_const(value) {
        return Builder::new(func, block).iconst(ty, bits);
    }
    let place = *places.entry(value).or_insert_with(|| {
        let alloca = Op::Alloca {
            size: ty.bytes(),
            align: ty.bytes(),
        };
        let inst = func.make_inst(alloca, &[], &[Type::PTR], SourceLoc::default());
        func.insts[inst].results[0]
    });
    Builder::new(func, block).val(Op::Load(private(ty)), &[place], ty)
}

fn private(ty: Type) -> Mem {
    Mem::new(AddressSpace::Private, ty.bytes())
}

fn position(func: &Function, block: Block, inst: Inst) -> usize {
    let insts = &func.blocks[block].insts;
    let at = insts.iter().position(|&other| other == inst);
    at.expect("a value is defined in its block")
}
