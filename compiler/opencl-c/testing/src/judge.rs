//! Whether a program computes in every engine what it computes as C.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brolga_compiler::ir::{Module, verify};
use brolga_compiler::{BuildOptions, NdRange, SpecConstants, spirv};
use brolga_compiler_testing::engines::{Arg, Case, Engine};
use brolga_compiler_testing::judge::panic_message;
use brolga_opencl_c::vulkan::{Compiled, GlobalOffset, Pods, Target, Version, compile_for_vulkan};
use brolga_opencl_c::{Device, Input, Options, compile};

use crate::choices::Choices;
use crate::lavapipe::Lavapipe;
use crate::lavapipe::faults::compares_extended_numbers;
use crate::oracle::{Contents, is_told};
use crate::programs::{Argument, ITEMS, Program, pattern, program};

/// Instructions that an interpreter may run.
const BUDGET: u64 = 20_000_000;

/// A device with everything that the programs use.
pub fn device() -> Device {
    let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
    Device {
        version: 310,
        extensions: names(&["cl_khr_fp16", "cl_khr_fp64"]),
        features: names(&[
            "__opencl_c_fp64",
            "__opencl_c_generic_address_space",
            "__opencl_c_program_scope_global_variables",
            "__opencl_c_work_group_collective_functions",
            "__opencl_c_int64",
        ]),
    }
}

/// The SPIR-V that the front end makes of a program.
///
/// # Errors
/// What it says of the program, or of itself if it panics.
pub fn compiled(program: &Program) -> Result<Vec<u32>, String> {
    let input = Input {
        name: "program.cl",
        source: &program.text.cl,
        headers: &[],
    };
    let options = Options {
        std: program.std,
        ..Options::default()
    };
    let compiled = catch_unwind(AssertUnwindSafe(|| compile(&input, &options, &device())));
    match compiled {
        Ok(compiled) => compiled.words.ok_or_else(|| {
            let is_error = |line: &&str| line.contains("error: ");
            let errors: Vec<&str> = compiled.log.lines().filter(is_error).collect();
            format!("refused: {}", errors.join(" | "))
        }),
        Err(panic) => Err(format!("panicked: {}", panic_message(&*panic))),
    }
}

/// How many targets [`vulkan_target`] chooses from.
pub const VULKAN_TARGETS: u64 = 12;

/// A target for Vulkan: the versions and the places of arguments passed by value, in turn.
pub fn vulkan_target(seed: u64) -> Target {
    let versions = [Version::V1_0, Version::V1_1, Version::V1_2, Version::V1_3];
    let (pods, cluster_pods, global_offset) = match seed / 4 % 3 {
        0 => (Pods::StorageBuffer, true, GlobalOffset::None),
        1 => (Pods::StorageBuffer, false, GlobalOffset::PushConstant),
        _ => (Pods::PushConstant, true, GlobalOffset::SpecConstant),
    };
    Target {
        pods,
        cluster_pods,
        global_offset,
        max_push_constants: 1 << 16,
        // As the programs are made for.
        wide_sizes: true,
        ..Target::new(versions[seed as usize % 4])
    }
}

/// The module for Vulkan that the front end makes of a program, or what Vulkan cannot express.
///
/// # Errors
/// What the front end says of itself if it panics.
pub fn compiled_for_vulkan(program: &Program, target: &Target) -> Result<Compiled, String> {
    let input = Input {
        name: "program.cl",
        source: &program.text.cl,
        headers: &[],
    };
    let options = Options {
        std: program.std,
        no_warnings: true,
        ..Options::default()
    };
    let compile = || compile_for_vulkan(&input, &options, &device(), target);
    let compiled = catch_unwind(AssertUnwindSafe(compile));
    compiled.map_err(|panic| format!("panicked: {}", panic_message(&*panic)))
}

/// The newest target, with everything where a host finds it that binds storage buffers only.
pub fn device_target() -> Target {
    Target {
        // As the programs are made for.
        wide_sizes: true,
        ..Target::new(Version::V1_3)
    }
}

/// Words of a module above which an implementation of Vulkan is not asked: what its compiler takes
/// grows faster than the module, a minute and more here.
const MOST_WORDS: usize = 50_000;

/// Compares what a program's module for Vulkan leaves in its buffers on an implementation with what
/// it must. Whether the implementation is asked, and not known to go wrong.
///
/// # Errors
/// What is different, or why it does not run.
pub fn judge_on_device(
    device: &Lavapipe,
    program: &Program,
    module: &Compiled,
    expected: &Contents,
) -> Result<bool, String> {
    let words = module.words.as_deref().unwrap_or_default();
    if words.is_empty() || words.len() > MOST_WORDS || !device.can(words) {
        return Ok(false);
    }
    let kernel = format!("{}k", program.prefix);
    let sizes = (2 * ITEMS as u32, ITEMS as u32);
    let args = arguments(program);
    let found = device.run((words, &kernel), &args, sizes)?;
    match difference(expected, &told(program, found.buffers)) {
        Some(_) if compares_extended_numbers(words) => Ok(false),
        Some(why) => Err(format!("Vulkan: {why}")),
        None => Ok(true),
    }
}

/// Modules for Vulkan of so many random programs, as far as Vulkan can express them.
pub fn vulkan_modules(programs: u64) -> Vec<Vec<u32>> {
    let modules = (0..programs).filter_map(|seed| {
        let program = program(&mut Choices::random(seed), "");
        let compiled = compiled_for_vulkan(&program, &vulkan_target(seed)).ok()?;
        compiled.words
    });
    modules.collect()
}

/// The module of the compiler.
///
/// # Errors
/// Why it refuses the SPIR-V.
pub fn translated(words: &[u32]) -> Result<Module, String> {
    let module = spirv::translate(&[words], &SpecConstants::new(), &BuildOptions::default())
        .map_err(|why| format!("not translated: {why}"))?;
    verify::verify_module(&module)?;
    Ok(module)
}

/// What a program is launched with.
pub fn arguments(program: &Program) -> Vec<Arg> {
    let argument = |arg: &Argument| match arg {
        Argument::Out(size) | Argument::Scratch(size) => Arg::Buffer(vec![0; *size]),
        Argument::Counter => Arg::Buffer(vec![0; 4]),
        Argument::Input(size) => Arg::Buffer(pattern(*size)),
        Argument::Value { size, .. } => Arg::Value(pattern(*size)),
    };
    program.args.iter().map(argument).collect()
}

/// What is compared of a program's buffers.
pub fn told<T>(program: &Program, buffers: Vec<T>) -> Vec<T> {
    let is_buffer = |arg: &&Argument| !matches!(arg, Argument::Value { .. });
    let pairs = program.args.iter().filter(is_buffer).zip(buffers);
    let told = pairs.filter(|(arg, _)| is_told(arg));
    told.map(|(_, contents)| contents).collect()
}

/// What the program leaves in its buffers in one engine.
///
/// # Errors
/// Why it does not run.
pub fn outcome(program: &Program, module: &Module, engine: Engine) -> Result<Contents, String> {
    let name = format!("{}k", program.prefix);
    let kernel = module
        .kernels
        .iter()
        .position(|kernel| kernel.info.name == name);
    let kernel = kernel.ok_or("there is no kernel")?;
    let range = NdRange {
        work_dim: 1,
        global_offset: [0; 3],
        global_size: [2 * ITEMS as u64, 1, 1],
        local_size: [ITEMS as u64, 1, 1],
    };
    let case = Case::new(module, kernel, range, arguments(program));
    let run = catch_unwind(AssertUnwindSafe(|| engine.run(&case, BUDGET)));
    let buffers = match run {
        Ok(outcome) => outcome?.buffers,
        Err(panic) => return Err(format!("panicked: {}", panic_message(&*panic))),
    };
    Ok(told(program, buffers))
}

/// Compares a program with what it must compute, in these engines.
///
/// # Errors
/// What is different.
pub fn judge(program: &Program, expected: &Contents, engines: &[Engine]) -> Result<(), String> {
    judge_module(
        program,
        &translated(&compiled(program)?)?,
        expected,
        engines,
    )
}

/// The same of a module in which the program is.
///
/// # Errors
/// What is different.
pub fn judge_module(
    program: &Program,
    module: &Module,
    expected: &Contents,
    engines: &[Engine],
) -> Result<(), String> {
    for &engine in engines {
        let name = engine.name();
        let got = outcome(program, module, engine).map_err(|why| format!("{name}: {why}"))?;
        if let Some(why) = difference(expected, &got) {
            return Err(format!("{name}: {why}"));
        }
    }
    Ok(())
}

fn difference(expected: &Contents, got: &Contents) -> Option<String> {
    let pairs = expected.iter().zip(got).enumerate();
    let (buffer, (a, b)) = pairs.into_iter().find(|(_, (a, b))| a != b)?;
    let at = a.iter().zip(b).position(|(a, b)| a != b);
    let at = at.unwrap_or(a.len().min(b.len()));
    // The first buffer has as many words for each work-item.
    let (word, words) = (at / 8, (a.len() / 8 / (2 * ITEMS)).max(1));
    Some(format!(
        "buffer {buffer} differs from byte {at} on: work-item {}, word {}",
        word / words,
        word % words
    ))
}
