//! Which of regalloc2's register allocators suits a function.

use cranelift_entity::SecondaryMap;

use crate::ir::{Block, Function, Op, Terminator, Value};
use crate::target::Target;

/// How registers are allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocator {
    /// For good code. Takes time in proportion to `Lifetimes::sum`, about 50 ns for each.
    Backtracking,
    /// In linear time. The code moves values to and from memory more often.
    SinglePass,
}

/// For how long the values of a function live.
#[derive(Clone, Copy, Debug)]
struct Lifetimes {
    instructions: usize,
    /// The instructions that each value lives for, added up.
    sum: usize,
    /// The same, each value as often as it is used.
    sum_by_use: usize,
    /// Parameters of blocks, and arguments of jumps.
    params: usize,
    arguments: usize,
    /// The most arguments that the jumps to one block hand on, and the blocks that each value lives
    /// at the beginning of, added up.
    most_arguments: usize,
    entries: usize,
}

impl Allocator {
    /// With more values than this alive at once, on average, most are in memory whoever allocates
    /// registers.
    const PRESSURE_LIMIT: usize = 256;

    /// More takes seconds.
    const ALLOCATOR_BUDGET: usize = 64_000_000;

    /// A value used all over a long function is taken out of its register at many places, and each
    /// time all that is in the registers from there on is looked at. More of this takes a tenth of
    /// a second and soon seconds: a thousand cases of a switch do, or a hash function that is all
    /// in one kernel.
    const ALLOCATOR_BUDGET_BY_USE: usize = 25_000_000;

    /// Parameters times arguments. For each parameter, the arguments for those after the last one
    /// that was split are gone through. More of this takes a third of a second and soon seconds:
    /// thousands of loops one after the other do.
    const ALLOCATOR_BUDGET_OF_PARAMS: usize = 300_000_000;

    /// The most arguments for one block times the blocks that values are alive at the beginning of.
    /// At each of these, the arguments for the parameters before the value are gone through. More
    /// of this takes a third of a second and soon seconds: thousands of cases of a switch do that
    /// each hand on something else.
    const ALLOCATOR_BUDGET_OF_ENTRIES: usize = 300_000_000;

    /// However short values live, an instruction takes two to three microseconds. More of them take
    /// a second: ten thousand calls of built-in functions in one kernel do.
    const ALLOCATOR_BUDGET_OF_INSTRUCTIONS: usize = 400_000;

    /// The one that suits a function, generated for a target.
    pub fn suited_to(func: &Function, target: &Target) -> Allocator {
        let lifetimes = lifetimes(func, target);
        let pressure = lifetimes.sum / lifetimes.instructions.max(1);
        if pressure > Allocator::PRESSURE_LIMIT
            || lifetimes.sum > Allocator::ALLOCATOR_BUDGET
            || lifetimes.sum_by_use > Allocator::ALLOCATOR_BUDGET_BY_USE
            || lifetimes.most_arguments * lifetimes.entries > Allocator::ALLOCATOR_BUDGET_OF_ENTRIES
            || lifetimes.instructions > Allocator::ALLOCATOR_BUDGET_OF_INSTRUCTIONS
            || lifetimes.params * lifetimes.arguments > Allocator::ALLOCATOR_BUDGET_OF_PARAMS
        {
            Allocator::SinglePass
        } else {
            Allocator::Backtracking
        }
    }
}

/// Looks at how long values live, in the order in which they are translated. A loop's values live
/// through all of it, which is left out: what counts is the order of magnitude.
fn lifetimes(func: &Function, target: &Target) -> Lifetimes {
    let mut lives: SecondaryMap<Value, (u32, u32)> = SecondaryMap::with_capacity(func.values.len());
    let mut uses: SecondaryMap<Value, u32> = SecondaryMap::with_capacity(func.values.len());
    let registers = |value: Value| {
        let ty = func.ty(value);
        target.registers(ty.scalar, ty.lanes) as usize
    };
    let (mut params, mut arguments) = (0, 0);
    let mut arguments_of: SecondaryMap<Block, usize> = SecondaryMap::new();
    let mut at = 0;
    // Where blocks begin; the search for a case has some, too.
    let mut begins: Vec<u32> = Vec::new();
    for block in func.reverse_post_order() {
        begins.push(at);
        for &param in &func.blocks[block].params {
            lives[param] = (at, at);
            params += registers(param);
        }
        for call in func.blocks[block].term.targets() {
            let handed = call.args.iter().map(|&arg| registers(arg)).sum::<usize>();
            arguments += handed;
            arguments_of[call.block] += handed;
        }
        let insts = &func.blocks[block].insts;
        for data in insts.iter().map(|&inst| &func.insts[inst]) {
            at += 1;
            for &arg in &data.args {
                lives[arg].1 = at;
                uses[arg] += 1;
            }
            // Constants and addresses of variables are made where they are used.
            if !matches!(
                data.op,
                Op::Const(_) | Op::GlobalAddr(_) | Op::Alloca { .. }
            ) {
                for &result in &data.results {
                    lives[result] = (at, at);
                }
            }
        }
        let term = &func.blocks[block].term;
        at += match term {
            // A comparison for each, in a block of its own; what lives throughout lives there, too.
            Terminator::Switch { cases, .. } => {
                let count = cases.len() as u32;
                begins.extend((1..=count).map(|n| at + n));
                count + 1
            }
            _ => 1,
        };
        term.for_each_value(|value| lives[value].1 = at);
    }
    let mut found = Lifetimes {
        instructions: at as usize,
        sum: 0,
        sum_by_use: 0,
        params,
        arguments,
        most_arguments: arguments_of.values().copied().max().unwrap_or(0),
        entries: 0,
    };
    let begun = |at: u32| begins.partition_point(|&begin| begin < at);
    for (value, &(start, end)) in lives.iter() {
        if start > 0 && end > start {
            let length = (end - start) as usize * registers(value);
            found.sum += length;
            found.sum_by_use += length * uses[value] as usize;
            found.entries += (begun(end) - begun(start)) * registers(value);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse;

    fn function(text: &str) -> Function {
        let module = parse::module(text).expect("a module");
        let mut functions = module.functions.values();
        functions.next().expect("a function").clone()
    }

    /// So many loops one after the other, each around two vectors.
    fn loops(length: usize) -> Function {
        let mut text =
            "func \"f\" (i32x16, i32x16, i1) -> () {\nblock0(v0: i32x16, v1: i32x16, v2: i1):\n\
             br block1(v0, v1)\n"
                .to_owned();
        for n in 1..=length {
            let (a, b, sum) = (3 * n, 3 * n + 1, 3 * n + 2);
            let next = n + 1;
            text += &format!(
                "block{n}(v{a}: i32x16, v{b}: i32x16):\nv{sum}: i32x16 = iadd v{a}, v{b}\n\
                 cond_br v2, block{n}(v{sum}, v{a}), block{next}(v{sum}, v{b})\n"
            );
        }
        let last = length + 1;
        let (a, b) = (3 * last, 3 * last + 1);
        text += &format!("block{last}(v{a}: i32x16, v{b}: i32x16):\nret\n}}");
        function(&text)
    }

    /// So many sums, of which each is used by the next, and what comes then.
    fn sums(length: usize, end: &str) -> Function {
        let mut text = "func \"f\" (i32) -> (i32) {\nblock0(v0: i32):\n".to_owned();
        for n in 1..=length {
            text += &format!("v{n}: i32 = iadd v{before}, v{before}\n", before = n - 1);
        }
        function(&(text + end + "\n}"))
    }

    #[test]
    fn hundreds_of_thousands_of_instructions_take_linear_time_without_pressure() {
        let target = Target::avx512();
        let allocator = |length| Allocator::suited_to(&sums(length, "ret v1"), &target);
        assert_eq!(allocator(5000), Allocator::Backtracking);
        assert_eq!(allocator(500_000), Allocator::SinglePass);
    }

    #[test]
    fn thousands_of_cases_that_hand_on_something_else_each_take_linear_time() {
        let switch = |length: usize| {
            let (mut constants, mut cases) = (String::new(), Vec::new());
            for n in 1..=length {
                constants += &format!("v{n}: i32 = const {n:#x}\n");
                cases.push(format!("{n:#x}: block1(v{n})"));
            }
            let (last, sum) = (length + 1, length + 2);
            function(&format!(
                "func \"f\" (i32) -> (i32) {{\nblock0(v0: i32):\n{constants}\
                 v{sum}: i32 = iadd v0, v0\nswitch v{sum}, default block1(v{sum}), {}\n\
                 block1(v{last}: i32):\nret v{last}\n}}",
                cases.join(", ")
            ))
        };
        let target = Target::avx512();
        let allocator = |length| Allocator::suited_to(&switch(length), &target);
        assert_eq!(allocator(1000), Allocator::Backtracking);
        assert_eq!(allocator(30_000), Allocator::SinglePass);
    }

    #[test]
    fn values_live_while_a_case_is_searched() {
        let case = |n| format!("{n:#x}: block1(v{n})");
        let cases: Vec<String> = (1..=100).map(case).collect();
        let end = format!(
            "switch v0, default block1(v0), {}\nblock1(v101: i32):\nret v101",
            cases.join(", ")
        );
        let lives = lifetimes(&sums(100, &end), &Target::avx512()).sum;
        // Each until all are made, and through all of the search.
        assert!(lives > 100 * 100 / 2 + 100 * 100, "{lives}");
    }

    #[test]
    fn thousands_of_loops_in_turn_take_linear_time() {
        let target = Target::cranelift();
        let allocator = |length| Allocator::suited_to(&loops(length), &target);
        assert_eq!(allocator(500), Allocator::Backtracking);
        assert_eq!(allocator(5000), Allocator::SinglePass);
    }
}
