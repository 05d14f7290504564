/* An application that uses a little of everything that environment variables change. */
#include "check.h"

int main(void) {
    setup();
    cl_int err;
    cl_program program = build("kernel void twice(global int *out) { out[get_global_id(0)] *= 2; }", "");
    cl_kernel kernel = clCreateKernel(program, "twice", &err);
    STATUS(CL_SUCCESS, err);
    static cl_int values[1 << 16];
    for (int i = 0; i < 1 << 16; i++) values[i] = i;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof values, values, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    size_t items = 1 << 16;
    for (int i = 0; i < 100; i++) {
        STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
    }
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
    STATUS(CL_SUCCESS, clReleaseContext(context));
    return finish();
}
