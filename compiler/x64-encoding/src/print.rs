//! One instruction to text, in Intel's syntax.
//!
//! Numbers from 10 on are hexadecimal. What is in the constant pool is `[pool + offset]`.

use std::fmt::{Display, Formatter, Result};

use super::encode::vex_encoding;
use super::info::{Class, Form, ImmKind, Info, MemorySize};
use super::{Base, Cc, Instruction, Memory, Opcode, Rm, RoundingControl, Size};

/// Where an operand is encoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Reg,
    Vvvv,
    Rm,
}

impl Opcode {
    /// The operands as assemblers of Intel's syntax order them, without immediates.
    pub(super) fn operands(self) -> &'static [Place] {
        use Place::{Reg, Rm, Vvvv};
        let info = self.info();
        match info.form {
            Form::Rvm | Form::Rvma | Form::Rvmr | Form::Mulx => &[Reg, Vvvv, Rm],
            Form::RmTest if matches!(self, Opcode::Test | Opcode::Bt) => &[Rm, Reg],
            Form::Rm | Form::Rma | Form::RmTest => &[Reg, Rm],
            Form::Gather if info.vex.is_some() => &[Reg, Rm, Vvvv],
            Form::Gather => &[Reg, Rm],
            Form::Mr | Form::Mra | Form::Scatter => &[Rm, Reg],
            Form::Rmv => &[Reg, Rm, Vvvv],
            Form::Vm => &[Vvvv, Rm],
            Form::Mvr => &[Rm, Vvvv, Reg],
            Form::Ma | Form::MTest | Form::Mstore | Form::M | Form::Mi => &[Rm],
            Form::O => &[Reg],
            Form::Zo => &[],
        }
    }

    /// Whether the last operand is cl.
    pub(super) fn is_shift_by_cl(self) -> bool {
        use Opcode::{RolCl, RorCl, SarCl, ShlCl, ShrCl};
        matches!(self, RolCl | RorCl | ShlCl | ShrCl | SarCl)
    }
}

/// What VEX calls an instruction: EVEX has elements in some names where VEX has none.
pub(super) fn vex_name(name: &'static str) -> &'static str {
    match name {
        "vpandd" | "vpandq" => "vpand",
        "vpandnd" | "vpandnq" => "vpandn",
        "vpord" | "vporq" => "vpor",
        "vpxord" | "vpxorq" => "vpxor",
        "vmovdqa32" | "vmovdqa64" => "vmovdqa",
        "vmovdqu8" | "vmovdqu16" | "vmovdqu32" | "vmovdqu64" => "vmovdqu",
        "vbroadcastf32x4" => "vbroadcastf128",
        "vbroadcasti32x4" => "vbroadcasti128",
        name => name,
    }
}

impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let info = self.opcode.info();
        self.fmt_mnemonic(f, info)?;
        let places = self.opcode.operands();
        // The last register that is no destination.
        let rounded = match info.form {
            Form::Mr => Place::Reg,
            _ => Place::Rm,
        };
        for (n, &place) in places.iter().enumerate() {
            f.write_str(if n == 0 { " " } else { ", " })?;
            self.fmt_operand(f, info, place)?;
            if n == 0 && self.mask != 0 {
                write!(f, "{{k{}}}", self.mask)?;
                f.write_str(if self.zeroing { "{z}" } else { "" })?;
            }
            if let Some(rounding) = self.rounding
                && place == rounded
            {
                f.write_str(rounding_name(rounding))?;
            }
        }
        match info.imm {
            ImmKind::None | ImmKind::Condition => {}
            ImmKind::Register => write!(f, ", {}", vector(self.size.bytes(), self.imm as u8))?,
            ImmKind::I8 => write!(f, ", {}", Number(i64::from(self.imm as u8)))?,
            _ => write!(f, ", {}", Number(self.imm))?,
        }
        f.write_str(if self.opcode.is_shift_by_cl() {
            ", cl"
        } else {
            ""
        })
    }
}

impl Instruction {
    fn fmt_mnemonic(&self, f: &mut Formatter<'_>, info: &Info) -> Result {
        if info.lock {
            f.write_str("lock ")?;
        }
        if self.opcode == Opcode::RepMovsb {
            f.write_str("rep ")?;
        }
        f.write_str(match vex_encoding(self, info) {
            Some(_) => vex_name(info.mnemonic),
            None => info.mnemonic,
        })?;
        match info.imm {
            ImmKind::Condition => Cc::ALL[self.imm as usize].fmt(f),
            _ => Ok(()),
        }
    }

    fn fmt_operand(&self, f: &mut Formatter<'_>, info: &Info, place: Place) -> Result {
        let (class, number) = match (place, self.rm) {
            (Place::Reg, _) => (info.reg, self.reg),
            (Place::Vvvv, _) => (info.vvvv, self.vvvv),
            (Place::Rm, Rm::Reg(number)) => (info.rm, number),
            (Place::Rm, Rm::None) => return Ok(()),
            (Place::Rm, Rm::Memory(memory)) => {
                f.write_str(memory_name(info.memory_bytes(self.size)))?;
                return self.fmt_address(f, info, memory);
            }
            (Place::Rm, Rm::Broadcast(memory)) => {
                let element = u32::from(info.element);
                f.write_str(memory_name(element))?;
                self.fmt_address(f, info, memory)?;
                return write!(f, "{{1to{}}}", info.memory_bytes(self.size) / element);
            }
        };
        match class {
            Class::General => f.write_str(general(self.general_bytes(info, place), number)),
            Class::Mask => write!(f, "k{number}"),
            Class::Vector => vector(self.vector_bytes(info, place), number).fmt(f),
        }
    }

    fn fmt_address(&self, f: &mut Formatter<'_>, info: &Info, memory: Memory) -> Result {
        let mut plus = "";
        f.write_str("[")?;
        match memory.base {
            Base::None => {}
            Base::Reg(base) => {
                f.write_str(general(8, base))?;
                plus = " + ";
            }
            Base::Pool => return write!(f, "pool + {}]", Number(memory.disp.into())),
        }
        if let Some(index) = memory.index {
            f.write_str(plus)?;
            match info.form {
                Form::Gather | Form::Scatter => {
                    vector(self.addresses_bytes(info), index).fmt(f)?;
                }
                _ => f.write_str(general(8, index))?,
            }
            if memory.shift > 0 {
                write!(f, "*{}", 1 << memory.shift)?;
            }
            plus = " + ";
        }
        match i64::from(memory.disp) {
            0 if !plus.is_empty() => {}
            disp if disp < 0 && !plus.is_empty() => write!(f, " - {}", Number(-disp))?,
            disp => write!(f, "{plus}{}", Number(disp))?,
        }
        f.write_str("]")
    }

    /// How wide a general register is.
    pub(super) fn general_bytes(&self, info: &Info, place: Place) -> u32 {
        let size = self.size.bytes();
        let element = u32::from(info.element);
        if info.legacy.is_some() {
            let of_element = info.memory == MemorySize::Element && place == Place::Rm;
            return if of_element { element } else { size };
        }
        let of_masks = info.reg == Class::Mask || info.rm == Class::Mask;
        match (self.size, element) {
            (Size::B32 | Size::B64, _) if !of_masks => size,
            (_, 8) => 8,
            _ => 4,
        }
    }

    /// How wide a vector register is.
    fn vector_bytes(&self, info: &Info, place: Place) -> u32 {
        let size = self.size.bytes();
        let bytes = match (place, info.form) {
            (Place::Rm, _) if info.memory != MemorySize::None => info.memory_bytes(self.size),
            (Place::Reg | Place::Vvvv, Form::Gather | Form::Scatter) => {
                let element = u32::from(info.element);
                size * element / element.max(addresses_element(info))
            }
            (Place::Reg, _) if info.reg_is_half => size / 2,
            _ => size,
        };
        bytes.max(16)
    }

    /// How wide the vector of indices is in a gather or scatter.
    fn addresses_bytes(&self, info: &Info) -> u32 {
        let index = addresses_element(info);
        (self.size.bytes() * index / index.max(info.element.into())).max(16)
    }
}

/// Bytes of an index of a gather or scatter: its mnemonic has a letter for it, before what is for
/// the data.
fn addresses_element(info: &Info) -> u32 {
    let data = match info.mnemonic.strip_prefix("vp") {
        Some(_) => 1,
        None => 2,
    };
    let at = info.mnemonic.len() - data - 1;
    match info.mnemonic.as_bytes()[at] {
        b'd' => 4,
        _ => 8,
    }
}

impl Display for Cc {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Cc::O => "o",
            Cc::No => "no",
            Cc::B => "b",
            Cc::Ae => "ae",
            Cc::E => "e",
            Cc::Ne => "ne",
            Cc::Be => "be",
            Cc::A => "a",
            Cc::S => "s",
            Cc::Ns => "ns",
            Cc::P => "p",
            Cc::Np => "np",
            Cc::L => "l",
            Cc::Ge => "ge",
            Cc::Le => "le",
            Cc::G => "g",
        })
    }
}

struct Number(i64);

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        match self.0.unsigned_abs() {
            small @ 0..=9 => write!(f, "{sign}{small}"),
            large => write!(f, "{sign}{large:#x}"),
        }
    }
}

fn rounding_name(rounding: RoundingControl) -> &'static str {
    match rounding {
        RoundingControl::Nearest => "{rn-sae}",
        RoundingControl::Down => "{rd-sae}",
        RoundingControl::Up => "{ru-sae}",
        RoundingControl::Zero => "{rz-sae}",
        RoundingControl::Sae => "{sae}",
    }
}

/// What a place in memory of so many bytes is called. An address that is not accessed is nothing.
fn memory_name(bytes: u32) -> &'static str {
    match bytes {
        0 => "",
        1 => "byte ptr ",
        2 => "word ptr ",
        4 => "dword ptr ",
        8 => "qword ptr ",
        16 => "xmmword ptr ",
        32 => "ymmword ptr ",
        _ => "zmmword ptr ",
    }
}

fn vector(bytes: u32, number: u8) -> impl Display {
    let letter = match Size::of_bytes(bytes) {
        Size::V256 => "y",
        Size::V512 => "z",
        _ => "x",
    };
    std::fmt::from_fn(move |f| write!(f, "{letter}mm{number}"))
}

fn general(bytes: u32, number: u8) -> &'static str {
    const BYTES: [&str; 16] = [
        "al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil", "r8b", "r9b", "r10b", "r11b", "r12b",
        "r13b", "r14b", "r15b",
    ];
    const WORDS: [&str; 16] = [
        "ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8w", "r9w", "r10w", "r11w", "r12w",
        "r13w", "r14w", "r15w",
    ];
    const DWORDS: [&str; 16] = [
        "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d", "r9d", "r10d", "r11d",
        "r12d", "r13d", "r14d", "r15d",
    ];
    const QWORDS: [&str; 16] = [
        "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
        "r13", "r14", "r15",
    ];
    let names = match bytes {
        1 => &BYTES,
        2 => &WORDS,
        4 => &DWORDS,
        _ => &QWORDS,
    };
    names[number as usize]
}
