//! ModRM, SIB and displacement.

use super::encode::Bytes;
use super::{Base, Memory, Rm};

/// ModRM.rm that says a SIB byte follows, and SIB.index that says there is no index.
const SIB: u8 = 0b100;
/// ModRM.rm without displacement that is relative to rip; SIB.base without one that is no base.
const NO_BASE: u8 = 0b101;

/// The high bits of the register numbers that `rm` stands for; prefixes hold them.
#[derive(Clone, Copy)]
pub(super) struct HighBits {
    pub base: u8,
    pub index: u8,
}

impl HighBits {
    /// Of a register, EVEX has the fifth bit where an index has its fourth.
    pub fn of(rm: Rm) -> HighBits {
        match rm {
            Rm::None => HighBits { base: 0, index: 0 },
            Rm::Reg(reg) => HighBits {
                base: reg >> 3,
                index: reg >> 4,
            },
            Rm::Memory(memory) | Rm::Broadcast(memory) => HighBits {
                base: match memory.base {
                    Base::Reg(base) => base >> 3,
                    Base::None | Base::Pool => 0,
                },
                index: memory.index.unwrap_or(0) >> 3,
            },
        }
    }
}

/// A displacement in 32 bits that is not known before the constant pool is placed.
#[derive(Clone, Copy)]
pub(super) struct PoolReference {
    /// Where it is in the instruction.
    pub at: u8,
    /// The offset in the pool.
    pub offset: i32,
}

/// Writes ModRM and what it brings. `reg` are ModRM.reg's bits, `scale` is what an 8-bit
/// displacement counts in.
pub(super) fn write(out: &mut Bytes, reg: u8, rm: Rm, scale: u32) -> Option<PoolReference> {
    let reg = (reg & 7) << 3;
    match rm {
        Rm::None => out.push(0b11 << 6 | reg),
        Rm::Reg(rm) => out.push(0b11 << 6 | reg | rm & 7),
        Rm::Memory(memory) | Rm::Broadcast(memory) => match memory.base {
            Base::Pool => {
                debug_assert!(memory.index.is_none(), "the pool is not indexed");
                out.push(reg | NO_BASE);
                let at = out.len();
                out.push_u32(0);
                return Some(PoolReference {
                    at,
                    offset: memory.disp,
                });
            }
            Base::None => {
                out.push(reg | SIB);
                out.push(sib(&memory, NO_BASE));
                out.push_u32(memory.disp as u32);
            }
            Base::Reg(base) => based(out, reg, base, &memory, scale),
        },
    }
    None
}

fn based(out: &mut Bytes, reg: u8, base: u8, memory: &Memory, scale: u32) {
    let base = base & 7;
    let short = compress(memory.disp, scale);
    let mode = match short {
        // Without a displacement, rbp and r13 are no base.
        Some(0) if base != NO_BASE => 0b00,
        Some(_) => 0b01,
        None => 0b10,
    };
    if memory.index.is_some() || base == SIB {
        out.push(mode << 6 | reg | SIB);
        out.push(sib(memory, base));
    } else {
        out.push(mode << 6 | reg | base);
    }
    match (mode, short) {
        (0b00, _) => {}
        (_, Some(disp)) => out.push(disp as u8),
        (_, None) => out.push_u32(memory.disp as u32),
    }
}

fn sib(memory: &Memory, base: u8) -> u8 {
    debug_assert!(memory.shift <= 3);
    match memory.index {
        Some(index) => memory.shift << 6 | (index & 7) << 3 | base,
        None => SIB << 3 | base,
    }
}

/// The displacement in units of `scale`, a power of two, if it is a multiple and 8 bits hold it.
fn compress(disp: i32, scale: u32) -> Option<i8> {
    let shift = scale.trailing_zeros();
    let units = disp >> shift;
    (units << shift == disp).then_some(units)?.try_into().ok()
}
