//! Integer dot products: an instruction from Vulkan 1.3 on where it takes four bytes, and products
//! and sums of the components otherwise. SPIR-V Specification, "Integer Dot Product".

use rspirv::spirv::{Op, OpenclStd100Op as Cl};

use super::Version;
use super::ir::{Arg, Id, Inst};
use super::lower::{Lower, Result};
use super::types::Ty;

pub(crate) fn is_dot(op: Op) -> bool {
    matches!(
        op,
        Op::SDot | Op::UDot | Op::SUDot | Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat
    )
}

impl Lower<'_> {
    pub fn dot(&mut self, inst: &Inst) -> Result<Id> {
        let ty = self.result_ty(inst)?;
        let saturates = matches!(inst.op, Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat);
        let literals = inst.args.iter();
        let packed = literals.into_iter().any(|arg| matches!(arg, Arg::Lit(_)));
        let of = self.ty_of(inst.id_at(0))?;
        let bytes = packed || self.target.types.bits(of) == 8 && self.target.types.lanes(of).1 == 4;
        if bytes && self.options.version >= Version::V1_3 && self.target.types.bits(ty) == 32 {
            let mut args = Vec::new();
            for arg in &inst.args {
                args.push(match *arg {
                    Arg::Id(id) => Arg::Id(self.id(id)?),
                    literal => literal,
                });
            }
            return Ok(self.emit_args(inst.op, ty, args));
        }
        let signed = match inst.op {
            Op::SDot | Op::SDotAccSat => [true, true],
            Op::SUDot | Op::SUDotAccSat => [true, false],
            _ => [false, false],
        };
        let left = self.factors(inst.id_at(0), packed, signed[0], ty)?;
        let right = self.factors(inst.id_at(1), packed, signed[1], ty)?;
        let mut sum = None;
        for (left, right) in left.into_iter().zip(right) {
            let product = self.emit(Op::IMul, ty, &[left, right]);
            sum = Some(match sum {
                Some(sum) => self.emit(Op::IAdd, ty, &[sum, product]),
                None => product,
            });
        }
        let Some(sum) = sum else {
            return self.error("a dot product of nothing");
        };
        if !saturates {
            return Ok(sum);
        }
        let op = match signed[0] {
            true => Cl::s_add_sat,
            false => Cl::u_add_sat,
        };
        let more = self.id(inst.id_at(2))?;
        match self.integer_function(op, ty, &[], &[sum, more])? {
            Some(id) => Ok(id),
            None => self.error("a sum that saturates"),
        }
    }

    /// The components of a factor in the type of the result.
    fn factors(&mut self, id: Id, packed: bool, signed: bool, ty: Ty) -> Result<Vec<Id>> {
        let convert = match signed {
            true => Op::SConvert,
            false => Op::UConvert,
        };
        let (word, of) = (self.u32_ty(), self.ty_of(id)?);
        let mut all = Vec::new();
        if !packed {
            let scalar = self.target.types.lanes(of).0;
            for lane in self.lanes_of(id)? {
                all.push(match scalar == ty {
                    true => lane,
                    false => self.emit(convert, ty, &[lane]),
                });
            }
            return Ok(all);
        }
        let value = self.id(id)?;
        let extract = match signed {
            true => Op::BitFieldSExtract,
            false => Op::BitFieldUExtract,
        };
        let eight = self.target.u32(8);
        for byte in 0..4 {
            let first = self.target.u32(8 * byte);
            let part = self.emit(extract, word, &[value, first, eight]);
            all.push(match ty == word {
                true => part,
                false => self.emit(convert, ty, &[part]),
            });
        }
        Ok(all)
    }
}
