//! Atomics and fences. The crate's `docs/memory-model.md` argues why what is emitted here is
//! enough.
//!
//! Work-group and private memory is touched by one thread only, so that plain accesses are atomic
//! there. Everywhere else a read-modify-write is a locked instruction, or a compare-and-swap loop
//! where there is none.

use cranelift_codegen::ir::{self as clif, InstBuilder, condcodes::IntCC, types};

use super::super::lanes::LaneOperand;
use super::super::parts::{Repr, lane_type};
use super::super::values::Gen;
use super::flags;
use crate::codegen::host;
use crate::ir::{Atomic, AtomicOp, BinOp, Fence, Inst, Order, Scalar, Scope, Type};
use crate::kernel_info::AddressSpace;

/// Whether only the thread that runs the work-group can reach this memory.
fn is_own(atomic: &Atomic) -> bool {
    matches!(atomic.space, AddressSpace::Local | AddressSpace::Private)
}

/// The one instruction for an operation, if CLIF has it.
fn native(op: AtomicOp) -> Option<clif::AtomicRmwOp> {
    Some(match op {
        AtomicOp::Exchange => clif::AtomicRmwOp::Xchg,
        AtomicOp::Add => clif::AtomicRmwOp::Add,
        AtomicOp::Sub => clif::AtomicRmwOp::Sub,
        AtomicOp::And => clif::AtomicRmwOp::And,
        AtomicOp::Or => clif::AtomicRmwOp::Or,
        AtomicOp::Xor => clif::AtomicRmwOp::Xor,
        AtomicOp::SMin => clif::AtomicRmwOp::Smin,
        AtomicOp::SMax => clif::AtomicRmwOp::Smax,
        AtomicOp::UMin => clif::AtomicRmwOp::Umin,
        AtomicOp::UMax => clif::AtomicRmwOp::Umax,
        AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax => return None,
    })
}

impl Gen<'_> {
    /// An atomic, lane by lane in order. `f` gets one lane's operands (without the mask).
    pub fn atomic(
        &mut self,
        inst: Inst,
        masked: bool,
        mut f: impl FnMut(&mut Self, &[clif::Value]) -> Option<clif::Value>,
    ) -> Repr {
        let data = &self.func.insts[inst];
        let (mask, args) = if masked {
            let (mask, rest) = data.args.split_last().expect("a mask");
            (Some(*mask), rest)
        } else {
            (None, data.args.as_slice())
        };
        // Without a use for the results they are not put together, and cheaper instructions do.
        let result = data.results.first().copied();
        let result = result.filter(|&r| self.is_used(r));
        let result = result.map(|r| self.func.ty(r));
        let lanes = args
            .iter()
            .chain(&data.results)
            .map(|&v| self.func.ty(v).lanes)
            .max()
            .expect("operands");
        if lanes == 1 {
            let args: Vec<clif::Value> = args.iter().map(|&a| self.scalar(a)).collect();
            return match (mask, result) {
                (None, _) => f(self, &args).map_or(Repr::None, Repr::Scalar),
                (Some(mask), _) => {
                    let mask = self.scalar(mask);
                    let ty: Vec<clif::Type> =
                        result.iter().map(|ty| lane_type(ty.scalar)).collect();
                    let values = self.if_set(mask, &ty, |g| {
                        let value = f(g, &args);
                        value.into_iter().take(ty.len()).collect()
                    });
                    values.first().map_or(Repr::None, |&v| Repr::Scalar(v))
                }
            };
        }
        if mask.is_none() && lanes <= 8 {
            let (&address, operands) = args.split_first().expect("an address");
            let indexed = self.indexed(address);
            let mut word = None;
            let mut values: Vec<Option<clif::Value>> = Vec::new();
            for l in 0..lanes {
                let at = match &indexed {
                    Some(indexed) => self.indexed_address(indexed, l, &mut word),
                    None => self.lane(address, l),
                };
                let operands = operands.iter().map(|&a| self.lane(a, l));
                let args: Vec<clif::Value> = [at].into_iter().chain(operands).collect();
                values.push(f(self, &args));
            }
            let values: Option<Vec<clif::Value>> = values.into_iter().collect();
            return match (values, result) {
                (Some(values), Some(ty)) => Repr::Vector(self.vector_of(ty, &values)),
                _ => Repr::None,
            };
        }
        let operands: Vec<LaneOperand> = args.iter().map(|&a| self.spill(a)).collect();
        let array = result.map(|ty| self.result_array(ty));
        let bits = self.active_bits(mask, lanes);
        self.for_set_bits(bits, |g, lane| {
            let args: Vec<clif::Value> = operands.iter().map(|&o| g.operand(o, lane)).collect();
            if let (Some(value), Some(array)) = (f(g, &args), array) {
                g.set_result(array, lane, value);
            }
        });
        match (array, result) {
            (Some(array), Some(ty)) => Repr::Vector(self.reload(array, ty)),
            _ => Repr::None,
        }
    }

    pub fn atomic_rmw(
        &mut self,
        op: AtomicOp,
        atomic: &Atomic,
        ty: Type,
        args: &[clif::Value],
    ) -> Option<clif::Value> {
        let (address, value) = (args[0], args[1]);
        let clif_ty = lane_type(ty.scalar);
        if is_own(atomic) {
            let old = self.b.ins().load(clif_ty, flags(), address, 0);
            let new = self.combine(op, ty.scalar, old, value);
            self.b.ins().store(flags(), new, address, 0);
            return Some(old);
        }
        let int = lane_type(ty.scalar.as_int());
        if let Some(native) = native(op) {
            let value = self.reinterpret(value, int);
            let old = self
                .b
                .ins()
                .atomic_rmw(int, flags(), native, address, value);
            return Some(self.reinterpret(old, clif_ty));
        }
        // Compare-and-swap until nobody came between. It compares bits, so that NaN and zeros of
        // either sign are themselves.
        let (again, done) = (self.b.create_block(), self.b.create_block());
        let seen = self.b.append_block_param(again, int);
        let first = self.b.ins().atomic_load(int, flags(), address);
        self.b.ins().jump(again, &[first.into()]);
        self.b.switch_to_block(again);
        let old = self.reinterpret(seen, clif_ty);
        let new = self.combine(op, ty.scalar, old, value);
        let new = self.reinterpret(new, int);
        let found = self.b.ins().atomic_cas(flags(), address, seen, new);
        let same = self.b.ins().icmp(IntCC::Equal, found, seen);
        self.b.ins().brif(same, done, &[], again, &[found.into()]);
        self.b.switch_to_block(done);
        Some(old)
    }

    /// The value an atomic operation stores.
    fn combine(
        &mut self,
        op: AtomicOp,
        scalar: Scalar,
        old: clif::Value,
        value: clif::Value,
    ) -> clif::Value {
        let Some(op) = op.binary() else {
            return value;
        };
        if scalar == Scalar::F16 {
            let function = match op {
                BinOp::FAdd => host::fadd_f16 as *const () as usize,
                BinOp::FMin => host::fmin_f16 as *const () as usize,
                _ => host::fmax_f16 as *const () as usize,
            };
            return self
                .call(function, &[old, value], Some(types::I16))
                .expect("a result");
        }
        self.scalar_binary(op, scalar, old, value)
    }

    fn reinterpret(&mut self, v: clif::Value, to: clif::Type) -> clif::Value {
        if self.b.func.dfg.value_type(v) == to {
            v
        } else {
            self.b.ins().bitcast(to, clif::MemFlagsData::new(), v)
        }
    }

    pub fn atomic_cmpxchg(&mut self, atomic: &Atomic, args: &[clif::Value]) -> Option<clif::Value> {
        let (address, expected, desired) = (args[0], args[1], args[2]);
        if is_own(atomic) {
            let ty = self.b.func.dfg.value_type(expected);
            let old = self.b.ins().load(ty, flags(), address, 0);
            let same = self.b.ins().icmp(IntCC::Equal, old, expected);
            let new = self.b.ins().select(same, desired, old);
            self.b.ins().store(flags(), new, address, 0);
            return Some(old);
        }
        Some(self.b.ins().atomic_cas(flags(), address, expected, desired))
    }

    pub fn atomic_load(
        &mut self,
        atomic: &Atomic,
        ty: Type,
        args: &[clif::Value],
    ) -> Option<clif::Value> {
        let clif_ty = lane_type(ty.scalar);
        if is_own(atomic) {
            return Some(self.b.ins().load(clif_ty, flags(), args[0], 0));
        }
        let int = lane_type(ty.scalar.as_int());
        let value = self.b.ins().atomic_load(int, flags(), args[0]);
        Some(self.reinterpret(value, clif_ty))
    }

    pub fn atomic_store(&mut self, atomic: &Atomic, args: &[clif::Value]) -> Option<clif::Value> {
        let (address, value) = (args[0], args[1]);
        // On x86 every store releases.
        if is_own(atomic) || self.x86 && atomic.order != Order::SeqCst {
            self.b.ins().store(flags(), value, address, 0);
            return None;
        }
        let ty = self.b.func.dfg.value_type(value);
        let int = clif::Type::int(ty.bits() as u16).expect("an integer as wide");
        let value = self.reinterpret(value, int);
        if self.x86 {
            // A sequentially consistent store must not be passed by later loads: an exchange is a
            // store and a fence.
            let exchange = clif::AtomicRmwOp::Xchg;
            self.b
                .ins()
                .atomic_rmw(int, flags(), exchange, address, value);
        } else {
            self.b.ins().atomic_store(flags(), value, address);
        }
        None
    }

    /// Orders what other threads see, where the instructions around do not.
    pub fn fence(&mut self, fence: &Fence) {
        let others = matches!(fence.scope, Scope::Device | Scope::AllDevices) && fence.global;
        // x86 reorders stores with later loads only, which nothing weaker than sequential
        // consistency forbids.
        let free = if self.x86 {
            fence.order != Order::SeqCst
        } else {
            fence.order == Order::Relaxed
        };
        if others && !free {
            self.b.ins().fence();
        }
    }
}
