//! Addresses, and instructions that access memory: alignment, strides, masks, atomics, barrier
//! contexts.

use super::{Operands, Verifier, is};
use crate::ir::{AtomicOp, Mem, Op, Scalar, Stage, Type, Value};
use crate::kernel_info::AddressSpace;

impl Verifier<'_> {
    /// The operands and results of an instruction that makes an address or uses one.
    pub(super) fn check_memory(&self, o: &Operands<'_>) -> Result<(), String> {
        let func = self.func;
        let (args, results) = (&o.args[..], &o.results[..]);
        match &o.data.op {
            Op::GlobalAddr(id) => {
                o.counts(0, 1)?;
                is(results[0] == Type::PTR, "an address is a ptr")?;
                is(
                    self.module.is_none_or(|m| m.globals.is_valid(*id)),
                    "the global does not exist",
                )
            }
            Op::LocalAddr(id) => {
                o.counts(0, 1)?;
                is(results[0] == Type::PTR, "an address is a ptr")?;
                is(
                    func.locals.is_valid(*id),
                    "the work-group variable does not exist",
                )
            }
            Op::Alloca { align, .. } => {
                o.counts(0, 1)?;
                is(results[0] == Type::PTR, "an address is a ptr")?;
                is(align.is_power_of_two(), "alignment is a power of two")
            }
            Op::PtrAdd => {
                o.counts(2, 1)?;
                is(
                    args[0] == results[0]
                        && args[0].scalar == Scalar::Ptr
                        && args[1] == args[0].with_scalar(Scalar::I64),
                    "an address plus an i64",
                )
            }
            Op::InSpace(space) => {
                o.counts(1, 1)?;
                is(
                    args[0].scalar == Scalar::Ptr
                        && results[0] == args[0].with_scalar(Scalar::I1)
                        && matches!(
                            space,
                            AddressSpace::Private | AddressSpace::Local | AddressSpace::Global
                        ),
                    "a pointer is asked whether it is private, local or global",
                )
            }
            Op::Load(mem) => {
                let mask = o.unmasked(mem.masked, mem.places())?;
                self.check_access(mem, &o.data.args, results, mask)
            }
            Op::Store(mem) => {
                is(results.is_empty(), "a store has no results")?;
                let operands = args.len().saturating_sub(usize::from(mem.masked));
                is(
                    operands > mem.places(),
                    "a store needs an address and a value",
                )?;
                let mask = o.unmasked(mem.masked, operands)?;
                self.check_access(mem, &o.data.args, &args[mem.places()..operands], mask)
            }
            Op::MemCopy { masked, align, .. } => {
                is(results.is_empty(), "a copy has no results")?;
                is(align.is_power_of_two(), "alignment is a power of two")?;
                let mask = o.unmasked(*masked, 2)?;
                let lanes = args[0].lanes.max(args[1].lanes);
                self.check_address(args[0], lanes)?;
                self.check_address(args[1], lanes)?;
                let masks = mask.map_or(1, |m| func.ty(m).lanes);
                self.check_mask(*masked, mask, lanes.max(masks))
            }
            Op::MemCopyDyn { masked, align } => {
                is(results.is_empty(), "a copy has no results")?;
                is(align.is_power_of_two(), "alignment is a power of two")?;
                let mask = o.unmasked(*masked, 3)?;
                let lanes = args[..3].iter().map(|ty| ty.lanes).max().unwrap_or(1);
                self.check_address(args[0], lanes)?;
                self.check_address(args[1], lanes)?;
                is(
                    args[2].scalar == Scalar::I64
                        && (args[2].is_scalar() || args[2].lanes == lanes),
                    "a length is an i64",
                )?;
                let masks = mask.map_or(1, |m| func.ty(m).lanes);
                self.check_mask(*masked, mask, lanes.max(masks))
            }
            Op::AtomicRmw(op, atomic) => {
                let mask = o.unmasked(atomic.masked, 2)?;
                is(
                    atomic_takes(*op, args[1].scalar),
                    "the operand has a type of the operation's",
                )?;
                is(
                    results.len() == 1 && results[0] == args[1],
                    "the result has the operand's type",
                )?;
                self.check_atomic(args[0], results[0], atomic.masked, mask)
            }
            Op::AtomicCmpXchg(atomic) => {
                let mask = o.unmasked(atomic.masked, 3)?;
                is(
                    results.len() == 1 && results[0] == args[1] && results[0] == args[2],
                    "operands and result have one type",
                )?;
                is(!args[1].scalar.is_float(), "what is compared is bits")?;
                self.check_atomic(args[0], results[0], atomic.masked, mask)
            }
            Op::AtomicLoad(atomic) => {
                let mask = o.unmasked(atomic.masked, 1)?;
                is(results.len() == 1, "expected one result")?;
                self.check_atomic(args[0], results[0], atomic.masked, mask)
            }
            Op::AtomicStore(atomic) => {
                let mask = o.unmasked(atomic.masked, 2)?;
                is(results.is_empty(), "a store has no results")?;
                self.check_atomic(args[0], args[1], atomic.masked, mask)
            }
            Op::ContextLoad(slot) => {
                o.counts(0, 1)?;
                is(func.slots.is_valid(*slot), "the slot does not exist")
            }
            Op::ContextStore(slot) => {
                o.counts(1, 0)?;
                is(func.slots.is_valid(*slot), "the slot does not exist")
            }
            _ => unreachable!("no operation on memory"),
        }
    }

    /// The data of one access: `mem` with its operands, its data's types and its mask.
    fn check_access(
        &self,
        mem: &Mem,
        args: &[Value],
        data: &[Type],
        mask: Option<Value>,
    ) -> Result<(), String> {
        let ptr = self.func.ty(args[0]);
        let Some(&first) = data.first() else {
            return Err("an access moves at least one element".into());
        };
        ensure!(
            data.iter().all(|&ty| ty == first),
            "the elements of an access have one type"
        );
        ensure!(mem.align.is_power_of_two(), "alignment is a power of two");
        self.check_address(ptr, first.lanes)?;
        if mem.index.is_some() {
            let index = self.func.ty(args[1]);
            ensure!(
                self.stage == Stage::Lowered
                    && ptr.is_scalar()
                    && index.scalar.is_int()
                    && index.scalar.bits() <= 32
                    && index.lanes == first.lanes
                    && !first.is_scalar()
                    && mem.stride == 0,
                "an index of at most 32 bits for each lane, and one address"
            );
        } else if self.stage >= Stage::Vectorized && ptr.is_scalar() && !first.is_scalar() {
            ensure!(
                mem.stride != 0,
                "one address for {} lanes needs a stride",
                first.lanes
            );
        } else {
            ensure!(mem.stride == 0, "a stride needs one address and many lanes");
        }
        self.check_mask(mem.masked, mask, first.lanes)
    }

    /// An address has one lane, or after `vectorize` as many as the data.
    fn check_address(&self, ptr: Type, lanes: u8) -> Result<(), String> {
        ensure!(ptr.scalar == Scalar::Ptr, "an address is a ptr, not {ptr}");
        ensure!(
            ptr.is_scalar() || self.stage >= Stage::Vectorized && ptr.lanes == lanes,
            "an address of {} lanes for data of {lanes}",
            ptr.lanes
        );
        Ok(())
    }

    pub(super) fn check_mask(
        &self,
        masked: bool,
        mask: Option<Value>,
        lanes: u8,
    ) -> Result<(), String> {
        match mask {
            None => ensure!(!masked, "a masked access needs a mask"),
            Some(mask) => {
                let ty = self.func.ty(mask);
                ensure!(
                    masked && ty == Type::new(Scalar::I1, lanes),
                    "expected a mask of {lanes} lanes, not {ty}"
                );
            }
        }
        Ok(())
    }

    fn check_atomic(
        &self,
        ptr: Type,
        data: Type,
        masked: bool,
        mask: Option<Value>,
    ) -> Result<(), String> {
        ensure!(
            data.is_scalar() || self.stage >= Stage::Vectorized,
            "an atomic has one lane"
        );
        ensure!(
            !matches!(data.scalar, Scalar::I1 | Scalar::I8),
            "no atomic has type {data}"
        );
        self.check_address(ptr, data.lanes)?;
        self.check_mask(masked, mask, data.lanes)
    }
}

fn atomic_takes(op: AtomicOp, scalar: Scalar) -> bool {
    match op {
        AtomicOp::Exchange => true,
        AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax => scalar.is_float(),
        _ => scalar.is_int(),
    }
}
