// RUN: execute
// GNU C: a const integer with a known initialiser is a constant; compound literals are objects.
// run: lengths
// arg: buffer i32 [5]
// arg: buffer i32 zero 5
// expect: 1 i32 [24 6 3 9 1]
// run: objects
// arg: buffer i32 [5]
// expect: 0 i32 [27]

kernel void lengths(global int *in, global int *out) {
  const int n = 3, m = n * 2;
  const uchar small = (uchar)259;
  int list[m], last = m;
  for (int i = 0; i < last; i++)
    list[i] = i;
  out[0] = sizeof list;
  out[1] = list[5] + 1;
  out[2] = small;
  switch (in[0]) {
  case n + 2:
    out[3] = 9;
  }
  const int unknown = in[0];
  out[4] = __builtin_constant_p(n) + __builtin_constant_p(unknown);
}

kernel void objects(global int *p) {
  int *one = &(int){p[0]}, *other = &(int){p[0]};
  *one += 10;
  float4 *v = &((float4){1, 2, 3, 4});
  v->y = 7;
  p[0] = *one + *other + (int)v->y;
}
