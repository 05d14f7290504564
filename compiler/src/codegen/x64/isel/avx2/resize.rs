//! Narrower integer lanes.

use regalloc2::VReg;

use super::super::Isel;
use super::super::values::Parts;
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::ir::Scalar;

impl Isel<'_> {
    /// The low bits of integer lanes, halved step by step. Of masks, whose lanes `fit` as signed
    /// ones, no bits have to be cleared before.
    pub fn packed(&mut self, mut parts: Parts, lanes: u8, from: u32, to: u32, fit: bool) -> Parts {
        let mut bits = from;
        while bits > to {
            let have = self.shape_of(lanes, bits);
            if !fit && bits < 64 {
                let scalar = Scalar::int(bits).expect("a width of integers");
                let low = self.bits_operand((1 << (bits / 2)) - 1, scalar, have.size);
                parts = parts
                    .into_iter()
                    .map(|part| self.rvm(Opcode::Vpandd, have.size, part, low))
                    .collect();
            }
            parts = match parts[..] {
                [one] if have.size == Size::V128 => {
                    Parts::from_elem(self.pack(Size::V128, bits, fit, one, one), 1)
                }
                [one] => {
                    let high = self.piece(one, 16);
                    Parts::from_elem(self.pack(Size::V128, bits, fit, one, high), 1)
                }
                _ => parts
                    .chunks(2)
                    .map(|pair| {
                        // Each 128 bits are packed by themselves: the middle quarters change
                        // places.
                        let both = self.pack(Size::V256, bits, fit, pair[0], pair[1]);
                        self.rmi(Opcode::VpermqImm, Size::V256, both, 0b11_01_10_00)
                    })
                    .collect(),
            };
            bits /= 2;
        }
        parts
    }

    fn pack(&mut self, size: Size, bits: u32, signed: bool, low: VReg, high: VReg) -> VReg {
        let opcode = match (bits, signed) {
            (64, _) => return self.rvmi(Opcode::Vshufps, size, low, high, 0b10_00_10_00),
            (32, true) => Opcode::Vpackssdw,
            (32, false) => Opcode::Vpackusdw,
            (_, true) => Opcode::Vpacksswb,
            (_, false) => Opcode::Vpackuswb,
        };
        self.rvm(opcode, size, low, high)
    }
}
