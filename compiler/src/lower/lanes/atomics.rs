//! Atomics, one lane after another, and fences. The crate's `docs/memory-model.md` argues why what
//! is left is enough.
//!
//! Work-group and private memory is touched by one thread only, so that plain accesses are atomic
//! there. Everywhere else a read-modify-write is an atomic one of integers where processors have
//! it, or a loop of compare-and-swap.

use smallvec::smallvec;

use super::Expander;
use crate::ir::{
    Atomic, AtomicOp, BinOp, ConvertOp, Fence, HostFunction, IntCC, Mem, Op, Order, Scalar, Scope,
    Type, Value,
};
use crate::kernel_info::AddressSpace;
use crate::lower::replay::Values;

/// Whether only the thread that runs the work-group can reach this memory.
fn is_own(atomic: Atomic) -> bool {
    matches!(atomic.space, AddressSpace::Local | AddressSpace::Private)
}

/// Whether one instruction does it. x86 has one for bitwise operations only if nobody wants the old
/// value.
fn is_native(op: AtomicOp, is_used: bool) -> bool {
    match op {
        AtomicOp::Exchange | AtomicOp::Add | AtomicOp::Sub => true,
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => !is_used,
        _ => false,
    }
}

impl Expander<'_, '_> {
    /// A compare-and-swap, load or store.
    pub(super) fn atomic(
        &mut self,
        op: &Op,
        args: &[Value],
        mask: Option<Value>,
        results: &[Type],
    ) -> Values {
        self.each_lane_straight(args, mask, results, |e, args| match *op {
            Op::AtomicCmpXchg(atomic) => {
                smallvec![e.compare_exchange(atomic, args[0], args[1], args[2])]
            }
            Op::AtomicLoad(atomic) => smallvec![e.atomic_load(atomic, args[0], results[0].lane())],
            Op::AtomicStore(atomic) => {
                e.atomic_store(atomic, args[0], args[1]);
                Values::new()
            }
            _ => unreachable!("{op} is no atomic of this kind"),
        })
    }

    /// A read-modify-write of some of the lanes.
    pub(super) fn atomic_rmw(
        &mut self,
        op: AtomicOp,
        atomic: Atomic,
        args: &[Value],
        mask: Option<Value>,
        is_used: bool,
    ) -> Values {
        if let Some(done) = self.combined_rmw(op, atomic, args, mask, is_used) {
            return done;
        }
        let ty = self.b.ty(args[1]);
        let results: &[Type] = if is_used { &[ty] } else { &[] };
        self.each_lane_straight(args, mask, results, |e, args| {
            smallvec![e.rmw(op, atomic, args[0], args[1], is_used)]
        })
    }

    /// One read-modify-write, and the value before.
    pub(super) fn rmw(
        &mut self,
        op: AtomicOp,
        atomic: Atomic,
        address: Value,
        value: Value,
        is_used: bool,
    ) -> Value {
        let ty = self.b.ty(value);
        if is_own(atomic) {
            let mem = Mem::new(atomic.space, ty.bytes());
            let old = self.b.load(mem, address, ty);
            let new = self.made(op, old, value);
            self.b.store(mem, address, new);
            return old;
        }
        let int = ty.with_scalar(ty.scalar.as_int());
        let atomic = Atomic {
            masked: false,
            ..atomic
        };
        if is_native(op, is_used) {
            let value = self.b.bitcast(value, int);
            let old = self
                .b
                .val(Op::AtomicRmw(op, atomic), &[address, value], int);
            return self.b.bitcast(old, ty);
        }
        // Compare-and-swap until nobody came between. It compares bits, so that NaN and zeros of
        // either sign are themselves.
        let first = Atomic {
            order: Order::Relaxed,
            ..atomic
        };
        let first = self.b.val(Op::AtomicLoad(first), &[address], int);
        let (again, done) = (self.b.new_block(&[int]), self.b.new_block(&[]));
        self.b.br(again, &[first]);
        self.b.switch_to(again);
        let seen = self.b.param(again, 0);
        let old = self.b.bitcast(seen, ty);
        let new = self.made(op, old, value);
        let new = self.b.bitcast(new, int);
        let swap = Op::AtomicCmpXchg(atomic);
        let found = self.b.val(swap, &[address, seen, new], int);
        let same = self.b.icmp(IntCC::Eq, found, seen);
        self.b.cond_br(same, done, &[], again, &[found]);
        self.b.switch_to(done);
        old
    }

    /// The value an atomic operation stores.
    fn made(&mut self, op: AtomicOp, old: Value, value: Value) -> Value {
        let Some(op) = op.binary() else {
            return value;
        };
        let ty = self.b.ty(value);
        if ty.scalar != Scalar::F16 {
            return self.b.binary(op, old, value);
        }
        let function = match op {
            BinOp::FAdd => HostFunction::AddHalves,
            BinOp::FMin => HostFunction::MinHalves,
            _ => HostFunction::MaxHalves,
        };
        let args = [old, value].map(|v| self.as_bits(v, Scalar::I32));
        let bits = self.host_call(function, &args)[0];
        let bits = self.b.convert(ConvertOp::Trunc, bits, Type::I16);
        self.b.bitcast(bits, ty)
    }

    fn compare_exchange(
        &mut self,
        atomic: Atomic,
        address: Value,
        expected: Value,
        desired: Value,
    ) -> Value {
        let ty = self.b.ty(expected);
        if is_own(atomic) {
            let mem = Mem::new(atomic.space, ty.bytes());
            let old = self.b.load(mem, address, ty);
            let same = self.b.icmp(IntCC::Eq, old, expected);
            let new = self.b.select(same, desired, old);
            self.b.store(mem, address, new);
            return old;
        }
        let int = ty.with_scalar(ty.scalar.as_int());
        let [expected, desired] = [expected, desired].map(|v| self.b.bitcast(v, int));
        let op = Op::AtomicCmpXchg(Atomic {
            masked: false,
            ..atomic
        });
        let old = self.b.val(op, &[address, expected, desired], int);
        self.b.bitcast(old, ty)
    }

    fn atomic_load(&mut self, atomic: Atomic, address: Value, ty: Type) -> Value {
        if is_own(atomic) {
            return self.b.load(Mem::new(atomic.space, ty.bytes()), address, ty);
        }
        let op = Op::AtomicLoad(Atomic {
            masked: false,
            ..atomic
        });
        let int = ty.with_scalar(ty.scalar.as_int());
        let bits = self.b.val(op, &[address], int);
        self.b.bitcast(bits, ty)
    }

    fn atomic_store(&mut self, atomic: Atomic, address: Value, value: Value) {
        let ty = self.b.ty(value);
        if is_own(atomic) {
            let mem = Mem::new(atomic.space, ty.bytes());
            return self.b.store(mem, address, value);
        }
        let op = Op::AtomicStore(Atomic {
            masked: false,
            ..atomic
        });
        let bits = self.b.bitcast(value, ty.with_scalar(ty.scalar.as_int()));
        self.b.ins(op, &[address, bits], &[]);
    }

    /// Orders what other threads see. One thread runs the whole work-group, so that its work-items
    /// are in order already.
    pub(super) fn fence(&mut self, fence: Fence) -> Values {
        let others = matches!(fence.scope, Scope::Device | Scope::AllDevices) && fence.global;
        if others && fence.order != Order::Relaxed {
            self.b.ins(Op::Fence(fence), &[], &[]);
        }
        Values::new()
    }
}
