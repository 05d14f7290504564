//! What is known of an opcode: the columns of the table, and how rows are written.

use super::Size;

/// Register classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    General,
    Vector,
    Mask,
}

/// How an instruction's operands map to `reg`, `vvvv` and `rm`: `dst` is the destination, `a` and
/// `b` are sources, `c` is what is in the destination before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// reg = dst, vvvv = a, rm = b
    Rvm,
    /// reg = dst, rm = b
    Rm,
    /// rm = dst (register or memory), reg = a
    Mr,
    /// reg = dst, rm = b, vvvv = a
    Rmv,
    /// vvvv = dst, rm = b
    Vm,
    /// reg = dst and c, vvvv = a, rm = b
    Rvma,
    /// reg = dst, vvvv = a, rm = b, and a fourth register in the immediate
    Rvmr,
    /// rm = dst in memory, vvvv = a mask, reg = a
    Mvr,
    /// reg = high half of dst, vvvv = low half, rm = b; the other source is rdx
    Mulx,
    /// reg = dst and a, rm = b
    Rma,
    /// rm = dst and a, register or memory
    Ma,
    /// rm = dst and an input in memory, reg = a, which some instructions change
    Mra,
    /// reg = a, rm = b; there is no destination, or flags alone
    RmTest,
    /// rm = b; there is no destination, or flags alone
    MTest,
    /// rm = dst in memory; the source is the immediate
    Mstore,
    /// reg = dst, or a source of `push`, in the opcode
    O,
    /// rm = dst
    M,
    /// reg = dst and c, rm = addresses; the mask, or vvvv when it is a vector, is cleared
    Gather,
    /// reg = a, rm = addresses; the mask is cleared
    Scatter,
    /// Nothing but what is implied.
    Zo,
    /// rm = b; rax and rdx are implied
    Mi,
}

/// What the immediate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImmKind {
    None,
    /// 8 bits.
    I8,
    /// As wide as the operands, at most 32 bits, which are sign-extended.
    I32,
    /// The same, and 8 bits if it fits.
    Short,
    /// As wide as the operands.
    I64,
    /// A condition ([`super::Cc`] as a number), part of the opcode.
    Condition,
    /// The number of a vector register.
    Register,
}

/// How many bytes the memory form of `rm` is. A register in its place has as many, and at least
/// 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySize {
    /// There is no memory form.
    None,
    /// As many as a vector, or a general register.
    Full,
    Half,
    Quarter,
    Eighth,
    /// One element; gathers and scatters access one element a lane.
    Element,
    /// As many elements as the mask has bits, contiguous.
    Packed,
    Fixed16,
    Fixed32,
    /// A whole vector, but the low half of one of 128 bits (`vmovddup`).
    Duplicate,
    /// An address that is not accessed.
    Address,
}

/// What a write mask may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masking {
    None,
    /// Lanes are left out: of a store, or (as zeros) of a mask.
    Merge,
    /// Lanes of the destination are kept, or zeroed.
    Zero,
    /// The mask is there always, and used up.
    Required,
}

/// What an instruction on registers can do in place of what MXCSR says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    None,
    /// Suppress exceptions.
    Sae,
    /// Round as given, and suppress exceptions.
    Static,
    /// The same when the general register is of 64 bits; of 32, the result is exact.
    StaticOf64,
}

/// What a CPU has beyond x86-64-v3 and AVX-512 F, BW, CD, DQ and VL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    Bitalg,
    Fp16,
    Gfni,
    Vbmi,
    Vbmi2,
    Vnni,
    Vpopcntdq,
}

/// A mandatory prefix, numbered as VEX.pp.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pp {
    Np,
    P66,
    PF3,
    PF2,
}

/// An opcode map, numbered as EVEX.mmm.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Map {
    Primary = 0,
    M0F = 1,
    M0F38 = 2,
    M0F3A = 3,
    M5 = 5,
    M6 = 6,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum W {
    W0,
    W1,
    /// Ignored, and written as 0.
    Ig,
    /// 1 when the operands are 64 bits wide.
    BySize,
}

/// Where an opcode is: what prefixes say and the opcode's last byte.
#[derive(Clone, Copy)]
pub(super) struct Encoding {
    pub pp: Pp,
    pub map: Map,
    pub w: W,
    pub opcode: u8,
}

/// How VEX.L and EVEX.L'L are found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    BySize,
    /// Scalars (where it is ignored), and some operations on masks.
    L0,
    L1,
}

/// What is known of an opcode. A class is that of an operand that the form has.
#[derive(Clone, Copy)]
pub struct Info {
    pub mnemonic: &'static str,
    pub form: Form,
    pub reg: Class,
    pub vvvv: Class,
    pub rm: Class,
    /// The vector that `reg` is has half the length: elements become narrower.
    pub reg_is_half: bool,
    /// Bytes of an element in memory: what a broadcast reads. Also what a bit of the mask governs,
    /// except where the destination's elements are wider or narrower than the source's.
    pub element: u8,
    pub memory: MemorySize,
    /// Whether `rm` can be a register.
    pub register: bool,
    pub broadcast: bool,
    pub imm: ImmKind,
    pub masking: Masking,
    pub rounding: Rounding,
    /// Without it there is no such opcode.
    pub needs: Option<Extension>,
    /// Whether `vvvv` and `rm` can be exchanged, NaNs included.
    pub commutes: bool,
    /// A bit for each [`Size`].
    pub(super) sizes: u8,
    /// What is in ModRM.reg of a form that has no `reg`.
    pub(super) digit: u8,
    pub(super) lock: bool,
    pub(super) length: Length,
    /// VEX has no memory form (shifts by an immediate).
    pub(super) vex_registers_only: bool,
    pub(super) legacy: Option<Encoding>,
    pub(super) vex: Option<Encoding>,
    pub(super) evex: Option<Encoding>,
}

impl Info {
    /// Whether the opcode exists at a size.
    pub fn has_size(&self, size: Size) -> bool {
        self.sizes & 1 << size as u8 != 0
    }

    /// Whether memory that holds what the register `rm` would can take its place, as a source.
    pub fn reads_memory_like_a_register(&self) -> bool {
        let reads = match self.form {
            Form::Rvm | Form::Rvma | Form::Rvmr => true,
            Form::Rm | Form::Rma | Form::Rmv | Form::Vm => true,
            // A bit that `bt` tests in memory can lie beyond the operand.
            Form::RmTest => self.mnemonic != "bt",
            _ => false,
        };
        reads
            && self.register
            && self.memory == MemorySize::Full
            && !self.vex_registers_only
            && self.rm != Class::Mask
    }

    /// Whether a vector register says which lanes there are.
    pub fn has_vector_mask(&self) -> bool {
        let gathers = self.form == Form::Gather && self.vex.is_some();
        let chooses = self.vvvv == Class::Vector && matches!(self.form, Form::Rvmr | Form::Mvr);
        gathers || chooses
    }

    /// Bytes that the memory form spans, of an instruction of some size.
    pub fn memory_bytes(&self, size: Size) -> u32 {
        let full = size.bytes();
        match self.memory {
            MemorySize::None | MemorySize::Address => 0,
            MemorySize::Full | MemorySize::Packed => full,
            MemorySize::Half => full / 2,
            MemorySize::Quarter => full / 4,
            MemorySize::Eighth => full / 8,
            MemorySize::Element => u32::from(self.element),
            MemorySize::Fixed16 => 16,
            MemorySize::Fixed32 => 32,
            MemorySize::Duplicate => match size {
                Size::V128 => 8,
                _ => full,
            },
        }
    }
}

/// The sizes of an opcode, as bits.
pub(super) mod sizes {
    pub const B8: u8 = 1;
    pub const B16: u8 = 2;
    pub const B32: u8 = 4;
    pub const B64: u8 = 8;
    pub const V128: u8 = 16;
    pub const V256: u8 = 32;
    pub const V512: u8 = 64;
    /// Sizes of general registers.
    pub const BYTES: u8 = B8 | WORDS;
    pub const WORDS: u8 = B16 | B32_64;
    pub const B32_64: u8 = B32 | B64;
    pub const VECTORS: u8 = V128 | V256 | V512;
    pub const ANY: u8 = !0;
}
