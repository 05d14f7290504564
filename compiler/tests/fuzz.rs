//! A few random kernels and mutated modules of the `fuzz` example on every test run, and whether it
//! would notice.

use brolga_compiler_testing::judge::{self, Verdict};
use brolga_compiler_testing::kernels;
use brolga_compiler_testing::modules::{corpus, mutate, valid};

#[test]
fn random_kernels_do_the_same_in_every_engine() {
    for seed in 0..60 {
        let text = kernels::test(seed);
        let verdict = judge::judge(&text, false);
        assert_eq!(verdict, Verdict::Same, "kernel {seed}:\n{text}");
    }
}

#[test]
fn random_kernels_are_free_of_undefined_behaviour() {
    // The checked interpreter refuses races, uninitialised reads and divergent barriers.
    for seed in 60..80 {
        let verdict = judge::judge(&kernels::test(seed), true);
        assert_eq!(verdict, Verdict::Same, "kernel {seed}");
    }
}

#[test]
fn random_modules_do_the_same_in_every_engine() {
    for seed in 0..40 {
        if let Err(why) = valid::judge(&valid::module(seed)) {
            panic!("module {seed}: {why}");
        }
    }
}

#[test]
fn mutated_modules_never_panic() {
    let corpus = corpus::modules();
    assert!(
        !corpus.is_empty(),
        "spirv-as (package spirv-tools) assembles the modules"
    );
    let mut compiled = 0;
    for seed in 0..2000 {
        match mutate::survives(&mutate::module(&corpus, seed)) {
            Ok(mutate::Fate::Compiled) => compiled += 1,
            Ok(mutate::Fate::Refused) => {}
            Err(why) => panic!("module {seed}: {why}"),
        }
    }
    assert!(compiled > 60, "only {compiled} modules were accepted");
}

#[test]
fn disagreement_is_noticed() {
    // What a pointer is differs between the interpreter and generated code.
    let text = "; run:\n; arg: buffer i64 zero 1\nkernel \"k\" @0 (value 0)\nfunc \"k\" (ptr) -> () {\n\
                block0(p: ptr):\n  x: i64 = convert.bitcast p\n  store.global.align8 p, x\n  ret\n}\n";
    let verdict = judge::judge(text, false);
    assert!(matches!(verdict, Verdict::Differs(_)), "{verdict:?}");
    // All work-items store to one place.
    let text = "; run:\n; global: 2\n; local: 2\n; arg: buffer i64 zero 1\nkernel \"k\" @0 (value 0)\n\
                func \"k\" (ptr) -> () {\nblock0(p: ptr):\n  x: i64 = dim_query.global_id.0\n  \
                store.global.align8 p, x\n  ret\n}\n";
    let verdict = judge::judge(text, true);
    assert!(
        matches!(&verdict, Verdict::Invalid(why) if why.contains("races")),
        "{verdict:?}"
    );
}
