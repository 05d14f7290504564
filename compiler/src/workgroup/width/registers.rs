//! How many registers a value may take: what its data's type is, and how much lives at once.

use cranelift_entity::SecondaryMap;

use super::Context;
use crate::analysis::{Shape, max_pressure};
use crate::ir::{BinOp, ConvertOp, Function, Inst, Op, Scalar, Type, Value};
#[cfg(doc)]
use crate::target::Target;

/// Bytes of an item's values that may live at once when 16 items run together in vectors of 128
/// bits.
const FOUR_PARTS_LIVE: u64 = 36;
/// Built-in functions, each some 50 instructions, in a kernel of which many items run together: in
/// longer code there is little overhead to share, and it takes twice as long to compile.
const MOST_BUILTINS: usize = 4;
/// Chains of operations that keep a processor busy of which [`Target::spilling_pays_up_to`] says
/// more than 1: four operations of two cycles begin in each.
const ENOUGH_CHAINS: u64 = 8;
/// The most items that run together.
const WIDEST: u32 = 32;

/// Varying data by the size of its elements, weighted by the loops that it is in. What only makes
/// an address of an index does not count: gathers take the index apart.
pub(super) struct DataSizes {
    /// For 1, 2, 4 and 8 bytes.
    counts: [u32; 4],
}

impl DataSizes {
    pub(super) fn of(context: &Context<'_>) -> DataSizes {
        let mut counts = [0u32; 4];
        let kernel = context.kernel;
        for (inst, weight) in context.instructions() {
            let data = &kernel.insts[inst];
            if matches!(data.op, Op::ICmp(_) | Op::FCmp(_) | Op::PtrAdd)
                || is_scaled_index(kernel, inst)
            {
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
                    .filter(|&&r| context.shapes.of(r) == Shape::Varying)
                    .for_each(|&r| count(kernel.ty(r))),
            }
        }
        DataSizes { counts }
    }

    /// A width, and why. `takes_lanes_apart`: for the sake of memory.
    pub(super) fn width(
        &self,
        context: &Context<'_>,
        takes_lanes_apart: bool,
    ) -> (u8, &'static str) {
        let counts = &self.counts;
        let total: u32 = counts.iter().fold(0, |sum, &n| sum.saturating_add(n));
        let target = context.target;
        // With wide vectors even one register for a value has many items share what is scalar.
        let is_narrow = target.vector_bytes == 16;
        let few = if is_narrow { 2 } else { 1 };
        let lanes =
            |bytes: u32, registers: u32| (target.vector_bytes / bytes * registers).min(WIDEST);
        let many_fit = |width: u32| !takes_lanes_apart && many_fit(context, width);
        let (width, why) = if counts[3] > total / 4 {
            match lanes(8, 2 * few) {
                many if !is_narrow && many_fit(many) => (many, "mostly 64-bit values"),
                _ => (lanes(8, few), "mostly 64-bit values"),
            }
        } else if counts[2] > 0 || total == 0 {
            match lanes(4, 2 * few) {
                many if many_fit(many) => (many, "32-bit values"),
                _ => (lanes(4, few), "32-bit values, many at once or gathered"),
            }
        } else if counts[1] > 0 {
            (lanes(2, few), "16-bit values")
        } else {
            (lanes(1, 1), "8-bit values")
        };
        (width as u8, why)
    }
}

/// Whether the kernel is short, and registers suffice for so many items' values.
fn many_fit(context: &Context<'_>, width: u32) -> bool {
    let kernel = context.kernel;
    let bytes = |v: Value| match context.shapes.of(v) {
        Shape::Varying if kernel.ty(v).scalar != Scalar::I1 => {
            u64::from(kernel.ty(v).scalar.bytes())
        }
        _ => 0,
    };
    let is_builtin = |inst: Inst| matches!(kernel.insts[inst].op, Op::Builtin(..));
    let builtins = context.instructions().filter(|&(inst, _)| is_builtin(inst));
    let target = context.target;
    let spilled_up_to = match target.spilling_pays_up_to {
        times if times > 1 && parallelism(context) < ENOUGH_CHAINS => times,
        _ => 1,
    };
    let most = match target.vector_bytes {
        16 => FOUR_PARTS_LIVE,
        bytes => u64::from(spilled_up_to * target.vector_registers * bytes / width),
    };
    builtins.count() <= MOST_BUILTINS && max_pressure(kernel, context.cfg, bytes) <= most
}

/// How many operations on varying values there are for each on the longest chain of them, on the
/// average over the blocks, rounded. Cost: linear.
fn parallelism(context: &Context<'_>) -> u64 {
    let kernel = context.kernel;
    let mut chains: SecondaryMap<Value, u64> = SecondaryMap::with_capacity(kernel.values.len());
    let (mut operations, mut longest) = (0, 0);
    for &block in &context.cfg.order {
        let weight = u64::from(context.weight(block));
        let mut chain = 0;
        for &inst in &kernel.blocks[block].insts {
            let data = &kernel.insts[inst];
            let here = |&arg: &Value| match context.cfg.def_block[arg] == Some(block) {
                true => chains[arg],
                false => 0,
            };
            let before = data.args.iter().map(here).max().unwrap_or(0);
            let varies = |&result: &Value| context.shapes.of(result) == Shape::Varying;
            let varying = u64::from(data.results.iter().any(varies));
            for &result in &data.results {
                chains[result] = before + varying;
            }
            operations += weight * varying;
            chain = chain.max(before + varying);
        }
        longest += weight * chain;
    }
    (operations + longest / 2) / longest.max(1)
}

/// Whether an instruction extends an index of up to 32 bits to 64, or scales one that has been.
fn is_scaled_index(kernel: &Function, inst: Inst) -> bool {
    let data = &kernel.insts[inst];
    match data.op {
        Op::Convert(ConvertOp::ZExt | ConvertOp::SExt, _) => {
            kernel.ty(data.results[0]).scalar == Scalar::I64
        }
        Op::Binary(BinOp::IMul | BinOp::Shl, _) => {
            kernel.as_const(data.args[1]).is_some()
                && kernel
                    .def_inst(data.args[0])
                    .is_some_and(|inst| matches!(kernel.insts[inst].op, Op::Convert(..)))
                && kernel.ty(data.results[0]).scalar == Scalar::I64
        }
        _ => false,
    }
}
