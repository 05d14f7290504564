//! Reading and mending modules that the compilers wrote.
//!
//! [`suspicion`] looks for the traces of clang 22's known mistakes. It is no validator: the
//! compiler checks every module it is given. This only decides whether a source must be translated
//! the other way. See `route.rs` for mistakes that leave no trace.

use std::collections::HashMap;

use crate::spirv::{header, instructions, literal, op, push, string};

/// A scalar type, or the component type of a vector.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Component {
    Bool,
    Int(u32),
    Float(u32),
    Other,
}

/// Gives kernels that other modules may call the names that the source gives them. clang 22 exports
/// (and imports) a kernel's body under a name of its own; then modules that came the two ways could
/// not be linked.
pub(super) fn name_kernels_plainly(words: &mut Vec<u32>) {
    let mut out = header(words);
    for (opcode, inst) in instructions(words) {
        let name = match inst {
            [_, op::LINKAGE_ATTRIBUTES, name @ .., _] if opcode == op::DECORATE => string(name),
            _ => String::new(),
        };
        match (name.strip_prefix("__clang_ocl_kern_imp_"), inst.last()) {
            (Some(plain), Some(&linkage)) => {
                let mut operands = inst[..2].to_vec();
                operands.extend(literal(plain));
                operands.push(linkage);
                push(&mut out, opcode, &operands);
            }
            _ => push(&mut out, opcode, inst),
        }
    }
    *words = out;
}

/// Takes out what is of debug information sets. Source lines (`OpLine`) stay; they are what the
/// compiler reads, and the translator's other debug instructions are not all valid.
pub(super) fn without_debug_sets(words: &mut Vec<u32>) {
    let mut out = header(words);
    let mut sets = Vec::new();
    for (opcode, inst) in instructions(words) {
        match (opcode, inst) {
            (op::EXT_INST_IMPORT, [set, name @ ..]) if string(name).contains("DebugInfo") => {
                sets.push(*set);
            }
            (op::EXT_INST, [_, _, set, ..]) if sets.contains(set) => {}
            (op::NAME, [target, ..]) if sets.contains(target) => {}
            _ => push(&mut out, opcode, inst),
        }
    }
    *words = out;
}

/// Why the module cannot be what the source says, if that shows.
pub(super) fn suspicion(words: &[u32]) -> Option<String> {
    let mut types: HashMap<u32, Component> = HashMap::new();
    let mut values: HashMap<u32, Component> = HashMap::new();
    for (opcode, inst) in instructions(words) {
        let component = |id: Option<&u32>| id.and_then(|id| types.get(id)).copied();
        let operand = |id: Option<&u32>| id.and_then(|id| values.get(id)).copied();
        match opcode {
            op::TYPE_BOOL => {
                types.insert(inst[0], Component::Bool);
            }
            op::TYPE_INT if inst.len() == 3 => {
                if !matches!(inst[1], 8 | 16 | 32 | 64) {
                    return Some(format!("an integer of {} bits", inst[1]));
                }
                types.insert(inst[0], Component::Int(inst[1]));
            }
            op::TYPE_FLOAT if inst.len() >= 2 => {
                types.insert(inst[0], Component::Float(inst[1]));
            }
            op::TYPE_VECTOR if inst.len() == 3 => {
                // Narrowed accesses: of the even elements of eight, seven are loaded.
                if !matches!(inst[2], 2 | 3 | 4 | 8 | 16) {
                    return Some(format!("a vector of {} components", inst[2]));
                }
                let of = component(inst.get(1)).unwrap_or(Component::Other);
                types.insert(inst[0], of);
            }
            op::FIRST_TYPE..=op::LAST_TYPE if !inst.is_empty() => {
                types.insert(inst[0], Component::Other);
            }
            op::SPEC_CONSTANT_OP => {
                return Some("an address computed in an initialiser".to_owned());
            }
            op::DECORATE
                if inst.len() > 3
                    && inst[1] == op::LINKAGE_ATTRIBUTES
                    && inst.last() == Some(&op::IMPORT) =>
            {
                let name = string(&inst[2..]);
                if name.starts_with("_Z") || name.starts_with("__to_") {
                    return Some(format!("the undefined function {name}"));
                }
            }
            op::U_CONVERT | op::S_CONVERT | op::F_CONVERT
                if component(inst.first()) == operand(inst.get(2)) =>
            {
                return Some("a conversion of a type to itself".to_owned());
            }
            op::ANY | op::ALL if operand(inst.get(2)) != Some(Component::Bool) => {
                return Some("any or all of a vector that is not Boolean".to_owned());
            }
            op::DOT if !matches!(component(inst.first()), Some(Component::Float(_))) => {
                return Some("a floating-point dot product of integers".to_owned());
            }
            _ => {}
        }
        // Every instruction whose first operand is a type has its result second.
        if let ([type_id, result, ..], false) =
            (inst, (op::FIRST_TYPE..=op::LAST_TYPE).contains(&opcode))
            && let Some(&of) = types.get(type_id)
        {
            values.insert(*result, of);
        }
    }
    None
}
