//! These need `clang-15` and `llvm-spirv-15` (Debian packages of the same names) and say so where
//! they are missing.

use brolga_opencl_c::Device;
use brolga_runtime_testing::skip;

use super::*;
use crate::frontend::options;

/// Compiles; `None` where there is no compiler.
fn run(source: &str, headers: &[(&str, &str)], options: &str) -> Option<Output> {
    let tools = Tools::find().inspect_err(|missing| skip(missing));
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    let options = options::parse(options).unwrap();
    let device = crate::base::features::for_compiler();
    Some(translate(&tools.ok()?, source, &headers, &options, &device).unwrap())
}

fn module(source: &str, headers: &[(&str, &str)], options: &str) -> Option<Vec<u32>> {
    let output = run(source, headers, options)?;
    let words = output.spirv;
    Some(words.unwrap_or_else(|| panic!("{source}: {}", output.log)))
}

const TEMPLATE: &str = "template <typename T> T twice(T x) { return x + x; }
    kernel void k(global int *a) { *a = twice(*a); }";

#[test]
fn cpp_for_opencl_becomes_a_module() {
    for options in [
        "-cl-std=CLC++",
        "-cl-std=CLC++2021 -cl-fast-relaxed-math -g",
    ] {
        module(TEMPLATE, &[], options);
    }
}

#[test]
fn opencl_c_is_compared_in_its_newest_version() {
    let source = "#if __OPENCL_C_VERSION__ != 300
        #error version
        #endif
        kernel void k(global int *a) { *a = 1; }";
    module(source, &[], "-cl-std=CL3.1");
}

#[test]
fn embedded_headers_come_before_directories() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("a.h"), "#error the one on disk").unwrap();
    let source =
        "#include \"a.h\"\n#include <sub/b.h>\nkernel void k(global int *p) { *p = A + B; }";
    let headers = [
        ("a.h", "#include \"sub/b.h\"\n#define A 1\n"),
        ("sub/b.h", "#pragma once\n#define B 2\n"),
    ];
    let options = format!("-cl-std=CLC++ -I \"{}\"", home.path().display());
    module(source, &headers, &options);
    if let Some(output) = run(
        "#include \"bad.h\"",
        &[("bad.h", "int x = ;\n")],
        "-cl-std=CLC++",
    ) {
        assert!(output.log.contains("bad.h:1:9: error:"), "{}", output.log);
    }
}

#[test]
fn the_device_s_extensions_are_the_ones_there_are() {
    let source = "#if !defined(cl_khr_fp64) || !defined(cl_intel_subgroups)
        #error missing
        #endif
        #if defined(cl_khr_gl_sharing) || defined(cl_khr_select_fprounding_mode)
        #error of another device, or compiler
        #endif
        #ifndef __IMAGE_SUPPORT__
        #error no images
        #endif
        kernel void k(global double *a) { *a *= 2; }";
    module(source, &[], "-cl-std=CLC++2021");
}

#[test]
fn types_of_arguments_are_in_the_module() {
    let source = "kernel void k(global const float4 *__restrict a, unsigned b) {}";
    if let Some(words) = module(source, &[], "-cl-std=CLC++2021 -cl-kernel-arg-info") {
        let strings: Vec<String> = spirv::instructions(&words)
            .filter(|(opcode, _)| *opcode == spirv::op::STRING)
            .map(|(_, inst)| spirv::string(&inst[1..]))
            .collect();
        let wanted = "kernel_arg_type.k.float4*,uint,";
        assert!(strings.iter().any(|text| text == wanted), "{strings:?}");
    }
}

#[test]
fn what_is_wrong_is_in_the_log() {
    if let Some(output) = run("kernel void k() { b; }", &[], "-cl-std=CLC++") {
        assert_eq!(output.spirv, None);
        assert!(
            output.log.starts_with("kernel.cl:1:19: error:"),
            "{}",
            output.log
        );
    }
}

#[test]
fn a_compiler_that_is_no_program_is_told() {
    let tools = Tools {
        clang: "/no/such/clang".into(),
        translator: "/no/such/translator".into(),
    };
    let device = Device::default();
    let tried = translate(&tools, TEMPLATE, &[], &Options::default(), &device);
    assert_eq!(tried.unwrap_err().kind(), io::ErrorKind::NotFound);
}
