//! Arithmetic that Vulkan does not have as OpenCL has it: conversions that round or saturate,
//! remainders, classes of numbers, operations on bits of other widths than 32.

use rspirv::spirv::{BuiltIn, Decoration, GlslStd450Op as Gl, Op};

use super::dot::is_dot;
use super::ir::{Arg, Id, Inst};
use super::lower::{Lower, Result};
use super::types::Ty;

/// `FPRoundingMode`
const RTE: u32 = 0;
const RTZ: u32 = 1;
const RTP: u32 = 2;
const RTN: u32 = 3;

impl Lower<'_> {
    /// What becomes of an instruction that is not the same for Vulkan; `None` for one that is.
    pub fn arithmetic(&mut self, inst: &Inst) -> Result<Option<Id>> {
        let rounding = self.input.rounding.get(&inst.id).copied();
        let saturated = self.input.saturated.contains_key(&inst.id);
        Ok(Some(match inst.op {
            Op::ConvertFToS | Op::ConvertFToU => {
                let signed = inst.op == Op::ConvertFToS;
                self.float_to_int(inst, signed, rounding.unwrap_or(RTZ), saturated)?
            }
            Op::SatConvertSToU | Op::SatConvertUToS => self.saturate(inst)?,
            Op::UConvert | Op::SConvert if saturated => self.saturate(inst)?,
            Op::UConvert | Op::SConvert => {
                let ty = self.result_ty(inst)?;
                let from = self.ty_of(inst.id_at(0))?;
                let value = self.id(inst.id_at(0))?;
                let word = self.u32_ty();
                if ty == word && self.target.types.bits(from) == 64 {
                    return Ok(Some(self.low(value, from)));
                }
                if ty == from {
                    return Ok(Some(value));
                }
                if from == word {
                    self.scratch.insert(value);
                }
                self.emit(inst.op, ty, &[value])
            }
            Op::ConvertSToF | Op::ConvertUToF | Op::FConvert
                if rounding.is_some_and(|mode| mode != RTE) =>
            {
                return self.error(
                    "a conversion to a floating-point type with a rounding mode: Vulkan rounds to \
                     the nearest",
                );
            }
            Op::SRem => {
                let ty = self.result_ty(inst)?;
                let ids = self.ids(inst)?;
                // The instruction's result is undefined for negative numbers.
                let quotient = self.emit(Op::SDiv, ty, &ids);
                let product = self.emit(Op::IMul, ty, &[quotient, ids[1]]);
                self.emit(Op::ISub, ty, &[ids[0], product])
            }
            Op::FRem => {
                let ty = self.result_ty(inst)?;
                let ids = self.ids(inst)?;
                self.emit(Op::FRem, ty, &ids)
            }
            Op::IsFinite | Op::IsNormal | Op::SignBitSet => {
                let ty = self.result_ty(inst)?;
                let of = self.ty_of(inst.id_at(0))?;
                let value = self.id(inst.id_at(0))?;
                self.class_of_number(inst.op, ty, of, value)
            }
            Op::Ordered | Op::Unordered => {
                let ty = self.result_ty(inst)?;
                let ids = self.ids(inst)?;
                let (left, right) = (
                    self.emit(Op::IsNan, ty, &[ids[0]]),
                    self.emit(Op::IsNan, ty, &[ids[1]]),
                );
                let either = self.emit(Op::LogicalOr, ty, &[left, right]);
                match inst.op {
                    Op::Ordered => self.emit(Op::LogicalNot, ty, &[either]),
                    _ => either,
                }
            }
            Op::LessOrGreater => {
                let ty = self.result_ty(inst)?;
                let ids = self.ids(inst)?;
                self.emit(Op::FOrdNotEqual, ty, &ids)
            }
            Op::BitCount | Op::BitReverse => {
                let ty = self.result_ty(inst)?;
                let value = self.id(inst.id_at(0))?;
                match inst.op {
                    Op::BitCount => self.bit_count(value, ty),
                    _ => self.bit_reverse(value, ty),
                }
            }
            Op::BitFieldInsert | Op::BitFieldSExtract | Op::BitFieldUExtract => {
                let ty = self.result_ty(inst)?;
                if self.target.types.bits(ty) != 32 {
                    return self.error("a bit field of an integer that has not 32 bits");
                }
                let first = if inst.op == Op::BitFieldInsert { 2 } else { 1 };
                let mut ids = self.ids(inst)?;
                for (at, source) in inst.ids().enumerate().skip(first) {
                    let ty = self.ty_of(source)?;
                    ids[at] = self.low(ids[at], ty);
                }
                self.emit(inst.op, ty, &ids)
            }
            op if is_dot(op) => self.dot(inst)?,
            op if is_group(op) => self.group(inst)?,
            _ => return Ok(None),
        }))
    }

    /// The range of an integer type as bits.
    fn range(&self, ty: Ty, signed: bool) -> (i128, i128) {
        let bits = self.target.types.bits(ty);
        match signed {
            true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            false => (0, (1i128 << bits) - 1),
        }
    }

    fn float_to_int(
        &mut self,
        inst: &Inst,
        signed: bool,
        rounding: u32,
        saturated: bool,
    ) -> Result<Id> {
        let ty = self.result_ty(inst)?;
        let from = self.ty_of(inst.id_at(0))?;
        let value = self.id(inst.id_at(0))?;
        let rounded = match rounding {
            RTZ => value,
            RTE => self.glsl(Gl::RoundEven, from, &[value]),
            RTP => self.glsl(Gl::Ceil, from, &[value]),
            RTN => self.glsl(Gl::Floor, from, &[value]),
            _ => return self.error("an unknown rounding mode"),
        };
        let plain = self.emit(inst.op, ty, &[rounded]);
        if !saturated {
            return Ok(plain);
        }
        // What is beyond the range becomes its end, and what is no number 0.
        let (low, high) = self.range(ty, signed);
        let bools = self.bool_like(ty);
        let (least, most) = (
            self.target.number(from, low as f64),
            self.target.number(from, (high + 1) as f64),
        );
        let (low, high) = (
            self.target.splat(ty, low as u64),
            self.target.splat(ty, high as u64),
        );
        let below = self.emit(Op::FOrdLessThan, bools, &[rounded, least]);
        let above = self.emit(Op::FOrdGreaterThanEqual, bools, &[rounded, most]);
        let nan = self.emit(Op::IsNan, bools, &[value]);
        let zero = self.target.splat(ty, 0);
        let value = self.emit(Op::Select, ty, &[below, low, plain]);
        let value = self.emit(Op::Select, ty, &[above, high, value]);
        Ok(self.emit(Op::Select, ty, &[nan, zero, value]))
    }

    /// Conversions between integers whose results are at least and at most what there is.
    fn saturate(&mut self, inst: &Inst) -> Result<Id> {
        let ty = self.result_ty(inst)?;
        let from = self.ty_of(inst.id_at(0))?;
        let value = self.id(inst.id_at(0))?;
        let (signed_from, signed_to) = match inst.op {
            Op::SatConvertSToU => (true, false),
            Op::SatConvertUToS => (false, true),
            Op::SConvert => (true, true),
            _ => (false, false),
        };
        let (low_from, high_from) = self.range(from, signed_from);
        let (low_to, high_to) = self.range(ty, signed_to);
        let (low, high) = (low_from.max(low_to), high_from.min(high_to));
        let (low, high) = (
            self.target.splat(from, low as u64),
            self.target.splat(from, high as u64),
        );
        let op = if signed_from { Gl::SClamp } else { Gl::UClamp };
        let clamped = self.clamp(op, from, value, low, high);
        if self.target.types.bits(from) == self.target.types.bits(ty) {
            return Ok(clamped);
        }
        let op = if signed_from {
            Op::SConvert
        } else {
            Op::UConvert
        };
        Ok(self.emit(op, ty, &[clamped]))
    }

    pub fn clamp(&mut self, op: Gl, ty: Ty, value: Id, low: Id, high: Id) -> Id {
        self.glsl(op, ty, &[value, low, high])
    }

    /// Says how a conversion to `half` rounds that is stored at once.
    pub fn round_conversion(&mut self, value: Id, mode: u32, host: bool) -> Result<()> {
        if !host {
            return self.error(
                "a store of 'half' with a rounding mode to memory that is no buffer: Vulkan rounds \
                 to the nearest there",
            );
        }
        if mode != RTZ {
            return self.error("Vulkan rounds 'half' to the nearest even number or towards zero");
        }
        self.target
            .decorate(value, Decoration::FPRoundingMode, &[mode]);
        Ok(())
    }

    /// The type of integers with as many bits and lanes.
    pub fn bits_type(&mut self, ty: Ty) -> Ty {
        let bits = self.target.types.bits(ty);
        let int = self.target.types.int(bits);
        self.target.types.like(ty, int)
    }

    /// Bits of the exponent of a floating-point type, in place.
    fn exponent_bits(&self, ty: Ty) -> u64 {
        match self.target.types.bits(ty) {
            16 => 0x7c00,
            32 => 0x7f80_0000,
            _ => 0x7ff0_0000_0000_0000,
        }
    }

    pub fn class_of_number(&mut self, op: Op, ty: Ty, of: Ty, value: Id) -> Id {
        let ints = self.bits_type(of);
        let bits = self.emit(Op::Bitcast, ints, &[value]);
        if op == Op::SignBitSet {
            let zero = self.target.splat(ints, 0);
            return self.emit(Op::SLessThan, ty, &[bits, zero]);
        }
        let all = self.exponent_bits(of);
        let mask = self.target.splat(ints, all);
        let exponent = self.emit(Op::BitwiseAnd, ints, &[bits, mask]);
        let finite = self.emit(Op::INotEqual, ty, &[exponent, mask]);
        if op == Op::IsFinite {
            return finite;
        }
        let zero = self.target.splat(ints, 0);
        let normal = self.emit(Op::INotEqual, ty, &[exponent, zero]);
        self.emit(Op::LogicalAnd, ty, &[finite, normal])
    }

    /// Integers of 32 bits of smaller ones, without their sign.
    pub fn widened(&mut self, value: Id, ty: Ty, signed: bool) -> (Id, Ty) {
        let word = self.u32_ty();
        let wide = self.target.types.like(ty, word);
        if wide == ty {
            return (value, ty);
        }
        let op = if signed { Op::SConvert } else { Op::UConvert };
        (self.emit(op, wide, &[value]), wide)
    }

    pub fn narrowed(&mut self, value: Id, ty: Ty) -> Id {
        let word = self.u32_ty();
        match self.target.types.like(ty, word) == ty {
            true => value,
            false => self.emit(Op::UConvert, ty, &[value]),
        }
    }

    /// The halves of integers of 64 bits, the lower one first.
    pub fn halves(&mut self, value: Id, ty: Ty) -> (Id, Id, Ty) {
        let word = self.u32_ty();
        let words = self.target.types.like(ty, word);
        let low = self.emit(Op::UConvert, words, &[value]);
        let shift = self.target.splat(ty, 32);
        let high = self.emit(Op::ShiftRightLogical, ty, &[value, shift]);
        let high = self.emit(Op::UConvert, words, &[high]);
        (low, high, words)
    }

    pub fn bit_count(&mut self, value: Id, ty: Ty) -> Id {
        if self.target.types.bits(ty) == 64 {
            let (low, high, words) = self.halves(value, ty);
            let low = self.emit(Op::BitCount, words, &[low]);
            let high = self.emit(Op::BitCount, words, &[high]);
            let sum = self.emit(Op::IAdd, words, &[low, high]);
            return self.emit(Op::UConvert, ty, &[sum]);
        }
        let (wide, words) = self.widened(value, ty, false);
        let count = self.emit(Op::BitCount, words, &[wide]);
        self.narrowed(count, ty)
    }

    fn bit_reverse(&mut self, value: Id, ty: Ty) -> Id {
        let bits = self.target.types.bits(ty);
        if bits == 64 {
            let (low, high, words) = self.halves(value, ty);
            let low = self.emit(Op::BitReverse, words, &[low]);
            let high = self.emit(Op::BitReverse, words, &[high]);
            let low = self.emit(Op::UConvert, ty, &[low]);
            let high = self.emit(Op::UConvert, ty, &[high]);
            let shift = self.target.splat(ty, 32);
            let low = self.emit(Op::ShiftLeftLogical, ty, &[low, shift]);
            return self.emit(Op::BitwiseOr, ty, &[low, high]);
        }
        let (wide, words) = self.widened(value, ty, false);
        let mut reversed = self.emit(Op::BitReverse, words, &[wide]);
        if bits < 32 {
            let shift = self.target.splat(words, u64::from(32 - bits));
            reversed = self.emit(Op::ShiftRightLogical, words, &[reversed, shift]);
        }
        self.narrowed(reversed, ty)
    }

    /// `sub_group_rotate`: a shuffle, of parts of as many work-items as they are said to have.
    fn rotate_lanes(&mut self, inst: &Inst) -> Result<Id> {
        let (ty, word) = (self.result_ty(inst)?, self.u32_ty());
        let ids = self.ids(inst)?;
        let by = self.ty_of(inst.id_at(2))?;
        let by = self.low(ids[2], by);
        let lane = self.input_scalar(BuiltIn::SubgroupLocalInvocationId);
        let size = match ids.get(3) {
            Some(&size) => size,
            None => self.input_scalar(BuiltIn::SubgroupSize),
        };
        // Sizes are powers of two.
        let one = self.target.u32(1);
        let mask = self.emit(Op::ISub, word, &[size, one]);
        let sum = self.emit(Op::IAdd, word, &[lane, by]);
        let inside = self.emit(Op::BitwiseAnd, word, &[sum, mask]);
        let outside = self.emit(Op::Not, word, &[mask]);
        let first = self.emit(Op::BitwiseAnd, word, &[lane, outside]);
        let from = self.emit(Op::BitwiseOr, word, &[first, inside]);
        Ok(self.emit(Op::GroupNonUniformShuffle, ty, &[ids[0], ids[1], from]))
    }

    /// Operations of a sub-group.
    fn group(&mut self, inst: &Inst) -> Result<Id> {
        use rspirv::spirv::Scope;
        if self.input.number(inst.id_at(0)) != Some(Scope::Subgroup as u64) {
            return self.work_group(inst);
        }
        self.needs_sub_groups()?;
        if inst.op == Op::GroupNonUniformRotateKHR {
            return self.rotate_lanes(inst);
        }
        let op = match inst.op {
            Op::GroupAll => Op::GroupNonUniformAll,
            Op::GroupAny => Op::GroupNonUniformAny,
            Op::GroupBroadcast => Op::GroupNonUniformBroadcast,
            Op::GroupIAdd => Op::GroupNonUniformIAdd,
            Op::GroupFAdd => Op::GroupNonUniformFAdd,
            Op::GroupSMin => Op::GroupNonUniformSMin,
            Op::GroupUMin => Op::GroupNonUniformUMin,
            Op::GroupFMin => Op::GroupNonUniformFMin,
            Op::GroupSMax => Op::GroupNonUniformSMax,
            Op::GroupUMax => Op::GroupNonUniformUMax,
            Op::GroupFMax => Op::GroupNonUniformFMax,
            op => op,
        };
        let mut args = Vec::new();
        for arg in &inst.args {
            args.push(match *arg {
                Arg::Id(id) => Arg::Id(self.id(id)?),
                literal => literal,
            });
        }
        let by_number = matches!(
            op,
            Op::GroupNonUniformBroadcast
                | Op::GroupNonUniformShuffle
                | Op::GroupNonUniformShuffleXor
                | Op::GroupNonUniformShuffleUp
                | Op::GroupNonUniformShuffleDown
        );
        if let (true, Some(&Arg::Id(number))) = (by_number, args.get(2)) {
            let ty = self.ty_of(inst.id_at(2))?;
            let low = self.low(number, ty);
            // Before SPIR-V 1.5 the number is a constant.
            let constant = self.target.known_bits(low).is_some();
            if op == Op::GroupNonUniformBroadcast
                && !constant
                && self.options.version.spirv() < 0x10500
            {
                return self.error(
                    "sub_group_broadcast() with a number that is no constant: from Vulkan 1.2 on",
                );
            }
            args[2] = Arg::Id(low);
        }
        let ty = self.result_ty(inst)?;
        Ok(self.emit_args(op, ty, args))
    }
}

fn is_group(op: Op) -> bool {
    let number = op as u32;
    op == Op::GroupNonUniformRotateKHR
        || (Op::GroupAll as u32..=Op::GroupSMax as u32).contains(&number)
        || (Op::GroupNonUniformElect as u32..=Op::GroupNonUniformLogicalXor as u32)
            .contains(&number)
}
