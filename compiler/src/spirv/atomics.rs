//! Atomic instructions.

use rspirv::spirv::{MemorySemantics, Op, Scope as SpirvScope};

use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use crate::ir::{Atomic, AtomicOp, IntCC, Op as IrOp, Order, Scalar, Scope, Type, Value};

/// The read-modify-write instructions with a value operand.
fn rmw(op: Op) -> Option<(AtomicOp, bool)> {
    Some(match op {
        Op::AtomicIAdd => (AtomicOp::Add, false),
        Op::AtomicISub => (AtomicOp::Sub, false),
        Op::AtomicSMin => (AtomicOp::SMin, false),
        Op::AtomicUMin => (AtomicOp::UMin, false),
        Op::AtomicSMax => (AtomicOp::SMax, false),
        Op::AtomicUMax => (AtomicOp::UMax, false),
        Op::AtomicAnd => (AtomicOp::And, false),
        Op::AtomicOr => (AtomicOp::Or, false),
        Op::AtomicXor => (AtomicOp::Xor, false),
        Op::AtomicFAddEXT => (AtomicOp::FAdd, true),
        Op::AtomicFMinEXT => (AtomicOp::FMin, true),
        Op::AtomicFMaxEXT => (AtomicOp::FMax, true),
        _ => return None,
    })
}

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of this family; false when it is of another.
    pub(super) fn atomic(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        let words = inst.operands;
        if let Some((rmw, float)) = rmw(op) {
            let (address, atomic) = self.atomic_operands(inst, 0, 1, 2)?;
            let value = self.atomic_value(inst, words[3])?;
            if self.ty(value).scalar.is_float() != float {
                return Err(self.error(
                    inst,
                    format!("the value has type {}, which does not fit", self.ty(value)),
                ));
            }
            let old = self.rmw(rmw, atomic, address, value);
            self.define(inst, old)?;
            return Ok(true);
        }
        match op {
            Op::AtomicLoad => {
                let (address, atomic) = self.atomic_operands(inst, 0, 1, 2)?;
                let ty = self.result_ir(inst)?;
                self.check_atomic(inst, ty)?;
                let value = self.b().val(IrOp::AtomicLoad(atomic), &[address], ty);
                self.define(inst, value)?;
            }
            Op::AtomicStore => {
                let (address, atomic) = self.atomic_operands(inst, 0, 1, 2)?;
                let value = self.atomic_value(inst, words[3])?;
                self.b()
                    .ins(IrOp::AtomicStore(atomic), &[address, value], &[]);
            }
            Op::AtomicExchange => {
                let (address, atomic) = self.atomic_operands(inst, 0, 1, 2)?;
                let value = self.atomic_value(inst, words[3])?;
                let old = self.rmw(AtomicOp::Exchange, atomic, address, value);
                self.define(inst, old)?;
            }
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => {
                let (address, mut atomic) = self.atomic_operands(inst, 0, 1, 2)?;
                // One order for both outcomes: the stronger.
                let unequal = self.order(inst, words[3])?;
                if unequal > atomic.order {
                    atomic.order = unequal;
                }
                let desired = self.atomic_value(inst, words[4])?;
                let ty = self.ty(desired);
                let expected = self.typed(inst, words[5], ty)?;
                let old = self.b().val(
                    IrOp::AtomicCmpXchg(atomic),
                    &[address, expected, desired],
                    ty,
                );
                self.define(inst, old)?;
            }
            Op::AtomicIIncrement | Op::AtomicIDecrement => {
                let (address, atomic) = self.atomic_operands(inst, 0, 1, 2)?;
                let ty = self.result_ir(inst)?;
                self.check_atomic(inst, ty)?;
                if !ty.scalar.is_int() {
                    return Err(self.error(inst, "the result type is not an integer"));
                }
                let one = self.iconst(ty, 1);
                let rmw = if op == Op::AtomicIIncrement {
                    AtomicOp::Add
                } else {
                    AtomicOp::Sub
                };
                let old = self.rmw(rmw, atomic, address, one);
                self.define(inst, old)?;
            }
            // "OpAtomicFlagTestAndSet": a flag is a 32-bit integer, set when not zero.
            Op::AtomicFlagTestAndSet => {
                let (address, atomic) = self.atomic_operands(inst, 0, 1, 2)?;
                let (zero, one) = (self.iconst(Type::I32, 0), self.iconst(Type::I32, 1));
                let old = self.rmw(AtomicOp::Exchange, atomic, address, one);
                let set = self.b().icmp(IntCC::Ne, old, zero);
                self.define(inst, set)?;
            }
            Op::AtomicFlagClear => {
                let (address, atomic) = self.atomic_operands(inst, 0, 1, 2)?;
                let zero = self.iconst(Type::I32, 0);
                self.b()
                    .ins(IrOp::AtomicStore(atomic), &[address, zero], &[]);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn rmw(&mut self, op: AtomicOp, atomic: Atomic, address: Value, value: Value) -> Value {
        let ty = self.ty(value);
        self.b()
            .val(IrOp::AtomicRmw(op, atomic), &[address, value], ty)
    }

    fn atomic_operands(
        &mut self,
        inst: &Inst<'_>,
        pointer: usize,
        scope: usize,
        semantics: usize,
    ) -> Result<(Value, Atomic)> {
        let pointer = self.pointer(inst, inst.operands[pointer])?;
        let atomic = Atomic {
            space: pointer.space,
            scope: self.scope(inst, inst.operands[scope])?,
            order: self.order(inst, inst.operands[semantics])?,
            masked: false,
        };
        Ok((pointer.address, atomic))
    }

    fn check_atomic(&self, inst: &Inst<'_>, ty: Type) -> Result<()> {
        match ty.scalar {
            Scalar::I32 | Scalar::I64 | Scalar::F32 | Scalar::F64 | Scalar::Ptr
                if ty.is_scalar() =>
            {
                Ok(())
            }
            _ => Err(self.error(inst, format!("atomics on {ty} are not supported"))),
        }
    }

    fn atomic_value(&mut self, inst: &Inst<'_>, id: Id) -> Result<Value> {
        let value = self.value(inst, id)?;
        self.check_atomic(inst, self.ty(value))?;
        Ok(value)
    }

    /// A scope; the widest when it is not a constant.
    pub(super) fn scope(&mut self, inst: &Inst<'_>, id: Id) -> Result<Scope> {
        let Some(number) = self.unit.integer_constant(id) else {
            self.integer(inst, id)?;
            return Ok(Scope::AllDevices);
        };
        let scope = u32::try_from(number).ok().and_then(SpirvScope::from_u32);
        match scope {
            Some(SpirvScope::CrossDevice) => Ok(Scope::AllDevices),
            Some(SpirvScope::Device) => Ok(Scope::Device),
            Some(SpirvScope::Workgroup) => Ok(Scope::WorkGroup),
            Some(SpirvScope::Subgroup) => Ok(Scope::SubGroup),
            Some(SpirvScope::Invocation) => Ok(Scope::WorkItem),
            _ => Err(self.error(inst, format!("the scope {number} is not supported"))),
        }
    }

    /// Memory semantics; all of them when they are not a constant.
    pub(super) fn semantics(&mut self, inst: &Inst<'_>, id: Id) -> Result<MemorySemantics> {
        match self.unit.integer_constant(id) {
            Some(bits) => u32::try_from(bits)
                .ok()
                .and_then(MemorySemantics::from_bits)
                .ok_or_else(|| self.error(inst, format!("unknown memory semantics {bits:#x}"))),
            None => {
                self.integer(inst, id)?;
                Ok(MemorySemantics::SEQUENTIALLY_CONSISTENT
                    | MemorySemantics::WORKGROUP_MEMORY
                    | MemorySemantics::CROSS_WORKGROUP_MEMORY)
            }
        }
    }

    pub(super) fn order_of(semantics: MemorySemantics) -> Order {
        if semantics.contains(MemorySemantics::SEQUENTIALLY_CONSISTENT) {
            Order::SeqCst
        } else if semantics.contains(MemorySemantics::ACQUIRE_RELEASE)
            || semantics.contains(MemorySemantics::ACQUIRE | MemorySemantics::RELEASE)
        {
            Order::AcqRel
        } else if semantics.contains(MemorySemantics::RELEASE) {
            Order::Release
        } else if semantics.contains(MemorySemantics::ACQUIRE) {
            Order::Acquire
        } else {
            Order::Relaxed
        }
    }

    fn order(&mut self, inst: &Inst<'_>, id: Id) -> Result<Order> {
        Ok(Self::order_of(self.semantics(inst, id)?))
    }
}
