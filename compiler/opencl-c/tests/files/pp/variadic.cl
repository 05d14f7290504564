// RUN: preprocess
#define str(s) #s
#define xstr(s) str(s)
#define a0(...) (x, ##__VA_ARGS__)
#define a1(a, ...) (a , ## __VA_ARGS__)
#define a2(a, b...) (a, ## b)
// Without arguments the comma goes, but not if there is no other parameter.
a0() a0(1) a1(1) a1(1,) a1(1,2,3) a2(1) a2(1,2)
// OUT: (x,) (x,1) (1) (1 ,) (1 ,2,3) (1) (1,2)
#define opt(a, ...) f(0, a __VA_OPT__(,) __VA_ARGS__)
#define EMPTY
xstr(opt(1, 2)) opt(1, EMPTY)
// OUT: "f(0, 1 , 2)" f(0, 1 )
#define list(name, ...) S name __VA_OPT__(= { __VA_ARGS__ });
list(a) list(b, 1, 2)
// OUT: S a ; S b = { 1, 2 };
#define quoted(...) #__VA_OPT__(x ## __VA_ARGS__ y)
quoted(1 2) quoted()
// OUT: "x1 2 y" ""
