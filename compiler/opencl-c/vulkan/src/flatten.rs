//! A kernel as one function: calls are replaced by what they call, and phis by variables, so that
//! nothing but memory passes from block to block along edges. Vulkan's pointers cannot be passed
//! on as OpenCL's can, and control flow is arranged anew later.
//!
//! The size of the result is limited, as functions that call others twice grow exponentially.

use rspirv::spirv::{Op, StorageClass};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Error;
use super::graph::reverse_postorder;
use super::input::{Function, Input};
use super::ir::{Arg, Block, Id, Inst, Line};
use super::types::{Ty, Type, Types};

/// Most instructions of a kernel with all that it calls.
const MOST_INSTRUCTIONS: usize = 1 << 20;

/// A kernel without calls and phis. The first block is where it begins.
pub(crate) struct Flat {
    pub blocks: Vec<Block>,
    /// Private variables and what type they have.
    pub variables: Vec<(Id, Ty)>,
}

/// What becomes of a return: a jump, after the value is stored.
struct Return {
    to: Id,
    place: Option<Id>,
}

struct Flattener<'a> {
    input: &'a mut Input,
    types: &'a mut Types,
    flat: Flat,
    /// The functions that are being cloned.
    calls: FxHashSet<Id>,
    count: usize,
}

pub(crate) fn flatten(input: &mut Input, types: &mut Types, kernel: Id) -> Result<Flat, Error> {
    let flat = Flat {
        blocks: Vec::new(),
        variables: Vec::new(),
    };
    let mut flattener = Flattener {
        input,
        types,
        flat,
        calls: FxHashSet::default(),
        count: 0,
    };
    flattener.function(kernel, FxHashMap::default(), None, None)?;
    let mut flat = flattener.flat;
    remove_unreachable(&mut flat.blocks);
    Ok(flat)
}

/// Leaves the blocks that control reaches, in reverse postorder.
pub(crate) fn remove_unreachable(blocks: &mut Vec<Block>) {
    let order = reverse_postorder(blocks);
    let mut all: Vec<Option<Block>> = std::mem::take(blocks).into_iter().map(Some).collect();
    blocks.extend(order.iter().filter_map(|&at| all[at].take()));
}

impl Flattener<'_> {
    fn fresh(&mut self) -> Id {
        self.input.bound += 1;
        self.input.bound - 1
    }

    fn variable(&mut self, ty: Ty) -> Id {
        let id = self.fresh();
        let pointer = self.types.pointer(StorageClass::Function, ty);
        self.input.value_ty.insert(id, pointer);
        self.flat.variables.push((id, ty));
        id
    }

    /// Clones a function behind what there is; `ids` has its parameters. The label it begins with.
    fn function(
        &mut self,
        id: Id,
        mut ids: FxHashMap<Id, Id>,
        back: Option<Return>,
        line: Option<Line>,
    ) -> Result<Id, Error> {
        let (blocks, name) = match self.input.functions.get(&id) {
            Some(Function { blocks, .. }) if !blocks.is_empty() => (blocks.clone(), id),
            _ => {
                let name = self.input.names.get(&id).cloned().unwrap_or_default();
                return Err(Error::at(
                    line,
                    format!("the function {name:?} has no body"),
                ));
            }
        };
        if !self.calls.insert(name) {
            let message = "a function that calls itself cannot be expressed for Vulkan";
            return Err(Error::at(line, message));
        }
        self.count += blocks.iter().map(|block| block.insts.len()).sum::<usize>();
        if self.count > MOST_INSTRUCTIONS {
            let message = format!(
                "with all functions that it calls in place, the kernel has more than \
                 {MOST_INSTRUCTIONS} instructions"
            );
            return Err(Error::at(line, message));
        }
        let is_inlined = back.is_some();
        for block in &blocks {
            let label = self.fresh();
            ids.insert(block.label, label);
            for inst in block.insts.iter().filter(|inst| inst.id != 0) {
                let fresh = if is_inlined { self.fresh() } else { inst.id };
                ids.insert(inst.id, fresh);
                if let Some(ty) = inst.ty {
                    self.input.value_ty.insert(fresh, ty);
                }
                if self.input.saturated.contains_key(&inst.id) {
                    self.input.saturated.insert(fresh, ());
                }
                if let Some(&mode) = self.input.rounding.get(&inst.id) {
                    self.input.rounding.insert(fresh, mode);
                }
            }
        }
        let first = ids[&blocks[0].label];
        // A call makes several blocks of one: the one that jumps on is the last.
        let mut last_of = FxHashMap::default();
        let mut phis = Vec::new();
        for block in blocks {
            let label = ids[&block.label];
            let mut out = Block::new(label);
            for mut inst in block.insts {
                for arg in &mut inst.args {
                    if let Arg::Id(id) = arg {
                        *id = ids.get(id).copied().unwrap_or(*id);
                    }
                }
                inst.id = ids.get(&inst.id).copied().unwrap_or(0);
                match inst.op {
                    Op::Variable => {
                        let Some(&Type::Pointer(_, ty)) = inst.ty.map(|ty| self.types.get(ty))
                        else {
                            continue;
                        };
                        self.flat.variables.push((inst.id, ty));
                        if let Some(&init) = inst.args.get(1) {
                            let mut store = Inst::new(Op::Store, vec![Arg::Id(inst.id), init]);
                            store.line = inst.line;
                            out.insts.push(store);
                        }
                    }
                    Op::Phi => {
                        let Some(ty) = inst.ty else { continue };
                        let place = self.variable(ty);
                        let mut load = Inst::of(Op::Load, &[place]).with(ty, inst.id);
                        load.line = inst.line;
                        out.insts.push(load);
                        phis.push((place, inst));
                    }
                    Op::FunctionCall => out = self.call(out, &inst)?,
                    Op::Return | Op::ReturnValue if is_inlined => {
                        if let Some(Return { to, place }) = &back {
                            if let (Some(place), Op::ReturnValue) = (*place, inst.op) {
                                let mut store = Inst::of(Op::Store, &[place, inst.id_at(0)]);
                                store.line = inst.line;
                                out.insts.push(store);
                            }
                            out.insts.push(Inst::of(Op::Branch, &[*to]));
                        }
                    }
                    _ => out.insts.push(inst),
                }
            }
            last_of.insert(label, self.flat.blocks.len());
            self.flat.blocks.push(out);
        }
        for (place, phi) in phis {
            for pair in phi.args.chunks(2) {
                let &[Arg::Id(value), Arg::Id(from)] = pair else {
                    continue;
                };
                let Some(&from) = last_of.get(&from) else {
                    continue;
                };
                let insts = &mut self.flat.blocks[from].insts;
                let mut store = Inst::of(Op::Store, &[place, value]);
                store.line = phi.line;
                insts.insert(insts.len() - 1, store);
            }
        }
        self.calls.remove(&name);
        Ok(first)
    }

    /// Puts a function in the place of a call, and returns the block that goes on behind it.
    fn call(&mut self, mut before: Block, call: &Inst) -> Result<Block, Error> {
        let callee = call.id_at(0);
        let Some(function) = self.input.functions.get(&callee) else {
            return Err(Error::at(call.line, "the callee is no function"));
        };
        let result = function.result;
        let params = function.params.iter().map(|&(id, _)| id);
        let ids: FxHashMap<Id, Id> = params.zip(call.ids().skip(1)).collect();
        let is_void = matches!(self.types.get(result), Type::Void);
        let place = (!is_void).then(|| self.variable(result));
        let to = self.fresh();
        let at = self.flat.blocks.len();
        self.flat.blocks.push(Block::new(0));
        let back = Return { to, place };
        let begins = stacker::maybe_grow(64 << 10, 1 << 20, || {
            self.function(callee, ids, Some(back), call.line)
        })?;
        before.insts.push(Inst::of(Op::Branch, &[begins]));
        self.flat.blocks[at] = before;
        let mut after = Block::new(to);
        if let Some(place) = place {
            let mut load = Inst::of(Op::Load, &[place]).with(result, call.id);
            load.line = call.line;
            after.insts.push(load);
        }
        Ok(after)
    }
}
