//! Orders, scopes and fences of OpenCL C as SPIR-V's operands.
//!
//! They are constants where the program has constants, and computed where it has not: OpenCL C
//! Specification, "Restrictions" of "Order and Consistency" allows any expression.

use crate::emit::function::FunctionEmitter;
use crate::emit::words::Id;
use crate::spirv::{op, scope, semantics};
use crate::types::Types;

/// Of the enumeration `memory_scope`, by its values, four bits each.
const SCOPES: u64 = (scope::INVOCATION as u64)
    | (scope::WORKGROUP as u64) << 4
    | (scope::DEVICE as u64) << 8
    | (scope::CROSS_DEVICE as u64) << 12
    | (scope::SUBGROUP as u64) << 16;

/// The semantics that are the order `memory_order` says: `acquire`, which is 2, to `seq_cst` are
/// neighbouring bits, and `relaxed` is none.
fn order_bits(order: u64) -> u64 {
    1u64.checked_shl(order as u32).unwrap_or(0) >> 1
}

/// The storage classes that `CLK_..._MEM_FENCE` flags name.
fn fence_bits(flags: u64) -> u64 {
    let classes = [
        semantics::WORKGROUP_MEMORY,
        semantics::CROSS_WORKGROUP_MEMORY,
        semantics::IMAGE_MEMORY,
    ];
    let named = classes.iter().enumerate();
    named
        .filter(|(bit, _)| flags & 1 << bit != 0)
        .map(|(_, &class)| u64::from(class))
        .sum()
}

fn number(e: &mut FunctionEmitter<'_, '_>, value: u64) -> Id {
    e.module.int(Types::UINT, value)
}

fn uint(e: &mut FunctionEmitter<'_, '_>, opcode: u16, left: Id, right: Id) -> Id {
    e.value(opcode, Types::UINT, &[left.0, right.0])
}

/// A `memory_scope` as a scope.
pub(super) fn scope(e: &mut FunctionEmitter<'_, '_>, value: Id) -> Id {
    if let Some(value) = e.module.int_value(value) {
        let shift = (value as u32).saturating_mul(4);
        let scope = SCOPES.checked_shr(shift).unwrap_or(0) & 0xf;
        return number(e, scope);
    }
    let (all, bits, mask) = (number(e, SCOPES), number(e, 2), number(e, 0xf));
    let shift = uint(e, op::SHIFT_LEFT_LOGICAL, value, bits);
    let scope = uint(e, op::SHIFT_RIGHT_LOGICAL, all, shift);
    uint(e, op::BITWISE_AND, scope, mask)
}

/// A `memory_order` as memory semantics.
pub(super) fn order(e: &mut FunctionEmitter<'_, '_>, value: Id) -> Id {
    if let Some(value) = e.module.int_value(value) {
        return number(e, order_bits(value));
    }
    let one = number(e, 1);
    let bit = uint(e, op::SHIFT_LEFT_LOGICAL, one, value);
    uint(e, op::SHIFT_RIGHT_LOGICAL, bit, one)
}

/// The order of a compare-and-exchange that fails, which writes nothing: what a program says of
/// releasing has no meaning.
pub(super) fn failure_order(e: &mut FunctionEmitter<'_, '_>, value: Id) -> Id {
    let order = order(e, value);
    match e.module.int_value(order) {
        Some(order) if order == u64::from(semantics::RELEASE) => number(e, 0),
        Some(order) if order == u64::from(semantics::ACQUIRE_RELEASE) => {
            number(e, semantics::ACQUIRE.into())
        }
        _ => order,
    }
}

/// Memory semantics of an order, given as such, and of `cl_mem_fence_flags`.
pub(super) fn fence(e: &mut FunctionEmitter<'_, '_>, order: Id, flags: Id) -> Id {
    let known = e.module.int_value(order).zip(e.module.int_value(flags));
    if let Some((order, flags)) = known {
        return number(e, order | fence_bits(flags));
    }
    // The flags for local and global memory are as far apart as the semantics, that for images is
    // one bit further away.
    let (low, image) = (
        number(e, fence_bits(1) | fence_bits(2)),
        number(e, fence_bits(4)),
    );
    let (eight, nine) = (number(e, 8), number(e, 9));
    let near = uint(e, op::SHIFT_LEFT_LOGICAL, flags, eight);
    let near = uint(e, op::BITWISE_AND, near, low);
    let far = uint(e, op::SHIFT_LEFT_LOGICAL, flags, nine);
    let far = uint(e, op::BITWISE_AND, far, image);
    let classes = uint(e, op::BITWISE_OR, near, far);
    uint(e, op::BITWISE_OR, classes, order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_semantics() {
        let all = [
            (0, 0),
            (2, semantics::ACQUIRE),
            (3, semantics::RELEASE),
            (4, semantics::ACQUIRE_RELEASE),
            (5, semantics::SEQUENTIALLY_CONSISTENT),
        ];
        for (order, expected) in all {
            assert_eq!(order_bits(order), expected.into(), "memory_order {order}");
        }
    }

    #[test]
    fn fences_name_storage_classes() {
        assert_eq!(fence_bits(0), 0);
        assert_eq!(fence_bits(1), 0x100);
        assert_eq!(fence_bits(3), 0x300);
        assert_eq!(fence_bits(4), 0x800);
    }
}
