//! How floating-point arithmetic rounds, what it does with subnormal numbers, and whether it may be
//! contracted: execution modes of the entry point, and decorations, which come first.
//!
//! The modes of an entry point reach everything that it calls (SPV_KHR_float_controls,
//! SPV_KHR_float_controls2), so a function is translated once for each set of modes that it is
//! called under.

use rspirv::spirv::{Decoration, ExecutionMode, FPFastMathMode, FPRoundingMode};

use smallvec::SmallVec;

use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use super::module::Unit;
use crate::ir::{Arith, BinOp, FloatCC, Op as IrOp, Rounding, Scalar, Type, UnOp, Value, Wrap};

/// The modes of one floating-point type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Mode {
    /// `RoundingModeRTZ`, and `RoundingModeRTPINTEL` and `RoundingModeRTNINTEL` of
    /// SPV_INTEL_float_controls2.
    rounding: Option<Rounding>,
    /// `DenormFlushToZero`
    flush: bool,
    /// `FPFastMathDefault` without `AllowContract`
    strict: bool,
}

/// The floating-point modes of an entry point: of `f16`, `f32` and `f64`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct FloatModes([Mode; 3]);

impl FloatModes {
    fn of(self, scalar: Scalar) -> Mode {
        position(scalar).map_or(Mode::default(), |at| self.0[at])
    }

    /// The rounding of arithmetic and conversions that do not say theirs.
    pub fn rounding(self, scalar: Scalar) -> Rounding {
        self.of(scalar).rounding.unwrap_or(Rounding::NearestEven)
    }
}

fn position(scalar: Scalar) -> Option<usize> {
    match scalar {
        Scalar::F16 => Some(0),
        Scalar::F32 => Some(1),
        Scalar::F64 => Some(2),
        _ => None,
    }
}

impl Unit<'_> {
    /// The modes that the execution modes of a function, if it is an entry point, set for it and
    /// all it calls.
    pub(super) fn float_modes(&self, entry: Id) -> Result<FloatModes> {
        let mut modes = FloatModes::default();
        for inst in self.modes.get(&entry).into_iter().flatten() {
            let [_, number, operands @ ..] = inst.operands else {
                continue;
            };
            let mode = ExecutionMode::from_u32(*number);
            let direction = match mode {
                Some(ExecutionMode::RoundingModeRTE) => Some(Rounding::NearestEven),
                Some(ExecutionMode::RoundingModeRTZ) => Some(Rounding::Zero),
                Some(ExecutionMode::RoundingModeRTPINTEL) => Some(Rounding::Up),
                Some(ExecutionMode::RoundingModeRTNINTEL) => Some(Rounding::Down),
                _ => None,
            };
            match (mode, operands) {
                (_, &[width]) if direction.is_some() => {
                    let at = self.float_position(inst, width)?;
                    let before = std::mem::replace(&mut modes.0[at].rounding, direction);
                    if before.is_some() && before != direction {
                        let what = "a second rounding mode for this entry point and width";
                        return Err(self.error(inst, what));
                    }
                }
                (Some(ExecutionMode::DenormFlushToZero), &[width]) => {
                    modes.0[self.float_position(inst, width)?].flush = true;
                }
                (Some(ExecutionMode::FPFastMathDefault), &[ty, flags]) => {
                    let scalar = self.type_of_id(inst, ty)?.ir().map(|ty| ty.scalar);
                    let at = scalar.and_then(position).ok_or_else(|| {
                        let name = self.binary.describe(ty);
                        self.error(inst, format!("{name} is not a floating-point type"))
                    })?;
                    let flags = self.integer_constant(flags).ok_or_else(|| {
                        let name = self.binary.describe(flags);
                        self.error(inst, format!("{name} is not an integer constant"))
                    })?;
                    modes.0[at].strict = !allows_contraction(flags as u32);
                }
                (Some(ExecutionMode::DenormFlushToZero | ExecutionMode::FPFastMathDefault), _) => {
                    return Err(self.error(inst, "wrong word count of an execution mode"));
                }
                _ if direction.is_some() => {
                    return Err(self.error(inst, "wrong word count of an execution mode"));
                }
                _ => {}
            }
        }
        Ok(modes)
    }

    fn float_position(&self, inst: &Inst<'_>, width: u32) -> Result<usize> {
        Scalar::float(width)
            .and_then(position)
            .ok_or_else(|| self.error(inst, format!("no floating-point type has {width} bits")))
    }
}

/// Bits of the significand in the encoding; the encoding of the smallest normal number is the bit
/// above them.
pub(super) fn stored_bits(scalar: Scalar) -> u32 {
    match scalar {
        Scalar::F16 => 10,
        Scalar::F32 => 23,
        _ => 52,
    }
}

fn allows_contraction(flags: u32) -> bool {
    let either = FPFastMathMode::ALLOW_CONTRACT | FPFastMathMode::FAST;
    flags & either.bits() != 0
}

impl FunctionTranslator<'_, '_> {
    /// The rounding of an instruction with a result of `scalar`: `FPRoundingMode`, or the mode in
    /// force.
    pub(super) fn rounding(&self, inst: &Inst<'_>, scalar: Scalar) -> Result<Rounding> {
        Ok(self
            .rounding_decoration(inst)?
            .unwrap_or_else(|| self.out.modes.rounding(scalar)))
    }

    /// The rounding that `FPRoundingMode` asks for.
    pub(super) fn rounding_decoration(&self, inst: &Inst<'_>) -> Result<Option<Rounding>> {
        let words = inst
            .result
            .and_then(|id| self.unit.decoration(id, Decoration::FPRoundingMode));
        words
            .map(|words| self.rounding_mode(inst, words.first().copied().unwrap_or(u32::MAX)))
            .transpose()
    }

    pub(super) fn rounding_mode(&self, inst: &Inst<'_>, word: u32) -> Result<Rounding> {
        match FPRoundingMode::from_u32(word) {
            Some(FPRoundingMode::RTE) => Ok(Rounding::NearestEven),
            Some(FPRoundingMode::RTZ) => Ok(Rounding::Zero),
            Some(FPRoundingMode::RTP) => Ok(Rounding::Up),
            Some(FPRoundingMode::RTN) => Ok(Rounding::Down),
            _ => Err(self.error(inst, format!("unknown rounding mode {word}"))),
        }
    }

    /// An operand or result of arithmetic: under `DenormFlushToZero`, with zeros of their signs for
    /// subnormal numbers.
    pub(super) fn flushed(&mut self, value: Value) -> Value {
        let ty = self.ty(value);
        if !self.out.modes.of(ty.scalar).flush {
            return value;
        }
        let smallest = self.iconst(ty, 1 << stored_bits(ty.scalar));
        let zero = self.iconst(ty, 0);
        let mut f = self.b();
        let magnitude = f.unary(UnOp::FAbs, value);
        let subnormal = f.fcmp(FloatCC::Olt, magnitude, smallest);
        let zero = f.binary(BinOp::CopySign, zero, value);
        f.select(subnormal, zero, value)
    }

    /// Whether the instruction must stay as it is: `NoContraction`, or `FPFastMathMode` or
    /// `FPFastMathDefault` without `AllowContract`.
    fn is_strict(&self, inst: &Inst<'_>, scalar: Scalar) -> bool {
        let decoration = |what| inst.result.and_then(|id| self.unit.decoration(id, what));
        let words = decoration(Decoration::FPFastMathMode);
        match words {
            _ if decoration(Decoration::NoContraction).is_some() => true,
            // Before SPV_KHR_float_controls2 the bit did not exist, and its absence says nothing.
            Some(&[flags]) if self.unit.float_controls2.contains(&inst.module) => {
                !allows_contraction(flags)
            }
            _ => self.out.modes.of(scalar).strict,
        }
    }

    /// Arithmetic that rounds as the instruction says.
    pub(super) fn float_arithmetic(
        &mut self,
        inst: &Inst<'_>,
        op: Arith,
        args: &[Value],
    ) -> Result<Value> {
        let args: SmallVec<[Value; 3]> = args.iter().map(|&arg| self.flushed(arg)).collect();
        let ty: Type = self.ty(args[0]);
        let rounding = self.rounding(inst, ty.scalar)?;
        let wrap = Wrap {
            strict: self.is_strict(inst, ty.scalar),
            ..Wrap::default()
        };
        let plain = |op| IrOp::Binary(op, wrap);
        let op = match op {
            _ if rounding != Rounding::NearestEven => IrOp::Rounded(op, rounding),
            Arith::FAdd => plain(BinOp::FAdd),
            Arith::FSub => plain(BinOp::FSub),
            Arith::FMul => plain(BinOp::FMul),
            Arith::FDiv => plain(BinOp::FDiv),
            Arith::Sqrt => IrOp::Unary(UnOp::Sqrt),
            Arith::Fma => IrOp::Fma,
        };
        let value = self.b().val(op, &args, ty);
        Ok(self.flushed(value))
    }
}
