//! Built-in functions that modules import.
//!
//! A compiler that knows no instruction for a built-in function leaves it to be linked, by its
//! mangled name. What the given modules do not have themselves is in one module more.

use std::collections::HashSet;
use std::sync::Arc;

use brolga_opencl_c as opencl_c;

use crate::base::features;
use crate::spirv::{instructions, op, string};

/// Functions and variables that some module imports and none exports, in order.
pub(super) fn missing(modules: &[Arc<Vec<u32>>]) -> Vec<String> {
    let mut imports = Vec::new();
    let mut exports = HashSet::new();
    for module in modules {
        // Annotations come before types (SPIR-V Specification, "Logical Layout of a Module").
        let head = instructions(module);
        let head =
            head.take_while(|(opcode, _)| !(op::FIRST_TYPE..=op::LAST_TYPE).contains(opcode));
        for (opcode, inst) in head {
            let (op::DECORATE, [_, op::LINKAGE_ATTRIBUTES, name @ .., linkage]) = (opcode, inst)
            else {
                continue;
            };
            match *linkage {
                op::IMPORT => imports.push(string(name)),
                _ => {
                    exports.insert(string(name));
                }
            }
        }
    }
    let mut seen = HashSet::new();
    imports.retain(|name| !exports.contains(name) && seen.insert(name.clone()));
    imports
}

/// A module that exports those of these names that mean built-in functions.
pub(super) fn library(names: &[String]) -> Option<Arc<Vec<u32>>> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if names.is_empty() {
        return None;
    }
    opencl_c::library(&names, &features::for_compiler()).map(Arc::new)
}

/// What to say, behind an error, of those of these names that it mentions.
pub(super) fn explain(error: &str, names: &[String]) -> String {
    let mentioned = names
        .iter()
        .filter(|name| error.contains(&format!("{name:?}")));
    let notes = mentioned.filter_map(|name| {
        let function = opencl_c::describe(name)?;
        Some(format!(
            "note: {name} is {function}, which is no built-in function of this device\n"
        ))
    });
    notes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv::{literal, push};

    fn module(symbols: &[(&str, u32)]) -> Arc<Vec<u32>> {
        let mut words = vec![0x0723_0203u32, 0x0001_0000, 0, 9, 0];
        for (index, &(name, linkage)) in symbols.iter().enumerate() {
            let mut operands = vec![index as u32 + 1, op::LINKAGE_ATTRIBUTES];
            operands.extend(literal(name));
            operands.push(linkage);
            push(&mut words, op::DECORATE, &operands);
        }
        Arc::new(words)
    }

    #[test]
    fn what_no_module_exports_is_missing() {
        let (export, import) = (op::IMPORT - 1, op::IMPORT);
        let one = module(&[("f", import), ("_Z9mem_fencej", import), ("g", export)]);
        let other = module(&[("f", export), ("g", import), ("_Z9mem_fencej", import)]);
        assert_eq!(missing(&[Arc::clone(&one), other]), ["_Z9mem_fencej"]);
        assert_eq!(missing(&[one]), ["f", "_Z9mem_fencej"]);
    }

    #[test]
    fn only_what_an_error_names_is_explained() {
        let names = ["_Z3foof".to_owned(), "_Z3barf".to_owned(), "f".to_owned()];
        let error = "the function \"_Z3foof\" is imported, \"f\" too";
        assert_eq!(
            explain(error, &names),
            "note: _Z3foof is foo(float), which is no built-in function of this device\n"
        );
    }
}
