//! The loop over chunks of a region with a guard.

use super::super::Region;
use super::{Assembler, Chunk};
use crate::ir::{BinOp, Builder, Function, IntCC, Type, Value};

impl Assembler<'_> {
    /// Runs a region with a guard for a row: chunks that pass as vectors, others item by item or
    /// with masks.
    ///
    /// Chunks that pass one after the other make up a loop of their own, within the one over all
    /// chunks. So what is only used for others is outside the loop that counts, for whatever weighs
    /// values by the loops they are used in.
    ///
    /// There is no loop where a row is one chunk.
    pub(super) fn guarded_row(
        &mut self,
        region: &Region,
        (guard, inside): (&Function, &Function),
        args: &[Value],
        (start, size): (Value, Value),
        chunk: impl Fn(Value, u8) -> Chunk,
        state: &[Value],
    ) -> Vec<Value> {
        let (width, full_chunks) = (self.width, self.key.full_chunks);
        let only = self.key.row_is_chunk;
        let step = self.i64(u64::from(width));
        let types: Vec<Type> = state.iter().map(|&v| self.out.ty(v)).collect();
        let indexed: Vec<Type> = [Type::I64]
            .into_iter()
            .chain(types.iter().copied())
            .collect();
        let with = |index: Value, state: &[Value]| -> Vec<Value> {
            [index].iter().chain(state).copied().collect()
        };
        let mut b = self.b();
        let (outer, head) = (b.new_block(&indexed), b.new_block(&indexed));
        let next = b.new_block(&indexed);
        let exit = b.new_block(&types);
        let (test, sound, inner) = (b.new_block(&[]), b.new_block(&[]), b.new_block(&[]));
        let (not_all, slow) = (b.new_block(&[]), b.new_block(&[]));
        b.br(outer, &with(start, state));
        b.switch_to(outer);
        let params = b.func.blocks[outer].params.clone();
        b.br(head, &params);
        b.switch_to(head);
        let x = match only {
            true => b.iconst(Type::I64, 0),
            false => b.param(head, 0),
        };
        let state: Vec<Value> = b.func.blocks[head].params[1..].to_vec();
        let end = b.binary(BinOp::IAdd, x, step);
        if full_chunks {
            b.br(test, &[]);
        } else {
            let fits = b.icmp(IntCC::Ule, end, size);
            b.cond_br(fits, test, &[], slow, &[]);
        }
        self.block = test;
        let results = self.inline(guard, args, Some(chunk(x, width)));
        let (all, any) = (results[0], results[1]);
        let mut b = self.b();
        let no_wrap = results[2..].iter().copied();
        match no_wrap.reduce(|a, c| b.binary(BinOp::And, a, c)) {
            Some(no_wrap) => {
                let unsound = if region.masked_for_all { not_all } else { slow };
                b.cond_br(no_wrap, sound, &[], unsound, &[]);
            }
            None => b.br(sound, &[]),
        }
        self.block = sound;
        self.b().cond_br(all, inner, &[], not_all, &[]);
        self.block = not_all;
        match &region.masked {
            Some(masked) => {
                let state = self.items(masked, args, chunk(x, width), &state);
                self.b().br(next, &with(end, &state));
            }
            None if region.has_outside => self.b().br(slow, &[]),
            None => self.b().cond_br(any, slow, &[], next, &with(end, &state)),
        }
        self.block = inner;
        let after = self.items(inside, args, chunk(x, width), &state);
        let mut b = self.b();
        if only {
            b.br(exit, &after);
        } else {
            let more = b.icmp(IntCC::Ult, end, size);
            b.cond_br(more, head, &with(end, &after), exit, &after);
        }
        self.block = slow;
        let until = self.binary(BinOp::UMin, end, size);
        let after = match &region.partial {
            Some(partial) => {
                let chunk = Chunk {
                    partial: true,
                    ..chunk(x, width)
                };
                self.items(partial, args, chunk, &state)
            }
            None => self.for_each((x, until, 1), false, &state, |this, x, state| {
                this.items(&region.scalar, args, chunk(x, 1), state)
            }),
        };
        self.b().br(next, &with(until, &after));
        let mut b = Builder::new(&mut self.out, next);
        let after = b.param(next, 0);
        let state: Vec<Value> = b.func.blocks[next].params[1..].to_vec();
        if only {
            b.br(exit, &state);
        } else {
            let more = b.icmp(IntCC::Ult, after, size);
            b.cond_br(more, outer, &with(after, &state), exit, &state);
        }
        self.block = exit;
        self.out.blocks[exit].params.clone()
    }
}
