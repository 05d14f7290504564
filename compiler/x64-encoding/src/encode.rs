//! One instruction to bytes.

use super::info::{Encoding, Form, ImmKind, Info, Length, MemorySize, W};
use super::operand::{self, HighBits, PoolReference};
use super::prefix;
use super::{Instruction, Rm, Size};

/// The bytes of one instruction.
#[derive(Clone, Copy)]
pub(super) struct Bytes {
    bytes: [u8; Bytes::MAX],
    len: u8,
}

impl Bytes {
    /// One more than the architecture allows.
    const MAX: usize = 16;

    fn new() -> Bytes {
        Bytes {
            bytes: [0; Bytes::MAX],
            len: 0,
        }
    }

    pub fn push(&mut self, byte: u8) {
        self.bytes[self.len as usize] = byte;
        self.len += 1;
    }

    pub fn push_all<const N: usize>(&mut self, bytes: [u8; N]) {
        let at = self.len as usize;
        self.bytes[at..at + N].copy_from_slice(&bytes);
        self.len += N as u8;
    }

    pub fn push_u32(&mut self, value: u32) {
        self.push_all(value.to_le_bytes());
    }

    pub fn len(&self) -> u8 {
        self.len
    }

    pub fn append_to(&self, code: &mut Vec<u8>) {
        let end = code.len() + self.len as usize;
        // A copy of constant length is a move of one vector register.
        code.extend_from_slice(&self.bytes);
        code.truncate(end);
    }
}

/// The bytes, and the displacement among them that is still to be filled in. That the instruction
/// exists is [`super::check`]'s to see to.
pub(super) fn encode(inst: &Instruction, info: &Info) -> (Bytes, Option<PoolReference>) {
    let in_opcode;
    let inst = match info.form {
        // The register in the opcode has the bits of ModRM.rm.
        Form::O => {
            let rm = Rm::Reg(inst.reg);
            in_opcode = Instruction {
                reg: 0,
                rm,
                ..*inst
            };
            &in_opcode
        }
        _ => inst,
    };
    let mut out = Bytes::new();
    let high = HighBits::of(inst.rm);
    let mut scale = 1;
    let mut opcode;
    if let Some(encoding) = &info.legacy {
        prefix::legacy(&mut out, inst, info, encoding, high);
        opcode = legacy_opcode(inst, info, encoding);
    } else if let Some(encoding) = vex_encoding(inst, info) {
        prefix::vex(&mut out, inst, info, encoding, high);
        opcode = encoding.opcode;
    } else {
        let encoding = info.evex.as_ref().expect("one of three encodings");
        scale = displacement_scale(inst, info);
        prefix::evex(&mut out, inst, info, encoding, high);
        opcode = encoding.opcode;
    }
    let short = info.imm == ImmKind::Short && i8::try_from(inst.imm).is_ok();
    if short && inst.size != Size::B8 {
        opcode |= 2;
    }
    out.push(opcode);
    let has_modrm = !matches!(info.form, Form::O | Form::Zo) || info.digit != 0;
    let reference = has_modrm
        .then(|| operand::write(&mut out, inst.reg | info.digit, inst.rm, scale))
        .flatten();
    immediate(&mut out, inst, info, short);
    (out, reference)
}

/// The last byte of the opcode. Opcodes of wider operands are odd, those of bytes one before.
fn legacy_opcode(inst: &Instruction, info: &Info, encoding: &Encoding) -> u8 {
    let mut opcode = encoding.opcode;
    if encoding.w == W::BySize && inst.size == Size::B8 {
        opcode &= !1;
    }
    if let (Form::O, Rm::Reg(reg)) = (info.form, inst.rm) {
        opcode |= reg & 7;
    }
    if info.imm == ImmKind::Condition {
        opcode |= inst.imm as u8;
    }
    opcode
}

/// VEX, unless something asks for EVEX.
pub(super) fn vex_encoding<'a>(inst: &Instruction, info: &'a Info) -> Option<&'a Encoding> {
    let encoding = info.vex.as_ref()?;
    let (registers, memory) = match inst.rm {
        Rm::None => (0, false),
        Rm::Reg(reg) => (reg, false),
        Rm::Memory(memory) => (memory.index.unwrap_or(0), true),
        Rm::Broadcast(_) => return None,
    };
    let evex = inst.reg | inst.vvvv | registers >= 16
        || inst.mask != 0
        || inst.rounding.is_some()
        || inst.size == Size::V512 && info.length == Length::BySize
        || info.vex_registers_only && memory;
    (!evex).then_some(encoding)
}

/// What an 8-bit displacement counts in, in EVEX.
fn displacement_scale(inst: &Instruction, info: &Info) -> u32 {
    match (inst.rm, info.memory) {
        (Rm::Broadcast(_), _) | (_, MemorySize::Packed) => u32::from(info.element),
        (Rm::Memory(_), _) => info.memory_bytes(inst.size),
        _ => 1,
    }
}

fn immediate(out: &mut Bytes, inst: &Instruction, info: &Info, short: bool) {
    let imm = inst.imm;
    let bytes = match info.imm {
        ImmKind::None | ImmKind::Condition => return,
        ImmKind::Register => return out.push((imm as u8) << 4),
        ImmKind::I8 => 1,
        ImmKind::Short if short => 1,
        ImmKind::I32 | ImmKind::Short => inst.size.bytes().min(4),
        ImmKind::I64 => inst.size.bytes(),
    };
    match bytes {
        1 => out.push(imm as u8),
        2 => out.push_all((imm as u16).to_le_bytes()),
        4 => out.push_u32(imm as u32),
        _ => out.push_all(imm.to_le_bytes()),
    }
}
