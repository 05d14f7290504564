//! What the driver makes of the compiler of OpenCL C: its device, its options, its logs. The
//! language itself is tested where the compiler is.

use super::*;
use crate::spirv::{self, op};

fn run(source: &str, headers: &[(&str, &str)], options: &str) -> Output {
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    let options = options::parse(options).unwrap();
    let device = crate::base::features::for_compiler();
    compile_for(source, &headers, &options, &device)
}

fn module(source: &str, options: &str) -> Vec<u32> {
    let output = run(source, &[], options);
    let words = output.spirv;
    words.unwrap_or_else(|| panic!("{source}: {}", output.log))
}

/// The log of a source that is wrong.
fn failure(source: &str, headers: &[(&str, &str)], options: &str) -> String {
    let output = run(source, headers, options);
    assert_eq!(output.spirv, None, "{source}");
    output.log
}

fn strings(words: &[u32]) -> Vec<String> {
    spirv::instructions(words)
        .filter(|(opcode, _)| *opcode == op::STRING)
        .map(|(_, inst)| spirv::string(&inst[1..]))
        .collect()
}

#[test]
fn diagnostics_name_the_source_the_line_and_the_column() {
    let log = failure("kernel void k(global int *a) {\n  *a = b;\n}\n", &[], "");
    assert!(log.starts_with("kernel.cl:2:8: error:"), "{log}");
    let warned = "#warning look\nkernel void k() {}";
    let output = run(warned, &[], "");
    assert!(output.spirv.is_some());
    assert!(output.log.starts_with("kernel.cl:1:2: warning:"));
    assert_eq!(run(warned, &[], "-w").log, "");
    let log = failure(warned, &[], "-Werror");
    assert!(log.starts_with("kernel.cl:1:2: error:"), "{log}");
}

#[test]
fn macros_are_what_the_device_and_the_options_say() {
    for (condition, options) in [
        ("__OPENCL_C_VERSION__ == 120", ""),
        ("__OPENCL_C_VERSION__ == 110", "-cl-std=CL1.1"),
        ("__OPENCL_C_VERSION__ == 300", "-cl-std=CL3.0"),
        ("__OPENCL_C_VERSION__ == 310", "-cl-std=CL3.1"),
        ("__OPENCL_VERSION__ == 310 && CL_VERSION_3_1 == 310", ""),
        ("defined(cl_khr_fp64) && defined(__ROUNDING_MODE__)", ""),
        ("!defined(__opencl_c_fp64)", ""),
        ("__opencl_c_fp64 && __opencl_c_pipes", "-cl-std=CL3.0"),
        ("defined(__IMAGE_SUPPORT__)", ""),
        ("defined(__opencl_c_images)", "-cl-std=CL3.1"),
        ("defined(__FAST_RELAXED_MATH__)", "-cl-fast-relaxed-math"),
        ("!defined(__FAST_RELAXED_MATH__)", ""),
        ("A == 1 && B == 7", "-DA -D B=7"),
    ] {
        let source = format!("#if !({condition})\n#error wrong\n#endif\nkernel void k() {{}}");
        module(&source, options);
    }
}

/// OpenCL API Specification, "CL_DEVICE_OPENCL_C_FEATURES": what a program may test for is what the
/// query lists.
#[test]
fn listed_features_are_macros_of_both_versions_that_have_them() {
    let device = crate::base::features::for_compiler();
    for feature in device.features.iter().chain(&device.extensions) {
        let source = format!("#ifndef {feature}\n#error missing\n#endif\nkernel void k() {{}}");
        for options in ["-cl-std=CL3.0", "-cl-std=CL3.1"] {
            module(&source, options);
        }
    }
}

/// OpenCL C Specification, "Features": what version 2.0 requires, 3.0 makes optional.
#[test]
fn version_2_0_has_what_version_3_0_makes_optional() {
    let source = "
        global atomic_int count = ATOMIC_VAR_INIT(0);
        int through(int *any) { return *any; }
        kernel void k(read_write image2d_t image, write_only image3d_t deep, read_only pipe int p,
                      global int *out, global double *wide) {
            int private_one = 1, packet = 0;
            atomic_store_explicit(&count, 1, memory_order_seq_cst, memory_scope_all_svm_devices);
            out[0] = through(&private_one) + through(out) + read_pipe(p, &packet);
            out[1] = work_group_reduce_add(out[2]) + sub_group_reduce_add(out[3]);
            write_imagei(image, (int2)(0), read_imagei(image, (int2)(1)));
            write_imagef(deep, (int4)(0), (float4)(1.0f));
            wide[0] *= 2.0;
            enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ out[4] = 1; });
        }";
    module(source, "-cl-std=CL2.0");
}

#[test]
fn embedded_headers_are_found_by_name_and_folder() {
    let source =
        "#include \"a.h\"\n#include <sub/b.h>\nkernel void k(global int *p) { *p = A + B; }";
    let headers = [
        ("a.h", "#include \"sub/b.h\"\n#define A 1\n"),
        ("sub/b.h", "#pragma once\n#define B 2\n"),
    ];
    let output = run(source, &headers, "");
    assert!(output.spirv.is_some(), "{}", output.log);
    let log = failure(source, &headers[..1], "");
    assert!(log.contains("'sub/b.h' file not found"), "{log}");
    let log = failure(source, &[("a.h", "int x = ;\n"), ("sub/b.h", "")], "");
    assert!(log.contains("a.h:1:9: error:"), "{log}");
}

#[test]
fn embedded_headers_come_before_directories() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("a.h"), "#define A 1\n").unwrap();
    std::fs::write(home.path().join("b.h"), "#define B 1\n").unwrap();
    let source = "#include <a.h>\n#include <b.h>\n#if A != 2 || B != 1\n#error order\n#endif\n";
    let options = format!("-I \"{}\"", home.path().display());
    let output = run(source, &[("a.h", "#define A 2\n")], &options);
    assert!(output.spirv.is_some(), "{}", output.log);
}

#[test]
fn files_on_disk_are_read_anew() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("value.h");
    let source = "#include \"value.h\"\n#if VALUE != 1\n#error other value\n#endif\n";
    let options = format!("-I{}", home.path().display());
    std::fs::write(&path, "#define VALUE 1\n").unwrap();
    module(source, &options);
    std::fs::write(&path, "#define VALUE 2\n").unwrap();
    assert!(failure(source, &[], &options).contains("other value"));
}

#[test]
fn argument_types_are_in_the_module_if_asked_for() {
    let source = "typedef float4 colour; struct s { int a; };
        kernel void k(global const colour *restrict a, volatile local uint *b,
                      struct s c, unsigned long d) {}";
    let all = strings(&module(source, "-cl-kernel-arg-info"));
    for wanted in [
        "kernel_arg_type.k.colour*,uint*,struct s,ulong,",
        "kernel_arg_type_qual.k.restrict const,volatile,,,",
    ] {
        assert!(all.iter().any(|text| text == wanted), "{all:?}");
    }
    assert_eq!(strings(&module(source, "")), Vec::<String>::new());
}

#[test]
fn options_are_taken_without_a_word() {
    let source = "kernel void k(global float *a) { a[0] = a[1] * a[2] + 1.0 + sqrt(a[3]) / a[4]; }";
    for options in [
        "-cl-opt-disable",
        "-cl-fast-relaxed-math",
        "-cl-unsafe-math-optimizations -cl-denorms-are-zero",
        "-cl-finite-math-only -cl-no-signed-zeros -cl-mad-enable",
        "-cl-single-precision-constant -cl-fp32-correctly-rounded-divide-sqrt",
        "-cl-std=CL2.0 -cl-uniform-work-group-size -cl-no-subgroup-ifp -g -cl-strict-aliasing",
    ] {
        let output = run(source, &[], options);
        assert!(output.spirv.is_some());
        assert_eq!(output.log, "", "{options}");
    }
}

#[test]
fn debug_information_is_source_lines() {
    let source = "kernel void k(global int *a) {\n  int x = a[1];\n\n  a[0] = x / 3;\n}";
    let lines = |options: &str| -> Vec<u32> {
        let words = module(source, options);
        let lines = spirv::instructions(&words).filter(|(opcode, _)| *opcode == op::LINE);
        lines.map(|(_, inst)| inst[1]).collect()
    };
    assert_eq!(lines(""), Vec::<u32>::new());
    for options in ["-g", "-cl-brolga-remarks"] {
        let with = lines(options);
        assert!(with.contains(&2) && with.contains(&4), "{with:?}");
        let strings = strings(&module(source, options));
        assert!(strings.iter().any(|text| text == "kernel.cl"));
    }
}

#[test]
fn hostile_sources_are_errors() {
    for source in [
        "#include \"/no/such/file.h\"",
        "#include \"/\"",
        "#define A A A\nkernel void k() { A }",
        "\u{feff}\u{202e}é kernel \u{1}\u{7f}",
        &"(".repeat(100_000),
        "kernel void k(global int *a) { no_such_function(a); }",
    ] {
        assert!(failure(source, &[], "").contains("error:"));
    }
    // An empty program is a program.
    module("", "");
}
