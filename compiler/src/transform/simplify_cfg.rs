//! Control flow made simple.
//!
//! In this order, until steps 3 and 5 find nothing more (a few rounds at most):
//!
//! 1. blocks that the entry does not reach go away;
//! 2. parameters that are given one value on every jump become that value, and parameters of one
//!    block that are always given the same become one (`block_params.rs`);
//! 3. a block that only jumps on is jumped over, unless it is a loop's preheader or only latch,
//!    which later passes want to find;
//! 4. a block whose only predecessor jumps nowhere else is appended to it;
//! 5. a branch around a few cheap pure operations becomes `select`s (`if_convert.rs`).
//!
//! What the other steps make of a function is of use to those behind them only. Each step is linear
//! in the function; rounds are few because 3 to 5 work through blocks in an order in which inner
//! constructs come first.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use super::{block_params, if_convert};
use crate::ir::{Block, Function, Terminator, Value, ValueDef};

/// More rounds than any program needs but a chain made for the purpose.
const ROUNDS: usize = 8;

/// Simplifies control flow. Returns whether anything changed.
pub fn run(func: &mut Function) -> bool {
    let mut changed = false;
    for _ in 0..ROUNDS {
        changed |= remove_unreachable(func);
        changed |= block_params::run(func);
        let mut again = thread_empty(func);
        if again {
            remove_unreachable(func);
        }
        changed |= merge_lines(func);
        again |= if_convert::run(func);
        changed |= again;
        // What the other steps make of a function is of use to those behind them only.
        if !again {
            break;
        }
    }
    changed
}

/// Drops blocks that the entry does not reach from the layout.
pub fn remove_unreachable(func: &mut Function) -> bool {
    let order = func.reverse_post_order();
    if order.len() == func.layout.len() {
        return false;
    }
    let mut reachable: SecondaryMap<Block, bool> = SecondaryMap::new();
    reachable.resize(func.blocks.len());
    for block in order {
        reachable[block] = true;
    }
    func.layout.retain(|&block| reachable[block]);
    true
}

/// Appends each block with one predecessor that jumps nowhere else to that predecessor.
fn merge_lines(func: &mut Function) -> bool {
    let preds = func.predecessors();
    let mut gone: SecondaryMap<Block, bool> = SecondaryMap::with_capacity(func.blocks.len());
    let mut replace: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    let mut changed = false;
    for block in func.reverse_post_order() {
        if gone[block] {
            continue;
        }
        while let Terminator::Br(call) = &func.blocks[block].term {
            let next = call.block;
            if next == block || preds[next].len() != 1 {
                break;
            }
            let args = call.args.clone();
            for (&param, &arg) in func.blocks[next].params.iter().zip(&args) {
                // `arg` may itself be a parameter merged away before; keep chains short.
                replace[param] = replace[arg].expand().unwrap_or(arg).into();
            }
            let insts = std::mem::take(&mut func.blocks[next].insts);
            let term = std::mem::replace(&mut func.blocks[next].term, Terminator::Unreachable);
            func.blocks[block].insts.extend(insts);
            func.blocks[block].term = term;
            gone[next] = true;
            changed = true;
        }
    }
    if changed {
        func.layout.retain(|&block| !gone[block]);
        func.replace_uses(&replace);
    }
    changed
}

/// Where a jump to an empty block really goes: the block and, for each argument, either a value or
/// the number of the empty block's parameter that is passed on.
#[derive(Clone)]
struct Thread {
    block: Block,
    args: SmallVec<[Result<Value, usize>; 4]>,
}

/// Makes jumps to blocks that only jump on go where these lead.
fn thread_empty(func: &mut Function) -> bool {
    let only_jumps_on = |func: &Function, block: Block| {
        let data = &func.blocks[block];
        block != func.entry() && data.insts.is_empty() && matches!(data.term, Terminator::Br(_))
    };
    if !func.layout.iter().any(|&block| only_jumps_on(func, block)) {
        return false;
    }
    let order = func.reverse_post_order();
    let mut position: SecondaryMap<Block, usize> = SecondaryMap::new();
    for (i, &block) in order.iter().enumerate() {
        position[block] = i;
    }
    let mut is_header: SecondaryMap<Block, bool> = SecondaryMap::new();
    for &block in &order {
        for succ in func.successors(block) {
            is_header[succ] |= position[succ] <= position[block];
        }
    }
    let elsewhere = used_elsewhere(func);
    let mut threads: SecondaryMap<Block, Option<Thread>> = SecondaryMap::new();
    // Backwards, so that a chain of empty blocks ends up as one jump.
    for &block in order.iter().rev() {
        let data = &func.blocks[block];
        let Terminator::Br(call) = &data.term else {
            continue;
        };
        if !only_jumps_on(func, block)
            || is_header[call.block]
            || data.params.iter().any(|&p| elsewhere[p])
        {
            continue;
        }
        let own = |value: Value| match func.values[value].def {
            ValueDef::Param(b, n) if b == block => Err(usize::from(n)),
            _ => Ok(value),
        };
        let through: SmallVec<[_; 4]> = call.args.iter().map(|&arg| own(arg)).collect();
        let thread = match &threads[call.block] {
            Some(next) => Thread {
                block: next.block,
                args: next
                    .args
                    .iter()
                    .map(|arg| arg.or_else(|n| through[n]))
                    .collect(),
            },
            None => Thread {
                block: call.block,
                args: through,
            },
        };
        threads[block] = Some(thread);
    }
    let mut changed = false;
    for &block in &order {
        let mut term = std::mem::replace(&mut func.blocks[block].term, Terminator::Unreachable);
        for call in term.targets_mut() {
            if let Some(thread) = &threads[call.block] {
                let pass = |arg: &Result<Value, usize>| arg.unwrap_or_else(|n| call.args[n]);
                call.args = thread.args.iter().map(pass).collect();
                call.block = thread.block;
                changed = true;
            }
        }
        func.blocks[block].term = term;
    }
    changed
}

/// Which block parameters are used outside their block's terminator.
fn used_elsewhere(func: &Function) -> SecondaryMap<Value, bool> {
    let mut elsewhere: SecondaryMap<Value, bool> = SecondaryMap::with_capacity(func.values.len());
    for &block in &func.layout {
        let data = &func.blocks[block];
        for &inst in &data.insts {
            for &arg in &func.insts[inst].args {
                elsewhere[arg] = true;
            }
        }
        data.term
            .for_each_value(|value| match func.values[value].def {
                ValueDef::Param(b, _) if b == block => {}
                _ => elsewhere[value] = true,
            });
    }
    elsewhere
}
