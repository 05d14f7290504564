//! How many work-items to run at a time.
//!
//! Vectors are 128 bits wide in hardware, and two per value hide latencies, so the width is as many of the
//! kernel's typical data type as 256 bits hold; one register's worth when many values are live, so that they
//! stay in registers.

use super::Remark;
use super::extensions::spell_out;
use super::subgroups::uses_sub_groups;
use crate::LaunchKey;
use crate::analysis::{Across, Cfg, LoopData, Shape, Shapes};
use crate::ir::{Function, Op, Scalar, SourceLoc, Type, Value};

/// The size of sub-groups in kernels that do not require another. One for all, so that what an application has learnt
/// from one kernel holds for the next, and that of most kernels, with two registers for a 32-bit value.
const SUB_GROUP: u8 = 8;

// What running 8 work-items together costs or saves, in instructions, against one after another.

/// Saved by an operation on two vectors.
const GAIN: u64 = 6;
/// Lost by a gather or scatter: addresses in vectors, taken apart, lanes put together.
const GATHER: u64 = 35;
/// Lost by one whose addresses are compared at run time and are usually consecutive.
const PROBED: u64 = 8;

/// Whether an address follows from ids and uniform values by arithmetic alone: code generation then asks at
/// run time whether lanes are consecutive. Looks at a bounded number of instructions.
fn is_computed(kernel: &Function, address: Value) -> bool {
    let mut todo = vec![address];
    let mut seen = Vec::new();
    while let Some(value) = todo.pop() {
        if seen.contains(&value) {
            continue;
        }
        seen.push(value);
        let Some(inst) = kernel.def_inst(value) else {
            // The kernel's own parameters are uniform; other parameters are loop-carried or merged.
            if kernel.params().contains(&value) {
                continue;
            }
            return false;
        };
        let data = &kernel.insts[inst];
        if seen.len() > 64 || !data.op.is_pure() {
            return false;
        }
        todo.extend(data.args.iter().copied());
    }
    true
}

/// A width for a kernel at [`Stage::Scalarized`](crate::ir::Stage), and why.
pub fn choose_width(kernel: &Function) -> (u8, Vec<Remark>) {
    let mut kernel = kernel.clone();
    spell_out(&mut kernel);
    let kernel = &kernel;
    let cfg = Cfg::new(kernel);
    if uses_sub_groups(kernel) {
        let endless = |data: &LoopData| data.exits.is_empty();
        if !cfg.loops.irreducible.is_empty() || cfg.loops.loops.values().any(endless) {
            let why = "runs 1 work-item at a time: a loop has several entries or no way out";
            return (1, vec![Remark::new(SourceLoc::default(), why)]);
        }
        let why = format!("runs {SUB_GROUP} work-items at a time: its sub-groups");
        return (SUB_GROUP, vec![Remark::new(SourceLoc::default(), why)]);
    }
    let key = LaunchKey {
        linear: true,
        full_chunks: true,
        zero_offset: true,
        small_ids: true,
        uniform_groups: true,
    };
    let shapes = Shapes::new(kernel, &cfg, &key, Across::Chunk(8));
    // Varying instructions by the bytes of their data; addresses that need a vector count as 8.
    let mut counts = [0u32; 4];
    let (mut gain, mut loss) = (0u64, 0u64);
    for &block in &cfg.order {
        let weight = 4u32.saturating_pow(cfg.loops.depth(block).min(4));
        for &inst in &kernel.blocks[block].insts {
            let data = &kernel.insts[inst];
            let varying = |v: Value| shapes.of(v) == Shape::Varying;
            match data.op {
                Op::Load(_) | Op::Store(_) if varying(data.args[0]) => {
                    let cost = if is_computed(kernel, data.args[0]) {
                        PROBED
                    } else {
                        GATHER
                    };
                    loss += u64::from(weight) * cost;
                }
                _ if data.results.iter().any(|&r| varying(r)) => gain += u64::from(weight) * GAIN,
                _ => {}
            }
            if matches!(data.op, Op::ICmp(_) | Op::FCmp(_)) {
                continue;
            }
            let mut count = |ty: Type| {
                if ty.scalar != Scalar::I1 {
                    let class = ty.scalar.bytes().trailing_zeros() as usize;
                    counts[class] = counts[class].saturating_add(weight);
                }
            };
            match data.op {
                Op::Store(_) => data.args[1..].iter().for_each(|&v| count(kernel.ty(v))),
                _ => data
                    .results
                    .iter()
                    .filter(|&&r| shapes.of(r) == Shape::Varying)
                    .for_each(|&r| count(kernel.ty(r))),
            }
        }
    }
    if loss > gain {
        let why =
            "runs 1 work-item at a time: gathering from memory would cost more than vectors gain";
        return (1, vec![Remark::new(SourceLoc::default(), why)]);
    }
    let total: u32 = counts.iter().fold(0, |sum, &n| sum.saturating_add(n));
    let (width, why) = if counts[3] > total / 4 {
        (4, "mostly 64-bit values")
    } else if counts[2] > 0 || total == 0 {
        (8, "32-bit values")
    } else if counts[1] > 0 {
        (8, "16-bit values")
    } else {
        (16, "8-bit values")
    };
    let remark = Remark::new(
        SourceLoc::default(),
        format!("runs {width} work-items at a time: {why}"),
    );
    (width, vec![remark])
}
