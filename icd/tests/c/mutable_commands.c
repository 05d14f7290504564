/* Launches in command-buffers that change, are asked about, and are copied to other queues; several queues in one command-buffer. */
#include "command_buffers.h"

#define N 64

#define COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS 0x12B7
#define PLATFORM_COMMAND_BUFFER_CAPABILITIES 0x0908
#define DEVICE_COMMAND_BUFFER_NUM_SYNC_DEVICES 0x12AB
#define DEVICE_COMMAND_BUFFER_SYNC_DEVICES 0x12AC
#define DEVICE_MUTABLE_DISPATCH_CAPABILITIES 0x12B0
#define UPDATABLE_FIELDS 0x12B1
#define DISPATCH_ASSERTS 0x12B8
#define STATE_FINALIZED 2
#define FLAG_SIMULTANEOUS_USE 1
#define FLAG_MUTABLE 2
#define FLAG_DEVICE_SIDE_SYNC 4
#define CAPABILITY_SIMULTANEOUS_USE (1 << 2)
#define CAPABILITY_MULTIPLE_QUEUE (1 << 4)
#define FIELD_OFFSET 1
#define FIELD_GLOBAL 2
#define FIELD_LOCAL 4
#define FIELD_ARGUMENTS 8
#define FIELD_EXEC_INFO 16
#define COMMAND_QUEUE 0x12A0
#define COMMAND_BUFFER 0x12A1
#define COMMAND_PROPERTIES 0x12A2
#define COMMAND_KERNEL 0x12A3
#define COMMAND_DIMENSIONS 0x12A4
#define COMMAND_OFFSET 0x12A5
#define COMMAND_GLOBAL 0x12A6
#define COMMAND_LOCAL 0x12A7
#define COMMAND_TYPE 0x12AD
#define INVALID_MUTABLE_COMMAND (-1141)

typedef struct {
    cl_uint index;
    size_t size;
    const void *value;
} arg_t;

typedef struct {
    mutable_t command;
    cl_uint num_args, num_svm_args, num_exec_infos, work_dim;
    const arg_t *args, *svm_args;
    const void *exec_infos;
    const size_t *offset, *global, *local;
} config_t;

static cl_int(CL_API_CALL *update_)(command_buffer_t, cl_uint, const cl_uint *, const void **);
static cl_int(CL_API_CALL *get_info_)(mutable_t, cl_uint, size_t, void *, size_t *);
static command_buffer_t(CL_API_CALL *remap_)(command_buffer_t, cl_bool, cl_uint, const cl_command_queue *, cl_uint,
                                             const mutable_t *, mutable_t *, cl_int *);

static const char *source =
    "kernel void put(global int *to, int value) { to[get_global_id(0)] = value + (int)get_local_size(0); }\n"
    "kernel void put2(global int *to, int value) { to[get_global_linear_id()] = value; }\n";

static cl_program program;
static cl_kernel put;
static cl_mem data, other;

static command_buffer_t create(void) {
    cl_int err;
    properties_t list[] = {COMMAND_BUFFER_FLAGS, FLAG_MUTABLE | FLAG_SIMULTANEOUS_USE, 0};
    command_buffer_t buffer = clCreateCommandBufferKHR_(1, &queue, list, &err);
    STATUS(CL_SUCCESS, err);
    return buffer;
}

static cl_int update(command_buffer_t buffer, const config_t *config) {
    cl_uint type = 0;
    const void *configs[] = {config};
    return update_(buffer, 1, &type, configs);
}

static void run_and_check(command_buffer_t buffer, cl_mem mem, int from, int to, cl_int expected) {
    cl_int out[N], clear = -1;
    int wrong = 0;
    STATUS(CL_SUCCESS, clEnqueueFillBuffer(queue, mem, &clear, sizeof clear, 0, sizeof out, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueCommandBufferKHR_(0, NULL, buffer, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (int i = 0; i < N; i++) {
        wrong += out[i] != (i >= from && i < to ? expected : -1);
    }
    TRUE(wrong == 0);
}

static void set_arguments(cl_mem mem, cl_int value) {
    STATUS(CL_SUCCESS, clSetKernelArg(put, 0, sizeof mem, &mem));
    STATUS(CL_SUCCESS, clSetKernelArg(put, 1, sizeof value, &value));
}

static void updates(void) {
    size_t n = N, local = 8, offset = 16, less = 32, wider = 16;
    cl_int value = 100;
    mutable_t command;
    command_buffer_t buffer = create();
    set_arguments(data, 1);
    STATUS(CL_SUCCESS,
           clCommandNDRangeKernelKHR_(buffer, NO_QUEUE, put, 1, NULL, &n, &local, 0, NULL, NULL, &command));
    config_t nothing = {.command = command};
    STATUS(CL_INVALID_OPERATION, update(buffer, &nothing));
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, update(buffer, &nothing));
    run_and_check(buffer, data, 0, N, 9);
    arg_t args[] = {{0, sizeof other, &other}, {1, sizeof value, &value}};
    config_t arguments = {.command = command, .num_args = 2, .args = args};
    STATUS(CL_SUCCESS, update(buffer, &arguments));
    run_and_check(buffer, other, 0, N, 108);
    config_t sizes = {.command = command, .work_dim = 1, .offset = &offset, .global = &less, .local = &wider};
    STATUS(CL_SUCCESS, update(buffer, &sizes));
    run_and_check(buffer, other, 16, 48, 116);
    /* Several updates at once, of one command too; all or nothing. */
    cl_int later = 200;
    arg_t last = {1, sizeof later, &later}, wrong = {1, 3, &later};
    config_t second = {.command = command, .num_args = 1, .args = &last};
    config_t bad = {.command = command, .num_args = 1, .args = &wrong};
    const void *both[] = {&arguments, &second}, *half[] = {&arguments, &bad};
    cl_uint types[] = {0, 0};
    STATUS(CL_SUCCESS, update_(buffer, 2, types, both));
    run_and_check(buffer, other, 16, 48, 216);
    STATUS(CL_INVALID_ARG_SIZE, update_(buffer, 2, types, half));
    run_and_check(buffer, other, 16, 48, 216);
    /* Shared virtual memory. */
    int *svm = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof(int[N]), 0);
    arg_t pointer = {0, 0, svm};
    config_t to_svm = {.command = command, .num_svm_args = 1, .svm_args = &pointer};
    STATUS(CL_SUCCESS, update(buffer, &to_svm));
    STATUS(CL_SUCCESS, clEnqueueCommandBufferKHR_(0, NULL, buffer, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    TRUE(svm[16] == 216 && svm[47] == 216);

    config_t missing = {.command = command, .num_args = 1}, surplus = {.command = command, .args = args};
    config_t missing_svm = {.command = command, .num_svm_args = 1}, surplus_svm = {.command = command, .svm_args = args};
    config_t missing_info = {.command = command, .num_exec_infos = 1};
    arg_t far = {7, 4, &value};
    size_t odd = 33;
    config_t dimensions = {.command = command, .work_dim = 2}, index = {.command = command, .num_args = 1, .args = &far};
    config_t uneven = {.command = command, .global = &odd}, foreign = {.command = (mutable_t)queue};
    STATUS(CL_INVALID_VALUE, update(buffer, &missing));
    STATUS(CL_INVALID_VALUE, update(buffer, &surplus));
    STATUS(CL_INVALID_VALUE, update(buffer, &missing_svm));
    STATUS(CL_INVALID_VALUE, update(buffer, &surplus_svm));
    STATUS(CL_INVALID_VALUE, update(buffer, &missing_info));
    STATUS(CL_INVALID_OPERATION, update(buffer, &dimensions));
    STATUS(CL_INVALID_ARG_INDEX, update(buffer, &index));
    STATUS(CL_INVALID_OPERATION, update(buffer, &uneven));
    STATUS(INVALID_MUTABLE_COMMAND, update(buffer, &foreign));
    STATUS(INVALID_COMMAND_BUFFER, update(NULL, &nothing));
    STATUS(CL_INVALID_VALUE, update(buffer, NULL));
    cl_uint no_type = 99;
    STATUS(CL_INVALID_VALUE, update_(buffer, 1, &no_type, both));
    STATUS(CL_INVALID_VALUE, update_(buffer, 1, NULL, both));
    STATUS(CL_INVALID_VALUE, update_(buffer, 1, types, NULL));
    STATUS(CL_INVALID_VALUE, update_(buffer, 0, types, NULL));
    STATUS(CL_INVALID_VALUE, update_(buffer, 0, NULL, both));
    STATUS(CL_SUCCESS, update_(buffer, 0, NULL, NULL));

    /* A command of another command-buffer, and one that is gone. */
    command_buffer_t stranger = create();
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(stranger));
    STATUS(INVALID_MUTABLE_COMMAND, update(stranger, &nothing));
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(buffer));
    STATUS(INVALID_MUTABLE_COMMAND, update(stranger, &nothing));
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(stranger));
    clSVMFree(context, svm);
}

/* Only what was said to change may change, and nothing of an immutable command-buffer. */
static void fields(void) {
    cl_int err, value = 3;
    size_t n = N, local = 8;
    arg_t arg = {1, sizeof value, &value};
    const cl_ulong all[] = {FIELD_OFFSET, FIELD_GLOBAL, FIELD_LOCAL, FIELD_ARGUMENTS, FIELD_EXEC_INFO};
    cl_uint info[6] = {0};
    set_arguments(data, 1);
    for (int allowed = 0; allowed < 5; allowed++) {
        command_buffer_t buffer = create();
        mutable_t command;
        properties_t list[] = {UPDATABLE_FIELDS, all[allowed], 0};
        STATUS(CL_SUCCESS, clCommandNDRangeKernelKHR_(buffer, NULL, list, put, 1, NULL, &n, &local, 0, NULL, NULL, &command));
        STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(buffer));
        config_t configs[5] = {
            {.command = command, .offset = &local},
            {.command = command, .global = &n},
            {.command = command, .local = &local},
            {.command = command, .num_args = 1, .args = &arg},
            {.command = command, .num_exec_infos = 1, .exec_infos = info},
        };
        for (int i = 0; i < 4; i++) {
            STATUS(i == allowed ? CL_SUCCESS : CL_INVALID_OPERATION, update(buffer, &configs[i]));
        }
        STATUS(allowed == 4 ? CL_INVALID_VALUE : CL_INVALID_OPERATION, update(buffer, &configs[4]));
        STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(buffer));
    }
    mutable_t command;
    command_buffer_t fixed = clCreateCommandBufferKHR_(1, &queue, NULL, &err);
    properties_t unknown[] = {UPDATABLE_FIELDS, 1 << 20, 0}, asserts[] = {DISPATCH_ASSERTS, 1, 0};
    properties_t bad_asserts[] = {DISPATCH_ASSERTS, 2, 0};
    STATUS(CL_INVALID_VALUE, clCommandNDRangeKernelKHR_(fixed, NULL, unknown, put, 1, NULL, &n, NULL, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandNDRangeKernelKHR_(fixed, NULL, asserts, put, 1, NULL, &n, NULL, NO_POINTS));
    STATUS(CL_INVALID_VALUE, clCommandNDRangeKernelKHR_(fixed, NULL, bad_asserts, put, 1, NULL, &n, &local, NO_POINTS));
    STATUS(CL_SUCCESS, clCommandNDRangeKernelKHR_(fixed, NULL, asserts, put, 1, NULL, &n, &local, 0, NULL, NULL, &command));
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(fixed));
    config_t nothing = {.command = command};
    STATUS(CL_INVALID_OPERATION, update(fixed, &nothing));
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(fixed));
    properties_t asserting[] = {COMMAND_BUFFER_FLAGS, FLAG_MUTABLE, COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS, 1, 0};
    command_buffer_t asserted = clCreateCommandBufferKHR_(1, &queue, asserting, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_INVALID_VALUE, clCommandNDRangeKernelKHR_(asserted, NO_QUEUE, put, 1, NULL, &n, NULL, NO_POINTS));
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(asserted));
}

static void deferred_arguments(void) {
    cl_int err, value = 5;
    cl_uint state;
    size_t n = N, local = 4;
    properties_t list[] = {UPDATABLE_FIELDS, FIELD_ARGUMENTS, 0};
    mutable_t command;
    cl_kernel unset = clCreateKernel(program, "put", &err);
    command_buffer_t buffer = create();
    STATUS(CL_INVALID_KERNEL_ARGS,
           clCommandNDRangeKernelKHR_(buffer, NO_QUEUE, unset, 1, NULL, &n, &local, 0, NULL, NULL, &command));
    STATUS(CL_SUCCESS,
           clCommandNDRangeKernelKHR_(buffer, NULL, list, unset, 1, NULL, &n, &local, 0, NULL, NULL, &command));
    STATUS(CL_SUCCESS, clReleaseKernel(unset));
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clGetCommandBufferInfoKHR_(buffer, COMMAND_BUFFER_STATE, 4, &state, NULL));
    TRUE(state == STATE_FINALIZED);
    STATUS(CL_INVALID_OPERATION, clEnqueueCommandBufferKHR_(0, NULL, buffer, 0, NULL, NULL));
    arg_t first = {0, sizeof data, &data}, second = {1, sizeof value, &value};
    config_t one = {.command = command, .num_args = 1, .args = &first};
    config_t two = {.command = command, .num_args = 1, .args = &second};
    STATUS(CL_SUCCESS, update(buffer, &one));
    STATUS(CL_INVALID_OPERATION, clEnqueueCommandBufferKHR_(0, NULL, buffer, 0, NULL, NULL));
    STATUS(CL_SUCCESS, update(buffer, &two));
    STATUS(CL_SUCCESS, clGetCommandBufferInfoKHR_(buffer, COMMAND_BUFFER_STATE, 4, &state, NULL));
    TRUE(state == STATE_EXECUTABLE);
    run_and_check(buffer, data, 0, N, 9);
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(buffer));
}

static void queries(void) {
    cl_ulong bits;
    cl_uint number;
    size_t size, got[2], offset[2] = {1, 2}, global[2] = {8, 4}, local[2] = {2, 2}, more[2] = {16, 2};
    cl_device_id its_device;
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, DEVICE_MUTABLE_DISPATCH_CAPABILITIES, sizeof bits, &bits, &size));
    TRUE(bits == 31 && size == sizeof bits);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, DEVICE_COMMAND_BUFFER_CAPABILITIES, sizeof bits, &bits, &size));
    TRUE((bits & CAPABILITY_SIMULTANEOUS_USE) && (bits & CAPABILITY_MULTIPLE_QUEUE));
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, DEVICE_COMMAND_BUFFER_NUM_SYNC_DEVICES, sizeof number, &number, &size));
    TRUE(number == 1 && size == sizeof number);
    STATUS(CL_SUCCESS,
           clGetDeviceInfo(device, DEVICE_COMMAND_BUFFER_SYNC_DEVICES, sizeof its_device, &its_device, &size));
    TRUE(its_device == device && size == sizeof its_device);
    STATUS(CL_SUCCESS, clGetPlatformInfo(platform, PLATFORM_COMMAND_BUFFER_CAPABILITIES, sizeof bits, &bits, &size));
    TRUE(bits == 7 && size == sizeof bits);

    command_buffer_t buffer = create(), its_buffer;
    cl_command_queue its_queue;
    cl_kernel its_kernel, put2;
    cl_int err, value = 1;
    properties_t list[] = {UPDATABLE_FIELDS, 31, 0}, its_list[3];
    mutable_t command, plain;
    put2 = clCreateKernel(program, "put2", &err);
    STATUS(CL_SUCCESS, clSetKernelArg(put2, 0, sizeof data, &data));
    STATUS(CL_SUCCESS, clSetKernelArg(put2, 1, sizeof value, &value));
    STATUS(CL_SUCCESS,
           clCommandNDRangeKernelKHR_(buffer, NULL, list, put2, 2, offset, global, local, 0, NULL, NULL, &command));
    STATUS(CL_SUCCESS, clCommandNDRangeKernelKHR_(buffer, NULL, NULL, put2, 2, NULL, global, NULL, 0, NULL, NULL, &plain));
#define ASK(name, value) STATUS(CL_SUCCESS, get_info_(command, name, sizeof value, &value, &size)); TRUE(size == sizeof value)
    ASK(COMMAND_QUEUE, its_queue);
    TRUE(its_queue == queue);
    ASK(COMMAND_BUFFER, its_buffer);
    TRUE(its_buffer == buffer);
    ASK(COMMAND_TYPE, number);
    TRUE(number == CL_COMMAND_NDRANGE_KERNEL);
    ASK(COMMAND_PROPERTIES, its_list);
    TRUE(memcmp(list, its_list, sizeof list) == 0);
    ASK(COMMAND_KERNEL, its_kernel);
    TRUE(its_kernel == put2);
    ASK(COMMAND_DIMENSIONS, number);
    TRUE(number == 2);
    ASK(COMMAND_OFFSET, got);
    TRUE(memcmp(got, offset, sizeof got) == 0);
    ASK(COMMAND_GLOBAL, got);
    TRUE(memcmp(got, global, sizeof got) == 0);
    ASK(COMMAND_LOCAL, got);
    TRUE(memcmp(got, local, sizeof got) == 0);
    STATUS(CL_SUCCESS, get_info_(plain, COMMAND_PROPERTIES, 0, NULL, &size));
    TRUE(size == 0);
    STATUS(CL_SUCCESS, get_info_(plain, COMMAND_LOCAL, sizeof got, got, NULL));
    TRUE(got[0] == 0 && got[1] == 0);
    STATUS(CL_SUCCESS, get_info_(plain, COMMAND_OFFSET, sizeof got, got, NULL));
    TRUE(got[0] == 0 && got[1] == 0);
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(buffer));
    config_t wider = {.command = command, .global = more};
    STATUS(CL_SUCCESS, update(buffer, &wider));
    ASK(COMMAND_GLOBAL, got);
    TRUE(memcmp(got, more, sizeof got) == 0);
    STATUS(CL_INVALID_VALUE, get_info_(command, COMMAND_GLOBAL, sizeof got - 1, got, NULL));
    STATUS(CL_INVALID_VALUE, get_info_(command, COMMAND_BUFFER_STATE, sizeof got, got, NULL));
    STATUS(INVALID_MUTABLE_COMMAND, get_info_(NULL, COMMAND_GLOBAL, sizeof got, got, NULL));
    STATUS(INVALID_MUTABLE_COMMAND, get_info_((mutable_t)buffer, COMMAND_GLOBAL, sizeof got, got, NULL));
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(buffer));
    STATUS(INVALID_MUTABLE_COMMAND, get_info_(command, COMMAND_GLOBAL, sizeof got, got, NULL));
    STATUS(CL_SUCCESS, clReleaseKernel(put2));
}

/* Two queues in one command-buffer, one command on both, and a copy for a third. */
static void several_queues(void) {
    cl_int err, zero = 0;
    size_t n = N, local = 8;
    properties_t list[] = {COMMAND_BUFFER_FLAGS, FLAG_DEVICE_SIDE_SYNC | FLAG_MUTABLE, 0};
    cl_command_queue second = clCreateCommandQueueWithProperties(context, device, NULL, &err);
    cl_command_queue third = clCreateCommandQueueWithProperties(context, device, NULL, &err);
    cl_command_queue both[2] = {queue, second}, its_queue;
    command_buffer_t buffer = clCreateCommandBufferKHR_(2, both, list, &err);
    STATUS(CL_SUCCESS, err);
    point_t point;
    mutable_t command, copy;
    cl_event event;
    STATUS(CL_INVALID_COMMAND_QUEUE,
           clCommandFillBufferKHR_(buffer, NO_QUEUE, data, &zero, 4, 0, 4, NO_POINTS));
    STATUS(CL_INVALID_COMMAND_QUEUE,
           clCommandFillBufferKHR_(buffer, third, NULL, data, &zero, 4, 0, 4, NO_POINTS));
    set_arguments(data, 1);
    STATUS(CL_SUCCESS,
           clCommandNDRangeKernelKHR_(buffer, second, NULL, put, 1, NULL, &n, &local, 0, NULL, &point, &command));
    STATUS(CL_SUCCESS, clCommandCopyBufferKHR_(buffer, queue, NULL, data, other, 0, 0, N * 4, 1, &point, NULL, NULL));
    STATUS(CL_SUCCESS, get_info_(command, COMMAND_QUEUE, sizeof its_queue, &its_queue, NULL));
    TRUE(its_queue == second);
    STATUS(CL_SUCCESS, clFinalizeCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clEnqueueCommandBufferKHR_(2, both, buffer, 0, NULL, &event));
    STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof its_queue, &its_queue, NULL));
    TRUE(its_queue == NULL);
    STATUS(CL_INVALID_EVENT, clSetUserEventStatus(event, CL_COMPLETE));
    STATUS(CL_SUCCESS, clWaitForEvents(1, &event));
    STATUS(CL_SUCCESS, clReleaseEvent(event));
    run_and_check(buffer, other, 0, N, 9);

    /* On one queue, which the runtime finds or the application names. */
    command_buffer_t automatic = remap_(buffer, CL_TRUE, 1, &third, 1, &command, &copy, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, get_info_(copy, COMMAND_QUEUE, sizeof its_queue, &its_queue, NULL));
    TRUE(copy != command && its_queue == third);
    cl_int value = 50;
    arg_t arg = {1, sizeof value, &value};
    config_t config = {.command = copy, .num_args = 1, .args = &arg};
    STATUS(CL_SUCCESS, update(automatic, &config));
    config.command = command;
    STATUS(INVALID_MUTABLE_COMMAND, update(automatic, &config));
    STATUS(CL_SUCCESS, clEnqueueCommandBufferKHR_(0, NULL, automatic, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(third));
    cl_int out;
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, other, CL_TRUE, 4, 4, &out, 0, NULL, NULL));
    TRUE(out == 58);
    run_and_check(buffer, other, 0, N, 9);

    CREATED(INVALID_COMMAND_BUFFER, remap_(NULL, CL_FALSE, 2, both, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, remap_(buffer, CL_FALSE, 0, both, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, remap_(buffer, CL_FALSE, 2, NULL, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, remap_(buffer, CL_FALSE, 1, &third, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, remap_(buffer, CL_FALSE, 2, both, 1, NULL, &copy, &err));
    CREATED(CL_INVALID_VALUE, remap_(buffer, CL_FALSE, 2, both, 1, &command, NULL, &err));
    CREATED(CL_INVALID_VALUE, remap_(buffer, CL_FALSE, 2, both, 0, &command, &copy, &err));
    CREATED(CL_INVALID_VALUE, remap_(automatic, CL_FALSE, 1, &third, 1, &command, &copy, &err));
    both[1] = (cl_command_queue)context;
    CREATED(CL_INVALID_COMMAND_QUEUE, remap_(buffer, CL_FALSE, 2, both, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_COMMAND_QUEUE, clCreateCommandBufferKHR_(2, both, NULL, &err));
    cl_context strange = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    both[1] = clCreateCommandQueueWithProperties(strange, device, NULL, &err);
    CREATED(CL_INVALID_CONTEXT, clCreateCommandBufferKHR_(2, both, NULL, &err));
    CREATED(CL_INVALID_CONTEXT, remap_(buffer, CL_FALSE, 2, both, 0, NULL, NULL, &err));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(both[1]));
    STATUS(CL_SUCCESS, clReleaseContext(strange));
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(automatic));
    STATUS(CL_SUCCESS, clReleaseCommandBufferKHR_(buffer));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(second));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(third));
}

int main(void) {
    cl_int err;
    setup();
    load();
    *(void **)&update_ = clGetExtensionFunctionAddressForPlatform(platform, "clUpdateMutableCommandsKHR");
    *(void **)&get_info_ = clGetExtensionFunctionAddressForPlatform(platform, "clGetMutableCommandInfoKHR");
    *(void **)&remap_ = clGetExtensionFunctionAddressForPlatform(platform, "clRemapCommandBufferKHR");
    TRUE(update_ != NULL && get_info_ != NULL && remap_ != NULL);
    program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, clBuildProgram(program, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
    put = clCreateKernel(program, "put", &err);
    STATUS(CL_SUCCESS, err);
    data = clCreateBuffer(context, 0, sizeof(cl_int[N]), NULL, &err);
    other = clCreateBuffer(context, 0, sizeof(cl_int[N]), NULL, &err);
    updates();
    fields();
    deferred_arguments();
    queries();
    several_queues();
    STATUS(CL_SUCCESS, clReleaseMemObject(data));
    STATUS(CL_SUCCESS, clReleaseMemObject(other));
    STATUS(CL_SUCCESS, clReleaseKernel(put));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
    STATUS(CL_SUCCESS, clReleaseContext(context));
    return finish();
}
