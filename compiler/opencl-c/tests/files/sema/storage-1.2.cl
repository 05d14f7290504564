// Storage classes and address spaces of variables. OpenCL C Specification, "Storage-Class
// Specifiers" and "Address Space Qualifiers".
// RUN: check -cl-std=CL1.2

static constant int hidden = 1;
extern constant struct elsewhere incomplete;
extern constant int imported;
global int program_scope;
// ERROR: 8:12: program scope variable must reside in constant address space
void f(int x) {
  constant int in_function = 1;
// ERROR: 11:16: non-kernel function variable cannot be declared in constant address space
  static constant int kept = 2;
// ERROR: 13:23: variables in function scope cannot be declared static
  auto int automatic;
// ERROR: 15:3: OpenCL C version 1.2 does not support the 'auto' storage class specifier
  register int quick;
// ERROR: 17:3: OpenCL C version 1.2 does not support the 'register' storage class specifier
  global int *pointer;
  global int object;
// ERROR: 20:14: function scope variable cannot be declared in global address space
  local int shared;
// ERROR: 22:13: non-kernel function variable cannot be declared in local address space
}
static kernel void hidden_kernel(global int *out) {
// ERROR: 25:20: kernel functions cannot be declared static
  constant int in_kernel = 1;
  local int shared, from = 1;
// ERROR: 28:21: '__local' variable cannot have an initializer
  { local int nested; }
// ERROR: 30:15: variables in the local address space can only be declared in the outermost scope of a kernel function
  extern local int more;
// ERROR: 32:20: extern variable must reside in global or constant address space
}
inline int not_a_function;
// ERROR: 35:1: 'inline' can only appear on functions
// ERROR: 35:12: program scope variable must reside in constant address space
kernel int result(void) { return 1; }
// ERROR: 38:12: kernel must have void return type
kernel void main(void) {}
// ERROR: 40:13: kernel cannot be called 'main'
