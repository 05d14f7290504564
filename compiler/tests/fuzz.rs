//! A few random kernels and mutated modules of `examples/fuzz`, where there is more to say, on every test run.

// Shared with the example, which uses more of it.
#[allow(dead_code)]
mod filetest;
#[allow(dead_code)]
mod random;
#[allow(dead_code)]
mod support;

#[path = "../examples/fuzz/build.rs"]
mod build;
#[path = "../examples/fuzz/corpus.rs"]
mod corpus;
#[path = "../examples/fuzz/generate.rs"]
mod generate;
#[allow(dead_code)]
#[path = "../examples/fuzz/kernels.rs"]
mod kernels;
#[path = "../examples/fuzz/mutate.rs"]
mod mutate;

use kernels::Verdict;

#[test]
fn random_kernels_do_the_same_in_every_engine() {
    for seed in 0..60 {
        let text = generate::test(seed);
        let verdict = kernels::judge(&text, false);
        assert_eq!(verdict, Verdict::Same, "kernel {seed}:\n{text}");
    }
}

#[test]
fn random_kernels_are_free_of_undefined_behaviour() {
    // The checked interpreter refuses races, uninitialised reads and divergent barriers.
    for seed in 60..80 {
        let verdict = kernels::judge(&generate::test(seed), true);
        assert_eq!(verdict, Verdict::Same, "kernel {seed}");
    }
}

#[test]
fn random_modules_do_the_same_in_every_engine() {
    for seed in 0..40 {
        if let Err(why) = build::judge(&build::module(seed)) {
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
    for seed in 0..600 {
        match mutate::survives(&mutate::module(&corpus, seed)) {
            Ok(mutate::Fate::Compiled) => compiled += 1,
            Ok(mutate::Fate::Refused) => {}
            Err(why) => panic!("module {seed}: {why}"),
        }
    }
    assert!(compiled > 20, "only {compiled} modules were accepted");
}

#[test]
fn disagreement_is_noticed() {
    // What a pointer is differs between the interpreter and generated code.
    let text = "; run:\n; arg: buffer i64 zero 1\nkernel \"k\" @0 (value 0)\nfunc \"k\" (ptr) -> () {\n\
                block0(p: ptr):\n  x: i64 = convert.bitcast p\n  store.global.align8 p, x\n  ret\n}\n";
    let verdict = kernels::judge(text, false);
    assert!(matches!(verdict, Verdict::Differs(_)), "{verdict:?}");
    // All work-items store to one place.
    let text = "; run:\n; global: 2\n; local: 2\n; arg: buffer i64 zero 1\nkernel \"k\" @0 (value 0)\n\
                func \"k\" (ptr) -> () {\nblock0(p: ptr):\n  x: i64 = dim_query.global_id.0\n  \
                store.global.align8 p, x\n  ret\n}\n";
    let verdict = kernels::judge(text, true);
    assert!(
        matches!(&verdict, Verdict::Invalid(why) if why.contains("races")),
        "{verdict:?}"
    );
}
