//! Atomic instructions, and the scopes and memory semantics that they share with barriers.
//!
//! Scope and semantics are ids; a module may give them as constants, specialization constants or
//! values. What is not known until run time is taken for the strongest, which every weaker one
//! allows.

use rspirv::spirv::{MemorySemantics, Op, Scope as SpirvScope};

use super::body::Body;
use super::decode::{Id, Inst, Result};
use super::function::FunctionTranslator;
use super::rules::{Rule, VALIDATION};
use crate::ir::{Atomic, AtomicOp, IntCC, Op as IrOp, Order, Scalar, Scope, Type, Value};
use crate::kernel_info::AddressSpace;

/// What types an instruction works on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// 32 and 64-bit integers.
    Integers,
    /// And pointers: the rules leave them out, but translators write them where the source has
    /// them.
    Words,
    /// And all floating-point types, of which OpenCL C has atomics: moved as they are.
    Anything,
    /// Floating-point types.
    Floats,
}

impl Takes {
    fn holds(self, ty: Type) -> bool {
        ty.is_scalar()
            && match ty.scalar {
                Scalar::I32 | Scalar::I64 => self != Takes::Floats,
                Scalar::Ptr => matches!(self, Takes::Words | Takes::Anything),
                Scalar::F16 | Scalar::F32 | Scalar::F64 => {
                    matches!(self, Takes::Anything | Takes::Floats)
                }
                Scalar::I1 | Scalar::I8 | Scalar::I16 => false,
            }
    }
}

/// The read-modify-write instructions with a value operand.
fn rmw(op: Op) -> Option<(AtomicOp, Takes)> {
    Some(match op {
        Op::AtomicExchange => (AtomicOp::Exchange, Takes::Anything),
        Op::AtomicIAdd => (AtomicOp::Add, Takes::Integers),
        Op::AtomicISub => (AtomicOp::Sub, Takes::Integers),
        Op::AtomicSMin => (AtomicOp::SMin, Takes::Integers),
        Op::AtomicUMin => (AtomicOp::UMin, Takes::Integers),
        Op::AtomicSMax => (AtomicOp::SMax, Takes::Integers),
        Op::AtomicUMax => (AtomicOp::UMax, Takes::Integers),
        Op::AtomicAnd => (AtomicOp::And, Takes::Integers),
        Op::AtomicOr => (AtomicOp::Or, Takes::Integers),
        Op::AtomicXor => (AtomicOp::Xor, Takes::Integers),
        Op::AtomicFAddEXT => (AtomicOp::FAdd, Takes::Floats),
        Op::AtomicFMinEXT => (AtomicOp::FMin, Takes::Floats),
        Op::AtomicFMaxEXT => (AtomicOp::FMax, Takes::Floats),
        _ => return None,
    })
}

const SEMANTICS: Rule = Rule::Spirv("Memory Semantics <id>");

impl FunctionTranslator<'_, '_> {
    /// Translates an instruction of this family; false when it is of another.
    pub(super) fn atomic(&mut self, op: Op, inst: &Inst<'_>) -> Result<bool> {
        let words = inst.operands;
        if let Some((rmw, takes)) = rmw(op) {
            let (address, atomic) = self.atomic_operands(inst)?;
            let value = self.atomic_value(inst, words[3], takes)?;
            let old = self.body.rmw(rmw, atomic, address, value);
            self.define(inst, old)?;
            return Ok(true);
        }
        match op {
            Op::AtomicLoad => {
                let (address, atomic) = self.atomic_operands(inst)?;
                let ty = self.unit.result_ir(inst)?;
                self.check_atomic(inst, ty, Takes::Anything)?;
                let value = self.body.b().val(IrOp::AtomicLoad(atomic), &[address], ty);
                self.define(inst, value)?;
            }
            Op::AtomicStore => {
                let (address, atomic) = self.atomic_operands(inst)?;
                let value = self.atomic_value(inst, words[3], Takes::Anything)?;
                self.body
                    .b()
                    .ins(IrOp::AtomicStore(atomic), &[address, value], &[]);
            }
            // The weak form may fail though the values are equal; it need not.
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => {
                let (address, mut atomic) = self.atomic_operands(inst)?;
                let unequal = self.order(inst, words[3])?;
                if matches!(unequal, Order::Release | Order::AcqRel) {
                    return Err(self.error(
                        inst,
                        format!(
                            "the semantics when unequal are {}, but nothing is written then",
                            unequal.name()
                        ),
                    ));
                }
                // One order for both outcomes. LLVM lets failure be ordered more strongly than
                // success.
                atomic.order = both(atomic.order, unequal);
                let desired = self.atomic_value(inst, words[4], Takes::Words)?;
                let ty = self.body.ty(desired);
                let expected = self.typed(inst, words[5], ty)?;
                let old = self.body.b().val(
                    IrOp::AtomicCmpXchg(atomic),
                    &[address, expected, desired],
                    ty,
                );
                self.define(inst, old)?;
            }
            Op::AtomicIIncrement | Op::AtomicIDecrement => {
                let (address, atomic) = self.atomic_operands(inst)?;
                let ty = self.unit.result_ir(inst)?;
                self.check_atomic(inst, ty, Takes::Integers)?;
                let one = self.body.iconst(ty, 1);
                let rmw = if op == Op::AtomicIIncrement {
                    AtomicOp::Add
                } else {
                    AtomicOp::Sub
                };
                let old = self.body.rmw(rmw, atomic, address, one);
                self.define(inst, old)?;
            }
            // "OpAtomicFlagTestAndSet": a flag is a 32-bit integer, set when not zero.
            Op::AtomicFlagTestAndSet => {
                let (address, atomic) = self.atomic_operands(inst)?;
                let (zero, one) = (
                    self.body.iconst(Type::I32, 0),
                    self.body.iconst(Type::I32, 1),
                );
                let old = self.body.rmw(AtomicOp::Exchange, atomic, address, one);
                let set = self.body.b().icmp(IntCC::Ne, old, zero);
                self.define(inst, set)?;
            }
            Op::AtomicFlagClear => {
                let (address, atomic) = self.atomic_operands(inst)?;
                if matches!(atomic.order, Order::Acquire | Order::AcqRel) {
                    return Err(self.error(
                        inst,
                        format!(
                            "the semantics are {}, but nothing is read",
                            atomic.order.name()
                        ),
                    ));
                }
                let zero = self.body.iconst(Type::I32, 0);
                self.body
                    .b()
                    .ins(IrOp::AtomicStore(atomic), &[address, zero], &[]);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The first three operands of every atomic instruction: pointer, scope, semantics.
    fn atomic_operands(&mut self, inst: &Inst<'_>) -> Result<(Value, Atomic)> {
        let words = inst.operands;
        let pointer = self.pointer(inst, words[0])?;
        if pointer.space == AddressSpace::Constant {
            return Err(self
                .error(inst, "an atomic on constant memory")
                .under(VALIDATION));
        }
        // Atomics have no scope Invocation. A wider one is all that `memory_scope_work_item` can
        // mean, and what other implementations make of it.
        let scope = match self.scope(inst, words[1])? {
            Scope::WorkItem => Scope::Device,
            scope => scope,
        };
        let atomic = Atomic {
            space: pointer.space,
            scope,
            order: self.order(inst, words[2])?,
            masked: false,
        };
        Ok((pointer.address, atomic))
    }

    fn check_atomic(&self, inst: &Inst<'_>, ty: Type, takes: Takes) -> Result<()> {
        if takes.holds(ty) {
            return Ok(());
        }
        let what = match takes {
            Takes::Integers | Takes::Words => "32 and 64-bit integers",
            Takes::Anything => "32 and 64-bit integers and floating-point numbers",
            Takes::Floats => "floating-point numbers",
        };
        Err(self
            .error(
                inst,
                format!("the type is {ty}, where {what} are supported"),
            )
            .under(VALIDATION))
    }

    fn atomic_value(&mut self, inst: &Inst<'_>, id: Id, takes: Takes) -> Result<Value> {
        let value = self.value(inst, id)?;
        self.check_atomic(inst, self.body.ty(value), takes)?;
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
            Some(other) => Err(self
                .error(inst, format!("the scope {other:?} is not one of OpenCL's"))
                .under(VALIDATION)),
            None => Err(self
                .error(inst, format!("the scope {number} is unknown"))
                .under(Rule::Spirv("Scope <id>"))),
        }
    }

    /// Memory semantics; all of them when they are not a constant.
    pub(super) fn semantics(&mut self, inst: &Inst<'_>, id: Id) -> Result<MemorySemantics> {
        let Some(bits) = self.unit.integer_constant(id) else {
            self.integer(inst, id)?;
            return Ok(MemorySemantics::SEQUENTIALLY_CONSISTENT
                | MemorySemantics::WORKGROUP_MEMORY
                | MemorySemantics::CROSS_WORKGROUP_MEMORY);
        };
        let wrong = |what: &str| {
            Err(self
                .error(inst, format!("memory semantics {bits:#x} {what}"))
                .under(SEMANTICS))
        };
        let known = u32::try_from(bits)
            .ok()
            .and_then(MemorySemantics::from_bits);
        let semantics = match (known, c11_order(bits)) {
            (Some(semantics), _) => semantics,
            (None, Some((order, semantics))) => {
                let message = format!("memory semantics {bits:#x} have unknown bits");
                let error = self.error(inst, message).under(SEMANTICS);
                let taken_as = format!("the order is taken as C11's {order}");
                self.unit.binary.warn(error, &taken_as);
                semantics
            }
            (None, None) => return wrong("have unknown bits"),
        };
        let orders = MemorySemantics::ACQUIRE
            | MemorySemantics::RELEASE
            | MemorySemantics::ACQUIRE_RELEASE
            | MemorySemantics::SEQUENTIALLY_CONSISTENT;
        if (semantics & orders).bits().count_ones() > 1 {
            return wrong("have more than one memory order");
        }
        let vulkan = MemorySemantics::OUTPUT_MEMORY
            | MemorySemantics::MAKE_AVAILABLE
            | MemorySemantics::MAKE_VISIBLE
            | MemorySemantics::VOLATILE;
        if semantics.intersects(vulkan) {
            return wrong("need the capability VulkanMemoryModel");
        }
        Ok(semantics)
    }

    fn order(&mut self, inst: &Inst<'_>, id: Id) -> Result<Order> {
        Ok(order_of(self.semantics(inst, id)?))
    }
}

impl Body {
    fn rmw(&mut self, op: AtomicOp, atomic: Atomic, address: Value, value: Value) -> Value {
        let ty = self.ty(value);
        self.b()
            .val(IrOp::AtomicRmw(op, atomic), &[address, value], ty)
    }
}

/// Semantics whose order is a `memory_order` of C11 with the lowest bit set, which no order of
/// SPIR-V's has. The others, `acquire` and `acq_rel`, are Acquire and Release here, and cannot be
/// told from them.
fn c11_order(bits: u64) -> Option<(&'static str, MemorySemantics)> {
    let (name, order) = match bits & 0x1f {
        1 => ("memory_order_consume", MemorySemantics::ACQUIRE),
        3 => ("memory_order_release", MemorySemantics::RELEASE),
        5 => (
            "memory_order_seq_cst",
            MemorySemantics::SEQUENTIALLY_CONSISTENT,
        ),
        _ => return None,
    };
    let classes = u32::try_from(bits & !0x1f).ok()?;
    let classes = MemorySemantics::from_bits(classes)?;
    Some((name, order | classes))
}

pub(super) fn order_of(semantics: MemorySemantics) -> Order {
    if semantics.contains(MemorySemantics::SEQUENTIALLY_CONSISTENT) {
        Order::SeqCst
    } else if semantics.contains(MemorySemantics::ACQUIRE_RELEASE) {
        Order::AcqRel
    } else if semantics.contains(MemorySemantics::RELEASE) {
        Order::Release
    } else if semantics.contains(MemorySemantics::ACQUIRE) {
        Order::Acquire
    } else {
        Order::Relaxed
    }
}

/// The weakest order that gives what either gives.
fn both(a: Order, b: Order) -> Order {
    match (a.min(b), a.max(b)) {
        (Order::Acquire, Order::Release) => Order::AcqRel,
        (_, stronger) => stronger,
    }
}
