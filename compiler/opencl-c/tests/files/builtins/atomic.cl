// RUN: execute -cl-std=CL3.0 -ext=__opencl_c_atomic_order_acq_rel,__opencl_c_atomic_order_seq_cst
// RUN: execute -ext=__opencl_c_atomic_scope_device,__opencl_c_generic_address_space
// RUN: execute -ext=__opencl_c_ext_fp32_global_atomic_add
// RUN: execute -ext=__opencl_c_ext_fp32_global_atomic_min_max,cl_khr_global_int32_base_atomics
// Atomic functions of every generation (OpenCL C Specification, "Atomic Functions", "Legacy Atomic
// Functions").
// run:
// global: 8
// local: 4
// arg: buffer i32 [0 0 100 0 0 0]
// arg: buffer f32 [0 50]
// expect: 0 i32 [28 8 0 0x80 7 2]
// expect: 1 f32 [-4 0]
kernel void read_modify_write(global int *p, global float *f) {
    int id = get_global_id(0);
    atomic_add(p, id);
    atomic_inc((volatile global uint *)p + 1);
    atomic_fetch_min((global atomic_int *)p + 2, id);
    atomic_fetch_or_explicit((global atomic_int *)p + 3, 0x80, memory_order_relaxed);
    atomic_fetch_max_explicit((global atomic_uint *)p + 4, (uint)id, memory_order_acq_rel,
                              memory_scope_device);
    atomic_fetch_sub((global atomic_float *)f, 0.5f);
    atomic_fetch_min((global atomic_float *)f + 1, (float)id);
    if (get_local_id(0) == 0)
        atom_add(p + 5, 1);
}
// run: exchanges
// arg: buffer i32 [5 0 1 7 0 0 0 0 0 0 0 0]
// arg: buffer f32 [2.5 1.5]
// arg: value i32 4
// arg: value i32 1
// expect: 0 i32 [6 1 9 7 0 0 5 1 0 7 0 1]
// expect: 1 f32 [3.5 2.5]
kernel void exchanges(global int *p, global float *f, int order, int scope) {
    p[6] = atomic_cmpxchg(p, 5, 6);
    int expected = 0;
    p[7] = atomic_compare_exchange_strong((global atomic_int *)p + 1, &expected, 1);
    p[8] = atomic_compare_exchange_weak_explicit((global atomic_int *)p + 3, &expected, 2, order,
                                                 memory_order_relaxed, scope);
    p[9] = expected;
    atomic_store_explicit((global atomic_int *)p + 2, 9, memory_order_release);
    p[10] = atomic_flag_test_and_set((global atomic_flag *)p + 4);
    p[11] = atomic_flag_test_and_set_explicit((global atomic_flag *)p + 4, order, scope);
    atomic_flag_clear((global atomic_flag *)p + 4);
    atomic_compare_exchange_strong((global atomic_float *)f, f + 1, 9.0f);
    atomic_compare_exchange_strong((global atomic_float *)f, f + 1, 3.5f);
}
