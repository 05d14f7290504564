//! Which kernels' chunks run together, and that they compute the same.

use super::super::jam::Along;
use super::{assembled, compare, range};
use crate::ir::parse;
use crate::target::Target;

/// How chunks of a kernel run together at a width of 8 for AVX-512, in work-groups of such a size.
/// Its parameters are two buffers of `i32`, one with input, and the number of words of a row of
/// both; `head` has the ids and addresses.
fn jam_of(local: [u64; 3], exact: bool, body: &str) -> Option<(Along, u8)> {
    let text = format!(
        "kernel \"k\" @0 (value 0, value 8, value 16)
         func \"k\" (ptr, ptr, i32) -> () {{\n{HEAD}\n{body}\n}}"
    );
    let module = parse::module(&text).unwrap();
    let columns = 68;
    let mut jam = None;
    // Whole groups, and one at the edge.
    for global in [local, [columns, local[1] + local[1].div_ceil(2), 1]] {
        let range = range(global, local, [0; 3]);
        let input: Vec<u32> = (0..columns as u32 * 16).map(|i| i * i % 61).collect();
        let buffers = [input.clone(), vec![0; input.len()]];
        let values = [columns as u32];
        compare(&module, &range, &buffers, &values).unwrap_or_else(|e| panic!("{e}"));
        let target = Target::avx512();
        let (_, code) = assembled(&module, &range, &buffers, &values, 8, exact, &target).unwrap();
        jam = code.split.regions.iter().find_map(|r| r.jam.clone());
    }
    jam.map(|jam| (jam.along, jam.chunks))
}

/// x and y, and where the work-item's word and its row are in both buffers.
const HEAD: &str = "
block0(input: ptr, output: ptr, columns: i32):
  x: i64 = dim_query.global_id.0
  y: i64 = dim_query.global_id.1
  four: i64 = const 4
  zero: i32 = const 0
  one: i32 = const 1
  many: i32 = const 7
  wide: i64 = convert.zext.rte columns
  before: i64 = imul y, wide
  at: i64 = iadd before, x
  row_bytes: i64 = imul before, four
  bytes: i64 = imul at, four
  row: ptr = ptr_add input, row_bytes
  own: ptr = ptr_add input, bytes
  out: ptr = ptr_add output, bytes
";

/// The sum of the products of a row's words and those of a column.
const PRODUCT: &str = "
  br block1(zero, zero)
block1(k: i32, sum: i32):
  k64: i64 = convert.zext.rte k
  left_bytes: i64 = imul k64, four
  left_at: ptr = ptr_add row, left_bytes
  left: i32 = load.global.align4 left_at
  above: i64 = imul k64, wide
  right_index: i64 = iadd above, x
  right_bytes: i64 = imul right_index, four
  right_at: ptr = ptr_add input, right_bytes
  right: i32 = load.global.align4 right_at
  product: i32 = imul left, right
  next: i32 = iadd sum, product
  k2: i32 = iadd k, one
  more: i1 = icmp.slt k2, many
  cond_br more, block1(k2, next), block2
block2:
  store.global.align4 out, next
  ret";

#[test]
fn rows_share_a_column() {
    assert_eq!(jam_of([16, 8, 1], false, PRODUCT), Some((Along::Column, 4)));
}

#[test]
fn eight_rows_where_there_are_so_many() {
    assert_eq!(jam_of([16, 8, 1], true, PRODUCT), Some((Along::Column, 8)));
}

#[test]
fn fewer_rows_than_run_together() {
    assert_eq!(jam_of([8, 3, 1], false, PRODUCT), Some((Along::Column, 4)));
}

#[test]
fn chunks_of_the_only_row_share_its_words() {
    assert_eq!(jam_of([40, 1, 1], true, PRODUCT), Some((Along::Row, 4)));
}

#[test]
fn chunks_by_linear_id_are_of_all_rows() {
    // A sub-group has the chunk for its own, so chunks go on from row to row; also where the group
    // at the edge has rows of whole chunks.
    let body = "
  most: i32 = collective.subgroup.reduce.umax columns
  store.global.align4 out, most
  barrier.workgroup.acqrel.global
  word: i32 = load.global.align4 own
  br block1(zero, zero)
block1(k: i32, sum: i32):
  k64: i64 = convert.zext.rte k
  k_bytes: i64 = imul k64, four
  listed_at: ptr = ptr_add input, k_bytes
  listed: i32 = load.global.align4 listed_at
  product: i32 = imul listed, word
  next: i32 = iadd sum, product
  k2: i32 = iadd k, one
  more: i1 = icmp.slt k2, many
  cond_br more, block1(k2, next), block2
block2:
  all: i32 = iadd next, most
  store.global.align4 out, all
  ret";
    assert_eq!(jam_of([36, 3, 1], false, body), Some((Along::Row, 4)));
}

#[test]
fn rows_that_go_on_for_longer_than_others_run_alone() {
    let body = PRODUCT.replace("icmp.slt k2, many", "icmp.sle k2, y32");
    let body = format!("y32: i32 = convert.trunc.rte y\n{body}");
    assert_eq!(jam_of([16, 8, 1], false, &body), None);
}

#[test]
fn atomics_are_left_alone() {
    let body = PRODUCT.replace(
        "store.global.align4 out, next",
        "old: i32 = atomic_rmw.add.global.device.relaxed out, next",
    );
    assert_eq!(jam_of([16, 8, 1], false, &body), None);
}

#[test]
fn what_only_one_chunk_loads_is_not_worth_it() {
    let body = "
  br block1(zero, zero)
block1(k: i32, sum: i32):
  word: i32 = load.global.align4 own
  next: i32 = iadd sum, word
  k2: i32 = iadd k, one
  more: i1 = icmp.slt k2, many
  cond_br more, block1(k2, next), block2
block2:
  store.global.align4 out, next
  ret";
    assert_eq!(jam_of([16, 8, 1], false, body), None);
}

#[test]
fn what_all_rows_share_does_not_count_for_each() {
    // Sixteen products, each with four instructions of the row's own and four that all rows share.
    let steps = (0..16).map(|k| {
        format!(
            "k{k}: i64 = const {k}
  left_bytes{k}: i64 = imul k{k}, four
  left_at{k}: ptr = ptr_add row, left_bytes{k}
  left{k}: i32 = load.global.align4 left_at{k}
  above{k}: i64 = imul k{k}, wide
  right_index{k}: i64 = iadd above{k}, x
  right_bytes{k}: i64 = imul right_index{k}, four
  right_at{k}: ptr = ptr_add input, right_bytes{k}
  right{k}: i32 = load.global.align4 right_at{k}
  product{k}: i32 = imul left{k}, right{k}
  sum{next}: i32 = iadd sum{k}, product{k}
",
            next = k + 1
        )
    });
    let steps: String = steps.collect();
    let body = format!("sum0: i32 = const 0\n{steps}store.global.align4 out, sum16\nret");
    assert_eq!(jam_of([16, 8, 1], true, &body), Some((Along::Column, 8)));
}
