//! What is expanded does what it did, in the interpreter.

use smallvec::smallvec;

use crate::interp::{Interpreter, Memory, Options};
use crate::ir::{Function, Module, Op, Stage, parse, verify::verify};
use crate::kernel_info::AddressSpace;
use crate::target::Target;

/// Words of memory: what instructions access, then what they give.
const WORDS: usize = 64;

/// The memory after a function of its address has run.
fn memory_after(module: &Module, func: &Function) -> Vec<u8> {
    let mut memory = Memory::new();
    let words = (0..WORDS as u32).map(|n| n.wrapping_mul(0x9e37_79b9) >> 7);
    let data = memory.add("data", words.flat_map(u32::to_le_bytes).collect(), 64);
    let address = memory.base(data);
    let mut interp = Interpreter::new(module, memory, Options::default());
    interp.call(func, &[smallvec![address]]).expect("runs");
    interp.memory.bytes(data).to_vec()
}

/// Checks that a body does the same when it is expanded, in one address space and in another, and
/// gives the text of what it was expanded to last.
///
/// It has memory at `p`, eight lanes `x` and a mask `m` from it, and `out` to store results at.
fn check(body: &str) -> String {
    let mut text = String::new();
    for space in [AddressSpace::Local, AddressSpace::Global] {
        for mask in ["slt", "uge", "ult"] {
            let space = crate::ir::print::space_name(space);
            let body = body.replace("SPACE", space);
            let kernel = format!(
                "func \"k\" (ptr) -> () {{
                block0(p: ptr):
                  zero: i32x8 = const 0
                  twenty: i32x8 = const 0x1400000
                  x: i32x8 = load.global.align4.stride4 p
                  m: i1x8 = icmp.{mask} x, MASK
                  ids: i64x8 = lane_ids
                  four: i64x8 = const 4
                  eight: i64 = const 8
                  offsets: i64x8 = imul ids, four
                  base: ptrx8 = splat p
                  each: ptrx8 = ptr_add base, offsets
                  n: i64 = const 128
                  out: ptr = ptr_add p, n
                  {body}
                  ret
                }}"
            );
            // No lane, every lane and some of them.
            let kernel = kernel.replace("MASK", if mask == "ult" { "twenty" } else { "zero" });
            let module = parse::module(&kernel).expect("a module");
            let mut func = module.functions.values().next().expect("one").clone();
            verify(&func, Stage::Vectorized, None).expect("well formed");
            let expected = memory_after(&module, &func);
            super::run(&mut func, &Target::cranelift());
            assert_eq!(memory_after(&module, &func), expected, "{kernel}{func}");
            text = func.to_string();
        }
    }
    text
}

#[test]
fn atomics_of_lanes_apart() {
    for op in ["add", "xchg", "umin", "xor"] {
        check(&format!(
            "old: i32x8 = atomic_rmw.{op}.SPACE.device.relaxed.masked each, x, m
            kept: i32x8 = select m, old, zero
            store.global.align4.stride4 out, kept"
        ));
        check(&format!(
            "old: i32x8 = atomic_rmw.{op}.SPACE.device.relaxed each, x"
        ));
    }
    check(
        "old: i32x8 = atomic_cmpxchg.SPACE.device.seqcst.masked each, x, twenty, m
        store.global.align4.stride4 out, old
        new: i32x8 = atomic_load.SPACE.device.seqcst each
        atomic_store.SPACE.device.release each, old",
    );
}

#[test]
fn atomics_on_one_address() {
    for op in ["add", "sub", "xchg", "smax", "and"] {
        for value in ["x", "twenty"] {
            // Inactive lanes' results are nobody's.
            let text = check(&format!(
                "old: i32x8 = atomic_rmw.{op}.SPACE.device.relaxed.masked p, {value}, m
                kept: i32x8 = select m, old, zero
                store.global.align4.stride4 out, kept"
            ));
            if op != "xchg" {
                assert!(!text.contains("ctz"), "not lane by lane: {text}");
            }
            check(&format!(
                "old: i32x8 = atomic_rmw.{op}.SPACE.device.relaxed p, {value}"
            ));
        }
    }
}

#[test]
fn atomics_on_floats() {
    for ty in ["f32", "f16"] {
        for op in ["fadd", "fmin"] {
            check(&format!(
                "i: {ty} = const 2.5
                y: {ty}x8 = splat i
                old: {ty}x8 = atomic_rmw.{op}.SPACE.device.relaxed.masked p, y, m
                none: {ty}x8 = const 0.0
                kept: {ty}x8 = select m, old, none
                store.global.align2.stride4 out, kept"
            ));
        }
    }
}

#[test]
fn calls_and_copies() {
    check(
        "f: f32x8 = convert.s_to_f.rte x
        s: f32x8 = routine.SinLarge.F32 f, f, m
        r: f32x8 = frem f, s
        store.global.align4.stride4 out, r",
    );
    check(
        "f: f64x8 = convert.s_to_f.rte x
        g: f64x8 = rounded.fdiv.rtp f, f
        h: f64x8 = rounded.sqrt.rtz f
        k: f64x8 = fadd g, h
        store.global.align4.stride8 out, k",
    );
    check(
        "far: ptrx8 = splat out
        to: ptrx8 = ptr_add far, offsets
        mem_copy.3.align1.masked to, p, m
        mem_copy_dyn.align1.masked to, each, eight, m",
    );
    check(
        "q: i32x8 = sdiv twenty, x
        r: i32x8 = urem x, twenty
        s: i32x8 = iadd q, r
        store.global.align4.stride4 out, s",
    );
}

#[test]
fn routines_under_constant_masks_do_not_branch() {
    for (set, calls) in [("0", 0), ("1", 1)] {
        let text = check(&format!(
            "f: f32x8 = convert.s_to_f.rte x
            c: i1x8 = const {set}
            s: f32x8 = routine.SinLarge.F32 f, f, c
            store.global.align4.stride4 out, s"
        ));
        assert!(!text.contains("any_true"), "{text}");
        assert_eq!(text.matches("host_call").count(), calls, "{text}");
    }
}

#[test]
fn one_lane_with_a_mask() {
    let text = check(
        "some: i1 = any_true m
        a: i32, b: i32 = load.SPACE.align4.masked p, some
        c: i32 = isub a, b
        store.SPACE.align4.masked out, c, some",
    );
    assert!(!text.contains("masked"), "{text}");
}

#[test]
fn a_loop_over_lanes_shares_its_memory_with_the_next() {
    let text = check(
        "f: f32x8 = convert.s_to_f.rte x
        s: f32x8 = routine.SinLarge.F32 f, f, m
        c: f32x8 = routine.CosLarge.F32 s, f, m
        store.global.align4.stride4 out, c",
    );
    assert_eq!(text.matches("alloca").count(), 2, "{text}");
}

#[test]
fn what_has_no_effect_on_others_is_pure() {
    use crate::ir::HostFunction::*;
    for function in [AddHalves, MinHalves, MaxHalves, Rounded] {
        assert!(Op::HostCall(function).is_pure());
    }
    for function in [Clock, MemMove, ReadTexel, WriteTexel] {
        assert!(Op::HostCall(function).has_side_effect());
    }
    assert!(Op::CallPointer.has_side_effect());
}
