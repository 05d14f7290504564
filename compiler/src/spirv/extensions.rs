//! Instructions of extensions that are families of their own: bfloat16 conversions, integer
//! functions, split barriers, fences of arithmetic, casts between kinds of global memory, functions
//! of three bits, prefetches.

use rspirv::spirv::Op;

use super::body::Body;
use super::control::Elements;
use super::decode::{Inst, Result};
use super::function::FunctionTranslator;
use super::rules::Rule;
use crate::ir::{BinOp, Builtin, ConvertOp, FloatCC, Op as IrOp, Scalar, Type, UnOp, Value, Wrap};
use crate::kernel_info::AddressSpace;

/// `SPV_INTEL_shader_integer_functions2`: what is one operation.
fn integer_binary(op: Op) -> Option<IrOp> {
    let binary = |op| IrOp::Binary(op, Wrap::default());
    Some(match op {
        Op::IAddSatINTEL => binary(BinOp::SAddSat),
        Op::UAddSatINTEL => binary(BinOp::UAddSat),
        Op::ISubSatINTEL => binary(BinOp::SSubSat),
        Op::USubSatINTEL => binary(BinOp::USubSat),
        Op::IAverageINTEL => IrOp::Builtin(Builtin::SHadd),
        Op::UAverageINTEL => IrOp::Builtin(Builtin::UHadd),
        Op::IAverageRoundedINTEL => IrOp::Builtin(Builtin::SRhadd),
        Op::UAverageRoundedINTEL => IrOp::Builtin(Builtin::URhadd),
        _ => return None,
    })
}

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of these; false when it is another.
    pub(super) fn extension(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        let words = inst.operands;
        if let Some(ir) = integer_binary(op) {
            let a = self.integer(inst, words[0])?;
            let b = self.typed(inst, words[1], self.body.ty(a))?;
            let ty = self.body.ty(a);
            let value = self.body.b().val(ir, &[a, b], ty);
            self.define(inst, value)?;
            return Ok(true);
        }
        let value = match op {
            // A hint, as `OpLoopMerge` has them.
            Op::LoopControlINTEL => return Ok(true),
            Op::ControlBarrierArriveINTEL | Op::ControlBarrierWaitINTEL => {
                self.split_barrier(op, inst)?;
                return Ok(true);
            }
            Op::UntypedGroupAsyncCopyKHR => {
                self.untyped_async_copy(inst)?;
                return Ok(true);
            }
            Op::SubgroupBlockPrefetchINTEL => {
                self.block_prefetch(inst)?;
                return Ok(true);
            }
            Op::FPGARegALTERA => {
                let values = self.values(inst, words[0])?;
                self.define_values(inst, values)?;
                return Ok(true);
            }
            Op::ArithmeticFenceEXT => self.arithmetic_fence(inst)?,
            // All global memory is one memory.
            Op::PtrCastToCrossWorkgroupALTERA | Op::CrossWorkgroupCastToPtrALTERA => {
                self.pointer(inst, words[0])?.address
            }
            Op::BitwiseFunctionINTEL => self.bitwise_function(inst)?,
            Op::ConvertFToBF16INTEL => self.narrow_to_bfloat16(inst)?,
            Op::ConvertBF16ToFINTEL => self.widen_bfloat16(inst)?,
            Op::UCountLeadingZerosINTEL | Op::UCountTrailingZerosINTEL => {
                let a = self.integer(inst, words[0])?;
                let count = match op {
                    Op::UCountLeadingZerosINTEL => UnOp::Clz,
                    _ => UnOp::Ctz,
                };
                self.body.b().unary(count, a)
            }
            Op::AbsISubINTEL | Op::AbsUSubINTEL => {
                let a = self.integer(inst, words[0])?;
                let b = self.typed(inst, words[1], self.body.ty(a))?;
                let (least, most) = match op {
                    Op::AbsISubINTEL => (BinOp::SMin, BinOp::SMax),
                    _ => (BinOp::UMin, BinOp::UMax),
                };
                let mut f = self.body.b();
                let (least, most) = (f.binary(least, a, b), f.binary(most, a, b));
                f.binary(BinOp::ISub, most, least)
            }
            Op::IMul32x16INTEL | Op::UMul32x16INTEL => {
                let a = self.integer(inst, words[0])?;
                let ty = self.body.ty(a);
                let b = self.typed(inst, words[1], ty)?;
                if ty.scalar != Scalar::I32 {
                    return Err(self.error(inst, "the operands are not 32-bit integers"));
                }
                let short = ty.with_scalar(Scalar::I16);
                let extend = match op {
                    Op::IMul32x16INTEL => ConvertOp::SExt,
                    _ => ConvertOp::ZExt,
                };
                let mut f = self.body.b();
                let low = f.convert(ConvertOp::Trunc, b, short);
                let b = f.convert(extend, low, ty);
                f.binary(BinOp::IMul, a, b)
            }
            _ => return Ok(false),
        };
        self.define(inst, value)?;
        Ok(true)
    }

    /// What is before and after is not made one operation: a sum that stays as it is, and is its
    /// operand.
    fn arithmetic_fence(&mut self, inst: &Inst<'_>) -> Result<Value> {
        let value = self.float(inst, inst.operands[0])?;
        let ty = self.body.ty(value);
        let nothing = self.body.fconst(ty, -0.0);
        let strict = Wrap {
            strict: true,
            ..Wrap::default()
        };
        let add = IrOp::Binary(BinOp::FAdd, strict);
        Ok(self.body.b().val(add, &[value, nothing], ty))
    }

    /// `SPV_INTEL_bfloat16_conversion`: the upper half of a float, rounded to the nearest even; a
    /// NaN stays one.
    fn narrow_to_bfloat16(&mut self, inst: &Inst<'_>) -> Result<Value> {
        let value = self.float(inst, inst.operands[0])?;
        let ty = self.body.ty(value);
        if ty.scalar != Scalar::F32 {
            return Err(self.error(inst, "the operand is not a 32-bit float"));
        }
        let int = ty.with_scalar(Scalar::I32);
        let [sixteen, one, almost_half, quiet] =
            [16, 1, 0x7fff, 0x40].map(|bits| self.body.iconst(int, bits));
        let mut f = self.body.b();
        let bits = f.bitcast(value, int);
        let upper = f.binary(BinOp::LShr, bits, sixteen);
        let odd = f.binary(BinOp::And, upper, one);
        let ties = f.binary(BinOp::IAdd, almost_half, odd);
        let sum = f.binary(BinOp::IAdd, bits, ties);
        let rounded = f.binary(BinOp::LShr, sum, sixteen);
        let is_nan = f.fcmp(FloatCC::Uno, value, value);
        let nan = f.binary(BinOp::Or, upper, quiet);
        let result = f.select(is_nan, nan, rounded);
        Ok(f.convert(ConvertOp::Trunc, result, ty.with_scalar(Scalar::I16)))
    }

    fn widen_bfloat16(&mut self, inst: &Inst<'_>) -> Result<Value> {
        let value = self.integer(inst, inst.operands[0])?;
        let ty = self.body.ty(value);
        if ty.scalar != Scalar::I16 {
            return Err(self.error(inst, "the operand is not a 16-bit integer"));
        }
        let int = ty.with_scalar(Scalar::I32);
        let sixteen = self.body.iconst(int, 16);
        let mut f = self.body.b();
        let wide = f.convert(ConvertOp::ZExt, value, int);
        let bits = f.binary(BinOp::Shl, wide, sixteen);
        Ok(f.bitcast(bits, ty.with_scalar(Scalar::F32)))
    }

    /// Work-items may go on after they arrive, but need not: all of them meet where they wait. The
    /// two are fences of their own memory scopes and semantics.
    fn split_barrier(&mut self, op: Op, inst: &Inst<'_>) -> Result<()> {
        let words = inst.operands;
        self.group_scope(inst, words[0])?;
        let fence = self.fence(inst, words[1], words[2])?;
        let ir = match op {
            Op::ControlBarrierArriveINTEL => IrOp::Fence(fence),
            _ => IrOp::Barrier(fence),
        };
        self.body.b().ins(ir, &[], &[]);
        Ok(())
    }

    /// As `OpGroupAsyncCopy`, of elements of so many bytes.
    fn untyped_async_copy(&mut self, inst: &Inst<'_>) -> Result<()> {
        let words = inst.operands;
        self.group_scope(inst, words[0])?;
        let to = self.pointer(inst, words[1])?;
        let from = self.pointer(inst, words[2])?;
        let size = self.unit.integer_constant(words[3]);
        let count = self.size_value(inst, words[4])?;
        let stride = self.size_value(inst, words[5])?;
        let event = self.typed(inst, words[6], Type::I64)?;
        // As wide as divides the element.
        let ty = size.and_then(|size| {
            let width = 1 << size.trailing_zeros().min(3);
            let lanes = u8::try_from(size / width).ok()?;
            let vector = matches!(lanes, 1 | 2 | 3 | 4 | 8 | 16);
            vector.then_some(Type::new(Scalar::int(8 * width as u32)?, lanes))
        });
        let (Some(ty), Some(size)) = (ty, size) else {
            let message = "the bytes of an element are not a constant that is a vector's size";
            return Err(self.error(inst, message).under(Rule::Limit));
        };
        let elements = Elements { ty, size, align: 1 };
        self.body.copy_elements(&to, &from, count, stride, elements);
        self.define(inst, event)
    }

    /// `SPV_INTEL_ternary_bitwise_function`: bit `a | b << 1 | c << 2` of the table, for each three
    /// bits of the operands.
    fn bitwise_function(&mut self, inst: &Inst<'_>) -> Result<Value> {
        let words = inst.operands;
        let a = self.integer(inst, words[0])?;
        let ty = self.body.ty(a);
        let b = self.typed(inst, words[1], ty)?;
        let c = self.typed(inst, words[2], ty)?;
        let Some(table) = self.unit.integer_constant(words[3]) else {
            return Err(self.error(inst, "the lookup table is not an integer constant"));
        };
        // Where `c` is clear, and what to change where it is set.
        let clear = table & 15;
        let change = clear ^ table >> 4 & 15;
        let clear = self.body.function_of_two(clear, a, b);
        let change = self.body.function_of_two(change, a, b);
        let mut f = self.body.b();
        let change = f.binary(BinOp::And, c, change);
        Ok(f.binary(BinOp::Xor, clear, change))
    }

    /// `SPV_INTEL_subgroup_buffer_prefetch`: "Prefetching does not affect the functionality of a
    /// module".
    fn block_prefetch(&mut self, inst: &Inst<'_>) -> Result<()> {
        let pointer = self.pointer(inst, inst.operands[0])?;
        if pointer.space != AddressSpace::Global {
            return Err(self.error(inst, "the pointer is not to storage class CrossWorkgroup"));
        }
        if self.unit.integer_constant(inst.operands[1]).is_none() {
            return Err(self.error(inst, "the number of bytes is not an integer constant"));
        }
        Ok(())
    }

    /// `OpUntypedPrefetchKHR`: a hint, with a pointer.
    pub(super) fn untyped_prefetch(&mut self, inst: &Inst<'_>) -> Result<()> {
        self.pointer(inst, inst.operands[0])?;
        let bytes = self.integer(inst, inst.operands[1])?;
        if self.body.ty(bytes) == Type::I32 || self.body.ty(bytes) == Type::I64 {
            Ok(())
        } else {
            Err(self.error(inst, "the number of bytes is not a scalar integer"))
        }
    }
}

impl Body {
    /// Bit `a | b << 1` of a table of four.
    fn function_of_two(&mut self, table: u64, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        let [none, all] = [0, ty.scalar.mask()].map(|bits| self.iconst(ty, bits));
        let mut f = self.b();
        // What is set for no operand set is the complement of what is not.
        let complement = table & 1 != 0;
        let value = match if complement { table ^ 15 } else { table } {
            0 => none,
            0b1000 => f.binary(BinOp::And, a, b),
            0b0110 => f.binary(BinOp::Xor, a, b),
            0b1110 => f.binary(BinOp::Or, a, b),
            0b1010 => a,
            0b1100 => b,
            0b0010 => {
                let not = f.binary(BinOp::Xor, b, all);
                f.binary(BinOp::And, a, not)
            }
            _ => {
                let not = f.binary(BinOp::Xor, a, all);
                f.binary(BinOp::And, b, not)
            }
        };
        if complement {
            f.binary(BinOp::Xor, value, all)
        } else {
            value
        }
    }
}
