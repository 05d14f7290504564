/* Every entry point with null, zero, too large and wrongly typed arguments gets the code that the specification asks
   for. With an argument the program is linked with the driver itself, and also hands over pointers that never were
   handles; an ICD loader would follow those. */
#include "check.h"

#define HUGE_SIZE ((size_t)-1)
#define BAD_FLAGS (1ull << 40)

static size_t zero3[3] = {0, 0, 0};
static size_t one3[3] = {1, 1, 1};
static size_t huge3[3] = {(size_t)-1, (size_t)-1, (size_t)-1};
static char bytes[256];

static void CL_CALLBACK on_event(cl_event e, cl_int s, void *u) { (void)e; (void)s; (void)u; }
static void CL_CALLBACK on_object(void *o, void *u) { (void)o; (void)u; }
static void CL_CALLBACK on_mem(cl_mem o, void *u) { on_object(o, u); }
static void CL_CALLBACK on_context(cl_context o, void *u) { on_object(o, u); }
static void CL_CALLBACK native(void *args) { (void)args; }

static cl_mem buffer;
static cl_mem other_buffer; /* of another context */
static cl_event user_event;
static cl_event other_event;

static void platforms_and_devices(void) {
    cl_uint n = 7;
    cl_platform_id p;
    cl_device_id d;
    size_t size;
    cl_ulong t;
    char text[4];
    cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};

    STATUS(CL_INVALID_VALUE, clGetPlatformIDs(0, &p, NULL));
    STATUS(CL_INVALID_VALUE, clGetPlatformIDs(1, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clGetPlatformInfo(platform, 0xdead, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetPlatformInfo(platform, CL_PLATFORM_NAME, 1, text, NULL));
    STATUS(CL_SUCCESS, clUnloadPlatformCompiler(platform));
    STATUS(CL_INVALID_DEVICE_TYPE, clGetDeviceIDs(platform, 0, 1, &d, NULL));
    STATUS(CL_INVALID_DEVICE_TYPE, clGetDeviceIDs(platform, 1ull << 20, 1, &d, NULL));
    STATUS(CL_INVALID_VALUE, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, &d, NULL));
    STATUS(CL_INVALID_VALUE, clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, NULL, NULL));
    STATUS(CL_DEVICE_NOT_FOUND, clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &d, &n));
    TRUE(n == 0);
    STATUS(CL_INVALID_DEVICE, clGetDeviceInfo(NULL, CL_DEVICE_NAME, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetDeviceInfo(device, 0xdead, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetDeviceInfo(device, CL_DEVICE_TYPE, 1, text, NULL));
    STATUS(CL_INVALID_DEVICE, clCreateSubDevices(NULL, equally, 1, &d, NULL));
    STATUS(CL_INVALID_VALUE, clCreateSubDevices(device, NULL, 1, &d, NULL));
    STATUS(CL_INVALID_DEVICE, clRetainDevice(NULL));
    STATUS(CL_INVALID_DEVICE, clReleaseDevice(NULL));
    STATUS(CL_SUCCESS, clRetainDevice(device));
    STATUS(CL_SUCCESS, clReleaseDevice(device));
    STATUS(CL_INVALID_DEVICE, clGetHostTimer(NULL, &t));
    STATUS(CL_INVALID_VALUE, clGetHostTimer(device, NULL));
    STATUS(CL_INVALID_DEVICE, clGetDeviceAndHostTimer(NULL, &t, &t));
    STATUS(CL_INVALID_VALUE, clGetDeviceAndHostTimer(device, NULL, &t));
    STATUS(CL_INVALID_VALUE, clGetDeviceAndHostTimer(device, &t, NULL));
    STATUS(CL_INVALID_CONTEXT, clSetDefaultDeviceCommandQueue(NULL, device, queue));
    STATUS(CL_INVALID_DEVICE, clSetDefaultDeviceCommandQueue(context, NULL, queue));
    STATUS(CL_INVALID_COMMAND_QUEUE, clSetDefaultDeviceCommandQueue(context, device, NULL));
    /* One of the host. */
    STATUS(CL_INVALID_COMMAND_QUEUE, clSetDefaultDeviceCommandQueue(context, device, queue));
    TRUE(clGetExtensionFunctionAddressForPlatform(platform, "clNoSuchFunctionKHR") == NULL);
}

static void contexts(void) {
    cl_int err;
    size_t size;
    char c;
    cl_device_id none = NULL;
    cl_context_properties null_platform[] = {CL_CONTEXT_PLATFORM, 0, 0};
    cl_context_properties unknown[] = {0x7777, 1, 0};
    cl_context_properties good[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    cl_context_properties twice[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform,
                                     CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};

    CREATED(CL_INVALID_VALUE, clCreateContext(good, 0, &device, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreateContext(good, 1, NULL, NULL, NULL, &err));
    CREATED(CL_INVALID_DEVICE, clCreateContext(good, 1, &none, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreateContext(good, 1, &device, NULL, &c, &err));
    CREATED(CL_INVALID_PLATFORM, clCreateContext(null_platform, 1, &device, NULL, NULL, &err));
    CREATED(CL_INVALID_PROPERTY, clCreateContext(unknown, 1, &device, NULL, NULL, &err));
    CREATED(CL_INVALID_PROPERTY, clCreateContext(twice, 1, &device, NULL, NULL, &err));
    TRUE(clCreateContext(good, 0, &device, NULL, NULL, NULL) == NULL);
    CREATED(CL_INVALID_DEVICE_TYPE, clCreateContextFromType(good, 0, NULL, NULL, &err));
    CREATED(CL_DEVICE_NOT_FOUND, clCreateContextFromType(good, CL_DEVICE_TYPE_GPU, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreateContextFromType(good, CL_DEVICE_TYPE_CPU, NULL, &c, &err));
    STATUS(CL_INVALID_CONTEXT, clRetainContext(NULL));
    STATUS(CL_INVALID_CONTEXT, clReleaseContext(NULL));
    STATUS(CL_INVALID_CONTEXT, clReleaseContext((cl_context)queue));
    STATUS(CL_INVALID_CONTEXT, clGetContextInfo(NULL, CL_CONTEXT_DEVICES, 0, NULL, &size));
    STATUS(CL_INVALID_CONTEXT, clGetContextInfo((cl_context)device, CL_CONTEXT_DEVICES, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetContextInfo(context, 0xdead, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetContextInfo(context, CL_CONTEXT_DEVICES, 1, &c, NULL));
    STATUS(CL_INVALID_CONTEXT, clSetContextDestructorCallback(NULL, on_context, NULL));
    STATUS(CL_INVALID_VALUE, clSetContextDestructorCallback(context, NULL, NULL));
}

static void queues(void) {
    cl_int err;
    size_t size;
    char c;
    cl_command_queue_properties old;
    cl_queue_properties unknown[] = {0x7777, 1, 0};
    cl_queue_properties bad_bits[] = {CL_QUEUE_PROPERTIES, 1u << 20, 0};
    cl_queue_properties in_order[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE, 0};
    cl_queue_properties default_of_host[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE_DEFAULT, 0};
    cl_uint most = 0;
    clGetDeviceInfo(device, CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, sizeof most, &most, NULL);
    cl_queue_properties too_large[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE,
        CL_QUEUE_SIZE, (cl_queue_properties)most + 1, 0};
    cl_queue_properties sized[] = {CL_QUEUE_SIZE, 4096, 0};

    CREATED(CL_INVALID_CONTEXT, clCreateCommandQueue(NULL, device, 0, &err));
    CREATED(CL_INVALID_CONTEXT, clCreateCommandQueue((cl_context)device, device, 0, &err));
    CREATED(CL_INVALID_DEVICE, clCreateCommandQueue(context, NULL, 0, &err));
    CREATED(CL_INVALID_DEVICE, clCreateCommandQueue(context, (cl_device_id)context, 0, &err));
    CREATED(CL_INVALID_VALUE, clCreateCommandQueue(context, device, 1u << 20, &err));
    CREATED(CL_INVALID_CONTEXT, clCreateCommandQueueWithProperties(NULL, device, NULL, &err));
    CREATED(CL_INVALID_DEVICE, clCreateCommandQueueWithProperties(context, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, unknown, &err));
    CREATED(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, bad_bits, &err));
    CREATED(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, sized, &err));
    CREATED(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, in_order, &err));
    CREATED(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, default_of_host, &err));
    CREATED(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, too_large, &err));
    /* cl_khr_priority_hints and cl_khr_throttle_hints: one of three values each, for queues of the host. */
    for (cl_queue_properties hint = 0x1096; hint <= 0x1097; hint++) {
        for (cl_queue_properties value = 0; value <= 8; value++) {
            cl_queue_properties hinted[] = {hint, value, 0}, of_device[] = {hint, value, CL_QUEUE_PROPERTIES, 7, 0};
            if (value == 1 || value == 2 || value == 4) {
                cl_command_queue q = clCreateCommandQueueWithProperties(context, device, hinted, &err);
                STATUS(CL_SUCCESS, err);
                STATUS(CL_SUCCESS, clReleaseCommandQueue(q));
                CREATED(CL_INVALID_QUEUE_PROPERTIES,
                        clCreateCommandQueueWithProperties(context, device, of_device, &err));
            } else {
                CREATED(CL_INVALID_VALUE, clCreateCommandQueueWithProperties(context, device, hinted, &err));
            }
        }
    }
    STATUS(CL_INVALID_COMMAND_QUEUE, clRetainCommandQueue(NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clReleaseCommandQueue(NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clReleaseCommandQueue((cl_command_queue)context));
    STATUS(CL_INVALID_COMMAND_QUEUE, clGetCommandQueueInfo(NULL, CL_QUEUE_CONTEXT, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetCommandQueueInfo(queue, 0xdead, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, 1, &c, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clGetCommandQueueInfo(queue, CL_QUEUE_SIZE, 0, NULL, &size));
    STATUS(CL_INVALID_COMMAND_QUEUE, clSetCommandQueueProperty(NULL, 0, CL_TRUE, &old));
    STATUS(CL_INVALID_OPERATION,
           clSetCommandQueueProperty(queue, CL_QUEUE_PROFILING_ENABLE, CL_TRUE, &old));
    STATUS(CL_INVALID_COMMAND_QUEUE, clFlush(NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clFinish(NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clFinish((cl_command_queue)buffer));
}

static void events(void) {
    cl_int err;
    cl_int status;
    size_t size;
    cl_ulong t;
    char c;
    cl_event none = NULL;
    cl_event wrong = (cl_event)queue;
    cl_event mixed[2] = {user_event, other_event};
    cl_event e;

    CREATED(CL_INVALID_CONTEXT, clCreateUserEvent(NULL, &err));
    STATUS(CL_INVALID_EVENT, clSetUserEventStatus(NULL, CL_COMPLETE));
    STATUS(CL_INVALID_VALUE, clSetUserEventStatus(user_event, CL_RUNNING));
    STATUS(CL_INVALID_VALUE, clWaitForEvents(0, &user_event));
    STATUS(CL_INVALID_VALUE, clWaitForEvents(1, NULL));
    STATUS(CL_INVALID_EVENT, clWaitForEvents(1, &none));
    STATUS(CL_INVALID_EVENT, clWaitForEvents(1, &wrong));
    STATUS(CL_INVALID_CONTEXT, clWaitForEvents(2, mixed));
    STATUS(CL_INVALID_EVENT, clRetainEvent(NULL));
    STATUS(CL_INVALID_EVENT, clReleaseEvent(NULL));
    STATUS(CL_INVALID_EVENT, clReleaseEvent(wrong));
    STATUS(CL_INVALID_EVENT, clGetEventInfo(NULL, CL_EVENT_CONTEXT, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetEventInfo(user_event, 0xdead, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE,
           clGetEventInfo(user_event, CL_EVENT_COMMAND_EXECUTION_STATUS, 1, &status, NULL));
    STATUS(CL_INVALID_EVENT,
           clGetEventProfilingInfo(NULL, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL));
    STATUS(CL_PROFILING_INFO_NOT_AVAILABLE,
           clGetEventProfilingInfo(user_event, CL_PROFILING_COMMAND_END, sizeof t, &t, NULL));
    STATUS(CL_INVALID_EVENT, clSetEventCallback(NULL, CL_COMPLETE, on_event, NULL));
    STATUS(CL_INVALID_VALUE, clSetEventCallback(user_event, CL_COMPLETE, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clSetEventCallback(user_event, CL_QUEUED, on_event, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueMarker(NULL, &e));
    STATUS(CL_INVALID_VALUE, clEnqueueMarker(queue, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueBarrier(NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueWaitForEvents(NULL, 1, &user_event));
    STATUS(CL_INVALID_VALUE, clEnqueueWaitForEvents(queue, 0, &user_event));
    STATUS(CL_INVALID_VALUE, clEnqueueWaitForEvents(queue, 1, NULL));
    STATUS(CL_INVALID_EVENT, clEnqueueWaitForEvents(queue, 1, &none));
    STATUS(CL_INVALID_CONTEXT, clEnqueueWaitForEvents(queue, 1, &other_event));
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueMarkerWithWaitList(NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(queue, 1, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(queue, 0, &user_event, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(queue, 1, &none, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueMarkerWithWaitList(queue, 1, &wrong, NULL));
    STATUS(CL_INVALID_CONTEXT, clEnqueueMarkerWithWaitList(queue, 1, &other_event, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueBarrierWithWaitList(NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueBarrierWithWaitList(queue, 1, NULL, NULL));
    (void)c;
}

static void buffers(void) {
    cl_int err;
    size_t size;
    char c;
    cl_mem_properties unknown[] = {0x7777, 1, 0};
    cl_buffer_region whole = {0, 1024};
    cl_buffer_region empty = {0, 0};
    cl_buffer_region outside = {1024, 1};
    cl_buffer_region overflow = {HUGE_SIZE - 3, 8};
    cl_buffer_region misaligned = {1, 8};
    cl_mem write_only, sub;

    CREATED(CL_INVALID_CONTEXT, clCreateBuffer(NULL, 0, 16, NULL, &err));
    CREATED(CL_INVALID_CONTEXT, clCreateBuffer((cl_context)queue, 0, 16, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreateBuffer(context, BAD_FLAGS, 16, NULL, &err));
    CREATED(CL_INVALID_VALUE,
            clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 16, NULL, &err));
    CREATED(CL_INVALID_VALUE,
            clCreateBuffer(context, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, 16, bytes, &err));
    CREATED(CL_INVALID_VALUE,
            clCreateBuffer(context, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS, 16, NULL, &err));
    CREATED(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, 0, NULL, &err));
    CREATED(CL_INVALID_BUFFER_SIZE, clCreateBuffer(context, 0, HUGE_SIZE, NULL, &err));
    CREATED(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 16, NULL, &err));
    CREATED(CL_INVALID_HOST_PTR, clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, 16, NULL, &err));
    CREATED(CL_INVALID_HOST_PTR, clCreateBuffer(context, 0, 16, bytes, &err));
    CREATED(CL_INVALID_CONTEXT, clCreateBufferWithProperties(NULL, NULL, 0, 16, NULL, &err));
    CREATED(CL_INVALID_PROPERTY, clCreateBufferWithProperties(context, unknown, 0, 16, NULL, &err));
    CREATED(CL_INVALID_BUFFER_SIZE, clCreateBufferWithProperties(context, NULL, 0, 0, NULL, &err));

    CREATED(CL_INVALID_MEM_OBJECT,
            clCreateSubBuffer(NULL, 0, CL_BUFFER_CREATE_TYPE_REGION, &whole, &err));
    CREATED(CL_INVALID_MEM_OBJECT,
            clCreateSubBuffer((cl_mem)queue, 0, CL_BUFFER_CREATE_TYPE_REGION, &whole, &err));
    CREATED(CL_INVALID_VALUE, clCreateSubBuffer(buffer, 0, 0xdead, &whole, &err));
    CREATED(CL_INVALID_VALUE, clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, NULL, &err));
    CREATED(CL_INVALID_VALUE,
            clCreateSubBuffer(buffer, BAD_FLAGS, CL_BUFFER_CREATE_TYPE_REGION, &whole, &err));
    CREATED(CL_INVALID_BUFFER_SIZE,
            clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &empty, &err));
    CREATED(CL_INVALID_VALUE,
            clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &outside, &err));
    CREATED(CL_INVALID_VALUE,
            clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &overflow, &err));
    CREATED(CL_MISALIGNED_SUB_BUFFER_OFFSET,
            clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &misaligned, &err));
    write_only = clCreateBuffer(context, CL_MEM_WRITE_ONLY, 1024, NULL, &err);
    CREATED(CL_INVALID_VALUE,
            clCreateSubBuffer(write_only, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &whole, &err));
    sub = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &whole, &err);
    STATUS(CL_SUCCESS, err);
    CREATED(CL_INVALID_MEM_OBJECT,
            clCreateSubBuffer(sub, 0, CL_BUFFER_CREATE_TYPE_REGION, &whole, &err));
    STATUS(CL_SUCCESS, clReleaseMemObject(sub));
    STATUS(CL_SUCCESS, clReleaseMemObject(write_only));

    STATUS(CL_INVALID_MEM_OBJECT, clRetainMemObject(NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clReleaseMemObject(NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clReleaseMemObject((cl_mem)context));
    STATUS(CL_INVALID_MEM_OBJECT, clGetMemObjectInfo(NULL, CL_MEM_SIZE, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetMemObjectInfo(buffer, 0xdead, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetMemObjectInfo(buffer, CL_MEM_SIZE, 1, &c, NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clSetMemObjectDestructorCallback(NULL, on_mem, NULL));
    STATUS(CL_INVALID_VALUE, clSetMemObjectDestructorCallback(buffer, NULL, NULL));
}

static void transfers(void) {
    cl_int err;
    char data[16] = {0};
    cl_event none = NULL;
    cl_mem no_read, no_write, no_access;
    void *mapped;

    STATUS(CL_INVALID_COMMAND_QUEUE,
           clEnqueueReadBuffer(NULL, buffer, CL_TRUE, 0, 1, data, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT,
           clEnqueueReadBuffer(queue, NULL, CL_TRUE, 0, 1, data, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT,
           clEnqueueReadBuffer(queue, (cl_mem)queue, CL_TRUE, 0, 1, data, 0, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT,
           clEnqueueReadBuffer(queue, other_buffer, CL_TRUE, 0, 1, data, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE,
           clEnqueueReadBuffer(queue, buffer, CL_TRUE, 1024, 1, data, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE,
           clEnqueueReadBuffer(queue, buffer, CL_TRUE, HUGE_SIZE, 2, data, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE,
           clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, HUGE_SIZE, data, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST,
           clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, data, 1, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST,
           clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, data, 1, &none, NULL));
    STATUS(CL_INVALID_CONTEXT,
           clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1, data, 1, &other_event, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE,
           clEnqueueWriteBuffer(NULL, buffer, CL_TRUE, 0, 1, data, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT,
           clEnqueueWriteBuffer(queue, NULL, CL_TRUE, 0, 1, data, 0, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT,
           clEnqueueWriteBuffer(queue, other_buffer, CL_TRUE, 0, 1, data, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE,
           clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 1020, 5, data, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST,
           clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 1, data, 0, &user_event, NULL));

    STATUS(CL_INVALID_COMMAND_QUEUE,
           clEnqueueCopyBuffer(NULL, buffer, buffer, 0, 512, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT,
           clEnqueueCopyBuffer(queue, NULL, buffer, 0, 512, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT,
           clEnqueueCopyBuffer(queue, buffer, NULL, 0, 512, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT,
           clEnqueueCopyBuffer(queue, buffer, other_buffer, 0, 0, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE,
           clEnqueueCopyBuffer(queue, buffer, buffer, 1020, 0, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE,
           clEnqueueCopyBuffer(queue, buffer, buffer, 0, 1020, 16, 0, NULL, NULL));
    STATUS(CL_MEM_COPY_OVERLAP,
           clEnqueueCopyBuffer(queue, buffer, buffer, 0, 8, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST,
           clEnqueueCopyBuffer(queue, buffer, buffer, 0, 512, 16, 1, NULL, NULL));

#define RECT_CASES(name, host)                                                                     \
    STATUS(CL_INVALID_COMMAND_QUEUE,                                                               \
           name(NULL, buffer, CL_TRUE, zero3, zero3, one3, 0, 0, 0, 0, host, 0, NULL, NULL));      \
    STATUS(CL_INVALID_MEM_OBJECT,                                                                  \
           name(queue, NULL, CL_TRUE, zero3, zero3, one3, 0, 0, 0, 0, host, 0, NULL, NULL));       \
    STATUS(CL_INVALID_CONTEXT,                                                                     \
           name(queue, other_buffer, CL_TRUE, zero3, zero3, one3, 0, 0, 0, 0, host, 0, NULL, NULL)); \
    STATUS(CL_INVALID_VALUE,                                                                       \
           name(queue, buffer, CL_TRUE, NULL, zero3, one3, 0, 0, 0, 0, host, 0, NULL, NULL));      \
    STATUS(CL_INVALID_VALUE,                                                                       \
           name(queue, buffer, CL_TRUE, zero3, NULL, one3, 0, 0, 0, 0, host, 0, NULL, NULL));      \
    STATUS(CL_INVALID_VALUE,                                                                       \
           name(queue, buffer, CL_TRUE, zero3, zero3, NULL, 0, 0, 0, 0, host, 0, NULL, NULL));     \
    STATUS(CL_INVALID_VALUE,                                                                       \
           name(queue, buffer, CL_TRUE, zero3, zero3, zero3, 0, 0, 0, 0, host, 0, NULL, NULL));    \
    STATUS(CL_INVALID_VALUE,                                                                       \
           name(queue, buffer, CL_TRUE, huge3, zero3, one3, 0, 0, 0, 0, host, 0, NULL, NULL));     \
    STATUS(CL_INVALID_VALUE,                                                                       \
           name(queue, buffer, CL_TRUE, zero3, zero3, huge3, 0, 0, 0, 0, host, 0, NULL, NULL));    \
    STATUS(CL_INVALID_VALUE,                                                                       \
           name(queue, buffer, CL_TRUE, zero3, zero3, one3, 0, 0, 0, 0, NULL, 0, NULL, NULL));     \
    STATUS(CL_INVALID_EVENT_WAIT_LIST,                                                             \
           name(queue, buffer, CL_TRUE, zero3, zero3, one3, 0, 0, 0, 0, host, 1, NULL, NULL))
    RECT_CASES(clEnqueueReadBufferRect, data);
    RECT_CASES(clEnqueueWriteBufferRect, data);
    {
        size_t region[3] = {8, 2, 1};
        /* A row pitch below the region's width. */
        STATUS(CL_INVALID_VALUE, clEnqueueReadBufferRect(queue, buffer, CL_TRUE, zero3, zero3, region, 4,
                                                         0, 0, 0, bytes, 0, NULL, NULL));
        /* A slice pitch that is not a multiple of the row pitch. */
        STATUS(CL_INVALID_VALUE, clEnqueueReadBufferRect(queue, buffer, CL_TRUE, zero3, zero3, region, 16,
                                                         33, 0, 0, bytes, 0, NULL, NULL));
    }
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueCopyBufferRect(NULL, buffer, buffer, zero3, zero3, one3, 0,
                                                             0, 0, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clEnqueueCopyBufferRect(queue, buffer, NULL, zero3, zero3, one3, 0, 0, 0,
                                                          0, 0, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT, clEnqueueCopyBufferRect(queue, buffer, other_buffer, zero3, zero3, one3, 0,
                                                       0, 0, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueCopyBufferRect(queue, buffer, buffer, NULL, zero3, one3, 0, 0, 0, 0,
                                                     0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueCopyBufferRect(queue, buffer, buffer, zero3, zero3, zero3, 0, 0, 0,
                                                     0, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueCopyBufferRect(queue, buffer, buffer, zero3, huge3, one3, 0, 0, 0, 0,
                                                     0, NULL, NULL));
    STATUS(CL_MEM_COPY_OVERLAP, clEnqueueCopyBufferRect(queue, buffer, buffer, zero3, zero3, one3, 0, 0, 0,
                                                        0, 0, NULL, NULL));

    STATUS(CL_INVALID_COMMAND_QUEUE,
           clEnqueueFillBuffer(NULL, buffer, data, 4, 0, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clEnqueueFillBuffer(queue, NULL, data, 4, 0, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT,
           clEnqueueFillBuffer(queue, other_buffer, data, 4, 0, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, buffer, NULL, 4, 0, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, buffer, data, 0, 0, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, buffer, data, 3, 0, 15, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, buffer, bytes, 256, 0, 256, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, buffer, data, 4, 2, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, buffer, data, 4, 0, 15, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueFillBuffer(queue, buffer, data, 4, 1024, 4, 0, NULL, NULL));

    CREATED(CL_INVALID_COMMAND_QUEUE,
            clEnqueueMapBuffer(NULL, buffer, CL_TRUE, CL_MAP_READ, 0, 16, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_MEM_OBJECT,
            clEnqueueMapBuffer(queue, NULL, CL_TRUE, CL_MAP_READ, 0, 16, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_CONTEXT,
            clEnqueueMapBuffer(queue, other_buffer, CL_TRUE, CL_MAP_READ, 0, 16, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE,
            clEnqueueMapBuffer(queue, buffer, CL_TRUE, 1u << 20, 0, 16, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE,
            clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, 0, 16,
                               0, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE,
            clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 1020, 16, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE,
            clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 0, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_EVENT_WAIT_LIST,
            clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 16, 1, NULL, NULL, &err));
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueUnmapMemObject(NULL, buffer, bytes, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clEnqueueUnmapMemObject(queue, NULL, bytes, 0, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT, clEnqueueUnmapMemObject(queue, other_buffer, bytes, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, buffer, bytes, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, buffer, NULL, 0, NULL, NULL));
    mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 16, 0, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL));

    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueMigrateMemObjects(NULL, 1, &buffer, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueMigrateMemObjects(queue, 0, &buffer, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueMigrateMemObjects(queue, 1, NULL, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueMigrateMemObjects(queue, 1, &buffer, 1u << 20, 0, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT, clEnqueueMigrateMemObjects(queue, 1, &other_buffer, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT,
           clEnqueueMigrateMemObjects(queue, 1, (cl_mem *)&queue, 0, 0, NULL, NULL));

    /* Host access that the flags forbid. */
    no_read = clCreateBuffer(context, CL_MEM_HOST_WRITE_ONLY, 16, NULL, &err);
    no_write = clCreateBuffer(context, CL_MEM_HOST_READ_ONLY, 16, NULL, &err);
    no_access = clCreateBuffer(context, CL_MEM_HOST_NO_ACCESS, 16, NULL, &err);
    STATUS(CL_INVALID_OPERATION,
           clEnqueueReadBuffer(queue, no_read, CL_TRUE, 0, 1, data, 0, NULL, NULL));
    STATUS(CL_INVALID_OPERATION,
           clEnqueueWriteBuffer(queue, no_write, CL_TRUE, 0, 1, data, 0, NULL, NULL));
    STATUS(CL_INVALID_OPERATION,
           clEnqueueReadBuffer(queue, no_access, CL_TRUE, 0, 1, data, 0, NULL, NULL));
    STATUS(CL_INVALID_OPERATION, clEnqueueReadBufferRect(queue, no_read, CL_TRUE, zero3, zero3, one3, 0, 0,
                                                         0, 0, data, 0, NULL, NULL));
    STATUS(CL_INVALID_OPERATION, clEnqueueWriteBufferRect(queue, no_write, CL_TRUE, zero3, zero3, one3, 0,
                                                          0, 0, 0, data, 0, NULL, NULL));
    CREATED(CL_INVALID_OPERATION,
            clEnqueueMapBuffer(queue, no_read, CL_TRUE, CL_MAP_READ, 0, 16, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_OPERATION,
            clEnqueueMapBuffer(queue, no_write, CL_TRUE, CL_MAP_WRITE, 0, 16, 0, NULL, NULL, &err));
    STATUS(CL_SUCCESS, clReleaseMemObject(no_read));
    STATUS(CL_SUCCESS, clReleaseMemObject(no_write));
    STATUS(CL_SUCCESS, clReleaseMemObject(no_access));
}

static void svm(void) {
    char *p = clSVMAlloc(context, CL_MEM_READ_WRITE, 256, 0);
    const void *cp = p;
    void *vp = p;
    int pattern = 1;

    TRUE(p != NULL);
    TRUE(clSVMAlloc(NULL, CL_MEM_READ_WRITE, 256, 0) == NULL);
    TRUE(clSVMAlloc(context, BAD_FLAGS, 256, 0) == NULL);
    TRUE(clSVMAlloc(context, CL_MEM_SVM_ATOMICS, 256, 0) == NULL);
    TRUE(clSVMAlloc(context, CL_MEM_READ_WRITE, 0, 0) == NULL);
    TRUE(clSVMAlloc(context, CL_MEM_READ_WRITE, HUGE_SIZE, 0) == NULL);
    TRUE(clSVMAlloc(context, CL_MEM_READ_WRITE, 256, 3) == NULL);
    TRUE(clSVMAlloc(context, CL_MEM_READ_WRITE, 256, 4096) == NULL);
    clSVMFree(NULL, p);
    clSVMFree(context, NULL);
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueSVMFree(NULL, 1, &vp, NULL, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMFree(queue, 0, &vp, NULL, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMFree(queue, 1, NULL, NULL, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, clEnqueueSVMFree(queue, 1, &vp, NULL, NULL, 1, NULL, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueSVMMemcpy(NULL, CL_TRUE, p, p + 64, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMemcpy(queue, CL_TRUE, NULL, p, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMemcpy(queue, CL_TRUE, p, NULL, 16, 0, NULL, NULL));
    STATUS(CL_MEM_COPY_OVERLAP, clEnqueueSVMMemcpy(queue, CL_TRUE, p, p + 8, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT,
           clEnqueueSVMMemcpy(queue, CL_TRUE, p, p + 64, 16, 1, &other_event, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueSVMMemFill(NULL, p, &pattern, 4, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMemFill(queue, NULL, &pattern, 4, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMemFill(queue, p + 1, &pattern, 4, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMemFill(queue, p, NULL, 4, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMemFill(queue, p, &pattern, 0, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMemFill(queue, p, &pattern, 3, 15, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMemFill(queue, p, &pattern, 4, 15, 0, NULL, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueSVMMap(NULL, CL_TRUE, CL_MAP_READ, p, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, NULL, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, p, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMap(queue, CL_TRUE, 1u << 20, p, 16, 0, NULL, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueSVMUnmap(NULL, p, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMUnmap(queue, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueSVMMigrateMem(NULL, 1, &cp, NULL, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMigrateMem(queue, 0, &cp, NULL, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMigrateMem(queue, 1, NULL, NULL, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMigrateMem(queue, 1, &cp, NULL, 1u << 20, 0, NULL, NULL));
    {
        size_t too_long = 257;
        STATUS(CL_INVALID_VALUE, clEnqueueSVMMigrateMem(queue, 1, &cp, &too_long, 0, 0, NULL, NULL));
    }
    STATUS(CL_SUCCESS, clFinish(queue));
    clSVMFree(context, p);
}

static void images_samplers_pipes(void) {
    cl_int err;
    size_t size;
    cl_uint n = 7;
    cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    char data[64];

    CREATED(CL_INVALID_CONTEXT, clCreateImage(NULL, 0, &format, &desc, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreateImage(context, BAD_FLAGS, &format, &desc, NULL, &err));
    CREATED(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(context, 0, NULL, &desc, NULL, &err));
    CREATED(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(context, 0, &format, NULL, NULL, &err));
    cl_mem_properties unknown[] = {0xdead, 1, 0};
    CREATED(CL_INVALID_PROPERTY,
            clCreateImageWithProperties(context, unknown, 0, &format, &desc, NULL, &err));
    CREATED(CL_INVALID_CONTEXT, clCreateImage2D(NULL, 0, &format, 4, 4, 0, NULL, &err));
    CREATED(CL_INVALID_IMAGE_SIZE, clCreateImage2D(context, 0, &format, 0, 4, 0, NULL, &err));
    CREATED(CL_INVALID_CONTEXT, clCreateImage3D(NULL, 0, &format, 4, 4, 4, 0, 0, NULL, &err));
    CREATED(CL_INVALID_IMAGE_SIZE, clCreateImage3D(context, 0, &format, 4, 4, 1, 0, 0, NULL, &err));
    STATUS(CL_INVALID_CONTEXT,
           clGetSupportedImageFormats(NULL, 0, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &n));
    STATUS(CL_INVALID_VALUE,
           clGetSupportedImageFormats(context, BAD_FLAGS, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &n));
    STATUS(CL_INVALID_VALUE, clGetSupportedImageFormats(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                                                        CL_MEM_OBJECT_IMAGE2D, 0, NULL, &n));
    STATUS(CL_INVALID_VALUE, clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_BUFFER, 0, NULL, &n));
    STATUS(CL_INVALID_VALUE,
           clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_IMAGE2D, 0, &format, &n));
    STATUS(CL_SUCCESS, clGetSupportedImageFormats(context, 0, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &n));
    TRUE(n != 0);
    STATUS(CL_INVALID_MEM_OBJECT, clGetImageInfo(NULL, CL_IMAGE_WIDTH, 0, NULL, &size));
    STATUS(CL_INVALID_MEM_OBJECT, clGetImageInfo(buffer, CL_IMAGE_WIDTH, 0, NULL, &size));
    STATUS(CL_INVALID_COMMAND_QUEUE,
           clEnqueueReadImage(NULL, buffer, CL_TRUE, zero3, one3, 0, 0, data, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT,
           clEnqueueReadImage(queue, buffer, CL_TRUE, zero3, one3, 0, 0, data, 0, NULL, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE,
           clEnqueueWriteImage(NULL, buffer, CL_TRUE, zero3, one3, 0, 0, data, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT,
           clEnqueueWriteImage(queue, buffer, CL_TRUE, zero3, one3, 0, 0, data, 0, NULL, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE,
           clEnqueueCopyImage(NULL, buffer, buffer, zero3, zero3, one3, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT,
           clEnqueueCopyImage(queue, buffer, buffer, zero3, zero3, one3, 0, NULL, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE,
           clEnqueueCopyImageToBuffer(NULL, buffer, buffer, zero3, one3, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT,
           clEnqueueCopyImageToBuffer(queue, buffer, buffer, zero3, one3, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE,
           clEnqueueCopyBufferToImage(NULL, buffer, buffer, 0, zero3, one3, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT,
           clEnqueueCopyBufferToImage(queue, buffer, buffer, 0, zero3, one3, 0, NULL, NULL));
    CREATED(CL_INVALID_COMMAND_QUEUE, clEnqueueMapImage(NULL, buffer, CL_TRUE, CL_MAP_READ, zero3, one3,
                                                        &size, &size, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_MEM_OBJECT, clEnqueueMapImage(queue, buffer, CL_TRUE, CL_MAP_READ, zero3, one3,
                                                     &size, &size, 0, NULL, NULL, &err));
    STATUS(CL_INVALID_COMMAND_QUEUE,
           clEnqueueFillImage(NULL, buffer, data, zero3, one3, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT,
           clEnqueueFillImage(queue, buffer, data, zero3, one3, 0, NULL, NULL));

    CREATED(CL_INVALID_CONTEXT,
            clCreateSampler(NULL, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err));
    CREATED(CL_INVALID_VALUE, clCreateSampler(context, CL_TRUE, 0xdead, CL_FILTER_NEAREST, &err));
    CREATED(CL_INVALID_VALUE, clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP, 0xdead, &err));
    CREATED(CL_INVALID_VALUE, clCreateSampler(context, 7, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err));
    CREATED(CL_INVALID_CONTEXT, clCreateSamplerWithProperties(NULL, NULL, &err));
    cl_sampler_properties twice[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, CL_SAMPLER_FILTER_MODE,
                                     CL_FILTER_LINEAR, 0};
    cl_sampler_properties other[] = {0xdead, 1, 0};
    cl_sampler_properties wrong[] = {CL_SAMPLER_ADDRESSING_MODE, CL_FILTER_LINEAR, 0};
    CREATED(CL_INVALID_VALUE, clCreateSamplerWithProperties(context, twice, &err));
    CREATED(CL_INVALID_VALUE, clCreateSamplerWithProperties(context, other, &err));
    CREATED(CL_INVALID_VALUE, clCreateSamplerWithProperties(context, wrong, &err));
    STATUS(CL_INVALID_SAMPLER, clRetainSampler(NULL));
    STATUS(CL_INVALID_SAMPLER, clReleaseSampler((cl_sampler)buffer));
    STATUS(CL_INVALID_SAMPLER,
           clGetSamplerInfo((cl_sampler)buffer, CL_SAMPLER_CONTEXT, 0, NULL, &size));

    CREATED(CL_INVALID_CONTEXT, clCreatePipe(NULL, 0, 4, 4, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreatePipe(context, BAD_FLAGS, 4, 4, NULL, &err));
    CREATED(CL_INVALID_PIPE_SIZE, clCreatePipe(context, 0, 0, 4, NULL, &err));
    STATUS(CL_INVALID_MEM_OBJECT, clGetPipeInfo(NULL, CL_PIPE_PACKET_SIZE, 0, NULL, &size));
    STATUS(CL_INVALID_MEM_OBJECT, clGetPipeInfo(buffer, CL_PIPE_PACKET_SIZE, 0, NULL, &size));
}

static void programs(void) {
    cl_int err;
    cl_int status = 7;
    size_t size;
    size_t length = 4;
    size_t no_length = 0;
    cl_uint n;
    cl_device_id none = NULL;
    const char *source = "kernel void k(global int *p) { *p = 1; }";
    const char *missing = NULL;
    const unsigned char *binary = (const unsigned char *)"none";
    const unsigned char *no_binary = NULL;
    char c;
    cl_program program;

    CREATED(CL_INVALID_CONTEXT, clCreateProgramWithSource(NULL, 1, &source, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreateProgramWithSource(context, 0, &source, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreateProgramWithSource(context, 1, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreateProgramWithSource(context, 1, &missing, NULL, &err));
    CREATED(CL_INVALID_CONTEXT, clCreateProgramWithIL(NULL, source, 4, &err));
    CREATED(CL_INVALID_VALUE, clCreateProgramWithIL(context, NULL, 4, &err));
    CREATED(CL_INVALID_VALUE, clCreateProgramWithIL(context, source, 0, &err));
    CREATED(CL_INVALID_VALUE, clCreateProgramWithIL(context, source, 40, &err));
    CREATED(CL_INVALID_CONTEXT,
            clCreateProgramWithBinary(NULL, 1, &device, &length, &binary, &status, &err));
    CREATED(CL_INVALID_VALUE,
            clCreateProgramWithBinary(context, 0, &device, &length, &binary, &status, &err));
    CREATED(CL_INVALID_VALUE,
            clCreateProgramWithBinary(context, 1, NULL, &length, &binary, &status, &err));
    CREATED(CL_INVALID_DEVICE,
            clCreateProgramWithBinary(context, 1, &none, &length, &binary, &status, &err));
    CREATED(CL_INVALID_VALUE,
            clCreateProgramWithBinary(context, 1, &device, NULL, &binary, &status, &err));
    CREATED(CL_INVALID_VALUE,
            clCreateProgramWithBinary(context, 1, &device, &no_length, &binary, &status, &err));
    TRUE(status == CL_INVALID_VALUE);
    CREATED(CL_INVALID_VALUE,
            clCreateProgramWithBinary(context, 1, &device, &length, NULL, &status, &err));
    CREATED(CL_INVALID_VALUE,
            clCreateProgramWithBinary(context, 1, &device, &length, &no_binary, &status, &err));
    CREATED(CL_INVALID_BINARY,
            clCreateProgramWithBinary(context, 1, &device, &length, &binary, &status, &err));
    TRUE(status == CL_INVALID_BINARY);
    CREATED(CL_INVALID_CONTEXT, clCreateProgramWithBuiltInKernels(NULL, 1, &device, "k", &err));
    CREATED(CL_INVALID_VALUE, clCreateProgramWithBuiltInKernels(context, 0, &device, "k", &err));
    CREATED(CL_INVALID_DEVICE, clCreateProgramWithBuiltInKernels(context, 1, &none, "k", &err));
    CREATED(CL_INVALID_VALUE, clCreateProgramWithBuiltInKernels(context, 1, &device, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreateProgramWithBuiltInKernels(context, 1, &device, "k", &err));

    program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_INVALID_PROGRAM, clRetainProgram(NULL));
    STATUS(CL_INVALID_PROGRAM, clReleaseProgram(NULL));
    STATUS(CL_INVALID_PROGRAM, clReleaseProgram((cl_program)queue));
    STATUS(CL_INVALID_PROGRAM, clGetProgramInfo(NULL, CL_PROGRAM_CONTEXT, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetProgramInfo(program, 0xdead, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetProgramInfo(program, CL_PROGRAM_SOURCE, 1, &c, NULL));
    STATUS(CL_INVALID_PROGRAM_EXECUTABLE,
           clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, 0, NULL, &size));
    STATUS(CL_INVALID_PROGRAM_EXECUTABLE,
           clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, NULL, &size));
    STATUS(CL_INVALID_PROGRAM,
           clGetProgramBuildInfo(NULL, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size));
    STATUS(CL_INVALID_DEVICE,
           clGetProgramBuildInfo(program, NULL, CL_PROGRAM_BUILD_LOG, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetProgramBuildInfo(program, device, 0xdead, 0, NULL, &size));
    STATUS(CL_INVALID_PROGRAM, clSetProgramSpecializationConstant(NULL, 0, 4, &c));
    STATUS(CL_INVALID_PROGRAM, clSetProgramSpecializationConstant(program, 0, 4, &size));
    STATUS(CL_INVALID_PROGRAM, clSetProgramReleaseCallback(NULL, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clSetProgramReleaseCallback(program, NULL, NULL));
    STATUS(CL_INVALID_PROGRAM, clBuildProgram(NULL, 0, NULL, NULL, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clBuildProgram(program, 1, NULL, NULL, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clBuildProgram(program, 0, &device, NULL, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clBuildProgram(program, 0, NULL, NULL, NULL, &c));
    STATUS(CL_INVALID_DEVICE, clBuildProgram(program, 1, &none, NULL, NULL, NULL));
    STATUS(CL_INVALID_BUILD_OPTIONS, clBuildProgram(program, 0, NULL, "-no-such-option", NULL, NULL));
    STATUS(CL_INVALID_PROGRAM, clCompileProgram(NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clCompileProgram(program, 1, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clCompileProgram(program, 0, NULL, NULL, 1, NULL, NULL, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clCompileProgram(program, 0, NULL, NULL, 0, &program, NULL, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clCompileProgram(program, 0, NULL, NULL, 0, NULL, NULL, NULL, &c));
    STATUS(CL_INVALID_DEVICE, clCompileProgram(program, 1, &none, NULL, 0, NULL, NULL, NULL, NULL));
    STATUS(CL_INVALID_COMPILER_OPTIONS,
           clCompileProgram(program, 0, NULL, "-no-such-option", 0, NULL, NULL, NULL, NULL));
    CREATED(CL_INVALID_CONTEXT, clLinkProgram(NULL, 0, NULL, NULL, 1, &program, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, clLinkProgram(context, 1, NULL, NULL, 1, &program, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, clLinkProgram(context, 0, NULL, NULL, 0, NULL, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, clLinkProgram(context, 0, NULL, NULL, 1, NULL, NULL, NULL, &err));
    CREATED(CL_INVALID_PROGRAM,
            clLinkProgram(context, 0, NULL, NULL, 1, (cl_program *)&queue, NULL, NULL, &err));
    CREATED(CL_INVALID_DEVICE, clLinkProgram(context, 1, &none, NULL, 1, &program, NULL, NULL, &err));
    CREATED(CL_INVALID_VALUE, clLinkProgram(context, 0, NULL, NULL, 1, &program, NULL, &c, &err));
    CREATED(CL_INVALID_OPERATION, clLinkProgram(context, 0, NULL, NULL, 1, &program, NULL, NULL, &err));

    CREATED(CL_INVALID_PROGRAM, clCreateKernel(NULL, "k", &err));
    CREATED(CL_INVALID_PROGRAM, clCreateKernel((cl_program)queue, "k", &err));
    CREATED(CL_INVALID_VALUE, clCreateKernel(program, NULL, &err));
    CREATED(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernel(program, "k", &err));
    STATUS(CL_INVALID_PROGRAM, clCreateKernelsInProgram(NULL, 0, NULL, &n));
    STATUS(CL_INVALID_PROGRAM_EXECUTABLE, clCreateKernelsInProgram(program, 0, NULL, &n));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    STATUS(CL_SUCCESS, clUnloadCompiler());
}

static void kernels(void) {
    cl_int err;
    size_t size;
    cl_kernel wrong = (cl_kernel)queue;
    void *args[1] = {buffer};
    const void *place = &args[0];
    const void *outside = &args[1];

    CREATED(CL_INVALID_KERNEL, clCloneKernel(NULL, &err));
    STATUS(CL_INVALID_KERNEL, clRetainKernel(NULL));
    STATUS(CL_INVALID_KERNEL, clReleaseKernel(NULL));
    STATUS(CL_INVALID_KERNEL, clReleaseKernel(wrong));
    STATUS(CL_INVALID_KERNEL, clSetKernelArg(NULL, 0, sizeof buffer, &buffer));
    STATUS(CL_INVALID_KERNEL, clSetKernelArg(wrong, 0, sizeof buffer, &buffer));
    STATUS(CL_INVALID_KERNEL, clSetKernelArgSVMPointer(NULL, 0, NULL));
    STATUS(CL_INVALID_KERNEL,
           clSetKernelExecInfo(NULL, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof args, args));
    STATUS(CL_INVALID_KERNEL, clGetKernelInfo(NULL, CL_KERNEL_NUM_ARGS, 0, NULL, &size));
    STATUS(CL_INVALID_KERNEL, clGetKernelArgInfo(NULL, 0, CL_KERNEL_ARG_NAME, 0, NULL, &size));
    STATUS(CL_INVALID_KERNEL,
           clGetKernelWorkGroupInfo(NULL, device, CL_KERNEL_WORK_GROUP_SIZE, 0, NULL, &size));
    STATUS(CL_INVALID_KERNEL, clGetKernelSubGroupInfo(NULL, device, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL,
                                                      0, NULL, &size));
    STATUS(CL_INVALID_COMMAND_QUEUE,
           clEnqueueNDRangeKernel(NULL, NULL, 1, NULL, one3, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_KERNEL,
           clEnqueueNDRangeKernel(queue, NULL, 1, NULL, one3, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_KERNEL,
           clEnqueueNDRangeKernel(queue, wrong, 1, NULL, one3, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, clEnqueueTask(NULL, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_KERNEL, clEnqueueTask(queue, NULL, 0, NULL, NULL));

    STATUS(CL_INVALID_COMMAND_QUEUE,
           clEnqueueNativeKernel(NULL, native, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE,
           clEnqueueNativeKernel(queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE,
           clEnqueueNativeKernel(queue, native, NULL, 8, 0, NULL, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE,
           clEnqueueNativeKernel(queue, native, args, 0, 0, NULL, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE,
           clEnqueueNativeKernel(queue, native, NULL, 0, 1, &buffer, &place, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE,
           clEnqueueNativeKernel(queue, native, args, sizeof args, 1, NULL, &place, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE,
           clEnqueueNativeKernel(queue, native, args, sizeof args, 1, &buffer, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE,
           clEnqueueNativeKernel(queue, native, args, sizeof args, 0, &buffer, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE,
           clEnqueueNativeKernel(queue, native, args, sizeof args, 1, &buffer, &outside, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clEnqueueNativeKernel(queue, native, args, sizeof args, 1,
                                                        (cl_mem *)&queue, &place, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST,
           clEnqueueNativeKernel(queue, native, NULL, 0, 0, NULL, NULL, 1, NULL, NULL));
}

/* A kernel of every kind of argument that there is, from source. */
static const char *kernel_source =
    "kernel void k(global int *g, constant int *c, local int *l, float4 v, int i) { g[0] = c[0] + i; }\n"
    "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void r(global int *g) { g[0] = 1; }\n";

static void built_kernels(void) {
    cl_int err;
    cl_uint n;
    size_t size;
    size_t local3[3] = {3, 1, 1};
    size_t too_many[3] = {1u << 20, 1, 1};
    size_t suggested[3];
    char big[64];
    cl_mem none = NULL;
    cl_kernel k, r;
    cl_kernel both[2];
    cl_program program = clCreateProgramWithSource(context, 1, &kernel_source, NULL, &err);
    STATUS(CL_SUCCESS, err);
    if (clBuildProgram(program, 0, NULL, "-cl-kernel-arg-info", NULL, NULL) != CL_SUCCESS) {
        printf("no OpenCL C compiler here: kernels are not tested\n");
        STATUS(CL_SUCCESS, clReleaseProgram(program));
        return;
    }
    CREATED(CL_INVALID_KERNEL_NAME, clCreateKernel(program, "none", &err));
    CREATED(CL_INVALID_KERNEL_NAME, clCreateKernel(program, "", &err));
    STATUS(CL_INVALID_VALUE, clCreateKernelsInProgram(program, 1, both, &n));
    STATUS(CL_SUCCESS, clCreateKernelsInProgram(program, 2, both, &n));
    TRUE(n == 2);
    STATUS(CL_SUCCESS, clReleaseKernel(both[0]));
    STATUS(CL_SUCCESS, clReleaseKernel(both[1]));
    k = clCreateKernel(program, "k", &err);
    STATUS(CL_SUCCESS, err);
    r = clCreateKernel(program, "r", &err);
    STATUS(CL_SUCCESS, err);

    /* A program with kernels cannot be built again. */
    STATUS(CL_INVALID_OPERATION, clBuildProgram(program, 0, NULL, NULL, NULL, NULL));

    STATUS(CL_INVALID_ARG_INDEX, clSetKernelArg(k, 5, sizeof buffer, &buffer));
    STATUS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 0, 4, &buffer));
    STATUS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 0, 0, &buffer));
    STATUS(CL_INVALID_MEM_OBJECT, clSetKernelArg(k, 0, sizeof queue, &queue));
    STATUS(CL_SUCCESS, clSetKernelArg(k, 0, sizeof none, &none));
    STATUS(CL_SUCCESS, clSetKernelArg(k, 0, sizeof none, NULL));
    STATUS(CL_INVALID_ARG_VALUE, clSetKernelArg(k, 2, 16, big));
    STATUS(CL_SUCCESS, clSetKernelArg(k, 2, 0, NULL)); /* as of OpenCL 3.1 */
    STATUS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 3, 12, big));
    STATUS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 3, 64, big));
    STATUS(CL_INVALID_ARG_VALUE, clSetKernelArg(k, 3, 16, NULL));
    STATUS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 4, 8, big));
    STATUS(CL_INVALID_ARG_INDEX, clSetKernelArgSVMPointer(k, 5, big));
    STATUS(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(k, 2, big));
    STATUS(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(k, 4, big));
    STATUS(CL_INVALID_VALUE, clSetKernelExecInfo(k, 0xdead, sizeof big, big));
    STATUS(CL_INVALID_VALUE, clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, NULL));
    STATUS(CL_INVALID_VALUE, clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, 3, big));
    STATUS(CL_INVALID_VALUE, clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM, 1, big));
    STATUS(CL_INVALID_VALUE, clGetKernelInfo(k, 0xdead, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetKernelInfo(k, CL_KERNEL_NUM_ARGS, 1, big, NULL));
    STATUS(CL_INVALID_ARG_INDEX, clGetKernelArgInfo(k, 5, CL_KERNEL_ARG_NAME, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetKernelArgInfo(k, 0, 0xdead, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_NAME, 1, big, NULL));
    STATUS(CL_SUCCESS, clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof big, big, &size));
    TRUE(size == 5 && strcmp(big, "int*") == 0);
    STATUS(CL_INVALID_VALUE, clGetKernelWorkGroupInfo(k, device, 0xdead, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, clGetKernelWorkGroupInfo(k, device, CL_KERNEL_GLOBAL_WORK_SIZE, 0, NULL, &size));
    STATUS(CL_INVALID_DEVICE,
           clGetKernelWorkGroupInfo(k, (cl_device_id)queue, CL_KERNEL_WORK_GROUP_SIZE, 0, NULL, &size));
    STATUS(CL_SUCCESS, clGetKernelWorkGroupInfo(r, NULL, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof suggested,
                                                suggested, NULL));
    TRUE(suggested[0] == 4 && suggested[1] == 1 && suggested[2] == 1);

    STATUS(CL_INVALID_KERNEL_ARGS, clEnqueueNDRangeKernel(queue, r, 1, NULL, one3, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clSetKernelArg(r, 0, sizeof buffer, &buffer));
    STATUS(CL_INVALID_WORK_DIMENSION, clEnqueueNDRangeKernel(queue, r, 0, NULL, one3, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_WORK_DIMENSION, clEnqueueNDRangeKernel(queue, r, 4, NULL, one3, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, r, 1, NULL, too_many, local3, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST,
           clEnqueueNDRangeKernel(queue, r, 1, NULL, too_many, NULL, 1, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT,
           clEnqueueNDRangeKernel(queue, r, 1, NULL, too_many, NULL, 1, &other_event, NULL));
    for (cl_uint i = 0; i < 5; i++) {
        cl_int value[4] = {0};
        const size_t sizes[] = {sizeof buffer, sizeof buffer, 64, 16, 4};
        const void *values[] = {&buffer, &buffer, NULL, value, value};
        STATUS(CL_SUCCESS, clSetKernelArg(k, i, sizes[i], values[i]));
    }
    STATUS(CL_INVALID_WORK_ITEM_SIZE, clEnqueueNDRangeKernel(queue, k, 1, NULL, too_many, too_many, 0, NULL, NULL));
    {
        size_t items[3];
        STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items, NULL));
        items[1] = 2;
        STATUS(CL_INVALID_WORK_GROUP_SIZE,
               clEnqueueNDRangeKernel(queue, k, 2, NULL, items, items, 0, NULL, NULL));
    }
    STATUS(CL_INVALID_WORK_GROUP_SIZE, clEnqueueNDRangeKernel(queue, k, 1, NULL, too_many, zero3, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, k, 1, NULL, one3, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));

    cl_kernel copy = clCloneKernel(k, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, copy, 1, NULL, one3, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_SUCCESS, clReleaseKernel(copy));
    STATUS(CL_SUCCESS, clReleaseKernel(k));
    STATUS(CL_SUCCESS, clReleaseKernel(r));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
}

/* Pointers that never were handles, and handles whose object is gone. Only without a loader, which follows them. */
static void foreign_handles(void) {
    cl_int err;
    size_t size;
    char memory[64] = {0};
    void *bad[] = {memory, (void *)8, (void *)1, (void *)(size_t)-1};
    cl_mem mem = clCreateBuffer(context, 0, 16, NULL, &err);
    cl_event event = clCreateUserEvent(context, &err);
    cl_command_queue q = clCreateCommandQueue(context, device, 0, &err);
    cl_context c = clCreateContext(NULL, 1, &device, NULL, NULL, &err);

    /* A loader takes a null platform for its first. */
    STATUS(CL_INVALID_PLATFORM, clUnloadPlatformCompiler(NULL));
    TRUE(clGetExtensionFunctionAddressForPlatform(NULL, "clCreateProgramWithILKHR") == NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        STATUS(CL_INVALID_PLATFORM, clGetPlatformInfo(bad[i], CL_PLATFORM_NAME, 0, NULL, &size));
        STATUS(CL_INVALID_DEVICE, clGetDeviceInfo(bad[i], CL_DEVICE_NAME, 0, NULL, &size));
        STATUS(CL_INVALID_CONTEXT, clRetainContext(bad[i]));
        STATUS(CL_INVALID_COMMAND_QUEUE, clFinish(bad[i]));
        STATUS(CL_INVALID_MEM_OBJECT, clRetainMemObject(bad[i]));
        STATUS(CL_INVALID_EVENT, clRetainEvent(bad[i]));
        STATUS(CL_INVALID_PROGRAM, clRetainProgram(bad[i]));
        STATUS(CL_INVALID_KERNEL, clRetainKernel(bad[i]));
        STATUS(CL_INVALID_SAMPLER, clRetainSampler(bad[i]));
    }
    STATUS(CL_SUCCESS, clReleaseMemObject(mem));
    STATUS(CL_INVALID_MEM_OBJECT, clReleaseMemObject(mem));
    STATUS(CL_SUCCESS, clReleaseEvent(event));
    STATUS(CL_INVALID_EVENT, clReleaseEvent(event));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(q));
    STATUS(CL_INVALID_COMMAND_QUEUE, clFinish(q));
    STATUS(CL_SUCCESS, clReleaseContext(c));
    STATUS(CL_INVALID_CONTEXT, clRetainContext(c));
}

int main(int argc, char **argv) {
    cl_int err;
    (void)argv;
    setup();
    cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 1024, NULL, &err);
    STATUS(CL_SUCCESS, err);
    other_buffer = clCreateBuffer(other, CL_MEM_READ_WRITE, 1024, NULL, &err);
    STATUS(CL_SUCCESS, err);
    user_event = clCreateUserEvent(context, &err);
    STATUS(CL_SUCCESS, err);
    other_event = clCreateUserEvent(other, &err);
    STATUS(CL_SUCCESS, err);

    platforms_and_devices();
    contexts();
    queues();
    events();
    buffers();
    transfers();
    svm();
    images_samplers_pipes();
    programs();
    kernels();
    built_kernels();
    if (argc > 1) {
        foreign_handles();
    }

    STATUS(CL_SUCCESS, clSetUserEventStatus(user_event, CL_COMPLETE));
    STATUS(CL_INVALID_OPERATION, clSetUserEventStatus(user_event, CL_COMPLETE));
    STATUS(CL_SUCCESS, clSetUserEventStatus(other_event, -1));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_SUCCESS, clReleaseEvent(user_event));
    STATUS(CL_SUCCESS, clReleaseEvent(other_event));
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
    STATUS(CL_SUCCESS, clReleaseMemObject(other_buffer));
    STATUS(CL_SUCCESS, clReleaseContext(other));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
    STATUS(CL_SUCCESS, clReleaseContext(context));
    return finish();
}
