/* Shared virtual memory by type (cl_khr_unified_svm): types are consistent, allocations of each are what was asked for, kernels find
 * their way from one to the next, and every error is the draft's. */
#include "check.h"
#include <stdint.h>

/* Systems' headers lack the draft. */
typedef cl_ulong capabilities;
typedef cl_ulong properties;

#define PLATFORM_SVM_TYPE_CAPABILITIES 0x0909
#define DEVICE_SVM_TYPE_CAPABILITIES 0x1077
#define DEVICE_SVM_CONCURRENT_ACCESS_ATOM_SIZE 0x1078
enum {
    SYSTEM_ALLOCATED = 1 << 1,
    DEVICE_OWNED = 1 << 2,
    DEVICE_UNASSOCIATED = 1 << 3,
    HOST_OWNED = 1 << 5,
    HOST_READ = 1 << 6,
    HOST_WRITE = 1 << 7,
    HOST_MAP = 1 << 8,
    DEVICE_READ = 1 << 9,
    DEVICE_WRITE = 1 << 10,
    CONCURRENT_ACCESS = 1 << 12,
    CONCURRENT_ATOMIC_ACCESS = 1 << 13,
    INDIRECT_ACCESS = 1 << 14
};
#define ALLOC_DEVICE 0x2078
#define ALLOC_ACCESS_FLAGS 0x2079
#define ALLOC_ALIGNMENT 0x207A
#define INFO_TYPE_INDEX 0x2088
#define INFO_CAPABILITIES 0x2089
#define INFO_PROPERTIES 0x208A
#define INFO_ACCESS_FLAGS 0x208B
#define INFO_BASE_PTR 0x419B
#define INFO_SIZE 0x419C
#define INFO_DEVICE 0x419D
#define EXEC_INFO_INDIRECT_ACCESS 0x11BB

static void *(*alloc)(cl_context, const properties *, cl_uint, size_t, cl_int *);
static cl_int (*release)(cl_context, const properties *, cl_ulong, void *);
static cl_int (*info)(cl_context, cl_device_id, const void *, cl_uint, size_t, void *, size_t *);
static cl_int (*suggest)(cl_context, capabilities, capabilities, const properties *, size_t, cl_uint *);
static cl_int (*copy)(cl_command_queue, const properties *, cl_bool, void *, const void *, size_t, cl_uint,
                      const cl_event *, cl_event *);

#define MOST 16
static capabilities types[MOST];
static cl_uint n_types;

static const char *source =
    "struct node { global struct node *next; int value; };\n"
    "kernel void walk(global struct node *node, global int *sum) {\n"
    "  for (; node; node = node->next) { *sum += node->value; node->value = 0; }\n"
    "}\n";

static void find_functions(void) {
    *(void **)&alloc = clGetExtensionFunctionAddressForPlatform(platform, "clSVMAllocWithPropertiesKHR");
    *(void **)&release = clGetExtensionFunctionAddressForPlatform(platform, "clSVMFreeWithPropertiesKHR");
    *(void **)&info = clGetExtensionFunctionAddressForPlatform(platform, "clGetSVMPointerInfoKHR");
    *(void **)&suggest = clGetExtensionFunctionAddressForPlatform(platform, "clGetSVMSuggestedTypeIndexKHR");
    *(void **)&copy = clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueSVMMemcpyWithPropertiesKHR");
    TRUE(alloc && release && info && suggest && copy);
}

/* "SVM types that are DEVICE_OWNED must not be DEVICE_UNASSOCIATED" and the other notes. */
static void check_types(void) {
    capabilities of_device[MOST];
    size_t size, atoms[MOST];
    STATUS(CL_SUCCESS, clGetPlatformInfo(platform, PLATFORM_SVM_TYPE_CAPABILITIES, sizeof types, types, &size));
    n_types = (cl_uint)(size / sizeof *types);
    TRUE(n_types > 0 && size % sizeof *types == 0);
    STATUS(CL_INVALID_VALUE, clGetPlatformInfo(platform, PLATFORM_SVM_TYPE_CAPABILITIES, size - 1, types, NULL));
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, DEVICE_SVM_TYPE_CAPABILITIES, sizeof of_device, of_device, &size));
    TRUE(size == n_types * sizeof *types);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, DEVICE_SVM_CONCURRENT_ACCESS_ATOM_SIZE, sizeof atoms, atoms, &size));
    TRUE(size == n_types * sizeof *atoms);
    int systems = 0;
    for (cl_uint i = 0; i < n_types; i++) {
        capabilities c = of_device[i];
        TRUE((c & types[i]) == types[i] || c == 0);
        TRUE(!(c & DEVICE_OWNED && c & DEVICE_UNASSOCIATED));
        TRUE(!(c & HOST_OWNED) || c & DEVICE_UNASSOCIATED);
        TRUE((atoms[i] != 0) == ((c & CONCURRENT_ACCESS) != 0));
        TRUE((atoms[i] & (atoms[i] - 1)) == 0);
        systems += (c & SYSTEM_ALLOCATED) != 0;
    }
    /* The device has fine-grain system memory with atomics, so there is a type that says so. */
    TRUE(systems == 1);
}

static void check_info(const void *p, cl_uint type, capabilities c, const properties *list, size_t list_size, cl_ulong flags,
                       const void *base, size_t size, cl_device_id owner) {
    cl_device_id devices[] = {NULL, device};
    for (int i = 0; i < 2; i++) {
        cl_uint type_is;
        capabilities c_is;
        properties list_is[MOST];
        cl_ulong flags_are;
        void *base_is;
        size_t size_is, n;
        cl_device_id owner_is;
        STATUS(CL_SUCCESS, info(context, devices[i], p, INFO_TYPE_INDEX, sizeof type_is, &type_is, &n));
        TRUE(type_is == type && n == sizeof type_is);
        STATUS(CL_SUCCESS, info(context, devices[i], p, INFO_CAPABILITIES, sizeof c_is, &c_is, &n));
        TRUE(c_is == c && n == sizeof c_is);
        STATUS(CL_SUCCESS, info(context, devices[i], p, INFO_PROPERTIES, sizeof list_is, list_is, &n));
        TRUE(n == list_size && (n == 0 || memcmp(list_is, list, n) == 0));
        STATUS(CL_SUCCESS, info(context, devices[i], p, INFO_ACCESS_FLAGS, sizeof flags_are, &flags_are, &n));
        TRUE(flags_are == flags && n == sizeof flags_are);
        STATUS(CL_SUCCESS, info(context, devices[i], p, INFO_BASE_PTR, sizeof base_is, &base_is, &n));
        TRUE(base_is == base && n == sizeof base_is);
        STATUS(CL_SUCCESS, info(context, devices[i], p, INFO_SIZE, sizeof size_is, &size_is, &n));
        TRUE(size_is == size && n == sizeof size_is);
        STATUS(CL_SUCCESS, info(context, devices[i], p, INFO_DEVICE, sizeof owner_is, &owner_is, &n));
        TRUE(owner_is == owner && n == sizeof owner_is);
    }
}

static void allocations(void) {
    cl_int err;
    properties all[] = {ALLOC_ALIGNMENT, 64, ALLOC_DEVICE, (properties)(uintptr_t)device, ALLOC_ACCESS_FLAGS, 0x202, 0};
    for (cl_uint i = 0; i < n_types; i++) {
        char *p = alloc(context, all, i, 5000, &err);
        STATUS(CL_SUCCESS, err);
        TRUE(p != NULL && (uintptr_t)p % 64 == 0);
        check_info(p, i, types[i], all, sizeof all, 0x202, p, 5000, device);
        check_info(p + 4999, i, types[i], all, sizeof all, 0x202, p, 5000, device);
        if (types[i] & (HOST_READ | HOST_WRITE)) {
            memset(p, 1, 5000);
        }
        cl_int map = types[i] & HOST_MAP ? CL_SUCCESS : CL_INVALID_VALUE;
        STATUS(map, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, p, 5000, 0, NULL, NULL));
        STATUS(map, clEnqueueSVMUnmap(queue, p, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clEnqueueSVMMigrateMem(queue, 1, (const void **)&p, NULL, 0, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clFinish(queue));
        STATUS(CL_INVALID_VALUE, release(context, NULL, 0, p + 1));
        STATUS(CL_SUCCESS, release(context, NULL, 0, p));
        check_info(p, CL_UINT_MAX, 0, NULL, 0, 0, NULL, 0, NULL);

        int alone = (types[i] & DEVICE_UNASSOCIATED) != 0;
        CREATED(alone ? CL_SUCCESS : CL_INVALID_PROPERTY, p = alloc(context, NULL, i, 1, &err));
        if (alone) {
            check_info(p, i, types[i], NULL, 0, 0, p, 1, NULL);
            clSVMFree(context, p);
            check_info(p, CL_UINT_MAX, 0, NULL, 0, 0, NULL, 0, NULL);
        }
        /* Nothing is not an error. */
        err = 12345;
        TRUE(alloc(context, all, i, 0, &err) == NULL && err == CL_SUCCESS);
    }
    /* What clSVMAlloc makes has a type, too. */
    for (int i = 0; i < 2; i++) {
        cl_uint type = CL_UINT_MAX;
        capabilities c = 0;
        void *p = clSVMAlloc(context, CL_MEM_READ_WRITE | (i ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0), 100, 0);
        STATUS(CL_SUCCESS, info(context, NULL, p, INFO_TYPE_INDEX, sizeof type, &type, NULL));
        STATUS(CL_SUCCESS, info(context, NULL, p, INFO_CAPABILITIES, sizeof c, &c, NULL));
        TRUE(type < n_types && c == types[type]);
        TRUE(!i || (c & HOST_READ && c & HOST_WRITE && c & CONCURRENT_ACCESS));
        STATUS(CL_SUCCESS, release(context, NULL, 0, p));
    }
    int local;
    check_info(&local, CL_UINT_MAX, 0, NULL, 0, 0, NULL, 0, NULL);
    check_info(NULL, CL_UINT_MAX, 0, NULL, 0, 0, NULL, 0, NULL);
}

static void bad_arguments(void) {
    cl_int err;
    size_t n;
    cl_uint index;
    int local;
    cl_device_id wrong = (cl_device_id)queue;
    properties nothing[] = {0};
    properties device_too[] = {ALLOC_DEVICE, (properties)(uintptr_t)device, 0};
    properties bad[][5] = {{0x4242, 0, 0},
                           {ALLOC_DEVICE, (properties)(uintptr_t)wrong, 0},
                           {ALLOC_ACCESS_FLAGS, 1 << 4, 0},
                           {ALLOC_ALIGNMENT, 3, 0},
                           {ALLOC_ALIGNMENT, 256, 0},
                           {ALLOC_ALIGNMENT, 64, ALLOC_ALIGNMENT, 64, 0}};
    CREATED(CL_INVALID_CONTEXT, alloc(NULL, bad[0], 0, 8, &err));
    for (int i = 0; i < 6; i++) {
        CREATED(CL_INVALID_PROPERTY, alloc(context, bad[i], n_types, 8, &err));
        STATUS(CL_INVALID_PROPERTY, suggest(context, 0, 0, bad[i], 8, NULL));
    }
    CREATED(CL_INVALID_VALUE, alloc(context, device_too, n_types, 8, &err));
    CREATED(CL_INVALID_VALUE, alloc(context, device_too, CL_UINT_MAX, 8, &err));
    CREATED(CL_OUT_OF_RESOURCES, alloc(context, device_too, 0, SIZE_MAX, &err));

    void *p = alloc(context, device_too, 0, 8, &err);
    STATUS(CL_INVALID_CONTEXT, release(NULL, bad[0], 1, &local));
    STATUS(CL_INVALID_PROPERTY, release(context, bad[0], 1, &local));
    STATUS(CL_INVALID_VALUE, release(context, nothing, 1, p));
    STATUS(CL_INVALID_VALUE, release(context, nothing, 0, &local));
    STATUS(CL_SUCCESS, release(context, nothing, 0, NULL));
    STATUS(CL_SUCCESS, release(context, nothing, 0, p));
    STATUS(CL_INVALID_VALUE, release(context, nothing, 0, p));

    STATUS(CL_INVALID_CONTEXT, info(NULL, wrong, NULL, INFO_SIZE, 0, NULL, &n));
    STATUS(CL_INVALID_DEVICE, info(context, wrong, NULL, 0xdead, 0, NULL, &n));
    STATUS(CL_INVALID_VALUE, info(context, NULL, NULL, 0xdead, 0, NULL, &n));
    STATUS(CL_INVALID_VALUE, info(context, NULL, NULL, INFO_SIZE, sizeof n - 1, &n, NULL));

    STATUS(CL_INVALID_CONTEXT, suggest(NULL, 0, 0, bad[0], 8, &index));
    STATUS(CL_INVALID_VALUE, suggest(context, 0, 0, NULL, 8, NULL));

    char from[8] = "1234567", to[8];
    STATUS(CL_INVALID_COMMAND_QUEUE, copy(NULL, bad[0], CL_TRUE, to, from, 8, 0, NULL, NULL));
    STATUS(CL_INVALID_PROPERTY, copy(queue, bad[0], CL_TRUE, to, from, 8, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, copy(queue, nothing, CL_TRUE, NULL, from, 8, 0, NULL, NULL));
    STATUS(CL_SUCCESS, copy(queue, nothing, CL_TRUE, to, from, 8, 0, NULL, NULL));
    TRUE(memcmp(from, to, 8) == 0);

    /* Null pointers without bytes are fine. */
    void *null = NULL;
    size_t zero = 0, one = 1;
    STATUS(CL_SUCCESS, copy(queue, NULL, CL_TRUE, NULL, NULL, 0, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueSVMMemcpy(queue, CL_TRUE, NULL, NULL, 0, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueSVMMemFill(queue, NULL, from, 4, 0, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueSVMMigrateMem(queue, 1, (const void **)&null, NULL, 0, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueSVMMigrateMem(queue, 1, (const void **)&null, &zero, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueSVMMigrateMem(queue, 1, (const void **)&null, &one, 0, 0, NULL, NULL));
    /* What the system allocates is shared too. */
    void *system = malloc(64);
    STATUS(CL_SUCCESS, clEnqueueSVMMigrateMem(queue, 1, (const void **)&system, NULL, 0, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueSVMMigrateMem(queue, 1, (const void **)&system, &one, 0, 0, NULL, NULL));
    free(system);
    STATUS(CL_SUCCESS, clEnqueueSVMFree(queue, 1, &null, NULL, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
}

static void suggestions(void) {
    cl_uint index;
    properties with_device[] = {ALLOC_DEVICE, (properties)(uintptr_t)device, 0};
    for (cl_uint i = 0; i < n_types; i++) {
        STATUS(CL_SUCCESS, suggest(context, types[i], 0, with_device, 0, &index));
        TRUE(index < n_types && (types[index] & types[i]) == types[i]);
        STATUS(CL_SUCCESS, suggest(context, DEVICE_READ, types[i], with_device, 0, &index));
        TRUE(index < n_types && (types[index] & types[i]) == types[i]);
        STATUS(CL_SUCCESS, suggest(context, types[i], 0, NULL, 0, &index));
        /* Without a device it is asked what the platform has, also if to allocate takes a device. */
        TRUE(index < n_types && (types[index] & types[i]) == types[i]);
    }
    STATUS(CL_SUCCESS, suggest(context, (capabilities)1 << 60, 0, with_device, 0, &index));
    TRUE(index == CL_UINT_MAX);
    STATUS(CL_SUCCESS, suggest(context, DEVICE_OWNED | HOST_OWNED, 0, with_device, 0, &index));
    TRUE(index == CL_UINT_MAX);
}

typedef struct node {
    struct node *next;
    int value, unused;
} node;

/* A list through memory of every type. */
static void kernels(void) {
    cl_int err;
    cl_bool yes = CL_TRUE;
    size_t items = 1;
    properties with_device[] = {ALLOC_DEVICE, (properties)(uintptr_t)device, 0};
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, clBuildProgram(program, 1, &device, NULL, NULL, NULL));
    cl_kernel walk = clCreateKernel(program, "walk", &err);
    STATUS(CL_SUCCESS, err);
    node *next = NULL, *nodes[MOST];
    int sum = 0;
    for (cl_uint i = 0; i < n_types; i++) {
        nodes[i] = alloc(context, with_device, i, sizeof(node), &err);
        node one = {next, 1 << i, 0};
        STATUS(CL_SUCCESS, clEnqueueSVMMemcpy(queue, CL_TRUE, nodes[i], &one, sizeof one, 0, NULL, NULL));
        next = nodes[i];
    }
    STATUS(CL_SUCCESS, clSetKernelExecInfo(walk, EXEC_INFO_INDIRECT_ACCESS, sizeof yes, &yes));
    STATUS(CL_INVALID_VALUE, clSetKernelExecInfo(walk, EXEC_INFO_INDIRECT_ACCESS, 1, &yes));
    STATUS(CL_SUCCESS, clSetKernelArgSVMPointer(walk, 0, next));
    STATUS(CL_SUCCESS, clSetKernelArgSVMPointer(walk, 1, &sum));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, walk, 1, NULL, &items, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    TRUE(sum == (1 << n_types) - 1);
    for (cl_uint i = 0; i < n_types; i++) {
        STATUS(CL_SUCCESS, release(context, NULL, 0, nodes[i]));
    }
    clReleaseKernel(walk);
    clReleaseProgram(program);
}

int main(void) {
    setup();
    find_functions();
    if (failures == 0) {
        check_types();
        allocations();
        bad_arguments();
        suggestions();
        kernels();
    }
    return finish();
}
