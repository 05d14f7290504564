//! Through which of its parameters a function writes to memory.
//!
//! Goes back from each address that is written to what it is computed from: through `ptr_add`,
//! `select` and the parameters of blocks. What passed through memory, integers or functions that
//! are called is not followed: what is found is written to on some path, what is not found may be
//! too. Cost: linear.

use cranelift_entity::SecondaryMap;

use crate::ir::{Function, Op, Value, ValueDef};

/// The parameters of a function that it writes through.
pub fn written_params(func: &Function) -> SecondaryMap<Value, bool> {
    let mut seen: SecondaryMap<Value, bool> = SecondaryMap::with_capacity(func.values.len());
    let jumps = func.jumps();
    let mut todo: Vec<Value> = Vec::new();
    for &block in &func.layout {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            let writes = matches!(
                data.op,
                Op::Store(_)
                    | Op::MemCopy { .. }
                    | Op::MemCopyDyn { .. }
                    | Op::AtomicRmw(..)
                    | Op::AtomicCmpXchg(_)
                    | Op::AtomicStore(_)
            );
            todo.extend(data.args.first().filter(|_| writes));
        }
    }
    while let Some(value) = todo.pop() {
        if std::mem::replace(&mut seen[value], true) {
            continue;
        }
        match func.values[value].def {
            ValueDef::Result(inst, _) => match (&func.insts[inst].op, &func.insts[inst].args[..]) {
                (Op::PtrAdd, &[base, _]) => todo.push(base),
                (Op::Select, &[_, left, right]) => todo.extend([left, right]),
                _ => {}
            },
            ValueDef::Param(block, index) => {
                let jumps = jumps[block].iter();
                todo.extend(jumps.map(|&jump| func.jump_args(jump)[usize::from(index)]));
            }
        }
    }
    let mut written = SecondaryMap::new();
    for &param in func.params() {
        written[param] = seen[param];
    }
    written
}

#[cfg(test)]
mod tests {
    use super::written_params;
    use crate::ir::parse;

    #[test]
    fn stores_are_followed_to_the_parameters_they_go_through() {
        let text = "func \"k\" (ptr, ptr, ptr, ptr, ptr, i1) -> () {
            block0(stored: ptr, chosen: ptr, merged: ptr, counted: ptr, read: ptr, c: i1):
              four: i64 = const 4
              zero: i32 = const 0
              at: ptr = ptr_add stored, four
              store.global.align4 at, zero
              word: i32 = load.global.align4 read
              either: ptr = select c, chosen, stored
              mem_copy.4.align4 either, read
              br block1(merged)
            block1(next: ptr):
              store.global.align4 next, word
              after: ptr = ptr_add next, four
              old: i32 = atomic_rmw.add.global.device.relaxed counted, word
              cond_br c, block1(after), block2
            block2:
              ret
            }";
        let module = parse::module(text).expect("a module");
        let func = module.functions.values().next().expect("a function");
        let written = written_params(func);
        let found: Vec<bool> = func.params().iter().map(|&p| written[p]).collect();
        assert_eq!(found, [true, true, true, true, false, false]);
    }
}
