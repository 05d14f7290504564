//! Atomics on integers of one lane, and fences. The crate's `docs/memory-model.md` argues why what
//! is selected here is enough.

use regalloc2::VReg;

use super::super::values::Repr;
use super::super::{Isel, Result};
use super::integer_size;
use crate::codegen::x64::encoding::{Opcode, Size};
use crate::codegen::x64::inst::{GENERAL, Plain, RAX, Rm, gpr};
use crate::diagnostic::Diagnostic;
use crate::ir::{Atomic, AtomicOp, Fence, Inst, Order, Scope, Value};

impl Isel<'_> {
    /// One locked instruction.
    pub fn atomic_rmw(&mut self, op: AtomicOp, inst: Inst) -> Result<Repr> {
        let data = &self.func.insts[inst];
        let (args, result) = (data.args.clone(), data.results[0]);
        let size = integer_size(self.func.ty(args[1]).scalar);
        let mut value = self.scalar(args[1])?;
        let at = self.amode(args[0])?;
        let unused = self.deferral.uses[result] == 0;
        let opcode = match op {
            AtomicOp::Exchange => Opcode::Xchg,
            AtomicOp::Add if unused => Opcode::LockAdd,
            AtomicOp::Add => Opcode::LockXadd,
            AtomicOp::Sub => {
                value = self.mi(Opcode::Neg, Size::B64, value, 0);
                Opcode::LockXadd
            }
            AtomicOp::And if unused => Opcode::LockAnd,
            AtomicOp::Or if unused => Opcode::LockOr,
            AtomicOp::Xor if unused => Opcode::LockXor,
            other => {
                return Err(Diagnostic::new(format!(
                    "atomic `{}` is not selected",
                    other.name()
                )));
            }
        };
        if !matches!(opcode, Opcode::Xchg | Opcode::LockXadd) {
            self.mr(opcode, size, at, value);
            return Ok(Repr::None);
        }
        let old = self.define(opcode, size, |plain| {
            (plain.a, plain.b) = (value, Rm::Mem(at));
        });
        Ok(Repr::Scalar(old))
    }

    pub fn atomic_cmpxchg(&mut self, inst: Inst) -> Result<Repr> {
        let args = self.func.insts[inst].args.clone();
        let size = integer_size(self.func.ty(args[1]).scalar);
        let (expected, desired) = (self.scalar(args[1])?, self.scalar(args[2])?);
        let at = self.amode(args[0])?;
        let found: VReg = self.m.vreg(GENERAL);
        let mut plain = Plain::new(Opcode::LockCmpxchg, size);
        (plain.a, plain.b) = (desired, Rm::Mem(at));
        self.fixed(plain, &[(expected, gpr(RAX))], &[(found, gpr(RAX))], &[]);
        Ok(Repr::Scalar(found))
    }

    /// Every load acquires.
    pub fn atomic_load(&mut self, inst: Inst) -> Result<Repr> {
        let data = &self.func.insts[inst];
        let (address, scalar) = (data.args[0], self.func.ty(data.results[0]).scalar);
        let at = self.amode(address)?;
        Ok(Repr::Scalar(self.load_scalar(at, scalar)))
    }

    /// Every store releases. One that is sequentially consistent must not be passed by later
    /// loads: an exchange is a store and a fence.
    pub fn atomic_store(&mut self, atomic: &Atomic, args: &[Value]) -> Result<()> {
        let scalar = self.func.ty(args[1]).scalar;
        let value = self.scalar(args[1])?;
        let at = self.amode(args[0])?;
        if atomic.order == Order::SeqCst {
            self.define(Opcode::Xchg, integer_size(scalar), |plain| {
                (plain.a, plain.b) = (value, Rm::Mem(at));
            });
        } else {
            self.store_scalar(at, value, scalar);
        }
        Ok(())
    }

    /// The machine reorders stores with later loads only, which nothing weaker than sequential
    /// consistency forbids.
    pub fn fence(&mut self, fence: &Fence) {
        let others = matches!(fence.scope, Scope::Device | Scope::AllDevices) && fence.global;
        if others && fence.order == Order::SeqCst {
            self.perform(Opcode::Mfence, Size::B64, |_| {});
        }
    }
}
