/* Semaphores: signals and waits across queues, queries, and every error. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

typedef cl_ulong properties_t;
typedef struct semaphore_ *semaphore_t;

#define PLATFORM_SEMAPHORE_TYPES 0x2036
#define DEVICE_SEMAPHORE_TYPES 0x204C
#define SEMAPHORE_CONTEXT 0x2039
#define SEMAPHORE_REFERENCE_COUNT 0x203A
#define SEMAPHORE_PROPERTIES 0x203B
#define SEMAPHORE_PAYLOAD 0x203C
#define SEMAPHORE_TYPE 0x203D
#define SEMAPHORE_DEVICE_HANDLE_LIST 0x2053
#define TYPE_BINARY 1
#define COMMAND_WAIT 0x2042
#define COMMAND_SIGNAL 0x2043
#define INVALID_SEMAPHORE (-1142)
#define PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES 0x2037
#define PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES 0x2038
#define DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES 0x204D
#define DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES 0x204E
#define SEMAPHORE_EXPORT_HANDLE_TYPES 0x203F
#define SEMAPHORE_EXPORTABLE 0x2054
#define SEMAPHORE_HANDLE_OPAQUE_FD 0x2055
#define SEMAPHORE_HANDLE_SYNC_FD 0x2058

static semaphore_t(CL_API_CALL *create_)(cl_context, const properties_t *, cl_int *);
static cl_int(CL_API_CALL *retain_)(semaphore_t);
static cl_int(CL_API_CALL *release_)(semaphore_t);
static cl_int(CL_API_CALL *get_info_)(semaphore_t, cl_uint, size_t, void *, size_t *);
typedef cl_int(CL_API_CALL *enqueue_t)(cl_command_queue, cl_uint, const semaphore_t *, const cl_ulong *, cl_uint,
                                       const cl_event *, cl_event *);
static enqueue_t wait_, signal_;
static cl_int(CL_API_CALL *get_handle_)(semaphore_t, cl_device_id, cl_uint, size_t, void *, size_t *);

static const properties_t binary[] = {SEMAPHORE_TYPE, TYPE_BINARY, 0};

static cl_ulong payload(semaphore_t semaphore) {
    cl_ulong value = 99;
    STATUS(CL_SUCCESS, get_info_(semaphore, SEMAPHORE_PAYLOAD, sizeof value, &value, NULL));
    return value;
}

static void signals_and_waits(void) {
    cl_int err;
    cl_uint type;
    cl_event events[2];
    cl_ulong ignored[2] = {3, 4};
    cl_command_queue other = clCreateCommandQueueWithProperties(context, device, NULL, &err);
    semaphore_t two[2] = {create_(context, binary, &err), create_(context, binary, &err)};
    STATUS(CL_SUCCESS, err);
    for (int i = 0; i < 3; i++) {
        TRUE(payload(two[0]) == 0);
        STATUS(CL_SUCCESS, signal_(queue, 2, two, ignored, 0, NULL, &events[0]));
        STATUS(CL_SUCCESS, clFinish(queue));
        TRUE(payload(two[0]) == 1 && payload(two[1]) == 1);
        STATUS(CL_SUCCESS, wait_(other, 1, &two[1], NULL, 1, &events[0], NULL));
        STATUS(CL_SUCCESS, wait_(other, 1, &two[0], NULL, 0, NULL, &events[1]));
        STATUS(CL_SUCCESS, clWaitForEvents(1, &events[1]));
        TRUE(payload(two[0]) == 0 && payload(two[1]) == 0);
        STATUS(CL_SUCCESS, clGetEventInfo(events[0], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
        TRUE(type == COMMAND_SIGNAL);
        STATUS(CL_SUCCESS, clGetEventInfo(events[1], CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
        TRUE(type == COMMAND_WAIT);
        STATUS(CL_SUCCESS, clReleaseEvent(events[0]));
        STATUS(CL_SUCCESS, clReleaseEvent(events[1]));
    }
    STATUS(CL_SUCCESS, release_(two[0]));
    STATUS(CL_SUCCESS, release_(two[1]));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(other));
}

static void queries(void) {
    cl_int err;
    cl_uint number;
    size_t size;
    cl_context its_context;
    cl_device_id its_device;
    properties_t list[] = {SEMAPHORE_DEVICE_HANDLE_LIST, (properties_t)device, 0, SEMAPHORE_TYPE, TYPE_BINARY, 0}, its_list[6];
    STATUS(CL_SUCCESS, clGetPlatformInfo(platform, PLATFORM_SEMAPHORE_TYPES, sizeof number, &number, &size));
    TRUE(number == TYPE_BINARY && size == sizeof number);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, DEVICE_SEMAPHORE_TYPES, sizeof number, &number, &size));
    TRUE(number == TYPE_BINARY && size == sizeof number);
    semaphore_t semaphore = create_(context, list, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, get_info_(semaphore, SEMAPHORE_PROPERTIES, sizeof its_list, its_list, &size));
    TRUE(size == sizeof list && memcmp(list, its_list, size) == 0);
    STATUS(CL_SUCCESS, get_info_(semaphore, SEMAPHORE_CONTEXT, sizeof its_context, &its_context, &size));
    TRUE(its_context == context && size == sizeof its_context);
    STATUS(CL_SUCCESS, get_info_(semaphore, SEMAPHORE_DEVICE_HANDLE_LIST, sizeof its_device, &its_device, &size));
    TRUE(its_device == device && size == sizeof its_device);
    STATUS(CL_SUCCESS, get_info_(semaphore, SEMAPHORE_TYPE, sizeof number, &number, &size));
    TRUE(number == TYPE_BINARY && size == sizeof number);
    STATUS(CL_SUCCESS, retain_(semaphore));
    STATUS(CL_SUCCESS, get_info_(semaphore, SEMAPHORE_REFERENCE_COUNT, sizeof number, &number, &size));
    TRUE(number == 2 && size == sizeof number);
    STATUS(CL_SUCCESS, release_(semaphore));
    STATUS(CL_INVALID_VALUE, get_info_(semaphore, SEMAPHORE_TYPE, 3, &number, NULL));
    STATUS(CL_INVALID_VALUE, get_info_(semaphore, CL_EVENT_CONTEXT, 8, &its_context, NULL));
    STATUS(INVALID_SEMAPHORE, get_info_(NULL, SEMAPHORE_TYPE, 4, &number, NULL));
    STATUS(CL_SUCCESS, release_(semaphore));
    STATUS(INVALID_SEMAPHORE, release_(semaphore));
    STATUS(INVALID_SEMAPHORE, retain_(NULL));
}

/* A child process, which shares nothing else, signals one semaphore when it has seen the other. */
static void other_processes(void) {
    cl_int err;
    cl_uint kind;
    cl_bool exportable;
    size_t size;
    int fds[2], fd;
    properties_t list[] = {SEMAPHORE_TYPE, TYPE_BINARY, SEMAPHORE_EXPORT_HANDLE_TYPES, SEMAPHORE_HANDLE_OPAQUE_FD, 0, 0};
    cl_uint names[] = {DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES, DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES};
    for (int i = 0; i < 2; i++) {
        STATUS(CL_SUCCESS, clGetDeviceInfo(device, names[i], sizeof kind, &kind, &size));
        TRUE(kind == SEMAPHORE_HANDLE_OPAQUE_FD && size == sizeof kind);
        STATUS(CL_SUCCESS, clGetPlatformInfo(platform, PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES + i, sizeof kind, &kind, &size));
        TRUE(kind == SEMAPHORE_HANDLE_OPAQUE_FD && size == sizeof kind);
    }
    semaphore_t two[2];
    for (int i = 0; i < 2; i++) {
        two[i] = create_(context, list, &err);
        STATUS(CL_SUCCESS, err);
        STATUS(CL_SUCCESS, get_handle_(two[i], device, SEMAPHORE_HANDLE_OPAQUE_FD, sizeof fds[i], &fds[i], &size));
        TRUE(fds[i] >= 0 && size == sizeof fds[i]);
    }
    STATUS(CL_SUCCESS, get_info_(two[0], SEMAPHORE_EXPORTABLE, sizeof exportable, &exportable, NULL));
    TRUE(exportable == CL_TRUE);
    STATUS(CL_SUCCESS, get_info_(two[0], SEMAPHORE_EXPORT_HANDLE_TYPES, sizeof kind, &kind, &size));
    TRUE(kind == SEMAPHORE_HANDLE_OPAQUE_FD && size == sizeof kind);
    STATUS(CL_SUCCESS, signal_(queue, 1, &two[0], NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, wait_(queue, 1, &two[1], NULL, 0, NULL, NULL));
    pid_t child = fork();
    if (child == 0) {
        cl_ulong one = 0;
        struct pollfd entry = {fds[0], POLLIN, 0};
        _exit(poll(&entry, 1, 60000) == 1 && read(fds[0], &one, sizeof one) == sizeof one && one == 1 &&
                      write(fds[1], &one, sizeof one) == sizeof one
                  ? 0
                  : 1);
    }
    STATUS(CL_SUCCESS, clFinish(queue));
    int status = -1;
    TRUE(waitpid(child, &status, 0) == child && status == 0);
    TRUE(payload(two[0]) == 0 && payload(two[1]) == 0);

    /* Imported here: the same payload, and the descriptor is the driver's. */
    properties_t import[] = {SEMAPHORE_TYPE, TYPE_BINARY, SEMAPHORE_HANDLE_OPAQUE_FD, (properties_t)fds[0], 0};
    semaphore_t same = create_(context, import, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, get_info_(same, SEMAPHORE_EXPORTABLE, sizeof exportable, &exportable, NULL));
    TRUE(exportable == CL_FALSE);
    STATUS(CL_SUCCESS, signal_(queue, 1, &same, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    TRUE(payload(two[0]) == 1);
    STATUS(CL_SUCCESS, wait_(queue, 1, &two[0], NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    TRUE(payload(same) == 0);

    STATUS(CL_SUCCESS, get_handle_(two[0], device, SEMAPHORE_HANDLE_OPAQUE_FD, 0, NULL, &size));
    TRUE(size == sizeof fd);
    STATUS(INVALID_SEMAPHORE, get_handle_(NULL, device, SEMAPHORE_HANDLE_OPAQUE_FD, sizeof fd, &fd, NULL));
    STATUS(CL_INVALID_DEVICE, get_handle_(two[0], NULL, SEMAPHORE_HANDLE_OPAQUE_FD, sizeof fd, &fd, NULL));
    STATUS(CL_INVALID_VALUE, get_handle_(two[0], device, SEMAPHORE_HANDLE_SYNC_FD, sizeof fd, &fd, NULL));
    STATUS(CL_INVALID_VALUE, get_handle_(two[0], device, SEMAPHORE_HANDLE_OPAQUE_FD, sizeof fd - 1, &fd, NULL));
    STATUS(CL_INVALID_VALUE, get_handle_(same, device, SEMAPHORE_HANDLE_OPAQUE_FD, sizeof fd, &fd, NULL));
    properties_t sync[] = {SEMAPHORE_TYPE, TYPE_BINARY, SEMAPHORE_EXPORT_HANDLE_TYPES, SEMAPHORE_HANDLE_SYNC_FD, 0, 0};
    properties_t more[] = {SEMAPHORE_TYPE, TYPE_BINARY, SEMAPHORE_EXPORT_HANDLE_TYPES, SEMAPHORE_HANDLE_OPAQUE_FD,
                           SEMAPHORE_HANDLE_OPAQUE_FD, 0, 0};
    properties_t both[] = {SEMAPHORE_TYPE, TYPE_BINARY, SEMAPHORE_EXPORT_HANDLE_TYPES, SEMAPHORE_HANDLE_OPAQUE_FD, 0,
                           SEMAPHORE_HANDLE_OPAQUE_FD, (properties_t)fds[1], 0};
    properties_t closed[] = {SEMAPHORE_TYPE, TYPE_BINARY, SEMAPHORE_HANDLE_OPAQUE_FD, 100000, 0};
    properties_t file[] = {SEMAPHORE_TYPE, TYPE_BINARY, SEMAPHORE_HANDLE_OPAQUE_FD, 1, 0};
    CREATED(CL_INVALID_PROPERTY, create_(context, sync, &err));
    CREATED(CL_INVALID_VALUE, create_(context, more, &err));
    CREATED(CL_INVALID_OPERATION, create_(context, both, &err));
    CREATED(CL_INVALID_PROPERTY, create_(context, closed, &err));
    CREATED(CL_INVALID_PROPERTY, create_(context, file, &err));
    TRUE(close(fds[1]) == 0);
    STATUS(CL_SUCCESS, release_(same));
    STATUS(CL_SUCCESS, release_(two[0]));
    STATUS(CL_SUCCESS, release_(two[1]));
}

static void bad_arguments(void) {
    cl_int err;
    properties_t none[] = {0}, unknown[] = {~(properties_t)0}, wrong[] = {SEMAPHORE_TYPE, 7, 0};
    properties_t wide[] = {((properties_t)1 << 32) | SEMAPHORE_TYPE, TYPE_BINARY, 0};
    properties_t twice[] = {SEMAPHORE_TYPE, TYPE_BINARY, SEMAPHORE_TYPE}, only[] = {SEMAPHORE_DEVICE_HANDLE_LIST, (properties_t)device, 0, 0};
    properties_t no_device[] = {SEMAPHORE_TYPE, TYPE_BINARY, SEMAPHORE_DEVICE_HANDLE_LIST, 0, 0};
    properties_t bad_device[] = {SEMAPHORE_TYPE, TYPE_BINARY, SEMAPHORE_DEVICE_HANDLE_LIST, (properties_t)queue, 0, 0};
    CREATED(CL_INVALID_CONTEXT, create_(NULL, binary, &err));
    CREATED(CL_INVALID_VALUE, create_(context, NULL, &err));
    CREATED(CL_INVALID_VALUE, create_(context, none, &err));
    CREATED(CL_INVALID_VALUE, create_(context, only, &err));
    CREATED(CL_INVALID_PROPERTY, create_(context, unknown, &err));
    CREATED(CL_INVALID_PROPERTY, create_(context, wide, &err));
    CREATED(CL_INVALID_PROPERTY, create_(context, wrong, &err));
    CREATED(CL_INVALID_PROPERTY, create_(context, twice, &err));
    CREATED(CL_INVALID_DEVICE, create_(context, no_device, &err));
    CREATED(CL_INVALID_DEVICE, create_(context, bad_device, &err));

    cl_context strange = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    cl_event strange_event = clCreateUserEvent(strange, &err), failed = clCreateUserEvent(context, &err);
    cl_event no_event = (cl_event)queue;
    STATUS(CL_SUCCESS, clSetUserEventStatus(failed, -1));
    semaphore_t good = create_(context, binary, &err), foreign = create_(strange, binary, &err), bad = (semaphore_t)queue;
    enqueue_t both[] = {signal_, wait_};
    for (int i = 0; i < 2; i++) {
        STATUS(CL_INVALID_COMMAND_QUEUE, both[i](NULL, 1, &good, NULL, 0, NULL, NULL));
        STATUS(CL_INVALID_VALUE, both[i](queue, 0, &good, NULL, 0, NULL, NULL));
        STATUS(INVALID_SEMAPHORE, both[i](queue, 1, NULL, NULL, 0, NULL, NULL));
        STATUS(INVALID_SEMAPHORE, both[i](queue, 1, &bad, NULL, 0, NULL, NULL));
        STATUS(CL_INVALID_CONTEXT, both[i](queue, 1, &foreign, NULL, 0, NULL, NULL));
        STATUS(CL_INVALID_CONTEXT, both[i](queue, 1, &good, NULL, 1, &strange_event, NULL));
        STATUS(CL_INVALID_EVENT_WAIT_LIST, both[i](queue, 1, &good, NULL, 1, NULL, NULL));
        STATUS(CL_INVALID_EVENT_WAIT_LIST, both[i](queue, 1, &good, NULL, 0, &failed, NULL));
        STATUS(CL_INVALID_EVENT_WAIT_LIST, both[i](queue, 1, &good, NULL, 1, &no_event, NULL));
        STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, both[i](queue, 1, &good, NULL, 1, &failed, NULL));
    }
    STATUS(CL_SUCCESS, release_(good));
    STATUS(CL_SUCCESS, release_(foreign));
    STATUS(CL_SUCCESS, clReleaseEvent(failed));
    STATUS(CL_SUCCESS, clReleaseEvent(strange_event));
    STATUS(CL_SUCCESS, clReleaseContext(strange));
}

int main(void) {
    setup();
#define LOAD(pointer, name)                                                                                            \
    *(void **)&pointer = clGetExtensionFunctionAddressForPlatform(platform, name);                                     \
    TRUE(pointer != NULL)
    LOAD(create_, "clCreateSemaphoreWithPropertiesKHR");
    LOAD(retain_, "clRetainSemaphoreKHR");
    LOAD(release_, "clReleaseSemaphoreKHR");
    LOAD(get_info_, "clGetSemaphoreInfoKHR");
    LOAD(wait_, "clEnqueueWaitSemaphoresKHR");
    LOAD(signal_, "clEnqueueSignalSemaphoresKHR");
    LOAD(get_handle_, "clGetSemaphoreHandleForTypeKHR");
    if (failures != 0) {
        return finish();
    }
    signals_and_waits();
    queries();
    other_processes();
    bad_arguments();
    STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
    STATUS(CL_SUCCESS, clReleaseContext(context));
    return finish();
}
