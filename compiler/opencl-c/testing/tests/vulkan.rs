//! Random programs compiled for Vulkan: each module is valid, and computes what the program does
//! as C, once it is a kernel again and on Mesa's software implementation of Vulkan.

use brolga_compiler_testing::engines::{Arg, Engine};
use brolga_compiler_testing::modules::mutate;
use brolga_compiler_testing::validator::validate;
use brolga_opencl_c::vulkan::{Compiled, Target, Version, compile_for_vulkan};
use brolga_opencl_c::{Input, Options, Std};
use brolga_opencl_c_testing::choices::Choices;
use brolga_opencl_c_testing::lavapipe::Lavapipe;
use brolga_opencl_c_testing::oracle::Contents;
use brolga_opencl_c_testing::programs::{ITEMS, Program, program};
use brolga_opencl_c_testing::{judge, oracle};

const PROGRAMS: u64 = 80;
/// Words of a module above which the device is not asked: what its compiler takes grows faster than
/// the module, a minute and more here.
const MOST_WORDS: usize = 50_000;

/// Mutated modules, and of how many programs they are made.
const MUTATED: u64 = 300;
const MUTATED_FROM: u64 = 60;

fn compiled(source: &str, std: Std) -> Compiled {
    let input = Input {
        name: "program.cl",
        source,
        headers: &[],
    };
    let options = Options {
        std,
        no_warnings: true,
        ..Options::default()
    };
    let target = Target {
        // As the programs are made for.
        wide_sizes: true,
        ..Target::new(Version::V1_3)
    };
    compile_for_vulkan(&input, &options, &judge::device(), &target)
}

/// What a program leaves in its buffers on an implementation of Vulkan.
fn outcome(device: &Lavapipe, program: &Program, module: &Compiled) -> Result<Contents, String> {
    let words = module.words.as_deref().unwrap_or_default();
    let kernel = format!("{}k", program.prefix);
    let sizes = (2 * ITEMS as u32, ITEMS as u32);
    let args = judge::arguments(program);
    let buffers = device.run((words, &module.descriptor_map, &kernel), &args, sizes)?;
    Ok(judge::told(program, buffers))
}

/// What a kernel of a source leaves in its buffers there.
fn run(source: &str, kernel: &str, args: &[Arg], sizes: (u32, u32)) -> Contents {
    let module = compiled(source, Std::C12);
    let words = module.words.as_deref();
    let words = words.unwrap_or_else(|| panic!("{}", module.log));
    validate(words, "vulkan1.3").unwrap();
    let device = Lavapipe::open().expect("an implementation of Vulkan");
    let kernel = (words, &*module.descriptor_map, kernel);
    device.run(kernel, args, sizes).unwrap()
}

#[test]
fn random_programs_compute_for_vulkan_what_they_do_as_c() {
    let make = |seed| program(&mut Choices::random(seed), &format!("p{seed}_"));
    let programs: Vec<Program> = (0..PROGRAMS).map(make).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let expected = oracle::run(&programs, folder.path()).expect("gcc compiles the programs");
    let device = Lavapipe::open().expect("an implementation of Vulkan");
    let (mut done, mut on_device) = (0, 0);
    for (program, expected) in programs.iter().zip(&expected) {
        let text = &program.text.cl;
        let module = compiled(text, program.std);
        // What Vulkan cannot express is refused.
        let Some(words) = &module.words else { continue };
        if let Err(why) = validate(words, "vulkan1.3") {
            panic!("{why}\n{text}");
        }
        let again = judge::translated(words).unwrap_or_else(|why| panic!("{why}\n{text}"));
        if let Err(why) = judge::judge_module(program, &again, expected, &Engine::all()[..2]) {
            panic!("{}: {why}\n{text}", program.prefix);
        }
        done += 1;
        if device.can(words) && words.len() <= MOST_WORDS {
            let found = outcome(&device, program, &module);
            assert_eq!(found.as_ref(), Ok(expected), "{text}");
            on_device += 1;
        }
    }
    assert!(
        done * 5 >= PROGRAMS,
        "only {done} programs are made for Vulkan"
    );
    assert!(
        on_device * 2 >= done,
        "only {on_device} programs ran on the device"
    );
}

/// What sets all of an array of arrays keeps its index within each of them.
#[test]
fn rows_are_set_one_after_the_other() {
    let source = "
        kernel void rows(global ulong *out, int i, int j) {
            ulong rows[5][2] = {[3] = {11, 12}};
            rows[i][j] += 1;
            ulong sum = 0;
            for (int row = 0; row < 5; row++) sum += rows[row][0] * 100 + rows[row][1];
            out[0] = sum;
        }";
    let value = |value: i32| Arg::Value(value.to_le_bytes().to_vec());
    let args = [Arg::Buffer(vec![0; 8]), value(3), value(1)];
    assert_eq!(run(source, "rows", &args, (1, 1)), [1113u64.to_le_bytes()]);
}

#[test]
fn local_memory_and_loops_run_on_an_implementation_of_vulkan() {
    let source = "
        float series(int n) {
            float sum = 0;
            for (int i = 0; i < n; ++i) {
                if (i == 3) continue;
                for (int j = 0;; ++j) {
                    if (j > i) break;
                    if (i * j > 40) return sum;
                    sum += j;
                }
            }
            return sum;
        }
        kernel void reverse(local float *room, global float *data, int n, global int *count) {
            local int calls;
            size_t lid = get_local_id(0), last = get_local_size(0) - 1;
            if (lid == 0) calls = 0;
            room[lid] = data[get_global_id(0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            atomic_inc(&calls);
            barrier(CLK_LOCAL_MEM_FENCE);
            data[get_global_id(0)] = room[last - lid] + series(n);
            if (lid == 0) atomic_add(count, calls);
        }";
    let bytes = |all: &[f32]| {
        all.iter()
            .flat_map(|x| x.to_ne_bytes())
            .collect::<Vec<u8>>()
    };
    let args = [
        Arg::Local(16),
        Arg::Buffer(bytes(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])),
        Arg::Value(5i32.to_ne_bytes().to_vec()),
        Arg::Buffer(vec![0; 4]),
    ];
    let found = run(source, "reverse", &args, (8, 4));
    // 0 + (0+1) + (0+1+2) + (0+1+2+3+4), without the fourth round.
    let expected = [3.0, 2.0, 1.0, 0.0, 7.0, 6.0, 5.0, 4.0].map(|x| x + 14.0);
    assert_eq!(found[0], bytes(&expected));
    assert_eq!(found[1], 8i32.to_ne_bytes());
}

/// What is near a module for Vulkan is compiled or refused.
#[test]
fn mutated_modules_for_vulkan_never_panic() {
    let corpus = judge::vulkan_modules(MUTATED_FROM);
    let (mut compiled, mut refused) = (0, 0);
    for seed in (1..MUTATED).filter(|seed| !seed.is_multiple_of(mutate::BUILT)) {
        match mutate::survives(&mutate::module(&corpus, seed)) {
            Ok(mutate::Fate::Compiled) => compiled += 1,
            Ok(mutate::Fate::Refused) => refused += 1,
            Err(why) => panic!("module {seed}: {why}"),
        }
    }
    assert!(
        compiled > 20 && refused > 20,
        "{compiled} modules were accepted, {refused} were not"
    );
}

/// A member that is read by other types than it was written by.
#[test]
fn numbers_are_put_together_of_their_parts() {
    let source = "
        typedef union { short a[4]; ulong b; int d[2]; } U;
        kernel void k(global U *u, global ulong *out) {
            U v = { .d = { [1] = 0x60ad69c } };
            u[0] = v;
            u[1].b = 0x123456789abcdef0ul;
            out[0] = u[0].b;
            out[1] = u[1].d[1];
        }";
    let args = [Arg::Buffer(vec![0; 16]), Arg::Buffer(vec![0; 16])];
    let found = run(source, "k", &args, (1, 1));
    let bytes = |all: [u64; 2]| all.map(u64::to_ne_bytes).concat();
    assert_eq!(
        found[0],
        bytes([0x60a_d69c_0000_0000, 0x1234_5678_9abc_def0])
    );
    assert_eq!(found[1], bytes([0x60a_d69c_0000_0000, 0x1234_5678]));
}
