/* Copies of rectangles and boxes by work-groups, and the fence between copies: through the compiler that writes SPIR-V itself and, with
 * async_work_group_copy in the same source, through the other one. */
#include "check.h"

#define W 23
#define H 7
#define D 3

/* Each takes a rectangle or a box out of the middle of what it is given, to another place with other strides, and back. */
static const char *source =
    "typedef struct __attribute__((packed)) { uchar bytes[3]; } element;\n"
    "kernel void plane(global const element *from, global element *to, local element *room) {\n"
    "  event_t e = async_work_group_copy_2D2D(room, 2, from, 30, sizeof(element), (size_t)5, (size_t)4, 23, 6, 0);\n"
    "  wait_group_events(1, &e);\n"
    "  e = async_work_group_copy_2D2D(to, 1, room, 2, sizeof(element), 5, 4, 6, 9, e);\n"
    "  wait_group_events(1, &e);\n"
    "}\n"
    "kernel void box(global const element *from, global element *to, local element *room) {\n"
    "  event_t e = async_work_group_copy_3D3D(room, 1, from, 25, sizeof(element), 4, 3, 2, 23, 23 * 7, 5, 20, 0);\n"
    "  wait_group_events(1, &e);\n"
    "  e = async_work_group_copy_3D3D(to, 2, room, 1, sizeof(element), 4, 3, 2, 5, 20, 6, 24, 0);\n"
    "  wait_group_events(1, &e);\n"
    "}\n"
    /* What one copy has written is read by the next. */
    "#ifdef BOTH\n"
    "kernel void chain(global int *a, local int *room) {\n"
    "  for (int i = get_local_id(0); i < 64; i += get_local_size(0)) room[i] = i;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  event_t e = async_work_group_copy(a, room, 64, 0);\n"
    "  async_work_group_copy_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "  e = async_work_group_copy(room, a + 1, 63, e);\n"
    "  async_work_group_copy_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "  e = async_work_group_copy(a, room, 64, e);\n"
    "  wait_group_events(1, &e);\n"
    "}\n"
    "#else\n"
    "kernel void chain(global int *a, local int *room) {\n"
    "  size_t line = sizeof(int);\n"
    "  for (int i = get_local_id(0); i < 64; i += get_local_size(0)) room[i] = i;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  event_t e = async_work_group_copy_2D2D(a, 0, room, 0, line, 64, 1, 64, 64, 0);\n"
    "  async_work_group_copy_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "  e = async_work_group_copy_2D2D(room, 0, a, 1, line, 63, 1, 64, 64, e);\n"
    "  async_work_group_copy_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "  e = async_work_group_copy_2D2D(a, 0, room, 0, line, 64, 1, 64, 64, e);\n"
    "  wait_group_events(1, &e);\n"
    "}\n"
    "#endif\n";

static unsigned char in[W * H * D * 3], out[sizeof in], expected[sizeof in];

static void expect(size_t to, size_t from) {
    memcpy(&expected[to * 3], &in[from * 3], 3);
}

static void run(cl_program program, const char *name, size_t local, cl_mem from, cl_mem to) {
    cl_int err;
    unsigned char clear = 0;
    cl_kernel kernel = clCreateKernel(program, name, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof from, &from));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof to, &to));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 2, 512, NULL));
    STATUS(CL_SUCCESS, clEnqueueFillBuffer(queue, to, &clear, 1, 0, sizeof out, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &local, &local, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    TRUE(memcmp(out, expected, sizeof out) == 0);
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
}

static void with(const char *options) {
    cl_int err, numbers[64];
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, clBuildProgram(program, 0, NULL, options, NULL, NULL));
    cl_mem from = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof in, in, &err);
    cl_mem to = clCreateBuffer(context, 0, sizeof out, NULL, &err);
    for (size_t local = 1; local <= 64; local = local * 3 + 1) {
        memset(expected, 0, sizeof expected);
        for (size_t y = 0; y < 4; y++) {
            for (size_t x = 0; x < 5; x++) {
                expect(1 + 9 * y + x, 30 + W * y + x);
            }
        }
        run(program, "plane", local, from, to);
        memset(expected, 0, sizeof expected);
        for (size_t z = 0; z < 2; z++) {
            for (size_t y = 0; y < 3; y++) {
                for (size_t x = 0; x < 4; x++) {
                    expect(2 + 24 * z + 6 * y + x, 25 + W * H * z + W * y + x);
                }
            }
        }
        run(program, "box", local, from, to);
        cl_kernel chain = clCreateKernel(program, "chain", &err);
        STATUS(CL_SUCCESS, clSetKernelArg(chain, 0, sizeof to, &to));
        STATUS(CL_SUCCESS, clSetKernelArg(chain, 1, 64 * sizeof(cl_int), NULL));
        STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, chain, 1, NULL, &local, &local, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof numbers, numbers, 0, NULL, NULL));
        for (int i = 0; i < 64; i++) {
            TRUE(numbers[i] == (i < 63 ? i + 1 : 63));
        }
        STATUS(CL_SUCCESS, clReleaseKernel(chain));
    }
    STATUS(CL_SUCCESS, clReleaseMemObject(from));
    STATUS(CL_SUCCESS, clReleaseMemObject(to));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
}

int main(void) {
    setup();
    for (size_t i = 0; i < sizeof in; i++) {
        in[i] = (unsigned char)(i * 7 + 1);
    }
    with("");
    with("-cl-std=CL3.0");
    with("-DBOTH");
    with("-DBOTH -cl-std=CL3.0");
    STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
    STATUS(CL_SUCCESS, clReleaseContext(context));
    return finish();
}
