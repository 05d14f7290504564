//! Copies of callees in the place of calls.
//!
//! At a call the block is split: the tail becomes a new block whose parameters are the call's
//! results, the callee's entry parameters become the call's operands, and each `ret` a jump to the
//! tail. Private memory goes to the caller's entry block; work-group variables merge with the
//! caller's by name, since they are one variable of the kernel no matter which function names it.
//!
//! A function that is called nowhere else is copied as it is, calls and all, and the calls are then
//! the caller's: a chain of functions is copied once, where one function after the other would be
//! copied with all that it has been given by then. Its private variables are promoted before, as in
//! units, so that each begins anew with each call and not with what a loop left in it.

use std::collections::HashMap;

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};

use super::{TooLarge, Unit, Units, size_of};
use crate::ir::{
    Block, BlockCall, Builder, Cloner, FuncId, Function, Inst, LocalId, LocalVar, Module, Op,
    Terminator, ValueDef,
};
use crate::transform::{dce, promote};

/// A function that callees are copied into.
pub(super) struct Expansion<'a> {
    pub caller: &'a mut Function,
    module: &'a Module,
    units: &'a mut Units,
    /// The caller's blocks as far as they are done.
    layout: Vec<Block>,
    /// Private memory of callees.
    allocas: Vec<Inst>,
    /// The caller's work-group variables by name.
    locals: HashMap<String, LocalId>,
    /// Instructions and blocks, at most so many.
    size: usize,
    limit: usize,
}

/// Code that is to be the rest of a block.
struct Rest {
    block: Block,
    insts: std::vec::IntoIter<Inst>,
    term: Terminator,
}

impl<'a> Expansion<'a> {
    pub fn new(
        caller: &'a mut Function,
        module: &'a Module,
        units: &'a mut Units,
        limit: usize,
    ) -> Expansion<'a> {
        let locals = caller.locals.iter();
        Expansion {
            locals: locals.map(|(id, var)| (var.name.clone(), id)).collect(),
            layout: Vec::new(),
            allocas: Vec::new(),
            size: size_of(caller),
            caller,
            module,
            units,
            limit,
        }
    }

    /// Sees to all calls; returns how many instructions and blocks there are then.
    pub fn run(mut self) -> Result<usize, TooLarge> {
        let blocks = std::mem::take(&mut self.caller.layout);
        // What comes next is last.
        let mut todo: Vec<Rest> = blocks.iter().rev().map(|&b| self.whole(b)).collect();
        while let Some(mut rest) = todo.pop() {
            self.layout.push(rest.block);
            let Some((call, callee)) = self.up_to_a_copy(&mut rest) else {
                self.caller.blocks[rest.block].term = rest.term;
                continue;
            };
            let (first, after) = match self.units.done.remove(&callee) {
                Some(Unit::ToCopy(unit)) => {
                    let spliced = self.splice(rest.block, call, &unit)?;
                    self.units.done.insert(callee, Unit::ToCopy(unit));
                    spliced
                }
                _ => {
                    let mut moved = self.module.functions[callee].clone();
                    promote::run(&mut moved);
                    dce::run(&mut moved);
                    self.splice(rest.block, call, &moved)?
                }
            };
            self.units.seen_to(callee);
            rest.block = after;
            todo.push(rest);
            // `add_block` appended the copy's blocks to the layout, in order, before the tail.
            let copied = std::mem::take(&mut self.caller.layout);
            debug_assert!(copied.first() == Some(&first) && copied.last() == Some(&after));
            let copied = &copied[..copied.len() - 1];
            todo.extend(copied.iter().rev().map(|&b| self.whole(b)));
        }
        self.caller.layout = self.layout;
        let entry = self.caller.entry();
        self.caller.blocks[entry].insts.splice(0..0, self.allocas);
        Ok(self.size)
    }

    /// Takes the code of a block out of it.
    fn whole(&mut self, block: Block) -> Rest {
        let data = &mut self.caller.blocks[block];
        Rest {
            block,
            insts: std::mem::take(&mut data.insts).into_iter(),
            term: std::mem::replace(&mut data.term, Terminator::Unreachable),
        }
    }

    /// Puts instructions back to where they are to be, up to a call of a function that is copied.
    fn up_to_a_copy(&mut self, rest: &mut Rest) -> Option<(Inst, FuncId)> {
        for inst in rest.insts.by_ref() {
            let Op::Call(id) = self.caller.insts[inst].op else {
                self.caller.blocks[rest.block].insts.push(inst);
                continue;
            };
            let Some(Unit::Kept(kept)) = self.units.done.get(&id) else {
                return Some((inst, id));
            };
            let locals = merge_locals(self.caller, &mut self.locals, &kept.locals);
            kept.call(self.caller, &locals, rest.block, inst, id);
            self.size += kept.context.len();
            self.units.seen_to(id);
        }
        None
    }

    /// Ends `block` with a jump into a copy of `callee`; returns the copy's first block and the one
    /// that control comes back to.
    fn splice(
        &mut self,
        block: Block,
        call: Inst,
        callee: &Function,
    ) -> Result<(Block, Block), TooLarge> {
        self.size += size_of(callee);
        if self.size > self.limit {
            return Err(TooLarge);
        }
        let locals = merge_locals(self.caller, &mut self.locals, &callee.locals);
        let caller = &mut *self.caller;
        let mut cloner = Cloner::from(callee);
        cloner.bind_all(callee.params(), &caller.insts[call].args);
        // Instructions first without operands: a definition may come later in the layout than its
        // use.
        for &from in &callee.layout {
            let to = caller.add_block();
            cloner.bind_block(from, to);
            if from != callee.entry() {
                cloner.add_params(caller, from, to);
            }
            for &inst in &callee.blocks[from].insts {
                let data = &callee.insts[inst];
                let op = match data.op {
                    Op::LocalAddr(id) => Op::LocalAddr(locals[id]),
                    ref other => other.clone(),
                };
                let alloca = matches!(op, Op::Alloca { .. });
                let copy = cloner.make(caller, inst, op, &data.args);
                if alloca {
                    self.allocas.push(copy);
                } else {
                    caller.blocks[to].insts.push(copy);
                }
            }
        }

        let after = caller.add_block();
        let results = std::mem::take(&mut caller.insts[call].results);
        for (i, &result) in results.iter().enumerate() {
            caller.values[result].def = ValueDef::Param(after, i as u16);
        }
        caller.blocks[after].params = results.to_vec();

        for &from in &callee.layout {
            let to = cloner.block(from);
            for index in 0..caller.blocks[to].insts.len() {
                let inst = caller.blocks[to].insts[index];
                for arg in &mut caller.insts[inst].args {
                    *arg = cloner.value(*arg);
                }
            }
            let mut b = Builder::new(caller, to);
            let term = match cloner.terminator(&mut b, &callee.blocks[from].term) {
                Terminator::Ret(values) => Terminator::Br(BlockCall {
                    block: after,
                    args: values,
                }),
                other => other,
            };
            b.terminate(term);
        }
        let first = cloner.block(callee.entry());
        caller.blocks[block].term = Terminator::Br(BlockCall::new(first, &[]));
        Ok((first, after))
    }
}

/// Where a callee's work-group variables are in the caller, whose own are known by name.
fn merge_locals(
    caller: &mut Function,
    by_name: &mut HashMap<String, LocalId>,
    callee: &PrimaryMap<LocalId, LocalVar>,
) -> SecondaryMap<LocalId, LocalId> {
    let mut map = SecondaryMap::with_default(LocalId::new(0));
    for (id, local) in callee {
        map[id] = match by_name.get(&local.name) {
            Some(&known) => {
                let known_local = &mut caller.locals[known];
                known_local.size = known_local.size.max(local.size);
                known_local.align = known_local.align.max(local.align);
                known
            }
            None => {
                let new = caller.locals.push(local.clone());
                by_name.insert(local.name.clone(), new);
                new
            }
        };
    }
    map
}
