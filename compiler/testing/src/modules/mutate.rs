//! Mutated SPIR-V, and what the compiler owes it: an error or code, never a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brolga_compiler::ir::verify;
use brolga_compiler::{
    BuildOptions, LaunchKey, NdRange, Program, SpecConstants, spec_constants, spirv,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::valid;
use crate::judge::panic_message;

/// Words of a module's header.
const HEADER: usize = 5;

/// The instructions of a module, as word ranges; what follows a nonsensical length is one of its
/// own.
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

/// One module in so many is a valid one of `valid.rs`.
pub const BUILT: u64 = 50;

/// The mutated module with this number, or a valid one.
pub fn module(corpus: &[Vec<u32>], seed: u64) -> Vec<u32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    if seed.is_multiple_of(BUILT) || corpus.is_empty() {
        return valid::module(seed);
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
    if rng.random_bool(0.5) {
        mutate_gently(words, &insts, rng);
        return;
    }
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
            let opcode = if rng.random_bool(0.7) {
                rng.random_range(0..404)
            } else {
                EXTENDED[rng.random_range(0..EXTENDED.len())]
            };
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

/// Operations that take the same operands.
const ALIKE: &[&[u32]] = &[
    // Integer arithmetic, shifts, bitwise.
    &[
        128, 130, 132, 134, 135, 137, 138, 139, 194, 195, 196, 197, 198, 199,
    ],
    // Floating-point arithmetic.
    &[129, 131, 133, 136, 140, 141],
    // Comparisons of integers, of floats.
    &[170, 171, 172, 173, 174, 175, 176, 177, 178, 179],
    &[180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191],
    // Conversions between numbers, and casts of pointers.
    &[109, 110, 111, 112, 113, 114, 115, 116, 118, 119],
    &[117, 120, 121, 122, 123, 124],
    // Read-modify-write.
    &[229, 234, 235, 236, 237, 238, 239, 240, 241, 242],
    // Access chains, typed and not.
    &[65, 66, 67, 70],
    &[4419, 4420, 4423, 4424],
    // Copies; SPV_KHR_poison_freeze, SPV_EXT_arithmetic_fence, SPV_INTEL_fpga_reg.
    &[83, 400, 5159, 6145, 5949],
    // SPV_INTEL_shader_integer_functions2, of one operand and of two.
    &[5585, 5586, 200, 204, 205],
    &[
        5587, 5588, 5589, 5590, 5591, 5592, 5593, 5594, 5595, 5596, 5597, 5598, 128, 132,
    ],
    // Barriers, whole and split.
    &[224, 6142, 6143],
    // Integer dot products, without and with an accumulator.
    &[4450, 4451, 4452],
    &[4453, 4454, 4455],
    // Pointers to kinds of global memory.
    &[83, 124, 5934, 5938],
    // Composite constants.
    &[44, 51, 6091, 6092],
];

/// Opcodes of extensions that are read.
const EXTENDED: &[u32] = &[
    4417, 4418, 4419, 4420, 4423, 4424, 4426, 4433, 4434, 4461, 4462, 4463, 5158, 5159, 5587, 5589,
    5593, 5597, 5818, 5887, 5934, 5938, 5949, 6090, 6091, 6092, 6096, 6116, 6117, 6142, 6143, 6145,
];

const CONSTANT: u32 = 43;
const EXT_INST: u32 = 12;
const FUNCTION: u32 = 54;

/// A change that is likely to leave the module valid, so that what comes after the checks is tried
/// too.
fn mutate_gently(words: &mut [u32], insts: &[std::ops::Range<usize>], rng: &mut ChaCha8Rng) {
    let inst = insts[rng.random_range(0..insts.len())].clone();
    let opcode = words[inst.start] & 0xffff;
    if opcode == CONSTANT && inst.len() > 3 {
        words[inst.end - 1] = match rng.random_range(0..4) {
            0 => rng.random_range(0..70),
            1 => u32::MAX - rng.random_range(0..3),
            2 => 1 << rng.random_range(0..32),
            _ => rng.random(),
        };
        return;
    }
    if opcode == EXT_INST && inst.len() > 4 && rng.random_bool(0.5) {
        words[inst.start + 4] = rng.random_range(0..210);
        return;
    }
    if let Some(alike) = ALIKE.iter().find(|class| class.contains(&opcode))
        && rng.random_bool(0.5)
    {
        words[inst.start] =
            words[inst.start] & 0xffff_0000 | alike[rng.random_range(0..alike.len())];
        return;
    }
    // An operand becomes another value of its type that is defined before.
    if inst.len() < 2 {
        return;
    }
    let at = rng.random_range(inst.start + 1..inst.end);
    let (mut here, mut ty) = (Vec::new(), None);
    for other in insts.iter().take_while(|other| other.start < inst.start) {
        let opcode = words[other.start] & 0xffff;
        let Some((result_ty, result)) = typed_result(words, other) else {
            continue;
        };
        if opcode == FUNCTION {
            here.retain(|&(_, _, global)| global);
        }
        if result == words[at] {
            ty = Some(result_ty);
        }
        // Constants and variables outside functions come before the first one.
        here.push((result_ty, result, opcode < 60));
    }
    if let Some(ty) = ty {
        here.retain(|&(other, ..)| other == ty);
        if !here.is_empty() {
            words[at] = here[rng.random_range(0..here.len())].1;
        }
    }
}

/// The result type and result of an instruction that has both.
fn typed_result(words: &[u32], inst: &std::ops::Range<usize>) -> Option<(u32, u32)> {
    let table = &rspirv::grammar::INSTRUCTION_TABLE;
    let grammar = table.lookup_opcode(words[inst.start] & 0xffff)?;
    let mut kinds = grammar.operands.iter().map(|operand| operand.kind);
    let typed = kinds.next() == Some(rspirv::grammar::OperandKind::IdResultType)
        && kinds.next() == Some(rspirv::grammar::OperandKind::IdResult);
    (typed && inst.len() > 2).then(|| (words[inst.start + 1], words[inst.start + 2]))
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
                let _ = program.compile(kernel, &LaunchKey::new(&range, width));
            }
        }
        Ok(Fate::Compiled)
    };
    catch_unwind(AssertUnwindSafe(attempt))
        .unwrap_or_else(|panic| Err(format!("panicked: {}", panic_message(&*panic))))
}
