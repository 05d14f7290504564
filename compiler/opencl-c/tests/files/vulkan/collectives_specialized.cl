// RUN: vulkan -cl-std=CL3.0 -ext=__opencl_c_work_group_collective_functions
// Functions of a whole work-group whose size is specialized go by way of local memory.

kernel void c(global int *in, global int *out) {
  int x = in[get_global_id(0)];
  int sum = work_group_reduce_add(x), before = work_group_scan_exclusive_add(x);
  int most = work_group_scan_inclusive_max(x), third = work_group_broadcast(x, 2);
  bool some = work_group_any(x == 7), all = work_group_all(x < 7);
  out[get_global_id(0)] = sum * 10000 + before * 1000 + most * 100 + third * 10 + some * 2 + all;
}
