//! What stays in memory order, and that the function does what it did.

use smallvec::smallvec;

use crate::interp::{Interpreter, Memory, Options};
use crate::ir::verify::verify;
use crate::ir::{Function, Module, Stage, parse};

/// What memory of 128 words, whose address the function takes, holds when it has run.
fn memory_after(module: &Module, func: &Function) -> Vec<u8> {
    let mut memory = Memory::new();
    let words = (0..128u32).map(|n| n.wrapping_mul(0x9e37_79b9) >> 7);
    let data = memory.add("data", words.flat_map(u32::to_le_bytes).collect(), 64);
    let address = memory.base(data);
    let mut interp = Interpreter::new(module, memory, Options::default());
    interp.call(func, &[smallvec![address]]).expect("runs");
    interp.memory.bytes(data).to_vec()
}

/// What a function `(p: ptr) -> ()` has become, and the remarks, after a check that it does what it
/// did.
fn rewritten(body: &str) -> (String, Vec<String>) {
    let text = format!("func \"k\" (ptr) -> () {{\nblock0(p: ptr):\n{body}\n}}");
    let module = parse::module(&text).unwrap_or_else(|e| panic!("{e:?} in\n{text}"));
    let before = module.functions.values().next().expect("a function");
    let mut after = before.clone();
    let remarks = super::run(&mut after);
    if let Err(error) = verify(&after, Stage::Vectorized, None) {
        panic!("{error}\n{after}");
    }
    let [expected, got] = [before, &after].map(|func| memory_after(&module, func));
    assert_eq!(expected, got, "{after}");
    let remarks = remarks.iter().map(|remark| remark.to_string());
    (after.to_string(), remarks.collect())
}

/// How often a word occurs.
fn count(text: &str, word: &str) -> usize {
    text.split_whitespace().filter(|&w| w == word).count()
}

const LOAD: &str = "a: i32x4, b: i32x4 = load.global.align8.stride8 p\n";
const STORE: &str = "store.global.align8.stride8 p, ";

#[test]
fn what_is_done_to_all_elements_is_done_in_memory_order() {
    let (text, remarks) = rewritten(&format!(
        "{LOAD} c: i32x4 = iadd a, a\n d: i32x4 = iadd b, b\n {STORE} c, d\n ret"
    ));
    assert_eq!(count(&text, "deinterleave"), 0, "{text}");
    assert_eq!(count(&text, "interleave"), 0, "{text}");
    // The second vectors are sixteen bytes further.
    assert_eq!(count(&text, "load.global.align8.stride4"), 2, "{text}");
    assert_eq!(count(&text, "store.global.align8.stride4"), 2, "{text}");
    let expected = "vectors of 2 loads and stores stay as they lie in memory, transposed for lanes \
                    in 0 places";
    assert_eq!(remarks, [expected]);
}

#[test]
fn elements_that_change_places_stay_in_lane_order() {
    let (text, remarks) = rewritten(&format!("{LOAD} {STORE} b, a\n ret"));
    assert_eq!(count(&text, "deinterleave"), 0, "{text}");
    assert_eq!(count(&text, "load.global.align8.stride8"), 1, "{text}");
    assert!(remarks.is_empty(), "{remarks:?}");
}

#[test]
fn a_sum_round_a_loop_is_transposed_behind_it() {
    let (text, _) = rewritten(
        "zero: i32x4 = const 0
         n: i64 = const 0
         br block1(n, zero, zero)
         block1(m: i64, s: i32x4, t: i32x4):
           at: ptr = ptr_add p, m
           a: i32x4, b: i32x4 = load.global.align8.stride8 at
           c: i32x4 = iadd s, a
           d: i32x4 = iadd b, t
           k: i64 = const 32
           more: i64 = iadd m, k
           end: i64 = const 256
           again: i1 = icmp.ult more, end
           cond_br again, block1(more, c, d), block2(c, d)
         block2(x: i32x4, y: i32x4):
           e: i32x4 = isub x, y
           store.global.align4.stride4 p, e
           ret",
    );
    assert_eq!(count(&text, "deinterleave"), 1, "{text}");
    let (_, behind) = text.split_once("block2").expect("a block");
    assert_eq!(count(behind, "deinterleave"), 1, "{text}");
}

#[test]
fn a_sum_that_a_loop_tests_before_is_transposed_behind_it() {
    let (text, _) = rewritten(
        "zero: i32x4 = const 0
         n: i64 = const 0
         br block1(n, zero, zero)
         block1(m: i64, s: i32x4, t: i32x4):
           end: i64 = const 256
           more: i1 = icmp.ult m, end
           cond_br more, block2, block3
         block2:
           at: ptr = ptr_add p, m
           a: i32x4, b: i32x4 = load.global.align8.stride8 at
           c: i32x4 = iadd s, a
           d: i32x4 = iadd b, t
           k: i64 = const 32
           next: i64 = iadd m, k
           br block1(next, c, d)
         block3:
           e: i32x4 = isub s, t
           store.global.align4.stride4 p, e
           ret",
    );
    assert_eq!(count(&text, "deinterleave"), 1, "{text}");
    let (_, behind) = text.split_once("\nblock3").expect("a block");
    assert_eq!(count(behind, "deinterleave"), 1, "{text}");
}

#[test]
fn what_differs_between_lanes_or_elements_is_put_in_memory_order() {
    let (text, _) = rewritten(&format!(
        "l: i32x4 = lane_ids
         two: i32x4 = const 2
         m: i1x4 = icmp.ult l, two
         u: i32 = const 100
         v: i32x4 = splat u
         {LOAD}
         c: i32x4 = iadd a, two
         d: i32x4 = iadd b, v
         e: i32x4 = select m, c, a
         f: i32x4 = select m, d, b
         o: i64 = const 64
         q: ptr = ptr_add p, o
         x: i32x4, y: i32x4 = load.global.align8.stride8 q
         g: i32x4 = imul e, x
         h: i32x4 = imul f, y
         {STORE} g, h\n ret"
    ));
    // The constants, and the mask as integers.
    assert_eq!(count(&text, "interleave"), 2, "{text}");
    assert_eq!(count(&text, "deinterleave"), 0, "{text}");
}

#[test]
fn nothing_is_gained_where_lanes_are_needed_at_once() {
    let (text, _) = rewritten(&format!(
        "{LOAD} c: i32x4 = iadd a, b\n store.global.align4.stride4 p, c\n ret"
    ));
    assert_eq!(count(&text, "deinterleave"), 0, "{text}");
}

#[test]
fn an_element_used_before_all_are_computed_is_none_of_a_pack() {
    let (text, _) = rewritten(&format!(
        "{LOAD} c: i32x4 = iadd a, a\n x: i32x4 = imul c, c\n
         o: i64 = const 64\n q: ptr = ptr_add p, o\n store.global.align4.stride4 q, x\n
         d: i32x4 = iadd b, b\n {STORE} c, d\n ret"
    ));
    assert_eq!(count(&text, "load.global.align8.stride8"), 1, "{text}");
}
