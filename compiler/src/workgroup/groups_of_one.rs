//! Work-groups of one work-item each, as work-items like any others.
//!
//! A launch may ask for a local size of 1 and yet have barriers and work-group memory, in code that
//! was written for larger groups. Alone in its group, a work-item waits for nobody and shares
//! nothing: a barrier orders memory at most, and work-group variables are as good as private.
//! Without them a kernel cannot tell in which group it runs, so that many such groups run together
//! as one, W of them in a vector.
//!
//! Cost: linear.

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use super::subgroups;
use crate::ir::{
    Atomic, BinOp, Builder, DimQuery, Function, Inst, Mem, Op, ParamSource, Query, Scope, Type,
    Value, Wrap,
};
use crate::kernel_info::AddressSpace;
use crate::transform::promote_scalarized;

/// Bytes of work-group variables that each work-item may have for itself: what a vector of them
/// takes is to stay in a cache.
const MOST_BYTES: u64 = 8192;

/// The kernel for groups of one work-item, which depends on groups no more; `None` if work-items
/// are not all that it would have to know of.
pub fn of_one_item(kernel: &Function, params: &[ParamSource]) -> Option<Function> {
    let bytes: u64 = kernel.locals.values().map(|local| local.size).sum();
    let shares = |param: &ParamSource| matches!(param, ParamSource::Local { .. });
    if bytes > MOST_BYTES || params.iter().any(shares) || subgroups::any(kernel, needs_group) {
        return None;
    }
    let mut func = kernel.clone();
    let entry = func.entry();
    let mut variables = Vec::with_capacity(func.locals.len());
    for local in std::mem::replace(&mut func.locals, PrimaryMap::new()).values() {
        let op = Op::Alloca {
            size: local.size.max(1) as u32,
            align: local.align,
            interleaving: None,
        };
        let inst = func.make_inst(op, &[], &[Type::PTR], Default::default());
        func.blocks[entry].insts.insert(0, inst);
        variables.push(func.insts[inst].results[0]);
    }
    let mut replaced: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    for block in func.layout.clone() {
        let insts = std::mem::take(&mut func.blocks[block].insts);
        let mut b = Builder::new(&mut func, block);
        for inst in insts {
            b.loc = b.func.insts[inst].loc;
            let result = b.func.insts[inst].results.first().copied();
            match (&b.func.insts[inst].op, result) {
                (Op::LocalAddr(local), Some(result)) => {
                    replaced[result] = variables[local.index()].into();
                    continue;
                }
                (Op::Barrier(fence), _) if fence.scope == Scope::WorkGroup => continue,
                _ => {}
            }
            if let Some((op, args)) = alone(&mut b, inst) {
                let data = &mut b.func.insts[inst];
                (data.op, data.args) = (op, args);
            }
            b.func.blocks[block].insts.push(inst);
        }
    }
    func.replace_uses(&replaced);
    promote_scalarized(&mut func);
    Some(func)
}

/// Whether an operation is about more of a group than that it has one work-item.
fn needs_group(op: &Op) -> bool {
    match op {
        Op::Query(query) => !matches!(
            query,
            Query::WorkDim | Query::GlobalLinearId | Query::LocalLinearId
        ),
        Op::AtomicRmw(_, Atomic { space, .. })
        | Op::AtomicCmpXchg(Atomic { space, .. })
        | Op::AtomicLoad(Atomic { space, .. })
        | Op::AtomicStore(Atomic { space, .. }) => *space == AddressSpace::Local,
        Op::NamedBarrier(_)
        | Op::Collective { .. }
        | Op::InSpace(_)
        | Op::Device { .. }
        | Op::CallFunction(_) => true,
        _ => false,
    }
}

/// What an instruction is in a group of one, if that is something else.
fn alone(b: &mut Builder<'_>, inst: Inst) -> Option<(Op, SmallVec<[Value; 4]>)> {
    let data = b.func.insts[inst].clone();
    let private = |mem: Mem| Mem {
        space: match mem.space {
            AddressSpace::Local => AddressSpace::Private,
            space => space,
        },
        ..mem
    };
    let op = match data.op {
        Op::Load(mem) => Op::Load(private(mem)),
        Op::Store(mem) => Op::Store(private(mem)),
        Op::Barrier(fence) => Op::Fence(fence),
        Op::DimQuery(DimQuery::LocalId, _) | Op::Query(Query::LocalLinearId) => Op::Const(0),
        Op::DimQuery(DimQuery::LocalSize | DimQuery::EnqueuedLocalSize, _) => Op::Const(1),
        Op::DimQuery(DimQuery::NumGroups, d) => Op::DimQuery(DimQuery::GlobalSize, d),
        Op::DimQuery(DimQuery::GroupId, d) => {
            let [id, first] = [DimQuery::GlobalId, DimQuery::GlobalOffset]
                .map(|query| b.val(Op::DimQuery(query, d), &[], Type::I64));
            let group = Op::Binary(BinOp::ISub, Wrap::default());
            return Some((group, SmallVec::from_slice(&[id, first])));
        }
        _ => return None,
    };
    Some((op, data.args))
}

#[cfg(test)]
mod tests {
    use super::of_one_item;
    use crate::ir::{ParamSource, parse};
    use crate::workgroup::depends_on_groups;

    fn alone(instruction: &str, param: ParamSource) -> Option<String> {
        let text = format!(
            "func \"k\" (ptr) -> () {{
              local l0 \"shared\" size 64 align 4
            block0(p: ptr):
              id: i64 = dim_query.global_id.0
              four: i64 = const 4
              offset: i64 = imul id, four
              own: ptr = ptr_add p, offset
              shared: ptr = local_addr l0
              one: i32 = const 1
              store.local.align4 shared, one
              barrier.workgroup.acqrel.local.global
              {instruction}
              y: i32 = load.local.align4 shared
              store.global.align4 own, y
              ret
            }}"
        );
        let module = parse::module(&text).expect("a module");
        let (_, kernel) = module.functions.iter().next().expect("a function");
        let func = of_one_item(kernel, &[param])?;
        assert!(!depends_on_groups(&func, &[param]), "{func}");
        Some(func.to_string())
    }

    #[test]
    fn a_group_of_one_waits_for_nobody() {
        let param = ParamSource::Value { offset: 0 };
        for instruction in [
            "",
            "x: i64 = dim_query.group_id.0",
            "x: i64 = dim_query.local_size.1",
            "x: i64 = query.local_linear_id",
            "barrier.workgroup.acqrel.global",
        ] {
            let text = alone(instruction, param).expect("only work-items are asked about");
            assert!(
                !text.contains("barrier") && !text.contains("local"),
                "{text}"
            );
        }
    }

    #[test]
    fn what_else_groups_do_needs_them() {
        let param = ParamSource::Value { offset: 0 };
        for instruction in [
            "x: i64 = query.subgroup_local_id",
            "x: i32 = collective.workgroup.reduce.iadd one",
            "x: i32 = atomic_rmw.add.local.workgroup.acqrel shared, one",
        ] {
            assert!(alone(instruction, param).is_none(), "{instruction}");
        }
        assert!(alone("", ParamSource::Local { offset: 0 }).is_none());
    }
}
