// RUN: execute
// Built-in functions of GNU C.
// run:
// arg: buffer i32 [0x01020304 8 0 -1 0x10 3 255 7]
// arg: buffer i32 zero 14
// expect: 1 i32 [0x04030201 4 0 32 27 3 1 31 0x80000000 0x10203040 5 0 3 3]
// run: memory
// arg: buffer i32 [1 2 3 4 5 6 7 8]
// arg: value i32 12
// expect: 0 i32 [1 1 2 3 5 0 0x05050505 5]
// run: overflow
// arg: buffer i32 [2147483647 1 -5 200 3]
// arg: buffer i32 zero 12
// expect: 1 i32 [1 -2147483648 0 2147483646 1 144 1 -5 1 0 1 6]
// run: lanes
// arg: buffer i32 [3 -7 5 9]
// arg: buffer i32 zero 10
// expect: 1 i32 [10 9 -7 -945 0 -1 9 1 32 48]

kernel void bits(global const uint *in, global int *out) {
  out[0] = __builtin_bswap32(in[0]);
  out[1] = __builtin_ffs(in[1]);
  out[2] = __builtin_ffs(in[2]);
  out[3] = __builtin_popcount(in[3]);
  out[4] = __builtin_clz(in[4]);
  out[5] = __builtin_ctz(in[1]);
  out[6] = __builtin_parity(in[7]);
  out[7] = __builtin_clrsb(in[3]);
  out[8] = __builtin_bitreverse32(in[7] >> 2);
  out[9] = __builtin_rotateleft32(in[0], 4) + (__builtin_rotateright32(in[4], 4) & 0);
  int4 v = __builtin_shufflevector((int4)(1, 2, 3, 4), (int4)(5, 6, 7, 8), 4, 0, -1, 3);
  out[10] = v.x;
  out[11] = __builtin_expect(in[2] != 0, 0);
  out[12] = __builtin_abs((int)in[5] - 6);
  out[13] = (int)__builtin_sqrtf(9.0f);
}

kernel void memory(global int *p, int n) {
  __builtin_memmove(p + 1, p, n);
  __builtin_memset(p + 5, 0, 4);
  __builtin_memset(p + 6, 5, n - 8);
  int one[1] = {5};
  __builtin_memcpy(p + 7, one, sizeof one);
}

kernel void overflow(global const int *in, global int *out) {
  int result;
  uint whole;
  uchar byte;
  long wide;
  ulong huge;
  out[0] = __builtin_add_overflow(in[0], in[1], &result);
  out[1] = result;
  out[2] = __builtin_ssub_overflow(in[0], in[1], &result);
  out[3] = result;
  out[4] = __builtin_mul_overflow(in[3], 2, &byte);
  out[5] = byte;
  out[6] = __builtin_add_overflow(in[2], 0, &whole);
  out[7] = whole;
  out[8] = __builtin_mul_overflow((long)in[0] << 31, (long)in[3], &wide);
  out[9] = __builtin_smulll_overflow(in[0], in[3], &wide);
  out[10] = __builtin_usubl_overflow(in[1], in[4], &huge);
  out[11] = __builtin_uadd_overflow(in[1], in[4] + 2, &whole);
  out[11] += whole;
}

kernel void lanes(global const int *in, global int *out) {
  int4 v = vload4(0, in);
  out[0] = __builtin_reduce_add(v);
  out[1] = __builtin_reduce_max(v);
  out[2] = __builtin_reduce_min(v);
  out[3] = __builtin_reduce_mul(v);
  out[4] = __builtin_reduce_and(v & 6) & 1;
  out[5] = __builtin_reduce_or(v);
  out[6] = (int)__builtin_reduce_max(convert_float4(v));
  out[7] = __builtin_is_aligned(in[3] + 7, 16);
  out[8] = __builtin_align_down(in[3] + 24, 16) + __builtin_align_up(in[3] - 9, 16);
  out[9] = (int)__builtin_elementwise_sqrt((float2)(9.0f, 16.0f)).y * 12;
}
