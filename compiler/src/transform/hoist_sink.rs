//! Code hoisting and sinking: what both sides of a branch do is done once, before it or where they
//! join.
//!
//! 1. *Hoisting*: where one of two sides is taken, after one or several conditions (`a && b && c`),
//!    a pure operation, or a load before which neither side writes, that both sides begin with
//!    moves in front of the conditions.
//! 2. *Sinking*: where several predecessors join and each ends with a store to the same address,
//!    one store of what is handed over is left, in the block where they join.
//!
//! A kernel that treats the borders of a picture differently loads and stores the same elements on
//! either side, and what all work-items do needs no mask. Branches are visited inside out, joins in
//! the order of control, so that what moves can move again. Linear: a block is looked at for the
//! conditions before it, at most `CONDITIONS`, and hashed once.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use smallvec::SmallVec;

use super::gvn::{Fx, flags_do_not_matter, hash, weaken};
use super::memory::Spaces;
use crate::ir::{Block, DominatorTree, Function, Inst, InstData, Mem, Op, Terminator, Value, Wrap};

/// More conditions than these are not looked through.
const CONDITIONS: usize = 8;

type Preds = SecondaryMap<Block, SmallVec<[Block; 4]>>;

/// Hoists and sinks what can be. Returns whether there was anything.
pub fn run(func: &mut Function) -> bool {
    let order = func.reverse_post_order();
    if order.len() < 3 {
        return false;
    }
    let preds = func.predecessors();
    let dominators = DominatorTree::new(func);
    let mut replace: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    let mut changed = false;
    for &block in order.iter().rev() {
        if let Some([a, b]) = two_sides(func, block, &preds)
            && let Some(before) = dominators.nearest_common(a, b)
        {
            changed |= hoist(func, before, a, b, &mut replace);
        }
    }
    if changed {
        func.replace_uses(&replace);
    }
    let mut position: SecondaryMap<Block, usize> = SecondaryMap::new();
    for (i, &block) in order.iter().enumerate() {
        position[block] = i;
    }
    for &block in &order {
        let from = &preds[block];
        let joins = from.len() > 1 && from.iter().all(|&p| position[p] < position[block]);
        while joins && sink_stores(func, block, from) {
            changed = true;
        }
    }
    changed
}

/// The two blocks that a branch and the conditions after it lead to, if nothing else leads there.
fn two_sides(func: &Function, block: Block, preds: &Preds) -> Option<[Block; 2]> {
    if !matches!(func.blocks[block].term, Terminator::CondBr { .. }) {
        return None;
    }
    let mut conditions: SmallVec<[Block; CONDITIONS]> = SmallVec::new();
    let mut sides: SmallVec<[Block; 2]> = SmallVec::new();
    conditions.push(block);
    let mut seen = 0;
    while seen < conditions.len() {
        for next in func.successors(conditions[seen]) {
            if sides.contains(&next) || conditions.contains(&next) {
                continue;
            }
            let data = &func.blocks[next];
            let is_condition = matches!(data.term, Terminator::CondBr { .. })
                && preds[next].iter().all(|p| conditions.contains(p))
                && data.insts.iter().all(|&i| func.insts[i].op.is_pure());
            if is_condition && conditions.len() < CONDITIONS {
                conditions.push(next);
            } else if sides.len() < 2 {
                sides.push(next);
            } else {
                return None;
            }
        }
        seen += 1;
    }
    let [a, b] = sides[..] else { return None };
    let only_from_here = |side: Block| preds[side].iter().all(|p| conditions.contains(p));
    (only_from_here(a) && only_from_here(b)).then_some([a, b])
}

/// Goes through what a block begins with and may be done earlier: what is pure, and loads of what
/// it has not written yet.
fn early(func: &Function, block: Block) -> impl Iterator<Item = Inst> {
    let mut written = Spaces::NONE;
    let insts = func.blocks[block].insts.iter().copied();
    let until = insts.take_while(move |&inst| {
        let op = &func.insts[inst].op;
        !op.has_side_effect() || matches!(op, Op::Store(_))
    });
    until.filter(move |&inst| {
        let op = &func.insts[inst].op;
        written = written.with(Spaces::written_by(op));
        match op {
            Op::Load(Mem { space, .. }) => !written.contains(*space),
            op => op.is_pure(),
        }
    })
}

/// What an instruction computes, whatever its flags say where that does not matter.
fn computes(func: &Function, data: &InstData) -> Op {
    match data.op {
        Op::Binary(op, _) if flags_do_not_matter(func, data) => Op::Binary(op, Wrap::default()),
        ref op => op.clone(),
    }
}

/// Moves what both `a` and `b` do to the end of `before`.
fn hoist(
    func: &mut Function,
    before: Block,
    a: Block,
    b: Block,
    replace: &mut SecondaryMap<Value, PackedOption<Value>>,
) -> bool {
    let mut known: HashMap<u64, SmallVec<[Inst; 1]>, BuildHasherDefault<Fx>> = HashMap::default();
    for inst in early(func, a) {
        let data = &func.insts[inst];
        let key = hash(&computes(func, data), &operands(data, replace), 0);
        known.entry(key).or_default().push(inst);
    }
    let mut moved: SmallVec<[Inst; 8]> = SmallVec::new();
    let mut dropped: SmallVec<[Inst; 8]> = SmallVec::new();
    for inst in early(func, b) {
        let data = &func.insts[inst];
        let (op, args) = (computes(func, data), operands(data, replace));
        let same = |&&other: &&Inst| {
            let other = &func.insts[other];
            let types = other.results.iter().zip(&data.results);
            computes(func, other) == op
                && operands(other, replace) == args
                && other.results.len() == data.results.len()
                && types.into_iter().all(|(&x, &y)| func.ty(x) == func.ty(y))
        };
        let Some(&other) = known
            .get(&hash(&op, &args, 0))
            .and_then(|insts| insts.iter().find(same))
        else {
            continue;
        };
        let kept = &func.insts[other].results;
        for (&result, &kept) in data.results.iter().zip(kept) {
            replace[result] = kept.into();
        }
        // Two of `b` may be the same, too.
        if !moved.contains(&other) {
            moved.push(other);
        }
        dropped.push(inst);
    }
    for &inst in &dropped {
        let kept = func.insts[inst]
            .results
            .first()
            .and_then(|&r| replace[r].expand());
        if let Some(kept) = kept.and_then(|value| func.def_inst(value)) {
            weaken(func, kept, inst);
        }
    }
    if moved.is_empty() {
        return false;
    }
    let mut gone: SmallVec<[Inst; 16]> = moved.iter().chain(&dropped).copied().collect();
    gone.sort_unstable();
    for block in [a, b] {
        let insts = &mut func.blocks[block].insts;
        insts.retain(|inst| gone.binary_search(inst).is_err());
    }
    func.blocks[before].insts.extend(&moved);
    true
}

/// The operands, of which some have been found to be others.
fn operands(
    data: &InstData,
    replace: &SecondaryMap<Value, PackedOption<Value>>,
) -> SmallVec<[Value; 4]> {
    let now = |&value: &Value| {
        let mut value = value;
        while let Some(next) = replace[value].expand() {
            value = next;
        }
        value
    };
    let mut args: SmallVec<[Value; 4]> = data.args.iter().map(now).collect();
    if let Op::Binary(op, _) = data.op
        && op.is_commutative()
    {
        args.sort();
    }
    args
}

/// The store that a block ends with, but for what is pure, when it leads to one block only.
fn last_store(func: &Function, block: Block) -> Option<usize> {
    let data = &func.blocks[block];
    if !matches!(data.term, Terminator::Br(_)) {
        return None;
    }
    let last = |&inst: &Inst| !func.insts[inst].op.is_pure();
    let at = data.insts.iter().rposition(last)?;
    let is_store = |mem: &Mem| !mem.volatile && !mem.masked;
    matches!(&func.insts[data.insts[at]].op, Op::Store(mem) if is_store(mem)).then_some(at)
}

/// Makes one store of the last ones of all blocks before `block`, if they are to one address.
fn sink_stores(func: &mut Function, block: Block, preds: &[Block]) -> bool {
    let mut stores: SmallVec<[usize; 4]> = SmallVec::new();
    let mut first: Option<Inst> = None;
    for &pred in preds {
        let Some(at) = last_store(func, pred) else {
            return false;
        };
        let inst = func.blocks[pred].insts[at];
        let data = &func.insts[inst];
        let other = &func.insts[*first.get_or_insert(inst)];
        let value_types = |data: &InstData| -> SmallVec<[_; 4]> {
            data.args[1..].iter().map(|&v| func.ty(v)).collect()
        };
        if data.op != other.op
            || data.args[0] != other.args[0]
            || value_types(data) != value_types(other)
        {
            return false;
        }
        stores.push(at);
    }
    let Some(first) = first else { return false };
    let first = func.insts[first].clone();
    let mut args = SmallVec::<[Value; 4]>::from_slice(&first.args[..1]);
    for &value in &first.args[1..] {
        let ty = func.ty(value);
        args.push(func.add_param(block, ty));
    }
    for (&pred, at) in preds.iter().zip(stores) {
        let data = &mut func.blocks[pred];
        let inst = data.insts.remove(at);
        if let Terminator::Br(call) = &mut data.term {
            call.args.extend_from_slice(&func.insts[inst].args[1..]);
        }
    }
    let store = func.make_inst(first.op, &args, &[], first.loc);
    func.blocks[block].insts.insert(0, store);
    true
}

#[cfg(test)]
mod tests {
    use crate::ir::{Stage, parse, verify::verify};

    /// The text of a function in which blocks 1 and 2 do what is given, after a condition and
    /// before block 3.
    fn moved(a: &str, b: &str) -> String {
        let text = format!(
            "func \"f\" (ptr, i32, i1) -> () {{\nblock0(v0: ptr, v1: i32, v2: i1):\n\
             cond_br v2, block1, block2\n\
             block1:\n{a}\nbr block3\nblock2:\n{b}\nbr block3\nblock3:\nret\n}}"
        );
        let mut module = parse::module(&text).expect("parses");
        let func = module.functions.values_mut().next().expect("a function");
        super::run(func);
        verify(func, Stage::Translated, None).expect("is valid");
        func.to_string()
    }

    fn count(text: &str, word: &str) -> usize {
        text.matches(word).count()
    }

    #[test]
    fn what_both_sides_load_and_where_both_store_is_one_access() {
        let side = |n: u32, op: &str| {
            let (x, y) = (10 * n, 10 * n + 1);
            format!(
                "v{x}: i32 = load.global.align4 v0\nv{y}: i32 = {op} v{x}, v1\n\
                 store.global.align4 v0, v{y}"
            )
        };
        let text = moved(&side(1, "iadd"), &side(2, "isub"));
        assert_eq!(count(&text, "= load"), 1, "{text}");
        assert_eq!(count(&text, "store"), 1, "{text}");
        let text = moved(&side(1, "iadd"), &side(2, "iadd"));
        assert_eq!(count(&text, "iadd"), 1, "{text}");
    }

    #[test]
    fn flags_hold_if_they_do_on_both_sides() {
        let sum = |n: u32, flags: &str, ty: &str| {
            format!("v{n}: {ty} = iadd{flags} v1, v1\natomic_store.local.device.relaxed v0, v{n}")
        };
        let text = moved(&sum(10, ".nsw", "i32"), &sum(20, "", "i32"));
        assert_eq!(count(&text, "iadd"), 2, "{text}");
        let wide = |n: u32, flags: &str| {
            let (x, y) = (n, n + 1);
            format!(
                "v{x}: i64 = convert.sext.rte v1\nv{y}: i64 = imul{flags} v{x}, v{x}\n\
                 atomic_store.local.device.relaxed v0, v{y}"
            )
        };
        let text = moved(&wide(10, ".nsw"), &wide(20, ""));
        assert_eq!(count(&text, "imul "), 1, "{text}");
        assert_eq!(count(&text, "nsw"), 0, "{text}");
    }

    #[test]
    fn accesses_stay_behind_what_may_write_and_before_what_may_read() {
        let load = |n: u32| format!("v{n}: i32 = load.global.align4 v0");
        let use_it = |n: u32| format!("atomic_store.local.device.relaxed v0, v{n}");
        let after = |between: &str| {
            let text = moved(
                &format!("{}\n{}", load(10), use_it(10)),
                &format!("{between}\n{}\n{}", load(20), use_it(20)),
            );
            count(&text, "= load")
        };
        assert_eq!(after(""), 1);
        assert_eq!(after("store.local.align4 v0, v1"), 1);
        assert_eq!(after("store.global.align4 v0, v1"), 2);
        assert_eq!(after("store.generic.align4 v0, v1"), 2);
        assert_eq!(after("barrier.workgroup.acqrel.local"), 2);
        let before = |then: &str| {
            let store = "store.global.align4 v0, v1";
            count(&moved(store, &format!("{store}\n{then}")), "store")
        };
        assert_eq!(before(""), 1);
        assert_eq!(before("v10: i32 = iadd v1, v1"), 1);
        assert_eq!(before(&load(10)), 2);
        assert_eq!(before("barrier.workgroup.acqrel.local"), 2);
    }

    #[test]
    fn volatile_accesses_stay() {
        let text = moved(
            "v10: i32 = load.global.align4.volatile v0\nstore.global.align4.volatile v0, v10",
            "v20: i32 = load.global.align4.volatile v0\nstore.global.align4.volatile v0, v20",
        );
        assert_eq!(count(&text, "volatile"), 4, "{text}");
    }
}
