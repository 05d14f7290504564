//! Bodies copied into the loops, with queries and memory made what they are there.

use cranelift_entity::{EntityRef, SecondaryMap};

use super::super::collectives::is_collective;
use super::{Assembler, Chunk};
use crate::ir::{
    Block, BlockCall, Builder, Cloner, Function, Inst, Op, SourceLoc, Terminator, Type, Value,
};

/// Private variables of so many bytes share memory. Smaller ones are left to passes that make
/// values of them.
const LARGE: u32 = 4096;

impl Assembler<'_> {
    /// Copies a body to the current position; goes on where it returns, with the values returned.
    pub(super) fn inline(
        &mut self,
        body: &Function,
        args: &[Value],
        chunk: Option<Chunk>,
    ) -> Vec<Value> {
        self.inline_for(body, args, &[chunk], |_| false)
    }

    /// [`Assembler::inline`] for several chunks at once: what `varies` says differs is computed for
    /// each of them, the rest for the first only. Returns the first one's values.
    pub(super) fn inline_together(
        &mut self,
        body: &Function,
        args: &[Value],
        chunks: &[Chunk],
        varies: &SecondaryMap<Value, bool>,
    ) -> Vec<Value> {
        let chunks: Vec<Option<Chunk>> = chunks.iter().copied().map(Some).collect();
        self.inline_for(body, args, &chunks, |value| varies[value])
    }

    fn inline_for(
        &mut self,
        body: &Function,
        args: &[Value],
        chunks: &[Option<Chunk>],
        varies: impl Fn(Value) -> bool,
    ) -> Vec<Value> {
        self.large_taken = 0;
        let mut copies = Copies::new(body, chunks.len(), varies);
        copies.bind_all(body.params(), args);
        let order = body.reverse_post_order();
        for &block in &order[1..] {
            copies.add_block(&mut self.out, block);
        }
        let exit = self.b().new_block(&body.results);
        for &block in &order {
            if let Some(new) = copies.each[0].get_block(block) {
                self.block = new;
            }
            for &inst in &body.blocks[block].insts {
                if copies.are_one(inst) {
                    self.copy(body, inst, &mut copies.each[0], chunks[0]);
                    copies.share(inst);
                    continue;
                }
                for (copy, &chunk) in copies.each.iter_mut().zip(chunks) {
                    self.copy(body, inst, copy, chunk);
                }
            }
            let mut b = self.b();
            let term = match copies.terminator(&mut b, &body.blocks[block].term) {
                Terminator::Ret(values) => Terminator::Br(BlockCall {
                    block: exit,
                    args: values,
                }),
                Terminator::Unreachable => {
                    let zeros: Vec<Value> =
                        body.results.iter().map(|&ty| b.iconst(ty, 0)).collect();
                    Terminator::Br(BlockCall::new(exit, &zeros))
                }
                other => other,
            };
            b.terminate(term);
        }
        self.block = exit;
        self.out.blocks[exit].params.clone()
    }

    /// Memory for a private variable of a body. What outlives a region is in the barrier context,
    /// so that bodies of work-items, of which none runs within another, may have large variables in
    /// the same place: there are several bodies of each region.
    fn allocate(&mut self, op: Op, loc: SourceLoc, is_of_work_items: bool) -> Value {
        let Op::Alloca { size, align, .. } = op else {
            unreachable!("it allocates")
        };
        let is_large = is_of_work_items && size >= LARGE;
        let free = &self.large[self.large_taken..];
        let fits = |&known: &Inst| match self.out.insts[known].op {
            Op::Alloca {
                size: s, align: a, ..
            } => s >= size && a >= align,
            _ => false,
        };
        let found = free.iter().position(fits).filter(|_| is_large);
        let inst = match found {
            Some(at) => self.large.remove(self.large_taken + at),
            None => {
                let inst = self.out.make_inst(op, &[], &[Type::PTR], loc);
                let entry = self.out.entry();
                self.out.blocks[entry].insts.insert(0, inst);
                inst
            }
        };
        if is_large {
            self.large.insert(self.large_taken, inst);
            self.large_taken += 1;
        }
        self.out.insts[inst].results[0]
    }

    fn copy(&mut self, body: &Function, inst: Inst, cloner: &mut Cloner<'_>, chunk: Option<Chunk>) {
        let data = &body.insts[inst];
        let args = || -> Vec<Value> { data.args.iter().map(|&v| cloner.value(v)).collect() };
        let results: Vec<Value> = match &data.op {
            Op::DimQuery(query, dim) => vec![self.dim_query(*query, usize::from(*dim), chunk)],
            Op::Query(query) => vec![self.query(*query, chunk)],
            Op::LocalAddr(local) => {
                let offset = self.i64(self.locals[local.index()]);
                let scratch = self.launch.scratch;
                vec![self.b().ptr_add(scratch, offset)]
            }
            Op::ContextLoad(slot) => {
                let ty = body.ty(data.results[0]);
                vec![self.context_load(body, *slot, ty, chunk)]
            }
            Op::ContextStore(slot) => {
                self.context_store(body, *slot, args()[0], chunk);
                Vec::new()
            }
            Op::Carry => {
                let ty = body.ty(data.results[0]);
                let (address, mem) = self.carry(ty);
                vec![self.b().load(mem, address, ty)]
            }
            op if is_collective(op) => self.collective(op, &args(), chunk),
            Op::Alloca {
                size,
                align,
                interleaving,
            } => {
                let op = match interleaving {
                    Some(how) => how.alloca(*size, *align),
                    None => data.op.clone(),
                };
                vec![self.allocate(op, data.loc, chunk.is_some())]
            }
            Op::InSpace(space) => vec![self.in_space(*space, args()[0])],
            Op::Call(region) => {
                let split = self.split;
                self.run(&split.regions[region.index()], &args())
            }
            _ => {
                cloner.inst(&mut self.b(), inst);
                return;
            }
        };
        cloner.bind_all(&data.results, &results);
    }
}

/// Copies of a body, one for each of some chunks, in the same blocks.
struct Copies<'a, V> {
    body: &'a Function,
    each: Vec<Cloner<'a>>,
    /// Whether a value differs from chunk to chunk.
    varies: V,
}

impl<'a, V: Fn(Value) -> bool> Copies<'a, V> {
    fn new(body: &'a Function, chunks: usize, varies: V) -> Self {
        let each = (0..chunks).map(|_| Cloner::from(body)).collect();
        Copies { body, each, varies }
    }

    /// Binds what is the same for all.
    fn bind_all(&mut self, old: &[Value], new: &[Value]) {
        for copy in &mut self.each {
            copy.bind_all(old, new);
        }
    }

    /// Adds a block with a parameter for each chunk where they vary.
    fn add_block(&mut self, into: &mut Function, block: Block) {
        let new = into.add_block();
        for copy in &mut self.each {
            copy.bind_block(block, new);
        }
        for &param in &self.body.blocks[block].params {
            let ty = self.body.ty(param);
            let varies = (self.varies)(param);
            let mut value = into.add_param(new, ty);
            for (n, copy) in self.each.iter_mut().enumerate() {
                if n > 0 && varies {
                    value = into.add_param(new, ty);
                }
                copy.bind(param, value);
            }
        }
    }

    /// Whether an instruction does the same for all chunks.
    fn are_one(&self, inst: Inst) -> bool {
        let data = &self.body.insts[inst];
        let mut values = data.results.iter().chain(&data.args);
        !data.op.has_side_effect() && !values.any(|&v| (self.varies)(v))
    }

    /// Has all chunks use the first one's results.
    fn share(&mut self, inst: Inst) {
        let (first, others) = self.each.split_at_mut(1);
        for &result in &self.body.insts[inst].results {
            let value = first[0].value(result);
            others.iter_mut().for_each(|copy| copy.bind(result, value));
        }
    }

    fn terminator(&self, b: &mut Builder<'_>, term: &Terminator) -> Terminator {
        let mut new = self.each[0].terminator(b, term);
        if self.each.len() == 1 {
            return new;
        }
        for (new, old) in new.targets_mut().zip(term.targets()) {
            new.args.clear();
            let params = &self.body.blocks[old.block].params;
            for (&arg, &param) in old.args.iter().zip(params) {
                let chunks = match (self.varies)(param) {
                    true => &self.each[..],
                    false => &self.each[..1],
                };
                new.args
                    .extend(chunks.iter().map(|copy| copy.operand(b, arg)));
            }
        }
        new
    }
}
