//! Bitwise operations of vectors, several in one instruction: `vpternlog` is any function of the
//! bits of three operands, by its table.

use super::cuts::Cut;
use super::values::Repr;
use super::{Isel, Result};
use crate::codegen::x64::encoding::Opcode;
use crate::ir::Type;

impl Isel<'_> {
    pub fn logic(&mut self, cut: &Cut, ty: Type) -> Result<Repr> {
        // What can be in memory comes last, and what nothing else uses first: its register is
        // overwritten.
        let mut leaves = cut.leaves.clone();
        leaves.sort_by_key(|&leaf| {
            let in_memory = self.func.as_const(leaf).is_some() || self.deferred(leaf).is_some();
            (in_memory, self.deferral.uses[leaf] > 1)
        });
        let table = cut.table_for(&leaves);
        let shape = self.shape(ty);
        let opcode = match ty.scalar.bits() {
            64 => Opcode::Vpternlogq,
            _ => Opcode::Vpternlogd,
        };
        let first = self.parts(leaves[0])?;
        let second = match leaves.len() {
            1 => first.clone(),
            _ => self.parts(leaves[1])?,
        };
        let third = match leaves.get(2) {
            Some(&leaf) => self.operands(leaf, true)?,
            None => second.iter().map(|&part| part.into()).collect(),
        };
        let parts = (0..shape.count).map(|n| {
            self.define(opcode, shape.size, |plain| {
                (plain.c, plain.a, plain.b) = (first[n], second[n], third[n]);
                plain.imm = table.into();
            })
        });
        Ok(Repr::Vector(parts.collect()))
    }
}
