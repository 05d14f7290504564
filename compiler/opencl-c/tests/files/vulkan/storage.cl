// RUN: vulkan -no-8bit-storage=ssbo,ubo,pushconstant -no-16bit-storage=ssbo
// ERROR: 6:37: -no-8bit-storage: numbers of 8 bits in StorageBuffer memory
// ERROR: 7:39: -no-16bit-storage: numbers of 16 bits in StorageBuffer memory
// LOG: 2 errors generated.

kernel void bytes(global char *p) { p[0] = 1; }
kernel void shorts(global short *p) { p[0] = 1; }
kernel void words(global int *p) { char c = p[0]; p[0] = c; }
