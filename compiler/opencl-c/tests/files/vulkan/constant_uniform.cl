// RUN: vulkan -constant-args-ubo
// What the layout of uniform buffers has no room for.
// ERROR: 8:52: -constant-args-ubo: a structure in a structure that does not begin at a multiple of 16 bytes
// LOG: 1 error generated.

typedef struct { int x __attribute__((aligned(16))); } Padded;

kernel void k(global int *p, constant Padded *q) { p[0] = q[p[1]].x; }
