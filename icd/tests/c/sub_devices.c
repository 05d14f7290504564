/* Sub-devices, by the core's names and by those of cl_ext_device_fission: what they are made of, what is enqueued on them runs on their
 * processors only, contexts and programs of several work, and every error is the specification's. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <sched.h>

#define MOST 1024
#define RUNS 64

static clCreateSubDevicesEXT_fn create_ext;
static clRetainDeviceEXT_fn retain_ext;
static clReleaseDeviceEXT_fn release_ext;

static const char *source = "kernel void scale(global int *p, int n) { p[get_global_id(0)] *= n; }\n";

static cl_uint units_of(cl_device_id d) {
    cl_uint units = 0;
    STATUS(CL_SUCCESS, clGetDeviceInfo(d, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    return units;
}

static void check_part(cl_device_id part, cl_device_id parent, cl_uint units, const cl_device_partition_property *type,
                       size_t type_size) {
    cl_device_id parent_is;
    cl_uint count;
    cl_device_partition_property type_is[MOST];
    size_t size;
    cl_ulong memory[2];
    STATUS(CL_SUCCESS, clGetDeviceInfo(part, CL_DEVICE_PARENT_DEVICE, sizeof parent_is, &parent_is, &size));
    TRUE(parent_is == parent && size == sizeof parent);
    TRUE(units_of(part) == units);
    STATUS(CL_SUCCESS, clGetDeviceInfo(part, CL_DEVICE_PARTITION_TYPE, sizeof type_is, type_is, &size));
    TRUE(size == type_size && memcmp(type_is, type, size) == 0);
    STATUS(CL_SUCCESS, clGetDeviceInfo(part, CL_DEVICE_REFERENCE_COUNT, sizeof count, &count, NULL));
    TRUE(count == 1);
    STATUS(CL_SUCCESS, clGetDeviceInfo(part, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory[0], &memory[0], NULL));
    STATUS(CL_SUCCESS, clGetDeviceInfo(parent, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory[1], &memory[1], NULL));
    TRUE(memory[0] == memory[1]);
}

static void release_all(cl_device_id *parts, cl_uint n) {
    for (cl_uint i = 0; i < n; i++) {
        STATUS(CL_SUCCESS, clReleaseDevice(parts[i]));
        STATUS(CL_INVALID_DEVICE, clReleaseDevice(parts[i]));
    }
}

static void schemes(cl_uint units) {
    cl_device_id parts[MOST];
    cl_uint n = 0, most;
    cl_device_partition_property known[8];
    cl_device_affinity_domain domains;
    size_t size;
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_PARTITION_MAX_SUB_DEVICES, sizeof most, &most, NULL));
    TRUE(most == units);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_PARTITION_PROPERTIES, sizeof known, known, &size));
    STATUS(CL_INVALID_VALUE, clGetDeviceInfo(device, CL_DEVICE_PARTITION_PROPERTIES, size - 1, known, NULL));
    TRUE(units == 1 ? known[0] == 0 : known[0] == CL_DEVICE_PARTITION_EQUALLY && known[1] == CL_DEVICE_PARTITION_BY_COUNTS);
    for (cl_uint count = 1; count < units; count++) {
        cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, count, 0};
        STATUS(CL_SUCCESS, clCreateSubDevices(device, equally, 0, NULL, &n));
        TRUE(n == units / count);
        STATUS(CL_INVALID_VALUE, clCreateSubDevices(device, equally, n - 1, parts, NULL));
        STATUS(CL_SUCCESS, clCreateSubDevices(device, equally, MOST, parts, &n));
        TRUE(n == units / count);
        for (cl_uint i = 0; i < n; i++) {
            check_part(parts[i], device, count, equally, sizeof equally);
        }
        release_all(parts, n);
    }
    if (units > 1) {
        cl_device_partition_property counts[] = {CL_DEVICE_PARTITION_BY_COUNTS, units - 1, 1, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
        STATUS(CL_SUCCESS, clCreateSubDevices(device, counts, 2, parts, &n));
        TRUE(n == 2);
        check_part(parts[0], device, units - 1, counts, sizeof counts);
        check_part(parts[1], device, 1, counts, sizeof counts);
        /* A part of a part keeps what it is a part of. */
        cl_device_partition_property one[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
        cl_device_id inner[MOST];
        STATUS(CL_DEVICE_PARTITION_FAILED, clCreateSubDevices(parts[1], one, MOST, inner, &n));
        if (units > 2) {
            STATUS(CL_SUCCESS, clCreateSubDevices(parts[0], one, MOST, inner, &n));
            TRUE(n == units - 1);
            check_part(inner[0], parts[0], 1, one, sizeof one);
            STATUS(CL_SUCCESS, clRetainDevice(inner[0]));
            STATUS(CL_SUCCESS, clReleaseDevice(parts[0]));
            STATUS(CL_SUCCESS, clReleaseDevice(inner[0]));
            TRUE(units_of(inner[0]) == 1);
            release_all(inner, n);
        } else {
            release_all(&parts[0], 1);
        }
        release_all(&parts[1], 1);
    }
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_PARTITION_AFFINITY_DOMAIN, sizeof domains, &domains, NULL));
    for (cl_device_affinity_domain domain = 1; domain <= CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE; domain *= 2) {
        cl_device_partition_property along[] = {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, (cl_device_partition_property)domain, 0};
        cl_int unsupported = units == 1 ? CL_DEVICE_PARTITION_FAILED : CL_INVALID_VALUE;
        STATUS(domains & domain ? CL_SUCCESS : unsupported, clCreateSubDevices(device, along, MOST, parts, &n));
        if (domains & domain) {
            cl_uint sum = 0;
            for (cl_uint i = 0; i < n; i++) {
                cl_device_partition_property type[3];
                STATUS(CL_SUCCESS, clGetDeviceInfo(parts[i], CL_DEVICE_PARTITION_TYPE, sizeof type, type, &size));
                TRUE(size == sizeof type && type[0] == along[0] && type[2] == 0);
                TRUE(type[1] == along[1] || domain == CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE);
                TRUE(type[1] != CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE);
                sum += units_of(parts[i]);
            }
            TRUE(n > 1 && sum == units);
            release_all(parts, n);
        }
    }
}

static void errors(cl_uint units) {
    cl_device_id d[MOST], wrong = (cl_device_id)queue;
    cl_uint n;
    cl_device_partition_property nothing[] = {0}, unknown[] = {0x4242, 1, 0};
    cl_device_partition_property zero[] = {CL_DEVICE_PARTITION_EQUALLY, 0, 0}, negative[] = {CL_DEVICE_PARTITION_EQUALLY, -1, 0};
    cl_device_partition_property two[] = {CL_DEVICE_PARTITION_EQUALLY, 1, CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_device_partition_property more[] = {CL_DEVICE_PARTITION_EQUALLY, units, 0};
    cl_device_partition_property no_counts[] = {CL_DEVICE_PARTITION_BY_COUNTS, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    cl_device_partition_property too_many[] = {CL_DEVICE_PARTITION_BY_COUNTS, units, 1, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    cl_device_partition_property below[] = {CL_DEVICE_PARTITION_BY_COUNTS, -1, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    cl_device_partition_property no_domain[] = {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, 0x4242, 0};
    STATUS(CL_INVALID_DEVICE, clCreateSubDevices(NULL, unknown, MOST, d, &n));
    STATUS(CL_INVALID_DEVICE, clCreateSubDevices(wrong, unknown, MOST, d, &n));
    STATUS(CL_INVALID_VALUE, clCreateSubDevices(device, NULL, MOST, d, &n));
    STATUS(CL_INVALID_VALUE, clCreateSubDevices(device, nothing, MOST, d, &n));
    STATUS(CL_INVALID_VALUE, clCreateSubDevices(device, unknown, MOST, d, &n));
    STATUS(CL_INVALID_VALUE, clCreateSubDevices(device, zero, MOST, d, &n));
    STATUS(CL_INVALID_VALUE, clCreateSubDevices(device, negative, MOST, d, &n));
    STATUS(CL_INVALID_VALUE, clCreateSubDevices(device, two, MOST, d, &n));
    STATUS(CL_INVALID_VALUE, clCreateSubDevices(device, no_counts, MOST, d, &n));
    STATUS(CL_INVALID_VALUE, clCreateSubDevices(device, no_domain, MOST, d, &n));
    STATUS(CL_DEVICE_PARTITION_FAILED, clCreateSubDevices(device, more, MOST, d, &n));
    STATUS(CL_INVALID_DEVICE_PARTITION_COUNT, clCreateSubDevices(device, too_many, MOST, d, &n));
    STATUS(CL_INVALID_DEVICE_PARTITION_COUNT, clCreateSubDevices(device, below, MOST, d, &n));
    STATUS(CL_INVALID_DEVICE, clRetainDevice(wrong));
    STATUS(CL_INVALID_DEVICE, clReleaseDevice(NULL));
    /* The whole device is never released. */
    STATUS(CL_SUCCESS, clReleaseDevice(device));
    STATUS(CL_SUCCESS, clReleaseDevice(device));
    TRUE(units_of(device) == units);
}

typedef struct {
    int *places;
    int index;
} native_args;

/* Which processor this is, if the thread may only be on as many as it should. */
static void CL_CALLBACK where(void *p) {
    native_args *args = p;
    cpu_set_t set;
    args->places[args->index] = -1;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        args->places[args->index] = CPU_COUNT(&set) == 1 ? sched_getcpu() : -2;
    }
}

/* Two sub-devices of one compute unit each: neither runs anything where the other does. */
static void confinement(void) {
    cl_int err;
    cl_uint n;
    cl_device_id parts[MOST], of_program[2];
    cpu_set_t before, after;
    static int places[2][RUNS];
    cl_device_partition_property one[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    STATUS(CL_SUCCESS, clCreateSubDevices(device, one, MOST, parts, &n));
    cl_context both = clCreateContext(NULL, 2, parts, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_program program = clCreateProgramWithSource(both, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, clBuildProgram(program, 2, parts, NULL, NULL, NULL));
    STATUS(CL_INVALID_DEVICE, clBuildProgram(program, 1, &device, NULL, NULL, NULL));
    STATUS(CL_SUCCESS, clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof of_program, of_program, NULL));
    TRUE(of_program[0] == parts[0] && of_program[1] == parts[1]);
    cl_kernel kernel = clCreateKernel(program, "scale", &err);
    STATUS(CL_SUCCESS, err);
    CREATED(CL_INVALID_DEVICE, clCreateCommandQueueWithProperties(both, device, NULL, &err));

    sched_getaffinity(0, sizeof before, &before);
    enum { N = 1 << 16 };
    static cl_int data[N];
    for (int i = 0; i < N; i++) {
        data[i] = i;
    }
    cl_mem buffer = clCreateBuffer(both, CL_MEM_COPY_HOST_PTR, sizeof data, data, &err);
    cl_command_queue queues[2];
    size_t items = N;
    for (int q = 0; q < 2; q++) {
        cl_queue_properties any_order[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
        queues[q] = clCreateCommandQueueWithProperties(both, parts[q], any_order, &err);
        STATUS(CL_SUCCESS, err);
        STATUS(CL_SUCCESS, clReleaseDevice(parts[q]));
        for (int i = 0; i < RUNS; i++) {
            native_args args = {places[q], i};
            STATUS(CL_SUCCESS, clEnqueueNativeKernel(queues[q], where, &args, sizeof args, 0, NULL, NULL, 0, NULL, NULL));
        }
    }
    for (int q = 0; q < 2; q++) {
        cl_int n3 = 3 + q;
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof n3, &n3));
        STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queues[q], kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clFinish(queues[q]));
    }
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queues[0], buffer, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL));
    for (int i = 0; i < N; i++) {
        TRUE(data[i] == i * 12);
    }
    for (int i = 0; i < RUNS; i++) {
        TRUE(places[0][i] >= 0 && places[0][i] == places[0][0]);
        TRUE(places[1][i] >= 0 && places[1][i] == places[1][0]);
    }
    TRUE(places[0][0] != places[1][0]);
    /* This thread, which may have helped, goes where it went before. */
    sched_getaffinity(0, sizeof after, &after);
    TRUE(CPU_EQUAL(&before, &after));
    for (int q = 0; q < 2; q++) {
        STATUS(CL_SUCCESS, clReleaseCommandQueue(queues[q]));
    }
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    STATUS(CL_SUCCESS, clReleaseContext(both));
    if (n > 2) {
        release_all(parts + 2, n - 2);
    }
}

/* The same by the extension's names. */
static void fission(cl_uint units) {
    cl_device_id parts[MOST], parent;
    cl_uint n, count;
    cl_device_partition_property_ext list[8];
    size_t size;
    cl_device_partition_property_ext equally[] = {CL_DEVICE_PARTITION_EQUALLY_EXT, 1, CL_PROPERTIES_LIST_END_EXT};
    cl_device_partition_property_ext names[] = {CL_DEVICE_PARTITION_BY_NAMES_EXT, 0, CL_PARTITION_BY_NAMES_LIST_END_EXT, 0};
    cl_device_partition_property_ext too_many[] = {CL_DEVICE_PARTITION_BY_COUNTS_EXT, units, 1,
                                                   CL_PARTITION_BY_COUNTS_LIST_END_EXT, CL_PROPERTIES_LIST_END_EXT};
    cl_device_partition_property_ext more[] = {CL_DEVICE_PARTITION_EQUALLY_EXT, units, CL_PROPERTIES_LIST_END_EXT};
    STATUS(CL_INVALID_DEVICE, create_ext(NULL, equally, MOST, parts, &n));
    STATUS(CL_INVALID_VALUE, create_ext(device, equally, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, create_ext(device, equally, 0, parts, NULL));
    STATUS(CL_INVALID_VALUE, create_ext(device, NULL, MOST, parts, &n));
    STATUS(CL_INVALID_VALUE, create_ext(device, names, MOST, parts, &n));
    STATUS(CL_INVALID_PARTITION_COUNT_EXT, create_ext(device, too_many, MOST, parts, &n));
    STATUS(CL_DEVICE_PARTITION_FAILED_EXT, create_ext(device, more, MOST, parts, &n));
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_PARTITION_TYPES_EXT, sizeof list, list, &size));
    TRUE(units == 1 ? size == 0 : size >= 2 * sizeof *list && list[0] == CL_DEVICE_PARTITION_EQUALLY_EXT);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_AFFINITY_DOMAINS_EXT, sizeof list, list, &size));
    TRUE(size % sizeof *list == 0);
    if (units == 1) {
        return;
    }
    STATUS(CL_SUCCESS, create_ext(device, equally, 0, NULL, &n));
    TRUE(n == units);
    STATUS(CL_SUCCESS, create_ext(device, equally, MOST, parts, NULL));
    STATUS(CL_SUCCESS, clGetDeviceInfo(parts[0], CL_DEVICE_PARENT_DEVICE_EXT, sizeof parent, &parent, NULL));
    TRUE(parent == device);
    STATUS(CL_SUCCESS, clGetDeviceInfo(parts[0], CL_DEVICE_PARTITION_STYLE_EXT, sizeof list, list, &size));
    TRUE(size == sizeof equally && memcmp(list, equally, size) == 0);
    STATUS(CL_SUCCESS, retain_ext(parts[0]));
    STATUS(CL_SUCCESS, clGetDeviceInfo(parts[0], CL_DEVICE_REFERENCE_COUNT_EXT, sizeof count, &count, NULL));
    TRUE(count == 2);
    STATUS(CL_SUCCESS, release_ext(parts[0]));
    release_all(parts, n);
}

int main(void) {
    setup();
    create_ext = (clCreateSubDevicesEXT_fn)clGetExtensionFunctionAddressForPlatform(platform, "clCreateSubDevicesEXT");
    retain_ext = (clRetainDeviceEXT_fn)clGetExtensionFunctionAddressForPlatform(platform, "clRetainDeviceEXT");
    release_ext = (clReleaseDeviceEXT_fn)clGetExtensionFunctionAddressForPlatform(platform, "clReleaseDeviceEXT");
    TRUE(create_ext && retain_ext && release_ext);
    if (failures == 0) {
        cl_uint units = units_of(device);
        cpu_set_t set;
        sched_getaffinity(0, sizeof set, &set);
        schemes(units);
        errors(units);
        fission(units);
        /* Compute units have processors of their own unless BROLGA_THREADS asks for more of them. */
        if (units > 1 && units <= (cl_uint)CPU_COUNT(&set)) {
            confinement();
        }
    }
    return finish();
}
