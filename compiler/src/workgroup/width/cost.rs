//! What running 8 work-items at a time costs or saves, in instructions, against one after another.

use cranelift_entity::SecondaryMap;

use super::Context;
use crate::analysis::{PROBED_INSTRUCTIONS, Shape, is_computed_from_ids, is_function_param};
use crate::ir::{BinOp, ConvertOp, Function, Inst, InstData, Op, Value};

/// Saved by an operation on two vectors, or one that is wider.
const GAIN: u64 = 6;
/// Lost by a gather or scatter without an instruction for it: addresses in vectors, taken apart,
/// lanes put together.
const LANE_BY_LANE: u64 = 24;
/// Lost by one that is an instruction, which takes about a cycle a lane, where two loads of one
/// lane take one. Measured with a product of a sparse matrix and a vector, three of them beside a
/// few operations, and with bcrypt, four or five beside some fourteen in each of Blowfish's rounds:
/// in vectors both take at least twice as long as with one work-item at a time.
const GATHER: u64 = 24;
/// Lost by one of several elements that together are a vector or half of one: each lane's are
/// loaded at once, and shuffles take them apart. Where they are a whole one that gains as much as
/// addresses lose.
const ROWS: u64 = 10;
/// Lost by one whose addresses are compared at run time and are usually consecutive.
const PROBED: u64 = 8;
/// Lost by a compare-and-exchange that is tried again, where all work-items have the same address:
/// of the lanes that try, one succeeds, so the loop runs once for each of them, and the lanes that
/// are left try in vain each time. Measured with a loop that writes to a pipe.
const CONTENDED: u64 = 400;
/// Operations beside one that takes lanes apart among which it hardly counts. Kernels that look for
/// passwords, which write what they find, have 40 and more; those that count or read images have
/// fewer than 5.
const BESIDE_ONE_APART: u64 = 32;

/// What vectors save and cost in a whole kernel.
#[derive(Default)]
pub(super) struct Cost {
    saved: u64,
    gathering: u64,
    contending: u64,
    /// Operations that take lanes apart.
    apart: u64,
}

impl Cost {
    pub(super) fn of(context: &Context<'_>) -> Cost {
        let mut cost = Cost::default();
        let parts = parts_of_addresses(context);
        for (inst, weight) in context.instructions() {
            if !parts[inst] {
                cost.add(context, inst, u64::from(weight));
            }
        }
        cost
    }

    fn add(&mut self, context: &Context<'_>, inst: Inst, weight: u64) {
        let (kernel, shapes) = (context.kernel, context.shapes);
        let data = &kernel.insts[inst];
        let varying = |v: Value| shapes.of(v) == Shape::Varying;
        match data.op {
            Op::Load(_) | Op::Store(_) if varying(data.args[0]) => {
                self.apart += weight;
                let given = |v: Value| is_function_param(kernel, v);
                let probed =
                    || is_computed_from_ids(kernel, data.args[0], PROBED_INSTRUCTIONS, given);
                let target = context.target;
                let is_instruction = match data.op {
                    Op::Load(_) => target.gathers,
                    _ => target.scatters,
                };
                self.gathering += weight
                    * if target.gathers && is_row(kernel, data) {
                        ROWS
                    } else if probed() {
                        PROBED
                    } else if is_instruction {
                        GATHER
                    } else {
                        LANE_BY_LANE
                    };
            }
            // Calls, lane by lane, or gathers and much arithmetic where the format is known.
            Op::ImageRead(_) | Op::ImageWrite(_) => self.apart += weight,
            Op::AtomicRmw(..) | Op::AtomicCmpXchg(_) => {
                self.apart += weight;
                let again = matches!(data.op, Op::AtomicCmpXchg(_)) && weight > 1;
                if again && shapes.of(data.args[0]) == Shape::Uniform {
                    self.contending += weight * CONTENDED;
                }
            }
            _ if data.results.iter().any(|&r| varying(r)) => self.saved += weight * GAIN,
            _ => {}
        }
    }

    /// Whether taking lanes apart is much of what is done.
    pub(super) fn takes_lanes_apart(&self) -> bool {
        self.apart * BESIDE_ONE_APART > self.saved / GAIN
    }

    /// Why one work-item at a time is faster, if it is.
    pub(super) fn against_vectors(&self) -> Option<&'static str> {
        if self.gathering + self.contending <= self.saved {
            return None;
        }
        Some(match self.gathering > self.contending {
            true => "gathering from memory would cost more than vectors gain",
            false => "contending for one address would cost more than vectors gain",
        })
    }
}

/// The instructions that do nothing but scale and add what the addresses of accesses are made of:
/// of one lane, such an address is an operand.
fn parts_of_addresses(context: &Context<'_>) -> SecondaryMap<Inst, bool> {
    let kernel = context.kernel;
    let mut used_otherwise: SecondaryMap<Value, bool> = SecondaryMap::new();
    let mut parts: SecondaryMap<Inst, bool> = SecondaryMap::new();
    // What uses a value follows it, but for what loops carry round, which their ends use.
    for &block in context.cfg.order.iter().rev() {
        let data = &kernel.blocks[block];
        data.term
            .for_each_value(|value| used_otherwise[value] = true);
        for &inst in data.insts.iter().rev() {
            let data = &kernel.insts[inst];
            parts[inst] = is_scaling_or_sum(kernel, data)
                && data.results.iter().all(|&result| !used_otherwise[result]);
            let is_access = matches!(data.op, Op::Load(_) | Op::Store(_));
            for (n, &arg) in data.args.iter().enumerate() {
                let as_address = parts[inst] || is_access && n == 0;
                used_otherwise[arg] |= !as_address;
            }
        }
    }
    parts
}

/// Whether an instruction is one of those that addresses of memory operands are made of.
fn is_scaling_or_sum(kernel: &Function, data: &InstData) -> bool {
    match data.op {
        Op::PtrAdd | Op::Convert(ConvertOp::SExt | ConvertOp::ZExt, _) => true,
        Op::Binary(BinOp::IMul | BinOp::Shl, _) => kernel.as_const(data.args[1]).is_some(),
        _ => false,
    }
}

/// Whether an access is to a power of two of elements that vectors hold two of, or one.
fn is_row(kernel: &Function, data: &InstData) -> bool {
    let elements = match data.op {
        Op::Load(_) => &data.results[..],
        _ => &data.args[1..],
    };
    let bytes = elements.first().map_or(0, |&e| kernel.ty(e).scalar.bytes());
    elements.len() > 1 && elements.len().is_power_of_two() && bytes >= 4
}
