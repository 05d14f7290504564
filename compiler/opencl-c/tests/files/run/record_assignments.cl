// RUN: execute
// What an assignment of a record yields, and records that are built from what they replace.
// run: records
// arg: buffer i32 [1 2 3 4 5 6 7 8 9]
// arg: buffer i32 zero 12
// expect: 1 i32 [4 5 6 4 4 5 8 7 9 6 0 5]

typedef struct {
  int x, y;
} Inner;
typedef struct {
  Inner in;
  int z;
} Outer;

int sum(Outer o) {
  return o.in.x + o.in.y - o.z;
}

kernel void records(global const Outer *from, global int *to) {
  int at = 1;
  Outer a, b;
  a = b = from[at++];
  to[0] = a.in.x;
  to[1] = b.in.y;
  to[2] = (b = a).z;
  a = (Outer){{a.in.y, a.in.x}, a.z};
  a.in = (Inner){a.in.y, a.in.x};
  to[3] = a.in.x;
  Inner p = {0, 0}, r;
  global Inner *q = (global Inner *)(to + 4);
  *q++ = a.in;
  p = at == 2 ? from[at].in : p;
  *q = (Inner){p.y, p.x};
  to[8] = from[2].z;
  Outer two[2];
  two[at - 2] = a;
  two[1] = two[0] = two[at - 2];
  to[9] = two[1].z;
  to[11] = sum(two[1] = two[0]) + (p = a.in).x - (r = from[0].in).y;
}
