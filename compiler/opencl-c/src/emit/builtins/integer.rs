//! Dot products of integers, fields of bits, and hints: OpenCL C Specification, "Integer Dot
//! Product", "Extended Bit Operations"; `cl_khr_expect_assume`.

use super::{Args, operands};
use crate::builtins::Signs;
use crate::emit::function::FunctionEmitter;
use crate::emit::words::Id;
use crate::spirv::{capability, op};
use crate::types::TypeId;

/// `PackedVectorFormat4x8Bit`
const PACKED_4X8_BIT: u32 = 0;

pub(super) fn dot(
    e: &mut FunctionEmitter<'_, '_>,
    kind: Signs,
    packed: bool,
    accumulate: bool,
    args: Args<'_>,
    ty: TypeId,
) -> Id {
    e.module.capability(capability::DOT_PRODUCT);
    e.module.capability(if packed {
        capability::DOT_PRODUCT_INPUT_4X8_BIT_PACKED
    } else {
        capability::DOT_PRODUCT_INPUT_4X8_BIT
    });
    let mut operands = operands(args);
    // Of mixed operands SPIR-V has the signed one first.
    if kind == Signs::UnsignedSigned {
        operands.swap(0, 1);
    }
    if packed {
        operands.push(PACKED_4X8_BIT);
    }
    let opcode = match (kind, accumulate) {
        (Signs::Signed, false) => op::S_DOT,
        (Signs::Signed, true) => op::S_DOT_ACC_SAT,
        (Signs::Unsigned, false) => op::U_DOT,
        (Signs::Unsigned, true) => op::U_DOT_ACC_SAT,
        (Signs::SignedUnsigned | Signs::UnsignedSigned, false) => op::SU_DOT,
        (Signs::SignedUnsigned | Signs::UnsignedSigned, true) => op::SU_DOT_ACC_SAT,
    };
    e.value(opcode, ty, &operands)
}

/// Insertion, extraction and reversal of bits.
pub(super) fn bits(e: &mut FunctionEmitter<'_, '_>, opcode: u16, args: Args<'_>, ty: TypeId) -> Id {
    e.module.capability(capability::BIT_INSTRUCTIONS);
    e.module.extension("SPV_KHR_bit_instructions");
    e.value(opcode, ty, &operands(args))
}

/// The value, which is probably the second argument.
pub(super) fn expect(e: &mut FunctionEmitter<'_, '_>, args: Args<'_>, ty: TypeId) -> Id {
    hints(e);
    e.value(op::EXPECT_KHR, ty, &operands(args))
}

pub(super) fn assume(e: &mut FunctionEmitter<'_, '_>, (condition, of): (Id, TypeId)) -> Option<Id> {
    hints(e);
    let condition = e.truth_of(condition, of);
    e.push(op::ASSUME_TRUE_KHR, &[condition.0]);
    None
}

fn hints(e: &mut FunctionEmitter<'_, '_>) {
    e.module.capability(capability::EXPECT_ASSUME_KHR);
    e.module.extension("SPV_KHR_expect_assume");
}
