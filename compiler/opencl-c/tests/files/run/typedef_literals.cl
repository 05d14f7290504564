// RUN: execute
// What stands before an operand in parentheses may be a vector type by another name, whose literal
// a swizzle may follow, or a scalar type that ends with a digit like vectors' do.
// run: cast_
// arg: buffer u8 [1 2 3 250]
// arg: buffer i32 zero 2
// expect: 1 i32 [1 197370]
// run: vector_
// arg: buffer f32 zero 8
// expect: 0 f32 [3 1 2 3 0 7 7 5]

typedef uint u32;
typedef float4 real4;
typedef float f4 __attribute__((ext_vector_type(4)));

kernel void cast_(global const uchar *in, global uint *out) {
  out[0] = (u32)(in)[0];
  out[1] = (u32)(in)[1] << 8 ^ (u32)(in)[2] << 16 ^ (u32)(in + 2)[1];
}

kernel void vector_(global float *out) {
  vstore3((real4)(1, 2, 3, 4).zxy, 0, out);
  out[3] = (f4)(3.0f).w;
  out[5] = (__typeof__(real4))(7).x;
  f4 sum = (f4)(1, 2, 3, 4) + 3;
  out[6] = sum.w;
  out[7] = sum.y;
}
