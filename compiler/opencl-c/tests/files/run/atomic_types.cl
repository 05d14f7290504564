// RUN: execute -cl-std=CL3.0
// The pointer alone says which atomic function a call means.
// run:
// arg: buffer i32 [40]
// arg: buffer i32 [-7]
// arg: value i64 4294967298
// expect: 0 i32 [-1]
// expect: 1 i32 [-5]

kernel void k(volatile global uint *u, volatile global int *i, long n) {
    atomic_add(u, 2);
    atomic_max(u, (char)-1);
    atomic_add(i, 2u);
    atomic_max(i, (uint)-9);
    atomic_min(i, n);
    atomic_cmpxchg(u, 42, 7u);
}
