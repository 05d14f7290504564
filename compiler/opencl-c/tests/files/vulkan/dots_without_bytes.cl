// RUN: vulkan -int8=0 -cl-std=CL3.0 -ext=cl_khr_integer_dot_product,__opencl_c_integer_dot_product_input_4x8bit_packed
// run: d
// arg: buffer i32 [0 0]
// arg: buffer i32 [-66847231 67306234]
// expect: 0 i32 [-17 1781]

kernel void d(global int *out, global uint *p) {
  out[0] = dot_4x8packed_ss_int(p[0], p[1]);
  out[1] = dot_acc_sat_4x8packed_uu_uint(p[0], p[1], 6);
}
