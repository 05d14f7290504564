/* Kernels that enqueue kernels: on-device queues and the default one, orders, events, errors with and without -g, what the host sees of
 * it all; and what goes wrong in a child. */
#include "check.h"

#include <sys/resource.h>

#define ITEMS 256

static const char *source =
    "kernel void fan(global atomic_int *count) {\n"
    "  queue_t q = get_default_queue();\n"
    "  int flags = get_global_id(0) % 3;\n"
    "  enqueue_kernel(q, flags == 0 ? CLK_ENQUEUE_FLAGS_NO_WAIT : flags == 1 ? CLK_ENQUEUE_FLAGS_WAIT_KERNEL\n"
    "                 : CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP, ndrange_1D(10, 5), ^{ atomic_fetch_add(count, 1); });\n"
    "}\n"
    /* Each launch is the next one's parent. */
    "void step(global int *out, int n) {\n"
    "  out[0]++;\n"
    "  if (n > 0) enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{ step(out, n - 1); });\n"
    "}\n"
    "kernel void chain(global int *out, int n) { step(out, n); }\n"
    "void descent(global int *out, int n) {\n"
    "  out[0] = n;\n"
    "  if (n == 1000000) return;\n"
    "  int error = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ descent(out, n + 1); });\n"
    "  if (error != 0) out[1] = error;\n"
    "}\n"
    "kernel void descend(global int *out) { descent(out, 0); }\n"
    "kernel void two_queues(queue_t a, queue_t b, global int *out) {\n"
    "  clk_event_t first;\n"
    "  out[0] = enqueue_kernel(a, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(ITEMS), 0, NULL, &first,\n"
    "                          ^{ out[2 + get_global_id(0)] = get_global_id(0); });\n"
    "  out[1] = enqueue_kernel(b, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(ITEMS), 1, &first, NULL,\n"
    "                          ^{ size_t i = get_global_id(0); out[2 + ITEMS + i] = out[2 + ITEMS - 1 - i]; });\n"
    "  release_event(first);\n"
    "}\n"
    "kernel void errors(queue_t q, global int *out) {\n"
    "  void (^nothing)(void) = ^{ };\n"
    "  void (^local_one)(local void *) = ^(local void *p) { };\n"
    "  clk_event_t bad = CLK_NULL_EVENT, good = create_user_event();\n"
    "  queue_t none = CLK_NULL_QUEUE;\n"
    "  out[0] = enqueue_kernel(none, 0, ndrange_1D(1), nothing);\n"
    "  out[1] = enqueue_kernel(q, 0, ndrange_1D(1, 1 << 30), nothing);\n"
    "  out[2] = enqueue_kernel(q, 0, ndrange_1D(1), 1, &bad, NULL, nothing);\n"
    "  out[3] = enqueue_kernel(q, 0, ndrange_1D(1), 1, NULL, NULL, nothing);\n"
    "  out[4] = enqueue_kernel(q, 0, ndrange_1D(1), 0, &good, NULL, nothing);\n"
    "  out[5] = enqueue_kernel(q, 0, ndrange_1D(1), local_one, 0);\n"
    "  out[6] = enqueue_kernel(q, 0, ndrange_1D(1), local_one, 1 << 30);\n"
    "  out[7] = enqueue_marker(q, 0, NULL, &bad);\n"
    "  out[8] = enqueue_kernel(q, 0, ndrange_1D(0), nothing);\n"
    "  out[9] = is_valid_event(bad);\n"
    "  out[10] = is_valid_event(good);\n"
    "  release_event(good);\n"
    "  out[11] = is_valid_event(good);\n"
    "}\n"
    /* Until the queue is full; the blocks wait for an event, so that they stay in it. Then they run side by side. */
    "kernel void fill(queue_t q, global int *out) {\n"
    "  clk_event_t user = create_user_event();\n"
    "  int n = 0, error = 0;\n"
    "  while (n < 100000 && error == 0)\n"
    "    if ((error = enqueue_kernel(q, 0, ndrange_1D(1), 1, &user, NULL, ^{ atomic_inc(&out[2]); })) == 0) n++;\n"
    "  out[0] = error;\n"
    "  out[1] = n;\n"
    "  set_user_event_status(user, CL_COMPLETE);\n"
    "  release_event(user);\n"
    "}\n"
    "kernel void no_queue(global int *out) { out[0] = get_default_queue() == CLK_NULL_QUEUE; }\n"
    "kernel void wild_child(global int *out, ulong address) {\n"
    "  enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ out[0] = *(global int *)address; });\n"
    "}\n"
    /* Each in its own way gives an address where there is nothing. */
    "kernel void wild_operand(global int *out, ulong address, int which) {\n"
    "  queue_t q = get_default_queue();\n"
    "  clk_event_t user = create_user_event(), one;\n"
    "  if (which == 0) enqueue_kernel(q, 0, ndrange_1D(1), 1, (clk_event_t *)address, NULL, ^{ out[0] = 1; });\n"
    "  if (which == 1) enqueue_kernel(q, 0, ndrange_1D(1), 1, &user, (clk_event_t *)address, ^{ out[0] = 1; });\n"
    "  if (which == 2) enqueue_marker(q, 1, &user, (clk_event_t *)address);\n"
    "  if (which == 3) {\n"
    "    enqueue_kernel(q, 0, ndrange_1D(1), 1, &user, &one, ^{ out[0] = 1; });\n"
    "    capture_event_profiling_info(one, CLK_PROFILING_COMMAND_EXEC_TIME, (global ulong *)address);\n"
    "  }\n"
    "  out[1] = 1;\n"
    "}\n"
    /* The event is never set: what waits for it never runs, and the launch does not wait for ever. */
    "kernel void forgotten(global int *out) {\n"
    "  clk_event_t user = create_user_event();\n"
    "  enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), 1, &user, NULL, ^{ out[0] = 1; });\n"
    "}\n"
    "kernel void told_to_fail(global int *out) {\n"
    "  clk_event_t user = create_user_event();\n"
    "  enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), 1, &user, NULL, ^{ out[0] = 1; });\n"
    "  enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ out[1] = 1; });\n"
    "  set_user_event_status(user, -5);\n"
    "  release_event(user);\n"
    "}\n";

static cl_program program;
static cl_mem out;

static cl_command_queue on_device(cl_command_queue_properties more, cl_uint size) {
    cl_int err;
    cl_queue_properties list[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | more,
        CL_QUEUE_SIZE, size, 0};
    cl_command_queue q = clCreateCommandQueueWithProperties(context, device, list, &err);
    STATUS(CL_SUCCESS, err);
    return q;
}

static cl_kernel kernel_of(const char *name) {
    cl_int err;
    cl_kernel k = clCreateKernel(program, name, &err);
    STATUS(CL_SUCCESS, err);
    return k;
}

/* Runs a kernel and gives the status of its event; reads what it left. */
static cl_int run(cl_command_queue q, cl_kernel k, size_t items, int *results) {
    cl_event event;
    cl_int status = 77;
    static const int zeros[2 + 2 * ITEMS];
    STATUS(CL_SUCCESS, clEnqueueWriteBuffer(q, out, CL_TRUE, 0, sizeof zeros, zeros, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(q, k, 1, NULL, &items, NULL, 0, NULL, &event));
    clWaitForEvents(1, &event);
    STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    STATUS(CL_SUCCESS, clReleaseEvent(event));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(q, out, CL_TRUE, 0, sizeof zeros, results, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clReleaseKernel(k));
    return status;
}

static cl_kernel with_out(const char *name, cl_uint index) {
    cl_kernel k = kernel_of(name);
    STATUS(CL_SUCCESS, clSetKernelArg(k, index, sizeof out, &out));
    return k;
}

/* The queues themselves. */
static void queues(void) {
    cl_command_queue q = on_device(0, 5000), d = on_device(CL_QUEUE_ON_DEVICE_DEFAULT, 1 << 20), found;
    cl_uint size = 0, references = 0;
    STATUS(CL_SUCCESS, clGetCommandQueueInfo(q, CL_QUEUE_SIZE, sizeof size, &size, NULL));
    TRUE(size == 5000);
    STATUS(CL_INVALID_COMMAND_QUEUE, clGetCommandQueueInfo(queue, CL_QUEUE_SIZE, sizeof size, &size, NULL));
    STATUS(CL_SUCCESS, clGetCommandQueueInfo(q, CL_QUEUE_DEVICE_DEFAULT, sizeof found, &found, NULL));
    TRUE(found == d);
    /* The one that there is, again. */
    TRUE(on_device(CL_QUEUE_ON_DEVICE_DEFAULT, 1 << 10) == d);
    STATUS(CL_SUCCESS, clGetCommandQueueInfo(d, CL_QUEUE_REFERENCE_COUNT, sizeof references, &references, NULL));
    TRUE(references == 2);
    STATUS(CL_SUCCESS, clReleaseCommandQueue(d));
    STATUS(CL_SUCCESS, clSetDefaultDeviceCommandQueue(context, device, q));
    STATUS(CL_SUCCESS, clGetCommandQueueInfo(d, CL_QUEUE_DEVICE_DEFAULT, sizeof found, &found, NULL));
    TRUE(found == q);
    /* They are for kernels. */
    STATUS(CL_INVALID_COMMAND_QUEUE, clFinish(d));
    STATUS(CL_INVALID_COMMAND_QUEUE, clFlush(d));
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueMarkerWithWaitList(d, 0, NULL, NULL));
    cl_kernel k = kernel_of("two_queues");
    STATUS(CL_INVALID_DEVICE_QUEUE, clSetKernelArg(k, 0, sizeof queue, &queue));
    STATUS(CL_INVALID_DEVICE_QUEUE, clSetKernelArg(k, 0, sizeof context, &context));
    STATUS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 0, 4, &q));
    STATUS(CL_SUCCESS, clSetKernelArg(k, 0, sizeof q, &q));
    STATUS(CL_SUCCESS, clReleaseKernel(k));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(q));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(d));
    int results[2 + 2 * ITEMS];
    STATUS(CL_COMPLETE, run(queue, with_out("no_queue", 0), 1, results));
    TRUE(results[0] == 1);
}

/* Blocks are no kernels of the application. */
static void names(void) {
    char text[1024] = "";
    cl_uint count = 0;
    STATUS(CL_SUCCESS, clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof text, text, NULL));
    TRUE(strstr(text, "block") == NULL);
    STATUS(CL_SUCCESS, clCreateKernelsInProgram(program, 0, NULL, &count));
    TRUE(count == 11);
}

static void errors(cl_command_queue q, int told) {
    int results[2 + 2 * ITEMS];
    const int specific[] = {-102, -160, -57, -57, -57, -51, -5, -57, 0, 0, 1, 0};
    cl_kernel k = with_out("errors", 1);
    STATUS(CL_SUCCESS, clSetKernelArg(k, 0, sizeof q, &q));
    STATUS(CL_COMPLETE, run(queue, k, 1, results));
    for (int i = 0; i < 12; i++) {
        int expected = told || specific[i] >= 0 ? specific[i] : -101;
        if (results[i] != expected) printf("error %d\n", i);
        TRUE(results[i] == expected);
    }
    /* Each takes as much as it captured and something besides: a few fit, not hundreds. */
    cl_command_queue small = on_device(0, 4096);
    k = with_out("fill", 1);
    STATUS(CL_SUCCESS, clSetKernelArg(k, 0, sizeof small, &small));
    STATUS(CL_COMPLETE, run(queue, k, 1, results));
    TRUE(results[0] == (told ? -161 : -101));
    TRUE(results[1] >= 4 && results[1] < 4096 / 8);
    TRUE(results[2] == results[1]);
    STATUS(CL_SUCCESS, clReleaseCommandQueue(small));
}

/* Kibibytes of memory that the process has had at most. */
static long most_resident(void) {
    struct rusage usage;
    TRUE(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_maxrss;
}

/* A launch that would enqueue without an end: each kernel is kept until all below it are complete, so there is an end to how many are. */
static void without_end(int told) {
    int results[2 + 2 * ITEMS];
    long before = most_resident();
    STATUS(CL_COMPLETE, run(queue, with_out("descend", 0), 1, results));
    /* CLK_OUT_OF_RESOURCES, once, at the end of the line. */
    TRUE(results[1] == (told ? -5 : -101));
    TRUE(results[0] >= 100000 && results[0] < 1000000);
    TRUE(most_resident() - before < 800 << 10);
}

int main(void) {
    setup();
    cl_int err;
    char options[64];
    int results[2 + 2 * ITEMS];
    snprintf(options, sizeof options, "-cl-std=CL3.0 -DITEMS=%d", ITEMS);
    program = build(source, options);
    out = clCreateBuffer(context, 0, sizeof results, NULL, &err);
    STATUS(CL_SUCCESS, err);
    queues();
    names();
    cl_queue_properties profiled[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, 0};
    cl_command_queue host = clCreateCommandQueueWithProperties(context, device, profiled, &err);
    STATUS(CL_SUCCESS, err);
    cl_command_queue q = on_device(CL_QUEUE_ON_DEVICE_DEFAULT, 1 << 20), other = on_device(0, 1 << 16);

    for (int i = 0; i < 20; i++) {
        STATUS(CL_COMPLETE, run(host, with_out("fan", 0), 999, results));
        TRUE(results[0] == 9990);
    }
    const int lengths[] = {0, 1, 30, 3000};
    for (int i = 0; i < 4; i++) {
        cl_kernel k = with_out("chain", 0);
        STATUS(CL_SUCCESS, clSetKernelArg(k, 1, sizeof(int), &lengths[i]));
        STATUS(CL_COMPLETE, run(host, k, 1, results));
        TRUE(results[0] == lengths[i] + 1);
    }
    cl_kernel k = with_out("two_queues", 2);
    STATUS(CL_SUCCESS, clSetKernelArg(k, 0, sizeof q, &q));
    STATUS(CL_SUCCESS, clSetKernelArg(k, 1, sizeof other, &other));
    STATUS(CL_COMPLETE, run(host, k, 1, results));
    int wrong = results[0] != 0 || results[1] != 0;
    for (int i = 0; i < ITEMS; i++) {
        wrong += results[2 + i] != i || results[2 + ITEMS + i] != ITEMS - 1 - i;
    }
    TRUE(wrong == 0);

    /* The launch ends before its children are complete, and then is complete itself. */
    size_t items = 64;
    cl_event event;
    cl_ulong start = 0, end = 0, complete = 0;
    k = with_out("fan", 0);
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(host, k, 1, NULL, &items, NULL, 0, NULL, &event));
    STATUS(CL_SUCCESS, clWaitForEvents(1, &event));
    STATUS(CL_SUCCESS, clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    STATUS(CL_SUCCESS, clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
    STATUS(CL_SUCCESS, clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_COMPLETE, sizeof complete, &complete, NULL));
    TRUE(start < end && end < complete);
    STATUS(CL_SUCCESS, clReleaseEvent(event));
    STATUS(CL_SUCCESS, clReleaseKernel(k));

    errors(other, 0);
    without_end(0);

    /* A child that faults fails its parent, and what waits for that. */
    const cl_ulong address = 0xdead000;
    k = with_out("wild_child", 0);
    STATUS(CL_SUCCESS, clSetKernelArg(k, 1, sizeof address, &address));
    STATUS(CL_OUT_OF_RESOURCES, run(queue, k, 1, results));
    for (int which = 0; which < 4; which++) {
        k = with_out("wild_operand", 0);
        STATUS(CL_SUCCESS, clSetKernelArg(k, 1, sizeof address, &address));
        STATUS(CL_SUCCESS, clSetKernelArg(k, 2, sizeof which, &which));
        STATUS(CL_OUT_OF_RESOURCES, run(queue, k, 1, results));
        TRUE(results[0] == 0 && results[1] == 0);
    }
    TRUE(run(queue, with_out("forgotten", 0), 1, results) < 0);
    TRUE(results[0] == 0);
    TRUE(run(queue, with_out("told_to_fail", 0), 1, results) < 0);
    TRUE(results[0] == 0 && results[1] == 1);
    STATUS(CL_COMPLETE, run(host, with_out("fan", 0), 10, results));
    TRUE(results[0] == 100);

    STATUS(CL_SUCCESS, clReleaseProgram(program));
    strcat(options, " -g");
    program = build(source, options);
    errors(other, 1);
    without_end(1);

    clReleaseProgram(program);
    clReleaseMemObject(out);
    clReleaseCommandQueue(other);
    clReleaseCommandQueue(q);
    clReleaseCommandQueue(host);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return finish();
}
