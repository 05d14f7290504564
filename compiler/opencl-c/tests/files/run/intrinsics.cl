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
