/* Sizes and counts that no application can mean: each is refused, none is allocated. */
#define _GNU_SOURCE
#include "check.h"

#include <stdint.h>
#include <sys/mman.h>

int main(void) {
    setup();
    cl_int err;
    const size_t absurd[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 2 + 1, (size_t)1 << 62, (size_t)1 << 48};
    const int count = sizeof absurd / sizeof absurd[0];
    const char *text = "kernel void k(global int *p) { *p = 1; }";
    for (int i = 0; i < count; i++) {
        /* Neither of the two that the specification has for it is a crash. */
        cl_program program = clCreateProgramWithSource(context, 1, &text, &absurd[i], &err);
        TRUE(program == NULL && (err == CL_INVALID_VALUE || err == CL_OUT_OF_HOST_MEMORY));
        program = clCreateProgramWithIL(context, text, absurd[i], &err);
        TRUE(program == NULL && (err == CL_INVALID_VALUE || err == CL_OUT_OF_HOST_MEMORY));
        const unsigned char *binary = (const unsigned char *)text;
        cl_int binary_status;
        program = clCreateProgramWithBinary(context, 1, &device, &absurd[i], &binary, &binary_status, &err);
        TRUE(program == NULL && (err == CL_INVALID_VALUE || err == CL_OUT_OF_HOST_MEMORY || err == CL_INVALID_BINARY));
    }
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_program program = build(text, "");
    cl_kernel kernel = clCreateKernel(program, "k", &err);
    STATUS(CL_SUCCESS, err);
    for (int i = 0; i < count; i++) {
        TRUE(clSetKernelArg(kernel, 0, absurd[i], &buffer) != CL_SUCCESS);
        TRUE(clEnqueueFillBuffer(queue, buffer, text, absurd[i], 0, 4096, 0, NULL, NULL) == CL_INVALID_VALUE);
        TRUE(clCreateBuffer(context, CL_MEM_READ_WRITE, absurd[i], NULL, &err) == NULL);
        STATUS(CL_INVALID_BUFFER_SIZE, err);
        TRUE(clSVMAlloc(context, CL_MEM_READ_WRITE, absurd[i], 0) == NULL);
        TRUE(clEnqueueNativeKernel(queue, NULL, (void *)text, absurd[i], 0, NULL, NULL, 0, NULL, NULL) == CL_INVALID_VALUE);
    }
    /* The number of strings is the application's, too: together they are more than there are addresses. */
    enum { STRINGS = 1 << 20 };
    const size_t gib = 1 << 30;
    const char *large = mmap(NULL, gib, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TRUE(large != MAP_FAILED);
    const char **strings = malloc(STRINGS * sizeof *strings);
    size_t *lengths = malloc(STRINGS * sizeof *lengths);
    for (int i = 0; i < STRINGS; i++) strings[i] = large, lengths[i] = gib;
    TRUE(clCreateProgramWithSource(context, STRINGS, strings, lengths, &err) == NULL);
    STATUS(CL_OUT_OF_HOST_MEMORY, err);
    free(strings);
    free(lengths);
    munmap((void *)large, gib);

    /* And the driver is as good as before. */
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    size_t one = 1;
    int result = 0;
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof result, &result, 0, NULL, NULL));
    TRUE(result == 1);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return finish();
}
