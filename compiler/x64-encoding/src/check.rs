//! Which instructions there are: what is asked of an opcode, against its row and against what the
//! processor has.
//!
//! The encoder writes whatever fields it is given, and fields that do not belong together are
//! another instruction, or none: a permutation of 64-bit elements with VEX.L = 0 faults when it is
//! executed. So nothing is encoded that is not found here first, in every build.

use std::fmt::{Display, Formatter};

use super::encode::vex_encoding;
use super::info::{Class, Extension, Form, ImmKind, Info, Length, Masking, MemorySize, Rounding};
use super::print::Place;
use super::{Base, Instruction, Memory, Rm, RoundingControl, Size};

/// What a processor has beyond x86-64-v3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    avx512: bool,
    /// A bit for each [`Extension`].
    extensions: u8,
}

impl Features {
    /// x86-64-v3: AVX2, FMA, F16C, BMI1, BMI2, LZCNT and POPCNT.
    pub const AVX2: Features = Features {
        avx512: false,
        extensions: 0,
    };

    /// x86-64-v4: AVX-512 F, BW, CD, DQ and VL, too.
    pub const AVX512: Features = Features {
        avx512: true,
        extensions: 0,
    };

    #[cfg(test)]
    pub const ALL: Features = Features {
        avx512: true,
        extensions: !0,
    };

    pub const fn with(self, extension: Extension) -> Features {
        Features {
            extensions: self.extensions | 1 << extension as u8,
            ..self
        }
    }

    const fn has(self, extension: Extension) -> bool {
        self.extensions & 1 << extension as u8 != 0
    }
}

/// An instruction that there is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    pub instruction: Instruction,
    /// What it has that the opcode, or the processor, has not.
    pub why: &'static str,
}

impl Display for Refused {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Refused { instruction, why } = self;
        let mnemonic = instruction.opcode.info().mnemonic;
        write!(
            f,
            "there is no such {mnemonic}, by its {why}: {instruction:?}"
        )
    }
}

impl std::error::Error for Refused {}

type Result = std::result::Result<(), &'static str>;

/// Whether an instruction exists, and what is wrong with it if it does not.
pub(super) fn check(inst: &Instruction, info: &Info, features: Features) -> Result {
    let places = inst.opcode.operands();
    let limit = |place, class| match places.contains(&place) {
        true => registers(info, class),
        false => 1,
    };
    require(info.has_size(inst.size), "size")?;
    require(inst.reg < limit(Place::Reg, info.reg), "register")?;
    require(inst.vvvv < limit(Place::Vvvv, info.vvvv), "first source")?;
    let takes_rm = places.contains(&Place::Rm);
    let rm = match inst.rm {
        Rm::None => !takes_rm,
        Rm::Reg(rm) => takes_rm && info.register && rm < registers(info, info.rm),
        Rm::Memory(memory) => info.memory != MemorySize::None && is_address(memory, info),
        Rm::Broadcast(memory) => info.broadcast && is_address(memory, info),
    };
    require(rm, "second source or place in memory")?;
    require(can_mask(inst, info), "mask")?;
    let rounds = |control| can_round(inst, info, control);
    require(inst.rounding.is_none_or(rounds), "rounding")?;
    require(
        info.form != Form::Gather || gathers_apart(inst),
        "registers, which must differ",
    )?;
    require(is_immediate(inst, info), "immediate")?;
    let in_evex = info.legacy.is_none() && vex_encoding(inst, info).is_none();
    require(!in_evex || info.evex.is_some(), "encoding, which is VEX")?;
    let masks = [info.reg, info.vvvv, info.rm].contains(&Class::Mask);
    require(features.avx512 || !(in_evex || masks), "need of AVX-512")?;
    let has = |extension| features.has(extension);
    require(info.needs.is_none_or(has), "need of an extension")
}

fn require(holds: bool, what: &'static str) -> Result {
    if holds { Ok(()) } else { Err(what) }
}

/// How many registers of a class an opcode can name.
fn registers(info: &Info, class: Class) -> u8 {
    match class {
        Class::General => 16,
        Class::Mask => 8,
        Class::Vector if info.evex.is_some() => 32,
        Class::Vector => 16,
    }
}

fn is_address(memory: Memory, info: &Info) -> bool {
    /// As an index, the number of rsp says that there is none.
    const NO_INDEX: u8 = 4;
    let has_vectors = matches!(info.form, Form::Gather | Form::Scatter);
    let index = match memory.index {
        None => !has_vectors,
        Some(index) if has_vectors => index < registers(info, Class::Vector),
        Some(index) => index < registers(info, Class::General) && index != NO_INDEX,
    };
    let base = match memory.base {
        Base::None => true,
        Base::Reg(base) => base < registers(info, Class::General),
        Base::Pool => memory.index.is_none(),
    };
    index && base && memory.shift <= 3
}

fn can_mask(inst: &Instruction, info: &Info) -> bool {
    let is_register = inst.mask < registers(info, Class::Mask);
    let to_memory = info.form == Form::Mr && !matches!(inst.rm, Rm::Reg(_));
    is_register
        && match info.masking {
            Masking::None => inst.mask == 0 && !inst.zeroing,
            Masking::Merge => !inst.zeroing,
            Masking::Zero if to_memory => !inst.zeroing,
            Masking::Zero => !inst.zeroing || inst.mask != 0,
            Masking::Required => inst.mask != 0 && !inst.zeroing,
        }
}

/// Rounding takes the place of the vector length, and is where registers alone are.
fn can_round(inst: &Instruction, info: &Info, control: RoundingControl) -> bool {
    let kind = match info.rounding {
        Rounding::None => false,
        Rounding::Sae => control == RoundingControl::Sae,
        Rounding::Static => control != RoundingControl::Sae,
        Rounding::StaticOf64 => control != RoundingControl::Sae && inst.size == Size::B64,
    };
    let length = info.length == Length::L0 || inst.size == Size::V512;
    kind && length && matches!(inst.rm, Rm::Reg(_))
}

/// The destination is none of the index and the mask, nor are these one, where they are vectors.
fn gathers_apart(inst: &Instruction) -> bool {
    let Rm::Memory(Memory {
        index: Some(index), ..
    }) = inst.rm
    else {
        return false;
    };
    let vector_mask = inst.mask == 0;
    inst.reg != index && !(vector_mask && (inst.vvvv == inst.reg || inst.vvvv == index))
}

/// Whether the immediate is one of those that the instruction can have, read as a signed or as an
/// unsigned number.
fn is_immediate(inst: &Instruction, info: &Info) -> bool {
    let imm = inst.imm;
    let either = |bytes: u32| {
        let bits = 8 * bytes;
        imm >= -1 << (bits - 1) && imm < 1 << bits
    };
    match info.imm {
        ImmKind::None => imm == 0,
        ImmKind::Condition | ImmKind::Register => (0..16).contains(&imm),
        ImmKind::I8 => either(1),
        ImmKind::I32 | ImmKind::Short if inst.size == Size::B64 => i32::try_from(imm).is_ok(),
        ImmKind::I64 if inst.size == Size::B64 => true,
        ImmKind::I32 | ImmKind::Short | ImmKind::I64 => either(inst.size.bytes().min(4)),
    }
}
