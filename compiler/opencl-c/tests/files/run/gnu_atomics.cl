// RUN: execute -ext=cl_khr_int64_base_atomics,cl_khr_int64_extended_atomics
// GNU C's atomic functions: what they yield, and what they leave.
// run: updates
// arg: buffer i32 [10 10 10 6 6 6 -5 -5 10 6 5 12]
// arg: buffer i32 zero 12
// expect: 0 i32 [13 7 2 7 5 -3 -5 -1 13 -3 3 7]
// expect: 1 i32 [10 10 10 6 6 6 -5 -5 13 -3 5 7]
// run: exchanges
// arg: buffer i32 [1 2 3 4 5 6 7]
// arg: buffer i32 zero 12
// expect: 0 i32 [21 22 33 4 55 6 0]
// expect: 1 i32 [1 22 2 1 3 0 4 5 1 6 0 1]
// run: wide
// arg: buffer i64 [0x100000000 5]
// arg: buffer f32 [1.5 0]
// expect: 0 i64 [0x200000000 4]
// expect: 1 f32 [2.5 1.5]
// run: pointers
// arg: buffer i32 [7 8 0 0]
// expect: 0 i32 [7 8 8 1]
// run: shared
// global: 64
// local: 64
// arg: buffer i32 [0 0]
// expect: 0 i32 [64 64]

kernel void updates(global int *p, global int *out) {
  out[0] = __atomic_fetch_add(&p[0], 3, __ATOMIC_SEQ_CST);
  out[1] = __atomic_fetch_sub(p + 1, 3, __ATOMIC_ACQ_REL);
  out[2] = __atomic_fetch_and(p + 2, 6, __ATOMIC_ACQUIRE);
  out[3] = __atomic_fetch_or(p + 3, 1, __ATOMIC_RELEASE);
  out[4] = __atomic_fetch_xor(p + 4, 3, __ATOMIC_RELAXED);
  out[5] = __atomic_fetch_nand(p + 5, 3, __ATOMIC_CONSUME);
  out[6] = __atomic_fetch_min(p + 6, 3, __ATOMIC_RELAXED);
  out[7] = __atomic_fetch_max((volatile global uint *)p + 7, 3, __ATOMIC_RELAXED);
  p[7] = -1;
  out[8] = __atomic_add_fetch(p + 8, 3, __ATOMIC_SEQ_CST);
  out[9] = __sync_nand_and_fetch(p + 9, 3 - 1);
  out[10] = __sync_fetch_and_min(p + 10, 3);
  out[11] = __sync_sub_and_fetch(p + 11, 5);
}

kernel void exchanges(global int *p, global int *out) {
  out[0] = __atomic_exchange_n(p, 21, __ATOMIC_SEQ_CST);
  int expected = 1;
  if (!__atomic_compare_exchange_n(p + 1, &expected, 22, false, __ATOMIC_SEQ_CST,
                                   __ATOMIC_RELAXED))
    out[2] = expected;
  out[3] = __atomic_compare_exchange_n(p + 1, &expected, 22, true, 5, 0);
  __atomic_load(p + 1, out + 1, __ATOMIC_ACQUIRE);
  int value = 33, old;
  __atomic_exchange(p + 2, &value, &old, __ATOMIC_ACQ_REL);
  out[4] = old;
  expected = 5, value = 44;
  out[5] = __atomic_compare_exchange(p + 3, &expected, &value, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE);
  out[6] = __sync_val_compare_and_swap(p + 3, 5, 44);
  out[7] = __sync_val_compare_and_swap(p + 4, 5, 55);
  out[8] = __sync_bool_compare_and_swap(p + 5, 6, 6);
  out[9] = __atomic_load_n(p + 5, __ATOMIC_SEQ_CST);
  __atomic_store_n(p + 6, 9, __ATOMIC_RELEASE);
  __sync_lock_release(p + 6);
  out[10] = __sync_lock_test_and_set(p + 6, 0);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  __sync_synchronize();
  out[11] = __atomic_always_lock_free(sizeof(int), 0);
}

kernel void wide(global long *p, global float *f) {
  __atomic_fetch_add(p, 0x100000000, __ATOMIC_RELAXED);
  ulong five = 5;
  __sync_bool_compare_and_swap((global ulong *)p + 1, five, 4);
  f[1] = __atomic_exchange_n(f, 2.5f, __ATOMIC_RELAXED);
}

// One of two pointers to the same memory is followed.
kernel void pointers(global int *p) {
  local int *local shared;
  local int store[2];
  store[0] = 8, store[1] = 1;
  shared = store;
  local int *old = __atomic_exchange_n(&shared, store + 1, __ATOMIC_SEQ_CST);
  p[2] = *old;
  p[3] = *__atomic_load_n(&shared, __ATOMIC_SEQ_CST);
}

kernel void shared(global int *p) {
  local int count;
  if (get_local_id(0) == 0)
    __atomic_store_n(&count, 0, __ATOMIC_RELAXED);
  barrier(CLK_LOCAL_MEM_FENCE);
  __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(p, 1, __ATOMIC_RELAXED);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0)
    p[1] = count;
}
