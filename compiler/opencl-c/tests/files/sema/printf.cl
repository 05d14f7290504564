// Formats against arguments. OpenCL C Specification, "printf Format String".
// RUN: check -cl-std=CL3.0 -ext=cl_khr_fp64,__opencl_c_fp64

void f(char c, short s, int i, long l, float x, double d, int4 v, char4 b, float4 y, double2 z) {
  printf("%d %hd %hhd %u %x %c\n", c, s, i, i, s, c);
  printf("%ld %lu %lx\n", l, l, l);
  printf("%f %e %g %a\n", x, d, x, d);
  printf("%v4d %v4hld %v4hhd %v4hlf %v2lf\n", v, v, b, y, z);
  printf("%*.*f %5.2f %%\n", i, i, x, d);
  printf("%s %p\n", "text", "text");
  printf("%d\n", l);
// WARNING: 11:18: format specifies type 'int' but the argument has type 'long' [-Wformat]
  printf("%ld\n", i);
// WARNING: 13:19: format specifies type 'long' but the argument has type 'int' [-Wformat]
  printf("%d\n", x);
// WARNING: 15:18: format specifies type 'int' but the argument has type 'float' [-Wformat]
  printf("%f\n", i);
// WARNING: 17:18: format specifies type 'double' but the argument has type 'int' [-Wformat]
  printf("%v4hhd\n", v);
// WARNING: 19:22: format specifies type 'char4' but the argument has type 'int4' (vector of 4 'int' values) [-Wformat]
  printf("%v4ld\n", v);
// WARNING: 21:21: format specifies type 'long4' but the argument has type 'int4' (vector of 4 'int' values) [-Wformat]
  printf("%v2lf\n", y);
// WARNING: 23:21: format specifies type 'double2' but the argument has type 'float4' (vector of 4 'float' values) [-Wformat]
  printf("%v4hlf\n", v);
// WARNING: 25:22: format specifies type 'float4' but the argument has type 'int4' (vector of 4 'int' values) [-Wformat]
  printf("%s\n", i);
// WARNING: 27:18: format specifies type '__constant char *' but the argument has type 'int' [-Wformat]
  printf("%y\n", i);
// WARNING: 29:18: invalid conversion specifier 'y' [-Wformat-invalid-specifier]
  printf("%d %d\n", i);
// WARNING: 31:10: more '%' conversions than data arguments [-Wformat]
  printf("%d\n", i, i);
// WARNING: 33:21: data argument not used by format string [-Wformat-extra-args]
}
