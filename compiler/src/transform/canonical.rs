//! Brings control flow into the form that linearization (`vectorize/linearize.rs`) relies on.
//!
//! 1. Only blocks that can be reached; one block returns, and it is where control that "never
//!    arrives" goes.
//! 2. No conditional branch has one block as both targets; no block that only one jump leads to has
//!    parameters.
//! 3. Each loop has one entry, its header.
//! 4. Each loop has one latch of its own: a block that does nothing but hand its parameters to the
//!    header. Lanes that are done with an iteration wait there.
//! 5. No `switch` that lanes leave by different targets: it becomes a chain of comparisons.
//!
//! Cost: linear, per layer of nested divergent switches.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use super::single_entry;
use crate::analysis::{Cfg, Shapes};
use crate::ir::{Block, BlockCall, Builder, Function, IntCC, Terminator, Type, Value};

/// Points 1 to 4.
pub fn canonicalize(func: &mut Function) {
    unify(func);
    dedicate_latches(func);
}

/// Points 1 and 2.
pub fn unify(func: &mut Function) {
    func.layout = func.reverse_post_order();
    unify_exits(func);
    merge_equal_targets(func);
    forward_parameters(func);
}

fn unify_exits(func: &mut Function) {
    let leaving: Vec<Block> = func
        .layout
        .iter()
        .copied()
        .filter(|&block| {
            matches!(
                func.blocks[block].term,
                Terminator::Ret(_) | Terminator::Unreachable
            )
        })
        .collect();
    if let [only] = leaving[..]
        && matches!(func.blocks[only].term, Terminator::Ret(_))
    {
        return;
    }
    let results = func.results.clone();
    let exit = func.add_block();
    for &ty in &results {
        func.add_param(exit, ty);
    }
    let params: SmallVec<[Value; 4]> = func.blocks[exit].params.iter().copied().collect();
    func.blocks[exit].term = Terminator::Ret(params);
    for block in leaving {
        let args = match &func.blocks[block].term {
            Terminator::Ret(values) => values.clone(),
            _ => {
                let mut b = Builder::new(func, block);
                results.iter().map(|&ty| b.iconst(ty, 0)).collect()
            }
        };
        func.blocks[block].term = Terminator::Br(BlockCall { block: exit, args });
    }
}

fn merge_equal_targets(func: &mut Function) {
    for block in func.layout.clone() {
        let Terminator::CondBr { cond, then, els } = func.blocks[block].term.clone() else {
            continue;
        };
        if then.block == els.block {
            let mut b = Builder::new(func, block);
            let args: Vec<Value> = then
                .args
                .iter()
                .zip(&els.args)
                .map(|(&x, &y)| if x == y { x } else { b.select(cond, x, y) })
                .collect();
            b.br(then.block, &args);
        }
    }
}

/// Replaces parameters of blocks that only one jump leads to by what it hands over.
pub fn forward_parameters(func: &mut Function) {
    let jumps = func.jumps();
    let mut replace: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    replace.resize(func.values.len());
    let mut changed = false;
    for &block in &func.layout {
        let [jump] = jumps[block][..] else { continue };
        if block == func.layout[0] || func.blocks[block].params.is_empty() {
            continue;
        }
        changed = true;
        let params = std::mem::take(&mut func.blocks[block].params);
        let term = &mut func.blocks[jump.from].term;
        if let Some(call) = term.target_mut(jump.number as usize) {
            for (param, arg) in params.into_iter().zip(std::mem::take(&mut call.args)) {
                replace[param] = arg.into();
            }
        }
    }
    if changed {
        func.replace_uses(&replace);
    }
}

/// Point 3, and the analysis of the function. A kernel has no loops with several entries
/// (`single_entry.rs`), but where code between barriers is there several times
/// (`workgroup/divergent_barriers.rs`) it may begin inside a loop.
pub fn enter_once(func: &mut Function) -> Cfg {
    let cfg = Cfg::new(func);
    if cfg.loops.irreducible.is_empty() {
        return cfg;
    }
    single_entry::run(func);
    unify(func);
    Cfg::new(func)
}

fn dedicate_latches(func: &mut Function) {
    let cfg = enter_once(func);
    for data in cfg.loops.loops.values() {
        let header = data.header;
        let latch = func.add_block();
        let types: Vec<Type> = func.blocks[header]
            .params
            .iter()
            .map(|&param| func.ty(param))
            .collect();
        for ty in types {
            func.add_param(latch, ty);
        }
        let params = func.blocks[latch].params.clone();
        Builder::new(func, latch).br(header, &params);
        for &jump in &cfg.jumps[header] {
            if cfg.is_back_edge(jump.from, header) {
                func.redirect(jump, latch);
            }
        }
    }
}

/// Point 5; whether anything changed, so that analyses must run again.
pub fn split_divergent_switches(func: &mut Function, shapes: &Shapes) -> bool {
    let mut changed = false;
    for block in func.layout.clone() {
        let Terminator::Switch {
            value,
            cases,
            default,
        } = func.blocks[block].term.clone()
        else {
            continue;
        };
        if !shapes.branches[block] {
            continue;
        }
        changed = true;
        let ty = func.ty(value);
        let mut b = Builder::new(func, block);
        for (bits, call) in cases {
            let bits = b.iconst(ty, bits);
            let cond = b.icmp(IntCC::Eq, value, bits);
            let next = b.new_block(&[]);
            b.terminate(Terminator::CondBr {
                cond,
                then: call,
                els: BlockCall::new(next, &[]),
            });
            b.switch_to(next);
        }
        b.terminate(Terminator::Br(default));
    }
    changed
}
