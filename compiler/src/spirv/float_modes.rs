//! How floating-point arithmetic rounds, what it does with subnormal numbers, and whether it may be
//! contracted: execution modes of the entry point, and decorations, which come first.
//!
//! The modes of an entry point reach everything that it calls (SPV_KHR_float_controls,
//! SPV_KHR_float_controls2), so a function is translated once for each set of modes that it is
//! called under.

use rspirv::spirv::{Decoration, ExecutionMode, FPFastMathMode, FPRoundingMode};

use super::decode::{Id, Inst, Result};
use super::module::Unit;
use crate::ir::{Rounding, Scalar};

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

    /// Whether subnormal operands and results are taken for zeros.
    pub fn flushes(self, scalar: Scalar) -> bool {
        self.of(scalar).flush
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

fn allows_contraction(flags: u32) -> bool {
    let either = FPFastMathMode::ALLOW_CONTRACT | FPFastMathMode::FAST;
    flags & either.bits() != 0
}

impl Unit<'_> {
    /// The rounding that `FPRoundingMode` asks for.
    pub(super) fn rounding_decoration(&self, inst: &Inst<'_>) -> Result<Option<Rounding>> {
        let words = inst
            .result
            .and_then(|id| self.decoration(id, Decoration::FPRoundingMode));
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

    /// Whether the instruction must stay as it is: `NoContraction`, or `FPFastMathMode` or
    /// `FPFastMathDefault` without `AllowContract`.
    pub(super) fn is_strict(&self, inst: &Inst<'_>, modes: FloatModes, scalar: Scalar) -> bool {
        let decoration = |what| inst.result.and_then(|id| self.decoration(id, what));
        let words = decoration(Decoration::FPFastMathMode);
        match words {
            _ if decoration(Decoration::NoContraction).is_some() => true,
            // Before SPV_KHR_float_controls2 the bit did not exist, and its absence says nothing.
            Some(&[flags]) if self.float_controls2.contains(&inst.module) => {
                !allows_contraction(flags)
            }
            _ => modes.of(scalar).strict,
        }
    }
}
