/* What the driver says on standard error is lost where that is closed, full or read by nobody, and nothing else happens; a line comes
 * out at once. Each case is a process of its own, since the driver cannot be used again after a fork. */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *source =
    "kernel void wild(global int *out, ulong address) { *out = *(global int *)address; }\n"
    "kernel void much(global int *out, ulong times) { for (ulong i = 0; i < times; i++) printf(\"%4000d\\n\", 1); *out = 7; }\n";

static atomic_int messages = 0;

static void CL_CALLBACK told(const char *text, const void *data, size_t size, void *user) {
    (void)text, (void)data, (void)size, (void)user;
    messages++;
}

/* A launch whose failure is told of, and one that prints more than there is room for. */
static void launches(void) {
    setup();
    cl_int err;
    cl_context context = clCreateContext(NULL, 1, &device, told, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(cl_int), NULL, &err);
    STATUS(CL_SUCCESS, err);
    const char *const names[] = {"wild", "much"};
    cl_ulong values[] = {0xdead000, 5000};
    cl_int statuses[] = {CL_OUT_OF_RESOURCES, CL_COMPLETE};
    for (int i = 0; i < 2; i++) {
        cl_kernel kernel = clCreateKernel(program, names[i], &err);
        STATUS(CL_SUCCESS, err);
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof out, &out));
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(cl_ulong), &values[i]));
        for (int by_worker = 0; by_worker < 2; by_worker++) {
            messages = 0;
            size_t one = 1;
            cl_event event;
            STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, &event));
            cl_int status = CL_QUEUED;
            clFlush(queue);
            for (int t = 0; t < 10000 && (by_worker || t == 0) && status > CL_COMPLETE; t++) {
                usleep(1000 * by_worker);
                STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
            }
            if (!by_worker) clFinish(queue);
            STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
            STATUS(statuses[i], status);
            for (int t = 0; t < 1000 && messages == 0; t++) usleep(1000);
            TRUE(messages == 1);
            clReleaseEvent(event);
        }
        clReleaseKernel(kernel);
    }
    cl_int result = 0;
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof result, &result, 0, NULL, NULL));
    TRUE(result == 7);
    clReleaseMemObject(out);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

/* How the launches end in a process with this standard error; none for -1. */
static int with_standard_error(int descriptor) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGPIPE, SIG_DFL);
        close(2);
        if (descriptor >= 0) dup2(descriptor, 2);
        /* What kernels print is not looked at. */
        if (freopen("/dev/null", "w", stdout) == NULL) _exit(2);
        alarm(60);
        failures = 0;
        launches();
        _exit(failures == 0 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

int main(void) {
    STATUS(0, with_standard_error(-1));
    int full = open("/dev/full", O_WRONLY);
    STATUS(0, with_standard_error(full));
    int ends[2];
    TRUE(pipe2(ends, O_CLOEXEC) == 0);
    close(ends[0]);
    STATUS(0, with_standard_error(ends[1]));
    /* Packets: each read gives what one call of write(2) has written. */
    TRUE(pipe2(ends, O_DIRECT) == 0);
    STATUS(0, with_standard_error(ends[1]));
    close(ends[1]);
    char line[4096];
    int lines = 0;
    for (ssize_t size; (size = read(ends[0], line, sizeof line)) > 0; lines++) {
        TRUE(size > 8 && memcmp(line, "brolga: ", 8) == 0 && memchr(line, '\n', size) == line + size - 1);
    }
    TRUE(lines == 4);
    return finish();
}
