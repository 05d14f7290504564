// RUN: execute -cl-std=CL1.2
// The pointer says which type is meant, whatever the type of the operand.
// run: add
// arg: buffer i32 [1 2 3]
// expect: 0 i32 [5 1 -1]

kernel void add(volatile global uint *p) {
  atomic_add(p, 1 << 2);
  atomic_sub(&p[1], (uchar)1);
  atomic_max((volatile global int *)p + 2, 3u);
  atomic_xchg(p + 2, -1);
}
