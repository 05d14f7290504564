//! Atomic functions of every generation: OpenCL C Specification, "Atomic Functions", "Legacy Atomic
//! Functions"; `cl_ext_float_atomics`.

use super::{Args, memory_model};
use crate::builtins::{Atomic, AtomicOp, Generation};
use crate::emit::function::FunctionEmitter;
use crate::emit::words::Id;
use crate::spirv::{capability, op, scope, semantics};
use crate::types::{Scalar, Space, Type, TypeId, Types};

/// Scope and semantics of a call; `failure` are the semantics of an exchange that does not happen.
struct Ordering {
    scope: Id,
    semantics: Id,
    failure: Id,
}

pub(super) fn emit(
    e: &mut FunctionEmitter<'_, '_>,
    Atomic { what, generation }: Atomic,
    args: Args<'_>,
    ty: TypeId,
) -> Option<Id> {
    let (pointer, pointer_ty) = args[0];
    if what == AtomicOp::Init {
        // "The initialization is not atomic."
        e.push(op::STORE, &[pointer.0, args[1].0.0]);
        return None;
    }
    let values = &args[1..1 + values(what)];
    let ordering = ordering(e, what, generation, &args[1 + values.len()..]);
    let scalar = component(e, pointer_ty);
    if scalar.is_integer() && scalar.bits() == 64 {
        e.module.capability(capability::INT64_ATOMICS);
    }
    let Ordering {
        scope, semantics, ..
    } = ordering;
    let mut operands = vec![pointer.0, scope.0, semantics.0];
    match what {
        AtomicOp::Store => {
            operands.push(values[0].0.0);
            e.push(op::ATOMIC_STORE, &operands);
            None
        }
        AtomicOp::FlagClear => {
            e.push(op::ATOMIC_FLAG_CLEAR, &operands);
            None
        }
        AtomicOp::FlagTestAndSet => {
            let set = e.value(op::ATOMIC_FLAG_TEST_AND_SET, Types::TRUTH, &operands);
            Some(e.truth_as(set, ty))
        }
        AtomicOp::CompareExchange => {
            let (expected, desired) = (values[0].0, values[1].0);
            let place = (pointer, ty);
            Some(compare_exchange(e, place, &ordering, desired, expected))
        }
        AtomicOp::CompareExchangeBool => {
            let exchange = Exchange {
                pointer: args[0],
                expected: values[0],
                desired: values[1],
                scalar,
            };
            Some(exchange.emit(e, &ordering, ty))
        }
        _ => {
            if let Some(&(value, of)) = values.first() {
                operands.push(operand(e, what, scalar, value, of).0);
            }
            let opcode = opcode(what, scalar);
            float_capability(e, opcode, scalar);
            Some(e.value(opcode, ty, &operands))
        }
    }
}

/// Arguments between the pointer and the order.
fn values(what: AtomicOp) -> usize {
    match what {
        AtomicOp::Load
        | AtomicOp::Inc
        | AtomicOp::Dec
        | AtomicOp::FlagTestAndSet
        | AtomicOp::FlagClear => 0,
        AtomicOp::CompareExchange | AtomicOp::CompareExchangeBool => 2,
        _ => 1,
    }
}

/// The arguments after the values are orders and a scope; what is left out is by the generation.
fn ordering(
    e: &mut FunctionEmitter<'_, '_>,
    what: AtomicOp,
    generation: Generation,
    given: Args<'_>,
) -> Ordering {
    let device = super::scope(e, scope::DEVICE);
    let same = |e: &mut FunctionEmitter<'_, '_>, semantics: u32| {
        let semantics = e.module.int(Types::UINT, semantics.into());
        Ordering {
            scope: device,
            semantics,
            failure: semantics,
        }
    };
    match generation {
        Generation::Relaxed => same(e, 0),
        Generation::Consistent => same(e, semantics::SEQUENTIALLY_CONSISTENT),
        Generation::Order | Generation::OrderAndScope => {
            let semantics = memory_model::order(e, given[0].0);
            let (failure, rest) = match what {
                AtomicOp::CompareExchangeBool => {
                    (memory_model::failure_order(e, given[1].0), &given[2..])
                }
                _ => (semantics, &given[1..]),
            };
            let scope = match rest.first() {
                Some(&(scope, _)) => memory_model::scope(e, scope),
                None => device,
            };
            Ordering {
                scope,
                semantics,
                failure,
            }
        }
    }
}

/// The type of what a pointer to a plain or atomic scalar points to.
fn component(e: &FunctionEmitter<'_, '_>, pointer: TypeId) -> Scalar {
    let pointee = e.pointee(pointer);
    match *e.module.types.get(pointee) {
        Type::Atomic(inner) => e.scalar(inner),
        _ => e.scalar(pointee),
    }
}

/// Subtraction of floating-point numbers is addition of what is opposite.
fn operand(
    e: &mut FunctionEmitter<'_, '_>,
    what: AtomicOp,
    scalar: Scalar,
    value: Id,
    ty: TypeId,
) -> Id {
    if what == AtomicOp::Sub && scalar.is_float() {
        e.value(op::F_NEGATE, ty, &[value.0])
    } else {
        value
    }
}

fn opcode(what: AtomicOp, scalar: Scalar) -> u16 {
    let (float, signed) = (scalar.is_float(), scalar.is_signed());
    match what {
        AtomicOp::Load => op::ATOMIC_LOAD,
        AtomicOp::Exchange => op::ATOMIC_EXCHANGE,
        AtomicOp::Add | AtomicOp::Sub if float => op::ATOMIC_F_ADD_EXT,
        AtomicOp::Add => op::ATOMIC_I_ADD,
        AtomicOp::Sub => op::ATOMIC_I_SUB,
        AtomicOp::Inc => op::ATOMIC_I_INCREMENT,
        AtomicOp::Dec => op::ATOMIC_I_DECREMENT,
        AtomicOp::Min if float => op::ATOMIC_F_MIN_EXT,
        AtomicOp::Min if signed => op::ATOMIC_S_MIN,
        AtomicOp::Min => op::ATOMIC_U_MIN,
        AtomicOp::Max if float => op::ATOMIC_F_MAX_EXT,
        AtomicOp::Max if signed => op::ATOMIC_S_MAX,
        AtomicOp::Max => op::ATOMIC_U_MAX,
        AtomicOp::And => op::ATOMIC_AND,
        AtomicOp::Or => op::ATOMIC_OR,
        AtomicOp::Xor => op::ATOMIC_XOR,
        AtomicOp::Init
        | AtomicOp::Store
        | AtomicOp::CompareExchange
        | AtomicOp::CompareExchangeBool
        | AtomicOp::FlagTestAndSet
        | AtomicOp::FlagClear => unreachable!("{what:?} is no read-modify-write of one value"),
    }
}

/// Declares what brings the atomic arithmetic of floating-point numbers.
fn float_capability(e: &mut FunctionEmitter<'_, '_>, opcode: u16, scalar: Scalar) {
    let is_add = opcode == op::ATOMIC_F_ADD_EXT;
    if !is_add && opcode != op::ATOMIC_F_MIN_EXT && opcode != op::ATOMIC_F_MAX_EXT {
        return;
    }
    e.module.capability(match (is_add, scalar) {
        (true, Scalar::Half) => capability::ATOMIC_FLOAT16_ADD_EXT,
        (true, Scalar::Double) => capability::ATOMIC_FLOAT64_ADD_EXT,
        (true, _) => capability::ATOMIC_FLOAT32_ADD_EXT,
        (false, Scalar::Half) => capability::ATOMIC_FLOAT16_MIN_MAX_EXT,
        (false, Scalar::Double) => capability::ATOMIC_FLOAT64_MIN_MAX_EXT,
        (false, _) => capability::ATOMIC_FLOAT32_MIN_MAX_EXT,
    });
    e.module.extension(match (is_add, scalar) {
        (true, Scalar::Half) => "SPV_EXT_shader_atomic_float16_add",
        (true, _) => "SPV_EXT_shader_atomic_float_add",
        (false, _) => "SPV_EXT_shader_atomic_float_min_max",
    });
}

/// The value that was there.
fn compare_exchange(
    e: &mut FunctionEmitter<'_, '_>,
    (pointer, ty): (Id, TypeId),
    ordering: &Ordering,
    desired: Id,
    expected: Id,
) -> Id {
    let Ordering {
        scope,
        semantics,
        failure,
    } = ordering;
    let operands = [
        pointer.0,
        scope.0,
        semantics.0,
        failure.0,
        desired.0,
        expected.0,
    ];
    e.value(op::ATOMIC_COMPARE_EXCHANGE, ty, &operands)
}

/// `atomic_compare_exchange_strong` and its kind. Weak ones may fail for no reason, and need not.
struct Exchange {
    pointer: (Id, TypeId),
    expected: (Id, TypeId),
    desired: (Id, TypeId),
    scalar: Scalar,
}

impl Exchange {
    /// Whether the value was as expected; otherwise what it was is the expected value from now on.
    fn emit(self, e: &mut FunctionEmitter<'_, '_>, ordering: &Ordering, ty: TypeId) -> Id {
        let Exchange {
            pointer,
            expected,
            desired,
            scalar,
        } = self;
        // "As if by memcmp": of floating-point numbers the bits are compared.
        let bits = e.module.types.scalar(if scalar.is_float() {
            Scalar::integer(scalar.bits(), false)
        } else {
            scalar
        });
        let place = pointer_to_bits(e, pointer, bits);
        let expectation = pointer_to_bits(e, expected, bits);
        let desired = e.bits(desired.0, desired.1, bits);
        let wanted = e.value(op::LOAD, bits, &[expectation.0]);
        let found = compare_exchange(e, (place, bits), ordering, desired, wanted);
        let same = e.value(op::I_EQUAL, Types::TRUTH, &[found.0, wanted.0]);
        let is_private = e.space_of(expected.1) == Space::Private;
        if is_private {
            // Nobody sees that what is there already is written again.
            e.push(op::STORE, &[expectation.0, found.0]);
        } else {
            let (differs, after) = (e.module.words.id(), e.module.words.id());
            e.branch_if(same, after, differs);
            e.begin(differs);
            e.push(op::STORE, &[expectation.0, found.0]);
            e.branch(after);
            e.begin(after);
        }
        e.truth_as(same, ty)
    }
}

fn pointer_to_bits(
    e: &mut FunctionEmitter<'_, '_>,
    (pointer, ty): (Id, TypeId),
    bits: TypeId,
) -> Id {
    let space = e.space_of(ty);
    let to = e.module.types.pointer(bits.into(), space);
    e.bitcast(pointer, ty, to)
}
