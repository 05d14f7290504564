//! Masks, zeroing, broadcasts and static rounding, all together.

use super::decoded::verify;
use super::values::{instructions, kinds_of_rm};
use crate::codegen::x64::encoding::info::{Form, Length, Masking, Rounding};
use crate::codegen::x64::encoding::{Instruction, Rm, RoundingControl, Size};

/// The masks that an instruction can have, and whether they can zero.
fn masks(inst: &Instruction) -> Vec<(u8, bool)> {
    let info = inst.opcode.info();
    let mut masks = Vec::new();
    if info.masking != Masking::Required {
        masks.push((0, false));
    }
    if info.masking != Masking::None {
        masks.extend((1..8).map(|mask| (mask, false)));
    }
    let to_memory = info.form == Form::Mr && !matches!(inst.rm, Rm::Reg(_));
    if info.masking == Masking::Zero && !to_memory {
        masks.extend((1..8).map(|mask| (mask, true)));
    }
    masks
}

fn roundings(inst: &Instruction) -> Vec<Option<RoundingControl>> {
    use RoundingControl::{Down, Nearest, Sae, Up, Zero};
    let info = inst.opcode.info();
    let whole = info.length == Length::L0 || inst.size == Size::V512;
    if !whole || !matches!(inst.rm, Rm::Reg(_)) {
        return vec![None];
    }
    match info.rounding {
        Rounding::StaticOf64 if inst.size == Size::B32 => vec![None],
        Rounding::None => vec![None],
        Rounding::Sae => vec![None, Some(Sae)],
        Rounding::Static | Rounding::StaticOf64 => {
            vec![None, Some(Nearest), Some(Down), Some(Up), Some(Zero)]
        }
    }
}

#[test]
fn masks_and_rounding_come_back() {
    for plain in instructions() {
        let mut all = Vec::new();
        for rm in kinds_of_rm(&plain) {
            let inst = Instruction { rm, ..plain };
            for (mask, zeroing) in masks(&inst) {
                for rounding in roundings(&inst) {
                    all.push(Instruction {
                        mask,
                        zeroing,
                        rounding,
                        ..inst
                    });
                }
            }
        }
        verify(&all);
    }
}
