//! Truth values of many lanes, in mask registers.

use regalloc2::VReg;
use smallvec::smallvec;

use super::values::{Mask, Parts, Repr};
use super::{Isel, Result};
use crate::codegen::x64::encoding::{Cc, Opcode, Size};
use crate::codegen::x64::inst::NONE;
use crate::ir::{BinOp, FloatCC, Inst, IntCC, Op, Scalar, Type, Value};

/// The opcode for masks of so many lanes, of four that differ in size.
fn sized(lanes: u8, opcodes: [Opcode; 4]) -> Opcode {
    match lanes {
        0..=8 => opcodes[0],
        9..=16 => opcodes[1],
        17..=32 => opcodes[2],
        _ => opcodes[3],
    }
}

macro_rules! by_size {
    ($b:ident $w:ident $d:ident $q:ident) => {
        [Opcode::$b, Opcode::$w, Opcode::$d, Opcode::$q]
    };
}

impl Isel<'_> {
    /// The mask registers of a truth value, for `lanes` lanes each.
    pub fn mask(&mut self, value: Value, lanes: u8) -> Result<Parts> {
        let mask = self.any_mask(value)?;
        Ok(self.with_lanes(mask, lanes.min(self.func.ty(value).lanes)))
    }

    /// The mask registers of a truth value as they are.
    pub fn any_mask(&mut self, value: Value) -> Result<Mask> {
        let lanes = self.func.ty(value).lanes;
        if let Some(inst) = self.deferred(value) {
            self.inst(inst)?;
        }
        Ok(match &self.values[value] {
            Repr::Mask(mask) => mask.clone(),
            Repr::Constant(bits) => {
                let part = if bits & 1 == 0 {
                    self.zero_mask()
                } else {
                    self.full_mask(lanes)
                };
                Mask {
                    lanes,
                    parts: smallvec![part],
                }
            }
            other => unreachable!("{value} is {other:?}, not a mask"),
        })
    }

    /// A mask of which all `lanes` lanes are set.
    pub fn full_mask(&mut self, lanes: u8) -> VReg {
        match lanes {
            8 => self.define(Opcode::Kxnorb, Size::B64, |_| {}),
            16 => self.define(Opcode::Kxnorw, Size::B64, |_| {}),
            32 => self.define(Opcode::Kxnord, Size::B64, |_| {}),
            64 => self.define(Opcode::Kxnorq, Size::B64, |_| {}),
            _ => {
                let bits = self.int_constant((1 << lanes) - 1);
                self.rm(Opcode::KmovdFromGeneral, Size::B32, bits)
            }
        }
    }

    /// The same mask in parts of so many lanes.
    fn with_lanes(&mut self, mut mask: Mask, lanes: u8) -> Parts {
        while mask.lanes < lanes {
            let opcode = match mask.lanes {
                8 => Some(Opcode::Kunpckbw),
                16 => Some(Opcode::Kunpckwd),
                32 => Some(Opcode::Kunpckdq),
                _ => None,
            };
            let have = mask.lanes;
            let pairs: Parts = mask
                .parts
                .chunks(2)
                .map(|pair| match (pair, opcode) {
                    (&[low, high], Some(opcode)) => self.rvm(opcode, Size::B64, high, low),
                    (&[low, high], None) => {
                        let high =
                            self.rmi(Opcode::Kshiftlw, Size::B64, high, i64::from(have));
                        self.rvm(Opcode::Korw, Size::B64, low, high)
                    }
                    (_, _) => unreachable!("an even number of parts"),
                })
                .collect();
            mask = Mask {
                lanes: have * 2,
                parts: pairs,
            };
        }
        while mask.lanes > lanes {
            let half = mask.lanes / 2;
            let shift = sized(
                mask.lanes,
                by_size!(Kshiftrb Kshiftrw Kshiftrd Kshiftrq),
            );
            let mut parts = Parts::new();
            for part in mask.parts {
                parts.push(self.low_lanes(part, half));
                parts.push(self.rmi(shift, Size::B64, part, i64::from(half)));
            }
            mask = Mask { lanes: half, parts };
        }
        mask.parts
    }

    /// The low lanes of a mask register.
    fn low_lanes(&mut self, part: VReg, lanes: u8) -> VReg {
        match lanes {
            8 => self.rm(Opcode::Kmovb, Size::B64, part),
            16 => self.rm(Opcode::Kmovw, Size::B64, part),
            32 => self.rm(Opcode::Kmovd, Size::B64, part),
            _ => {
                let full = self.full_mask(lanes);
                self.rvm(Opcode::Kandb, Size::B64, part, full)
            }
        }
    }

    /// Mask registers for so many lanes each, as ones for others.
    pub fn regrouped(&mut self, parts: Parts, have: u8, want: u8) -> Parts {
        self.with_lanes(Mask { lanes: have, parts }, want)
    }

    pub fn mask_not(&mut self, value: Value) -> Result<Repr> {
        let mask = self.any_mask(value)?;
        let parts = mask
            .parts
            .iter()
            .map(|&part| self.not_part(part, mask.lanes))
            .collect();
        Ok(Repr::Mask(Mask {
            lanes: mask.lanes,
            parts,
        }))
    }

    fn not_part(&mut self, part: VReg, lanes: u8) -> VReg {
        if lanes < 8 {
            let full = self.full_mask(lanes);
            return self.rvm(Opcode::Kandnb, Size::B64, part, full);
        }
        let opcode = sized(lanes, by_size!(Knotb Knotw Knotd Knotq));
        self.rm(opcode, Size::B64, part)
    }

    pub fn mask_binary(&mut self, op: BinOp, a: Value, b: Value) -> Result<Repr> {
        if op == BinOp::And {
            for (compared, other) in [(b, a), (a, b)] {
                if let Some(inst) = self.deferred(compared)
                    && matches!(self.func.insts[inst].op, Op::ICmp(_) | Op::FCmp(_))
                {
                    let (op, args) = {
                        let data = &self.func.insts[inst];
                        (data.op.clone(), data.args.clone())
                    };
                    let under = self.any_mask(other)?;
                    return match op {
                        Op::ICmp(cc) => self.icmp_masked(cc, args[0], args[1], Some(under)),
                        Op::FCmp(cc) => self.fcmp_masked(cc, args[0], args[1], Some(under)),
                        _ => unreachable!("a comparison"),
                    };
                }
                if let Some((Op::Unary(crate::ir::UnOp::Not), args)) = self.deferred_op(compared) {
                    let negated = args[0];
                    let left = self.any_mask(negated)?;
                    let right = self.mask(other, left.lanes)?;
                    let opcode = sized(left.lanes, by_size!(Kandnb Kandnw Kandnd Kandnq));
                    return Ok(self.mask_op(opcode, &left, &right));
                }
            }
        }
        let left = self.any_mask(a)?;
        let right = self.mask(b, left.lanes)?;
        let opcodes = match op {
            BinOp::And => by_size!(Kandb Kandw Kandd Kandq),
            BinOp::Or => by_size!(Korb Korw Kord Korq),
            BinOp::Xor => by_size!(Kxorb Kxorw Kxord Kxorq),
            other => unreachable!("{} of truth values", other.name()),
        };
        Ok(self.mask_op(sized(left.lanes, opcodes), &left, &right))
    }

    fn mask_op(&mut self, opcode: Opcode, left: &Mask, right: &[VReg]) -> Repr {
        let parts = left
            .parts
            .iter()
            .zip(right)
            .map(|(&x, &y)| self.rvm(opcode, Size::B64, x, y))
            .collect();
        Repr::Mask(Mask {
            lanes: left.lanes,
            parts,
        })
    }

    /// A truth value in every lane.
    pub fn splat_mask(&mut self, bit: VReg, lanes: u8) -> Mask {
        let all = self.mi(Opcode::Neg, Size::B64, bit, 0);
        let part = match lanes {
            1..=7 => {
                let some = self.mi(Opcode::AndImm, Size::B32, all, (1 << lanes) - 1);
                self.rm(Opcode::KmovdFromGeneral, Size::B32, some)
            }
            8 => self.rm(Opcode::KmovbFromGeneral, Size::B32, all),
            9..=16 => self.rm(Opcode::KmovwFromGeneral, Size::B32, all),
            17..=32 => self.rm(Opcode::KmovdFromGeneral, Size::B32, all),
            _ => self.rm(Opcode::KmovqFromGeneral, Size::B64, all),
        };
        Mask {
            lanes,
            parts: smallvec![part],
        }
    }

    /// Choice between truth values, lane by lane.
    pub fn select_masks(&mut self, cond: &Mask, a: Value, b: Value) -> Result<Repr> {
        let (yes, no) = (self.mask(a, cond.lanes)?, self.mask(b, cond.lanes)?);
        let and = sized(cond.lanes, by_size!(Kandb Kandw Kandd Kandq));
        let and_not = sized(cond.lanes, by_size!(Kandnb Kandnw Kandnd Kandnq));
        let or = sized(cond.lanes, by_size!(Korb Korw Kord Korq));
        let parts = cond
            .parts
            .iter()
            .enumerate()
            .map(|(n, &c)| {
                let chosen = self.rvm(and, Size::B64, c, yes[n]);
                let other = self.rvm(and_not, Size::B64, c, no[n]);
                self.rvm(or, Size::B64, chosen, other)
            })
            .collect();
        Ok(Repr::Mask(Mask {
            lanes: cond.lanes,
            parts,
        }))
    }

    /// The bits of a mask in a general register.
    pub fn mask_bits(&mut self, value: Value) -> Result<VReg> {
        let lanes = self.func.ty(value).lanes;
        let mask = self.mask(value, lanes)?;
        let opcode = sized(
            lanes,
            by_size!(KmovbToGeneral KmovwToGeneral KmovdToGeneral KmovqToGeneral),
        );
        let size = if lanes > 32 { Size::B64 } else { Size::B32 };
        Ok(self.rm(opcode, size, mask[0]))
    }

    pub fn mask_bits_value(&mut self, value: Value) -> Result<Repr> {
        if self.func.ty(value).lanes == 1 {
            let bit = self.scalar(value)?;
            return Ok(Repr::Scalar(self.rm(Opcode::Movzx8, Size::B32, bit)));
        }
        self.mask_bits(value).map(Repr::Scalar)
    }

    pub fn mask_question(&mut self, inst: Inst) -> Result<Repr> {
        let data = &self.func.insts[inst];
        let arg = data.args[0];
        let cc = match data.op {
            Op::AnyTrue => self.test_any(arg)?,
            _ => self.test_all(arg)?,
        };
        Ok(Repr::Scalar(self.set_if(cc)))
    }

    /// Sets flags by whether any lane is set.
    pub fn test_any(&mut self, value: Value) -> Result<Cc> {
        if self.func.ty(value).lanes == 1 {
            let bit = self.scalar(value)?;
            self.test(Opcode::Test, Size::B8, bit, bit);
            return Ok(Cc::Ne);
        }
        let mask = self.any_mask(value)?;
        let or = sized(mask.lanes, by_size!(Korb Korw Kord Korq));
        let test = sized(
            mask.lanes,
            by_size!(Kortestb Kortestw Kortestd Kortestq),
        );
        let (&last, rest) = mask.parts.split_last().expect("a part");
        let Some((&first, rest)) = rest.split_first() else {
            self.test(test, Size::B64, last, last);
            return Ok(Cc::Ne);
        };
        let all = rest
            .iter()
            .fold(first, |all, &part| self.rvm(or, Size::B64, all, part));
        self.test(test, Size::B64, all, last);
        Ok(Cc::Ne)
    }

    /// Sets flags by whether all lanes are set.
    pub fn test_all(&mut self, value: Value) -> Result<Cc> {
        let lanes = self.func.ty(value).lanes;
        if lanes == 1 {
            return self.test_any(value);
        }
        let mask = self.any_mask(value)?;
        let and = sized(mask.lanes, by_size!(Kandb Kandw Kandd Kandq));
        let (&first, rest) = mask.parts.split_first().expect("a part");
        let all = rest
            .iter()
            .fold(first, |all, &part| self.rvm(and, Size::B64, all, part));
        if mask.lanes < 8 {
            let bits = self.rm(Opcode::KmovbToGeneral, Size::B32, all);
            self.test_imm(
                Opcode::CmpImm,
                Size::B32,
                bits,
                (1 << mask.lanes) - 1,
            );
            return Ok(Cc::E);
        }
        // The carry flag says that all bits are set.
        let test = sized(
            mask.lanes,
            by_size!(Kortestb Kortestw Kortestd Kortestq),
        );
        self.test(test, Size::B64, all, all);
        Ok(Cc::B)
    }

    pub fn icmp(&mut self, cc: IntCC, a: Value, b: Value) -> Result<Repr> {
        if self.func.ty(a).lanes == 1 {
            let cc = self.compare(cc, a, b)?;
            return Ok(Repr::Scalar(self.set_if(cc)));
        }
        self.icmp_masked(cc, a, b, None)
    }

    /// Compares vectors of integers, in lanes that a mask has.
    pub fn icmp_masked(
        &mut self,
        cc: IntCC,
        a: Value,
        b: Value,
        under: Option<Mask>,
    ) -> Result<Repr> {
        let ty = self.func.ty(a);
        if ty.scalar == Scalar::I1 {
            let different = match self.mask_binary(BinOp::Xor, a, b)? {
                Repr::Mask(mask) => mask,
                _ => unreachable!("a mask"),
            };
            let mut parts = different.parts;
            if cc == IntCC::Eq {
                parts = parts
                    .iter()
                    .map(|&part| self.not_part(part, different.lanes))
                    .collect();
            }
            let found = Mask {
                lanes: different.lanes,
                parts,
            };
            return Ok(match under {
                None => Repr::Mask(found),
                Some(under) => {
                    let right = self.with_lanes(under, found.lanes);
                    let and = sized(found.lanes, by_size!(Kandb Kandw Kandd Kandq));
                    self.mask_op(and, &found, &right)
                }
            });
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

    fn compare_vectors(
        &mut self,
        opcode: Opcode,
        predicate: i64,
        a: Value,
        b: Value,
        under: Option<Mask>,
    ) -> Result<Repr> {
        let ty = self.func.ty(a);
        let shape = self.shape(ty);
        let left = self.parts(a)?;
        let right = self.operands(b, true)?;
        let under = under.map(|mask| self.with_lanes(mask, shape.lanes));
        // Lanes of the register that the value does not have would be compared, too.
        let surplus = shape.size.bytes() > u32::from(shape.lanes) * ty.scalar.bytes();
        let full = (surplus && under.is_none()).then(|| self.full_mask(shape.lanes));
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
        Ok(Repr::Mask(Mask {
            lanes: shape.lanes,
            parts,
        }))
    }

    pub fn fcmp(&mut self, cc: FloatCC, a: Value, b: Value) -> Result<Repr> {
        if self.func.ty(a).lanes == 1 {
            let mask = self.compare_to_mask(cc, a, b)?;
            return Ok(Repr::Scalar(self.rm(Opcode::KmovbToGeneral, Size::B32, mask)));
        }
        self.fcmp_masked(cc, a, b, None)
    }

    /// Compares vectors of floating-point numbers, in lanes that a mask has.
    pub fn fcmp_masked(
        &mut self,
        cc: FloatCC,
        a: Value,
        b: Value,
        under: Option<Mask>,
    ) -> Result<Repr> {
        let opcode = match self.func.ty(a).scalar {
            Scalar::F32 => Opcode::Vcmppsk,
            _ => Opcode::Vcmppdk,
        };
        self.compare_vectors(opcode, predicate(cc), a, b, under)
    }

    /// Compares one-lane floating-point numbers: bit 0 of a mask.
    pub fn compare_to_mask(&mut self, cc: FloatCC, a: Value, b: Value) -> Result<VReg> {
        let opcode = match self.func.ty(a).scalar {
            Scalar::F32 => Opcode::Vcmpssk,
            _ => Opcode::Vcmpsdk,
        };
        let left = self.scalar(a)?;
        let right = self.scalar_rm(b)?;
        Ok(self.rvmi(opcode, Size::V128, left, right, predicate(cc)))
    }

    /// The mask of a condition for as many lanes as parts of this type have: a one-lane condition
    /// is for all.
    pub fn mask_for(&mut self, cond: Value, ty: Type) -> Result<Parts> {
        let shape = self.shape(ty);
        if self.func.ty(cond).lanes == 1 {
            let bit = self.scalar(cond)?;
            let mask = self.splat_mask(bit, shape.lanes);
            return Ok(smallvec![mask.parts[0]; shape.count]);
        }
        self.mask(cond, shape.lanes)
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
