// RUN: vulkan
// Vectors of 8 and 16 components are their components.
// run: w
// arg: buffer f32 iota 16
// arg: buffer i32 zero 16
// arg: value i32 [1 2 3 4 5 6 7 8]
// arg: value i32 2
// expect: 0 f32 [16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1]
// expect: 1 i32 [3 -2 6 8 5 6 7 1 7 1 0 5 0 12 0 0]

kernel void w(global float16 *a, global int *out, int8 v, int i) {
  float16 all = *a;
  *a = all.sfedcba9876543210 + 1;
  int8 twice = v * 2 - (int8)(0, 6, 0, 0, 5, 6, 7, 15);
  twice.s0 = v[i];
  vstore8(twice, 0, out);
  out[8] = any(v > 7) + 6;
  int8 mask = v << 29;
  out[9] = select(v, (int8)(0), mask).s0;
  out[10] = select(v, (int8)(0), mask).s3;
  out[11] = ((int *)&v)[i + 2];
  short16 bits = as_short16(v);
  out[12] = bits.s1;
  out[13] = convert_int8_sat(all.hi).s4;
}
