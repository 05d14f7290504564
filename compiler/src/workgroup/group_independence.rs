//! Whether a kernel can tell in which work-groups its work-items run.
//!
//! One that cannot does the same whatever the local size is, so that a launch may take the local
//! size that suits the machine in place of the one that it was given. Cost: linear.

use super::subgroups;
use crate::ir::{DimQuery, Function, Op, ParamSource, Query, Scope};

/// Whether a kernel's results may depend on which work-items are a work-group: it asks about
/// groups, its work-items wait for one another or do something together, they share local memory,
/// or memory is ordered for those of a group alone.
pub fn depends_on_groups(kernel: &Function, params: &[ParamSource]) -> bool {
    let narrow = |scope: Scope| !matches!(scope, Scope::Device | Scope::AllDevices);
    let observes = |op: &Op| match op {
        Op::DimQuery(query, _) => !matches!(
            query,
            DimQuery::GlobalId | DimQuery::GlobalSize | DimQuery::GlobalOffset
        ),
        Op::Query(query) => !matches!(query, Query::WorkDim | Query::GlobalLinearId),
        // What a kernel enqueues may wait for its work-group. What functions order is not asked.
        Op::Barrier(_)
        | Op::NamedBarrier(_)
        | Op::Collective { .. }
        | Op::Device { .. }
        | Op::CallFunction(_) => true,
        Op::Fence(fence) => narrow(fence.scope),
        Op::AtomicRmw(_, atomic)
        | Op::AtomicCmpXchg(atomic)
        | Op::AtomicLoad(atomic)
        | Op::AtomicStore(atomic) => narrow(atomic.scope),
        _ => false,
    };
    let shares = |param: &ParamSource| matches!(param, ParamSource::Local { .. });
    !kernel.locals.is_empty() || params.iter().any(shares) || subgroups::any(kernel, observes)
}

/// Whether a function asks for nothing beyond the first dimension.
pub fn is_along_x(function: &Function) -> bool {
    !subgroups::any(
        function,
        |op| matches!(op, Op::DimQuery(_, dimension) if *dimension > 0),
    )
}

#[cfg(test)]
mod tests {
    use super::depends_on_groups;
    use crate::ir::{ParamSource, parse};

    fn observes(head: &str, instruction: &str, param: ParamSource) -> bool {
        let text = format!(
            "func \"k\" (ptr) -> () {{ {head}
            block0(p: ptr):
              one: i32 = const 1
              {instruction}
              ret
            }}"
        );
        let module = parse::module(&text).expect("a module");
        let (_, kernel) = module.functions.iter().next().expect("a function");
        depends_on_groups(kernel, &[param])
    }

    #[test]
    fn kernels_that_know_only_the_index_space_do_not() {
        for instruction in [
            "x: i64 = dim_query.global_id.1",
            "x: i64 = dim_query.global_size.0",
            "x: i64 = dim_query.global_offset.2",
            "x: i64 = query.global_linear_id",
            "x: i64 = query.work_dim",
            "x: i32 = atomic_rmw.add.global.device.relaxed p, one",
            "x: i32 = atomic_rmw.add.global.system.acqrel p, one",
            "fence.device.acqrel.global",
        ] {
            let param = ParamSource::Value { offset: 0 };
            assert!(!observes("", instruction, param), "{instruction}");
        }
    }

    #[test]
    fn kernels_that_ask_wait_or_share_do() {
        for instruction in [
            "x: i64 = dim_query.local_id.0",
            "x: i64 = dim_query.group_id.0",
            "x: i64 = dim_query.local_size.0",
            "x: i64 = dim_query.enqueued_local_size.0",
            "x: i64 = dim_query.num_groups.0",
            "x: i64 = query.local_linear_id",
            "x: i64 = query.subgroup_local_id",
            "barrier.workgroup.acqrel.global",
            "x: i32 = collective.workgroup.reduce.iadd one",
            "x: i32 = atomic_rmw.add.global.workgroup.acqrel p, one",
            "fence.workgroup.acqrel.global",
            "x: i64 = device.create_user_event",
        ] {
            let param = ParamSource::Value { offset: 0 };
            assert!(observes("", instruction, param), "{instruction}");
        }
        let shared = ParamSource::Local { offset: 0 };
        assert!(observes("", "", shared));
    }
}
