// RUN: execute -cl-std=CL2.0 -ext=cl_intel_split_work_group_barrier
// What work-items have written before they arrive is there after they have waited; between the two
// they go on (cl_intel_split_work_group_barrier).
// run:
// global: 8
// local: 8
// arg: buffer i32 iota 8
// arg: buffer i32 zero 8
// expect: 1 i32 [1007 1006 1005 1004 1003 1002 1001 1000]
kernel void reverse(global const int *in, global int *out) {
  local int shared[8], first;
  int id = get_local_id(0);
  shared[id] = in[id];
  intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE);
  int own = 990 + 10;
  intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE);
  int other = shared[7 - id];
  intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
  intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE, memory_scope_work_group);
  if (id == 0)
    first = own;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[id] = other + first;
}
