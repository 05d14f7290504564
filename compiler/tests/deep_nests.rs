//! Control flow as deep as no programmer writes it, but generators do: no pass recurses over the
//! depth, and every engine agrees.

use std::fmt::Write as _;

use brolga_compiler_testing::judge::{Verdict, judge};

const DEPTH: usize = 1000;

/// A file test for 16 work-items, each with an element of its own, at `place`, and a variable in
/// private memory, `var`, whose last value goes there. The conditions of `body` compare with
/// `bound`: `n`, or a number that differs between work-items.
fn kernel(n: i32, divergent: bool, body: &str, last: usize) -> String {
    let bound = if divergent { "low" } else { "zero" };
    format!(
        "; run:\n; global: 16\n; local: 16\n; arg: buffer i32 zero 16\n; arg: value i32 {n}\n\
         kernel \"k\" @0 (value 0, value 8)\nfunc \"k\" (ptr, i32) -> () {{\nblock0(p: ptr, n: i32):\n\
         zero: i32 = const 0\none: i32 = const 1\nfour: i64 = const 4\n\
         id: i64 = dim_query.global_id.0\nlow: i32 = convert.trunc id\noffset: i64 = imul id, four\n\
         place: ptr = ptr_add p, offset\nbound: i32 = iadd n, {bound}\n\
         var: ptr = alloca.4.align4\nstore.private.align4 var, bound\nbr block1\n{body}\
         block{last}:\nresult: i32 = load.private.align4 var\nstore.global.align4 place, result\nret\n}}\n"
    )
}

/// `var = var + 1`, its names made of a number.
fn increment(text: &mut String, number: usize) {
    let _ = writeln!(
        text,
        "x{number}: i32 = load.private.align4 var\ny{number}: i32 = iadd x{number}, one\n\
         store.private.align4 var, y{number}"
    );
}

/// `*place < bound`, its name made of a number.
fn condition(text: &mut String, number: usize) {
    let _ = writeln!(
        text,
        "l{number}: i32 = load.global.align4 place\nc{number}: i1 = icmp.slt l{number}, bound"
    );
}

/// Headers from 1 on, the innermost body, then latches from the innermost out. With a jump from the
/// first header into the innermost loop, if asked for, so that the others have several entries.
fn loops(jump: bool) -> (String, usize) {
    let mut text = String::new();
    for header in 1..=DEPTH {
        let _ = writeln!(text, "block{header}:");
        if jump && header == 1 {
            let _ = writeln!(
                text,
                "odd: i1 = convert.trunc low\ncond_br odd, block2, block{}",
                DEPTH + 1
            );
        } else {
            let _ = writeln!(text, "br block{}", header + 1);
        }
    }
    let _ = writeln!(text, "block{}:", DEPTH + 1);
    increment(&mut text, 0);
    let _ = writeln!(text, "br block{}", DEPTH + 2);
    for level in 0..DEPTH {
        let latch = DEPTH + 2 + level;
        let _ = writeln!(text, "block{latch}:");
        condition(&mut text, latch);
        let _ = writeln!(
            text,
            "cond_br c{latch}, block{}, block{}",
            DEPTH - level,
            latch + 1
        );
    }
    (text, 2 * DEPTH + 2)
}

/// Conditions from 1 on, the innermost arm, then where they join, from the innermost out.
fn conditions() -> (String, usize) {
    let mut text = String::new();
    for level in 1..=DEPTH {
        let _ = writeln!(text, "block{level}:");
        condition(&mut text, level);
        let _ = writeln!(
            text,
            "cond_br c{level}, block{}, block{}",
            level + 1,
            2 * DEPTH + 2 - level
        );
    }
    let _ = writeln!(text, "block{0}:\nbr block{1}", DEPTH + 1, DEPTH + 2);
    for join in DEPTH + 2..2 * DEPTH + 2 {
        let _ = writeln!(text, "block{join}:");
        increment(&mut text, join);
        let _ = writeln!(text, "br block{}", join + 1);
    }
    (text, 2 * DEPTH + 2)
}

#[test]
fn loops_in_loops() {
    let (body, last) = loops(false);
    for divergent in [false, true] {
        // No bound is above the 0 in memory, so each loop runs once.
        let verdict = judge(&kernel(-20, divergent, &body, last), false);
        assert_eq!(verdict, Verdict::Same, "divergent: {divergent}");
    }
}

#[test]
fn jumps_into_deep_loops() {
    let (body, last) = loops(true);
    for divergent in [false, true] {
        let verdict = judge(&kernel(-20, divergent, &body, last), false);
        assert_eq!(verdict, Verdict::Same, "divergent: {divergent}");
    }
}

#[test]
fn conditions_in_conditions() {
    let (body, last) = conditions();
    for (n, divergent) in [(0, false), (1, false), (-8, true)] {
        let verdict = judge(&kernel(n, divergent, &body, last), false);
        assert_eq!(verdict, Verdict::Same, "{n}, divergent: {divergent}");
    }
}
