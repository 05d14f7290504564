//! Which of Cranelift's register allocators suits a function.

use cranelift_entity::SecondaryMap;

use super::parts::part_count;
use crate::ir::{Function, Op, Type, Value};

/// How registers are allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocator {
    /// For good code. Takes time in proportion to `Lifetimes::sum`, about 50 ns for each.
    Backtracking,
    /// In linear time. The code moves values to and from memory more often.
    SinglePass,
}

/// For how long the values of a function live.
#[derive(Clone, Copy, Debug)]
struct Lifetimes {
    instructions: usize,
    /// The instructions that each value lives for, added up.
    sum: usize,
    /// The same, each value as often as it is used.
    sum_by_use: usize,
}

impl Allocator {
    /// With more values than this alive at once, on average, most are in memory whoever allocates
    /// registers.
    const PRESSURE_LIMIT: usize = 256;

    /// More takes seconds.
    const ALLOCATOR_BUDGET: usize = 64_000_000;

    /// A value used all over a long function is taken out of its register at many places, and each
    /// time all that is in the registers from there on is looked at. More of this takes a tenth of
    /// a second and soon seconds: a thousand cases of a switch do, or a hash function that is all
    /// in one kernel.
    const ALLOCATOR_BUDGET_BY_USE: usize = 25_000_000;

    /// The one that suits a function.
    pub fn suited_to(func: &Function) -> Allocator {
        let lifetimes = lifetimes(func);
        let pressure = lifetimes.sum / lifetimes.instructions.max(1);
        if pressure > Allocator::PRESSURE_LIMIT
            || lifetimes.sum > Allocator::ALLOCATOR_BUDGET
            || lifetimes.sum_by_use > Allocator::ALLOCATOR_BUDGET_BY_USE
        {
            Allocator::SinglePass
        } else {
            Allocator::Backtracking
        }
    }
}

/// Looks at how long values live, in the order in which they are translated. A loop's values live
/// through all of it, which is left out: what counts is the order of magnitude.
fn lifetimes(func: &Function) -> Lifetimes {
    let mut lives: SecondaryMap<Value, (u32, u32)> = SecondaryMap::with_capacity(func.values.len());
    let mut uses: SecondaryMap<Value, u32> = SecondaryMap::with_capacity(func.values.len());
    let mut at = 0;
    for block in func.reverse_post_order() {
        for &param in &func.blocks[block].params {
            lives[param] = (at, at);
        }
        let insts = &func.blocks[block].insts;
        for data in insts.iter().map(|&inst| &func.insts[inst]) {
            at += 1;
            for &arg in &data.args {
                lives[arg].1 = at;
                uses[arg] += 1;
            }
            // Constants and addresses of variables are made where they are used.
            if !matches!(
                data.op,
                Op::Const(_) | Op::GlobalAddr(_) | Op::Alloca { .. }
            ) {
                for &result in &data.results {
                    lives[result] = (at, at);
                }
            }
        }
        at += 1;
        func.blocks[block]
            .term
            .for_each_value(|value| lives[value].1 = at);
    }
    let parts = |ty: Type| part_count(ty.lanes, ty.scalar.bits());
    let mut found = Lifetimes {
        instructions: at as usize,
        sum: 0,
        sum_by_use: 0,
    };
    for (value, &(start, end)) in lives.iter() {
        if start > 0 && end > start {
            let length = (end - start) as usize * parts(func.ty(value));
            found.sum += length;
            found.sum_by_use += length * uses[value] as usize;
        }
    }
    found
}
