//! Random kernels mean the same before and after `transform`, and after a second cleaning up.
//!
//! `BROLGA_SEED` and `BROLGA_COUNT` choose which kernels and how many.

use brolga_compiler::NdRange;
use brolga_compiler::interp::{Interpreter, Launch, Memory, Options};
use brolga_compiler::ir::{Function, Module, ParamSource, Stage, parse, verify};
use brolga_compiler::transform::{cleanup, prepare_kernel};
use brolga_compiler_testing::kernels::private_memory;

const ITEMS: u64 = 6;

/// The buffers after running a function as the module's kernel, or why it stopped.
fn run(module: &Module, func: &Function, params: &[ParamSource]) -> Result<Vec<u8>, String> {
    let mut memory = Memory::new();
    let pattern = |n: usize| (0..n).map(|i| (i * 37 % 251) as u8).collect::<Vec<u8>>();
    let own = memory.add(
        "own",
        pattern(ITEMS as usize * private_memory::ITEM_BYTES),
        128,
    );
    let input = memory.add("input", pattern(private_memory::INPUT_BYTES + 32), 128);
    let mut args = memory.base(own).to_le_bytes().to_vec();
    args.extend(memory.base(input).to_le_bytes());
    let options = Options {
        budget: 2_000_000,
        checked: false,
    };
    let mut interp = Interpreter::new(module, memory, options);
    let launch = Launch {
        range: NdRange {
            work_dim: 1,
            global_offset: [0; 3],
            global_size: [ITEMS, 1, 1],
            local_size: [4, 1, 1],
        },
        args: &args,
        local_mem_size: 4 * private_memory::MAX_GROUP as u64,
        sub_group_size: 1,
    };
    interp
        .run_function(func, params, &launch)
        .map_err(|e| e.to_string())?;
    Ok(interp.memory.bytes(own).to_vec())
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[test]
fn transforms_keep_the_meaning() {
    let first = number("BROLGA_SEED", 0);
    for seed in first..first + number("BROLGA_COUNT", 300) {
        let text = private_memory::module(seed);
        let module = parse::module(&text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        verify::verify_module(&module).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        let kernel = &module.kernels[0];
        let expected = run(&module, &module.functions[kernel.func], &kernel.params)
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        let prepared = prepare_kernel(&module, 0, &Default::default())
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        let (mut func, params) = (prepared.function, prepared.params);
        for pass in ["prepare_kernel", "cleanup"] {
            let got = run(&module, &func, &params);
            assert!(
                got.as_ref() == Ok(&expected),
                "seed {seed}: {pass} changed the result\n{expected:?}\n{got:?}\n{text}\n{func}"
            );
            cleanup(&mut func);
            verify::verify(&func, Stage::Scalarized, Some(&module)).unwrap();
        }
    }
}
