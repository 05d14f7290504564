//! Private variables that stay in memory, laid out for vectors.
//!
//! A private variable that is indexed by what only a launch knows cannot become values. Were each
//! work-item's a piece of memory of its own, W work-items that read element `i` of theirs would
//! gather, however uniform `i` is. So those of a chunk take turns at every few bytes, its *units*
//! ([`crate::ir::Interleaving`]): unit `i` of lane `l` is at `(i * W + l) * unit`. Then an access
//! at the same index in all lanes is one vector, and one at an index of each lane's own gathers as
//! before.
//!
//! What flows in and out: a kernel at [`Stage::Scalarized`](crate::ir::Stage). What can be known to
//! happen to a variable is found by `arrays.rs`: its address must go nowhere but to accesses of
//! known sizes, and from those the unit follows. `rewrite.rs` then counts offsets in place of
//! addresses, in 32 bits, as gathers take them, and makes the accesses. All else is
//! [`crate::analysis::Shapes`]'s: the address of an interleaved variable is `unit` bytes further in
//! each lane, so that what is a uniform number of bytes away from it is consecutive.
//!
//! The rewritten code is right for one work-item, too (that of a chunk that fails a guard, say), as
//! long as the variable's address is that of its lane. Variables that outlive a region are in the
//! barrier context chunk by chunk; where chunks do not begin at multiples of W, they are left as
//! they are.
//!
//! Cost: linear, but for finding sets of addresses (union-find).

mod arrays;
mod rewrite;

use super::subgroups;
use crate::diagnostic::Remark;
use crate::ir::{Function, Op};
use crate::launch::LaunchKey;
use crate::transform::cleanup_kernel;

/// Interleaves what can be in code for as many work-items as the key says. The remarks say what
/// cannot, and why.
pub(super) fn run(kernel: &mut Function, key: &LaunchKey) -> Vec<Remark> {
    let is_alloca = |op: &Op| matches!(op, Op::Alloca { .. });
    if key.width == 1 || !any_in_entry(kernel, is_alloca) {
        return Vec::new();
    }
    let (arrays, mut remarks) = arrays::find(kernel, key);
    if arrays.is_empty() {
        return remarks;
    }
    if !chunks_are_aligned(kernel, key) && may_outlive_regions(kernel) {
        remarks.extend(arrays.iter().map(|array| {
            array.remark(
                kernel,
                "chunks of rows that are not whole share the barrier context",
            )
        }));
        return remarks;
    }
    rewrite::run(kernel, &arrays, key.width);
    cleanup_kernel(kernel);
    remarks
}

fn any_in_entry(kernel: &Function, is: impl Fn(&Op) -> bool) -> bool {
    let mut insts = kernel.blocks[kernel.entry()].insts.iter();
    insts.any(|&inst| is(&kernel.insts[inst].op))
}

/// Whether the local linear id of each chunk's first work-item is a multiple of the width.
fn chunks_are_aligned(kernel: &Function, key: &LaunchKey) -> bool {
    key.linear || key.full_chunks || subgroups::uses_sub_groups(kernel)
}

/// Whether private variables may be in the barrier context.
fn may_outlive_regions(kernel: &Function) -> bool {
    subgroups::any(kernel, |op| {
        matches!(
            op,
            Op::Barrier(_) | Op::NamedBarrier(_) | Op::Collective { .. } | Op::InSpace(_)
        )
    })
}
