// Storage classes and address spaces of variables. OpenCL C Specification, "Storage-Class
// Specifiers" and "Address Space Qualifiers".
// RUN: check -cl-std=CL1.1

static constant int hidden = 1;
// ERROR: 5:1: OpenCL C version 1.1 does not support the 'static' storage class specifier
extern int prototype(int);
// ERROR: 7:1: OpenCL C version 1.1 does not support the 'extern' storage class specifier
int program_scope;
// ERROR: 9:5: program scope variable must reside in constant address space
kernel void k(global int *out) {
  constant int in_kernel = 1;
  local int shared;
  shared = out[0] + in_kernel;
}
