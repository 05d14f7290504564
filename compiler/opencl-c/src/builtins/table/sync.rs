//! OpenCL C Specification, "Synchronization Functions", "Legacy Explicit Memory Fence Functions",
//! "Address Space Qualifier Functions". `cl_khr_subgroup_named_barrier` has no functions in OpenCL
//! C.

use super::super::lowering::Barrier;
use super::{Group, Lowering, Over, Row, group, row};
use crate::spirv::semantics;
use crate::types::Space;

const ONE: Over = Over::ONE;

const fn barrier(name: &'static str, signature: &'static str, what: Barrier) -> Row {
    row(name, ONE, signature, Lowering::Barrier(what))
}

const ROWS: &[Row] = &[
    barrier("barrier", "void uint", Barrier::WorkGroup),
    row(
        "mem_fence",
        ONE,
        "void uint",
        Lowering::Fence(semantics::ACQUIRE_RELEASE),
    ),
    row(
        "read_mem_fence",
        ONE,
        "void uint",
        Lowering::Fence(semantics::ACQUIRE),
    ),
    row(
        "write_mem_fence",
        ONE,
        "void uint",
        Lowering::Fence(semantics::RELEASE),
    ),
];

const BARRIERS: &[Row] = &[
    barrier("work_group_barrier", "void uint", Barrier::WorkGroup),
    barrier("work_group_barrier", "void uint int", Barrier::WorkGroup),
];

const SUB_GROUPS: &[Row] = &[
    barrier("sub_group_barrier", "void uint", Barrier::SubGroup),
    barrier("sub_group_barrier", "void uint int", Barrier::SubGroup),
];

/// Both in OpenCL C 1, too, those with a scope only where there are scopes.
const SPLIT: &[Row] = &[
    barrier(
        "intel_work_group_barrier_arrive",
        "void uint",
        Barrier::Arrive,
    ),
    barrier("intel_work_group_barrier_wait", "void uint", Barrier::Wait),
];
const SPLIT_SCOPED: &[Row] = &[
    barrier(
        "intel_work_group_barrier_arrive",
        "void uint int",
        Barrier::Arrive,
    ),
    barrier(
        "intel_work_group_barrier_wait",
        "void uint int",
        Barrier::Wait,
    ),
];

const SCOPED: &[Row] = &[row(
    "atomic_work_item_fence",
    ONE,
    "void uint int int",
    Lowering::ScopedFence,
)];

/// `const` pointers give `const` pointers, which `to_...` takes from the argument.
const SPACES: &[Row] = &[
    row(
        "to_global",
        ONE,
        "to_g Gkv*any",
        Lowering::ToSpace(Space::Global),
    ),
    row(
        "to_local",
        ONE,
        "to_l Gkv*any",
        Lowering::ToSpace(Space::Local),
    ),
    row(
        "to_private",
        ONE,
        "to_p Gkv*any",
        Lowering::ToSpace(Space::Private),
    ),
    row("get_fence", ONE, "uint Gkv*any", Lowering::GetFence),
];

pub const GROUPS: &[Group] = &[
    group("", ROWS),
    group("2.0", BARRIERS),
    group("cl_intel_split_work_group_barrier", SPLIT),
    group("2.0&cl_intel_split_work_group_barrier", SPLIT_SCOPED),
    group("sub_groups", SUB_GROUPS),
    group("2.0", SCOPED),
    group("__opencl_c_generic_address_space", SPACES),
];
