//! The code of the work-group: regions as calls, uniform code between them.

use std::collections::BTreeMap;

use cranelift_entity::{EntityRef, SecondaryMap, packed_option::PackedOption};

use super::Splitter;
use crate::analysis::Shape;
use crate::ir::{Block, BlockCall, Builder, FuncId, Function, Op, Scope, Terminator, Type, Value};

impl Splitter<'_> {
    /// The code of the work-group; `called` numbers the regions that have any.
    pub(super) fn skeleton(&self, called: &BTreeMap<Block, usize>) -> Function {
        let func = self.func;
        let params: Vec<Type> = func.params().iter().map(|&p| func.ty(p)).collect();
        let mut out = Function::new(func.name.clone(), &params, &[]);
        out.locals = func.locals.clone();
        out.slots = self.table.clone();
        let mut map: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
        let mut blocks: BTreeMap<Block, Block> = BTreeMap::new();
        for &entry in &self.cut.entries {
            let block = if entry == func.entry() {
                for (&old, &new) in func.params().iter().zip(out.params()) {
                    map[old] = new.into();
                }
                out.entry()
            } else {
                let block = out.add_block();
                for &param in &func.blocks[entry].params {
                    if self.shapes.of(param) != Shape::Varying {
                        map[param] = out.add_param(block, func.ty(param)).into();
                    }
                }
                block
            };
            blocks.insert(entry, block);
        }
        for &entry in &self.cut.entries {
            let plan = &self.plans[&entry];
            let mut b = Builder::new(&mut out, blocks[&entry]);
            let mut which = None;
            if let Some(&region) = called.get(&entry) {
                let args: Vec<Value> = plan
                    .inputs
                    .iter()
                    .map(|&v| map[v].expect("live in"))
                    .collect();
                let mut types: Vec<Type> = plan.results.iter().map(|&v| func.ty(v)).collect();
                let several = plan.exits.len() > 1;
                if several {
                    types.insert(0, Type::I32);
                }
                let call = b.ins(Op::Call(FuncId::new(region)), &args, &types);
                let new = b.func.insts[call].results.clone();
                which = several.then(|| new[0]);
                for (&old, &new) in plan.results.iter().zip(&new[usize::from(several)..]) {
                    map[old] = new.into();
                }
            }
            for &block in &plan.blocks {
                for &inst in &func.blocks[block].insts {
                    let data = &func.insts[inst];
                    if data.results.len() != 1 || !self.in_skeleton.contains(&data.results[0]) {
                        continue;
                    }
                    let args: Vec<Value> = data
                        .args
                        .iter()
                        .map(|&arg| uniform_value(func, &mut b, &map, arg))
                        .collect();
                    b.loc = data.loc;
                    let new = b.val(data.op.clone(), &args, func.ty(data.results[0]));
                    map[data.results[0]] = new.into();
                }
            }
            match which {
                None => match plan.exits.first() {
                    Some(&exit) => self.end_block(&mut b, &mut map, &blocks, exit),
                    // The region loops for ever.
                    None => b.terminate(Terminator::Unreachable),
                },
                Some(which) => {
                    let exits: Vec<Block> = plan.exits.iter().map(|_| b.new_block(&[])).collect();
                    let cases = (1..exits.len())
                        .map(|i| (i as u64, BlockCall::new(exits[i], &[])))
                        .collect();
                    b.terminate(Terminator::Switch {
                        value: which,
                        cases,
                        default: BlockCall::new(exits[0], &[]),
                    });
                    for (&exit, &block) in plan.exits.iter().zip(&exits) {
                        b.switch_to(block);
                        self.end_block(&mut b, &mut map, &blocks, exit);
                    }
                }
            }
        }
        out.layout = out.reverse_post_order();
        out
    }

    /// Ends a block of the skeleton as block `exit` of the kernel ends.
    fn end_block(
        &self,
        b: &mut Builder<'_>,
        map: &mut SecondaryMap<Value, PackedOption<Value>>,
        blocks: &BTreeMap<Block, Block>,
        exit: Block,
    ) {
        let func = self.func;
        if let Some(fence) = self.cut.barriers[exit]
            && fence.scope > Scope::WorkGroup
        {
            b.ins(Op::Fence(fence), &[], &[]);
        }
        let mut term = func.blocks[exit].term.clone();
        if let Terminator::CondBr { cond: value, .. } | Terminator::Switch { value, .. } = &mut term
        {
            *value = uniform_value(func, b, map, *value);
        }
        for call in term.targets_mut() {
            let params = &func.blocks[call.block].params;
            let args: Vec<Value> = params
                .iter()
                .zip(&call.args)
                .filter(|&(&param, _)| self.shapes.of(param) != Shape::Varying)
                .map(|(_, &arg)| uniform_value(func, b, map, arg))
                .collect();
            *call = BlockCall::new(blocks[&call.block], &args);
        }
        if matches!(term, Terminator::Unreachable) {
            term = Terminator::Ret(smallvec::SmallVec::new());
        }
        b.terminate(term);
    }
}

fn uniform_value(
    func: &Function,
    b: &mut Builder<'_>,
    map: &SecondaryMap<Value, PackedOption<Value>>,
    value: Value,
) -> Value {
    match func.as_const(value) {
        Some(bits) => b.iconst(func.ty(value), bits),
        None => map[value].expect("the skeleton has what it uses"),
    }
}
