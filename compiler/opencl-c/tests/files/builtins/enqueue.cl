// RUN: execute -cl-std=CL3.0 -ext=__opencl_c_device_enqueue,__opencl_c_generic_address_space
// RUN: execute -ext=__opencl_c_program_scope_global_variables
// OpenCL C Specification, "Enqueuing Kernels": a block is launched with what it captured, and with
// local memory of the sizes that follow it.
// run:
// arg: buffer i32 zero 8
// arg: value i32 10
// expect: 0 i32 [10 11 12 13 0 0 0 0]
kernel void parent(global int *p, int first) {
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(4), ^{
        int id = get_global_id(0);
        p[id] = first + id;
    });
}
// run: local_memory
// arg: buffer i32 zero 8
// expect: 0 i32 [3 2 1 0 7 6 5 4]
kernel void local_memory(global int *p) {
    void (^reverse)(local void *) = ^(local void *room) {
        int id = get_local_id(0);
        ((local int *)room)[id] = get_global_id(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        p[get_global_id(0)] = ((local int *)room)[3 - id];
    };
    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(8, 4), reverse,
                   16u);
}
// run: after
// arg: buffer i32 zero 4
// expect: 0 i32 [1 2 1 4]
kernel void after(global int *p) {
    size_t sizes[2] = {2, 2};
    clk_event_t marker, done, all;
    queue_t queue = get_default_queue();
    clk_event_t user = create_user_event();
    p[0] = enqueue_marker(queue, 1, &user, &marker) == CLK_SUCCESS;
    set_user_event_status(user, CL_COMPLETE);
    int flags = CLK_ENQUEUE_FLAGS_NO_WAIT;
    enqueue_kernel(queue, flags, ndrange_2D(sizes), 1, &marker, &done, ^{
        if (get_global_id(1) && get_global_id(0))
            p[1] = get_global_size(1);
    });
    clk_event_t waits[2] = {marker, done};
    enqueue_kernel(queue, flags, ndrange_1D(1), 2, waits, &all, ^{ p[3] = p[1] + 2; });
    p[2] = is_valid_event(all);
    release_event(user);
    release_event(marker);
    release_event(done);
    release_event(all);
}
