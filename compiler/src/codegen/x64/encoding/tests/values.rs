//! The registers, addresses and immediates to try; whole instructions.

use crate::codegen::x64::encoding::info::{Class, Form, ImmKind, Info, Masking, MemorySize};
use crate::codegen::x64::encoding::{Base, Instruction, Memory, Opcode, Rm, Size};

/// Where an operand is encoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Reg,
    Vvvv,
    Rm,
}

/// The operands as assemblers of Intel's syntax order them, without immediates.
pub fn operands(opcode: Opcode) -> &'static [Place] {
    use Place::{Reg, Rm, Vvvv};
    let info = opcode.info();
    match info.form {
        Form::Rvm | Form::Rvma | Form::Rvmr | Form::Mulx => &[Reg, Vvvv, Rm],
        Form::RmTest if matches!(opcode, Opcode::Test | Opcode::Bt) => &[Rm, Reg],
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

/// The sizes that an opcode has; for what ignores the size, some of every kind.
pub fn sizes(info: &Info) -> Vec<Size> {
    use Size::{B8, B16, B32, B64, V128, V256, V512};
    let all = [B8, B16, B32, B64, V128, V256, V512];
    let sizes: Vec<Size> = all
        .into_iter()
        .filter(|&size| info.has_size(size))
        .collect();
    match sizes.len() {
        7 => vec![B8, B16, B64, V512],
        _ => sizes,
    }
}

/// Every opcode in every size, with some operands.
pub fn instructions() -> impl Iterator<Item = Instruction> {
    Opcode::ALL.iter().flat_map(|&opcode| {
        sizes(opcode.info())
            .into_iter()
            .map(move |size| plain(opcode, size))
    })
}

/// With some operand in every place: a register if there can be one.
pub fn plain(opcode: Opcode, size: Size) -> Instruction {
    let info = opcode.info();
    let places = operands(opcode);
    let mut inst = Instruction::new(opcode, size);
    if places.contains(&Place::Reg) {
        inst.reg = 1;
    }
    if places.contains(&Place::Vvvv) {
        inst.vvvv = 2;
    }
    if places.contains(&Place::Rm) {
        let memory = Memory {
            base: Base::Reg(0),
            index: is_vsib(info).then_some(3),
            shift: 0,
            disp: 0,
        };
        inst.rm = if info.register {
            Rm::Reg(3)
        } else {
            Rm::Memory(memory)
        };
    }
    if info.masking == Masking::Required {
        inst.mask = 1;
    }
    inst
}

/// Whether indices are vectors.
pub fn is_vsib(info: &Info) -> bool {
    matches!(info.form, Form::Gather | Form::Scatter)
}

/// Register numbers of a class: every bit alone, and the ends of the range.
pub fn registers(class: Class, info: &Info) -> &'static [u8] {
    match class {
        Class::General => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        Class::Mask => &[0, 1, 2, 3, 4, 5, 6, 7],
        Class::Vector if info.evex.is_some() => &[0, 1, 2, 4, 8, 15, 16, 31],
        Class::Vector => &[0, 1, 2, 4, 7, 8, 15],
    }
}

/// What `rm` can be, but for the registers and the addresses: a register, memory, an element.
pub fn kinds_of_rm(inst: &Instruction) -> Vec<Rm> {
    let info = inst.opcode.info();
    if inst.rm == Rm::None {
        return vec![Rm::None];
    }
    let memory = Memory {
        base: Base::Reg(6),
        index: is_vsib(info).then_some(3),
        shift: 0,
        disp: 64,
    };
    let mut kinds = Vec::new();
    if info.register {
        kinds.push(inst.rm);
    }
    if info.memory != MemorySize::None {
        kinds.push(Rm::Memory(memory));
    }
    if info.broadcast {
        kinds.push(Rm::Broadcast(memory));
    }
    kinds
}

/// Where the range of each width ends, and between.
pub fn immediates(inst: &Instruction) -> &'static [i64] {
    const I8: &[i64] = &[0, 1, 2, 4, 8, 16, 32, 64, 127, 128, 255];
    const B8: &[i64] = &[0, 1, 127, -1, -128];
    const B16: &[i64] = &[0, 1, 127, 128, 255, 256, 32767, -1, -128, -129, -32768];
    const B32: &[i64] = &[
        0,
        1,
        127,
        128,
        32767,
        65536,
        0x7fff_ffff,
        -1,
        -128,
        -129,
        -0x8000_0000,
    ];
    const B64: &[i64] = &[
        0,
        1,
        0x7fff_ffff,
        0x8000_0000,
        0x0123_4567_89ab_cdef,
        i64::MIN,
        -1,
    ];
    match (inst.opcode.info().imm, inst.size) {
        (ImmKind::None, _) => &[0],
        (ImmKind::Condition, _) => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        (ImmKind::Register, _) => &[0, 1, 2, 4, 8, 15],
        (ImmKind::I8, _) => I8,
        (ImmKind::I32 | ImmKind::Short, Size::B8) => B8,
        (ImmKind::I32 | ImmKind::Short, Size::B16) => B16,
        (ImmKind::I64, Size::B64) => B64,
        _ => B32,
    }
}
