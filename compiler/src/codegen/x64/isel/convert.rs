//! Conversions.

use regalloc2::VReg;
use smallvec::{SmallVec, smallvec};

use super::values::{Parts, Repr};
use super::{Diagnostic, Isel, Result};
use crate::codegen::x64::encoding::{Opcode, RoundingControl, Size};
use crate::codegen::x64::inst::{Rm, VECTOR};
use crate::ir::{ConvertOp, Rounding, Scalar, Type, Value};

impl Isel<'_> {
    pub fn convert(
        &mut self,
        op: ConvertOp,
        rounding: Rounding,
        arg: Value,
        to: Type,
    ) -> Result<Repr> {
        let from = self.func.ty(arg);
        match op {
            ConvertOp::Bitcast if to.lanes == 1 => self.bitcast_scalar(arg, from, to),
            ConvertOp::Bitcast if from.lanes == to.lanes => {
                if from.scalar == Scalar::I1 {
                    return Ok(Repr::Mask(self.any_mask(arg)?));
                }
                self.parts(arg).map(Repr::Vector)
            }
            ConvertOp::ZExt | ConvertOp::SExt if from.scalar == Scalar::I1 => {
                self.of_truth(op, arg, to)
            }
            ConvertOp::Trunc if to.scalar == Scalar::I1 => self.lowest_bit(arg, to),
            ConvertOp::ZExt | ConvertOp::SExt | ConvertOp::Trunc if to.lanes > 1 => {
                let signed = op == ConvertOp::SExt;
                let parts = self.parts(arg)?;
                let (have, want) = (from.scalar.bits(), to.scalar.bits());
                Ok(Repr::Vector(
                    self.resized(parts, to.lanes, have, want, signed),
                ))
            }
            ConvertOp::ZExt | ConvertOp::SExt => {
                if op == ConvertOp::ZExt && self.is_zero_extended(arg) {
                    return self.scalar(arg).map(Repr::Scalar);
                }
                let reg: Rm = match self.folded_load(arg, from)? {
                    Some(amode) => Rm::Mem(amode),
                    None => Rm::Reg(self.scalar(arg)?),
                };
                Ok(Repr::Scalar(self.extend(op, reg, from.scalar, to.scalar)))
            }
            ConvertOp::Trunc => self.scalar(arg).map(Repr::Scalar),
            ConvertOp::FToF => self.float_to_float(rounding, arg, from, to),
            ConvertOp::SToF | ConvertOp::UToF => self.int_to_float(op, rounding, arg, from, to),
            ConvertOp::FToS | ConvertOp::FToU => self.float_to_int(op, arg, from, to),
            _ => Err(Diagnostic::new(format!("{} is not selected", op.name()))),
        }
    }

    fn bitcast_scalar(&mut self, arg: Value, from: Type, to: Type) -> Result<Repr> {
        if from.lanes != 1 {
            return Err(Diagnostic::new("a bitcast of a vector to a scalar"));
        }
        let reg = self.scalar(arg)?;
        let in_vector = Self::class(to.scalar) == VECTOR;
        if (reg.class() == VECTOR) == in_vector {
            return Ok(Repr::Scalar(reg));
        }
        let wide = to.scalar.bits() == 64;
        Ok(Repr::Scalar(match (in_vector, wide) {
            (true, true) => self.rm(Opcode::Vmovq, Size::V128, reg),
            (true, false) => self.rm(Opcode::Vmovd, Size::V128, reg),
            (false, true) => self.define(Opcode::VmovqStore, Size::V128, |p| p.a = reg),
            (false, false) => self.define(Opcode::VmovdStore, Size::V128, |p| p.a = reg),
        }))
    }

    /// 0 or 1, or 0 or all ones.
    fn of_truth(&mut self, op: ConvertOp, arg: Value, to: Type) -> Result<Repr> {
        if to.lanes == 1 {
            let bit = self.scalar(arg)?;
            return Ok(Repr::Scalar(match op {
                ConvertOp::SExt => self.mi(Opcode::Neg, Size::B64, bit, 0),
                _ => bit,
            }));
        }
        let shape = self.shape(to);
        let mask = self.mask(arg, shape)?;
        let parts = mask
            .into_iter()
            .map(|mask| match op {
                ConvertOp::SExt => self.ones_where(mask, shape),
                _ => self.one_where(mask, to.scalar, shape.size),
            })
            .collect();
        Ok(Repr::Vector(parts))
    }

    /// The lowest bit.
    fn lowest_bit(&mut self, arg: Value, to: Type) -> Result<Repr> {
        if to.lanes == 1 {
            let reg = self.scalar(arg)?;
            return Ok(Repr::Scalar(self.mi(Opcode::AndImm, Size::B32, reg, 1)));
        }
        self.lowest_bits(arg).map(Repr::Mask)
    }

    /// Integer lanes of another width.
    pub fn resized(&mut self, parts: Parts, lanes: u8, from: u32, to: u32, signed: bool) -> Parts {
        if from == to {
            return parts;
        }
        if from < to {
            let opcode = match (from, to, signed) {
                (8, 16, true) => Opcode::Vpmovsxbw,
                (8, 32, true) => Opcode::Vpmovsxbd,
                (8, _, true) => Opcode::Vpmovsxbq,
                (16, 32, true) => Opcode::Vpmovsxwd,
                (16, _, true) => Opcode::Vpmovsxwq,
                (_, _, true) => Opcode::Vpmovsxdq,
                (8, 16, false) => Opcode::Vpmovzxbw,
                (8, 32, false) => Opcode::Vpmovzxbd,
                (8, _, false) => Opcode::Vpmovzxbq,
                (16, 32, false) => Opcode::Vpmovzxwd,
                (16, _, false) => Opcode::Vpmovzxwq,
                _ => Opcode::Vpmovzxdq,
            };
            return self.widened(opcode, &parts, lanes, from, to);
        }
        if !self.is_avx512() {
            return self.packed(parts, lanes, from, to, false);
        }
        let opcode = match (from, to) {
            (16, _) => Opcode::Vpmovwb,
            (32, 8) => Opcode::Vpmovdb,
            (32, _) => Opcode::Vpmovdw,
            (_, 8) => Opcode::Vpmovqb,
            (_, 16) => Opcode::Vpmovqw,
            _ => Opcode::Vpmovqd,
        };
        let have = self.shape_of(lanes, from);
        let narrow: Parts = parts
            .into_iter()
            .map(|part| self.define(opcode, have.size, |plain| plain.a = part))
            .collect();
        self.joined(&narrow, lanes, u32::from(have.lanes) * to / 8, to)
    }

    /// What a widening instruction makes of pieces of the parts.
    fn widened(&mut self, opcode: Opcode, parts: &[VReg], lanes: u8, from: u32, to: u32) -> Parts {
        let (have, want) = (self.shape_of(lanes, from), self.shape_of(lanes, to));
        (0..want.count)
            .map(|n| {
                let first = n as u32 * u32::from(want.lanes);
                let part = parts[(first / u32::from(have.lanes)) as usize];
                let offset = first % u32::from(have.lanes) * from / 8;
                let piece = self.piece(part, offset);
                self.rm(opcode, want.size, piece)
            })
            .collect()
    }

    /// Joins pieces of so many bytes to parts of lanes of so many bits.
    pub fn joined(&mut self, pieces: &[VReg], lanes: u8, bytes: u32, bits: u32) -> Parts {
        let want = self.shape_of(lanes, bits);
        let whole = u32::from(want.lanes) * bits / 8;
        pieces
            .chunks((whole / bytes).max(1) as usize)
            .map(|pieces| self.join(pieces, bytes))
            .collect()
    }

    fn float_to_float(
        &mut self,
        rounding: Rounding,
        arg: Value,
        from: Type,
        to: Type,
    ) -> Result<Repr> {
        let (have, want) = (from.scalar.bits(), to.scalar.bits());
        if have == want {
            return Ok(match to.lanes {
                1 => Repr::Scalar(self.scalar(arg)?),
                _ => Repr::Vector(self.parts(arg)?),
            });
        }
        match (from.scalar, to.scalar) {
            (Scalar::F32, Scalar::F64) if to.lanes == 1 => {
                let reg = self.scalar(arg)?;
                let wide = self.rvm(Opcode::Vcvtss2sd, Size::V128, reg, reg);
                Ok(Repr::Scalar(wide))
            }
            (Scalar::F64, Scalar::F32) if to.lanes == 1 => {
                let reg = self.scalar(arg)?;
                let narrow = self.define(Opcode::Vcvtsd2ss, Size::V128, |plain| {
                    (plain.a, plain.b) = (reg, Rm::Reg(reg));
                    plain.rounding = directed(rounding);
                });
                Ok(Repr::Scalar(narrow))
            }
            (Scalar::F32, Scalar::F64) => {
                let parts = self.parts(arg)?;
                Ok(Repr::Vector(self.widened(
                    Opcode::Vcvtps2pd,
                    &parts,
                    to.lanes,
                    32,
                    64,
                )))
            }
            (Scalar::F64, Scalar::F32) => {
                let have = self.shape(from);
                let parts = self.parts(arg)?;
                let narrow: Parts = parts
                    .into_iter()
                    .map(|part| self.converted(Opcode::Vcvtpd2ps, have.size, part, rounding))
                    .collect();
                let bytes = u32::from(have.lanes) * 4;
                Ok(Repr::Vector(self.joined(&narrow, to.lanes, bytes, 32)))
            }
            (Scalar::F16, Scalar::F32) if to.lanes > 1 => {
                let parts = self.parts(arg)?;
                Ok(Repr::Vector(self.widened(
                    Opcode::Vcvtph2ps,
                    &parts,
                    to.lanes,
                    16,
                    32,
                )))
            }
            (Scalar::F16, Scalar::F32) => {
                let reg = self.scalar(arg)?;
                let low = self.rm(Opcode::Vmovd, Size::V128, reg);
                Ok(Repr::Scalar(self.rm(Opcode::Vcvtph2ps, Size::V128, low)))
            }
            (Scalar::F32, Scalar::F16) => {
                let imm = match rounding {
                    Rounding::NearestEven => 0,
                    Rounding::Down => 1,
                    Rounding::Up => 2,
                    Rounding::Zero => 3,
                };
                if to.lanes == 1 {
                    let reg = self.scalar(arg)?;
                    let low = self.mri(Opcode::Vcvtps2ph, Size::V128, reg, imm);
                    let reg = self.define(Opcode::VmovdStore, Size::V128, |p| p.a = low);
                    return Ok(Repr::Scalar(reg));
                }
                let have = self.shape(from);
                let parts = self.parts(arg)?;
                let narrow: Parts = parts
                    .into_iter()
                    .map(|part| self.mri(Opcode::Vcvtps2ph, have.size, part, imm))
                    .collect();
                let bytes = u32::from(have.lanes) * 2;
                Ok(Repr::Vector(self.joined(&narrow, to.lanes, bytes, 16)))
            }
            _ => Err(Diagnostic::new(format!(
                "a conversion of {from} to {to}, {}, is not selected",
                rounding.name()
            ))),
        }
    }

    fn int_to_float(
        &mut self,
        op: ConvertOp,
        rounding: Rounding,
        arg: Value,
        from: Type,
        to: Type,
    ) -> Result<Repr> {
        let signed = op == ConvertOp::SToF;
        let wide = from.scalar.bits() == 64;
        let double = to.scalar == Scalar::F64;
        // 32 bits are doubles exactly.
        let rounding = match (wide, double) {
            (false, true) => Rounding::NearestEven,
            _ => rounding,
        };
        let by_scalars = to.lanes == 1 || wide || !signed;
        if !self.is_avx512() && by_scalars && rounding == Rounding::NearestEven {
            let scalars = (from.scalar, to.scalar);
            return self.lane_by_lane(arg, to, |isel, reg| {
                isel.scalar_from_integer(op, reg, scalars.0, scalars.1)
            });
        }
        if to.lanes == 1 {
            let reg = self.scalar(arg)?;
            let opcode = match (signed, double) {
                (true, false) => Opcode::Vcvtsi2ss,
                (true, true) => Opcode::Vcvtsi2sd,
                (false, false) => Opcode::Vcvtusi2ss,
                (false, true) => Opcode::Vcvtusi2sd,
            };
            let size = if wide { Size::B64 } else { Size::B32 };
            // The first operand is what the upper lanes become.
            let above = self.zero_vector(Size::V128);
            return Ok(Repr::Scalar(self.define(opcode, size, |plain| {
                (plain.a, plain.b) = (above, Rm::Reg(reg));
                plain.rounding = directed(rounding);
            })));
        }
        let opcode = match (wide, signed, double) {
            (false, true, false) => Opcode::Vcvtdq2ps,
            (false, false, false) => Opcode::Vcvtudq2ps,
            (false, true, true) => Opcode::Vcvtdq2pd,
            (false, false, true) => Opcode::Vcvtudq2pd,
            (true, true, false) => Opcode::Vcvtqq2ps,
            (true, false, false) => Opcode::Vcvtuqq2ps,
            (true, true, true) => Opcode::Vcvtqq2pd,
            (true, false, true) => Opcode::Vcvtuqq2pd,
        };
        let have = self.shape(from);
        if wide == double && rounding == Rounding::NearestEven {
            let operands = self.operands(arg, true)?;
            let parts = operands.into_iter().map(|b| self.rm(opcode, have.size, b));
            return Ok(Repr::Vector(parts.collect()));
        }
        let parts = self.parts(arg)?;
        if double && !wide {
            return Ok(Repr::Vector(self.widened(opcode, &parts, to.lanes, 32, 64)));
        }
        let converted: Parts = parts
            .into_iter()
            .map(|part| self.converted(opcode, have.size, part, rounding))
            .collect();
        if wide == double {
            return Ok(Repr::Vector(converted));
        }
        let bytes = u32::from(have.lanes) * 4;
        Ok(Repr::Vector(self.joined(&converted, to.lanes, bytes, 32)))
    }

    /// A conversion of a part that rounds as it says, which the encoding has for 512 bits: shorter
    /// parts are converted as such.
    fn converted(&mut self, opcode: Opcode, size: Size, part: VReg, rounding: Rounding) -> VReg {
        let size = match rounding {
            Rounding::NearestEven => size,
            _ => Size::V512,
        };
        self.define(opcode, size, |plain| {
            (plain.b, plain.rounding) = (Rm::Reg(part), directed(rounding));
        })
    }

    /// Toward zero; out of range clamps, NaN is 0. The instructions give one number for all that
    /// is out of range: for signed ones the lowest, which is wrong for what is too large; for
    /// unsigned ones the highest, which is wrong for what is negative.
    fn float_to_int(&mut self, op: ConvertOp, arg: Value, from: Type, to: Type) -> Result<Repr> {
        let signed = op == ConvertOp::FToS;
        let double = from.scalar == Scalar::F64;
        let wide = to.scalar.bits() == 64;
        if to.scalar.bits() < 32 || from.scalar == Scalar::F16 {
            return Err(Diagnostic::new(format!(
                "a conversion of {from} to {to} is not selected"
            )));
        }
        if !self.is_avx512() {
            if to.lanes > 1 && !wide && signed {
                return self.vector_to_integer(arg, from, to);
            }
            return self.lane_by_lane(arg, to, |isel, reg| {
                isel.scalar_to_integer(op, reg, from.scalar, to.scalar)
            });
        }
        let opcode = match (double, signed, wide) {
            (false, true, false) => Opcode::Vcvttps2dq,
            (false, false, false) => Opcode::Vcvttps2udq,
            (false, true, true) => Opcode::Vcvttps2qq,
            (false, false, true) => Opcode::Vcvttps2uqq,
            (true, true, false) => Opcode::Vcvttpd2dq,
            (true, false, false) => Opcode::Vcvttpd2udq,
            (true, true, true) => Opcode::Vcvttpd2qq,
            (true, false, true) => Opcode::Vcvttpd2uqq,
        };
        let one_lane = to.lanes == 1;
        let sources: Parts = if one_lane {
            smallvec![self.scalar(arg)?]
        } else {
            self.parts(arg)?
        };
        // Pieces of as many lanes as the instruction converts.
        let lanes = if one_lane { 2 } else { to.lanes };
        let have = self.shape_of(lanes, from.scalar.bits());
        let widest = self.shape_of(lanes, from.scalar.bits().max(to.scalar.bits()));
        let pieces: SmallVec<[VReg; 4]> = (0..widest.count)
            .map(|n| {
                let first = n as u32 * u32::from(widest.lanes);
                let part = sources[(first / u32::from(have.lanes)) as usize];
                let offset = first % u32::from(have.lanes) * from.scalar.bytes();
                self.piece(part, offset)
            })
            .collect();
        let piece_size = Size::of_bytes((u32::from(widest.lanes) * from.scalar.bytes()).max(16));
        let compare = if double {
            Opcode::Vcmppdk
        } else {
            Opcode::Vcmppsk
        };
        let limit = 1u64 << (to.scalar.bits() - 1);
        let too_large = float_bits(limit as f64, from.scalar);
        let too_large = self.bits_operand(too_large, from.scalar, piece_size);
        let largest = self.bits_operand(limit - 1, to.scalar, widest.size);
        let result_size = Size::of_bytes((u32::from(widest.lanes) * to.scalar.bytes()).max(16));
        let converted: Parts = pieces
            .iter()
            .map(|&x| {
                if !signed {
                    let zero = self.zero_vector(piece_size);
                    // Not less than 0, and a number.
                    let valid = self.rvmi(compare, piece_size, x, zero, 0x1d);
                    return self.define(opcode, widest.size, |plain| {
                        (plain.b, plain.mask, plain.zeroing) = (Rm::Reg(x), valid, true);
                    });
                }
                let number = self.rvmi(compare, piece_size, x, x, 0x07);
                let above = self.rvmi(compare, piece_size, x, too_large, 0x1d);
                let clamped_below = self.define(opcode, widest.size, |plain| {
                    (plain.b, plain.mask, plain.zeroing) = (Rm::Reg(x), number, true);
                });
                let blend = if wide {
                    Opcode::Vpblendmq
                } else {
                    Opcode::Vpblendmd
                };
                self.define(blend, result_size, |plain| {
                    (plain.a, plain.b, plain.mask) = (clamped_below, largest, above);
                })
            })
            .collect();
        if one_lane {
            let low = converted[0];
            return Ok(Repr::Scalar(match wide {
                true => self.define(Opcode::VmovqStore, Size::V128, |p| p.a = low),
                false => self.define(Opcode::VmovdStore, Size::V128, |p| p.a = low),
            }));
        }
        let bytes = u32::from(widest.lanes) * to.scalar.bytes();
        Ok(Repr::Vector(self.joined(
            &converted,
            to.lanes,
            bytes,
            to.scalar.bits(),
        )))
    }
}

/// A rounding mode that is not the one that is set anyway.
fn directed(rounding: Rounding) -> Option<RoundingControl> {
    (rounding != Rounding::NearestEven).then(|| RoundingControl::from(rounding))
}

fn float_bits(number: f64, scalar: Scalar) -> u64 {
    match scalar {
        Scalar::F32 => (number as f32).to_bits().into(),
        _ => number.to_bits(),
    }
}
