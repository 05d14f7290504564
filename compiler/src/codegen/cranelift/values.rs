//! The values of a function in CLIF, and how a use gets them.

use std::collections::HashMap;

use cranelift_codegen::ir::{self as clif, InstBuilder, condcodes::IntCC, types};
use cranelift_codegen::isa::CallConv;
use cranelift_entity::SecondaryMap;
use cranelift_frontend::FunctionBuilder;
use smallvec::smallvec;

use super::known::Known;
use super::parts::{Parts, Repr, int_part_type, part_count, part_type};
use super::pool::Pool;
use super::spill_slots::SpillSlots;
use crate::codegen::{Symbol, usual_mask_bits};
use crate::ir::{Function, Type, Value};

/// What is referred to by address.
#[derive(Default)]
pub struct Symbols {
    /// In the order of the numbers by which CLIF names them.
    pub all: Vec<Symbol>,
    pub values: HashMap<Symbol, clif::GlobalValue>,
}

/// What the translation of operations works on: the values so far, and where code is put.
pub struct Gen<'a> {
    pub b: FunctionBuilder<'a>,
    pub func: &'a Function,
    pub symbols: Symbols,
    pub values: SecondaryMap<Value, Repr>,
    /// What has been computed on the way.
    pub known: Known<'a>,
    /// The lane width of masks in block parameters.
    pub param_mask_bits: u32,
    pub pool: Pool,
    pub spill_slots: SpillSlots,
    pub call_conv: CallConv,
    pub x86: bool,
}

impl<'a> Gen<'a> {
    pub fn new(
        b: FunctionBuilder<'a>,
        func: &'a Function,
        known: Known<'a>,
        call_conv: CallConv,
        x86: bool,
    ) -> Self {
        Gen {
            b,
            func,
            symbols: Symbols::default(),
            values: SecondaryMap::new(),
            known,
            param_mask_bits: usual_mask_bits(func, 128),
            pool: Pool::default(),
            spill_slots: SpillSlots::default(),
            call_conv,
            x86,
        }
    }

    /// A stack slot of at least `bytes` bytes, 16-byte aligned, for the current instruction.
    pub fn stack_slot(&mut self, bytes: u32) -> clif::StackSlot {
        self.spill_slots.take(&mut self.b, bytes)
    }

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
                let part = self.pool.load(&mut self.b, bits, ty.scalar);
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
        if let Some(parts) = self.known.repacked((value, bits)) {
            return parts.clone();
        }
        let lanes = self.func.ty(value).lanes;
        let parts = self.repack_mask(parts, lanes, have, bits);
        self.known.set_repacked((value, bits), parts.clone());
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

    /// Reinterprets 128 bits.
    pub fn cast(&mut self, value: clif::Value, to: clif::Type) -> clif::Value {
        if self.b.func.dfg.value_type(value) == to {
            value
        } else {
            let flags = clif::MemFlagsData::new().with_endianness(clif::Endianness::Little);
            self.b.ins().bitcast(to, flags, value)
        }
    }

    /// Lane `i` of the result is lane `lanes[i]` of `a` and `b` laid end to end; lanes are `bits`
    /// wide.
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
        if let Some(bits) = self.known.mask_bits(value) {
            return bits;
        }
        let bits = self.compute_mask_bits(value);
        self.known.set_mask_bits(value, bits);
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

    /// Whether any lane of a mask is set.
    pub fn any_true(&mut self, value: Value) -> clif::Value {
        let bits = match self.whole_mask(value) {
            Some(parts) => self.bits_of(parts, |g, a, b| g.b.ins().bor(a, b)),
            None => self.mask_bits(value),
        };
        self.b.ins().icmp_imm_u(IntCC::NotEqual, bits, 0)
    }

    /// Whether every lane of a mask is set.
    pub fn all_true(&mut self, value: Value) -> clif::Value {
        let (bits, lanes) = match self.whole_mask(value) {
            Some(parts) => {
                let lanes = self.b.func.dfg.value_type(parts[0]).lane_count();
                (self.bits_of(parts, |g, a, b| g.b.ins().band(a, b)), lanes)
            }
            None => (self.mask_bits(value), self.func.ty(value).lanes.into()),
        };
        let all = (1i64 << lanes) - 1;
        self.b.ins().icmp_imm_u(IntCC::Equal, bits, all)
    }

    /// The parts of a mask, unless some of their lanes do not count or its bits are at hand.
    fn whole_mask(&self, value: Value) -> Option<Parts> {
        let Repr::Mask(bits, parts) = &self.values[value] else {
            unreachable!("{value} is not a mask")
        };
        let is_whole = u32::from(self.func.ty(value).lanes) * bits >= 128;
        (is_whole && self.known.mask_bits(value).is_none()).then(|| parts.clone())
    }

    /// One bit for each lane of what parts are combined to.
    fn bits_of(
        &mut self,
        parts: Parts,
        combine: impl Fn(&mut Self, clif::Value, clif::Value) -> clif::Value,
    ) -> clif::Value {
        let all = parts.into_iter().reduce(|a, b| combine(self, a, b));
        let all = all.expect("a mask has a part");
        self.b.ins().vhigh_bits(types::I32, all)
    }

    /// `if_true` in lanes where `mask` is all ones, else `if_false`; `mask` has lanes as wide as
    /// theirs.
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
