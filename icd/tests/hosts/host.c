#define CL_TARGET_OPENCL_VERSION 120
#include "host.h"

#include <CL/cl.h>
#include <pthread.h>
#include <stdlib.h>

#define ITEMS 4096
#define CHECK(condition) \
    if (!(condition)) return __LINE__

static const char *source =
    "kernel void right(global int *out) { out[get_global_id(0)] = 3 * get_global_id(0); }\n"
    "kernel void wild(global int *out, ulong address) { out[get_global_id(0)] = *(global int *)address; }\n";

static cl_context context;
static cl_command_queue queue;
static cl_kernel right, wild;
static cl_mem buffer;
static int opened = -1;

static int open_device(void) {
    cl_platform_id platforms[16], platform = NULL;
    cl_device_id device;
    cl_uint count = 0;
    cl_int err;
    CHECK(clGetPlatformIDs(16, platforms, &count) == CL_SUCCESS);
    for (cl_uint i = 0; i < count && i < 16; i++) {
        char name[64] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (name[0] == 'B' && name[1] == 'r') platform = platforms[i];
    }
    CHECK(platform);
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL) == CL_SUCCESS);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    CHECK(err == CL_SUCCESS);
    queue = clCreateCommandQueue(context, device, 0, &err);
    CHECK(err == CL_SUCCESS);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    CHECK(err == CL_SUCCESS);
    CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL) == CL_SUCCESS);
    right = clCreateKernel(program, "right", &err);
    CHECK(err == CL_SUCCESS);
    wild = clCreateKernel(program, "wild", &err);
    CHECK(err == CL_SUCCESS);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, ITEMS * sizeof(cl_int), NULL, &err);
    CHECK(err == CL_SUCCESS);
    CHECK(clSetKernelArg(right, 0, sizeof buffer, &buffer) == CL_SUCCESS);
    CHECK(clSetKernelArg(wild, 0, sizeof buffer, &buffer) == CL_SUCCESS);
    cl_ulong address = 8;
    CHECK(clSetKernelArg(wild, 1, sizeof address, &address) == CL_SUCCESS);
    return 0;
}

static void open_once(void) {
    opened = open_device();
}

int host_right(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    if (opened) return opened;
    size_t size = ITEMS;
    cl_int out[ITEMS] = {0};
    CHECK(clEnqueueNDRangeKernel(queue, right, 1, NULL, &size, NULL, 0, NULL, NULL) == CL_SUCCESS);
    CHECK(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL) == CL_SUCCESS);
    for (int i = 0; i < ITEMS; i++) CHECK(out[i] == 3 * i);
    return 0;
}

int host_fault(void) {
    int before = host_right();
    if (before) return before;
    size_t size = ITEMS;
    cl_event event;
    cl_int status = 0;
    CHECK(clEnqueueNDRangeKernel(queue, wild, 1, NULL, &size, NULL, 0, NULL, &event) == CL_SUCCESS);
    clWaitForEvents(1, &event);
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    CHECK(clReleaseEvent(event) == CL_SUCCESS);
    CHECK(status == CL_OUT_OF_RESOURCES);
    return host_right();
}
