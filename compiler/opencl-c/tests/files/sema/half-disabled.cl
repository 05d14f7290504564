// `half` without `#pragma OPENCL EXTENSION cl_khr_fp16 : enable` is what pointers point to. OpenCL C
// Specification, "The half Data Type", "Preprocessor Directives for Optional Extensions".
// RUN: check -cl-std=CL3.0 -ext=cl_khr_fp16

half result(half *p);
// ERROR: 5:6: declaring function return value of type 'half' is not allowed; did you forget * ?
void parameter(half h);
// ERROR: 7:21: declaring function parameter of type 'half' is not allowed; did you forget * ?
void f(global half *p) {
  half array[2];
// ERROR: 10:8: declaring variable of type 'half [2]' is not allowed
  float f = vload_half(0, p);
  f = *p;
// ERROR: 13:7: loading directly from pointer to type 'half' requires cl_khr_fp16. Use vector data load builtin functions instead
  *p = 1;
// ERROR: 15:6: assigning directly to pointer to type 'half' requires cl_khr_fp16. Use vector data store builtin functions instead
  p[1] = p[2];
// ERROR: 17:8: assigning directly to pointer to type 'half' requires cl_khr_fp16. Use vector data store builtin functions instead
  f = 1.0h;
// ERROR: 19:7: half precision constant requires cl_khr_fp16
  f = (half)f;
// ERROR: 21:7: casting to type 'half' is not allowed
}
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
half enabled(half h) {
  return h * 1.0h;
}
#pragma OPENCL EXTENSION all : disable
half again;
// ERROR: 29:6: declaring variable of type 'half' is not allowed
