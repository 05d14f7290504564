//! Legacy, VEX and EVEX prefixes, up to the opcode.

use super::encode::Bytes;
use super::info::{Encoding, Info, Length, Map, Masking, MemorySize, Pp, W};
use super::operand::HighBits;
use super::{Instruction, Rm, RoundingControl, Size};

impl Encoding {
    fn w(&self, size: Size) -> u8 {
        match self.w {
            W::W0 | W::Ig => 0,
            W::W1 => 1,
            W::BySize => u8::from(size == Size::B64),
        }
    }
}

fn vector_length(info: &Info, size: Size) -> u8 {
    match (info.length, size) {
        (Length::L0, _) => 0,
        (Length::L1, _) | (_, Size::V256) => 1,
        (_, Size::V512) => 2,
        _ => 0,
    }
}

/// `high` are the bits of `rm`; those of `reg` are in the instruction.
pub(super) fn legacy(
    out: &mut Bytes,
    inst: &Instruction,
    info: &Info,
    encoding: &Encoding,
    high: HighBits,
) {
    if info.lock {
        out.push(0xf0);
    }
    if inst.size == Size::B16 && encoding.w == W::BySize {
        out.push(0x66);
    }
    match encoding.pp {
        Pp::Np => {}
        Pp::P66 => out.push(0x66),
        Pp::PF3 => out.push(0xf3),
        Pp::PF2 => out.push(0xf2),
    }
    let rex = encoding.w(inst.size) << 3 | inst.reg >> 3 << 2 | (high.index & 1) << 1 | high.base;
    if rex != 0 || names_low_byte(inst, info) {
        out.push(0x40 | rex);
    }
    match encoding.map {
        Map::Primary => {}
        Map::M0F => out.push(0x0f),
        Map::M0F38 => out.push_all([0x0f, 0x38]),
        Map::M0F3A => out.push_all([0x0f, 0x3a]),
        Map::M5 | Map::M6 => unreachable!("maps of EVEX alone"),
    }
}

/// Whether a register of 8 bits is one of spl, bpl, sil and dil, which without a REX prefix would
/// be ah, ch, dh and bh.
fn names_low_byte(inst: &Instruction, info: &Info) -> bool {
    let rm = match inst.rm {
        Rm::Reg(reg) => reg,
        _ => 0,
    };
    let from_byte = info.memory == MemorySize::Element && info.element == 1;
    match inst.size {
        Size::B8 => inst.reg >= 4 || rm >= 4,
        _ => from_byte && rm >= 4,
    }
}

pub(super) fn vex(
    out: &mut Bytes,
    inst: &Instruction,
    info: &Info,
    encoding: &Encoding,
    high: HighBits,
) {
    let w = encoding.w(inst.size);
    let last = (!inst.vvvv & 15) << 3 | vector_length(info, inst.size) << 2 | encoding.pp as u8;
    let not_r = (!inst.reg >> 3 & 1) << 7;
    if w == 0 && high.index & 1 == 0 && high.base == 0 && encoding.map == Map::M0F {
        out.push_all([0xc5, not_r | last]);
    } else {
        let not_x = (!high.index & 1) << 6;
        let not_b = (!high.base & 1) << 5;
        out.push_all([
            0xc4,
            not_r | not_x | not_b | encoding.map as u8,
            w << 7 | last,
        ]);
    }
}

pub(super) fn evex(
    out: &mut Bytes,
    inst: &Instruction,
    info: &Info,
    encoding: &Encoding,
    high: HighBits,
) {
    let not_r = (!inst.reg >> 3 & 1) << 7 | (!inst.reg >> 4 & 1) << 4;
    let not_x = (!high.index & 1) << 6;
    let not_b = (!high.base & 1) << 5;
    // The fifth bit of a vector index is where that of vvvv is; no form has both.
    let fifth = match inst.rm {
        Rm::Memory(memory) if info.masking == Masking::Required => memory.index.unwrap_or(0) >> 4,
        _ => inst.vvvv >> 4,
    };
    let (length, b) = match inst.rounding {
        None => {
            let broadcast = matches!(inst.rm, Rm::Broadcast(_));
            (vector_length(info, inst.size), u8::from(broadcast))
        }
        Some(RoundingControl::Nearest | RoundingControl::Sae) => (0, 1),
        Some(RoundingControl::Down) => (1, 1),
        Some(RoundingControl::Up) => (2, 1),
        Some(RoundingControl::Zero) => (3, 1),
    };
    out.push_all([
        0x62,
        not_r | not_x | not_b | encoding.map as u8,
        encoding.w(inst.size) << 7 | (!inst.vvvv & 15) << 3 | 1 << 2 | encoding.pp as u8,
        u8::from(inst.zeroing) << 7 | length << 5 | b << 4 | (!fifth & 1) << 3 | inst.mask,
    ]);
}
