// Null pointer constants, and address spaces behind pointers to pointers.
// RUN: check -cl-std=CL1.2

void f(global int **gg, local int **ll, global int *g, constant int *c, local int *l) {
  g = 0;
  g = (void *)0;
  g = (local void *)0;
// ERROR: 7:5: assigning '__local void *' to '__global int *' changes address space of pointer
  c = (global void *)0;
// ERROR: 9:5: assigning '__global void *' to '__constant int *' changes address space of pointer
  gg = ll;
// ERROR: 11:6: assigning to '__global int *__private *' from '__local int *__private *' changes address space of nested pointer
  gg = (global int **)ll;
  g = g == (void *)0 ? 0 : g;
}
