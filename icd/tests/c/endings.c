/* Processes that end, fork, or close the library while commands run. Each way of doing so has a process of its own. */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *source =
    "kernel void busy(global uint *x, uint n) {\n"
    "  uint v = get_global_id(0);\n"
    "  for (uint i = 0; i < n; i++) v = v * 1664525u + 1013904223u;\n"
    "  x[get_global_id(0)] = v;\n"
    "}\n";

#define ITEMS 4096

static cl_program program;
static cl_kernel kernel;
static cl_mem buffer;
/* Whether the queue is of a sub-device, which has threads of its own. */
static int on_sub_device;

static void prepare(void) {
    /* As many processors as there are may be one; a sub-device is a part of several. */
    if (on_sub_device) setenv("BROLGA_THREADS", "2", 1);
    setup();
    cl_int err;
    if (on_sub_device) {
        cl_device_partition_property by_one[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
        cl_device_id parts[2];
        STATUS(CL_SUCCESS, clCreateSubDevices(device, by_one, 2, parts, NULL));
        STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
        STATUS(CL_SUCCESS, clReleaseContext(context));
        device = parts[1];
        context = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
        STATUS(CL_SUCCESS, err);
        queue = clCreateCommandQueueWithProperties(context, device, NULL, &err);
        STATUS(CL_SUCCESS, err);
    }
    program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, clBuildProgram(program, 1, &device, "", NULL, NULL));
    kernel = clCreateKernel(program, "busy", &err);
    STATUS(CL_SUCCESS, err);
    buffer = clCreateBuffer(context, 0, ITEMS * sizeof(cl_uint), NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
}

/* Enqueues and flushes a launch of `n` rounds; some 10^6 take seconds. */
static void launch(cl_uint n) {
    size_t size = ITEMS;
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof n, &n));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFlush(queue));
}

static void *wait_for_it(void *unused) {
    clFinish(queue);
    return unused;
}

/* Returns from main while workers run a kernel, and more is queued. */
static int exit_in_flight(void) {
    prepare();
    for (int i = 0; i < 4; i++) launch(1000000);
    usleep(20000);
    return finish();
}

/* The same, while a thread waits for the queue. */
static int exit_while_waiting(void) {
    prepare();
    launch(1000000);
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_it, NULL);
    usleep(20000);
    return finish();
}

/* A child that never asks for OpenCL, as those of system() and popen() do not; the parent goes on undisturbed. */
static int fork_in_flight(void) {
    prepare();
    launch(100000);
    usleep(5000);
    for (int how = 0; how < 2; how++) {
        pid_t child = fork();
        if (child == 0) {
            if (how == 0) exit(3);
            _exit(3);
        }
        int status = 0;
        TRUE(waitpid(child, &status, 0) == child);
        TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    }
    TRUE(system("true") == 0);
    STATUS(CL_SUCCESS, clFinish(queue));
    cl_uint last = 0, expected = ITEMS - 1;
    for (int i = 0; i < 100000; i++) expected = expected * 1664525u + 1013904223u;
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, buffer, CL_TRUE, (ITEMS - 1) * sizeof last, sizeof last, &last, 0, NULL, NULL));
    TRUE(last == expected);
    return finish();
}

/* Closes every handle of the driver while its threads run code of it. */
static int close_in_flight(void) {
    prepare();
    launch(100000);
    usleep(5000);
    Dl_info info;
    /* The function behind the loader: the dispatch table comes first in every object, and has the library's functions. */
    void **table = *(void ***)queue;
    if (dladdr(table[2], &info) != 0) {
        void *library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
        TRUE(library != NULL);
        for (int i = 0; i < 8 && library != NULL; i++) dlclose(library);
    }
    usleep(50000);
    STATUS(CL_SUCCESS, clFinish(queue));
    return finish();
}

/* Lets go of everything while commands run: the last of them takes the sub-device and its threads along. */
static int release_in_flight(void) {
    prepare();
    for (int i = 0; i < 4; i++) launch(20000);
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
    STATUS(CL_SUCCESS, clReleaseContext(context));
    if (on_sub_device) STATUS(CL_SUCCESS, clReleaseDevice(device));
    usleep(20000);
    return finish();
}

/* A child that does ask for OpenCL gets errors: it has none of the threads. */
static int use_after_fork(void) {
    prepare();
    launch(100);
    STATUS(CL_SUCCESS, clFinish(queue));
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        size_t size = ITEMS;
        cl_uint word = 0;
        cl_int err = CL_SUCCESS;
        int right = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, NULL) != CL_SUCCESS;
        right &= clFinish(queue) != CL_SUCCESS;
        right &= clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof word, &word, 0, NULL, NULL) != CL_SUCCESS;
        right &= clCreateBuffer(context, 0, 4, NULL, &err) == NULL && err != CL_SUCCESS;
        right &= clReleaseMemObject(buffer) != CL_SUCCESS;
        exit(right ? 3 : 4);
    }
    int status = 0;
    TRUE(waitpid(child, &status, 0) == child);
    TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    launch(100);
    STATUS(CL_SUCCESS, clFinish(queue));
    return finish();
}

/* Where the parent has started no thread the child has all of OpenCL. */
static int use_in_child_only(void) {
    STATUS(CL_SUCCESS, clGetPlatformIDs(1, &platform, NULL));
    STATUS(CL_SUCCESS, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        prepare();
        launch(100);
        STATUS(CL_SUCCESS, clFinish(queue));
        exit(finish());
    }
    int status = 0;
    TRUE(waitpid(child, &status, 0) == child);
    TRUE(status == 0);
    return finish();
}

static atomic_int own_faults, stop_faulting;

static void own_handler(int number) {
    (void)number;
    own_faults++;
}

static void *fault_on_purpose(void *unused) {
    while (!stop_faulting) raise(SIGSEGV);
    return unused;
}

/* A program that faults on purpose, as a Java machine does, while the driver installs its handler. */
static int faults_at_first_launch(void) {
    struct sigaction own = {0};
    own.sa_handler = own_handler;
    sigaction(SIGSEGV, &own, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, fault_on_purpose, NULL);
    prepare();
    launch(100);
    STATUS(CL_SUCCESS, clFinish(queue));
    int before = own_faults;
    usleep(10000);
    stop_faulting = 1;
    pthread_join(thread, NULL);
    TRUE(own_faults > before);
    return finish();
}

int main(void) {
    static const struct {
        int (*way)(void);
        const char *name;
    } ways[] = {
        {exit_in_flight, "exit in flight"},
        {exit_while_waiting, "exit while waiting"},
        {fork_in_flight, "fork in flight"},
        {close_in_flight, "close in flight"},
        {release_in_flight, "release in flight"},
        {use_after_fork, "use after fork"},
        {use_in_child_only, "use in child only"},
        {faults_at_first_launch, "faults at first launch"},
    };
    for (int i = 0; i < 2 * (int)(sizeof ways / sizeof *ways); i++) {
        fflush(stdout);
        on_sub_device = i % 2;
        pid_t child = fork();
        if (child == 0) {
            alarm(100);
            return ways[i / 2].way();
        }
        int status = 0;
        TRUE(waitpid(child, &status, 0) == child);
        if (status != 0) printf("%s%s: status %#x\n", ways[i / 2].name, on_sub_device ? ", sub-device" : "", status);
        TRUE(status == 0);
    }
    return finish();
}
