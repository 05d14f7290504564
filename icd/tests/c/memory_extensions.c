/* Extensions of memory objects: cl_ext_buffer_device_address, cl_ext_immutable_memory_objects and cl_ext_migrate_memobject. */
#include "check.h"

/* Newer names that the headers of a system may lack. */
#define MEM_DEVICE_PRIVATE_ADDRESS 0x5000
#define MEM_DEVICE_ADDRESS 0x5001
#define EXEC_INFO_DEVICE_PTRS 0x5002
#define MEM_IMMUTABLE (1 << 6)

static cl_int (*set_device_pointer)(cl_kernel, cl_uint, cl_ulong);

static const char *source =
    "kernel void follow(global ulong *where, global int *out) { *out = *(global int *)*where; }\n"
    "kernel void before(global int *p, global int *out) { *out = p[-2]; }\n"
    "kernel void others(constant int *c, local int *l, int v, global int *out) { *out = c[0] + l[0] + v; }\n"
    "kernel void copy(global const int *from, global int *to) { size_t i = get_global_id(0); to[i] = from[i]; }\n";

static cl_kernel follow, before, others, copy;

static void create_kernels(void) {
    cl_int err;
    cl_program program = build(source, NULL);
    follow = clCreateKernel(program, "follow", &err);
    STATUS(CL_SUCCESS, err);
    before = clCreateKernel(program, "before", &err);
    STATUS(CL_SUCCESS, err);
    others = clCreateKernel(program, "others", &err);
    STATUS(CL_SUCCESS, err);
    copy = clCreateKernel(program, "copy", &err);
    STATUS(CL_SUCCESS, err);
    clReleaseProgram(program);
}

static void device_addresses(void) {
    cl_int err, data[4] = {11, 22, 33, 44}, out = 0;
    cl_ulong address = 0;
    size_t size, one = 1;
    cl_mem_properties yes[] = {MEM_DEVICE_PRIVATE_ADDRESS, CL_TRUE, 0};
    cl_mem_properties no[] = {MEM_DEVICE_PRIVATE_ADDRESS, CL_FALSE, 0};
    cl_mem_properties odd[] = {MEM_DEVICE_PRIVATE_ADDRESS, 2, 0};
    cl_mem_properties twice[] = {MEM_DEVICE_PRIVATE_ADDRESS, CL_TRUE, MEM_DEVICE_PRIVATE_ADDRESS, CL_TRUE, 0};
    cl_mem_properties unknown[] = {0x4242, CL_TRUE, 0}, list[3];
    CREATED(CL_INVALID_CONTEXT, clCreateBufferWithProperties(NULL, odd, 0, 0, NULL, &err));
    CREATED(CL_INVALID_PROPERTY, clCreateBufferWithProperties(context, odd, 0, 0, NULL, &err));
    CREATED(CL_INVALID_PROPERTY, clCreateBufferWithProperties(context, twice, 0, 0, NULL, &err));
    CREATED(CL_INVALID_PROPERTY, clCreateBufferWithProperties(context, unknown, 0, 0, NULL, &err));
    CREATED(CL_INVALID_BUFFER_SIZE, clCreateBufferWithProperties(context, yes, 0, 0, NULL, &err));

    cl_mem buffer = clCreateBufferWithProperties(context, yes, CL_MEM_COPY_HOST_PTR, sizeof data, data, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clGetMemObjectInfo(buffer, MEM_DEVICE_ADDRESS, sizeof address, &address, &size));
    TRUE(address != 0 && size == sizeof address);
    STATUS(CL_INVALID_VALUE, clGetMemObjectInfo(buffer, MEM_DEVICE_ADDRESS, sizeof address - 1, &address, &size));
    STATUS(CL_SUCCESS, clGetMemObjectInfo(buffer, CL_MEM_PROPERTIES, sizeof list, list, &size));
    TRUE(size == sizeof yes && memcmp(list, yes, size) == 0);

    /* A kernel finds the address in memory. */
    cl_mem where = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof address, &address, &err);
    cl_mem result = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof out, NULL, &err);
    STATUS(CL_SUCCESS, clSetKernelExecInfo(follow, EXEC_INFO_DEVICE_PTRS, sizeof address, &address));
    STATUS(CL_INVALID_VALUE, clSetKernelExecInfo(follow, EXEC_INFO_DEVICE_PTRS, 3, &address));
    STATUS(CL_INVALID_VALUE, clSetKernelExecInfo(follow, EXEC_INFO_DEVICE_PTRS, sizeof address, NULL));
    STATUS(CL_SUCCESS, clSetKernelArg(follow, 0, sizeof where, &where));
    STATUS(CL_SUCCESS, clSetKernelArg(follow, 1, sizeof result, &result));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, follow, 1, NULL, &one, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, result, CL_TRUE, 0, sizeof out, &out, 0, NULL, NULL));
    TRUE(out == 11);

    /* And gets it as an argument. */
    STATUS(CL_INVALID_KERNEL, set_device_pointer(NULL, 9, address));
    STATUS(CL_INVALID_ARG_INDEX, set_device_pointer(before, 2, address));
    STATUS(CL_INVALID_ARG_INDEX, set_device_pointer(others, 0, address));
    STATUS(CL_INVALID_ARG_INDEX, set_device_pointer(others, 1, address));
    STATUS(CL_INVALID_ARG_INDEX, set_device_pointer(others, 2, address));
    STATUS(CL_SUCCESS, set_device_pointer(before, 0, 0xdeadbeef));
    STATUS(CL_SUCCESS, set_device_pointer(before, 0, address + 3 * sizeof(cl_int)));
    STATUS(CL_SUCCESS, clSetKernelArg(before, 1, sizeof result, &result));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, before, 1, NULL, &one, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, result, CL_TRUE, 0, sizeof out, &out, 0, NULL, NULL));
    TRUE(out == 22);

    /* Only buffers that were created for it have one. */
    STATUS(CL_INVALID_OPERATION, clGetMemObjectInfo(where, MEM_DEVICE_ADDRESS, sizeof address, &address, NULL));
    cl_mem without = clCreateBufferWithProperties(context, no, 0, 64, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_INVALID_OPERATION, clGetMemObjectInfo(without, MEM_DEVICE_ADDRESS, sizeof address, &address, NULL));
    cl_mem pipe = clCreatePipe(context, 0, 4, 4, NULL, &err);
    STATUS(CL_INVALID_OPERATION, clGetMemObjectInfo(pipe, MEM_DEVICE_ADDRESS, sizeof address, &address, NULL));

    /* Shared virtual memory keeps the address it has. */
    void *svm = clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0);
    cl_mem shared = clCreateBufferWithProperties(context, yes, CL_MEM_USE_HOST_PTR, 64, svm, &err);
    STATUS(CL_SUCCESS, clGetMemObjectInfo(shared, MEM_DEVICE_ADDRESS, sizeof address, &address, NULL));
    TRUE((void *)address == svm);
    STATUS(CL_SUCCESS, clReleaseMemObject(shared));
    clSVMFree(context, svm);
    STATUS(CL_SUCCESS, clReleaseMemObject(pipe));
    STATUS(CL_SUCCESS, clReleaseMemObject(without));
    STATUS(CL_SUCCESS, clReleaseMemObject(where));
    STATUS(CL_SUCCESS, clReleaseMemObject(result));
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
}

/* Everything that would write to an immutable buffer is refused; everything that reads it works. */
static void check_immutable(cl_mem m, cl_mem mutable, const cl_int *expected) {
    cl_int err, data[64], zero = 0;
    size_t origin[3] = {0, 0, 0}, region[3] = {64, 1, 1}, items = 64, n = sizeof data;
    STATUS(CL_INVALID_OPERATION, clEnqueueWriteBuffer(queue, m, CL_TRUE, 0, n, data, 0, NULL, NULL));
    STATUS(CL_INVALID_OPERATION,
           clEnqueueWriteBufferRect(queue, m, CL_TRUE, origin, origin, region, 0, 0, 0, 0, data, 0, NULL, NULL));
    STATUS(CL_INVALID_OPERATION, clEnqueueCopyBuffer(queue, mutable, m, 0, 0, n, 0, NULL, NULL));
    STATUS(CL_INVALID_OPERATION,
           clEnqueueCopyBufferRect(queue, mutable, m, origin, origin, region, 0, 0, 0, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_OPERATION, clEnqueueFillBuffer(queue, m, &zero, sizeof zero, 0, n, 0, NULL, NULL));
    CREATED(CL_INVALID_OPERATION, clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_WRITE, 0, n, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_OPERATION,
            clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, n, 0, NULL, NULL, &err));
    CREATED(CL_INVALID_OPERATION,
            clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, n, 0, NULL, NULL, &err));

    void *p = clEnqueueMapBuffer(queue, m, CL_TRUE, CL_MAP_READ, 0, n, 0, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    TRUE(memcmp(p, expected, n) == 0);
    STATUS(CL_SUCCESS, clEnqueueUnmapMemObject(queue, m, p, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, m, CL_TRUE, 0, n, data, 0, NULL, NULL));
    TRUE(memcmp(data, expected, n) == 0);
    STATUS(CL_SUCCESS, clEnqueueFillBuffer(queue, mutable, &zero, sizeof zero, 0, n, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueCopyBuffer(queue, m, mutable, 0, 0, n, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, mutable, CL_TRUE, 0, n, data, 0, NULL, NULL));
    TRUE(memcmp(data, expected, n) == 0);
    STATUS(CL_SUCCESS, clEnqueueFillBuffer(queue, mutable, &zero, sizeof zero, 0, n, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clSetKernelArg(copy, 0, sizeof m, &m));
    STATUS(CL_INVALID_ARG_VALUE, clSetKernelArg(copy, 1, sizeof m, &m));
    STATUS(CL_SUCCESS, clSetKernelArg(copy, 1, sizeof mutable, &mutable));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, copy, 1, NULL, &items, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, mutable, CL_TRUE, 0, n, data, 0, NULL, NULL));
    TRUE(memcmp(data, expected, n) == 0);
}

static void immutable_objects(void) {
    cl_int err;
    static cl_int words[128];
    cl_mem_flags flags;
    for (int i = 0; i < 128; i++) {
        words[i] = i * i;
    }
    const cl_mem_flags writes[] = {CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_MEM_HOST_WRITE_ONLY};
    for (int i = 0; i < 3; i++) {
        CREATED(CL_INVALID_VALUE,
                clCreateBuffer(context, MEM_IMMUTABLE | CL_MEM_COPY_HOST_PTR | writes[i], sizeof words, words, &err));
    }
    CREATED(CL_INVALID_VALUE, clCreateBuffer(context, MEM_IMMUTABLE, sizeof words, NULL, &err));
    cl_uint formats = 77;
    STATUS(CL_SUCCESS, clGetSupportedImageFormats(context, MEM_IMMUTABLE | CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE2D, 0, NULL,
                                                  &formats));
    CREATED(CL_INVALID_VALUE, clCreateBuffer(context, MEM_IMMUTABLE | CL_MEM_ALLOC_HOST_PTR, sizeof words, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreatePipe(context, MEM_IMMUTABLE, 4, 4, NULL, &err));
    TRUE(clSVMAlloc(context, MEM_IMMUTABLE, 64, 0) == NULL);

    cl_mem mutable = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof words, NULL, &err);
    const cl_mem_flags kinds[] = {MEM_IMMUTABLE | CL_MEM_COPY_HOST_PTR, MEM_IMMUTABLE | CL_MEM_USE_HOST_PTR,
                                  MEM_IMMUTABLE | CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                  MEM_IMMUTABLE | CL_MEM_HOST_READ_ONLY | CL_MEM_USE_HOST_PTR};
    for (int i = 0; i < 4; i++) {
        cl_mem m = clCreateBuffer(context, kinds[i], sizeof words, words, &err);
        STATUS(CL_SUCCESS, err);
        STATUS(CL_SUCCESS, clGetMemObjectInfo(m, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
        TRUE(flags == kinds[i]);
        check_immutable(m, mutable, words);

        /* So are its parts. */
        cl_buffer_region region = {sizeof words / 2, sizeof words / 2};
        const cl_mem_flags of_parts[] = {0, MEM_IMMUTABLE, CL_MEM_READ_ONLY};
        for (int j = 0; j < 3; j++) {
            cl_mem part = clCreateSubBuffer(m, of_parts[j], CL_BUFFER_CREATE_TYPE_REGION, &region, &err);
            STATUS(CL_SUCCESS, err);
            STATUS(CL_SUCCESS, clGetMemObjectInfo(part, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
            TRUE(flags == (kinds[i] | of_parts[j]));
            check_immutable(part, mutable, words + 64);
            STATUS(CL_SUCCESS, clReleaseMemObject(part));
        }
        for (int j = 0; j < 3; j++) {
            CREATED(CL_INVALID_VALUE, clCreateSubBuffer(m, writes[j], CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
        }
        STATUS(CL_SUCCESS, clReleaseMemObject(m));
    }
    STATUS(CL_SUCCESS, clReleaseMemObject(mutable));
}

static void migration(void) {
    cl_int err;
    cl_event event;
    cl_command_type type;
    clEnqueueMigrateMemObjectEXT_fn migrate =
        (clEnqueueMigrateMemObjectEXT_fn)clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueMigrateMemObjectEXT");
    TRUE(migrate != NULL);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &err), wrong = (cl_mem)queue;
    STATUS(CL_SUCCESS, migrate(queue, 1, &buffer, CL_MIGRATE_MEM_OBJECT_HOST_EXT, 0, NULL, &event));
    STATUS(CL_SUCCESS, clWaitForEvents(1, &event));
    STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    TRUE(type == CL_COMMAND_MIGRATE_MEM_OBJECT_EXT);
    STATUS(CL_SUCCESS, migrate(queue, 1, &buffer, 0, 1, &event, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, migrate(NULL, 0, &wrong, 2, 1, NULL, NULL));
    STATUS(CL_INVALID_VALUE, migrate(queue, 0, &wrong, 2, 1, NULL, NULL));
    STATUS(CL_INVALID_VALUE, migrate(queue, 1, NULL, 2, 1, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT, migrate(queue, 1, &wrong, 0, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, migrate(queue, 1, &buffer, 2, 0, NULL, NULL));
    STATUS(CL_INVALID_EVENT_WAIT_LIST, migrate(queue, 1, &buffer, 0, 1, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_SUCCESS, clReleaseEvent(event));
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
}

/* What older versions of OpenCL have for buffers with properties has an error of its own. */
static void with_properties(void) {
    cl_int err;
    cl_mem (*create)(cl_context, const cl_ulong *, cl_mem_flags, size_t, void *, cl_int *);
    *(void **)&create = clGetExtensionFunctionAddressForPlatform(platform, "clCreateBufferWithPropertiesINTEL");
    TRUE(create != NULL);
    int words[4] = {1, 2, 3, 4};
    cl_ulong unknown[] = {77, 0, 0};
    cl_mem made = create(context, NULL, CL_MEM_COPY_HOST_PTR, sizeof words, words, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clReleaseMemObject(made));
    CREATED(CL_INVALID_CONTEXT, create(NULL, unknown, 0, 16, NULL, &err));
    CREATED(CL_INVALID_VALUE, create(context, unknown, 0, 16, NULL, &err));
    CREATED(CL_INVALID_VALUE, create(context, NULL, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 16, NULL, &err));
    CREATED(CL_INVALID_BUFFER_SIZE, create(context, NULL, 0, 0, NULL, &err));
    CREATED(CL_INVALID_HOST_PTR, create(context, NULL, 0, 16, words, &err));
}

int main(void) {
    setup();
    *(void **)&set_device_pointer =
        clGetExtensionFunctionAddressForPlatform(platform, "clSetKernelArgDevicePointerEXT");
    TRUE(set_device_pointer != NULL);
    if (failures == 0) {
        create_kernels();
        device_addresses();
        immutable_objects();
        migration();
        with_properties();
    }
    return finish();
}
