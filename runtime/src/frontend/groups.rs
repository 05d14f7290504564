//! Functions of work-groups and sub-groups that clang's headers do not declare, or not for every name.
//!
//! The uniform arithmetic of work-groups is written with the functions that both compilers translate to the instruction of that
//! name. Intel's names for what sub-groups do with 8-, 16- and 64-bit values mean the same as the names without
//! `intel_` ("cl_intel_subgroups_char", "_short" and "_long").

use std::fmt::Write;

use super::clang::Request;
use super::route;

/// Functions of one operand for each of the three group operations, with their instruction and whether it is for truth values.
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

/// Intel's names for 8-, 16- and 64-bit values that differ from the names for others by their prefix alone.
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

/// Whether the source may use functions of `cl_intel_subgroups`.
pub(super) fn uses_intel_functions(request: &Request) -> bool {
    let offered = |name: &String| name == "cl_intel_subgroups";
    request.features.extensions.iter().any(offered) && route::mentions(request, "intel_sub_group_")
}

/// What to put before the source.
pub(super) fn declarations(request: &Request) -> String {
    let mut text = String::new();
    let offers = |name: &str| request.features.extensions.iter().any(|n| n == name);
    if uses_intel_functions(request) {
        for name in RENAMED {
            let _ = writeln!(text, "#define intel_sub_group_{name} sub_group_{name}");
        }
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

fn define(text: &mut String, name: &str, ty: &str, instruction: &str, number: u32, kind: Kind) {
    let condition = match ty {
        "double" => Some("cl_khr_fp64"),
        "half" => Some("cl_khr_fp16"),
        _ => None,
    };
    if let Some(condition) = condition {
        let _ = writeln!(text, "#ifdef {condition}");
    }
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
    if condition.is_some() {
        text.push_str("#endif\n");
    }
}
