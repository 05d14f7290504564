//! Atomics of one lane, and fences. The crate's `docs/memory-model.md` argues why what is selected
//! here is enough.
//!
//! Work-group and private memory is touched by one thread only, so that plain accesses are atomic
//! there. Everywhere else a read-modify-write is a locked instruction, or a loop of compare and
//! exchange where there is none.

use regalloc2::VReg;
use smallvec::smallvec;

use super::super::values::Repr;
use super::super::{Diagnostic, Isel, Result};
use crate::codegen::x64::encoding::{Cc, Opcode, Size};
use crate::codegen::x64::inst::{Amode, GENERAL, Plain, RAX, Rm, VECTOR, gpr};
use crate::codegen::x64::vcode::Target;
use crate::ir::{Atomic, AtomicOp, Fence, Inst, Order, Scalar, Scope, Value};
use crate::kernel_info::AddressSpace;

/// Whether only the thread that runs the work-group can reach this memory.
fn is_own(atomic: &Atomic) -> bool {
    matches!(atomic.space, AddressSpace::Local | AddressSpace::Private)
}

fn size_of(scalar: Scalar) -> Size {
    match scalar.bytes() {
        1 => Size::B8,
        2 => Size::B16,
        4 => Size::B32,
        _ => Size::B64,
    }
}

impl Isel<'_> {
    /// The scalar that an atomic accesses, if it accesses that of one lane.
    fn atomic_scalar(&self, args: &[Value], accessed: Value) -> Result<Scalar> {
        if args.iter().any(|&arg| self.func.ty(arg).lanes > 1) {
            return Err(Diagnostic::new("an atomic of many lanes"));
        }
        Ok(self.func.ty(accessed).scalar)
    }

    pub fn atomic_rmw(&mut self, op: AtomicOp, atomic: &Atomic, inst: Inst) -> Result<Repr> {
        let data = &self.func.insts[inst];
        let (args, result) = (data.args.clone(), data.results[0]);
        let scalar = self.atomic_scalar(&args, args[1])?;
        let is_float = matches!(op, AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax);
        if is_float && scalar == Scalar::F16 {
            return Err(Diagnostic::new("an atomic of halves"));
        }
        let value = self.scalar(args[1])?;
        let at = self.amode(args[0])?;
        if is_own(atomic) {
            let old = self.load_scalar(at, scalar);
            let new = self.combined(op, scalar, old, value);
            self.store_scalar(at, new, scalar);
            return Ok(Repr::Scalar(old));
        }
        let size = size_of(scalar);
        let value_bits = self.in_general(value, scalar);
        let unused = self.deferral.uses[result] == 0;
        let locked = match op {
            AtomicOp::And => Some(Opcode::LockAnd),
            AtomicOp::Or => Some(Opcode::LockOr),
            AtomicOp::Xor => Some(Opcode::LockXor),
            AtomicOp::Add => Some(Opcode::LockAdd),
            _ => None,
        };
        if let (true, Some(opcode)) = (unused, locked) {
            self.mr(opcode, size, at, value_bits);
            return Ok(Repr::None);
        }
        let exchanged = match op {
            AtomicOp::Exchange => Some((Opcode::Xchg, value_bits)),
            AtomicOp::Add => Some((Opcode::LockXadd, value_bits)),
            AtomicOp::Sub => {
                let negated = self.mi(Opcode::Neg, Size::B64, value_bits, 0);
                Some((Opcode::LockXadd, negated))
            }
            _ => None,
        };
        if let Some((opcode, value)) = exchanged {
            let old = self.define(opcode, size, |plain| {
                (plain.a, plain.b) = (value, Rm::Mem(at));
            });
            return Ok(Repr::Scalar(self.from_general(old, scalar)));
        }
        let old = self.exchange_until(at, size, |isel, old| {
            let old = isel.from_general(old, scalar);
            let new = isel.combined(op, scalar, old, value);
            isel.in_general(new, scalar)
        });
        Ok(Repr::Scalar(self.from_general(old, scalar)))
    }

    /// Replaces what is in memory with what `f` makes of it, if it is still that: else again. The
    /// result is what was there.
    fn exchange_until(
        &mut self,
        at: Amode,
        size: Size,
        f: impl FnOnce(&mut Self, VReg) -> VReg,
    ) -> VReg {
        let scalar = Scalar::int(size.bytes() * 8).expect("an integer");
        let first = self.load_scalar(at, scalar);
        let (again, done) = (self.m.new_block(), self.m.new_block());
        let expected = self.m.add_param(again, GENERAL);
        self.m.jump(Target {
            block: again,
            args: smallvec![first],
        });
        self.m.switch_to(again);
        let new = f(self, expected);
        let found = self.compare_and_exchange(at, size, expected, new);
        self.m.branch(
            Cc::E,
            Self::plain_target(done),
            Target {
                block: again,
                args: smallvec![found],
            },
        );
        self.m.switch_to(done);
        found
    }

    /// `lock cmpxchg`: what was in memory. The zero flag says whether that was as expected.
    fn compare_and_exchange(&mut self, at: Amode, size: Size, expected: VReg, new: VReg) -> VReg {
        let found = self.m.vreg(GENERAL);
        let mut plain = Plain::new(Opcode::LockCmpxchg, size);
        (plain.a, plain.b) = (new, Rm::Mem(at));
        self.fixed(plain, &[(expected, gpr(RAX))], &[(found, gpr(RAX))], &[]);
        found
    }

    /// The bits of a scalar in a general register.
    fn in_general(&mut self, reg: VReg, scalar: Scalar) -> VReg {
        if reg.class() != VECTOR {
            return reg;
        }
        match scalar {
            Scalar::F32 => self.define(Opcode::VmovdStore, Size::V128, |p| p.a = reg),
            _ => self.define(Opcode::VmovqStore, Size::V128, |p| p.a = reg),
        }
    }

    fn from_general(&mut self, reg: VReg, scalar: Scalar) -> VReg {
        match scalar {
            Scalar::F32 => self.rm(Opcode::Vmovd, Size::V128, reg),
            Scalar::F64 => self.rm(Opcode::Vmovq, Size::V128, reg),
            _ => reg,
        }
    }

    /// What an operation stores, of what was there and its operand.
    fn combined(&mut self, op: AtomicOp, scalar: Scalar, old: VReg, value: VReg) -> VReg {
        let size = match scalar.bits() {
            64 => Size::B64,
            _ => Size::B32,
        };
        let double = scalar == Scalar::F64;
        let least = |cc: Cc| (cc, Opcode::Cmp);
        let (cc, compare) = match op {
            AtomicOp::Exchange => return value,
            AtomicOp::Add => return self.rvm(Opcode::Add, size, old, value),
            AtomicOp::Sub => return self.rvm(Opcode::Sub, size, old, value),
            AtomicOp::And => return self.rvm(Opcode::And, size, old, value),
            AtomicOp::Or => return self.rvm(Opcode::Or, size, old, value),
            AtomicOp::Xor => return self.rvm(Opcode::Xor, size, old, value),
            AtomicOp::FAdd => {
                let opcode = if double { Opcode::Vaddsd } else { Opcode::Vaddss };
                return self.rvm(opcode, Size::V128, old, value);
            }
            AtomicOp::FMin | AtomicOp::FMax => {
                return self.float_least(op == AtomicOp::FMin, double, old, value);
            }
            AtomicOp::SMin => least(Cc::G),
            AtomicOp::SMax => least(Cc::L),
            AtomicOp::UMin => least(Cc::A),
            AtomicOp::UMax => least(Cc::B),
        };
        let narrow = size_of(scalar);
        self.test(compare, narrow, old, value);
        self.cmov(cc, size, old, value)
    }

    pub fn atomic_cmpxchg(&mut self, atomic: &Atomic, inst: Inst) -> Result<Repr> {
        let args = self.func.insts[inst].args.clone();
        let scalar = self.atomic_scalar(&args, args[1])?;
        let (expected, desired) = (self.scalar(args[1])?, self.scalar(args[2])?);
        let at = self.amode(args[0])?;
        let (expected, desired) = (
            self.in_general(expected, scalar),
            self.in_general(desired, scalar),
        );
        if is_own(atomic) {
            let old = self.load_scalar(at, scalar.as_int());
            self.test(Opcode::Cmp, size_of(scalar), old, expected);
            let new = self.cmov(Cc::E, Size::B64, old, desired);
            self.store_scalar(at, new, scalar.as_int());
            return Ok(Repr::Scalar(self.from_general(old, scalar)));
        }
        let found = self.compare_and_exchange(at, size_of(scalar), expected, desired);
        Ok(Repr::Scalar(self.from_general(found, scalar)))
    }

    /// Every load acquires.
    pub fn atomic_load(&mut self, _: &Atomic, inst: Inst) -> Result<Repr> {
        let data = &self.func.insts[inst];
        let (args, result) = (data.args.clone(), data.results[0]);
        let scalar = self.atomic_scalar(&args, result)?;
        let at = self.amode(args[0])?;
        Ok(Repr::Scalar(self.load_scalar(at, scalar)))
    }

    /// Every store releases. One that is sequentially consistent must not be passed by later
    /// loads: an exchange is a store and a fence.
    pub fn atomic_store(&mut self, atomic: &Atomic, args: &[Value]) -> Result<()> {
        let scalar = self.atomic_scalar(args, args[1])?;
        let value = self.scalar(args[1])?;
        let at = self.amode(args[0])?;
        if is_own(atomic) || atomic.order != Order::SeqCst {
            self.store_scalar(at, value, scalar);
            return Ok(());
        }
        let value = self.in_general(value, scalar);
        self.define(Opcode::Xchg, size_of(scalar), |plain| {
            (plain.a, plain.b) = (value, Rm::Mem(at));
        });
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
