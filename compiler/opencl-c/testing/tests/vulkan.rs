//! Random programs compiled for Vulkan: each module is valid, and computes what the program does
//! as C, once it is a kernel again and on Mesa's software implementation of Vulkan.

use brolga_compiler::image::{ChannelOrder, DataType, Extent, Format};
use brolga_compiler_testing::engines::{Arg, Engine, Image};
use brolga_compiler_testing::modules::mutate;
use brolga_compiler_testing::validator::validate;
use brolga_opencl_c::vulkan::{Compiled, GlobalOffset, Pods, Target, compile_for_vulkan};
use brolga_opencl_c::{Device, Input, Options, Std};
use brolga_opencl_c_testing::choices::Choices;
use brolga_opencl_c_testing::lavapipe::Lavapipe;
use brolga_opencl_c_testing::oracle::Contents;
use brolga_opencl_c_testing::programs::{Program, program};
use brolga_opencl_c_testing::{judge, oracle};

const PROGRAMS: u64 = 80;
/// Mutated modules, and of how many programs they are made.
const MUTATED: u64 = 300;
const MUTATED_FROM: u64 = 60;

fn compiled(source: &str, std: Std) -> Compiled {
    compiled_for(source, std, &judge::device_target())
}

fn compiled_for(source: &str, std: Std, target: &Target) -> Compiled {
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
    compile_for_vulkan(&input, &options, &Device::full(), target)
}

/// What a kernel of a source leaves in its buffers there.
fn run(source: &str, kernel: &str, args: &[Arg], sizes: (u32, u32)) -> Contents {
    let module = compiled(source, Std::C12);
    let words = module.words.as_deref();
    let words = words.unwrap_or_else(|| panic!("{}", module.log));
    validate(words, "vulkan1.3").unwrap();
    let device = Lavapipe::open().expect("an implementation of Vulkan");
    device.run((words, kernel), args, sizes).unwrap().buffers
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
        match judge::judge_on_device(&device, program, &module, expected) {
            Ok(asked) => on_device += u64::from(asked),
            Err(why) => panic!("{}: {why}\n{text}", program.prefix),
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

fn ints(all: &[i32]) -> Vec<u8> {
    all.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Pointer arithmetic goes on from one vector of an array to the next, and no index leaves a
/// vector.
#[test]
fn components_of_vectors_are_gone_through() {
    let source = "
        kernel void components(global int *out, int i, int n) {
            int4 v[2] = {(int4)(1, 2, 3, 4), (int4)(5, 6, 7, 8)};
            v[i] += 1;
            int *p = (int *)v;
            int sum = 0;
            for (int j = 0; j < n; j++) sum = sum * 3 + p[j];
            out[0] = sum;
        }";
    let args = [
        Arg::Buffer(vec![0; 4]),
        Arg::Value(ints(&[0])),
        Arg::Value(ints(&[8])),
    ];
    let found = run(source, "components", &args, (1, 1));
    let numbers = [2, 3, 4, 5, 5, 6, 7, 8];
    let sum = numbers.iter().fold(0, |sum, number| sum * 3 + number);
    assert_eq!(found, [ints(&[sum])]);
}

/// The same of arrays of arrays, by themselves and in a structure.
#[test]
fn rows_are_gone_through_by_a_pointer() {
    let source = "
        kernel void rows(global int *out, int i, int n) {
            int rows[5][2];
            for (int j = 0; j < 5; j++) {
                rows[j][0] = 2 * j + 1;
                rows[j][1] = 2 * j + 2;
            }
            rows[i][1] += 100;
            int *p = &rows[0][0];
            int sum = 0;
            for (int j = 0; j < n; j++) sum = sum * 3 + p[j];
            out[0] = sum;
            struct { char c; int m[3][2]; } s;
            s.c = n;
            for (int j = 0; j < 3; j++) {
                s.m[j][0] = 2 * j + 1;
                s.m[j][1] = 2 * j + 2;
            }
            s.m[i][i] += 10;
            p = &s.m[0][0];
            for (int j = 0; j < n - 4; j++) out[1 + j] = p[j] + s.c;
        }";
    let args = [
        Arg::Buffer(vec![0; 28]),
        Arg::Value(ints(&[1])),
        Arg::Value(ints(&[10])),
    ];
    let found = run(source, "rows", &args, (1, 1));
    let numbers = [1, 2, 3, 104, 5, 6, 7, 8, 9, 10];
    let sum = numbers.iter().fold(0, |sum, number| sum * 3 + number);
    assert_eq!(found, [ints(&[sum, 11, 12, 13, 24, 15, 16])]);
}

/// A structure with a wide vector in it is not taken apart into bytes.
#[test]
fn structures_of_wide_vectors_stay_what_they_are() {
    let source = "
        typedef struct { uchar a[4]; ulong b[2]; long16 c; } S;
        kernel void wide(global ulong *out, global S *all) {
            S s = { { 1, 2, 3, 4 }, { 5, 6 }, (long16)(7) };
            s.c.s3 = get_local_size(0);
            all[1] = s;
            all[0] = all[1];
            out[0] = all[0].a[2] + 10 * all[0].b[1] + 100 * all[1].c.s3 + 1000 * all[0].c.sf;
        }";
    let args = [Arg::Buffer(vec![0; 8]), Arg::Buffer(vec![0; 512])];
    let found = run(source, "wide", &args, (1, 1));
    assert_eq!(found[0], 7163u64.to_le_bytes());
    let mut one = vec![0; 256];
    one[..4].copy_from_slice(&[1, 2, 3, 4]);
    (one[8], one[16]) = (5, 6);
    for lane in 0..16 {
        one[128 + 8 * lane] = if lane == 3 { 1 } else { 7 };
    }
    assert_eq!(found[1], [&one[..], &one].concat());
    let words = compiled(source, Std::C12).words.unwrap_or_default();
    assert!(words.len() < 4000, "{} words", words.len());
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

/// An image of floats of two dimensions, or three, whose components are numbered.
fn image(extent: Extent, first: f32) -> Arg {
    let texels = extent.width * extent.height * extent.depth * extent.layers;
    let components = (0..4 * texels).map(|number| first + number as f32);
    let row = 16 * u64::from(extent.width);
    Arg::Image(Image {
        extent,
        pitches: (row, row * u64::from(extent.height)),
        format: Format::new(ChannelOrder::Rgba, DataType::Float).expect("a format"),
        levels: 1,
        texels: components.flat_map(f32::to_le_bytes).collect(),
    })
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

/// Images are fetched, sampled by samplers of both kinds and written, and asked for what they are.
#[test]
fn images_run_on_an_implementation_of_vulkan() {
    let source = "
        constant sampler_t own =
            CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_NEAREST;
        kernel void images(read_only image2d_t from, sampler_t s, write_only image2d_t to,
                           read_only image2d_array_t layers, read_only image3d_t cube,
                           global int *sizes) {
            int i = get_global_id(0);
            int2 at = (int2)(i % 4, i / 4);
            float2 middle = (convert_float2(at) + 0.5f) * 0.25f;
            float4 sum = read_imagef(from, at) + read_imagef(from, own, middle + 1.0f);
            sum += read_imagef(layers, (int4)(at, 1, 0)) * 1000.0f;
            sum.x += read_imagef(cube, (int4)(0, 0, 1, 0)).y * 0.5f;
            // Between the first two texels of a row, or at the edge.
            sum.w = read_imagef(from, s, (float2)(0.25f, middle.y)).w;
            write_imagef(to, at, sum);
            if (i == 0) {
                sizes[0] = get_image_width(from);
                sizes[1] = get_image_dim(layers).y;
                sizes[2] = get_image_depth(cube);
                sizes[3] = get_image_channel_order(from);
                sizes[4] = get_image_channel_data_type(to);
            }
        }";
    let extent = |width, height, depth, layers| Extent {
        width,
        height,
        depth,
        layers,
    };
    // Normalized coordinates, clamped to the edge, linear.
    const LINEAR: u32 = 1 | 2 | 0x20;
    let args = [
        image(extent(4, 4, 1, 1), 0.0),
        Arg::Sampler(LINEAR),
        image(extent(4, 4, 1, 1), 0.0),
        image(extent(4, 4, 1, 2), 0.0),
        image(extent(2, 2, 2, 1), 0.0),
        Arg::Buffer(vec![0; 20]),
    ];
    let found = run(source, "images", &args, (16, 4));
    let texels = floats(&found[1]);
    for i in 0..16 {
        let texel = |component: usize| (4 * i + component) as f32;
        // What is in the second layer is 64 more, in the second plane 16.
        let of_layer = |component| (64.0 + texel(component)) * 1000.0;
        let row = (16 * (i / 4)) as f32;
        let wanted = [
            2.0 * texel(0) + of_layer(0) + 17.0 * 0.5,
            2.0 * texel(1) + of_layer(1),
            2.0 * texel(2) + of_layer(2),
            row + 3.0 + 2.0,
        ];
        assert_eq!(texels[4 * i..4 * i + 4], wanted, "texel {i}");
    }
    // `CLK_RGBA` and `CLK_FLOAT`.
    assert_eq!(found[4], ints(&[4, 4, 2, 0x10b5, 0x10de]));
}

#[test]
fn kernels_print_on_an_implementation_of_vulkan() {
    let source = "
        kernel void print(global int *data) {
            int i = get_global_id(0);
            if (i % 2 == 0) printf(\"%d of %s: %v2hd\", data[i], \"data\", (short2)(i, -1));
            if (i == 3) printf(\"%f\", 0.5);
        }";
    let module = compiled(source, Std::C12);
    let words = module.words.unwrap_or_else(|| panic!("{}", module.log));
    validate(&words, "vulkan1.3").unwrap();
    let device = Lavapipe::open().expect("an implementation of Vulkan");
    let args = [Arg::Buffer(ints(&[10, 11, 12, 13]))];
    let mut found = device.run((&words, "print"), &args, (4, 2)).unwrap();
    found.printed.sort();
    let [first, second, third] = &found.printed[..] else {
        panic!("{:?}", found.printed);
    };
    let [low, high] = [0.5f64.to_bits() as u32, (0.5f64.to_bits() >> 32) as u32];
    assert_eq!(*third, ("%f".to_owned(), vec![low, high]));
    for (call, number, pair) in [(first, 10, 0xffff_0000), (second, 12, 0xffff_0002)] {
        assert_eq!(call.0, "%d of %s: %v2hd");
        // The second one is the number of the string.
        assert_eq!([call.1[0], call.1[2]], [number, pair]);
    }
}

/// Arguments passed by value in all places, the global offset, constants and variables of the
/// program in buffers.
#[test]
fn all_that_a_host_binds_is_bound() {
    let source = "
        constant int numbers[3] = {1, 20, 300};
        global int counter = 4000;
        kernel void bound(global int *out, int n, constant int4 *wide, local int *room, short s,
                          int2 pair) {
            size_t i = get_global_id(0), l = get_local_id(0);
            room[l] = numbers[(i + n) % 3];
            barrier(CLK_LOCAL_MEM_FENCE);
            int sum = room[get_local_size(0) - 1 - l] + wide[n].y + s + pair.y;
            out[i] = sum + atomic_add(&counter, 0) + get_global_offset(0) + get_work_dim();
        }";
    let wide = ints(&[0, 0, 0, 0, 0, 50_000, 0, 0]);
    let value = |number: i32| Arg::Value(ints(&[number]));
    let args = [
        Arg::Buffer(vec![0; 16]),
        value(1),
        Arg::Buffer(wide),
        Arg::Local(8),
        Arg::Value(600i16.to_le_bytes().to_vec()),
        Arg::Value(ints(&[0, 7])),
    ];
    let numbers = [1, 20, 300];
    let wanted: Vec<i32> = (0..4)
        .map(|i| numbers[((i ^ 1) + 1) % 3] + 50_000 + 600 + 7 + 4000 + 1)
        .collect();
    let device = Lavapipe::open().expect("an implementation of Vulkan");
    for (pods, cluster_pods, global_offset) in [
        (Pods::StorageBuffer, true, GlobalOffset::PushConstant),
        (Pods::StorageBuffer, false, GlobalOffset::SpecConstant),
        (Pods::Uniform, true, GlobalOffset::None),
        (Pods::Uniform, false, GlobalOffset::PushConstant),
        (Pods::PushConstant, true, GlobalOffset::SpecConstant),
    ] {
        for constants_in_buffer in [false, true] {
            let target = Target {
                pods,
                cluster_pods,
                global_offset,
                constants_in_buffer,
                constant_args_ubo: constants_in_buffer,
                distinct_sets: cluster_pods,
                ..judge::device_target()
            };
            let module = compiled_for(source, Std::C30, &target);
            let words = module.words.unwrap_or_else(|| panic!("{}", module.log));
            validate(&words, "vulkan1.3").unwrap();
            let found = device.run((&words, "bound"), &args, (4, 2)).unwrap();
            assert_eq!(found.buffers[0], ints(&wanted), "{target:?}");
        }
    }
}

/// `CL_KERNEL_ATTRIBUTES` of a kernel by way of Vulkan is that of the kernel itself.
#[test]
fn attributes_of_kernels_are_told() {
    let source = "
        kernel __attribute__((reqd_work_group_size(4, 2, 1))) void a(global int *out) { *out = 1; }
        kernel __attribute__((work_group_size_hint(8, 1, 1), vec_type_hint(uint4)))
        void b(global int *out) { *out = 2; }
        kernel __attribute__((vec_type_hint(float2))) void c(global int *out) { *out = 3; }
        kernel void d(global int *out) { *out = 4; }";
    let words = compiled(source, Std::C12).words.unwrap();
    let module = judge::translated(&words).unwrap();
    let infos = module.kernels.iter().map(|kernel| &kernel.info);
    let told: Vec<(&str, &str)> = infos.map(|info| (&*info.name, &*info.attributes)).collect();
    let wanted = [
        ("a", "reqd_work_group_size(4,2,1)"),
        ("b", "work_group_size_hint(8,1,1) vec_type_hint(uint4)"),
        ("c", "vec_type_hint(float2)"),
        ("d", ""),
    ];
    assert_eq!(told, wanted);
}
