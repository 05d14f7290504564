/* Command-buffers: recording, replay, queries, and every error of every entry point. */
#include "command_buffers.h"

#define N 256

static const char *source =
    "kernel void add(global int *data, int value) { data[get_global_id(0)] += value; }\n"
    "kernel void wild(global int *data) { data[(size_t)1 << 44] = 1; }\n";

static cl_program program;
static cl_kernel add;
static cl_mem data, other;

static command_buffer_t create(void) {
    cl_int err;
    command_buffer_t buffer = clCreateCommandBufferKHR_(1, &queue, NULL, &err);
    STATUS(CL_SUCCESS, err);
    return buffer;
}

static void set_arguments(cl_kernel kernel, cl_mem mem, cl_int value) {
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof mem, &mem));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof value, &value));
}

/* All of a buffer has one value. */
static void check_all(cl_mem mem, cl_int expected) {
    cl_int out[N];
    int wrong = 0;
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (int i = 0; i < N; i++) {
        wrong += out[i] != expected;
    }
    TRUE(wrong == 0);
}

static void replay(void) {
    cl_int err, zero = 0;
    size_t n = N;
    command_buffer_t buffer = create();
    cl_kernel kernel = clCreateKernel(program, "add", &err);
    set_arguments(kernel, data, 3);
    STATUS(CL_SUCCESS, clCommandFillBufferKHR_(buffer, NO_QUEUE, data, &zero, sizeof zero, 0, N * 4, NO_POINTS));
    STATUS(CL_SUCCESS, clCommandNDRangeKernelKHR_(buffer, NO_QUEUE, kernel, 1, NULL, &n, NULL, NO_POINTS));
    /* Arguments are those that the kernel had, and the kernel may go. */
    set_arguments(kernel, data, 4);
    STATUS(CL_SUCCESS, clCommandNDRangeKernelKHR_(buffer, NO_QUEUE, kernel, 1, NULL, &n, NULL, NO_POINTS));
    set_arguments(kernel, other, 1000);
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
    STATUS(CL_SUCCESS, clCommandCopyBufferKHR_(buffer, NO_QUEUE, data, other, 0, 0, N * 4, NO_POINTS));
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(buffer));
    check_all(other, 0);
    cl_event event;
    for (int i = 0; i < 3; i++) {
        cl_int dirt = i;
        cl_uint type;
        cl_command_queue of;
        STATUS(CL_SUCCESS, clEnqueueFillBuffer(queue, other, &dirt, sizeof dirt, 0, N * 4, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clEnqueueCommandBufferKHR_(0, NULL, buffer, 0, NULL, &event));
        check_all(other, 7);
        STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
        TRUE(type == COMMAND_COMMAND_BUFFER);
        STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof of, &of, NULL));
        TRUE(of == queue);
        STATUS(CL_SUCCESS, clReleaseEvent(event));
    }
    /* Released while it waits to run. */
    cl_event user_event = clCreateUserEvent(context, &err);
    STATUS(CL_SUCCESS, clEnqueueFillBuffer(queue, other, &zero, sizeof zero, 0, N * 4, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueCommandBufferKHR_(0, NULL, buffer, 1, &user_event, NULL));
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(buffer));
    STATUS(INVALID_COMMAND_BUFFER, clReleaseCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clSetUserEventStatus(user_event, CL_COMPLETE));
    STATUS(CL_SUCCESS, clReleaseEvent(user_event));
    check_all(other, 7);
}

/* Sync-points order what an out-of-order queue does not. */
static void sync_points(void) {
    cl_int err, zero = 0;
    size_t n = N, origin[3] = {0, 0, 0}, region[3] = {N * 4, 1, 1};
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    cl_command_queue unordered = clCreateCommandQueueWithProperties(context, device, list, &err);
    STATUS(CL_SUCCESS, err);
    command_buffer_t buffer = clCreateCommandBufferKHR_(1, &unordered, NULL, &err);
    STATUS(CL_SUCCESS, err);
    point_t point, points[2];
    STATUS(CL_SUCCESS,
           clCommandFillBufferKHR_(buffer, NO_QUEUE, data, &zero, sizeof zero, 0, N * 4, 0, NULL, &point, NULL));
    for (int i = 0; i < 50; i++) {
        point_t before = point;
        set_arguments(add, data, i);
        STATUS(CL_SUCCESS,
               clCommandNDRangeKernelKHR_(buffer, NO_QUEUE, add, 1, NULL, &n, NULL, 1, &before, &point, NULL));
    }
    STATUS(CL_SUCCESS, clCommandCopyBufferRectKHR_(buffer, NO_QUEUE, data, other, origin, origin, region, 0, 0, 0, 0,
                                                   1, &point, &points[0], NULL));
    points[1] = point;
    STATUS(CL_SUCCESS, clCommandBarrierWithWaitListKHR_(buffer, NO_QUEUE, 2, points, NULL, NULL));
    set_arguments(add, other, 1);
    STATUS(CL_SUCCESS, clCommandNDRangeKernelKHR_(buffer, NO_QUEUE, add, 1, NULL, &n, NULL, NO_POINTS));
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clEnqueueCommandBufferKHR_(0, NULL, buffer, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(unordered));
    check_all(other, 49 * 50 / 2 + 1);
    /* On another queue of the same device. */
    STATUS(CL_SUCCESS, clEnqueueCommandBufferKHR_(1, &queue, buffer, 0, NULL, NULL));
    check_all(other, 49 * 50 / 2 + 1);
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(unordered));
}

static void shared_virtual_memory(void) {
    int *from = clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0), *to = clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0);
    int nine = 9;
    command_buffer_t buffer = create();
    STATUS(CL_SUCCESS, clCommandSVMMemFillKHR_(buffer, NO_QUEUE, from, &nine, sizeof nine, 64, NO_POINTS));
    STATUS(CL_SUCCESS, clCommandSVMMemcpyKHR_(buffer, NO_QUEUE, to, from, 64, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandSVMMemFillKHR_(buffer, NO_QUEUE, NULL, &nine, sizeof nine, 64, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandSVMMemFillKHR_(buffer, NO_QUEUE, from, NULL, sizeof nine, 64, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandSVMMemFillKHR_(buffer, NO_QUEUE, from, &nine, 3, 63, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandSVMMemFillKHR_(buffer, NO_QUEUE, from, &nine, 4, 63, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandSVMMemcpyKHR_(buffer, NO_QUEUE, NULL, from, 64, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandSVMMemcpyKHR_(buffer, NO_QUEUE, to, NULL, 64, NO_POINTS));
    STATUS(CL_MEM_COPY_OVERLAP, clCommandSVMMemcpyKHR_(buffer, NO_QUEUE, from + 1, from, 8, NO_POINTS));
    /* "if dst_ptr or src_ptr is NULL and size is non-zero" (cl_khr_unified_svm): no bytes are at no address, for queues
       and command-buffers alike. */
    STATUS(CL_SUCCESS, clEnqueueSVMMemcpy(queue, CL_TRUE, NULL, NULL, 0, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clCommandSVMMemcpyKHR_(buffer, NO_QUEUE, NULL, NULL, 0, NO_POINTS));
    STATUS(CL_SUCCESS, clEnqueueSVMMemFill(queue, NULL, &nine, sizeof nine, 0, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clCommandSVMMemFillKHR_(buffer, NO_QUEUE, NULL, &nine, sizeof nine, 0, NO_POINTS));
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clEnqueueCommandBufferKHR_(0, NULL, buffer, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    TRUE(to[0] == 9 && to[15] == 9);
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(buffer));
    clSVMFree(context, from);
    clSVMFree(context, to);
}

/* A picture is filled and goes around by way of a buffer and another picture, whenever the command-buffer runs. */
static void images(void) {
    cl_int err;
    cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 4};
    cl_mem first = clCreateImage(context, 0, &format, &desc, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_mem second = clCreateImage(context, 0, &format, &desc, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_mem between = clCreateBuffer(context, 0, 8 * 4 * 4, NULL, &err);
    size_t zero[3] = {0, 0, 0}, all[3] = {8, 4, 1}, left[3] = {4, 4, 1}, right[3] = {4, 0, 0};
    float color[4] = {1, 0, 0.5f, 1};
    command_buffer_t buffer = clCreateCommandBufferKHR_(1, &queue, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clCommandFillImageKHR_(buffer, NO_QUEUE, first, color, zero, left, NO_POINTS));
    STATUS(CL_SUCCESS, clCommandCopyImageKHR_(buffer, NO_QUEUE, first, first, zero, right, left, NO_POINTS));
    STATUS(CL_SUCCESS, clCommandCopyImageToBufferKHR_(buffer, NO_QUEUE, first, between, zero, all, 0, NO_POINTS));
    STATUS(CL_SUCCESS, clCommandCopyBufferToImageKHR_(buffer, NO_QUEUE, between, second, 0, zero, all, NO_POINTS));
    STATUS(CL_MEM_COPY_OVERLAP, clCommandCopyImageKHR_(buffer, NO_QUEUE, first, first, zero, zero, left, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandFillImageKHR_(buffer, NO_QUEUE, first, NULL, zero, left, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandFillImageKHR_(buffer, NO_QUEUE, first, color, right, all, NO_POINTS));
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clReleaseMemObject(first));
    for (int round = 0; round < 2; round++) {
        unsigned char texels[8 * 4][4], black[4] = {0};
        STATUS(CL_SUCCESS, clEnqueueFillImage(queue, second, (float[4]){0}, zero, all, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clEnqueueReadImage(queue, second, CL_TRUE, zero, all, 0, 0, texels, 0, NULL, NULL));
        TRUE(memcmp(texels[31], black, 4) == 0);
        STATUS(CL_SUCCESS, clEnqueueCommandBufferKHR_(0, NULL, buffer, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clEnqueueReadImage(queue, second, CL_TRUE, zero, all, 0, 0, texels, 0, NULL, NULL));
        int wrong = 0;
        for (int n = 0; n < 32; n++) wrong |= memcmp(texels[n], (unsigned char[4]){255, 0, 128, 255}, 4);
        TRUE(!wrong);
    }
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clReleaseMemObject(second));
    STATUS(CL_SUCCESS, clReleaseMemObject(between));
}

static void queries(void) {
    cl_int err;
    cl_ulong bits;
    size_t size;
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, DEVICE_COMMAND_BUFFER_CAPABILITIES, sizeof bits, &bits, &size));
    TRUE(size == sizeof bits && (bits & CAPABILITY_KERNEL_PRINTF));
    STATUS(CL_SUCCESS,
           clGetDeviceInfo(device, DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES, sizeof bits, &bits, &size));
    TRUE(size == sizeof bits && bits == 0);
    STATUS(CL_SUCCESS,
           clGetDeviceInfo(device, DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES, sizeof bits, &bits, &size));
    TRUE(size == sizeof bits && bits == (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));

    properties_t given[] = {COMMAND_BUFFER_FLAGS, 0, 0}, got[3] = {1, 1, 1};
    command_buffer_t buffer = clCreateCommandBufferKHR_(1, &queue, given, &err);
    STATUS(CL_SUCCESS, err);
    cl_uint number;
    cl_command_queue its_queue;
    cl_context its_context;
    STATUS(CL_SUCCESS, clGetCommandBufferInfoKHR_(buffer, COMMAND_BUFFER_NUM_QUEUES, 4, &number, &size));
    TRUE(number == 1 && size == 4);
    STATUS(CL_SUCCESS, clGetCommandBufferInfoKHR_(buffer, COMMAND_BUFFER_QUEUES, 8, &its_queue, &size));
    TRUE(its_queue == queue && size == 8);
    STATUS(CL_SUCCESS, clGetCommandBufferInfoKHR_(buffer, COMMAND_BUFFER_CONTEXT, 8, &its_context, &size));
    TRUE(its_context == context && size == 8);
    STATUS(CL_SUCCESS, clGetCommandBufferInfoKHR_(buffer, COMMAND_BUFFER_PROPERTIES_ARRAY, sizeof got, got, &size));
    TRUE(memcmp(got, given, sizeof got) == 0 && size == sizeof got);
    STATUS(CL_SUCCESS, clRetainCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clGetCommandBufferInfoKHR_(buffer, COMMAND_BUFFER_REFERENCE_COUNT, 4, &number, &size));
    TRUE(number == 2 && size == 4);
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clGetCommandBufferInfoKHR_(buffer, COMMAND_BUFFER_STATE, 4, &number, &size));
    TRUE(number == STATE_RECORDING && size == 4);
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clGetCommandBufferInfoKHR_(buffer, COMMAND_BUFFER_STATE, 4, &number, &size));
    TRUE(number == STATE_EXECUTABLE && size == 4);
    STATUS(CL_INVALID_VALUE, clGetCommandBufferInfoKHR_(buffer, COMMAND_BUFFER_STATE, 3, &number, NULL));
    STATUS(CL_INVALID_VALUE, clGetCommandBufferInfoKHR_(buffer, CL_EVENT_CONTEXT, 8, &its_context, NULL));
    STATUS(INVALID_COMMAND_BUFFER, clGetCommandBufferInfoKHR_(NULL, COMMAND_BUFFER_STATE, 4, &number, NULL));
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(buffer));
}

static void bad_creation(void) {
    cl_int err;
    cl_command_queue bad = (cl_command_queue)context;
    properties_t twice[] = {COMMAND_BUFFER_FLAGS, 0, COMMAND_BUFFER_FLAGS, 0, 0};
    properties_t unknown_name[] = {1}, unknown_flag[] = {COMMAND_BUFFER_FLAGS, (cl_ulong)1 << 40, 0};
    CREATED(CL_INVALID_VALUE, clCreateCommandBufferKHR_(0, &queue, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreateCommandBufferKHR_(1, NULL, NULL, &err));
    CREATED(CL_INVALID_COMMAND_QUEUE, clCreateCommandBufferKHR_(1, &bad, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreateCommandBufferKHR_(1, &queue, twice, &err));
    CREATED(CL_INVALID_VALUE, clCreateCommandBufferKHR_(1, &queue, unknown_name, &err));
    CREATED(CL_INVALID_VALUE, clCreateCommandBufferKHR_(1, &queue, unknown_flag, &err));
    STATUS(INVALID_COMMAND_BUFFER, clRetainCommandBufferKHR_(NULL));
    STATUS(INVALID_COMMAND_BUFFER, clReleaseCommandBufferKHR_((command_buffer_t)queue));
    STATUS(INVALID_COMMAND_BUFFER, clFinalizeCommandBufferKHR_(NULL));
}

static void bad_enqueues(void) {
    cl_int err;
    cl_event event = (cl_event)queue;
    cl_command_queue bad = (cl_command_queue)context, two[2] = {queue, queue};
    cl_context second = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    cl_command_queue foreign = clCreateCommandQueueWithProperties(second, device, NULL, &err);
    cl_event foreign_event = clCreateUserEvent(second, &err);
    command_buffer_t buffer = create();
    STATUS(INVALID_COMMAND_BUFFER, clEnqueueCommandBufferKHR_(0, NULL, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_OPERATION, clEnqueueCommandBufferKHR_(0, NULL, buffer, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(buffer));
    STATUS(CL_INVALID_OPERATION, clFinalizeCommandBufferKHR_(buffer));
    STATUS(CL_INVALID_VALUE, clEnqueueCommandBufferKHR_(1, NULL, buffer, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueCommandBufferKHR_(0, &queue, buffer, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueCommandBufferKHR_(2, two, buffer, 0, NULL, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueCommandBufferKHR_(1, &bad, buffer, 0, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT, clEnqueueCommandBufferKHR_(1, &foreign, buffer, 0, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT, clEnqueueCommandBufferKHR_(0, NULL, buffer, 1, &foreign_event, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueCommandBufferKHR_(0, NULL, buffer, 1, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueCommandBufferKHR_(0, NULL, buffer, 0, &event, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueCommandBufferKHR_(0, NULL, buffer, 1, &event, NULL));
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clReleaseEvent(foreign_event));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(foreign));
    STATUS(CL_SUCCESS, clReleaseContext(second));
}

/* What is wrong with the arguments that all commands share, for one command. `...` are its own arguments. */
#define COMMON(function, ...)                                                                                          \
    do {                                                                                                               \
        properties_t unknown_[] = {1};                                                                                 \
        point_t none_ = 0, later_ = 1000000, point_ = 0;                                                               \
        mutable_t handle_;                                                                                             \
        STATUS(INVALID_COMMAND_BUFFER, function(NULL, NO_QUEUE, __VA_ARGS__ NO_POINTS));                               \
        STATUS(CL_INVALID_COMMAND_QUEUE, function(buffer, (cl_command_queue)context, NULL, __VA_ARGS__ NO_POINTS));    \
        STATUS(CL_INVALID_VALUE, function(buffer, NULL, unknown_, __VA_ARGS__ NO_POINTS));                             \
        if ((void *)function != (void *)clCommandNDRangeKernelKHR_) {                                                  \
            STATUS(CL_INVALID_VALUE, function(buffer, NO_QUEUE, __VA_ARGS__ 0, NULL, NULL, &handle_));                 \
        }                                                                                                              \
        STATUS(INVALID_SYNC_POINT_WAIT_LIST, function(buffer, NO_QUEUE, __VA_ARGS__ 1, NULL, NULL, NULL));             \
        STATUS(INVALID_SYNC_POINT_WAIT_LIST, function(buffer, NO_QUEUE, __VA_ARGS__ 0, &none_, NULL, NULL));           \
        STATUS(INVALID_SYNC_POINT_WAIT_LIST, function(buffer, NO_QUEUE, __VA_ARGS__ 1, &none_, NULL, NULL));           \
        STATUS(INVALID_SYNC_POINT_WAIT_LIST, function(buffer, NO_QUEUE, __VA_ARGS__ 1, &later_, NULL, NULL));          \
        STATUS(CL_INVALID_OPERATION, function(finalized, NO_QUEUE, __VA_ARGS__ NO_POINTS));                            \
        STATUS(CL_SUCCESS, function(buffer, NO_QUEUE, __VA_ARGS__ 0, NULL, &point_, NULL));                            \
        TRUE(point_ != 0);                                                                                             \
    } while (0)

static void bad_commands(void) {
    cl_int err, value = 0;
    size_t n = N, zero = 0, origin[3] = {0, 0, 0}, region[3] = {16, 1, 1}, empty[3] = {16, 0, 1};
    size_t beyond[3] = {N * 4, 0, 0};
    int block[32] = {0};
    cl_context second = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    cl_mem foreign = clCreateBuffer(second, CL_MEM_READ_WRITE, 64, NULL, &err);
    cl_mem bad = (cl_mem)queue;
    command_buffer_t buffer = create(), finalized = create();
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(finalized));
    set_arguments(add, data, 0);

#define NOTHING
    COMMON(clCommandBarrierWithWaitListKHR_, NOTHING);
    COMMON(clCommandCopyBufferKHR_, data, other, 0, 0, 16, );
    COMMON(clCommandCopyBufferRectKHR_, data, other, origin, origin, region, 0, 0, 0, 0, );
    COMMON(clCommandFillBufferKHR_, data, &value, 4, 0, 16, );
    COMMON(clCommandNDRangeKernelKHR_, add, 1, NULL, &n, NULL, );
    COMMON(clCommandSVMMemcpyKHR_, block, block + 16, 4, );
    COMMON(clCommandSVMMemFillKHR_, block, &value, 4, 16, );

    STATUS(CL_INVALID_MEM_OBJECT, clCommandCopyBufferKHR_(buffer, NO_QUEUE, bad, other, 0, 0, 16, NO_POINTS));
    STATUS(CL_INVALID_MEM_OBJECT, clCommandCopyBufferKHR_(buffer, NO_QUEUE, data, NULL, 0, 0, 16, NO_POINTS));
    STATUS(CL_INVALID_CONTEXT, clCommandCopyBufferKHR_(buffer, NO_QUEUE, foreign, other, 0, 0, 16, NO_POINTS));
    STATUS(CL_INVALID_CONTEXT, clCommandCopyBufferKHR_(buffer, NO_QUEUE, data, foreign, 0, 0, 16, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandCopyBufferKHR_(buffer, NO_QUEUE, data, other, N * 4, 0, 1, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandCopyBufferKHR_(buffer, NO_QUEUE, data, other, 0, (size_t)-1, 2, NO_POINTS));
    STATUS(CL_MEM_COPY_OVERLAP, clCommandCopyBufferKHR_(buffer, NO_QUEUE, data, data, 0, 15, 16, NO_POINTS));

#define RECT(from, to, a, b, c) clCommandCopyBufferRectKHR_(buffer, NO_QUEUE, from, to, a, b, c, 0, 0, 0, 0, NO_POINTS)
    STATUS(CL_INVALID_MEM_OBJECT, RECT(bad, other, origin, origin, region));
    STATUS(CL_INVALID_CONTEXT, RECT(data, foreign, origin, origin, region));
    STATUS(CL_INVALID_VALUE, RECT(data, other, NULL, origin, region));
    STATUS(CL_INVALID_VALUE, RECT(data, other, origin, NULL, region));
    STATUS(CL_INVALID_VALUE, RECT(data, other, origin, origin, NULL));
    STATUS(CL_INVALID_VALUE, RECT(data, other, origin, origin, empty));
    STATUS(CL_INVALID_VALUE, RECT(data, other, beyond, origin, region));
    STATUS(CL_MEM_COPY_OVERLAP, RECT(data, data, origin, origin, region));

    /* A buffer of another context is no image, and that is found out first. */
    STATUS(CL_INVALID_MEM_OBJECT, clCommandCopyImageKHR_(buffer, NO_QUEUE, foreign, foreign, origin, origin, region, NO_POINTS));
    STATUS(CL_INVALID_MEM_OBJECT,
           clEnqueueCopyImage(queue, foreign, foreign, origin, origin, region, 0, NULL, NULL));

    STATUS(CL_INVALID_MEM_OBJECT, clCommandFillBufferKHR_(buffer, NO_QUEUE, bad, &value, 4, 0, 16, NO_POINTS));
    STATUS(CL_INVALID_CONTEXT, clCommandFillBufferKHR_(buffer, NO_QUEUE, foreign, &value, 4, 0, 16, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandFillBufferKHR_(buffer, NO_QUEUE, data, NULL, 4, 0, 16, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandFillBufferKHR_(buffer, NO_QUEUE, data, &value, 3, 0, 15, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandFillBufferKHR_(buffer, NO_QUEUE, data, &value, 4, 2, 16, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandFillBufferKHR_(buffer, NO_QUEUE, data, &value, 4, 0, N * 4 + 4, NO_POINTS));

    cl_kernel unset = clCreateKernel(program, "add", &err);
#define LAUNCH(kernel, dim, offset, global, local)                                                                     \
    clCommandNDRangeKernelKHR_(buffer, NO_QUEUE, kernel, dim, offset, global, local, NO_POINTS)
    STATUS(CL_INVALID_KERNEL, LAUNCH((cl_kernel)queue, 1, NULL, &n, NULL));
    STATUS(CL_INVALID_WORK_DIMENSION, LAUNCH(add, 0, NULL, &n, NULL));
    STATUS(CL_INVALID_WORK_DIMENSION, LAUNCH(add, 4, NULL, &n, NULL));
    STATUS(CL_INVALID_WORK_GROUP_SIZE, LAUNCH(add, 1, NULL, &n, &zero));
    STATUS(CL_INVALID_KERNEL_ARGS, LAUNCH(unset, 1, NULL, &n, NULL));
    STATUS(CL_SUCCESS, clReleaseKernel(unset));

    /* These are buffers. */
    STATUS(INVALID_COMMAND_BUFFER, clCommandFillImageKHR_(NULL, NO_QUEUE, data, &value, origin, region, NO_POINTS));
    STATUS(CL_INVALID_MEM_OBJECT, clCommandFillImageKHR_(buffer, NO_QUEUE, data, &value, origin, region, NO_POINTS));
    STATUS(CL_INVALID_MEM_OBJECT, clCommandCopyImageKHR_(buffer, NO_QUEUE, data, other, origin, origin, region, NO_POINTS));
    STATUS(CL_INVALID_MEM_OBJECT,
           clCommandCopyImageToBufferKHR_(buffer, NO_QUEUE, data, other, origin, region, 0, NO_POINTS));
    STATUS(CL_INVALID_MEM_OBJECT,
           clCommandCopyBufferToImageKHR_(buffer, NO_QUEUE, data, other, 0, origin, region, NO_POINTS));
    STATUS(CL_INVALID_OPERATION, clCommandFillImageKHR_(finalized, NO_QUEUE, data, &value, origin, region, NO_POINTS));

    /* What failed was not recorded. */
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clEnqueueCommandBufferKHR_(0, NULL, buffer, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(finalized));
    STATUS(CL_SUCCESS, clReleaseMemObject(foreign));
    STATUS(CL_SUCCESS, clReleaseContext(second));
}

/* A kernel that faults fails the run; what comes after it in the command-buffer does not run, and the next run is a new one. */
static void a_fault(void) {
    cl_int err, status, zero = 0;
    size_t one = 1, n = N;
    cl_event event;
    cl_kernel wild = clCreateKernel(program, "wild", &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clSetKernelArg(wild, 0, sizeof data, &data));
    STATUS(CL_SUCCESS, clEnqueueFillBuffer(queue, data, &zero, sizeof zero, 0, N * 4, 0, NULL, NULL));
    command_buffer_t buffer = create();
    set_arguments(add, data, 1);
    STATUS(CL_SUCCESS, clCommandNDRangeKernelKHR_(buffer, NO_QUEUE, add, 1, NULL, &n, NULL, NO_POINTS));
    STATUS(CL_SUCCESS, clCommandNDRangeKernelKHR_(buffer, NO_QUEUE, wild, 1, NULL, &one, NULL, NO_POINTS));
    STATUS(CL_SUCCESS, clCommandNDRangeKernelKHR_(buffer, NO_QUEUE, add, 1, NULL, &n, NULL, NO_POINTS));
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(buffer));
    for (int i = 1; i <= 2; i++) {
        STATUS(CL_SUCCESS, clEnqueueCommandBufferKHR_(0, NULL, buffer, 0, NULL, &event));
        STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &event));
        STATUS(CL_SUCCESS,
               clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        TRUE(status == CL_OUT_OF_RESOURCES);
        STATUS(CL_SUCCESS, clReleaseEvent(event));
        check_all(data, i);
    }
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clReleaseKernel(wild));
}

int main(void) {
    cl_int err, zero[N] = {0};
    setup();
    load();
    program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, clBuildProgram(program, 0, NULL, "", NULL, NULL));
    add = clCreateKernel(program, "add", &err);
    STATUS(CL_SUCCESS, err);
    data = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof zero, zero, &err);
    other = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof zero, zero, &err);
    replay();
    sync_points();
    shared_virtual_memory();
    images();
    queries();
    bad_creation();
    bad_enqueues();
    bad_commands();
    a_fault();
    STATUS(CL_SUCCESS, clReleaseMemObject(data));
    STATUS(CL_SUCCESS, clReleaseMemObject(other));
    STATUS(CL_SUCCESS, clReleaseKernel(add));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
    STATUS(CL_SUCCESS, clReleaseContext(context));
    return finish();
}
