//! Masks in mask registers, a bit for each lane. Bits above those are 0.

use regalloc2::VReg;

use super::super::Isel;
use super::super::values::{Mask, Parts};
use super::Logic;
use crate::codegen::x64::encoding::{Cc, Opcode, Size};

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

pub(super) fn logic(op: Logic, lanes: u8) -> Opcode {
    let opcodes = match op {
        Logic::And => by_size!(Kandb Kandw Kandd Kandq),
        Logic::AndNot => by_size!(Kandnb Kandnw Kandnd Kandnq),
        Logic::Or => by_size!(Korb Korw Kord Korq),
        Logic::Xor => by_size!(Kxorb Kxorw Kxord Kxorq),
    };
    sized(lanes, opcodes)
}

impl Isel<'_> {
    /// A mask of which all `lanes` lanes are set.
    pub(super) fn full_bits(&mut self, lanes: u8) -> VReg {
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
    pub(super) fn with_lanes(&mut self, mut mask: Mask, lanes: u8) -> Parts {
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
                        let high = self.rmi(Opcode::Kshiftlw, Size::B64, high, i64::from(have));
                        self.rvm(Opcode::Korw, Size::B64, low, high)
                    }
                    (_, _) => unreachable!("an even number of parts"),
                })
                .collect();
            (mask.lanes, mask.parts) = (have * 2, pairs);
        }
        while mask.lanes > lanes {
            let half = mask.lanes / 2;
            let shift = sized(mask.lanes, by_size!(Kshiftrb Kshiftrw Kshiftrd Kshiftrq));
            let mut parts = Parts::new();
            for part in mask.parts {
                parts.push(self.low_bits(part, half));
                parts.push(self.rmi(shift, Size::B64, part, i64::from(half)));
            }
            (mask.lanes, mask.parts) = (half, parts);
        }
        mask.parts
    }

    /// The low lanes of a mask register.
    fn low_bits(&mut self, part: VReg, lanes: u8) -> VReg {
        match lanes {
            8 => self.rm(Opcode::Kmovb, Size::B64, part),
            16 => self.rm(Opcode::Kmovw, Size::B64, part),
            32 => self.rm(Opcode::Kmovd, Size::B64, part),
            _ => {
                let full = self.full_bits(lanes);
                self.rvm(Opcode::Kandb, Size::B64, part, full)
            }
        }
    }

    pub(super) fn not_bits(&mut self, part: VReg, lanes: u8) -> VReg {
        if lanes < 8 {
            let full = self.full_bits(lanes);
            return self.rvm(Opcode::Kandnb, Size::B64, part, full);
        }
        let opcode = sized(lanes, by_size!(Knotb Knotw Knotd Knotq));
        self.rm(opcode, Size::B64, part)
    }

    /// A truth value in every lane.
    pub(super) fn splat_bits(&mut self, bit: VReg, lanes: u8) -> VReg {
        let all = self.mi(Opcode::Neg, Size::B64, bit, 0);
        match lanes {
            1..=7 => {
                let some = self.mi(Opcode::AndImm, Size::B32, all, (1 << lanes) - 1);
                self.rm(Opcode::KmovdFromGeneral, Size::B32, some)
            }
            8 => self.rm(Opcode::KmovbFromGeneral, Size::B32, all),
            9..=16 => self.rm(Opcode::KmovwFromGeneral, Size::B32, all),
            17..=32 => self.rm(Opcode::KmovdFromGeneral, Size::B32, all),
            _ => self.rm(Opcode::KmovqFromGeneral, Size::B64, all),
        }
    }

    pub(super) fn bits_in_general(&mut self, mask: Mask, lanes: u8) -> VReg {
        let parts = self.with_lanes(mask, lanes);
        let opcode = sized(
            lanes,
            by_size!(KmovbToGeneral KmovwToGeneral KmovdToGeneral KmovqToGeneral),
        );
        let size = if lanes > 32 { Size::B64 } else { Size::B32 };
        self.rm(opcode, size, parts[0])
    }

    pub(super) fn any_bits(&mut self, mask: &Mask) -> Cc {
        let or = sized(mask.lanes, by_size!(Korb Korw Kord Korq));
        let test = sized(mask.lanes, by_size!(Kortestb Kortestw Kortestd Kortestq));
        let (&last, rest) = mask.parts.split_last().expect("a part");
        let Some((&first, rest)) = rest.split_first() else {
            self.test(test, Size::B64, last, last);
            return Cc::Ne;
        };
        let all = rest
            .iter()
            .fold(first, |all, &part| self.rvm(or, Size::B64, all, part));
        self.test(test, Size::B64, all, last);
        Cc::Ne
    }

    pub(super) fn all_bits(&mut self, mask: &Mask) -> Cc {
        let all = self.combined(Logic::And, mask);
        if mask.lanes < 8 {
            let bits = self.rm(Opcode::KmovbToGeneral, Size::B32, all);
            self.test_imm(Opcode::CmpImm, Size::B32, bits, (1 << mask.lanes) - 1);
            return Cc::E;
        }
        // The carry flag says that all bits are set.
        let test = sized(mask.lanes, by_size!(Kortestb Kortestw Kortestd Kortestq));
        self.test(test, Size::B64, all, all);
        Cc::B
    }
}
