//! What an IR value is in CLIF.
//!
//! - One lane: one CLIF scalar. `i1` is an `i8` of 0 or 1, `ptr` an `i64`, `f16` its bits as `i16`.
//! - W lanes of a type of b bits: `max(1, W * b / 128)` vectors of 128 bits. When `W * b < 128`
//!   the low lanes of one vector count and the others hold anything.
//! - W lanes of `i1`: the same for integers of some width b, each all ones or zero. A comparison of b-bit values
//!   gives width b; other widths are made when a use asks for them. Block parameters have the
//!   function's [`default_mask_bits`].

use cranelift_codegen::ir::{self as clif, InstBuilder, types};
use smallvec::{SmallVec, smallvec};

use super::function::Gen;
use crate::ir::{Function, Op, Scalar, Type, Value};

pub type Parts = SmallVec<[clif::Value; 4]>;

/// A translated value.
#[derive(Clone, Debug, Default)]
pub enum Repr {
    /// Not translated (yet).
    #[default]
    None,
    Scalar(clif::Value),
    /// The same bits in every lane: loaded from the constant pool by each use. Held in registers, a loop's
    /// constants would crowd out its values.
    Constant(u64),
    Vector(Parts),
    /// Lane width in bits, and the parts.
    Mask(u32, Parts),
}

/// The CLIF type of one lane.
pub fn lane_type(scalar: Scalar) -> clif::Type {
    match scalar {
        Scalar::I1 | Scalar::I8 => types::I8,
        Scalar::I16 | Scalar::F16 => types::I16,
        Scalar::I32 => types::I32,
        Scalar::I64 | Scalar::Ptr => types::I64,
        Scalar::F32 => types::F32,
        Scalar::F64 => types::F64,
    }
}

/// The CLIF type of one 128-bit part.
pub fn part_type(scalar: Scalar) -> clif::Type {
    match scalar {
        Scalar::F32 => types::F32X4,
        Scalar::F64 => types::F64X2,
        other => int_part_type(other.bits().max(8)),
    }
}

/// 128 bits of integers of `bits` bits.
pub fn int_part_type(bits: u32) -> clif::Type {
    match bits {
        8 => types::I8X16,
        16 => types::I16X8,
        32 => types::I32X4,
        _ => types::I64X2,
    }
}

/// How many parts W lanes of `bits` bits take.
pub fn part_count(lanes: u8, bits: u32) -> usize {
    (usize::from(lanes) * bits as usize).div_ceil(128).max(1)
}

/// The lane width that masks have in block parameters: that of most comparisons, so that most masks
/// are never repacked.
pub fn default_mask_bits(func: &Function) -> u32 {
    let mut votes = [0usize; 4];
    let mut lanes = 1;
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            if let (Op::ICmp(_) | Op::FCmp(_), Some(&arg)) = (&data.op, data.args.first()) {
                let ty = func.ty(arg);
                if ty.lanes > 1 && ty.scalar != Scalar::I1 {
                    votes[(ty.scalar.bits() / 8).trailing_zeros() as usize] += 1;
                    lanes = ty.lanes;
                }
            }
        }
    }
    let best = (0..4).max_by_key(|&i| votes[i]).unwrap_or(2);
    if votes[best] == 0 {
        (128 / u32::from(lanes.max(4))).clamp(8, 32)
    } else {
        8 << best
    }
}

impl Gen<'_> {
    pub fn scalar(&self, value: Value) -> clif::Value {
        match &self.values[value] {
            Repr::Scalar(v) => *v,
            other => unreachable!("{value} is {other:?}, not a scalar"),
        }
    }

    /// The parts of a value that is not a mask.
    pub fn parts(&mut self, value: Value) -> Parts {
        match &self.values[value] {
            Repr::Vector(parts) => parts.clone(),
            Repr::Constant(bits) => {
                let ty = self.func.ty(value);
                let count = part_count(ty.lanes, ty.scalar.bits());
                let bits = *bits;
                let part = self.pooled(bits, ty.scalar);
                (0..count).map(|_| part).collect()
            }
            other => unreachable!("{value} is {other:?}, not a vector"),
        }
    }

    /// The parts of a mask of lanes of `bits` bits; repacked if need be, once a block.
    pub fn mask(&mut self, value: Value, bits: u32) -> Parts {
        let Repr::Mask(have, parts) = &self.values[value] else {
            unreachable!("{value} is not a mask")
        };
        let (have, parts) = (*have, parts.clone());
        if have == bits {
            return parts;
        }
        if let Some(parts) = self.known.repacked.get((value, bits)) {
            return parts.clone();
        }
        let lanes = self.func.ty(value).lanes;
        let parts = self.repack_mask(parts, lanes, have, bits);
        self.known.repacked.insert((value, bits), parts.clone());
        parts
    }

    /// Changes the lane width of a mask.
    pub fn repack_mask(&mut self, mut parts: Parts, lanes: u8, mut have: u32, want: u32) -> Parts {
        while have < want {
            let next = have * 2;
            let count = part_count(lanes, next);
            let mut wide: Parts = smallvec![];
            for part in parts {
                wide.push(self.b.ins().swiden_low(part));
                if wide.len() < count {
                    wide.push(self.b.ins().swiden_high(part));
                }
            }
            wide.truncate(count);
            (parts, have) = (wide, next);
        }
        while have > want {
            if have == 64 {
                // There is no 64-to-32 narrowing; take the low halves.
                let halves: Parts = parts.iter().map(|&p| self.cast(p, types::I32X4)).collect();
                parts = halves
                    .chunks(2)
                    .map(|c| self.even_lanes(c[0], *c.last().expect("not empty"), 32))
                    .collect();
            } else {
                parts = parts
                    .chunks(2)
                    .map(|c| self.b.ins().snarrow(c[0], *c.last().expect("not empty")))
                    .collect();
            }
            have /= 2;
        }
        parts
    }

    /// Loads 128 bits of lanes that all hold `bits` from the constant pool.
    fn pooled(&mut self, bits: u64, scalar: Scalar) -> clif::Value {
        let size = scalar.bits().max(8);
        let lanes = u128::from(bits & scalar.mask());
        let all = (0..128 / size).fold(0, |acc, i| acc | lanes << (i * size));
        let index = self.pool.index(all);
        let flags = clif::MemFlagsData::trusted().with_readonly();
        self.b
            .ins()
            .load(part_type(scalar), flags, self.pool_base, 16 * index as i32)
    }

    /// Reinterprets 128 bits.
    pub fn cast(&mut self, value: clif::Value, to: clif::Type) -> clif::Value {
        if self.b.func.dfg.value_type(value) == to {
            value
        } else {
            let flags = clif::MemFlagsData::new().with_endianness(clif::Endianness::Little);
            self.b.ins().bitcast(to, flags, value)
        }
    }

    /// Lane `i` of the result is lane `lanes[i]` of `a` and `b` laid end to end; lanes are `bits` wide.
    pub fn shuffle(
        &mut self,
        a: clif::Value,
        b: clif::Value,
        lanes: &[u8],
        bits: u32,
    ) -> clif::Value {
        let ty = self.b.func.dfg.value_type(a);
        let size = (bits / 8) as u8;
        let bytes: Vec<u8> = lanes
            .iter()
            .flat_map(|&l| (0..size).map(move |k| l * size + k))
            .collect();
        debug_assert_eq!(bytes.len(), 16);
        let mask = self.b.func.dfg.immediates.push(bytes.into());
        let (a, b) = (self.cast(a, types::I8X16), self.cast(b, types::I8X16));
        let shuffled = self.b.ins().shuffle(a, b, mask);
        self.cast(shuffled, ty)
    }

    /// Lanes 0, 2, 4, .. of `a` then of `b`.
    pub fn even_lanes(&mut self, a: clif::Value, b: clif::Value, bits: u32) -> clif::Value {
        let lanes: Vec<u8> = (0..(128 / bits) as u8).map(|i| i * 2).collect();
        self.shuffle(a, b, &lanes, bits)
    }

    /// Lanes 1, 3, 5, .. of `a` then of `b`.
    pub fn odd_lanes(&mut self, a: clif::Value, b: clif::Value, bits: u32) -> clif::Value {
        let lanes: Vec<u8> = (0..(128 / bits) as u8).map(|i| i * 2 + 1).collect();
        self.shuffle(a, b, &lanes, bits)
    }

    /// One lane of a vector value (not a mask) as a CLIF scalar.
    pub fn lane(&mut self, value: Value, lane: u8) -> clif::Value {
        let ty = self.func.ty(value);
        match &self.values[value] {
            Repr::Scalar(v) => *v,
            Repr::Constant(bits) => {
                let bits = *bits;
                self.scalar_constant(bits, ty.scalar)
            }
            Repr::Vector(parts) => {
                let per = (128 / ty.scalar.bits()) as u8;
                let part = parts[usize::from(lane / per)];
                self.b.ins().extractlane(part, lane % per)
            }
            _ => {
                let bits = self.mask_bits(value);
                let shifted = self.b.ins().ushr_imm_u(bits, i64::from(lane));
                let bit = self.b.ins().band_imm_u(shifted, 1);
                self.b.ins().ireduce(types::I8, bit)
            }
        }
    }

    /// Builds a vector value from one CLIF scalar a lane.
    pub fn vector_of(&mut self, ty: Type, lanes: &[clif::Value]) -> Parts {
        let per = (128 / ty.scalar.bits().max(8)) as usize;
        let part_ty = part_type(ty.scalar);
        lanes
            .chunks(per)
            .map(|chunk| {
                let first = self.low_lane(part_ty, chunk[0]);
                chunk
                    .iter()
                    .enumerate()
                    .skip(1)
                    .fold(first, |acc, (i, &lane)| {
                        self.b.ins().insertlane(acc, lane, i as u8)
                    })
            })
            .collect()
    }

    /// A vector whose lowest lane is `scalar`.
    pub fn low_lane(&mut self, part_ty: clif::Type, scalar: clif::Value) -> clif::Value {
        if part_ty.lane_bits() >= 32 {
            return self.b.ins().scalar_to_vector(part_ty, scalar);
        }
        let wide = self.b.ins().uextend(types::I32, scalar);
        let vector = self.b.ins().scalar_to_vector(types::I32X4, wide);
        self.cast(vector, part_ty)
    }

    /// The mask as an `i32` with bit `l` set when lane `l` is.
    pub fn mask_bits(&mut self, value: Value) -> clif::Value {
        if let Some(&bits) = self.known.mask_bits.get(value) {
            return bits;
        }
        let bits = self.compute_mask_bits(value);
        self.known.mask_bits.insert(value, bits);
        bits
    }

    fn compute_mask_bits(&mut self, value: Value) -> clif::Value {
        let Repr::Mask(bits, parts) = &self.values[value] else {
            unreachable!("{value} is not a mask")
        };
        let (bits, parts) = (*bits, parts.clone());
        let lanes = self.func.ty(value).lanes;
        let per = 128 / bits;
        let mut all: Option<clif::Value> = None;
        for (i, &part) in parts.iter().enumerate() {
            let mut high = self.b.ins().vhigh_bits(types::I32, part);
            if i > 0 {
                high = self.b.ins().ishl_imm_u(high, i as i64 * i64::from(per));
            }
            all = Some(match all {
                None => high,
                Some(low) => self.b.ins().bor(low, high),
            });
        }
        let all = all.expect("a mask has a part");
        if u32::from(lanes) * bits < 128 {
            self.b.ins().band_imm_u(all, (1i64 << lanes) - 1)
        } else {
            all
        }
    }

    /// `if_true` in lanes where `mask` is all ones, else `if_false`; `mask` has lanes as wide as theirs.
    pub fn blend(
        &mut self,
        mask: clif::Value,
        if_true: clif::Value,
        if_false: clif::Value,
    ) -> clif::Value {
        let ty = self.b.func.dfg.value_type(if_true);
        if self.x86 {
            let as_ty = if ty.lane_bits() == 16 {
                types::I8X16
            } else {
                int_part_type(ty.lane_bits())
            };
            let (m, t, f) = (
                self.cast(mask, as_ty),
                self.cast(if_true, as_ty),
                self.cast(if_false, as_ty),
            );
            let blended = self.b.ins().blendv(m, t, f);
            self.cast(blended, ty)
        } else {
            let mask = self.cast(mask, ty);
            self.b.ins().bitselect(mask, if_true, if_false)
        }
    }
}
