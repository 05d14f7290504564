//! Every call replaced by a copy of what it calls.
//!
//! Callees come first: the call graph is walked depth-first with an explicit stack, each function
//! has its own calls inlined once, and callers copy the result. A function on the stack that is met
//! again is recursion, which OpenCL C forbids ("Restrictions") and which has no copy that ends.
//!
//! At a call the block is split: the tail becomes a new block whose parameters are the call's
//! results, the callee's entry parameters become the call's operands, and each `ret` a jump to the
//! tail. Private memory goes to the caller's entry block; work-group variables merge with the
//! caller's by name, since they are one variable of the kernel no matter which function names it.
//!
//! What is called has its private variables promoted and dead code removed before it is copied:
//! once, not again in each copy, and so that the size is that of what is left.
//!
//! Cost: linear in the code copied, which `BUDGET` bounds.

use std::collections::HashMap;

use cranelift_entity::{EntityRef, SecondaryMap};

use super::{dce, promote};
use crate::diagnostic::Diagnostic;
use crate::ir::{
    Block, BlockCall, Builder, Cloner, FuncId, Function, Inst, LocalId, Module, Op, Terminator,
    ValueDef,
};

/// The most instructions and blocks a function may have once its calls are inlined.
const BUDGET: usize = 2_000_000;

/// The function `root` with every call inlined.
pub fn inline_all(module: &Module, root: FuncId) -> Result<Function, Diagnostic> {
    let mut done: HashMap<FuncId, Function> = HashMap::new();
    let mut active: SecondaryMap<FuncId, bool> = SecondaryMap::new();
    let mut stack = vec![(root, callees(module, root)?)];
    active[root] = true;
    while let Some((id, todo)) = stack.last_mut() {
        let id = *id;
        match todo.pop() {
            Some(callee) if active[callee] => {
                return Err(Diagnostic::new(format!(
                    "function {:?} calls itself, directly or through others; recursion is not \
                     allowed",
                    module.functions[callee].name
                )));
            }
            Some(callee) if done.contains_key(&callee) => {}
            Some(callee) => {
                active[callee] = true;
                let next = callees(module, callee)?;
                stack.push((callee, next));
            }
            None => {
                let mut func = inline_calls(&module.functions[id], &done)?;
                if id != root {
                    promote::run(&mut func);
                    dce::run(&mut func);
                }
                done.insert(id, func);
                active[id] = false;
                stack.pop();
            }
        }
    }
    Ok(done.remove(&root).expect("the root is finished last"))
}

/// The functions a function calls, each once.
fn callees(module: &Module, id: FuncId) -> Result<Vec<FuncId>, Diagnostic> {
    let func = &module.functions[id];
    let mut found = Vec::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            if let Op::Call(callee) = func.insts[inst].op {
                if !module.functions.is_valid(callee) {
                    return Err(Diagnostic::new(format!(
                        "function {:?} calls a function that is not there",
                        func.name
                    )));
                }
                found.push(callee);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// A copy of `func` with its calls replaced by copies of `done`'s functions.
fn inline_calls(func: &Function, done: &HashMap<FuncId, Function>) -> Result<Function, Diagnostic> {
    let mut caller = func.clone();
    let mut size = size_of(func);
    let mut allocas = Vec::new();
    let mut layout = Vec::new();
    for block in std::mem::take(&mut caller.layout) {
        layout.push(block);
        let mut current = block;
        let insts = std::mem::take(&mut caller.blocks[block].insts);
        let term = std::mem::replace(&mut caller.blocks[block].term, Terminator::Unreachable);
        for inst in insts {
            let Op::Call(callee) = caller.insts[inst].op else {
                caller.blocks[current].insts.push(inst);
                continue;
            };
            let callee = &done[&callee];
            size += size_of(callee);
            if size > BUDGET {
                return Err(Diagnostic::new(format!(
                    "function {:?} is larger than {BUDGET} instructions with its calls inlined",
                    func.name
                )));
            }
            current = splice(
                &mut caller,
                current,
                inst,
                callee,
                &mut allocas,
                &mut layout,
            );
        }
        caller.blocks[current].term = term;
    }
    caller.layout = layout;
    let entry = caller.entry();
    caller.blocks[entry].insts.splice(0..0, allocas);
    Ok(caller)
}

fn size_of(func: &Function) -> usize {
    let blocks = func.layout.iter();
    blocks
        .map(|&block| 1 + func.blocks[block].insts.len())
        .sum()
}

/// Ends `block` with a jump into a copy of `callee`; returns the block that control comes back to.
fn splice(
    caller: &mut Function,
    block: Block,
    call: Inst,
    callee: &Function,
    allocas: &mut Vec<Inst>,
    layout: &mut Vec<Block>,
) -> Block {
    let mut cloner = Cloner::from(callee);
    cloner.bind_all(callee.params(), &caller.insts[call].args);
    let locals = merge_locals(caller, callee);
    // Instructions first without operands: a definition may come later in the layout than its use.
    for &from in &callee.layout {
        let to = caller.add_block();
        layout.push(to);
        cloner.bind_block(from, to);
        if from != callee.entry() {
            cloner.add_params(caller, from, to);
        }
        for &inst in &callee.blocks[from].insts {
            let data = &callee.insts[inst];
            let op = match data.op {
                Op::LocalAddr(id) => Op::LocalAddr(locals[id]),
                ref other => other.clone(),
            };
            let alloca = matches!(op, Op::Alloca { .. });
            let copy = cloner.make(caller, inst, op, &data.args);
            if alloca {
                allocas.push(copy);
            } else {
                caller.blocks[to].insts.push(copy);
            }
        }
    }

    let after = caller.add_block();
    layout.push(after);
    let results = std::mem::take(&mut caller.insts[call].results);
    for (i, &result) in results.iter().enumerate() {
        caller.values[result].def = ValueDef::Param(after, i as u16);
    }
    caller.blocks[after].params = results.to_vec();

    for &from in &callee.layout {
        let to = cloner.block(from);
        for index in 0..caller.blocks[to].insts.len() {
            let inst = caller.blocks[to].insts[index];
            for arg in &mut caller.insts[inst].args {
                *arg = cloner.value(*arg);
            }
        }
        let mut b = Builder::new(caller, to);
        let term = match cloner.terminator(&mut b, &callee.blocks[from].term) {
            Terminator::Ret(values) => Terminator::Br(BlockCall {
                block: after,
                args: values,
            }),
            other => other,
        };
        b.terminate(term);
    }
    let first = cloner.block(callee.entry());
    caller.blocks[block].term = Terminator::Br(BlockCall::new(first, &[]));
    // `add_block` appended to the caller's own layout, which is being rebuilt.
    caller.layout.clear();
    after
}

/// Where the callee's work-group variables are in the caller.
fn merge_locals(caller: &mut Function, callee: &Function) -> SecondaryMap<LocalId, LocalId> {
    let mut map = SecondaryMap::with_default(LocalId::new(0));
    for (id, local) in &callee.locals {
        let same = caller.locals.iter().find(|(_, l)| l.name == local.name);
        map[id] = match same.map(|(id, _)| id) {
            Some(known) => {
                let known_local = &mut caller.locals[known];
                known_local.size = known_local.size.max(local.size);
                known_local.align = known_local.align.max(local.align);
                known
            }
            None => caller.locals.push(local.clone()),
        };
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Stage, parse, verify::verify};

    fn inline(text: &str) -> Result<Function, Diagnostic> {
        let module = parse::module(text).unwrap();
        let last = module.functions.keys().next_back().unwrap();
        inline_all(&module, last)
    }

    #[test]
    fn a_call_of_a_call_is_inlined_twice_over() {
        let func = inline(
            "func \"abs\" (i32) -> (i32) {\n  local l0 \"tile\" size 8 align 4\nblock0(v0: i32):\n\
             v1: i32 = const 0\nv2: i1 = icmp.slt v0, v1\nv4: ptr = alloca.4.align4\n\
             v5: ptr = local_addr l0\nstore.local.align4 v5, v4\n\
             cond_br v2, block1, block2\nblock1:\nv3: i32 = ineg v0\nret v3\nblock2:\nret v0\n}\n\
             func \"twice\" (i32) -> (i32) {\nblock0(v0: i32):\nv1: i32 = call @0, v0\n\
             v2: i32 = call @0, v1\nret v2\n}\n\
             func \"root\" (i32) -> (i32) {\n  local l0 \"other\" size 4 align 4\n\
               local l1 \"tile\" size 4 align 16\n\
             block0(v0: i32):\nv1: i32 = call @1, v0\nv2: i32 = iadd v1, v1\nret v2\n}\n",
        )
        .unwrap();
        verify(&func, Stage::Inlined, None).unwrap();
        let count = |f: fn(&Op) -> bool| {
            let blocks = func.layout.iter();
            blocks
                .flat_map(|&b| &func.blocks[b].insts)
                .filter(|&&i| f(&func.insts[i].op))
                .count()
        };
        assert_eq!(count(|op| matches!(op, Op::ICmp(_))), 2);
        assert_eq!(count(|op| matches!(op, Op::Alloca { .. })), 2);
        assert_eq!(
            count(|op| matches!(op, Op::LocalAddr(l) if l.as_u32() == 1)),
            2
        );
        let tile = &func.locals[LocalId::new(1)];
        assert_eq!((func.locals.len(), tile.size, tile.align), (2, 8, 16));
    }

    #[test]
    fn recursion_is_refused_by_name() {
        let error = inline(
            "func \"even\" () -> () {\nblock0:\ncall @1\nret\n}\n\
             func \"odd\" () -> () {\nblock0:\ncall @0\nret\n}\n\
             func \"root\" () -> () {\nblock0:\ncall @0\nret\n}\n",
        )
        .unwrap_err();
        assert!(error.message.contains("\"even\" calls itself"), "{error}");
    }

    #[test]
    fn exponential_growth_stops_at_the_budget() {
        let mut text = "func \"f0\" () -> () {\nblock0:\nv0: i32 = const 0\nret\n}\n".to_string();
        for i in 0..40 {
            text += &format!(
                "func \"f{}\" () -> () {{\nblock0:\ncall @{i}\ncall @{i}\nret\n}}\n",
                i + 1
            );
        }
        assert!(inline(&text).unwrap_err().message.contains("larger than"));
    }

    #[test]
    fn a_chain_of_ten_thousand_calls_needs_no_deep_stack() {
        let mut text = "func \"f0\" () -> () {\nblock0:\nret\n}\n".to_string();
        for i in 0..1000 {
            text += &format!(
                "func \"f{}\" () -> () {{\nblock0:\ncall @{i}\nret\n}}\n",
                i + 1
            );
        }
        inline(&text).unwrap();
    }
}
