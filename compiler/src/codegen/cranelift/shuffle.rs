//! Lanes that move: by a constant mask, by one number, by a number for each lane.

use cranelift_codegen::ir::{self as clif, InstBuilder, condcodes::IntCC, types};
use smallvec::SmallVec;

use super::parts::{Parts, Repr, part_type};
use super::values::Gen;
use crate::ir::{Type, Value};

impl Gen<'_> {
    /// Lane `i` is lane `mask[i]` of `a` and `b` laid end to end; 255 gives 0. Not for truth
    /// values.
    pub fn shuffle_lanes(&mut self, a: Value, b: Value, mask: &[u8], ty: Type) -> Repr {
        let bits = ty.scalar.bits();
        let per = (128 / bits) as u8;
        let of_a = self.func.ty(a).lanes;
        if ty.lanes == 1 || of_a == 1 || self.func.ty(b).lanes == 1 {
            let lanes: Vec<clif::Value> = mask.iter().map(|&l| self.one_of(a, b, l, ty)).collect();
            return self.build(ty, &lanes);
        }
        let (a_parts, b_parts) = (self.parts(a), self.parts(b));
        // Which part a lane is in, counting on from `a` to `b`, and where in it.
        let place = |l: u8| match l.checked_sub(of_a) {
            None => (usize::from(l / per), l % per),
            Some(l) => (a_parts.len() + usize::from(l / per), l % per),
        };
        let mut parts = Parts::new();
        for wanted in mask.chunks(usize::from(per)) {
            let known = wanted.iter().filter(|&&l| l != 255);
            let mut sources: SmallVec<[usize; 4]> = known.map(|&l| place(l).0).collect();
            sources.sort_unstable();
            sources.dedup();
            let part_of = |i: usize| match i.checked_sub(a_parts.len()) {
                None => a_parts[i],
                Some(i) => b_parts[i],
            };
            let zero_too = wanted.contains(&255);
            let mut operands: SmallVec<[clif::Value; 4]> =
                sources.iter().map(|&i| part_of(i)).collect();
            if zero_too || operands.is_empty() {
                let zero = self.zero(part_type(ty.scalar));
                operands.push(zero);
            }
            if let [x, ref rest @ ..] = operands[..]
                && rest.len() <= 1
            {
                let y = rest.first().copied().unwrap_or(x);
                let mut lanes: Vec<u8> = wanted
                    .iter()
                    .map(|&l| {
                        if l == 255 {
                            return if sources.is_empty() { 0 } else { per };
                        }
                        let (part, lane) = place(l);
                        if part == sources[0] { lane } else { per + lane }
                    })
                    .collect();
                lanes.resize(usize::from(per), 0);
                parts.push(self.shuffle(x, y, &lanes, bits));
                continue;
            }
            let lanes: Vec<clif::Value> =
                wanted.iter().map(|&l| self.one_of(a, b, l, ty)).collect();
            parts.extend(self.vector_of(ty, &lanes));
        }
        Repr::Vector(parts)
    }

    fn one_of(&mut self, a: Value, b: Value, lane: u8, ty: Type) -> clif::Value {
        let of_a = self.func.ty(a).lanes;
        match lane {
            255 => self.scalar_constant(0, ty.scalar),
            l if l < of_a => self.lane(a, l),
            l => self.lane(b, l - of_a),
        }
    }

    /// The lane with this number (an integer), modulo the lane count, a power of two. Not of truth
    /// values.
    pub fn extract_dyn(&mut self, value: Value, number: clif::Value, lanes: u8) -> clif::Value {
        let lanes = i64::from(lanes.next_power_of_two());
        let number = match self.b.func.dfg.value_type(number) {
            types::I64 => number,
            _ => self.b.ins().uextend(types::I64, number),
        };
        let number = self.b.ins().band_imm_u(number, lanes - 1);
        let array = self.spill(value);
        self.operand(array, number)
    }

    /// Lane `l` is the lane that lane `l` of `numbers` says, or 0. Not for truth values.
    pub fn permute(&mut self, value: Value, numbers: Value, ty: Type) -> Repr {
        let array = self.spill(value);
        let lanes: Vec<clif::Value> = (0..ty.lanes)
            .map(|l| {
                let number = self.lane(numbers, l);
                let at = self.b.ins().uextend(types::I64, number);
                let at = self.b.ins().band_imm_u(at, i64::from(ty.lanes) - 1);
                let lane = self.operand(array, at);
                self.zero_outside(number, lane, ty)
            })
            .collect();
        self.build(ty, &lanes)
    }

    fn zero_outside(&mut self, number: clif::Value, lane: clif::Value, ty: Type) -> clif::Value {
        let zero = self.scalar_constant(0, ty.scalar);
        let inside = self
            .b
            .ins()
            .icmp_imm_u(IntCC::UnsignedLessThan, number, i64::from(ty.lanes));
        self.b.ins().select(inside, lane, zero)
    }
}
