//! Addresses that are an index away from a uniform object.
//!
//! Taken apart as addresses, they would be vectors of 64 bits first: extended, scaled and added
//! there.

use cranelift_codegen::ir::{self as clif, InstBuilder, types};

use super::super::parts::{Parts, lane_type};
use super::super::values::Gen;
use crate::ir::{Index, Value};

impl Gen<'_> {
    /// The address of each lane. Indexes leave the vector unit 64 bits at a time, and addressing
    /// modes do the rest.
    pub(super) fn indexed_addresses(
        &mut self,
        object: Value,
        index: Value,
        how: Index,
    ) -> Vec<clif::Value> {
        let ty = self.func.ty(index);
        let object = self.scalar(object);
        let bits = ty.scalar.bits();
        let per_word = (64 / bits) as u8;
        let parts = self.parts(index);
        let mut addresses = Vec::with_capacity(ty.lanes.into());
        for first in (0..ty.lanes).step_by(per_word.into()) {
            let words = self.cast(parts[usize::from(first / (2 * per_word))], types::I64X2);
            let mut word = self.b.ins().extractlane(words, first / per_word % 2);
            for lane in first..ty.lanes.min(first + per_word) {
                if lane > first {
                    word = self.b.ins().ushr_imm_u(word, i64::from(bits));
                }
                let low = self.b.ins().ireduce(lane_type(ty.scalar), word);
                addresses.push(self.address_at(object, low, how));
            }
        }
        addresses
    }

    /// The addresses as vectors.
    pub(super) fn indexed_address_parts(
        &mut self,
        object: Value,
        index: Value,
        how: Index,
    ) -> Parts {
        let ty = self.func.ty(index);
        let object = self.scalar(object);
        let object = self.b.ins().splat(types::I64X2, object);
        let indexes = self.parts(index);
        let wide = self.widen(indexes, ty.lanes, ty.scalar.bits(), 64, how.signed);
        let scale = self.b.ins().iconst(types::I64, how.scale);
        let scale = self.b.ins().splat(types::I64X2, scale);
        let at = |g: &mut Self, part| {
            let offset = g.b.ins().imul(part, scale);
            g.b.ins().iadd(object, offset)
        };
        wide.into_iter().map(|part| at(self, part)).collect()
    }

    /// The address that belongs to an index.
    fn address_at(&mut self, object: clif::Value, low: clif::Value, how: Index) -> clif::Value {
        let index = if how.signed {
            self.b.ins().sextend(types::I64, low)
        } else {
            self.b.ins().uextend(types::I64, low)
        };
        let offset = match how.scale {
            1 => index,
            scale @ (2 | 4 | 8) => {
                let shift = i64::from(scale.trailing_zeros());
                self.b.ins().ishl_imm_u(index, shift)
            }
            scale => self.b.ins().imul_imm_s(index, scale),
        };
        self.b.ins().iadd(object, offset)
    }
}
