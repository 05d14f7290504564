// RUN: preprocess
#define A 1
#define A 2
// WARNING: 3:9: 'A' macro redefined [-Wmacro-redefined]
// LOG: t.cl:2:9: note: previous definition is here
#define F(x, x) x
// ERROR: 6:14: duplicate macro parameter name 'x'
#define G(x) #y
// ERROR: 8:14: '#' is not followed by a macro parameter
#define H ## x
// ERROR: 10:11: '##' cannot appear at start of macro expansion
#define I(x) x ##
// ERROR: 12:16: '##' cannot appear at end of macro expansion
#define J(x, y) x y
J(1)
// ERROR: 15:1: too few arguments provided to function-like macro invocation
// LOG: t.cl:14:9: note: macro 'J' defined here
J(1, 2, 3)
// ERROR: 18:1: too many arguments provided to function-like macro invocation
#define K(a, b) a##b
#define L K(+, /)
L
// ERROR: 22:1: pasting formed '+/', an invalid preprocessing token
// LOG: t.cl:21:13: note: expanded from macro 'L'
#define defined
// ERROR: 25:9: 'defined' cannot be used as a macro name
#define 3
// ERROR: 27:9: macro name must be an identifier
#define M(x
// ERROR: 29:11: missing ')' in macro parameter list
J(1,
#include "x.h"
2)
// ERROR: 32:2: embedding a #include directive within macro arguments is not supported
#error what  'comes'
// ERROR: 35:2: what  'comes'
#warning this
// WARNING: 37:2: this [-W#warnings]
J(1
// ERROR: 39:1: unterminated function-like macro invocation of 'J'
