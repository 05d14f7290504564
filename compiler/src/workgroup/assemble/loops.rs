//! The loop nest: work-groups, rows of work-items, chunks of a row.

use super::super::{ItemOrder, Region};
use super::{Assembler, Chunk, GroupValues};
use crate::ir::{BinOp, Function, IntCC, Type, Value};

impl Assembler<'_> {
    /// `for i = start; i < end; i += step`, `state` carried from one iteration to the next; tested
    /// before the first one only if told that there may be none. Returns the last state.
    pub(super) fn for_each(
        &mut self,
        (start, end, step): (Value, Value, u64),
        maybe_none: bool,
        state: &[Value],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let types: Vec<Type> = state.iter().map(|&v| self.out.ty(v)).collect();
        let mut b = self.b();
        let head = b.new_block(&[]);
        let index = b.func.add_param(head, Type::I64);
        let inner: Vec<Value> = types.iter().map(|&ty| b.func.add_param(head, ty)).collect();
        let exit = b.new_block(&types);
        let first: Vec<Value> = [start].iter().chain(state).copied().collect();
        if maybe_none {
            let some = b.icmp(IntCC::Ult, start, end);
            b.cond_br(some, head, &first, exit, state);
        } else {
            b.br(head, &first);
        }
        self.block = head;
        let after = body(self, index, &inner);
        let step = self.i64(step);
        let next = self.binary(BinOp::IAdd, index, step);
        let again: Vec<Value> = [next].iter().chain(&after).copied().collect();
        let mut b = self.b();
        let more = b.icmp(IntCC::Ult, next, end);
        b.cond_br(more, head, &again, exit, &after);
        self.block = exit;
        self.out.blocks[exit].params.clone()
    }

    pub(super) fn groups(&mut self, begin: Value, end: Value, params: &[Value]) {
        let counts = self.launch.num_groups;
        let x = self.binary(BinOp::URem, begin, counts[0]);
        let rest = self.binary(BinOp::UDiv, begin, counts[0]);
        let y = self.binary(BinOp::URem, rest, counts[1]);
        let z = self.binary(BinOp::UDiv, rest, counts[1]);
        self.for_each((begin, end, 1), true, &[x, y, z], |this, _, id| {
            let id = [id[0], id[1], id[2]];
            this.group(id);
            this.inline(&this.split.skeleton, params, None);
            this.next_group(id, counts)
        });
    }

    /// Computes what is the same for the whole group.
    pub(super) fn group(&mut self, id: [Value; 3]) {
        let mut size = self.launch.local_size;
        let mut base = id;
        for d in 0..3 {
            let start = self.binary(BinOp::IMul, id[d], self.launch.local_size[d]);
            let is_known = d == 0 && self.key.row_is_chunk;
            if !self.key.uniform_groups && !is_known {
                let left = self.binary(BinOp::ISub, self.launch.global_size[d], start);
                size[d] = self.binary(BinOp::UMin, size[d], left);
            }
            base[d] = if self.key.zero_offset {
                start
            } else {
                self.binary(BinOp::IAdd, start, self.launch.global_offset[d])
            };
        }
        if self.key.linear {
            let one = self.i64(1);
            (size[1], size[2]) = (one, one);
        }
        self.group = Some(GroupValues { id, size, base });
    }

    fn next_group(&mut self, id: [Value; 3], counts: [Value; 3]) -> Vec<Value> {
        let (zero, one) = (self.i64(0), self.i64(1));
        let mut b = self.b();
        let x = b.binary(BinOp::IAdd, id[0], one);
        let wrap_x = b.icmp(IntCC::Eq, x, counts[0]);
        let y = b.binary(BinOp::IAdd, id[1], one);
        let wrap_y = b.icmp(IntCC::Eq, y, counts[1]);
        let next_y = b.select(wrap_y, zero, y);
        let z = b.binary(BinOp::IAdd, id[2], one);
        let next_z = b.select(wrap_y, z, id[2]);
        vec![
            b.select(wrap_x, zero, x),
            b.select(wrap_x, next_y, id[1]),
            b.select(wrap_x, next_z, id[2]),
        ]
    }

    /// Runs a region for all work-items of the group; its results for the first one.
    pub(super) fn run(&mut self, region: &Region, args: &[Value]) -> Vec<Value> {
        let group = self.group_values();
        let results = region.scalar.results.clone();
        let state: Vec<Value> = results.iter().map(|&ty| self.b().iconst(ty, 0)).collect();
        let zero = self.i64(0);
        if self.key.linear || self.order == ItemOrder::Flat {
            return self.only_row(region, args, &state);
        }
        let bounds = |d: usize| (zero, group.size[d], 1);
        self.for_each(bounds(2), false, &state, |this, z, state| {
            let Some(jam) = &region.jam else {
                return this.for_each(bounds(1), false, state, |this, y, state| {
                    let row = this.row_start(y, z);
                    this.row(region, args, [zero, y, z], row, state)
                });
            };
            let (_, rows, _) = bounds(1);
            let step = u64::from(jam.chunks);
            this.for_each((zero, rows, step), false, state, |this, y, state| {
                let chunk = Chunk {
                    id: [zero, y, z],
                    row: this.row_start(y, z),
                    lanes: this.width,
                    partial: false,
                };
                let enough = this.are_enough_rows(jam, y);
                let so_far = this.jammed(region, jam, args, (chunk, Some(enough)), state);
                this.if_left(&so_far, |this, state| {
                    let step = this.i64(step);
                    let end = this.binary(BinOp::IAdd, y, step);
                    let end = this.binary(BinOp::UMin, end, rows);
                    this.for_each((y, end, 1), false, state, |this, y, state| {
                        let row = this.row_start(y, z);
                        this.row(region, args, [so_far.x, y, z], row, state)
                    })
                })
            })
        })
    }

    /// The work-items of a row; of the whole group where they run by their linear ids.
    pub(super) fn row_size(&mut self) -> Value {
        match self.order {
            ItemOrder::Rows => self.group_values().size[0],
            ItemOrder::Flat => self.group_items(),
        }
    }

    /// The local linear id of a row's first work-item.
    fn row_start(&mut self, y: Value, z: Value) -> Value {
        let size = self.group_values().size;
        let rows = self.binary(BinOp::IMul, z, size[1]);
        let rows = self.binary(BinOp::IAdd, rows, y);
        self.binary(BinOp::IMul, rows, size[0])
    }

    /// Runs a region for the work-items of the only row.
    fn only_row(&mut self, region: &Region, args: &[Value], state: &[Value]) -> Vec<Value> {
        let zero = self.i64(0);
        let Some(jam) = &region.jam else {
            return self.row(region, args, [zero; 3], zero, state);
        };
        let chunk = Chunk {
            id: [zero; 3],
            row: zero,
            lanes: self.width,
            partial: false,
        };
        let so_far = self.jammed(region, jam, args, (chunk, None), state);
        self.if_left(&so_far, |this, state| {
            this.row(region, args, [so_far.x, zero, zero], zero, state)
        })
    }

    /// Runs a region for the work-items of a row from `id` on.
    pub(super) fn row(
        &mut self,
        region: &Region,
        args: &[Value],
        id: [Value; 3],
        row: Value,
        state: &[Value],
    ) -> Vec<Value> {
        let size = self.row_size();
        let start = id[0];
        let chunk = |x: Value, lanes: u8| Chunk {
            id: [x, id[1], id[2]],
            row,
            lanes,
            partial: false,
        };
        if self.key.row_is_chunk && region.guard.is_none() {
            let body = region.vector.as_ref().unwrap_or(&region.scalar);
            let zero = self.i64(0);
            return self.items(body, args, chunk(zero, self.width), state);
        }
        let Some(vector) = &region.vector else {
            return self.for_each((start, size, 1), false, state, |this, x, state| {
                this.items(&region.scalar, args, chunk(x, 1), state)
            });
        };
        let step = u64::from(self.width);
        let end = if self.key.full_chunks {
            size
        } else {
            let mask = self.i64(!(step - 1));
            self.binary(BinOp::And, size, mask)
        };
        if let Some(guard) = &region.guard {
            return self.guarded_row(region, (guard, vector), args, (start, size), chunk, state);
        }
        let some = self.key.full_chunks;
        let state = self.for_each((start, end, step), !some, state, |this, x, state| {
            this.items(vector, args, chunk(x, this.width), state)
        });
        if self.key.full_chunks {
            return state;
        }
        if let Some(partial) = &region.partial {
            let step = u64::from(self.width);
            return self.for_each((end, size, step), true, &state, |this, x, state| {
                let chunk = Chunk {
                    partial: true,
                    ..chunk(x, this.width)
                };
                this.items(partial, args, chunk, state)
            });
        }
        self.for_each((end, size, 1), true, &state, |this, x, state| {
            this.items(&region.scalar, args, chunk(x, 1), state)
        })
    }

    pub(super) fn items(
        &mut self,
        body: &Function,
        args: &[Value],
        chunk: Chunk,
        state: &[Value],
    ) -> Vec<Value> {
        let results = self.inline(body, args, Some(chunk));
        self.results(results, chunk, state)
    }

    /// A region's results once a chunk has given its own: those of the group's first work-item.
    pub(super) fn results(
        &mut self,
        results: Vec<Value>,
        chunk: Chunk,
        state: &[Value],
    ) -> Vec<Value> {
        if results.is_empty() {
            return results;
        }
        let zero = self.i64(0);
        let item = self.first_item(chunk);
        let first = self.b().icmp(IntCC::Eq, item, zero);
        results
            .iter()
            .zip(state)
            .map(|(&new, &old)| self.b().select(first, new, old))
            .collect()
    }
}
