// RUN: preprocess
// White space in what `#` spells, and between tokens that would join.
#define str(s) #s
#define xstr(s) str(s)
#define EMPTY
#define paren(a) (x a)
#define cat(a, b) (x a##b)
xstr(paren()) xstr(cat(,y)) xstr(a EMPTY b) xstr(EMPTY a) xstr(  a   /* c */ +
b )
// OUT: "(x )" "(x y)" "a b" "a" "a + b"
#define minus -
#define id(x) x
-minus 1 id(+)+ id(a)id(b) id(1)id(2) -EMPTY- id(.)5
// OUT: - - 1 + + a b 1 2 - - . 5
<: %: str(%: <:)
// OUT: <: %: "%: <:"
