//! Conversions between types.

use rspirv::spirv::{Decoration, Op};

use super::body::Body;
use super::decode::{Inst, Result};
use super::function::{Bound, FunctionTranslator};
use crate::ir::{BinOp, ConvertOp, IntCC, Op as IrOp, Rounding, Scalar, Type, Value};

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of this family; false when it is of another.
    pub(super) fn conversion(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        match op {
            Op::ConvertFToU | Op::ConvertFToS => {
                let value = self.float(inst, inst.operands[0])?;
                let convert = if op == Op::ConvertFToU {
                    ConvertOp::FToU
                } else {
                    ConvertOp::FToS
                };
                // These clamp, whether `SaturatedConversion` asks for it or not.
                self.convert_to(inst, value, convert, Scalar::is_int)?;
            }
            Op::ConvertSToF | Op::ConvertUToF => {
                let value = self.integer(inst, inst.operands[0])?;
                let convert = if op == Op::ConvertSToF {
                    ConvertOp::SToF
                } else {
                    ConvertOp::UToF
                };
                self.convert_to(inst, value, convert, Scalar::is_float)?;
            }
            Op::FConvert => {
                let value = self.float(inst, inst.operands[0])?;
                if self.body.ty(value) == self.unit.result_ir(inst)? {
                    self.define(inst, value)?;
                } else {
                    self.convert_to(inst, value, ConvertOp::FToF, Scalar::is_float)?;
                }
            }
            Op::QuantizeToF16 => {
                let value = self.float(inst, inst.operands[0])?;
                let ty = self.body.ty(value);
                let mut f = self.body.b();
                let half = f.convert(ConvertOp::FToF, value, ty.with_scalar(Scalar::F16));
                let value = f.convert(ConvertOp::FToF, half, ty);
                self.define(inst, value)?;
            }
            Op::UConvert | Op::SConvert | Op::SatConvertSToU | Op::SatConvertUToS => {
                self.integer_conversion(op, inst)?;
            }
            Op::Bitcast => self.bit_cast(inst)?,
            Op::ConvertPtrToU => {
                let from = self.unit.type_of(inst, inst.operands[0])?;
                let from = match self.unit.is_handle(inst, from)? {
                    true => Type::I64,
                    false => Type::PTR,
                };
                let value = self.typed(inst, inst.operands[0], from)?;
                let to = self.unit.result_ir(inst)?;
                if !to.is_scalar() || !to.scalar.is_int() {
                    return Err(self.error(inst, "the result type is not a scalar integer"));
                }
                let bits = self.body.b().bitcast(value, Type::I64);
                let bits = self.body.resize(bits, to.scalar);
                self.define(inst, bits)?;
            }
            Op::ConvertUToPtr => {
                let value = self.integer(inst, inst.operands[0])?;
                if !self.body.ty(value).is_scalar() {
                    return Err(self.error(inst, "the operand is not a scalar integer"));
                }
                let bits = self.body.resize(value, Scalar::I64);
                let result = self.unit.result_type(inst)?;
                let pointer = match self.unit.is_handle(inst, result)? {
                    true if self.unit.handle_of(inst, result, Op::TypeQueue).is_ok() => {
                        // The translator cannot write a null queue, so the front end gives it -1.
                        let none = self.body.iconst(Type::I64, u64::MAX);
                        let null = self.body.iconst(Type::I64, 0);
                        let is_none = self.body.b().icmp(IntCC::Eq, bits, none);
                        self.body.b().select(is_none, null, bits)
                    }
                    true => bits,
                    false => self.body.b().bitcast(bits, Type::PTR),
                };
                self.define(inst, pointer)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn convert_to(
        &mut self,
        inst: &Inst<'_>,
        value: Value,
        op: ConvertOp,
        allowed: fn(Scalar) -> bool,
    ) -> Result<()> {
        let to = self.unit.result_ir(inst)?;
        // To an integer toward zero, unless the instruction itself says otherwise.
        let rounding = match self.unit.rounding_decoration(inst)? {
            Some(rounding) => rounding,
            None if to.scalar.is_int() => Rounding::Zero,
            None => self.body.modes.rounding(to.scalar),
        };
        self.check_lanes(inst, value, to)?;
        if !allowed(to.scalar) {
            return Err(self.error(
                inst,
                format!("the result type {to} does not fit the conversion"),
            ));
        }
        let value = self.body.flushed(value);
        let result = self.body.b().val(IrOp::Convert(op, rounding), &[value], to);
        let result = self.body.flushed(result);
        self.define(inst, result)
    }

    fn check_lanes(&self, inst: &Inst<'_>, value: Value, to: Type) -> Result<()> {
        if self.body.ty(value).lanes == to.lanes {
            Ok(())
        } else {
            Err(self.error(
                inst,
                "the operand and the result have different numbers of components",
            ))
        }
    }

    fn integer_conversion(&mut self, op: Op, inst: &Inst<'_>) -> Result<()> {
        let value = self.integer(inst, inst.operands[0])?;
        let to = self.unit.result_ir(inst)?;
        self.check_lanes(inst, value, to)?;
        if !to.scalar.is_int() {
            return Err(self.error(inst, "the result type is not an integer"));
        }
        let saturated = inst.result.is_some_and(|id| {
            self.unit
                .has_decoration(id, Decoration::SaturatedConversion)
        });
        let from = self.body.ty(value);
        let result = self.body.integer_convert(op, value, to, saturated);
        debug_assert_eq!(from.lanes, to.lanes);
        self.define(inst, result)
    }

    fn bit_cast(&mut self, inst: &Inst<'_>) -> Result<()> {
        if let bound @ Bound::BuiltIn { .. } = self.bound(inst, inst.operands[0])? {
            // Pointers to built-in variables are cast to other pointer types by some producers.
            return self.bind(inst, bound);
        }
        let value = self.value(inst, inst.operands[0])?;
        let (from, to) = (self.body.ty(value), self.unit.result_ir(inst)?);
        let truth = |ty: Type| ty.scalar == Scalar::I1;
        if from.bytes() != to.bytes() || (truth(from) || truth(to)) && from != to {
            return Err(self.error(
                inst,
                format!("a bit cast from {from} to {to}, which have different sizes"),
            ));
        }
        let result = self.body.b().bitcast(value, to);
        self.define(inst, result)
    }
}

impl Body {
    /// One of the four integer conversions. Equal widths, which the plain ones should not have,
    /// keep the bits.
    fn integer_convert(&mut self, op: Op, value: Value, to: Type, saturated: bool) -> Value {
        let from = self.ty(value);
        let wider = to.scalar.bits() > from.scalar.bits();
        let same = to.scalar.bits() == from.scalar.bits();
        match op {
            Op::UConvert if same => value,
            Op::SConvert if same => value,
            Op::UConvert if wider => self.b().convert(ConvertOp::ZExt, value, to),
            Op::SConvert if wider => self.b().convert(ConvertOp::SExt, value, to),
            Op::UConvert if saturated => self.b().convert(ConvertOp::SatUToU, value, to),
            Op::SConvert if saturated => self.b().convert(ConvertOp::SatSToS, value, to),
            Op::UConvert | Op::SConvert => self.b().convert(ConvertOp::Trunc, value, to),
            Op::SatConvertSToU if wider => {
                let zero = self.iconst(from, 0);
                let mut f = self.b();
                let positive = f.binary(BinOp::SMax, value, zero);
                f.convert(ConvertOp::ZExt, positive, to)
            }
            Op::SatConvertSToU => self.b().convert(ConvertOp::SatSToU, value, to),
            _ if wider => self.b().convert(ConvertOp::ZExt, value, to),
            _ => self.b().convert(ConvertOp::SatUToS, value, to),
        }
    }
}
