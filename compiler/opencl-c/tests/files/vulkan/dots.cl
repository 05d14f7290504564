// RUN: vulkan -cl-std=CL3.0 -ext=cl_khr_integer_dot_product,__opencl_c_integer_dot_product_input_4x8bit,__opencl_c_integer_dot_product_input_4x8bit_packed
// Dot products: an instruction of Vulkan 1.3, and arithmetic before.
// run: d
// arg: buffer i32 [0 0 0 0 0 0 0 0]
// arg: buffer i32 [-66847231 67306234]
// expect: 0 i32 [-17 1775 239 1519 -17 239 -2147483648 -1]

kernel void d(global int *out, global uint *p) {
  // 1 -2 3 -4, and -6 2 3 4.
  out[0] = dot(as_char4(p[0]), as_char4(p[1]));
  out[1] = dot(as_uchar4(p[0]), as_uchar4(p[1]));
  out[2] = dot(as_char4(p[0]), as_uchar4(p[1]));
  out[3] = dot(as_uchar4(p[0]), as_char4(p[1]));
  out[4] = dot_4x8packed_ss_int(p[0], p[1]);
  out[5] = dot_4x8packed_su_int(p[0], p[1]);
  out[6] = dot_acc_sat(as_char4(p[0]), as_char4(p[1]), INT_MIN + 10);
  out[7] = dot_acc_sat_4x8packed_uu_uint(p[0], p[1], 0xffffff00u);
}
