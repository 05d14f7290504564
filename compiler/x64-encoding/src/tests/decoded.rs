//! Compares instructions with what their bytes are decoded to.

use iced_x86::{Decoder, DecoderOptions, EncodingKind, OpKind, Register};

use super::names::Names;
use crate::encode::{encode, vex_encoding};
use crate::info::{Class, Form, ImmKind, Info, Length, MemorySize};
use crate::print::Place;
use crate::{Base, Buffer, Code, Features, Instruction, Memory, Opcode, Rm, RoundingControl, Size};

/// Encodes instructions, one after the other, and decodes them.
pub fn verify(instructions: &[Instruction]) {
    let mut buffer = Buffer::new(Features::ALL);
    for inst in instructions {
        buffer.emit(inst).expect("an instruction");
    }
    let pool = [0; 64];
    let Code {
        bytes, code_size, ..
    } = buffer.finish(&pool);
    let pool = (bytes.len() - pool.len()) as u64;
    let code = &bytes[..code_size as usize];
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let mut decoded = iced_x86::Instruction::default();
    let mut names: Option<(Opcode, i64, Names)> = None;
    for inst in instructions {
        let start = decoder.position();
        decoder.decode_out(&mut decoded);
        let bytes = &code[start..decoder.position()];
        let (_, _, names) = match &mut names {
            Some(names) if (names.0, names.1) == (inst.opcode, inst.imm) => names,
            names => names.insert((inst.opcode, inst.imm, Names::of(inst))),
        };
        let result = Comparison {
            inst,
            info: inst.opcode.info(),
            decoded: &decoded,
            bytes,
            pool,
        }
        .all(names);
        if let Err(what) = result {
            panic!("{what}:\n{inst:?}\n{bytes:02x?}\n{decoded:?}");
        }
    }
    assert_eq!(decoder.position(), code.len(), "bytes are left");
}

/// Whether an instruction is decoded from what its fields are encoded to, be there one or not.
pub fn comes_back(inst: &Instruction) -> bool {
    let info = inst.opcode.info();
    let has_encoding = [info.legacy.is_some(), info.evex.is_some()].contains(&true);
    let has_size = match inst.rm {
        Rm::None | Rm::Reg(_) => true,
        Rm::Memory(_) => info.memory == MemorySize::Address || info.memory_bytes(inst.size) > 0,
        Rm::Broadcast(_) => info.element != 0,
    };
    if !has_size || !has_encoding && vex_encoding(inst, info).is_none() {
        return false;
    }
    let mut bytes = Vec::with_capacity(32);
    encode(inst, info).0.append_to(&mut bytes);
    let mut decoder = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE);
    let decoded = decoder.decode();
    let comparison = Comparison {
        inst,
        info,
        decoded: &decoded,
        bytes: &bytes,
        pool: 0,
    };
    decoder.position() == bytes.len() && comparison.all(&Names::of(inst)).is_ok()
}

struct Comparison<'a> {
    inst: &'a Instruction,
    info: &'a Info,
    decoded: &'a iced_x86::Instruction,
    bytes: &'a [u8],
    pool: u64,
}

/// Says what is not the same.
type Result = std::result::Result<(), &'static str>;

fn same<T: PartialEq>(is: T, expected: T, what: &'static str) -> Result {
    if is == expected { Ok(()) } else { Err(what) }
}

impl Comparison<'_> {
    fn all(&self, names: &Names) -> Result {
        self.encoding()?;
        let name = match self.decoded.encoding() {
            EncodingKind::VEX => names.vex,
            _ => names.legacy_or_evex,
        };
        same(self.decoded.mnemonic(), name, "mnemonic")?;
        same(
            self.decoded.has_lock_prefix(),
            self.info.lock,
            "lock prefix",
        )?;
        if self.info.form == Form::Zo {
            return Ok(());
        }
        self.all_operands()?;
        self.vector_length()?;
        self.masking()
    }

    /// The shortest.
    fn encoding(&self) -> Result {
        let memory = match self.inst.rm {
            Rm::Memory(memory) | Rm::Broadcast(memory) => Some(memory),
            _ => None,
        };
        let registers = [
            self.inst.reg,
            self.inst.vvvv,
            match self.inst.rm {
                Rm::Reg(reg) => reg,
                _ => 0,
            },
            memory.and_then(|memory| memory.index).unwrap_or(0),
        ];
        let wants_evex = registers.iter().any(|&register| register >= 16)
            || self.inst.mask != 0
            || self.inst.rounding.is_some()
            || matches!(self.inst.rm, Rm::Broadcast(_))
            || self.inst.size == Size::V512
            || self.info.vex_registers_only && memory.is_some();
        let expected = match (self.info.legacy, self.info.vex) {
            (Some(_), _) => EncodingKind::Legacy,
            (None, Some(_)) if !wants_evex || self.info.evex.is_none() => EncodingKind::VEX,
            _ => EncodingKind::EVEX,
        };
        same(self.decoded.encoding(), expected, "encoding")?;
        let long_vex = self.bytes[0] == 0xc4;
        if expected == EncodingKind::VEX && long_vex {
            let [_, second, third, ..] = *self.bytes else {
                return Err("a prefix alone");
            };
            let could_be_short = second & 0x7f == 0x61 && third >> 7 == 0;
            same(could_be_short, false, "VEX of three bytes")?;
        }
        Ok(())
    }

    fn all_operands(&self) -> Result {
        let places = self.inst.opcode.operands();
        for (operand, &place) in places.iter().enumerate() {
            let operand = operand as u32;
            match place {
                Place::Reg => self.register(operand, self.info.reg, self.inst.reg)?,
                Place::Vvvv => self.register(operand, self.info.vvvv, self.inst.vvvv)?,
                Place::Rm => match self.inst.rm {
                    Rm::None => return Err("no operand"),
                    Rm::Reg(reg) => self.register(operand, self.info.rm, reg)?,
                    Rm::Memory(memory) | Rm::Broadcast(memory) => self.memory(operand, memory)?,
                },
            }
        }
        let mut count = places.len() as u32;
        match self.info.imm {
            ImmKind::None | ImmKind::Condition => {}
            ImmKind::Register => {
                self.register(count, Class::Vector, self.inst.imm as u8)?;
                count += 1;
            }
            _ => {
                self.immediate(count)?;
                count += 1;
            }
        }
        if self.inst.opcode.is_shift_by_cl() {
            same(self.decoded.op_register(count), Register::CL, "count")?;
            count += 1;
        }
        same(self.decoded.op_count(), count, "number of operands")
    }

    fn register(&self, operand: u32, class: Class, number: u8) -> Result {
        same(
            self.decoded.op_kind(operand),
            OpKind::Register,
            "kind of operand",
        )?;
        let register = self.decoded.op_register(operand);
        let expected = match class {
            Class::General => {
                let place = self.inst.opcode.operands()[operand as usize];
                general(self.inst.general_bytes(self.info, place), number)
            }
            Class::Mask => Register::K0 + u32::from(number),
            Class::Vector => {
                let of_size = [Register::XMM0, Register::YMM0, Register::ZMM0]
                    .map(|first| first + u32::from(number));
                return same(of_size.contains(&register), true, "vector register");
            }
        };
        same(register, expected, "register")
    }

    fn memory(&self, operand: u32, memory: Memory) -> Result {
        let decoded = self.decoded;
        same(decoded.op_kind(operand), OpKind::Memory, "kind of operand")?;
        let element = u32::from(self.info.element);
        let broadcast = matches!(self.inst.rm, Rm::Broadcast(_));
        same(decoded.is_broadcast(), broadcast, "broadcast")?;
        let scale = if broadcast {
            same(
                decoded.memory_size().element_size() as u32,
                element,
                "size of element",
            )?;
            element
        } else {
            let bytes = self.info.memory_bytes(self.inst.size);
            same(decoded.memory_size().size() as u32, bytes, "size of memory")?;
            match self.info.memory {
                MemorySize::Packed => element,
                _ => bytes,
            }
        };
        let scale = match decoded.encoding() {
            EncodingKind::EVEX => scale as i32,
            _ => 1,
        };
        let disp = decoded.memory_displacement64() as i64;
        let (base, disp_bytes) = match memory.base {
            Base::Pool => {
                let address = self.pool as i64 + i64::from(memory.disp);
                same(disp, address, "place in the pool")?;
                return same(decoded.memory_base(), Register::RIP, "base");
            }
            Base::None => (Register::None, 8),
            Base::Reg(base) => {
                let short = memory.disp % scale == 0 && i8::try_from(memory.disp / scale).is_ok();
                let disp_bytes = match memory.disp {
                    0 if base & 7 != 5 => 0,
                    _ if short => 1,
                    _ => 8,
                };
                (general(8, base), disp_bytes)
            }
        };
        same(disp, i64::from(memory.disp), "displacement")?;
        same(
            decoded.memory_displ_size(),
            disp_bytes,
            "size of displacement",
        )?;
        same(decoded.memory_base(), base, "base")?;
        self.index(memory)
    }

    fn index(&self, memory: Memory) -> Result {
        let decoded = self.decoded.memory_index();
        let Some(index) = memory.index else {
            return same(decoded, Register::None, "index");
        };
        same(
            self.decoded.memory_index_scale(),
            1 << memory.shift,
            "scale",
        )?;
        match self.info.form {
            Form::Gather | Form::Scatter => {
                let of_size = [Register::XMM0, Register::YMM0, Register::ZMM0]
                    .map(|first| first + u32::from(index));
                same(of_size.contains(&decoded), true, "vector index")
            }
            _ => same(decoded, general(8, index), "index"),
        }
    }

    fn immediate(&self, operand: u32) -> Result {
        let imm = self.inst.imm;
        let size = self.inst.size.bytes();
        let kind = self.decoded.op_kind(operand);
        let bytes = match self.info.imm {
            ImmKind::I8 => 1,
            ImmKind::I32 | ImmKind::Short | ImmKind::I64 => size,
            _ => return Err("an immediate"),
        };
        let of_byte = matches!(
            kind,
            OpKind::Immediate8
                | OpKind::Immediate8to16
                | OpKind::Immediate8to32
                | OpKind::Immediate8to64
        );
        let short = match self.info.imm {
            ImmKind::Short => i8::try_from(imm).is_ok() || bytes == 1,
            _ => bytes == 1,
        };
        same(of_byte, short, "size of immediate")?;
        let mask = u64::MAX >> (64 - 8 * bytes);
        same(
            self.decoded.immediate(operand) & mask,
            imm as u64 & mask,
            "immediate",
        )
    }

    fn vector_length(&self) -> Result {
        let length = match (self.inst.size, self.info.length) {
            (Size::V128, Length::BySize) => 0,
            (Size::V256, Length::BySize) => 1,
            (Size::V512, Length::BySize) => 2,
            _ => return Ok(()),
        };
        same(self.decoded.code().op_code().l(), length, "vector length")
    }

    fn masking(&self) -> Result {
        let mask = match self.inst.mask {
            0 => Register::None,
            mask => Register::K0 + u32::from(mask),
        };
        same(self.decoded.op_mask(), mask, "mask")?;
        same(self.decoded.zeroing_masking(), self.inst.zeroing, "zeroing")?;
        use iced_x86::RoundingControl as Decoded;
        let rounding = match self.inst.rounding {
            None | Some(RoundingControl::Sae) => Decoded::None,
            Some(RoundingControl::Nearest) => Decoded::RoundToNearest,
            Some(RoundingControl::Down) => Decoded::RoundDown,
            Some(RoundingControl::Up) => Decoded::RoundUp,
            Some(RoundingControl::Zero) => Decoded::RoundTowardZero,
        };
        same(self.decoded.rounding_control(), rounding, "rounding")?;
        let sae = self.inst.rounding == Some(RoundingControl::Sae);
        same(
            self.decoded.suppress_all_exceptions(),
            sae,
            "suppression of exceptions",
        )
    }
}

fn general(bytes: u32, number: u8) -> Register {
    const BYTES: [Register; 8] = [
        Register::AL,
        Register::CL,
        Register::DL,
        Register::BL,
        Register::SPL,
        Register::BPL,
        Register::SIL,
        Register::DIL,
    ];
    let first = match bytes {
        1 if number < 8 => return BYTES[number as usize],
        1 => return Register::R8L + u32::from(number - 8),
        2 => Register::AX,
        4 => Register::EAX,
        _ => Register::RAX,
    };
    first + u32::from(number)
}
