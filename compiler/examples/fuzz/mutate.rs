//! Mutated SPIR-V, and what the compiler owes it: an error or code, never a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brolga_compiler::ir::verify;
use brolga_compiler::{BuildOptions, NdRange, Program, SpecConstants, spec_constants, spirv};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::kernels::panic_message;
use crate::support::case::launch_key;

/// Words of a module's header.
const HEADER: usize = 5;

/// The instructions of a module, as word ranges; what follows a nonsensical length is one of its own.
fn instructions(words: &[u32]) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::new();
    let mut at = HEADER;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        let end = if length == 0 {
            words.len()
        } else {
            (at + length).min(words.len())
        };
        ranges.push(at..end);
        at = end;
    }
    ranges
}

/// The mutated module with this number.
pub fn module(corpus: &[Vec<u32>], seed: u64) -> Vec<u32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    if corpus.is_empty() {
        return Vec::new();
    }
    let mut words = corpus[rng.random_range(0..corpus.len())].clone();
    for _ in 0..1 << rng.random_range(0..4) {
        mutate(&mut words, corpus, &mut rng);
    }
    words
}

fn mutate(words: &mut Vec<u32>, corpus: &[Vec<u32>], rng: &mut ChaCha8Rng) {
    let insts = instructions(words);
    if insts.is_empty() {
        return;
    }
    let pick = |rng: &mut ChaCha8Rng| insts[rng.random_range(0..insts.len())].clone();
    let operand = |rng: &mut ChaCha8Rng| {
        let inst = pick(rng);
        (inst.len() > 1).then(|| rng.random_range(inst.start + 1..inst.end))
    };
    let bound = words.get(3).copied().unwrap_or(1).clamp(1, 1 << 16);
    match rng.random_range(0..14) {
        // An id becomes another: the most fruitful one.
        0..=4 => {
            if let Some(at) = operand(rng) {
                words[at] = rng.random_range(0..bound);
            }
        }
        5 => {
            if let Some(at) = operand(rng) {
                words[at] = words[at]
                    .wrapping_add(rng.random_range(0..3))
                    .wrapping_sub(1);
            }
        }
        6 => {
            let at = rng.random_range(0..words.len());
            words[at] ^= 1 << rng.random_range(0..32);
        }
        7 => {
            let at = rng.random_range(0..words.len());
            words[at] = match rng.random_range(0..4) {
                0 => 0,
                1 => u32::MAX,
                2 => 1 << rng.random_range(0..32),
                _ => rng.random(),
            };
        }
        8 => {
            words.drain(pick(rng));
        }
        9 => {
            let inst = words[pick(rng)].to_vec();
            let at = pick(rng).start;
            words.splice(at..at, inst);
        }
        10 => {
            let (a, b) = (pick(rng), pick(rng));
            let (a, b) = if a.start <= b.start { (a, b) } else { (b, a) };
            if a.end <= b.start {
                let (first, second) = (words[a.clone()].to_vec(), words[b.clone()].to_vec());
                words.splice(b, first);
                words.splice(a, second);
            }
        }
        11 => {
            // Another opcode with the same operands.
            let at = pick(rng).start;
            let opcode = rng.random_range(0..400);
            words[at] = words[at] & 0xffff_0000 | opcode;
        }
        12 => {
            // An instruction of another module.
            let other = &corpus[rng.random_range(0..corpus.len())];
            let others = instructions(other);
            let inst = other[others[rng.random_range(0..others.len())].clone()].to_vec();
            let at = pick(rng).start;
            words.splice(at..at, inst);
        }
        _ => {
            let end = rng.random_range(0..=words.len());
            if rng.random_bool(0.3) {
                words.truncate(end);
            }
        }
    }
}

/// What became of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Refused,
    Compiled,
}

/// Compiles what is accepted of a module.
///
/// # Errors
/// What the compiler did that it must never do.
pub fn survives(words: &[u32]) -> Result<Fate, String> {
    let attempt = || -> Result<Fate, String> {
        let _ = spec_constants(words);
        let options = BuildOptions::default();
        let Ok(module) = spirv::translate(&[words], &SpecConstants::new(), &options) else {
            return Ok(Fate::Refused);
        };
        verify::verify_module(&module).map_err(|why| format!("translated to bad IR: {why}"))?;
        let Ok(program) = Program::from_module(module, &options) else {
            return Ok(Fate::Refused);
        };
        let range = NdRange {
            work_dim: 1,
            global_offset: [0; 3],
            global_size: [100, 1, 1],
            local_size: [16, 1, 1],
        };
        for kernel in 0..program.kernels().len() {
            for width in [1, 8] {
                let _ = program.compile_at(kernel, &launch_key(&range, width), width);
            }
        }
        Ok(Fate::Compiled)
    };
    catch_unwind(AssertUnwindSafe(attempt))
        .unwrap_or_else(|panic| Err(format!("panicked: {}", panic_message(&*panic))))
}
