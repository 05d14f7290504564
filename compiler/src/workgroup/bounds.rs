//! Kernels that begin with a bounds check.
//!
//! `if (i < n) ...` around a whole kernel would mask everything in it, although almost every chunk
//! is entirely inside. So when a region begins with such checks (blocks without effects, whose
//! conditional branches lead to the empty end of the region or onward), it is cut in two: the
//! *guard*, whether all work-items of a chunk pass every check, and the *inside*, the region given
//! that they do. A chunk that passes runs the inside, with nothing masked; one of which no
//! work-item passes is skipped; any other runs item by item, the checks included, in the loop that
//! also runs what is left of a row.
//!
//! A check may also lead somewhere else than to the end, such as the borders of a picture, if all
//! checks do and the region is not long. Then chunks that do not pass run the region with masks, so
//! it is there three times.
//!
//! Only checks that compare ids with uniform values count: those fail at the edge of the range,
//! seldom and in runs. So does the mark of who returned before a barrier. A condition on data may
//! fail anywhere; masks are right for it.

use crate::analysis::{Cfg, Shape, Shapes};
use crate::ir::{BinOp, Block, BlockCall, Function, Op, Terminator, Value};

/// Instructions of a region that may be there three times.
const SHORT: usize = 200;

/// Comparisons, and operations that join them, in all checks together. What is asked for each chunk
/// is to cost little, and guards are made by walks that follow a condition as deep as it is.
const MOST: usize = 64;

/// A block that control passes on the way to the inside.
pub(super) struct Step {
    pub block: Block,
    /// The condition, and its value on the way in.
    pub check: Option<(Value, bool)>,
    pub onward: BlockCall,
}

/// The bounds checks that a region begins with.
#[derive(Default)]
pub(super) struct Bounds {
    pub steps: Vec<Step>,
    /// Whether work-items that do not pass have something to do.
    pub outside: bool,
}

/// Finds the bounds checks of a region; `None` if it does not begin with any that work-items may
/// pass differently.
pub(super) fn find_bounds(inside: &Function, cfg: &Cfg, shapes: &Shapes) -> Option<Bounds> {
    if !inside.results.is_empty() {
        return None;
    }
    let mut steps: Vec<Step> = Vec::new();
    let mut divergent = false;
    let mut left = MOST;
    let mut at = inside.entry();
    // Where work-items that do not pass go.
    let mut other: Option<Block> = None;
    let size = |block: Block| inside.blocks[block].insts.len();
    let is_short = cfg.order.iter().map(|&block| size(block)).sum::<usize>() <= SHORT;
    let below = |block: Block| -> usize {
        let dominated = cfg
            .order
            .iter()
            .filter(|&&b| cfg.dominators.dominates(block, b));
        dominated.map(|&b| size(b)).sum()
    };
    // A block with several ways in may be a loop's, or be reached around a check.
    while at == inside.entry() || cfg.jumps[at].len() == 1 {
        let data = &inside.blocks[at];
        let checked = steps.iter().any(|step| step.check.is_some());
        let quiet = data.insts.iter().all(|&inst| {
            let op = &inside.insts[inst].op;
            // The guard runs for all work-items; after a check, a load may be for those that pass
            // only.
            op.is_pure() || !checked && !op.has_side_effect()
        });
        if !quiet {
            break;
        }
        let (check, onward) = match &data.term {
            Terminator::CondBr { cond, then, els } => {
                let Some(size) = bounds_check_size(inside, shapes, *cond, left) else {
                    break;
                };
                let wanted = match other {
                    Some(other) if then.block == other => false,
                    Some(other) if els.block == other => true,
                    Some(_) => break,
                    None => match (is_end(inside, then), is_end(inside, els)) {
                        (false, true) => true,
                        (true, false) => false,
                        (false, false) if is_short => below(then.block) >= below(els.block),
                        _ => break,
                    },
                };
                let (onward, away) = if wanted { (then, els) } else { (els, then) };
                other = Some(away.block);
                divergent |= !shapes.of(*cond).is_uniform();
                left -= size;
                (Some((*cond, wanted)), onward)
            }
            Terminator::Br(call) if !is_end(inside, call) => (None, call),
            _ => break,
        };
        let onward = onward.clone();
        let next = onward.block;
        steps.push(Step {
            block: at,
            check,
            onward,
        });
        at = next;
    }
    if !divergent {
        return None;
    }
    let outside = other.is_some_and(|block| !is_end(inside, &BlockCall::new(block, &[])));
    Some(Bounds { steps, outside })
}

fn is_end(func: &Function, call: &BlockCall) -> bool {
    let data = &func.blocks[call.block];
    data.insts.is_empty() && matches!(data.term, Terminator::Ret(_))
}

/// How many values a condition is made of that compares ids with uniform values; `None` for any
/// other, and if there are more than `limit`. One that is used twice counts twice.
fn bounds_check_size(func: &Function, shapes: &Shapes, cond: Value, limit: usize) -> Option<usize> {
    let mut todo = vec![cond];
    let mut size = 0;
    while let Some(cond) = todo.pop() {
        size += 1;
        if size > limit {
            return None;
        }
        if shapes.of(cond).is_uniform() {
            continue;
        }
        let data = &func.insts[func.def_inst(cond)?];
        match data.op {
            // Who is alive was decided by such a check.
            Op::ContextLoad(_) => {}
            Op::ICmp(_) => {
                let mut args = data.args.iter();
                if args.any(|&arg| shapes.of(arg) == Shape::Varying) {
                    return None;
                }
            }
            Op::Binary(BinOp::And | BinOp::Or, _) | Op::Unary(_) | Op::Select => {
                todo.extend(&data.args);
            }
            _ => return None,
        }
    }
    Some(size)
}
