//! Emitted code as text, for people.

use std::fmt::{Display, Write};

use super::encoding::{Base, Cc, Code, Instruction, Rm, Size};

/// A listing being written, an instruction a line.
#[derive(Default)]
pub struct Listing {
    lines: Vec<(u32, Line)>,
}

enum Line {
    Label(String),
    Jump(String),
    Inst(Instruction),
}

impl Listing {
    /// An instruction is written at this offset.
    pub fn inst(&mut self, at: u32, inst: &Instruction) {
        self.lines.push((at, Line::Inst(*inst)));
    }

    pub fn jump(&mut self, at: u32, condition: Option<Cc>, to: impl Display) {
        let text = match condition {
            None => format!("jmp {to}"),
            Some(cc) => format!("j{cc} {to}"),
        };
        self.lines.push((at, Line::Jump(text)));
    }

    /// A label is here. Jumps right before it that led here are no longer in the code.
    pub fn label(&mut self, at: u32, name: impl Display) {
        let first = self.lines.partition_point(|&(before, _)| before < at);
        let mut moved = self.lines.split_off(first);
        moved.retain(|(_, line)| matches!(line, Line::Label(_)));
        self.lines
            .extend(moved.into_iter().map(|(_, label)| (at, label)));
        self.lines.push((at, Line::Label(name.to_string())));
    }

    /// The text, once it is known where everything is.
    pub fn finish(self, code: &Code, pool: &[u8]) -> String {
        let mut text = String::new();
        for (at, line) in &self.lines {
            let at = code.offset(*at);
            let written = match line {
                Line::Label(name) => writeln!(text, "{name}:"),
                Line::Jump(jump) => writeln!(text, "{at:6x}  {jump}"),
                Line::Inst(inst) => match constant(inst, pool) {
                    None => writeln!(text, "{at:6x}  {inst}"),
                    Some(constant) => writeln!(text, "{at:6x}  {inst} ; {constant}"),
                },
            };
            written.expect("strings take all text");
        }
        text
    }
}

/// The elements that an instruction reads of the constant pool; once, if all are the same.
fn constant(inst: &Instruction, pool: &[u8]) -> Option<String> {
    let info = inst.opcode.info();
    let (memory, bytes) = match inst.rm {
        Rm::Memory(memory) => (memory, info.memory_bytes(inst.size)),
        Rm::Broadcast(memory) => (memory, info.element.into()),
        Rm::None | Rm::Reg(_) => return None,
    };
    if memory.base != Base::Pool || bytes == 0 {
        return None;
    }
    let at = memory.disp as usize;
    let bytes = pool.get(at..at + bytes as usize)?;
    let element = match info.element {
        0 => bytes.len().min(Size::B64.bytes() as usize),
        bytes => bytes.into(),
    };
    let mut elements: Vec<u64> = bytes.chunks(element).map(number).collect();
    if elements.iter().all(|&element| element == elements[0]) {
        elements.truncate(1);
    }
    let elements: Vec<String> = elements.iter().map(|n| format!("{n:#x}")).collect();
    Some(elements.join(", "))
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |n, &byte| n << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::x64::encoding::{Buffer, Features, Memory, Opcode};

    fn mul(disp: i32) -> Instruction {
        let mut inst = Instruction::new(Opcode::Vmulps, Size::V128);
        inst.rm = Rm::Memory(Memory {
            base: Base::Pool,
            index: None,
            shift: 0,
            disp,
        });
        inst
    }

    #[test]
    fn constants_are_shown_by_element() {
        let pool: Vec<u8> = [1u32, 1, 1, 1, 1, 2, 3, 4]
            .iter()
            .flat_map(|n| n.to_le_bytes())
            .collect();
        let mut listing = Listing::default();
        let mut buffer = Buffer::new(Features::AVX2);
        for disp in [0, 16] {
            listing.inst(buffer.offset(), &mul(disp));
            buffer.emit(&mul(disp)).expect("an instruction");
        }
        let text = listing.finish(&buffer.finish(&pool), &pool);
        let expected = "     0  vmulps xmm0, xmm0, xmmword ptr [pool + 0] ; 0x1\n     \
            8  vmulps xmm0, xmm0, xmmword ptr [pool + 0x10] ; 0x1, 0x2, 0x3, 0x4\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn jumps_that_disappear_are_not_shown() {
        let mut listing = Listing::default();
        let mut buffer = Buffer::new(Features::AVX2);
        let labels = [buffer.new_label(), buffer.new_label()];
        listing.jump(buffer.offset(), None, "block1");
        buffer.jump(labels[1]);
        for (n, label) in labels.into_iter().enumerate() {
            buffer.bind(label);
            listing.label(buffer.offset(), format_args!("block{n}"));
        }
        let ret = Instruction::new(Opcode::Ret, Size::B64);
        listing.inst(buffer.offset(), &ret);
        buffer.emit(&ret).expect("an instruction");
        let text = listing.finish(&buffer.finish(&[]), &[]);
        assert_eq!(text, "block0:\nblock1:\n     0  ret\n");
    }
}
