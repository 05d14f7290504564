// RUN: check
// ERROR: 6:21: flexible array member 'list' with type 'int []' is not at the end of struct
// ERROR: 13:17: array initializer must be an initializer list or string literal
// ERROR: 15:15: variable length arrays are not supported in OpenCL

struct inside { int list[]; int after; };
struct last { int n; int list[]; };

void f(global struct last *p, int n) {
  const int known = 3;
  int whole[known] = {1, 2, 3};
  int literal[3] = (int[3]){1, 2, 3};
  int copy[3] = whole;
  p->list[2] = whole[0] + literal[1] + copy[2];
  int unknown[n];
}
