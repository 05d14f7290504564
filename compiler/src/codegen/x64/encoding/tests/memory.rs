//! Every form of an address.

use super::decoded::verify;
use super::values::{Place, instructions, is_vsib, kinds_of_rm, operands};
use crate::codegen::x64::encoding::info::{Class, Info, MemorySize};
use crate::codegen::x64::encoding::{Base, Instruction, Memory, Rm, Size};

/// Every bit of a register's number, and those that ModRM and SIB read otherwise: rsp and r12 (4),
/// rbp and r13 (5).
const BASES: [Base; 10] = [
    Base::None,
    Base::Reg(0),
    Base::Reg(1),
    Base::Reg(2),
    Base::Reg(4),
    Base::Reg(5),
    Base::Reg(8),
    Base::Reg(12),
    Base::Reg(13),
    Base::Reg(15),
];

const GENERAL_INDICES: [Option<u8>; 9] = [
    None,
    Some(0),
    Some(1),
    Some(2),
    Some(5),
    Some(8),
    Some(12),
    Some(13),
    Some(15),
];

const VECTOR_INDICES: [Option<u8>; 8] = [
    Some(0),
    Some(1),
    Some(2),
    Some(4),
    Some(8),
    Some(15),
    Some(16),
    Some(31),
];

fn indices(info: &Info) -> &'static [Option<u8>] {
    match (is_vsib(info), info.evex.is_some()) {
        (false, _) => &GENERAL_INDICES,
        (true, true) => &VECTOR_INDICES,
        (true, false) => &VECTOR_INDICES[..6],
    }
}

/// At the ends of 8 bits, as they are and in units of what is accessed.
fn displacements(info: &Info, size: Size, rm: Rm) -> Vec<i32> {
    let unit = match (rm, info.memory) {
        (Rm::Broadcast(_), _) | (_, MemorySize::Packed) => i32::from(info.element),
        _ => info.memory_bytes(size) as i32,
    };
    let mut all = vec![0, 1, -1, 127, 128, -128, -129, i32::MAX, i32::MIN];
    for units in [1, -1, 127, 128, -128, -129] {
        all.extend([units * unit, units * unit + 1]);
    }
    all
}

/// Memory operands in all their kinds.
fn with_memory() -> impl Iterator<Item = (Instruction, Rm)> {
    instructions().flat_map(|plain| {
        let kinds = kinds_of_rm(&plain).into_iter();
        let kinds = kinds.filter(|rm| matches!(rm, Rm::Memory(_) | Rm::Broadcast(_)));
        kinds.map(move |rm| (plain, rm))
    })
}

fn at(plain: Instruction, kind: Rm, memory: Memory) -> Instruction {
    let rm = match kind {
        Rm::Broadcast(_) => Rm::Broadcast(memory),
        _ => Rm::Memory(memory),
    };
    Instruction { rm, ..plain }
}

/// The highest registers beside the address, too: their bits share bytes.
fn with_high_registers(plain: Instruction) -> Instruction {
    let info = plain.opcode.info();
    let highest = |class, place| match class {
        _ if !operands(plain.opcode).contains(&place) => 0,
        Class::General => 15,
        Class::Mask => 7,
        Class::Vector if info.evex.is_some() => 30,
        Class::Vector => 14,
    };
    Instruction {
        reg: highest(info.reg, Place::Reg),
        // Unlike the first, as those of gathers must be.
        vvvv: highest(info.vvvv, Place::Vvvv).saturating_sub(1),
        ..plain
    }
}

#[test]
fn addresses_come_back() {
    for (plain, kind) in with_memory() {
        let mut all = Vec::new();
        for base in BASES {
            for &index in indices(plain.opcode.info()) {
                let shifts = if index.is_some() { 0..4 } else { 0..1 };
                for shift in shifts {
                    for disp in [0, 64, 0x1234_5678] {
                        let memory = Memory {
                            base,
                            index,
                            shift,
                            disp,
                        };
                        for plain in [plain, with_high_registers(plain)] {
                            let same = [plain.reg, plain.vvvv].map(Some).contains(&index);
                            if !(is_vsib(plain.opcode.info()) && same) {
                                all.push(at(plain, kind, memory));
                            }
                        }
                    }
                }
            }
        }
        verify(&all);
    }
}

#[test]
fn displacements_come_back() {
    for (plain, kind) in with_memory() {
        let info = plain.opcode.info();
        let index = is_vsib(info).then_some(9);
        let mut all = Vec::new();
        for disp in displacements(info, plain.size, kind) {
            for base in [0, 4, 5, 12, 13]
                .map(Base::Reg)
                .into_iter()
                .chain([Base::None])
            {
                for plain in [plain, with_high_registers(plain)] {
                    let memory = Memory {
                        base,
                        index,
                        shift: 0,
                        disp,
                    };
                    all.push(at(plain, kind, memory));
                }
            }
        }
        verify(&all);
    }
}

#[test]
fn places_in_the_pool_come_back() {
    for (plain, kind) in with_memory() {
        if is_vsib(plain.opcode.info()) {
            continue;
        }
        let mut all = Vec::new();
        for disp in [0, 4, 60] {
            let base = Base::Pool;
            let memory = Memory {
                base,
                index: None,
                shift: 0,
                disp,
            };
            all.extend([plain, with_high_registers(plain)].map(|plain| at(plain, kind, memory)));
        }
        verify(&all);
    }
}
