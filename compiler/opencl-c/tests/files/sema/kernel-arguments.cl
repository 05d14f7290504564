// OpenCL C Specification, "Restrictions": what arguments of kernels cannot be.
// RUN: check -cl-std=CL1.2

struct with_pointer { global int *p; };
struct with_bool { int i; struct { bool b[2]; } inner; };
struct plain { int i; };
kernel void a(global int *global *p) {}
// ERROR: 7:35: kernel parameter cannot be declared as a pointer to a pointer
kernel void b(struct with_pointer s) {}
// ERROR: 9:35: struct kernel parameters may not contain pointers ('struct with_pointer')
kernel void c(struct with_bool s) {}
// ERROR: 11:32: 'struct with_bool' cannot be used as the type of a kernel parameter
kernel void d(struct plain s, constant int *c, local float *l) {}
kernel void e(bool b) {}
// ERROR: 14:20: 'bool' cannot be used as the type of a kernel parameter
kernel void f(size_t s) {}
// ERROR: 16:22: 'size_t' (aka 'unsigned long') cannot be used as the type of a kernel parameter
kernel void g(private int *p) {}
// ERROR: 18:28: pointer arguments to kernel functions must reside in '__global', '__constant' or '__local' address space
kernel void h(event_t e) {}
// ERROR: 20:23: 'event_t' cannot be used as the type of a kernel parameter
__attribute__((reqd_work_group_size(1, 1, 1))) void not_a_kernel(void) {}
// ERROR: 22:53: attribute 'reqd_work_group_size' can only be applied to an OpenCL kernel function
kernel __attribute__((reqd_work_group_size(0, 1, 1))) void zero(void) {}
// ERROR: 24:23: 'reqd_work_group_size' attribute must be greater than 0
kernel __attribute__((vec_type_hint(bool))) void hint(void) {}
// ERROR: 26:23: a non-vector or non-vectorizable scalar type is an invalid argument to attribute 'vec_type_hint'
kernel __attribute__((vec_type_hint)) void no_hint(void) {}
// ERROR: 28:23: 'vec_type_hint' attribute takes one argument
kernel __attribute__((intel_reqd_sub_group_size(0))) void sub_group(void) {}
// ERROR: 30:23: 'intel_reqd_sub_group_size' attribute must be greater than 0
kernel int variable;
// ERROR: 32:1: 'kernel' attribute only applies to functions
// ERROR: 32:12: program scope variable must reside in constant address space
void parameter(kernel int x);
// ERROR: 35:16: 'kernel' attribute only applies to functions
constant int hinted __attribute__((work_group_size_hint(1, 1, 1))) = 0;
// ERROR: 37:36: 'work_group_size_hint' attribute only applies to functions
typedef size_t index;
struct with_index { int i; index at; };
struct outer { struct with_index inner; };
kernel void i(index at, struct with_index s, struct outer t, global size_t *list) {}
// ERROR: 42:21: 'index' (aka 'unsigned long') cannot be used as the type of a kernel parameter
// ERROR: 42:43: 'struct with_index' cannot be used as the type of a kernel parameter
// ERROR: 42:59: 'struct outer' cannot be used as the type of a kernel parameter
