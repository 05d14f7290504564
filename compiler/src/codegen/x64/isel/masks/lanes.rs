//! Masks in vector registers, with lanes of all ones or zeros. Where a register has more lanes than
//! the mask, the others are arbitrary.
//!
//! A comparison gives lanes as wide as what it compares; other widths are made when a use asks for
//! them.

use regalloc2::VReg;

use super::super::Isel;
use super::super::values::{Mask, Parts};
use super::Logic;
use crate::codegen::x64::encoding::{Cc, Opcode, Size};
use crate::ir::Scalar;

pub(super) fn logic(op: Logic) -> Opcode {
    match op {
        Logic::And => Opcode::Vpandd,
        Logic::AndNot => Opcode::Vpandnd,
        Logic::Or => Opcode::Vpord,
        Logic::Xor => Opcode::Vpxord,
    }
}

impl Mask {
    /// Of each part, in vector registers.
    pub fn size(&self) -> Size {
        Size::of_bytes((u32::from(self.lanes) * self.bits / 8).max(16))
    }
}

/// Sign bits of a part in a general register.
struct Signs {
    reg: VReg,
    /// How many of them are the mask's.
    count: u32,
    /// Whether those above may be set.
    surplus: bool,
}

impl Isel<'_> {
    /// The same mask with lanes of so many bits.
    pub(super) fn with_lane_bits(&mut self, mask: Mask, bits: u32) -> Parts {
        let lanes = mask.lanes * mask.parts.len() as u8;
        match mask.bits.cmp(&bits) {
            std::cmp::Ordering::Greater => self.packed(mask.parts, lanes, mask.bits, bits, true),
            _ => self.resized(mask.parts, lanes, mask.bits, bits, true),
        }
    }

    /// A truth value in every lane.
    pub(super) fn splat_lanes(&mut self, bit: VReg, size: Size) -> VReg {
        let all = self.mi(Opcode::Neg, Size::B32, bit, 0);
        self.broadcast(all.into(), Scalar::I32, size)
    }

    /// The sign bits of the bytes of a part, or of its lanes where they are of 32 or 64 bits.
    fn signs(&mut self, part: VReg, mask: &Mask) -> Signs {
        let (opcode, each) = match mask.bits {
            64 => (Opcode::Vmovmskpd, 1),
            32 => (Opcode::Vmovmskps, 1),
            bits => (Opcode::Vpmovmskb, bits / 8),
        };
        let bytes = u32::from(mask.lanes) * mask.bits / 8;
        Signs {
            reg: self.rm(opcode, mask.size(), part),
            count: u32::from(mask.lanes) * each,
            surplus: bytes < mask.size().bytes(),
        }
    }

    pub(super) fn any_lanes(&mut self, mask: &Mask) -> Cc {
        let any = self.combined(Logic::Or, mask);
        let signs = self.signs(any, mask);
        if signs.surplus {
            let wanted = (1 << signs.count) - 1;
            self.test_imm(Opcode::TestImm, Size::B32, signs.reg, wanted);
        } else {
            self.test(Opcode::Test, Size::B32, signs.reg, signs.reg);
        }
        Cc::Ne
    }

    pub(super) fn all_lanes(&mut self, mask: &Mask) -> Cc {
        let all = self.combined(Logic::And, mask);
        let signs = self.signs(all, mask);
        let wanted = (1i64 << signs.count) - 1;
        let found = match signs.surplus {
            true => self.mi(Opcode::AndImm, Size::B32, signs.reg, wanted),
            false => signs.reg,
        };
        self.test_imm(Opcode::CmpImm, Size::B32, found, i64::from(wanted as i32));
        Cc::E
    }

    /// A bit for each lane in a general register.
    pub(super) fn sign_bits(&mut self, mut mask: Mask) -> VReg {
        if mask.bits == 16 {
            let lanes = mask.lanes * mask.parts.len() as u8;
            let shape = self.shape_of(lanes, 8);
            let parts = self.with_lane_bits(mask, 8);
            mask = self.mask_of(parts, shape);
        }
        let parts = std::mem::take(&mut mask.parts);
        let mut all: Option<VReg> = None;
        for (n, part) in parts.into_iter().enumerate() {
            let signs = self.signs(part, &mask);
            let mut bits = signs.reg;
            if signs.surplus {
                bits = self.mi(Opcode::AndImm, Size::B32, bits, (1 << signs.count) - 1);
            }
            all = Some(match all {
                None => bits,
                Some(below) => {
                    let by = n as i64 * i64::from(mask.lanes);
                    let bits = self.mi(Opcode::ShlImm, Size::B64, bits, by);
                    self.rvm(Opcode::Or, Size::B64, below, bits)
                }
            });
        }
        all.expect("a part")
    }
}
