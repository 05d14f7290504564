//! One kernel for each thing.

use super::{compare, range};
use crate::ir::parse;

/// `out[global linear id]` and an input of as many words, and two values.
fn check(body: &str) {
    for (global, local, offset) in [
        ([64, 1, 1], [16, 1, 1], [0, 0, 0]),
        ([37, 1, 1], [10, 1, 1], [3, 0, 0]),
        ([21, 5, 3], [7, 2, 2], [1, 2, 3]),
        ([32, 2, 2], [16, 2, 1], [0, 0, 0]),
    ] {
        let items = global.iter().product::<u64>() as usize + 64;
        let input: Vec<u32> = (0..items as u32)
            .map(|i| i.wrapping_mul(0x9e37_79b9))
            .collect();
        let text = format!(
            "kernel \"k\" @0 (value 0, value 8, value 16, value 20)
             func \"k\" (ptr, ptr, i32, i32) -> () {{\n{body}\n}}"
        );
        let module = parse::module(&text).unwrap();
        let range = range(global, local, offset);
        if let Err(message) = compare(&module, &range, &[input, vec![0; items]], &[5, 13]) {
            panic!("{message}");
        }
    }
}

/// v10: i64 the item's index, v11, v12 the addresses of its words in the input and output, v13 its input.
const HEAD: &str = "
block0(v0: ptr, v1: ptr, v2: i32, v3: i32):
  v10: i64 = query.global_linear_id
  v9: i64 = const 4
  v8: i64 = imul v10, v9
  v11: ptr = ptr_add v0, v8
  v12: ptr = ptr_add v1, v8
  v13: i32 = load.global.align4 v11
";

fn check_after_head(body: &str) {
    check(&format!("{HEAD}{body}"));
}

#[test]
fn straight_line() {
    check_after_head(
        "v14: i32 = iadd v13, v2
         v15: i32 = convert.trunc v10
         v16: i32 = imul v15, v14
         store.global.align4 v12, v16
         ret",
    );
}

#[test]
fn divergent_if_else() {
    check_after_head(
        "v14: i32 = const 1
         v15: i32 = and v13, v14
         v16: i1 = icmp.eq v15, v14
         cond_br v16, block1, block2
         block1:
         v17: i32 = load.global.align4 v0
         br block3(v17)
         block2:
         v18: i32 = imul v13, v3
         br block3(v18)
         block3(v19: i32):
         store.global.align4 v12, v19
         ret",
    );
}

#[test]
fn early_return_guards_accesses() {
    check_after_head(
        "v14: i32 = convert.trunc v10
         v15: i1 = icmp.slt v14, v3
         cond_br v15, block1, block2
         block1:
         store.global.align4 v12, v14
         ret
         block2:
         ret",
    );
}

#[test]
fn divergent_loop_with_live_out() {
    check_after_head(
        "v14: i32 = const 7
         v15: i32 = and v13, v14
         v16: i32 = const 0
         v30: i32 = const 1
         br block1(v16, v13)
         block1(v17: i32, v18: i32):
         v19: i32 = imul v18, v3
         v20: i32 = iadd v19, v17
         v21: i32 = iadd v17, v30
         v22: i1 = icmp.sle v21, v15
         cond_br v22, block1(v21, v20), block2
         block2:
         v23: i32 = iadd v20, v17
         store.global.align4 v12, v23
         ret",
    );
}

#[test]
fn unsigned_index_that_wraps() {
    // in[(uint)(id - 2) & 0xffffffff zero-extended], guarded by id >= 2.
    check_after_head(
        "v14: i32 = convert.trunc v10
         v15: i32 = const -2
         v16: i32 = iadd v14, v15
         v17: i32 = const 2
         v18: i1 = icmp.uge v14, v17
         cond_br v18, block1, block2
         block1:
         v19: i64 = convert.zext v16
         v20: i64 = imul v19, v9
         v21: ptr = ptr_add v0, v20
         v22: i32 = load.global.align4 v21
         store.global.align4 v12, v22
         br block2
         block2:
         ret",
    );
}

#[test]
fn uniform_address_last_lane_wins_within_a_work_item_order() {
    check_after_head(
        "v14: i32 = const 3
         store.global.align4 v1, v14
         ret",
    );
}

#[test]
fn private_array() {
    check(
        "block0(v0: ptr, v1: ptr, v2: i32, v3: i32):
  v4: ptr = alloca.16.align4
  v10: i64 = query.global_linear_id
  v9: i64 = const 4
  v8: i64 = imul v10, v9
  v11: ptr = ptr_add v0, v8
  v12: ptr = ptr_add v1, v8
  v13: i32 = load.global.align4 v11
  v14: i64 = const 8
  v15: ptr = ptr_add v4, v14
  store.private.align4 v4, v13
  store.private.align4 v15, v2
  v16: i32 = const 8
  v17: i32 = and v13, v16
  v18: i64 = convert.zext v17
  v19: ptr = ptr_add v4, v18
  v20: i32 = load.private.align4 v19
  store.global.align4 v12, v20
  ret",
    );
}

#[test]
fn divergent_switch_and_two_elements() {
    check_after_head(
        "v14: i32 = const 3
         v15: i32 = and v13, v14
         switch v15, default block3(v3), 0x0: block1, 0x2: block2, 0x3: block3(v15)
         block1:
         v16: i32, v17: i32 = load.global.align4 v0
         v18: i32 = iadd v16, v17
         br block3(v18)
         block2:
         ret
         block3(v19: i32):
         store.global.align4 v12, v19
         ret",
    );
}
