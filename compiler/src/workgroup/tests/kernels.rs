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

/// v10: i64 the item's index, v11, v12 the addresses of its words in the input and output, v13 its
/// input.
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
fn several_bounds_checks() {
    check_after_head(
        "v14: i64 = dim_query.global_id.0
         v15: i32 = convert.trunc v14
         v16: i64 = dim_query.global_id.1
         v17: i32 = convert.trunc v16
         v18: i32 = const 19
         v19: i1 = icmp.sge v15, v18
         cond_br v19, block1, block2
         block2:
         v20: i1 = icmp.ult v17, v2
         v21: i1 = icmp.ne v15, v2
         v22: i1 = and v20, v21
         cond_br v22, block3(v15), block1
         block3(v23: i32):
         v24: i32 = iadd v23, v13
         store.global.align4 v12, v24
         br block1
         block1:
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

/// A barrier around an exchange through work-group memory. v20: the item's local index, v21 the
/// group's size, v22 the address of the item's word of `l0`.
const EXCHANGE: &str = "
  local l0 \"tile\" size 1024 align 4
block0(v0: ptr, v1: ptr, v2: i32, v3: i32):
  v10: i64 = query.global_linear_id
  v9: i64 = const 4
  v8: i64 = imul v10, v9
  v11: ptr = ptr_add v0, v8
  v12: ptr = ptr_add v1, v8
  v13: i32 = load.global.align4 v11
  v20: i64 = query.local_linear_id
  v30: i64 = dim_query.local_size.0
  v31: i64 = dim_query.local_size.1
  v32: i64 = dim_query.local_size.2
  v33: i64 = imul v30, v31
  v21: i64 = imul v33, v32
  v34: ptr = local_addr l0
  v35: i64 = imul v20, v9
  v22: ptr = ptr_add v34, v35
  v50: i64 = const 1
";

#[test]
fn reverse_through_work_group_memory() {
    check(&format!(
        "{EXCHANGE}
         store.local.align4 v22, v13
         barrier.workgroup.acqrel.local
         v23: i64 = isub v21, v50
         v24: i64 = isub v23, v20
         v25: i64 = imul v24, v9
         v26: ptr = ptr_add v34, v25
         v27: i32 = load.local.align4 v26
         v28: i32 = iadd v27, v13
         store.global.align4 v12, v28
         ret"
    ));
}

#[test]
fn rotation_in_a_loop_around_barriers() {
    check(&format!(
        "{EXCHANGE}
         v40: i32 = const 0
         v41: i32 = const 1
         br block1(v40, v13)
         block1(v42: i32, v43: i32):
         v44: i1 = icmp.slt v42, v2
         cond_br v44, block2, block3
         block2:
         store.local.align4 v22, v43
         barrier.workgroup.acqrel.local
         v45: i64 = iadd v20, v50
         v46: i64 = urem v45, v21
         v47: i64 = imul v46, v9
         v48: ptr = ptr_add v34, v47
         v49: i32 = load.local.align4 v48
         v51: i32 = iadd v49, v13
         barrier.workgroup.acqrel.local
         v52: i32 = iadd v42, v41
         br block1(v52, v51)
         block3:
         v53: i32 = isub v43, v42
         store.global.align4 v12, v53
         ret"
    ));
}

#[test]
fn loop_bound_from_memory() {
    // The bound is loaded from work-group memory, and the accumulator is used old and new after a
    // rotated loop.
    check(&format!(
        "{EXCHANGE}
         v40: i32 = const 0
         v41: i32 = const 1
         store.local.align4 v34, v2
         barrier.workgroup.acqrel.local
         v60: i32 = load.local.align4 v34
         barrier.workgroup.acqrel.local
         br block1(v40, v13)
         block1(v42: i32, v43: i32):
         v51: i32 = imul v43, v3
         v52: i32 = iadd v42, v41
         barrier.workgroup.acqrel.local
         v44: i1 = icmp.slt v52, v60
         cond_br v44, block1(v52, v51), block3
         block3:
         v53: i32 = isub v51, v43
         store.global.align4 v12, v53
         ret"
    ));
}

#[test]
fn tree_reduction() {
    // The condition is divergent inside, the loop around the barrier uniform.
    check(&format!(
        "{EXCHANGE}
         store.local.align4 v22, v13
         barrier.workgroup.acqrel.local
         v40: i64 = const 8
         br block1(v40)
         block1(v41: i64):
         v42: i64 = const 0
         v43: i1 = icmp.ugt v41, v42
         cond_br v43, block2, block5
         block2:
         v44: i64 = iadd v20, v41
         v45: i1 = icmp.ult v44, v21
         v46: i1 = icmp.ult v20, v41
         v47: i1 = and v45, v46
         cond_br v47, block3, block4
         block3:
         v48: i64 = imul v44, v9
         v49: ptr = ptr_add v34, v48
         v51: i32 = load.local.align4 v49
         v52: i32 = load.local.align4 v22
         v53: i32 = iadd v51, v52
         store.local.align4 v22, v53
         br block4
         block4:
         barrier.workgroup.acqrel.local
         v54: i64 = lshr v41, v50
         br block1(v54)
         block5:
         v55: i32 = load.local.align4 v34
         store.global.align4 v12, v55
         ret"
    ));
}

#[test]
fn private_array_across_barriers() {
    check(
        "  local l0 \"tile\" size 1024 align 4
block0(v0: ptr, v1: ptr, v2: i32, v3: i32):
  v4: ptr = alloca.12.align4
  v5: ptr = alloca.8.align8
  v10: i64 = query.global_linear_id
  v9: i64 = const 4
  v8: i64 = imul v10, v9
  v11: ptr = ptr_add v0, v8
  v12: ptr = ptr_add v1, v8
  v13: i32 = load.global.align4 v11
  v14: ptr = ptr_add v4, v9
  store.private.align4 v14, v13
  store.private.align8 v5, v14
  barrier.workgroup.acqrel.local
  v15: ptr = load.private.align8 v5
  v16: i32 = load.private.align4 v15
  v17: i32 = iadd v16, v2
  store.private.align4 v4, v17
  barrier.workgroup.acqrel.local
  v18: i32 = load.private.align4 v4
  store.global.align4 v12, v18
  ret",
    );
}

#[test]
fn barrier_in_a_conditional_and_before_a_return() {
    check(&format!(
        "{EXCHANGE}
         v40: i1 = icmp.slt v2, v3
         cond_br v40, block1, block2(v13)
         block1:
         store.local.align4 v22, v13
         barrier.workgroup.acqrel.local
         v41: i32 = load.local.align4 v34
         v42: i1 = icmp.sgt v2, v3
         cond_br v42, block3, block2(v41)
         block3:
         ret
         block2(v43: i32):
         v44: i32 = iadd v43, v13
         v45: i32 = convert.trunc v20
         v46: i1 = icmp.slt v45, v2
         cond_br v46, block4, block5
         block4:
         store.global.align4 v12, v44
         ret
         block5:
         store.global.align4 v12, v45
         ret"
    ));
}

#[test]
fn old_value_wanted_beyond_a_rotated_loop() {
    // The loop's variable is used after it, and not in the region that begins with it.
    check(&format!(
        "{EXCHANGE}
         v40: i32 = const 0
         v41: i32 = const 1
         br block1(v40, v13)
         block1(v42: i32, v43: i32):
         barrier.workgroup.acqrel.local
         v51: i32 = load.global.align4 v11
         v54: i32 = imul v51, v42
         v52: i32 = iadd v42, v41
         barrier.workgroup.acqrel.local
         v44: i1 = icmp.slt v52, v2
         cond_br v44, block1(v52, v54), block3
         block3:
         store.global.align4 v12, v43
         ret"
    ));
}

#[test]
fn values_exchanged_in_a_loop() {
    check(&format!(
        "{EXCHANGE}
         v40: i32 = const 0
         v41: i32 = const 1
         v60: i32 = imul v13, v3
         br block1(v40, v13, v60)
         block1(v42: i32, v43: i32, v45: i32):
         v44: i1 = icmp.slt v42, v2
         cond_br v44, block2, block3
         block2:
         barrier.workgroup.acqrel.local
         v52: i32 = iadd v42, v41
         br block1(v52, v45, v43)
         block3:
         v53: i32 = isub v43, v45
         store.global.align4 v12, v53
         ret"
    ));
}

#[test]
fn strided_loop_over_a_wide_index() {
    // for (int i = id; i < 60; i += 24): out[i] += in[i], as front ends write it.
    check_after_head(
        "v50: i64 = const 32
         v51: i32 = const 60
         v52: i64 = const 24
         v53: i64 = const 0x100000000
         v54: i64 = const 30
         v56: i32 = const 0
         br block1(v10, v56)
         block1(v14: i64, v55: i32):
         v15: i64 = shl v14, v50
         v16: i64 = ashr v15, v50
         v17: i64 = imul v16, v9
         v18: ptr = ptr_add v0, v17
         v19: i32 = load.global.align4 v18
         v20: i64 = iadd v15, v53
         v21: i64 = ashr v20, v54
         v22: ptr = ptr_add v0, v21
         v23: i32 = load.global.align4 v22
         v24: i32 = imul v19, v23
         v25: i32 = iadd v24, v55
         v26: i64 = iadd v16, v52
         v27: i32 = convert.trunc v26
         v28: i1 = icmp.slt v27, v51
         cond_br v28, block1(v26, v25), block2
         block2:
         store.global.align4 v12, v25
         ret",
    );
}

#[test]
fn some_return_before_a_barrier() {
    // Work-items past a limit return; the others use their neighbours' values, and loop around a
    // barrier.
    check(&format!(
        "{EXCHANGE}
         v40: i32 = const 0
         v41: i32 = const 1
         v60: i64 = const 20
         v61: i64 = dim_query.global_id.0
         v62: i1 = icmp.uge v61, v60
         cond_br v62, block9, block8
         block9:
         ret
         block8:
         store.local.align4 v22, v13
         barrier.workgroup.acqrel.local
         v63: i32 = load.local.align4 v34
         br block1(v40, v63)
         block1(v42: i32, v43: i32):
         v44: i1 = icmp.slt v42, v2
         cond_br v44, block2, block3
         block2:
         v52: i32 = iadd v42, v41
         v53: i32 = imul v43, v13
         barrier.workgroup.acqrel.local
         store.global.align4 v11, v53
         br block1(v52, v53)
         block3:
         store.global.align4 v12, v43
         ret"
    ));
}

#[test]
fn borders_apart() {
    // x > 0 && x < 13 ? in[i + 2] + in[i + 1] : in[i], branch by branch.
    check_after_head(
        "v14: i64 = dim_query.global_id.0
         v15: i32 = convert.trunc v14
         v16: i32 = const 0
         v17: i1 = icmp.sgt v15, v16
         cond_br v17, block1, block2(v2)
         block1:
         v18: i1 = icmp.slt v15, v3
         cond_br v18, block3, block2(v3)
         block3:
         v19: i64 = const 8
         v20: ptr = ptr_add v11, v19
         v21: i32 = load.global.align4 v20
         v22: ptr = ptr_add v11, v9
         v23: i32 = load.global.align4 v22
         v24: i32 = iadd v21, v23
         store.global.align4 v12, v24
         br block4
         block2(v25: i32):
         v26: i32 = iadd v13, v25
         store.global.align4 v12, v26
         br block4
         block4:
         ret",
    );
}

#[test]
fn clamped_coordinates() {
    // in[max(x - 2, 0)] + in[min(x + 1, 13)], the latter also in a loop with a moving bound.
    check_after_head(
        "v14: i64 = dim_query.global_id.0
         v15: i32 = convert.trunc v14
         v16: i32 = const -2
         v17: i32 = const 0
         v18: i32 = const 1
         v19: i32 = iadd v15, v16
         v20: i32 = smax v19, v17
         v21: i64 = convert.sext v20
         v22: i64 = imul v21, v9
         v23: ptr = ptr_add v0, v22
         v24: i32 = load.global.align4 v23
         v25: i32 = iadd v15, v18
         br block1(v17, v24)
         block1(v26: i32, v27: i32):
         v28: i32 = iadd v26, v3
         v29: i32 = umin v28, v25
         v30: i64 = convert.zext v29
         v31: i64 = imul v30, v9
         v32: ptr = ptr_add v0, v31
         v33: i32 = load.global.align4 v32
         v34: i32 = iadd v27, v33
         v35: i32 = iadd v26, v18
         v36: i1 = icmp.slt v35, v2
         cond_br v36, block1(v35, v34), block2
         block2:
         store.global.align4 v12, v34
         ret",
    );
}
