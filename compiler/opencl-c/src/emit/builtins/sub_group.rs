//! What a sub-group's active work-items do: the functions that extensions and OpenCL C 3.1 add to
//! "Sub-Group Functions", and `cl_intel_subgroups` with its kin.

use super::{Args, operands, scope};
use crate::emit::function::FunctionEmitter;
use crate::emit::words::Id;
use crate::spirv::{capability, group_operation, op, scope::SUBGROUP};
use crate::types::{Type, TypeId, Types};

/// The scope, perhaps a group operation, and the arguments.
pub(super) fn non_uniform(
    e: &mut FunctionEmitter<'_, '_>,
    opcode: u16,
    operation: Option<u32>,
    args: Args<'_>,
    ty: TypeId,
) -> Id {
    let mut all = head(e, opcode, operation);
    if opcode == op::GROUP_NON_UNIFORM_BALLOT {
        let (predicate, of) = args[0];
        all.push(e.truth_of(predicate, of).0);
    } else {
        all.extend(operands(args));
    }
    e.value(opcode, ty, &all)
}

/// Reductions and scans of truths, which OpenCL C has as `int`s; perhaps in clusters.
pub(super) fn logical(
    e: &mut FunctionEmitter<'_, '_>,
    opcode: u16,
    operation: u32,
    args: Args<'_>,
    ty: TypeId,
) -> Id {
    let mut all = head(e, opcode, Some(operation));
    let (predicate, of) = args[0];
    all.push(e.truth_of(predicate, of).0);
    all.extend(operands(&args[1..]));
    let result = e.value(opcode, Types::TRUTH, &all);
    e.truth_as(result, ty)
}

pub(super) fn vote(e: &mut FunctionEmitter<'_, '_>, opcode: u16, args: Args<'_>, ty: TypeId) -> Id {
    let mut all = head(e, opcode, None);
    // What is compared is a value, what is asked for all or any is a predicate.
    for &(value, of) in args {
        let is_predicate = opcode != op::GROUP_NON_UNIFORM_ALL_EQUAL;
        let value = if is_predicate {
            e.truth_of(value, of)
        } else {
            value
        };
        all.push(value.0);
    }
    let result = e.value(opcode, Types::TRUTH, &all);
    e.truth_as(result, ty)
}

/// Whether a bit of a ballot is set.
pub(super) fn ballot_test(
    e: &mut FunctionEmitter<'_, '_>,
    opcode: u16,
    args: Args<'_>,
    ty: TypeId,
) -> Id {
    let mut all = head(e, opcode, None);
    all.extend(operands(args));
    let result = e.value(opcode, Types::TRUTH, &all);
    e.truth_as(result, ty)
}

/// The operands that come first; declares what brings the instruction.
fn head(e: &mut FunctionEmitter<'_, '_>, opcode: u16, operation: Option<u32>) -> Vec<u32> {
    if opcode == op::GROUP_NON_UNIFORM_ROTATE_KHR {
        e.module.extension("SPV_KHR_subgroup_rotate");
    }
    e.module.capability(match opcode {
        op::GROUP_NON_UNIFORM_ELECT => capability::GROUP_NON_UNIFORM,
        op::GROUP_NON_UNIFORM_ALL..=op::GROUP_NON_UNIFORM_ALL_EQUAL => {
            capability::GROUP_NON_UNIFORM_VOTE
        }
        op::GROUP_NON_UNIFORM_BROADCAST..=op::GROUP_NON_UNIFORM_BALLOT_FIND_MSB => {
            capability::GROUP_NON_UNIFORM_BALLOT
        }
        op::GROUP_NON_UNIFORM_SHUFFLE | op::GROUP_NON_UNIFORM_SHUFFLE_XOR => {
            capability::GROUP_NON_UNIFORM_SHUFFLE
        }
        op::GROUP_NON_UNIFORM_SHUFFLE_UP | op::GROUP_NON_UNIFORM_SHUFFLE_DOWN => {
            capability::GROUP_NON_UNIFORM_SHUFFLE_RELATIVE
        }
        op::GROUP_NON_UNIFORM_ROTATE_KHR => capability::GROUP_NON_UNIFORM_ROTATE_KHR,
        _ if operation == Some(group_operation::CLUSTERED_REDUCE) => {
            capability::GROUP_NON_UNIFORM_CLUSTERED
        }
        _ => capability::GROUP_NON_UNIFORM_ARITHMETIC,
    });
    let mut operands = vec![scope(e, SUBGROUP).0];
    operands.extend(operation);
    operands
}

/// Of memory by a pointer, or of an image at coordinates.
pub(super) fn block_read(e: &mut FunctionEmitter<'_, '_>, args: Args<'_>, ty: TypeId) -> Id {
    let opcode = if of_image(e, args) {
        op::SUBGROUP_IMAGE_BLOCK_READ_INTEL
    } else {
        op::SUBGROUP_BLOCK_READ_INTEL
    };
    e.value(opcode, ty, &operands(args))
}

pub(super) fn block_write(e: &mut FunctionEmitter<'_, '_>, args: Args<'_>) -> Option<Id> {
    let opcode = if of_image(e, args) {
        op::SUBGROUP_IMAGE_BLOCK_WRITE_INTEL
    } else {
        op::SUBGROUP_BLOCK_WRITE_INTEL
    };
    e.push(opcode, &operands(args));
    None
}

/// `cl_intel_media_block_io`: the image, which is the last argument, comes first.
pub(super) fn media_block_read(e: &mut FunctionEmitter<'_, '_>, args: Args<'_>, ty: TypeId) -> Id {
    let operands = media_block(e, args);
    e.value(op::SUBGROUP_IMAGE_MEDIA_BLOCK_READ_INTEL, ty, &operands)
}

pub(super) fn media_block_write(e: &mut FunctionEmitter<'_, '_>, args: Args<'_>) -> Option<Id> {
    let operands = media_block(e, args);
    e.push(op::SUBGROUP_IMAGE_MEDIA_BLOCK_WRITE_INTEL, &operands);
    None
}

fn media_block(e: &mut FunctionEmitter<'_, '_>, args: Args<'_>) -> Vec<u32> {
    e.module
        .capability(capability::SUBGROUP_IMAGE_MEDIA_BLOCK_IO_INTEL);
    e.module.extension("SPV_INTEL_media_block_io");
    let mut operands = operands(args);
    operands.rotate_right(1);
    operands
}

/// `cl_intel_subgroup_buffer_prefetch`: a hint.
pub(super) fn block_prefetch(
    e: &mut FunctionEmitter<'_, '_>,
    args: Args<'_>,
    bytes: u8,
) -> Option<Id> {
    e.module
        .capability(capability::SUBGROUP_BUFFER_PREFETCH_INTEL);
    e.module.extension("SPV_INTEL_subgroup_buffer_prefetch");
    let bytes = e.module.int(Types::UINT, bytes.into());
    let operands = [args[0].0.0, bytes.0];
    e.push(op::SUBGROUP_BLOCK_PREFETCH_INTEL, &operands);
    None
}

/// Whether a block is one of an image; declares what brings the instruction.
fn of_image(e: &mut FunctionEmitter<'_, '_>, args: Args<'_>) -> bool {
    let of_image = matches!(e.module.types.get(args[0].1), Type::Image { .. });
    e.module.capability(match of_image {
        true => capability::SUBGROUP_IMAGE_BLOCK_IO_INTEL,
        false => capability::SUBGROUP_BUFFER_BLOCK_IO_INTEL,
    });
    e.module.extension("SPV_INTEL_subgroups");
    of_image
}
