// RUN: execute -cl-std=CL2.0
// What attributes and odd declarations say counts when the program runs.
// run: aligned_
// arg: buffer f32 [1 2 3 4 5 6 7 8]
// arg: buffer f32 zero 4
// expect: 1 f32 [6 8 10 12]
// run: literals
// arg: buffer i32 zero 6
// expect: 0 i32 [1 2 3 4 5 3]
// run: atomics
// arg: buffer i32 [5 0]
// expect: 0 i32 [8 5]

typedef float4 loose __attribute__((aligned(4)));
typedef float lanes __attribute__((ext_vector_type(4)));

// The vectors are where a `float4` could not be.
kernel void aligned_(global float *in, global float *out) {
  global loose *from = (global loose *)(in + 1);
  lanes sum = from[0] + (lanes)(in[4], in[5], in[6], in[7]) + (lanes)(-1, -1, -1, -1);
  out[0] = sum.x;
  out[1] = sum.y;
  out[2] = sum.z;
  out[3] = sum.w;
}

struct pair { int a, b; };
struct pair copied = (struct pair){1, 2};
struct pair *pointed = &(struct pair){3, 4};
constant struct pair tail[] = {[1].a = 5, 6, 7};

kernel void literals(global int *out) {
  out[0] = copied.a;
  out[1] = copied.b;
  out[2] = pointed->a;
  out[3] = pointed->b;
  out[4] = tail[1].a;
  out[5] = sizeof(tail) / sizeof(*tail);
}

kernel void atomics(global atomic_int *p) {
  int before = __opencl_atomic_fetch_add(p, 3, memory_order_relaxed, memory_scope_device);
  __opencl_atomic_store(p + 1, before, memory_order_relaxed, memory_scope_device);
}
