// RUN: vulkan
// ERROR: 8:3: the type 'float8' cannot be expressed for Vulkan, whose vectors have at most 4 components
// ERROR: 12:3: a pointer becomes an integer: Vulkan's pointers have no addresses (they can be compared, and subtracted from each other)
// ERROR: 16:3: printf() cannot be expressed for Vulkan
// LOG: *a = (int)(ulong)a;

kernel void wide(global float8 *a) {
  *a += 1;
}

kernel void address(global int *a) {
  *a = (int)(ulong)a;
}

kernel void prints(global int *a) {
  printf("%d", *a);
}
