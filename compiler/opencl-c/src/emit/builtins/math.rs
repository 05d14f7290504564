//! Functions of numbers, component by component: OpenCL C Specification, "Math Functions", "Integer
//! Functions", "Common Functions", "Geometric Functions", "Relational Functions".

use super::{Args, operands, plain_std};
use crate::emit::function::FunctionEmitter;
use crate::emit::words::Id;
use crate::spirv::op;
use crate::types::{TypeId, Types};

/// An instruction of OpenCL.std. Its operands all have as many components as the result; OpenCL C
/// lets some be scalars that stand for all (`clamp(v, 0.0f, 1.0f)`, `ldexp(v, 2)`).
pub(super) fn std(
    e: &mut FunctionEmitter<'_, '_>,
    instruction: u16,
    args: Args<'_>,
    ty: TypeId,
) -> Option<Id> {
    let lanes = e.lanes(ty);
    let wide: Vec<(Id, TypeId)> = args
        .iter()
        .map(|&(value, of)| match e.module.types.as_arithmetic(of) {
            Some((scalar, 1)) if lanes > 1 => {
                let vector = e.module.types.vector(scalar, lanes);
                (e.splat(value, vector), vector)
            }
            _ => (value, of),
        })
        .collect();
    plain_std(e, instruction, &wide, ty)
}

/// A core instruction that yields Booleans.
pub(super) fn test(e: &mut FunctionEmitter<'_, '_>, opcode: u16, args: Args<'_>, ty: TypeId) -> Id {
    let lanes = e.lanes(args[0].1);
    let truth = e.module.truth_type(lanes);
    let result = e.value_of(opcode, truth, &operands(args));
    e.truth_as(result, ty)
}

/// `any` and `all` look at each component's most significant bit.
pub(super) fn any_or_all(
    e: &mut FunctionEmitter<'_, '_>,
    opcode: u16,
    (value, of): (Id, TypeId),
    ty: TypeId,
) -> Id {
    let lanes = e.lanes(of);
    let (zero, truth) = (e.module.null(of), e.module.truth_type(lanes));
    let mut set = e.value_of(op::S_LESS_THAN, truth, &[value.0, zero.0]);
    if lanes > 1 {
        set = e.value(opcode, Types::TRUTH, &[set.0]);
    }
    e.truth_as(set, ty)
}

pub(super) fn dot(e: &mut FunctionEmitter<'_, '_>, args: Args<'_>, ty: TypeId) -> Id {
    let is_vector = e.lanes(args[0].1) > 1;
    let opcode = if is_vector { op::DOT } else { op::F_MUL };
    e.value(opcode, ty, &operands(args))
}
