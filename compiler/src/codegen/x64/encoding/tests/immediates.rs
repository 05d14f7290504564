//! Every immediate, behind every kind of operand.

use super::decoded::verify;
use super::values::{immediates, instructions, is_vsib, kinds_of_rm};
use crate::codegen::x64::encoding::{Base, Instruction, Memory, Rm};

#[test]
fn immediates_come_back() {
    for plain in instructions() {
        let mut all = Vec::new();
        for &imm in immediates(&plain) {
            for rm in kinds_of_rm(&plain) {
                all.push(Instruction { rm, imm, ..plain });
                if matches!(rm, Rm::Memory(_)) && !is_vsib(plain.opcode.info()) {
                    // Its address is relative to the end of the immediate.
                    let memory = Memory {
                        base: Base::Pool,
                        index: None,
                        shift: 0,
                        disp: 8,
                    };
                    all.push(Instruction {
                        rm: Rm::Memory(memory),
                        imm,
                        ..plain
                    });
                }
            }
        }
        verify(&all);
    }
}
