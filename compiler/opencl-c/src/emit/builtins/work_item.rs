//! Who a work-item is, by built-in variables: OpenCL C Specification, "Work-Item Functions"; OpenCL
//! SPIR-V Environment Specification, "Built-in Variables". And what time it is.

use super::scope;
use crate::emit::function::FunctionEmitter;
use crate::emit::words::Id;
use crate::spirv::{capability, op};
use crate::types::{TypeId, Types};

/// A component of a variable of three; what lies beyond the third is always the same.
pub(super) fn place(
    e: &mut FunctionEmitter<'_, '_>,
    builtin: u32,
    default: u64,
    dimension: Id,
    ty: TypeId,
) -> Id {
    let known = e.module.int_value(dimension);
    if known.is_some_and(|dimension| dimension >= 3) {
        return e.module.int(ty, default);
    }
    let scalar = e.scalar(ty);
    let vector = e.module.types.vector(scalar, 3);
    let all = variable(e, builtin, vector);
    if let Some(dimension) = known {
        return e.value(op::COMPOSITE_EXTRACT, ty, &[all.0, dimension as u32]);
    }
    let three = e.module.int(Types::UINT, 3);
    let exists = e.value(op::U_LESS_THAN, Types::TRUTH, &[dimension.0, three.0]);
    let component = e.value(op::VECTOR_EXTRACT_DYNAMIC, ty, &[all.0, dimension.0]);
    let default = e.module.int(ty, default);
    e.value(op::SELECT, ty, &[exists.0, component.0, default.0])
}

/// The value of a built-in variable.
pub(super) fn variable(e: &mut FunctionEmitter<'_, '_>, builtin: u32, ty: TypeId) -> Id {
    let pointer = e.module.builtin_variable(builtin, ty);
    e.value(op::LOAD, ty, &[pointer.0])
}

/// One of those that are masks of a sub-group's work-items.
pub(super) fn mask(e: &mut FunctionEmitter<'_, '_>, builtin: u32, ty: TypeId) -> Id {
    e.module.capability(capability::GROUP_NON_UNIFORM_BALLOT);
    variable(e, builtin, ty)
}

/// `clock_read_...`: the type says whether one number or two halves are wanted.
pub(super) fn clock(e: &mut FunctionEmitter<'_, '_>, of: u32, ty: TypeId) -> Id {
    e.module.capability(capability::SHADER_CLOCK_KHR);
    e.module.extension("SPV_KHR_shader_clock");
    let of = scope(e, of);
    e.value(op::READ_CLOCK_KHR, ty, &[of.0])
}
