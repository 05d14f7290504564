//! Sub-groups: the work-items of a chunk.
//!
//! A sub-group is as many work-items, consecutive in local linear order, as a vector has lanes; the
//! last one of a work-group may be smaller. So in a kernel that can tell, chunks must not end with
//! rows, and code in which work-items of a sub-group do something together must run for all of them
//! at once, also in a last, partial chunk.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

use super::ItemOrder;
use crate::ir::{
    BinOp, Block, Builder, DimQuery, Function, IntCC, Op, Query, Scope, Terminator, Type, Value,
};

pub(super) fn any(func: &Function, what: impl Fn(&Op) -> bool) -> bool {
    func.layout.iter().any(|&block| {
        let mut insts = func.blocks[block].insts.iter();
        insts.any(|&inst| what(&func.insts[inst].op))
    })
}

/// Whether work-items of a sub-group do something together.
pub(super) fn has_sub_group_operations(func: &Function) -> bool {
    any(func, |op| {
        matches!(
            op,
            Op::Collective {
                scope: Scope::SubGroup,
                ..
            }
        )
    })
}

/// Whether it makes a difference to a kernel which work-items are a sub-group.
pub fn uses_sub_groups(kernel: &Function) -> bool {
    let asks = |op: &Op| {
        matches!(
            op,
            Op::Query(
                Query::SubGroupSize
                    | Query::SubGroupMaxSize
                    | Query::NumSubGroups
                    | Query::SubGroupId
                    | Query::SubGroupLocalId
            )
        )
    };
    has_sub_group_operations(kernel) || any(kernel, asks)
}

/// The function for a chunk of which the first work-items exist: the others do nothing.
/// In rows, those of a row are meant.
pub(super) fn with_tail_mask(region: &Function, order: ItemOrder) -> Function {
    let mut func = region.clone();
    let (first, body, stop) = (func.entry(), func.add_block(), func.add_block());
    // Allocations stay in the entry block.
    let (stay, go): (Vec<_>, Vec<_>) = std::mem::take(&mut func.blocks[first].insts)
        .into_iter()
        .partition(|&inst| matches!(func.insts[inst].op, Op::Alloca { .. }));
    func.blocks[first].insts = stay;
    func.blocks[body].insts = go;
    let term = std::mem::replace(&mut func.blocks[first].term, Terminator::Unreachable);
    func.blocks[body].term = term;
    let mut b = Builder::new(&mut func, first);
    let x = |query| Op::DimQuery(query, 0);
    let (item, count) = match order {
        ItemOrder::Rows => (
            b.val(x(DimQuery::LocalId), &[], Type::I64),
            b.val(x(DimQuery::LocalSize), &[], Type::I64),
        ),
        ItemOrder::Flat => (
            b.val(Op::Query(Query::LocalLinearId), &[], Type::I64),
            group_size(&mut b),
        ),
    };
    let exists = b.icmp(IntCC::Ult, item, count);
    b.cond_br(exists, body, &[], stop, &[]);
    b.switch_to(stop);
    let results = b.func.results.clone();
    let zeros: Vec<Value> = results.iter().map(|&ty| b.iconst(ty, 0)).collect();
    b.ret(&zeros);
    func
}

/// The work-items of the group.
fn group_size(b: &mut Builder<'_>) -> Value {
    let [x, y, z] = [0, 1, 2].map(|d| b.val(Op::DimQuery(DimQuery::LocalSize, d), &[], Type::I64));
    let xy = b.binary(BinOp::IMul, x, y);
    b.binary(BinOp::IMul, xy, z)
}

/// Computes every id from the local linear id, so that work-items can run in its order, whatever
/// row they are in.
pub(super) fn flatten(kernel: &mut Function) {
    let mut replace: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    replace.resize(kernel.values.len());
    for block in kernel.layout.clone() {
        let insts = std::mem::take(&mut kernel.blocks[block].insts);
        for inst in insts {
            let data = &kernel.insts[inst];
            let result = data.results.first().copied();
            let new = match (&data.op, result) {
                (&Op::DimQuery(DimQuery::LocalId, d), Some(_)) => Some(local_id(kernel, block, d)),
                (&Op::DimQuery(DimQuery::GlobalId, d), Some(_)) => {
                    Some(global_id(kernel, block, d))
                }
                (Op::Query(Query::GlobalLinearId), Some(_)) => {
                    Some(global_linear_id(kernel, block))
                }
                _ => None,
            };
            match (new, result) {
                (Some(new), Some(old)) => {
                    replace.resize(kernel.values.len());
                    replace[old] = new.into();
                }
                _ => kernel.blocks[block].insts.push(inst),
            }
        }
    }
    replace.resize(kernel.values.len());
    kernel.replace_uses(&replace);
}

fn local_id(kernel: &mut Function, block: Block, d: u8) -> Value {
    let mut b = Builder::new(kernel, block);
    let item = b.val(Op::Query(Query::LocalLinearId), &[], Type::I64);
    let size = |b: &mut Builder<'_>, d| b.val(Op::DimQuery(DimQuery::LocalSize, d), &[], Type::I64);
    let x = size(&mut b, 0);
    if d == 0 {
        return b.binary(BinOp::URem, item, x);
    }
    let row = b.binary(BinOp::UDiv, item, x);
    let y = size(&mut b, 1);
    let op = if d == 1 { BinOp::URem } else { BinOp::UDiv };
    b.binary(op, row, y)
}

fn global_id(kernel: &mut Function, block: Block, d: u8) -> Value {
    let local = local_id(kernel, block, d);
    let mut b = Builder::new(kernel, block);
    let query = |b: &mut Builder<'_>, query| b.val(Op::DimQuery(query, d), &[], Type::I64);
    let group = query(&mut b, DimQuery::GroupId);
    let size = query(&mut b, DimQuery::EnqueuedLocalSize);
    let offset = query(&mut b, DimQuery::GlobalOffset);
    let start = b.binary(BinOp::IMul, group, size);
    let start = b.binary(BinOp::IAdd, start, offset);
    b.binary(BinOp::IAdd, start, local)
}

fn global_linear_id(kernel: &mut Function, block: Block) -> Value {
    let mut sum = None;
    for d in [2, 1, 0] {
        let id = global_id(kernel, block, d);
        let mut b = Builder::new(kernel, block);
        let offset = b.val(Op::DimQuery(DimQuery::GlobalOffset, d), &[], Type::I64);
        let id = b.binary(BinOp::ISub, id, offset);
        sum = Some(match sum {
            None => id,
            Some(sum) => {
                let size = b.val(Op::DimQuery(DimQuery::GlobalSize, d), &[], Type::I64);
                let scaled = b.binary(BinOp::IMul, sum, size);
                b.binary(BinOp::IAdd, scaled, id)
            }
        });
    }
    sum.expect("three dimensions")
}
