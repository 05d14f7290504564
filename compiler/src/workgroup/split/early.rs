//! Early returns: work-items that return while others come to a barrier.
//!
//! They have broken the rules for barriers, but many kernels begin with `if (id >= n) return`. So a
//! branch that may vary, one side of which does nothing but return, leaves a mark in the context,
//! and regions after it run for work-items that are still *alive*. This is for branches that the
//! first work-item is the last to return by, so that if it is not alive, none is; the others are
//! left to `../divergent_barriers.rs`.

use std::sync::Arc;

use cranelift_entity::SecondaryMap;
use smallvec::{SmallVec, smallvec};

use super::Splitter;
use crate::ir::{BinOp, Block, ConvertOp, IntCC, Op, Query, Slot, Terminator, Type, UnOp, Value};

/// Values that are looked at to see which work-item is the last to return.
const MOST: usize = 64;

/// What is to be shown of a value and work-items with greater ids.
#[derive(Clone, Copy)]
enum Claim {
    /// A condition that has this truth for a work-item has it for those.
    ComesToBe(Value, bool),
    /// A number is never less for those (if true) or never more, as long as nothing wraps.
    Grows(Value, bool),
}

impl Splitter<'_> {
    pub(super) fn find_early_returns(&mut self) {
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
                todo.extend(self.cfg.jumps[block].iter().map(|jump| jump.from));
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
            if meets_barrier[onward] && self.comes_to_be(*cond, onward != then.block) {
                self.early_returns.insert(block, onward == then.block);
                let mut todo = vec![onward];
                while let Some(region) = todo.pop() {
                    if self.for_alive.insert(region) {
                        todo.extend(self.next_regions(region));
                    }
                }
            }
        }
        if !self.early_returns.is_empty() {
            self.alive = Some(Arc::make_mut(&mut self.table).push(Slot {
                ty: Type::I1,
                bytes: 0,
                align: 0,
                interleaving: None,
            }));
        }
    }

    /// Whether a condition that is `truth` for a work-item is so for all with greater ids. Those
    /// made of more than a few values are not.
    fn comes_to_be(&self, cond: Value, truth: bool) -> bool {
        let mut todo = vec![Claim::ComesToBe(cond, truth)];
        for _ in 0..MOST {
            match todo.pop() {
                None => return true,
                Some(claim) => match self.premises(claim) {
                    Some(premises) => todo.extend(premises),
                    None => return false,
                },
            }
        }
        false
    }

    /// What a claim follows from; `None` if it may be wrong.
    fn premises(&self, claim: Claim) -> Option<SmallVec<[Claim; 2]>> {
        use Claim::{ComesToBe, Grows};
        let (Claim::ComesToBe(value, _) | Claim::Grows(value, _)) = claim;
        if self.shapes.of(value).is_uniform() {
            return Some(smallvec![]);
        }
        let data = &self.func.insts[self.func.def_inst(value)?];
        let args = &data.args;
        let is_constant = |value: Value| self.func.as_const(value).is_some();
        Some(match (claim, &data.op) {
            (ComesToBe(_, truth), Op::ICmp(cc)) => {
                let up = match cc {
                    IntCC::Ugt | IntCC::Uge | IntCC::Sgt | IntCC::Sge => truth,
                    IntCC::Ult | IntCC::Ule | IntCC::Slt | IntCC::Sle => !truth,
                    IntCC::Eq | IntCC::Ne => return None,
                };
                smallvec![Grows(args[0], up), Grows(args[1], !up)]
            }
            (ComesToBe(_, truth), Op::Binary(BinOp::And | BinOp::Or, _)) => {
                args.iter().map(|&arg| ComesToBe(arg, truth)).collect()
            }
            (ComesToBe(_, truth), Op::Unary(UnOp::Not)) => smallvec![ComesToBe(args[0], !truth)],
            // Both, or either, the second asked only if the first leaves it open.
            (ComesToBe(_, truth), Op::Select) => {
                let is_either = self.func.as_const(args[1]).is_some_and(|bits| bits != 0);
                let is_both = self.func.as_const(args[2]) == Some(0);
                if !is_either && !is_both {
                    return None;
                }
                let other = if is_either { args[2] } else { args[1] };
                smallvec![ComesToBe(args[0], truth), ComesToBe(other, truth)]
            }
            (
                Grows(_, up),
                Op::DimQuery(..) | Op::Query(Query::LocalLinearId | Query::GlobalLinearId),
            ) if up => smallvec![],
            (
                Grows(_, up),
                Op::Convert(ConvertOp::ZExt | ConvertOp::SExt | ConvertOp::Trunc, _),
            ) => smallvec![Grows(args[0], up)],
            (Grows(_, up), Op::Binary(BinOp::IAdd, _)) => {
                smallvec![Grows(args[0], up), Grows(args[1], up)]
            }
            (Grows(_, up), Op::Binary(BinOp::ISub, _)) => {
                smallvec![Grows(args[0], up), Grows(args[1], !up)]
            }
            (Grows(_, up), Op::Binary(BinOp::Shl | BinOp::LShr | BinOp::UDiv, _))
                if is_constant(args[1]) =>
            {
                smallvec![Grows(args[0], up)]
            }
            (Grows(_, up), Op::Binary(BinOp::IMul, _)) => {
                let factor = self.func.as_const(args[1])?;
                let negative = factor > self.func.ty(value).scalar.mask() >> 1;
                smallvec![Grows(args[0], up != negative)]
            }
            _ => return None,
        })
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
}
