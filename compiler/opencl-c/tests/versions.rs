//! What each version of OpenCL C has, and what each optional feature brings: the tables are the
//! specification's ("Features", "Predefined Macros", "Changes to OpenCL" of the API
//! specification), not the compiler's.

use brolga_opencl_c::options::FEATURES;
use brolga_opencl_c::{Device, Input, Options, Std, check, preprocess};

const VERSIONS: [Std; 6] = [Std::C10, Std::C11, Std::C12, Std::C20, Std::C30, Std::C31];

/// The log of a refusal; `None` if the source is accepted.
fn refusal(std: Std, device: &Device, source: &str) -> Option<String> {
    let input = Input {
        name: "t.cl",
        source,
        headers: &[],
    };
    let options = Options {
        std,
        ..Options::default()
    };
    let checked = check(&input, &options, device);
    checked.module.is_none().then_some(checked.log)
}

/// A device that lacks some of everything.
fn without(names: &[&str]) -> Device {
    let mut device = Device::full();
    let lacks = |name: &String| !names.contains(&name.as_str());
    device.features.retain(lacks);
    device.extensions.retain(lacks);
    device
}

/// A device of the full profile without anything that is optional.
fn plain() -> Device {
    Device {
        version: 310,
        extensions: Vec::new(),
        features: vec!["__opencl_c_int64".to_owned()],
    }
}

fn verdicts(failures: Vec<String>) {
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// Sources with the version from which on they are programs, on a device that has everything.
const SINCE: &[(Std, &str)] = &[
    // "Work-Item Functions"
    (
        Std::C10,
        "kernel void k(global ulong *p) { *p = get_global_id(0) + get_work_dim(); }",
    ),
    (
        Std::C11,
        "kernel void k(global ulong *p) { *p = get_global_offset(0); }",
    ),
    (
        Std::C20,
        "kernel void k(global ulong *p) { *p = get_global_linear_id(); }",
    ),
    (
        Std::C20,
        "kernel void k(global ulong *p) { *p = get_local_linear_id(); }",
    ),
    (
        Std::C20,
        "kernel void k(global ulong *p) { *p = get_enqueued_local_size(0); }",
    ),
    (
        Std::C20,
        "kernel void k(global ulong *p) { *p = get_enqueued_num_sub_groups(); }",
    ),
    // "Integer Functions"
    (
        Std::C10,
        "kernel void k(global uint *p) { *p = clz(*p) + mul_hi(*p, 3u) + rotate(*p, 3u); }",
    ),
    (
        Std::C12,
        "kernel void k(global uint *p) { *p = popcount(*p); }",
    ),
    (Std::C20, "kernel void k(global uint *p) { *p = ctz(*p); }"),
    // "Atomic Functions", "Legacy Atomic Functions"
    (
        Std::C11,
        "kernel void k(global int *p) { atomic_add(p, 1); atomic_cmpxchg(p, 1, 2); }",
    ),
    (
        Std::C20,
        "kernel void k(global atomic_int *p) { atomic_fetch_add(p, 1); }",
    ),
    (
        Std::C20,
        "kernel void k(global atomic_int *p) {
           atomic_store_explicit(p, 1, memory_order_relaxed, memory_scope_work_group);
         }",
    ),
    (
        Std::C20,
        "global atomic_flag flag; kernel void k() { atomic_flag_clear(&flag); }",
    ),
    (
        Std::C20,
        "kernel void k() { atomic_work_item_fence(CLK_LOCAL_MEM_FENCE,
                                                         memory_order_acquire,
                                                         memory_scope_work_group); }",
    ),
    // "Synchronization Functions"
    (
        Std::C10,
        "kernel void k() { barrier(CLK_LOCAL_MEM_FENCE); mem_fence(CLK_GLOBAL_MEM_FENCE); }",
    ),
    (
        Std::C20,
        "kernel void k() { work_group_barrier(CLK_LOCAL_MEM_FENCE); }",
    ),
    (
        Std::C20,
        "kernel void k() { work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group); }",
    ),
    // "printf"
    (Std::C12, "kernel void k() { printf(\"%d\\n\", 1); }"),
    // "Work-group Collective Functions"
    (
        Std::C20,
        "kernel void k(global int *p) { *p = work_group_reduce_add(*p); }",
    ),
    (
        Std::C20,
        "kernel void k(global int *p) { *p = work_group_all(*p); }",
    ),
    // "Address Space Qualifiers": program scope, pointers to the generic address space.
    (
        Std::C10,
        "constant int one = 1; kernel void k(global int *p) { *p = one; }",
    ),
    (Std::C20, "global int count; kernel void k() { count = 1; }"),
    (Std::C20, "int count = 3; kernel void k() { count = 1; }"),
    (
        Std::C20,
        "kernel void k() { static global int calls; ++calls; }",
    ),
    (
        Std::C20,
        "void f(int *p) { *p = 1; } kernel void k(global int *p) { f(p); }",
    ),
    (
        Std::C20,
        "kernel void k(global int *p) { global int *q = to_global((generic int *)p); }",
    ),
    (
        Std::C20,
        "kernel void k(global int *p) { cl_mem_fence_flags f = get_fence((int *)p); }",
    ),
    // "Storage-Class Specifiers": `static` and `extern` at program scope.
    (
        Std::C12,
        "static constant int one = 1; kernel void k(global int *p) { *p = one; }",
    ),
    (
        Std::C12,
        "extern constant int one; kernel void k(global int *p) { *p = one; }",
    ),
    // "Operators": relational ones of floating-point operands yield integers, logical ones take
    // them since 1.2.
    (
        Std::C12,
        "kernel void k(global float *p, global int *q) { *q = !p[0] || p[1]; }",
    ),
    // "Blocks", "Enqueuing Kernels"
    (
        Std::C20,
        "kernel void k(global int *p) { void (^b)(void) = ^{ *p = 1; }; b(); }",
    ),
    (
        Std::C20,
        "kernel void k(global int *p) {
           enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1),
                          ^{ *p = 1; });
         }",
    ),
    (
        Std::C20,
        "kernel void k(queue_t q) { clk_event_t e = create_user_event(); }",
    ),
    // "Pipe Functions"
    (
        Std::C20,
        "kernel void k(read_only pipe int in, global int *p) { read_pipe(in, p); }",
    ),
    (
        Std::C20,
        "kernel void k(write_only pipe int out) { reserve_id_t r = reserve_write_pipe(out, 1); }",
    ),
    // "Image Functions"
    (
        Std::C10,
        "kernel void k(read_only image2d_t i, sampler_t s, global float4 *p) {
           *p = read_imagef(i, s, (float2)(0));
         }",
    ),
    (
        Std::C12,
        "kernel void k(read_only image2d_t i, global float4 *p) { *p = read_imagef(i, (int2)(0)); }",
    ),
    (
        Std::C12,
        "kernel void k(read_only image2d_array_t i, global ulong *p) {
           *p = get_image_array_size(i);
         }",
    ),
    (
        Std::C20,
        "kernel void k(read_write image2d_t i) { write_imagef(i, (int2)(0), (float4)(0)); }",
    ),
    // "Restrictions" of kernels' arguments.
    (
        Std::C20,
        "kernel void k(global int *global *p) { **p = 1; }",
    ),
    (
        Std::C20,
        "struct s { global int *p; }; kernel void k(struct s a) { *a.p = 1; }",
    ),
    // "Optional Attribute Qualifiers"
    (
        Std::C10,
        "kernel __attribute__((reqd_work_group_size(1, 1, 1))) void k() {}",
    ),
    (
        Std::C20,
        "kernel void k(global int *p) { __attribute__((nosvm)) global int *q = p; }",
    ),
    // "Constant Qualifiers" of macros.
    (
        Std::C20,
        "kernel void k() { global atomic_int *p; } global atomic_int a = ATOMIC_VAR_INIT(1);",
    ),
    // Names of types that came with 2.0 were free before.
    (
        Std::C10,
        "kernel void k(global int *out) { int a = *out; *out = a; }",
    ),
];

/// What was in the language up to a version.
const BEFORE: &[(Std, &str)] = &[
    (
        Std::C20,
        "typedef int queue_t; kernel void k(global queue_t *p) { *p = 1; }",
    ),
    (
        Std::C20,
        "kernel void k(global int *p) { int pipe = 1; *p = pipe; }",
    ),
    (
        Std::C20,
        "kernel void k(global int *p) { int generic = 1; *p = generic; }",
    ),
    (
        Std::C20,
        "typedef int atomic_int; kernel void k(global atomic_int *p) { *p = 1; }",
    ),
];

#[test]
fn versions_have_what_came_with_them() {
    let mut failures = Vec::new();
    let device = Device::full();
    let since = SINCE.iter().map(|&(from, source)| (from, None, source));
    let before = BEFORE
        .iter()
        .map(|&(to, source)| (Std::C10, Some(to), source));
    for (from, to, source) in since.chain(before) {
        for std in VERSIONS {
            let expected = std >= from && to.is_none_or(|to| std < to);
            match (expected, refusal(std, &device, source)) {
                (true, Some(log)) => failures.push(format!("{std} refuses {source}\n{log}")),
                (false, None) => failures.push(format!("{std} accepts {source}")),
                _ => {}
            }
        }
    }
    verdicts(failures);
}

/// Optional features: what needs them, and whether OpenCL C 2.0 has it all the same.
const FEATURE_SOURCES: &[(&str, bool, &str)] = &[
    (
        "__opencl_c_generic_address_space",
        true,
        "void f(int *p) { *p = 1; } kernel void k(global int *p) { f(p); }",
    ),
    (
        "__opencl_c_program_scope_global_variables",
        true,
        "global int n; kernel void k() { n = 1; }",
    ),
    (
        "__opencl_c_program_scope_global_variables",
        true,
        "kernel void k() { static global int n; ++n; }",
    ),
    (
        "__opencl_c_pipes",
        true,
        "kernel void k(read_only pipe int in, global int *p) { read_pipe(in, p); }",
    ),
    (
        "__opencl_c_work_group_collective_functions",
        true,
        "kernel void k(global int *p) { *p = work_group_broadcast(*p, 0); }",
    ),
    (
        "__opencl_c_device_enqueue",
        true,
        "kernel void k(global int *p) {
           enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1),
                          ^{ *p = 1; });
         }",
    ),
    (
        "__opencl_c_atomic_order_seq_cst",
        true,
        "kernel void k(global atomic_int *p) { atomic_store(p, 1); }",
    ),
    (
        "__opencl_c_read_write_images",
        false,
        "kernel void k(read_write image2d_t i) { write_imagef(i, (int2)(0), (float4)(0)); }",
    ),
    (
        "__opencl_c_images",
        false,
        "kernel void k(read_only image2d_t i, global int *p) { *p = get_image_width(i); }",
    ),
];

#[test]
fn features_bring_what_the_specification_says() {
    let mut failures = Vec::new();
    for &(feature, in_2_0, source) in FEATURE_SOURCES {
        let lacking = without(&[feature]);
        for std in [Std::C30, Std::C31] {
            if let Some(log) = refusal(std, &Device::full(), source) {
                failures.push(format!("{std} with {feature} refuses {source}\n{log}"));
            }
            if refusal(std, &lacking, source).is_none() {
                failures.push(format!("{std} without {feature} accepts {source}"));
            }
        }
        if in_2_0 && let Some(log) = refusal(Std::C20, &lacking, source) {
            failures.push(format!("CL2.0 refuses {source}\n{log}"));
        }
    }
    verdicts(failures);
}

/// OpenCL C 3.1 has what was extensions before.
#[test]
fn extensions_that_became_core() {
    let mut sub_groups = plain();
    sub_groups.features.push("__opencl_c_subgroups".to_owned());
    let mut products = plain();
    for how in ["", "_packed"] {
        let feature = format!("__opencl_c_integer_dot_product_input_4x8bit{how}");
        products.features.push(feature);
    }
    let all: &[(&Device, &str)] = &[
        (
            &plain(),
            "kernel void k(global uint *p) { *p = bit_reverse(p[1]); }",
        ),
        (
            &plain(),
            "kernel void k(global uint *p) { *p = bitfield_insert(p[1], p[2], 3u, 4u); }",
        ),
        (
            &plain(),
            "kernel void k(global int *p) { *p = bitfield_extract_signed(p[1], 3u, 4u); }",
        ),
        (
            &sub_groups,
            "kernel void k(global int *p) { *p = sub_group_shuffle(p[1], 2u); }",
        ),
        (
            &sub_groups,
            "kernel void k(global int *p) { *p = sub_group_shuffle_xor(p[1], 2u); }",
        ),
        (
            &sub_groups,
            "kernel void k(global int *p) { *p = sub_group_shuffle_up(p[1], 2u); }",
        ),
        (
            &sub_groups,
            "kernel void k(global int *p) { *p = sub_group_rotate(p[1], 2); }",
        ),
    ];
    let mut failures = Vec::new();
    for &(device, source) in all {
        if let Some(log) = refusal(Std::C31, device, source) {
            failures.push(format!("CL3.1 refuses {source}\n{log}"));
        }
        if refusal(Std::C30, device, source).is_none() {
            failures.push(format!("CL3.0 without the extension accepts {source}"));
        }
    }
    verdicts(failures);
}

/// What text becomes.
fn expanded(std: Std, device: &Device, text: &str) -> String {
    let input = Input {
        name: "t.cl",
        source: text,
        headers: &[],
    };
    let options = Options {
        std,
        ..Options::default()
    };
    let (text, log) = preprocess(&input, &options, device, false);
    let text = text.unwrap_or_else(|| panic!("{log}"));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// "Predefined Macros", "Numerical Compliance" of OpenCL C.
#[test]
fn macros_say_the_version() {
    let device = Device::full();
    let numbers = [100, 110, 120, 200, 300, 310];
    for (std, number) in VERSIONS.into_iter().zip(numbers) {
        let of = |text: &str| expanded(std, &device, text);
        assert_eq!(of("__OPENCL_C_VERSION__"), number.to_string());
        assert_eq!(of("__OPENCL_VERSION__"), "310");
        assert_eq!(
            of("CL_VERSION_1_0 CL_VERSION_1_1 CL_VERSION_1_2"),
            "100 110 120"
        );
        assert_eq!(of("CL_VERSION_2_0 CL_VERSION_3_0"), "200 300");
        assert_eq!(of("__ENDIAN_LITTLE__ __IMAGE_SUPPORT__"), "1 1");
        let is_new = std >= Std::C20;
        let of_2_0 = [
            "ATOMIC_FLAG_INIT",
            "CLK_NULL_QUEUE",
            "CLK_ENQUEUE_FLAGS_NO_WAIT",
        ];
        for name in of_2_0
            .into_iter()
            .chain(["CLK_SUCCESS", "CLK_sRGBA", "MAX_WORK_DIM"])
        {
            assert_eq!(of(name) != name, is_new, "{name} in {std}");
        }
    }
    assert_eq!(expanded(Std::C31, &device, "CL_VERSION_3_1"), "310");
}

/// "Features": OpenCL C 3.0 and newer define a macro for each feature that there is.
#[test]
fn macros_say_the_features() {
    for &feature in FEATURES {
        for std in [Std::C30, Std::C31] {
            assert_eq!(
                expanded(std, &Device::full(), feature),
                "1",
                "{feature} in {std}"
            );
            assert_eq!(
                expanded(std, &without(&[feature]), feature),
                feature,
                "{feature} in {std}"
            );
        }
        for std in [Std::C10, Std::C11, Std::C12] {
            let extension = feature.contains("_ext_")
                || feature.contains("dot_product")
                || feature.contains("kernel_clock");
            if !extension {
                assert_eq!(
                    expanded(std, &Device::full(), feature),
                    feature,
                    "{feature} in {std}"
                );
            }
        }
    }
}

/// Types and keywords that no version lacks.
#[test]
fn every_version_has_the_common_language() {
    let source = "
        struct s { int a; float4 b; };
        constant sampler_t sampler = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST;
        inline float f(float4 v) { return v.xyzw.s0 + dot(v, v.wzyx) + v.hi.even; }
        kernel __attribute__((work_group_size_hint(1, 1, 1)))
        void k(global struct s *p, local uchar16 *l, constant long *c, float x) {
          private int i = as_int(x) + convert_int_sat_rte(x) + isnan(x);
          event_t e = async_work_group_copy(l, (global uchar16 *)p, 4, 0);
          wait_group_events(1, &e);
          p->b = select(p->b, vload4(0, (global float *)p), isless(p->b, (float4)(x)));
          p->a = i + (int)f(p->b) + mad24(i, 3, 4) + any(p->b > 1.0f) + (int)native_sin(x);
          vstore_half(x, 0, (global half *)p);
          switch (i) { case 1: break; default: prefetch((global int *)p, 1); }
        }";
    let mut failures = Vec::new();
    for std in VERSIONS {
        for device in [
            Device::full(),
            without(&["__opencl_c_generic_address_space"]),
        ] {
            failures.extend(refusal(std, &device, source));
        }
    }
    verdicts(failures);
}
