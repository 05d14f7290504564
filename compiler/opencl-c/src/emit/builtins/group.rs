//! What all work-items of a work-group or sub-group do together: OpenCL C Specification,
//! "Work-group Collective Functions", "Work-group Collective Uniform Arithmetic Functions",
//! "Sub-Group Functions".

use super::{Args, scope};
use crate::builtins::Group;
use crate::emit::function::FunctionEmitter;
use crate::emit::words::Id;
use crate::spirv::{capability, op};
use crate::types::{Scalar, TypeId, Types};

pub(super) fn emit(
    e: &mut FunctionEmitter<'_, '_>,
    of: u32,
    function: Group,
    args: Args<'_>,
    ty: TypeId,
) -> Id {
    e.module.capability(capability::GROUPS);
    let scope = scope(e, of);
    let (value, value_ty) = args[0];
    match function {
        Group::All => vote(e, op::GROUP_ALL, scope, args[0], ty),
        Group::Any => vote(e, op::GROUP_ANY, scope, args[0], ty),
        Group::Broadcast => {
            let place = work_item(e, &args[1..]);
            e.value(op::GROUP_BROADCAST, ty, &[scope.0, value.0, place.0])
        }
        Group::Arithmetic { opcodes, operation } => {
            let opcode = by_type(opcodes, e.scalar(value_ty));
            uniform_arithmetic(e, opcode);
            e.value(opcode, ty, &[scope.0, operation, value.0])
        }
        Group::Logical { opcode, operation } => {
            uniform_arithmetic(e, opcode);
            let predicate = e.truth_of(value, value_ty);
            let result = e.value(opcode, Types::TRUTH, &[scope.0, operation, predicate.0]);
            e.truth_as(result, ty)
        }
    }
}

/// Of the opcodes for signed integers, unsigned integers and floating-point numbers.
pub(super) fn by_type(opcodes: [u16; 3], scalar: Scalar) -> u16 {
    let [signed, unsigned, float] = opcodes;
    match scalar {
        _ if scalar.is_float() => float,
        _ if scalar.is_signed() => signed,
        _ => unsigned,
    }
}

fn vote(
    e: &mut FunctionEmitter<'_, '_>,
    opcode: u16,
    scope: Id,
    (value, of): (Id, TypeId),
    ty: TypeId,
) -> Id {
    let predicate = e.truth_of(value, of);
    let result = e.value(opcode, Types::TRUTH, &[scope.0, predicate.0]);
    e.truth_as(result, ty)
}

/// One number, or a vector of two or three.
fn work_item(e: &mut FunctionEmitter<'_, '_>, numbers: Args<'_>) -> Id {
    if let [(number, _)] = numbers {
        return *number;
    }
    let scalar = e.scalar(numbers[0].1);
    let vector = e.module.types.vector(scalar, numbers.len() as u8);
    e.value(op::COMPOSITE_CONSTRUCT, vector, &super::operands(numbers))
}

/// Declares what brings the instructions that the core does not have.
fn uniform_arithmetic(e: &mut FunctionEmitter<'_, '_>, opcode: u16) {
    if (op::GROUP_I_MUL_KHR..=op::GROUP_LOGICAL_XOR_KHR).contains(&opcode) {
        e.module
            .capability(capability::GROUP_UNIFORM_ARITHMETIC_KHR);
        e.module.extension("SPV_KHR_uniform_group_instructions");
    }
}
