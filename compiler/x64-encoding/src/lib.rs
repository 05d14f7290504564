//! Instructions of x86-64 over physical registers, to bytes: legacy, VEX and EVEX encodings.
//!
//! In comes one [`Instruction`] after the other, and labels; out comes `Code`: the bytes, with
//! jumps as short as they can be and the constant pool behind. Nothing here chooses an instruction
//! or a register; what is chosen is the shortest encoding (VEX before EVEX, 8-bit displacements
//! and immediates).
//!
//! - `table/`: a row an opcode. What an instruction is called, how its operands map to the fields
//!   of the encoding and how its bytes are made is there and nowhere else. Open `table/mod.rs`
//!   first.
//! - `info.rs`: the columns of the table.
//! - `check.rs`: which instructions there are. Others are refused.
//! - `encode.rs`: one instruction to bytes: which encoding, then prefix, opcode, operands.
//! - `prefix.rs`: legacy, VEX and EVEX prefixes.
//! - `operand.rs`: ModRM, SIB and displacement.
//! - `buffer.rs`: code being written: labels, jumps, jump tables, alignment, constant pool.
//! - `relax.rs`: which jumps are short.
//! - `print.rs`: one instruction to text.
//!
//! The tests decode what every row encodes with another project's decoder.

mod buffer;
mod check;
mod encode;
mod info;
mod operand;
mod prefix;
mod print;
mod relax;
mod table;
#[cfg(test)]
mod tests;

pub use buffer::{Buffer, Code, Label};
pub use check::{Features, Refused};
pub use info::{Class, Extension, Form, Info, Masking, MemorySize};
pub use table::Opcode;

/// Operand size: of general registers, or the vector length. Scalar operations on vector registers
/// are [`Size::V128`]; where a general register is converted to or from one, the size is the
/// general register's. Instructions on mask registers alone have their size in the opcode, and any
/// here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    B8,
    B16,
    B32,
    B64,
    V128,
    V256,
    V512,
}

impl Size {
    pub const fn bytes(self) -> u32 {
        match self {
            Size::B8 => 1,
            Size::B16 => 2,
            Size::B32 => 4,
            Size::B64 => 8,
            Size::V128 => 16,
            Size::V256 => 32,
            Size::V512 => 64,
        }
    }

    /// The vector length of so many bytes.
    pub const fn of_bytes(bytes: u32) -> Size {
        match bytes {
            ..=16 => Size::V128,
            17..=32 => Size::V256,
            _ => Size::V512,
        }
    }
}

/// One instruction with physical registers, by their hardware numbers: 0 to 15 general with
/// rsp = 4, 0 to 31 vector, 0 to 7 mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub opcode: Opcode,
    pub size: Size,
    /// ModRM.reg, or the register in the opcode; 0 when the form has none.
    pub reg: u8,
    /// The second source of VEX and EVEX; 0 when the form has none.
    pub vvvv: u8,
    /// ModRM.rm
    pub rm: Rm,
    /// EVEX.aaa; 0 is no mask.
    pub mask: u8,
    /// EVEX.z: lanes that the mask leaves out become zero, where otherwise they keep what is in
    /// the destination.
    pub zeroing: bool,
    /// Only when `rm` is a register; the vector length is 512 bits, or the operation scalar.
    pub rounding: Option<RoundingControl>,
    /// As the opcode's kind of immediate says.
    pub imm: i64,
}

impl Instruction {
    pub const fn new(opcode: Opcode, size: Size) -> Instruction {
        Instruction {
            opcode,
            size,
            reg: 0,
            vvvv: 0,
            rm: Rm::None,
            mask: 0,
            zeroing: false,
            rounding: None,
            imm: 0,
        }
    }

    /// An instruction that does the same and is a byte shorter, if one is: the short form of VEX
    /// has the fourth bit of every register but `rm`.
    pub fn shortened(self) -> Instruction {
        let Rm::Reg(rm) = self.rm else {
            return self;
        };
        let is_high = |register: u8| (8..16).contains(&register);
        if self.opcode.info().commutes && is_high(rm) && self.vvvv < 8 {
            let (vvvv, rm) = (rm, Rm::Reg(self.vvvv));
            Instruction { vvvv, rm, ..self }
        } else if self.opcode == Opcode::Vmovaps && self.mask == 0 && is_high(rm) && self.reg < 8 {
            let (opcode, reg, rm) = (Opcode::VmovapsStore, rm, Rm::Reg(self.reg));
            Instruction {
                opcode,
                reg,
                rm,
                ..self
            }
        } else {
            self
        }
    }
}

/// The operand that can be in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rm {
    None,
    Reg(u8),
    Memory(Memory),
    /// One element in memory, in every lane.
    Broadcast(Memory),
}

/// base + (index << shift) + displacement, or an offset in the constant pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    pub base: Base,
    /// Of gathers and scatters a vector register, otherwise a general register but rsp.
    pub index: Option<u8>,
    pub shift: u8,
    pub disp: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    None,
    Reg(u8),
    /// The constant pool; the displacement is the offset in it. There is no index.
    Pool,
}

/// What an instruction rounds to, in place of what MXCSR says; exceptions are suppressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundingControl {
    /// To nearest, ties to even.
    Nearest,
    Down,
    Up,
    Zero,
    /// Suppresses exceptions and rounds nothing.
    Sae,
}

/// Conditions, by their number in opcodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cc {
    O,
    No,
    B,
    Ae,
    E,
    Ne,
    Be,
    A,
    S,
    Ns,
    P,
    Np,
    L,
    Ge,
    Le,
    G,
}

impl Cc {
    const ALL: [Cc; 16] = [
        Cc::O,
        Cc::No,
        Cc::B,
        Cc::Ae,
        Cc::E,
        Cc::Ne,
        Cc::Be,
        Cc::A,
        Cc::S,
        Cc::Ns,
        Cc::P,
        Cc::Np,
        Cc::L,
        Cc::Ge,
        Cc::Le,
        Cc::G,
    ];

    /// The condition that holds when this one does not.
    pub fn negated(self) -> Cc {
        Cc::ALL[self as usize ^ 1]
    }
}
