//! Every register in every place.

use super::decoded::verify;
use super::values::{Place, instructions, operands, registers};
use crate::codegen::x64::encoding::info::Class;
use crate::codegen::x64::encoding::{Instruction, Rm};

#[test]
fn registers_come_back() {
    for plain in instructions() {
        let info = plain.opcode.info();
        let places = operands(plain.opcode);
        let of = |place, class: Class| match places.contains(&place) {
            true => registers(class, info),
            false => &[0],
        };
        let mut all = Vec::new();
        for &reg in of(Place::Reg, info.reg) {
            for &vvvv in of(Place::Vvvv, info.vvvv) {
                let inst = Instruction { reg, vvvv, ..plain };
                match inst.rm {
                    Rm::Reg(_) => {
                        all.extend(registers(info.rm, info).iter().map(|&rm| Instruction {
                            rm: Rm::Reg(rm),
                            ..inst
                        }))
                    }
                    // A gather's are not to be the same; memory's index is 3.
                    Rm::Memory(_) if reg == vvvv || reg == 3 || vvvv == 3 => {}
                    _ => all.push(inst),
                }
            }
        }
        verify(&all);
    }
}
