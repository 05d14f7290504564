//! The code of the work-group: regions as calls, uniform code between them.

use std::collections::BTreeMap;

use cranelift_entity::EntityRef;

use super::Splitter;
use crate::analysis::Shape;
use crate::ir::{
    Block, BlockCall, Builder, Cloner, FuncId, Function, Op, Scope, Terminator, Type, Value,
};

impl Splitter<'_> {
    /// The code of the work-group; `called` numbers the regions that have any.
    pub(super) fn skeleton(&self, called: &BTreeMap<Block, usize>) -> Function {
        let func = self.func;
        let params: Vec<Type> = func.params().iter().map(|&p| func.ty(p)).collect();
        let mut out = Function::new(func.name.clone(), &params, &[]);
        out.locals = func.locals.clone();
        out.slots = self.table.clone();
        let mut cloner = Cloner::from(func);
        cloner.bind_all(func.params(), out.params());
        cloner.bind_block(func.entry(), out.entry());
        for &entry in &self.cut.entries[1..] {
            let block = out.add_block();
            cloner.bind_block(entry, block);
            for &param in &func.blocks[entry].params {
                if self.shapes.of(param) != Shape::Varying {
                    let new = out.add_param(block, func.ty(param));
                    cloner.bind(param, new);
                }
            }
        }
        for &entry in &self.cut.entries {
            let mut b = Builder::new(&mut out, cloner.block(entry));
            let which = called
                .get(&entry)
                .and_then(|&region| self.call(&mut b, &mut cloner, entry, region));
            for &block in &self.plans[&entry].blocks {
                for &inst in &func.blocks[block].insts {
                    let results = &func.insts[inst].results;
                    if results.len() == 1 && self.in_skeleton.contains(&results[0]) {
                        cloner.inst(&mut b, inst);
                    }
                }
            }
            self.leave_by(&mut b, &cloner, &self.plans[&entry].exits, which);
        }
        out.layout = out.reverse_post_order();
        out
    }

    /// Calls the region that begins with `entry`; says by which of its exits it was left, if it has
    /// several.
    fn call(
        &self,
        b: &mut Builder<'_>,
        cloner: &mut Cloner<'_>,
        entry: Block,
        region: usize,
    ) -> Option<Value> {
        let plan = &self.plans[&entry];
        let args: Vec<Value> = plan.inputs.iter().map(|&v| cloner.value(v)).collect();
        let mut types: Vec<Type> = plan.results.iter().map(|&v| self.func.ty(v)).collect();
        let several = plan.exits.len() > 1;
        if several {
            types.insert(0, Type::I32);
        }
        let call = b.ins(Op::Call(FuncId::new(region)), &args, &types);
        let new = b.func.insts[call].results.clone();
        for (&old, &new) in plan.results.iter().zip(&new[usize::from(several)..]) {
            cloner.bind(old, new);
        }
        several.then(|| new[0])
    }

    /// Ends a block of the skeleton as the region before it ends, at the exit that `which` says if
    /// that is not known.
    fn leave_by(
        &self,
        b: &mut Builder<'_>,
        cloner: &Cloner<'_>,
        exits: &[Block],
        which: Option<Value>,
    ) {
        let which = match (which, exits) {
            (Some(which), _) => which,
            (None, [exit, ..]) => return self.end_block(b, cloner, *exit),
            // The region loops for ever.
            (None, []) => return b.terminate(Terminator::Unreachable),
        };
        let blocks: Vec<Block> = exits.iter().map(|_| b.new_block(&[])).collect();
        let jumps = blocks.iter().map(|&block| BlockCall::new(block, &[]));
        let mut cases: Vec<(u64, BlockCall)> = (0..).zip(jumps).collect();
        let (_, default) = cases.remove(0);
        b.terminate(Terminator::Switch {
            value: which,
            cases,
            default,
        });
        for (&exit, &block) in exits.iter().zip(&blocks) {
            b.switch_to(block);
            self.end_block(b, cloner, exit);
        }
    }

    /// Ends a block of the skeleton as block `exit` of the kernel ends.
    fn end_block(&self, b: &mut Builder<'_>, cloner: &Cloner<'_>, exit: Block) {
        let func = self.func;
        if let Some(fence) = self.cut.barriers[exit]
            && fence.scope > Scope::WorkGroup
        {
            b.ins(Op::Fence(fence), &[], &[]);
        }
        let mut term = func.blocks[exit].term.clone();
        for call in term.targets_mut() {
            // Varying parameters have slots instead.
            let mut params = func.blocks[call.block].params.iter();
            call.args.retain(|_| {
                let param = params.next();
                param.is_some_and(|&param| self.shapes.of(param) != Shape::Varying)
            });
        }
        let term = match cloner.terminator(b, &term) {
            Terminator::Unreachable => Terminator::Ret(smallvec::SmallVec::new()),
            other => other,
        };
        b.terminate(term);
    }
}
