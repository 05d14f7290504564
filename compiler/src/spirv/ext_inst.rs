//! The instruction set `OpenCL.std`: each is plain IR operations or one [`Builtin`].

use rspirv::spirv::OpenclStd100Op as Std;
use smallvec::{SmallVec, smallvec};

use super::body::Values;
use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use super::rules::REQUIRED;
use crate::ir::{Arith, BinOp, Builtin, IntCC, Mem, Op as IrOp, Scalar, Type, UnOp, Value, Wrap};

/// What operands a function takes, all with the same number of lanes, and gives.
#[derive(Clone, Copy)]
enum Signature {
    /// Floats of one type, this many; gives that type.
    Float(usize),
    /// Integers of one type, this many; gives that type.
    Int(usize),
    /// A float and an `i32` of as many lanes; gives the float's type.
    FloatInt,
    /// Floats of one type, this many; gives one lane.
    Reduce(usize),
}

/// How a function is translated when it is one operation.
#[derive(Clone, Copy)]
enum Plain {
    Unary(UnOp),
    Binary(BinOp),
    Fma,
    Builtin,
}

/// The functions that are one operation, by name through [`Builtin::from_name`] where it is a
/// built-in.
fn plain(op: Std) -> Option<(Signature, Plain)> {
    use Plain::{Binary, Fma, Unary};
    use Signature::{Float, FloatInt, Int, Reduce};
    let builtin = Plain::Builtin;
    Some(match op {
        Std::fabs => (Float(1), Unary(UnOp::FAbs)),
        Std::ceil => (Float(1), Unary(UnOp::Ceil)),
        Std::floor => (Float(1), Unary(UnOp::Floor)),
        Std::trunc => (Float(1), Unary(UnOp::Trunc)),
        Std::rint => (Float(1), Unary(UnOp::RoundEven)),
        Std::sqrt => (Float(1), Unary(UnOp::Sqrt)),
        Std::fma => (Float(3), Fma),
        Std::fmax => (Float(2), Binary(BinOp::FMax)),
        Std::fmin => (Float(2), Binary(BinOp::FMin)),
        Std::copysign => (Float(2), Binary(BinOp::CopySign)),
        Std::fmod => (Float(2), Binary(BinOp::FRem)),
        Std::s_add_sat => (Int(2), Binary(BinOp::SAddSat)),
        Std::u_add_sat => (Int(2), Binary(BinOp::UAddSat)),
        Std::s_sub_sat => (Int(2), Binary(BinOp::SSubSat)),
        Std::u_sub_sat => (Int(2), Binary(BinOp::USubSat)),
        Std::s_max => (Int(2), Binary(BinOp::SMax)),
        Std::u_max => (Int(2), Binary(BinOp::UMax)),
        Std::s_min => (Int(2), Binary(BinOp::SMin)),
        Std::u_min => (Int(2), Binary(BinOp::UMin)),
        Std::s_mul_hi => (Int(2), Binary(BinOp::SMulHi)),
        Std::u_mul_hi => (Int(2), Binary(BinOp::UMulHi)),
        Std::rotate => (Int(2), Binary(BinOp::Rotl)),
        Std::clz => (Int(1), Unary(UnOp::Clz)),
        Std::ctz => (Int(1), Unary(UnOp::Ctz)),
        Std::popcount => (Int(1), Unary(UnOp::PopCount)),
        Std::s_abs_diff
        | Std::u_abs_diff
        | Std::s_hadd
        | Std::u_hadd
        | Std::s_rhadd
        | Std::u_rhadd => (Int(2), builtin),
        Std::s_clamp | Std::u_clamp | Std::s_mad_sat | Std::u_mad_sat => (Int(3), builtin),
        Std::ldexp | Std::pown | Std::rootn => (FloatInt, builtin),
        Std::atan2
        | Std::atan2pi
        | Std::fdim
        | Std::hypot
        | Std::maxmag
        | Std::minmag
        | Std::nextafter
        | Std::pow
        | Std::powr
        | Std::remainder
        | Std::half_divide
        | Std::half_powr
        | Std::native_divide
        | Std::native_powr
        | Std::fmax_common
        | Std::fmin_common
        | Std::step
        | Std::cross => (Float(2), builtin),
        Std::mad | Std::fclamp | Std::mix | Std::smoothstep => (Float(3), builtin),
        Std::distance | Std::fast_distance => (Reduce(2), builtin),
        Std::length | Std::fast_length => (Reduce(1), builtin),
        Std::acos
        | Std::acosh
        | Std::acospi
        | Std::asin
        | Std::asinh
        | Std::asinpi
        | Std::atan
        | Std::atanh
        | Std::atanpi
        | Std::cbrt
        | Std::cos
        | Std::cosh
        | Std::cospi
        | Std::erfc
        | Std::erf
        | Std::exp
        | Std::exp2
        | Std::exp10
        | Std::expm1
        | Std::lgamma
        | Std::log
        | Std::log2
        | Std::log10
        | Std::log1p
        | Std::logb
        | Std::round
        | Std::rsqrt
        | Std::sin
        | Std::sinh
        | Std::sinpi
        | Std::tan
        | Std::tanh
        | Std::tanpi
        | Std::tgamma
        | Std::half_cos
        | Std::half_exp
        | Std::half_exp2
        | Std::half_exp10
        | Std::half_log
        | Std::half_log2
        | Std::half_log10
        | Std::half_recip
        | Std::half_rsqrt
        | Std::half_sin
        | Std::half_sqrt
        | Std::half_tan
        | Std::native_cos
        | Std::native_exp
        | Std::native_exp2
        | Std::native_exp10
        | Std::native_log
        | Std::native_log2
        | Std::native_log10
        | Std::native_recip
        | Std::native_rsqrt
        | Std::native_sin
        | Std::native_sqrt
        | Std::native_tan
        | Std::degrees
        | Std::radians
        | Std::sign
        | Std::normalize
        | Std::fast_normalize => (Float(1), builtin),
        _ => return None,
    })
}

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of `OpenCL.std`.
    pub(super) fn opencl_std(&mut self, inst: &Inst<'_>) -> Result<()> {
        let number = inst.operands[1];
        let Some(op) = Std::from_u32(number) else {
            return Err(self.error(inst, format!("unknown instruction {number} of OpenCL.std")));
        };
        self.std_instruction(op, inst, &inst.operands[2..])
    }

    fn std_instruction(&mut self, op: Std, inst: &Inst<'_>, args: &[u32]) -> Result<()> {
        if let Some((signature, how)) = plain(op) {
            return self.plain_instruction(op, inst, args, (signature, how));
        }
        let value = match op {
            Std::fract | Std::modf | Std::sincos => {
                let x = self.float(inst, args[0])?;
                let ty = self.body.ty(x);
                return self.two_results(inst, op, &[x], args[1], ty);
            }
            Std::frexp | Std::lgamma_r => {
                let x = self.float(inst, args[0])?;
                let second = self.body.ty(x).with_scalar(Scalar::I32);
                return self.two_results(inst, op, &[x], args[1], second);
            }
            Std::remquo => {
                let x = self.float(inst, args[0])?;
                let ty = self.body.ty(x);
                let y = self.typed(inst, args[1], ty)?;
                return self.two_results(inst, op, &[x, y], args[2], ty.with_scalar(Scalar::I32));
            }
            Std::ilogb => {
                let x = self.float(inst, args[0])?;
                let ty = self.body.ty(x).with_scalar(Scalar::I32);
                self.body.b().val(IrOp::Builtin(Builtin::Ilogb), &[x], ty)
            }
            Std::nan => {
                let code = self.integer(inst, args[0])?;
                let ty = self.unit.result_ir(inst)?;
                if ty.with_scalar(ty.scalar.as_int()) != self.body.ty(code) || !ty.scalar.is_float()
                {
                    return Err(self.error(inst, "the code does not have the result's size"));
                }
                self.body.b().val(IrOp::Builtin(Builtin::Nan), &[code], ty)
            }
            // The result is unsigned: the most negative number is its own magnitude.
            Std::s_abs => {
                let x = self.integer(inst, args[0])?;
                let mut f = self.body.b();
                let negated = f.unary(UnOp::INeg, x);
                f.binary(BinOp::SMax, x, negated)
            }
            Std::u_abs => self.integer(inst, args[0])?,
            Std::s_mad_hi | Std::u_mad_hi => {
                let (values, _) = self.shaped(inst, args, Signature::Int(3))?;
                let high = if op == Std::s_mad_hi {
                    BinOp::SMulHi
                } else {
                    BinOp::UMulHi
                };
                let mut f = self.body.b();
                let product = f.binary(high, values[0], values[1]);
                f.binary(BinOp::IAdd, product, values[2])
            }
            Std::s_mul24 | Std::u_mul24 => {
                let (values, _) = self.shaped(inst, args, Signature::Int(2))?;
                self.product_of_24_bits(op == Std::s_mul24, values[0], values[1])
            }
            Std::s_mad24 | Std::u_mad24 => {
                let (values, ty) = self.shaped(inst, args, Signature::Int(3))?;
                let signed = op == Std::s_mad24;
                let product = self.product_of_24_bits(signed, values[0], values[1]);
                // The sum is one of `int`, whose overflow is undefined, or of `uint`.
                let sum = IrOp::Binary(
                    BinOp::IAdd,
                    Wrap {
                        nsw: signed,
                        ..Wrap::default()
                    },
                );
                self.body.b().val(sum, &[product, values[2]], ty)
            }
            Std::s_upsample | Std::u_upsample => {
                let (values, ty) = self.shaped(inst, args, Signature::Int(2))?;
                let wide = Scalar::int(ty.scalar.bits() * 2)
                    .ok_or_else(|| self.error(inst, "there are no integers twice as wide"))?;
                let ir = self.builtin(inst, op)?;
                self.body.b().val(ir, &values, ty.with_scalar(wide))
            }
            Std::bitselect => self.bitselect(inst, args)?,
            Std::select => self.std_select(inst, args)?,
            Std::shuffle | Std::shuffle2 => self.std_shuffle(inst, args)?,
            Std::printf => self.printf(inst, args)?,
            Std::prefetch => {
                self.pointer(inst, args[0])?;
                return Ok(());
            }
            _ => return self.vector_memory(op, inst, args),
        };
        self.define(inst, value)
    }

    /// The low 32 bits of a product of operands that fit in 24 bits; of others the result is
    /// implementation-defined. Times a small constant, as in indices, it cannot overflow.
    fn product_of_24_bits(&mut self, signed: bool, x: Value, y: Value) -> Value {
        let small = [x, y].iter().any(|&value| {
            let constant = self.body.func.as_const(value);
            constant.is_some_and(|c| c <= 1 << (Scalar::I32.bits() - 24))
        });
        let wrap = Wrap {
            nsw: small && signed,
            nuw: small && !signed,
            ..Wrap::default()
        };
        let ty = self.body.ty(x);
        let product = IrOp::Binary(BinOp::IMul, wrap);
        self.body.b().val(product, &[x, y], ty)
    }

    /// An instruction that is one operation of the IR.
    fn plain_instruction(
        &mut self,
        op: Std,
        inst: &Inst<'_>,
        args: &[u32],
        (signature, how): (Signature, Plain),
    ) -> Result<()> {
        let (values, ty) = self.shaped(inst, args, signature)?;
        let ir = match how {
            Plain::Unary(UnOp::Sqrt) | Plain::Fma => {
                let arith = if op == Std::fma {
                    Arith::Fma
                } else {
                    Arith::Sqrt
                };
                let value = self.float_arithmetic(inst, arith, &values)?;
                return self.define(inst, value);
            }
            Plain::Unary(op) => IrOp::Unary(op),
            Plain::Binary(op) => IrOp::Binary(op, Wrap::default()),
            Plain::Builtin => self.builtin(inst, op)?,
        };
        if op == Std::cross && !matches!(ty.lanes, 3 | 4) {
            return Err(self.error(inst, "the vectors do not have 3 or 4 components"));
        }
        let value = self.body.b().val(ir, &values, ty);
        let value = self.body.flushed(value);
        self.define(inst, value)
    }

    fn std_shuffle(&mut self, inst: &Inst<'_>, args: &[u32]) -> Result<Value> {
        let vectors = args.len() - 1;
        let first = self.value(inst, args[0])?;
        let of_vector = self.body.ty(first);
        let mut values: SmallVec<[Value; 3]> = smallvec![first];
        if vectors == 2 {
            values.push(self.typed(inst, args[1], of_vector)?);
        }
        let mask = self.integer(inst, args[vectors])?;
        let ty = of_vector.with_lanes(self.body.ty(mask).lanes);
        if of_vector.is_scalar() || ty.is_scalar() {
            return Err(self.error(inst, "the operands are not vectors"));
        }
        values.push(mask);
        let builtin = if vectors == 2 {
            Builtin::Shuffle2Dyn
        } else {
            Builtin::ShuffleDyn
        };
        Ok(self.body.b().val(IrOp::Builtin(builtin), &values, ty))
    }

    /// The built-in with the function's name.
    fn builtin(&self, inst: &Inst<'_>, op: Std) -> Result<IrOp> {
        match Builtin::from_name(&format!("{op:?}")) {
            Some(builtin) => Ok(IrOp::Builtin(builtin)),
            None => Err(self
                .error(inst, "this function is not supported yet")
                .under(REQUIRED)),
        }
    }

    /// Operands of a shape, and the type they give.
    fn shaped(
        &mut self,
        inst: &Inst<'_>,
        args: &[Id],
        shape: Signature,
    ) -> Result<(SmallVec<[Value; 3]>, Type)> {
        let first = match shape {
            Signature::Int(_) => self.integer(inst, args[0])?,
            _ => self.float(inst, args[0])?,
        };
        let ty = self.body.ty(first);
        let mut values: SmallVec<[Value; 3]> = smallvec![first];
        match shape {
            Signature::Float(count) | Signature::Int(count) | Signature::Reduce(count) => {
                for &arg in &args[1..count] {
                    values.push(self.typed(inst, arg, ty)?);
                }
            }
            Signature::FloatInt => {
                let exponent = self.integer(inst, args[1])?;
                // A scalar exponent for a vector, which OpenCL C allows for `ldexp`.
                let exponent = if self.body.ty(exponent).is_scalar() {
                    self.body.b().splat(exponent, ty.lanes)
                } else {
                    exponent
                };
                if self.body.ty(exponent) != ty.with_scalar(Scalar::I32) {
                    return Err(self.error(inst, "the exponent is not a 32-bit integer"));
                }
                values.push(exponent);
            }
        }
        for value in &mut values {
            *value = self.body.flushed(*value);
        }
        let result = match shape {
            Signature::Reduce(_) => ty.lane(),
            _ => ty,
        };
        Ok((values, result))
    }

    /// A function whose second result goes where its last operand points.
    fn two_results(
        &mut self,
        inst: &Inst<'_>,
        op: Std,
        args: &[Value],
        pointer: Id,
        second: Type,
    ) -> Result<()> {
        let pointer = self.pointer(inst, pointer)?;
        let ir = self.builtin(inst, op)?;
        let first = self.body.ty(args[0]);
        let args: Values = args.iter().map(|&arg| self.body.flushed(arg)).collect();
        let made = self.body.b().ins(ir, &args, &[first, second]);
        let mut results: Values = self.body.func.insts[made].results.iter().copied().collect();
        for result in &mut results {
            *result = self.body.flushed(*result);
        }
        let align = super::types::size_of(second) as u32;
        self.body
            .b()
            .store(Mem::new(pointer.space, align), pointer.address, results[1]);
        self.define(inst, results[0])
    }

    /// `bitselect`: each bit of the second where the third has a 1, else of the first.
    fn bitselect(&mut self, inst: &Inst<'_>, args: &[Id]) -> Result<Value> {
        let a = self.value(inst, args[0])?;
        let ty = self.body.ty(a);
        if !ty.scalar.is_int() && !ty.scalar.is_float() {
            return Err(self.error(inst, "the operands are not numbers"));
        }
        let b = self.typed(inst, args[1], ty)?;
        let mask = self.typed(inst, args[2], ty)?;
        let int = ty.with_scalar(ty.scalar.as_int());
        let mut f = self.body.b();
        let [a, b, mask] = [a, b, mask].map(|value| f.bitcast(value, int));
        let b = f.binary(BinOp::And, b, mask);
        let keep = f.unary(UnOp::Not, mask);
        let a = f.binary(BinOp::And, a, keep);
        let bits = f.binary(BinOp::Or, a, b);
        Ok(f.bitcast(bits, ty))
    }

    /// `select`: for a scalar by whether the third is not 0, for a vector by the top bit of each
    /// lane.
    fn std_select(&mut self, inst: &Inst<'_>, args: &[Id]) -> Result<Value> {
        let a = self.value(inst, args[0])?;
        let ty = self.body.ty(a);
        let b = self.typed(inst, args[1], ty)?;
        let cond = self.integer(inst, args[2])?;
        let of_cond = self.body.ty(cond);
        if of_cond.lanes != ty.lanes {
            return Err(self.error(inst, "the operands have different numbers of components"));
        }
        let zero = self.body.iconst(of_cond, 0);
        let cc = if ty.is_scalar() {
            IntCC::Ne
        } else {
            IntCC::Slt
        };
        let mut f = self.body.b();
        let cond = f.icmp(cc, cond, zero);
        Ok(f.select(cond, b, a))
    }

    fn printf(&mut self, inst: &Inst<'_>, args: &[Id]) -> Result<Value> {
        let format = self.pointer(inst, args[0])?.address;
        let mut values: SmallVec<[Value; 8]> = smallvec![format];
        for &arg in &args[1..] {
            let value = self.value(inst, arg)?;
            values.push(match self.body.ty(value).scalar {
                Scalar::I1 => self.body.resize(value, Scalar::I32),
                _ => value,
            });
        }
        Ok(self
            .body
            .b()
            .val(IrOp::Printf { masked: false }, &values, Type::I32))
    }
}
