/* The thread that calls first may be bound to one processor: the device has all that the process may use. Each case is a process. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static cl_uint units = 0;

static void *query(void *is_bound) {
    if (is_bound != NULL) {
        cpu_set_t all, one;
        sched_getaffinity(0, sizeof all, &all);
        CPU_ZERO(&one);
        for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
            if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
        }
        sched_setaffinity(0, sizeof one, &one);
    }
    setup();
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
    STATUS(CL_SUCCESS, clReleaseContext(context));
    return NULL;
}

/* The compute units that a process sees whose first call is so. */
static int seen(int is_bound) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, query, is_bound ? &thread : NULL);
        pthread_join(thread, NULL);
        _exit(failures != 0 || units > 255 ? 255 : (int)units);
    }
    int status = 0;
    waitpid(child, &status, 0);
    TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

int main(void) {
    int all = seen(0);
    TRUE(all >= 1 && all < 255);
    STATUS(all, seen(1));
    return finish();
}
