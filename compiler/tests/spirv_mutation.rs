//! Mutated SPIR-V: whatever the words say, translation gives valid IR or a diagnostic, and never panics.
//!
//! Starts from the modules of `tests/spirv/accept` and of the file tests in `tests/files/spirv` (or of the folder of `.spv` files that `BROLGA_CORPUS` names) and
//! changes a few words, operands or instructions of one of them. `BROLGA_COUNT` says how many modules to make,
//! `BROLGA_SEED` which; a failure prints the seed that makes it alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use brolga_compiler::ir::verify::verify_module;
use brolga_compiler::spirv;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

mod spirv_files;

/// A module, cut into its header and its instructions.
struct Parts {
    header: Vec<u32>,
    insts: Vec<Vec<u32>>,
}

impl Parts {
    fn new(words: &[u32]) -> Parts {
        let mut insts = Vec::new();
        let mut at = 5;
        while at < words.len() {
            let length = ((words[at] >> 16) as usize).max(1);
            insts.push(words[at..(at + length).min(words.len())].to_vec());
            at += length;
        }
        Parts {
            header: words[..5].to_vec(),
            insts,
        }
    }

    fn words(&self) -> Vec<u32> {
        let mut words = self.header.clone();
        words.extend(self.insts.iter().flatten());
        words
    }
}

/// One change. Most keep instructions whole, so that the checks behind the decoder are reached.
fn mutate(parts: &mut Parts, others: &[Parts], rng: &mut impl Rng) {
    if parts.insts.is_empty() {
        return;
    }
    let bound = parts.header[3].max(2);
    let at = rng.random_range(0..parts.insts.len());
    let length = parts.insts[at].len();
    match rng.random_range(0..20) {
        // A word of the operands: another id, a small number, a bit, anything.
        0..=3 if length > 1 => {
            let word = rng.random_range(1..length);
            parts.insts[at][word] = rng.random_range(1..bound);
        }
        4 if length > 1 => {
            let word = rng.random_range(1..length);
            parts.insts[at][word] = rng.random_range(0..20);
        }
        5 => {
            let word = rng.random_range(0..length);
            parts.insts[at][word] ^= 1 << rng.random_range(0..32);
        }
        6 => {
            let word = rng.random_range(0..length);
            parts.insts[at][word] = rng.random();
        }
        // An operand of another instruction of the kind: the grammar is kept, and types often are.
        14..=19 if length > 1 => {
            let first = parts.insts[at][0];
            let alike: Vec<usize> = (0..parts.insts.len())
                .filter(|&other| parts.insts[other][0] == first)
                .collect();
            let other = *alike.choose(rng).expect("itself at least");
            let (word, from) = (rng.random_range(1..length), rng.random_range(1..length));
            let from = if rng.random() { word } else { from };
            parts.insts[at][word] = parts.insts[other][from];
        }
        // The opcode: that of another instruction, or a number near it.
        7 => {
            let other = parts.insts.choose(rng).expect("not empty")[0];
            let first = parts.insts[at][0];
            parts.insts[at][0] = first & 0xffff_0000 | other & 0xffff;
        }
        8 => {
            let first = parts.insts[at][0];
            let opcode = (first & 0xffff)
                .wrapping_add(rng.random_range(0..5))
                .wrapping_sub(2);
            parts.insts[at][0] = first & 0xffff_0000 | opcode & 0xffff;
        }
        // Whole instructions: gone, twice, elsewhere, from another module.
        9 => {
            parts.insts.remove(at);
        }
        10 => {
            let copy = parts.insts[at].clone();
            let to = rng.random_range(0..=parts.insts.len());
            parts.insts.insert(to, copy);
        }
        11 => {
            let to = rng.random_range(0..parts.insts.len());
            parts.insts.swap(at, to);
        }
        12 => {
            let other = others.choose(rng).expect("not empty");
            if let Some(inst) = other.insts.choose(rng) {
                parts.insts.insert(at, inst.clone());
            }
        }
        // An operand more or fewer, with the word count to match.
        _ => {
            if rng.random() && length > 1 {
                parts.insts[at].pop();
            } else {
                let word = rng.random_range(0..bound);
                parts.insts[at].push(word);
            }
            let inst = &mut parts.insts[at];
            inst[0] = inst[0] & 0xffff | (inst.len() as u32) << 16;
        }
    }
}

fn mutant(corpus: &[Vec<u32>], parts: &[Parts], seed: u64) -> Vec<u32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut module = Parts::new(corpus.choose(&mut rng).expect("not empty"));
    for _ in 0..rng.random_range(1..=3) {
        mutate(&mut module, parts, &mut rng);
    }
    let mut words = module.words();
    if rng.random_range(0..20) == 0 {
        words.truncate(rng.random_range(0..words.len()));
    }
    if rng.random_range(0..50) == 0 && !words.is_empty() {
        let at = rng.random_range(0..words.len().min(8));
        words[at] = rng.random();
    }
    words
}

#[test]
fn mutants_never_panic() {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
    };
    let (seed, count) = (number("BROLGA_SEED", 0), number("BROLGA_COUNT", 4000));
    let corpus: Vec<Vec<u32>> = match std::env::var("BROLGA_CORPUS") {
        Ok(folder) => spirv_files::binaries(Path::new(&folder)),
        Err(_) => spirv_files::assembly("accept")
            .into_iter()
            .chain(spirv_files::assembly("../files/spirv"))
            .map(|file| spirv_files::assemble(&file))
            .collect(),
    };
    assert!(!corpus.is_empty());
    let parts: Vec<Parts> = corpus.iter().map(|words| Parts::new(words)).collect();
    let mut accepted = 0;
    for seed in seed..seed + count {
        let words = mutant(&corpus, &parts, seed);
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let _ = spirv::spec_constants(&words);
            match spirv::translate(&[&words], &Default::default(), &Default::default()) {
                Ok(module) => {
                    if let Err(error) = verify_module(&module) {
                        panic!("invalid IR: {error}");
                    }
                    true
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    false
                }
            }
        }));
        match outcome {
            Ok(ok) => accepted += u64::from(ok),
            Err(_) => {
                let path = std::env::temp_dir().join(format!("brolga-mutant-{seed}.spv"));
                let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
                std::fs::write(&path, bytes).expect("writable");
                panic!(
                    "BROLGA_SEED={seed} BROLGA_COUNT=1 fails; see {}",
                    path.display()
                );
            }
        }
        let took = start.elapsed();
        assert!(took < Duration::from_secs(5), "seed {seed} took {took:?}");
    }
    println!("{accepted} of {count} mutants were accepted");
}
