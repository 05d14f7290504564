//! The front end as a whole. These need clang-22, clang-15 and llvm-spirv-15 (Debian packages of
//! the same names).

use super::*;
use crate::spirv;

/// Compiles and insists on a module; also insists that the machine has the tools.
fn module(source: &str, options: &str) -> (Vec<u32>, String) {
    let output = run(source, &[], options);
    assert_ne!(
        output.error,
        Some(Failure::CompilerNotFound),
        "these tests need clang-22, clang-15 and llvm-spirv-15: {}",
        output.log
    );
    let words = output
        .spirv
        .unwrap_or_else(|| panic!("{source}: {}", output.log));
    // Addresses in initialisers are wrong in clang 22's modules only.
    if let Some(why) = module::suspicion(&words) {
        assert!(why.contains("initialiser"), "{source}: {why}");
    }
    validate(&words, source);
    (words, output.log)
}

/// `spirv-val` of spirv-tools must accept the module.
fn validate(words: &[u32], source: &str) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let done = process::run(std::path::Path::new("/usr/bin/spirv-val"), ["-"], &bytes)
        .expect("these tests need spirv-val (package spirv-tools)");
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &done.stderr;
    // It misses interface variables that a newer SPIR-V wants listed; nothing depends on that list.
    assert!(
        done.success || said.contains("not listed as an interface"),
        "{source}: {said}"
    );
}

fn run(source: &str, headers: &[(&str, &str)], options: &str) -> Output {
    let headers: Vec<_> = headers
        .iter()
        .map(|(n, t)| ((*n).to_owned(), (*t).to_owned()))
        .collect();
    let options = options::parse(options).unwrap();
    compile_cached(
        source,
        &headers,
        &options,
        &crate::features::for_compiler(),
        None,
    )
}

fn failure(source: &str, options: &str) -> String {
    let output = run(source, &[], options);
    assert_eq!(
        output.error,
        Some(Failure::CompileError),
        "{source}: {}",
        output.log
    );
    assert!(output.spirv.is_none());
    output.log
}

fn opcodes(words: &[u32]) -> Vec<u32> {
    spirv::instructions(words)
        .map(|(opcode, _)| opcode)
        .collect()
}

fn strings(words: &[u32]) -> Vec<String> {
    spirv::instructions(words)
        .filter(|(opcode, _)| *opcode == 7)
        .map(|(_, inst)| spirv::string(&inst[1..]))
        .collect()
}

#[test]
fn a_kernel_becomes_a_module_without_a_log() {
    let (words, log) = module(
        "kernel void k(global int *a) { a[get_global_id(0)] += 1; }",
        "",
    );
    assert_eq!(log, "");
    assert!(opcodes(&words).contains(&15), "no entry point");
}

#[test]
fn diagnostics_name_the_source_the_line_and_the_column() {
    let log = failure("kernel void k(global int *a) {\n  *a = b;\n}\n", "");
    assert!(log.starts_with("kernel.cl:2:8: error:"), "{log}");
    let (_, log) = module(
        "kernel void k(global int *a) {\n  int unused_thing = *a = 0;\n#warning look\n}",
        "",
    );
    assert!(log.contains("kernel.cl:3:2: warning:"), "{log}");
    let (_, log) = module("#warning look\nkernel void k() {}", "-w");
    assert_eq!(log, "");
    let log = failure("#warning look\nkernel void k() {}", "-Werror");
    assert!(log.contains("error:"), "{log}");
}

#[test]
fn definitions_and_versions_are_what_the_options_say() {
    let check =
        |condition: &str| format!("#if !({condition})\n#error wrong\n#endif\nkernel void k() {{}}");
    for (condition, options) in [
        ("__OPENCL_C_VERSION__ == 120", ""),
        ("__OPENCL_C_VERSION__ == 110", "-cl-std=CL1.1"),
        ("__OPENCL_C_VERSION__ == 300", "-cl-std=CL3.0"),
        (
            "__OPENCL_C_VERSION__ == 310 && CL_VERSION_3_1 == 310",
            "-cl-std=CL3.1",
        ),
        ("__OPENCL_VERSION__ >= 300 && CL_VERSION_3_0 == 300", ""),
        (
            "defined(cl_khr_fp64) && defined(cl_khr_byte_addressable_store)",
            "",
        ),
        (
            "defined(__opencl_c_fp64) && defined(__opencl_c_int64)",
            "-cl-std=CL3.0",
        ),
        (
            "defined(__IMAGE_SUPPORT__) && defined(__opencl_c_images)",
            "-cl-std=CL3.0",
        ),
        (
            "defined(cl_khr_subgroup_named_barrier) && defined(__opencl_c_pipes)",
            "-cl-std=CL3.0",
        ),
        ("defined(__FAST_RELAXED_MATH__)", "-cl-fast-relaxed-math"),
        ("!defined(__FAST_RELAXED_MATH__) && __ENDIAN_LITTLE__", ""),
        ("A == 1 && B == 7", "-DA -D B=7"),
    ] {
        module(&check(condition), options);
    }
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
    let output = run(source, &headers[..1], "");
    assert_eq!(output.error, Some(Failure::CompileError));
    assert!(
        output.log.contains("'sub/b.h' file not found"),
        "{}",
        output.log
    );
    let bad = [("a.h", "int x = ;\n"), ("sub/b.h", "")];
    let output = run(source, &bad, "");
    assert!(output.log.contains("a.h:1:9: error:"), "{}", output.log);
}

#[test]
fn the_compilers_own_headers_do_not_choose_the_way() {
    // Both export the kernel's body under its own name, whichever way they went.
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("empty.h"), "").unwrap();
    let options = format!("-I{}", home.path().display());
    for source in [
        "kernel void k(global int *a) { *a = 1; } kernel void l(global int *a) { k(a); }",
        "#include <empty.h>\nkernel void k(global int *a) { *a = 1; } kernel void l(global int *a) { k(a); }",
        "kernel void k(global int *a) { *a = any(*a); } kernel void l(global int *a) { k(a); }",
    ] {
        let (words, _) = module(source, &options);
        let exports: Vec<String> = spirv::instructions(&words)
            .filter(|(opcode, inst)| *opcode == 71 && inst[1] == 41 && inst.last() == Some(&0))
            .map(|(_, inst)| spirv::string(&inst[2..inst.len() - 1]))
            .collect();
        assert_eq!(exports, ["k", "l"], "{source}");
    }
}

#[test]
fn files_on_disk_are_included_and_their_changes_noticed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("value.h");
    let source =
        "#include \"value.h\"\n#if VALUE != 1\n#error other value\n#endif\nkernel void k() {}";
    let options = format!("-I \"{}\"", home.path().display());
    std::fs::write(&path, "#define VALUE 1\n").unwrap();
    module(source, &options);
    std::fs::write(&path, "#define VALUE 2\n").unwrap();
    assert!(failure(source, &options).contains("other value"));
}

#[test]
fn a_second_compilation_comes_from_the_cache() {
    let home = tempfile::tempdir().unwrap();
    let cache = cache::Cache::at(home.path().to_owned());
    let compile = |source: &str| {
        compile_cached(
            source,
            &[],
            &Options::default(),
            &crate::features::for_compiler(),
            Some(&cache),
        )
    };
    let entries = || std::fs::read_dir(home.path()).unwrap().count();
    let first = compile("#warning w\nkernel void k() {}");
    assert_eq!(entries(), 1);
    assert_eq!(compile("#warning w\nkernel void k() {}"), first);
    assert!(first.log.contains("kernel.cl:1:2: warning"));
    assert_eq!(entries(), 1);
    compile("kernel void k2() {}");
    assert_eq!(entries(), 2);
    compile("wrong");
    assert_eq!(entries(), 2);
}

#[test]
fn what_clang_22_mistranslates_is_translated_right() {
    // Opcodes from the SPIR-V Specification: OpSConvert 114, OpUConvert 113, OpSDot 4450.
    let (words, _) = module(
        "kernel void k(global short *a, global int *b) { *b = convert_int(*a); }",
        "",
    );
    assert!(opcodes(&words).contains(&114) && !opcodes(&words).contains(&113));
    let pasted = "#define C(T) convert_##T\nkernel void k(global short *a, global int *b) { *b = C(int)(*a); }";
    let (words, _) = module(pasted, "");
    assert!(opcodes(&words).contains(&114) && !opcodes(&words).contains(&113));
    // OpAtomicLoad 227: type, result, pointer, scope, semantics; the scope must be Workgroup, 2.
    let (words, _) = module(
        "kernel void k(global atomic_int *a, global int *b) {
            *b = atomic_load_explicit(a, memory_order_acquire, memory_scope_work_group); }",
        "-cl-std=CL3.0",
    );
    let two = spirv::instructions(&words)
        .find(|(opcode, inst)| *opcode == 43 && inst[2] == 2)
        .map(|(_, inst)| inst[1]);
    let scope = spirv::instructions(&words)
        .find(|(opcode, _)| *opcode == 227)
        .map(|(_, inst)| inst[3]);
    assert!(scope.is_some() && scope == two);
    for source in [
        "kernel void k(global int4 *a, global int *b) { *b = any(*a) + all(*a); }",
        "kernel void k(global uint *a) { *a = convert_int(*a) + atomic_xchg(a, 3) + atomic_inc(a); }",
        "kernel void k(global float *a, local float *l) { event_t e = async_work_group_copy(l, a, 8, 0); wait_group_events(1, &e); }",
        "constant int t[4] = {1, 2, 3, 4}; constant int *constant p = &t[1]; kernel void k(global int *a) { *a = p[*a]; }",
        "kernel void k(global int *a) { mem_fence(CLK_GLOBAL_MEM_FENCE); printf(\"%d %s\\n\", *a, \"x\"); }",
        "kernel void k(global float *a, global half *h) { vstorea_half3(vloada_half3(1, h), 2, h); *a = vloada_half(1, h); }",
        "kernel void k(global ulong *a) { ulong s = 0; for (ulong i = 0; i < a[1]; i++) s += i * i; *a = s; }",
        "kernel void k(global float4 *a, global int *b) { *a = ldexp(*a, *b); *a = convert_float4(*a); }",
    ] {
        module(source, "");
    }
}

/// The atomic instructions and memory barriers of the first function that has any: opcode, scope,
/// semantics.
fn atomic_instructions(words: &[u32]) -> Vec<(u32, Option<u32>, Option<u32>)> {
    const FUNCTION_END: u32 = 56;
    let constant = |id: u32| {
        spirv::instructions(words).find_map(|(opcode, inst)| match (opcode, inst) {
            (43, &[_, result, value]) if result == id => Some(value),
            (46, &[_, result]) if result == id => Some(0),
            _ => None,
        })
    };
    let mut found = Vec::new();
    for (opcode, inst) in spirv::instructions(words) {
        let scope_at = match opcode {
            225 => 0,
            228 | 319 => 1,
            227 | 229..=242 | 318 | 5614 | 5615 | 6035 => 3,
            FUNCTION_END if !found.is_empty() => break,
            _ => continue,
        };
        found.push((
            opcode,
            constant(inst[scope_at]),
            constant(inst[scope_at + 1]),
        ));
    }
    found
}

#[test]
fn atomic_functions_become_the_instructions_they_stand_for() {
    let mut device = crate::features::for_compiler();
    device.extensions.push("cl_khr_fp16".to_owned());
    for size in ["load_store", "add", "min_max"] {
        for space in ["global", "local"] {
            let name = format!("__opencl_c_ext_fp16_{space}_atomic_{size}");
            device.features.push(name);
        }
    }
    // OpenCL C Specification, "Atomic Functions": without explicit arguments they are sequentially
    // consistent, for the device. SPIR-V Specification: scopes are 0 CrossDevice, 1 Device, 2
    // Workgroup; semantics 2 Acquire, 4 Release, 8 AcquireRelease, 16 SequentiallyConsistent;
    // opcodes from "Atomic Instructions".
    let cases: &[(&str, u32, u32, u32)] = &[
        ("*o = atomic_load(P)", 227, 1, 16),
        (
            "*o = atomic_load_explicit(P, memory_order_acquire)",
            227,
            1,
            2,
        ),
        (
            "*o = atomic_load_explicit(P, memory_order_relaxed, memory_scope_work_group)",
            227,
            2,
            0,
        ),
        ("atomic_store(P, v)", 228, 1, 16),
        (
            "atomic_store_explicit(P, v, memory_order_release, memory_scope_all_svm_devices)",
            228,
            0,
            4,
        ),
        ("*o = atomic_exchange(P, v)", 229, 1, 16),
        (
            "*o = atomic_exchange_explicit(P, v, memory_order_acq_rel, memory_scope_work_group)",
            229,
            2,
            8,
        ),
        (
            "*o = atomic_fetch_add_explicit(P, v, memory_order_relaxed)",
            1,
            1,
            0,
        ),
        ("*o = atomic_fetch_sub(P, v)", 2, 1, 16),
        (
            "*o = atomic_fetch_min_explicit(P, v, memory_order_seq_cst, memory_scope_all_svm_devices)",
            3,
            0,
            16,
        ),
        ("*o = atomic_fetch_max(P, v)", 4, 1, 16),
        (
            "*o = atomic_fetch_or_explicit(P, v, memory_order_acquire, memory_scope_device)",
            241,
            1,
            2,
        ),
        ("*o = atomic_fetch_and(P, v)", 240, 1, 16),
        (
            "*o = atomic_fetch_xor_explicit(P, v, memory_order_relaxed)",
            242,
            1,
            0,
        ),
    ];
    // Types, with their opcodes for add, sub, min and max.
    for (ty, arithmetic) in [
        ("int", [234, 235, 236, 238]),
        ("uint", [234, 235, 237, 239]),
        ("long", [234, 235, 236, 238]),
        ("ulong", [234, 235, 237, 239]),
        ("float", [6035, 6035, 5614, 5615]),
        ("double", [6035, 6035, 5614, 5615]),
        ("half", [6035, 6035, 5614, 5615]),
    ] {
        let bitwise = arithmetic[0] == 234;
        let cases: Vec<_> = cases
            .iter()
            .filter(|(_, opcode, ..)| bitwise || !(240..=242).contains(opcode))
            .collect();
        let expected: Vec<_> = cases
            .iter()
            .map(|(_, opcode, scope, semantics)| {
                let arithmetic = arithmetic.get((*opcode as usize).wrapping_sub(1));
                (
                    *arithmetic.unwrap_or(opcode),
                    Some(*scope),
                    Some(*semantics),
                )
            })
            .collect();
        for space in ["global", "local", ""] {
            let pointer = match space {
                "" => format!("volatile atomic_{ty} *P = c ? (volatile atomic_{ty} *)g : l;"),
                "local" => format!("volatile local atomic_{ty} *P = l;"),
                _ => format!("volatile global atomic_{ty} *P = g;"),
            };
            let calls: String = cases
                .iter()
                .map(|(call, ..)| format!("{call}; o++;\n"))
                .collect();
            let source = format!(
                "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n\
                 kernel void k(volatile global atomic_{ty} *g, volatile local atomic_{ty} *l, {ty} v, int c, global {ty} *o) {{\n\
                 {pointer}\n{calls}}}"
            );
            let options = options::parse("-cl-std=CL3.0").unwrap();
            let output = compile_cached(&source, &[], &options, &device, None);
            let words = output
                .spirv
                .unwrap_or_else(|| panic!("{source}: {}", output.log));
            validate(&words, &source);
            let found = atomic_instructions(&words);
            if ty == "half" {
                // Through clang 22, whose functions get order and scope as arguments.
                let opcodes = |all: &[(u32, Option<u32>, Option<u32>)]| -> Vec<u32> {
                    all.iter().map(|(opcode, ..)| *opcode).collect()
                };
                assert_eq!(opcodes(&found), opcodes(&expected), "{source}");
            } else {
                assert_eq!(found, expected, "{source}");
            }
        }
    }
}

#[test]
fn other_atomic_functions_and_fences_become_instructions_too() {
    for (statement, opcode, scope, semantics) in [
        (
            "int e = 1; *o = atomic_compare_exchange_strong(a, &e, 2)",
            230,
            1,
            16,
        ),
        (
            "int e = 1; *o = atomic_compare_exchange_weak_explicit(a, &e, 2, memory_order_acq_rel, memory_order_acquire, memory_scope_work_group)",
            231,
            2,
            8,
        ),
        (
            "*o = atomic_flag_test_and_set_explicit(f, memory_order_acquire, memory_scope_work_group)",
            318,
            2,
            2,
        ),
        ("*o = atomic_flag_test_and_set(f)", 318, 1, 16),
        (
            "atomic_flag_clear_explicit(f, memory_order_release)",
            319,
            1,
            4,
        ),
        (
            "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)",
            225,
            1,
            0x308,
        ),
        (
            "atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_work_item)",
            225,
            4,
            0x808,
        ),
        // The translator gives the functions of OpenCL C 1.x the narrowest scope that OpenCL 1.x
        // promises.
        ("*o = atomic_add(p, 3)", 234, 2, 0),
        ("*o = atomic_min(p, 3)", 236, 2, 0),
        ("*o = atomic_max((volatile global uint *)p, 3)", 239, 2, 0),
        ("*o = atomic_xchg(p, 3)", 229, 2, 0),
        (
            "*o = atomic_xchg((volatile global float *)p, 3.0f)",
            229,
            2,
            0,
        ),
        ("*o = atomic_cmpxchg(p, 3, 4)", 230, 2, 0),
        ("*o = atom_sub((volatile global long *)p, 3)", 235, 2, 0),
        ("*o = atom_xor((volatile global ulong *)p, 3)", 242, 2, 0),
        (
            "*o = atom_cmpxchg((volatile global ulong *)p, 3, 4)",
            230,
            2,
            0,
        ),
        ("write_mem_fence(CLK_LOCAL_MEM_FENCE)", 225, 2, 0x104),
    ] {
        let source = format!(
            "kernel void k(volatile global atomic_int *a, volatile global atomic_flag *f, volatile global int *p, global int *o) {{ {statement}; }}"
        );
        let (words, log) = module(&source, "-cl-std=CL3.0");
        assert_eq!(log, "", "{source}");
        assert_eq!(
            atomic_instructions(&words),
            [(opcode, Some(scope), Some(semantics))],
            "{source}"
        );
    }
    // clang 15 does not know it; the function that clang 22 gets for it has the order as an
    // argument.
    let source = "kernel void k(volatile global atomic_float *a, global int *o) { float e = 1; \
         *o = atomic_compare_exchange_strong_explicit(a, &e, 2, memory_order_release, memory_order_relaxed); }";
    let (words, _) = module(source, "-cl-std=CL3.0");
    assert_eq!(atomic_instructions(&words), [(230, None, None)]);
    // Orders and scopes that only the launch knows.
    let source = "kernel void k(volatile global atomic_int *a, int order, int scope, global int *o) {
        int e = 3; *o = atomic_compare_exchange_strong_explicit(a, &e, 2, order, order, scope) + atomic_fetch_add_explicit(a, 1, order, scope);
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, order, scope); }";
    let (words, _) = module(source, "-cl-std=CL3.0");
    let found = atomic_instructions(&words);
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|f| f.1.is_none() && f.2.is_none()));
    // Programs for OpenCL C 1.x may use the later names for their own functions.
    module(
        "int atomic_fetch_max(volatile global int *p, int v) { return atomic_max(p, v); }
         kernel void k(volatile global int *p) { atomic_fetch_max(p, 3); atom_inc(p); }",
        "-cl-std=CL1.2",
    );
}

#[test]
fn optional_features_translate() {
    const OTHER_WAY: &str = "\nint all_of(int2 x) { return all(x); }";
    // What the other way's compiler does not know.
    const ONE_WAY: [&str; 1] = ["clock_read"];
    for source in [
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\nkernel void k(global half4 *h) { *h = sin(*h) * (half4)2.0h + convert_half4(convert_float4(*h)); }",
        "kernel void k(global int *o) { o[0] = sub_group_all(o[1]) + sub_group_broadcast(o[2], 1) + sub_group_reduce_add(o[3]) \
           + sub_group_scan_exclusive_max(o[4]) + get_sub_group_size() + get_sub_group_local_id() + get_max_sub_group_size() + get_sub_group_id() \
           + get_num_sub_groups() + get_enqueued_num_sub_groups(); sub_group_barrier(CLK_LOCAL_MEM_FENCE); }",
        "kernel void k(global int *o, global uint4 *u) { o[0] = sub_group_shuffle(o[1], 3) + sub_group_shuffle_xor(o[2], 1) + sub_group_shuffle_up(o[3], 1) \
           + sub_group_shuffle_down(o[3], 1) + sub_group_elect() + sub_group_non_uniform_all(o[4]) + sub_group_non_uniform_reduce_add(o[5]) \
           + sub_group_clustered_reduce_add(o[5], 4) + sub_group_ballot_bit_count(u[1]) + sub_group_inverse_ballot(u[1]); \
           u[0] = sub_group_ballot(o[3]) + get_sub_group_ge_mask(); }",
        "kernel void k(global int *o) { o[0] = sub_group_rotate(o[0], 1) + sub_group_clustered_rotate(o[0], 1, 4); }",
        "kernel void k(global uint *o) { o[0] = bitfield_insert(o[0], o[1], 1, 4) + bitfield_extract_signed(o[1], 1, 3) + bit_reverse(o[0]); }",
        "kernel void k(global char4 *a, global uint *b) { *b = dot(*a, *a) + dot_4x8packed_uu_uint(*b, 7u) + dot_acc_sat(*a, *a, 3); \
           b[1] = dot_4x8packed_su_int(*b, 7) + dot_acc_sat_4x8packed_uu_uint(*b, *b, 1) + dot_acc_sat_4x8packed_us_int(*b, *b, 1); }",
        "kernel void k(global int *o) { o[0] = work_group_all(o[1]) + work_group_broadcast(o[2], 1) + work_group_reduce_add(o[3]) \
           + work_group_scan_exclusive_max(o[4]); }",
        "kernel void k(global int *o, global float *f) { o[0] = work_group_reduce_mul(o[1]) + work_group_scan_inclusive_xor(o[2]) \
           + work_group_scan_exclusive_logical_or(o[3]); f[0] = work_group_reduce_mul(f[1]); }",
        "kernel void k(global int *o, global uchar *c) { o[0] = work_group_reduce_and(o[1]) + work_group_reduce_logical_xor(convert_int(c[0])); }",
        "kernel __attribute__((intel_reqd_sub_group_size(8))) void k(global uint *o, global ushort *s) { o[0] = intel_sub_group_shuffle(o[1], 3) \
           + intel_sub_group_shuffle_down(o[1], o[2], 1); s[0] = intel_sub_group_reduce_add(s[1]); \
           intel_sub_group_block_write_us4(s, intel_sub_group_block_read_us4(s + 32)); }",
        "kernel void k(global ulong *o, global uchar *c) { c[0] = intel_sub_group_broadcast(c[1], 2); \
           intel_sub_group_block_write_ul2(o, intel_sub_group_block_read_ul2(o + 32)); intel_sub_group_block_write_uc(c, intel_sub_group_block_read_uc(c + 32)); }",
        "kernel void k(global ulong *o, global uint2 *p) { o[0] = clock_read_device(); p[0] = clock_read_hilo_sub_group(); }",
        "global int g = 3; global int *global gp = &g; kernel void k(global int *o) { o[0] = g++; *gp = o[1]; }",
        "kernel void k(global atomic_int *a, global int *o) { int e = 3; o[2] = atomic_compare_exchange_strong(a, &e, 4); o[3] = e; \
           o[5] = atomic_fetch_max(a, 3) + atomic_exchange(a, 4) + atomic_flag_test_and_set((global atomic_flag *)a); }",
        "kernel void k(global int *o, local int *l) { int *p = o[0] ? (int *)o : (int *)l; *p = 3; o[1] = get_fence(p); }",
        "kernel void k(write_only pipe int4 p, global int4 *o, global uint *n) { n[0] = write_pipe(p, &o[1]); n[1] = get_pipe_num_packets(p) \
           + get_pipe_max_packets(p); reserve_id_t r = reserve_write_pipe(p, 2); if (is_valid_reserve_id(r)) { write_pipe(p, r, 1, &o[2]); \
           commit_write_pipe(p, r); } local reserve_id_t g; g = work_group_reserve_write_pipe(p, 8); work_group_commit_write_pipe(p, g); }",
        "kernel void k(read_only pipe float p, global float *o) { read_pipe(p, &o[1]); reserve_id_t r = sub_group_reserve_read_pipe(p, 4); \
           read_pipe(p, r, get_sub_group_local_id(), &o[2]); sub_group_commit_read_pipe(p, r); }",
    ] {
        module(source, "-cl-std=CL3.0");
        if !ONE_WAY.iter().any(|name| source.contains(name)) {
            module(&format!("{source}{OTHER_WAY}"), "-cl-std=CL3.0");
        }
    }
}

#[test]
fn names_of_intel_s_functions_survive_the_preprocessor() {
    // Pasted tokens have the source preprocessed before it is seen which functions it uses.
    module(
        "#define NAME(a, b) a##b\n\
         kernel void k(global short *NAME(s, 1)) { s1[0] = intel_sub_group_broadcast(s1[1], 2) + intel_sub_group_reduce_add(s1[2]); }",
        "-cl-std=CL3.0",
    );
}

#[test]
fn dimensions_are_kept_in_bounds() {
    // Both ways: the second needs clang 15.
    for extra in ["", "*o = any(*o);"] {
        let source = format!(
            "kernel void k(global int *o, uint d) {{ {extra} o[1] = get_global_id(5) + get_local_size(d) + get_group_id(7u) + get_local_id(0); }}"
        );
        module(&source, "");
        module(&source, "-cl-opt-disable");
    }
}

#[test]
fn loops_of_every_shape_are_valid() {
    for extra in ["", "*o = any(*o);"] {
        let source = format!(
            "kernel void k(global int *o, int n, int m) {{ {extra} int s = 0;
            for (int i = 0; i < n; i++) {{ if (m > 3) s += o[i]; else s -= o[i]; if (s > 100) break; }}
            #pragma unroll 4
            for (int i = 0; i < n; i++) {{ if (o[i] == 7) continue; s ^= o[i]; }}
            do {{ s--; switch (s & 3) {{ case 0: o[s] = 1; break; case 1: o[s] = m; break; case 2: return; }} }} while (s > 0);
            uint x = s, y = m; o[0] = x > y ? x - y : 0; }}"
        );
        module(&source, "");
        module(&source, "-cl-opt-disable");
    }
}

#[test]
fn argument_types_survive() {
    let source = "typedef float4 colour; struct s { int a; };\n\
        kernel void k(global const colour *restrict a, volatile local uint *b, struct s c, unsigned long d) {}";
    let (words, _) = module(source, "-cl-kernel-arg-info");
    let all = strings(&words);
    assert!(
        all.contains(&"kernel_arg_type.k.colour*,uint*,struct s,ulong,".to_owned()),
        "{all:?}"
    );
    assert!(
        all.contains(&"kernel_arg_type_qual.k.restrict const,volatile,,,".to_owned()),
        "{all:?}"
    );
    let names: Vec<String> = spirv::instructions(&words)
        .filter(|(opcode, _)| *opcode == 5)
        .map(|(_, inst)| spirv::string(&inst[1..]))
        .collect();
    for name in ["a", "b", "c", "d"] {
        assert!(names.iter().any(|n| n == name), "{name} in {names:?}");
    }
}

#[test]
fn hints_of_unsigned_types_are_recorded() {
    let source = "__attribute__((vec_type_hint(ushort4))) kernel void k() {}
        __attribute__((vec_type_hint(short4))) kernel void l() {}";
    let (words, _) = module(source, "");
    let all = strings(&words);
    assert!(all.contains(&"kernel_vec_type_hint.k.ushort4".to_owned()));
    assert!(!all.iter().any(|s| s.contains(".l.")), "{all:?}");
}

#[test]
fn inline_functions_have_bodies() {
    // Kept out of its caller, so that something must be there to call.
    let source = "__attribute__((noinline)) inline int twice(int x) { return 2 * x; }
        kernel void k(global int *a) { *a = twice(*a); }";
    for options in ["", "-cl-opt-disable"] {
        let (words, _) = module(source, options);
        let imports = spirv::instructions(&words)
            .filter(|(opcode, inst)| *opcode == 71 && inst[1] == 41 && inst.last() == Some(&1));
        assert_eq!(imports.count(), 0);
    }
}

#[test]
fn vectors_keep_the_widths_of_the_language() {
    // clang 22 loads seven elements for the even ones of eight.
    let source = "kernel void k(global char8 *a, global char4 *b) { *b = a->even; }";
    let (words, _) = module(source, "");
    for (_, inst) in spirv::instructions(&words).filter(|(opcode, _)| *opcode == 23) {
        assert!(matches!(inst[2], 2 | 3 | 4 | 8 | 16), "{inst:?}");
    }
}

#[test]
fn options_reach_the_compiler() {
    let source = "kernel void k(global float *a) { a[0] = a[1] * a[2] + 1.0 + sqrt(a[3]) / a[4]; }";
    for options in [
        "-cl-opt-disable",
        "-cl-fast-relaxed-math",
        "-cl-unsafe-math-optimizations -cl-denorms-are-zero",
        "-cl-finite-math-only -cl-no-signed-zeros -cl-mad-enable",
        "-cl-single-precision-constant -cl-fp32-correctly-rounded-divide-sqrt",
        "-cl-std=CL2.0 -cl-uniform-work-group-size -cl-no-subgroup-ifp -g -cl-strict-aliasing",
    ] {
        let (_, log) = module(source, options);
        assert_eq!(log, "", "{options}");
    }
}

#[test]
fn debug_information_is_source_lines() {
    const OP_LINE: u32 = 8;
    let source = "kernel void k(global int *a) {\n  int x = a[1];\n\n  a[0] = x / 3;\n}";
    let lines = |options: &str| -> Vec<u32> {
        let (words, _) = module(source, options);
        validate(&words, source);
        let lines = spirv::instructions(&words).filter(|(opcode, _)| *opcode == OP_LINE);
        lines.map(|(_, inst)| inst[1]).collect()
    };
    assert_eq!(lines(""), Vec::<u32>::new());
    let with = lines("-g");
    // The machine may have clang 22 only, which writes none.
    if super::tools::Tools::find().is_ok_and(|tools| tools.bitcode.is_some()) {
        assert!(with.contains(&2) && with.contains(&4), "{with:?}");
        let strings = strings(&module(source, "-g").0);
        assert!(strings.iter().any(|text| text.ends_with("kernel.cl")));
    }
}

#[test]
fn hostile_sources_are_errors() {
    assert!(failure("kernel void k() {}\n\0", "").contains("kernel.cl:2:1: error:"));
    failure("#include \"/no/such/file.h\"", "");
    failure("#include \"/\"", "");
    failure("#define A A A\nkernel void k() { A }", "");
    failure("\u{feff}\u{202e}é kernel \u{1}\u{7f}", "");
    failure(&"(".repeat(100_000), "");
    failure("kernel void k(global int *a) { no_such_function(a); }", "");
    // An empty program is a program.
    module("", "");
}

/// By clang 22 alone, as a whole program or not.
fn by_clang_22(source: &str) -> (Vec<u32>, String) {
    let mut tools = tools::Tools::find().expect("these tests need clang-22");
    tools.bitcode = None;
    let request = clang::Request {
        source,
        headers: &[],
        options: &options::parse("").unwrap(),
        features: &crate::features::for_compiler(),
        tools: &tools,
        preprocessed: None,
    };
    clang::translate(&request, route::Way::Direct).unwrap_or_else(|error| panic!("{}", error.log))
}

#[test]
fn a_pointer_of_another_type_is_a_warning() {
    let source =
        "kernel void k(global uint2 *a, global uint *b) { global uint *p = a; *b = p[1]; }";
    let (words, log) = by_clang_22(source);
    validate(&words, source);
    assert!(log.contains("warning: incompatible pointer types"), "{log}");
    let log = failure(source, "-Werror");
    assert!(log.contains("error: incompatible pointer types"), "{log}");
}

/// OpStore 62: optimised, clang 22 takes a variable in local memory for one that begins as zero.
#[test]
fn clang_22_keeps_stores_to_local_memory() {
    let source =
        "kernel void k(global int *o) { local int l[4]; l[get_local_id(0) & 3] = 0; *o = l[1]; }";
    let (words, _) = by_clang_22(source);
    let stores = opcodes(&words).iter().filter(|&&op| op == 62).count();
    assert!(stores >= 2, "{stores} stores");
}
