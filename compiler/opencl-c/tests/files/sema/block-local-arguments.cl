// Parameters of enqueued blocks point to local memory, whatever is there.
// RUN: check -cl-std=CL2.0 -ext=cl_khr_device_enqueue_local_arg_types
kernel void enqueues(global int *out) {
  enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^(local float4 *a) {}, 16u);
  enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^(global int *a) {}, 16u);
// ERROR: 5:57: blocks used in enqueue_kernel call are expected to have parameters of pointers to local memory
}
