// RUN: vulkan
// Pointers that are kept, chosen, compared, subtracted and cast.
// run: p
// arg: buffer i32 [1 2 3 4 5 6 7 8]
// arg: buffer i32 [10 20 30 40]
// arg: value i32 1
// expect: 0 i32 [101 2 7 20 3 6 1077936128 9]
// expect: 1 i32 [10 21 30 40]

typedef struct { char c; int a[3]; global int *to; } Kept;

int take(global int *p, int n) {
  int sum = 0;
  for (global int *end = p + n; p != end; ++p) sum += *p;
  return sum;
}

kernel void p(global int *a, global int *b, int which) {
  global int *chosen = which ? b : a;
  chosen[1]++;
  Kept kept = {1, {2, 3, 4}, which ? a : 0};
  kept.a[which] += 4;
  if (kept.to) kept.to[2] = kept.a[1];
  a[4] = (kept.to + 3) - a;
  ((global float *)a)[6] = 3.0f;
  global char *bytes = (global char *)(a + 7);
  bytes[0] = 9;
  a[3] = (global char *)(a + 5) - (global char *)a;
  int priv[4] = {1, 2, 3, 4};
  int *q = which ? priv : &priv[2];
  q[1] = 100;
  a[0] += priv[which];
}
