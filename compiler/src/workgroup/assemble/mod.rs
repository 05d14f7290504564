//! The function that runs a range of work-groups.
//!
//! ```text
//! for each group begin..end                  group ids counted up with carry
//!   the skeleton, uniform code once per group
//!     where it calls region k:
//!       for z, for y                         unless the launch is linear
//!         several chunks at a time, while there are so many: its vector body, jammed
//!         for x in chunks of W: the region's vector body
//!         for the rest of x:    its scalar body, or that for partial chunks;
//!                               unless chunks are always full
//! ```
//!
//! Queries become values of these loops and fields of the [`crate::abi::Launch`] structure, which
//! is read once, as constant memory. Everything is emitted whether used or not; dead code is
//! removed afterwards.
//!
//! A region's results are the same for all work-items or else decided by the first, so the first
//! one's are kept.
//!
//! Open `loops.rs` first: it is the loop nest, `guarded.rs` its loop over chunks that have a guard,
//! `jammed.rs` the one over several chunks at a time. `copy.rs` copies bodies into it, `queries.rs`
//! says what queries are there, `context.rs` where slots of the barrier context are. `launch.rs`
//! reads what holds for all groups.

mod context;
mod copy;
mod guarded;
mod jammed;
mod launch;
mod loops;
mod queries;

use super::local::{context_align, context_layout, local_layout};
use super::{ItemOrder, Plan, Split};
use crate::ir::{BinOp, Block, Builder, Function, Inst, ParamSource, Type, Value};
use crate::launch::LaunchKey;
use launch::{LaunchValues, read_params};

/// What is the same for all work-items of a work-group.
#[derive(Clone, Copy)]
struct GroupValues {
    id: [Value; 3],
    /// Actual size, smaller at the edge.
    size: [Value; 3],
    /// Global id of the first work-item.
    base: [Value; 3],
}

/// The work-items that code is emitted for: some of a row, next to each other.
#[derive(Clone, Copy)]
struct Chunk {
    /// Local id of the first one.
    id: [Value; 3],
    /// Local linear id of the row's first one.
    row: Value,
    lanes: u8,
    /// Whether not all lanes are work-items.
    partial: bool,
}

struct Assembler<'a> {
    key: &'a LaunchKey,
    split: &'a Split,
    width: u8,
    order: ItemOrder,
    out: Function,
    block: Block,
    launch: LaunchValues,
    group: Option<GroupValues>,
    locals: Vec<u64>,
    slots: Vec<u64>,
    /// What allocates memory of large private variables.
    large: Vec<Inst>,
    /// How many of `large`, the first ones, the current body has taken.
    large_taken: usize,
}

/// Wraps the skeleton and bodies of `split` in loops. `params` says where the kernel's parameters
/// come from.
pub(super) fn assemble(
    name: &str,
    split: &Split,
    params: &[ParamSource],
    plan: Plan,
    key: &LaunchKey,
) -> Function {
    let mut out = Function::new(name, &[Type::PTR, Type::PTR, Type::I64, Type::I64], &[]);
    out.locals = split.skeleton.locals.clone();
    let [launch_ptr, scratch, begin, end] = out.params() else {
        unreachable!("made with four parameters")
    };
    let (launch_ptr, scratch, begin, end) = (*launch_ptr, *scratch, *begin, *end);
    let entry = out.entry();
    let mut b = Builder::new(&mut out, entry);
    let launch = LaunchValues::read(
        &mut b,
        launch_ptr,
        scratch,
        plan,
        context_align(&split.skeleton),
    );
    let values = read_params(&mut b, launch_ptr, scratch, params, &split.skeleton);
    let mut this = Assembler {
        key,
        split,
        width: plan.width,
        order: plan.order,
        block: entry,
        launch,
        group: None,
        locals: local_layout(&split.skeleton).0,
        slots: context_layout(&split.skeleton).0,
        large: Vec::new(),
        large_taken: 0,
        out,
    };
    this.groups(begin, end, &values);
    this.b().ret(&[]);
    this.out
}

impl Assembler<'_> {
    fn b(&mut self) -> Builder<'_> {
        Builder::new(&mut self.out, self.block)
    }

    fn i64(&mut self, value: u64) -> Value {
        self.b().iconst(Type::I64, value)
    }

    fn binary(&mut self, op: BinOp, x: Value, y: Value) -> Value {
        self.b().binary(op, x, y)
    }

    fn group_values(&self) -> GroupValues {
        self.group.expect("inside a group")
    }
}

/// The next multiple of a power of two.
fn round_up(b: &mut Builder<'_>, value: Value, to: u64) -> Value {
    let less = b.iconst(Type::I64, to - 1);
    let sum = b.binary(BinOp::IAdd, value, less);
    let mask = b.iconst(Type::I64, !(to - 1));
    b.binary(BinOp::And, sum, mask)
}
