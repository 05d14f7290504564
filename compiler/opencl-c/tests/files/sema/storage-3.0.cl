// Storage classes and address spaces of variables. OpenCL C Specification, "Storage-Class
// Specifiers" and "Address Space Qualifiers".
// RUN: check -cl-std=CL3.0 -ext=__opencl_c_program_scope_global_variables,__opencl_c_generic_address_space

int program_scope;
extern int program_scope;
static int tentative[];
private int wrong;
// ERROR: 8:13: program scope variable must reside in global or constant address space
int f(void) {
  static int kept;
  extern int program_scope;
  constant int in_function = 1;
  auto int automatic;
// ERROR: 14:3: OpenCL C version 3.0 does not support the 'auto' storage class specifier
  return kept + in_function + program_scope;
}
global event_t event;
// ERROR: 18:16: the 'event_t' type cannot be used to declare a program scope variable
local int *constant of_local = 0;
kernel void k(void) {
  local int shared;
  static local int *constant address = &shared;
// ERROR: 23:41: initializer element is not a compile-time constant
}
// Told at the end of the file.
// WARNING: 7:12: tentative array definition assumed to have one element [-Wtentative-definition-array]
