//! What compiling takes grows with a program's length and no faster: programs made to be hard on a
//! compiler, at a length and at four times that. What counts is the memory that is allocated, in
//! all, which is the same each time and which whatever copies code has to ask for; for what goes
//! through lists, the thread's time.

use std::fmt::Write as _;

use brolga_compiler::image::Bindings;
use brolga_compiler::{NdRange, Program, ir};
use brolga_compiler_testing::allocation::{self, Counting, measured};
use rustix::time::{ClockId, Timespec, clock_gettime};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes allocated to compile the kernel of a module.
fn memory(text: &str) -> u64 {
    let module = parsed(text);
    measured(|| compile(module)).1
}

/// The time that this thread takes to compile the kernel of a module, in seconds. Others on the
/// machine make it longer, so the shortest of some counts.
fn time(text: &str) -> f64 {
    let module = parsed(text);
    let once = || {
        let module = module.clone();
        let before = clock_gettime(ClockId::ThreadCPUTime);
        compile(module);
        let after = clock_gettime(ClockId::ThreadCPUTime);
        let seconds = |at: Timespec| at.tv_sec as f64 + at.tv_nsec as f64 * 1e-9;
        seconds(after) - seconds(before)
    };
    (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn parsed(text: &str) -> ir::Module {
    ir::parse::module(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn compile(module: ir::Module) {
    let program = Program::from_module(module, &Default::default()).expect("a program");
    let range = NdRange {
        work_dim: 1,
        global_offset: [0; 3],
        global_size: [1024, 1, 1],
        local_size: [64, 1, 1],
    };
    let key = program.launch_key(0, &range, Bindings::NONE);
    program.compile(0, &key).expect("code");
}

/// Four times as long a program takes not much more than four times as much.
fn assert_linear(name: &str, length: usize, program: impl Fn(usize) -> String) {
    allocation::assert_linear(name, length, |length| memory(&program(length)));
}

/// What looks through lists allocates nothing, but takes time: eight times as long a program takes
/// not much more than eight times as much, where the square would be 64.
fn assert_linear_time(name: &str, length: usize, program: impl Fn(usize) -> String) {
    let [less, more] = [length, 8 * length].map(|length| time(&program(length)));
    let growth = more / less;
    assert!(
        growth < 20.0,
        "{name}: {less:.3} s at {length}, {growth:.1} times as much at eight times that"
    );
}

/// A barrier of the work-group.
const BARRIER: &str = "barrier.workgroup.acqrel.global";

/// A kernel that is function `id`: what `body` makes of a number of the work-item's own, which it
/// gives the name of, goes where that was. `v7` is a number that is the same for all work-items.
fn kernel(id: usize, body: impl FnOnce(&mut String) -> usize) -> String {
    let mut text = format!(
        "kernel \"k\" @{id} (value 0, value 8)\nfunc \"k\" (ptr, i32) -> () {{\n\
         block0(v0: ptr, v7: i32):\nv1: i64 = dim_query.global_id.0\nv2: i64 = const 0x4\n\
         v3: i64 = imul v1, v2\nv4: ptr = ptr_add v0, v3\nv5: i32 = load.global.align4 v4\n\
         v6: i32 = const 0x3\n"
    );
    let result = body(&mut text);
    let _ = write!(text, "store.global.align4 v4, v{result}\nret\n}}\n");
    text
}

/// Functions of which each calls the one before so many times, and a kernel that calls the last.
fn functions(length: usize, calls: usize) -> String {
    let mut text = "func \"f0\" (i32) -> (i32) {\nblock0(v0: i32):\nret v0\n}\n".to_owned();
    for id in 1..length {
        let _ = write!(
            text,
            "func \"f{id}\" (i32) -> (i32) {{\nblock0(v0: i32):\nv1: i32 = const {id:#x}\n\
             v2: i32 = iadd v0, v1\n"
        );
        for call in 0..calls {
            let (arg, result) = (call + 2, call + 3);
            let _ = writeln!(text, "v{result}: i32 = call @{}, v{arg}", id - 1);
        }
        let (last, next) = (calls + 2, calls + 3);
        let _ = write!(text, "v{next}: i32 = imul v{last}, v0\nret v{next}\n}}\n");
    }
    text += &kernel(length, |text| {
        let _ = writeln!(text, "v10: i32 = call @{}, v5", length - 1);
        10
    });
    text
}

#[test]
fn chains_of_functions() {
    assert_linear("a chain", 250, |length| functions(length, 1));
}

#[test]
fn diamonds_of_functions() {
    assert_linear("two calls each", 100, |length| functions(length, 2));
    assert_linear("three calls each", 100, |length| functions(length, 3));
}

/// So often a barrier, and another under a condition, between which a number changes.
fn barriers(length: usize, barrier: &str, is_proved: bool) -> String {
    kernel(0, |text| {
        let (mut value, mut next) = (5, 10);
        for step in 0..length {
            let [sum, bit, cond, changed, result] = std::array::from_fn(|n| next + n);
            next += 5;
            let condition = if is_proved { 7 } else { sum };
            let _ = write!(
                text,
                "v{sum}: i32 = imul v{value}, v6\nv{bit}: i32 = and v{condition}, v6\n\
                 v{cond}: i1 = icmp.ne v{bit}, v6\n{barrier}\n\
                 cond_br v{cond}, block{then}, block{after}(v{sum})\nblock{then}:\n{barrier}\n\
                 v{changed}: i32 = iadd v{sum}, v6\nbr block{after}(v{changed})\n\
                 block{after}(v{result}: i32):\n",
                then = 2 * step + 1,
                after = 2 * step + 2,
            );
            value = result;
        }
        value
    })
}

#[test]
fn conditional_barriers_in_turn() {
    assert_linear("conditions of the group", 100, |length| {
        barriers(length, BARRIER, true)
    });
    assert_linear("conditions that may differ", 25, |length| {
        barriers(length, BARRIER, false)
    });
}

#[test]
fn conditional_named_barriers_in_turn() {
    assert_linear("named barriers", 25, |length| {
        let kernel = barriers(length, "named_barrier.workgroup.acqrel.global v8", true);
        let kernel = kernel.replace("block0(", "local l0 \"barrier\" size 12 align 4\nblock0(");
        kernel.replace("v6: i32", "v8: ptr = local_addr l0\nv6: i32")
    });
}

/// So often a barrier, and another under a condition, with nothing in between.
fn barriers_alone(length: usize) -> String {
    kernel(0, |text| {
        let _ = write!(
            text,
            "v8: i32 = and v7, v6\nv9: i1 = icmp.ne v8, v6\nbr block1\nblock1:\n"
        );
        for step in 0..length {
            let (then, after) = (2 * step + 2, 2 * step + 3);
            let _ = write!(
                text,
                "{BARRIER}\ncond_br v9, block{then}, block{after}\nblock{then}:\n{BARRIER}\n\
                 br block{after}\nblock{after}:\n"
            );
        }
        5
    })
}

#[test]
fn conditional_barriers_without_work_in_between() {
    assert_linear("barriers alone", 800, barriers_alone);
}

/// A `switch` with so many cases, each with a block of its own that gives another number.
fn switch(length: usize) -> String {
    kernel(0, |text| {
        let cases = (0..length).map(|case| format!("{}: block{}", 3 * case, case + 2));
        let cases: Vec<String> = cases.collect();
        let _ = writeln!(text, "switch v5, default block1(v5), {}", cases.join(", "));
        for case in 0..length {
            let (block, number) = (case + 2, case + 11);
            let _ = write!(
                text,
                "block{block}:\nv{number}: i32 = const {:#x}\nbr block1(v{number})\n",
                7 * case
            );
        }
        text.push_str("block1(v10: i32):\n");
        10
    })
}

/// One on which all work-items agree, with so many cases, each of which hands on one of a thousand
/// numbers.
fn uniform_switch(length: usize) -> String {
    kernel(0, |text| {
        let mut cases = Vec::new();
        for case in 0..length {
            let number = case + 11;
            let _ = writeln!(text, "v{number}: i32 = const {:#x}", 7 * case % 1001);
            cases.push(format!("{}: block1(v{number})", 3 * case));
        }
        let _ = write!(
            text,
            "switch v7, default block1(v5), {}\nblock1(v10: i32):\n",
            cases.join(", ")
        );
        10
    })
}

#[test]
fn cases_of_a_switch() {
    assert_linear("a switch", 500, switch);
    assert_linear_time("a switch of all work-items", 4000, uniform_switch);
}

/// So many conditional jumps to one place, with what has been computed by then.
fn jumps_to_one_place(length: usize) -> String {
    kernel(0, |text| {
        let mut value = 5;
        for step in 0..length {
            let [number, sum, cond] = std::array::from_fn(|n| 3 * step + n + 11);
            let _ = write!(
                text,
                "v{number}: i32 = const {step:#x}\nv{sum}: i32 = iadd v{value}, v7\n\
                 v{cond}: i1 = icmp.eq v{sum}, v{number}\n\
                 cond_br v{cond}, block1(v{sum}), block{next}\nblock{next}:\n",
                next = step + 2,
            );
            value = sum;
        }
        let _ = write!(text, "br block1(v{value})\nblock1(v10: i32):\n");
        10
    })
}

#[test]
fn jumps_from_many_places_to_one() {
    assert_linear("jumps to one place", 500, jumps_to_one_place);
}
