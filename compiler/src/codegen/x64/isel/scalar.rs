//! Arithmetic of one lane in general registers.
//!
//! Bits above those of the type are arbitrary in registers, so what looks at them extends first.

use regalloc2::VReg;

use super::control::Condition;
use super::values::Repr;
use super::{Isel, Result};
use crate::codegen::x64::encoding::{Cc, Opcode, Size};
use crate::codegen::x64::inst::{Fixed, GENERAL, Inst, Plain, RAX, RCX, RDX, Rm, VECTOR, gpr};
use crate::ir::{BinOp, ConvertOp, Op, Scalar, Type, UnOp, Value};

/// The registers that arithmetic of a type is done in.
fn register_size(scalar: Scalar) -> Size {
    if scalar.bits() == 64 {
        Size::B64
    } else {
        Size::B32
    }
}

impl Isel<'_> {
    pub fn scalar_binary(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> Result<Repr> {
        let scalar = ty.scalar;
        let size = register_size(scalar);
        let (a, b) = match op.is_commutative() {
            true => self.memory_second(a, b),
            false => (a, b),
        };
        let reg = match op {
            BinOp::IAdd => self.arithmetic(Opcode::Add, Opcode::AddImm, size, a, b)?,
            BinOp::ISub => self.arithmetic(Opcode::Sub, Opcode::SubImm, size, a, b)?,
            BinOp::And => match self.complement(a, b) {
                Some((complemented, other)) => {
                    let complemented = self.scalar(complemented)?;
                    let other = self.scalar_rm(other)?;
                    self.rvm(Opcode::Andn, size, complemented, other)
                }
                None => match self.bit_field(a, b) {
                    Some((of, control)) => {
                        let control = self.int_constant(control);
                        let of = self.scalar_rm(of)?;
                        self.rvm(Opcode::Bextr, size, control, of)
                    }
                    None => self.arithmetic(Opcode::And, Opcode::AndImm, size, a, b)?,
                },
            },
            BinOp::Or => self.arithmetic(Opcode::Or, Opcode::OrImm, size, a, b)?,
            BinOp::Xor => self.arithmetic(Opcode::Xor, Opcode::XorImm, size, a, b)?,
            BinOp::IMul => self.product(size, a, b)?,
            BinOp::Shl | BinOp::LShr | BinOp::AShr => self.shift(op, scalar, a, b)?,
            BinOp::Rotl => self.rotate(scalar, a, b)?,
            BinOp::SMulHi | BinOp::UMulHi => self.high_product(op, scalar, a, b)?,
            BinOp::SDiv | BinOp::SRem | BinOp::UDiv | BinOp::URem => {
                self.division(op, scalar, a, b)?
            }
            BinOp::SMin | BinOp::SMax | BinOp::UMin | BinOp::UMax => {
                self.least_or_most(op, scalar, a, b)?
            }
            other => {
                return Err(super::Diagnostic::new(format!(
                    "`{}` of a scalar is not selected",
                    other.name()
                )));
            }
        };
        Ok(Repr::Scalar(reg))
    }

    /// Of a value that is shifted by its user and a mask for what is left the value, and where the
    /// bits begin and how many there are as `bextr` has it.
    fn bit_field(&self, shifted: Value, mask: Value) -> Option<(Value, u64)> {
        let (shifted, mask) = match self.func.as_const(mask) {
            Some(mask) => (shifted, mask),
            None => (mask, self.func.as_const(shifted)?),
        };
        let Some((Op::Binary(BinOp::LShr, _), &[of, by])) = self.deferred_op(shifted) else {
            return None;
        };
        let start = self.func.as_const(by)?;
        Some((of, start | u64::from(mask.trailing_ones()) << 8))
    }

    fn arithmetic(
        &mut self,
        opcode: Opcode,
        with_immediate: Opcode,
        size: Size,
        a: Value,
        b: Value,
    ) -> Result<VReg> {
        let left = self.scalar(a)?;
        if let Some(imm) = self.immediate(b) {
            return Ok(match (opcode, imm) {
                (Opcode::And, 0xff) => self.rm(Opcode::Movzx8, Size::B32, left),
                (Opcode::And, 0xffff) => self.rm(Opcode::Movzx16, Size::B32, left),
                _ => self.mi(with_immediate, size, left, imm),
            });
        }
        let scalar = self.func.ty(b).scalar;
        let right = match scalar.bits() {
            32 | 64 => self.scalar_rm(b)?,
            _ => Rm::Reg(self.scalar(b)?),
        };
        Ok(self.rvm(opcode, size, left, right))
    }

    fn product(&mut self, size: Size, a: Value, b: Value) -> Result<VReg> {
        match self.immediate(b) {
            Some(imm) if imm > 0 && (imm as u64).is_power_of_two() => {
                let left = self.scalar(a)?;
                Ok(self.mi(Opcode::ShlImm, size, left, imm.trailing_zeros().into()))
            }
            Some(imm) => {
                let left = self.scalar(a)?;
                Ok(self.rmi(Opcode::ImulImm, size, left, imm))
            }
            None => {
                let (left, right) = (self.scalar(a)?, self.scalar(b)?);
                Ok(self.rvm(Opcode::Imul, size, left, right))
            }
        }
    }

    /// Shifts; the amount is taken modulo the width.
    fn shift(&mut self, op: BinOp, scalar: Scalar, a: Value, b: Value) -> Result<VReg> {
        let size = register_size(scalar);
        let bits = i64::from(scalar.bits());
        let from = match op {
            BinOp::Shl => self.scalar(a)?,
            _ => self.extended(a, op == BinOp::AShr)?,
        };
        if let Some(amount) = self.func.as_const(b) {
            let opcode = match op {
                BinOp::Shl => Opcode::ShlImm,
                BinOp::LShr => Opcode::ShrImm,
                _ => Opcode::SarImm,
            };
            return Ok(self.mi(opcode, size, from, amount as i64 & (bits - 1)));
        }
        let mut amount = self.scalar(b)?;
        if bits < 32 {
            amount = self.mi(Opcode::AndImm, Size::B32, amount, bits - 1);
        }
        let opcode = match op {
            BinOp::Shl => Opcode::Shlx,
            BinOp::LShr => Opcode::Shrx,
            _ => Opcode::Sarx,
        };
        Ok(self.rvm(opcode, size, amount, from))
    }

    fn rotate(&mut self, scalar: Scalar, a: Value, b: Value) -> Result<VReg> {
        let size = match scalar.bits() {
            8 => Size::B8,
            16 => Size::B16,
            32 => Size::B32,
            _ => Size::B64,
        };
        let from = self.scalar(a)?;
        if let Some(amount) = self.func.as_const(b) {
            let amount = amount as i64 & i64::from(scalar.bits() - 1);
            return Ok(self.mi(Opcode::RolImm, size, from, amount));
        }
        let amount = self.scalar(b)?;
        let dst = self.m.vreg(GENERAL);
        let mut plain = Plain::new(Opcode::RolCl, size);
        (plain.dst, plain.a) = (dst, from);
        self.fixed(plain, &[(amount, gpr(RCX))], &[], &[]);
        Ok(dst)
    }

    /// An instruction that has operands in given registers.
    pub fn fixed(
        &mut self,
        plain: Plain,
        uses: &[(VReg, regalloc2::PReg)],
        defs: &[(VReg, regalloc2::PReg)],
        clobbers: &[regalloc2::PReg],
    ) {
        self.m.push(Inst::Fixed(Box::new(Fixed {
            plain,
            uses: uses.into(),
            defs: defs.into(),
            clobbers: clobbers.into(),
        })));
    }

    fn high_product(&mut self, op: BinOp, scalar: Scalar, a: Value, b: Value) -> Result<VReg> {
        let signed = op == BinOp::SMulHi;
        let bits = i64::from(scalar.bits());
        if bits == 64 {
            let (left, right) = (self.scalar(a)?, self.scalar(b)?);
            let opcode = if signed { Opcode::Imul1 } else { Opcode::Mul1 };
            let high = self.m.vreg(GENERAL);
            let mut plain = Plain::new(opcode, Size::B64);
            plain.b = Rm::Reg(right);
            self.fixed(plain, &[(left, gpr(RAX))], &[(high, gpr(RDX))], &[gpr(RAX)]);
            return Ok(high);
        }
        let convert = if signed {
            ConvertOp::SExt
        } else {
            ConvertOp::ZExt
        };
        let wide = if bits == 32 { Scalar::I64 } else { Scalar::I32 };
        let (left, right) = (self.scalar(a)?, self.scalar(b)?);
        let left = self.extend(convert, left.into(), scalar, wide);
        let right = self.extend(convert, right.into(), scalar, wide);
        let product = self.rvm(Opcode::Imul, register_size(wide), left, right);
        Ok(self.mi(Opcode::ShrImm, register_size(wide), product, bits))
    }

    /// Never traps: a divisor of 0, and of -1 when signed, is replaced with 1, by which the
    /// quotient is the dividend and the remainder 0; for -1 the quotient is then negated.
    fn division(&mut self, op: BinOp, scalar: Scalar, a: Value, b: Value) -> Result<VReg> {
        let signed = matches!(op, BinOp::SDiv | BinOp::SRem);
        let quotient = matches!(op, BinOp::SDiv | BinOp::UDiv);
        let size = register_size(scalar);
        let dividend = self.extended(a, signed)?;
        let divisor = self.extended(b, signed)?;
        let one = self.int_constant(1);
        let safe = if signed {
            // -1, 0 become 0, 1.
            let above = self.mi(Opcode::AddImm, size, divisor, 1);
            self.test_imm(Opcode::CmpImm, size, above, 1);
            self.cmov(Cc::Be, size, divisor, one)
        } else {
            self.test(Opcode::Test, size, divisor, divisor);
            self.cmov(Cc::E, size, divisor, one)
        };
        let (low, high) = (self.m.vreg(GENERAL), self.m.vreg(GENERAL));
        let upper = if signed {
            let last = i64::from(size.bytes()) * 8 - 1;
            self.mi(Opcode::SarImm, size, dividend, last)
        } else {
            self.int_constant(0)
        };
        let opcode = if signed { Opcode::Idiv } else { Opcode::Div };
        let mut plain = Plain::new(opcode, size);
        plain.b = Rm::Reg(safe);
        let uses = [(dividend, gpr(RAX)), (upper, gpr(RDX))];
        if !quotient {
            self.fixed(plain, &uses, &[(high, gpr(RDX))], &[gpr(RAX)]);
            return Ok(high);
        }
        self.fixed(plain, &uses, &[(low, gpr(RAX))], &[gpr(RDX)]);
        if !signed {
            return Ok(low);
        }
        let negated = self.mi(Opcode::Neg, size, low, 0);
        self.test_imm(Opcode::CmpImm, size, divisor, -1);
        Ok(self.cmov(Cc::E, size, low, negated))
    }

    /// `if_not`, or `if_so` when the condition holds.
    pub fn cmov(&mut self, cc: Cc, size: Size, if_not: VReg, if_so: VReg) -> VReg {
        self.define(Opcode::Cmovcc, size, |plain| {
            (plain.a, plain.b, plain.imm) = (if_not, Rm::Reg(if_so), cc as i64);
        })
    }

    fn least_or_most(&mut self, op: BinOp, scalar: Scalar, a: Value, b: Value) -> Result<VReg> {
        let signed = matches!(op, BinOp::SMin | BinOp::SMax);
        let size = register_size(scalar);
        let left = self.extended(a, signed)?;
        let right = self.extended(b, signed)?;
        self.test(Opcode::Cmp, size, left, right);
        let cc = match op {
            BinOp::SMin => Cc::G,
            BinOp::SMax => Cc::L,
            BinOp::UMin => Cc::A,
            _ => Cc::B,
        };
        Ok(self.cmov(cc, size, left, right))
    }

    pub fn scalar_unary(&mut self, op: UnOp, a: Value, ty: Type) -> Result<Repr> {
        let scalar = ty.scalar;
        let size = register_size(scalar);
        let bits = scalar.bits();
        let reg = match op {
            UnOp::Not if scalar == Scalar::I1 => {
                let from = self.scalar(a)?;
                self.mi(Opcode::XorImm, Size::B32, from, 1)
            }
            UnOp::Not => {
                let from = self.scalar(a)?;
                self.mi(Opcode::Not, size, from, 0)
            }
            UnOp::INeg => {
                let from = self.scalar(a)?;
                self.mi(Opcode::Neg, size, from, 0)
            }
            UnOp::PopCount => {
                let from = self.extended(a, false)?;
                self.rm(Opcode::Popcnt, size, from)
            }
            UnOp::Clz => {
                let from = self.extended(a, false)?;
                let zeros = self.rm(Opcode::Lzcnt, size, from);
                match bits {
                    8 | 16 => self.mi(Opcode::SubImm, size, zeros, i64::from(32 - bits)),
                    _ => zeros,
                }
            }
            UnOp::Ctz => {
                let mut from = self.scalar(a)?;
                if bits < 32 {
                    from = self.mi(Opcode::OrImm, size, from, 1 << bits);
                }
                self.rm(Opcode::Tzcnt, size, from)
            }
            UnOp::BitReverse => self.reversed(a, scalar)?,
            other => {
                return Err(super::Diagnostic::new(format!(
                    "`{}` of a scalar is not selected",
                    other.name()
                )));
            }
        };
        Ok(Repr::Scalar(reg))
    }

    /// Bytes are turned round, then nibbles, pairs and bits within them.
    fn reversed(&mut self, a: Value, scalar: Scalar) -> Result<VReg> {
        let size = register_size(scalar);
        let mut value = self.scalar(a)?;
        value = self.define(Opcode::Bswap, size, |plain| plain.a = value);
        for (shift, low) in [
            (4, 0x0f0f_0f0f_0f0f_0f0f_u64),
            (2, 0x3333_3333_3333_3333),
            (1, 0x5555_5555_5555_5555),
        ] {
            let mask = self.int_constant(if size == Size::B64 {
                low
            } else {
                low & 0xffff_ffff
            });
            let down = self.mi(Opcode::ShrImm, size, value, shift);
            let down = self.rvm(Opcode::And, size, down, mask);
            let up = self.rvm(Opcode::And, size, value, mask);
            let up = self.mi(Opcode::ShlImm, size, up, shift);
            value = self.rvm(Opcode::Or, size, down, up);
        }
        let unused = i64::from(size.bytes() * 8 - scalar.bits());
        Ok(match unused {
            0 => value,
            _ => self.mi(Opcode::ShrImm, size, value, unused),
        })
    }

    /// Choice between one-lane values.
    pub fn scalar_select(&mut self, cond: Value, a: Value, b: Value, ty: Type) -> Result<Repr> {
        let (yes, no) = (self.scalar(a)?, self.scalar(b)?);
        if yes.class() == VECTOR {
            let mask = self.one_lane_mask(cond, ty.scalar)?;
            let chosen = self.blend(ty.scalar, Size::V128, mask, no, Rm::Reg(yes));
            return Ok(Repr::Scalar(chosen));
        }
        Ok(Repr::Scalar(match self.condition(cond)? {
            Condition::Always(true) => yes,
            Condition::Always(false) => no,
            Condition::Flags(cc) => self.cmov(cc, Size::B64, no, yes),
        }))
    }

    /// Whether zeros are above the value in its register: arithmetic of 32 bits clears the upper
    /// half, and a lane that is taken out of a vector comes alone.
    pub fn is_zero_extended(&self, value: Value) -> bool {
        let ty = self.func.ty(value);
        let Some(inst) = self.func.def_inst(value).filter(|_| ty.lanes == 1) else {
            return false;
        };
        let data = &self.func.insts[inst];
        match data.op {
            Op::Binary(..) => ty.scalar == Scalar::I32,
            Op::Extract(_) => {
                matches!(ty.scalar, Scalar::I8 | Scalar::I16 | Scalar::I32)
                    && matches!(self.values[data.args[0]], Repr::Vector(_))
            }
            _ => false,
        }
    }

    /// An integer in wider registers. The upper bits of the source's are arbitrary.
    pub fn extend(&mut self, op: ConvertOp, from: Rm, scalar: Scalar, to: Scalar) -> VReg {
        let size = register_size(to);
        match (op, scalar.bits()) {
            (ConvertOp::SExt, 8) => self.rm(Opcode::Movsx8, size, from),
            (ConvertOp::SExt, 16) => self.rm(Opcode::Movsx16, size, from),
            (ConvertOp::SExt, 32) => self.rm(Opcode::Movsxd, size, from),
            (_, 8) => self.rm(Opcode::Movzx8, Size::B32, from),
            (_, 16) => self.rm(Opcode::Movzx16, Size::B32, from),
            _ => self.rm(Opcode::Mov, Size::B32, from),
        }
    }
}
