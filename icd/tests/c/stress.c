/* Many threads of an application on one context, each with queues, buffers, programs, kernels, command-buffers and events of its
 * own, released in any order while commands run: every result is right, every callback comes, nothing waits for ever, and memory
 * stays flat.
 *
 * usage: stress [direct] [SECONDS [THREADS]] */
#define _GNU_SOURCE
#include "command_buffers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define WORDS 1024
#define WIDE 16384
#define CHAIN 8
#define MAX_WAITING 256

static const char *source =
    "kernel void step(global uint *x, uint a) { size_t i = get_global_id(0); x[i] = x[i] * 3 + a; }\n"
    "kernel void turn(global uint *x) {\n"
    "  local uint tile[64];\n"
    "  size_t l = get_local_id(0), i = get_global_id(0);\n"
    "  tile[l] = x[i];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  x[i] = tile[63 - l];\n"
    "}\n"
    "kernel void mix(global uint *x, global const uint *y) {\n"
    "  size_t i = get_global_id(0); x[i] += y[get_global_size(0) - 1 - i];\n"
    "}\n";

static unsigned char *binary;
static size_t binary_size;
static double until;
static atomic_uint wrong, rounds, recorded, called, expected_calls, failed_as_asked;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

/* Resident memory, KiB. */
static long resident(void) {
    long pages = 0, held = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &held) != 2) held = 0;
    if (file != NULL) fclose(file);
    return held * (sysconf(_SC_PAGESIZE) / 1024);
}

static void complain(unsigned *seed, const char *what, int line, cl_int got) {
    if (atomic_fetch_add(&wrong, 1) < 20) printf("line %d: %s: %d (seed %u)\n", line, what, got, *seed);
}

#define WANT(condition, got)                                            \
    do {                                                                \
        if (!(condition)) complain(&seed, #condition, __LINE__, (got)); \
    } while (0)
#define DONE(call)                                    \
    do {                                              \
        cl_int got_ = (call);                         \
        WANT(got_ == CL_SUCCESS && #call[0], got_);   \
    } while (0)

static void CL_CALLBACK count_call(cl_event event, cl_int status, void *data) {
    (void)event, (void)status, (void)data;
    atomic_fetch_add(&called, 1);
}

/* A chain of kernels from one buffer's contents to the next, through events or the order of the queue. */
static void one_round(unsigned seed) {
    cl_int err;
    int any_order = rand_r(&seed) % 2;
    cl_queue_properties properties[] = {
        CL_QUEUE_PROPERTIES, (any_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0) | CL_QUEUE_PROFILING_ENABLE, 0};
    cl_command_queue own = clCreateCommandQueueWithProperties(context, device, properties, &err);
    WANT(own != NULL, err);
    cl_program program = clCreateProgramWithBinary(context, 1, &device, &binary_size, (const unsigned char **)&binary, NULL, &err);
    WANT(program != NULL, err);
    DONE(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_kernel step = clCreateKernel(program, "step", &err), turn = clCreateKernel(program, "turn", &err);
    WANT(step != NULL && turn != NULL, err);
    cl_uint expected[WORDS], got[WORDS];
    for (int i = 0; i < WORDS; i++) expected[i] = rand_r(&seed);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof expected, expected, &err);
    WANT(buffer != NULL, err);

    /* Everything may have to wait for the application. */
    cl_event start = rand_r(&seed) % 3 == 0 ? clCreateUserEvent(context, &err) : NULL, last = start;
    size_t size = WORDS, group = 64;
    for (int n = 0; n < CHAIN; n++) {
        cl_event next = NULL;
        cl_uint waits = last != NULL && (any_order || last == start) ? 1 : 0;
        cl_uint a = rand_r(&seed);
        switch (rand_r(&seed) % 3) {
        case 0:
            DONE(clSetKernelArg(step, 0, sizeof buffer, &buffer));
            DONE(clSetKernelArg(step, 1, sizeof a, &a));
            DONE(clEnqueueNDRangeKernel(own, step, 1, NULL, &size, NULL, waits, waits ? &last : NULL, &next));
            for (int i = 0; i < WORDS; i++) expected[i] = expected[i] * 3 + a;
            break;
        case 1:
            DONE(clSetKernelArg(turn, 0, sizeof buffer, &buffer));
            DONE(clEnqueueNDRangeKernel(own, turn, 1, NULL, &size, &group, waits, waits ? &last : NULL, &next));
            for (int i = 0; i < WORDS; i += 64)
                for (int l = 0; l < 32; l++) {
                    cl_uint one = expected[i + l];
                    expected[i + l] = expected[i + 63 - l];
                    expected[i + 63 - l] = one;
                }
            break;
        default: {
            size_t from = rand_r(&seed) % WORDS, count = 1 + rand_r(&seed) % (WORDS - from);
            DONE(clEnqueueFillBuffer(own, buffer, &a, sizeof a, from * sizeof a, count * sizeof a, waits, waits ? &last : NULL,
                                     &next));
            for (size_t i = from; i < from + count; i++) expected[i] = a;
        }
        }
        if (next != NULL && rand_r(&seed) % 4 == 0) {
            atomic_fetch_add(&expected_calls, 1);
            DONE(clSetEventCallback(next, CL_COMPLETE, count_call, NULL));
        }
        if (last != NULL && last != start) DONE(clReleaseEvent(last));
        last = next;
    }
    /* Kernels and program may go before what was enqueued with them. */
    int early = rand_r(&seed) % 2;
    if (early) {
        DONE(clReleaseKernel(step));
        DONE(clReleaseKernel(turn));
        DONE(clReleaseProgram(program));
    }
    int fails = start != NULL && rand_r(&seed) % 8 == 0;
    if (start != NULL) {
        DONE(clFlush(own));
        DONE(clSetUserEventStatus(start, fails ? -5 : CL_COMPLETE));
        DONE(clReleaseEvent(start));
    }
    if (fails) {
        /* What waited for it has failed; without a wait list, only order counts. */
        cl_int waited = clWaitForEvents(1, &last);
        WANT(waited == CL_SUCCESS || waited == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, waited);
        if (any_order) WANT(waited == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, waited);
        atomic_fetch_add(&failed_as_asked, 1);
    } else {
        if (rand_r(&seed) % 2) {
            DONE(clEnqueueReadBuffer(own, buffer, CL_TRUE, 0, sizeof got, got, 1, &last, NULL));
        } else {
            void *mapped = clEnqueueMapBuffer(own, buffer, CL_TRUE, CL_MAP_READ, 0, sizeof got, 1, &last, NULL, &err);
            WANT(mapped != NULL, err);
            if (mapped != NULL) memcpy(got, mapped, sizeof got);
            DONE(clEnqueueUnmapMemObject(own, buffer, mapped, 0, NULL, NULL));
        }
        WANT(memcmp(got, expected, sizeof got) == 0, any_order);
    }
    DONE(clReleaseEvent(last));
    DONE(clReleaseMemObject(buffer));
    if (rand_r(&seed) % 2) DONE(clFinish(own));
    DONE(clReleaseCommandQueue(own));
    if (!early) {
        DONE(clReleaseKernel(turn));
        DONE(clReleaseProgram(program));
        DONE(clReleaseKernel(step));
    }
    atomic_fetch_add(&rounds, 1);
}

/* What `recorded_round` records, on the host. */
static void expect_recorded(cl_uint *x, cl_uint *y, const cl_uint *a) {
    for (int i = 0; i < WIDE; i++) {
        x[i] = x[i] * 3 + a[0];
        y[i] = a[1] * 3 + a[2];
    }
    for (int i = 0; i < WIDE; i++) x[i] += y[WIDE - 1 - i];
}

/* A command-buffer of kernels that several threads share, some at the same time, run again and again, with commands of another
 * queue in between. */
static void recorded_round(unsigned seed) {
    cl_int err;
    int any_order = rand_r(&seed) % 2;
    cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, any_order ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, 0};
    cl_command_queue own = clCreateCommandQueueWithProperties(context, device, properties, &err);
    WANT(own != NULL, err);
    cl_command_queue other = clCreateCommandQueueWithProperties(context, device, NULL, &err);
    WANT(other != NULL, err);
    cl_program program = clCreateProgramWithBinary(context, 1, &device, &binary_size, (const unsigned char **)&binary, NULL, &err);
    WANT(program != NULL, err);
    DONE(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_kernel step = clCreateKernel(program, "step", &err), mix = clCreateKernel(program, "mix", &err);
    WANT(step != NULL && mix != NULL, err);
    cl_uint *expected = malloc(3 * WIDE * sizeof *expected), *second = expected + WIDE, *got = second + WIDE;
    for (int i = 0; i < WIDE; i++) expected[i] = rand_r(&seed);
    cl_mem x = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, WIDE * sizeof *expected, expected, &err);
    WANT(x != NULL, err);
    cl_mem y = clCreateBuffer(context, 0, WIDE * sizeof *expected, NULL, &err);
    WANT(y != NULL, err);
    cl_uint a[3] = {rand_r(&seed), rand_r(&seed), rand_r(&seed)};

    /* The smaller the groups, the longer the kernels take, and the more threads come. */
    static const size_t groups[] = {1, 4, 64};
    size_t size = WIDE, group = groups[rand_r(&seed) % 3];
    command_buffer_t commands = clCreateCommandBufferKHR_(1, &own, NULL, &err);
    WANT(commands != NULL, err);
    point_t points[3];
    DONE(clSetKernelArg(step, 0, sizeof x, &x));
    DONE(clSetKernelArg(step, 1, sizeof *a, &a[0]));
    DONE(clCommandNDRangeKernelKHR_(commands, NO_QUEUE, step, 1, NULL, &size, &group, 0, NULL, &points[0], NULL));
    DONE(clCommandFillBufferKHR_(commands, NO_QUEUE, y, &a[1], sizeof *a, 0, WIDE * sizeof *a, 0, NULL, &points[1], NULL));
    DONE(clSetKernelArg(step, 0, sizeof y, &y));
    DONE(clSetKernelArg(step, 1, sizeof *a, &a[2]));
    DONE(clCommandNDRangeKernelKHR_(commands, NO_QUEUE, step, 1, NULL, &size, &group, 1, &points[1], &points[2], NULL));
    DONE(clSetKernelArg(mix, 0, sizeof x, &x));
    DONE(clSetKernelArg(mix, 1, sizeof y, &y));
    points[1] = points[2];
    DONE(clCommandNDRangeKernelKHR_(commands, NO_QUEUE, mix, 1, NULL, &size, &group, 2, points, NULL, NULL));
    DONE(clFinalizeCommandBufferKHR_(commands));

    cl_event start = rand_r(&seed) % 3 == 0 ? clCreateUserEvent(context, &err) : NULL, last = start;
    for (int n = rand_r(&seed) % 4; n >= 0; n--) {
        cl_event run = NULL, between = NULL;
        DONE(clEnqueueCommandBufferKHR_(0, NULL, commands, last != NULL, last != NULL ? &last : NULL, &run));
        expect_recorded(expected, second, a);
        if (rand_r(&seed) % 4 == 0) {
            atomic_fetch_add(&expected_calls, 1);
            DONE(clSetEventCallback(run, CL_COMPLETE, count_call, NULL));
        }
        cl_uint more = rand_r(&seed);
        DONE(clSetKernelArg(step, 0, sizeof x, &x));
        DONE(clSetKernelArg(step, 1, sizeof more, &more));
        DONE(clEnqueueNDRangeKernel(other, step, 1, NULL, &size, NULL, 1, &run, &between));
        for (int i = 0; i < WIDE; i++) expected[i] = expected[i] * 3 + more;
        DONE(clFlush(own));
        DONE(clFlush(other));
        DONE(clReleaseEvent(run));
        if (last != NULL && last != start) DONE(clReleaseEvent(last));
        last = between;
    }
    DONE(clReleaseKernel(step));
    DONE(clReleaseKernel(mix));
    DONE(clReleaseProgram(program));
    DONE(clReleaseCommandBufferKHR_(commands));
    if (start != NULL) {
        DONE(clSetUserEventStatus(start, CL_COMPLETE));
        DONE(clReleaseEvent(start));
    }
    DONE(clEnqueueReadBuffer(other, x, CL_TRUE, 0, WIDE * sizeof *got, got, 1, &last, NULL));
    WANT(memcmp(got, expected, WIDE * sizeof *got) == 0, any_order);
    DONE(clReleaseEvent(last));
    DONE(clReleaseMemObject(x));
    DONE(clReleaseMemObject(y));
    DONE(clReleaseCommandQueue(other));
    DONE(clReleaseCommandQueue(own));
    free(expected);
    atomic_fetch_add(&rounds, 1);
    atomic_fetch_add(&recorded, 1);
}

static void *life(void *number) {
    unsigned seed = 1 + (unsigned)(size_t)number;
    while (now() < until) {
        one_round(rand_r(&seed));
        if (rand_r(&seed) % 4 == 0) recorded_round(rand_r(&seed));
        /* A callback that has not been called yet keeps its event, and with it code and buffers; and the driver's few threads that
         * call them have one share each of a machine that this program overloads. */
        while (expected_calls - called > MAX_WAITING) usleep(1000);
    }
    return NULL;
}

static void run(double seconds, int threads) {
    pthread_t *all = malloc(threads * sizeof *all);
    until = now() + seconds;
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&all[i], NULL, life, (void *)(size_t)i) != 0) {
            printf("cannot start thread %d\n", i);
            exit(1);
        }
    }
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    free(all);
}

int main(int argc, char **argv) {
    int first = argc > 1 && strcmp(argv[1], "direct") == 0 ? 2 : 1;
    double seconds = argc > first ? atof(argv[first]) : 3;
    int threads = argc > first + 1 ? atoi(argv[first + 1]) : 64;
    setup();
    load();
    cl_int err;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, err);
    err = clBuildProgram(program, 1, &device, "", NULL, NULL);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof binary_size, &binary_size, NULL));
    binary = malloc(binary_size);
    STATUS(CL_SUCCESS, clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    STATUS(CL_SUCCESS, clReleaseProgram(program));

    /* Until stacks and heaps have grown to what they need. */
    run(seconds / 3, threads);
    long before = resident();
    run(seconds * 2 / 3, threads);
    long after = resident();
    /* Callbacks run on threads of the driver; the last ones may still be on their way. */
    for (int i = 0; i < 1000 && called < expected_calls; i++) usleep(10000);
    printf("%u rounds, %u of them recorded, %u callbacks, %u failures asked for; %ld KiB, then %ld KiB resident\n", rounds, recorded,
           called, failed_as_asked, before, after);
    TRUE(wrong == 0);
    TRUE(rounds >= (unsigned)threads);
    TRUE(called == expected_calls);
    /* Each round builds a program and its code: what leaked of them would be tens of KiB. */
    TRUE(after < before + before / 4 + 16384);
    return finish();
}
