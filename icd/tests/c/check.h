/* What the test programs share: finding the device, and checks that count and report failures. */
#ifndef CHECK_H
#define CHECK_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Callbacks, which run on threads of the driver, check too. */
static atomic_int failures = 0;
static atomic_int checks = 0;

static void check_status(const char *what, int line, cl_int expected, cl_int got) {
    checks++;
    if (expected != got) {
        failures++;
        printf("line %d: %s\n    expected %d, got %d\n", line, what, expected, got);
    }
}

/* A call that returns its status. */
#define STATUS(expected, call) check_status(#call, __LINE__, expected, call)

/* A call that returns an object or null and sets `err`. */
#define CREATED(expected, call)                                                                    \
    do {                                                                                           \
        err = 12345;                                                                               \
        void *created_ = (void *)(call);                                                           \
        check_status(#call, __LINE__, expected, err);                                              \
        check_status(#call " (null)", __LINE__, (expected) != CL_SUCCESS, created_ == NULL);       \
    } while (0)

/* A condition. */
#define TRUE(condition) check_status(#condition, __LINE__, 1, (condition) ? 1 : 0)

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

static void setup(void) {
    cl_int err = 0;
    STATUS(CL_SUCCESS, clGetPlatformIDs(1, &platform, NULL));
    STATUS(CL_SUCCESS, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &err);
    STATUS(CL_SUCCESS, err);
    if (failures != 0) {
        printf("no device to test\n");
        exit(1);
    }
}

/* A program that must build; without it there is nothing to test. */
static inline cl_program build(const char *text, const char *options) {
    cl_int err;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &err);
    STATUS(CL_SUCCESS, err);
    err = clBuildProgram(program, 1, &device, options, NULL, NULL);
    STATUS(CL_SUCCESS, err);
    if (err != CL_SUCCESS) {
        static char log[1 << 16];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        printf("%s\n", log);
        exit(1);
    }
    return program;
}

static int finish(void) {
    printf("%d checks, %d failures\n", checks, failures);
    return failures == 0 ? 0 : 1;
}

#endif
