//! Each rule, on a function that breaks it.

use super::*;
use crate::ir::parse;

fn check(stage: Stage, body: &str) -> Result<(), String> {
    let text = format!(
        "func \"f\" (ptr, i32, f32, i1) -> () {{\nblock0(v0: ptr, v1: i32, v2: f32, v3: i1):\n{body}\n}}"
    );
    let module = parse::module(&text).unwrap();
    let func = module.functions.values().next().unwrap();
    verify(func, stage, Some(&module))
}

#[test]
fn what_the_parser_test_holds_is_well_formed() {
    let text = include_str!("../parse_test.bir");
    let module = parse::module(text).unwrap();
    let callee = module.functions.values().next().unwrap();
    verify(callee, Stage::Translated, Some(&module)).unwrap();
}

#[test]
fn each_rule_refuses_what_breaks_it() {
    use Stage::{Inlined, Scalarized, Translated, Vectorized};
    let cases = [
        (Translated, "v4: i32 = iadd v1, v2\nret", "one type"),
        (
            Translated,
            "v4: i32 = fadd v1, v1\nret",
            "does not take this type",
        ),
        (Translated, "v4: i32 = iadd v1\nret", "expected 2 operands"),
        (
            Translated,
            "cond_br v1, block1, block1\nblock1:\nret",
            "one-lane i1",
        ),
        (
            Translated,
            "br block0(v0, v1, v2, v3)",
            "entry block has a predecessor",
        ),
        (
            Translated,
            "br block1\nblock1(v4: i32):\nret",
            "takes 1 values, not 0",
        ),
        (
            Translated,
            "br block1(v2)\nblock1(v4: i32):\nret",
            "has type f32",
        ),
        (
            Translated,
            "cond_br v3, block1, block2\nblock1:\nv4: i32 = const 1\nbr block2\n\
             block2:\nv5: i32 = iadd v4, v4\nret",
            "does not dominate",
        ),
        (
            Translated,
            "v4: i32 = iadd v5, v1\nv5: i32 = const 1\nret",
            "does not dominate",
        ),
        (
            Translated,
            "br block1\nblock1:\nv4: ptr = alloca.4.align4\nret",
            "entry block only",
        ),
        (
            Translated,
            "v4: i32 = load.global.align4.masked v0, v3\nret",
            "vectorized code",
        ),
        (
            Translated,
            "v4: i32 = convert.zext v2\nret",
            "does not take these types",
        ),
        (
            Translated,
            "v4: f32x2 = splat v2\nv5: f32 = extract.2 v4\nret",
            "that has it",
        ),
        (Translated, "ret v1", "returned types"),
        (
            Translated,
            "switch v1, default block1, 1: block1, 1: block1\nblock1:\nret",
            "same",
        ),
        (Translated, "call @7\nret", "does not exist"),
        (Inlined, "call @0, v0, v1, v2, v3\nret", "no calls"),
        (
            Translated,
            "call_function @0\nret",
            "is decided by inlining",
        ),
        (
            Scalarized,
            "call_function.lanes4.same @0, v1\nret",
            "belong to vectorized code",
        ),
        (
            Vectorized,
            "call_function.lanes4 @0, v1\nret",
            "the same, affine or varying",
        ),
        (
            Vectorized,
            "call_function.lanes4.each @0, v1\nret",
            "expected 4 lanes",
        ),
        (
            Vectorized,
            "v4: i32 = call_function.lanes4.same @0, v1\nret",
            "a lane for each work-item",
        ),
        (
            Vectorized,
            "v4: i1x8 = const 1\ncall_function.lanes4.masked @0, v4\nret",
            "a bit for each lane",
        ),
        (
            Vectorized,
            "call_function.same @0, v1\nret",
            "calls for several lanes",
        ),
        (Scalarized, "v4: f32x2 = splat v2\nret", "instead of one"),
        (
            Vectorized,
            "v4: f32x4 = splat v2\nv5: f32x8 = splat v2\nret",
            "another value",
        ),
        (
            Vectorized,
            "v4: f32x4 = load.global.align4 v0\nret",
            "needs a stride",
        ),
        (
            Vectorized,
            "v4: f32x4 = load.global.align4.masked.stride4 v0, v3\nret",
            "mask of 4 lanes",
        ),
        (
            Translated,
            "v4: f32 = image_read.constant.2d.f32 v0, v1, v2\nret",
            "expected 4 operands",
        ),
        (
            Translated,
            "v4: f32 = image_read.constant.2d.f32 v0, v1, v1, v2\nret",
            "coordinates have one type",
        ),
        (
            Translated,
            "v4: f32 = image_read.constant.1d.f32 v0, v2, v2\nret",
            "a sampler is an i32",
        ),
        (
            Translated,
            "v4: f32 = image_read.constant.1d.int v0, v1, v2\nret",
            "a texel is one i32 or four, for int",
        ),
        (
            Translated,
            "v4: f32, v5: f32 = image_read.constant.1d.f32 v0, v1, v2\nret",
            "a texel is one f32 or four",
        ),
        (
            Translated,
            "v4: f32 = image_read.local.1d.f32 v0, v1, v2\nret",
            "constant or global",
        ),
        (
            Translated,
            "v4: f32 = image_read.constant.1d.f32.masked v0, v1, v2, v3\nret",
            "vectorized code",
        ),
        (
            Translated,
            "v4: f32x4 = image_read.constant.1d.f32 v0, v1, v2\nret",
            "many work-items",
        ),
        (
            Translated,
            "image_write.constant.1d.f32 v0, v1, v2\nret",
            "not constant",
        ),
        (
            Translated,
            "image_write.global.1d.f32 v0, v2, v2\nret",
            "coordinates have one type",
        ),
        (
            Translated,
            "image_write.global.3d.f32 v0, v1, v1, v1\nret",
            "coordinates and components",
        ),
        (
            Translated,
            "v4: i64 = image_query.width v0\nret",
            "is an i32",
        ),
        (
            Vectorized,
            "v4: i32x4 = splat v1\nimage_write.global.1d.int.masked v0, v4, v1, v3\nret",
            "mask of 4 lanes",
        ),
    ];
    for (stage, body, expected) in cases {
        let error = check(stage, body).expect_err(body);
        assert!(error.contains(expected), "{body}: {error}");
    }
    check(Translated, "v4: i32 = iadd v1, v1\nret").unwrap();
    check(
        Vectorized,
        "v4: f32x4 = load.global.align4.stride8 v0\nv5: i1x4 = splat v3\n\
         store.global.align4.masked.stride4 v0, v4, v5\nret",
    )
    .unwrap();
}
