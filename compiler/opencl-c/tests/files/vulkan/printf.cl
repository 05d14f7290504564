// RUN: vulkan -cl-std=CL3.0 -ext=cl_khr_fp64
// What is printed goes to a buffer; strings are numbers.

void say(constant char *format, int a) { printf(format, a, "twice"); }

kernel void k(global int *o, float f, char c, float4 v, char4 small, long l, double16 wide) {
  printf("none\n");
  printf("%d %f %c %s\n", o[0], f, c, "string");
  printf("%v4hlf %v4hhd %ld %v16lf\n", v, small, l, wide);
  say("%d %s\n", 7);
  o[1] = printf("%d", o[2]);
}
