//! Work-groups: the code between barriers, run for all work-items in turn.
//!
//! What flows in: a kernel at [`Stage::Scalarized`](crate::ir::Stage), where its parameters come
//! from, a vector width and a [`LaunchKey`]. What flows out: [`WorkGroupCode`], one function at
//! [`Stage::Vectorized`](crate::ir::Stage) that runs a range of work-groups
//! ([`crate::abi::KernelFn`]).
//!
//! Open `split/` first: it cuts the kernel at its barriers into a *skeleton*, code that is the same
//! for the whole work-group, which calls *regions*, code for one work-item. Each region is
//! vectorized ([`crate::vectorize`]); `assemble/` wraps regions in loops over work-items and the
//! skeleton in a loop over work-groups. `checks.rs` and `bounds.rs` keep rare cases from slowing
//! down vector code; `divergent_barriers.rs` is for barriers that work-items may differ about;
//! `subgroups.rs` sees to sub-groups that are whole, `collectives.rs` to what a whole work-group
//! does; `jam.rs` has chunks share what is the same for them; `local.rs` lays out scratch memory,
//! `interleave/` private variables; `width/` chooses how wide; `group_independence.rs` says whether
//! the local size matters, `groups_of_one.rs` what is left of a kernel where that is 1;
//! `function.rs` makes the code of functions that stay functions.

mod assemble;
mod bounds;
mod checks;
mod collectives;
mod divergent_barriers;
mod extension_idioms;
mod function;
mod group_independence;
mod groups_of_one;
mod interleave;
mod jam;
mod local;
mod rematerialize;
mod split;
mod subgroups;
mod width;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use crate::diagnostic::{Diagnostic, Remark};
use crate::ir::{Function, ParamSource, SlotId, SourceLoc};
use crate::launch::LaunchKey;
use crate::target::Target;
use crate::transform::{dce, for_one_work_item};
use crate::vectorize::{vectorize, vectorize_assuming, vectorize_guard};
use jam::Jam;
use split::Found;

pub use function::build_function;
pub use group_independence::{depends_on_groups, is_along_x};
pub use groups_of_one::of_one_item;
pub use jam::preferred_rows;
pub use local::local_layout;
pub use subgroups::uses_sub_groups;
pub use width::{choose_width, launch_width};

/// A region's code.
#[derive(Clone, Debug)]
pub struct Region {
    /// For one work-item.
    pub scalar: Function,
    /// For as many as the width says, if that is more than one.
    pub vector: Option<Function>,
    /// How several chunks run the vector code together, where that is better.
    pub jam: Option<Jam>,
    /// What is asked before the vector code runs for a chunk (`checks.rs`): whether all its
    /// work-items pass bounds checks, whether any does, and that values do not wrap. If not, they
    /// run one by one, or as `partial`.
    pub guard: Option<Function>,
    /// For a chunk of which not all pass the bounds checks, instead of running its work-items one
    /// by one.
    pub masked: Option<Function>,
    /// For the last chunk, when it is not whole and its work-items have something to do together or
    /// the target has masked accesses to memory; then also for what guards hold up.
    pub partial: Option<Function>,
    /// Whether `masked` is also for a chunk whose values may wrap.
    pub masked_for_all: bool,
    /// Whether work-items that do not pass the bounds checks have something to do.
    pub has_outside: bool,
}

/// A kernel cut at its barriers.
#[derive(Clone, Debug)]
pub struct Split {
    /// The kernel for the whole work-group; region n is function @n to it.
    pub skeleton: Function,
    pub regions: Vec<Region>,
    /// Where the carry of work-group collectives is, if there are any.
    pub carry: Option<SlotId>,
    pub remarks: Vec<Remark>,
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.skeleton)?;
        for (i, region) in self.regions.iter().enumerate() {
            write!(f, "\n; region @{i}\n{}", region.scalar)?;
            if let Some(guard) = &region.guard {
                write!(f, "\n; region @{i}, guard\n{guard}")?;
            }
            if let Some(vector) = &region.vector {
                write!(f, "\n; region @{i}, vectorized\n{vector}")?;
            }
            if let Some(masked) = &region.masked {
                write!(
                    f,
                    "\n; region @{i}, vectorized for chunks that fail bounds checks\n{masked}"
                )?;
            }
            if let Some(partial) = &region.partial {
                write!(
                    f,
                    "\n; region @{i}, vectorized for a partial chunk\n{partial}"
                )?;
            }
        }
        Ok(())
    }
}

/// In which order work-items run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemOrder {
    /// Row by row; a chunk is of one row.
    Rows,
    /// By local linear id, which all ids have been computed from ([`subgroups::flatten`]).
    Flat,
}

/// How work-items run.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Work-items per vector.
    width: u8,
    order: ItemOrder,
    /// [`WorkGroupCode::context_padding`].
    context_padding: u64,
    /// [`LaunchKey::row_is_chunk`].
    row_is_chunk: bool,
}

/// The code that runs work-groups of a kernel.
#[derive(Clone, Debug)]
pub struct WorkGroupCode {
    /// `(launch: ptr, scratch: ptr, begin: i64, end: i64)`
    pub function: Function,
    /// Work-items per vector: the key's width, or 1.
    pub width: u8,
    /// Bytes of barrier context for each work-item.
    pub context_bytes_per_item: u64,
    /// Of the barrier context, bytes, a power of two.
    pub context_align: u64,
    /// Work-items that the barrier context has room for beyond those of whole chunks.
    pub context_padding: u64,
    pub remarks: Vec<Remark>,
    /// What `function` was made of.
    pub split: Split,
}

/// Makes the code for launches with `key`, which says how many work-items at a time (a power of two
/// up to 32), and for a target.
///
/// `params` has an entry for each parameter of `kernel`. A kernel that cannot be vectorized gets a
/// width of 1 and a remark.
pub fn build(
    kernel: &Function,
    params: &[ParamSource],
    key: &LaunchKey,
    target: &Target,
) -> Result<WorkGroupCode, Diagnostic> {
    let mut remarks = Vec::new();
    let mut ready = kernel.clone();
    if key.width == 1 {
        for_one_work_item(&mut ready);
    }
    let mut left = interleave::run(&mut ready, key);
    let mut order = make_ready(&mut ready, key);
    let mut found = split::split(&ready, key, false)?;
    if let Found::DivergentBarrier(loc) = found {
        if let Some(rewritten) = divergent_barriers::rewrite(kernel) {
            let text =
                "barriers may be divergent: each work-item keeps the point at which it resumes";
            remarks.push(Remark::new(loc, text));
            ready = rewritten;
            left = interleave::run(&mut ready, key);
            order = make_ready(&mut ready, key);
        }
        found = split::split(&ready, key, true)?;
    }
    let Found::Split(split) = found else {
        unreachable!("the first work-item may decide")
    };
    let mut split = *split;
    remarks.append(&mut left);
    remarks.append(&mut split.remarks);
    let width = key.width;
    let to_widen = split.regions.iter_mut().take_while(|_| width > 1);
    for region in to_widen {
        if let Err(reason) = widen(region, key, target, order, width, &mut remarks) {
            if subgroups::uses_sub_groups(&ready) {
                // The size of its sub-groups has been told.
                return Err(Diagnostic::new(format!(
                    "the kernel {:?} uses sub-groups of {width} work-items but {reason}",
                    kernel.name
                )));
            }
            let mut code = build(kernel, params, &key.for_one_work_item(), target)?;
            let why = format!("runs one work-item at a time: {reason}");
            code.remarks.push(Remark::new(SourceLoc::default(), why));
            return Ok(code);
        }
    }
    let mut regions = split.regions.iter();
    let any_partial = regions.any(|region| region.partial.is_some());
    // The last chunk of a row begins where the row lets it.
    let context_padding = match order {
        ItemOrder::Rows if any_partial && !key.linear && !key.full_chunks => u64::from(width),
        _ => 0,
    };
    let plan = Plan {
        width,
        order,
        context_padding,
        row_is_chunk: key.row_is_chunk,
    };
    let function = assemble::assemble(&kernel.name, &split, params, plan, key);
    let (_, context_bytes_per_item) = local::context_layout(&split.skeleton);
    Ok(WorkGroupCode {
        function,
        width,
        context_bytes_per_item,
        context_align: local::context_align(&split.skeleton),
        context_padding,
        remarks,
        split,
    })
}

/// Prepares a kernel for being split.
fn make_ready(kernel: &mut Function, key: &LaunchKey) -> ItemOrder {
    collectives::cut(kernel);
    let flat = subgroups::uses_sub_groups(kernel) && !key.linear && !key.full_chunks;
    if flat {
        subgroups::flatten(kernel);
    }
    extension_idioms::rewrite_extension_idioms(kernel);
    if flat {
        ItemOrder::Flat
    } else {
        ItemOrder::Rows
    }
}

/// Makes a region's vector code.
fn widen(
    region: &mut Region,
    key: &LaunchKey,
    target: &Target,
    order: ItemOrder,
    width: u8,
    remarks: &mut Vec<Remark>,
) -> Result<(), String> {
    if subgroups::has_sub_group_operations(&region.scalar) {
        let code = vectorize(&region.scalar, key, width)?;
        if !key.full_chunks {
            let some = subgroups::with_tail_mask(&region.scalar, ItemOrder::Flat);
            region.partial = Some(vectorize(&some, key, width)?.function);
        }
        region.vector = Some(code.function);
        let found = code.remarks.into_iter();
        remarks.extend(found.map(|(loc, text)| Remark::new(loc, text)));
        return Ok(());
    }
    let checks = checks::split_checks(&region.scalar, key, target, width);
    if target.masked_memory && (checks.is_some() || !key.full_chunks) {
        let whole = match key.full_chunks {
            true => Cow::Borrowed(&region.scalar),
            false => Cow::Owned(subgroups::with_tail_mask(&region.scalar, order)),
        };
        region.partial = Some(vectorize(&whole, key, width)?.function);
    }
    let code = match checks {
        None => vectorize(&region.scalar, key, width)?,
        Some(checks) => {
            let assumptions = &checks.assumptions;
            region.has_outside = checks.has_outside;
            if let Some(whole) = &checks.masked {
                let none = BTreeSet::new();
                let holds = if checks.masked_for_all {
                    &none
                } else {
                    assumptions
                };
                let code = vectorize_assuming(whole, key, width, holds)?;
                region.masked = Some(code.function);
                region.masked_for_all = checks.masked_for_all;
            }
            let mut guard = vectorize_guard(
                &checks.guard,
                key,
                width,
                &checks.predicates,
                &checks.required_first,
            )?
            .function;
            // What the answers are not computed from would be shared with the code that follows.
            dce::run(&mut guard);
            region.guard = Some(guard);
            vectorize_assuming(&checks.inside, key, width, assumptions)?
        }
    };
    let found = code.remarks.into_iter();
    remarks.extend(found.map(|(loc, text)| Remark::new(loc, text)));
    region.jam = jam::plan(&code.function, key, order, target);
    if let Some(jam) = &region.jam {
        remarks.push(Remark::new(SourceLoc::default(), jam.to_string()));
    }
    region.vector = Some(code.function);
    Ok(())
}

#[cfg(test)]
mod tests;
