// RUN: check -cl-std=CL1.2

struct twice { int a; float b; int a; };
// ERROR: 3:36: duplicate member 'a'
constant int large[1 << 23] = {1};
// ERROR: 5:31: initializer of an array of 8388608 elements is too large

kernel void k(global int *out) {
  out[get_globl_id(0)] = 1;
// ERROR: 9:7: use of undeclared identifier 'get_globl_id'; did you mean 'get_global_id'?
  out[0] = clmap(out[1], 2, 3);
// ERROR: 11:12: use of undeclared identifier 'clmap'; did you mean 'clamp'?
}
