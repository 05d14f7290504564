//! Addresses that are an index away from a uniform object.
//!
//! Taken apart as addresses, they would be vectors of 64 bits first: extended, scaled and added
//! there.

use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::super::parts::lane_type;
use super::super::values::Gen;
use crate::ir::{BinOp, ConvertOp, Function, Op, Scalar, Value};

/// An address in every lane: `object + extend(index) * scale`.
pub(super) struct Indexed {
    object: Value,
    index: Value,
    signed: bool,
    scale: i64,
}

impl Indexed {
    pub fn index(&self) -> Value {
        self.index
    }

    pub fn is_signed(&self) -> bool {
        self.signed
    }

    /// How far apart the indexes of neighbouring lanes are whose addresses are `stride` bytes
    /// apart, if that is a number and indexes fill vectors of 32-bit lanes.
    pub fn step(&self, func: &Function, stride: i64) -> Option<i64> {
        let ty = func.ty(self.index);
        let is_word = ty.scalar == Scalar::I32 && ty.lanes >= 4;
        let step = stride.checked_div(self.scale)?;
        let is_exact = step.checked_mul(self.scale)? == stride;
        (is_word && is_exact && step.unsigned_abs() < 1 << 16).then_some(step)
    }
}

impl Gen<'_> {
    /// The address of a uniform object and an index, in bits that vectors hold many of, times a
    /// number of bytes: what many addresses are made of.
    pub(super) fn indexed(&self, address: Value) -> Option<Indexed> {
        let inst = |value: Value| self.func.def_inst(value).map(|i| &self.func.insts[i]);
        let sum = inst(address)?;
        let (Op::PtrAdd, &[object, offset]) = (&sum.op, &sum.args[..]) else {
            return None;
        };
        let object = match inst(object) {
            _ if self.func.ty(object).lanes == 1 => object,
            Some(splat) if matches!(splat.op, Op::Splat) => splat.args[0],
            _ => return None,
        };
        let scaled = inst(offset)?;
        let (wide, scale) = match (&scaled.op, &scaled.args[..]) {
            (Op::Binary(BinOp::IMul, _), &[wide, by]) => (wide, self.func.as_const(by)? as i64),
            (Op::Binary(BinOp::Shl, _), &[wide, by]) => {
                (wide, 1i64.wrapping_shl(self.func.as_const(by)? as u32 & 63))
            }
            _ => (offset, 1),
        };
        let extended = inst(wide)?;
        let signed = match extended.op {
            Op::Convert(ConvertOp::ZExt, _) => false,
            Op::Convert(ConvertOp::SExt, _) => true,
            _ => return None,
        };
        let index = extended.args[0];
        let ty = self.func.ty(index);
        let is_vector = ty.lanes > 1 && matches!(ty.scalar, Scalar::I8 | Scalar::I16 | Scalar::I32);
        is_vector.then_some(Indexed {
            object,
            index,
            signed,
            scale,
        })
    }

    /// A lane's address, to be asked for lane after lane. Indexes leave the vector unit 64 bits at
    /// a time (`word` has what is left of them), and addressing modes do the rest.
    pub(super) fn indexed_address(
        &mut self,
        indexed: &Indexed,
        lane: u8,
        word: &mut Option<clif::Value>,
    ) -> clif::Value {
        let ty = self.func.ty(indexed.index);
        let bits = ty.scalar.bits();
        let per_word = (64 / bits) as u8;
        let now = match *word {
            Some(before) if !lane.is_multiple_of(per_word) => {
                self.b.ins().ushr_imm_u(before, i64::from(bits))
            }
            _ => {
                let part = self.parts(indexed.index)[usize::from(lane / (2 * per_word))];
                let words = self.cast(part, types::I64X2);
                self.b.ins().extractlane(words, lane / per_word % 2)
            }
        };
        *word = Some(now);
        let low = self.b.ins().ireduce(lane_type(ty.scalar), now);
        self.address_at(indexed, low)
    }

    /// The address that belongs to an index.
    pub(super) fn address_at(&mut self, indexed: &Indexed, low: clif::Value) -> clif::Value {
        let index = if indexed.signed {
            self.b.ins().sextend(types::I64, low)
        } else {
            self.b.ins().uextend(types::I64, low)
        };
        let offset = match indexed.scale {
            1 => index,
            scale @ (2 | 4 | 8) => {
                let shift = i64::from(scale.trailing_zeros());
                self.b.ins().ishl_imm_u(index, shift)
            }
            scale => self.b.ins().imul_imm_s(index, scale),
        };
        let object = self.scalar(indexed.object);
        self.b.ins().iadd(object, offset)
    }
}
