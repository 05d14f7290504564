//! How many work-items to run at a time.
//!
//! Several registers per value share the cost of loops, addresses and checks among most items and
//! keep most memory accesses in flight; fewer are better when so many values live at once that
//! those of each would be spilled (the target says how many those are), or when memory is gathered
//! often, which takes lanes apart (`registers.rs`). Of 128 bits four are many and two few; of wider
//! ones two and one. Where vectors cost more than they save (`cost.rs`), one work-item runs at a
//! time. A launch whose work-groups are short in x gets less ([`launch_width`]).

mod cost;
mod registers;

use std::collections::BTreeMap;

use super::extension_idioms::rewrite_extension_idioms;
use super::function::between_accesses;
use super::interleave;
use super::subgroups::uses_sub_groups;
use crate::analysis::{Across, Cfg, LoopData, Shapes};
use crate::diagnostic::Remark;
use crate::ir::{Argument, Block, Callee, FuncId, Function, Inst, Scalar, SourceLoc};
use crate::launch::LaunchKey;
use crate::target::Target;
use cost::Cost;
use registers::DataSizes;

/// The size of sub-groups in kernels that do not require another. One for all, so that what an
/// application has learnt from one kernel holds for the next, whatever the target, and that of most
/// kernels with two registers of 128 bits for a 32-bit value.
const SUB_GROUP: u8 = 8;

/// Bytes of private variables that a thread uses for the sake of vectors at most. Memory of that
/// size is in no cache of one processor, so that vectors gain little, and all threads together
/// would take W times as much of it.
const MOST_PRIVATE_OF_CHUNK: u64 = 16 << 20;

/// Launches for which the width is chosen.
const USUAL: LaunchKey = LaunchKey::usual(8);

/// A kernel and what is known of it, were 8 work-items to run at a time.
struct Context<'a> {
    kernel: &'a Function,
    cfg: &'a Cfg,
    shapes: &'a Shapes,
    target: &'a Target,
}

impl Context<'_> {
    /// How often a block may run: more in loops.
    fn weight(&self, block: Block) -> u32 {
        4u32.saturating_pow(self.cfg.loops.depth(block).min(4))
    }

    /// The instructions, each with how often it may run.
    fn instructions(&self) -> impl Iterator<Item = (Inst, u32)> {
        self.cfg.order.iter().flat_map(|&block| {
            let weight = self.weight(block);
            let insts = self.kernel.blocks[block].insts.iter();
            insts.map(move |&inst| (inst, weight))
        })
    }
}

/// A width for a kernel at [`Stage::Scalarized`](crate::ir::Stage) and the functions that are
/// called, and why. Of functions, arguments are taken to vary.
pub fn choose_width(
    kernel: &Function,
    functions: &BTreeMap<FuncId, Function>,
    target: &Target,
) -> (u8, Vec<Remark>) {
    let mut kernel = kernel.clone();
    let left = interleave::run(&mut kernel, &USUAL);
    rewrite_extension_idioms(&mut kernel);
    let cfg = Cfg::new(&kernel);
    let (width, why) = if uses_sub_groups(&kernel) {
        let endless = |data: &LoopData| data.exits.is_empty();
        match cfg.loops.loops.values().any(endless) {
            true => (1, "a loop has no way out"),
            false => (SUB_GROUP, "its sub-groups"),
        }
    } else {
        let called = functions.iter().map(|(&id, function)| {
            let callee = Callee {
                lanes: USUAL.width,
                arguments: vec![Argument::Varying; function.params().len()].into(),
                ..Callee::new(id, false)
            };
            let mut function = between_accesses(function, &callee);
            interleave::run(&mut function, &USUAL);
            rewrite_extension_idioms(&mut function);
            by_cost(&function, &Cfg::new(&function), target)
        });
        let all = std::iter::once(by_cost(&kernel, &cfg, target)).chain(called);
        let (width, why) = all.min_by_key(|&(width, _)| width).expect("the kernel");
        let called = functions.values().map(Function::private_bytes);
        let bytes = called.fold(kernel.private_bytes(), u64::saturating_add);
        match MOST_PRIVATE_OF_CHUNK / bytes.max(1) {
            most if most >= u64::from(width) => (width, why),
            most => (1 << most.max(1).ilog2(), "its private variables are large"),
        }
    };
    let items = if width == 1 {
        "work-item"
    } else {
        "work-items"
    };
    let why = format!("runs {width} {items} at a time: {why}");
    let mut remarks = vec![Remark::new(SourceLoc::default(), why)];
    // In vector code they are found again.
    if width == 1 {
        remarks.extend(left);
    }
    (width, remarks)
}

fn by_cost(kernel: &Function, cfg: &Cfg, target: &Target) -> (u8, &'static str) {
    let shapes = Shapes::guessing(kernel, cfg, &USUAL, Across::Chunk(USUAL.width));
    let context = Context {
        kernel,
        cfg,
        shapes: &shapes,
        target,
    };
    let cost = Cost::of(&context);
    match cost.against_vectors() {
        Some(why) => (1, why),
        None => DataSizes::of(&context).width(&context, cost.takes_lanes_apart()),
    }
}

/// The width for a launch of a kernel whose own is `width`, in work-groups of `size` work-items in
/// x: less where much of a group would be left over from whole chunks, and run one by one or with
/// masks.
pub fn launch_width(width: u8, size: u64, target: &Target) -> u8 {
    // About what a chunk costs: its loop and addresses, and 4 for every register at least. An item
    // on its own costs as much as a narrow chunk.
    let chunk = |w: u8| u64::from(4 * target.registers(Scalar::I32, w) + 4);
    let cost = |w: u8| {
        let (chunks, left) = (size / u64::from(w), size % u64::from(w));
        let rest = match target.masked_memory {
            true if left > 0 => chunk(w) + 4,
            true => 0,
            false => left * chunk(1),
        };
        chunks.saturating_mul(chunk(w)).saturating_add(rest)
    };
    let narrower = (0..=width.trailing_zeros()).map(|n| 1 << n);
    narrower.min_by_key(|&w| (cost(w), w)).unwrap_or(width)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{choose_width, launch_width};
    use crate::ir::parse;
    use crate::target::Target;

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
        choose_width(kernel, &BTreeMap::new(), &Target::cranelift()).0
    }

    /// The widths of a kernel that computes, for targets with vectors of 128, 256 and 512 bits: so
    /// many values of a type live at once.
    fn widths(scalar: &str, live: usize, index: &str) -> [u8; 3] {
        let targets = [Target::cranelift(), Target::avx2(), Target::avx512()];
        targets.map(|target| width(&target, scalar, live, index))
    }

    fn width(target: &Target, scalar: &str, live: usize, index: &str) -> u8 {
        let mut text = format!(
            "func \"k\" (ptr) -> () {{
            block0(p: ptr):
              id: i64 = dim_query.global_id.0
              size: i64 = const 8
              offset: i64 = imul {index}, size
              own: ptr = ptr_add p, offset
              v0: {scalar} = load.global.align1 own\n"
        );
        let scalar_op = |name: &str| match scalar.starts_with('f') {
            true => format!("f{name}"),
            false => format!("i{name}"),
        };
        let (mul, add) = (scalar_op("mul"), scalar_op("add"));
        for n in 1..live {
            text += &format!("v{n}: {scalar} = {mul} v{}, v0\n", n - 1);
        }
        text += &format!("s0: {scalar} = {add} v0, v0\n");
        for n in 1..live {
            text += &format!("s{n}: {scalar} = {add} s{}, v{n}\n", n - 1);
        }
        text += &format!("store.global.align1 own, s{}\nret\n}}", live - 1);
        let module = parse::module(&text).unwrap_or_else(|e| panic!("{e:?} in\n{text}"));
        let (_, kernel) = module.functions.iter().next().expect("a function");
        choose_width(kernel, &BTreeMap::new(), target).0
    }

    #[test]
    fn values_take_one_or_two_registers_of_wide_vectors() {
        assert_eq!(widths("f32", 4, "id"), [16, 16, 32]);
        assert_eq!(widths("f32", 12, "id"), [8, 8, 32]);
        assert_eq!(widths("f32", 24, "id"), [8, 8, 16]);
        assert_eq!(widths("f64", 4, "id"), [4, 8, 16]);
        assert_eq!(widths("f64", 24, "id"), [4, 4, 8]);
        assert_eq!(widths("i16", 4, "id"), [16, 16, 32]);
        assert_eq!(widths("i8", 4, "id"), [16, 32, 32]);
    }

    #[test]
    fn values_take_two_registers_where_spilling_pays() {
        let target = Target {
            spilling_pays_up_to: 4,
            ..Target::avx512()
        };
        assert_eq!(width(&target, "f32", 24, "id"), 32);
        assert_eq!(width(&target, "f32", 100, "id"), 16);
        // Many chains of operations keep the machine busy, and need no second vector beside.
        assert_eq!(chains(&target, 3), 32);
        assert_eq!(chains(&target, 24), 16);
    }

    /// The width of a kernel with 24 values in a loop, which take turns in so many chains of sums.
    fn chains(target: &Target, count: usize) -> u8 {
        const LIVE: usize = 24;
        let list = |each: &dyn Fn(usize) -> String| {
            let all: Vec<String> = (0..LIVE).map(each).collect();
            all.join(", ")
        };
        let mut text = String::from(
            "func \"k\" (ptr, i1) -> () {
            block0(p: ptr, again: i1):
              id: i64 = dim_query.global_id.0
              size: i64 = const 4
              offset: i64 = imul id, size
              own: ptr = ptr_add p, offset
              v: f32 = load.global.align4 own\n",
        );
        text += &format!("br block1({})\n", list(&|_| "v".into()));
        text += &format!("block1({}):\n", list(&|n| format!("a{n}: f32")));
        for n in 0..LIVE {
            let before = match n.checked_sub(count) {
                Some(before) => format!("b{before}"),
                None => format!("a{n}"),
            };
            text += &format!("b{n}: f32 = fadd a{n}, {before}\n");
        }
        let all = list(&|n| format!("b{n}"));
        text += &format!("cond_br again, block1({all}), block2\nblock2:\n");
        for n in 0..LIVE {
            text += &format!("store.global.align4 own, b{n}\n");
        }
        text += "ret\n}";
        let module = parse::module(&text).unwrap_or_else(|e| panic!("{e:?} in\n{text}"));
        let (_, kernel) = module.functions.iter().next().expect("a function");
        choose_width(kernel, &BTreeMap::new(), target).0
    }

    /// The width of a kernel that looks up so many table entries by what it has computed, and does
    /// so many other operations for each.
    fn lookups(count: usize, operations: usize) -> u8 {
        let mut text = String::from(
            "func \"k\" (ptr, ptr) -> () {
            block0(table: ptr, p: ptr):
              id: i64 = dim_query.global_id.0
              size: i64 = const 4
              mask: i32 = const 255
              offset: i64 = imul id, size
              own: ptr = ptr_add p, offset
              v0: i32 = load.global.align4 own\n",
        );
        for n in 0..count {
            text += &format!(
                "low{n}: i32 = and v{n}, mask
                wide{n}: i64 = convert.zext low{n}
                bytes{n}: i64 = imul wide{n}, size
                entry{n}: ptr = ptr_add table, bytes{n}
                x{n}_0: i32 = load.global.align4 entry{n}\n"
            );
            for k in 0..operations {
                text += &format!("x{n}_{}: i32 = iadd x{n}_{k}, v{n}\n", k + 1);
            }
            text += &format!("v{}: i32 = xor x{n}_{operations}, v{n}\n", n + 1);
        }
        text += &format!("store.global.align4 own, v{count}\nret\n}}");
        let module = parse::module(&text).unwrap_or_else(|e| panic!("{e:?} in\n{text}"));
        let (_, kernel) = module.functions.iter().next().expect("a function");
        choose_width(kernel, &BTreeMap::new(), &Target::avx512()).0
    }

    #[test]
    fn what_is_mostly_lookups_runs_one_work_item_at_a_time() {
        assert_eq!(lookups(8, 1), 1);
        assert!(lookups(8, 8) > 1);
    }

    #[test]
    fn a_lookup_among_many_operations_hardly_counts() {
        assert_eq!(lookups(2, 12), 16);
        assert_eq!(lookups(2, 48), 32);
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
            assert_eq!(
                launch_width(16, size, &Target::cranelift()),
                expected,
                "groups of {size}"
            );
        }
        assert_eq!(launch_width(8, 256, &Target::cranelift()), 8);
        assert_eq!(launch_width(1, 256, &Target::cranelift()), 1);
    }

    #[test]
    fn what_is_left_of_groups_is_masked_in_wide_vectors() {
        for (size, expected) in [
            (1, 1),
            (4, 4),
            (8, 8),
            (12, 16),
            (16, 16),
            (24, 32),
            (100, 32),
        ] {
            let width = launch_width(32, size, &Target::avx512());
            assert_eq!(width, expected, "groups of {size}");
        }
    }
}
