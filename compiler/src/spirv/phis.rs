//! Phis become block parameters, one a leaf. Jumps get their arguments when every block has been
//! translated: only then is all that they pass defined.

use std::collections::HashMap;

use rspirv::spirv::Op;

use super::body::Values;
use super::decode::{Id, Inst, Result};
use super::function::{Bound, Definition, FunctionTranslator};
use super::rules::UNIVERSAL;

impl FunctionTranslator<'_, '_> {
    /// Makes the blocks of reachable SPIR-V blocks, with a parameter for each leaf of each phi.
    pub(super) fn make_blocks(&mut self) -> Result<()> {
        for i in 0..self.flow.cfg.order.len() {
            let index = self.flow.cfg.order[i];
            let block = match index {
                0 => self.body.func.entry(),
                _ => self.body.func.add_block(),
            };
            self.flow.heads[index] = Some(block);
            for inst in self.flow.cfg.blocks[index].insts {
                match inst.op() {
                    _ if self.unit.is_debug_information(inst) => {}
                    Op::Phi if index == 0 => {
                        return Err(self
                            .error(inst, "the entry block has no predecessors")
                            .under(UNIVERSAL));
                    }
                    Op::Phi => {
                        let ty = self.unit.result_type(inst)?;
                        let leaves = self.unit.leaves(inst, ty)?;
                        let values: Values = leaves
                            .iter()
                            .map(|leaf| self.body.func.add_param(block, leaf.ty))
                            .collect();
                        let result = self.unit.result(inst)?;
                        self.definitions.insert(
                            result,
                            Definition {
                                bound: Bound::Values(values),
                                block: Some(index),
                            },
                        );
                    }
                    _ => break,
                }
            }
        }
        Ok(())
    }

    /// Gives every jump its arguments: for each phi of the target, the leaves of what it takes from
    /// here.
    pub(super) fn pass_phis(&mut self) -> Result<()> {
        for i in 0..self.flow.cfg.order.len() {
            let index = self.flow.cfg.order[i];
            let insts = self.flow.cfg.blocks[index].insts;
            for inst in insts {
                match inst.op() {
                    _ if self.unit.is_debug_information(inst) => continue,
                    Op::Phi => self.pass_phi(inst, index)?,
                    _ => break,
                }
            }
        }
        Ok(())
    }

    fn pass_phi(&mut self, inst: &Inst<'_>, index: usize) -> Result<()> {
        let ty = self.unit.result_type(inst)?;
        let mut given: HashMap<usize, Id> = HashMap::new();
        for pair in inst.operands.chunks_exact(2) {
            let (value, parent) = (pair[0], pair[1]);
            let parent = self.flow.cfg.by_label.get(&parent).copied();
            let preds = &self.flow.cfg.blocks[index].preds;
            let Some(parent) = parent.filter(|p| preds.binary_search(p).is_ok()) else {
                return Err(self.error(
                    inst,
                    format!(
                        "{} is not a predecessor of the phi's block",
                        self.unit.binary.describe(pair[1])
                    ),
                ));
            };
            // One entry a predecessor; LLVM's translator writes one a jump, all the same.
            match given.insert(parent, value) {
                None => {}
                Some(before) if before == value => continue,
                Some(_) => {
                    return Err(self.error(
                        inst,
                        format!(
                            "the predecessor {} gives two values",
                            self.unit.binary.describe(pair[1])
                        ),
                    ));
                }
            }
            let of_value = self.unit.type_of(inst, value)?;
            if !self.unit.same_type(of_value, ty) {
                return Err(self.error(
                    inst,
                    format!(
                        "the type of {} is not the phi's",
                        self.unit.binary.describe(value)
                    ),
                ));
            }
            if !self.flow.cfg.is_reachable(parent) {
                continue;
            }
            self.flow.current = parent;
            let values = self.values(inst, value)?;
            let (Some(tail), Some(head)) = (self.flow.tails[parent], self.flow.heads[index]) else {
                continue;
            };
            for call in self.body.func.blocks[tail].term.targets_mut() {
                if call.block == head {
                    call.args.extend(values.iter().copied());
                }
            }
        }
        let missing = self.flow.cfg.blocks[index]
            .preds
            .iter()
            .find(|p| self.flow.cfg.is_reachable(**p) && !given.contains_key(p));
        match missing {
            Some(&pred) => Err(self.error(
                inst,
                format!(
                    "no value for the predecessor {}",
                    self.flow.cfg.blocks[pred]
                        .label
                        .result
                        .map_or_else(String::new, |id| self.unit.binary.describe(id))
                ),
            )),
            None => Ok(()),
        }
    }
}
