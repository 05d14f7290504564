// Texts of pragmas may be macros, and commas stand in conditions.
// RUN: preprocess

#define TEXT(x) #x
#pragma message("line " TEXT(5) "\t!")
// WARNING: 5:2: line 5	! [-W#pragma-messages]
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
#define cut_\u
