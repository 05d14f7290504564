// RUN: check -cl-std=CL1.2
// Types are told by the names that the source has for them, with what they are.
// ERROR: 23:18: incompatible integer to pointer conversion initializing '__global number *' (aka '__global unsigned int *') with an expression of type 'size_t' (aka 'unsigned long')
// ERROR: 24:9: incompatible pointer to integer conversion assigning to 'size_t' (aka 'unsigned long') from '__global number *' (aka '__global unsigned int *')
// ERROR: 25:5: invalid operands to binary expression ('pair' (aka 'struct pair') and 'int')
// ERROR: 26:7: invalid operands to binary expression ('number' (aka 'unsigned int') and 'pair' (aka 'struct pair'))
// ERROR: 27:5: implicit conversions between vector types ('color' (aka 'float4') and 'int4' (vector of 4 'int' values)) are not permitted
// ERROR: 28:10: invalid operands to binary expression ('number' (aka 'unsigned int') and 'pair' (aka 'struct pair'))
// ERROR: 29:5: assigning to 'row' (aka '__private int *') from incompatible type 'unnamed'
// ERROR: 30:7: assigning to 'int' from incompatible type 'pair' (aka 'struct pair')
// ERROR: 33:25: 'size_t' (aka 'unsigned long') cannot be used as the type of a kernel parameter
typedef uint number;
typedef struct pair { number n; int i; } pair;
typedef struct { int a; } unnamed;
typedef float4 color;
typedef int *row;
number next(void) { return 1; }

void f(global number *list, pair p, size_t count, color c) {
  row r;
  unnamed u;
  int4 v;
  global number *wrong = count;
  count = list;
  p + 1;
  p.n + p;
  c + v;
  next() + p;
  r = u;
  v.x = p;
}

kernel void size(size_t s) {}
