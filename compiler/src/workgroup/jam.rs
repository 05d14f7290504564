//! Unroll-and-jam of the loops over work-items: the code for several chunks as one, which computes
//! once what is the same for all of them.
//!
//! A loop of the kernel's own that runs alike for a whole work-group, say over the inner dimension
//! of a product of matrices, loads what the chunks of a column have in common again for each of
//! them. Jammed, it loads that once, and its sums are independent of each other, so that none waits
//! for the one before. Chunks one above the other are jammed where a work-group has rows, chunks of
//! a row where it has only one.
//!
//! It may be done where chunks cannot tell. Work-items between two barriers run in any order, even
//! in turns, so that a load may be shared if nobody stores there; and no branch may depend on the
//! chunk. What has other effects than memory accesses is left alone.
//!
//! Cost: linear, times the depth of loops.

use std::fmt;

use cranelift_entity::SecondaryMap;

use super::ItemOrder;
use crate::analysis::{Cfg, max_pressure};
use crate::ir::{DimQuery, Function, Inst, InstData, Op, Query, Scalar, Terminator, Value};
use crate::launch::LaunchKey;
use crate::target::Target;

/// Sums that are enough to keep a processor busy: an addition takes four cycles on most of them,
/// and two begin in each.
const SUMS: u64 = 8;
/// Chunks that run together unless work-groups are known to have more rows, and the rows of a
/// work-group that has as many as it likes.
const ROWS: u8 = 4;
/// The most instructions of several chunks together.
const MOST_INSTRUCTIONS: usize = 1_000;
/// Instructions that one shared load pays for.
const WORTH: u64 = 16;
/// Registers left for what is not in the IR.
const RESERVED: u32 = 3;

/// Which chunks run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Chunks of a row, next to each other.
    Row,
    /// Those at the same place of rows next to each other.
    Column,
}

/// How a region's vector code is jammed.
#[derive(Clone, Debug)]
pub struct Jam {
    pub along: Along,
    /// How many chunks.
    pub chunks: u8,
    /// The values that differ from chunk to chunk.
    pub varies: SecondaryMap<Value, bool>,
}

/// How many rows a work-group should have, if that is all the same to the kernel: more than one
/// where a loop loads the same for all rows.
pub fn preferred_rows(kernel: &Function) -> u8 {
    let cfg = Cfg::new(kernel);
    let varies = varying(kernel, &cfg, Along::Column);
    let is_shared = |data: &InstData| {
        matches!(data.op, Op::Load(_)) && data.results.iter().all(|&r| !varies[r])
    };
    let mut in_loops = cfg.order.iter().filter(|&&b| cfg.loops.depth(b) > 0);
    let any = in_loops.any(|&block| {
        let mut insts = kernel.blocks[block].insts.iter();
        insts.any(|&inst| is_shared(&kernel.insts[inst]))
    });
    if any { ROWS } else { 1 }
}

impl fmt::Display for Jam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.along {
            Along::Row => "vectors of work-items",
            Along::Column => "rows of work-items",
        };
        let count = self.chunks;
        write!(
            f,
            "runs {count} {what} together: a loop loads the same for them"
        )
    }
}

/// Whether and how to jam the vector code of a region.
pub(super) fn plan(
    body: &Function,
    key: &LaunchKey,
    order: ItemOrder,
    target: &Target,
) -> Option<Jam> {
    // Chunks of a row, if it has several.
    if key.linear && key.row_is_chunk {
        return None;
    }
    let along = match key.linear || order == ItemOrder::Flat {
        true => Along::Row,
        false => Along::Column,
    };
    let cfg = Cfg::new(body);
    let varies = varying(body, &cfg, along);
    if !is_legal(body, &cfg, &varies) || !is_worthwhile(body, &cfg, &varies) {
        return None;
    }
    let insts = cfg.order.iter().flat_map(|&b| &body.blocks[b].insts);
    let is_own = |results: &[Value]| results.is_empty() || results.iter().any(|&r| varies[r]);
    let (own, shared): (Vec<Inst>, Vec<Inst>) =
        insts.partition(|&&i| is_own(&body.insts[i].results));
    let registers = |value: Value| {
        let ty = body.ty(value);
        match ty.is_scalar() || ty.scalar == Scalar::I1 {
            true => 0,
            false => u64::from(ty.bytes().div_ceil(target.vector_bytes)),
        }
    };
    let widest = varies.keys().filter(|&v| varies[v]).map(registers).max();
    let fits = |chunks: u8| {
        let of_all =
            |value: Value| registers(value) * if varies[value] { u64::from(chunks) } else { 1 };
        widest.unwrap_or(1) * u64::from(chunks) <= SUMS
            && shared.len() + own.len() * usize::from(chunks) <= MOST_INSTRUCTIONS
            && max_pressure(body, &cfg, of_all) <= u64::from(target.vector_registers - RESERVED)
    };
    let most = match along {
        Along::Column if key.eight_rows => 8,
        _ => ROWS,
    };
    let chunks = [most, 4, 2].into_iter().find(|&chunks| fits(chunks))?;
    Some(Jam {
        along,
        chunks,
        varies,
    })
}

/// The values that may differ from chunk to chunk.
fn varying(body: &Function, cfg: &Cfg, along: Along) -> SecondaryMap<Value, bool> {
    let mut varies: SecondaryMap<Value, bool> = SecondaryMap::with_capacity(body.values.len());
    // Only what comes back to the head of a loop takes another round.
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &block in &cfg.order {
            let data = &body.blocks[block];
            for &inst in &data.insts {
                let inst = &body.insts[inst];
                if is_of_chunk(&inst.op, along) || inst.args.iter().any(|&arg| varies[arg]) {
                    inst.results.iter().for_each(|&r| varies[r] = true);
                }
            }
            for call in data.term.targets() {
                let params = &body.blocks[call.block].params;
                for (&arg, &param) in call.args.iter().zip(params) {
                    if varies[arg] && !varies[param] {
                        varies[param] = true;
                        changed = true;
                    }
                }
            }
        }
    }
    varies
}

/// Whether an operation without operands gives each chunk something else.
fn is_of_chunk(op: &Op, along: Along) -> bool {
    match op {
        Op::DimQuery(DimQuery::GlobalId | DimQuery::LocalId, dim) => match along {
            Along::Row => *dim == 0,
            Along::Column => *dim == 1,
        },
        Op::Query(query) => matches!(
            query,
            Query::GlobalLinearId
                | Query::LocalLinearId
                | Query::SubGroupId
                | Query::SubGroupLocalId
        ),
        Op::ContextLoad(_) | Op::Alloca { .. } => true,
        _ => false,
    }
}

/// Whether chunks cannot tell that they run together.
fn is_legal(body: &Function, cfg: &Cfg, varies: &SecondaryMap<Value, bool>) -> bool {
    let is_allowed = |data: &InstData| match &data.op {
        // To where all store, nobody knows who is last.
        Op::Store(mem) => !mem.volatile && varies[data.args[0]],
        Op::ImageWrite(_) | Op::ContextStore(_) => true,
        Op::Alloca { .. } => false,
        op => !op.has_side_effect(),
    };
    cfg.order.iter().all(|&block| {
        let data = &body.blocks[block];
        let same_way = match &data.term {
            Terminator::CondBr { cond, .. } => !varies[*cond],
            Terminator::Switch { value, .. } => !varies[*value],
            _ => true,
        };
        let mut insts = data.insts.iter();
        same_way && insts.all(|&inst| is_allowed(&body.insts[inst]))
    })
}

/// Whether enough is loaded, for what is computed with it, that all chunks share.
fn is_worthwhile(body: &Function, cfg: &Cfg, varies: &SecondaryMap<Value, bool>) -> bool {
    let (mut shared, mut own) = (0u64, 0u64);
    for &block in &cfg.order {
        let weight = 8u64.pow(cfg.loops.depth(block).min(4));
        for &inst in &body.blocks[block].insts {
            let data = &body.insts[inst];
            let is_vector = |&v: &Value| !body.ty(v).is_scalar();
            match data.op {
                Op::Load(_) if data.results.iter().all(|&r| !varies[r]) => shared += weight,
                Op::Load(_) => own += weight,
                _ if data.results.iter().any(|r| varies[*r] && is_vector(r)) => own += weight,
                _ => {}
            }
        }
    }
    shared > 0 && shared * WORTH >= own
}
