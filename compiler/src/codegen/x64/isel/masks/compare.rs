//! What makes masks: comparisons, and tests of bits.

use regalloc2::VReg;

use super::super::values::{Mask, Repr, Shape};
use super::super::{Isel, Result};
use super::Logic;
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::codegen::x64::inst::{NONE, Rm};
use crate::ir::{BinOp, FloatCC, IntCC, Op, Scalar, Type, Value};
use crate::target::Masks;

impl Isel<'_> {
    pub fn icmp(&mut self, cc: IntCC, a: Value, b: Value) -> Result<Repr> {
        if self.func.ty(a).lanes == 1 {
            let cc = self.compare(cc, a, b)?;
            return Ok(Repr::Scalar(self.set_if(cc)));
        }
        self.icmp_masked(cc, a, b, None)
    }

    /// Compares vectors of integers, in lanes that a mask has.
    pub(super) fn icmp_masked(
        &mut self,
        cc: IntCC,
        a: Value,
        b: Value,
        under: Option<Mask>,
    ) -> Result<Repr> {
        let ty = self.func.ty(a);
        if ty.scalar == Scalar::I1 {
            let mut found = match self.mask_binary(BinOp::Xor, a, b)? {
                Repr::Mask(mask) => mask,
                _ => unreachable!("a mask"),
            };
            if cc == IntCC::Eq {
                found = self.not_mask(found);
            }
            return Ok(Repr::Mask(self.in_lanes_of(found, under)));
        }
        if !self.in_mask_registers() {
            let found = self.compare_lanes(cc, a, b)?;
            return Ok(Repr::Mask(self.in_lanes_of(found, under)));
        }
        let (predicate, unsigned) = match cc {
            IntCC::Eq => (0, false),
            IntCC::Slt => (1, false),
            IntCC::Sle => (2, false),
            IntCC::Ne => (4, false),
            IntCC::Sge => (5, false),
            IntCC::Sgt => (6, false),
            IntCC::Ult => (1, true),
            IntCC::Ule => (2, true),
            IntCC::Uge => (5, true),
            IntCC::Ugt => (6, true),
        };
        let opcode = match (ty.scalar.bits(), unsigned) {
            (8, false) => Opcode::Vpcmpb,
            (16, false) => Opcode::Vpcmpw,
            (32, false) => Opcode::Vpcmpd,
            (_, false) => Opcode::Vpcmpq,
            (8, true) => Opcode::Vpcmpub,
            (16, true) => Opcode::Vpcmpuw,
            (32, true) => Opcode::Vpcmpud,
            (_, true) => Opcode::Vpcmpuq,
        };
        self.compare_vectors(opcode, predicate, a, b, under)
    }

    /// The lanes of a mask that another has, too.
    fn in_lanes_of(&mut self, found: Mask, under: Option<Mask>) -> Mask {
        let Some(under) = under else {
            return found;
        };
        let right = match self.target.masks {
            Masks::Bits => self.with_lanes(under, found.lanes),
            Masks::Lanes => self.with_lane_bits(under, found.bits),
        };
        self.mask_op(Logic::And, &found, &right)
    }

    /// Whether a part has more lanes than the value, which a comparison to mask registers would
    /// compare, too.
    fn has_surplus(shape: Shape) -> bool {
        shape.size.bytes() * 8 > u32::from(shape.lanes) * shape.bits
    }

    fn compare_vectors(
        &mut self,
        opcode: Opcode,
        predicate: i64,
        a: Value,
        b: Value,
        under: Option<Mask>,
    ) -> Result<Repr> {
        let shape = self.shape(self.func.ty(a));
        let left = self.parts(a)?;
        let right = self.operands(b, true)?;
        let under = under.map(|mask| self.regrouped(mask, shape));
        let full = (Self::has_surplus(shape) && under.is_none()).then(|| self.full_mask(shape));
        let parts = (0..shape.count)
            .map(|n| {
                self.define(opcode, shape.size, |plain| {
                    (plain.a, plain.b, plain.imm) = (left[n], right[n], predicate);
                    plain.mask = match &under {
                        Some(parts) => parts[n],
                        None => full.unwrap_or(NONE),
                    };
                })
            })
            .collect();
        Ok(Repr::Mask(self.mask_of(parts, shape)))
    }

    /// Compares vectors of integers to lanes of ones and zeros: there are equality and signed
    /// greater-than. A constant is moved by one where that spares a negation.
    fn compare_lanes(&mut self, cc: IntCC, a: Value, b: Value) -> Result<Mask> {
        let ty = self.func.ty(a);
        let (shape, scalar) = (self.shape(ty), ty.scalar);
        let constant = self.func.as_const(b).map(|bits| bits & scalar.mask());
        let (highest, signed) = (scalar.mask(), scalar.mask() >> 1);
        let moved = constant.and_then(|c| match cc {
            IntCC::Ult if c != 0 => Some((IntCC::Ule, c - 1)),
            IntCC::Ugt if c != highest => Some((IntCC::Uge, c + 1)),
            IntCC::Sle if c != signed => Some((IntCC::Slt, c.wrapping_add(1) & highest)),
            IntCC::Sge if c != signed + 1 => Some((IntCC::Sgt, c.wrapping_sub(1) & highest)),
            _ => None,
        });
        let left = self.parts(a)?;
        let (cc, right) = match moved {
            Some((cc, bits)) => {
                let operand = self.bits_operand(bits, scalar, shape.size);
                (cc, smallvec::smallvec![operand; shape.count])
            }
            None => (cc, self.operands(b, false)?),
        };
        let parts = left
            .into_iter()
            .zip(right)
            .map(|(x, y)| self.compare_parts(cc, scalar, shape.size, x, y))
            .collect();
        Ok(self.mask_of(parts, shape))
    }

    pub fn compare_parts(&mut self, cc: IntCC, scalar: Scalar, size: Size, x: VReg, y: Rm) -> VReg {
        let choose = |opcodes: [Opcode; 4]| opcodes[scalar.bytes().trailing_zeros() as usize];
        use Opcode::{
            Vpcmpeqb, Vpcmpeqd, Vpcmpeqq, Vpcmpeqw, Vpcmpgtb, Vpcmpgtd, Vpcmpgtq, Vpcmpgtw,
        };
        let equal = choose([Vpcmpeqb, Vpcmpeqw, Vpcmpeqd, Vpcmpeqq]);
        let greater = choose([Vpcmpgtb, Vpcmpgtw, Vpcmpgtd, Vpcmpgtq]);
        let negated = |isel: &mut Self, part: VReg| {
            let ones = isel.ones_vector(size);
            isel.rvm(Opcode::Vpxord, size, part, ones)
        };
        let (as_signed, is_unsigned) = match cc {
            IntCC::Ult => (IntCC::Slt, true),
            IntCC::Ule => (IntCC::Sle, true),
            IntCC::Ugt => (IntCC::Sgt, true),
            IntCC::Uge => (IntCC::Sge, true),
            signed => (signed, false),
        };
        if is_unsigned && scalar.bits() < 64 && matches!(cc, IntCC::Ule | IntCC::Uge) {
            let extreme = match cc {
                IntCC::Ule => choose([
                    Opcode::Vpminub,
                    Opcode::Vpminuw,
                    Opcode::Vpminud,
                    Opcode::Vpminuq,
                ]),
                _ => choose([
                    Opcode::Vpmaxub,
                    Opcode::Vpmaxuw,
                    Opcode::Vpmaxud,
                    Opcode::Vpmaxuq,
                ]),
            };
            let extreme = self.rvm(extreme, size, x, y);
            return self.rvm(equal, size, extreme, x);
        }
        let (x, y) = if is_unsigned {
            // Order as unsigned is order as signed of what has its sign bits flipped.
            let sign = self.bits_operand(1 << (scalar.bits() - 1), scalar, size);
            let y = self.in_vector(y, size);
            let x = self.rvm(Opcode::Vpxord, size, x, sign);
            (x, Rm::Reg(self.rvm(Opcode::Vpxord, size, y, sign)))
        } else {
            (x, y)
        };
        match as_signed {
            IntCC::Eq => self.rvm(equal, size, x, y),
            IntCC::Ne => {
                let same = self.rvm(equal, size, x, y);
                negated(self, same)
            }
            IntCC::Sgt => self.rvm(greater, size, x, y),
            IntCC::Sle => {
                let above = self.rvm(greater, size, x, y);
                negated(self, above)
            }
            less => {
                let y = self.in_vector(y, size);
                let below = self.rvm(greater, size, y, x);
                match less {
                    IntCC::Slt => below,
                    _ => negated(self, below),
                }
            }
        }
    }

    pub fn fcmp(&mut self, cc: FloatCC, a: Value, b: Value) -> Result<Repr> {
        if self.func.ty(a).lanes > 1 {
            return self.fcmp_masked(cc, a, b, None);
        }
        let mask = self.compare_to_mask(cc, a, b)?;
        Ok(Repr::Scalar(match self.target.masks {
            Masks::Bits => self.rm(Opcode::KmovbToGeneral, Size::B32, mask),
            Masks::Lanes => {
                let all = self.define(Opcode::VmovdStore, Size::V128, |p| p.a = mask);
                self.mi(Opcode::AndImm, Size::B32, all, 1)
            }
        }))
    }

    /// Compares vectors of floating-point numbers, in lanes that a mask has.
    pub(super) fn fcmp_masked(
        &mut self,
        cc: FloatCC,
        a: Value,
        b: Value,
        under: Option<Mask>,
    ) -> Result<Repr> {
        let ty = self.func.ty(a);
        let opcode = self.float_test_opcode(ty);
        if self.in_mask_registers() {
            return self.compare_vectors(opcode, predicate(cc), a, b, under);
        }
        let shape = self.shape(ty);
        let left = self.parts(a)?;
        let right = self.operands(b, true)?;
        let parts = left
            .into_iter()
            .zip(right)
            .map(|(x, y)| self.rvmi(opcode, shape.size, x, y, predicate(cc)))
            .collect();
        let found = self.mask_of(parts, shape);
        Ok(Repr::Mask(self.in_lanes_of(found, under)))
    }

    fn float_test_opcode(&self, ty: Type) -> Opcode {
        match (self.target.masks, ty.lanes > 1, ty.scalar) {
            (Masks::Bits, true, Scalar::F32) => Opcode::Vcmppsk,
            (Masks::Bits, true, _) => Opcode::Vcmppdk,
            (Masks::Bits, false, Scalar::F32) => Opcode::Vcmpssk,
            (Masks::Bits, false, _) => Opcode::Vcmpsdk,
            (Masks::Lanes, true, Scalar::F32) => Opcode::Vcmpps,
            (Masks::Lanes, true, _) => Opcode::Vcmppd,
            (Masks::Lanes, false, Scalar::F32) => Opcode::Vcmpss,
            (Masks::Lanes, false, _) => Opcode::Vcmpsd,
        }
    }

    /// The mask of a comparison of parts of vectors, or of scalars in vector registers.
    pub fn float_test(
        &mut self,
        cc: FloatCC,
        ty: Type,
        size: Size,
        a: VReg,
        b: impl Into<Rm>,
    ) -> VReg {
        let opcode = self.float_test_opcode(ty);
        self.rvmi(opcode, size, a, b, predicate(cc))
    }

    /// Compares one-lane floating-point numbers: the first lane of a mask.
    pub fn compare_to_mask(&mut self, cc: FloatCC, a: Value, b: Value) -> Result<VReg> {
        let ty = self.func.ty(a);
        let left = self.scalar(a)?;
        let right = self.scalar_rm(b)?;
        Ok(self.float_test(cc, ty, Size::V128, left, right))
    }

    /// A one-lane truth value as the first lane of a mask.
    pub fn one_lane_mask(&mut self, cond: Value, scalar: Scalar) -> Result<VReg> {
        if let Some((Op::FCmp(cc), args)) = self.deferred_op(cond) {
            let (cc, a, b) = (*cc, args[0], args[1]);
            let compared = self.func.ty(a).scalar;
            // Lanes of ones and zeros are as wide as what is compared.
            if self.in_mask_registers() || compared.bytes() >= scalar.bytes() {
                return self.compare_to_mask(cc, a, b);
            }
        }
        let bit = self.scalar(cond)?;
        Ok(match self.target.masks {
            Masks::Bits => self.rm(Opcode::KmovdFromGeneral, Size::B32, bit),
            Masks::Lanes => {
                let all = self.mi(Opcode::Neg, Size::B64, bit, 0);
                self.rm(Opcode::Vmovq, Size::V128, all)
            }
        })
    }

    /// Lanes whose lowest bit is set.
    pub fn lowest_bits(&mut self, value: Value) -> Result<Mask> {
        let ty = self.func.ty(value);
        let shape = self.shape(ty);
        let one = self.bits_operand(1, ty.scalar, shape.size);
        let parts = self.parts(value)?;
        let full = self.full_if_surplus(shape);
        let parts = parts
            .into_iter()
            .map(|part| match self.target.masks {
                Masks::Bits => self.test_part(ty.scalar, shape, part, one, full),
                Masks::Lanes => {
                    let bit = self.rvm(Opcode::Vpandd, shape.size, part, one);
                    self.compare_parts(IntCC::Eq, ty.scalar, shape.size, bit, one)
                }
            })
            .collect();
        Ok(self.mask_of(parts, shape))
    }

    /// Lanes of bytes that are not 0.
    pub fn nonzero_bytes(&mut self, parts: &[VReg], shape: Shape) -> Mask {
        let full = self.full_if_surplus(shape);
        let parts = parts
            .iter()
            .map(|&part| match self.target.masks {
                Masks::Bits => self.test_part(Scalar::I8, shape, part, part.into(), full),
                Masks::Lanes => {
                    let zero = self.zero_vector(shape.size);
                    self.compare_parts(IntCC::Ne, Scalar::I8, shape.size, part, zero.into())
                }
            })
            .collect();
        self.mask_of(parts, shape)
    }

    fn full_if_surplus(&mut self, shape: Shape) -> VReg {
        match self.in_mask_registers() && Self::has_surplus(shape) {
            true => self.full_mask(shape),
            false => NONE,
        }
    }

    /// Lanes of which the operands have a bit in common, in a mask register.
    fn test_part(&mut self, scalar: Scalar, shape: Shape, a: VReg, b: Rm, full: VReg) -> VReg {
        let opcode = match scalar.bits() {
            8 => Opcode::Vptestmb,
            16 => Opcode::Vptestmw,
            32 => Opcode::Vptestmd,
            _ => Opcode::Vptestmq,
        };
        self.define(opcode, shape.size, |plain| {
            (plain.a, plain.b, plain.mask) = (a, b, full);
        })
    }
}

/// The predicate of `vcmp`, quiet.
fn predicate(cc: FloatCC) -> i64 {
    match cc {
        FloatCC::Oeq => 0x00,
        FloatCC::Olt => 0x11,
        FloatCC::Ole => 0x12,
        FloatCC::Uno => 0x03,
        FloatCC::Une => 0x04,
        FloatCC::Uge => 0x15,
        FloatCC::Ugt => 0x16,
        FloatCC::Ord => 0x07,
        FloatCC::Ueq => 0x08,
        FloatCC::Ult => 0x19,
        FloatCC::Ule => 0x1a,
        FloatCC::One => 0x0c,
        FloatCC::Oge => 0x1d,
        FloatCC::Ogt => 0x1e,
    }
}
