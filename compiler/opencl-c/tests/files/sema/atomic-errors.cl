// "OpenCL C does not support operators with atomic types." OpenCL C Specification, "Atomic
// Functions", "Restrictions".
// RUN: check -cl-std=CL2.0

global atomic_int counter = ATOMIC_VAR_INIT(1);
global atomic_flag flag = ATOMIC_FLAG_INIT;
constant atomic_int fixed = ATOMIC_VAR_INIT(1);
// ERROR: 7:21: atomic variable can be initialized to a variable only in global address space
_Atomic(int) keyword;
// ERROR: 9:1: the '_Atomic' type specifier is not supported in OpenCL C

kernel void k(global atomic_int *a, global int *out) {
  atomic_int b = ATOMIC_VAR_INIT(2);
// ERROR: 13:14: atomic variable can be initialized to a variable only in global address space
  *a = 1;
// ERROR: 15:3: atomic variable can be assigned to a variable only in global address space
  out[0] = *a;
// ERROR: 17:3: atomic variable can be assigned to a variable only in global address space
  *a += 1;
// ERROR: 19:6: invalid operands to binary expression ('_Atomic(int)' and 'int')
  ++*a;
// ERROR: 21:3: invalid argument type '_Atomic(int)' to unary expression
  out[0] = *a + 1;
// ERROR: 23:15: invalid operands to binary expression ('_Atomic(int)' and 'int')
  out[0] = -*a;
// ERROR: 25:12: invalid argument type '_Atomic(int)' to unary expression
  atomic_store(a, 1);
  atomic_init(&b, 2);
}
