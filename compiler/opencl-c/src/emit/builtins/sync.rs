//! Barriers and fences, and what asks where a generic pointer points: OpenCL C Specification,
//! "Synchronization Functions", "Fence Functions", "Address Space Qualifier Functions".

use super::{Args, memory_model};
use crate::builtins::Barrier;
use crate::emit::function::FunctionEmitter;
use crate::emit::words::Id;
use crate::spirv::{capability, op, scope, semantics, storage};
use crate::types::{Space, TypeId, Types};

/// The flags, and perhaps a scope of memory; it is the group's otherwise.
pub(super) fn barrier(
    e: &mut FunctionEmitter<'_, '_>,
    barrier: Barrier,
    args: Args<'_>,
) -> Option<Id> {
    let execution = super::scope(
        e,
        match barrier {
            Barrier::WorkGroup | Barrier::Arrive | Barrier::Wait => scope::WORKGROUP,
            Barrier::SubGroup => scope::SUBGROUP,
        },
    );
    let memory = match args.get(1) {
        Some(&(scope, _)) => memory_model::scope(e, scope),
        None => execution,
    };
    let flags = args[0].0;
    let (opcode, order) = match barrier {
        Barrier::Arrive => (op::CONTROL_BARRIER_ARRIVE_INTEL, semantics::RELEASE),
        Barrier::Wait => (op::CONTROL_BARRIER_WAIT_INTEL, semantics::ACQUIRE),
        // Without flags it orders no memory.
        _ if e.module.int_value(flags) == Some(0) => (op::CONTROL_BARRIER, 0),
        _ => (op::CONTROL_BARRIER, semantics::SEQUENTIALLY_CONSISTENT),
    };
    if matches!(barrier, Barrier::Arrive | Barrier::Wait) {
        e.module.capability(capability::SPLIT_BARRIER_INTEL);
        e.module.extension("SPV_INTEL_split_barrier");
    }
    let order = e.module.int(Types::UINT, order.into());
    let semantics = memory_model::fence(e, order, flags);
    e.push(opcode, &[execution.0, memory.0, semantics.0]);
    None
}

/// `mem_fence` and its kind order memory for the work-group (OpenCL C Specification, "Legacy
/// Explicit Memory Fence Functions").
pub(super) fn fence(e: &mut FunctionEmitter<'_, '_>, order: u32, flags: Id) -> Option<Id> {
    let scope = super::scope(e, scope::WORKGROUP);
    let order = e.module.int(Types::UINT, order.into());
    let semantics = memory_model::fence(e, order, flags);
    e.push(op::MEMORY_BARRIER, &[scope.0, semantics.0]);
    None
}

/// `atomic_work_item_fence`: flags, order and scope.
pub(super) fn scoped_fence(e: &mut FunctionEmitter<'_, '_>, args: Args<'_>) -> Option<Id> {
    let order = memory_model::order(e, args[1].0);
    let semantics = memory_model::fence(e, order, args[0].0);
    let scope = memory_model::scope(e, args[2].0);
    e.push(op::MEMORY_BARRIER, &[scope.0, semantics.0]);
    None
}

/// Copies before the fence are done before copies after it begin
/// (`cl_khr_async_work_group_copy_fence`). SPIR-V has no such fence: a barrier, at which all
/// work-items meet anyway, orders what they copied.
pub(super) fn copy_fence(e: &mut FunctionEmitter<'_, '_>, flags: Id) -> Option<Id> {
    barrier(e, Barrier::WorkGroup, &[(flags, Types::UINT)])
}

/// `to_global` and its kind: null if the pointer points elsewhere.
pub(super) fn to_space(
    e: &mut FunctionEmitter<'_, '_>,
    space: Space,
    pointer: Id,
    ty: TypeId,
) -> Id {
    let class = match space {
        Space::Global => storage::CROSS_WORKGROUP,
        Space::Local => storage::WORKGROUP,
        _ => storage::FUNCTION,
    };
    e.value(op::GENERIC_CAST_TO_PTR_EXPLICIT, ty, &[pointer.0, class])
}

/// The flags are eight bits below the semantics that the pointer's memory has.
pub(super) fn get_fence(e: &mut FunctionEmitter<'_, '_>, pointer: Id, ty: TypeId) -> Id {
    let semantics = e.value(op::GENERIC_PTR_MEM_SEMANTICS, ty, &[pointer.0]);
    let eight = e.module.int(Types::UINT, 8);
    e.value(op::SHIFT_RIGHT_LOGICAL, ty, &[semantics.0, eight.0])
}
