//! Loops that are left out where the key says that they have one iteration, and guards where a flag
//! promises what they ask.

use super::super::WorkGroupCode;
use super::{assembled, compare, range};
use crate::ir::{Terminator, parse};
use crate::target::Target;
use crate::transform;

/// The code at a width of 8 for AVX-512 of a kernel that copies a word for each work-item, from
/// `offset` words further; `flag` is of the index's arithmetic.
fn copy(global: [u64; 3], local: [u64; 3], flag: &str, offset: u32) -> WorkGroupCode {
    let text = format!(
        "kernel \"k\" @0 (value 0, value 8, value 16, value 20)
         func \"k\" (ptr, ptr, i32, i32) -> () {{
         block0(input: ptr, output: ptr, columns: i32, offset: i32):
           four: i64 = const 4
           x64: i64 = dim_query.global_id.0
           y64: i64 = dim_query.global_id.1
           x: i32 = convert.trunc.rte x64
           y: i32 = convert.trunc.rte y64
           before: i32 = imul{flag} y, columns
           at: i32 = iadd{flag} before, x
           shifted: i32 = iadd{flag} at, offset
           wide: i64 = convert.sext.rte shifted
           bytes: i64 = imul wide, four
           from: ptr = ptr_add input, bytes
           word: i32 = load.global.align4 from
           own: i64 = convert.sext.rte at
           own_bytes: i64 = imul own, four
           to: ptr = ptr_add output, own_bytes
           store.global.align4 to, word
           ret
         }}"
    );
    let module = parse::module(&text).unwrap();
    let range = range(global, local, [0; 3]);
    let words = (global[0] * global[1]) as u32;
    let input: Vec<u32> = (0..words + offset).collect();
    let buffers = [input, vec![0; words as usize]];
    let values = [global[0] as u32, offset];
    compare(&module, &range, &buffers, &values).unwrap_or_else(|e| panic!("{e}"));
    let target = Target::avx512();
    let (_, code) = assembled(&module, &range, &buffers, &values, 8, true, &target).unwrap();
    code
}

/// How many blocks jump back to an earlier one.
fn loops(mut code: WorkGroupCode) -> usize {
    transform::cleanup(&mut code.function);
    let func = &code.function;
    let order = func.reverse_post_order();
    let place = |block| order.iter().position(|&b| b == block);
    let jumps_back = |&&block: &&_| {
        let term: &Terminator = &func.blocks[block].term;
        let mut targets = term.targets();
        targets.any(|call| place(call.block) <= place(block))
    };
    order.iter().filter(jumps_back).count()
}

#[test]
fn a_row_of_one_chunk_takes_no_loop() {
    // Over groups, planes, rows and chunks.
    assert_eq!(loops(copy([32, 4, 1], [16, 2, 1], ".nsw", 3)), 4);
    assert_eq!(loops(copy([32, 4, 1], [8, 2, 1], ".nsw", 3)), 3);
    assert_eq!(loops(copy([32, 1, 1], [8, 1, 1], ".nsw", 3)), 1);
    // A group at the edge has another row.
    assert!(loops(copy([36, 4, 1], [8, 2, 1], ".nsw", 3)) > 3);
}

#[test]
fn what_flags_promise_is_not_asked() {
    let is_guarded = |code: &WorkGroupCode| code.split.regions.iter().any(|r| r.guard.is_some());
    assert!(!is_guarded(&copy([32, 4, 1], [16, 2, 1], ".nsw", 3)));
    assert!(is_guarded(&copy([32, 4, 1], [16, 2, 1], "", 3)));
}
