/* Every query of core OpenCL answers with the size of the type that the specification gives it, writes exactly that
   much, and refuses a buffer one byte short. */
#include "check.h"

/* Sizes that are not one fixed type. */
#define ANY_STRING ((size_t)-1)  /* characters and a zero */

typedef struct {
    cl_uint name;
    const char *text;
    size_t size; /* or ANY_STRING */
} query;

#define Q(name, type) {name, #name, sizeof(type)}
#define S(name) {name, #name, ANY_STRING}

/* Newer names that the headers of a system may lack. */
#define DEVICE_UUID 0x106A
#define DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT 0x4231
#define DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT 0x4232
#define DEVICE_HALF_FP_ATOMIC_CAPABILITIES_EXT 0x4233
#define DRIVER_UUID 0x106B
#define DEVICE_LUID_VALID 0x106C
#define DEVICE_LUID 0x106D
#define DEVICE_NODE_MASK 0x106E
#define DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT 0x4230
#define PLATFORM_UNLOADABLE_KHR 0x0921
#define DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES 0x1073
#define DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT 0x1074
#define DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED 0x1075
#define DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS 0x12B9
#define DEVICE_SPIRV_EXTENSIONS 0x12BA
#define DEVICE_SPIRV_CAPABILITIES 0x12BB

static const query platform_queries[] = {
    S(CL_PLATFORM_PROFILE), S(CL_PLATFORM_VERSION), S(CL_PLATFORM_NAME), S(CL_PLATFORM_VENDOR),
    S(CL_PLATFORM_EXTENSIONS), S(CL_PLATFORM_ICD_SUFFIX_KHR),
    Q(CL_PLATFORM_HOST_TIMER_RESOLUTION, cl_ulong), Q(CL_PLATFORM_NUMERIC_VERSION, cl_version),
};

static const query device_queries[] = {
    Q(CL_DEVICE_TYPE, cl_device_type),
    Q(CL_DEVICE_VENDOR_ID, cl_uint),
    Q(CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint),
    Q(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, cl_uint),
    Q(CL_DEVICE_MAX_WORK_ITEM_SIZES, size_t[3]),
    Q(CL_DEVICE_MAX_WORK_GROUP_SIZE, size_t),
    Q(CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, cl_uint),
    Q(CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, cl_uint),
    Q(CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, cl_uint),
    Q(CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, cl_uint),
    Q(CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, cl_uint),
    Q(CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, cl_uint),
    Q(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, cl_uint),
    Q(CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, cl_uint),
    Q(CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, cl_uint),
    Q(CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, cl_uint),
    Q(CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, cl_uint),
    Q(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, cl_uint),
    Q(CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, cl_uint),
    Q(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, cl_uint),
    Q(CL_DEVICE_MAX_CLOCK_FREQUENCY, cl_uint),
    Q(CL_DEVICE_ADDRESS_BITS, cl_uint),
    Q(CL_DEVICE_MAX_MEM_ALLOC_SIZE, cl_ulong),
    Q(CL_DEVICE_IMAGE_SUPPORT, cl_bool),
    Q(CL_DEVICE_MAX_READ_IMAGE_ARGS, cl_uint),
    Q(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, cl_uint),
    Q(CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, cl_uint),
    Q(CL_DEVICE_IMAGE2D_MAX_WIDTH, size_t),
    Q(CL_DEVICE_IMAGE2D_MAX_HEIGHT, size_t),
    Q(CL_DEVICE_IMAGE3D_MAX_WIDTH, size_t),
    Q(CL_DEVICE_IMAGE3D_MAX_HEIGHT, size_t),
    Q(CL_DEVICE_IMAGE3D_MAX_DEPTH, size_t),
    Q(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, size_t),
    Q(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, size_t),
    Q(CL_DEVICE_MAX_SAMPLERS, cl_uint),
    Q(CL_DEVICE_IMAGE_PITCH_ALIGNMENT, cl_uint),
    Q(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, cl_uint),
    Q(CL_DEVICE_MAX_PIPE_ARGS, cl_uint),
    Q(CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, cl_uint),
    Q(CL_DEVICE_PIPE_MAX_PACKET_SIZE, cl_uint),
    Q(CL_DEVICE_PIPE_SUPPORT, cl_bool),
    Q(CL_DEVICE_MAX_NAMED_BARRIER_COUNT_KHR, cl_uint),
    Q(CL_DEVICE_MAX_PARAMETER_SIZE, size_t),
    Q(CL_DEVICE_MEM_BASE_ADDR_ALIGN, cl_uint),
    Q(CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, cl_uint),
    Q(CL_DEVICE_SINGLE_FP_CONFIG, cl_device_fp_config),
    Q(CL_DEVICE_DOUBLE_FP_CONFIG, cl_device_fp_config),
    Q(CL_DEVICE_HALF_FP_CONFIG, cl_device_fp_config),
    Q(CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, cl_device_mem_cache_type),
    Q(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, cl_uint),
    Q(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, cl_ulong),
    Q(CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong),
    Q(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, cl_ulong),
    Q(CL_DEVICE_MAX_CONSTANT_ARGS, cl_uint),
    Q(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, size_t),
    Q(CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, size_t),
    Q(CL_DEVICE_LOCAL_MEM_TYPE, cl_device_local_mem_type),
    Q(CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong),
    Q(CL_DEVICE_ERROR_CORRECTION_SUPPORT, cl_bool),
    Q(CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool),
    Q(CL_DEVICE_PROFILING_TIMER_RESOLUTION, size_t),
    Q(CL_DEVICE_ENDIAN_LITTLE, cl_bool),
    Q(CL_DEVICE_AVAILABLE, cl_bool),
    Q(CL_DEVICE_COMPILER_AVAILABLE, cl_bool),
    Q(CL_DEVICE_LINKER_AVAILABLE, cl_bool),
    Q(CL_DEVICE_EXECUTION_CAPABILITIES, cl_device_exec_capabilities),
    Q(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, cl_command_queue_properties),
    Q(CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, cl_command_queue_properties),
    Q(CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, cl_uint),
    Q(CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, cl_uint),
    Q(CL_DEVICE_MAX_ON_DEVICE_QUEUES, cl_uint),
    Q(CL_DEVICE_MAX_ON_DEVICE_EVENTS, cl_uint),
    Q(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, cl_device_device_enqueue_capabilities),
    S(CL_DEVICE_BUILT_IN_KERNELS),
    Q(CL_DEVICE_PLATFORM, cl_platform_id),
    S(CL_DEVICE_NAME),
    S(CL_DEVICE_VENDOR),
    S(CL_DRIVER_VERSION),
    S(CL_DEVICE_PROFILE),
    S(CL_DEVICE_VERSION),
    S(CL_DEVICE_OPENCL_C_VERSION),
    S(CL_DEVICE_EXTENSIONS),
    S(CL_DEVICE_IL_VERSION),
    S(CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED),
    Q(CL_DEVICE_NUMERIC_VERSION, cl_version),
    Q(CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR, cl_version),
    Q(CL_DEVICE_PRINTF_BUFFER_SIZE, size_t),
    Q(CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, cl_bool),
    Q(CL_DEVICE_PARENT_DEVICE, cl_device_id),
    Q(CL_DEVICE_PARTITION_MAX_SUB_DEVICES, cl_uint),
    Q(CL_DEVICE_PARTITION_AFFINITY_DOMAIN, cl_device_affinity_domain),
    Q(CL_DEVICE_PARTITION_TYPE, cl_device_partition_property),
    Q(CL_DEVICE_REFERENCE_COUNT, cl_uint),
    Q(CL_DEVICE_SVM_CAPABILITIES, cl_device_svm_capabilities),
    Q(CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, cl_uint),
    Q(CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, cl_uint),
    Q(CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, cl_uint),
    Q(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, cl_device_atomic_capabilities),
    Q(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, cl_device_atomic_capabilities),
    Q(CL_DEVICE_MAX_NUM_SUB_GROUPS, cl_uint),
    Q(CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, cl_bool),
    Q(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, cl_bool),
    Q(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, size_t),
    Q(CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, cl_bool),
    Q(CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, cl_bool),
    {DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT, "CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT", sizeof(cl_bitfield)},
    {DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT, "CL_DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT", sizeof(cl_bitfield)},
    {DEVICE_HALF_FP_ATOMIC_CAPABILITIES_EXT, "CL_DEVICE_HALF_FP_ATOMIC_CAPABILITIES_EXT", sizeof(cl_bitfield)},
    {DEVICE_UUID, "CL_DEVICE_UUID", 16},
    {DRIVER_UUID, "CL_DRIVER_UUID", 16},
    {DEVICE_LUID_VALID, "CL_DEVICE_LUID_VALID", sizeof(cl_bool)},
    {DEVICE_LUID, "CL_DEVICE_LUID", 8},
    {DEVICE_NODE_MASK, "CL_DEVICE_NODE_MASK", sizeof(cl_uint)},
    {DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES, "CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES",
     sizeof(cl_bitfield)},
    {DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT,
     "CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT", sizeof(cl_bool[6])},
    {DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED,
     "CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED", sizeof(cl_bool[6])},
};

static const query context_queries[] = {
    Q(CL_CONTEXT_REFERENCE_COUNT, cl_uint),
    Q(CL_CONTEXT_NUM_DEVICES, cl_uint),
    Q(CL_CONTEXT_DEVICES, cl_device_id),
};

static const query queue_queries[] = {
    Q(CL_QUEUE_CONTEXT, cl_context),
    Q(CL_QUEUE_DEVICE, cl_device_id),
    Q(CL_QUEUE_REFERENCE_COUNT, cl_uint),
    Q(CL_QUEUE_PROPERTIES, cl_command_queue_properties),
    Q(CL_QUEUE_DEVICE_DEFAULT, cl_command_queue),
};

static const query mem_queries[] = {
    Q(CL_MEM_TYPE, cl_mem_object_type),     Q(CL_MEM_FLAGS, cl_mem_flags),
    Q(CL_MEM_SIZE, size_t),                 Q(CL_MEM_HOST_PTR, void *),
    Q(CL_MEM_MAP_COUNT, cl_uint),           Q(CL_MEM_REFERENCE_COUNT, cl_uint),
    Q(CL_MEM_CONTEXT, cl_context),          Q(CL_MEM_ASSOCIATED_MEMOBJECT, cl_mem),
    Q(CL_MEM_OFFSET, size_t),               Q(CL_MEM_USES_SVM_POINTER, cl_bool),
};

static const query event_queries[] = {
    Q(CL_EVENT_COMMAND_QUEUE, cl_command_queue),
    Q(CL_EVENT_CONTEXT, cl_context),
    Q(CL_EVENT_COMMAND_TYPE, cl_command_type),
    Q(CL_EVENT_COMMAND_EXECUTION_STATUS, cl_int),
    Q(CL_EVENT_REFERENCE_COUNT, cl_uint),
};

static const query program_queries[] = {
    Q(CL_PROGRAM_REFERENCE_COUNT, cl_uint),
    Q(CL_PROGRAM_CONTEXT, cl_context),
    Q(CL_PROGRAM_NUM_DEVICES, cl_uint),
    Q(CL_PROGRAM_DEVICES, cl_device_id),
    S(CL_PROGRAM_SOURCE),
    Q(CL_PROGRAM_BINARY_SIZES, size_t),
    Q(CL_PROGRAM_BINARIES, unsigned char *),
};

static const query arg_queries[] = {
    Q(CL_KERNEL_ARG_ADDRESS_QUALIFIER, cl_kernel_arg_address_qualifier),
    Q(CL_KERNEL_ARG_ACCESS_QUALIFIER, cl_kernel_arg_access_qualifier),
    Q(CL_KERNEL_ARG_TYPE_QUALIFIER, cl_kernel_arg_type_qualifier),
    S(CL_KERNEL_ARG_TYPE_NAME),
    S(CL_KERNEL_ARG_NAME),
};

static const query pipe_queries[] = {
    Q(CL_PIPE_PACKET_SIZE, cl_uint),
    Q(CL_PIPE_MAX_PACKETS, cl_uint),
};

static cl_kernel kernel;
static cl_mem pipe_object;
static cl_mem mem;
static cl_event event;
static cl_program program;

static cl_int ask_platform(cl_uint n, size_t s, void *v, size_t *r) { return clGetPlatformInfo(platform, n, s, v, r); }
static cl_int ask_device(cl_uint n, size_t s, void *v, size_t *r) { return clGetDeviceInfo(device, n, s, v, r); }
static cl_int ask_context(cl_uint n, size_t s, void *v, size_t *r) { return clGetContextInfo(context, n, s, v, r); }
static cl_int ask_queue(cl_uint n, size_t s, void *v, size_t *r) { return clGetCommandQueueInfo(queue, n, s, v, r); }
static cl_int ask_mem(cl_uint n, size_t s, void *v, size_t *r) { return clGetMemObjectInfo(mem, n, s, v, r); }
static cl_int ask_event(cl_uint n, size_t s, void *v, size_t *r) { return clGetEventInfo(event, n, s, v, r); }
static cl_int ask_program(cl_uint n, size_t s, void *v, size_t *r) { return clGetProgramInfo(program, n, s, v, r); }

static cl_int ask_arg(cl_uint n, size_t s, void *v, size_t *r) { return clGetKernelArgInfo(kernel, 0, n, s, v, r); }
static cl_int ask_pipe(cl_uint n, size_t s, void *v, size_t *r) { return clGetPipeInfo(pipe_object, n, s, v, r); }

typedef cl_int asker(cl_uint, size_t, void *, size_t *);

static void ask_all(asker *ask, const query *queries, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const query *q = &queries[i];
        size_t size = 12345, again = 12345;
        check_status(q->text, __LINE__, CL_SUCCESS, ask(q->name, 0, NULL, &size));
        if (q->size != ANY_STRING) {
            check_status(q->text, __LINE__, (cl_int)q->size, (cl_int)size);
        }
        if (size > 65536 || q->name == CL_PROGRAM_BINARIES) {
            continue;
        }
        unsigned char *value = malloc(size + 8);
        memset(value, 0xa5, size + 8);
        check_status(q->text, __LINE__, CL_INVALID_VALUE, ask(q->name, size - 1, value, NULL));
        TRUE(value[0] == 0xa5);
        check_status(q->text, __LINE__, CL_SUCCESS, ask(q->name, size + 8, value, &again));
        TRUE(again == size);
        TRUE(value[size] == 0xa5);
        if (q->size == ANY_STRING) {
            TRUE(memchr(value, 0, size) == value + size - 1);
        }
        free(value);
    }
}
#define ASK(what) ask_all(ask_##what, what##_queries, sizeof what##_queries / sizeof *what##_queries)

/* What must hold between answers. */
static void consistency(void) {
    cl_uint units, dims, n;
    size_t items[3], group, size;
    cl_ulong alloc, global;
    cl_context c;
    cl_bool yes;
    char version[128];
    cl_uint align;
    cl_platform_id p;

    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    TRUE(units >= 1);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, sizeof dims, &dims, NULL));
    TRUE(dims == 3);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items, NULL));
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group, NULL));
    TRUE(items[0] >= 1 && items[1] >= 1 && items[2] >= 1 && group >= 1);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof alloc, &alloc, NULL));
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof global, &global, NULL));
    TRUE(alloc <= global && (alloc >= global / 4 || alloc >= 1ull << 30));
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof align, &align, NULL));
    TRUE(align >= 1024);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof p, &p, NULL));
    TRUE(p == platform);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_VERSION, sizeof version, version, NULL));
    TRUE(strncmp(version, "OpenCL 3.1 ", 11) == 0);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_ENDIAN_LITTLE, sizeof yes, &yes, NULL));
    TRUE(yes == CL_TRUE || yes == CL_FALSE);

    STATUS(CL_SUCCESS, clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof c, &c, NULL));
    TRUE(c == context);
    STATUS(CL_SUCCESS, clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, NULL));
    TRUE(n == 1);
    STATUS(CL_SUCCESS, clRetainContext(context));
    STATUS(CL_SUCCESS, clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, NULL));
    TRUE(n == 2);
    STATUS(CL_SUCCESS, clReleaseContext(context));

    /* Arrays of names with versions. */
    cl_uint arrays[] = {CL_DEVICE_EXTENSIONS_WITH_VERSION, CL_DEVICE_ILS_WITH_VERSION,
                        CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, CL_DEVICE_OPENCL_C_ALL_VERSIONS,
                        CL_DEVICE_OPENCL_C_FEATURES};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        STATUS(CL_SUCCESS, clGetDeviceInfo(device, arrays[i], 0, NULL, &size));
        TRUE(size % sizeof(cl_name_version) == 0);
    }

    /* SPIR-V: instruction sets and extensions by name, capabilities by number. */
    const char *names[256];
    cl_uint capabilities[256];
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, DEVICE_SPIRV_EXTENDED_INSTRUCTION_SETS, sizeof names, names, &size));
    int has_std = 0;
    for (size_t i = 0; i < size / sizeof(char *); i++) {
        has_std |= strcmp(names[i], "OpenCL.std") == 0;
    }
    TRUE(has_std);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, DEVICE_SPIRV_EXTENSIONS, sizeof names, names, &size));
    for (size_t i = 0; i < size / sizeof(char *); i++) {
        TRUE(strncmp(names[i], "SPV_", 4) == 0);
    }
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, DEVICE_SPIRV_CAPABILITIES, sizeof capabilities, capabilities, &size));
    cl_bool has_kernel = CL_FALSE;
    for (size_t i = 0; i < size / sizeof(cl_uint); i++) {
        has_kernel |= capabilities[i] == 6; /* Kernel */
    }
    TRUE(has_kernel);

    /* Lists are answered as they were given: none, and one with its ending zero. */
    cl_int err;
    cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    cl_queue_properties answer[8];
    STATUS(CL_SUCCESS, clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, 0, NULL, &size));
    TRUE(size == 0);
    cl_command_queue q = clCreateCommandQueueWithProperties(context, device, list, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES_ARRAY, sizeof answer, answer, &size));
    TRUE(size == sizeof list && memcmp(answer, list, size) == 0);
    STATUS(CL_SUCCESS, clReleaseCommandQueue(q));
    STATUS(CL_SUCCESS, clGetContextInfo(context, CL_CONTEXT_PROPERTIES, 0, NULL, &size));
    TRUE(size == 0);
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    cl_context_properties properties_answer[8];
    c = clCreateContext(properties, 1, &device, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clGetContextInfo(c, CL_CONTEXT_PROPERTIES, sizeof properties_answer,
                                        properties_answer, &size));
    TRUE(size == sizeof properties && memcmp(properties_answer, properties, size) == 0);
    STATUS(CL_SUCCESS, clReleaseContext(c));
    cl_mem_properties mem_list[] = {0};
    cl_mem with = clCreateBufferWithProperties(context, mem_list, 0, 16, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clGetMemObjectInfo(with, CL_MEM_PROPERTIES, 0, NULL, &size));
    TRUE(size == sizeof mem_list);
    STATUS(CL_SUCCESS, clReleaseMemObject(with));
    STATUS(CL_SUCCESS, clGetMemObjectInfo(mem, CL_MEM_PROPERTIES, 0, NULL, &size));
    TRUE(size == 0);
}

/* Whether an array of names with versions has one of this name; its version, if so. */
static int is_listed(cl_device_info query, const char *name, cl_version version) {
    static cl_name_version all[256];
    size_t size = 0;
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, query, sizeof all, all, &size));
    for (size_t i = 0; i < size / sizeof *all; i++) {
        if (strcmp(all[i].name, name) == 0 && (version == 0 || all[i].version == version)) return 1;
    }
    printf("%s is not listed\n", name);
    return 0;
}

/* The versions of OpenCL C that a device of OpenCL 3.1 must have, and 2.0, each of which a program can ask for. Then
 * "Required OpenCL Extensions" and the features of what they add. */
static void opencl_c(void) {
    const char *options[] = {"-cl-std=CL1.0", "-cl-std=CL1.1", "-cl-std=CL1.2",
                             "-cl-std=CL2.0", "-cl-std=CL3.0", "-cl-std=CL3.1"};
    for (int i = 0; i < 6; i++) {
        cl_uint major = options[i][10] - '0', minor = options[i][12] - '0';
        TRUE(is_listed(CL_DEVICE_OPENCL_C_ALL_VERSIONS, "OpenCL C", CL_MAKE_VERSION(major, minor, 0)));
        char text[128];
        const char *source = text;
        int number = 100 * major + 10 * minor;
        snprintf(text, sizeof text, "kernel void k() {}\n#if %d != 100 && __OPENCL_C_VERSION__ != %d\n#error\n#endif\n",
                 number, number);
        cl_int err;
        cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
        STATUS(CL_SUCCESS, err);
        STATUS(CL_SUCCESS, clBuildProgram(program, 1, &device, options[i], NULL, NULL));
        STATUS(CL_SUCCESS, clReleaseProgram(program));
    }
    char version[128];
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_OPENCL_C_VERSION, sizeof version, version, NULL));
    TRUE(strncmp(version, "OpenCL C 1.2 ", 13) == 0);

    const char *extensions[] = {"cl_khr_byte_addressable_store", "cl_khr_global_int32_base_atomics",
                                "cl_khr_global_int32_extended_atomics", "cl_khr_local_int32_base_atomics",
                                "cl_khr_local_int32_extended_atomics", "cl_khr_device_uuid", "cl_khr_extended_bit_ops",
                                "cl_khr_integer_dot_product", "cl_khr_spirv_queries", "cl_khr_subgroup_extended_types",
                                "cl_khr_subgroup_rotate", "cl_khr_subgroup_shuffle", "cl_khr_subgroup_shuffle_relative",
                                "cl_khr_suggested_local_work_size"};
    for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++) {
        TRUE(is_listed(CL_DEVICE_EXTENSIONS_WITH_VERSION, extensions[i], 0));
    }
    const char *features[] = {"__opencl_c_int64", "__opencl_c_subgroups",
                              "__opencl_c_integer_dot_product_input_4x8bit_packed"};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        TRUE(is_listed(CL_DEVICE_OPENCL_C_FEATURES, features[i], CL_MAKE_VERSION(3, 0, 0)));
    }
}

/* C++ for OpenCL is listed where its compiler is installed, and only there has its version. */
static void cxx_for_opencl(void) {
    cl_version version = 0;
    cl_int queried = clGetDeviceInfo(device, DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT, sizeof version, &version, NULL);
    const char *source = "#if __OPENCL_CPP_VERSION__ != 100\n#error\n#endif\ntemplate<class T> T f(T a) { return a; }\n"
                         "kernel void k(global int *p) { *p = f(1); }";
    cl_int err;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_int built = clBuildProgram(program, 1, &device, "-cl-std=CLC++", NULL, NULL);
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    if (is_listed(CL_DEVICE_EXTENSIONS_WITH_VERSION, "cl_ext_cxx_for_opencl", 0)) {
        STATUS(CL_SUCCESS, queried);
        TRUE(version == CL_MAKE_VERSION(1, 0, 0));
        STATUS(CL_SUCCESS, built);
    } else {
        STATUS(CL_INVALID_VALUE, queried);
        STATUS(CL_BUILD_PROGRAM_FAILURE, built);
    }
}

/* A loader may let go of the library, which stays. */
static void unloadable(void) {
    cl_bool is_unloadable = CL_FALSE;
    STATUS(CL_SUCCESS, clGetPlatformInfo(platform, PLATFORM_UNLOADABLE_KHR, sizeof is_unloadable, &is_unloadable, NULL));
    TRUE(is_unloadable == CL_TRUE);
}

int main(void) {
    cl_int err;
    const char *source = "kernel void k(global int *p) { *p = 1; }";
    setup();
    opencl_c();
    cxx_for_opencl();
    unloadable();
    mem = clCreateBuffer(context, CL_MEM_READ_WRITE, 1024, NULL, &err);
    STATUS(CL_SUCCESS, err);
    event = clCreateUserEvent(context, &err);
    STATUS(CL_SUCCESS, err);
    program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, err);
    ASK(platform);
    ASK(device);
    ASK(context);
    ASK(queue);
    ASK(mem);
    ASK(event);
    ASK(program);
    STATUS(CL_SUCCESS, clBuildProgram(program, 1, &device, "-cl-kernel-arg-info", NULL, NULL));
    kernel = clCreateKernel(program, "k", &err);
    STATUS(CL_SUCCESS, err);
    pipe_object = clCreatePipe(context, 0, 4, 4, NULL, &err);
    STATUS(CL_SUCCESS, err);
    ASK(arg);
    ASK(pipe);
    consistency();
    STATUS(CL_SUCCESS, clSetUserEventStatus(event, CL_COMPLETE));
    STATUS(CL_SUCCESS, clReleaseEvent(event));
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    STATUS(CL_SUCCESS, clReleaseMemObject(pipe_object));
    STATUS(CL_SUCCESS, clReleaseMemObject(mem));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
    STATUS(CL_SUCCESS, clReleaseContext(context));
    return finish();
}
