//! Modules with the values of their specialization constants written into them.

use std::collections::HashMap;
use std::sync::Arc;

use brolga_compiler::SpecConstants;

use crate::spirv::{header, instructions, op, push};

/// The module with the values of specialization constants written into it as their defaults, so
/// that it means the same without them. The module has been through [`words`](crate::spirv::words).
pub(super) fn specialised(module: &Arc<Vec<u32>>, spec: &SpecConstants) -> Arc<Vec<u32>> {
    if spec.is_empty() {
        return Arc::clone(module);
    }
    // Decorations come before the constants they decorate (SPIR-V, "Logical Layout of a Module").
    let mut values = HashMap::new();
    let mut out = header(module);
    for (opcode, inst) in instructions(module) {
        match (opcode, inst) {
            (op::DECORATE, [target, op::SPEC_ID, id]) => {
                if let Some(value) = spec.get(id) {
                    values.insert(*target, value);
                }
            }
            (op::SPEC_CONSTANT_TRUE | op::SPEC_CONSTANT_FALSE, [_, result]) => {
                if let Some(value) = values.get(result) {
                    let opcode = match value.iter().any(|&byte| byte != 0) {
                        true => op::SPEC_CONSTANT_TRUE,
                        false => op::SPEC_CONSTANT_FALSE,
                    };
                    push(&mut out, opcode, inst);
                    continue;
                }
            }
            (op::SPEC_CONSTANT, [ty, result, literal @ ..]) => {
                if let Some(value) = values.get(result) {
                    let mut operands = vec![*ty, *result];
                    let mut bytes = value.chunks(4);
                    operands.extend(literal.iter().map(|&word| match bytes.next() {
                        Some(bytes) => {
                            let mut quad = [0; 4];
                            quad[..bytes.len()].copy_from_slice(bytes);
                            u32::from_le_bytes(quad)
                        }
                        None => word,
                    }));
                    push(&mut out, opcode, &operands);
                    continue;
                }
            }
            _ => {}
        }
        push(&mut out, opcode, inst);
    }
    Arc::new(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specialised_modules_have_new_defaults() {
        let decorate = |target, id| [4 << 16 | 71, target, 1, id];
        let mut module = vec![0x0723_0203u32, 0x0001_0000, 0, 9, 0];
        module.extend(decorate(1, 10));
        module.extend(decorate(2, 11));
        module.extend(decorate(3, 12));
        module.extend([4 << 16 | 50, 7, 1, 5]);
        module.extend([3 << 16 | 48, 8, 2]);
        module.extend([5 << 16 | 50, 9, 3, 1, 1]);
        let mut spec = SpecConstants::new();
        spec.insert(10, vec![9, 1]);
        spec.insert(11, vec![0]);
        let module = Arc::new(module);
        let mut expected = module.to_vec();
        expected[5 + 12 + 3] = 0x109;
        expected[5 + 12 + 4] = 3 << 16 | 49;
        assert_eq!(*specialised(&module, &spec), expected);
        spec.insert(12, vec![1, 2, 3, 4, 5, 6, 7, 8]);
        let result = specialised(&module, &spec);
        let end = result.len();
        assert_eq!(result[end - 2..], [0x0403_0201, 0x0807_0605]);
    }
}
