//! Products of 64-bit lanes from products of their halves, and shifts of 16-bit lanes.

use super::super::values::Repr;
use super::super::{Diagnostic, Isel, Result};
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::ir::{BinOp, Op, Type, Value};

impl Isel<'_> {
    /// The low 64 bits of products.
    pub fn wide_product(&mut self, a: Value, b: Value, ty: Type) -> Result<Repr> {
        let size = self.shape(ty).size;
        let (left, right) = (self.parts(a)?, self.parts(b)?);
        let below = |bits: u64| bits >> 32 == 0;
        let (a_is_low, b_is_low) = (
            self.func.as_const(a).is_some_and(below),
            self.func.as_const(b).is_some_and(below),
        );
        let parts = left
            .into_iter()
            .zip(right)
            .map(|(x, y)| {
                let low = self.rvm(Opcode::Vpmuludq, size, x, y);
                let mut middle = None;
                for (one, other, is_low) in [(x, y, a_is_low), (y, x, b_is_low)] {
                    if is_low {
                        continue;
                    }
                    let high = self.rmi(Opcode::VpsrlqImm, size, one, 32);
                    let product = self.rvm(Opcode::Vpmuludq, size, high, other);
                    middle = Some(match middle {
                        None => product,
                        Some(before) => self.rvm(Opcode::Vpaddq, size, before, product),
                    });
                }
                let Some(middle) = middle else {
                    return low;
                };
                let above = self.rmi(Opcode::VpsllqImm, size, middle, 32);
                self.rvm(Opcode::Vpaddq, size, low, above)
            })
            .collect();
        Ok(Repr::Vector(parts))
    }

    /// Shifts of 16-bit lanes, all by the same amount, which is taken modulo the width.
    pub fn shift_by_same(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> Result<Repr> {
        let splat = self.func.def_inst(b).map(|inst| &self.func.insts[inst]);
        let Some(splat) = splat.filter(|data| matches!(data.op, Op::Splat)) else {
            return Err(Diagnostic::new(
                "a shift by lanes of 16 bits is not selected",
            ));
        };
        let opcode = match op {
            BinOp::Shl => Opcode::Vpsllw,
            BinOp::LShr => Opcode::Vpsrlw,
            BinOp::AShr => Opcode::Vpsraw,
            other => {
                return Err(Diagnostic::new(format!(
                    "`{}` of {ty} is not selected",
                    other.name()
                )));
            }
        };
        let size = self.shape(ty).size;
        let amount = self.scalar(splat.args[0])?;
        let amount = self.mi(Opcode::AndImm, Size::B32, amount, 15);
        let amount = self.rm(Opcode::Vmovd, Size::V128, amount);
        let parts = self.parts(a)?;
        let parts = parts
            .into_iter()
            .map(|part| self.rvm(opcode, size, part, amount));
        Ok(Repr::Vector(parts.collect()))
    }
}
