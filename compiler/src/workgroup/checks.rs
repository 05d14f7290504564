//! What is asked of a chunk before it runs as vectors.
//!
//! Vector code is better for knowing that the whole chunk passes the region's bounds checks
//! (`bounds.rs`), and that index arithmetic of 32 bits does not wrap between its work-items before
//! it is extended to 64, nor is clamped, nor crosses a multiple of what it is divided by
//! ([`Shape::Guarded`]), so that they access neighbouring elements. All this can be computed once
//! for a chunk, if from ids and uniform values alone. So they make up a function of their own, the
//! *guard*, and the vector code is made on the assumption that it holds. Where it does not, which
//! is at the edges of the range or hardly ever, work-items run one by one, or with masks. Quotients
//! often differ in a chunk (small divisors), so then it runs as vectors made without the
//! assumption; as every chunk does where the target has masked accesses to memory. Cost: linear.

use std::collections::BTreeSet;

use super::bounds::{Bounds, find_bounds};
use crate::analysis::{Across, Cfg, Shape, Shapes, is_computed_from_ids, is_function_param};
use crate::ir::{BinOp, Builder, Cloner, ConvertOp, Function, Op, Terminator, Type, UnOp, Value};
use crate::launch::LaunchKey;
use crate::target::Target;
use crate::transform::canonical;
use crate::vectorize::{Predicate, idle};

/// A region with its guard.
pub(super) struct Checks {
    /// For one work-item: whether it passes the bounds checks, twice, then values that must not
    /// wrap.
    pub guard: Function,
    /// What is asked of the guard's results.
    pub predicates: Vec<Predicate>,
    /// The guard's divisions whose quotients are asked about: other answers hold if theirs do.
    pub required_first: BTreeSet<Value>,
    /// The region for work-items that pass.
    pub inside: Function,
    /// The whole region, if those that do not pass have more to do than to end, or guards may well
    /// fail. Where the target has masked accesses to memory, the code for partial chunks does that.
    pub masked: Option<Function>,
    /// Whether it is for chunks of which guards fail, too.
    pub masked_for_all: bool,
    /// Whether work-items that do not pass the bounds checks have something to do.
    pub has_outside: bool,
    /// What [`Shape::Guarded`] is guarded by and holds if the guard says so.
    pub assumptions: BTreeSet<Value>,
}

/// More than these are not worth asking about ahead.
const MOST: usize = 8;
/// Nor is what takes more instructions than these to compute.
const MOST_INSTRUCTIONS: usize = 40;

/// Splits a region into guard and inside; `None` if there is nothing to ask.
pub(super) fn split_checks(
    region: &Function,
    key: &LaunchKey,
    target: &Target,
    width: u8,
) -> Option<Checks> {
    if width == 1 {
        return None;
    }
    let mut whole = region.clone();
    canonical::unify(&mut whole);
    let cfg = canonical::enter_once(&mut whole);
    let shapes = Shapes::guessing(&whole, &cfg, key, Across::Chunk(width));
    let bounds = find_bounds(&whole, &cfg, &shapes);
    let diverges = diverges_inside(&whole, &cfg, &shapes, bounds.as_ref());
    let assumptions = early_guards(&whole, &cfg, &shapes, diverges);
    if bounds.is_none() && assumptions.is_empty() {
        return None;
    }
    let bounds = bounds.unwrap_or_default();
    let (guard, predicates, required_first) = make_guard(&whole, &bounds, &assumptions, &shapes);
    let mut inside = whole.clone();
    for step in bounds.steps {
        inside.blocks[step.block].term = Terminator::Br(step.onward);
    }
    inside.layout = inside.reverse_post_order();
    canonical::forward_parameters(&mut inside);
    let has_outside = bounds.outside;
    let often_fail = assumptions.iter().any(|&guard| is_division(&whole, guard));
    let masked_for_all = often_fail && !target.masked_memory;
    let masked = masked_for_all || has_outside && !target.masked_memory;
    Some(Checks {
        guard,
        predicates,
        required_first,
        inside,
        masked: masked.then_some(whole),
        masked_for_all,
        has_outside,
        assumptions,
    })
}

/// Whether work-items that pass the bounds checks may go different ways.
fn diverges_inside(func: &Function, cfg: &Cfg, shapes: &Shapes, bounds: Option<&Bounds>) -> bool {
    let is_step = |block| bounds.is_some_and(|b| b.steps.iter().any(|step| step.block == block));
    let mut inside = cfg.order.iter().filter(|&&block| !is_step(block));
    inside.any(|&block| match func.blocks[block].term {
        Terminator::CondBr { cond, .. } => !shapes.of(cond).is_uniform(),
        Terminator::Switch { value, .. } => !shapes.of(value).is_uniform(),
        _ => false,
    })
}

/// What memory accesses are guarded by and can be asked about at the beginning of the region. What
/// a flag promises of the work-items that access memory need not be asked unless it `diverges`.
fn early_guards(func: &Function, cfg: &Cfg, shapes: &Shapes, diverges: bool) -> BTreeSet<Value> {
    let mut found = BTreeSet::new();
    for &block in &cfg.order {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            if !matches!(data.op, Op::Load(_) | Op::Store(_)) {
                continue;
            }
            if let Shape::Guarded(_, guards) = shapes.at(func, cfg, data.args[0], block) {
                let given = |v: Value| is_function_param(func, v);
                let computable =
                    |guard| is_computed_from_ids(func, guard, MOST_INSTRUCTIONS, given);
                let asked = |guard: &Value| diverges || !shapes.is_promised(*guard);
                let all = guards.iter().all(computable);
                if all && found.len() < MOST {
                    found.extend(guards.iter().filter(asked));
                }
            }
        }
    }
    found
}

fn is_division(func: &Function, guard: Value) -> bool {
    use BinOp::{SDiv, SRem, UDiv, URem};
    matches!(
        func.def_op(guard),
        Some(Op::Binary(UDiv | SDiv | URem | SRem, _))
    )
}

fn make_guard(
    func: &Function,
    bounds: &Bounds,
    assumptions: &BTreeSet<Value>,
    shapes: &Shapes,
) -> (Function, Vec<Predicate>, BTreeSet<Value>) {
    // Guards with one operand are asked once.
    let mut operands: BTreeSet<(Value, bool)> = BTreeSet::new();
    let mut divisions: BTreeSet<(Value, Value, bool)> = BTreeSet::new();
    let mut clamps: Vec<Value> = Vec::new();
    for &guard in assumptions {
        let inst = func.def_inst(guard).expect("guards are instructions");
        let data = &func.insts[inst];
        match data.op {
            Op::Convert(op, _) => {
                operands.insert((data.args[0], op == ConvertOp::SExt));
            }
            Op::Binary(op, _) if is_division(func, guard) => {
                let signed = matches!(op, BinOp::SDiv | BinOp::SRem);
                divisions.insert((data.args[0], data.args[1], signed));
            }
            _ => clamps.push(guard),
        }
    }
    let params: Vec<Type> = func.params().iter().map(|&p| func.ty(p)).collect();
    let mut results = vec![Type::I1; 2];
    results.extend(operands.iter().map(|&(value, _)| func.ty(value)));
    results.extend(divisions.iter().map(|&(value, ..)| func.ty(value)));
    results.extend(clamps.iter().map(|_| Type::I1));
    let mut out = Function::new(format!("{}.guard", func.name), &params, &results);
    out.locals = func.locals.clone();
    out.slots = func.slots.clone();
    let mut cloner = Cloner::from(func);
    cloner.bind_all(func.params(), out.params());
    let entry = out.entry();
    let mut b = Builder::new(&mut out, entry);
    let mut passes: Option<Value> = None;
    // Those that are the same for all work-items first: then what they come to can be computed
    // before the loop over chunks.
    let checks = bounds.steps.iter().filter_map(|step| step.check);
    let checks: Vec<(Value, bool)> = checks.flat_map(|check| conjuncts(func, check)).collect();
    let is_uniform = |&&(cond, _): &&(Value, bool)| shapes.of(cond).is_uniform();
    let uniform = checks.iter().filter(is_uniform);
    let varying = checks.iter().filter(|check| !is_uniform(check));
    for &(cond, wanted) in uniform.chain(varying) {
        let cond = cloner.rematerialize(&mut b, cond);
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
    let passes = passes.unwrap_or_else(|| b.iconst(Type::I1, 1));
    let mut values = vec![passes, passes];
    let mut predicates = vec![Predicate::All, Predicate::Any];
    for (value, signed) in operands {
        values.push(cloner.rematerialize(&mut b, value));
        predicates.push(Predicate::NoWrap { signed });
    }
    for (value, divisor, signed) in divisions {
        let (value, divisor) = (
            cloner.rematerialize(&mut b, value),
            cloner.rematerialize(&mut b, divisor),
        );
        let op = if signed { BinOp::SRem } else { BinOp::URem };
        values.push(b.binary(op, value, divisor));
        predicates.push(Predicate::SameQuotient);
    }
    for clamp in clamps {
        let inst = func.def_inst(clamp).expect("guards are instructions");
        let data = &func.insts[inst];
        let Op::Binary(op, _) = data.op else {
            unreachable!("guards extend, divide or clamp")
        };
        // The bound is the operand that is uniform.
        let (value, bound) = if shapes.of(data.args[0]).is_uniform() {
            (data.args[1], data.args[0])
        } else {
            (data.args[0], data.args[1])
        };
        let (value, bound) = (
            cloner.rematerialize(&mut b, value),
            cloner.rematerialize(&mut b, bound),
        );
        values.push(b.icmp(idle(op), value, bound));
        predicates.push(Predicate::All);
    }
    b.ret(&values);
    let copied = |&&guard: &&Value| is_division(func, guard);
    let required_first = assumptions.iter().filter(copied);
    let required_first = required_first.filter_map(|&guard| cloner.get(guard));
    (out, predicates, required_first.collect())
}

/// The conditions that together make up a check.
fn conjuncts(func: &Function, check: (Value, bool)) -> Vec<(Value, bool)> {
    let mut todo = vec![check];
    let mut found = Vec::new();
    while let Some((cond, wanted)) = todo.pop() {
        match func.def_inst(cond).map(|inst| &func.insts[inst]) {
            // More parts than these come of a tree that shares some.
            Some(data)
                if wanted
                    && matches!(data.op, Op::Binary(BinOp::And, _))
                    && found.len() + todo.len() < MOST =>
            {
                todo.extend(data.args.iter().map(|&arg| (arg, true)));
            }
            _ => found.push((cond, wanted)),
        }
    }
    found
}
