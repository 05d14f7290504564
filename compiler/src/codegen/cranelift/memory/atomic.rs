//! Atomics of one lane on integers in memory that other threads may reach, and fences. The crate's
//! `docs/memory-model.md` argues why what is emitted here is enough.

use cranelift_codegen::ir::{self as clif, InstBuilder};

use super::super::parts::lane_type;
use super::super::values::Gen;
use super::flags;
use crate::ir::{Atomic, AtomicOp, Fence, Order, Type, Value};

fn rmw_op(op: AtomicOp) -> clif::AtomicRmwOp {
    match op {
        AtomicOp::Exchange => clif::AtomicRmwOp::Xchg,
        AtomicOp::Add => clif::AtomicRmwOp::Add,
        AtomicOp::Sub => clif::AtomicRmwOp::Sub,
        AtomicOp::And => clif::AtomicRmwOp::And,
        AtomicOp::Or => clif::AtomicRmwOp::Or,
        AtomicOp::Xor => clif::AtomicRmwOp::Xor,
        other => unreachable!("`lower` makes loops of {}", other.name()),
    }
}

impl Gen<'_> {
    pub fn atomic_rmw(&mut self, op: AtomicOp, args: &[Value], ty: Type) -> clif::Value {
        let (address, value) = (self.scalar(args[0]), self.scalar(args[1]));
        let int = lane_type(ty.scalar);
        self.b
            .ins()
            .atomic_rmw(int, flags(), rmw_op(op), address, value)
    }

    pub fn atomic_cmpxchg(&mut self, args: &[Value]) -> clif::Value {
        let [address, expected, desired] = [0, 1, 2].map(|n| self.scalar(args[n]));
        self.b.ins().atomic_cas(flags(), address, expected, desired)
    }

    pub fn atomic_load(&mut self, address: Value, ty: Type) -> clif::Value {
        let address = self.scalar(address);
        let int = lane_type(ty.scalar);
        self.b.ins().atomic_load(int, flags(), address)
    }

    pub fn atomic_store(&mut self, atomic: &Atomic, args: &[Value]) {
        let (address, value) = (self.scalar(args[0]), self.scalar(args[1]));
        // On x86 every store releases.
        if self.x86 && atomic.order != Order::SeqCst {
            self.b.ins().store(flags(), value, address, 0);
        } else if self.x86 {
            // A sequentially consistent store must not be passed by later loads: an exchange is a
            // store and a fence.
            let int = self.b.func.dfg.value_type(value);
            let exchange = clif::AtomicRmwOp::Xchg;
            self.b
                .ins()
                .atomic_rmw(int, flags(), exchange, address, value);
        } else {
            self.b.ins().atomic_store(flags(), value, address);
        }
    }

    /// Orders what other threads see, where the instructions around do not: x86 reorders stores
    /// with later loads only, which nothing weaker than sequential consistency forbids.
    pub fn fence(&mut self, fence: &Fence) {
        if !self.x86 || fence.order == Order::SeqCst {
            self.b.ins().fence();
        }
    }
}
