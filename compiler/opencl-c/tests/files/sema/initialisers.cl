// C99, "Initialization".
// RUN: print-hir -cl-std=CL1.2

struct inner { int a, b, c; };
struct outer { struct inner first; int second; struct inner third[2]; };

// Behind a nested designator initialisation goes on inside.
constant struct outer nested = {.first.b = 1, 2, 3, .third[1].a = 4, 5};
// OUT: @0 nested Constant struct outer: Export Some(Aggregate([Aggregate([Zero, Int(1), Int(2)]), Int(3), Aggregate([Zero, Aggregate([Int(4), Int(5), Zero])])])) align 4
constant int ranges[6] = {[1 ... 3] = 7, 8};
// OUT: @1 ranges Constant int [6]: Export Some(Aggregate([Zero, Int(7), Int(7), Int(7), Int(8), Zero])) align 4
// Zeros take no room.
constant char zeros[1 << 30] = {0};
// OUT: @2 zeros Constant char [1073741824]: Export Some(Zero) align 1

int used_in_sizeof_only(void);
int early(void) {
  int defined_later(int);
  return defined_later(1) + sizeof(used_in_sizeof_only());
}
int defined_later(int a) { return a; }
// OUT: function f0 early Export: int
// OUT: return (convert:int (Add:ulong (convert:ulong (call f1 Int(1):int)) Int(4):ulong))
// OUT: function f1 defined_later Export: int
// OUT: param %0 a: int
// OUT: return (load %0)
