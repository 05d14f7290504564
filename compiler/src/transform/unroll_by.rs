//! Short loops that run any number of times, `TIMES` iterations at a time.
//!
//! ```text
//! for (; i < n; i++) body      left = i < n ? n - i : 0
//!                              for (; left > 3; left -= 4) body, body, body, body
//!                              for (; i < n; i++) body
//! ```
//!
//! For code that runs one work-item at a time: vectors share the cost of a loop's counter and test
//! among their lanes, one work-item has none to share it with. What is more, a loop that adds up
//! what it loads waits for one sum after another, and the processor begins the next work-item
//! meanwhile as far as it can look ahead, which is a number of instructions.
//!
//! The loops are innermost ones whose counter goes up by 1 to a bound, or up or down by 1 until it
//! is a number: of two blocks, a header that makes the test and a short body, or of one that makes
//! it at its end. The latter always runs once more, so the loop in front leaves it an iteration. No
//! counter that is tested for being less passes the bound within the first loop's iterations, so
//! that extending it to 64 bits and adding to it may be done in either order; this is what makes an
//! address in one iteration that of the one before it but for a constant. Linear.

use smallvec::SmallVec;

use crate::analysis::{Loop, LoopForest};
use crate::ir::{
    BinOp, Block, BlockCall, Builder, Cloner, ConvertOp, DominatorTree, Function, IntCC, Op,
    Terminator, Type, Value, ValueDef,
};

/// Iterations at a time.
const TIMES: u64 = 4;
/// The most instructions of a body.
const BODY: usize = 16;

/// Unrolls what is worth it. Returns whether there was anything.
pub fn run(func: &mut Function) -> bool {
    let dominators = DominatorTree::new(func);
    let forest = LoopForest::new(func, &dominators);
    let plans: Vec<Plan> = forest
        .loops
        .keys()
        .filter_map(|id| plan(func, &forest, id))
        .collect();
    if plans.is_empty() {
        return false;
    }
    let preds = func.predecessors();
    let mut cloner = Cloner::within();
    for plan in &plans {
        unroll(func, plan, &preds[plan.header], &mut cloner);
    }
    func.layout = func.reverse_post_order();
    true
}

/// A loop that will be unrolled.
struct Plan {
    header: Block,
    /// Unless the header is the body.
    body: Option<Block>,
    /// The header's parameter that counts, by number, and whether it counts up.
    counter: usize,
    up: bool,
    bound: Value,
    /// How the counter compares with the bound when the loop is not left.
    cc: IntCC,
}

fn plan(func: &Function, forest: &LoopForest, id: Loop) -> Option<Plan> {
    let data = &forest.loops[id];
    let (&[latch], &[(header, _)]) = (data.latches.as_slice(), data.exits.as_slice()) else {
        return None;
    };
    if header != data.header || header == func.entry() {
        return None;
    }
    let Terminator::CondBr { cond, then, els } = &func.blocks[header].term else {
        return None;
    };
    let stays_if = then.block == latch;
    let (stay, leave) = if stays_if { (then, els) } else { (els, then) };
    // One block, or two.
    if stay.block != latch || leave.block == latch {
        return None;
    }
    let body = (header != latch).then_some(latch);
    let back = match (&func.blocks[latch].term, body) {
        (Terminator::Br(call), Some(_)) => call,
        (_, None) => stay,
        _ => return None,
    };
    let insts = || {
        let blocks = [Some(header), body].into_iter().flatten();
        blocks.flat_map(|b| &func.blocks[b].insts)
    };
    let may_be_copied = |op: &Op| match op {
        Op::Load(mem) | Op::Store(mem) => !mem.volatile,
        op => op.is_pure() && !matches!(op, Op::Builtin(_)),
    };
    if insts().count() > BODY || !insts().all(|&i| may_be_copied(&func.insts[i].op)) {
        return None;
    }
    let inside = |value: Value| match func.values[value].def {
        ValueDef::Param(block, _) => block == header || Some(block) == body,
        ValueDef::Result(inst, _) => insts().any(|&i| i == inst),
    };
    let test = &func.insts[func.def_inst(*cond)?];
    let (&Op::ICmp(cc), &[x, y]) = (&test.op, &test.args[..]) else {
        return None;
    };
    let (value, bound, cc) = if inside(x) {
        (x, y, cc)
    } else {
        (y, x, cc.swapped())
    };
    let cc = if stays_if { cc } else { cc.negated() };
    if !matches!(cc, IntCC::Slt | IntCC::Ult | IntCC::Ne) {
        return None;
    }
    let params = &func.blocks[header].params;
    let tested: &[Value] = if body.is_some() { params } else { &back.args };
    let counter = tested.iter().position(|&v| v == value)?;
    let next = &func.insts[func.def_inst(back.args[counter])?];
    let (Op::Binary(BinOp::IAdd, _), &[a, b]) = (&next.op, &next.args[..]) else {
        return None;
    };
    let (from, step) = match func.as_const(b) {
        Some(step) => (a, step),
        None => (b, func.as_const(a)?),
    };
    let ty = func.ty(value);
    let up = step == 1;
    let ok = from == params[counter]
        && (up || step == ty.scalar.mask() && cc == IntCC::Ne)
        && ty.is_scalar()
        && !inside(bound);
    ok.then_some(Plan {
        header,
        body,
        counter,
        up,
        bound,
        cc,
    })
}

/// Puts the loop of [`TIMES`] iterations in front of the loop.
fn unroll(func: &mut Function, plan: &Plan, preds: &[Block], cloner: &mut Cloner<'_>) {
    let types: Vec<Type> = func.blocks[plan.header]
        .params
        .iter()
        .map(|&p| func.ty(p))
        .collect();
    let ty = types[plan.counter];
    let entry = func.entry();
    let mut b = Builder::new(func, entry);
    let before = b.new_block(&types);
    let head = b.new_block(&types);
    let work = b.new_block(&[]);
    let left = b.func.add_param(head, ty);

    b.switch_to(before);
    let mut first = b.func.blocks[before].params.clone();
    let i = first[plan.counter];
    // Where a test for being equal comes last and holds at once, there are as many iterations as
    // numbers; none of them are taken from the loop.
    let distance = match plan.up {
        true => b.binary(BinOp::ISub, plan.bound, i),
        false => b.binary(BinOp::ISub, i, plan.bound),
    };
    first.push(if plan.cc == IntCC::Ne {
        distance
    } else {
        let some = b.icmp(plan.cc, i, plan.bound);
        let zero = b.iconst(ty, 0);
        b.select(some, distance, zero)
    });
    b.br(head, &first);

    b.switch_to(head);
    let most = if plan.body.is_some() {
        TIMES - 1
    } else {
        TIMES
    };
    let most = b.iconst(ty, most);
    let enough = b.icmp(IntCC::Ugt, left, most);
    let mut now: Vec<Value> = b.func.blocks[head].params[..types.len()].to_vec();
    b.cond_br(enough, work, &[], plan.header, &now);

    let mut extended: SmallVec<[(ConvertOp, Type, Value); 2]> = SmallVec::new();
    for _ in 0..TIMES {
        let bindings = cloner.checkpoint();
        now = iteration(func, plan, work, &now, &mut extended, cloner);
        cloner.roll_back(bindings);
    }
    let mut b = Builder::new(func, work);
    let times = b.iconst(ty, TIMES);
    now.push(b.binary(BinOp::ISub, left, times));
    b.br(head, &now);

    for &pred in preds {
        if pred != plan.body.unwrap_or(plan.header) {
            for call in func.blocks[pred].term.targets_mut() {
                if call.block == plan.header {
                    call.block = before;
                }
            }
        }
    }
}

/// Appends one iteration, whose parameters are `now`, to a block; gives the next one's. `extended`
/// are the counter's extensions in the iteration before, and afterwards in this one.
fn iteration(
    func: &mut Function,
    plan: &Plan,
    to: Block,
    now: &[Value],
    extended: &mut SmallVec<[(ConvertOp, Type, Value); 2]>,
    cloner: &mut Cloner<'_>,
) -> Vec<Value> {
    cloner.bind_all(&func.blocks[plan.header].params, now);
    let counter = func.blocks[plan.header].params[plan.counter];
    let wanted = match plan.cc {
        IntCC::Slt => Some(ConvertOp::SExt),
        IntCC::Ult => Some(ConvertOp::ZExt),
        _ => None,
    };
    let mut handed = Vec::new();
    for block in [Some(plan.header), plan.body].into_iter().flatten() {
        for n in 0..func.blocks[block].insts.len() {
            let inst = func.blocks[block].insts[n];
            let mut b = Builder::new(func, to);
            let data = &b.func.insts[inst];
            let is_extension = data.args[..] == [counter];
            if let Op::Convert(op, _) = data.op
                && is_extension
                && Some(op) == wanted
            {
                let (result, loc) = (data.results[0], data.loc);
                let ty = b.ty(result);
                b.loc = loc;
                let same = |known: &&mut (ConvertOp, Type, Value)| (known.0, known.1) == (op, ty);
                match extended.iter_mut().find(same) {
                    Some(known) => {
                        let one = b.iconst(ty, 1);
                        known.2 = b.binary(BinOp::IAdd, known.2, one);
                        cloner.bind(result, known.2);
                    }
                    None => {
                        cloner.inst(&mut b, inst);
                        extended.push((op, ty, cloner.value(result)));
                    }
                }
                continue;
            }
            cloner.inst(&mut b, inst);
        }
        let next = plan.body.unwrap_or(plan.header);
        let to_next = |call: &&BlockCall| block != plan.header || call.block == next;
        let mut calls = func.blocks[block].term.targets();
        let call = calls.find(to_next).expect("the loop is not left");
        handed = call.args.iter().map(|&a| cloner.value(a)).collect();
        if Some(next) == plan.body && block == plan.header {
            cloner.bind_all(&func.blocks[next].params, &handed);
        }
    }
    handed
}

#[cfg(test)]
mod tests {
    use crate::ir::{Stage, parse, verify::verify};

    fn unrolled(body: &str) -> usize {
        let text = format!(
            "func \"f\" (ptr, i32, i32) -> () {{\nblock0(v0: ptr, v1: i32, v2: i32):\n\
             v3: i32 = const 0x1\n\
             v30: i32 = const 0xffffffff\nbr block1(v1)\n{body}\n}}"
        );
        let mut module = parse::module(&text).expect("parses");
        let func = module.functions.values_mut().next().expect("a function");
        super::run(func);
        verify(func, Stage::Translated, None).expect("is valid");
        func.to_string().matches("= load").count()
    }

    /// How many loads there are of a loop that counts with `test` and whose body ends with `more`.
    fn loads(test: &str, more: &str) -> usize {
        unrolled(&format!(
            "block1(v4: i32):\nv5: i1 = icmp.{test}\ncond_br v5, block2, block3\n\
             block2:\nv6: i64 = convert.sext.rte v4\nv7: ptr = ptr_add v0, v6\n\
             v8: i32 = load.global.align1 v7\n\
             {more}\nbr block1(v9)\nblock3:\nret"
        ))
    }

    #[test]
    fn a_short_loop_that_counts_up_is_there_for_several_iterations_and_for_the_rest() {
        let next = "v9: i32 = iadd v4, v3";
        for test in [
            "slt v4, v2",
            "ult v4, v2",
            "sgt v2, v4",
            "ugt v2, v4",
            "ne v4, v2",
        ] {
            assert_eq!(loads(test, next), 5, "{test}");
        }
    }

    #[test]
    fn other_loops_stay() {
        let next = "v9: i32 = iadd v4, v3";
        assert_eq!(loads("eq v4, v2", next), 1);
        assert_eq!(loads("sle v4, v2", next), 1);
        assert_eq!(loads("slt v2, v4", next), 1);
        assert_eq!(loads("slt v4, v2", "v9: i32 = iadd v4, v2"), 1);
        assert_eq!(loads("slt v4, v2", "v9: i32 = isub v4, v3"), 1);
        assert_eq!(
            loads(
                "slt v4, v2",
                &format!("barrier.workgroup.acqrel.local\n{next}")
            ),
            1
        );
        let long = "store.global.align4 v0, v8\n".repeat(16);
        assert_eq!(loads("slt v4, v2", &format!("{long}{next}")), 1);
    }

    #[test]
    fn a_loop_that_tests_last_may_count_down_to_a_number() {
        let last = |step: &str, test: &str| {
            unrolled(&format!(
                "block1(v4: i32):\nv6: i64 = convert.sext.rte v4\nv7: ptr = ptr_add v0, v6\n\
                 v8: i32 = load.global.align1 v7\n\
                 v9: i32 = iadd v4, {step}\nv5: i1 = icmp.{test}, block3\nblock3:\nret"
            ))
        };
        assert_eq!(last("v3", "slt v9, v2\ncond_br v5, block1(v9)"), 5);
        assert_eq!(last("v3", "ne v9, v2\ncond_br v5, block1(v9)"), 5);
        assert_eq!(last("v30", "ne v2, v9\ncond_br v5, block1(v9)"), 5);
        assert_eq!(last("v30", "slt v9, v2\ncond_br v5, block1(v9)"), 1);
        // The counter before it is counted is not the next one.
        assert_eq!(last("v3", "slt v4, v2\ncond_br v5, block1(v9)"), 1);
    }

    #[test]
    fn a_bound_that_the_loop_computes_is_none() {
        let text = "v10: i32 = iadd v8, v3\nv9: i32 = iadd v4, v3";
        assert_eq!(loads("slt v4, v4", text), 1);
    }
}
