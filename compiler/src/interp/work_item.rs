//! One work-item: its ids, and where the variables of its work-group are.

use std::collections::HashMap;

use crate::ir::{DimQuery, FuncId, Function, LocalId, Module, Op, Query};
use crate::launch::NdRange;

/// Which work-item runs.
pub(super) struct WorkItem<'a> {
    pub range: &'a NdRange,
    pub group: [u64; 3],
    pub local: [u64; 3],
    /// Of this group.
    pub local_size: [u64; 3],
    pub sub_group_size: u64,
    /// Base of work-group memory.
    pub local_base: u64,
    pub locals: &'a Locals,
}

impl WorkItem<'_> {
    pub fn linear(&self) -> u64 {
        let [x, y, z] = self.local;
        (z * self.local_size[1] + y) * self.local_size[0] + x
    }

    /// The address of a work-group variable.
    pub fn local_address(&self, func: &Function, id: LocalId) -> Option<u64> {
        let name = &func.locals.get(id)?.name;
        Some(self.local_base + self.locals.offsets.get(name)?)
    }

    pub fn dim_query(&self, query: DimQuery, dim: usize) -> u64 {
        let range = self.range;
        match query {
            DimQuery::GlobalId => {
                range.global_offset[dim] + self.group[dim] * range.local_size[dim] + self.local[dim]
            }
            DimQuery::LocalId => self.local[dim],
            DimQuery::GroupId => self.group[dim],
            DimQuery::GlobalSize => range.global_size[dim],
            DimQuery::LocalSize => self.local_size[dim],
            DimQuery::EnqueuedLocalSize => range.local_size[dim],
            DimQuery::NumGroups => range.global_size[dim].div_ceil(range.local_size[dim]),
            DimQuery::GlobalOffset => range.global_offset[dim],
        }
    }

    pub fn query(&self, query: Query) -> u64 {
        let items = self.local_size.iter().product::<u64>();
        let width = self.sub_group_size;
        match query {
            Query::WorkDim => u64::from(self.range.work_dim),
            Query::GlobalLinearId => {
                let id = |d| self.dim_query(DimQuery::GlobalId, d) - self.range.global_offset[d];
                let size = self.range.global_size;
                (id(2) * size[1] + id(1)) * size[0] + id(0)
            }
            Query::LocalLinearId => self.linear(),
            Query::SubGroupSize => width.min(items - self.linear() / width * width),
            Query::SubGroupMaxSize => width,
            Query::NumSubGroups => items.div_ceil(width),
            Query::SubGroupId => self.linear() / width,
            Query::SubGroupLocalId => self.linear() % width,
        }
    }
}

/// Where work-group variables are: those of a kernel first, then those that only functions it calls
/// name. Functions mean the same variable by the same name.
pub(super) struct Locals {
    offsets: HashMap<String, u64>,
    /// Bytes of all of them.
    pub size: u64,
}

impl Locals {
    pub fn new(module: &Module, kernel: &Function) -> Locals {
        // Each in its turn at the next multiple of its alignment.
        let mut offsets: HashMap<String, u64> = HashMap::new();
        let mut size = 0u64;
        let mut seen: Vec<FuncId> = Vec::new();
        let mut next = 0;
        let mut func = kernel;
        loop {
            for local in func.locals.values() {
                offsets.entry(local.name.clone()).or_insert_with(|| {
                    let at = size.next_multiple_of(u64::from(local.align).max(1));
                    size = at + local.size;
                    at
                });
            }
            for &block in &func.layout {
                for &inst in &func.blocks[block].insts {
                    if let Op::Call(callee) = func.insts[inst].op
                        && !seen.contains(&callee)
                    {
                        seen.push(callee);
                    }
                }
            }
            let Some(called) = seen.get(next).and_then(|&id| module.functions.get(id)) else {
                return Locals { offsets, size };
            };
            func = called;
            next += 1;
        }
    }
}
