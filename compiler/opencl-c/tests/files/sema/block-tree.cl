// Blocks become functions; what they capture is a record.
// RUN: print-hir -cl-std=CL2.0

int (^at_file_scope)(int) = ^int(int n) { return n; };
// OUT: @0 at_file_scope Global int (__generic ^)(int): Export Some(Block(FunctionId(0))) align 8
// OUT: function f0 _block_invoke Internal: int
// OUT: param %0 : __generic char *
// OUT: param %1 n: int
// OUT: captures
// OUT: return (load %1)

kernel void k(global int *out, char c) {
  int pair[2] = {1, 2};
  int (^b)(int) = ^(int n) { return n + c + pair[1]; };
  out[0] = b(3) + at_file_scope(4);
  void (^nested)(void) = ^{ ^{ out[1] = c; }(); };
  enqueue_kernel(get_default_queue(), 0, ndrange_1D(4), nested);
  enqueue_kernel(get_default_queue(), 0, ndrange_1D(4), ^(local void *p) { }, 8L);
}
// OUT: kernel f1 k Export: void
// OUT: param %0 out: __global int *
// OUT: param %1 c: char
// OUT: local %2 pair: int [2] mutable
// OUT: local %3 b: int (__generic ^)(int)
// OUT: local %4 nested: void (__generic ^)(void)
// OUT: arg int*:
// OUT: arg char:
// OUT: declare %2
// OUT: (store %2 Aggregate([Int(1), Int(2)]):int [2])
// OUT: declare %3
// OUT: (store %3 (^f2 (load %1) (load %2)))
// OUT: (seq ($0 = (Add:int (call^ f2 (load %3) Int(3):int) (call^ f0 (load @0) Int(4):int))) (store (ptradd (load %0) Int(0):long) $0) $0)
// OUT: declare %4
// OUT: (store %4 (^f3 (load %0) (load %1)))
// OUT: (builtin[3: f3]:int (builtin:queue_t) Int(0):uint (builtin:ndrange_t Int(4):ulong) (load %4))
// OUT: (builtin[3: f5]:int (builtin:queue_t) Int(0):uint (builtin:ndrange_t Int(4):ulong) Block(FunctionId(5)):void (__generic ^)(__local void *) Int(8):uint)
// OUT: function f2 __k_block_invoke Internal: int
// OUT: param %0 : __generic char *
// OUT: param %1 n: int
// OUT: captures char@0, int [2]@4
// OUT: return (Add:int (Add:int (load %1) (convert:int (load (field& (Pointer:__generic struct __block_literal * (load %0)) 0)))) (load (element& (field& (Pointer:__generic struct __block_literal * (load %0)) 1) Int(1):long)))
// OUT: function f3 __k_block_invoke_2 Internal: void
// OUT: param %0 : __generic char *
// OUT: captures __global int *@0, char@8
// OUT: (call^ f4 (^f4 (load (field& (Pointer:__generic struct __block_literal * (load %0)) 0)) (load (field& (Pointer:__generic struct __block_literal * (load %0)) 1))))
// OUT: function f4 __k_block_invoke_3 Internal: void
// OUT: param %0 : __generic char *
// OUT: captures __global int *@0, char@8
// OUT: (seq ($0 = (convert:int (load (field& (Pointer:__generic struct __block_literal * (load %0)) 1)))) (store (ptradd (load (field& (Pointer:__generic struct __block_literal * (load %0)) 0)) Int(1):long) $0) $0)
// OUT: function f5 __k_block_invoke_4 Internal: void
// OUT: param %0 : __generic char *
// OUT: param %1 p: __local void *
// OUT: captures
