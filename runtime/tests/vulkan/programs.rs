//! Random programs: what Vulkan can express of them computes by way of its module what the program
//! does when it is built directly.

use brolga_opencl_c_testing::choices::Choices;
use brolga_opencl_c_testing::judge::{self, vulkan_target};
use brolga_opencl_c_testing::programs::{Argument, ITEMS, Program as Random, pattern, program};

use super::ways::*;
use super::*;

const PROGRAMS: u64 = 60;

fn words_of(bytes: Vec<u8>) -> Vec<u32> {
    let mut bytes = bytes;
    bytes.resize(bytes.len().next_multiple_of(4).max(4), 0);
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

fn args(program: &Random) -> Vec<Arg> {
    let arg = |arg: &Argument| match arg {
        Argument::Out(size) | Argument::Scratch(size) => Arg::Buffer(words_of(vec![0; *size])),
        Argument::Counter => Arg::Buffer(vec![0]),
        Argument::Input(size) => Arg::Buffer(words_of(pattern(*size))),
        Argument::Value { size, .. } => Arg::Value(pattern(*size)),
    };
    program.args.iter().map(arg).collect()
}

#[test]
fn random_programs_compute_the_same() {
    let context = context();
    let mut done = 0;
    for seed in 0..PROGRAMS {
        let random = program(&mut Choices::random(seed), "");
        let source = &random.text.cl;
        // What Vulkan cannot express is refused.
        let Ok(module) = module_of(source, random.std, &vulkan_target(seed)) else {
            continue;
        };
        let std = format!("-cl-std={}", random.std);
        let direct = brolga_runtime_testing::built(&context, source, &std);
        let range = Range(None, &[2 * ITEMS], Some(&[ITEMS]));
        let [expected, found] = [direct, built_of(&context, &module)].map(|program| {
            let outcome = outcome(&program, "k", &args(&random), range);
            judge::told(&random, outcome.expect("it is launched"))
        });
        assert_eq!(found, expected, "program {seed}:\n{source}");
        done += 1;
    }
    assert!(
        done * 5 >= PROGRAMS,
        "only {done} programs are made for Vulkan"
    );
}
