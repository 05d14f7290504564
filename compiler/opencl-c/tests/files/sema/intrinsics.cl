// RUN: print-hir -cl-std=CL1.2

_Static_assert(__builtin_popcount(255) + __builtin_ffs(8) == 12, "bits");
_Static_assert(__builtin_bswap32(0x01020304) == 0x04030201, "bytes");
_Static_assert(!__builtin_constant_p(get_global_id(0)), "not known");

uint bits(uint x) {
  return __builtin_bswap32(x) + __builtin_parity(x);
}
// OUT: function f0 bits Export: uint
// OUT: param %0 x: uint
// OUT: return (Add:uint (Bits:uint (shuffle[3,2,1,0] (Bits:uchar4 (load %0)))) (convert:uint (convert:int (And:uint (builtin:uint (load %0)) Int(1):uint))))

int4 vectors(int4 a, int4 b) {
  return __builtin_shufflevector(a, b, 0, 5, -1, 7);
}
// OUT: function f1 vectors Export: int4
// OUT: param %0 a: int4
// OUT: param %1 b: int4
// OUT: return (shuffle[0,5,_,7] (load %0) (load %1))

void bytes(global int *to, constant int *from, uint n) {
  __builtin_memcpy(to, from, 64);
  __builtin_memset(to, 0, 64);
  __builtin_memcpy(to, from, n);
}
// OUT: function f2 bytes Export: void
// OUT: param %0 to: __global int *
// OUT: param %1 from: __constant int *
// OUT: param %2 n: uint
// OUT: local %3 : ulong mutable
// OUT: (seq ($0 = (load %0)) ($1 = (load %1)) (copy 64 $0 $1) (Pointer:__global void * $0))
// OUT: (seq ($2 = (load %0)) (store (Pointer:__global uchar (*)[64] $2) Zero:uchar [64]) (Pointer:__global void * $2))
// OUT: (seq ($3 = (load %0)) ($4 = (load %1)) ($5 = (convert:ulong (load %2))) ({ declare %3; (store %3 Int(0):ulong); loop (Lt? (load %3) $5) step (store %3 (Add:ulong (load %3) Int(1):ulong));   (store (ptradd (Pointer:__global uchar * $3) (convert:long (load %3))) (load (ptradd (Pointer:__constant uchar * $4) (convert:long (load %3)))));  }) (Pointer:__global void * $3))
