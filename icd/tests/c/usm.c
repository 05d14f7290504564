/* Unified shared memory (cl_intel_unified_shared_memory): allocations of every kind are what was asked for, host and kernels use them
 * by address, commands move bytes of them in order, a blocking free waits, and every error is the specification's, in the order in
 * which it lists them. */
#include "check.h"
#include <pthread.h>
#include <stdint.h>

#define N 4096

static clHostMemAllocINTEL_fn host_alloc;
static clDeviceMemAllocINTEL_fn device_alloc;
static clSharedMemAllocINTEL_fn shared_alloc;
static clMemFreeINTEL_fn mem_free;
static clMemBlockingFreeINTEL_fn blocking_free;
static clGetMemAllocInfoINTEL_fn info;
static clSetKernelArgMemPointerINTEL_fn set_arg;
static clEnqueueMemFillINTEL_fn fill;
static clEnqueueMemcpyINTEL_fn copy;
static clEnqueueMigrateMemINTEL_fn migrate;
static clEnqueueMemAdviseINTEL_fn advise;
static clEnqueueMemsetINTEL_fn set_bytes;

static const char *source =
    "struct node { global struct node *next; int value; };\n"
    "kernel void add(global int *to, constant int *from, int n) {\n"
    "  size_t i = get_global_id(0);\n"
    "  to[i] += from[i] * n;\n"
    "}\n"
    "kernel void walk(global struct node *node, global int *sum) {\n"
    "  for (; node; node = node->next) { *sum += node->value; node->value = 0; }\n"
    "}\n"
    "kernel void count(volatile global atomic_int *counter) {\n"
    "  atomic_fetch_add_explicit(counter, 1, memory_order_relaxed, memory_scope_all_svm_devices);\n"
    "}\n"
    "kernel void other_spaces(local int *p, int n, global int *q) { *q = p[0] + n; }\n";

static cl_kernel add, walk, count, other_spaces;

static void find_functions(void) {
#define FIND(variable, name)                                                                        \
    variable = (name##_fn)clGetExtensionFunctionAddressForPlatform(platform, #name);                \
    TRUE(variable != NULL)
    FIND(host_alloc, clHostMemAllocINTEL);
    FIND(device_alloc, clDeviceMemAllocINTEL);
    FIND(shared_alloc, clSharedMemAllocINTEL);
    FIND(mem_free, clMemFreeINTEL);
    FIND(blocking_free, clMemBlockingFreeINTEL);
    FIND(info, clGetMemAllocInfoINTEL);
    FIND(set_arg, clSetKernelArgMemPointerINTEL);
    FIND(fill, clEnqueueMemFillINTEL);
    FIND(copy, clEnqueueMemcpyINTEL);
    FIND(migrate, clEnqueueMigrateMemINTEL);
    FIND(advise, clEnqueueMemAdviseINTEL);
    FIND(set_bytes, clEnqueueMemsetINTEL);
}

static void create_kernels(void) {
    cl_int err;
    cl_program program = build(source, "-cl-std=CL3.0");
    add = clCreateKernel(program, "add", &err);
    STATUS(CL_SUCCESS, err);
    walk = clCreateKernel(program, "walk", &err);
    STATUS(CL_SUCCESS, err);
    count = clCreateKernel(program, "count", &err);
    STATUS(CL_SUCCESS, err);
    other_spaces = clCreateKernel(program, "other_spaces", &err);
    STATUS(CL_SUCCESS, err);
    clReleaseProgram(program);
}

/* All five answers about an address. */
static void check_info(const void *p, cl_uint type, const void *base, size_t size, cl_device_id owner, cl_ulong flags) {
    cl_uint type_is;
    void *base_is;
    size_t size_is, size_ret;
    cl_device_id owner_is;
    cl_ulong flags_are;
    STATUS(CL_SUCCESS, info(context, p, CL_MEM_ALLOC_TYPE_INTEL, sizeof type_is, &type_is, &size_ret));
    TRUE(type_is == type && size_ret == sizeof type_is);
    STATUS(CL_SUCCESS, info(context, p, CL_MEM_ALLOC_BASE_PTR_INTEL, sizeof base_is, &base_is, &size_ret));
    TRUE(base_is == base && size_ret == sizeof base_is);
    STATUS(CL_SUCCESS, info(context, p, CL_MEM_ALLOC_SIZE_INTEL, sizeof size_is, &size_is, &size_ret));
    TRUE(size_is == size && size_ret == sizeof size_is);
    STATUS(CL_SUCCESS, info(context, p, CL_MEM_ALLOC_DEVICE_INTEL, sizeof owner_is, &owner_is, &size_ret));
    TRUE(owner_is == owner && size_ret == sizeof owner_is);
    STATUS(CL_SUCCESS, info(context, p, CL_MEM_ALLOC_FLAGS_INTEL, sizeof flags_are, &flags_are, &size_ret));
    TRUE(flags_are == flags && size_ret == sizeof flags_are);
}

static void queries(void) {
    const cl_device_info names[] = {
        CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL,
        CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL, CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
        CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL};
    for (int i = 0; i < 5; i++) {
        cl_bitfield capabilities = 0;
        size_t size;
        STATUS(CL_SUCCESS, clGetDeviceInfo(device, names[i], sizeof capabilities, &capabilities, &size));
        TRUE(capabilities & CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL && size == sizeof capabilities);
        STATUS(CL_INVALID_VALUE, clGetDeviceInfo(device, names[i], sizeof capabilities - 1, &capabilities, NULL));
    }
    char extensions[1 << 14];
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL));
    TRUE(strstr(extensions, "cl_intel_unified_shared_memory") != NULL);
}

static void allocations(void) {
    cl_int err;
    cl_mem_properties_intel placed[] = {CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL, 0};
    cl_mem_properties_intel combined[] = {CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_WRITE_COMBINED_INTEL, 0};
    cl_mem_properties_intel nothing[] = {0};
    char *h = host_alloc(context, combined, 1000, 0, &err);
    STATUS(CL_SUCCESS, err);
    char *d = device_alloc(context, device, nothing, 5 << 20, 128, &err);
    STATUS(CL_SUCCESS, err);
    char *s = shared_alloc(context, device, placed, 1, 1, NULL);
    char *t = shared_alloc(context, NULL, NULL, 77, 16, &err);
    STATUS(CL_SUCCESS, err);
    TRUE(h && d && s && t);
    TRUE((uintptr_t)h % 128 == 0 && (uintptr_t)d % 128 == 0 && (uintptr_t)t % 16 == 0);
    memset(h, 1, 1000);
    memset(t, 2, 77);
    check_info(h, CL_MEM_TYPE_HOST_INTEL, h, 1000, NULL, CL_MEM_ALLOC_WRITE_COMBINED_INTEL);
    check_info(h + 999, CL_MEM_TYPE_HOST_INTEL, h, 1000, NULL, CL_MEM_ALLOC_WRITE_COMBINED_INTEL);
    check_info(d + 12345, CL_MEM_TYPE_DEVICE_INTEL, d, 5 << 20, device, 0);
    check_info(s, CL_MEM_TYPE_SHARED_INTEL, s, 1, device, CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL);
    check_info(t, CL_MEM_TYPE_SHARED_INTEL, t, 77, NULL, 0);
    /* What is no unified shared memory. */
    int local;
    void *svm = clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0);
    check_info(NULL, CL_MEM_TYPE_UNKNOWN_INTEL, NULL, 0, NULL, 0);
    check_info(&local, CL_MEM_TYPE_UNKNOWN_INTEL, NULL, 0, NULL, 0);
    check_info(d + (5 << 20), CL_MEM_TYPE_UNKNOWN_INTEL, NULL, 0, NULL, 0);
    check_info(svm, CL_MEM_TYPE_UNKNOWN_INTEL, NULL, 0, NULL, 0);
    STATUS(CL_INVALID_VALUE, mem_free(context, svm));
    STATUS(CL_INVALID_VALUE, blocking_free(context, svm));
    /* Neither frees the other's. */
    clSVMFree(context, h);
    check_info(h, CL_MEM_TYPE_HOST_INTEL, h, 1000, NULL, CL_MEM_ALLOC_WRITE_COMBINED_INTEL);
    clSVMFree(context, svm);

    STATUS(CL_INVALID_CONTEXT, mem_free(NULL, h));
    STATUS(CL_INVALID_CONTEXT, blocking_free(NULL, h));
    STATUS(CL_INVALID_VALUE, mem_free(context, h + 1));
    STATUS(CL_INVALID_VALUE, blocking_free(context, h + 1));
    STATUS(CL_INVALID_VALUE, mem_free(context, &local));
    STATUS(CL_SUCCESS, mem_free(context, NULL));
    STATUS(CL_SUCCESS, blocking_free(context, NULL));
    STATUS(CL_SUCCESS, mem_free(context, h));
    STATUS(CL_INVALID_VALUE, mem_free(context, h));
    check_info(h, CL_MEM_TYPE_UNKNOWN_INTEL, NULL, 0, NULL, 0);
    STATUS(CL_SUCCESS, blocking_free(context, d));
    STATUS(CL_INVALID_VALUE, blocking_free(context, d));
    STATUS(CL_SUCCESS, mem_free(context, s));
    STATUS(CL_SUCCESS, mem_free(context, t));
}

static void bad_allocations(void) {
    cl_int err;
    cl_ulong limit;
    cl_device_id wrong = (cl_device_id)queue;
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof limit, &limit, NULL));
    cl_mem_properties_intel unknown[] = {0x4242, 0, 0};
    cl_mem_properties_intel bad_flag[] = {CL_MEM_ALLOC_FLAGS_INTEL, 1 << 5, 0};
    cl_mem_properties_intel twice[] = {CL_MEM_ALLOC_FLAGS_INTEL, 0, CL_MEM_ALLOC_FLAGS_INTEL, 0, 0};
    cl_mem_properties_intel on_device[] = {CL_MEM_ALLOC_FLAGS_INTEL, CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL, 0};
    cl_mem_properties_intel on_both[] = {
        CL_MEM_ALLOC_FLAGS_INTEL,
        CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL | CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL, 0};

    CREATED(CL_INVALID_CONTEXT, host_alloc(NULL, unknown, 0, 3, &err));
    CREATED(CL_INVALID_CONTEXT, device_alloc(NULL, NULL, unknown, 0, 3, &err));
    CREATED(CL_INVALID_CONTEXT, shared_alloc(NULL, wrong, unknown, 0, 3, &err));
    CREATED(CL_INVALID_DEVICE, device_alloc(context, NULL, unknown, 0, 3, &err));
    CREATED(CL_INVALID_DEVICE, device_alloc(context, wrong, unknown, 0, 3, &err));
    CREATED(CL_INVALID_DEVICE, shared_alloc(context, wrong, unknown, 0, 3, &err));
    for (cl_uint alignment = 3; alignment <= 256; alignment += 253) {
        CREATED(CL_INVALID_VALUE, host_alloc(context, unknown, 0, alignment, &err));
        CREATED(CL_INVALID_VALUE, device_alloc(context, device, unknown, 0, alignment, &err));
        CREATED(CL_INVALID_VALUE, shared_alloc(context, NULL, unknown, 0, alignment, &err));
    }
    cl_mem_properties_intel *bad[] = {unknown, bad_flag, twice, on_device, on_both};
    for (int i = 0; i < 5; i++) {
        CREATED(CL_INVALID_PROPERTY, host_alloc(context, bad[i], 0, 0, &err));
        CREATED(CL_INVALID_PROPERTY, device_alloc(context, device, bad[i], 0, 0, &err));
        if (bad[i] != on_device) {
            CREATED(CL_INVALID_PROPERTY, shared_alloc(context, device, bad[i], 0, 0, &err));
        }
    }
    size_t sizes[] = {0, limit + 1, SIZE_MAX};
    for (int i = 0; i < 3; i++) {
        CREATED(CL_INVALID_BUFFER_SIZE, host_alloc(context, NULL, sizes[i], 0, &err));
        CREATED(CL_INVALID_BUFFER_SIZE, device_alloc(context, device, NULL, sizes[i], 0, &err));
        CREATED(CL_INVALID_BUFFER_SIZE, shared_alloc(context, device, on_device, sizes[i], 0, &err));
        CREATED(CL_INVALID_BUFFER_SIZE, shared_alloc(context, NULL, NULL, sizes[i], 0, &err));
    }

    size_t size;
    cl_uint type;
    STATUS(CL_INVALID_CONTEXT, info(NULL, NULL, CL_MEM_ALLOC_TYPE_INTEL, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, info(context, NULL, 0x419F, 0, NULL, &size));
    STATUS(CL_INVALID_VALUE, info(context, NULL, CL_MEM_ALLOC_TYPE_INTEL, sizeof type - 1, &type, &size));
}

static void check_type(cl_event event, cl_command_type type) {
    cl_command_type is;
    STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof is, &is, NULL));
    TRUE(is == type);
    STATUS(CL_SUCCESS, clReleaseEvent(event));
}

static void commands(void) {
    cl_int err;
    cl_event event;
    int *s = shared_alloc(context, device, NULL, N * sizeof(int), 0, &err);
    int *d = device_alloc(context, device, NULL, N * sizeof(int), 0, &err);
    static int host[N];
    int pattern[2] = {7, -8};
    STATUS(CL_SUCCESS, fill(queue, d, pattern, sizeof pattern, N * sizeof(int), 0, NULL, &event));
    check_type(event, CL_COMMAND_MEMFILL_INTEL);
    STATUS(CL_SUCCESS, copy(queue, CL_FALSE, s, d, N * sizeof(int), 0, NULL, &event));
    check_type(event, CL_COMMAND_MEMCPY_INTEL);
    STATUS(CL_SUCCESS, migrate(queue, s, N * sizeof(int), 0, 0, NULL, &event));
    check_type(event, CL_COMMAND_MIGRATEMEM_INTEL);
    STATUS(CL_SUCCESS, advise(queue, s, N * sizeof(int), 0, 0, NULL, &event));
    check_type(event, CL_COMMAND_MEMADVISE_INTEL);
    STATUS(CL_SUCCESS, set_bytes(queue, s + 2, -1, 2 * sizeof(int), 0, NULL, NULL));
    STATUS(CL_SUCCESS, copy(queue, CL_TRUE, host, s, N * sizeof(int), 0, NULL, NULL));
    for (int i = 0; i < N; i++) {
        TRUE(host[i] == (i == 2 || i == 3 ? -1 : pattern[i % 2]));
    }
    /* Of no bytes, too. */
    STATUS(CL_SUCCESS, copy(queue, CL_TRUE, host, s, 0, 0, NULL, NULL));
    STATUS(CL_SUCCESS, fill(queue, s, pattern, 4, 0, 0, NULL, NULL));

    cl_event user = clCreateUserEvent(context, &err);
    cl_context elsewhere = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    cl_event foreign = clCreateUserEvent(elsewhere, &err);
    char *p = (char *)s;
    STATUS(CL_INVALID_COMMAND_QUEUE, fill(NULL, NULL, NULL, 3, 1, 1, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT, fill(queue, NULL, NULL, 3, 1, 1, &foreign, NULL));
    STATUS(CL_INVALID_VALUE, fill(queue, NULL, pattern, 4, 8, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, fill(queue, p + 2, pattern, 4, 8, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, fill(queue, p, NULL, 4, 8, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, fill(queue, p, pattern, 0, 8, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, fill(queue, p, pattern, 3, 9, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, fill(queue, p, host, 256, 256, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, fill(queue, p, pattern, 4, 9, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, fill(queue, p, pattern, 4, 8, 1, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, fill(queue, p, pattern, 4, 8, 0, &user, NULL));

    STATUS(CL_INVALID_COMMAND_QUEUE, set_bytes(NULL, p, 0, 1, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, set_bytes(queue, NULL, 0, 1, 0, NULL, NULL));

    STATUS(CL_INVALID_COMMAND_QUEUE, copy(NULL, CL_TRUE, NULL, p, 8, 1, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT, copy(queue, CL_TRUE, NULL, p, 8, 1, &foreign, NULL));
    STATUS(CL_INVALID_VALUE, copy(queue, CL_TRUE, NULL, p, 8, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, copy(queue, CL_TRUE, p, NULL, 8, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, copy(queue, CL_TRUE, p, host, 8, 1, NULL, NULL));
    STATUS(CL_MEM_COPY_OVERLAP, copy(queue, CL_TRUE, p, p + 7, 8, 0, NULL, NULL));
    STATUS(CL_MEM_COPY_OVERLAP, copy(queue, CL_TRUE, p + 7, p, 8, 0, NULL, NULL));
    STATUS(CL_SUCCESS, copy(queue, CL_TRUE, p + 8, p, 8, 0, NULL, NULL));

    STATUS(CL_INVALID_COMMAND_QUEUE, migrate(NULL, p, 8, 1 << 9, 0, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT, migrate(queue, p, 8, 1 << 9, 1, &foreign, NULL));
    STATUS(CL_INVALID_VALUE, migrate(queue, p, 8, 1 << 9, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, migrate(queue, p, 8, 0, 1, NULL, NULL));
    STATUS(CL_SUCCESS, migrate(queue, p, 8, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, advise(NULL, p, 8, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_CONTEXT, advise(queue, p, 8, 0, 1, &foreign, NULL));
    STATUS(CL_INVALID_VALUE, advise(queue, p, 8, 0x4208, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, advise(queue, p, 8, 0, 1, NULL, NULL));

    /* A blocking copy that waits for what failed. */
    STATUS(CL_SUCCESS, clSetUserEventStatus(user, -5));
    STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, copy(queue, CL_TRUE, p, host, 8, 1, &user, NULL));
    STATUS(CL_SUCCESS, clReleaseEvent(user));
    STATUS(CL_SUCCESS, clReleaseEvent(foreign));
    STATUS(CL_SUCCESS, clReleaseContext(elsewhere));
    STATUS(CL_SUCCESS, mem_free(context, s));
    STATUS(CL_SUCCESS, mem_free(context, d));
}

typedef struct node {
    struct node *next;
    int value, unused;
} node;

static void kernels(void) {
    cl_int err;
    size_t items = N;
    int three = 3;
    int *to = shared_alloc(context, device, NULL, N * sizeof(int), 0, &err);
    int *from = host_alloc(context, NULL, (N + 1) * sizeof(int), 0, &err);
    for (int i = 0; i < N; i++) {
        to[i] = i;
        from[i + 1] = 2 * i;
    }
    STATUS(CL_SUCCESS, set_arg(add, 0, to));
    STATUS(CL_SUCCESS, set_arg(add, 1, from + 1));
    STATUS(CL_SUCCESS, clSetKernelArg(add, 2, sizeof three, &three));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, add, 1, NULL, &items, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    for (int i = 0; i < N; i++) {
        TRUE(to[i] == i + 6 * i);
    }

    /* A list with a node of each kind, and one of the system's. */
    node *nodes[4] = {host_alloc(context, NULL, sizeof(node), 0, &err), device_alloc(context, device, NULL, sizeof(node), 0, &err),
                      shared_alloc(context, device, NULL, sizeof(node), 0, &err), malloc(sizeof(node))};
    for (int i = 0; i < 4; i++) {
        node one = {i < 3 ? nodes[i + 1] : NULL, 1 << i, 0};
        STATUS(CL_SUCCESS, copy(queue, CL_TRUE, nodes[i], &one, sizeof one, 0, NULL, NULL));
    }
    cl_bool yes = CL_TRUE, no = CL_FALSE;
    const cl_kernel_exec_info flags[] = {CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
                                         CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
                                         CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL};
    for (int i = 0; i < 3; i++) {
        STATUS(CL_SUCCESS, clSetKernelExecInfo(walk, flags[i], sizeof no, &no));
        STATUS(CL_SUCCESS, clSetKernelExecInfo(walk, flags[i], sizeof yes, &yes));
        STATUS(CL_INVALID_VALUE, clSetKernelExecInfo(walk, flags[i], 1, &yes));
        STATUS(CL_INVALID_VALUE, clSetKernelExecInfo(walk, flags[i], sizeof yes, NULL));
        STATUS(CL_INVALID_VALUE, clSetKernelExecInfo(walk, flags[i], 0, NULL));
        STATUS(CL_INVALID_KERNEL, clSetKernelExecInfo(NULL, flags[i], sizeof yes, &yes));
    }
    STATUS(CL_SUCCESS, clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, sizeof nodes, nodes));
    STATUS(CL_SUCCESS, clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, 0, NULL));
    STATUS(CL_INVALID_VALUE, clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, 7, nodes));
    STATUS(CL_INVALID_VALUE, clSetKernelExecInfo(walk, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, 8, NULL));
    int *sum = shared_alloc(context, NULL, NULL, sizeof(int), 0, &err);
    *sum = 0;
    items = 1;
    STATUS(CL_SUCCESS, set_arg(walk, 0, nodes[0]));
    STATUS(CL_SUCCESS, set_arg(walk, 1, sum));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, walk, 1, NULL, &items, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    TRUE(*sum == 15);
    for (int i = 0; i < 4; i++) {
        node one;
        STATUS(CL_SUCCESS, copy(queue, CL_TRUE, &one, nodes[i], sizeof one, 0, NULL, NULL));
        TRUE(one.value == 0);
    }

    /* Any address is an argument, as long as nothing follows it. */
    STATUS(CL_SUCCESS, set_arg(walk, 0, NULL));
    STATUS(CL_SUCCESS, set_arg(walk, 0, (void *)(uintptr_t)0xdeadbeef));
    STATUS(CL_INVALID_KERNEL, set_arg(NULL, 9, to));
    STATUS(CL_INVALID_ARG_INDEX, set_arg(walk, 2, to));
    STATUS(CL_INVALID_ARG_VALUE, set_arg(other_spaces, 0, to));
    STATUS(CL_INVALID_ARG_VALUE, set_arg(other_spaces, 1, to));

    for (int i = 0; i < 3; i++) {
        STATUS(CL_SUCCESS, blocking_free(context, nodes[i]));
    }
    free(nodes[3]);
    STATUS(CL_SUCCESS, mem_free(context, sum));
    STATUS(CL_SUCCESS, mem_free(context, to));
    STATUS(CL_SUCCESS, mem_free(context, from));
}

static void *complete(void *event) {
    for (volatile int i = 0; i < 20000000; i++) {
    }
    STATUS(CL_SUCCESS, clSetUserEventStatus(event, CL_COMPLETE));
    return NULL;
}

/* A blocking free returns when what was enqueued is done, in every queue of the context, released ones too. */
static void freeing_in_use(void) {
    cl_int err, status;
    pthread_t thread;
    cl_queue_properties any_order[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    for (int round = 0; round < 2; round++) {
        cl_command_queue other = clCreateCommandQueueWithProperties(context, device, round ? any_order : NULL, &err);
        STATUS(CL_SUCCESS, err);
        size_t items = 1000;
        int *counter = shared_alloc(context, device, NULL, sizeof(int), 0, &err);
        *counter = 0;
        cl_event user_event = clCreateUserEvent(context, &err), done;
        STATUS(CL_SUCCESS, set_arg(count, 0, counter));
        STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(other, count, 1, NULL, &items, NULL, 1, &user_event, &done));
        STATUS(CL_SUCCESS, clReleaseCommandQueue(other));
        pthread_create(&thread, NULL, complete, user_event);
        STATUS(CL_SUCCESS, blocking_free(context, counter));
        STATUS(CL_SUCCESS, clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        TRUE(status == CL_COMPLETE);
        pthread_join(thread, NULL);
        STATUS(CL_SUCCESS, clReleaseEvent(done));
        STATUS(CL_SUCCESS, clReleaseEvent(user_event));
    }
}

int main(void) {
    setup();
    find_functions();
    if (failures == 0) {
        create_kernels();
        queries();
        allocations();
        bad_allocations();
        commands();
        kernels();
        freeing_in_use();
    }
    return finish();
}
