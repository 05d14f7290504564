// `_Generic`, enumerations, and what else C11 and GNU C have besides.
// RUN: check -cl-std=CL1.2

enum shape { round square = 4, };
// ERROR: 4:20: missing ',' between enumerators
enum gap { one, , two };
// ERROR: 6:17: expected identifier
_Static_assert(square == 4, "");
_Noreturn int object;
// ERROR: 9:1: '_Noreturn' can only appear on functions
// ERROR: 9:15: program scope variable must reside in constant address space
int f(int x, float y) {
  int a = _Generic(x, float: 1, int: 2, default: 3);
  int b = _Generic(y, int: undeclared, default: 3);
// ERROR: 14:28: use of undeclared identifier 'undeclared'
  int c = _Generic(y, int: 1, uint: 2);
// ERROR: 16:11: controlling expression type 'float' not compatible with any generic association type
  int d = _Generic(x, int: 1, int: 2, default: 3, default: 4);
// ERROR: 18:31: type 'int' in generic association compatible with previously specified type 'int'
// ERROR: 18:60: duplicate default generic association
  _Static_assert(__builtin_types_compatible_p(int[], int[4]), "");
  _Static_assert(!__builtin_types_compatible_p(int[5], int[4]), "");
  return a + b + c + d;
}
