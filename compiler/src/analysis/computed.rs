//! Which values are computed from work-items' ids.
//!
//! What follows from ids and values at hand by arithmetic alone can be computed anywhere, and
//! neighbouring work-items may well have neighbouring values of it although no shape says so. Cost:
//! at most the square of the limit.

use smallvec::{SmallVec, smallvec};

use crate::ir::{Function, Op, Value, ValueDef};

/// An address that more instructions compute is not compared with its neighbours' at run time
/// (`lower/gathers/`).
pub const PROBED_INSTRUCTIONS: usize = 64;

/// Whether a value follows from ids, constants and what is `given`, by no more than `limit` pure
/// instructions of one result. Work that is done out of line does not count as arithmetic.
pub fn is_computed_from_ids(
    func: &Function,
    value: Value,
    limit: usize,
    given: impl Fn(Value) -> bool,
) -> bool {
    let mut todo: SmallVec<[Value; 16]> = smallvec![value];
    let mut seen: SmallVec<[Value; 64]> = smallvec![];
    while let Some(value) = todo.pop() {
        if given(value) || seen.contains(&value) {
            continue;
        }
        seen.push(value);
        // Parameters of other blocks than the first are carried around a loop or merged.
        let Some(inst) = func.def_inst(value) else {
            return false;
        };
        let data = &func.insts[inst];
        let arithmetic = data.op.is_pure() && !matches!(data.op, Op::Routine(..));
        if seen.len() > limit || !arithmetic || data.results.len() != 1 {
            return false;
        }
        todo.extend(data.args.iter().copied());
    }
    true
}

/// Whether a value is a parameter of the function.
pub fn is_function_param(func: &Function, value: Value) -> bool {
    matches!(func.values[value].def, ValueDef::Param(block, _) if block == func.entry())
}

#[cfg(test)]
mod tests {
    use super::{is_computed_from_ids, is_function_param};
    use crate::ir::parse;

    /// Whether the address of the store in a kernel is computed from ids and parameters.
    fn address_is_computed(index: &str, limit: usize) -> bool {
        let text = format!(
            "func \"k\" (ptr, i64) -> () {{
            block0(p: ptr, n: i64):
              id: i64 = dim_query.global_id.0
              next: i64 = iadd id, n
              twice: i64 = imul next, next
              read: i64 = load.global.align8 p
              br block1(id)
            block1(merged: i64):
              at: ptr = ptr_add p, {index}
              store.global.align8 at, n
              ret
            }}"
        );
        let module = parse::module(&text).expect("a module");
        let (_, kernel) = module.functions.iter().next().expect("a function");
        let store = *kernel.blocks[kernel.layout[1]]
            .insts
            .last()
            .expect("a store");
        let address = kernel.insts[store].args[0];
        is_computed_from_ids(kernel, address, limit, |v| is_function_param(kernel, v))
    }

    #[test]
    fn arithmetic_of_ids_and_parameters_is() {
        assert!(address_is_computed("id", 64));
        assert!(address_is_computed("twice", 64));
    }

    #[test]
    fn what_is_loaded_or_merged_is_not() {
        assert!(!address_is_computed("read", 64));
        assert!(!address_is_computed("merged", 64));
    }

    #[test]
    fn an_instruction_counts_once() {
        // ptr_add, imul, iadd, dim_query.
        assert!(address_is_computed("twice", 4));
        assert!(!address_is_computed("twice", 3));
    }
}
