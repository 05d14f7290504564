/* Contexts that are terminated (cl_khr_terminate_context): what is in flight ends with CL_CONTEXT_TERMINATED_KHR, also kernels that would never
 * end and what waits for them; no thread waits on; nothing new can be made; everything can still be asked about and released. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define TERMINATED CL_CONTEXT_TERMINATED_KHR
#ifndef CL_DEVICE_TERMINATE_CAPABILITY_CONTEXT_KHR
#define CL_DEVICE_TERMINATE_CAPABILITY_CONTEXT_KHR (1 << 0)
#endif

static const char *source =
    "kernel void forever(global volatile int *go) { while (*go == 0) ; go[1] = 1; }\n"
    "kernel void barriers(global volatile int *go, local int *shared) {\n"
    "  while (*go == 0) { shared[get_local_id(0)] = *go; barrier(CLK_LOCAL_MEM_FENCE); }\n"
    "}\n"
    "kernel void good(global int *out) { out[get_global_id(0)] = 5; }\n";

/* Each launch enqueues the next; there is no last. */
static const char *source_of_line =
    "void step(global int *out) {\n"
    "  out[0]++;\n"
    "  enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{ step(out); });\n"
    "}\n"
    "kernel void line(global int *out) { step(out); }\n"
    "kernel void waits(global volatile int *go) {\n"
    "  clk_event_t user = create_user_event();\n"
    "  enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &user, NULL, ^{ go[1] = 1; });\n"
    "  while (*go == 0) ;\n"
    "  set_user_event_status(user, CL_COMPLETE);\n"
    "  release_event(user);\n"
    "}\n";

static cl_int (*terminate)(cl_context);

static int notified = 0;
static void CL_CALLBACK told(const char *text, const void *data, size_t size, void *user) {
    (void)text, (void)data, (void)size, (void)user;
    __atomic_fetch_add(&notified, 1, __ATOMIC_SEQ_CST);
}

static int called = 0;
static cl_int called_with = 0;
static void CL_CALLBACK reached(cl_event event, cl_int status, void *user) {
    (void)event, (void)user;
    called_with = status;
    __atomic_fetch_add(&called, 1, __ATOMIC_SEQ_CST);
}

static int destroyed = 0;
static void CL_CALLBACK gone(cl_mem mem, void *user) {
    (void)mem, (void)user;
    __atomic_fetch_add(&destroyed, 1, __ATOMIC_SEQ_CST);
}

static void CL_CALLBACK native(void *args) { (void)args; }

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static cl_int status_of(cl_event event) {
    cl_int status = 77;
    STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

static void until_running(cl_event event) {
    double limit = now() + 20;
    while (status_of(event) > CL_RUNNING && now() < limit) {
        usleep(100);
    }
    STATUS(CL_RUNNING, status_of(event));
}

static void until(int *counter, int value) {
    double limit = now() + 20;
    while (__atomic_load_n(counter, __ATOMIC_SEQ_CST) != value && now() < limit) {
        usleep(100);
    }
    STATUS(value, __atomic_load_n(counter, __ATOMIC_SEQ_CST));
}

/* A call that another thread is in when the context is terminated. */
struct waiter {
    pthread_t thread;
    cl_command_queue queue;
    cl_event event;
    cl_mem buffer;
    cl_int result;
};

static void *in_finish(void *argument) {
    struct waiter *waiter = argument;
    waiter->result = clFinish(waiter->queue);
    return NULL;
}

static void *in_wait(void *argument) {
    struct waiter *waiter = argument;
    waiter->result = clWaitForEvents(1, &waiter->event);
    return NULL;
}

static void *in_read(void *argument) {
    struct waiter *waiter = argument;
    int value;
    waiter->result = clEnqueueReadBuffer(waiter->queue, waiter->buffer, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL);
    return NULL;
}

static cl_context terminable(void) {
    cl_context_properties properties[] = {CL_CONTEXT_TERMINATE_KHR, CL_TRUE, 0};
    cl_int err;
    cl_context made = clCreateContext(properties, 1, &device, told, NULL, &err);
    STATUS(CL_SUCCESS, err);
    return made;
}

static cl_command_queue queue_of(cl_context context, cl_command_queue_properties properties) {
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
    cl_int err;
    cl_command_queue made = clCreateCommandQueueWithProperties(context, device, list, &err);
    STATUS(CL_SUCCESS, err);
    return made;
}

/* A program, or null without a compiler. */
static cl_program program_of(cl_context context, const char *text, const char *options) {
    cl_int err;
    cl_program made = clCreateProgramWithSource(context, 1, &text, NULL, &err);
    STATUS(CL_SUCCESS, err);
    err = clBuildProgram(made, 1, &device, options, NULL, NULL);
    STATUS(CL_SUCCESS, err);
    return made;
}

static cl_kernel kernel_of(cl_program program, const char *name, cl_mem argument) {
    cl_int err;
    cl_kernel made = clCreateKernel(program, name, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clSetKernelArg(made, 0, sizeof argument, &argument));
    return made;
}

static cl_mem zeros_of(cl_context context) {
    cl_int err;
    static const int zeros[1024];
    cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros, (void *)zeros, &err);
    STATUS(CL_SUCCESS, err);
    return made;
}

static void arguments(void) {
    cl_bitfield capability = 0;
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_TERMINATE_CAPABILITY_KHR, sizeof capability, &capability, NULL));
    TRUE(capability & CL_DEVICE_TERMINATE_CAPABILITY_CONTEXT_KHR);
    STATUS(CL_INVALID_CONTEXT, terminate(NULL));
    STATUS(CL_INVALID_CONTEXT, terminate((cl_context)queue));
    STATUS(CL_INVALID_OPERATION, terminate(context));
    STATUS(CL_INVALID_OPERATION, terminate(context));

    cl_int err;
    cl_context_properties properties[] = {CL_CONTEXT_TERMINATE_KHR, CL_FALSE, 0};
    cl_context not = clCreateContext(properties, 1, &device, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_INVALID_OPERATION, terminate(not));
    STATUS(CL_SUCCESS, clReleaseContext(not));
    properties[1] = 2;
    CREATED(CL_INVALID_PROPERTY, clCreateContext(properties, 1, &device, NULL, NULL, &err));
}

/* Everything that creates or enqueues, in a context that is terminated. */
static void refusals(cl_context context, cl_command_queue queue, cl_mem buffer, cl_program program, cl_kernel kernel) {
    cl_int err;
    size_t one = 1;
    int value = 0;
    cl_event event;
    STATUS(TERMINATED, terminate(context));
    CREATED(TERMINATED, clCreateCommandQueueWithProperties(context, device, NULL, &err));
    CREATED(TERMINATED, clCreateCommandQueue(context, device, 0, &err));
    CREATED(TERMINATED, clCreateBuffer(context, 0, 16, NULL, &err));
    CREATED(TERMINATED, clCreateBufferWithProperties(context, NULL, 0, 16, NULL, &err));
    cl_buffer_region region = {0, 16};
    CREATED(TERMINATED, clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
    CREATED(TERMINATED, clCreatePipe(context, 0, 4, 4, NULL, &err));
    CREATED(TERMINATED, clCreateUserEvent(context, &err));
    CREATED(TERMINATED, clCreateProgramWithSource(context, 1, &source, NULL, &err));
    CREATED(TERMINATED, clLinkProgram(context, 1, &device, "", 1, &program, NULL, NULL, &err));
    CREATED(TERMINATED, clCreateKernel(program, "good", &err));
    STATUS(TERMINATED, clCreateKernelsInProgram(program, 0, NULL, NULL));
    CREATED(TERMINATED, clCloneKernel(kernel, &err));
    TRUE(clSVMAlloc(context, 0, 16, 0) == NULL);
    STATUS(TERMINATED, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    STATUS(TERMINATED, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
    STATUS(TERMINATED, clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
    STATUS(TERMINATED, clEnqueueFillBuffer(queue, buffer, &value, sizeof value, 0, sizeof value, 0, NULL, NULL));
    CREATED(TERMINATED, clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &err));
    STATUS(TERMINATED, clEnqueueSVMMemcpy(queue, CL_TRUE, &value, &value, sizeof value, 0, NULL, NULL));
    STATUS(TERMINATED, clEnqueueMarkerWithWaitList(queue, 0, NULL, &event));
    STATUS(TERMINATED, clEnqueueBarrierWithWaitList(queue, 0, NULL, &event));
    STATUS(CL_SUCCESS, clFlush(queue));
    STATUS(CL_SUCCESS, clFinish(queue));

    /* "Only queries, retain and release operations can be performed on the context." */
    cl_context_properties got[4] = {0};
    size_t size = 0;
    STATUS(CL_SUCCESS, clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof got, got, &size));
    TRUE(size == 3 * sizeof got[0] && got[0] == CL_CONTEXT_TERMINATE_KHR && got[1] == CL_TRUE && got[2] == 0);
    STATUS(CL_SUCCESS, clRetainContext(context));
    STATUS(CL_SUCCESS, clReleaseContext(context));
    STATUS(CL_SUCCESS, clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL));
    TRUE(size == 4096);
    STATUS(CL_SUCCESS, clRetainMemObject(buffer));
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
    STATUS(CL_SUCCESS, clSetMemObjectDestructorCallback(buffer, gone, NULL));
}

static void in_flight(void) {
    cl_int err;
    cl_context context = terminable();
    cl_command_queue in_order = queue_of(context, CL_QUEUE_PROFILING_ENABLE);
    cl_command_queue free_order = queue_of(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_command_queue third = queue_of(context, 0);
    cl_program program = program_of(context, source, "");
    cl_mem go = zeros_of(context);
    cl_kernel forever = kernel_of(program, "forever", go), barriers = kernel_of(program, "barriers", go);
    cl_kernel good = kernel_of(program, "good", go);
    size_t many = 4096, local = 64, one = 1;
    int pattern = 9, value = 0;
    STATUS(CL_SUCCESS, clSetKernelArg(barriers, 1, local * sizeof(int), NULL));

    cl_event running[2], after[3], user, waiting[3];
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(in_order, forever, 1, NULL, &many, &local, 0, NULL, &running[0]));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(in_order, good, 1, NULL, &many, &local, 0, NULL, &after[0]));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(in_order, go, CL_FALSE, 0, sizeof value, &value, 0, NULL, &after[1]));
    STATUS(CL_SUCCESS, clEnqueueMarkerWithWaitList(in_order, 0, NULL, &after[2]));
    STATUS(CL_SUCCESS, clSetEventCallback(running[0], CL_COMPLETE, reached, NULL));
    STATUS(CL_SUCCESS, clSetEventCallback(after[2], CL_COMPLETE, reached, NULL));
    until_running(running[0]);
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(third, barriers, 1, NULL, &many, &local, 0, NULL, &running[1]));
    STATUS(CL_SUCCESS, clFlush(third));

    user = clCreateUserEvent(context, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(free_order, good, 1, NULL, &one, NULL, 1, &user, &waiting[0]));
    STATUS(CL_SUCCESS, clEnqueueFillBuffer(free_order, go, &pattern, sizeof pattern, 0, 4096, 1, &waiting[0], &waiting[1]));
    STATUS(CL_SUCCESS, clEnqueueNativeKernel(free_order, native, NULL, 0, 0, NULL, NULL, 1, &user, &waiting[2]));

    struct waiter waiters[3] = {{.queue = in_order}, {.event = waiting[1]}, {.queue = third, .buffer = go}};
    void *(*calls[3])(void *) = {in_finish, in_wait, in_read};
    for (int i = 0; i < 3; i++) {
        pthread_create(&waiters[i].thread, NULL, calls[i], &waiters[i]);
    }
    usleep(20000);

    int notified_before = notified;
    double begin = now();
    STATUS(CL_SUCCESS, terminate(context));
    STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(3, waiting));
    STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(2, running));
    STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(3, after));
    for (int i = 0; i < 3; i++) {
        pthread_join(waiters[i].thread, NULL);
    }
    TRUE(now() - begin < 5);
    STATUS(CL_SUCCESS, waiters[0].result);
    STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, waiters[1].result);
    STATUS(TERMINATED, waiters[2].result);
    for (int i = 0; i < 3; i++) {
        STATUS(TERMINATED, status_of(waiting[i]));
        STATUS(TERMINATED, status_of(after[i]));
    }
    STATUS(TERMINATED, status_of(running[0]));
    STATUS(TERMINATED, status_of(running[1]));
    until(&called, 2);
    STATUS(TERMINATED, called_with);
    until(&notified, notified_before + 1);
    cl_ulong time;
    STATUS(CL_PROFILING_INFO_NOT_AVAILABLE,
           clGetEventProfilingInfo(running[0], CL_PROFILING_COMMAND_END, sizeof time, &time, NULL));

    /* A callback that is registered now is called with the same; "the status of user events can be set". */
    STATUS(CL_SUCCESS, clSetEventCallback(running[0], CL_COMPLETE, reached, NULL));
    until(&called, 3);
    STATUS(TERMINATED, called_with);
    STATUS(CL_SUBMITTED, status_of(user));
    STATUS(CL_SUCCESS, clSetUserEventStatus(user, CL_COMPLETE));
    STATUS(CL_COMPLETE, status_of(user));
    STATUS(TERMINATED, status_of(waiting[0]));

    refusals(context, in_order, go, program, good);
    for (int i = 0; i < 3; i++) {
        STATUS(CL_SUCCESS, clRetainEvent(after[i]));
        STATUS(CL_SUCCESS, clReleaseEvent(after[i]));
        STATUS(CL_SUCCESS, clReleaseEvent(after[i]));
        STATUS(CL_SUCCESS, clReleaseEvent(waiting[i]));
    }
    STATUS(CL_SUCCESS, clReleaseEvent(running[0]));
    STATUS(CL_SUCCESS, clReleaseEvent(running[1]));
    STATUS(CL_SUCCESS, clReleaseEvent(user));
    STATUS(CL_SUCCESS, clReleaseKernel(forever));
    STATUS(CL_SUCCESS, clReleaseKernel(barriers));
    STATUS(CL_SUCCESS, clReleaseKernel(good));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    STATUS(CL_SUCCESS, clReleaseMemObject(go));
    until(&destroyed, 1);
    STATUS(CL_SUCCESS, clReleaseCommandQueue(in_order));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(free_order));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(third));
    STATUS(CL_SUCCESS, clReleaseContext(context));
}

/* What kernels enqueue ends as well, and so does what waits in there. */
static void children(const char *name, int sleep) {
    cl_int err;
    cl_context context = terminable();
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES,
                                  CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    cl_command_queue on_device = clCreateCommandQueueWithProperties(context, device, list, &err);
    STATUS(CL_SUCCESS, err);
    cl_command_queue queue = queue_of(context, 0);
    cl_program program = program_of(context, source_of_line, "-cl-std=CL3.0");
    cl_mem out = zeros_of(context);
    cl_kernel kernel = kernel_of(program, name, out);
    size_t one = 1;
    cl_event event;
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, &event));
    until_running(event);
    usleep(sleep);
    STATUS(CL_SUCCESS, terminate(context));
    STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &event));
    STATUS(TERMINATED, status_of(event));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_SUCCESS, clReleaseEvent(event));
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    STATUS(CL_SUCCESS, clReleaseMemObject(out));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(on_device));
    STATUS(CL_SUCCESS, clReleaseContext(context));
}

static void recorded(void) {
    clCreateCommandBufferKHR_fn create;
    clCommandNDRangeKernelKHR_fn record;
    clFinalizeCommandBufferKHR_fn finalize;
    clEnqueueCommandBufferKHR_fn enqueue;
    clReleaseCommandBufferKHR_fn release;
    *(void **)&create = clGetExtensionFunctionAddressForPlatform(platform, "clCreateCommandBufferKHR");
    *(void **)&record = clGetExtensionFunctionAddressForPlatform(platform, "clCommandNDRangeKernelKHR");
    *(void **)&finalize = clGetExtensionFunctionAddressForPlatform(platform, "clFinalizeCommandBufferKHR");
    *(void **)&enqueue = clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueCommandBufferKHR");
    *(void **)&release = clGetExtensionFunctionAddressForPlatform(platform, "clReleaseCommandBufferKHR");
    cl_int err;
    cl_context context = terminable();
    cl_command_queue queue = queue_of(context, 0);
    cl_program program = program_of(context, source, "");
    cl_mem go = zeros_of(context);
    cl_kernel forever = kernel_of(program, "forever", go), good = kernel_of(program, "good", go);
    size_t many = 1024, local = 64;
    cl_command_buffer_khr buffer = create(1, &queue, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, record(buffer, NULL, NULL, forever, 1, NULL, &many, &local, 0, NULL, NULL, NULL));
    STATUS(CL_SUCCESS, record(buffer, NULL, NULL, good, 1, NULL, &many, &local, 0, NULL, NULL, NULL));
    STATUS(CL_SUCCESS, finalize(buffer));
    cl_event first, second;
    STATUS(CL_SUCCESS, enqueue(0, NULL, buffer, 0, NULL, &first));
    STATUS(CL_SUCCESS, clEnqueueMarkerWithWaitList(queue, 0, NULL, &second));
    until_running(first);
    STATUS(CL_SUCCESS, terminate(context));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(TERMINATED, status_of(first));
    STATUS(TERMINATED, status_of(second));
    STATUS(TERMINATED, enqueue(0, NULL, buffer, 0, NULL, NULL));
    CREATED(TERMINATED, create(1, &queue, NULL, &err));
    STATUS(CL_SUCCESS, clReleaseEvent(first));
    STATUS(CL_SUCCESS, clReleaseEvent(second));
    STATUS(CL_SUCCESS, release(buffer));
    STATUS(CL_SUCCESS, clReleaseKernel(forever));
    STATUS(CL_SUCCESS, clReleaseKernel(good));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    STATUS(CL_SUCCESS, clReleaseMemObject(go));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
    STATUS(CL_SUCCESS, clReleaseContext(context));
}

/* Threads that go on enqueueing while the context is terminated: each call succeeds or says so, and all of it ends. */
struct enqueuer {
    pthread_t thread;
    cl_command_queue queue;
    cl_kernel kernel;
    cl_event last;
    cl_int result;
    int count;
};

static void *enqueues(void *argument) {
    struct enqueuer *self = argument;
    size_t items = 256, local = 16;
    while (self->result == CL_SUCCESS) {
        cl_event event;
        self->result = clEnqueueNDRangeKernel(self->queue, self->kernel, 1, NULL, &items, &local, 0, NULL, &event);
        if (self->result == CL_SUCCESS) {
            if (self->last != NULL) {
                clReleaseEvent(self->last);
            }
            self->last = event;
            if (++self->count % 64 == 0) {
                clFinish(self->queue);
            }
        }
    }
    return NULL;
}

static void races(void) {
    for (int round = 0; round < 20; round++) {
        cl_context context = terminable();
        cl_program program = program_of(context, source, "");
        cl_mem out = zeros_of(context);
        struct enqueuer threads[4] = {0};
        for (int i = 0; i < 4; i++) {
            threads[i].queue = queue_of(context, i % 2 == 0 ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
            threads[i].kernel = kernel_of(program, "good", out);
            pthread_create(&threads[i].thread, NULL, enqueues, &threads[i]);
        }
        usleep(1000 * (round % 5));
        STATUS(CL_SUCCESS, terminate(context));
        for (int i = 0; i < 4; i++) {
            pthread_join(threads[i].thread, NULL);
            STATUS(TERMINATED, threads[i].result);
            STATUS(CL_SUCCESS, clFinish(threads[i].queue));
            if (threads[i].last != NULL) {
                cl_int status = status_of(threads[i].last);
                TRUE(status == CL_COMPLETE || status == TERMINATED);
                clReleaseEvent(threads[i].last);
            }
            clReleaseKernel(threads[i].kernel);
            clReleaseCommandQueue(threads[i].queue);
        }
        clReleaseMemObject(out);
        clReleaseProgram(program);
        clReleaseContext(context);
    }
}

static volatile sig_atomic_t urgent = 0;
static void on_urgent(int number) {
    (void)number;
    urgent++;
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) {
        /* It does not depend on faults being handled. */
        setenv("BROLGA_FAULTS", "0", 1);
    }
    signal(SIGURG, on_urgent);
    setup();
    *(void **)&terminate = clGetExtensionFunctionAddressForPlatform(platform, "clTerminateContextKHR");
    TRUE(terminate != NULL);
    arguments();
    in_flight();
    children("line", 2000);
    children("waits", 0);
    recorded();
    races();

    /* The application's own signals are the application's. */
    int before = urgent;
    raise(SIGURG);
    TRUE(urgent == before + 1);

    /* Another context is as good as ever. */
    cl_program program = program_of(context, source, "");
    cl_mem out = zeros_of(context);
    cl_kernel good = kernel_of(program, "good", out);
    size_t many = 1024;
    int results[1024];
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, good, 1, NULL, &many, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof results, results, 0, NULL, NULL));
    TRUE(results[0] == 5 && results[1023] == 5);
    clReleaseKernel(good);
    clReleaseMemObject(out);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return finish();
}
