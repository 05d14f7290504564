/* Sub-devices: made in every way, asked about, retained, released and divided again; their queues run kernels with the right
 * results, and everything that they run stays on their processors. */
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>
#include <stdlib.h>

#define ITEMS (1 << 16)

static const char *source = "kernel void add(global uint *x, uint a) { x[get_global_id(0)] += a; }\n";

/* The processors that the calling thread may run on. */
static void CL_CALLBACK where(void *data) {
    cpu_set_t *set = *(cpu_set_t **)data;
    sched_getaffinity(0, sizeof *set, set);
}

static cl_uint units_of(cl_device_id one) {
    cl_uint units = 0;
    STATUS(CL_SUCCESS, clGetDeviceInfo(one, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    return units;
}

static cl_uint references(cl_device_id one) {
    cl_uint count = 0;
    STATUS(CL_SUCCESS, clGetDeviceInfo(one, CL_DEVICE_REFERENCE_COUNT, sizeof count, &count, NULL));
    return count;
}

/* What `CL_DEVICE_PARTITION_TYPE` says, compared with a list of `count` values. */
static void check_type(cl_device_id one, const cl_device_partition_property *expected, size_t count) {
    cl_device_partition_property got[8];
    size_t size = 0;
    STATUS(CL_SUCCESS, clGetDeviceInfo(one, CL_DEVICE_PARTITION_TYPE, sizeof got, got, &size));
    TRUE(size == count * sizeof *expected);
    TRUE(memcmp(got, expected, size) == 0);
}

static void make(void) {
    cl_device_id parts[8], parent = NULL;
    cl_uint count = 0;
    cl_device_partition_property ways[8];
    size_t size = 0;
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_PARTITION_PROPERTIES, sizeof ways, ways, &size));
    TRUE(size >= 2 * sizeof *ways && ways[0] == CL_DEVICE_PARTITION_EQUALLY && ways[1] == CL_DEVICE_PARTITION_BY_COUNTS);
    cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 2, 0};
    STATUS(CL_SUCCESS, clCreateSubDevices(device, equally, 0, NULL, &count));
    TRUE(count == 2);
    STATUS(CL_INVALID_VALUE, clCreateSubDevices(device, equally, 1, parts, NULL));
    STATUS(CL_SUCCESS, clCreateSubDevices(device, equally, 8, parts, &count));
    TRUE(count == 2 && units_of(parts[0]) == 2 && units_of(parts[1]) == 2);
    check_type(parts[1], equally, 3);
    STATUS(CL_SUCCESS, clGetDeviceInfo(parts[0], CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, NULL));
    TRUE(parent == device);

    TRUE(references(parts[0]) == 1);
    STATUS(CL_SUCCESS, clRetainDevice(parts[0]));
    TRUE(references(parts[0]) == 2);
    STATUS(CL_SUCCESS, clReleaseDevice(parts[0]));

    /* Divided again, and kept by its part. */
    cl_device_id single[2];
    cl_device_partition_property by_one[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    STATUS(CL_SUCCESS, clCreateSubDevices(parts[0], by_one, 2, single, NULL));
    STATUS(CL_SUCCESS, clReleaseDevice(parts[0]));
    STATUS(CL_SUCCESS, clGetDeviceInfo(single[0], CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, NULL));
    TRUE(parent == parts[0]);
    TRUE(units_of(parent) == 2);
    STATUS(CL_DEVICE_PARTITION_FAILED, clCreateSubDevices(single[0], by_one, 2, single, NULL));
    cl_uint most = 77;
    STATUS(CL_SUCCESS, clGetDeviceInfo(single[0], CL_DEVICE_PARTITION_MAX_SUB_DEVICES, sizeof most, &most, NULL));
    TRUE(most == 0);
    STATUS(CL_SUCCESS, clReleaseDevice(single[0]));
    STATUS(CL_SUCCESS, clReleaseDevice(single[1]));
    STATUS(CL_INVALID_DEVICE, clReleaseDevice(parts[0]));
    STATUS(CL_SUCCESS, clReleaseDevice(parts[1]));

    cl_device_partition_property counts[] = {CL_DEVICE_PARTITION_BY_COUNTS, 3, 1, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    STATUS(CL_SUCCESS, clCreateSubDevices(device, counts, 8, parts, &count));
    TRUE(count == 2 && units_of(parts[0]) == 3 && units_of(parts[1]) == 1);
    check_type(parts[0], counts, 5);
    STATUS(CL_SUCCESS, clReleaseDevice(parts[0]));
    STATUS(CL_SUCCESS, clReleaseDevice(parts[1]));

    cl_device_partition_property too_many[] = {CL_DEVICE_PARTITION_BY_COUNTS, 3, 2, 0, 0};
    cl_device_partition_property negative[] = {CL_DEVICE_PARTITION_BY_COUNTS, -1, 0, 0};
    cl_device_partition_property too_large[] = {CL_DEVICE_PARTITION_EQUALLY, 5, 0};
    cl_device_partition_property all[] = {CL_DEVICE_PARTITION_EQUALLY, 4, 0};
    cl_device_partition_property none[] = {CL_DEVICE_PARTITION_EQUALLY, 0, 0};
    cl_device_partition_property unknown[] = {0x7777, 1, 0};
    STATUS(CL_INVALID_DEVICE_PARTITION_COUNT, clCreateSubDevices(device, too_many, 8, parts, &count));
    STATUS(CL_INVALID_DEVICE_PARTITION_COUNT, clCreateSubDevices(device, negative, 8, parts, &count));
    STATUS(CL_INVALID_DEVICE_PARTITION_COUNT, clCreateSubDevices(device, too_large, 8, parts, &count));
    STATUS(CL_DEVICE_PARTITION_FAILED, clCreateSubDevices(device, all, 8, parts, &count));
    STATUS(CL_INVALID_VALUE, clCreateSubDevices(device, none, 8, parts, &count));
    STATUS(CL_INVALID_VALUE, clCreateSubDevices(device, unknown, 8, parts, &count));
    STATUS(CL_INVALID_VALUE, clCreateSubDevices(device, NULL, 8, parts, &count));

    /* Each domain that is listed divides the device. */
    cl_device_affinity_domain domains = 0;
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_PARTITION_AFFINITY_DOMAIN, sizeof domains, &domains, NULL));
    for (int bit = 0; bit < 6; bit++) {
        cl_device_partition_property by_domain[] = {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, 1 << bit, 0};
        cl_int expected = domains & (1 << bit) ? CL_SUCCESS : CL_DEVICE_PARTITION_FAILED;
        STATUS(expected, clCreateSubDevices(device, by_domain, 8, parts, &count));
        for (cl_uint i = 0; expected == CL_SUCCESS && i < count; i++) STATUS(CL_SUCCESS, clReleaseDevice(parts[i]));
    }
}

/* The extension spells the same. */
static void make_by_extension(void) {
    clCreateSubDevicesEXT_fn create =
        (clCreateSubDevicesEXT_fn)clGetExtensionFunctionAddressForPlatform(platform, "clCreateSubDevicesEXT");
    clReleaseDeviceEXT_fn release = (clReleaseDeviceEXT_fn)clGetExtensionFunctionAddressForPlatform(platform, "clReleaseDeviceEXT");
    TRUE(create != NULL && release != NULL);
    if (create == NULL || release == NULL) return;
    cl_device_partition_property_ext names[] = {CL_DEVICE_PARTITION_BY_NAMES_EXT, 3, 1, CL_PARTITION_BY_NAMES_LIST_END_EXT,
                                                CL_PROPERTIES_LIST_END_EXT};
    cl_device_partition_property_ext style[8];
    cl_device_id parts[4], parent = NULL;
    cl_uint count = 0;
    size_t size = 0;
    STATUS(CL_SUCCESS, create(device, names, 4, parts, &count));
    TRUE(count == 1 && units_of(parts[0]) == 2);
    STATUS(CL_SUCCESS, clGetDeviceInfo(parts[0], CL_DEVICE_PARTITION_STYLE_EXT, sizeof style, style, &size));
    TRUE(size == sizeof names && memcmp(style, names, size) == 0);
    STATUS(CL_SUCCESS, clGetDeviceInfo(parts[0], CL_DEVICE_PARENT_DEVICE_EXT, sizeof parent, &parent, NULL));
    TRUE(parent == device);
    STATUS(CL_SUCCESS, release(parts[0]));
    names[1] = 4;
    STATUS(CL_INVALID_PARTITION_NAME_EXT, create(device, names, 4, parts, &count));
    cl_device_partition_property_ext counts[] = {CL_DEVICE_PARTITION_BY_COUNTS_EXT, 4, 1, CL_PARTITION_BY_COUNTS_LIST_END_EXT,
                                                 CL_PROPERTIES_LIST_END_EXT};
    STATUS(CL_INVALID_PARTITION_COUNT_EXT, create(device, counts, 4, parts, &count));
    cl_device_partition_property_ext equally[] = {CL_DEVICE_PARTITION_EQUALLY_EXT, 5, CL_PROPERTIES_LIST_END_EXT};
    STATUS(CL_INVALID_PARTITION_COUNT_EXT, create(device, equally, 4, parts, &count));
    equally[1] = 4;
    STATUS(CL_DEVICE_PARTITION_FAILED_EXT, create(device, equally, 4, parts, &count));
}

/* Queues of two sub-devices and of the root device take turns on one buffer. */
static void run(void) {
    cl_int err;
    cl_device_id all[3];
    cl_device_partition_property by_counts[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1, 1, 0, 0};
    STATUS(CL_SUCCESS, clCreateSubDevices(device, by_counts, 2, all, NULL));
    all[2] = device;
    cl_context shared = clCreateContext(NULL, 3, all, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_program program = clCreateProgramWithSource(shared, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, err);
    err = clBuildProgram(program, 3, all, "", NULL, NULL);
    STATUS(CL_SUCCESS, err);
    cl_kernel kernel = clCreateKernel(program, "add", &err);
    cl_mem buffer = clCreateBuffer(shared, 0, ITEMS * sizeof(cl_uint), NULL, &err);
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    cl_command_queue queues[3];
    for (int i = 0; i < 3; i++) {
        queues[i] = clCreateCommandQueueWithProperties(shared, all[i], NULL, &err);
        STATUS(CL_SUCCESS, err);
    }
    cl_uint zero = 0, sum = 0;
    cl_event last;
    STATUS(CL_SUCCESS, clEnqueueFillBuffer(queues[2], buffer, &zero, sizeof zero, 0, ITEMS * sizeof zero, 0, NULL, &last));
    STATUS(CL_SUCCESS, clFlush(queues[2]));
    for (cl_uint i = 1; i <= 30; i++) {
        size_t size = ITEMS;
        cl_event next;
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof i, &i));
        STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queues[i % 3], kernel, 1, NULL, &size, NULL, 1, &last, &next));
        STATUS(CL_SUCCESS, clFlush(queues[i % 3]));
        STATUS(CL_SUCCESS, clReleaseEvent(last));
        last = next;
        sum += i;
    }
    cl_uint *result = malloc(ITEMS * sizeof *result);
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queues[0], buffer, CL_TRUE, 0, ITEMS * sizeof *result, result, 1, &last, NULL));
    int right = 1;
    for (int i = 0; i < ITEMS; i++) right &= result[i] == sum;
    TRUE(right);
    free(result);
    STATUS(CL_SUCCESS, clReleaseEvent(last));

    /* What was not flushed, and is too short to wake a thread for, gets going when a sub-device's command waits for it, however that is
     * waited for. */
    for (int way = 0; way < 3; way++) {
        size_t one = 1;
        cl_event first, second;
        cl_int status = CL_QUEUED;
        STATUS(CL_SUCCESS, clEnqueueFillBuffer(queues[2], buffer, &zero, sizeof zero, 0, sizeof zero, 0, NULL, &first));
        STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queues[0], kernel, 1, NULL, &one, NULL, 1, &first, &second));
        if (way == 0) STATUS(CL_SUCCESS, clWaitForEvents(1, &second));
        if (way == 1) STATUS(CL_SUCCESS, clFinish(queues[0]));
        while (status > CL_COMPLETE) {
            STATUS(CL_SUCCESS, clGetEventInfo(second, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
        }
        TRUE(status == CL_COMPLETE);
        STATUS(CL_SUCCESS, clReleaseEvent(first));
        STATUS(CL_SUCCESS, clReleaseEvent(second));
    }

    /* A command of a sub-device runs on one processor, whichever thread waits for it; this process may use as many as before. */
    cpu_set_t before, places[2], after;
    sched_getaffinity(0, sizeof before, &before);
    for (int i = 0; i < 2; i++) {
        cpu_set_t *place = &places[i];
        CPU_ZERO(place);
        STATUS(CL_SUCCESS, clEnqueueNativeKernel(queues[i], where, &place, sizeof place, 0, NULL, NULL, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clFinish(queues[i]));
        TRUE(CPU_COUNT(place) == 1);
    }
    if (CPU_COUNT(&before) > 1) TRUE(!CPU_EQUAL(&places[0], &places[1]));
    sched_getaffinity(0, sizeof after, &after);
    TRUE(CPU_EQUAL(&before, &after));

    for (int i = 0; i < 3; i++) STATUS(CL_SUCCESS, clReleaseCommandQueue(queues[i]));
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    STATUS(CL_SUCCESS, clReleaseContext(shared));
    STATUS(CL_SUCCESS, clReleaseDevice(all[0]));
    STATUS(CL_SUCCESS, clReleaseDevice(all[1]));
}

int main(void) {
    /* Four compute units on any machine. */
    setenv("BROLGA_THREADS", "4", 1);
    setup();
    if (units_of(device) != 4) {
        printf("not four compute units\n");
        return 1;
    }
    make();
    make_by_extension();
    run();
    return finish();
}
