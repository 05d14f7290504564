/* Atomics of many threads, the host's among them: no update is lost, whatever the type; and what was written before a release is
 * seen after the acquire that reads it. */
#include "check.h"
#include <stdatomic.h>

#define ITEMS (1 << 16)
#define HOST_ROUNDS 20000

static const char *source =
    "kernel void sums(global atomic_int *i, global atomic_long *l, global atomic_float *f, global atomic_double *d,\n"
    "                 global atomic_float *least, global atomic_double *most) {\n"
    "  int id = get_global_id(0);\n"
    "  atomic_fetch_add_explicit(&i[0], 1, memory_order_relaxed);\n"
    "  atomic_fetch_add_explicit(&i[1 + id % 3], id, memory_order_relaxed, memory_scope_device);\n"
    "  atomic_fetch_add(&l[0], (long)id << 20);\n"
    "  atomic_fetch_add_explicit(&f[0], (float)(id & 7), memory_order_relaxed);\n"
    "  atomic_fetch_sub_explicit(&d[0], (double)id, memory_order_relaxed);\n"
    "  atomic_fetch_min(&least[0], -0.5f * id);\n"
    "  atomic_fetch_max(&most[0], 0.25 * id);\n"
    "}\n"
    /* Each work-item takes one number by compare-and-exchange, and writes down which it is. */
    "kernel void tickets(global atomic_int *next, global int *owner) {\n"
    "  int mine = atomic_load_explicit(next, memory_order_relaxed);\n"
    "  while (!atomic_compare_exchange_weak_explicit(next, &mine, mine + 1, memory_order_acq_rel, memory_order_relaxed)) {}\n"
    "  owner[mine] = get_global_id(0);\n"
    "}\n"
    /* The last of the work-groups, by a counter, adds up what the others left in memory that is not atomic. */
    "kernel void last(global int *part, global atomic_int *done, global long *total) {\n"
    "  local int is_last;\n"
    "  if (get_local_id(0) == 0) {\n"
    "    part[get_group_id(0)] = get_group_id(0) + 1;\n"
    "    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);\n"
    "    int before = atomic_fetch_add_explicit(done, 1, memory_order_relaxed, memory_scope_device);\n"
    "    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);\n"
    "    is_last = before == get_num_groups(0) - 1;\n"
    "    if (is_last) { long sum = 0; for (uint g = 0; g < get_num_groups(0); g++) sum += part[g]; *total = sum; }\n"
    "  }\n"
    "}\n"
    /* Counts on, while the host does the same. */
    "kernel void together(global atomic_int *cell) {\n"
    "  atomic_fetch_add_explicit(cell, 1, memory_order_seq_cst, memory_scope_all_svm_devices);\n"
    "}\n";

static cl_program program;

static cl_kernel kernel(const char *name) {
    cl_int err;
    cl_kernel k = clCreateKernel(program, name, &err);
    STATUS(CL_SUCCESS, err);
    return k;
}

static void *shared(size_t bytes) {
    void *p = clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, bytes, 0);
    TRUE(p != NULL);
    memset(p, 0, bytes);
    return p;
}

static void run(cl_kernel k, size_t items, size_t group) {
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, k, 1, NULL, &items, &group, 0, NULL, NULL));
}

static void sums(void) {
    cl_kernel k = kernel("sums");
    cl_int *i = shared(64);
    cl_long *l = shared(64);
    cl_float *f = shared(64), *least = shared(64);
    cl_double *d = shared(64), *most = shared(64);
    void *arguments[] = {i, l, f, d, least, most};
    for (cl_uint a = 0; a < 6; a++) {
        STATUS(CL_SUCCESS, clSetKernelArgSVMPointer(k, a, arguments[a]));
    }
    run(k, ITEMS, 64);
    STATUS(CL_SUCCESS, clFinish(queue));
    cl_int parts[4] = {ITEMS, 0, 0, 0};
    cl_long all = 0;
    for (int id = 0; id < ITEMS; id++) {
        parts[1 + id % 3] += id;
        all += id;
    }
    TRUE(memcmp(i, parts, sizeof parts) == 0);
    TRUE(l[0] == all << 20);
    TRUE(f[0] == ITEMS / 8 * 28.0f);
    TRUE(d[0] == -(cl_double)all);
    TRUE(least[0] == -0.5f * (ITEMS - 1));
    TRUE(most[0] == 0.25 * (ITEMS - 1));
    for (cl_uint a = 0; a < 6; a++) {
        clSVMFree(context, arguments[a]);
    }
    clReleaseKernel(k);
}

static void tickets(void) {
    cl_kernel k = kernel("tickets");
    cl_int *next = shared(4), *owner = shared(ITEMS * sizeof(cl_int));
    memset(owner, 0xff, ITEMS * sizeof(cl_int));
    clSetKernelArgSVMPointer(k, 0, next);
    clSetKernelArgSVMPointer(k, 1, owner);
    run(k, ITEMS, 32);
    STATUS(CL_SUCCESS, clFinish(queue));
    TRUE(*next == ITEMS);
    char *seen = calloc(ITEMS, 1);
    int each = 1;
    for (int t = 0; t < ITEMS; t++) {
        each &= owner[t] >= 0 && owner[t] < ITEMS && !seen[owner[t]];
        if (owner[t] >= 0 && owner[t] < ITEMS) {
            seen[owner[t]] = 1;
        }
    }
    TRUE(each);
    free(seen);
    clSVMFree(context, next);
    clSVMFree(context, owner);
    clReleaseKernel(k);
}

static void last(void) {
    cl_kernel k = kernel("last");
    cl_int groups = ITEMS / 16;
    cl_int *part = shared(groups * sizeof(cl_int)), *done = shared(4);
    cl_long *total = shared(8);
    clSetKernelArgSVMPointer(k, 0, part);
    clSetKernelArgSVMPointer(k, 1, done);
    clSetKernelArgSVMPointer(k, 2, total);
    for (int round = 0; round < 20; round++) {
        memset(part, 0, groups * sizeof(cl_int));
        *done = 0;
        *total = 0;
        run(k, ITEMS, 16);
        STATUS(CL_SUCCESS, clFinish(queue));
        TRUE(*done == groups && *total == (cl_long)groups * (groups + 1) / 2);
    }
    clSVMFree(context, part);
    clSVMFree(context, done);
    clSVMFree(context, total);
    clReleaseKernel(k);
}

static void with_the_host(void) {
    cl_kernel k = kernel("together");
    atomic_int *cell = shared(4);
    clSetKernelArgSVMPointer(k, 0, cell);
    run(k, ITEMS, 64);
    STATUS(CL_SUCCESS, clFlush(queue));
    for (int i = 0; i < HOST_ROUNDS; i++) {
        atomic_fetch_add(cell, 1);
    }
    STATUS(CL_SUCCESS, clFinish(queue));
    TRUE(atomic_load(cell) == ITEMS + HOST_ROUNDS);
    clSVMFree(context, (void *)cell);
    clReleaseKernel(k);
}

int main(void) {
    setup();
    program = build(source, "-cl-std=CL3.0");
    sums();
    tickets();
    last();
    with_the_host();
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    STATUS(CL_SUCCESS, clReleaseCommandQueue(queue));
    STATUS(CL_SUCCESS, clReleaseContext(context));
    return finish();
}
