//! How many values live at once.
//!
//! Instructions are numbered in reverse post-order. A value lives from its definition to its last
//! use, or, when a use is in a loop that the definition is not in, to the end of the outermost such
//! loop: an interval, as linear-scan register allocation has them. Where control flow leaves an
//! interval the count is too high. Cost: linear, times the depth of loops.

use cranelift_entity::SecondaryMap;

use super::{Cfg, Loop};
use crate::ir::{Block, Function, Value};

/// The largest sum, over all points of a function, of the weights of the values that live there.
pub fn max_pressure(func: &Function, cfg: &Cfg, weight: impl Fn(Value) -> u64) -> u64 {
    let mut starts: SecondaryMap<Block, usize> = SecondaryMap::with_capacity(func.blocks.len());
    let mut points = 0;
    for &block in &cfg.order {
        starts[block] = points;
        // One for the parameters, one for the terminator.
        points += func.blocks[block].insts.len() + 2;
    }
    let end_of = |block: Block| starts[block] + func.blocks[block].insts.len() + 1;
    let loops = &cfg.loops.loops;
    let mut loop_end: SecondaryMap<Loop, usize> = SecondaryMap::with_capacity(loops.len());
    for &block in &cfg.order {
        if let Some(id) = cfg.loops.innermost(block) {
            loop_end[id] = loop_end[id].max(end_of(block));
        }
    }
    // Inner loops come before the loops around them.
    for (id, data) in loops {
        if let Some(parent) = data.parent {
            loop_end[parent] = loop_end[parent].max(loop_end[id]);
        }
    }
    let mut first: SecondaryMap<Value, usize> = SecondaryMap::with_capacity(func.values.len());
    let mut last: SecondaryMap<Value, usize> = SecondaryMap::with_capacity(func.values.len());
    let mut used = |value: Value, block: Block, at: usize| {
        let mut until = at;
        let mut around = cfg.loops.innermost(block);
        let mut defined = cfg.def_block[value].and_then(|def| cfg.loops.innermost(def));
        while let Some(id) = around {
            while let Some(inner) = defined
                && loops[inner].depth > loops[id].depth
            {
                defined = loops[inner].parent;
            }
            if defined == Some(id) {
                break;
            }
            until = until.max(loop_end[id]);
            around = loops[id].parent;
        }
        last[value] = last[value].max(until);
    };
    for &block in &cfg.order {
        let start = starts[block];
        for &param in &func.blocks[block].params {
            first[param] = start;
        }
        for (i, &inst) in func.blocks[block].insts.iter().enumerate() {
            let data = &func.insts[inst];
            data.args
                .iter()
                .for_each(|&arg| used(arg, block, start + i + 1));
            data.results.iter().for_each(|&r| first[r] = start + i + 1);
        }
        let end = end_of(block);
        func.blocks[block]
            .term
            .for_each_value(|arg| used(arg, block, end));
    }
    let mut change = vec![0i64; points + 1];
    for value in func.values.keys() {
        // What is used last where it is defined takes no room; so does what is never used.
        if last[value] > first[value] {
            let weight = weight(value) as i64;
            change[first[value]] += weight;
            change[last[value]] -= weight;
        }
    }
    let mut live = 0;
    let at = |change: i64| {
        live += change;
        live
    };
    change.into_iter().map(at).max().unwrap_or(0).max(0) as u64
}
