//! Functions of work-groups and sub-groups that clang's headers do not declare, or not for every
//! name.
//!
//! The uniform arithmetic of work-groups is written with the functions that both compilers
//! translate to the instruction of that name. Intel's names for what sub-groups do with 8-, 16- and
//! 64-bit values mean the same as the names without `intel_` ("cl_intel_subgroups_char", "_short"
//! and "_long"); its shuffles, block reads and writes are declared here.

use std::fmt::Write;

use super::clang::Request;
use super::route;

/// Functions of one operand for each of the three group operations, with their instruction and
/// whether it is for truth values.
const UNIFORM: &[(&str, &str, Kind)] = &[
    ("mul", "GroupIMulKHR", Kind::Integers),
    ("mul", "GroupFMulKHR", Kind::Floats),
    ("and", "GroupBitwiseAndKHR", Kind::Integers),
    ("or", "GroupBitwiseOrKHR", Kind::Integers),
    ("xor", "GroupBitwiseXorKHR", Kind::Integers),
    ("logical_and", "GroupLogicalAndKHR", Kind::Truth),
    ("logical_or", "GroupLogicalOrKHR", Kind::Truth),
    ("logical_xor", "GroupLogicalXorKHR", Kind::Truth),
];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Integers,
    Floats,
    Truth,
}

/// The group operations of SPIR-V, by name.
const OPERATIONS: [(&str, u32); 3] = [("reduce", 0), ("scan_inclusive", 1), ("scan_exclusive", 2)];

/// `OpGroup` instructions' scope of a work-group.
const WORK_GROUP: u32 = 2;

/// Intel's names for 8-, 16- and 64-bit values that differ from the names for others by their
/// prefix alone.
const RENAMED: &[&str] = &[
    "broadcast",
    "reduce_add",
    "reduce_min",
    "reduce_max",
    "scan_exclusive_add",
    "scan_exclusive_min",
    "scan_exclusive_max",
    "scan_inclusive_add",
    "scan_inclusive_min",
    "scan_inclusive_max",
];

/// Types that Intel's shuffles take, and how many components vectors of them have.
const SHUFFLED: &[(&str, &[&str])] = &[
    ("float", VECTORS),
    ("int", VECTORS),
    ("uint", VECTORS),
    ("short", VECTORS),
    ("ushort", VECTORS),
    ("char", VECTORS),
    ("uchar", VECTORS),
    ("long", SCALAR),
    ("ulong", SCALAR),
    ("double", SCALAR),
    ("half", SCALAR),
];
const VECTORS: &[&str] = &["", "2", "3", "4", "8", "16"];
const SCALAR: &[&str] = &[""];

/// Suffixes of Intel's block reads and writes, with the elements and how many of them.
const BLOCKS: &[(&str, &str, &[&str])] = &[
    ("", "uint", &["", "2", "4", "8"]),
    ("_ui", "uint", &["", "2", "4", "8"]),
    ("_us", "ushort", &["", "2", "4", "8"]),
    ("_ul", "ulong", &["", "2", "4", "8"]),
    ("_uc", "uchar", &["", "2", "4", "8", "16"]),
];

/// What to put before the source.
pub(super) fn declarations(request: &Request) -> String {
    let mut text = String::new();
    let offers = |name: &str| request.features.extensions.iter().any(|n| n == name);
    if offers("cl_intel_subgroups") && route::mentions(request, "intel_sub_group_") {
        intel_functions(&mut text);
    }
    if offers("cl_khr_work_group_uniform_arithmetic") {
        for (op, instruction, kind) in UNIFORM {
            for (operation, number) in OPERATIONS {
                let name = format!("work_group_{operation}_{op}");
                if route::mentions(request, &name) {
                    let types: &[&str] = match kind {
                        Kind::Integers => &["int", "uint", "long", "ulong"],
                        Kind::Floats => &["float", "double", "half"],
                        Kind::Truth => &["int"],
                    };
                    let _ = writeln!(text, "#define {name} __brolga_{name}");
                    for ty in types {
                        define(&mut text, &name, ty, instruction, number, *kind);
                    }
                }
            }
        }
    }
    text
}

/// Declarations that are in clang's full header alone, which wants images.
fn intel_functions(text: &mut String) {
    const DECLARED: &str = "__attribute__((overloadable, convergent)) intel_sub_group";
    for name in RENAMED {
        let _ = writeln!(text, "#define intel_sub_group_{name} sub_group_{name}");
    }
    for (element, counts) in SHUFFLED {
        begin(text, element);
        for count in *counts {
            let ty = format!("{element}{count}");
            let _ = writeln!(
                text,
                "{ty} {DECLARED}_shuffle({ty}, uint); {ty} {DECLARED}_shuffle_xor({ty}, uint);\n\
                 {ty} {DECLARED}_shuffle_down({ty}, {ty}, uint); {ty} {DECLARED}_shuffle_up({ty}, {ty}, uint);"
            );
        }
        end(text, element);
    }
    for (suffix, element, counts) in BLOCKS {
        for count in *counts {
            let ty = format!("{element}{count}");
            let _ = writeln!(
                text,
                "{ty} {DECLARED}_block_read{suffix}{count}(const __global {element} *);\n\
                 void {DECLARED}_block_write{suffix}{count}(__global {element} *, {ty});"
            );
        }
    }
}

/// Before declarations with a type that not every program may use.
fn begin(text: &mut String, ty: &str) {
    match ty {
        "double" => text.push_str("#ifdef cl_khr_fp64\n"),
        "half" => {
            text.push_str("#ifdef cl_khr_fp16\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n")
        }
        _ => {}
    }
}

/// After them.
fn end(text: &mut String, ty: &str) {
    match ty {
        "double" => text.push_str("#endif\n"),
        // Programs that use the type say so themselves.
        "half" => text.push_str("#pragma OPENCL EXTENSION cl_khr_fp16 : disable\n#endif\n"),
        _ => {}
    }
}

fn define(text: &mut String, name: &str, ty: &str, instruction: &str, number: u32, kind: Kind) {
    begin(text, ty);
    let (of, operand) = match kind {
        Kind::Truth => ("bool", "x != 0"),
        _ => (ty, "x"),
    };
    let _ = writeln!(
        text,
        "{of} __attribute__((overloadable, convergent)) __spirv_{instruction}(uint, uint, {of});\n\
         static inline {ty} __attribute__((overloadable, always_inline, convergent)) __brolga_{name}({ty} x) \
         {{ return __spirv_{instruction}({WORK_GROUP}u, {number}u, {operand}); }}"
    );
    end(text, ty);
}
