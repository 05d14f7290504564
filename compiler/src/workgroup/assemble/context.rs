//! Addresses in scratch memory: elements of the barrier context's slots, the carry of collectives,
//! and which part of it an address is in.

use cranelift_entity::EntityRef;

use super::super::collectives::Carried;
use super::super::local::{context_layout, slot_align, slot_bytes};
use super::{Assembler, Chunk};
use crate::ir::collective::neutral;
use crate::ir::{
    BinOp, Builder, Function, IntCC, Interleaving, Mem, Op, Scalar, SlotId, Type, Value,
};
use crate::kernel_info::AddressSpace;

impl Assembler<'_> {
    /// The address of the first of these work-items' element of a slot.
    fn slot_address(&mut self, body: &Function, slot: SlotId, chunk: Option<Chunk>) -> Value {
        let chunk = chunk.expect("a context belongs to a work-item");
        let before = self.i64(self.slots[slot.index()]);
        let array = self.binary(BinOp::IMul, self.launch.items, before);
        let base = self.launch.context;
        let base = self.b().ptr_add(base, array);
        let bytes = self.i64(slot_bytes(body, slot));
        let item = self.first_item(chunk);
        // Where a chunk begins, so does the memory that its lanes share.
        let interleaving = body.slots[slot].interleaving.filter(|_| chunk.lanes == 1);
        let Some(Interleaving { unit, lanes }) = interleaving else {
            let offset = self.binary(BinOp::IMul, item, bytes);
            return self.b().ptr_add(base, offset);
        };
        let lane_bits = self.i64(u64::from(lanes) - 1);
        let lane = self.binary(BinOp::And, item, lane_bits);
        let first = self.binary(BinOp::ISub, item, lane);
        let offset = self.binary(BinOp::IMul, first, bytes);
        let address = self.b().ptr_add(base, offset);
        let unit = self.i64(unit.into());
        let offset = self.binary(BinOp::IMul, lane, unit);
        self.b().ptr_add(address, offset)
    }

    fn slot_mem(&self, body: &Function, slot: SlotId, lanes: u8) -> Mem {
        Mem {
            stride: match lanes {
                1 => 0,
                _ => i64::from(body.slots[slot].ty.scalar.bytes()),
            },
            ..Mem::new(AddressSpace::Private, slot_align(body, slot))
        }
    }

    pub(super) fn context_load(
        &mut self,
        body: &Function,
        slot: SlotId,
        ty: Type,
        chunk: Option<Chunk>,
    ) -> Value {
        let address = self.slot_address(body, slot, chunk);
        if body.slots[slot].bytes != 0 {
            return address;
        }
        let mem = self.slot_mem(body, slot, ty.lanes);
        self.b().load(mem, address, ty)
    }

    pub(super) fn context_store(
        &mut self,
        body: &Function,
        slot: SlotId,
        value: Value,
        chunk: Option<Chunk>,
    ) {
        let address = self.slot_address(body, slot, chunk);
        let mem = self.slot_mem(body, slot, self.out.ty(value).lanes);
        self.b().store(mem, address, value);
    }

    /// Whether addresses are in private memory (the barrier context: `split` puts all private
    /// objects there whose addresses may be asked about), in work-group memory, or in neither. Both
    /// lie in scratch memory, one after the other.
    pub(super) fn in_space(&mut self, space: AddressSpace, address: Value) -> Value {
        let (_, per_item) = context_layout(&self.split.skeleton);
        let per_item = self.i64(per_item);
        let context_bytes = self.binary(BinOp::IMul, self.launch.items, per_item);
        let (context, scratch) = (self.launch.context, self.launch.scratch);
        let mut b = self.b();
        let [context, scratch] = [context, scratch].map(|ptr| b.bitcast(ptr, Type::I64));
        let local_bytes = b.binary(BinOp::ISub, context, scratch);
        let (base, bytes, condition) = match space {
            AddressSpace::Local => (scratch, local_bytes, IntCC::Ult),
            AddressSpace::Private => (context, context_bytes, IntCC::Ult),
            _ => {
                let all = b.binary(BinOp::IAdd, local_bytes, context_bytes);
                (scratch, all, IntCC::Uge)
            }
        };
        let ty = b.ty(address).with_scalar(Scalar::I64);
        let spread = |b: &mut Builder<'_>, value: Value| match ty.lanes {
            1 => value,
            lanes => b.splat(value, lanes),
        };
        let address = b.bitcast(address, ty);
        let base = spread(&mut b, base);
        let bytes = spread(&mut b, bytes);
        let offset = b.binary(BinOp::ISub, address, base);
        b.icmp(condition, offset, bytes)
    }

    /// Where the carry is.
    pub(super) fn carry(&mut self, ty: Type) -> (Value, Mem) {
        let slot = self.split.carry.expect("collectives have a carry");
        let before = self.i64(self.slots[slot.index()]);
        let array = self.binary(BinOp::IMul, self.launch.items, before);
        let base = self.launch.context;
        let address = self.b().ptr_add(base, array);
        (address, Mem::new(AddressSpace::Private, ty.scalar.bytes()))
    }

    /// A collective of the work-group for the work-items of a chunk.
    pub(super) fn collective(
        &mut self,
        op: &Op,
        args: &[Value],
        chunk: Option<Chunk>,
    ) -> Vec<Value> {
        let &Op::Collective { what, masked, .. } = op else {
            unreachable!("it is a collective")
        };
        let with = what.op().expect("what is left combines");
        let ty = self.out.ty(args[0]).lane();
        let (address, mem) = self.carry(ty);
        let item = self.first_item(chunk.expect("work-items take part"));
        let zero = self.i64(0);
        let mut b = self.b();
        let first = b.icmp(IntCC::Eq, item, zero);
        // Before the first work-item nothing is there that could be read as a truth value.
        let before = if ty.scalar == Scalar::I1 {
            let byte = b.load(mem, address, Type::I8);
            let no = b.iconst(Type::I8, 0);
            b.icmp(IntCC::Ne, byte, no)
        } else {
            b.load(mem, address, ty)
        };
        let nothing = b.iconst(ty, neutral(with, ty.scalar));
        let carry = b.select(first, nothing, before);
        let carried = Carried {
            what,
            value: args[0],
            mask: masked.then(|| args[1]),
            carry,
        };
        let (carry, result) = carried.emit(&mut b);
        b.store(mem, address, carry);
        // A reduction's result is the carry after all have run.
        vec![result.unwrap_or(carry)]
    }
}
