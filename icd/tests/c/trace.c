/* Something of everything that a timeline shows: commands of an in-order and of an out-of-order queue, a launch that several threads
 * share, a launch that fails, a build, memory that is used again. What the file says of it is checked by the test that runs this. */
#include "check.h"

#define ITEMS (1 << 20)

static const char *source =
    "kernel void scale(global float *x) { x[get_global_id(0)] *= 2.0f; }\n"
    "kernel void shift(global float *x) { for (int i = 0; i < 100; i++) x[get_global_id(0)] += 1.0f; }\n";

int main(void) {
    setup();
    cl_int err;
    cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    cl_command_queue any_order = clCreateCommandQueueWithProperties(context, device, properties, &err);
    STATUS(CL_SUCCESS, err);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, err);
    err = clBuildProgram(program, 1, &device, "", NULL, NULL);
    STATUS(CL_SUCCESS, err);
    cl_kernel scale = clCreateKernel(program, "scale", &err), shift = clCreateKernel(program, "shift", &err);
    cl_mem one = clCreateBuffer(context, CL_MEM_READ_WRITE, ITEMS * sizeof(float), NULL, &err);
    cl_mem two = clCreateBuffer(context, CL_MEM_READ_WRITE, ITEMS * sizeof(float), NULL, &err);
    STATUS(CL_SUCCESS, err);
    float zero = 0;
    size_t size = ITEMS, group = 64;
    STATUS(CL_SUCCESS, clEnqueueFillBuffer(queue, one, &zero, sizeof zero, 0, ITEMS * sizeof(float), 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueFillBuffer(queue, two, &zero, sizeof zero, 0, ITEMS * sizeof(float), 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_SUCCESS, clSetKernelArg(scale, 0, sizeof one, &one));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, scale, 1, NULL, &size, &group, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    for (int i = 0; i < 8; i++) {
        STATUS(CL_SUCCESS, clSetKernelArg(shift, 0, sizeof one, i % 2 ? &one : &two));
        STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(any_order, shift, 1, NULL, &size, &group, 0, NULL, NULL));
    }
    STATUS(CL_SUCCESS, clFinish(any_order));
    /* Fails because of what it waits for. */
    cl_event user = clCreateUserEvent(context, &err);
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, scale, 1, NULL, &size, &group, 1, &user, NULL));
    STATUS(CL_SUCCESS, clSetUserEventStatus(user, -1));
    STATUS(CL_SUCCESS, clFinish(queue));
    /* Memory that is used again. */
    STATUS(CL_SUCCESS, clReleaseMemObject(one));
    cl_mem three = clCreateBuffer(context, CL_MEM_READ_WRITE, ITEMS * sizeof(float), NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clReleaseMemObject(three));
    return finish();
}
