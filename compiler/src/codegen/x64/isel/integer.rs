//! Lane-wise arithmetic: which opcode an operation is; integers of many lanes.

use super::values::Repr;
use super::{Diagnostic, Isel, Result};
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::codegen::x64::inst::Rm;
use crate::ir::{BinOp, Op, Scalar, Type, UnOp, Value};

/// An opcode for each width of lanes.
macro_rules! widths {
    ($bits:expr, $b:ident $w:ident $d:ident $q:ident) => {
        match $bits {
            8 => Opcode::$b,
            16 => Opcode::$w,
            32 => Opcode::$d,
            _ => Opcode::$q,
        }
    };
}

impl Isel<'_> {
    pub fn unary(&mut self, op: UnOp, a: Value, ty: Type) -> Result<Repr> {
        if ty.scalar.is_float() && ty.scalar != Scalar::F16 {
            return self.float_unary(op, a, ty);
        }
        if ty.lanes == 1 {
            return self.scalar_unary(op, a, ty);
        }
        if ty.scalar == Scalar::I1 {
            return self.mask_not(a);
        }
        let bits = ty.scalar.bits();
        match op {
            UnOp::INeg => {
                let shape = self.shape(ty);
                let zero = self.zero_vector(shape.size);
                let opcode = widths!(bits, Vpsubb Vpsubw Vpsubd Vpsubq);
                let b = self.operands(a, true)?;
                let parts = b.into_iter().map(|b| self.rvm(opcode, shape.size, zero, b));
                Ok(Repr::Vector(parts.collect()))
            }
            UnOp::Not => {
                let shape = self.shape(ty);
                let parts = self.parts(a)?;
                if !self.is_avx512() {
                    let ones = self.ones_vector(shape.size);
                    let parts = parts
                        .into_iter()
                        .map(|part| self.rvm(Opcode::Vpxord, shape.size, part, ones));
                    return Ok(Repr::Vector(parts.collect()));
                }
                // The table of "not the third operand".
                let parts = parts.into_iter().map(|part| {
                    self.define(Opcode::Vpternlogd, shape.size, |plain| {
                        (plain.c, plain.a, plain.b) = (part, part, Rm::Reg(part));
                        plain.imm = 0x55;
                    })
                });
                Ok(Repr::Vector(parts.collect()))
            }
            UnOp::PopCount => {
                let opcode = widths!(bits, Vpopcntb Vpopcntw Vpopcntd Vpopcntq);
                self.unary_opcode(opcode, a, ty)
            }
            UnOp::Clz if bits >= 32 => {
                let opcode = widths!(bits, Vplzcntd Vplzcntd Vplzcntd Vplzcntq);
                self.unary_opcode(opcode, a, ty)
            }
            other => Err(Diagnostic::new(format!(
                "`{}` of {ty} is not selected",
                other.name()
            ))),
        }
    }

    fn unary_opcode(&mut self, opcode: Opcode, a: Value, ty: Type) -> Result<Repr> {
        let shape = self.shape(ty);
        let broadcast = ty.scalar.bytes() >= 4;
        let from = self.operands(a, broadcast)?;
        let parts = from.into_iter().map(|b| self.rm(opcode, shape.size, b));
        Ok(Repr::Vector(parts.collect()))
    }

    pub fn binary(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> Result<Repr> {
        if op.is_float() && ty.scalar != Scalar::F16 {
            return self.float_binary(op, a, b, ty);
        }
        if ty.lanes == 1 {
            return self.scalar_binary(op, a, b, ty);
        }
        if ty.scalar == Scalar::I1 {
            return self.mask_binary(op, a, b);
        }
        let (a, b) = match op.is_commutative() {
            true => self.memory_second(a, b),
            false => (a, b),
        };
        let bits = ty.scalar.bits();
        if op == BinOp::And
            && let Some((complemented, other)) = self.complement(a, b)
        {
            let opcode = match bits {
                64 => Opcode::Vpandnq,
                _ => Opcode::Vpandnd,
            };
            return self.lanewise_integer(opcode, complemented, other, ty);
        }
        let opcode = match op {
            BinOp::IAdd => widths!(bits, Vpaddb Vpaddw Vpaddd Vpaddq),
            BinOp::ISub => widths!(bits, Vpsubb Vpsubw Vpsubd Vpsubq),
            BinOp::And if bits == 64 => Opcode::Vpandq,
            BinOp::Or if bits == 64 => Opcode::Vporq,
            BinOp::Xor if bits == 64 => Opcode::Vpxorq,
            BinOp::And => Opcode::Vpandd,
            BinOp::Or => Opcode::Vpord,
            BinOp::Xor => Opcode::Vpxord,
            BinOp::SMin => widths!(bits, Vpminsb Vpminsw Vpminsd Vpminsq),
            BinOp::SMax => widths!(bits, Vpmaxsb Vpmaxsw Vpmaxsd Vpmaxsq),
            BinOp::UMin => widths!(bits, Vpminub Vpminuw Vpminud Vpminuq),
            BinOp::UMax => widths!(bits, Vpmaxub Vpmaxuw Vpmaxud Vpmaxuq),
            BinOp::SAddSat if bits == 8 => Opcode::Vpaddsb,
            BinOp::SAddSat if bits == 16 => Opcode::Vpaddsw,
            BinOp::UAddSat if bits == 8 => Opcode::Vpaddusb,
            BinOp::UAddSat if bits == 16 => Opcode::Vpaddusw,
            BinOp::SSubSat if bits == 8 => Opcode::Vpsubsb,
            BinOp::SSubSat if bits == 16 => Opcode::Vpsubsw,
            BinOp::USubSat if bits == 8 => Opcode::Vpsubusb,
            BinOp::USubSat if bits == 16 => Opcode::Vpsubusw,
            BinOp::SMulHi if bits == 16 => Opcode::Vpmulhw,
            BinOp::UMulHi if bits == 16 => Opcode::Vpmulhuw,
            BinOp::IMul if bits > 8 => return self.vector_product(a, b, ty),
            BinOp::Shl | BinOp::LShr | BinOp::AShr | BinOp::Rotl if bits > 8 => {
                return self.vector_shift(op, a, b, ty);
            }
            other => {
                return Err(Diagnostic::new(format!(
                    "`{}` of {ty} is not selected",
                    other.name()
                )));
            }
        };
        self.lanewise_integer(opcode, a, b, ty)
    }

    /// Of two operands one whose complement is the first, and the second, if its user selects that.
    pub fn complement(&self, a: Value, b: Value) -> Option<(Value, Value)> {
        let complemented = |value: Value| match self.deferred_op(value) {
            Some((Op::Unary(UnOp::Not), &[of])) => Some(of),
            _ => None,
        };
        complemented(a)
            .map(|of| (of, b))
            .or_else(|| complemented(b).map(|of| (of, a)))
    }

    /// `op a, b` on each part. A constant comes second where the operands can be exchanged.
    pub fn lanewise_integer(
        &mut self,
        opcode: Opcode,
        a: Value,
        b: Value,
        ty: Type,
    ) -> Result<Repr> {
        let shape = self.shape(ty);
        let left = self.parts(a)?;
        let takes_broadcast = opcode.info().broadcast;
        let right = self.operands(b, takes_broadcast)?;
        let parts = left
            .into_iter()
            .zip(right)
            .map(|(a, b)| self.rvm(opcode, shape.size, a, b));
        Ok(Repr::Vector(parts.collect()))
    }

    fn vector_product(&mut self, a: Value, b: Value, ty: Type) -> Result<Repr> {
        let bits = ty.scalar.bits();
        if let Some(factor) = self.func.as_const(b)
            && factor.is_power_of_two()
        {
            return self.shift_by(BinOp::Shl, a, factor.trailing_zeros().into(), ty);
        }
        if bits == 64 && !self.is_avx512() {
            return self.wide_product(a, b, ty);
        }
        let opcode = widths!(bits, Vpmullw Vpmullw Vpmulld Vpmullq);
        self.lanewise_integer(opcode, a, b, ty)
    }

    /// Shifts by a constant.
    fn shift_by(&mut self, op: BinOp, a: Value, amount: i64, ty: Type) -> Result<Repr> {
        let shape = self.shape(ty);
        let bits = ty.scalar.bits();
        let amount = amount & i64::from(bits - 1);
        let opcode = match op {
            BinOp::Shl => widths!(bits, VpsllwImm VpsllwImm VpslldImm VpsllqImm),
            BinOp::LShr => widths!(bits, VpsrlwImm VpsrlwImm VpsrldImm VpsrlqImm),
            BinOp::AShr => widths!(bits, VpsrawImm VpsrawImm VpsradImm VpsraqImm),
            _ if !self.is_avx512() => return self.rotate_bytes(a, amount, ty),
            _ if bits == 16 => {
                let parts = self.parts(a)?;
                let parts = parts
                    .into_iter()
                    .map(|part| self.rvmi(Opcode::VpshldwImm, shape.size, part, part, amount));
                return Ok(Repr::Vector(parts.collect()));
            }
            _ => widths!(bits, VproldImm VproldImm VproldImm VprolqImm),
        };
        let parts = self.parts(a)?;
        let parts = parts
            .into_iter()
            .map(|part| self.rmi(opcode, shape.size, part, amount));
        Ok(Repr::Vector(parts.collect()))
    }

    /// Rotates by whole bytes.
    fn rotate_bytes(&mut self, a: Value, amount: i64, ty: Type) -> Result<Repr> {
        debug_assert_eq!(amount % 8, 0, "what is not legal");
        let shape = self.shape(ty);
        let bytes = u64::from(ty.scalar.bytes());
        let by = amount as u64 / 8;
        let index: Vec<u64> = (0..u64::from(shape.size.bytes()))
            .map(|n| n % 16 / bytes * bytes + (n + bytes - by) % bytes)
            .collect();
        let index = self.lanes_in_pool(&index, Scalar::I8, shape.size);
        let parts = self.parts(a)?.into_iter();
        let parts = parts.map(|part| self.rvm(Opcode::Vpshufb, shape.size, part, index));
        Ok(Repr::Vector(parts.collect()))
    }

    /// Shifts by an amount for each lane, taken modulo the width.
    fn vector_shift(&mut self, op: BinOp, a: Value, b: Value, ty: Type) -> Result<Repr> {
        let bits = ty.scalar.bits();
        if let Some(amount) = self.func.as_const(b) {
            return self.shift_by(op, a, amount as i64, ty);
        }
        if bits == 16 && !self.is_avx512() {
            return self.shift_by_same(op, a, b, ty);
        }
        let shape = self.shape(ty);
        let left = self.parts(a)?;
        let amounts = self.parts(b)?;
        if op == BinOp::Rotl {
            // Rotations and double shifts take the amount modulo the width themselves.
            let parts = left.into_iter().zip(amounts).map(|(a, n)| match bits {
                16 => self.rvma(Opcode::Vpshldvw, shape.size, a, a, n),
                32 => self.rvm(Opcode::Vprolvd, shape.size, a, n),
                _ => self.rvm(Opcode::Vprolvq, shape.size, a, n),
            });
            return Ok(Repr::Vector(parts.collect()));
        }
        let opcode = match op {
            BinOp::Shl => widths!(bits, Vpsllvw Vpsllvw Vpsllvd Vpsllvq),
            BinOp::LShr => widths!(bits, Vpsrlvw Vpsrlvw Vpsrlvd Vpsrlvq),
            _ => widths!(bits, Vpsravw Vpsravw Vpsravd Vpsravq),
        };
        let below = self.bits_operand(u64::from(bits - 1), ty.scalar, shape.size);
        let and = match bits {
            64 => Opcode::Vpandq,
            _ => Opcode::Vpandd,
        };
        let known = self.is_below(b, bits);
        let parts = left.into_iter().zip(amounts).map(|(a, n)| {
            let n = if known {
                n
            } else {
                self.rvm(and, shape.size, n, below)
            };
            self.rvm(opcode, shape.size, a, n)
        });
        Ok(Repr::Vector(parts.collect()))
    }

    /// Whether a value is seen to be below a power of two.
    fn is_below(&self, value: Value, limit: u32) -> bool {
        match self.func.def_inst(value).map(|inst| &self.func.insts[inst]) {
            Some(data) => match (&data.op, &data.args[..]) {
                (Op::Binary(BinOp::And, _), &[_, mask]) => self
                    .func
                    .as_const(mask)
                    .is_some_and(|mask| mask < u64::from(limit)),
                _ => false,
            },
            None => false,
        }
    }

    /// Lanes that all hold `bits`, as an operand in memory.
    pub fn bits_operand(&mut self, bits: u64, scalar: Scalar, size: Size) -> Rm {
        let bytes = scalar.bytes();
        if bytes >= 4 && self.has_embedded_broadcast() {
            return Rm::Broadcast(self.lane_in_pool(bits, scalar));
        }
        let lanes = vec![bits; (size.bytes() / bytes) as usize];
        Rm::Mem(self.lanes_in_pool(&lanes, scalar, size))
    }
}
