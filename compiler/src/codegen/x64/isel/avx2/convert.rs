//! Conversions between integers and floating-point numbers. Vectors have those with signed integers
//! of 32 bits, scalars those with signed ones of 32 and 64.

use regalloc2::VReg;
use smallvec::smallvec;

use super::super::values::{Parts, Repr};
use super::super::{Diagnostic, Isel, Result};
use crate::codegen::x64::encoding::{Cc, Opcode, Size};
use crate::codegen::x64::inst::Rm;
use crate::ir::{ConvertOp, FloatCC, Scalar, Type, Value};

impl Isel<'_> {
    /// A conversion of each lane by itself.
    pub fn lane_by_lane(
        &mut self,
        arg: Value,
        to: Type,
        mut one: impl FnMut(&mut Self, VReg) -> VReg,
    ) -> Result<Repr> {
        if to.lanes == 1 {
            let reg = self.scalar(arg)?;
            return Ok(Repr::Scalar(one(self, reg)));
        }
        let mut lanes: Vec<VReg> = Vec::with_capacity(to.lanes.into());
        for lane in 0..to.lanes {
            let reg = self.lane(arg, lane)?;
            lanes.push(one(self, reg));
        }
        Ok(Repr::Vector(self.vector_of(to, &lanes)))
    }

    /// To the nearest number of a scalar integer. Unsigned ones of 32 bits are signed ones of 64;
    /// those from 2^63 on are halved, rounding to odd, and their conversion is doubled.
    pub fn scalar_from_integer(
        &mut self,
        op: ConvertOp,
        reg: VReg,
        from: Scalar,
        to: Scalar,
    ) -> VReg {
        let wide = from.bits() == 64;
        let (convert, add) = match to {
            Scalar::F32 => (Opcode::Vcvtsi2ss, Opcode::Vaddss),
            _ => (Opcode::Vcvtsi2sd, Opcode::Vaddsd),
        };
        // The first operand is what the upper lanes become.
        let above = self.zero_vector(Size::V128);
        if op == ConvertOp::SToF {
            let size = if wide { Size::B64 } else { Size::B32 };
            return self.rvm(convert, size, above, reg);
        }
        if !wide {
            let extended = self.rm(Opcode::Mov, Size::B32, reg);
            return self.rvm(convert, Size::B64, above, extended);
        }
        let half = self.mi(Opcode::ShrImm, Size::B64, reg, 1);
        let last = self.mi(Opcode::AndImm, Size::B32, reg, 1);
        let odd = self.rvm(Opcode::Or, Size::B64, half, last);
        self.test(Opcode::Test, Size::B64, reg, reg);
        let source = self.cmov(Cc::S, Size::B64, reg, odd);
        let number = self.rvm(convert, Size::B64, above, source);
        let doubled = self.rvm(add, Size::V128, number, number);
        let sign = self.mi(Opcode::SarImm, Size::B64, reg, 63);
        let sign = self.rm(Opcode::Vmovq, Size::V128, sign);
        self.blend(to, Size::V128, sign, number, Rm::Reg(doubled))
    }

    /// Toward zero; out of range clamps, NaN is 0.
    pub fn scalar_to_integer(&mut self, op: ConvertOp, x: VReg, from: Scalar, to: Scalar) -> VReg {
        let single = from == Scalar::F32;
        let choose = |f32: Opcode, f64: Opcode| if single { f32 } else { f64 };
        let convert = choose(Opcode::Vcvttss2si, Opcode::Vcvttsd2si);
        let wide = to.bits() == 64;
        if op == ConvertOp::FToS {
            let size = if wide { Size::B64 } else { Size::B32 };
            let limit = 1u64 << (to.bits() - 1);
            // What is out of range, and NaN, gives the lowest number.
            let number = self.rm(convert, size, x);
            let (largest, zero) = (self.int_constant(limit - 1), self.int_constant(0));
            let compare = choose(Opcode::Vucomiss, Opcode::Vucomisd);
            let limit = self.float_operand(limit as f64, from);
            self.test(compare, Size::V128, x, limit);
            let number = self.cmov(Cc::Ae, size, number, largest);
            self.test(compare, Size::V128, x, x);
            return self.cmov(Cc::P, size, number, zero);
        }
        // The second operand, 0, where the first is NaN.
        let zero = self.zero_vector(Size::V128);
        let positive = choose(Opcode::Vmaxss, Opcode::Vmaxsd);
        let x = self.rvm(positive, Size::V128, x, zero);
        let low = self.rm(convert, Size::B64, x);
        if !wide {
            let most = self.int_constant(u32::MAX.into());
            self.test(Opcode::Cmp, Size::B64, low, most);
            return self.cmov(Cc::A, Size::B64, low, most);
        }
        // From 2^63 on `low` is negative, and what is above 2^63 counts; from 2^64 on that is
        // negative, too.
        let subtract = choose(Opcode::Vsubss, Opcode::Vsubsd);
        let limit = self.float_operand(2f64.powi(63), from);
        let rest = self.rvm(subtract, Size::V128, x, limit);
        let high = self.rm(convert, Size::B64, rest);
        let beyond = self.mi(Opcode::SarImm, Size::B64, high, 63);
        let high = self.rvm(Opcode::Or, Size::B64, high, beyond);
        let is_large = self.mi(Opcode::SarImm, Size::B64, low, 63);
        let high = self.rvm(Opcode::And, Size::B64, high, is_large);
        self.rvm(Opcode::Or, Size::B64, low, high)
    }

    fn float_operand(&mut self, number: f64, scalar: Scalar) -> Rm {
        let bits = match scalar {
            Scalar::F32 => (number as f32).to_bits().into(),
            _ => number.to_bits(),
        };
        Rm::Mem(self.lane_in_pool(bits, scalar))
    }

    /// Vectors to signed integers of 32 bits, toward zero; out of range clamps, NaN is 0.
    pub fn vector_to_integer(&mut self, arg: Value, from: Type, to: Type) -> Result<Repr> {
        if to.scalar.bits() != 32 {
            return Err(Diagnostic::new(format!(
                "a conversion of {from} to {to} is not selected"
            )));
        }
        let have = self.shape(from);
        let size = have.size;
        let sources = self.parts(arg)?;
        if from.scalar == Scalar::F32 {
            let limit = self.bits_operand(2f32.powi(31).to_bits().into(), from.scalar, size);
            let parts = sources.into_iter().map(|x| {
                // The lowest number is what anything out of range gives; its complement is the
                // highest.
                let number = self.rm(Opcode::Vcvttps2dq, size, x);
                let above = self.float_test(FloatCC::Oge, from, size, x, limit);
                let number = self.rvm(Opcode::Vpxord, size, number, above);
                let ordered = self.float_test(FloatCC::Ord, from, size, x, x);
                self.rvm(Opcode::Vpandd, size, ordered, number)
            });
            return Ok(Repr::Vector(parts.collect()));
        }
        let highest = self.bits_operand(f64::from(i32::MAX).to_bits(), from.scalar, size);
        let narrow: Parts = sources
            .into_iter()
            .map(|x| {
                let ordered = self.float_test(FloatCC::Ord, from, size, x, x);
                let number = self.rvm(Opcode::Vandpd, size, x, ordered);
                let number = self.rvm(Opcode::Vminpd, size, number, highest);
                self.rm(Opcode::Vcvttpd2dq, size, number)
            })
            .collect();
        if let [one] = narrow[..] {
            return Ok(Repr::Vector(smallvec![one]));
        }
        let bytes = u32::from(have.lanes) * 4;
        Ok(Repr::Vector(self.joined(&narrow, to.lanes, bytes, 32)))
    }
}
