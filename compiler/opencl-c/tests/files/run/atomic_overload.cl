// RUN: execute -ext=cl_khr_global_int32_base_atomics
// A pointer to unsigned integers decides for the unsigned function, whatever the other argument is.

// run:
// arg: buffer i32 zero 1
// expect: 0 i32 [12]
kernel void sum(volatile global uint *out) {
  int four = 4;
  atom_add(&out[0], four);
  atomic_add(out, four * 2);
}
