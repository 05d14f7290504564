/* Private variables: indexes beyond them fail the event or hit what belongs to the same launch, never the driver; and large ones run.
 * An argument says which: "overruns" or "large". */
#include "check.h"

static const char *overruns =
    "#define RUN(array) for (long i = from; i != to; i += step) array[i] = 0x41414141\n"
    "kernel void in_kernel(global int *out, long from, long to, long step) {\n"
    "  int a[64];\n"
    "  for (int i = 0; i < 64; i++) a[i] = i;\n"
    "  RUN(a);\n"
    "  out[get_global_id(0)] = a[out[get_global_id(0)] & 63];\n"
    "}\n"
    /* Bytes are not interleaved like words, and an address that escapes not at all. */
    "kernel void of_bytes(global int *out, long from, long to, long step) {\n"
    "  char a[64]; char *volatile p = a;\n"
    "  for (int i = 0; i < 64; i++) a[i] = i;\n"
    "  char *q = p;\n"
    "  RUN(q);\n"
    "  out[get_global_id(0)] = a[out[get_global_id(0)] & 63];\n"
    "}\n"
    "kernel void across_barriers(global int *out, long from, long to, long step) {\n"
    "  int a[64];\n"
    "  for (int i = 0; i < 64; i++) a[i] = i;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  RUN(a);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[get_global_id(0)] = a[out[get_global_id(0)] & 63];\n"
    "}\n"
    "kernel void of_the_group(global int *out, long from, long to, long step) {\n"
    "  local int a[64];\n"
    "  a[get_local_id(0) & 63] = 0;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  RUN(a);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[get_global_id(0)] = a[out[get_global_id(0)] & 63];\n"
    "}\n"
    /* Too large to be inlined: functions that stay functions. */
    "int f0(long from, long to, long step, int x) {\n"
    "  int a[16];\n"
    "  for (int i = 0; i < 16; i++) a[i] = x + i;\n"
    "  if (x == 1) RUN(a);\n"
    "  return a[x & 15] + x;\n"
    "}\n"
    "#define LEVEL(f, g, n) int f(long from, long to, long step, int x) {\\\n"
    "  int a = g(from, to, step, x + 1), b = g(from, to, step, a ^ n); return b & 1 ? g(from, to, step, b + n) : b - a; }\n"
    "LEVEL(f1, f0, 1) LEVEL(f2, f1, 2) LEVEL(f3, f2, 3) LEVEL(f4, f3, 4) LEVEL(f5, f4, 5)\n"
    "LEVEL(f6, f5, 6) LEVEL(f7, f6, 7) LEVEL(f8, f7, 8) LEVEL(f9, f8, 9) LEVEL(f10, f9, 10)\n"
    "kernel void in_functions(global int *out, long from, long to, long step) {\n"
    "  out[get_global_id(0)] = f10(from, to, step, out[get_global_id(0)] - 9);\n"
    "}\n"
    "kernel void good(global int *out) {\n"
    "  int a[64];\n"
    "  for (int i = 0; i < 64; i++) a[i] = i * i;\n"
    "  out[get_global_id(0)] = a[get_global_id(0) & 63] + a[(get_global_id(0) * 7 + out[get_global_id(0)] * 0) & 63];\n"
    "}\n";

static const char *large =
    "kernel void sparse(global int *out, int step) {\n"
    "  int a[N]; int id = get_global_id(0);\n"
    "  for (long i = 0; i < N; i += step) a[i] = (int)i + id;\n"
    "  out[id] = a[(long)step * (id % (N / step))];\n"
    "}\n"
    "kernel void kept(global int *out, int step) {\n"
    "  int a[N]; int id = get_global_id(0);\n"
    "  for (long i = 0; i < N; i += step) a[i] = (int)i + id;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[id] = a[(long)step * (id % (N / step))];\n"
    "}\n"
    "int inner(int id, int step) {\n"
    "  int a[N];\n"
    "  for (long i = 0; i < N; i += step) a[i] = (int)i + id;\n"
    "  return a[(long)step * (id % (N / step))];\n"
    "}\n"
    "kernel void called(global int *out, int step) { out[get_global_id(0)] = inner(get_global_id(0), step); }\n";

#define ITEMS 256
static cl_int words[ITEMS];

static cl_program built(const char *source, const char *options, cl_int expected) {
    cl_int err;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(expected, clBuildProgram(program, 1, &device, options, NULL, NULL));
    return program;
}

/* What becomes of a launch of a kernel whose arguments are set. */
static cl_int launch(cl_kernel kernel, size_t items, size_t group) {
    cl_event event;
    cl_int status = 77;
    cl_int enqueued = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &group, 0, NULL, &event);
    if (enqueued != CL_SUCCESS) {
        return enqueued;
    }
    clFinish(queue);
    STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    STATUS(CL_SUCCESS, clReleaseEvent(event));
    return status;
}

static void fill(cl_mem out, cl_int word) {
    for (int i = 0; i < ITEMS; i++) {
        words[i] = word;
    }
    STATUS(CL_SUCCESS, clEnqueueWriteBuffer(queue, out, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL));
}

static void good_runs(cl_program program, cl_mem out) {
    cl_int err;
    cl_kernel good = clCreateKernel(program, "good", &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clSetKernelArg(good, 0, sizeof out, &out));
    STATUS(CL_COMPLETE, launch(good, ITEMS, 64));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL));
    int wrong = 0;
    for (int i = 0; i < ITEMS; i++) {
        int a = i & 63, b = i * 7 & 63;
        wrong += words[i] != a * a + b * b;
    }
    TRUE(wrong == 0);
    clReleaseKernel(good);
}

/* `count` elements beyond an array of `size`, or before it, or only the last of them. */
static void overrun(cl_program program, cl_mem out, const char *name, cl_long size, cl_long count, int up, int only_last) {
    cl_int err;
    cl_kernel kernel = clCreateKernel(program, name, &err);
    STATUS(CL_SUCCESS, err);
    cl_long step = up ? 1 : -1;
    cl_long from = up ? size : -1, to = from + step * count;
    if (only_last) {
        from = to - step;
    }
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof out, &out));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof from, &from));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 2, sizeof to, &to));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 3, sizeof step, &step));
    size_t sizes[][2] = {{1, 1}, {ITEMS, 64}, {48, 48}};
    for (int i = 0; i < 3; i++) {
        fill(out, 0);
        cl_int status = launch(kernel, sizes[i][0], sizes[i][1]);
        /* Near ends there may be other variables of the launch, or room that nobody uses. */
        int is_far = count >= 1 << 20;
        TRUE(status == CL_OUT_OF_RESOURCES || (!is_far && status == CL_COMPLETE));
        if (status != CL_OUT_OF_RESOURCES && (is_far || status != CL_COMPLETE)) {
            printf("    %s, %lld elements %s%s, %zu work-items: %d\n", name, (long long)count, up ? "up" : "down", only_last ? ", the last one" : "", sizes[i][0], status);
        }
    }
    good_runs(program, out);
    clReleaseKernel(kernel);
}

static void all_overruns(cl_mem out) {
    cl_program program = built(overruns, "-cl-std=CL3.0", CL_SUCCESS);
    const char *const names[] = {"in_kernel", "of_bytes", "across_barriers", "of_the_group", "in_functions"};
    const cl_long counts[] = {1, 2, 16, 1000, 100000, 1 << 20, 8 << 20};
    for (int i = 0; i < 5; i++) {
        cl_long size = i == 4 ? 16 : 64;
        for (int j = 0; j < 7; j++) {
            for (int up = 0; up < 2; up++) {
                overrun(program, out, names[i], size, counts[j], up, 0);
                overrun(program, out, names[i], size, counts[j], up, 1);
            }
        }
    }
    clReleaseProgram(program);
}

/* KiB of memory that the process has. */
static long resident(void) {
    long pages = 0, own = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &own) != 2) {
        own = 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return own * 4;
}

static void run_large(cl_mem out, const char *name, long elements, int step, size_t items, size_t group, cl_int expected) {
    char options[64];
    snprintf(options, sizeof options, "-cl-std=CL3.0 -DN=%ldL", elements);
    cl_program program = built(large, options, CL_SUCCESS);
    cl_int err;
    cl_kernel kernel = clCreateKernel(program, name, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof out, &out));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof step, &step));
    fill(out, -1);
    cl_int status = launch(kernel, items, group);
    STATUS(expected, status);
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL));
    int wrong = 0;
    for (long i = 0; i < (long)items && expected == CL_COMPLETE; i++) {
        wrong += words[i] != (int)(step * (i % (elements / step)) + i);
    }
    TRUE(wrong == 0);
    if (wrong != 0 || status != expected) {
        printf("    %s of %ld elements, %zu work-items by %zu\n", name, elements, items, group);
    }
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

static void all_large(cl_mem out) {
    const long MIB = 1 << 18;
    long before = resident();
    const char *const names[] = {"sparse", "called", "kept"};
    for (int i = 0; i < 3; i++) {
        run_large(out, names[i], 17 * MIB, 4096, 4, 2, CL_COMPLETE);
        run_large(out, names[i], 100 * MIB, 4096, 2, 1, CL_COMPLETE);
        run_large(out, names[i], 1024 * MIB, 1 << 20, 2, 1, CL_COMPLETE);
        /* More than 16 MiB in a group. */
        run_large(out, names[i], 1 * MIB, 1024, 256, 64, CL_COMPLETE);
        run_large(out, names[i], 16 * MIB, 1 << 16, 64, 64, CL_COMPLETE);
    }
    /* What is large is given back. */
    TRUE(resident() < before + (64 << 10));
    /* No machine has this. */
    run_large(out, "kept", 1024 * MIB, 1 << 20, 256, 256, CL_OUT_OF_RESOURCES);
    clReleaseProgram(built(large, "-DN=(1L<<33)", CL_BUILD_PROGRAM_FAILURE));
    run_large(out, "kept", 64, 1, 256, 64, CL_COMPLETE);
}

int main(int argc, char **argv) {
    setup();
    cl_int err;
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof words, NULL, &err);
    STATUS(CL_SUCCESS, err);
    if (argc > 1 && strcmp(argv[1], "large") == 0) {
        all_large(out);
    } else {
        all_overruns(out);
    }
    clReleaseMemObject(out);
    return finish();
}
