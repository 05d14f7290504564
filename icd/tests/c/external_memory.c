/* Memory that is imported by file descriptor (cl_khr_external_memory): kernels and copies use the exporter's memory itself, every wrong handle is
 * refused and stays the application's, and memory that goes away fails commands and nothing else. */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Systems' headers have drafts' names, or none. */
#ifndef CL_MEM_IMMUTABLE_EXT
#define CL_MEM_IMMUTABLE_EXT (1 << 6)
#endif
#ifndef CL_MEM_DEVICE_HANDLE_LIST_KHR
#define CL_MEM_DEVICE_HANDLE_LIST_KHR 0x2051
#endif

#define ITEMS 4096
#define BYTES (ITEMS * sizeof(int))

/* Dma-bufs need a driver that exports them. Where this program is linked with the driver, the driver calls these functions instead of
 * the C library's, so that one file says that it is one, and tells what is asked of it. */
static int pretender = -1;
static int synced = 0, sync_error = 0;
static uint64_t sync_flags[64];

int fstatfs(int fd, struct statfs *status) {
    int result = syscall(SYS_fstatfs, fd, status);
    if (result == 0 && fd == pretender) {
        status->f_type = 0x444d4142;
    }
    return result;
}

int ioctl(int fd, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    /* DMA_BUF_IOCTL_SYNC */
    if (request != 0x40086200) {
        return syscall(SYS_ioctl, fd, request, argument);
    }
    sync_flags[synced++ % 64] = *(uint64_t *)argument;
    if (sync_error != 0) {
        errno = sync_error;
        sync_error = sync_error == EINTR ? 0 : sync_error;
        return -1;
    }
    return 0;
}

static const char *source =
    "kernel void add(global int *imported, int by) { imported[get_global_id(0)] += by; }\n"
    "kernel void copy(global const int *imported, global int *out) { out[get_global_id(0)] = imported[get_global_id(0)]; }\n";

static clEnqueueAcquireExternalMemObjectsKHR_fn acquire, release;

/* A memory file, and the exporter's own view of it. */
static int file_of(size_t size, int **view) {
    int fd = memfd_create("test", MFD_CLOEXEC);
    TRUE(fd >= 0);
    TRUE(ftruncate(fd, size) == 0);
    if (view != NULL) {
        *view = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        TRUE(*view != MAP_FAILED);
    }
    return fd;
}

static cl_mem import(cl_mem_properties kind, int fd, cl_mem_flags flags, size_t size, cl_int expected) {
    cl_mem_properties properties[] = {kind, (cl_mem_properties)fd, 0};
    cl_int err = 12345;
    cl_mem made = clCreateBufferWithProperties(context, properties, flags, size, NULL, &err);
    check_status("import", fd, expected, err);
    TRUE((made == NULL) == (expected != CL_SUCCESS));
    return made;
}

static int is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

static cl_int status_of(cl_event event) {
    cl_int status = 77;
    STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    return status;
}

static void queries(void) {
    cl_uint kinds[8];
    size_t size = 0;
    STATUS(CL_SUCCESS, clGetPlatformInfo(platform, CL_PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR, sizeof kinds, kinds, &size));
    TRUE(size == 2 * sizeof kinds[0]);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR, sizeof kinds, kinds, &size));
    TRUE(size == 2 * sizeof kinds[0]);
    int opaque = 0, dma_buf = 0;
    for (size_t i = 0; i < size / sizeof kinds[0]; i++) {
        opaque += kinds[i] == CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR;
        dma_buf += kinds[i] == CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR;
    }
    TRUE(opaque == 1 && dma_buf == 1);
    /* "This list contains a subset"; "the returned list may be empty". */
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, 0x2052, sizeof kinds, kinds, &size));
    TRUE(size % sizeof kinds[0] == 0 && size <= 2 * sizeof kinds[0]);
}

/* The exporter and kernels see each other's bytes. */
static void shared(cl_kernel add, cl_kernel copy) {
    int *view, results[ITEMS], by = 5, nine = 9;
    size_t items = ITEMS;
    int fd = file_of(BYTES, &view);
    int second = dup(fd), third = dup(fd);
    for (int i = 0; i < ITEMS; i++) {
        view[i] = i;
    }
    cl_mem imported = import(CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, fd, CL_MEM_READ_WRITE, BYTES, CL_SUCCESS);
    /* "each import operation must create a distinct memory object" */
    cl_mem again = import(CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, second, 0, BYTES, CL_SUCCESS);
    cl_mem immutable = import(CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, third, CL_MEM_IMMUTABLE_EXT, BYTES, CL_SUCCESS);
    TRUE(imported != again);
    cl_mem_properties got[4] = {0};
    size_t size = 0;
    STATUS(CL_SUCCESS, clGetMemObjectInfo(imported, CL_MEM_PROPERTIES, sizeof got, got, &size));
    TRUE(size == 3 * sizeof got[0] && got[0] == CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR && got[1] == (cl_mem_properties)fd);
    void *host = &got;
    STATUS(CL_SUCCESS, clGetMemObjectInfo(imported, CL_MEM_HOST_PTR, sizeof host, &host, NULL));
    TRUE(host == NULL);

    cl_mem both[] = {imported, again};
    cl_event acquired, released;
    STATUS(CL_SUCCESS, acquire(queue, 2, both, 0, NULL, &acquired));
    STATUS(CL_SUCCESS, clSetKernelArg(add, 0, sizeof imported, &imported));
    STATUS(CL_SUCCESS, clSetKernelArg(add, 1, sizeof by, &by));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, add, 1, NULL, &items, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, again, CL_TRUE, 0, BYTES, results, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueFillBuffer(queue, again, &nine, sizeof nine, 0, 2 * sizeof nine, 0, NULL, NULL));
    STATUS(CL_SUCCESS, release(queue, 2, both, 0, NULL, &released));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_COMPLETE, status_of(acquired));
    STATUS(CL_COMPLETE, status_of(released));
    cl_command_type type;
    STATUS(CL_SUCCESS, clGetEventInfo(acquired, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    TRUE(type == CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR);
    STATUS(CL_SUCCESS, clGetEventInfo(released, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    TRUE(type == CL_COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR);
    int wrong = 0;
    for (int i = 0; i < ITEMS; i++) {
        wrong += results[i] != i + 5;
        wrong += view[i] != (i < 2 ? 9 : i + 5);
    }
    TRUE(wrong == 0);

    cl_int err;
    cl_mem out = clCreateBuffer(context, 0, BYTES, NULL, &err);
    STATUS(CL_SUCCESS, err);
    for (int i = 0; i < ITEMS; i++) {
        view[i] = -i;
    }
    STATUS(CL_SUCCESS, acquire(queue, 1, &immutable, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clSetKernelArg(copy, 0, sizeof immutable, &immutable));
    STATUS(CL_SUCCESS, clSetKernelArg(copy, 1, sizeof out, &out));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, copy, 1, NULL, &items, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, BYTES, results, 0, NULL, NULL));
    TRUE(results[7] == -7 && results[ITEMS - 1] == 1 - ITEMS);
    STATUS(CL_SUCCESS, release(queue, 1, &immutable, 0, NULL, NULL));

    /* "importing memory from a file descriptor transfers ownership": nothing of it is left when the object is gone. */
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_SUCCESS, clReleaseEvent(acquired));
    STATUS(CL_SUCCESS, clReleaseEvent(released));
    STATUS(CL_SUCCESS, clReleaseMemObject(imported));
    STATUS(CL_SUCCESS, clReleaseMemObject(again));
    STATUS(CL_SUCCESS, clReleaseMemObject(immutable));
    STATUS(CL_SUCCESS, clReleaseMemObject(out));
    TRUE(!is_open(fd) && !is_open(second));
    munmap(view, BYTES);
}

/* An image with pitches in a memory file. */
static void imported_image(void) {
    cl_int err, *view = NULL;
    size_t row = 24, origin[3] = {1, 2, 0}, region[3] = {2, 1, 1};
    int fd = file_of(4096, &view), texels[2] = {7, 8};
    cl_mem_properties properties[] = {CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, (cl_mem_properties)fd, 0};
    cl_image_format format = {CL_R, CL_SIGNED_INT32};
    cl_image_desc desc = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 3, .image_row_pitch = row};
    cl_mem_properties twice[] = {CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, (cl_mem_properties)fd,
                                 CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, (cl_mem_properties)fd, 0};
    CREATED(CL_INVALID_PROPERTY, clCreateImageWithProperties(context, twice, 0, &format, &desc, NULL, &err));
    CREATED(CL_INVALID_VALUE,
            clCreateImageWithProperties(context, properties, CL_MEM_ALLOC_HOST_PTR, &format, &desc, NULL, &err));
    cl_mem image = clCreateImageWithProperties(context, properties, 0, &format, &desc, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, acquire(queue, 1, &image, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueWriteImage(queue, image, CL_TRUE, origin, region, 0, 0, texels, 0, NULL, NULL));
    STATUS(CL_SUCCESS, release(queue, 1, &image, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    TRUE(view[2 * 6 + 1] == 7 && view[2 * 6 + 2] == 8 && view[2 * 6 + 3] == 0);
    STATUS(CL_SUCCESS, clReleaseMemObject(image));
}

static void wrong_handles(void) {
    cl_mem_properties opaque = CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, dma_buf = CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR;
    int pipes[2];
    TRUE(pipe(pipes) == 0);
    int folder = open("/", O_RDONLY | O_DIRECTORY), fd = file_of(BYTES, NULL);
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int read_only = open(name, O_RDONLY);
    TRUE(read_only >= 0);
    import(opaque, -1, 0, BYTES, CL_INVALID_PROPERTY);
    import(opaque, 987654, 0, BYTES, CL_INVALID_PROPERTY);
    import(opaque, pipes[0], 0, BYTES, CL_INVALID_PROPERTY);
    import(opaque, folder, 0, BYTES, CL_INVALID_PROPERTY);
    import(opaque, read_only, 0, BYTES, CL_INVALID_PROPERTY);
    import(opaque, read_only, CL_MEM_READ_ONLY, BYTES, CL_INVALID_PROPERTY);
    import(dma_buf, fd, 0, BYTES, CL_INVALID_PROPERTY);
    import(dma_buf, -1, 0, BYTES, CL_INVALID_PROPERTY);
    import(dma_buf, pipes[0], 0, BYTES, CL_INVALID_PROPERTY);
    import(opaque, fd, 0, 0, CL_INVALID_BUFFER_SIZE);
    import(opaque, fd, 0, BYTES + 1, CL_INVALID_BUFFER_SIZE);
    import(opaque, fd, CL_MEM_USE_HOST_PTR, BYTES, CL_INVALID_VALUE);
    import(opaque, fd, CL_MEM_COPY_HOST_PTR, BYTES, CL_INVALID_VALUE);
    import(opaque, fd, CL_MEM_ALLOC_HOST_PTR, BYTES, CL_INVALID_VALUE);
    import(opaque, fd, CL_MEM_IMMUTABLE_EXT | CL_MEM_READ_WRITE, BYTES, CL_INVALID_VALUE);
    import(CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KHR, fd, 0, BYTES, CL_INVALID_PROPERTY);

    cl_int err;
    static int somewhere[ITEMS];
    cl_mem_properties list[] = {opaque, fd, 0, 0, 0, 0, 0};
    CREATED(CL_INVALID_HOST_PTR, clCreateBufferWithProperties(context, list, 0, BYTES, somewhere, &err));
    cl_mem_properties twice[] = {opaque, fd, dma_buf, fd, 0};
    CREATED(CL_INVALID_PROPERTY, clCreateBufferWithProperties(context, twice, 0, BYTES, NULL, &err));
    cl_mem_properties devices_twice[] = {opaque, fd, CL_MEM_DEVICE_HANDLE_LIST_KHR, (cl_mem_properties)device, 0,
                                         CL_MEM_DEVICE_HANDLE_LIST_KHR, (cl_mem_properties)device, 0, 0};
    CREATED(CL_INVALID_PROPERTY, clCreateBufferWithProperties(context, devices_twice, 0, BYTES, NULL, &err));
    cl_mem_properties no_handle[] = {CL_MEM_DEVICE_HANDLE_LIST_KHR, (cl_mem_properties)device, 0, 0};
    CREATED(CL_INVALID_PROPERTY, clCreateBufferWithProperties(context, no_handle, 0, BYTES, NULL, &err));
    cl_mem_properties no_device[] = {opaque, fd, CL_MEM_DEVICE_HANDLE_LIST_KHR, (cl_mem_properties)context, 0, 0};
    CREATED(CL_INVALID_DEVICE, clCreateBufferWithProperties(context, no_device, 0, BYTES, NULL, &err));

    /* None of them took the descriptor. A read-only one is good for what may not be written to. */
    TRUE(is_open(fd) && is_open(read_only) && is_open(pipes[0]) && is_open(folder));
    cl_mem immutable = import(opaque, read_only, CL_MEM_IMMUTABLE_EXT, BYTES, CL_SUCCESS);
    STATUS(CL_INVALID_OPERATION, clEnqueueWriteBuffer(queue, immutable, CL_TRUE, 0, 4, somewhere, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clReleaseMemObject(immutable));
    cl_mem_properties good[] = {opaque, fd, CL_MEM_DEVICE_HANDLE_LIST_KHR, (cl_mem_properties)device, 0, 0};
    cl_mem made = clCreateBufferWithProperties(context, good, 0, 10, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_mem_properties got[8] = {0};
    size_t size = 0;
    STATUS(CL_SUCCESS, clGetMemObjectInfo(made, CL_MEM_PROPERTIES, sizeof got, got, &size));
    TRUE(size == sizeof good && memcmp(got, good, size) == 0);
    STATUS(CL_SUCCESS, clReleaseMemObject(made));
    close(pipes[0]);
    close(pipes[1]);
    close(folder);
}

static void wrong_commands(void) {
    cl_int err;
    cl_mem imported = import(CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, file_of(BYTES, NULL), 0, BYTES, CL_SUCCESS);
    cl_mem plain = clCreateBuffer(context, 0, BYTES, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_buffer_region region = {0, 128};
    cl_mem part = clCreateSubBuffer(imported, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err);
    STATUS(CL_SUCCESS, err);
    cl_event user = clCreateUserEvent(context, &err), waiting;
    STATUS(CL_SUCCESS, err);
    clEnqueueAcquireExternalMemObjectsKHR_fn both[] = {acquire, release};
    for (int i = 0; i < 2; i++) {
        STATUS(CL_INVALID_VALUE, both[i](queue, 0, &imported, 0, NULL, NULL));
        STATUS(CL_INVALID_VALUE, both[i](queue, 1, NULL, 0, NULL, NULL));
        STATUS(CL_INVALID_MEM_OBJECT, both[i](queue, 1, &plain, 0, NULL, NULL));
        STATUS(CL_INVALID_MEM_OBJECT, both[i](queue, 1, &part, 0, NULL, NULL));
        cl_mem no_mem = (cl_mem)queue;
        STATUS(CL_INVALID_MEM_OBJECT, both[i](queue, 1, &no_mem, 0, NULL, NULL));
        STATUS(CL_INVALID_COMMAND_QUEUE, both[i](NULL, 1, &imported, 0, NULL, NULL));
        STATUS(CL_INVALID_EVENT_WAIT_LIST, both[i](queue, 1, &imported, 1, NULL, NULL));
        STATUS(CL_INVALID_EVENT_WAIT_LIST, both[i](queue, 1, &imported, 0, &user, NULL));
        STATUS(CL_SUCCESS, both[i](queue, 0, NULL, 0, NULL, NULL));
    }
    /* Without objects a command waits all the same. */
    STATUS(CL_SUCCESS, acquire(queue, 0, NULL, 1, &user, &waiting));
    TRUE(status_of(waiting) > CL_COMPLETE);
    STATUS(CL_SUCCESS, clSetUserEventStatus(user, -5));
    clFinish(queue);
    STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, status_of(waiting));
    STATUS(CL_SUCCESS, clReleaseEvent(waiting));
    STATUS(CL_SUCCESS, clReleaseEvent(user));
    STATUS(CL_SUCCESS, clReleaseMemObject(part));
    STATUS(CL_SUCCESS, clReleaseMemObject(plain));
    STATUS(CL_SUCCESS, clReleaseMemObject(imported));

    /* A device that the memory is not for. */
    cl_device_partition_property by_counts[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_device_id parts[64];
    cl_uint count = 0;
    if (clCreateSubDevices(device, by_counts, 64, parts, &count) != CL_SUCCESS || count < 2) {
        printf("one processor: nothing to partition\n");
        return;
    }
    cl_context of_parts = clCreateContext(NULL, 2, parts, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_command_queue queues[2];
    for (int i = 0; i < 2; i++) {
        queues[i] = clCreateCommandQueueWithProperties(of_parts, parts[i], NULL, &err);
        STATUS(CL_SUCCESS, err);
    }
    cl_mem_properties first[] = {CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, file_of(BYTES, NULL), CL_MEM_DEVICE_HANDLE_LIST_KHR,
                                 (cl_mem_properties)parts[0], 0, 0};
    cl_mem of_first = clCreateBufferWithProperties(of_parts, first, 0, BYTES, NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, acquire(queues[0], 1, &of_first, 0, NULL, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, acquire(queues[1], 1, &of_first, 0, NULL, NULL));
    STATUS(CL_INVALID_COMMAND_QUEUE, acquire(queue, 1, &of_first, 0, NULL, NULL));
    first[1] = file_of(BYTES, NULL);
    first[3] = (cl_mem_properties)device;
    CREATED(CL_INVALID_DEVICE, clCreateBufferWithProperties(of_parts, first, 0, BYTES, NULL, &err));
    STATUS(CL_SUCCESS, clReleaseMemObject(of_first));
    for (int i = 0; i < 2; i++) {
        STATUS(CL_SUCCESS, clReleaseCommandQueue(queues[i]));
        STATUS(CL_SUCCESS, clReleaseDevice(parts[i]));
    }
    STATUS(CL_SUCCESS, clReleaseContext(of_parts));
}

/* A file that becomes shorter takes commands with it, and nothing else. */
static void shrinking(cl_kernel add) {
    int *view, value = 1, fd = file_of(BYTES, &view), own = dup(fd);
    size_t items = ITEMS;
    cl_event failed;
    cl_mem imported = import(CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, fd, 0, BYTES, CL_SUCCESS);
    STATUS(CL_SUCCESS, acquire(queue, 1, &imported, 0, NULL, NULL));
    TRUE(ftruncate(own, 0) == 0);
    STATUS(CL_SUCCESS, clSetKernelArg(add, 0, sizeof imported, &imported));
    STATUS(CL_SUCCESS, clSetKernelArg(add, 1, sizeof value, &value));
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, add, 1, NULL, &items, NULL, 0, NULL, &failed));
    STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &failed));
    TRUE(status_of(failed) < 0);
    TRUE(clEnqueueReadBuffer(queue, imported, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL) < 0);
    TRUE(clEnqueueWriteBuffer(queue, imported, CL_TRUE, 4096, sizeof value, &value, 0, NULL, NULL) < 0);
    size_t origin[3] = {0}, region[3] = {4, 4, 1};
    char there[64];
    TRUE(clEnqueueReadBufferRect(queue, imported, CL_TRUE, origin, origin, region, 4096, 0, 4, 0, there, 0, NULL, NULL) < 0);
    STATUS(CL_SUCCESS, clReleaseEvent(failed));
    TRUE(ftruncate(own, BYTES) == 0);
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, imported, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL));
    TRUE(value == 0);
    STATUS(CL_SUCCESS, clReleaseMemObject(imported));
    close(own);
    munmap(view, BYTES);
}

static void dma_bufs(void) {
    cl_event events[2];
    pretender = file_of(BYTES, NULL);
    cl_mem imported = import(CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, pretender, 0, BYTES, CL_SUCCESS);
    TRUE(is_open(pretender));
    TRUE(synced == 0);
    STATUS(CL_SUCCESS, acquire(queue, 1, &imported, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    /* DMA_BUF_SYNC_RW | DMA_BUF_SYNC_START, then DMA_BUF_SYNC_RW | DMA_BUF_SYNC_END */
    TRUE(synced == 1 && sync_flags[0] == 3);
    sync_error = EINTR;
    STATUS(CL_SUCCESS, release(queue, 1, &imported, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    TRUE(synced == 3 && sync_flags[1] == 7 && sync_flags[2] == 7);
    sync_error = ENOTTY;
    STATUS(CL_SUCCESS, acquire(queue, 1, &imported, 0, NULL, &events[0]));
    STATUS(CL_SUCCESS, release(queue, 1, &imported, 1, &events[0], &events[1]));
    /* Of the command's own failure, of which nobody has asked yet. */
    STATUS(CL_OUT_OF_RESOURCES, clFinish(queue));
    TRUE(status_of(events[0]) < 0);
    STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, status_of(events[1]));
    sync_error = 0;
    STATUS(CL_SUCCESS, clReleaseEvent(events[0]));
    STATUS(CL_SUCCESS, clReleaseEvent(events[1]));
    STATUS(CL_SUCCESS, clReleaseMemObject(imported));
    TRUE(!is_open(pretender));
    pretender = -1;
}

int main(int argc, char **argv) {
    (void)argv;
    setup();
    *(void **)&acquire = clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueAcquireExternalMemObjectsKHR");
    *(void **)&release = clGetExtensionFunctionAddressForPlatform(platform, "clEnqueueReleaseExternalMemObjectsKHR");
    TRUE(acquire != NULL && release != NULL);
    queries();
    imported_image();
    wrong_handles();
    wrong_commands();
    if (argc > 1) {
        dma_bufs();
    }
    cl_int err;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &err);
    STATUS(CL_SUCCESS, err);
    err = clBuildProgram(program, 1, &device, "", NULL, NULL);
    STATUS(CL_SUCCESS, err);
    cl_kernel add = clCreateKernel(program, "add", &err);
    STATUS(CL_SUCCESS, err);
    cl_kernel copy = clCreateKernel(program, "copy", &err);
    STATUS(CL_SUCCESS, err);
    shared(add, copy);
    shrinking(add);
    clReleaseKernel(add);
    clReleaseKernel(copy);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return finish();
}
