/* cl_khr_initialize_memory: local and private memory that a kernel did not write is zero. */
#include "check.h"

#define CONTEXT_MEMORY_INITIALIZE 0x2030
#define INITIALIZE_LOCAL 1
#define INITIALIZE_PRIVATE 2
#define GROUPS 50
#define GROUP 16

static const char *source =
    "typedef struct { int number; float numbers[5]; char last; } many;\n"
    "kernel void dirty(global int *out, local int *given) {\n"
    "  local int own[64];\n"
    "  volatile int mine[64];\n"
    "  for (int i = get_local_id(0); i < 64; i += get_local_size(0)) own[i] = given[i] = -1;\n"
    "  for (int i = 0; i < 64; i++) mine[i] = -1;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[get_global_id(0)] = own[get_local_id(0)] + given[63 - get_local_id(0)] + mine[out[0] & 63];\n"
    "}\n"
    /* Each group finds zeros, and leaves something else. */
    "kernel void read_local(global int *out, local int *given) {\n"
    "  local int own[64];\n"
    "  int sum = 0;\n"
    "  for (int i = 0; i < 64; i++) sum |= own[i] | given[i];\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  own[get_local_id(0)] = given[get_local_id(0)] = 77;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  out[get_global_id(0)] = sum + (own[get_local_id(0)] != 77) + (given[get_local_id(0)] != 77);\n"
    "}\n"
    "kernel void read_private(global int *out, local int *given) {\n"
    "  int array[64], number, at = out[get_global_id(0)] & 63;\n"
    "  many structure;\n"
    "  float4 vector;\n"
    "  if (at & 64) number = structure.number = array[3] = 1;\n"
    "  int sum = array[at] | number | structure.number | (int)structure.numbers[at % 5] | structure.last | any(vector != 0.0f);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (int i = 0; i < 3; i++) { long inner[9]; sum |= inner[(at + i) % 9] != 0; inner[i] = given[i]; given[i] = inner[0] != 0; }\n"
    "  out[get_global_id(0)] = sum;\n"
    "}\n";

static void run(cl_context c, const char *options) {
    cl_int err, out[GROUPS * GROUP], nonzero = 0;
    size_t global = GROUPS * GROUP, local = GROUP;
    cl_command_queue q = clCreateCommandQueueWithProperties(c, device, NULL, &err);
    cl_program program = clCreateProgramWithSource(c, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, clBuildProgram(program, 0, NULL, options, NULL, NULL));
    cl_mem mem = clCreateBuffer(c, 0, sizeof out, NULL, &err);
    const char *names[] = {"dirty", "read_local", "dirty", "read_private", "read_private"};
    for (int i = 0; i < 5; i++) {
        cl_kernel kernel = clCreateKernel(program, names[i], &err);
        STATUS(CL_SUCCESS, err);
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof mem, &mem));
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, 64 * sizeof(cl_int), NULL));
        STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(q, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clEnqueueReadBuffer(q, mem, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
        for (int j = 0; j < GROUPS * GROUP; j++) {
            nonzero += i != 0 && i != 2 && out[j] != 0;
        }
        STATUS(CL_SUCCESS, clReleaseKernel(kernel));
    }
    TRUE(nonzero == 0);
    STATUS(CL_SUCCESS, clReleaseMemObject(mem));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(q));
}

int main(void) {
    cl_int err;
    setup();
    cl_context_properties both[] = {CONTEXT_MEMORY_INITIALIZE, INITIALIZE_LOCAL | INITIALIZE_PRIVATE, 0};
    cl_context_properties none[] = {CONTEXT_MEMORY_INITIALIZE, 0, 0}, unknown[] = {CONTEXT_MEMORY_INITIALIZE, 4, 0};
    cl_context_properties its[3];
    cl_context c = clCreateContext(both, 1, &device, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clGetContextInfo(c, CL_CONTEXT_PROPERTIES, sizeof its, its, NULL));
    TRUE(memcmp(its, both, sizeof its) == 0);
    run(c, "");
    run(c, "-cl-std=CL3.0");
    run(c, "-cl-opt-disable");
    STATUS(CL_SUCCESS, clReleaseContext(c));
    c = clCreateContext(none, 1, &device, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clReleaseContext(c));
    CREATED(CL_INVALID_PROPERTY, clCreateContext(unknown, 1, &device, NULL, NULL, &err));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
    STATUS(CL_SUCCESS, clReleaseContext(context));
    return finish();
}
