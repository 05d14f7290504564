//! Preparing a kernel takes time in proportion to its length, whatever its shape, and no stack; so does making vector code of it.
//!
//! Each shape is made at two sizes, one eight times the other. Linear passes take about eight times as long,
//! quadratic ones sixty-four times; the bound between leaves room for noise. Times are measurements, made with
//! `--ignored --nocapture`, which prints a table at 10,000 and 100,000 instructions too; that no depth exhausts the stack is tested always.

use std::fmt::Write as _;
use std::time::Duration;

use brolga_compiler::ir::parse;
use brolga_compiler::transform::prepare_kernel;
use brolga_compiler::{LaunchKey, Program};

/// A kernel of about `n` instructions.
type Shape = fn(usize) -> String;

const SHAPES: [(&str, Shape); 9] = [
    ("straight line", straight),
    ("variables in memory", variables),
    ("one variable, many branches", branches),
    ("many variables over many loops", loops),
    ("deep loops", deep_loops),
    ("deep conditions", deep_conditions),
    ("a large switch", switch),
    ("a chain of copies", copies),
    ("vectors", vectors),
];

fn kernel(body: &str) -> String {
    format!(
        "kernel \"k\" @0 (value 0, value 8)\nfunc \"k\" (ptr, i32) -> () {{\nblock0(v0: ptr, v1: i32):\n\
         v2: i32 = const 1\nv3: i64 = const 4\n{body}}}\n"
    )
}

fn straight(n: usize) -> String {
    let mut text = String::new();
    for i in 4..n + 4 {
        let op = ["iadd", "imul", "xor", "isub"][i % 4];
        let (a, b) = (
            if i > 5 { i - 1 } else { 1 },
            if i > 12 { i - 7 } else { 1 },
        );
        let _ = writeln!(text, "v{i}: i32 = {op} v{a}, v{b}");
    }
    let _ = writeln!(text, "store.global.align4 v0, v{}\nret", n + 3);
    kernel(&text)
}

/// Each statement loads, adds and stores one of `n / 10` variables.
fn variables(n: usize) -> String {
    let count = n / 10;
    let mut text = String::new();
    let mut next = 4;
    for i in 0..count {
        let _ = writeln!(text, "v{}: ptr = alloca.4.align4", next + i);
        let _ = writeln!(text, "store.private.align4 v{}, v1", next + i);
    }
    let first = next;
    next += count;
    for i in 0..n / 4 {
        let (from, to) = (first + i * 7 % count, first + i * 13 % count);
        let _ = writeln!(text, "v{next}: i32 = load.private.align4 v{from}");
        let _ = writeln!(text, "v{}: i32 = iadd v{next}, v1", next + 1);
        let _ = writeln!(text, "store.private.align4 v{to}, v{}", next + 1);
        next += 2;
    }
    let _ = writeln!(text, "v{next}: i32 = load.private.align4 v{first}");
    let _ = writeln!(text, "store.global.align4 v0, v{next}\nret");
    kernel(&text)
}

fn branches(n: usize) -> String {
    let mut text =
        String::from("v4: ptr = alloca.4.align4\nstore.private.align4 v4, v1\nbr block1\n");
    let mut next = 5;
    for i in 0..n / 7 {
        let b = 3 * i + 1;
        let _ = writeln!(
            text,
            "block{b}:\nv{next}: i32 = load.private.align4 v4\nv{}: i1 = icmp.slt v{next}, v1\n\
             cond_br v{}, block{}, block{}\nblock{}:\nv{}: i32 = load.global.align4 v0\n\
             store.private.align4 v4, v{}\nbr block{}\nblock{}:\nbr block{}",
            next + 1,
            next + 1,
            b + 1,
            b + 2,
            b + 1,
            next + 2,
            next + 2,
            b + 2,
            b + 2,
            b + 3
        );
        next += 3;
    }
    let _ = writeln!(
        text,
        "block{}:\nv{next}: i32 = load.private.align4 v4\nstore.global.align4 v0, v{next}\nret",
        3 * (n / 7) + 1
    );
    kernel(&text)
}

/// One loop after another; every tenth makes a new variable, and each reads and writes a few.
fn loops(n: usize) -> String {
    let count = n / 12;
    let mut text = String::new();
    let mut next = 4;
    let variables = (count / 10).max(1);
    for i in 0..variables {
        let _ = writeln!(
            text,
            "v{0}: ptr = alloca.4.align4\nstore.private.align4 v{0}, v1",
            next + i
        );
    }
    let first = next;
    next += variables;
    text.push_str("br block1\n");
    for i in 0..count {
        let b = 2 * i + 1;
        let (x, y) = (first + i % variables, first + i * 7 % variables);
        let _ = writeln!(
            text,
            "block{b}:\nbr block{0}\nblock{0}:\nv{next}: i32 = load.private.align4 v{x}\n\
             v{1}: i32 = iadd v{next}, v2\nstore.private.align4 v{x}, v{1}\n\
             v{2}: i32 = load.private.align4 v{y}\nv{3}: i1 = icmp.slt v{2}, v1\n\
             cond_br v{3}, block{0}, block{4}",
            b + 1,
            next + 1,
            next + 2,
            next + 3,
            b + 2
        );
        next += 4;
    }
    let _ = writeln!(
        text,
        "block{}:\nv{next}: i32 = load.private.align4 v{first}\nstore.global.align4 v0, v{next}\nret",
        2 * count + 1
    );
    kernel(&text)
}

/// Loops in loops, at most as deep as `structured` source can be; each counts a variable of its own.
fn deep_loops(n: usize) -> String {
    nested(n, 200)
}

/// Nests of loops `depth` deep, one after another.
fn nested(n: usize, depth: usize) -> String {
    let mut text =
        String::from("v4: ptr = alloca.4.align4\nstore.private.align4 v4, v1\nbr block1\n");
    let mut next = 5;
    let mut b = 1;
    for _ in 0..(n / (depth * 4)).max(1) {
        for level in 0..depth {
            let _ = writeln!(text, "block{}:\nbr block{}", b + level, b + level + 1);
        }
        let _ = writeln!(
            text,
            "block{}:\nv{next}: i32 = load.private.align4 v4\nv{}: i32 = iadd v{next}, v2\n\
             store.private.align4 v4, v{}\nbr block{}",
            b + depth,
            next + 1,
            next + 1,
            b + depth + 1
        );
        next += 2;
        for level in 0..depth {
            let at = b + depth + 1 + level;
            let _ = writeln!(
                text,
                "block{at}:\nv{next}: i32 = load.global.align4 v0\nv{0}: i1 = icmp.slt v{next}, v1\n\
                 cond_br v{0}, block{1}, block{2}",
                next + 1,
                b + depth - 1 - level,
                at + 1
            );
            next += 2;
        }
        b += 2 * depth + 1;
    }
    let _ = writeln!(
        text,
        "block{b}:\nv{next}: i32 = load.private.align4 v4\nstore.global.align4 v0, v{next}\nret"
    );
    kernel(&text)
}

/// `if`s in `if`s without a loop.
fn deep_conditions(n: usize) -> String {
    let depth = n / 6;
    let mut text =
        String::from("v4: ptr = alloca.4.align4\nstore.private.align4 v4, v1\nbr block1\n");
    let mut next = 5;
    for level in 1..=depth {
        let _ = writeln!(
            text,
            "block{level}:\nv{next}: i32 = load.global.align4 v0\nv{0}: i1 = icmp.slt v{next}, v1\n\
             cond_br v{0}, block{1}, block{2}",
            next + 1,
            level + 1,
            depth + 2 + (depth - level)
        );
        next += 2;
    }
    let _ = writeln!(text, "block{}:\nbr block{}", depth + 1, depth + 2);
    for level in 0..depth {
        let at = depth + 2 + level;
        let _ = writeln!(
            text,
            "block{at}:\nv{next}: i32 = load.private.align4 v4\nv{0}: i32 = iadd v{next}, v2\n\
             store.private.align4 v4, v{0}\nbr block{1}",
            next + 1,
            at + 1
        );
        next += 2;
    }
    let _ = writeln!(
        text,
        "block{}:\nv{next}: i32 = load.private.align4 v4\nstore.global.align4 v0, v{next}\nret",
        2 * depth + 2
    );
    kernel(&text)
}

fn switch(n: usize) -> String {
    let cases = n / 3;
    let mut text = String::from("v4: ptr = alloca.4.align4\nstore.private.align4 v4, v1\n");
    let targets: Vec<String> = (0..cases).map(|i| format!("{i}: block{}", i + 2)).collect();
    let _ = writeln!(text, "switch v1, default block1, {}", targets.join(", "));
    for i in 0..cases {
        let v = 5 + 2 * i;
        let _ = writeln!(
            text,
            "block{}:\nv{v}: i32 = const {i}\nstore.private.align4 v4, v{v}\nbr block1",
            i + 2
        );
    }
    let next = 5 + 2 * cases;
    let _ = writeln!(
        text,
        "block1:\nv{next}: i32 = load.private.align4 v4\nstore.global.align4 v0, v{next}\nret"
    );
    kernel(&text)
}

/// Structures copied from one to the next.
fn copies(n: usize) -> String {
    let count = n / 20;
    let mut text = String::new();
    for i in 0..=count {
        let _ = writeln!(text, "v{}: ptr = alloca.32.align4", 4 + i);
    }
    text.push_str("mem_copy.32.align4 v4, v0\n");
    for i in 0..count {
        let _ = writeln!(text, "mem_copy.32.align4 v{}, v{}", 5 + i, 4 + i);
    }
    let _ = writeln!(text, "mem_copy.32.align4 v0, v{}\nret", 4 + count);
    kernel(&text)
}

fn vectors(n: usize) -> String {
    let mut text = String::from("v4: f32x4 = load.global.align16 v0\n");
    for i in 5..n / 4 + 5 {
        let op = ["fadd", "fmul", "fsub"][i % 3];
        let _ = writeln!(text, "v{i}: f32x4 = {op} v{}, v4", i - 1);
    }
    let _ = writeln!(text, "store.global.align16 v0, v{}\nret", n / 4 + 4);
    kernel(&text)
}

/// Time this thread has run so far, whatever else the machine is busy with.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn time(text: &str, runs: usize) -> Duration {
    let module = parse::module(text).unwrap();
    let once = || {
        let start = cpu_time();
        prepare_kernel(&module, 0, &Default::default()).unwrap();
        cpu_time() - start
    };
    (0..runs).map(|_| once()).min().unwrap()
}

#[test]
#[ignore = "a measurement, not a check"]
fn time_grows_with_length() {
    for (name, shape) in SHAPES {
        let small = time(&shape(1000), 3);
        let large = time(&shape(8000), 2);
        let ratio = large.as_secs_f64() / small.as_secs_f64();
        assert!(
            ratio < 36.0,
            "{name}: {small:?} becomes {large:?}, {ratio:.0} times as long"
        );
    }
}

/// Time of everything after preparing but Cranelift's, for eight work-items at a time.
fn time_of_vector_code(text: &str, runs: usize) -> Duration {
    let program = Program::from_module(parse::module(text).unwrap(), &Default::default()).unwrap();
    let key = LaunchKey {
        width: 8,
        linear: true,
        full_chunks: true,
        zero_offset: true,
        small_ids: true,
        uniform_groups: true,
    };
    let once = || {
        let code = program.compile(0, &key).unwrap();
        code.times().vectorize + code.times().lower
    };
    (0..runs).map(|_| once()).min().unwrap()
}

/// A shape whose number differs between work-items, and with it what its branches do.
fn divergent(text: &str) -> String {
    text.replace(
        "block0(v0: ptr, v1: i32):\n",
        "block0(v0: ptr, same: i32):\ngid: i64 = dim_query.global_id.0\nlow: i32 = convert.trunc gid\n\
         v1: i32 = iadd same, low\n",
    )
}

#[test]
#[ignore = "a measurement, not a check"]
fn time_of_vector_code_grows_with_length() {
    let shapes = SHAPES.iter().filter(|(name, _)| {
        // Those with control flow that masks are made of.
        [
            "one variable, many branches",
            "deep conditions",
            "a large switch",
        ]
        .contains(name)
    });
    for (name, shape) in shapes {
        let small = time_of_vector_code(&divergent(&shape(600)), 3);
        let large = time_of_vector_code(&divergent(&shape(4800)), 2);
        let ratio = large.as_secs_f64() / small.as_secs_f64();
        assert!(
            ratio < 32.0,
            "{name}: {small:?} becomes {large:?}, {ratio:.0} times as long"
        );
    }
}

#[test]
#[ignore = "a measurement, not a check"]
fn a_table_of_times() {
    for (name, shape) in SHAPES {
        let small = time(&shape(10_000), 3);
        let large = time(&shape(100_000), 1);
        let ratio = large.as_secs_f64() / small.as_secs_f64();
        println!("{name:32} {small:>12.1?} {large:>12.1?} {ratio:5.1}x");
    }
}

#[test]
fn a_thousand_loops_deep_is_not_too_deep() {
    time(&nested(1, 1000), 1);
}
