//! Truth values of many lanes.
//!
//! What a mask is, the target says: bits in mask registers, or lanes of ones and zeros in vector
//! registers. Other files ask the functions here, which are the same for both.
//!
//! - `mod.rs`: masks as values, and what is made of them.
//! - `compare.rs`: what makes masks.
//! - `bits.rs`: mask registers. `lanes.rs`: vectors of ones and zeros.

mod bits;
mod compare;
mod lanes;

use regalloc2::{RegClass, VReg};
use smallvec::smallvec;

use super::values::{Mask, Parts, Repr, Shape};
use super::{Isel, Result};
use crate::codegen::x64::encoding::{Cc, Opcode, Size};
use crate::codegen::x64::inst::{MASK, Rm, VECTOR};
use crate::ir::{BinOp, Inst, Op, Scalar, Type, UnOp, Value};
use crate::target::Masks;

/// Bitwise operations.
#[derive(Clone, Copy)]
pub(super) enum Logic {
    And,
    /// Of the second operand and not the first.
    AndNot,
    Or,
    Xor,
}

impl Isel<'_> {
    fn in_mask_registers(&self) -> bool {
        self.target.masks == Masks::Bits
    }

    /// The register class of masks.
    pub fn mask_class(&self) -> RegClass {
        match self.target.masks {
            Masks::Bits => MASK,
            Masks::Lanes => VECTOR,
        }
    }

    /// The layout of a mask that no use has asked for yet.
    pub fn mask_shape(&self, lanes: u8) -> Shape {
        match self.target.masks {
            Masks::Bits => Shape {
                size: Size::B64,
                count: 1,
                lanes,
                bits: 1,
            },
            Masks::Lanes => self.shape_of(lanes, self.mask_lane_bits),
        }
    }

    /// The layout of a mask that lives from block to block.
    pub fn mask_param_shape(&self, lanes: u8) -> Shape {
        let whole = self.mask_shape(lanes);
        match self.target.masks {
            Masks::Bits => Shape {
                count: usize::from(lanes.div_ceil(16)),
                lanes: lanes.min(16),
                ..whole
            },
            Masks::Lanes => whole,
        }
    }

    /// A mask of so many parts as a value.
    pub fn mask_of(&self, parts: Parts, shape: Shape) -> Mask {
        Mask {
            lanes: shape.lanes,
            bits: match self.target.masks {
                Masks::Bits => 1,
                Masks::Lanes => shape.bits,
            },
            parts,
        }
    }

    /// The parts of a truth value that go with a vector's.
    pub fn mask(&mut self, value: Value, shape: Shape) -> Result<Parts> {
        if let Repr::Constant(bits) = self.values[value] {
            let part = match bits & 1 {
                0 => self.zero_mask(),
                _ => self.full_mask(shape),
            };
            return Ok(smallvec![part; shape.count]);
        }
        let mask = self.any_mask(value)?;
        Ok(self.regrouped(mask, shape))
    }

    /// A truth value as it is.
    pub fn any_mask(&mut self, value: Value) -> Result<Mask> {
        if let Some(inst) = self.deferred(value) {
            self.inst(inst)?;
        }
        Ok(match &self.values[value] {
            Repr::Mask(mask) => mask.clone(),
            Repr::Constant(_) => {
                let shape = self.mask_shape(self.func.ty(value).lanes);
                let parts = self.mask(value, shape)?;
                self.mask_of(parts, shape)
            }
            other => unreachable!("{value} is {other:?}, not a mask"),
        })
    }

    /// The same mask in parts that go with a vector's.
    pub fn regrouped(&mut self, mask: Mask, shape: Shape) -> Parts {
        match self.target.masks {
            Masks::Bits => self.with_lanes(mask, shape.lanes),
            Masks::Lanes => self.with_lane_bits(mask, shape.bits),
        }
    }

    /// A truth value in parts as another's.
    fn mask_like(&mut self, value: Value, like: &Mask) -> Result<Parts> {
        let lanes = self.func.ty(value).lanes;
        let shape = match self.target.masks {
            Masks::Bits => Shape {
                size: Size::B64,
                count: like.parts.len(),
                lanes: like.lanes,
                bits: 1,
            },
            Masks::Lanes => self.shape_of(lanes, like.bits),
        };
        self.mask(value, shape)
    }

    /// The part of a mask of which all lanes are set.
    pub fn full_mask(&mut self, shape: Shape) -> VReg {
        match self.target.masks {
            Masks::Bits => self.full_bits(shape.lanes),
            Masks::Lanes => self.ones_vector(shape.size),
        }
    }

    fn zero_mask(&mut self) -> VReg {
        match self.target.masks {
            Masks::Bits => self.define(Opcode::Kxorw, Size::B64, |_| {}),
            Masks::Lanes => self.zero_vector(Size::V128),
        }
    }

    /// The part of a mask of which the lanes are set that `bits` says.
    pub fn constant_mask(&mut self, bits: u64, scalar: Scalar, size: Size) -> VReg {
        match self.target.masks {
            Masks::Bits => {
                let bits = self.int_constant(bits);
                self.rm(Opcode::KmovqFromGeneral, Size::B64, bits)
            }
            Masks::Lanes => {
                let lanes = u64::from(size.bytes() / scalar.bytes());
                let lanes: Vec<u64> = (0..lanes)
                    .map(|lane| if bits >> lane & 1 == 0 { 0 } else { u64::MAX })
                    .collect();
                self.lanes_constant(&lanes, scalar.as_int(), size)
            }
        }
    }

    /// A one-lane truth value in every lane of parts that go with a vector's.
    pub fn splat_mask(&mut self, bit: VReg, shape: Shape) -> Parts {
        let part = match self.target.masks {
            Masks::Bits => self.splat_bits(bit, shape.lanes),
            Masks::Lanes => self.splat_lanes(bit, shape.size),
        };
        smallvec![part; shape.count]
    }

    /// A truth value of one lane or many as a mask for so many lanes.
    pub fn mask_of_any(&mut self, value: Value, lanes: u8) -> Result<Mask> {
        if self.func.ty(value).lanes > 1 {
            return self.any_mask(value);
        }
        let bit = self.scalar(value)?;
        let shape = self.mask_shape(lanes);
        let parts = self.splat_mask(bit, shape);
        Ok(self.mask_of(parts, shape))
    }

    /// The parts of a condition that go with a vector's: a one-lane condition is for all.
    pub fn mask_for(&mut self, cond: Value, shape: Shape) -> Result<Parts> {
        if self.func.ty(cond).lanes == 1 {
            let bit = self.scalar(cond)?;
            return Ok(self.splat_mask(bit, shape));
        }
        self.mask(cond, shape)
    }

    pub fn mask_not(&mut self, value: Value) -> Result<Repr> {
        let mask = self.any_mask(value)?;
        Ok(Repr::Mask(self.not_mask(mask)))
    }

    fn not_mask(&mut self, mask: Mask) -> Mask {
        let parts = match self.target.masks {
            Masks::Bits => {
                let parts = mask.parts.iter();
                parts.map(|&part| self.not_bits(part, mask.lanes)).collect()
            }
            Masks::Lanes => {
                let size = mask.size();
                let ones = self.ones_vector(size);
                let parts = mask.parts.iter();
                parts
                    .map(|&part| self.rvm(Opcode::Vpxord, size, part, ones))
                    .collect()
            }
        };
        Mask { parts, ..mask }
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
                if let Some((Op::Unary(UnOp::Not), args)) = self.deferred_op(compared) {
                    let negated = args[0];
                    let left = self.any_mask(negated)?;
                    let right = self.mask_like(other, &left)?;
                    return Ok(Repr::Mask(self.mask_op(Logic::AndNot, &left, &right)));
                }
            }
        }
        let (a, b) = match self.values[a] {
            Repr::Constant(_) => (b, a),
            _ => (a, b),
        };
        let left = self.any_mask(a)?;
        let right = self.mask_like(b, &left)?;
        let op = match op {
            BinOp::And => Logic::And,
            BinOp::Or => Logic::Or,
            BinOp::Xor => Logic::Xor,
            other => unreachable!("{} of truth values", other.name()),
        };
        Ok(Repr::Mask(self.mask_op(op, &left, &right)))
    }

    /// The opcode and size of an operation on parts as a mask's.
    fn mask_logic(&self, op: Logic, mask: &Mask) -> (Opcode, Size) {
        match self.target.masks {
            Masks::Bits => (bits::logic(op, mask.lanes), Size::B64),
            Masks::Lanes => (lanes::logic(op), mask.size()),
        }
    }

    fn mask_op(&mut self, op: Logic, left: &Mask, right: &[VReg]) -> Mask {
        let (opcode, size) = self.mask_logic(op, left);
        let parts = left
            .parts
            .iter()
            .zip(right)
            .map(|(&x, &y)| self.rvm(opcode, size, x, y))
            .collect();
        Mask {
            lanes: left.lanes,
            bits: left.bits,
            parts,
        }
    }

    /// Choice between truth values, lane by lane.
    pub fn select_masks(&mut self, cond: &Mask, a: Value, b: Value) -> Result<Repr> {
        let (yes, no) = (self.mask_like(a, cond)?, self.mask_like(b, cond)?);
        let chosen = self.mask_op(Logic::And, cond, &yes);
        let other = self.mask_op(Logic::AndNot, cond, &no);
        Ok(Repr::Mask(self.mask_op(Logic::Or, &chosen, &other.parts)))
    }

    /// The bits of a mask in a general register.
    pub fn mask_bits(&mut self, value: Value) -> Result<VReg> {
        let mask = self.any_mask(value)?;
        let lanes = self.func.ty(value).lanes;
        Ok(match self.target.masks {
            Masks::Bits => self.bits_in_general(mask, lanes),
            Masks::Lanes => self.sign_bits(mask),
        })
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
        Ok(match self.target.masks {
            Masks::Bits => self.any_bits(&mask),
            Masks::Lanes => self.any_lanes(&mask),
        })
    }

    /// Sets flags by whether all lanes are set.
    pub fn test_all(&mut self, value: Value) -> Result<Cc> {
        if self.func.ty(value).lanes == 1 {
            return self.test_any(value);
        }
        let mask = self.any_mask(value)?;
        Ok(match self.target.masks {
            Masks::Bits => self.all_bits(&mask),
            Masks::Lanes => self.all_lanes(&mask),
        })
    }

    /// The parts of a mask in one: of lanes that are set in all, or in any.
    fn combined(&mut self, op: Logic, mask: &Mask) -> VReg {
        let (opcode, size) = self.mask_logic(op, mask);
        let (&first, rest) = mask.parts.split_first().expect("a part");
        rest.iter()
            .fold(first, |all, &part| self.rvm(opcode, size, all, part))
    }

    /// Lanes of `yes` where the mask is set, of `no` where it is not.
    pub fn blend(&mut self, scalar: Scalar, size: Size, mask: VReg, no: VReg, yes: Rm) -> VReg {
        let opcode = match (self.target.masks, scalar.bytes()) {
            (Masks::Bits, 1) => Opcode::Vpblendmb,
            (Masks::Bits, 2) => Opcode::Vpblendmw,
            (Masks::Bits, 4) => Opcode::Vpblendmd,
            (Masks::Bits, _) => Opcode::Vpblendmq,
            (Masks::Lanes, 4) => Opcode::Vblendvps,
            (Masks::Lanes, 8) => Opcode::Vblendvpd,
            (Masks::Lanes, _) => Opcode::Vpblendvb,
        };
        self.define(opcode, size, |plain| {
            (plain.a, plain.b, plain.mask) = (no, yes, mask);
        })
    }

    /// Lanes where the mask is set, and zeros.
    pub fn kept(&mut self, scalar: Scalar, size: Size, mask: VReg, from: Rm) -> VReg {
        let opcode = match (self.target.masks, scalar.bytes()) {
            (Masks::Lanes, _) => return self.rvm(Opcode::Vpandd, size, mask, from),
            (Masks::Bits, 1) => Opcode::Vmovdqu8,
            (Masks::Bits, 2) => Opcode::Vmovdqu16,
            (Masks::Bits, 4) => Opcode::Vmovdqu32,
            (Masks::Bits, _) => Opcode::Vmovdqu64,
        };
        self.define(opcode, size, |plain| {
            (plain.b, plain.mask, plain.zeroing) = (from, mask, true);
        })
    }

    /// All ones in lanes where the mask is set, and zeros.
    pub fn ones_where(&mut self, mask: VReg, shape: Shape) -> VReg {
        let opcode = match (self.target.masks, shape.bits) {
            (Masks::Lanes, _) => return mask,
            (Masks::Bits, 8) => Opcode::Vpmovm2b,
            (Masks::Bits, 16) => Opcode::Vpmovm2w,
            (Masks::Bits, 32) => Opcode::Vpmovm2d,
            (Masks::Bits, _) => Opcode::Vpmovm2q,
        };
        self.rm(opcode, shape.size, mask)
    }

    /// 1 in lanes where the mask is set, else 0.
    pub fn one_where(&mut self, mask: VReg, scalar: Scalar, size: Size) -> VReg {
        let opcode = match (self.target.masks, scalar.bytes()) {
            (Masks::Lanes, _) => {
                let one = self.bits_operand(1, scalar, size);
                return self.rvm(Opcode::Vpandd, size, mask, one);
            }
            (Masks::Bits, 1) => Opcode::Vpbroadcastb,
            (Masks::Bits, 2) => Opcode::Vpbroadcastw,
            (Masks::Bits, 4) => Opcode::Vpbroadcastd,
            (Masks::Bits, _) => Opcode::Vpbroadcastq,
        };
        let one = self.lane_in_pool(1, scalar);
        self.define(opcode, size, |plain| {
            (plain.b, plain.mask, plain.zeroing) = (Rm::Mem(one), mask, true);
        })
    }

    /// A mask as bytes of 0 and 1.
    pub fn truth_bytes(&mut self, mask: Mask, in_memory: Type) -> Parts {
        let shape = self.shape(in_memory);
        let masks = self.regrouped(mask, shape);
        masks
            .into_iter()
            .map(|mask| self.one_where(mask, in_memory.scalar, shape.size))
            .collect()
    }
}
