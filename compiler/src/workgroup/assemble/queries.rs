//! Queries: fields of the launch, what is the same for a group, and ids from the positions in the
//! loops.

use super::{Assembler, Chunk, round_up};
use crate::ir::{BinOp, DimQuery, Query, Value};

impl Assembler<'_> {
    pub(super) fn dim_query(&mut self, query: DimQuery, d: usize, chunk: Option<Chunk>) -> Value {
        let group = self.group_values();
        match query {
            // Known to the whole group.
            DimQuery::GlobalId if self.key.linear && d > 0 => group.base[d],
            DimQuery::LocalId if self.key.linear && d > 0 => self.i64(0),
            DimQuery::GlobalId => {
                let id = chunk.expect("work-items have ids").id[d];
                self.binary(BinOp::IAdd, group.base[d], id)
            }
            DimQuery::LocalId => chunk.expect("work-items have ids").id[d],
            DimQuery::GroupId => group.id[d],
            DimQuery::GlobalSize => self.launch.global_size[d],
            DimQuery::LocalSize => group.size[d],
            DimQuery::EnqueuedLocalSize => self.launch.local_size[d],
            DimQuery::NumGroups => self.launch.num_groups[d],
            DimQuery::GlobalOffset if self.key.zero_offset => self.i64(0),
            DimQuery::GlobalOffset => self.launch.global_offset[d],
        }
    }

    pub(super) fn query(&mut self, query: Query, chunk: Option<Chunk>) -> Value {
        let width = u64::from(self.width);
        match query {
            Query::WorkDim => self.launch.work_dim,
            Query::GlobalLinearId => {
                let mut sum = None;
                for d in [2, 1, 0] {
                    let mut id = self.dim_query(DimQuery::GlobalId, d, chunk);
                    if !self.key.zero_offset {
                        id = self.binary(BinOp::ISub, id, self.launch.global_offset[d]);
                    }
                    sum = Some(match sum {
                        None => id,
                        Some(sum) => {
                            let scaled = self.binary(BinOp::IMul, sum, self.launch.global_size[d]);
                            self.binary(BinOp::IAdd, scaled, id)
                        }
                    });
                }
                sum.expect("three dimensions")
            }
            Query::LocalLinearId => self.first_item(chunk.expect("work-items have ids")),
            Query::SubGroupMaxSize => self.i64(width),
            Query::SubGroupSize => {
                let chunk = chunk.expect("work-items have ids");
                if self.width == 1 || chunk.lanes > 1 && !chunk.partial {
                    return self.i64(width);
                }
                // The last one may be smaller.
                let item = self.first_item(chunk);
                let mask = self.i64(!(width - 1));
                let first = self.binary(BinOp::And, item, mask);
                let items = self.group_items();
                let left = self.binary(BinOp::ISub, items, first);
                let most = self.i64(width);
                self.binary(BinOp::UMin, left, most)
            }
            Query::SubGroupLocalId => {
                let chunk = chunk.expect("work-items have ids");
                let item = self.first_item(chunk);
                let mask = self.i64(width - 1);
                self.binary(BinOp::And, item, mask)
            }
            Query::NumSubGroups => {
                let items = self.group_items();
                let up = round_up(&mut self.b(), items, width);
                let shift = self.i64(u64::from(width.trailing_zeros()));
                self.binary(BinOp::LShr, up, shift)
            }
            Query::SubGroupId => {
                let item = self.first_item(chunk.expect("work-items have ids"));
                let shift = self.i64(u64::from(width.trailing_zeros()));
                self.binary(BinOp::LShr, item, shift)
            }
        }
    }

    /// The local linear id of the first of these work-items.
    pub(super) fn first_item(&mut self, chunk: Chunk) -> Value {
        self.binary(BinOp::IAdd, chunk.row, chunk.id[0])
    }

    /// The work-items of this group.
    pub(super) fn group_items(&mut self) -> Value {
        let size = self.group_values().size;
        let plane = self.binary(BinOp::IMul, size[0], size[1]);
        self.binary(BinOp::IMul, plane, size[2])
    }
}
