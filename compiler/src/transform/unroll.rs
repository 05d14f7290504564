//! Short loops become straight lines.
//!
//! An innermost loop is unrolled when one jump alone leaves it, from a block (the *test*) that
//! every iteration runs, and the number of times the test is made is a small constant. That number
//! is found by running the loop's counters: starting from the header parameters that the test
//! depends on, whose first values must be constants, the few pure instructions that compute the
//! condition and the next values are evaluated until the test leaves. So it does not matter whether
//! the test comes first or last, nor how the counter moves.
//!
//! The blocks of the loop stay as the last iteration, so that values used after it keep their
//! names; the others are copies before it, each jumping to the next one's header, and no test is
//! left. Folding does the rest.
//!
//! Weight is what is left of the body in each iteration: not constants, nor what depends on
//! counters or on values from outside alone. A loop within an unrolled loop is gone, so the outer
//! one may be next time. Cost: linear in the function and the copies, which are limited for each
//! loop and in all.

use std::collections::HashMap;

use cranelift_entity::SecondaryMap;
use smallvec::{SmallVec, smallvec};

use crate::analysis::{Loop, LoopForest};
use crate::ir::{
    Block, BlockCall, Builder, Cloner, DominatorTree, Function, Inst, Op, Terminator, Type, Value,
    ValueDef, eval,
};

/// The most times a body is repeated.
const TRIPS: usize = 16;
/// The most weight of all iterations of a loop.
const WEIGHT: usize = 256;
/// The most weight of all that one run of the pass makes.
const GROWTH: usize = 4096;
/// The most values that a test may depend on.
const TEST: usize = 32;
/// A built-in function is worth so many instructions.
const BUILTIN: usize = 16;

/// Unrolls what is worth it. Returns whether there was anything.
pub fn run(func: &mut Function) -> bool {
    let dominators = DominatorTree::new(func);
    let forest = LoopForest::new(func, &dominators);
    if forest.loops.is_empty() {
        return false;
    }
    let preds = func.predecessors();
    let mut inner: SecondaryMap<Loop, bool> = SecondaryMap::with_default(true);
    for data in forest.loops.values() {
        if let Some(parent) = data.parent {
            inner[parent] = false;
        }
    }
    let mut growth = 0;
    let mut copies: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    let mut cloner = Cloner::within();
    for id in forest.loops.keys().filter(|&id| inner[id]) {
        let Some(plan) = plan(
            func,
            &forest,
            &dominators,
            &preds[forest.loops[id].header],
            id,
        ) else {
            continue;
        };
        growth += plan.weight;
        if growth > GROWTH {
            break;
        }
        let made = unroll(func, &plan, &mut cloner);
        copies[plan.header] = made;
    }
    if growth == 0 {
        return false;
    }
    let layout = std::mem::take(&mut func.layout);
    for block in layout {
        func.layout.append(&mut copies[block]);
        func.layout.push(block);
    }
    super::simplify_cfg::remove_unreachable(func);
    true
}

/// A loop that will be unrolled.
struct Plan {
    header: Block,
    /// In reverse post-order, the header first.
    blocks: Vec<Block>,
    /// The blocks outside that jump to the header, each once.
    before: SmallVec<[Block; 4]>,
    /// The block that ends with the test, and the jumps that stay in the loop and leave it.
    test: Block,
    stay: BlockCall,
    leave: BlockCall,
    /// How often the header runs.
    trips: usize,
    weight: usize,
}

fn plan(
    func: &Function,
    forest: &LoopForest,
    dominators: &DominatorTree,
    preds: &[Block],
    id: Loop,
) -> Option<Plan> {
    let data = &forest.loops[id];
    let (&[latch], &[(test, _)]) = (data.latches.as_slice(), data.exits.as_slice()) else {
        return None;
    };
    let Terminator::CondBr { cond, then, els } = &func.blocks[test].term else {
        return None;
    };
    if !dominators.dominates(test, latch) || data.header == func.entry() {
        return None;
    }
    let leaves_if = !forest.contains(id, then.block);
    let (leave, stay) = if leaves_if { (then, els) } else { (els, then) };
    let before = preds
        .iter()
        .copied()
        .filter(|&pred| !forest.contains(id, pred));
    let mut before: SmallVec<[Block; 4]> = before.collect();
    // A block is there for each of its jumps, one after the other.
    before.dedup();
    // Each block but one weighs something.
    let blocks = forest.blocks(func, id, WEIGHT + 1)?;
    let counters = Counters::new(func, &blocks, latch, &before, *cond)?;
    let trips = counters.trips(func, *cond, leaves_if)?;
    let iterations = if test == latch { trips } else { trips - 1 };
    if iterations > TRIPS {
        return None;
    }
    let limit = WEIGHT / iterations.max(1);
    let weight = body_weight(func, &blocks, &counters, limit)? * iterations;
    Some(Plan {
        header: data.header,
        blocks,
        before,
        test,
        stay: stay.clone(),
        leave: leave.clone(),
        trips,
        weight: weight.max(1),
    })
}

/// What a loop's test depends on.
struct Counters {
    /// Header parameters: the first value and what is handed round.
    params: SmallVec<[(Value, u64, Value); 4]>,
    /// In an order in which they can be evaluated.
    insts: Vec<Inst>,
}

impl Counters {
    fn new(
        func: &Function,
        blocks: &[Block],
        latch: Block,
        before: &[Block],
        cond: Value,
    ) -> Option<Counters> {
        let mut params: SmallVec<[(Value, u64, Value); 4]> = smallvec![];
        let mut seen: SmallVec<[Value; TEST]> = smallvec![];
        let mut wanted: SmallVec<[Inst; TEST]> = smallvec![];
        let mut work: SmallVec<[Value; TEST]> = smallvec![cond];
        while let Some(value) = work.pop() {
            if func.as_const(value).is_some() || seen.contains(&value) {
                continue;
            }
            seen.push(value);
            if seen.len() > TEST || !func.ty(value).is_scalar() {
                return None;
            }
            match func.values[value].def {
                ValueDef::Param(block, n) if block == blocks[0] => {
                    let n = usize::from(n);
                    let first = first_value(func, before, block, n)?;
                    let next = jumps(func, latch, block).next()?.args[n];
                    params.push((value, first, next));
                    work.push(next);
                }
                ValueDef::Result(inst, _) if func.insts[inst].op.is_pure() => {
                    wanted.push(inst);
                    work.extend(func.insts[inst].args.iter().copied());
                }
                _ => return None,
            }
        }
        let all = blocks.iter().flat_map(|&b| &func.blocks[b].insts);
        let insts: Vec<Inst> = all.copied().filter(|inst| wanted.contains(inst)).collect();
        // An instruction outside the loop is not a constant, or it would have been folded.
        (insts.len() == wanted.len()).then_some(Counters { params, insts })
    }

    /// How often the header runs, if that is little.
    fn trips(&self, func: &Function, cond: Value, leaves_if: bool) -> Option<usize> {
        let mut known: SmallVec<[(Value, u64); TEST]> = smallvec![];
        let mut now: SmallVec<[u64; 4]> = self.params.iter().map(|&(_, first, _)| first).collect();
        for trips in 1..=TRIPS + 1 {
            known.clear();
            let params = self.params.iter().zip(&now);
            known.extend(params.map(|(&(param, ..), &bits)| (param, bits)));
            let get = |known: &[(Value, u64)], value: Value| match func.as_const(value) {
                Some(bits) => Some(bits),
                None => known.iter().find(|k| k.0 == value).map(|k| k.1),
            };
            for &inst in &self.insts {
                let data = &func.insts[inst];
                let mut args: SmallVec<[(Type, [u64; 1]); 4]> = smallvec![];
                for &arg in &data.args {
                    args.push((func.ty(arg), [get(&known, arg)?]));
                }
                let args: SmallVec<[(Type, &[u64]); 4]> =
                    args.iter().map(|(ty, bits)| (*ty, &bits[..])).collect();
                let result = data.results[0];
                let bits = eval::pure(&data.op, &args, func.ty(result))?[0];
                known.push((result, bits));
            }
            if (get(&known, cond)? != 0) == leaves_if {
                return Some(trips);
            }
            for (now, &(_, _, next)) in now.iter_mut().zip(&self.params) {
                *now = get(&known, next)?;
            }
        }
        None
    }
}

/// The jumps from one block to another.
fn jumps(func: &Function, from: Block, to: Block) -> impl Iterator<Item = &BlockCall> {
    let targets = func.blocks[from].term.targets();
    targets.filter(move |call| call.block == to)
}

/// The constant that every jump from `before` hands to a parameter.
fn first_value(func: &Function, before: &[Block], header: Block, n: usize) -> Option<u64> {
    let mut values = before
        .iter()
        .flat_map(|&pred| jumps(func, pred, header))
        .map(|call| func.as_const(call.args[n]));
    let first = values.next()??;
    values.all(|value| value == Some(first)).then_some(first)
}

/// What one iteration weighs, if the loop may be copied and that is at most `limit`.
fn body_weight(
    func: &Function,
    blocks: &[Block],
    counters: &Counters,
    limit: usize,
) -> Option<usize> {
    /// What is known of a value that the loop computes.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Kind {
        Outside,
        Counted,
        Left,
    }
    let mut kinds: HashMap<Value, Kind> = HashMap::new();
    for &block in blocks {
        let params = &func.blocks[block].params;
        kinds.extend(params.iter().map(|&param| (param, Kind::Left)));
    }
    kinds.extend(
        counters
            .params
            .iter()
            .map(|&(param, ..)| (param, Kind::Counted)),
    );
    let mut weight = blocks.len() - 1;
    for &block in blocks {
        for &inst in &func.blocks[block].insts {
            let data = &func.insts[inst];
            let of = |&arg: &Value| kinds.get(&arg).copied().unwrap_or(Kind::Outside);
            let counted = |arg: &Value| of(arg) == Kind::Counted || func.as_const(*arg).is_some();
            let kind = match &data.op {
                Op::Barrier(_) | Op::NamedBarrier(_) | Op::Alloca { .. } | Op::Call(_) => {
                    return None;
                }
                op if !op.is_pure() => Kind::Left,
                _ if data.args.iter().all(|arg| of(arg) == Kind::Outside) => Kind::Outside,
                _ if data.args.iter().all(counted) => Kind::Counted,
                _ => Kind::Left,
            };
            kinds.extend(data.results.iter().map(|&result| (result, kind)));
            if kind == Kind::Left {
                weight += match data.op {
                    Op::Builtin(_) | Op::ImageRead(_) | Op::ImageWrite(_) | Op::CallFunction(_) => {
                        BUILTIN
                    }
                    _ => 1,
                };
            }
            if weight > limit {
                return None;
            }
        }
    }
    Some(weight)
}

/// Copies the loop for all iterations but the last; returns the copies in order, for the layout.
fn unroll(func: &mut Function, plan: &Plan, cloner: &mut Cloner<'_>) -> Vec<Block> {
    let end = func.layout.len();
    // The copies of the loop's blocks, iteration after iteration.
    let count = plan.blocks.len();
    let made: Vec<Block> = (0..(plan.trips - 1) * count)
        .map(|_| func.add_block())
        .collect();
    func.layout.truncate(end);
    let before = cloner.checkpoint();
    for (trip, copies) in made.chunks(count).enumerate() {
        let next = made.get((trip + 1) * count).copied();
        copy(func, plan, copies, next.unwrap_or(plan.header), cloner);
    }
    cloner.roll_back(before);
    if let Some(&first) = made.first() {
        for &pred in &plan.before {
            for call in func.blocks[pred].term.targets_mut() {
                if call.block == plan.header {
                    call.block = first;
                }
            }
        }
    }
    // The path from the test back to the header, if there are blocks on it, is unreachable now.
    func.blocks[plan.test].term = Terminator::Br(plan.leave.clone());
    made
}

/// Fills the blocks of one iteration that is followed by the one with the header `next`.
fn copy(func: &mut Function, plan: &Plan, copies: &[Block], next: Block, cloner: &mut Cloner<'_>) {
    for (&from, &to) in plan.blocks.iter().zip(copies) {
        cloner.add_params(func, from, to);
        cloner.bind_block(from, to);
    }
    cloner.bind_block(plan.header, next);
    for (&from, &to) in plan.blocks.iter().zip(copies) {
        let insts = func.blocks[from].insts.len();
        let term = if from == plan.test {
            Terminator::Br(plan.stay.clone())
        } else {
            func.blocks[from].term.clone()
        };
        let mut b = Builder::new(func, to);
        for n in 0..insts {
            let inst = b.func.blocks[from].insts[n];
            cloner.inst(&mut b, inst);
        }
        let term = cloner.terminator(&mut b, &term);
        b.terminate(term);
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::{Function, Stage, parse, verify::verify};

    fn unrolled(body: &str) -> (bool, Function) {
        let text = format!(
            "func \"f\" (ptr, i32, i1) -> (i32) {{\nblock0(v0: ptr, v1: i32, v2: i1):\n\
             v50: i32 = const 0x0\nv51: i32 = const 0x1\nv52: i32 = const 0x5\n{body}\n}}"
        );
        let mut module = parse::module(&text).unwrap();
        let func = module.functions.values_mut().next().unwrap();
        let changed = super::run(func);
        verify(func, Stage::Translated, None).unwrap();
        (changed, func.clone())
    }

    const STORE: &str = "store.global.align4 v0, v3";

    #[test]
    fn a_test_first_runs_the_body_once_less_than_the_header() {
        let (changed, func) = unrolled(&format!(
            "br block1(v50, v1)\nblock1(v3: i32, v4: i32):\nv5: i1 = icmp.slt v3, v52\n\
             cond_br v5, block2, block3\n\
             block2:\n{STORE}\nv6: i32 = iadd v4, v3\nv7: i32 = iadd v3, v51\nbr block1(v7, v6)\n\
             block3:\nret v4"
        ));
        assert!(changed);
        assert_eq!(func.to_string().matches("store").count(), 5, "{func}");
        assert!(!func.to_string().contains("cond_br"), "{func}");
    }

    #[test]
    fn a_test_last_runs_the_body_as_often_as_the_header() {
        let (changed, func) = unrolled(&format!(
            "br block1(v52, v1)\nblock1(v3: i32, v4: i32):\n{STORE}\nv6: i32 = iadd v4, v3\n\
             v7: i32 = isub v3, v51\nv8: i1 = icmp.eq v7, v50\ncond_br v8, block2, block1(v7, v6)\n\
             block2:\nret v6"
        ));
        assert!(changed);
        assert_eq!(func.to_string().matches("store").count(), 5, "{func}");
    }

    #[test]
    fn a_loop_left_at_once_is_its_last_iteration() {
        let (changed, func) = unrolled(&format!(
            "br block1(v52)\nblock1(v3: i32):\nv5: i1 = icmp.slt v3, v52\n\
             cond_br v5, block2, block3\n\
             block2:\n{STORE}\nv7: i32 = iadd v3, v51\nbr block1(v7)\nblock3:\nret v3"
        ));
        assert!(changed);
        assert!(!func.to_string().contains("store"), "{func}");
    }

    #[test]
    fn what_must_stay_a_loop_stays() {
        let looped = |first: &str, bound: &str, body: &str| {
            unrolled(&format!(
                "v53: i32 = const 0x11\nbr block1({first})\nblock1(v3: i32):\n{body}\n\
                 v7: i32 = iadd v3, v51\n\
                 v8: i1 = icmp.ult v7, {bound}\ncond_br v8, block1(v7), block3\nblock3:\nret v3"
            ))
            .0
        };
        assert!(looped("v50", "v52", STORE));
        assert!(!looped("v1", "v52", STORE));
        assert!(!looped("v50", "v1", STORE));
        assert!(!looped("v50", "v53", STORE));
        assert!(looped("v51", "v53", STORE));
        assert!(!looped("v50", "v52", "barrier.workgroup.acqrel.local"));
        assert!(!looped("v50", "v52", "cond_br v2, block2, block3\nblock2:"));
        let long: String = (0..52).map(|_| format!("{STORE}\n")).collect();
        assert!(!looped("v50", "v52", &long));
    }

    #[test]
    fn branches_within_are_copied() {
        let (changed, func) = unrolled(&format!(
            "br block1(v50, v1)\nblock1(v3: i32, v4: i32):\ncond_br v2, block2, block3(v4)\n\
             block2:\n{STORE}\n\
             br block3(v3)\nblock3(v5: i32):\nv6: i32 = iadd v4, v5\nv7: i32 = iadd v3, v51\n\
             v8: i1 = icmp.slt v7, v52\ncond_br v8, block1(v7, v6), block4(v5)\nblock4(v9: i32):\n\
             v10: i32 = iadd v9, v6\nret v10"
        ));
        assert!(changed);
        assert_eq!(func.to_string().matches("store").count(), 5, "{func}");
        assert_eq!(func.to_string().matches("cond_br").count(), 5, "{func}");
    }
}
