//! Argument types and qualifiers for `clGetKernelArgInfo`, added to the module.
//!
//! SPIR-V has no place for the names of types in the source (`typedef`s above all). The Khronos
//! translator carries them in strings of the form `kernel_arg_type.KERNEL.type,type,` and
//! `kernel_arg_type_qual.KERNEL.qualifiers,qualifiers,`, which readers know; neither compiler that
//! we use writes them, so they are taken from the metadata that clang's front end attaches to
//! kernels in LLVM IR text.
//!
//! So is the signedness of the type in `vec_type_hint`, which SPIR-V's execution mode leaves out:
//! an unsigned hint travels as `kernel_vec_type_hint.KERNEL.type`, a convention of our own.

use std::collections::HashMap;

use super::clang::{self, Request};
use super::route::{self, Way};
use crate::spirv::{instructions, literal, push, string};

/// Adds the strings (and the arguments' names, where the module has none) for every kernel, if they
/// are asked for. A module stays as it is when the metadata cannot be had: the information is
/// optional.
pub(super) fn add(request: &Request, way: Way, spirv: &mut Vec<u32>) {
    let wanted = request.options.kernel_arg_info;
    if !wanted && !route::mentions(request, "vec_type_hint") {
        return;
    }
    if let Some(text) = clang::emit_llvm_text(request, way) {
        insert(spirv, &kernels(&text), wanted);
    }
}

/// What the metadata says of one kernel, an entry an argument.
#[derive(Debug, PartialEq, Eq)]
struct KernelArgs {
    kernel: String,
    types: Vec<String>,
    qualifiers: Vec<String>,
    names: Vec<String>,
    /// The type of `vec_type_hint`, if it is one of unsigned integers.
    unsigned_hint: Option<String>,
}

/// Reads `define spir_kernel void @k(...) ... !kernel_arg_type !6` and the lines `!6 = !{!"float*",
/// ...}`.
fn kernels(llvm: &str) -> Vec<KernelArgs> {
    let nodes: HashMap<&str, &str> = llvm
        .lines()
        .filter_map(|line| line.strip_prefix('!')?.split_once(" = "))
        .collect();
    let node = |line: &str, kind: &str| -> Option<&str> {
        let (_, rest) = line.split_once(&format!("!{kind} !"))?;
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        nodes.get(&rest[..end]).copied()
    };
    let list = |line: &str, kind: &str| node(line, kind).map(strings).unwrap_or_default();
    llvm.lines()
        .filter(|line| line.starts_with("define") && line.contains(" spir_kernel "))
        .filter_map(|line| {
            let name = line.split_once('@')?.1;
            let kernel = match name.strip_prefix('"') {
                Some(quoted) => quoted.split('"').next()?,
                None => name.split('(').next()?,
            };
            Some(KernelArgs {
                kernel: kernel.to_owned(),
                types: list(line, "kernel_arg_type"),
                qualifiers: list(line, "kernel_arg_type_qual"),
                names: list(line, "kernel_arg_name"),
                unsigned_hint: node(line, "vec_type_hint").and_then(unsigned_hint),
            })
        })
        .collect()
}

/// `uint4` for `!{<4 x i32> poison, i32 0}`, where a last 0 says that the type is not one of signed
/// integers.
fn unsigned_hint(node: &str) -> Option<String> {
    let (ty, signed) = node
        .strip_prefix("!{")?
        .strip_suffix('}')?
        .rsplit_once(", ")?;
    if signed != "i32 0" {
        return None;
    }
    let (lanes, scalar) = match ty.strip_prefix('<') {
        Some(vector) => vector.split_once('>')?.0.split_once(" x ")?,
        None => ("", ty.split(' ').next()?),
    };
    let name = match scalar {
        "i8" => "uchar",
        "i16" => "ushort",
        "i32" => "uint",
        "i64" => "ulong",
        _ => return None,
    };
    Some(format!("{name}{lanes}"))
}

/// The strings of `!{!"a", !"b"}`, with LLVM's `\XX` escapes undone.
fn strings(node: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = node;
    while let Some((_, tail)) = rest.split_once("!\"") {
        let Some((text, tail)) = tail.split_once('"') else {
            break;
        };
        let mut bytes = Vec::new();
        let mut pieces = text.split('\\');
        bytes.extend_from_slice(pieces.next().unwrap_or_default().as_bytes());
        for piece in pieces {
            match piece
                .get(..2)
                .and_then(|hex| u8::from_str_radix(hex, 16).ok())
            {
                Some(byte) => {
                    bytes.push(byte);
                    bytes.extend_from_slice(&piece.as_bytes()[2..]);
                }
                None => bytes.extend_from_slice(piece.as_bytes()),
            }
        }
        all.push(String::from_utf8_lossy(&bytes).into_owned());
        rest = tail;
    }
    all
}

const OP_SOURCE: u32 = 3;
const OP_NAME: u32 = 5;
const OP_STRING: u32 = 7;
const OP_ENTRY_POINT: u32 = 15;
const OP_FUNCTION: u32 = 54;
const OP_FUNCTION_PARAMETER: u32 = 55;

/// Puts `OpString`s among the debug instructions, and, of `arguments`, `OpName`s for those without
/// one.
fn insert(words: &mut Vec<u32>, kernels: &[KernelArgs], arguments: bool) {
    let Some(&bound) = words.get(3) else { return };
    let mut texts = Vec::new();
    for KernelArgs {
        kernel,
        types,
        qualifiers,
        unsigned_hint,
        ..
    } in kernels
    {
        if arguments {
            let all = |list: &[String]| list.iter().flat_map(|s| [s, ","]).collect::<String>();
            texts.push(format!("kernel_arg_type.{kernel}.{}", all(types)));
            texts.push(format!("kernel_arg_type_qual.{kernel}.{}", all(qualifiers)));
        }
        if let Some(ty) = unsigned_hint {
            texts.push(format!("kernel_vec_type_hint.{kernel}.{ty}"));
        }
    }
    let mut next_id = bound;
    let mut strings = Vec::new();
    for text in texts {
        let operands: Vec<u32> = [next_id].into_iter().chain(literal(&text)).collect();
        push(&mut strings, OP_STRING, &operands);
        next_id += 1;
    }
    let mut names = Vec::new();
    let unnamed = if arguments {
        unnamed_arguments(words, kernels)
    } else {
        Vec::new()
    };
    for (id, name) in unnamed {
        let operands: Vec<u32> = [id].into_iter().chain(literal(&name)).collect();
        push(&mut names, OP_NAME, &operands);
    }
    // Logical Layout of a Module: OpString, OpSource... first, OpName after them.
    let (mut string_at, mut name_at) = (None, None);
    let mut at = 5;
    for (opcode, inst) in instructions(words) {
        if (OP_SOURCE..=OP_STRING).contains(&opcode) && string_at.is_none() {
            string_at = Some(at);
        }
        if opcode == OP_NAME && name_at.is_none() {
            name_at = Some(at);
        }
        at += inst.len() + 1;
    }
    let (Some(string_at), Some(name_at)) = (string_at, name_at) else {
        return;
    };
    words.splice(name_at..name_at, names);
    words.splice(string_at..string_at, strings);
    words[3] = next_id;
}

/// Parameters of entry points that carry no name, with the name they should have.
fn unnamed_arguments(words: &[u32], kernels: &[KernelArgs]) -> Vec<(u32, String)> {
    let mut entry_points: HashMap<u32, String> = HashMap::new();
    let mut named = Vec::new();
    let mut found = Vec::new();
    let mut names: std::slice::Iter<String> = [].iter();
    for (opcode, inst) in instructions(words) {
        match (opcode, inst) {
            (OP_ENTRY_POINT, [_, id, name @ ..]) => drop(entry_points.insert(*id, string(name))),
            (OP_NAME, [id, ..]) => named.push(*id),
            (OP_FUNCTION, [_, id, ..]) => {
                let kernel = entry_points
                    .get(id)
                    .and_then(|name| kernels.iter().find(|k| &k.kernel == name));
                names = kernel.map(|k| k.names.iter()).unwrap_or_default();
            }
            (OP_FUNCTION_PARAMETER, [_, id]) => {
                if let Some(name) = names.next()
                    && !named.contains(id)
                {
                    found.push((*id, name.clone()));
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read_from_llvm_text() {
        let text = "define dso_local spir_kernel void @k1(ptr %0) #0 !kernel_arg_type !6 !kernel_arg_base_type !7 \
                    !kernel_arg_type_qual !8 !kernel_arg_name !9 {\n\
                    !6 = !{!\"float*\", !\"a\\22b\"}\n!8 = !{!\"restrict const\", !\"\"}\n!9 = !{!\"x\", !\"y\"}\n";
        let all = kernels(text);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].kernel, "k1");
        assert_eq!(all[0].types, ["float*", "a\"b"]);
        assert_eq!(all[0].qualifiers, ["restrict const", ""]);
        assert_eq!(all[0].names, ["x", "y"]);
    }

    #[test]
    fn hints_of_unsigned_types_are_known_by_their_last_operand() {
        let hint = |node| unsigned_hint(node).unwrap_or_default();
        assert_eq!(hint("!{<4 x i32> poison, i32 0}"), "uint4");
        assert_eq!(hint("!{i8 undef, i32 0}"), "uchar");
        assert_eq!(hint("!{<16 x i64> poison, i32 1}"), "");
        assert_eq!(hint("!{<2 x float> poison, i32 0}"), "");
    }

    #[test]
    fn text_that_is_no_llvm_gives_nothing() {
        assert_eq!(kernels("define spir_kernel\n!6 = \nspir_kernel @"), []);
    }
}
