//! OpenCL C Specification, "Miscellaneous Vector Functions", "printf", "Kernel Clock Functions";
//! `cl_khr_expect_assume` by clang's names.

use super::{Group, Lowering, Over, Row, group, row};
use crate::spirv::{scope, std};

const A: Over = Over::A.in_lanes(&[2, 4, 8, 16]);
const ONE: Over = Over::ONE;

const SHUFFLE: &[Row] = &[
    row("shuffle", A, "T X N", Lowering::Std(std::shuffle)),
    row("shuffle2", A, "T X X N", Lowering::Std(std::shuffle2)),
];

const PRINTF: &[Row] = &[row("printf", ONE, "int ck*char ...", Lowering::Printf)];

const fn clock(name: &'static str, scope: u32, hilo: bool) -> Row {
    let signature = if hilo { "uint2" } else { "ulong" };
    row(name, ONE, signature, Lowering::Clock { scope, hilo })
}

const DEVICE_CLOCK: &[Row] = &[
    clock("clock_read_device", scope::DEVICE, false),
    clock("clock_read_hilo_device", scope::DEVICE, true),
];
const WORK_GROUP_CLOCK: &[Row] = &[
    clock("clock_read_work_group", scope::WORKGROUP, false),
    clock("clock_read_hilo_work_group", scope::WORKGROUP, true),
];
const SUB_GROUP_CLOCK: &[Row] = &[
    clock("clock_read_sub_group", scope::SUBGROUP, false),
    clock("clock_read_hilo_sub_group", scope::SUBGROUP, true),
];

const EXPECT: &[Row] = &[
    row("__builtin_expect", ONE, "long long long", Lowering::Expect),
    row("__builtin_assume", ONE, "void bool", Lowering::Assume),
];

pub const GROUPS: &[Group] = &[
    group("", SHUFFLE),
    group("1.2", PRINTF),
    group("__opencl_c_kernel_clock_scope_device", DEVICE_CLOCK),
    group("__opencl_c_kernel_clock_scope_work_group", WORK_GROUP_CLOCK),
    group("__opencl_c_kernel_clock_scope_sub_group", SUB_GROUP_CLOCK),
    group("", EXPECT),
];
