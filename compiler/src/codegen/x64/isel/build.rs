//! Machine instructions by their form.

use regalloc2::VReg;

use super::Isel;
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::codegen::x64::inst::{Amode, Inst, Plain, Rm, destination};

impl Isel<'_> {
    /// Vectors of this size are used.
    pub fn note(&mut self, size: Size) {
        if size.bytes() > self.used.bytes() {
            self.used = size;
        }
    }

    /// An instruction that defines a register of the class that its opcode says.
    pub fn define(&mut self, opcode: Opcode, size: Size, set: impl FnOnce(&mut Plain)) -> VReg {
        let class = destination(opcode.info());
        let mut plain = Plain::new(opcode, size);
        let dst = self.m.vreg(class);
        plain.dst = dst;
        set(&mut plain);
        self.plain(plain);
        dst
    }

    /// An instruction that defines no register.
    pub fn perform(&mut self, opcode: Opcode, size: Size, set: impl FnOnce(&mut Plain)) {
        let mut plain = Plain::new(opcode, size);
        set(&mut plain);
        self.plain(plain);
    }

    fn plain(&mut self, plain: Plain) {
        self.note(plain.size);
        self.m.push(Inst::Plain(plain));
    }

    /// `dst = op b`
    pub fn rm(&mut self, opcode: Opcode, size: Size, b: impl Into<Rm>) -> VReg {
        let b = b.into();
        self.define(opcode, size, |plain| plain.b = b)
    }

    /// `dst = op b, imm`
    pub fn rmi(&mut self, opcode: Opcode, size: Size, b: impl Into<Rm>, imm: i64) -> VReg {
        let b = b.into();
        self.define(opcode, size, |plain| (plain.b, plain.imm) = (b, imm))
    }

    /// `dst = a op b`
    pub fn rvm(&mut self, opcode: Opcode, size: Size, a: VReg, b: impl Into<Rm>) -> VReg {
        let b = b.into();
        self.define(opcode, size, |plain| (plain.a, plain.b) = (a, b))
    }

    /// `dst = op a, b, imm`
    pub fn rvmi(
        &mut self,
        opcode: Opcode,
        size: Size,
        a: VReg,
        b: impl Into<Rm>,
        imm: i64,
    ) -> VReg {
        let b = b.into();
        self.define(opcode, size, |plain| {
            (plain.a, plain.b, plain.imm) = (a, b, imm);
        })
    }

    /// `dst = op c, a, b`, where the destination's register has held `c`.
    pub fn rvma(&mut self, opcode: Opcode, size: Size, c: VReg, a: VReg, b: impl Into<Rm>) -> VReg {
        let b = b.into();
        self.define(opcode, size, |plain| {
            (plain.a, plain.b, plain.c) = (a, b, c)
        })
    }

    /// `dst = a op imm`, in place.
    pub fn mi(&mut self, opcode: Opcode, size: Size, a: VReg, imm: i64) -> VReg {
        self.define(opcode, size, |plain| (plain.a, plain.imm) = (a, imm))
    }

    /// `op a, b`, which sets flags.
    pub fn test(&mut self, opcode: Opcode, size: Size, a: VReg, b: impl Into<Rm>) {
        let b = b.into();
        self.perform(opcode, size, |plain| (plain.a, plain.b) = (a, b));
    }

    /// `op b, imm`, which sets flags.
    pub fn test_imm(&mut self, opcode: Opcode, size: Size, b: impl Into<Rm>, imm: i64) {
        let b = b.into();
        self.perform(opcode, size, |plain| (plain.b, plain.imm) = (b, imm));
    }

    /// `[b] = a`
    pub fn mr(&mut self, opcode: Opcode, size: Size, to: Amode, a: VReg) {
        self.perform(opcode, size, |plain| {
            (plain.a, plain.b) = (a, Rm::Mem(to));
        });
    }

    /// `dst = op a, imm`, where the destination is the operand that can be in memory.
    pub fn mri(&mut self, opcode: Opcode, size: Size, a: VReg, imm: i64) -> VReg {
        self.define(opcode, size, |plain| (plain.a, plain.imm) = (a, imm))
    }

    pub fn int_constant(&mut self, bits: u64) -> VReg {
        if u32::try_from(bits).is_ok() {
            self.define(Opcode::MovImm32, Size::B32, |plain| plain.imm = bits as i64)
        } else if i32::try_from(bits as i64).is_ok() {
            self.define(Opcode::MovImm32, Size::B64, |plain| plain.imm = bits as i64)
        } else {
            self.define(Opcode::MovImm64, Size::B64, |plain| plain.imm = bits as i64)
        }
    }

    /// The register's own bits do not matter: it is combined with itself.
    pub fn zero_vector(&mut self, _: Size) -> VReg {
        self.define(Opcode::Vpxord, Size::V128, |_| {})
    }

    pub fn ones_vector(&mut self, size: Size) -> VReg {
        if !self.is_avx512() {
            return self.define(Opcode::Vpcmpeqd, size, |_| {});
        }
        self.define(Opcode::Vpternlogd, size, |plain| plain.imm = 0xff)
    }
}
