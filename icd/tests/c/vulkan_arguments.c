/* A kernel of a module of Vulkan's environment whose reflection leaves out arguments that nothing uses: these are set
   as the source has them, which nobody knows any more, and queries say what is known. The module is the argument. */
#include "check.h"

static unsigned char module[1 << 16];

int main(int argc, char **argv) {
    cl_int err;
    setup();
    FILE *file = fopen(argv[argc - 1], "rb");
    if (file == NULL) {
        printf("no module\n");
        return 1;
    }
    size_t length = fread(module, 1, sizeof module, file);
    fclose(file);

    cl_program program = clCreateProgramWithIL(context, module, length, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clBuildProgram(program, 1, &device, "-cl-kernel-arg-info", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "k", &err);
    STATUS(CL_SUCCESS, err);
    cl_uint count = 0;
    STATUS(CL_SUCCESS, clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL));
    TRUE(count == 4);

    /* kernel void k(global uint *before, local uint *between, global uint *data, sampler_t after) */
    cl_uint words[2] = {1, 2};
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof words, words, &err);
    STATUS(CL_SUCCESS, err);
    cl_sampler sampler = clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err);
    STATUS(CL_SUCCESS, err);
    size_t one = 1;
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 2, sizeof buffer, &buffer));
    STATUS(CL_INVALID_KERNEL_ARGS, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, 256, NULL));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 3, sizeof sampler, &sampler));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof words, words, 0, NULL, NULL));
    TRUE(words[0] == 7 && words[1] == 2);

    /* Any of them as something else: bytes of a size of their own, an address. */
    unsigned char bytes[48] = {0};
    for (cl_uint index = 0; index < 4; index++) {
        if (index == 2) continue;
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, index, sizeof bytes, bytes));
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, index, 1, bytes));
        STATUS(CL_SUCCESS, clSetKernelArgSVMPointer(kernel, index, words));
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, index, sizeof buffer, NULL));
    }
    STATUS(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 2, sizeof bytes, bytes));
    STATUS(CL_INVALID_ARG_INDEX, clSetKernelArg(kernel, 4, 1, bytes));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));

    for (cl_uint index = 0; index < 4; index++) {
        cl_kernel_arg_address_qualifier address = 0;
        STATUS(CL_SUCCESS, clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof address,
                                              &address, NULL));
        TRUE(address == (index == 2 ? CL_KERNEL_ARG_ADDRESS_GLOBAL : CL_KERNEL_ARG_ADDRESS_PRIVATE));
        char text[64];
        STATUS(CL_KERNEL_ARG_INFO_NOT_AVAILABLE,
               clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));
        STATUS(CL_KERNEL_ARG_INFO_NOT_AVAILABLE,
               clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_NAME, sizeof text, text, NULL));
    }
    char text[64];
    STATUS(CL_INVALID_ARG_INDEX, clGetKernelArgInfo(kernel, 4, CL_KERNEL_ARG_NAME, sizeof text, text, NULL));

    clReleaseSampler(sampler);
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return finish();
}
