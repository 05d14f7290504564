// Texts of pragmas may be macros, commas stand in conditions, and names of characters end early.
// RUN: check

#define TEXT(x) #x
#pragma message("line " TEXT(5) "\x21")
// WARNING: 5:2: line 5! [-W#pragma-messages]
#pragma GCC warning "\"quoted\""
// WARNING: 7:2: "quoted" [-W#pragma-messages]
#pragma GCC error("no" " good")
// ERROR: 9:2: no good
#pragma message 42
// WARNING: 11:2: pragma message requires parenthesized string - ignored [-Wignored-pragmas]
#if 0 ? 1, 2 : (1, 3) == 3
#else
#error the last counts
#endif
#define capital_u_\U00FC
// WARNING: 17:19: ISO C99 requires whitespace after the macro name [-Wc99-extensions]
#define split_\u00\
F\
C 1
_Static_assert(split_\u00FC, "");
