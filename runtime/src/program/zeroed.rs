//! Modules whose private variables begin as zeros: `CL_CONTEXT_MEMORY_INITIALIZE_PRIVATE_KHR`.
//!
//! A variable of a function that has no initializer is given a null constant of its type, and what
//! is undefined becomes null too. Modules that come from source have been compiled so that nothing
//! was concluded from a variable's being uninitialized; this is for all others.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::spirv::{header, instructions, op, push};

/// The nulls that a module needs: identifiers by type, in the order of the types' first use.
struct Nulls {
    next: u32,
    types: Vec<(u32, u32)>,
    of: HashMap<u32, u32>,
}

impl Nulls {
    fn of_type(&mut self, ty: u32) -> u32 {
        *self.of.entry(ty).or_insert_with(|| {
            let id = self.next;
            self.next += 1;
            self.types.push((ty, id));
            id
        })
    }
}

/// The module with initializers for the variables that have none. The module has been through
/// [`words`](crate::spirv::words).
pub(super) fn with_zeroed_variables(module: &Arc<Vec<u32>>) -> Arc<Vec<u32>> {
    let mut globals = header(module);
    let mut nullable: HashSet<u32> = HashSet::new();
    let mut pointees = HashMap::new();
    for (opcode, inst) in instructions(module) {
        if op::NULLABLE_TYPES.contains(&opcode) {
            nullable.extend(inst.first());
        }
        if let (op::TYPE_POINTER, &[result, op::FUNCTION_CLASS, pointee]) = (opcode, inst) {
            pointees.insert(result, pointee);
        }
    }
    let mut nulls = Nulls {
        next: globals[3],
        types: Vec::new(),
        of: HashMap::new(),
    };
    let mut functions = Vec::with_capacity(module.len());
    let mut undefined = Vec::new();
    let mut in_functions = false;
    for (opcode, inst) in instructions(module) {
        in_functions |= opcode == op::FUNCTION;
        let initialized = match (opcode, inst) {
            (op::VARIABLE, [pointer, _, op::FUNCTION_CLASS]) => pointees.get(pointer).copied(),
            (op::UNTYPED_VARIABLE, &[_, _, op::FUNCTION_CLASS, ty]) => Some(ty),
            _ => None,
        };
        let target = match in_functions {
            true => &mut functions,
            false => &mut globals,
        };
        if let Some(ty) = initialized.filter(|ty| nullable.contains(ty)) {
            push(target, opcode, &[inst, &[nulls.of_type(ty)]].concat());
        } else if let (op::UNDEF, [ty, _]) = (opcode, inst)
            && nullable.contains(ty)
        {
            // A constant stands outside of functions; where the undefined value stood outside too,
            // its type is before it.
            let target = match in_functions {
                true => &mut undefined,
                false => target,
            };
            push(target, op::CONSTANT_NULL, inst);
        } else {
            push(target, opcode, inst);
        }
    }
    for (ty, id) in &nulls.types {
        push(&mut globals, op::CONSTANT_NULL, &[*ty, *id]);
    }
    globals[3] = nulls.next;
    globals.extend(undefined);
    globals.extend(functions);
    Arc::new(globals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_without_initializer_get_one() {
        let int = [4 << 16 | 21, 1, 32, 0];
        let image = [2 << 16 | 26, 2];
        let pointer = [4 << 16 | 32, 3, 7, 1];
        let to_image = [4 << 16 | 32, 4, 7, 2];
        let constant = [4 << 16 | 43, 1, 5, 9];
        let function = [5 << 16 | 54, 1, 6, 0, 7];
        let mut module = vec![0x0723_0203u32, 0x0001_0000, 0, 20, 0];
        for inst in [&int[..], &image, &pointer, &to_image, &constant, &function] {
            module.extend(inst);
        }
        let start = module.len();
        module.extend([4 << 16 | 59, 3, 10, 7]);
        module.extend([4 << 16 | 59, 3, 11, 7]);
        module.extend([5 << 16 | 59, 3, 12, 7, 5]);
        module.extend([4 << 16 | 59, 4, 13, 7]);
        module.extend([3 << 16 | 1, 1, 14]);
        let zeroed = with_zeroed_variables(&Arc::new(module.clone()));
        let mut expected = module[..start - function.len()].to_vec();
        expected[3] = 21;
        expected.extend([3 << 16 | 46, 1, 20]);
        expected.extend([3 << 16 | 46, 1, 14]);
        expected.extend(function);
        expected.extend([5 << 16 | 59, 3, 10, 7, 20]);
        expected.extend([5 << 16 | 59, 3, 11, 7, 20]);
        expected.extend([5 << 16 | 59, 3, 12, 7, 5]);
        expected.extend([4 << 16 | 59, 4, 13, 7]);
        assert_eq!(*zeroed, expected);
    }
}
