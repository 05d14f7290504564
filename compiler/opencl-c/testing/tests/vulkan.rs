//! Random programs compiled for Vulkan: each module is valid, and computes what the program does
//! as C once it is a kernel again.

use std::io::Write;
use std::process::{Command, Stdio};

use brolga_compiler_testing::engines::Engine;
use brolga_opencl_c::vulkan::{Target, Version, compile_for_vulkan};
use brolga_opencl_c::{Input, Options};
use brolga_opencl_c_testing::choices::Choices;
use brolga_opencl_c_testing::programs::{Program, program};
use brolga_opencl_c_testing::{judge, oracle};

/// What `spirv-val` says against a module.
fn validate(words: &[u32], environment: &str) -> Result<(), String> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut validator = Command::new("spirv-val")
        .args(["--target-env", environment, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("spirv-val (package spirv-tools) validates the modules");
    let mut stdin = validator.stdin.take().expect("the input is piped");
    stdin.write_all(&bytes).expect("spirv-val reads the module");
    drop(stdin);
    let output = validator.wait_with_output().expect("spirv-val ends");
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into()),
    }
}

fn for_vulkan(program: &Program, version: Version) -> Result<Vec<u32>, String> {
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
    let compiled = compile_for_vulkan(&input, &options, &judge::device(), &Target::new(version));
    compiled.words.ok_or(compiled.log)
}

#[test]
fn random_programs_compute_for_vulkan_what_they_do_as_c() {
    let count: u64 = std::env::var("SEEDS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(60);
    let make = |seed| program(&mut Choices::random(seed), &format!("p{seed}_"));
    let programs: Vec<Program> = (0..count).map(make).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let expected = oracle::run(&programs, folder.path()).expect("gcc compiles the programs");
    let mut done = 0;
    for (program, expected) in programs.iter().zip(&expected) {
        let words = match for_vulkan(program, Version::V1_3) {
            Ok(words) => words,
            Err(log) => {
                println!("{}: {log}", program.prefix);
                std::fs::write(format!("/tmp/v/{}.cl", program.prefix), &program.text.cl).unwrap();
                continue;
            }
        };
        if let Err(why) = validate(&words, "vulkan1.3") {
            panic!("{why}\n{}", program.text.cl);
        }
        let module = judge::translated(&words).unwrap_or_else(|why| {
            panic!("{why}\n{}", program.text.cl);
        });
        if let Err(why) = judge::judge_module(program, &module, expected, &Engine::all()[..2]) {
            panic!("{}: {why}\n{}", program.prefix, program.text.cl);
        }
        done += 1;
    }
    println!("{done}");
    assert!(
        done * 4 >= count,
        "only {done} of {count} programs are made for Vulkan"
    );
}
