// RUN: preprocess
#if 1 / 0
#endif
// ERROR: 2:7: division by zero in preprocessor expression
#if
#endif
// ERROR: 5:2: expected value in expression
#if 1 2
#endif
// ERROR: 8:7: token is not a valid binary operator in a preprocessor subexpression
#if f(1)
#endif
// ERROR: 11:5: function-like macro 'f' is not defined
#if 1.0
#endif
// ERROR: 14:5: floating point literal in preprocessor expression
#else
// ERROR: 17:2: #else without #if
#if 1
#else
#else
#endif
// ERROR: 21:2: #else after #else
#endif
// ERROR: 24:2: #endif without #if
#ifdef
#endif
// ERROR: 26:2: macro name missing
#ifdef X Y
#endif Z
// WARNING: 29:10: extra tokens at end of #ifdef directive [-Wextra-tokens]
// WARNING: 30:8: extra tokens at end of #endif directive [-Wextra-tokens]
#inklude "x"
// ERROR: 33:2: invalid preprocessing directive, did you mean '#include'?
#if 1
// ERROR: 35:2: unterminated conditional directive
