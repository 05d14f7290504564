//! OpenCL C Specification, "Work-group Collective Functions", "Work-group Collective Uniform
//! Arithmetic Functions".

use super::super::lowering;
use super::{Group, Lowering, Over, Row, group, row};
use crate::spirv::{group_operation, op, scope};
use crate::types::Scalar::{Double, Float, Half, Int, Long, UInt, ULong};

pub(super) const NUMBERS: Over =
    super::over(&[Int, UInt, Long, ULong, Half, Float, Double]).scalar();
pub(super) const INTEGERS: Over = super::over(&[Int, UInt, Long, ULong]).scalar();

pub(super) const fn collective(
    name: &'static str,
    over: Over,
    signature: &'static str,
    scope: u32,
    function: lowering::Group,
) -> Row {
    row(name, over, signature, Lowering::Group { scope, function })
}

/// A reduction and the two scans by one operation.
macro_rules! three {
    ($prefix:literal, $operation:literal, $over:expr, $signature:literal, $scope:expr,
        |$number:ident| $function:expr) => {
        [
            {
                let $number = group_operation::REDUCE;
                collective(
                    concat!($prefix, "reduce_", $operation),
                    $over,
                    $signature,
                    $scope,
                    $function,
                )
            },
            {
                let $number = group_operation::INCLUSIVE_SCAN;
                collective(
                    concat!($prefix, "scan_inclusive_", $operation),
                    $over,
                    $signature,
                    $scope,
                    $function,
                )
            },
            {
                let $number = group_operation::EXCLUSIVE_SCAN;
                collective(
                    concat!($prefix, "scan_exclusive_", $operation),
                    $over,
                    $signature,
                    $scope,
                    $function,
                )
            },
        ]
    };
}
pub(super) use three;

pub(super) const fn arithmetic(opcodes: [u16; 3], operation: u32) -> lowering::Group {
    lowering::Group::Arithmetic { opcodes, operation }
}

const fn logical(opcode: u16, operation: u32) -> lowering::Group {
    lowering::Group::Logical { opcode, operation }
}

pub(super) const ADD: [u16; 3] = [op::GROUP_I_ADD, op::GROUP_I_ADD, op::GROUP_F_ADD];
pub(super) const MIN: [u16; 3] = [op::GROUP_S_MIN, op::GROUP_U_MIN, op::GROUP_F_MIN];
pub(super) const MAX: [u16; 3] = [op::GROUP_S_MAX, op::GROUP_U_MAX, op::GROUP_F_MAX];
const MUL: [u16; 3] = [
    op::GROUP_I_MUL_KHR,
    op::GROUP_I_MUL_KHR,
    op::GROUP_F_MUL_KHR,
];

const WG: u32 = scope::WORKGROUP;

const VOTES: &[Row] = &[
    collective(
        "work_group_all",
        Over::ONE,
        "int int",
        WG,
        lowering::Group::All,
    ),
    collective(
        "work_group_any",
        Over::ONE,
        "int int",
        WG,
        lowering::Group::Any,
    ),
    collective(
        "work_group_broadcast",
        NUMBERS,
        "S S size",
        WG,
        lowering::Group::Broadcast,
    ),
    collective(
        "work_group_broadcast",
        NUMBERS,
        "S S size size",
        WG,
        lowering::Group::Broadcast,
    ),
    collective(
        "work_group_broadcast",
        NUMBERS,
        "S S size size size",
        WG,
        lowering::Group::Broadcast,
    ),
];

const ADDS: &[Row] = &three!("work_group_", "add", NUMBERS, "S S", WG, |n| arithmetic(
    ADD, n
));
const MINS: &[Row] = &three!("work_group_", "min", NUMBERS, "S S", WG, |n| arithmetic(
    MIN, n
));
const MAXS: &[Row] = &three!("work_group_", "max", NUMBERS, "S S", WG, |n| arithmetic(
    MAX, n
));
const MULS: &[Row] = &three!("work_group_", "mul", NUMBERS, "S S", WG, |n| arithmetic(
    MUL, n
));
const ANDS: &[Row] = &three!("work_group_", "and", INTEGERS, "S S", WG, |n| arithmetic(
    [op::GROUP_BITWISE_AND_KHR; 3],
    n
));
const ORS: &[Row] = &three!("work_group_", "or", INTEGERS, "S S", WG, |n| arithmetic(
    [op::GROUP_BITWISE_OR_KHR; 3],
    n
));
const XORS: &[Row] = &three!("work_group_", "xor", INTEGERS, "S S", WG, |n| arithmetic(
    [op::GROUP_BITWISE_XOR_KHR; 3],
    n
));
const LOGICAL_ANDS: &[Row] = &three!(
    "work_group_",
    "logical_and",
    Over::ONE,
    "int int",
    WG,
    |n| logical(op::GROUP_LOGICAL_AND_KHR, n)
);
const LOGICAL_ORS: &[Row] = &three!("work_group_", "logical_or", Over::ONE, "int int", WG, |n| {
    logical(op::GROUP_LOGICAL_OR_KHR, n)
});
const LOGICAL_XORS: &[Row] = &three!(
    "work_group_",
    "logical_xor",
    Over::ONE,
    "int int",
    WG,
    |n| logical(op::GROUP_LOGICAL_XOR_KHR, n)
);

const COLLECTIVE: &str = "__opencl_c_work_group_collective_functions";
const UNIFORM: &str = "cl_khr_work_group_uniform_arithmetic";

pub const GROUPS: &[Group] = &[
    group(COLLECTIVE, VOTES),
    group(COLLECTIVE, ADDS),
    group(COLLECTIVE, MINS),
    group(COLLECTIVE, MAXS),
    group(UNIFORM, MULS),
    group(UNIFORM, ANDS),
    group(UNIFORM, ORS),
    group(UNIFORM, XORS),
    group(UNIFORM, LOGICAL_ANDS),
    group(UNIFORM, LOGICAL_ORS),
    group(UNIFORM, LOGICAL_XORS),
];
