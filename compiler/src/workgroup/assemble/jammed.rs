//! Several chunks at a time, as [`Jam`] says.

use super::super::Region;
use super::super::jam::{Along, Jam};
use super::{Assembler, Chunk};
use crate::ir::{BinOp, IntCC, Type, Value};

/// Where in a row of work-items a loop over its chunks begins or ends, and the region's results.
pub(super) struct Progress {
    pub x: Value,
    pub state: Vec<Value>,
}

impl Assembler<'_> {
    /// Whether the rows from `y` on are as many as run together.
    pub(super) fn are_enough_rows(&mut self, jam: &Jam, y: Value) -> Value {
        let chunks = self.i64(jam.chunks.into());
        let end = self.binary(BinOp::IAdd, y, chunks);
        let rows = self.group_values().size[1];
        self.b().icmp(IntCC::Ule, end, rows)
    }

    /// Runs a region for the chunks from one on, several at a time, if a condition holds, for as
    /// long as there are so many whole ones and all pass their guards.
    pub(super) fn jammed(
        &mut self,
        region: &Region,
        jam: &Jam,
        args: &[Value],
        (first, condition): (Chunk, Option<Value>),
        state: &[Value],
    ) -> Progress {
        let vector = region.vector.as_ref().expect("vector code is jammed");
        let size = self.row_size();
        let types: Vec<Type> = state.iter().map(|&v| self.out.ty(v)).collect();
        let indexed: Vec<Type> = [Type::I64].into_iter().chain(types).collect();
        let with = |x: Value, state: &[Value]| -> Vec<Value> {
            [x].iter().chain(state).copied().collect()
        };
        let mut b = self.b();
        let (head, exit) = (b.new_block(&indexed), b.new_block(&indexed));
        let (test, inner) = (b.new_block(&[]), b.new_block(&[]));
        let start = with(first.id[0], state);
        match condition {
            Some(condition) => b.cond_br(condition, head, &start, exit, &start),
            None => b.br(head, &start),
        }
        self.block = head;
        let only = self.key.row_is_chunk;
        let x = match only {
            true => self.i64(0),
            false => self.b().param(head, 0),
        };
        let state: Vec<Value> = self.out.blocks[head].params[1..].to_vec();
        let per_step = match jam.along {
            Along::Row => u64::from(jam.chunks),
            Along::Column => 1,
        };
        let step = self.i64(per_step * u64::from(self.width));
        let end = self.binary(BinOp::IAdd, x, step);
        let here = with(x, &state);
        let mut b = self.b();
        let fits = b.icmp(IntCC::Ule, end, size);
        b.cond_br(fits, test, &[], exit, &here);
        self.block = test;
        let chunks = self.together(jam, first, x);
        let mut pass = Vec::new();
        if let Some(guard) = &region.guard {
            for &chunk in &chunks {
                let results = self.inline(guard, args, Some(chunk));
                pass.push(results[0]);
                pass.extend(&results[2..]);
            }
        }
        let mut b = self.b();
        match pass.into_iter().reduce(|x, y| b.binary(BinOp::And, x, y)) {
            Some(pass) => b.cond_br(pass, inner, &[], exit, &here),
            None => b.br(inner, &[]),
        }
        self.block = inner;
        let results = self.inline_together(vector, args, &chunks, &jam.varies);
        let state = self.results(results, chunks[0], &state);
        let after = if only { exit } else { head };
        self.b().br(after, &with(end, &state));
        self.block = exit;
        let after = &self.out.blocks[exit].params;
        Progress {
            x: after[0],
            state: after[1..].to_vec(),
        }
    }

    /// The chunks that run together with the one at `x`.
    fn together(&mut self, jam: &Jam, first: Chunk, x: Value) -> Vec<Chunk> {
        let [_, y, z] = first.id;
        let row_size = self.row_size();
        let chunk = |n: u8| {
            let mut b = self.b();
            let (id, row) = match jam.along {
                Along::Row => {
                    let before = b.iconst(Type::I64, u64::from(n) * u64::from(first.lanes));
                    ([b.binary(BinOp::IAdd, x, before), y, z], first.row)
                }
                Along::Column => {
                    let rows = b.iconst(Type::I64, n.into());
                    let before = b.binary(BinOp::IMul, rows, row_size);
                    let row = b.binary(BinOp::IAdd, first.row, before);
                    ([x, b.binary(BinOp::IAdd, y, rows), z], row)
                }
            };
            Chunk { id, row, ..first }
        };
        (0..jam.chunks).map(chunk).collect()
    }

    /// Goes on with `rest` if work-items of a row are left.
    pub(super) fn if_left(
        &mut self,
        so_far: &Progress,
        rest: impl FnOnce(&mut Self, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let size = self.row_size();
        let state = &so_far.state;
        let types: Vec<Type> = state.iter().map(|&v| self.out.ty(v)).collect();
        let mut b = self.b();
        let (some, done) = (b.new_block(&[]), b.new_block(&types));
        let left = b.icmp(IntCC::Ult, so_far.x, size);
        b.cond_br(left, some, &[], done, state);
        self.block = some;
        let after = rest(self, state);
        self.b().br(done, &after);
        self.block = done;
        self.out.blocks[done].params.clone()
    }
}
