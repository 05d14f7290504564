// RUN: execute -cl-std=CL2.0 -ext=cl_khr_int64_base_atomics
// `long long` is a type of its own, of 64 bits and of a higher rank than `long`. Built-in functions
// take it for `long`.
// run: types
// arg: buffer i64 zero 24
// arg: value i64 [-5]
// WARNING: 12:24: 'long long' is reserved in OpenCL C; it is taken as C's, with 64 bits [-Wlong-long]
// expect: 0 i64 [1 2 2 1 2 1 2 1 2 1 8 5 3 18446744073709551615 25 -5 1 -5 -5 -5 -4 3 1 2]

#define OVERLOADABLE __attribute__((overloadable))
int OVERLOADABLE which(long a) { return 1; }
int OVERLOADABLE which(long long a) { return 2; }
int OVERLOADABLE which(ulong a) { return 1; }
int OVERLOADABLE which(unsigned long long a) { return 2; }
long OVERLOADABLE one(long a) { return a; }
float OVERLOADABLE one(float a) { return a; }

kernel void types(global long *p, long long v) {
  global long long *q = (global long long *)p;
  p[0] = which(1l);
  p[1] = which(1ll);
  p[2] = which(1ull);
  p[3] = which(1ul);
  p[4] = which(1l + 1ll);
  p[5] = which(1ul + 1l);
  p[6] = which(1ul + 1ll);
  p[7] = which(get_global_id(0));
  p[8] = _Generic(1ll, long: 1, long long: 2);
  p[9] = _Generic(9223372036854775807, long: 1, long long: 2);
  p[10] = sizeof(unsigned long long);
  p[11] = abs(v);
  p[12] = max(v, 3ll);
  p[13] = mul_hi(v, 1ll);
  p[14] = v * v;
  p[15] = convert_long_sat(v);
  p[16] = (float)v == -5.0f;
  p[17] = as_long(v);
  long2 w = (long2)(v, 1ll);
  p[18] = w.x;
  p[19] = vload2(0, q + 18).x;
  p[20] = one(v) + w.y;
  q[21] = 2;
  atom_add(q + 21, 1ll);
  p[22] = (1 ? 1ll : 2l) == (long long)true;
  enum e { big = 1ull << 40 };
  p[23] = which((long long)big);
}
