/* A kernel that enqueues another. */
#include "check.h"

int main(void) {
    setup();
    cl_int err;
    cl_queue_properties properties[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT, 0};
    cl_command_queue on_device = clCreateCommandQueueWithProperties(context, device, properties, &err);
    STATUS(CL_SUCCESS, err);
    cl_program program = build("kernel void parent(global int *out) {\n"
                               "  enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ out[0] = 7; });\n"
                               "}\n",
                               "-cl-std=CL3.0");
    cl_kernel kernel = clCreateKernel(program, "parent", &err);
    STATUS(CL_SUCCESS, err);
    cl_mem out = clCreateBuffer(context, 0, sizeof(cl_int), NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof out, &out));
    size_t one = 1;
    cl_int result = 0;
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof result, &result, 0, NULL, NULL));
    TRUE(result == 7);
    clReleaseMemObject(out);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(on_device);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return finish();
}
