//! Floating-point arithmetic under the modes in force (`float_modes.rs`).

use smallvec::SmallVec;

use super::body::Body;
use super::decode::{Inst, Result};
use super::function::FunctionTranslator;
use crate::ir::{Arith, BinOp, FloatCC, Op as IrOp, Rounding, Scalar, Type, UnOp, Value, Wrap};

/// Bits of the significand in the encoding; the encoding of the smallest normal number is the bit
/// above them.
pub(super) fn stored_bits(scalar: Scalar) -> u32 {
    match scalar {
        Scalar::F16 => 10,
        Scalar::F32 => 23,
        _ => 52,
    }
}

impl FunctionTranslator<'_, '_> {
    /// The rounding of an instruction with a result of `scalar`: `FPRoundingMode`, or the mode in
    /// force.
    pub(super) fn rounding(&self, inst: &Inst<'_>, scalar: Scalar) -> Result<Rounding> {
        Ok(self
            .unit
            .rounding_decoration(inst)?
            .unwrap_or_else(|| self.body.modes.rounding(scalar)))
    }

    /// Arithmetic that rounds as the instruction says.
    pub(super) fn float_arithmetic(
        &mut self,
        inst: &Inst<'_>,
        op: Arith,
        args: &[Value],
    ) -> Result<Value> {
        let args: SmallVec<[Value; 3]> = args.iter().map(|&arg| self.body.flushed(arg)).collect();
        let ty: Type = self.body.ty(args[0]);
        let rounding = self.rounding(inst, ty.scalar)?;
        let wrap = Wrap {
            strict: self.unit.is_strict(inst, self.body.modes, ty.scalar),
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
        let value = self.body.b().val(op, &args, ty);
        Ok(self.body.flushed(value))
    }
}

impl Body {
    /// An operand or result of arithmetic: under `DenormFlushToZero`, with zeros of their signs for
    /// subnormal numbers.
    pub(super) fn flushed(&mut self, value: Value) -> Value {
        let ty = self.ty(value);
        if !self.modes.flushes(ty.scalar) {
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
}
