//! OpenCL C Specification, "Work-Item Functions".

use super::{Group, Lowering, Over, Row, group, row};
use crate::spirv::builtin;

const fn place(name: &'static str, number: u32, default: u64) -> Row {
    let lowering = Lowering::WorkItem {
        builtin: number,
        default,
    };
    row(name, Over::ONE, "size uint", lowering)
}

const ROWS: &[Row] = &[
    row(
        "get_work_dim",
        Over::ONE,
        "uint",
        Lowering::Variable(builtin::WORK_DIM),
    ),
    place("get_global_size", builtin::GLOBAL_SIZE, 1),
    place("get_global_id", builtin::GLOBAL_INVOCATION_ID, 0),
    place("get_local_size", builtin::WORKGROUP_SIZE, 1),
    place("get_local_id", builtin::LOCAL_INVOCATION_ID, 0),
    place("get_num_groups", builtin::NUM_WORKGROUPS, 1),
    place("get_group_id", builtin::WORKGROUP_ID, 0),
];

const OFFSET: &[Row] = &[place("get_global_offset", builtin::GLOBAL_OFFSET, 0)];

const LINEAR: &[Row] = &[
    place(
        "get_enqueued_local_size",
        builtin::ENQUEUED_WORKGROUP_SIZE,
        1,
    ),
    row(
        "get_global_linear_id",
        Over::ONE,
        "size",
        Lowering::Variable(builtin::GLOBAL_LINEAR_ID),
    ),
    row(
        "get_local_linear_id",
        Over::ONE,
        "size",
        Lowering::Variable(builtin::LOCAL_INVOCATION_INDEX),
    ),
];

const fn number(name: &'static str, number: u32) -> Row {
    row(name, Over::ONE, "uint", Lowering::Variable(number))
}

const SUB_GROUPS: &[Row] = &[
    number("get_sub_group_size", builtin::SUBGROUP_SIZE),
    number("get_max_sub_group_size", builtin::SUBGROUP_MAX_SIZE),
    number("get_num_sub_groups", builtin::NUM_SUBGROUPS),
    number("get_sub_group_id", builtin::SUBGROUP_ID),
    number(
        "get_sub_group_local_id",
        builtin::SUBGROUP_LOCAL_INVOCATION_ID,
    ),
];

const ENQUEUED_SUB_GROUPS: &[Row] = &[number(
    "get_enqueued_num_sub_groups",
    builtin::NUM_ENQUEUED_SUBGROUPS,
)];

pub const GROUPS: &[Group] = &[
    group("", ROWS),
    group("1.1", OFFSET),
    group("2.0", LINEAR),
    group("sub_groups", SUB_GROUPS),
    group("2.0&sub_groups", ENQUEUED_SUB_GROUPS),
];
