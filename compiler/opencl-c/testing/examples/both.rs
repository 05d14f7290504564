//! Runs a kernel that `brolga-clc` has compiled for Vulkan on Mesa's software implementation of
//! Vulkan and on Brolga, and compares what it leaves in its buffers.
//!
//! ```sh
//! brolga-clc --target=vulkan1.1 k.cl -o k.spv
//! cargo run -p brolga-opencl-c-testing --example both -- k.spv KERNEL GLOBAL LOCAL ARG...
//! ```
//!
//! `ARG` is `buffer=BYTES` (with a pattern in it), `local=BYTES`, `i32=NUMBER` or `f32=NUMBER`.

use std::process::ExitCode;

use brolga_compiler::NdRange;
use brolga_compiler_testing::engines::{Arg, Case, Engine};
use brolga_opencl_c_testing::judge;
use brolga_opencl_c_testing::lavapipe::Lavapipe;
use brolga_opencl_c_testing::programs::pattern;

/// Instructions that an interpreter may run.
const BUDGET: u64 = 1_000_000_000;

fn argument(text: &str) -> Result<Arg, String> {
    let (kind, number) = text.split_once('=').unwrap_or((text, ""));
    let wrong = |why: &dyn std::fmt::Display| format!("{text}: {why}");
    let bytes = || number.parse::<usize>().map_err(|why| wrong(&why));
    Ok(match kind {
        "buffer" => Arg::Buffer(pattern(bytes()?)),
        "local" => Arg::Local(bytes()? as u64),
        "i32" => {
            let value: i32 = number.parse().map_err(|why| wrong(&why))?;
            Arg::Value(value.to_ne_bytes().into())
        }
        "f32" => {
            let value: f32 = number.parse().map_err(|why| wrong(&why))?;
            Arg::Value(value.to_ne_bytes().into())
        }
        _ => return Err(wrong(&"an argument is buffer=, local=, i32= or f32=")),
    })
}

fn run(words: &[String]) -> Result<bool, String> {
    let [module, kernel, global, local, rest @ ..] = words else {
        return Err("usage: both MODULE.spv KERNEL GLOBAL LOCAL ARG...".to_owned());
    };
    let read = |path: &String| std::fs::read(path).map_err(|why| format!("{path}: {why}"));
    let bytes = read(module)?;
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    let size = |text: &String| text.parse::<u32>().map_err(|why| format!("{text}: {why}"));
    let (global, local) = (size(global)?, size(local)?);
    let args: Vec<Arg> = rest
        .iter()
        .map(|text| argument(text))
        .collect::<Result<_, _>>()?;

    let device = Lavapipe::open()?;
    let theirs = device.run((&words, kernel), &args, (global, local))?;
    let theirs = theirs.buffers;

    let translated = judge::translated(&words)?;
    let mut kernels = translated.kernels.iter();
    let index = kernels.position(|it| it.info.name == *kernel);
    let index = index.ok_or_else(|| format!("the module has no kernel {kernel}"))?;
    let range = NdRange {
        work_dim: 1,
        global_offset: [0; 3],
        global_size: [global.into(), 1, 1],
        local_size: [local.into(), 1, 1],
    };
    let engine = *Engine::all().last().ok_or("no engine")?;
    let case = Case::new(&translated, index, range, args);
    let ours = engine.run(&case, BUDGET)?.buffers;

    for (at, (theirs, ours)) in theirs.iter().zip(&ours).enumerate() {
        let differs = theirs.iter().zip(ours).position(|(a, b)| a != b);
        let bytes = ours.len();
        match differs {
            Some(byte) => println!("buffer {at}: differs from byte {byte} of {bytes} on"),
            None => println!("buffer {at}: {bytes} bytes, the same on Vulkan and on Brolga"),
        }
    }
    Ok(theirs == ours)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
