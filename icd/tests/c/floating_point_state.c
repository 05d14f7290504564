/*
 * Whatever floating-point state a thread of the application is in, kernels mean the same: constants that are
 * folded, code that a waiting thread runs, code that workers run. No trap that the application has unmasked fires
 * in the driver, and what the application has set, and what exceptions it has seen, is the same after every call.
 *
 * Each setting has a process of its own, which a trap may end, and in which the driver starts its threads from
 * a thread that is in this state. It writes what it computed; what the default setting gives is what is expected.
 */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __x86_64__
int main(void) { return 0; }
#else

/* ---- The state of a thread ---- */

#define SSE_FLAGS 0x3f
#define SSE_DEFAULT 0x1f80
#define X87_DEFAULT 0x37f

typedef struct {
    unsigned sse;
    unsigned short x87, x87_flags;
} state;

static const state by_default = {SSE_DEFAULT, X87_DEFAULT, 0};

static state current(void) {
    state s;
    unsigned short status;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1\n\tfnstsw %2" : "=m"(s.sse), "=m"(s.x87), "=m"(status)::"memory");
    s.x87_flags = status & 0x3f;
    return s;
}

static void set(state s) {
    unsigned environment[7];
    __asm__ volatile("fnstenv %0" : "=m"(environment)::"memory");
    environment[0] = 0xffff0000u | s.x87;
    environment[1] = 0xffff0000u | s.x87_flags;
    __asm__ volatile("fldenv %0\n\tldmxcsr %1" ::"m"(environment), "m"(s.sse) : "memory");
}

static int equal(state a, state b) { return a.sse == b.sse && a.x87 == b.x87 && a.x87_flags == b.x87_flags; }

/* Four directions, subnormal results and operands that are zero, traps; with each a precision of the x87. */
#define SETTINGS 32

static state setting(unsigned i) {
    static const unsigned short precisions[] = {0x300, 0x200, 0};
    unsigned rounding = i & 3, flush = i >> 2 & 1, subnormals_are_zero = i >> 3 & 1, traps = i >> 4 & 1;
    state s;
    s.sse = rounding << 13 | flush << 15 | subnormals_are_zero << 6 | (traps ? 0 : 0x1f80) | (i * 11 & SSE_FLAGS);
    s.x87 = 0x40 | rounding << 10 | precisions[i % 3] | (traps ? 0 : 0x3f);
    s.x87_flags = traps ? 0 : i * 5 & 0x3f;
    return s;
}

/* The state in which this process calls the driver. */
static state ours;

/* Leaves the state of the application; it must be what it was before the call. */
static void back(const char *what, int line, state expected) {
    state now = current();
    set(by_default);
    checks++;
    if (!equal(now, expected)) {
        failures++;
        printf("line %d: %s\n    left MXCSR %#x, x87 %#x, x87 flags %#x, not %#x, %#x, %#x\n", line, what, now.sse, now.x87,
               now.x87_flags, expected.sse, expected.x87, expected.x87_flags);
    }
}

/* A call that returns its status, in the state of the application. */
#define DO(call)                                                                                                       \
    do {                                                                                                               \
        set(ours);                                                                                                     \
        cl_int status_ = (call);                                                                                       \
        back(#call, __LINE__, ours);                                                                                   \
        check_status(#call, __LINE__, CL_SUCCESS, status_);                                                            \
    } while (0)

/* A call that makes something and sets `err`. */
#define MAKE(result, call)                                                                                             \
    do {                                                                                                               \
        set(ours);                                                                                                     \
        result = (call);                                                                                               \
        back(#call, __LINE__, ours);                                                                                   \
        check_status(#call, __LINE__, CL_SUCCESS, err);                                                                \
    } while (0)

/* ---- What kernels compute ---- */

/* An expression of two operands, the type that they are of, and their values: literals of OpenCL C and of C. */
typedef struct {
    const char *type, *text, *bits, *a_text, *b_text;
    double a, b;
} expression;

#define FLOAT(text, a, b) {"float", text, "as_uint", #a, #b, a, b}
#define DOUBLE(text, a, b) {"double", text, "as_ulong", #a, #b, a, b}
#define TO_FLOAT(text, a, b) {"double", text, "as_uint", #a, #b, a, b}
#define TO_INT(type, text, a, b) {type, text, "(uint)", #a, #b, a, b}

static const expression expressions[] = {
    FLOAT("a", 0.1f, 0),
    FLOAT("a", 1e-40f, 0),
    FLOAT("a", -1e-40f, 0),
    FLOAT("a", 16777217.0f, 0),
    FLOAT("a", 3.14159265358979323846f, 0),
    FLOAT("a", 0x1.0000011p0f, 0),
    FLOAT("a + b", 1.0f, 0x1p-24f),
    FLOAT("a + b", 1e-40f, 1e-40f),
    FLOAT("a + b", 3e38f, 3e38f),
    FLOAT("a - b", 1.0f, 0x1p-26f),
    FLOAT("a - b", INFINITY, INFINITY),
    FLOAT("a - b", 1.5f, 1.5f),
    FLOAT("a * b", 0.1f, 0.1f),
    FLOAT("a * b", 1e-30f, 1e-10f),
    FLOAT("a * b", 1e-40f, 0.5f),
    FLOAT("a * b", 1e-40f, 1e30f),
    FLOAT("a / b", 1.0f, 3.0f),
    FLOAT("a / b", 1.0f, 0.0f),
    FLOAT("a / b", 0.0f, 0.0f),
    FLOAT("a / b", 1e-30f, 1e10f),
    FLOAT("fma(a, b, -1.0f)", 0x1.000002p0f, 0x1.fffffep-1f),
    FLOAT("sqrt(a)", 2.0f, 0),
    FLOAT("sqrt(a)", -1.0f, 0),
    FLOAT("rsqrt(a)", 3.0f, 0),
    FLOAT("sin(a)", 1.0f, 0),
    FLOAT("sin(a)", 1e6f, 0),
    FLOAT("cos(a)", 2.5f, 0),
    FLOAT("tan(a)", 1.5f, 0),
    FLOAT("exp(a)", 1.0f, 0),
    FLOAT("exp(a)", 1000.0f, 0),
    FLOAT("exp(a)", -100.0f, 0),
    FLOAT("exp2(a)", -140.5f, 0),
    FLOAT("expm1(a)", 1e-3f, 0),
    FLOAT("log(a)", 3.0f, 0),
    FLOAT("log(a)", 0.0f, 0),
    FLOAT("log2(a)", 1e-40f, 0),
    FLOAT("pow(a, b)", 1.1f, 10.3f),
    FLOAT("pow(a, b)", -8.0f, 0.5f),
    FLOAT("atan2(a, b)", 1.0f, 3.0f),
    FLOAT("asin(a)", 0.9f, 0),
    FLOAT("sinh(a)", 0.3f, 0),
    FLOAT("cbrt(a)", 10.0f, 0),
    FLOAT("hypot(a, b)", 3e38f, 1e38f),
    FLOAT("erf(a)", 0.7f, 0),
    FLOAT("tgamma(a)", 4.3f, 0),
    FLOAT("fmod(a, b)", 10.0f, 0.3f),
    FLOAT("remainder(a, b)", 10.0f, 0.3f),
    FLOAT("ldexp(a, (int)b)", 1.1f, -140.0f),
    FLOAT("nextafter(a, b)", 0.0f, 1.0f),
    FLOAT("rint(a)", 2.5f, 0),
    FLOAT("floor(a) + ceil(b)", -0.5f, 0.5f),
    FLOAT("length((float4)(a, b, a, b))", 0.1f, 0.2f),
    FLOAT("mix(a, b, 0.3f)", 0.1f, 0.7f),
    FLOAT("native_exp(a)", 0.1f, 0),
    FLOAT("(float)(int)a", 16777219.0f, 0),
    FLOAT("(float)(double)(a + 0.1)", 0.7f, 0),
    FLOAT("convert_float_rtp((int)a + 1)", 16777216.0f, 0),
    FLOAT("stored_as_half(a)", 0.1f, 0),
    FLOAT("stored_as_half(a)", 1e-6f, 0),
    TO_INT("float", "(int)a", NAN, 0),
    TO_INT("float", "(int)a", 3e9f, 0),
    TO_INT("float", "(int)a", 2.7f, 0),
    TO_INT("float", "convert_int_sat(a)", 3e9f, 0),
    TO_INT("float", "convert_int_rte(a)", 2.5f, 0),
    TO_INT("float", "convert_uchar_sat(a)", -1.5f, 0),
    TO_INT("float", "(a < b) + 2 * isless(a, b)", NAN, 1.0f),
    TO_INT("float", "a == b", 1e-40f, 0.0f),
    TO_INT("double", "(int)a", 1e10, 0),
    DOUBLE("a", 0.1, 0),
    DOUBLE("a", 1e-310, 0),
    DOUBLE("a + b", 1.0, 0x1p-53),
    DOUBLE("a * b", 1e-160, 1e-150),
    DOUBLE("a / b", 1.0, 3.0),
    DOUBLE("a / b", 1.0, 0.0),
    DOUBLE("a * b", 1e308, 10.0),
    DOUBLE("sqrt(a)", 2.0, 0),
    DOUBLE("sin(a)", 1.0, 0),
    DOUBLE("exp(a)", -740.0, 0),
    DOUBLE("pow(a, b)", 1.1, 10.3),
    DOUBLE("log(a)", 3.0, 0),
    TO_FLOAT("(float)a", 0.1, 0),
    TO_FLOAT("(float)a", 1e-42, 0),
    DOUBLE("(long)a", 9007199254740993.0, 0),
};
#define COUNT ((int)(sizeof expressions / sizeof *expressions))

/* Every expression as a function, once of literals and once of arguments. */
static char *source(void) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "float stored_as_half(float x) {\n"
                 "  ushort h[1];\n"
                 "  vstore_half(x, 0, (half *)h);\n"
                 "  return vload_half(0, (half *)h) + h[0];\n"
                 "}\n");
    for (int i = 0; i < COUNT; i++) {
        const expression *e = &expressions[i];
        fprintf(out, "ulong f%d(%s a, %s b) { return %s(%s); }\n", i, e->type, e->type, e->bits, e->text);
    }
    fprintf(out, "constant float initialized[] = {0.1f, 1e-40f, 1.0f / 3.0f, -(0.1f * 0.1f), 0.1, OPTION};\n"
                 "kernel void constants(global ulong *out) {\n");
    for (int i = 0; i < COUNT; i++) {
        fprintf(out, "  out[%d] = f%d(%s, %s);\n", i, i, expressions[i].a_text, expressions[i].b_text);
    }
    fprintf(out, "}\n"
                 "kernel void arguments(global ulong *out, global const double *in) {\n"
                 "  out += get_global_id(0) * %d;\n",
            COUNT);
    for (int i = 0; i < COUNT; i++) {
        fprintf(out, "  out[%d] = f%d(in[%d], in[%d]);\n", i, i, 2 * i, 2 * i + 1);
    }
    fprintf(out, "}\n"
                 "kernel void table(global uint *out, float x, float3 y) {\n"
                 "  for (int i = 0; i < 6; i++) out[i] = as_uint(initialized[i]);\n"
                 "  out[6] = as_uint(x / 3);\n"
                 "  out[7] = as_uint(y.s2 + y.s0);\n"
                 "}\n"
                 "kernel void print(float x) {\n"
                 "  printf(\"%%.2f %%g %%a %%.3e %%f %%5.1f %%g\\n\", x, x * x, x / 3, 1e-40f, 2.5e-7f, 0.25f, 1.0f / 0.0f);\n"
                 "  printf(\"%%v2f\\n\", (float2)(x, 0.125f));\n"
                 "}\n"
                 "kernel void enqueues(global ulong *out, float x) {\n"
                 "  enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{\n"
                 "    out[0] = as_uint(x / 3.0f);\n"
                 "    out[1] = as_uint(sin(1.0f));\n"
                 "    out[2] = as_uint(exp(1000 * x));\n"
                 "  });\n"
                 "}\n"
                 "kernel void sample(read_only image2d_t image, global uint *out) {\n"
                 "  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;\n"
                 "  uint4 c = as_uint4(read_imagef(image, s, (float2)(0.3f + get_global_id(0), 0.9f)));\n"
                 "  vstore4(c, get_global_id(0), out);\n"
                 "}\n");
    fclose(out);
    return text;
}

/* What is the same in every setting. */
static FILE *results;

static void print_bits(const char *what, const cl_ulong *bits) {
    for (int i = 0; i < COUNT; i++) {
        fprintf(results, "%s: %s, a = %s, b = %s: %llx\n", what, expressions[i].text, expressions[i].a_text, expressions[i].b_text,
               (unsigned long long)bits[i]);
    }
}

/* ---- What each process does ---- */

#define ITEMS 64

/* What functions of the application see, and what they leave. */
static state in_native, in_completed, in_destroyed, left;
static atomic_int called;

static void CL_CALLBACK native(void *unused) {
    (void)unused;
    in_native = current();
    set(left);
}

static void CL_CALLBACK on_completed(cl_event event, cl_int status, void *unused) {
    (void)event, (void)status, (void)unused;
    in_completed = current();
    set(left);
    called++;
}

static void CL_CALLBACK on_destroyed(cl_mem mem, void *unused) {
    (void)mem, (void)unused;
    in_destroyed = current();
    set(left);
}

static void arguments(const char *how, cl_kernel kernel, cl_mem out, int way) {
    static cl_ulong bits[ITEMS][COUNT];
    size_t global = ITEMS, local = 8;
    cl_event event;
    memset(bits, 0xff, sizeof bits);
    DO(clEnqueueWriteBuffer(queue, out, CL_TRUE, 0, sizeof bits, bits, 0, NULL, NULL));
    DO(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, &event));
    if (way == 1) {
        /* For workers. */
        DO(clFlush(queue));
        cl_int status = CL_QUEUED;
        while (status > CL_COMPLETE) {
            DO(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
            usleep(100);
        }
    }
    if (way == 2) {
        int before = called;
        DO(clSetEventCallback(event, CL_COMPLETE, on_completed, NULL));
        while (called == before) usleep(100);
        TRUE(equal(in_completed, by_default));
    }
    DO(clFinish(queue));
    DO(clReleaseEvent(event));
    DO(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof bits, bits, 0, NULL, NULL));
    print_bits(how, bits[0]);
    for (int i = 1; i < ITEMS; i++) TRUE(memcmp(bits[0], bits[i], sizeof bits[0]) == 0);
}

static void fill_image(cl_program program, cl_channel_type type, cl_channel_order order) {
    cl_int err;
    cl_image_format format = {order, type};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 3, .image_height = 2};
    const float color[4] = {0.3f, 0.5f, 0.7f, 1e-6f};
    size_t origin[3] = {0, 0, 0}, region[3] = {3, 2, 1}, one[3] = {1, 1, 1}, global = 3;
    unsigned char texel[16] = {0};
    cl_uint out[12];
    cl_mem image, buffer;
    cl_kernel kernel;
    MAKE(image, clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &err));
    MAKE(buffer, clCreateBuffer(context, 0, sizeof out, NULL, &err));
    DO(clEnqueueFillImage(queue, image, color, origin, region, 0, NULL, NULL));
    DO(clEnqueueReadImage(queue, image, CL_TRUE, origin, one, 0, 0, texel, 0, NULL, NULL));
    fprintf(results, "fill %#x:", type);
    for (int i = 0; i < 16; i++) fprintf(results, " %02x", texel[i]);
    MAKE(kernel, clCreateKernel(program, "sample", &err));
    DO(clSetKernelArg(kernel, 0, sizeof image, &image));
    DO(clSetKernelArg(kernel, 1, sizeof buffer, &buffer));
    DO(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    DO(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (int i = 0; i < 12; i++) fprintf(results, " %x", out[i]);
    fprintf(results, "\n");
    DO(clReleaseKernel(kernel));
    DO(clReleaseMemObject(buffer));
    DO(clReleaseMemObject(image));
}

/* The same through clCompileProgram, clLinkProgram and kernels of all kinds. */
static void small_kernels(cl_program program) {
    cl_int err;
    size_t one = 1;
    cl_kernel kernel;
    cl_mem out;
    cl_uint words[8];
    cl_ulong longs[3] = {0};
    const float x = 0.1f, y[4] = {0.1f, 0.2f, 0.3f, 0.4f};
    MAKE(out, clCreateBuffer(context, 0, sizeof words, NULL, &err));

    MAKE(kernel, clCreateKernel(program, "table", &err));
    DO(clSetKernelArg(kernel, 0, sizeof out, &out));
    DO(clSetKernelArg(kernel, 1, sizeof x, &x));
    DO(clSetKernelArg(kernel, 2, sizeof y, y));
    DO(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    DO(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL));
    for (int i = 0; i < 8; i++) fprintf(results, "table %d: %x\n", i, words[i]);
    DO(clReleaseKernel(kernel));

    fflush(stdout);
    fflush(results);
    int output = dup(STDOUT_FILENO);
    dup2(fileno(results), STDOUT_FILENO);
    MAKE(kernel, clCreateKernel(program, "print", &err));
    DO(clSetKernelArg(kernel, 0, sizeof x, &x));
    DO(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    DO(clFinish(queue));
    DO(clReleaseKernel(kernel));
    fflush(stdout);
    dup2(output, STDOUT_FILENO);

    cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES,
                                        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT, 0};
    cl_command_queue on_device;
    MAKE(on_device, clCreateCommandQueueWithProperties(context, device, properties, &err));
    MAKE(kernel, clCreateKernel(program, "enqueues", &err));
    DO(clSetKernelArg(kernel, 0, sizeof out, &out));
    DO(clSetKernelArg(kernel, 1, sizeof x, &x));
    DO(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    DO(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof longs, longs, 0, NULL, NULL));
    for (int i = 0; i < 3; i++) fprintf(results, "enqueued %d: %llx\n", i, (unsigned long long)longs[i]);
    DO(clReleaseKernel(kernel));
    DO(clReleaseCommandQueue(on_device));
    DO(clReleaseMemObject(out));
}

static void apart(void) {
    cl_int err;
    const char *text = "kernel void k(global uint *out) { out[0] = as_uint(0.1f); out[1] = as_uint(sin(1.0f) / 3.0f); }";
    cl_program compiled, linked;
    cl_kernel kernel;
    cl_mem out;
    size_t one = 1;
    cl_uint words[2];
    MAKE(compiled, clCreateProgramWithSource(context, 1, &text, NULL, &err));
    DO(clCompileProgram(compiled, 1, &device, "", 0, NULL, NULL, NULL, NULL));
    MAKE(linked, clLinkProgram(context, 1, &device, "", 1, &compiled, NULL, NULL, &err));
    MAKE(kernel, clCreateKernel(linked, "k", &err));
    MAKE(out, clCreateBuffer(context, 0, sizeof words, NULL, &err));
    DO(clSetKernelArg(kernel, 0, sizeof out, &out));
    DO(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    DO(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL));
    fprintf(results, "linked: %x %x\n", words[0], words[1]);
    DO(clReleaseMemObject(out));
    DO(clReleaseKernel(kernel));
    DO(clReleaseProgram(linked));
    DO(clReleaseProgram(compiled));
}

/* Functions of the application see the default state on threads of the driver, and their own on their own; what
 * they leave stays theirs. */
static void callbacks(void) {
    cl_int err;
    cl_mem mem;
    DO(clEnqueueNativeKernel(queue, native, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
    DO(clFinish(queue));
    TRUE(equal(in_native, by_default));

    MAKE(mem, clCreateBuffer(context, 0, 4, NULL, &err));
    DO(clSetMemObjectDestructorCallback(mem, on_destroyed, NULL));
    set(ours);
    err = clReleaseMemObject(mem);
    back("clReleaseMemObject", __LINE__, left);
    STATUS(CL_SUCCESS, err);
    TRUE(equal(in_destroyed, ours));
}

static void in_setting(unsigned number) {
    cl_int err;
    /* Whose end is written when the process ends. */
    if (number % 2 == 1) setenv("BROLGA_TRACE", "/dev/null", 1);
    ours = setting(number);
    left = setting(SETTINGS - 1 - number);
    set(ours);
    setup();
    back("setup", __LINE__, ours);
    /* What this leaves on a worker, the following must not see. */
    callbacks();

    char *text = source();
    cl_program program;
    MAKE(program, clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &err));
    DO(clBuildProgram(program, 1, &device, "-cl-std=CL3.0 -D OPTION=0.3f", NULL, NULL));
    static char log[1 << 14];
    DO(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL));
    fprintf(results, "%s", log);
    cl_mem out, in;
    MAKE(out, clCreateBuffer(context, 0, ITEMS * COUNT * sizeof(cl_ulong), NULL, &err));
    static double operands[COUNT][2];
    for (int i = 0; i < COUNT; i++) {
        operands[i][0] = expressions[i].a;
        operands[i][1] = expressions[i].b;
    }
    MAKE(in, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof operands, operands, &err));

    cl_kernel kernel;
    size_t one = 1;
    static cl_ulong constants[COUNT];
    MAKE(kernel, clCreateKernel(program, "constants", &err));
    DO(clSetKernelArg(kernel, 0, sizeof out, &out));
    DO(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    DO(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof constants, constants, 0, NULL, NULL));
    print_bits("constant", constants);
    DO(clReleaseKernel(kernel));

    MAKE(kernel, clCreateKernel(program, "arguments", &err));
    DO(clSetKernelArg(kernel, 0, sizeof out, &out));
    DO(clSetKernelArg(kernel, 1, sizeof in, &in));
    arguments("run by the thread that waits", kernel, out, 0);
    arguments("run by workers", kernel, out, 1);
    arguments("with a callback", kernel, out, 2);
    arguments("after a callback", kernel, out, 1);
    DO(clReleaseKernel(kernel));
    DO(clReleaseMemObject(in));
    DO(clReleaseMemObject(out));

    small_kernels(program);
    apart();
    fill_image(program, CL_UNORM_INT8, CL_RGBA);
    fill_image(program, CL_SNORM_INT16, CL_RGBA);
    fill_image(program, CL_HALF_FLOAT, CL_RGBA);
    fill_image(program, CL_FLOAT, CL_RGBA);

    DO(clReleaseProgram(program));
    DO(clReleaseCommandQueue(queue));
    DO(clReleaseContext(context));
    free(text);
    fclose(results);
    fflush(stdout);
    /* What runs at the end of the process runs in this state, too. */
    set(ours);
    exit(failures != 0);
}

/* The output of the process for a setting. */
typedef struct {
    char text[1 << 17];
    size_t size;
} output;

/* False if it did not come to its end. */
static int run(unsigned number, output *to) {
    int ends[2];
    TRUE(pipe(ends) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(100);
        close(ends[0]);
        results = fdopen(ends[1], "w");
        failures = 0;
        in_setting(number);
    }
    close(ends[1]);
    to->size = 0;
    for (;;) {
        ssize_t got = read(ends[0], to->text + to->size, sizeof to->text - 1 - to->size);
        if (got <= 0) break;
        to->size += (size_t)got;
    }
    to->text[to->size] = 0;
    close(ends[0]);
    int status = 0;
    TRUE(waitpid(child, &status, 0) == child);
    if (status != 0) printf("setting %u: status %#x\n", number, status);
    TRUE(status == 0);
    return WIFEXITED(status);
}

/* The lines that differ. */
static void compare(unsigned number, output *expected, output *got) {
    int shown = 0;
    char *a = expected->text, *b = got->text;
    while (*a != 0 || *b != 0) {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        checks++;
        if (n != m || memcmp(a, b, n) != 0) {
            failures++;
            if (shown++ < 12) printf("setting %u:\n    %.*s, not\n    %.*s\n", number, (int)m, b, (int)n, a);
        }
        a += n + (a[n] != 0);
        b += m + (b[m] != 0);
    }
}

int main(void) {
    static output expected, got;
    run(0, &expected);
    TRUE(strstr(expected.text, "constant: a, a = 0.1f, b = 0: 3dcccccd\n") != NULL);
    TRUE(strstr(expected.text, "constant: a, a = 1e-40f, b = 0: 116c2\n") != NULL);
    TRUE(strstr(expected.text, "constant: a / b, a = 1.0f, b = 0.0f: 7f800000\n") != NULL);
    for (unsigned i = 1; i < SETTINGS; i++) {
        if (run(i, &got)) compare(i, &expected, &got);
    }
    return finish();
}
#endif
