// RUN: check
// ERROR: 7:7: expected identifier or '('
// ERROR: 9:14: expected identifier or '('
// ERROR: 12:13: expected identifier or '('
// ERROR: 14:6: expected identifier or '('
void f(int *p) {
  int = 1;
  // A keyword is no name.
  int kernel = 2;
  *p = 3;
}
void kernel (int *p) { *p = 1; }
struct s { int a; };
int *;
struct s;
