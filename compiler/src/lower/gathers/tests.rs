//! What is asked about and what is gathered; and that accesses do what they did.

use smallvec::smallvec;

use crate::interp::{Interpreter, Memory, Options};
use crate::ir::{Function, Module, parse};
use crate::target::Target;

/// What memory of 64 words, whose address the function takes, holds when it has run.
fn memory_after(module: &Module, func: &Function) -> Vec<u8> {
    let mut memory = Memory::new();
    let words = (0..64u32).map(|n| n.wrapping_mul(0x9e37_79b9) >> 7);
    let data = memory.add("data", words.flat_map(u32::to_le_bytes).collect(), 64);
    let address = memory.base(data);
    let mut interp = Interpreter::new(module, memory, Options::default());
    interp.call(func, &[smallvec![address]]).expect("runs");
    interp.memory.bytes(data).to_vec()
}

/// Checks that accesses by `index` (of eight lanes, from lane numbers `l`) do what they did,
/// and gives the text of what they have become.
fn check(index: &str, target: &Target) -> String {
    let text = format!(
        "func \"k\" (ptr) -> () {{
        block0(p: ptr):
          l: i32x8 = lane_ids
          three: i32x8 = const 3
          five: i32x8 = const 5
          m: i1x8 = icmp.ne l, five
          {index}
          wide: i64x8 = convert.sext i
          four: i64x8 = const 4
          offset: i64x8 = imul wide, four
          base: ptrx8 = splat p
          at: ptrx8 = ptr_add base, offset
          a: i32x8, b: i32x8 = load.global.align4 at
          c: i32x8 = load.global.align4.masked at, m
          f: i32x8 = load.global.align4 at
          d: i32x8 = isub a, b
          g: i32x8 = xor d, f
          e: i32x8 = isub g, c
          n: i64x8 = const 128
          out: ptrx8 = ptr_add at, n
          store.global.align4.masked out, e, m
          store.global.align4 at, e
          ret
        }}"
    );
    let module = parse::module(&text).expect("a module");
    let mut func = module.functions.values().next().expect("one").clone();
    let expected = memory_after(&module, &func);
    super::run(&mut func, target);
    crate::lower::lanes::run(&mut func, target);
    assert_eq!(memory_after(&module, &func), expected, "{text}{func}");
    func.to_string()
}

#[test]
fn consecutive_indexes_are_asked_about_and_gathered_if_not() {
    for target in [Target::cranelift(), Target::avx512()] {
        for index in [
            "i: i32x8 = iadd l, three",
            "i: i32x8 = xor l, three",
            "i: i32x8 = umin l, five",
        ] {
            let text = check(index, &target);
            assert!(text.contains(".stride4"), "{text}");
            assert!(text.contains("load.global.align4.sext4"), "{text}");
            // One element by all lanes is loaded and stored at the same indexes.
            assert_eq!(text.matches("cond_br").count(), 5, "{text}");
            assert_eq!(text.matches("all_true").count(), 4, "{text}");
        }
    }
}

#[test]
fn indexes_from_memory_are_not_asked_about() {
    let loaded = "k: i64 = const 64
        q: ptr = ptr_add p, k
        x: i32x8 = load.global.align4.stride4 q
        i: i32x8 = and x, five";
    let text = check(loaded, &Target::cranelift());
    assert!(!text.contains("cond_br"), "{text}");
    assert!(text.contains("load.global.align4.masked v"), "{text}");
    let text = check(loaded, &Target::avx512());
    assert!(text.contains("load.global.align4.masked.sext4"), "{text}");
}
