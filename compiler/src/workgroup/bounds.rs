//! Kernels that begin with a bounds check.
//!
//! `if (i < n) ...` around a whole kernel would mask everything in it, although almost every chunk is entirely inside. So when
//! a region begins with such checks (blocks without effects, whose conditional branches lead to the empty end of the region or
//! onward), it is cut in two: the *guard*, whether all work-items of a chunk pass every check, and the *inside*, the
//! region given that they do. A chunk that passes runs the inside, with nothing masked; one of which no work-item
//! passes is skipped; any other runs item by item, the checks included, in the loop that also runs what is left of a row.
//!
//! Only checks that compare ids with uniform values count: those fail at the edge of the range, seldom and
//! in runs. So does the mark of who returned before a barrier. A condition on data may fail anywhere; masks are right for it.

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};

use crate::LaunchKey;
use crate::analysis::{Across, Cfg, Shape, Shapes};
use crate::ir::{BinOp, Block, BlockCall, Builder, Function, Op, Terminator, Type, UnOp, Value};
use crate::vectorize::canonical;

pub(super) struct Bounds {
    /// `-> i1, i1`, both whether a work-item passes.
    pub guard: Function,
    /// The region for work-items that pass.
    pub inside: Function,
}

/// A block that control passes on the way to the inside.
struct Step {
    block: Block,
    /// The condition, and its value on the way in.
    check: Option<(Value, bool)>,
    onward: BlockCall,
}

/// Cuts a region that begins with bounds checks; `None` if it does not.
pub(super) fn split_bounds(region: &Function, key: &LaunchKey, width: u8) -> Option<Bounds> {
    if width == 1 || !region.results.is_empty() {
        return None;
    }
    let mut inside = region.clone();
    canonical::unify(&mut inside);
    let cfg = Cfg::new(&inside);
    let shapes = Shapes::new(&inside, &cfg, key, Across::Chunk(width));
    let mut steps: Vec<Step> = Vec::new();
    let mut divergent = false;
    let mut at = inside.entry();
    // A block with several ways in may be a loop's, or be reached around a check.
    while at == inside.entry() || cfg.preds[at].len() == 1 {
        let data = &inside.blocks[at];
        let checked = steps.iter().any(|step| step.check.is_some());
        let quiet = data.insts.iter().all(|&inst| {
            let op = &inside.insts[inst].op;
            // The guard runs for all work-items; after a check, a load may be for those that pass only.
            op.is_pure() || !checked && !op.has_side_effect()
        });
        if !quiet {
            break;
        }
        let (check, onward) = match &data.term {
            Terminator::CondBr { cond, then, els } => {
                let (onward, wanted) = match (is_end(&inside, then), is_end(&inside, els)) {
                    (false, true) => (then, true),
                    (true, false) => (els, false),
                    _ => break,
                };
                if !is_bounds_check(&inside, &shapes, *cond) {
                    break;
                }
                divergent |= !shapes.of(*cond).is_uniform();
                (Some((*cond, wanted)), onward)
            }
            Terminator::Br(call) if !is_end(&inside, call) => (None, call),
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
    let guard = make_guard(&inside, &steps);
    for step in steps {
        inside.blocks[step.block].term = Terminator::Br(step.onward);
    }
    inside.layout = inside.reverse_post_order();
    Some(Bounds { guard, inside })
}

fn is_end(func: &Function, call: &BlockCall) -> bool {
    let data = &func.blocks[call.block];
    data.insts.is_empty() && matches!(data.term, Terminator::Ret(_))
}

/// Whether a condition compares ids with uniform values.
fn is_bounds_check(func: &Function, shapes: &Shapes, cond: Value) -> bool {
    if shapes.of(cond).is_uniform() {
        return true;
    }
    let Some(inst) = func.def_inst(cond) else {
        return false;
    };
    let data = &func.insts[inst];
    match data.op {
        // Who is alive was decided by such a check.
        Op::ContextLoad(_) => true,
        Op::ICmp(_) => data
            .args
            .iter()
            .all(|&arg| shapes.of(arg) != Shape::Varying),
        Op::Binary(BinOp::And | BinOp::Or, _) | Op::Unary(_) | Op::Select => data
            .args
            .iter()
            .all(|&arg| is_bounds_check(func, shapes, arg)),
        _ => false,
    }
}

/// The conjunction of all checks.
fn make_guard(func: &Function, steps: &[Step]) -> Function {
    let params: Vec<Type> = func.params().iter().map(|&p| func.ty(p)).collect();
    let mut out = Function::new(format!("{}.guard", func.name), &params, &[Type::I1; 2]);
    out.locals = func.locals.clone();
    out.slots = func.slots.clone();
    let mut map: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    for (&old, &new) in func.params().iter().zip(out.params()) {
        map[old] = new.into();
    }
    let entry = out.entry();
    let mut b = Builder::new(&mut out, entry);
    let mut passes: Option<Value> = None;
    for step in steps {
        for &inst in &func.blocks[step.block].insts {
            let data = &func.insts[inst];
            let args: Vec<Value> = data
                .args
                .iter()
                .map(|&arg| map[arg].expect("defined before use"))
                .collect();
            let types: Vec<Type> = data.results.iter().map(|&r| func.ty(r)).collect();
            let new = b.ins(data.op.clone(), &args, &types);
            let new = b.func.insts[new].results.clone();
            for (&old, &new) in data.results.iter().zip(&new) {
                map[old] = new.into();
            }
        }
        if let Some((cond, wanted)) = step.check {
            let cond = map[cond].expect("defined before use");
            let cond = if wanted {
                cond
            } else {
                b.unary(UnOp::Not, cond)
            };
            passes = Some(match passes {
                None => cond,
                Some(before) => b.binary(BinOp::And, before, cond),
            });
        }
        let params = &func.blocks[step.onward.block].params;
        for (&param, &arg) in params.iter().zip(&step.onward.args) {
            map[param] = map[arg];
        }
    }
    let passes = passes.expect("there is a check");
    b.ret(&[passes, passes]);
    out
}
