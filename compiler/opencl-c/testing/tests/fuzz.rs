//! A few random programs and mutated sources of the `fuzz` example on every test run, and whether
//! it would notice.

use brolga_compiler_testing::engines::Engine;
use brolga_opencl_c_testing::choices::Choices;
use brolga_opencl_c_testing::mutate::{self, Fate};
use brolga_opencl_c_testing::programs::{Program, program};
use brolga_opencl_c_testing::{judge, oracle};

fn programs(seeds: std::ops::Range<u64>) -> Vec<Program> {
    let make = |seed| program(&mut Choices::random(seed), &format!("p{seed}_"));
    seeds.map(make).collect()
}

#[test]
fn random_programs_compute_what_they_do_as_c() {
    let programs = programs(0..40);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let expected = oracle::run(&programs, folder.path()).expect("gcc compiles the programs");
    for (program, expected) in programs.iter().zip(&expected) {
        if let Err(why) = judge::judge(program, expected, &Engine::all()[..3]) {
            panic!("{why}\n{}", program.text.cl);
        }
    }
}

#[test]
fn a_wrong_result_is_noticed() {
    let programs = programs(0..8);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut expected = oracle::run(&programs, folder.path()).expect("gcc compiles the programs");
    let mut noticed = 0;
    for (program, expected) in programs.iter().zip(&mut expected) {
        // Programs without variables have nothing to tell.
        if let Some(byte) = expected[0].last_mut() {
            *byte ^= 1;
            let why = judge::judge(program, expected, &Engine::all()[..1]).expect_err("it differs");
            assert!(why.contains("buffer 0 differs"), "{why}");
            noticed += 1;
        }
    }
    assert!(noticed > 4, "only {noticed} programs tell anything");
}

#[test]
fn the_same_choices_make_the_same_program() {
    for seed in 0..20 {
        let mut random = Choices::random(seed);
        let first = program(&mut random, "");
        let again = program(&mut Choices::of_list(random.made().to_vec()), "");
        assert_eq!(first.text, again.text);
    }
}

#[test]
fn mutated_sources_never_panic() {
    let corpus = mutate::corpus();
    let mut compiled = 0;
    for seed in 0..400 {
        let (std, source) = mutate::source(&corpus, seed);
        match mutate::survives(std, &source) {
            Ok(Fate::Compiled) => compiled += 1,
            Ok(Fate::Refused) => {}
            Err(why) => panic!("source {seed}: {why}\n{source}"),
        }
    }
    assert!(compiled > 4, "only {compiled} sources were accepted");
}
