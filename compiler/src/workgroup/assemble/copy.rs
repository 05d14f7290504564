//! Bodies copied into the loops, with queries and memory made what they are there.

use cranelift_entity::EntityRef;

use super::super::collectives::is_collective;
use super::{Assembler, Chunk};
use crate::ir::{BlockCall, Cloner, Function, Inst, Op, Terminator, Type, Value};

impl Assembler<'_> {
    /// Copies a body to the current position; goes on where it returns, with the values returned.
    pub(super) fn inline(
        &mut self,
        body: &Function,
        args: &[Value],
        chunk: Option<Chunk>,
    ) -> Vec<Value> {
        let mut cloner = Cloner::from(body);
        cloner.bind_all(body.params(), args);
        let order = body.reverse_post_order();
        for &block in &order[1..] {
            cloner.add_block(&mut self.out, block);
        }
        let exit = self.b().new_block(&body.results);
        for &block in &order {
            if let Some(new) = cloner.get_block(block) {
                self.block = new;
            }
            for &inst in &body.blocks[block].insts {
                self.copy(body, inst, &mut cloner, chunk);
            }
            let mut b = self.b();
            let term = match cloner.terminator(&mut b, &body.blocks[block].term) {
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

    pub(super) fn copy(
        &mut self,
        body: &Function,
        inst: Inst,
        cloner: &mut Cloner<'_>,
        chunk: Option<Chunk>,
    ) {
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
                let new = self.out.make_inst(op, &[], &[Type::PTR], data.loc);
                let entry = self.out.entry();
                self.out.blocks[entry].insts.insert(0, new);
                self.out.insts[new].results.to_vec()
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
