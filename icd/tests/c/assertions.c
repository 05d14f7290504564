/* Assertions of kernels (cl_intel_devicelib_assert): one that fails is told, with its place and work-item, and ends the launch; nothing else does. */
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* What compilers of SYCL make of `assert`. */
static const char *source =
    "void __devicelib_assert_fail(constant char *expression, constant char *file, int line, constant char *function,\n"
    "                             ulong gx, ulong gy, ulong gz, ulong lx, ulong ly, ulong lz);\n"
    "void fail(constant char *what) {\n"
    "  __devicelib_assert_fail(what, \"some.cpp\", 42, \"int f(int)\", get_global_id(0), get_global_id(1), get_global_id(2),\n"
    "                          get_local_id(0), get_local_id(1), get_local_id(2));\n"
    "}\n"
    "kernel void checks(global int *out, int limit, int offset) {\n"
    "  int i = get_global_id(0);\n"
    "  if (!(i < limit)) { fail(\"i < limit\"); out[i + offset] = 1; }\n"
    "  out[i] = i;\n"
    "}\n"
    "kernel void parent(global int *out) {\n"
    "  enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ if (out[0] == 0) fail(\"out[0]\"); });\n"
    "}\n";

static char message[1024];
static int messages = 0;

static void CL_CALLBACK told(const char *text, const void *data, size_t size, void *user) {
    (void)data, (void)size, (void)user;
    snprintf(message, sizeof message, "%s", text);
    messages++;
}

static cl_int status_of(cl_event event) {
    cl_int status = 77;
    STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

/* Without faults handled a failed assertion aborts, as C's does. */
static void aborts(void) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv("BROLGA_FAULTS", "0", 1);
        cl_int err;
        cl_platform_id platform;
        cl_device_id device;
        clGetPlatformIDs(1, &platform, NULL);
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
        cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
        cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &err);
        cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
        if (clBuildProgram(program, 1, &device, "-cl-std=CL3.0", NULL, NULL) != CL_SUCCESS) abort();
        cl_kernel checks = clCreateKernel(program, "checks", &err);
        cl_mem out = clCreateBuffer(context, 0, 4096, NULL, &err);
        int zero = 0;
        size_t one = 1;
        clSetKernelArg(checks, 0, sizeof out, &out);
        clSetKernelArg(checks, 1, sizeof zero, &zero);
        clSetKernelArg(checks, 2, sizeof zero, &zero);
        clEnqueueNDRangeKernel(queue, checks, 1, NULL, &one, NULL, 0, NULL, NULL);
        clFinish(queue);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void) {
    aborts();
    setup();
    size_t length = 0;
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, NULL, &length));
    char *extensions = malloc(length);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, length, extensions, NULL));
    TRUE(strstr(extensions, "cl_intel_devicelib_assert") != NULL);
    free(extensions);

    cl_int err;
    cl_context context = clCreateContext(NULL, 1, &device, told, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES,
                                  CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    cl_command_queue on_device = clCreateCommandQueueWithProperties(context, device, list, &err);
    STATUS(CL_SUCCESS, err);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, err);
    err = clBuildProgram(program, 1, &device, "-cl-std=CL3.0", NULL, NULL);
    STATUS(CL_SUCCESS, err);
    enum { N = 1024 };
    int results[2 * N], minus = -1, offset = N, limit;
    size_t items = N, local = 16, one = 1;
    cl_mem out = clCreateBuffer(context, 0, sizeof results, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_kernel checks = clCreateKernel(program, "checks", &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clSetKernelArg(checks, 0, sizeof out, &out));
    STATUS(CL_SUCCESS, clSetKernelArg(checks, 2, sizeof offset, &offset));

    /* All hold; then one does not, then most do not. */
    int limits[] = {N, N - 1, 5};
    for (int i = 0; i < 3; i++) {
        limit = limits[i];
        messages = 0;
        message[0] = 0;
        cl_event ran, after;
        STATUS(CL_SUCCESS, clSetKernelArg(checks, 1, sizeof limit, &limit));
        STATUS(CL_SUCCESS, clEnqueueFillBuffer(queue, out, &minus, sizeof minus, 0, sizeof results, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, checks, 1, NULL, &items, &local, 0, NULL, &ran));
        STATUS(CL_SUCCESS, clEnqueueMarkerWithWaitList(queue, 1, &ran, &after));
        clFinish(queue);
        STATUS(i == 0 ? CL_COMPLETE : CL_OUT_OF_RESOURCES, status_of(ran));
        STATUS(i == 0 ? CL_COMPLETE : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, status_of(after));
        TRUE(messages == (i != 0));
        STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof results, results, 0, NULL, NULL));
        int wrong = 0;
        for (int n = 0; n < N; n++) {
            wrong += i == 0 && results[n] != n;
            /* No work-item goes on whose assertion has failed. */
            wrong += n >= limit && results[n] != minus;
            wrong += results[N + n] != minus;
        }
        TRUE(wrong == 0);
        if (i == 1) {
            TRUE(strstr(message, "some.cpp:42: int f(int): global id: [1023,0,0], local id: [15,0,0] Assertion `i < limit` failed.") != NULL);
        }
        STATUS(CL_SUCCESS, clReleaseEvent(ran));
        STATUS(CL_SUCCESS, clReleaseEvent(after));
    }

    /* Recorded, a kernel with assertions is one like any other. */
    clCreateCommandBufferKHR_fn create;
    clCommandNDRangeKernelKHR_fn record;
    clFinalizeCommandBufferKHR_fn finalize;
    clEnqueueCommandBufferKHR_fn enqueue;
    clReleaseCommandBufferKHR_fn release;
    *(void **)&create = clGetExtensionFunctionAddressForPlatform(platform, "clCreateCommandBufferKHR");
    *(void **)&record = clGetExtensionFunctionAddressForPlatform(platform, "clCommandNDRangeKernelKHR");
    *(void **)&finalize = clGetExtensionFunctionAddressForPlatform(platform, "clFinalizeCommandBufferKHR");
    *(void **)&enqueue = clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueCommandBufferKHR");
    *(void **)&release = clGetExtensionFunctionAddressForPlatform(platform, "clReleaseCommandBufferKHR");
    cl_command_buffer_khr buffer = create(1, &queue, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, record(buffer, NULL, NULL, checks, 1, NULL, &items, &local, 0, NULL, NULL, NULL));
    STATUS(CL_SUCCESS, finalize(buffer));
    for (int i = 0; i < 2; i++) {
        cl_event ran;
        messages = 0;
        STATUS(CL_SUCCESS, enqueue(0, NULL, buffer, 0, NULL, &ran));
        clFinish(queue);
        STATUS(CL_OUT_OF_RESOURCES, status_of(ran));
        TRUE(messages == 1);
        STATUS(CL_SUCCESS, clReleaseEvent(ran));
    }
    STATUS(CL_SUCCESS, release(buffer));

    /* A child's assertion is its parent's failure. */
    cl_kernel parent = clCreateKernel(program, "parent", &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clSetKernelArg(parent, 0, sizeof out, &out));
    for (int i = 0; i < 2; i++) {
        cl_event ran;
        STATUS(CL_SUCCESS, clEnqueueFillBuffer(queue, out, &i, sizeof i, 0, sizeof i, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, parent, 1, NULL, &one, NULL, 0, NULL, &ran));
        clFinish(queue);
        TRUE(i == 1 ? status_of(ran) == CL_COMPLETE : status_of(ran) < 0);
        STATUS(CL_SUCCESS, clReleaseEvent(ran));
    }
    TRUE(strstr(message, "Assertion `out[0]` failed.") != NULL);
    clReleaseKernel(parent);
    clReleaseKernel(checks);
    clReleaseMemObject(out);
    clReleaseProgram(program);
    clReleaseCommandQueue(on_device);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return finish();
}
