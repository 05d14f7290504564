//! W work-items per vector.
//!
//! What flows in: a function at [`Stage::Scalarized`](crate::ir::Stage) that does one work-item's
//! work between two barriers, its parameters the same for all work-items. What flows out: the
//! function that does the work of W work-items consecutive in x, at
//! [`Stage::Vectorized`](crate::ir::Stage): a value that differs between them has W lanes, lane `l`
//! for the l-th; a work-item query stands for the first one.
//!
//! Open `linearize.rs` first: it drives the rest, and turns divergent control flow into masks.
//! `source.rs` is what all read. `order.rs` decides in which order blocks are visited and which
//! masks are equal; `edges.rs` has which blocks wait, `variables.rs` what flows along the edges
//! (kept in `state.rs`). `values.rs` has the scalars and vectors of values and the function that is
//! written; with it `emit.rs` widens one instruction, `predicates.rs` decides a guard's predicates.
//! [`canonical`] prepares control flow.

mod edges;
mod emit;
mod linearize;
mod order;
mod predicates;
mod source;
mod state;
mod values;
mod variables;

use std::collections::BTreeSet;

use crate::abi::MOST_PRIVATE;
use crate::analysis::{Across, Cfg, Shapes};
use crate::ir::{Function, Value};
use crate::launch::LaunchKey;
use crate::transform::canonical;

use source::Source;

pub use linearize::Vectorized;
pub use predicates::idle;

/// What a result of a guard becomes, for all lanes together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// Whether a condition holds in all lanes; "no" may be wrong.
    All,
    /// Whether it holds in any; "yes" may be wrong.
    Any,
    /// Whether a number, affine, goes from the first lane to the last without wrapping.
    NoWrap { signed: bool },
    /// For a remainder: whether the quotient of the same division is the same in all lanes.
    SameQuotient,
}

/// Makes the function for `width` work-items. `Err` says why only a width of 1 will do.
pub fn vectorize(func: &Function, key: &LaunchKey, width: u8) -> Result<Vectorized, String> {
    vectorize_assuming(func, key, width, &BTreeSet::new())
}

/// The same, given that the guards `assumptions` ([`Shape::Guarded`](crate::analysis::Shape)) hold.
pub fn vectorize_assuming(
    func: &Function,
    key: &LaunchKey,
    width: u8,
    assumptions: &BTreeSet<Value>,
) -> Result<Vectorized, String> {
    if width == 1 {
        return Ok(Vectorized {
            function: func.clone(),
            remarks: Vec::new(),
        });
    }
    widen(func, key, width, &[], assumptions)
}

/// The same of a guard: a function whose results become what `predicates` say of them. Where
/// `assumptions` do not hold the other results are of no use.
pub fn vectorize_guard(
    func: &Function,
    key: &LaunchKey,
    width: u8,
    predicates: &[Predicate],
    assumptions: &BTreeSet<Value>,
) -> Result<Vectorized, String> {
    widen(func, key, width, predicates, assumptions)
}

fn widen(
    func: &Function,
    key: &LaunchKey,
    width: u8,
    predicates: &[Predicate],
    assumptions: &BTreeSet<Value>,
) -> Result<Vectorized, String> {
    // Of vectors each lane has its own.
    if func.private_bytes() * u64::from(width) > MOST_PRIVATE {
        return Err("its private variables are too large for more".into());
    }
    let mut func = func.clone();
    canonical::canonicalize(&mut func);
    loop {
        let cfg = Cfg::new(&func);
        debug_assert!(cfg.loops.irreducible.is_empty(), "made so");
        let shapes = Shapes::assuming(&func, &cfg, key, Across::Chunk(width), assumptions);
        if !canonical::split_divergent_switches(&mut func, &shapes) {
            let order = order::Order::new(&func, &cfg, &shapes).ok_or("a loop has no way out")?;
            return Ok(linearize::linearize(Source {
                func: &func,
                cfg: &cfg,
                shapes: &shapes,
                order: &order,
                width,
                predicates,
            }));
        }
        func.layout = func.reverse_post_order();
    }
}
