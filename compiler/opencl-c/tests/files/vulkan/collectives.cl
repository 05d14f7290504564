// RUN: vulkan -cl-std=CL3.0 -ext=__opencl_c_work_group_collective_functions
// Functions of a whole work-group go by way of local memory.
// run: c
// global: 8
// local: 4
// arg: buffer i32 [5 -1 7 2 -3 0 4 1]
// arg: buffer i32 [0 0 0 0 0 0 0 0]
// expect: 1 i32 [130572 135572 134772 141772 19741 17041 17441 21441]

kernel __attribute__((reqd_work_group_size(4, 1, 1))) void c(global int *in, global int *out) {
  int x = in[get_global_id(0)];
  int sum = work_group_reduce_add(x), before = work_group_scan_exclusive_add(x);
  int most = work_group_scan_inclusive_max(x), third = work_group_broadcast(x, 2);
  bool some = work_group_any(x == 7), all = work_group_all(x < 7);
  out[get_global_id(0)] = sum * 10000 + before * 1000 + most * 100 + third * 10 + some * 2 + all;
}
