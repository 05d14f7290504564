//! Modules whose private variables begin as zeros: `CL_CONTEXT_MEMORY_INITIALIZE_PRIVATE_KHR`.
//!
//! A variable of a function that has no initializer is given a null constant of its type, and what is undefined becomes null too. Modules that come
//! from source have been compiled so that nothing was concluded from a variable's being uninitialized; this is for all others.

use std::collections::HashMap;
use std::sync::Arc;

/// Opcodes and numbers from the SPIR-V Specification, "Instructions" and "Storage Class".
mod op {
    pub const UNDEF: u32 = 1;
    pub const TYPE_POINTER: u32 = 32;
    pub const CONSTANT_NULL: u32 = 46;
    pub const FUNCTION: u32 = 54;
    pub const VARIABLE: u32 = 59;
    pub const UNTYPED_VARIABLE: u32 = 4418;
    /// Types that `OpConstantNull` takes: numbers, composites, pointers, events, reservations and queues.
    pub const NULLABLE: &[u32] = &[20, 21, 22, 23, 24, 28, 30, 32, 34, 35, 36, 37];
    pub const FUNCTION_CLASS: u32 = 7;
}

const HEADER: usize = 5;

/// Splits what follows the header into instructions, each with its first word. The module has been through
/// [`spirv_words`](super::spirv::spirv_words).
fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
    let mut rest = words.get(HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let (inst, after) = rest.split_at_checked((first >> 16).max(1) as usize)?;
        rest = after;
        Some((first & 0xffff, inst))
    })
}

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

/// The module with initializers for the variables that have none.
pub(super) fn with_zeroed_variables(module: &Arc<Vec<u32>>) -> Arc<Vec<u32>> {
    let Some(&bound) = module.get(3) else {
        return Arc::clone(module);
    };
    let mut nullable = HashMap::new();
    let mut pointees = HashMap::new();
    for (opcode, inst) in instructions(module) {
        if op::NULLABLE.contains(&opcode)
            && let Some(&ty) = inst.get(1)
        {
            nullable.insert(ty, ());
        }
        if let (op::TYPE_POINTER, &[_, result, op::FUNCTION_CLASS, pointee]) = (opcode, inst) {
            pointees.insert(result, pointee);
        }
    }
    let mut nulls = Nulls {
        next: bound,
        types: Vec::new(),
        of: HashMap::new(),
    };
    let mut functions = Vec::with_capacity(module.len());
    let mut undefined = Vec::new();
    let mut globals = module[..HEADER.min(module.len())].to_vec();
    let mut in_functions = false;
    for (opcode, inst) in instructions(module) {
        in_functions |= opcode == op::FUNCTION;
        let initialized = match (opcode, inst) {
            (op::VARIABLE, &[_, pointer, _, op::FUNCTION_CLASS]) => pointees.get(&pointer).copied(),
            (op::UNTYPED_VARIABLE, &[_, _, _, op::FUNCTION_CLASS, ty]) => Some(ty),
            _ => None,
        };
        let target = if in_functions {
            &mut functions
        } else {
            &mut globals
        };
        if let Some(ty) = initialized.filter(|ty| nullable.contains_key(ty)) {
            target.push(inst[0] + (1 << 16));
            target.extend(&inst[1..]);
            target.push(nulls.of_type(ty));
        } else if let (op::UNDEF, &[_, ty, result]) = (opcode, inst)
            && nullable.contains_key(&ty)
        {
            // A constant stands outside of functions; where the undefined value stood outside too, its type is before it.
            let null = [3 << 16 | op::CONSTANT_NULL, ty, result];
            match in_functions {
                true => undefined.extend(null),
                false => globals.extend(null),
            }
        } else {
            target.extend(inst);
        }
    }
    for (ty, id) in &nulls.types {
        globals.extend([3 << 16 | op::CONSTANT_NULL, *ty, *id]);
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
