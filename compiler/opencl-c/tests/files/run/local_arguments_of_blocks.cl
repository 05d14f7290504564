// RUN: execute -cl-std=CL2.0 -ext=cl_khr_device_enqueue_local_arg_types
// Parameters of enqueued blocks point to any type in local memory
// (cl_khr_device_enqueue_local_arg_types).
// run: enqueues
// arg: buffer i32 zero 4
// expect: 0 i32 [3 2 1 0]
struct pair { int a, b; };
kernel void enqueues(global int *out) {
  enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(4, 4),
                 ^(local int *shared, local struct pair *pair) {
    int id = get_local_id(0);
    shared[id] = id;
    if (id == 0) pair->b = 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[id] = shared[pair->b - id];
  }, 4 * sizeof(int), sizeof(struct pair));
}
