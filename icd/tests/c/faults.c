/* Kernels that fault: their event fails, what depends on it fails, the context's callback is told, everything else goes on; and the
 * application's own handler still gets the application's own faults. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *source =
    "kernel void wild(global int *out, ulong address) {\n"
    "  size_t i = get_global_id(0);\n"
    "  out[i] = *(global int *)address;\n"
    "}\n"
    "kernel void beyond(global int *out, int n) {\n"
    "  volatile int big[1 << 22];\n"
    "  for (int i = 0; i < n; i++) big[i * 4096] = i;\n"
    "  out[get_global_id(0)] = big[(n - 1) * 4096];\n"
    "}\n"
    /* Functions of the driver and of the C library read these addresses. */
    "kernel void says(global int *out, ulong address) { printf(\"%s\\n\", (constant char *)address); }\n"
    "kernel void formats(global int *out, ulong address) { printf((constant char *)address, 1); }\n"
    "kernel void cuts(global int *out, ulong address) { printf(\"%.3s\\n\", (constant char *)address); }\n"
    "struct large { int words[1000]; };\n"
    "kernel void copies(global struct large *out, ulong address) { *out = *(global struct large *)address; }\n"
    "kernel void spins(global int *out, int n) {\n"
    "  volatile int x = 0;\n"
    "  for (int i = 0; i < n; i++) x += i;\n"
    "  out[get_global_id(0)] = x;\n"
    "}\n"
    "kernel void good(global int *out) { out[get_global_id(0)] = get_global_id(0) * 3; }\n"
    /* Too large to be inlined: functions that stay functions. */
    "int f0(global int *p, int x) { return x * 3 + *p; }\n"
    "#define LEVEL(f, g, n) int f(global int *p, int x) { int a = g(p, x), b = g(p, a ^ n); return b & 1 ? g(p, b + n) : b - a; }\n"
    "LEVEL(f1, f0, 1) LEVEL(f2, f1, 2) LEVEL(f3, f2, 3) LEVEL(f4, f3, 4) LEVEL(f5, f4, 5)\n"
    "LEVEL(f6, f5, 6) LEVEL(f7, f6, 7) LEVEL(f8, f7, 8) LEVEL(f9, f8, 9) LEVEL(f10, f9, 10)\n"
    "kernel void calls(global int *out, ulong address) {\n"
    "  out[get_global_id(0)] = f10((global int *)address, get_global_id(0));\n"
    "}\n";

static char message[1024];
static int messages = 0;

static void CL_CALLBACK told(const char *text, const void *data, size_t size, void *user) {
    (void)data, (void)size, (void)user;
    snprintf(message, sizeof message, "%s", text);
    messages++;
}

static sigjmp_buf back;
static volatile sig_atomic_t own_faults = 0, own_sent = 0;

static void own_handler(int number, siginfo_t *info, void *registers) {
    (void)number, (void)registers;
    if (info->si_code <= 0) {
        own_sent++;
        return;
    }
    own_faults++;
    siglongjmp(back, 1);
}

static cl_int status_of(cl_event event) {
    cl_int status = 77;
    STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

/* What becomes of a launch of `name` that is given `address`. */
static cl_int run(cl_command_queue queue, cl_program program, cl_mem out, const char *name, cl_ulong address) {
    cl_int err;
    cl_kernel kernel = clCreateKernel(program, name, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof out, &out));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof address, &address));
    size_t items = 1;
    cl_event event;
    messages = 0;
    message[0] = 0;
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, &event));
    clFinish(queue);
    cl_int status = status_of(event);
    STATUS(CL_SUCCESS, clReleaseEvent(event));
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
    return status;
}

/* What the kernel `calls` computes. */
static int level(int n, int x, int two) {
    if (n == 0) return (int)((unsigned)x * 3 + two);
    int a = level(n - 1, x, two), b = level(n - 1, a ^ n, two);
    return b & 1 ? level(n - 1, (int)((unsigned)b + n), two) : (int)((unsigned)b - a);
}

/* A kernel's fault is its own in functions that it calls, too. */
static void in_functions(cl_command_queue queue, cl_program program, cl_mem out) {
    size_t page = sysconf(_SC_PAGESIZE);
    char *mapped = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TRUE(mapped != MAP_FAILED);
    memset(mapped, 'x', page);
    mprotect(mapped + page, page, PROT_NONE);
    const char *const names[] = {"says", "copies", "formats"};
    for (int i = 0; i < 3; i++) {
        cl_ulong addresses[] = {0xdead000, 0x8000000000000000, (cl_ulong)mapped + page - 3};
        for (int j = 0; j < 3; j++) {
            STATUS(CL_OUT_OF_RESOURCES, run(queue, program, out, names[i], addresses[j]));
            TRUE(messages == 1);
            TRUE(strstr(message, names[i]) != NULL);
            /* A copy may begin at its end. */
            char expected[32];
            snprintf(expected, sizeof expected, "%#llx", j == 2 ? (unsigned long long)mapped + page : 0xdead000);
            TRUE(j == 1 || (i == 1 && j == 2) || strstr(message, expected) != NULL);
        }
    }
    /* In one of the program's own. */
    STATUS(CL_OUT_OF_RESOURCES, run(queue, program, out, "calls", 0xdead000));
    TRUE(messages == 1 && strstr(message, "calls") != NULL && strstr(message, "0xdead000") != NULL);
    TRUE(strstr(message, ", at kernel.cl:21") != NULL);
    int two = 2, result;
    STATUS(CL_COMPLETE, run(queue, program, out, "calls", (cl_ulong)&two));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof result, &result, 0, NULL, NULL));
    TRUE(result == level(10, 0, two));
    /* What is there to its last byte is no fault. */
    mapped[page - 1] = 0;
    STATUS(CL_COMPLETE, run(queue, program, out, "says", (cl_ulong)mapped + page - 3));
    STATUS(CL_COMPLETE, run(queue, program, out, "copies", (cl_ulong)mapped + page - 4000));
    STATUS(CL_COMPLETE, run(queue, program, out, "formats", (cl_ulong)mapped + page - 3));
    /* The precision of a string is how much of it is read: it need not end in a zero. */
    mapped[page - 1] = 'x';
    STATUS(CL_COMPLETE, run(queue, program, out, "cuts", (cl_ulong)mapped + page - 3));
    TRUE(messages == 0);
    STATUS(CL_OUT_OF_RESOURCES, run(queue, program, out, "cuts", (cl_ulong)mapped + page - 2));
    TRUE(messages == 1);
    munmap(mapped, 2 * page);
}

/* A null pointer, and an address that no memory can have (which the processor does not tell): each is said. */
static void are_told_apart(cl_command_queue queue, cl_program program, cl_mem out) {
    const char *const names[] = {"wild", "says", "copies", "formats"};
    for (int i = 0; i < 4; i++) {
        /* Without a string there is nothing to print: that is said in its place. */
        if (i != 1) {
            STATUS(CL_OUT_OF_RESOURCES, run(queue, program, out, names[i], 0));
            TRUE(strstr(message, "null pointer") != NULL && strstr(message, "canonical") == NULL);
        }
        STATUS(CL_OUT_OF_RESOURCES, run(queue, program, out, names[i], 0x8000000000000000));
        TRUE(strstr(message, "canonical") != NULL && strstr(message, "null pointer") == NULL);
    }
}

/* How a child process ends that gets a signal which it has not asked for. */
static int ending(int number) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        kill(getpid(), number);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void *send_to(void *thread) {
    for (int i = 0; i < 20; i++) {
        usleep(5000);
        pthread_kill(*(pthread_t *)thread, SIGSEGV);
    }
    return NULL;
}

/* What another process sends is no fault: it has the effect that it has without the driver. */
static void are_sent(cl_command_queue queue, cl_program program, cl_mem out) {
    TRUE(ending(SIGFPE) == SIGFPE);
    TRUE(ending(SIGBUS) == SIGBUS);
    /* Ignored since before the driver was there. */
    TRUE(ending(SIGILL) == 0);

    /* On a thread that runs a kernel: the application's handler is called, and the kernel goes on. */
    cl_int err;
    cl_kernel kernel = clCreateKernel(program, "spins", &err);
    STATUS(CL_SUCCESS, err);
    cl_int rounds = 50000000;
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof out, &out));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof rounds, &rounds));
    size_t items = 1;
    cl_event event;
    pthread_t self = pthread_self(), sender;
    pthread_create(&sender, NULL, send_to, &self);
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, &event));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_COMPLETE, status_of(event));
    pthread_join(sender, NULL);
    /* Signals that wait for their thread are one. */
    TRUE(own_sent > 0 && own_sent <= 20);
    clReleaseEvent(event);
    clReleaseKernel(kernel);
}

int main(void) {
    struct sigaction own = {0};
    own.sa_sigaction = own_handler;
    own.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &own, NULL);
    signal(SIGILL, SIG_IGN);

    setup();
    cl_int err;
    cl_context context = clCreateContext(NULL, 1, &device, told, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, err);
    err = clBuildProgram(program, 1, &device, "-g", NULL, NULL);
    STATUS(CL_SUCCESS, err);
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096 * sizeof(int), NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_kernel wild = clCreateKernel(program, "wild", &err);
    STATUS(CL_SUCCESS, err);
    cl_kernel beyond = clCreateKernel(program, "beyond", &err);
    STATUS(CL_SUCCESS, err);
    cl_kernel good = clCreateKernel(program, "good", &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clSetKernelArg(wild, 0, sizeof out, &out));
    STATUS(CL_SUCCESS, clSetKernelArg(beyond, 0, sizeof out, &out));
    STATUS(CL_SUCCESS, clSetKernelArg(good, 0, sizeof out, &out));

    /* One work-group, run by the thread that waits, and many, run by all threads; an address that is not mapped and one that none can be. */
    cl_ulong addresses[] = {16, 0xdead000, 0x8000000000000000};
    size_t one = 1, many = 4096, local = 16;
    for (int i = 0; i < 6; i++) {
        STATUS(CL_SUCCESS, clSetKernelArg(wild, 1, sizeof(cl_ulong), &addresses[i % 3]));
        messages = 0;
        message[0] = 0;
        cl_event failed, after;
        size_t *global = i < 3 ? &one : &many;
        STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, wild, 1, NULL, global, i < 3 ? NULL : &local, 0, NULL, &failed));
        STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, good, 1, NULL, &many, &local, 1, &failed, &after));
        clFinish(queue);
        STATUS(CL_OUT_OF_RESOURCES, status_of(failed));
        TRUE(status_of(after) < 0);
        TRUE(messages == 1);
        TRUE(strstr(message, "wild") != NULL);
        const char *line = ", at kernel.cl:3";
        TRUE(strlen(message) > strlen(line) && strcmp(message + strlen(message) - strlen(line), line) == 0);
        TRUE(i % 3 != 1 || strstr(message, "0xdead000") != NULL);
        STATUS(CL_SUCCESS, clReleaseEvent(failed));
        STATUS(CL_SUCCESS, clReleaseEvent(after));
    }
    /* Of the private variable there are 1024 pieces. */
    for (cl_int pieces = 1024; pieces <= 1124; pieces += 100) {
        cl_event event;
        messages = 0;
        STATUS(CL_SUCCESS, clSetKernelArg(beyond, 1, sizeof pieces, &pieces));
        STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, beyond, 1, NULL, &one, NULL, 0, NULL, &event));
        clFinish(queue);
        STATUS(pieces == 1024 ? CL_COMPLETE : CL_OUT_OF_RESOURCES, status_of(event));
        TRUE(messages == (pieces == 1024 ? 0 : 1));
        TRUE(pieces == 1024 || (strstr(message, "beyond") != NULL && strstr(message, "outside of its private variables") != NULL));
        TRUE(pieces == 1024 || strstr(message, ", at kernel.cl:") != NULL);
        STATUS(CL_SUCCESS, clReleaseEvent(event));
    }

    in_functions(queue, program, out);
    are_told_apart(queue, program, out);
    are_sent(queue, program, out);

    /* The context is as good as before. */
    int results[4096];
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, good, 1, NULL, &many, &local, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof results, results, 0, NULL, NULL));
    int wrong = 0;
    for (int i = 0; i < 4096; i++) {
        wrong += results[i] != i * 3;
    }
    TRUE(wrong == 0);

    TRUE(own_faults == 0);
    if (sigsetjmp(back, 1) == 0) {
        *(volatile int *)32 = 1;
    }
    TRUE(own_faults == 1);

    /* Without a handler of its own an application dies of its faults, as ever. */
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile int *)32 = 1;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);

    clReleaseKernel(wild);
    clReleaseKernel(beyond);
    clReleaseKernel(good);
    clReleaseMemObject(out);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return finish();
}
