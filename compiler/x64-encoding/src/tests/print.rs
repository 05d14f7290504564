//! Instructions as text, beside what the decoder prints.

use iced_x86::{
    Decoder, DecoderOptions, Formatter, IntelFormatter, MasmFormatter, MemorySizeOptions,
};

use super::masking::with_masks_and_rounding;
use super::values::{immediates, instructions};
use crate::info::{Form, ImmKind};
use crate::{Base, Buffer, Features, Instruction, Memory, Opcode, Rm, Size};

/// Intel's own syntax says how often an element is broadcast, MASM's has masks and rounding where
/// the manual has them.
struct Printers {
    intel: IntelFormatter,
    masm: MasmFormatter,
}

fn printers() -> Printers {
    let mut printers = Printers {
        intel: IntelFormatter::new(),
        masm: MasmFormatter::new(),
    };
    for options in [printers.intel.options_mut(), printers.masm.options_mut()] {
        options.set_hex_prefix("0x");
        options.set_hex_suffix("");
        options.set_uppercase_hex(false);
        options.set_use_pseudo_ops(false);
        options.set_space_after_operand_separator(true);
        options.set_space_between_memory_add_operators(true);
        options.set_memory_size_options(MemorySizeOptions::Always);
    }
    printers
}

impl Printers {
    fn print(&mut self, inst: &Instruction) -> String {
        let mut buffer = Buffer::new(Features::ALL);
        buffer.emit(inst).expect("an instruction");
        let code = buffer.finish(&[]);
        let decoded = Decoder::with_ip(64, &code.bytes, 0, DecoderOptions::NONE).decode();
        let signed = inst.opcode.info().imm != ImmKind::I8;
        let mut text = String::new();
        let formatter: &mut dyn Formatter = match inst.rm {
            Rm::Broadcast(_) => &mut self.intel,
            _ => &mut self.masm,
        };
        formatter
            .options_mut()
            .set_signed_immediate_operands(signed);
        formatter.format(&decoded, &mut text);
        match (inst.rounding, text.rsplit_once(", ")) {
            // The manual has rounding with the register, before an immediate.
            (Some(_), Some((operands, last))) if inst.opcode.info().imm != ImmKind::None => {
                let (imm, rounding) = last.split_at(last.find('{').expect("rounding"));
                format!("{operands}{rounding}, {imm}")
            }
            _ => text,
        }
    }
}

/// Implied operands are printed by some and not by others, and the two of an exchange in either
/// order.
fn printed_alike() -> impl Iterator<Item = Instruction> {
    instructions().filter(|inst| {
        let form = inst.opcode.info().form;
        form != Form::Zo && inst.opcode != Opcode::Xchg
    })
}

fn verify(all: &[Instruction], printers: &mut Printers) {
    for inst in all {
        assert_eq!(inst.to_string(), printers.print(inst), "{inst:?}");
    }
}

#[test]
fn every_opcode_prints_as_decoded() {
    let mut printers = printers();
    for plain in printed_alike() {
        verify(&with_masks_and_rounding(plain), &mut printers);
    }
}

#[test]
fn immediates_print_as_decoded() {
    let mut printers = printers();
    for plain in printed_alike() {
        let all: Vec<Instruction> = immediates(&plain)
            .iter()
            .map(|&imm| Instruction { imm, ..plain })
            .collect();
        verify(&all, &mut printers);
    }
}

#[test]
fn addresses_print_as_decoded() {
    let mut printers = printers();
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
    verify(&all, &mut printers);
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
