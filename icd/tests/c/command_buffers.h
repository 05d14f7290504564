/* cl_khr_command_buffer 0.9.8 and the extensions on top of it, as the specification has them: the headers of a system may have an older version. */
#ifndef COMMAND_BUFFERS_H
#define COMMAND_BUFFERS_H

#include "check.h"

typedef cl_ulong properties_t;
typedef struct buffer_ *command_buffer_t;
typedef struct command_ *mutable_t;
typedef cl_uint point_t;

#define DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES 0x129A
#define DEVICE_COMMAND_BUFFER_CAPABILITIES 0x12A9
#define DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES 0x12AA
#define CAPABILITY_KERNEL_PRINTF (1 << 0)
#define COMMAND_BUFFER_FLAGS 0x1293
#define COMMAND_BUFFER_QUEUES 0x1294
#define COMMAND_BUFFER_NUM_QUEUES 0x1295
#define COMMAND_BUFFER_REFERENCE_COUNT 0x1296
#define COMMAND_BUFFER_STATE 0x1297
#define COMMAND_BUFFER_PROPERTIES_ARRAY 0x1298
#define COMMAND_BUFFER_CONTEXT 0x1299
#define STATE_RECORDING 0
#define STATE_EXECUTABLE 1
#define COMMAND_COMMAND_BUFFER 0x12A8
#define INVALID_COMMAND_BUFFER (-1138)
#define INVALID_SYNC_POINT_WAIT_LIST (-1139)
#define INCOMPATIBLE_COMMAND_QUEUE (-1140)

/* What every recorded command has in front and behind. */
#define FRONT command_buffer_t, cl_command_queue, const properties_t *
#define BACK cl_uint, const point_t *, point_t *, mutable_t *

#define FUNCTIONS(F)                                                                                                  \
    F(command_buffer_t, clCreateCommandBufferKHR, (cl_uint, const cl_command_queue *, const properties_t *, cl_int *)) \
    F(cl_int, clRetainCommandBufferKHR, (command_buffer_t))                                                            \
    F(cl_int, clReleaseCommandBufferKHR, (command_buffer_t))                                                           \
    F(cl_int, clFinalizeCommandBufferKHR, (command_buffer_t))                                                          \
    F(cl_int, clEnqueueCommandBufferKHR,                                                                               \
      (cl_uint, cl_command_queue *, command_buffer_t, cl_uint, const cl_event *, cl_event *))                          \
    F(cl_int, clGetCommandBufferInfoKHR, (command_buffer_t, cl_uint, size_t, void *, size_t *))                        \
    F(cl_int, clCommandBarrierWithWaitListKHR, (FRONT, BACK))                                                          \
    F(cl_int, clCommandCopyBufferKHR, (FRONT, cl_mem, cl_mem, size_t, size_t, size_t, BACK))                           \
    F(cl_int, clCommandCopyBufferRectKHR,                                                                              \
      (FRONT, cl_mem, cl_mem, const size_t *, const size_t *, const size_t *, size_t, size_t, size_t, size_t, BACK))   \
    F(cl_int, clCommandCopyBufferToImageKHR,                                                                           \
      (FRONT, cl_mem, cl_mem, size_t, const size_t *, const size_t *, BACK))                                           \
    F(cl_int, clCommandCopyImageKHR,                                                                                   \
      (FRONT, cl_mem, cl_mem, const size_t *, const size_t *, const size_t *, BACK))                                   \
    F(cl_int, clCommandCopyImageToBufferKHR,                                                                           \
      (FRONT, cl_mem, cl_mem, const size_t *, const size_t *, size_t, BACK))                                           \
    F(cl_int, clCommandFillBufferKHR, (FRONT, cl_mem, const void *, size_t, size_t, size_t, BACK))                     \
    F(cl_int, clCommandFillImageKHR, (FRONT, cl_mem, const void *, const size_t *, const size_t *, BACK))              \
    F(cl_int, clCommandNDRangeKernelKHR,                                                                               \
      (FRONT, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, BACK))                               \
    F(cl_int, clCommandSVMMemcpyKHR, (FRONT, void *, const void *, size_t, BACK))                                      \
    F(cl_int, clCommandSVMMemFillKHR, (FRONT, void *, const void *, size_t, size_t, BACK))

#define POINTER(result, name, arguments) static result(CL_API_CALL *name##_) arguments;
FUNCTIONS(POINTER)

/* Finds the functions; the headers' names for them, where there are any, are not used. */
static void load(void) {
#define LOAD(result, name, arguments)                                                                                  \
    *(void **)&name##_ = clGetExtensionFunctionAddressForPlatform(platform, #name);                                    \
    TRUE(name##_ != NULL);
    FUNCTIONS(LOAD)
    if (failures != 0) {
        exit(finish());
    }
}

/* Nothing in front but the command-buffer, nothing behind. */
#define NO_QUEUE NULL, NULL
#define NO_POINTS 0, NULL, NULL, NULL

#endif
