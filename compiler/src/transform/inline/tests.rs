use cranelift_entity::EntityRef;

use super::kept::SMALL;
use super::*;
use crate::ir::{LocalId, Op, Stage, Type, parse, verify::verify};

fn inline_to(text: &str, limit: usize) -> Result<Inlined, Diagnostic> {
    let module = parse::module(text).unwrap();
    let last = module.functions.keys().next_back().unwrap();
    inline_all(&module, last, limit)
}

fn inline(text: &str) -> Result<Function, Diagnostic> {
    let inlined = inline_to(text, ALL_INLINED)?;
    assert!(inlined.functions.is_empty(), "all are inlined");
    Ok(inlined.kernel)
}

#[test]
fn a_call_of_a_call_is_inlined_twice_over() {
    let func = inline(
        "func \"abs\" (i32) -> (i32) {\n  local l0 \"tile\" size 8 align 4\nblock0(v0: i32):\n\
         v1: i32 = const 0\nv2: i1 = icmp.slt v0, v1\nv4: ptr = alloca.4.align4\n\
         v5: ptr = local_addr l0\nstore.local.align4 v5, v4\n\
         cond_br v2, block1, block2\nblock1:\nv3: i32 = ineg v0\nret v3\nblock2:\nret v0\n}\n\
         func \"twice\" (i32) -> (i32) {\nblock0(v0: i32):\nv1: i32 = call @0, v0\n\
         v2: i32 = call @0, v1\nret v2\n}\n\
         func \"root\" (i32) -> (i32) {\n  local l0 \"other\" size 4 align 4\n\
           local l1 \"tile\" size 4 align 16\n\
         block0(v0: i32):\nv1: i32 = call @1, v0\nv2: i32 = iadd v1, v1\nret v2\n}\n",
    )
    .unwrap();
    verify(&func, Stage::Inlined, None).unwrap();
    let count = |f: fn(&Op) -> bool| {
        let blocks = func.layout.iter();
        blocks
            .flat_map(|&b| &func.blocks[b].insts)
            .filter(|&&i| f(&func.insts[i].op))
            .count()
    };
    assert_eq!(count(|op| matches!(op, Op::ICmp(_))), 2);
    assert_eq!(count(|op| matches!(op, Op::Alloca { .. })), 2);
    assert_eq!(
        count(|op| matches!(op, Op::LocalAddr(l) if l.as_u32() == 1)),
        2
    );
    let tile = &func.locals[LocalId::new(1)];
    assert_eq!((func.locals.len(), tile.size, tile.align), (2, 8, 16));
}

#[test]
fn recursion_is_refused_by_name() {
    let error = inline(
        "func \"even\" () -> () {\nblock0:\ncall @1\nret\n}\n\
         func \"odd\" () -> () {\nblock0:\ncall @0\nret\n}\n\
         func \"root\" () -> () {\nblock0:\ncall @0\nret\n}\n",
    )
    .unwrap_err();
    assert!(error.message.contains("\"even\" calls itself"), "{error}");
}

/// So many functions that each call the one before twice; the first is `first`.
fn growing(levels: usize, first: &str) -> String {
    let mut text = format!("func \"f0\" (ptr) -> () {{\nblock0(v0: ptr):\n{first}\nret\n}}\n");
    for i in 0..levels {
        text += &format!(
            "func \"f{}\" (ptr) -> () {{\nblock0(v0: ptr):\ncall @{i}, v0\ncall @{i}, v0\nret\n}}\n",
            i + 1
        );
    }
    text
}

const STORE: &str = "v1: i32 = const 0\nstore.global.align4 v0, v1";

#[test]
fn exponential_growth_of_what_cannot_be_called_stops_at_the_budget() {
    let text = growing(40, "barrier.workgroup.acqrel.global");
    let error = inline_to(&text, ALL_INLINED).unwrap_err();
    assert!(error.message.contains("larger than"), "{error}");
}

#[test]
fn large_kernels_call_functions_and_grow_no_more() {
    let inlined = inline_to(&growing(40, STORE), ALL_INLINED).unwrap();
    let all = || {
        [&inlined.kernel]
            .into_iter()
            .chain(inlined.functions.values())
    };
    for func in all() {
        verify(func, Stage::Inlined, None).unwrap();
    }
    assert!(inlined.functions.len() > 2, "some stay");
    let sizes = inlined.functions.values().map(size_of);
    assert!(sizes.min() > Some(SMALL));
    assert!(inlined.functions.len() < 20, "small ones do not");
    assert!(all().map(size_of).sum::<usize>() < 41 * GROWTH);
}

#[test]
fn what_is_given_private_variables_is_copied_longer() {
    let private = "v1: i32 = const 0\nstore.private.align4 v0, v1";
    for (levels, first, stay) in [(8, STORE, false), (15, STORE, true), (15, private, false)] {
        let inlined = inline_to(&growing(levels, first), ALL_INLINED).unwrap();
        assert_eq!(!inlined.functions.is_empty(), stay, "{levels} of {first}");
    }
}

#[test]
fn a_function_that_stays_gets_what_it_asks_of_its_work_item() {
    let text = "func \"f\" (i32) -> (i64) {\n  local l0 \"tile\" size 64 align 4\nblock0(v0: i32):\n\
         v1: ptr = local_addr l0\nstore.local.align4 v1, v0\nv2: i64 = dim_query.global_id.0\n\
         v3: i64 = dim_query.global_id.0\nv4: i64 = iadd v2, v3\nret v4\n}\n\
         func \"g\" (i32) -> (i64) {\nblock0(v0: i32):\nv1: i64 = call @0, v0\nret v1\n}\n\
         func \"root\" (i32) -> (i64) {\n  local l0 \"mine\" size 4 align 4\nblock0(v0: i32):\n\
         v1: i64 = call @1, v0\nret v1\n}\n";
    let inlined = inline_to(text, 0).unwrap();
    assert_eq!(inlined.functions.len(), 2);
    for func in inlined.functions.values() {
        let types: Vec<Type> = func.params().iter().map(|&p| func.ty(p)).collect();
        assert_eq!(types, [Type::I32, Type::PTR, Type::I64], "{func}");
        assert!(func.locals.is_empty());
    }
    let kernel = inlined.kernel.to_string();
    for line in [
        "local_addr l1",
        "dim_query.global_id.0",
        "call_function.uniform @1, v0",
    ] {
        assert!(kernel.contains(line), "{line} in\n{kernel}");
    }
}

#[test]
fn functions_in_which_work_items_meet_are_copied() {
    for what in [
        "barrier.workgroup.acqrel.local",
        "br block1\nblock1:\nbr block1\nblock2:",
    ] {
        let text = format!(
            "func \"f\" () -> () {{\nblock0:\n{what}\nret\n}}\n\
             func \"root\" () -> () {{\nblock0:\ncall @0\nret\n}}\n"
        );
        assert!(inline_to(&text, 0).unwrap().functions.is_empty(), "{what}");
    }
}

#[test]
fn a_chain_of_ten_thousand_calls_needs_no_deep_stack() {
    let mut text = "func \"f0\" () -> () {\nblock0:\nret\n}\n".to_string();
    for i in 0..1000 {
        text += &format!(
            "func \"f{}\" () -> () {{\nblock0:\ncall @{i}\nret\n}}\n",
            i + 1
        );
    }
    inline(&text).unwrap();
}
