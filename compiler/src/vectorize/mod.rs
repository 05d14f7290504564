//! W work-items per vector.
//!
//! What flows in: a function at [`Stage::Scalarized`](crate::ir::Stage) that does one work-item's work between two barriers, its
//! parameters the same for all work-items. What flows out: the function that does the work of W work-items
//! consecutive in x, at [`Stage::Vectorized`](crate::ir::Stage): a value that differs between them has W lanes, lane `l`
//! for the l-th; a work-item query stands for the first one.
//!
//! Open `linearize.rs` first: it drives the rest, and turns divergent control flow into masks. `order.rs` decides
//! in which order blocks are visited and which masks are equal; `emit.rs` widens one instruction; `canonical.rs`
//! prepares control flow.

pub(crate) mod canonical;
mod emit;
mod linearize;
mod order;

use crate::LaunchKey;
use crate::analysis::{Across, Cfg, Shapes};
use crate::ir::Function;

pub use linearize::Vectorized;

/// Makes the function for `width` work-items. `Err` says why only a width of 1 will do.
pub fn vectorize(func: &Function, key: &LaunchKey, width: u8) -> Result<Vectorized, String> {
    if width == 1 {
        return Ok(Vectorized {
            function: func.clone(),
            remarks: Vec::new(),
        });
    }
    widen(func, key, width, false)
}

/// The same of a function with two conditions as results: whether the first holds for all work-items, and
/// whether the second does for any.
pub fn vectorize_condition(
    func: &Function,
    key: &LaunchKey,
    width: u8,
) -> Result<Vectorized, String> {
    widen(func, key, width, true)
}

fn widen(func: &Function, key: &LaunchKey, width: u8, all: bool) -> Result<Vectorized, String> {
    let mut func = func.clone();
    canonical::canonicalize(&mut func);
    loop {
        let cfg = Cfg::new(&func);
        if !cfg.loops.irreducible.is_empty() {
            return Err("a loop has several entries".into());
        }
        let shapes = Shapes::new(&func, &cfg, key, Across::Chunk(width));
        if !canonical::split_divergent_switches(&mut func, &shapes) {
            let order = order::Order::new(&func, &cfg, &shapes).ok_or("a loop has no way out")?;
            return Ok(linearize::linearize(
                &func, &cfg, &shapes, &order, width, all,
            ));
        }
        func.layout = func.reverse_post_order();
    }
}
