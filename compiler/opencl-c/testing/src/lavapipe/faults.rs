//! What Mesa's implementation is known to compile wrongly, which is no fault of a module's.

use std::collections::BTreeSet;

use rspirv::spirv::Op;

use super::reflection::instructions;

/// Whether a module compares an integer of 64 bits that was a smaller one, sign-extended, with a
/// constant: for Mesa 22.3 `(long)a <= 15` is false if `a` is 7, in a kernel of this expression.
pub fn compares_extended_numbers(words: &[u32]) -> bool {
    let (mut wide, mut extended, mut constants) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    instructions(words).any(|(opcode, operands)| {
        match (Op::from_u32(opcode), operands) {
            (Some(Op::TypeInt), &[id, 64, _]) => {
                wide.insert(id);
            }
            (Some(Op::Constant), &[ty, id, ..]) if wide.contains(&ty) => {
                constants.insert(id);
            }
            (Some(Op::SConvert), &[ty, id, _]) if wide.contains(&ty) => {
                extended.insert(id);
            }
            (
                Some(Op::SLessThan | Op::SLessThanEqual | Op::SGreaterThan | Op::SGreaterThanEqual),
                &[_, _, left, right],
            ) => {
                return extended.contains(&left) && constants.contains(&right)
                    || extended.contains(&right) && constants.contains(&left);
            }
            _ => {}
        }
        false
    })
}
