//! Calls replaced by copies of what they call, and those that stay calls.
//!
//! Callees come first (`call_graph.rs`). A function that is called at one place only goes there as
//! it is, and what it calls after it: nothing is made of it before. Every other function is a
//! *unit*: it has its own calls seen to once, with private variables promoted and dead code
//! removed, and callers copy the result, which is dropped when the last of them has. So each call
//! of the program is seen to once, and what is copied more than once is in the end at least twice
//! as large in the callers. `splice.rs` does the copying.
//!
//! # Calls that stay
//!
//! A kernel that is small with everything inlined has no calls. In one that is not, a function
//! stays one if it is more than a call costs (`SMALL`), copies of it would add much (`GROWTH`), and
//! no work-items meet in it: then each work-item may call it by itself (`kept.rs`). A function that
//! is given the addresses of its caller's private variables is copied as long as the kernel is of
//! bearable size: once inlined such variables are values.
//!
//! Cost: linear in the code copied, which is linear in the program but for units, and those are
//! bounded (`Units::copied`).

mod call_graph;
mod kept;
mod splice;

use std::collections::{BTreeMap, HashMap};

use call_graph::CallGraph;
use kept::{Kept, stays};
use splice::Expansion;

use super::{dce, promote};
use crate::diagnostic::Diagnostic;
use crate::ir::{FuncId, Function, Inst, Module};

/// The most instructions and blocks that a function may have with all calls inlined.
pub const ALL_INLINED: usize = 100_000;
/// The most that it may have with all calls inlined that are given private variables.
const PRIVATE_INLINED: usize = 500_000;
/// The most that any function may have.
const BUDGET: usize = 2_000_000;
/// Copies of a function but for one may add so many instructions and blocks where calls may stay.
const GROWTH: usize = 500;
/// Promotion and the removal of dead code seldom leave less than one in so many instructions.
const SHRINKAGE: usize = 4;

/// A kernel with calls inlined.
#[derive(Debug)]
pub struct Inlined {
    pub kernel: Function,
    /// The functions that are called ([`Op::CallFunction`](crate::ir::Op::CallFunction)).
    pub functions: BTreeMap<FuncId, Function>,
}

/// Which calls stay calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    None,
    /// Those of functions whose copies are large, unless they are given private variables.
    WithoutPrivate,
    Large,
    /// All that can.
    All,
}

/// A function would become too large.
struct TooLarge;

/// The function `root` with its calls inlined, all of them if it then has at most `limit`
/// instructions and blocks. With 0 all calls stay that can.
pub fn inline_all(module: &Module, root: FuncId, limit: usize) -> Result<Inlined, Diagnostic> {
    let graph = CallGraph::new(module, root)?;
    let ways = match limit {
        0 => vec![(Keep::All, BUDGET)],
        _ => vec![
            (Keep::None, limit),
            (Keep::WithoutPrivate, limit.max(PRIVATE_INLINED)),
            (Keep::Large, limit.max(BUDGET)),
        ],
    };
    let is_hopeless = graph.inlined_size(module) / SHRINKAGE > limit;
    for (keep, budget) in ways {
        // To find that out copy by copy would take longer than all the rest.
        if keep == Keep::None && is_hopeless {
            continue;
        }
        if let Ok(inlined) = inline_within(module, &graph, keep, budget) {
            return Ok(inlined);
        }
    }
    Err(Diagnostic::new(format!(
        "function {:?} is larger than {BUDGET} instructions with its calls inlined",
        module.functions[root].name
    )))
}

/// A function whose own calls have been seen to.
enum Unit {
    ToCopy(Function),
    Kept(Kept),
}

/// The units that calls are left of.
struct Units {
    done: HashMap<FuncId, Unit>,
    /// Calls that have not been seen to yet, by callee.
    calls_left: HashMap<FuncId, usize>,
    /// Instructions and blocks of all units to be copied so far.
    ///
    /// Each is in the end part of the kernel, or of functions that stay, at least twice. So where
    /// the kernel keeps to its budget, and what is copied into functions that stay to [`GROWTH`],
    /// units together do, too. Without that bound, a chain of functions with two calls each would
    /// be quadratic before it is refused.
    copied: usize,
}

impl Units {
    /// Notes that a call of a function has been seen to. After the last, a copy is of no use.
    fn seen_to(&mut self, id: FuncId) {
        let left = self.calls_left.get_mut(&id).expect("it is called");
        *left -= 1;
        if *left == 0 && matches!(self.done.get(&id), Some(Unit::ToCopy(_))) {
            self.done.remove(&id);
        }
    }
}

fn inline_within(
    module: &Module,
    graph: &CallGraph,
    keep: Keep,
    budget: usize,
) -> Result<Inlined, TooLarge> {
    let mut units = Units {
        done: HashMap::new(),
        calls_left: graph.sites.clone(),
        copied: 0,
    };
    let most_copied = budget * SHRINKAGE + graph.callees_first.len() * GROWTH;
    let root = graph.root();
    let moves = |id: FuncId| keep != Keep::All && id != root && graph.sites[&id] == 1;
    for &id in graph.callees_first.iter().filter(|&&id| !moves(id)) {
        let mut func = module.functions[id].clone();
        let size = Expansion::new(&mut func, module, &mut units, budget * SHRINKAGE).run()?;
        if id != root || size > budget {
            promote::run(&mut func);
            dce::run(&mut func);
            if size_of(&func) > budget {
                return Err(TooLarge);
            }
        }
        if id == root {
            let kept = units.done.into_iter().filter_map(|(id, unit)| match unit {
                Unit::Kept(kept) => Some((id, kept.function)),
                Unit::ToCopy(_) => None,
            });
            return Ok(Inlined {
                kernel: func,
                functions: kept.collect(),
            });
        }
        let unit = match stays(&func, graph.sites[&id], keep) {
            true => Unit::Kept(Kept::new(func)),
            false => {
                units.copied += size_of(&func);
                if units.copied > most_copied {
                    return Err(TooLarge);
                }
                Unit::ToCopy(func)
            }
        };
        units.done.insert(id, unit);
    }
    unreachable!("the root is the last")
}

fn instructions(func: &Function) -> impl Iterator<Item = Inst> {
    let blocks = func.layout.iter();
    blocks.flat_map(|&block| func.blocks[block].insts.iter().copied())
}

fn size_of(func: &Function) -> usize {
    let blocks = func.layout.iter();
    blocks
        .map(|&block| 1 + func.blocks[block].insts.len())
        .sum()
}

#[cfg(test)]
mod tests;
