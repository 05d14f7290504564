//! How many work-items to run at a time.
//!
//! Vectors are 128 bits wide in hardware. Four per value share the cost of loops, addresses and checks among most items and
//! keep most memory accesses in flight; two are better when so many values live at once that four of
//! each would be spilled, or when memory is gathered, which takes lanes apart.
//! A launch whose work-groups are short in x gets less ([`launch_width`]).

use super::extension_idioms::rewrite_extension_idioms;
use super::subgroups::uses_sub_groups;
use crate::analysis::{
    Across, Cfg, LoopData, PROBED_INSTRUCTIONS, Shape, Shapes, is_computed_from_ids,
    is_function_param, max_pressure,
};
use crate::diagnostic::Remark;
use crate::ir::{BinOp, ConvertOp, Function, Inst, Op, Scalar, SourceLoc, Type, Value};
use crate::launch::LaunchKey;

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
/// Lost by a compare-and-exchange that is tried again, where all work-items have the same address: of the lanes
/// that try, one succeeds, so the loop runs once for each of them, and the lanes that are left try in vain each time. Measured with a loop that
/// writes to a pipe.
const CONTENDED: u64 = 400;

/// Bytes of an item's values that may live at once when 16 items run together.
const FOUR_PARTS_LIVE: u64 = 36;
/// Built-in functions, each some 50 instructions, in a kernel that runs 16 items together: in longer code there is little
/// overhead to share, and it takes twice as long to compile.
const FOUR_PARTS_BUILTINS: usize = 4;

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

/// A width for a kernel at [`Stage::Scalarized`](crate::ir::Stage), and why.
pub fn choose_width(kernel: &Function) -> (u8, Vec<Remark>) {
    let mut kernel = kernel.clone();
    rewrite_extension_idioms(&mut kernel);
    let kernel = &kernel;
    let cfg = Cfg::new(kernel);
    if uses_sub_groups(kernel) {
        let endless = |data: &LoopData| data.exits.is_empty();
        if cfg.loops.loops.values().any(endless) {
            let why = "runs 1 work-item at a time: a loop has no way out";
            return (1, vec![Remark::new(SourceLoc::default(), why)]);
        }
        let why = format!("runs {SUB_GROUP} work-items at a time: its sub-groups");
        return (SUB_GROUP, vec![Remark::new(SourceLoc::default(), why)]);
    }
    let key = LaunchKey {
        width: 8,
        linear: true,
        full_chunks: true,
        zero_offset: true,
        small_ids: true,
        uniform_groups: true,
    };
    let shapes = Shapes::guessing(kernel, &cfg, &key, Across::Chunk(8));
    // Varying instructions by the bytes of their data. What only makes an address of an index does not count: gathers
    // take the index apart.
    let mut counts = [0u32; 4];
    let (mut gain, mut loss, mut contended) = (0u64, 0u64, 0u64);
    let mut gathers = false;
    for &block in &cfg.order {
        let weight = 4u32.saturating_pow(cfg.loops.depth(block).min(4));
        for &inst in &kernel.blocks[block].insts {
            let data = &kernel.insts[inst];
            let varying = |v: Value| shapes.of(v) == Shape::Varying;
            match data.op {
                Op::Load(_) | Op::Store(_) if varying(data.args[0]) => {
                    gathers = true;
                    let given = |v: Value| is_function_param(kernel, v);
                    let cost =
                        if is_computed_from_ids(kernel, data.args[0], PROBED_INSTRUCTIONS, given) {
                            PROBED
                        } else {
                            GATHER
                        };
                    loss += u64::from(weight) * cost;
                }
                // Calls, lane by lane.
                Op::ImageRead(_) | Op::ImageWrite(_) => gathers = true,
                Op::AtomicRmw(..) | Op::AtomicCmpXchg(_) => {
                    gathers = true;
                    let again = matches!(data.op, Op::AtomicCmpXchg(_)) && weight > 1;
                    if again && shapes.of(data.args[0]) == Shape::Uniform {
                        contended += u64::from(weight) * CONTENDED;
                    }
                }
                _ if data.results.iter().any(|&r| varying(r)) => gain += u64::from(weight) * GAIN,
                _ => {}
            }
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
                    .filter(|&&r| shapes.of(r) == Shape::Varying)
                    .for_each(|&r| count(kernel.ty(r))),
            }
        }
    }
    if loss + contended > gain {
        let why = match loss > contended {
            true => "gathering from memory would cost more than vectors gain",
            false => "contending for one address would cost more than vectors gain",
        };
        let why = format!("runs 1 work-item at a time: {why}");
        return (1, vec![Remark::new(SourceLoc::default(), why)]);
    }
    let total: u32 = counts.iter().fold(0, |sum, &n| sum.saturating_add(n));
    let four_parts = || {
        let bytes = |v: Value| match shapes.of(v) {
            Shape::Varying if kernel.ty(v).scalar != Scalar::I1 => {
                u64::from(kernel.ty(v).scalar.bytes())
            }
            _ => 0,
        };
        let insts = cfg
            .order
            .iter()
            .flat_map(|&block| &kernel.blocks[block].insts);
        let builtins = insts.filter(|&&inst| matches!(kernel.insts[inst].op, Op::Builtin(..)));
        !gathers
            && builtins.count() <= FOUR_PARTS_BUILTINS
            && max_pressure(kernel, &cfg, bytes) <= FOUR_PARTS_LIVE
    };
    let (width, why) = if counts[3] > total / 4 {
        (4, "mostly 64-bit values")
    } else if (counts[2] > 0 || total == 0) && !four_parts() {
        (8, "32-bit values, many at once or gathered")
    } else if counts[2] > 0 || total == 0 {
        (16, "32-bit values")
    } else if counts[1] > 0 {
        (16, "16-bit values")
    } else {
        (16, "8-bit values")
    };
    let remark = Remark::new(
        SourceLoc::default(),
        format!("runs {width} work-items at a time: {why}"),
    );
    (width, vec![remark])
}

/// The width for a launch of a kernel whose own is `width`, in work-groups of `size` work-items in x: less where much of
/// a group would be left over from whole chunks and run one by one.
pub fn launch_width(width: u8, size: u64) -> u8 {
    // About what a chunk costs: its loop and addresses, and a part for every four lanes at least. An item on its own
    // costs as much as a narrow chunk.
    let cost = |w: u8| {
        let w = u64::from(w);
        (size / w).saturating_mul(w.max(4) + 4) + (size % w) * 8
    };
    let narrower = (0..=width.trailing_zeros()).map(|n| 1 << n);
    narrower.min_by_key(|&w| (cost(w), w)).unwrap_or(width)
}

#[cfg(test)]
mod tests {
    use super::{choose_width, launch_width};
    use crate::ir::parse;

    /// A sum by compare-and-exchange, in one cell or in a cell for each work-item.
    fn sums(cell: &str) -> u8 {
        let text = format!(
            "func \"k\" (ptr) -> () {{
            block0(p: ptr):
              id: i64 = dim_query.global_id.0
              four: i64 = const 4
              offset: i64 = imul id, four
              own: ptr = ptr_add p, offset
              x: i32 = convert.trunc id
              zero: i32 = const 0
              br block1(zero)
            block1(expected: i32):
              new: i32 = iadd expected, x
              found: i32 = atomic_cmpxchg.global.device.acqrel {cell}, expected, new
              same: i1 = icmp.eq found, expected
              cond_br same, block2, block1(found)
            block2:
              ret
            }}"
        );
        let module = parse::module(&text).expect("a module");
        let (_, kernel) = module.functions.iter().next().expect("a function");
        choose_width(kernel).0
    }

    #[test]
    fn work_items_that_contend_run_one_at_a_time() {
        assert_eq!(sums("p"), 1);
        assert!(sums("own") > 1);
    }

    #[test]
    fn short_groups_get_narrow_vectors() {
        for (size, expected) in [
            (1, 1),
            (2, 2),
            (4, 4),
            (8, 8),
            (12, 4),
            (16, 16),
            (24, 8),
            (100, 16),
            (256, 16),
            (1 << 16, 16),
        ] {
            assert_eq!(launch_width(16, size), expected, "groups of {size}");
        }
        assert_eq!(launch_width(8, 256), 8);
        assert_eq!(launch_width(1, 256), 1);
    }
}
