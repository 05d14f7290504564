//! Work-items that return where others go on to a barrier.
//!
//! They have broken the rules for barriers, but many kernels begin with `if (id >= n) return`. So a branch that may vary, one side of
//! which does nothing but return, leaves a mark in the context, and regions after it run for work-items that are still *alive*.
//! If the first one is not, none is taken to be.

use cranelift_entity::SecondaryMap;

use super::Splitter;
use crate::ir::{Block, Slot, Terminator, Type};

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
}
