//! Blocks that several regions lead to, some of them for some work-items only.
//!
//! Where control arrives from two regions another begins, and work-items come to it together. That is right when all of them come: when
//! the block post-dominates the region they come from. It is not when an inner branch decides who comes: producers merge what the ends of two
//! branches have in common, with a barrier in each and a condition in one. Then the region gets a copy of the block for itself, and what
//! the block leads to is looked at again.
//!
//! A value of a copied block that is used elsewhere has several definitions then. It goes through private memory, which `promote` turns
//! into values again.
//!
//! Cost: linear for each layer of such blocks, and what is copied: a block once for each region.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use super::regions::find_regions;
use crate::AddressSpace;
use crate::analysis::PostDominatorTree;
use crate::ir::{
    Block, BlockCall, Builder, Fence, Function, Inst, Mem, Op, SourceLoc, Terminator, Type, Value,
};
use crate::transform::promote;

/// Layers of blocks, over the number of blocks, after which something is wrong.
const LAYERS: usize = 64;

/// Gives regions blocks of their own. Returns whether any needed some.
pub(super) fn separate(
    func: &mut Function,
    barriers: &SecondaryMap<Block, Option<Fence>>,
    outer: &SecondaryMap<Block, bool>,
) -> bool {
    let mut copies = Copies::default();
    for _ in 0..func.layout.len() + LAYERS {
        let shared = shared(func, barriers, outer);
        if shared.is_empty() {
            break;
        }
        let blocks: BTreeSet<Block> = shared.iter().map(|way| way.block).collect();
        through_memory(func, &blocks);
        for way in &shared {
            copies.give(func, way);
        }
        func.layout = func.reverse_post_order();
    }
    if copies.made.is_empty() {
        return false;
    }
    promote::run(func);
    true
}

/// A block, a region that needs a copy of it, and the region's blocks that lead to it.
struct Way {
    block: Block,
    region: Block,
    from: Vec<Block>,
}

fn shared(
    func: &Function,
    barriers: &SecondaryMap<Block, Option<Fence>>,
    outer: &SecondaryMap<Block, bool>,
) -> Vec<Way> {
    let (entries, owner) = find_regions(func, barriers, outer);
    let preds = func.predecessors();
    let post = PostDominatorTree::new(func);
    let mut found = Vec::new();
    for &block in &entries {
        // Whether somebody else keeps the block itself.
        let mut kept = false;
        let mut some_come: BTreeMap<Block, Vec<Block>> = BTreeMap::new();
        for &pred in &preds[block] {
            let Some(region) = owner[pred] else { continue };
            if outer[pred] || barriers[pred].is_some() {
                kept = true;
            } else if region != block {
                if post.post_dominates(block, region) {
                    kept = true;
                } else {
                    some_come.entry(region).or_default().push(pred);
                }
            }
        }
        let ways = some_come.into_iter().skip(usize::from(!kept));
        found.extend(ways.map(|(region, from)| Way {
            block,
            region,
            from,
        }));
    }
    found
}

/// Which block is a copy of which, and for which region.
#[derive(Default)]
struct Copies {
    original: SecondaryMap<Block, PackedOption<Block>>,
    made: BTreeMap<(Block, Block), Block>,
}

impl Copies {
    fn give(&mut self, func: &mut Function, way: &Way) {
        let original = self.original[way.block].expand().unwrap_or(way.block);
        // In a loop, the copy exists when its latch is copied.
        let copy = *self
            .made
            .entry((original, way.region))
            .or_insert_with(|| copy(func, way.block));
        self.original[copy] = original.into();
        for &pred in &way.from {
            for call in func.blocks[pred].term.targets_mut() {
                if call.block == way.block {
                    call.block = copy;
                }
            }
        }
    }
}

fn copy(func: &mut Function, block: Block) -> Block {
    let copy = func.add_block();
    let mut map: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    for param in func.blocks[block].params.clone() {
        map[param] = func.add_param(copy, func.ty(param)).into();
    }
    for inst in func.blocks[block].insts.clone() {
        let data = func.insts[inst].clone();
        let args: SmallVec<[Value; 4]> = data
            .args
            .iter()
            .map(|&arg| map[arg].expand().unwrap_or(arg))
            .collect();
        let types: SmallVec<[Type; 2]> = data.results.iter().map(|&r| func.ty(r)).collect();
        let new = func.make_inst(data.op, &args, &types, data.loc);
        func.blocks[copy].insts.push(new);
        for (&old, &new) in data.results.iter().zip(&func.insts[new].results) {
            map[old] = new.into();
        }
    }
    let mut term = func.blocks[block].term.clone();
    term.for_each_value_mut(|value| *value = map[*value].expand().unwrap_or(*value));
    func.blocks[copy].term = term;
    copy
}

/// Stores what some blocks define where it is defined, and loads it where another block uses it.
fn through_memory(func: &mut Function, blocks: &BTreeSet<Block>) {
    let mut home: SecondaryMap<Value, PackedOption<Block>> = SecondaryMap::new();
    for &block in blocks {
        for &param in &func.blocks[block].params {
            home[param] = block.into();
        }
        for &inst in &func.blocks[block].insts {
            for &result in &func.insts[inst].results {
                home[result] = block.into();
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
        let block = home[value].expect("a value of one of the blocks");
        let at = match func.def_inst(value) {
            Some(def) => position(func, block, def) + 1,
            None => 0,
        };
        func.blocks[block].insts.insert(at, store);
    }
    func.blocks[entry].insts.splice(0..0, first);
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
