//! SPIR-V modules as words: recognised, and specialised in place. What they mean is for the compiler to judge.

use std::collections::HashMap;
use std::sync::Arc;

use brolga_compiler::SpecConstants;

/// The words of a SPIR-V module in either byte order, if the bytes have the form of one: the magic number, a header, and
/// instructions whose lengths add up. What they say is for the compiler to judge.
pub(super) fn spirv_words(bytes: &[u8]) -> Option<Vec<u32>> {
    const MAGIC: u32 = 0x0723_0203;
    const HEADER: usize = 5;
    if !bytes.len().is_multiple_of(4) {
        return None;
    }
    let quads = bytes
        .chunks_exact(4)
        .map(|quad| [quad[0], quad[1], quad[2], quad[3]]);
    let mut words: Vec<u32> = quads.map(u32::from_le_bytes).collect();
    if words.first() == Some(&MAGIC.swap_bytes()) {
        words.iter_mut().for_each(|word| *word = word.swap_bytes());
    }
    if words.len() < HEADER || words[0] != MAGIC {
        return None;
    }
    let mut at = HEADER;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        if length == 0 {
            return None;
        }
        at += length;
    }
    (at == words.len()).then_some(words)
}

/// The module with the values of specialization constants written into it as their defaults, so that it means the same
/// without them. The module has been through [`spirv_words`].
pub(super) fn specialised(words: &Arc<Vec<u32>>, spec: &SpecConstants) -> Arc<Vec<u32>> {
    if spec.is_empty() {
        return Arc::clone(words);
    }
    const HEADER: usize = 5;
    const OP_SPEC_CONSTANT_TRUE: u32 = 48;
    const OP_SPEC_CONSTANT_FALSE: u32 = 49;
    const OP_SPEC_CONSTANT: u32 = 50;
    const OP_DECORATE: u32 = 71;
    const DECORATION_SPEC_ID: u32 = 1;
    let mut words = words.to_vec();
    // Decorations come before the constants they decorate (SPIR-V, "Logical Layout of a Module").
    let mut values = HashMap::new();
    let mut at = HEADER;
    while let Some(&first) = words.get(at) {
        let (opcode, length) = (first & 0xffff, (first >> 16).max(1) as usize);
        let Some(instruction) = words.get_mut(at..at + length) else {
            break;
        };
        match (opcode, instruction) {
            (OP_DECORATE, [_, target, DECORATION_SPEC_ID, id]) => {
                if let Some(value) = spec.get(id) {
                    values.insert(*target, value);
                }
            }
            (OP_SPEC_CONSTANT_TRUE | OP_SPEC_CONSTANT_FALSE, [first, _, result]) => {
                if let Some(value) = values.get(result) {
                    let is_true = value.iter().any(|&byte| byte != 0);
                    let opcode = if is_true {
                        OP_SPEC_CONSTANT_TRUE
                    } else {
                        OP_SPEC_CONSTANT_FALSE
                    };
                    *first = *first & 0xffff_0000 | opcode;
                }
            }
            (OP_SPEC_CONSTANT, [_, _, result, literal @ ..]) => {
                if let Some(value) = values.get(result) {
                    for (word, bytes) in literal.iter_mut().zip(value.chunks(4)) {
                        let mut quad = [0; 4];
                        quad[..bytes.len()].copy_from_slice(bytes);
                        *word = u32::from_le_bytes(quad);
                    }
                }
            }
            _ => {}
        }
        at += length;
    }
    Arc::new(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_recognised_in_both_byte_orders() {
        let words = [0x0723_0203u32, 0x0001_0000, 0, 1, 0, 0x0002_0011, 6];
        let little: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let big: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(spirv_words(&little).as_deref(), Some(&words[..]));
        assert_eq!(spirv_words(&big).as_deref(), Some(&words[..]));
    }

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

    #[test]
    fn bytes_that_are_no_module_are_refused() {
        let header = [0x0723_0203u32, 0x0001_0000, 0, 1, 0];
        let with = |rest: &[u32]| -> Vec<u8> {
            header
                .iter()
                .chain(rest)
                .flat_map(|word| word.to_le_bytes())
                .collect()
        };
        assert!(spirv_words(&[]).is_none());
        assert!(spirv_words(&with(&[])[..19]).is_none());
        assert!(spirv_words(&with(&[])[..16]).is_none());
        assert!(spirv_words(b"kernel void f() {}  ").is_none());
        assert!(
            spirv_words(&with(&[0x0000_0011])).is_none(),
            "a length of zero"
        );
        assert!(
            spirv_words(&with(&[0x0003_0011, 6])).is_none(),
            "an instruction cut off"
        );
        assert!(spirv_words(&with(&[])).is_some());
    }
}
