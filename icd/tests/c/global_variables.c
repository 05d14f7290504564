/* Program-scope variables are read and written by name (cl_intel_global_variable_access), with every error in its place. In programs from source
 * the name is that of the variable, if it is not static. */
#include "check.h"
#include <stdint.h>

static const char *source =
    "global int counter = 5;\n"
    "global float table[8] = {1, 2, 3};\n"
    "static global int hidden = 1;\n"
    "kernel void advance(int by) { counter += by; table[7] = hidden; }\n";

static cl_int (*read_variable)(cl_command_queue, cl_program, const char *, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *,
                               cl_event *);
static cl_int (*write_variable)(cl_command_queue, cl_program, const char *, cl_bool, size_t, size_t, const void *, cl_uint,
                                const cl_event *, cl_event *);
static cl_int (*pointer_of)(cl_device_id, cl_program, const char *, size_t *, void **);

static cl_command_type type_of(cl_event event) {
    cl_command_type type = 0;
    STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    return type;
}

int main(void) {
    setup();
    *(void **)&read_variable = clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueReadGlobalVariableINTEL");
    *(void **)&write_variable = clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueWriteGlobalVariableINTEL");
    *(void **)&pointer_of = clGetExtensionFunctionAddressForPlatform(platform, "clGetDeviceGlobalVariablePointerINTEL");
    TRUE(read_variable != NULL && write_variable != NULL && pointer_of != NULL);
    cl_int err, value = 0;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_INVALID_PROGRAM_EXECUTABLE, read_variable(queue, program, "counter", CL_TRUE, 4, 0, &value, 0, NULL, NULL));
    err = clBuildProgram(program, 1, &device, "-cl-std=CL3.0", NULL, NULL);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_INVALID_COMMAND_QUEUE, read_variable(NULL, program, "counter", CL_TRUE, 4, 0, &value, 0, NULL, NULL));
    STATUS(CL_INVALID_PROGRAM, read_variable(queue, NULL, "counter", CL_TRUE, 4, 0, &value, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, read_variable(queue, program, NULL, CL_TRUE, 4, 0, &value, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, read_variable(queue, program, "counter", CL_TRUE, 4, 0, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, write_variable(queue, program, NULL, CL_TRUE, 4, 0, &value, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, write_variable(queue, program, "counter", CL_TRUE, 4, 0, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_ARG_VALUE, read_variable(queue, program, "nothing", CL_TRUE, 4, 0, &value, 0, NULL, NULL));
    STATUS(CL_INVALID_ARG_VALUE, read_variable(queue, program, "hidden", CL_TRUE, 4, 0, &value, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, read_variable(queue, program, "counter", CL_TRUE, 4, 1, &value, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, write_variable(queue, program, "table", CL_TRUE, 33, 0, &value, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, read_variable(queue, program, "counter", CL_TRUE, 4, 0, &value, 1, NULL, NULL));

    STATUS(CL_SUCCESS, read_variable(queue, program, "counter", CL_TRUE, 4, 0, &value, 0, NULL, NULL));
    TRUE(value == 5);
    cl_kernel advance = clCreateKernel(program, "advance", &err);
    STATUS(CL_SUCCESS, err);
    cl_int by = 10, start = 100;
    size_t one = 1;
    float numbers[8];
    cl_event user = clCreateUserEvent(context, &err), wrote, got;
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clSetKernelArg(advance, 0, sizeof by, &by));
    /* In the order of the queue, and not before what they wait for. */
    STATUS(CL_SUCCESS, write_variable(queue, program, "counter", CL_FALSE, 4, 0, &start, 1, &user, &wrote));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, advance, 1, NULL, &one, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, read_variable(queue, program, "counter", CL_FALSE, 4, 0, &value, 0, NULL, &got));
    TRUE(value == 5);
    STATUS(CL_SUCCESS, clSetUserEventStatus(user, CL_COMPLETE));
    STATUS(CL_SUCCESS, clFinish(queue));
    TRUE(value == 110);
    TRUE(type_of(wrote) == 0x418F && type_of(got) == 0x418E);
    STATUS(CL_SUCCESS, read_variable(queue, program, "table", CL_TRUE, sizeof numbers, 0, numbers, 0, NULL, NULL));
    TRUE(numbers[0] == 1 && numbers[2] == 3 && numbers[3] == 0 && numbers[7] == 1);
    STATUS(CL_SUCCESS, write_variable(queue, program, "table", CL_TRUE, 8, 24, numbers, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clReleaseEvent(user));
    user = clCreateUserEvent(context, &err);
    STATUS(CL_SUCCESS, clSetUserEventStatus(user, -3));
    STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
           read_variable(queue, program, "counter", CL_TRUE, 4, 0, &value, 1, &user, NULL));

    size_t size = 0;
    float *address = NULL;
    STATUS(CL_INVALID_DEVICE, pointer_of(NULL, program, "table", &size, (void **)&address));
    STATUS(CL_INVALID_PROGRAM, pointer_of(device, NULL, "table", &size, (void **)&address));
    STATUS(CL_INVALID_VALUE, pointer_of(device, program, NULL, &size, (void **)&address));
    STATUS(CL_INVALID_VALUE, pointer_of(device, program, "table", &size, NULL));
    STATUS(CL_INVALID_ARG_VALUE, pointer_of(device, program, "nothing", &size, (void **)&address));
    STATUS(CL_SUCCESS, pointer_of(device, program, "table", &size, (void **)&address));
    TRUE(size == 32 && address[6] == 1 && address[7] == 2);
    STATUS(CL_SUCCESS, pointer_of(device, program, "table", NULL, (void **)&address));
    clReleaseEvent(user);
    clReleaseEvent(wrote);
    clReleaseEvent(got);
    clReleaseKernel(advance);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return finish();
}
