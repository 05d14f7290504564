//! Arithmetic, bit, comparison and logical instructions, and selection.

use rspirv::spirv::{Decoration, Op};
use smallvec::{SmallVec, smallvec};

use super::body::{Body, Values};
use super::decode::{Inst, Result};
use super::float_arithmetic::stored_bits;
use super::function::FunctionTranslator;
use crate::ir::{
    Arith, BinOp, Builtin, ConvertOp, FloatCC, IntCC, Op as IrOp, Scalar, Type, UnOp, Value, Wrap,
};

/// The plain two-operand instructions, with the kind of operands that they take.
fn binary_op(op: Op) -> Option<(BinOp, Class)> {
    Some(match op {
        Op::IAdd => (BinOp::IAdd, Class::Int),
        Op::ISub => (BinOp::ISub, Class::Int),
        Op::IMul => (BinOp::IMul, Class::Int),
        Op::UDiv => (BinOp::UDiv, Class::Int),
        Op::SDiv => (BinOp::SDiv, Class::Int),
        Op::UMod => (BinOp::URem, Class::Int),
        Op::SRem => (BinOp::SRem, Class::Int),
        Op::BitwiseOr => (BinOp::Or, Class::Bits),
        Op::BitwiseXor => (BinOp::Xor, Class::Bits),
        Op::BitwiseAnd => (BinOp::And, Class::Bits),
        Op::LogicalOr => (BinOp::Or, Class::Bool),
        Op::LogicalAnd => (BinOp::And, Class::Bool),
        Op::LogicalNotEqual => (BinOp::Xor, Class::Bool),
        Op::FAdd => (BinOp::FAdd, Class::Float),
        Op::FSub => (BinOp::FSub, Class::Float),
        Op::FMul => (BinOp::FMul, Class::Float),
        Op::FDiv => (BinOp::FDiv, Class::Float),
        Op::FRem => (BinOp::FRem, Class::Float),
        _ => return None,
    })
}

/// The operations whose rounding can be chosen.
fn arith(op: BinOp) -> Option<Arith> {
    Some(match op {
        BinOp::FAdd => Arith::FAdd,
        BinOp::FSub => Arith::FSub,
        BinOp::FMul => Arith::FMul,
        BinOp::FDiv => Arith::FDiv,
        _ => return None,
    })
}

fn int_compare(op: Op) -> Option<IntCC> {
    Some(match op {
        Op::IEqual | Op::PtrEqual => IntCC::Eq,
        Op::INotEqual | Op::PtrNotEqual => IntCC::Ne,
        Op::UGreaterThan => IntCC::Ugt,
        Op::SGreaterThan => IntCC::Sgt,
        Op::UGreaterThanEqual => IntCC::Uge,
        Op::SGreaterThanEqual => IntCC::Sge,
        Op::ULessThan => IntCC::Ult,
        Op::SLessThan => IntCC::Slt,
        Op::ULessThanEqual => IntCC::Ule,
        Op::SLessThanEqual => IntCC::Sle,
        _ => return None,
    })
}

fn float_compare(op: Op) -> Option<FloatCC> {
    Some(match op {
        Op::FOrdEqual => FloatCC::Oeq,
        Op::FUnordEqual => FloatCC::Ueq,
        Op::FOrdNotEqual | Op::LessOrGreater => FloatCC::One,
        Op::FUnordNotEqual => FloatCC::Une,
        Op::FOrdLessThan => FloatCC::Olt,
        Op::FUnordLessThan => FloatCC::Ult,
        Op::FOrdGreaterThan => FloatCC::Ogt,
        Op::FUnordGreaterThan => FloatCC::Ugt,
        Op::FOrdLessThanEqual => FloatCC::Ole,
        Op::FUnordLessThanEqual => FloatCC::Ule,
        Op::FOrdGreaterThanEqual => FloatCC::Oge,
        Op::FUnordGreaterThanEqual => FloatCC::Uge,
        Op::Ordered => FloatCC::Ord,
        Op::Unordered => FloatCC::Uno,
        _ => return None,
    })
}

/// What an operand's lanes must be.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Int,
    Float,
    Bool,
    /// Integer or Boolean: some producers use the bitwise instructions for both.
    Bits,
}

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of this family; false when it is of another.
    pub(super) fn arithmetic(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        if let Some(value) = self.two_operands(op, inst)? {
            self.define(inst, value)?;
            return Ok(true);
        }
        let value = match op {
            Op::SNegate => {
                let a = self.integer(inst, inst.operands[0])?;
                self.body.b().unary(UnOp::INeg, a)
            }
            Op::FNegate => {
                let a = self.float(inst, inst.operands[0])?;
                self.body.b().unary(UnOp::FNeg, a)
            }
            Op::Not => {
                let a = self.of_class(inst, 0, Class::Bits)?;
                self.body.b().unary(UnOp::Not, a)
            }
            Op::LogicalNot => {
                let a = self.of_class(inst, 0, Class::Bool)?;
                self.body.b().unary(UnOp::Not, a)
            }
            Op::LogicalEqual => {
                let a = self.of_class(inst, 0, Class::Bool)?;
                let b = self.typed(inst, inst.operands[1], self.body.ty(a))?;
                self.body.b().icmp(IntCC::Eq, a, b)
            }
            Op::ShiftLeftLogical => self.shift(inst, BinOp::Shl)?,
            Op::ShiftRightLogical => self.shift(inst, BinOp::LShr)?,
            Op::ShiftRightArithmetic => self.shift(inst, BinOp::AShr)?,
            Op::SMod => self.signed_modulo(inst)?,
            Op::FMod => self.float_modulo(inst)?,
            Op::FmaKHR => {
                let a = self.float(inst, inst.operands[0])?;
                let b = self.typed(inst, inst.operands[1], self.body.ty(a))?;
                let c = self.typed(inst, inst.operands[2], self.body.ty(a))?;
                self.float_arithmetic(inst, Arith::Fma, &[a, b, c])?
            }
            Op::VectorTimesScalar => {
                let a = self.float(inst, inst.operands[0])?;
                let b = self.typed(inst, inst.operands[1], self.body.ty(a).lane())?;
                let lanes = self.body.ty(a).lanes;
                let b = self.body.b().splat(b, lanes);
                self.float_arithmetic(inst, Arith::FMul, &[a, b])?
            }
            Op::Dot => {
                let a = self.float(inst, inst.operands[0])?;
                let b = self.typed(inst, inst.operands[1], self.body.ty(a))?;
                let (a, b) = (self.body.flushed(a), self.body.flushed(b));
                let ty = self.body.ty(a).lane();
                let value = self.body.b().val(IrOp::Builtin(Builtin::Dot), &[a, b], ty);
                self.body.flushed(value)
            }
            Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => {
                self.extended(op, inst)?;
                return Ok(true);
            }
            Op::SDot | Op::UDot | Op::SUDot | Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => {
                self.integer_dot(op, inst)?
            }
            Op::Any | Op::All => self.any_all(op, inst)?,
            Op::IsNan | Op::IsInf | Op::IsFinite | Op::IsNormal | Op::SignBitSet => {
                self.classify(op, inst)?
            }
            Op::Select => {
                self.select(inst)?;
                return Ok(true);
            }
            Op::BitFieldInsert | Op::BitFieldSExtract | Op::BitFieldUExtract => {
                self.bit_field(op, inst)?
            }
            Op::BitReverse => {
                let a = self.integer(inst, inst.operands[0])?;
                self.body.b().unary(UnOp::BitReverse, a)
            }
            Op::BitCount => {
                let a = self.integer(inst, inst.operands[0])?;
                let count = self.body.b().unary(UnOp::PopCount, a);
                let to = self.unit.result_ir(inst)?;
                self.body.resize(count, to.scalar)
            }
            _ => return Ok(false),
        };
        self.define(inst, value)?;
        Ok(true)
    }

    /// The remainder with the divisor's sign.
    fn signed_modulo(&mut self, inst: &Inst<'_>) -> Result<Value> {
        let a = self.integer(inst, inst.operands[0])?;
        let b = self.typed(inst, inst.operands[1], self.body.ty(a))?;
        let rem = self.body.b().binary(BinOp::SRem, a, b);
        let zero = self.body.iconst(self.body.ty(a), 0);
        let mut f = self.body.b();
        let signs = f.binary(BinOp::Xor, rem, b);
        let differ = f.icmp(IntCC::Slt, signs, zero);
        let nonzero = f.icmp(IntCC::Ne, rem, zero);
        let fix = f.binary(BinOp::And, differ, nonzero);
        let sum = f.binary(BinOp::IAdd, rem, b);
        Ok(f.select(fix, sum, rem))
    }

    /// The same of floating-point numbers.
    fn float_modulo(&mut self, inst: &Inst<'_>) -> Result<Value> {
        let a = self.float(inst, inst.operands[0])?;
        let b = self.typed(inst, inst.operands[1], self.body.ty(a))?;
        let (a, b) = (self.body.flushed(a), self.body.flushed(b));
        let ty = self.body.ty(a);
        let (zero, izero) = (
            self.body.iconst(ty, 0),
            self.body.iconst(ty.with_scalar(ty.scalar.as_int()), 0),
        );
        let mut f = self.body.b();
        let rem = f.binary(BinOp::FRem, a, b);
        let int = f.ty(izero);
        let (rem_bits, b_bits) = (f.bitcast(rem, int), f.bitcast(b, int));
        let signs = f.binary(BinOp::Xor, rem_bits, b_bits);
        let differ = f.icmp(IntCC::Slt, signs, izero);
        let nonzero = f.fcmp(FloatCC::One, rem, zero);
        let fix = f.binary(BinOp::And, differ, nonzero);
        let sum = self.float_arithmetic(inst, Arith::FAdd, &[rem, b])?;
        let value = self.body.b().select(fix, sum, rem);
        Ok(self.body.flushed(value))
    }

    /// Operations and comparisons of two operands of one type that have one instruction each.
    fn two_operands(&mut self, op: Op, inst: &Inst<'_>) -> Result<Option<Value>> {
        if let Some((op, class)) = binary_op(op) {
            let a = self.of_class(inst, 0, class)?;
            let b = self.typed(inst, inst.operands[1], self.body.ty(a))?;
            let value = match arith(op) {
                Some(op) => self.float_arithmetic(inst, op, &[a, b])?,
                None => {
                    let (a, b) = (self.body.flushed(a), self.body.flushed(b));
                    let (ty, wrap) = (self.body.ty(a), self.wrap(inst));
                    let value = self.body.b().val(IrOp::Binary(op, wrap), &[a, b], ty);
                    self.body.flushed(value)
                }
            };
            return Ok(Some(value));
        }
        if let Some(cc) = int_compare(op) {
            let a = self.value(inst, inst.operands[0])?;
            let ty = self.body.ty(a);
            if !ty.scalar.is_int() && ty.scalar != Scalar::Ptr {
                return Err(self.error(inst, "the operands are not integers"));
            }
            let b = self.typed(inst, inst.operands[1], ty)?;
            let value = self.body.b().icmp(cc, a, b);
            return Ok(Some(value));
        }
        if let Some(cc) = float_compare(op) {
            let a = self.float(inst, inst.operands[0])?;
            let b = self.typed(inst, inst.operands[1], self.body.ty(a))?;
            let (a, b) = (self.body.flushed(a), self.body.flushed(b));
            let value = self.body.b().fcmp(cc, a, b);
            return Ok(Some(value));
        }
        Ok(None)
    }

    fn of_class(&mut self, inst: &Inst<'_>, operand: usize, class: Class) -> Result<Value> {
        let value = self.value(inst, inst.operands[operand])?;
        let scalar = self.body.ty(value).scalar;
        let (fits, wanted) = match class {
            Class::Int => (scalar.is_int(), "an integer"),
            Class::Float => (scalar.is_float(), "a float"),
            Class::Bool => (scalar == Scalar::I1, "a Boolean"),
            Class::Bits => (scalar.is_int() || scalar == Scalar::I1, "an integer"),
        };
        if fits {
            Ok(value)
        } else {
            Err(self.error(
                inst,
                format!(
                    "the operand {} has type {}, expected {wanted} scalar or vector",
                    self.unit.binary.describe(inst.operands[operand]),
                    self.body.ty(value)
                ),
            ))
        }
    }

    /// The decorations `NoSignedWrap` and `NoUnsignedWrap` of the result.
    fn wrap(&self, inst: &Inst<'_>) -> Wrap {
        let has = |decoration| {
            inst.result
                .is_some_and(|id| self.unit.has_decoration(id, decoration))
        };
        Wrap {
            nsw: has(Decoration::NoSignedWrap),
            nuw: has(Decoration::NoUnsignedWrap),
            strict: false,
        }
    }

    fn shift(&mut self, inst: &Inst<'_>, op: BinOp) -> Result<Value> {
        let a = self.integer(inst, inst.operands[0])?;
        let amount = self.integer(inst, inst.operands[1])?;
        let ty = self.body.ty(a);
        if self.body.ty(amount).lanes != ty.lanes {
            return Err(self.error(inst, "the operands have different numbers of components"));
        }
        // The amount may be of any width; every width keeps the bits that count modulo the base's.
        let amount = self.body.resize(amount, ty.scalar);
        Ok(self.body.b().binary(op, a, amount))
    }

    fn extended(&mut self, op: Op, inst: &Inst<'_>) -> Result<()> {
        let a = self.integer(inst, inst.operands[0])?;
        let b = self.typed(inst, inst.operands[1], self.body.ty(a))?;
        let ty = self.body.ty(a);
        let mut f = self.body.b();
        let values: Values = match op {
            Op::IAddCarry => {
                let sum = f.binary(BinOp::IAdd, a, b);
                let carry = f.icmp(IntCC::Ult, sum, a);
                smallvec![sum, f.convert(ConvertOp::ZExt, carry, ty)]
            }
            Op::ISubBorrow => {
                let difference = f.binary(BinOp::ISub, a, b);
                let borrow = f.icmp(IntCC::Ult, a, b);
                smallvec![difference, f.convert(ConvertOp::ZExt, borrow, ty)]
            }
            Op::UMulExtended => {
                smallvec![f.binary(BinOp::IMul, a, b), f.binary(BinOp::UMulHi, a, b)]
            }
            _ => smallvec![f.binary(BinOp::IMul, a, b), f.binary(BinOp::SMulHi, a, b)],
        };
        self.define_values(inst, values)
    }

    /// `OpSDot` and its kin: products of components at the result's width, summed.
    fn integer_dot(&mut self, op: Op, inst: &Inst<'_>) -> Result<Value> {
        let result = self.unit.result_ir(inst)?;
        if !result.is_scalar() || !result.scalar.is_int() {
            return Err(self.error(inst, "the result type is not a scalar integer"));
        }
        let (a_signed, b_signed) = match op {
            Op::SDot | Op::SDotAccSat => (true, true),
            Op::UDot | Op::UDotAccSat => (false, false),
            _ => (true, false),
        };
        let a = self.dot_operand(inst, 0)?;
        let b = self.dot_operand(inst, 1)?;
        if self.body.ty(a).lanes != self.body.ty(b).lanes {
            return Err(self.error(inst, "the vectors have different numbers of components"));
        }
        let lanes = self.body.ty(a).lanes;
        let wide = |body: &mut Body, value: Value, signed: bool| {
            let from = body.ty(value);
            let to = result.with_lanes(from.lanes);
            if from.scalar.bits() == to.scalar.bits() {
                value
            } else if from.scalar.bits() > to.scalar.bits() {
                body.b().convert(ConvertOp::Trunc, value, to)
            } else if signed {
                body.b().convert(ConvertOp::SExt, value, to)
            } else {
                body.b().convert(ConvertOp::ZExt, value, to)
            }
        };
        let a = wide(&mut self.body, a, a_signed);
        let b = wide(&mut self.body, b, b_signed);
        let products = self.body.b().binary(BinOp::IMul, a, b);
        let mut sum = self.body.b().extract(products, 0);
        for lane in 1..lanes {
            let mut f = self.body.b();
            let product = f.extract(products, lane);
            sum = f.binary(BinOp::IAdd, sum, product);
        }
        Ok(match op {
            Op::SDotAccSat | Op::SUDotAccSat | Op::UDotAccSat => {
                let accumulator = self.typed(inst, inst.operands[2], result)?;
                let op = if op == Op::UDotAccSat {
                    BinOp::UAddSat
                } else {
                    BinOp::SAddSat
                };
                self.body.b().binary(op, sum, accumulator)
            }
            _ => sum,
        })
    }

    /// A vector of integers, or a 32-bit integer that is four packed bytes.
    fn dot_operand(&mut self, inst: &Inst<'_>, operand: usize) -> Result<Value> {
        let value = self.integer(inst, inst.operands[operand])?;
        match self.body.ty(value) {
            Type::I32 => {
                let bytes = Type::new(Scalar::I8, 4);
                Ok(self.body.b().bitcast(value, bytes))
            }
            ty if !ty.is_scalar() => Ok(value),
            ty => Err(self.error(
                inst,
                format!("a packed vector of type {ty} is not supported"),
            )),
        }
    }

    /// Whether any or all lanes hold. Integers, which some producers use, count by their top bit as
    /// in OpenCL C's `any` and `all`.
    fn any_all(&mut self, op: Op, inst: &Inst<'_>) -> Result<Value> {
        let mut value = self.of_class(inst, 0, Class::Bits)?;
        let ty = self.body.ty(value);
        if ty.scalar != Scalar::I1 {
            let zero = self.body.iconst(ty, 0);
            value = self.body.b().icmp(IntCC::Slt, value, zero);
        }
        if ty.is_scalar() {
            return Ok(value);
        }
        let op = if op == Op::Any { BinOp::Or } else { BinOp::And };
        let mut f = self.body.b();
        let mut all = f.extract(value, 0);
        for lane in 1..ty.lanes {
            let next = f.extract(value, lane);
            all = f.binary(op, all, next);
        }
        Ok(all)
    }

    fn classify(&mut self, op: Op, inst: &Inst<'_>) -> Result<Value> {
        let a = self.float(inst, inst.operands[0])?;
        let ty = self.body.ty(a);
        if op == Op::SignBitSet {
            let int = ty.with_scalar(ty.scalar.as_int());
            let zero = self.body.iconst(int, 0);
            let bits = self.body.b().bitcast(a, int);
            return Ok(self.body.b().icmp(IntCC::Slt, bits, zero));
        }
        if op == Op::IsNan {
            return Ok(self.body.b().fcmp(FloatCC::Uno, a, a));
        }
        let infinity = self.body.fconst(ty, f64::INFINITY);
        let magnitude = self.body.b().unary(UnOp::FAbs, a);
        Ok(match op {
            Op::IsInf => self.body.b().fcmp(FloatCC::Oeq, magnitude, infinity),
            Op::IsFinite => self.body.b().fcmp(FloatCC::Olt, magnitude, infinity),
            _ => {
                // The smallest normal number has an exponent of 1 and no fraction.
                let smallest = self.body.iconst(ty, 1 << stored_bits(ty.scalar));
                let mut f = self.body.b();
                let finite = f.fcmp(FloatCC::Olt, magnitude, infinity);
                let normal = f.fcmp(FloatCC::Oge, magnitude, smallest);
                f.binary(BinOp::And, finite, normal)
            }
        })
    }

    fn select(&mut self, inst: &Inst<'_>) -> Result<()> {
        let cond = self.of_class(inst, 0, Class::Bool)?;
        let a = self.values(inst, inst.operands[1])?;
        let b = self.values(inst, inst.operands[2])?;
        let lanes = self.body.ty(cond).lanes;
        let matches = a.len() == b.len()
            && a.iter()
                .zip(&b)
                .all(|(&a, &b)| self.body.ty(a) == self.body.ty(b))
            && (lanes == 1 || a.iter().all(|&a| self.body.ty(a).lanes == lanes));
        if !matches {
            return Err(self.error(
                inst,
                "the condition and the objects do not have matching types",
            ));
        }
        let values: Values = a
            .iter()
            .zip(&b)
            .map(|(&a, &b)| self.body.b().select(cond, a, b))
            .collect();
        self.define_values(inst, values)
    }

    /// Bit fields; a count of 0 gives nothing, without a shift by the whole width.
    fn bit_field(&mut self, op: Op, inst: &Inst<'_>) -> Result<Value> {
        let base = self.integer(inst, inst.operands[0])?;
        let ty = self.body.ty(base);
        let numbers = inst.operands.len() - 2;
        let mut splat: SmallVec<[Value; 2]> = SmallVec::new();
        for &id in &inst.operands[numbers..] {
            let number = self.integer(inst, id)?;
            if !self.body.ty(number).is_scalar() {
                return Err(self.error(inst, "the offset and count are not scalars"));
            }
            let number = self.body.resize(number, ty.scalar);
            splat.push(self.body.b().splat(number, ty.lanes));
        }
        let (offset, count) = (splat[0], splat[1]);
        let width = self.body.iconst(ty, u64::from(ty.scalar.bits()));
        let zero = self.body.iconst(ty, 0);
        let ones = self.body.iconst(ty, u64::MAX);
        let empty = self.body.b().icmp(IntCC::Eq, count, zero);
        let unused = self.body.b().binary(BinOp::ISub, width, count);
        if op == Op::BitFieldInsert {
            let insert = self.typed(inst, inst.operands[1], ty)?;
            let mut f = self.body.b();
            let low = f.binary(BinOp::LShr, ones, unused);
            let low = f.select(empty, zero, low);
            let mask = f.binary(BinOp::Shl, low, offset);
            let bits = f.binary(BinOp::Shl, insert, offset);
            let bits = f.binary(BinOp::And, bits, mask);
            let keep = f.unary(UnOp::Not, mask);
            let rest = f.binary(BinOp::And, base, keep);
            return Ok(f.binary(BinOp::Or, rest, bits));
        }
        let right = if op == Op::BitFieldSExtract {
            BinOp::AShr
        } else {
            BinOp::LShr
        };
        let mut f = self.body.b();
        let left = f.binary(BinOp::ISub, unused, offset);
        let high = f.binary(BinOp::Shl, base, left);
        let field = f.binary(right, high, unused);
        Ok(f.select(empty, zero, field))
    }
}
