// RUN: vulkan
// ERROR: 7:3: a pointer becomes an integer: Vulkan's pointers have no addresses (they can be compared, and subtracted from each other)
// ERROR: 11:3: printf: a pointer, which Vulkan has no number of
// LOG: *a = (int)(ulong)a;

kernel void address(global int *a) {
  *a = (int)(ulong)a;
}

kernel void prints(global int *a) {
  printf("%p", a);
}
