//! Dead code: instructions and block parameters that nothing needs.
//!
//! Needed are side effects and what terminators decide on; then, transitively, operands. A jump's
//! argument is needed only if the parameter it feeds is, so a value that only goes round a loop
//! dies too. One mark phase with a worklist and one sweep: linear.

use cranelift_entity::SecondaryMap;

use crate::ir::{Block, BlockCall, Function, Inst, Terminator, Value, ValueDef};

/// Removes what is not needed. Returns whether there was anything.
pub fn run(func: &mut Function) -> bool {
    let live = mark(func);
    let mut changed = false;
    for index in 0..func.layout.len() {
        let block = func.layout[index];
        let insts = &mut func.blocks[block].insts;
        let before = insts.len();
        insts.retain(|&inst| live.insts[inst]);
        changed |= insts.len() != before;
        changed |= drop_args(func, block, &live);
    }
    for &block in &func.layout[1..] {
        let params = &mut func.blocks[block].params;
        params.retain(|&param| live.values[param]);
        for (i, &param) in params.iter().enumerate() {
            func.values[param].def = ValueDef::Param(block, i as u16);
        }
    }
    changed
}

struct Live {
    values: SecondaryMap<Value, bool>,
    insts: SecondaryMap<Inst, bool>,
}

fn mark(func: &Function) -> Live {
    let mut live = Live {
        values: SecondaryMap::with_capacity(func.values.len()),
        insts: SecondaryMap::with_capacity(func.insts.len()),
    };
    let mut work: Vec<Value> = Vec::new();
    // What each parameter is given, per jump.
    let mut incoming: SecondaryMap<Block, Vec<(Block, usize)>> = SecondaryMap::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            if func.insts[inst].op.has_side_effect() {
                live.insts[inst] = true;
                work.extend(&func.insts[inst].args);
            }
        }
        let term = &func.blocks[block].term;
        match term {
            Terminator::CondBr { cond: value, .. } | Terminator::Switch { value, .. } => {
                work.push(*value);
            }
            Terminator::Ret(values) => work.extend(values),
            Terminator::Br(_) | Terminator::Unreachable => {}
        }
        let with_args = |(_, call): &(usize, &BlockCall)| !call.args.is_empty();
        for (i, call) in term.targets().enumerate().filter(with_args) {
            incoming[call.block].push((block, i));
        }
    }
    while let Some(value) = work.pop() {
        if std::mem::replace(&mut live.values[value], true) {
            continue;
        }
        match func.values[value].def {
            ValueDef::Result(inst, _) => {
                if !std::mem::replace(&mut live.insts[inst], true) {
                    work.extend(&func.insts[inst].args);
                }
            }
            ValueDef::Param(block, n) => {
                for &(from, target) in &incoming[block] {
                    if let Some(call) = func.blocks[from].term.target(target) {
                        work.push(call.args[usize::from(n)]);
                    }
                }
            }
        }
    }
    live
}

/// Drops the jump arguments of dead parameters.
fn drop_args(func: &mut Function, block: Block, live: &Live) -> bool {
    let mut changed = false;
    let mut term = std::mem::replace(&mut func.blocks[block].term, Terminator::Unreachable);
    for call in term.targets_mut() {
        let params = &func.blocks[call.block].params;
        if params.iter().all(|&p| live.values[p]) || call.args.len() != params.len() {
            continue;
        }
        let mut index = 0;
        call.args.retain(|_| {
            index += 1;
            live.values[params[index - 1]]
        });
        changed = true;
    }
    func.blocks[block].term = term;
    changed
}

#[cfg(test)]
mod tests {
    use crate::ir::{Stage, parse, verify::verify};

    #[test]
    fn a_value_that_only_goes_round_a_loop_dies() {
        let text = "func \"f\" (ptr, i32, i1) -> () {\nblock0(v0: ptr, v1: i32, v2: i1):\n\
            v9: i32 = imul v1, v1\nbr block1(v1, v9)\nblock1(v3: i32, v4: i32):\n\
            v5: i32 = iadd v3, v1\nv6: i32 = iadd v4, v3\nstore.global.align4 v0, v3\n\
            cond_br v2, block1(v5, v6), block2\nblock2:\nret\n}";
        let mut module = parse::module(text).unwrap();
        let func = module.functions.values_mut().next().unwrap();
        assert!(super::run(func));
        verify(func, Stage::Translated, None).unwrap();
        let text = func.to_string();
        assert!(!text.contains("imul"), "{text}");
        assert_eq!(text.matches("iadd").count(), 1, "{text}");
        assert!(text.contains("block1(v4: i32):"), "{text}");
        assert!(!super::run(func));
    }
}
