// RUN: execute -cl-std=CL3.0 -ext=__opencl_c_work_group_collective_functions,__opencl_c_subgroups
// RUN: execute -ext=cl_khr_work_group_uniform_arithmetic,cl_khr_subgroup_ballot
// RUN: execute -ext=cl_khr_subgroup_non_uniform_vote,cl_khr_subgroup_non_uniform_arithmetic
// RUN: execute -ext=cl_khr_subgroup_clustered_reduce,cl_khr_subgroup_shuffle
// RUN: execute -ext=cl_khr_subgroup_rotate,cl_intel_subgroups
// OpenCL C Specification, "Work-group Collective Functions".
// run:
// global: 4
// local: 4
// arg: buffer i32 [3 1 4 1]
// arg: buffer i32 zero 28
// expect: 1 i32 [9 9 9 9 3 4 8 9 0 0 1 1 1 1 1 1 1 1 1 1 12 12 12 12 4 4 4 4]
kernel void work_group(global int *in, global int *out) {
    int id = get_local_id(0), x = in[id];
    out[id] = work_group_reduce_add(x);
    out[4 + id] = work_group_scan_inclusive_add(x);
    out[8 + id] = work_group_scan_exclusive_max((uint)id) & 1 ? 1 : id > 1;
    out[12 + id] = work_group_any(x == 4);
    out[16 + id] = work_group_all(x != 4) + work_group_reduce_logical_or(id == 1);
    out[20 + id] = work_group_reduce_mul(x);
    out[24 + id] = work_group_broadcast(x, 2);
}
// "Sub-Group Functions" and what extensions add to them.
// run: sub_group
// global: 4
// local: 4
// subgroup: 4
// arg: buffer i32 [3 1 4 1]
// arg: buffer i32 zero 44
// expect: 1 i32 [9 9 9 9 0 1 1 1 4 4 4 4 4 4 5 5 1 4 1 3 1 3 1 4
//    3 4 8 9 2 2 2 2 1 0 0 0 1 1 1 1 4 4 4 4]
kernel void sub_group(global int *in, global int *out) {
    int id = get_sub_group_local_id(), x = in[id];
    out[id] = sub_group_reduce_add(x);
    out[4 + id] = sub_group_scan_exclusive_max(id) >= 0 && id > 0;
    out[8 + id] = sub_group_broadcast(x, 2);
    out[12 + id] = sub_group_clustered_reduce_add(x, 2);
    out[16 + id] = sub_group_rotate(x, 1);
    out[20 + id] = sub_group_shuffle_xor(x, 1);
    out[24 + id] = sub_group_non_uniform_scan_inclusive_add(x);
    out[28 + id] = sub_group_ballot_bit_count(sub_group_ballot(x == 1));
    out[32 + id] = sub_group_elect();
    out[36 + id] = sub_group_non_uniform_all(x) && !sub_group_non_uniform_all_equal(x);
    out[40 + id] = intel_sub_group_shuffle(x, 2);
}
// Every work-item sees what the others wrote before the barrier.
// run: reversed
// global: 4
// local: 4
// arg: buffer i32 iota 4
// arg: local 16
// expect: 0 i32 [3 2 1 0]
kernel void reversed(global int *p, local int *room) {
    int id = get_local_id(0);
    room[id] = p[id];
    work_group_barrier(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
    p[id] = room[3 - id];
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_work_group);
}
