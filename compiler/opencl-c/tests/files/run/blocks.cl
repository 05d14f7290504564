// RUN: execute -cl-std=CL2.0
// Blocks called where they are known: captured numbers, arrays and structures are copies, and a
// block inside of another captures through it.

struct pair { int a; int b[3]; };

int (^add)(int, int) = ^(int a, int b) { return a + b; };

// run:
// global: 4
// local: 2
// arg: buffer i32 zero 4
// arg: value i32 10
// expect: 0 i32 [148 150 152 154]
kernel void blocks(global int *out, int base) {
  int list[3] = {1, 2, 3};
  struct pair p = {100, {4, 5, 6}};
  int id = get_global_id(0);
  int (^sum)(int) = ^(int n) {
    return add(n, base) + list[2] + p.b[1] + p.a;
  };
  list[2] = 1000;
  p.a = 1000;
  int (^outer)(void) = ^{
    int twice = id * 2;
    int (^inner)(void) = ^{ return twice + base; };
    return inner();
  };
  out[id] = sum(20) + outer();
}
