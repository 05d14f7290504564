//! Instructions as text, beside what the decoder prints.

use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter, MemorySizeOptions};

use super::masking::with_masks_and_rounding;
use super::values::{immediates, instructions, kinds_of_rm};
use crate::codegen::x64::encoding::info::{Form, ImmKind};
use crate::codegen::x64::encoding::{Base, Buffer, Instruction, Memory, Opcode, Rm, Size};

fn formatter() -> IntelFormatter {
    let mut formatter = IntelFormatter::new();
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_uppercase_hex(false);
    options.set_use_pseudo_ops(false);
    options.set_space_after_operand_separator(true);
    options.set_space_between_memory_add_operators(true);
    options.set_memory_size_options(MemorySizeOptions::Always);
    formatter
}

/// What the decoder prints, in our manner where it has its own: `[rax]` for all of memory that is
/// not accessed.
fn decoded(inst: &Instruction, formatter: &mut IntelFormatter) -> String {
    let mut buffer = Buffer::default();
    buffer.emit(inst);
    let code = buffer.finish(&[]);
    let decoded = Decoder::with_ip(64, &code.bytes, 0, DecoderOptions::NONE).decode();
    let signed = inst.opcode.info().imm != ImmKind::I8;
    formatter
        .options_mut()
        .set_signed_immediate_operands(signed);
    let mut text = String::new();
    formatter.format(&decoded, &mut text);
    text
}

fn verify(all: &[Instruction], formatter: &mut IntelFormatter) {
    for inst in all {
        assert_eq!(inst.to_string(), decoded(inst, formatter), "{inst:?}");
    }
}

#[test]
fn every_opcode_prints_as_decoded() {
    let mut formatter = formatter();
    for plain in instructions().filter(|inst| inst.opcode.info().form != Form::Zo) {
        verify(&with_masks_and_rounding(plain), &mut formatter);
    }
}

#[test]
fn immediates_print_as_decoded() {
    let mut formatter = formatter();
    for plain in instructions() {
        let all: Vec<Instruction> = immediates(&plain)
            .iter()
            .map(|&imm| Instruction { imm, ..plain })
            .collect();
        if plain.opcode.info().form != Form::Zo {
            verify(&all, &mut formatter);
        }
    }
}

#[test]
fn addresses_print_as_decoded() {
    let mut formatter = formatter();
    let mut all = Vec::new();
    for (base, index, shift, disp) in [
        (5, None, 0, 0),
        (0, None, 0, 9),
        (4, None, 0, 10),
        (15, Some(12), 0, 0),
        (15, Some(12), 1, -9),
        (9, Some(3), 3, -10),
        (9, Some(3), 2, i32::MAX),
        (9, Some(3), 2, i32::MIN),
    ] {
        let memory = Memory {
            base: Base::Reg(base),
            index,
            shift,
            disp,
        };
        for (opcode, size) in [(Opcode::Mov, Size::B32), (Opcode::Vaddps, Size::V512)] {
            let mut inst = Instruction::new(opcode, size);
            inst.rm = Rm::Memory(memory);
            all.push(inst);
        }
    }
    verify(&all, &mut formatter);
}

#[test]
fn places_in_the_pool_print() {
    let mut inst = Instruction::new(Opcode::Vmulps, Size::V512);
    (inst.reg, inst.vvvv) = (1, 2);
    inst.rm = Rm::Broadcast(Memory {
        base: Base::Pool,
        index: None,
        shift: 0,
        disp: 64,
    });
    let expected = "vmulps zmm1, zmm2, dword ptr [pool + 0x40]{1to16}";
    assert_eq!(inst.to_string(), expected);
}
