// Declarations that C99 has and what is wrong with others.
// RUN: check -cl-std=CL3.0 -ext=__opencl_c_program_scope_global_variables,__opencl_c_generic_address_space

int composite[10];
int composite[];
_Static_assert(sizeof(composite) == 40, "");
void attributed(int *a) __attribute__((always_inline)) {}
int printf(constant const char *format, ...);
void printf(constant char *format, ...);
// ERROR: 9:6: conflicting types for 'printf'
struct outer { struct outer { int x; } inner; };
// ERROR: 11:23: nested redefinition of 'outer'
int restrict value;
// ERROR: 13:5: restrict requires a pointer or reference ('int' is invalid)
int shadowed(int x) { int x = 1; return x; }
// ERROR: 15:27: redefinition of 'x'
typedef unsigned uint;
typedef float float4;
// ERROR: 18:15: typedef redefinition with different types ('float' vs 'float4' (vector of 4 'float' values))
struct pair { int a, b; };
struct pair copied = (struct pair){1, 2};
struct pair *pointed = &(struct pair){1, 2};
int chosen[1 ?: -1];
int scoped(void) {
  if (sizeof(enum { inside }))
    ;
  return inside;
// ERROR: 27:10: use of undeclared identifier 'inside'
}
global int __attribute__((opencl_local)) *two_spaces;
// ERROR: 30:27: multiple address spaces specified for type
int designated[2] = {[-1] = 2};
// ERROR: 32:23: array designator value '-1' is negative
