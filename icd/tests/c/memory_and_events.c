/* Buffers, sub-buffers, mapping, shared virtual memory, events, callbacks and native kernels do what they are for. */
#include "check.h"
#include <stdatomic.h>

#define N 1024

static atomic_int destroyed, completed, freed, destroyed_context;
static int order[4];

static void CL_CALLBACK on_destroyed(cl_mem m, void *u) {
    (void)m;
    order[atomic_fetch_add(&destroyed, 1)] = *(int *)u;
}
static void CL_CALLBACK on_context_destroyed(cl_context c, void *u) {
    (void)c;
    (void)u;
    atomic_fetch_add(&destroyed_context, 1);
}
static void CL_CALLBACK on_complete(cl_event e, cl_int status, void *u) {
    cl_uint type;
    TRUE(clGetEventInfo(e, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL) == CL_SUCCESS);
    *(cl_int *)u = status;
    atomic_fetch_add(&completed, 1);
}
static void CL_CALLBACK on_free(cl_command_queue q, cl_uint n, void **pointers, void *u) {
    cl_context c;
    TRUE(n == 2 && u == (void *)&freed);
    TRUE(clGetCommandQueueInfo(q, CL_QUEUE_CONTEXT, sizeof c, &c, NULL) == CL_SUCCESS);
    for (cl_uint i = 0; i < n; i++) {
        clSVMFree(c, pointers[i]);
    }
    atomic_fetch_add(&freed, 1);
}

static void wait_for(atomic_int *count, int value) {
    for (long i = 0; i < 2000000000L && atomic_load(count) < value; i++) {
    }
    TRUE(atomic_load(count) == value);
}

static void reading_and_writing(void) {
    cl_int err;
    cl_int in[N], out[N];
    cl_event events[2];
    cl_ulong t[5];
    cl_uint type;
    cl_int status;
    cl_queue_properties profiling[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    cl_command_queue q = clCreateCommandQueueWithProperties(context, device, profiling, &err);
    cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof in, in, &err);
    STATUS(CL_SUCCESS, err);
    cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof in, NULL, &err);
    for (int i = 0; i < N; i++) {
        in[i] = i * 3 + 1;
    }
    STATUS(CL_SUCCESS, clEnqueueWriteBuffer(q, a, CL_FALSE, 0, sizeof in, in, 0, NULL, &events[0]));
    STATUS(CL_SUCCESS, clEnqueueCopyBuffer(q, a, b, 0, 0, sizeof in, 1, events, &events[1]));
    memset(out, 0, sizeof out);
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(q, b, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    TRUE(memcmp(in, out, sizeof in) == 0);
    STATUS(CL_SUCCESS, clWaitForEvents(2, events));
    STATUS(CL_SUCCESS, clGetEventInfo(events[1], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    TRUE(type == CL_COMMAND_COPY_BUFFER);
    STATUS(CL_SUCCESS, clGetEventInfo(events[1], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    TRUE(status == CL_COMPLETE);
    for (int i = 0; i < 5; i++) {
        STATUS(CL_SUCCESS, clGetEventProfilingInfo(events[1], CL_PROFILING_COMMAND_QUEUED + i, sizeof t[i], &t[i], NULL));
    }
    TRUE(t[0] <= t[1] && t[1] <= t[2] && t[2] <= t[3] && t[3] <= t[4]);

    cl_short pattern[2] = {5, -7};
    STATUS(CL_SUCCESS, clEnqueueFillBuffer(q, b, pattern, sizeof pattern, 8, 400, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(q, b, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    TRUE(out[1] == in[1] && out[102] == in[102]);
    for (int i = 2; i < 102; i++) {
        TRUE(memcmp(&out[i], pattern, sizeof pattern) == 0);
    }

    /* A 4 x 3 x 2 box out of rows of 16 and slices of 64 bytes. */
    char box[24];
    size_t from[3] = {4, 1, 1}, to[3] = {0, 0, 0}, region[3] = {4, 3, 2};
    STATUS(CL_SUCCESS, clEnqueueReadBufferRect(q, a, CL_TRUE, from, to, region, 16, 64, 0, 0, box, 0, NULL, NULL));
    for (int z = 0; z < 2; z++) {
        for (int y = 0; y < 3; y++) {
            TRUE(memcmp(box + z * 12 + y * 4, (char *)in + (z + 1) * 64 + (y + 1) * 16 + 4, 4) == 0);
        }
    }
    STATUS(CL_SUCCESS, clEnqueueWriteBufferRect(q, b, CL_TRUE, to, to, region, 8, 32, 0, 0, box, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueCopyBufferRect(q, a, b, from, from, region, 16, 64, 16, 64, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(q, b, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    TRUE(memcmp((char *)out + 84, (char *)in + 84, 4) == 0);

    STATUS(CL_SUCCESS, clReleaseEvent(events[0]));
    STATUS(CL_SUCCESS, clReleaseEvent(events[1]));
    STATUS(CL_SUCCESS, clReleaseMemObject(a));
    STATUS(CL_SUCCESS, clReleaseMemObject(b));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(q));
}

static void mapping(void) {
    cl_int err;
    static char host[4096] __attribute__((aligned(4096)));
    cl_uint count;
    void *host_ptr;
    cl_mem a = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof host, host, &err);
    STATUS(CL_SUCCESS, err);
    char *p = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_WRITE, 128, 256, 0, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    TRUE(p == host + 128);
    char *again = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, 1024, 16, 0, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clGetMemObjectInfo(a, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    TRUE(count == 2);
    memset(p, 42, 256);
    STATUS(CL_SUCCESS, clEnqueueUnmapMemObject(queue, a, p, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueUnmapMemObject(queue, a, again, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_SUCCESS, clGetMemObjectInfo(a, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    TRUE(count == 0);
    STATUS(CL_SUCCESS, clGetMemObjectInfo(a, CL_MEM_HOST_PTR, sizeof host_ptr, &host_ptr, NULL));
    TRUE(host_ptr == host);

    /* An unmap that fails, since what it waits for does, ends its mapping all the same: no other can. */
    p = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_WRITE, 0, 256, 0, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_event failed = clCreateUserEvent(context, &err), unmapped;
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clEnqueueUnmapMemObject(queue, a, p, 1, &failed, &unmapped));
    STATUS(CL_SUCCESS, clGetMemObjectInfo(a, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    TRUE(count == 1);
    STATUS(CL_SUCCESS, clSetUserEventStatus(failed, -1));
    STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &unmapped));
    STATUS(CL_SUCCESS, clGetMemObjectInfo(a, CL_MEM_MAP_COUNT, sizeof count, &count, NULL));
    TRUE(count == 0);
    STATUS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, a, p, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clReleaseEvent(failed));
    STATUS(CL_SUCCESS, clReleaseEvent(unmapped));

    /* A sub-buffer is a window on its parent, inherits its flags and keeps it alive. */
    cl_buffer_region region = {128, 256};
    cl_mem sub = clCreateSubBuffer(a, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err);
    STATUS(CL_SUCCESS, err);
    cl_mem parent;
    size_t offset, size;
    cl_mem_flags flags;
    STATUS(CL_SUCCESS, clGetMemObjectInfo(sub, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL));
    STATUS(CL_SUCCESS, clGetMemObjectInfo(sub, CL_MEM_OFFSET, sizeof offset, &offset, NULL));
    STATUS(CL_SUCCESS, clGetMemObjectInfo(sub, CL_MEM_SIZE, sizeof size, &size, NULL));
    STATUS(CL_SUCCESS, clGetMemObjectInfo(sub, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    STATUS(CL_SUCCESS, clGetMemObjectInfo(sub, CL_MEM_HOST_PTR, sizeof host_ptr, &host_ptr, NULL));
    TRUE(parent == a && offset == 128 && size == 256);
    TRUE(flags & CL_MEM_USE_HOST_PTR);
    TRUE(host_ptr == host + 128);

    /* Destructor callbacks run in reverse order, once the last part of the object is gone. */
    static int first = 1, second = 2;
    STATUS(CL_SUCCESS, clSetMemObjectDestructorCallback(a, on_destroyed, &first));
    STATUS(CL_SUCCESS, clSetMemObjectDestructorCallback(a, on_destroyed, &second));
    STATUS(CL_SUCCESS, clReleaseMemObject(a));
    TRUE(atomic_load(&destroyed) == 0);
    char data[256];
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, sub, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL));
    TRUE(data[0] == 42 && data[255] == 42);
    STATUS(CL_SUCCESS, clReleaseMemObject(sub));
    STATUS(CL_SUCCESS, clFinish(queue));
    wait_for(&destroyed, 2);
    TRUE(order[0] == 2 && order[1] == 1);
}

static void user_events(void) {
    cl_int err;
    cl_int in = 7, out = 0, status, seen = 99, seen_error = 99;
    cl_event marker, read;
    cl_mem a = clCreateBuffer(context, 0, sizeof in, NULL, &err);
    cl_event user = clCreateUserEvent(context, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, sizeof in, &in, 1, &user, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, a, CL_FALSE, 0, sizeof out, &out, 0, NULL, &read));
    STATUS(CL_SUCCESS, clSetEventCallback(read, CL_COMPLETE, on_complete, &seen));
    STATUS(CL_SUCCESS, clFlush(queue));
    STATUS(CL_SUCCESS, clGetEventInfo(read, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    TRUE(status > CL_COMPLETE && out == 0);
    STATUS(CL_SUCCESS, clGetEventInfo(user, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    TRUE(status == CL_SUBMITTED);
    STATUS(CL_SUCCESS, clSetUserEventStatus(user, CL_COMPLETE));
    STATUS(CL_SUCCESS, clFinish(queue));
    TRUE(out == 7);
    wait_for(&completed, 1);
    TRUE(seen == CL_COMPLETE);
    STATUS(CL_SUCCESS, clReleaseEvent(user));
    STATUS(CL_SUCCESS, clReleaseEvent(read));

    /* An error reaches everything that waits for it, and nothing else. */
    user = clCreateUserEvent(context, &err);
    out = 0;
    STATUS(CL_SUCCESS, clEnqueueMarkerWithWaitList(queue, 1, &user, &marker));
    STATUS(CL_SUCCESS, clSetEventCallback(marker, CL_COMPLETE, on_complete, &seen_error));
    STATUS(CL_SUCCESS, clSetUserEventStatus(user, -42));
    STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &marker));
    STATUS(CL_SUCCESS, clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    TRUE(status < 0);
    wait_for(&completed, 2);
    TRUE(seen_error < 0);
    STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
           clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof out, &out, 1, &user, NULL));
    TRUE(out == 0);
    STATUS(CL_SUCCESS, clReleaseEvent(user));
    STATUS(CL_SUCCESS, clReleaseEvent(marker));
    STATUS(CL_SUCCESS, clReleaseMemObject(a));
}

static void shared_memory(void) {
    cl_event event;
    cl_uint type;
    char *p = clSVMAlloc(context, CL_MEM_READ_WRITE, 1024, 64);
    char *q = clSVMAlloc(context, CL_MEM_READ_WRITE, 1024, 0);
    TRUE(p != NULL && q != NULL && (size_t)p % 64 == 0);
    cl_int pattern = 0x01020304;
    STATUS(CL_SUCCESS, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, p, 1024, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueSVMUnmap(queue, p, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueSVMMemFill(queue, p, &pattern, sizeof pattern, 1024, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueSVMMemcpy(queue, CL_TRUE, q, p, 1024, 0, NULL, NULL));
    TRUE(memcmp(q + 1020, &pattern, 4) == 0);
    const void *list[] = {p, q};
    STATUS(CL_SUCCESS, clEnqueueSVMMigrateMem(queue, 2, list, NULL, 0, 0, NULL, NULL));
    void *both[] = {p, q};
    STATUS(CL_SUCCESS, clEnqueueSVMFree(queue, 2, both, on_free, &freed, 0, NULL, &event));
    STATUS(CL_SUCCESS, clWaitForEvents(1, &event));
    TRUE(atomic_load(&freed) == 1);
    STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    TRUE(type == CL_COMMAND_SVM_FREE);
    STATUS(CL_SUCCESS, clReleaseEvent(event));
}

typedef struct {
    int *data;
    int add;
} native_args;

static void CL_CALLBACK add_to_all(void *untyped) {
    native_args *args = untyped;
    for (int i = 0; i < N; i++) {
        args->data[i] += args->add;
    }
}

static void native_kernels(void) {
    cl_int err;
    int zero = 0, out[N];
    cl_mem a = clCreateBuffer(context, 0, sizeof out, NULL, &err);
    native_args args = {NULL, 5};
    const void *place = &args.data;
    STATUS(CL_SUCCESS, clEnqueueFillBuffer(queue, a, &zero, sizeof zero, 0, sizeof out, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueNativeKernel(queue, add_to_all, &args, sizeof args, 1, &a, &place, 0, NULL, NULL));
    memset(&args, 0, sizeof args);
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (int i = 0; i < N; i++) {
        TRUE(out[i] == 5);
    }
    STATUS(CL_SUCCESS, clReleaseMemObject(a));
}

static void lifetimes(void) {
    cl_int err;
    cl_uint n;
    cl_context found = NULL;
    cl_context c = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    STATUS(CL_SUCCESS, clSetContextDestructorCallback(c, on_context_destroyed, NULL));
    cl_mem m = clCreateBuffer(c, 0, 16, NULL, &err);
    STATUS(CL_SUCCESS, err);
    /* The buffer keeps its context alive, and the context can be found again through it. */
    STATUS(CL_SUCCESS, clReleaseContext(c));
    TRUE(atomic_load(&destroyed_context) == 0);
    STATUS(CL_SUCCESS, clGetMemObjectInfo(m, CL_MEM_CONTEXT, sizeof found, &found, NULL));
    TRUE(found == c);
    STATUS(CL_SUCCESS, clRetainContext(found));
    STATUS(CL_SUCCESS, clGetContextInfo(found, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, NULL));
    TRUE(n == 1);
    STATUS(CL_SUCCESS, clReleaseContext(found));
    STATUS(CL_SUCCESS, clReleaseMemObject(m));
    wait_for(&destroyed_context, 1);
}

static void timers(void) {
    cl_ulong d1, h1, h2;
    STATUS(CL_SUCCESS, clGetDeviceAndHostTimer(device, &d1, &h1));
    STATUS(CL_SUCCESS, clGetHostTimer(device, &h2));
    TRUE(d1 != 0 && h1 != 0 && h2 >= h1);
}

int main(void) {
    setup();
    reading_and_writing();
    mapping();
    user_events();
    shared_memory();
    native_kernels();
    lifetimes();
    timers();
    STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
    STATUS(CL_SUCCESS, clReleaseContext(context));
    return finish();
}
