// RUN: execute -c
// FP_CONTRACT in what other programs may be linked to, whose entry points know nothing of it. With
// a = 1 + 2^-12 a product rounded by itself loses 2^-24 of a * a = 1 + 2^-11 + 2^-24.
// run:
// arg: buffer f32 zero 3
// arg: value f32 0x3f800800
// expect: 0 f32 [0 0 0]

kernel void scopes(global float *out, float a) {
#pragma OPENCL FP_CONTRACT OFF
  out[0] = a * a - 0x1.002p0f;
  float4 v = a;
  out[1] = (v * v - 0x1.002p0f).w;
  out[2] = 0x1.002p0f - a * a;
}
