/* Pipes, from OpenCL C through the compiler that writes SPIR-V itself and, without optimisation, through the other one: packets
 * come out whole, in order and once; full and empty pipes, reservations of every kind, kernels that write and read at the same
 * time, queries, and errors of everything that takes a pipe. */
#include "check.h"

#define ITEMS (1 << 14)

static const char *source =
    "typedef struct { char tag; int id; double value; uchar tail[3]; } packet;\n"
    "kernel void put(write_only pipe int p, global const int *from, global int *done) {\n"
    "  int i = get_global_id(0);\n"
    "  done[i] = write_pipe(p, &from[i]);\n"
    "}\n"
    "kernel void get(read_only pipe int p, global int *to, global int *done) {\n"
    "  int i = get_global_id(0), x = -7;\n"
    "  done[i] = read_pipe(p, &x);\n"
    "  to[i] = x;\n"
    "}\n"
    "kernel void put_packets(write_only pipe packet p, global const packet *from) {\n"
    "  packet one = from[get_global_id(0)];\n"
    "  write_pipe(p, &one);\n"
    "}\n"
    "kernel void get_packets(read_only pipe packet p, global packet *to) {\n"
    "  local packet shared[64];\n"
    "  size_t l = get_local_id(0);\n"
    "  read_pipe(p, &shared[l]);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  to[get_global_id(0)] = shared[l];\n"
    "}\n"
    "kernel void sizes_of_writer(write_only pipe int p, global uint *out) {\n"
    "  out[0] = get_pipe_num_packets(p);\n"
    "  out[1] = get_pipe_max_packets(p);\n"
    "}\n"
    "kernel void sizes_of_reader(read_only pipe int p, global uint *out) {\n"
    "  out[0] = get_pipe_num_packets(p);\n"
    "  out[1] = get_pipe_max_packets(p);\n"
    "}\n"
    /* Each work-item reserves one to five packets, and writes them from the last to the first. */
    "kernel void put_runs(write_only pipe int p, global int *done) {\n"
    "  int i = get_global_id(0), n = 1 + i % 5;\n"
    "  reserve_id_t r = reserve_write_pipe(p, n);\n"
    "  int good = is_valid_reserve_id(r);\n"
    "  if (good) {\n"
    "    for (int k = n - 1; k >= 0; k--) { int x = i * 8 + k; good &= write_pipe(p, r, k, &x) == 0; }\n"
    "    commit_write_pipe(p, r);\n"
    "  }\n"
    "  done[i] = good;\n"
    "}\n"
    "kernel void get_all(read_only pipe int p, global int *to, int n) {\n"
    "  reserve_id_t too_many = reserve_read_pipe(p, n + 1);\n"
    "  reserve_id_t r = reserve_read_pipe(p, n);\n"
    "  to[n] = is_valid_reserve_id(too_many) ? 1 : is_valid_reserve_id(r) ? 0 : 2;\n"
    "  for (int k = 0; k < n; k++) read_pipe(p, r, k, &to[k]);\n"
    "  commit_read_pipe(p, r);\n"
    "}\n"
    "kernel void group_put(write_only pipe int p, global int *valid) {\n"
    "  reserve_id_t r = work_group_reserve_write_pipe(p, get_local_size(0));\n"
    "  if (is_valid_reserve_id(r)) {\n"
    "    int x = get_global_id(0);\n"
    "    write_pipe(p, r, get_local_id(0), &x);\n"
    "    work_group_commit_write_pipe(p, r);\n"
    "    valid[get_global_id(0)] = 1;\n"
    "  }\n"
    "}\n"
    "kernel void group_get(read_only pipe int p, global int *to) {\n"
    "  local reserve_id_t r;\n"
    "  r = work_group_reserve_read_pipe(p, get_local_size(0));\n"
    "  if (is_valid_reserve_id(r)) {\n"
    "    read_pipe(p, r, get_local_size(0) - 1 - get_local_id(0), &to[get_global_id(0)]);\n"
    "    work_group_commit_read_pipe(p, r);\n"
    "  }\n"
    "}\n"
    "kernel void sub_group_put(write_only pipe int p) {\n"
    "  reserve_id_t r = sub_group_reserve_write_pipe(p, get_sub_group_size());\n"
    "  if (is_valid_reserve_id(r)) {\n"
    "    int x = get_global_id(0);\n"
    "    write_pipe(p, r, get_sub_group_local_id(), &x);\n"
    "    sub_group_commit_write_pipe(p, r);\n"
    "  }\n"
    "}\n"
    "kernel void sub_group_get(read_only pipe int p, global int *to) {\n"
    "  reserve_id_t r = sub_group_reserve_read_pipe(p, get_sub_group_size());\n"
    "  if (is_valid_reserve_id(r)) {\n"
    "    read_pipe(p, r, get_sub_group_local_id(), &to[get_global_id(0)]);\n"
    "    sub_group_commit_read_pipe(p, r);\n"
    "  }\n"
    "}\n"
    /* Neither waits for the other: a work-item gives up after a while. */
    "kernel void produce(write_only pipe int p, global int *done) {\n"
    "  int i = get_global_id(0), good = 0;\n"
    "  for (int k = 0; k < 200 && !good; k++) good = write_pipe(p, &i) == 0;\n"
    "  done[i] = good;\n"
    "}\n"
    "kernel void consume(read_only pipe int p, global atomic_int *seen) {\n"
    "  int x;\n"
    "  for (int k = 0; k < 200; k++) if (read_pipe(p, &x) == 0) { atomic_fetch_add(&seen[x], 1); break; }\n"
    "}\n"
    "kernel void produce_runs(write_only pipe int p, global int *done) {\n"
    "  int i = get_global_id(0), n = 1 + i % 3;\n"
    "  done[i] = 0;\n"
    "  for (int k = 0; k < 200; k++) {\n"
    "    reserve_id_t r = reserve_write_pipe(p, n);\n"
    "    if (!is_valid_reserve_id(r)) continue;\n"
    "    for (int j = 0; j < n; j++) write_pipe(p, r, j, &i);\n"
    "    commit_write_pipe(p, r);\n"
    "    done[i] = n;\n"
    "    break;\n"
    "  }\n"
    "}\n"
    "kernel void consume_runs(read_only pipe int p, global atomic_int *seen) {\n"
    "  int n = 1 + get_global_id(0) % 4, x;\n"
    "  for (int k = 0; k < 200; k++) {\n"
    "    reserve_id_t r = reserve_read_pipe(p, n);\n"
    "    if (!is_valid_reserve_id(r)) continue;\n"
    "    for (int j = 0; j < n; j++) { read_pipe(p, r, j, &x); atomic_fetch_add(&seen[x], 1); }\n"
    "    commit_read_pipe(p, r);\n"
    "    break;\n"
    "  }\n"
    "}\n";

/* Apart, because one of the compilers does not know it. */
static const char *null_source =
    "kernel void null_reservation(global int *out) {\n"
    "  reserve_id_t r = CLK_NULL_RESERVE_ID;\n"
    "  out[0] = is_valid_reserve_id(r);\n"
    "}\n";

typedef struct { char tag; cl_int id; cl_double value; cl_uchar tail[3]; } packet;

static cl_program program;
static cl_command_queue unordered;

static cl_mem pipe_of(cl_uint packet_size, cl_uint packets) {
    cl_int err;
    cl_mem p = clCreatePipe(context, 0, packet_size, packets, NULL, &err);
    STATUS(CL_SUCCESS, err);
    return p;
}

static cl_mem buffer_of(size_t size, void *contents) {
    cl_int err;
    cl_mem b = clCreateBuffer(context, contents ? CL_MEM_COPY_HOST_PTR : 0, size, contents, &err);
    STATUS(CL_SUCCESS, err);
    return b;
}

static void contents(cl_mem b, size_t size, void *out) {
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, b, CL_TRUE, 0, size, out, 0, NULL, NULL));
}

/* Enqueues a kernel with memory objects as its first arguments. */
static void launch(cl_command_queue q, const char *name, size_t items, size_t group, cl_uint count, cl_mem *arguments) {
    cl_int err;
    cl_kernel k = clCreateKernel(program, name, &err);
    STATUS(CL_SUCCESS, err);
    for (cl_uint i = 0; i < count; i++) {
        STATUS(CL_SUCCESS, clSetKernelArg(k, i, sizeof(cl_mem), &arguments[i]));
    }
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(q, k, 1, NULL, &items, &group, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clReleaseKernel(k));
}

static void run(const char *name, size_t items, size_t group, cl_uint count, cl_mem *arguments) {
    launch(queue, name, items, group, count, arguments);
    STATUS(CL_SUCCESS, clFinish(queue));
}

static void check_sizes(cl_mem p, cl_uint packets, cl_uint most) {
    cl_uint found[2];
    cl_mem out = buffer_of(sizeof found, NULL);
    const char *names[] = {"sizes_of_writer", "sizes_of_reader"};
    for (int i = 0; i < 2; i++) {
        run(names[i], 1, 1, 2, (cl_mem[]){p, out});
        contents(out, sizeof found, found);
        TRUE(found[0] == packets);
        TRUE(found[1] == most);
    }
    clReleaseMemObject(out);
}

/* One work-group of one thread writes in order, so what comes out is known. Three rounds, round the end of the ring. */
static void full_and_empty(void) {
    enum { ROOM = 100, WANTED = 128 };
    static cl_int numbers[WANTED], got[WANTED], done[WANTED];
    for (int i = 0; i < WANTED; i++) numbers[i] = 1000 + i;
    cl_mem p = pipe_of(sizeof(cl_int), ROOM);
    cl_mem from = buffer_of(sizeof numbers, numbers), to = buffer_of(sizeof got, NULL), result = buffer_of(sizeof done, NULL);
    check_sizes(p, 0, ROOM);
    for (int round = 0; round < 3; round++) {
        run("put", 64, 64, 3, (cl_mem[]){p, from, result});
        contents(result, 64 * 4, done);
        int all = 1;
        for (int i = 0; i < 64; i++) all &= done[i] == 0;
        TRUE(all);
        check_sizes(p, 64, ROOM);
        run("put", WANTED, WANTED, 3, (cl_mem[]){p, from, result});
        contents(result, sizeof done, done);
        all = 1;
        for (int i = 0; i < WANTED; i++) all &= i < ROOM - 64 ? done[i] == 0 : done[i] < 0;
        TRUE(all);
        check_sizes(p, ROOM, ROOM);
        run("get", WANTED, WANTED, 3, (cl_mem[]){p, to, result});
        contents(result, sizeof done, done);
        contents(to, sizeof got, got);
        all = 1;
        for (int i = 0; i < WANTED; i++) {
            if (i < ROOM) {
                all &= done[i] == 0 && got[i] == 1000 + (i < 64 ? i : i - 64);
            } else {
                all &= done[i] < 0 && got[i] == -7;
            }
        }
        TRUE(all);
        check_sizes(p, 0, ROOM);
    }
    clReleaseMemObject(p);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseMemObject(result);
}

static void structures(void) {
    enum { COUNT = 64 };
    static packet sent[COUNT], got[COUNT];
    for (int i = 0; i < COUNT; i++) {
        sent[i] = (packet){(char)i, -i, i * 0.5, {i, i + 1, i + 2}};
    }
    cl_mem p = pipe_of(sizeof(packet), COUNT), from = buffer_of(sizeof sent, sent), to = buffer_of(sizeof got, NULL);
    run("put_packets", COUNT, COUNT, 2, (cl_mem[]){p, from});
    run("get_packets", COUNT, COUNT, 2, (cl_mem[]){p, to});
    contents(to, sizeof got, got);
    int same = 1;
    for (int i = 0; i < COUNT; i++) {
        same &= got[i].tag == sent[i].tag && got[i].id == sent[i].id && got[i].value == sent[i].value &&
                memcmp(got[i].tail, sent[i].tail, 3) == 0;
    }
    TRUE(same);
    clReleaseMemObject(p);
    clReleaseMemObject(from);
    clReleaseMemObject(to);
}

/* A kernel for packets of another size than the pipe's finds it full and empty. */
static void wrong_packets(void) {
    cl_int numbers[4] = {1, 2, 3, 4}, done[4];
    cl_mem p = pipe_of(8, 4), from = buffer_of(sizeof numbers, numbers), result = buffer_of(sizeof done, NULL);
    run("put", 4, 4, 3, (cl_mem[]){p, from, result});
    contents(result, sizeof done, done);
    TRUE(done[0] < 0 && done[1] < 0 && done[2] < 0 && done[3] < 0);
    check_sizes(p, 0, 4);
    clReleaseMemObject(p);
    clReleaseMemObject(from);
    clReleaseMemObject(result);
}

/* Many threads reserve at once; what each reserved stays together. */
static void reservations(void) {
    enum { WRITERS = 1000, ROOM = 3000 };
    static cl_int done[WRITERS], got[ROOM + 1];
    cl_mem p = pipe_of(sizeof(cl_int), ROOM), result = buffer_of(sizeof done, NULL), to = buffer_of(sizeof got, NULL);
    run("put_runs", WRITERS, 10, 2, (cl_mem[]){p, result});
    contents(result, sizeof done, done);
    int all = 1;
    for (int i = 0; i < WRITERS; i++) all &= done[i];
    /* 200 of each length, 1 to 5. */
    TRUE(all);
    check_sizes(p, ROOM, ROOM);
    run("put_runs", WRITERS, 10, 2, (cl_mem[]){p, result});
    contents(result, sizeof done, done);
    int any = 0;
    for (int i = 0; i < WRITERS; i++) any |= done[i];
    TRUE(!any);
    cl_int err, n = ROOM;
    size_t one = 1;
    cl_kernel k = clCreateKernel(program, "get_all", &err);
    clSetKernelArg(k, 0, sizeof p, &p);
    clSetKernelArg(k, 1, sizeof to, &to);
    clSetKernelArg(k, 2, sizeof n, &n);
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, &one, 0, NULL, NULL));
    contents(to, sizeof got, got);
    TRUE(got[ROOM] == 0);
    static char seen[WRITERS];
    memset(seen, 0, sizeof seen);
    int together = 1;
    for (int at = 0; at < ROOM;) {
        int writer = got[at] / 8;
        if (writer < 0 || writer >= WRITERS || seen[writer]) {
            together = 0;
            break;
        }
        seen[writer] = 1;
        for (int j = 0; j < 1 + writer % 5; j++, at++) together &= at < ROOM && got[at] == writer * 8 + j;
    }
    TRUE(together);
    check_sizes(p, 0, ROOM);
    clReleaseKernel(k);
    clReleaseMemObject(p);
    clReleaseMemObject(to);
    clReleaseMemObject(result);
}

static void groups(void) {
    enum { GROUP = 48, COUNT = 10, ALL = GROUP * COUNT, ROOM = GROUP * 6 + 5 };
    static cl_int valid[ALL], got[ALL];
    memset(valid, 0, sizeof valid);
    memset(got, 0xff, sizeof got);
    cl_mem p = pipe_of(sizeof(cl_int), ROOM), flags = buffer_of(sizeof valid, valid), to = buffer_of(sizeof got, got);
    run("group_put", ALL, GROUP, 2, (cl_mem[]){p, flags});
    check_sizes(p, GROUP * 6, ROOM);
    contents(flags, sizeof valid, valid);
    int written = 0, whole = 1;
    for (int i = 0; i < ALL; i++) {
        written += valid[i];
        whole &= valid[i] == valid[i / GROUP * GROUP];
    }
    TRUE(written == GROUP * 6);
    TRUE(whole);
    run("group_get", ALL, GROUP, 2, (cl_mem[]){p, to});
    check_sizes(p, 0, ROOM);
    contents(to, sizeof got, got);
    int read = 0, right = 1;
    for (int g = 0; g < COUNT; g++) {
        cl_int *of = &got[g * GROUP];
        int some = of[0] >= 0;
        read += some;
        /* What one group wrote, the other way round. */
        for (int i = 0; i < GROUP; i++) right &= some ? of[i] >= 0 && of[i] < ALL && valid[of[i]] && of[i] == of[0] - i : of[i] == -1;
        right &= !some || of[0] % GROUP == GROUP - 1;
    }
    TRUE(read == 6);
    TRUE(right);
    clReleaseMemObject(p);
    p = pipe_of(sizeof(cl_int), ALL);
    run("sub_group_put", ALL, GROUP + 12, 1, &p);
    check_sizes(p, ALL, ALL);
    memset(got, 0xff, sizeof got);
    STATUS(CL_SUCCESS, clEnqueueWriteBuffer(queue, to, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
    run("sub_group_get", ALL, GROUP + 12, 2, (cl_mem[]){p, to});
    contents(to, sizeof got, got);
    static char seen[ALL];
    memset(seen, 0, sizeof seen);
    int each = 1;
    for (int i = 0; i < ALL; i++) {
        each &= got[i] >= 0 && got[i] < ALL && !seen[got[i]];
        if (got[i] >= 0 && got[i] < ALL) seen[got[i]] = 1;
    }
    TRUE(each);
    clReleaseMemObject(p);
    clReleaseMemObject(flags);
    clReleaseMemObject(to);
}

/* A kernel that writes and one that reads, on two pipes at the same time; what is left is read afterwards. */
static void at_the_same_time(const char *writer, const char *reader) {
    static cl_int done[2][ITEMS], seen[ITEMS];
    cl_mem p[2], written[2], counts[2];
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 2; i++) {
        p[i] = pipe_of(sizeof(cl_int), 61);
        written[i] = buffer_of(sizeof done[i], NULL);
        counts[i] = buffer_of(sizeof seen, seen);
    }
    for (int i = 0; i < 2; i++) {
        launch(unordered, writer, ITEMS, 64, 2, (cl_mem[]){p[i], written[i]});
        launch(unordered, reader, ITEMS, 32, 2, (cl_mem[]){p[i], counts[i]});
    }
    STATUS(CL_SUCCESS, clFinish(unordered));
    for (int i = 0; i < 2; i++) {
        run("consume", 64, 64, 2, (cl_mem[]){p[i], counts[i]});
        check_sizes(p[i], 0, 61);
        contents(written[i], sizeof done[i], done[i]);
        contents(counts[i], sizeof seen, seen);
        TRUE(memcmp(done[i], seen, sizeof seen) == 0);
        cl_int most = 0;
        for (int j = 0; j < ITEMS; j++) most |= done[i][j];
        TRUE(most > 0);
        clReleaseMemObject(p[i]);
        clReleaseMemObject(written[i]);
        clReleaseMemObject(counts[i]);
    }
}

static void null_reservation(void) {
    cl_int out = 7, err;
    size_t one = 1;
    cl_mem b = buffer_of(sizeof out, &out);
    cl_program other = build(null_source, "-cl-std=CL3.0");
    cl_kernel k = clCreateKernel(other, "null_reservation", &err);
    STATUS(CL_SUCCESS, err);
    clSetKernelArg(k, 0, sizeof b, &b);
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, k, 1, NULL, &one, NULL, 0, NULL, NULL));
    contents(b, sizeof out, &out);
    TRUE(out == 0);
    clReleaseKernel(k);
    clReleaseProgram(other);
    clReleaseMemObject(b);
}

static void on_destroyed(cl_mem m, void *data) {
    (void)m;
    ++*(int *)data;
}

static void queries(void) {
    cl_int err;
    cl_uint n;
    size_t size;
    cl_mem_object_type type;
    cl_mem_flags flags;
    cl_bool supported = CL_FALSE;
    cl_uint limits[3];
    char c;
    cl_pipe_properties properties[] = {0};
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_PIPE_SUPPORT, sizeof supported, &supported, NULL));
    TRUE(supported == CL_TRUE);
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_MAX_PIPE_ARGS, sizeof n, &limits[0], NULL));
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, sizeof n, &limits[1], NULL));
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_PIPE_MAX_PACKET_SIZE, sizeof n, &limits[2], NULL));
    TRUE(limits[0] >= 16 && limits[1] >= 1 && limits[2] >= 1024);

    CREATED(CL_INVALID_CONTEXT, clCreatePipe(NULL, 0, 4, 4, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreatePipe(context, CL_MEM_READ_ONLY, 4, 4, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreatePipe(context, CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY, 4, 4, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreatePipe(context, CL_MEM_ALLOC_HOST_PTR, 4, 4, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreatePipe(context, 1ull << 40, 4, 4, NULL, &err));
    CREATED(CL_INVALID_VALUE, clCreatePipe(context, 0, 4, 4, properties, &err));
    CREATED(CL_INVALID_PIPE_SIZE, clCreatePipe(context, 0, 0, 4, NULL, &err));
    CREATED(CL_INVALID_PIPE_SIZE, clCreatePipe(context, 0, 4, 0, NULL, &err));
    CREATED(CL_INVALID_PIPE_SIZE, clCreatePipe(context, 0, limits[2] + 1, 4, NULL, &err));
    CREATED(CL_MEM_OBJECT_ALLOCATION_FAILURE, clCreatePipe(context, 0, limits[2], 0xffffffff, NULL, &err));
    TRUE(clCreatePipe(context, 0, 0, 4, NULL, NULL) == NULL);

    cl_mem p = clCreatePipe(context, 0, 12, 34, NULL, &err), b = buffer_of(64, NULL);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clGetPipeInfo(p, CL_PIPE_PACKET_SIZE, sizeof n, &n, &size));
    TRUE(n == 12 && size == 4);
    STATUS(CL_SUCCESS, clGetPipeInfo(p, CL_PIPE_MAX_PACKETS, sizeof n, &n, &size));
    TRUE(n == 34 && size == 4);
    size = 77;
    STATUS(CL_SUCCESS, clGetPipeInfo(p, CL_PIPE_PROPERTIES, 0, NULL, &size));
    TRUE(size == 0);
    STATUS(CL_INVALID_VALUE, clGetPipeInfo(p, CL_PIPE_PACKET_SIZE, 3, &n, NULL));
    STATUS(CL_INVALID_VALUE, clGetPipeInfo(p, CL_MEM_SIZE, sizeof n, &n, NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clGetPipeInfo(b, CL_PIPE_PACKET_SIZE, sizeof n, &n, NULL));
    STATUS(CL_SUCCESS, clGetMemObjectInfo(p, CL_MEM_TYPE, sizeof type, &type, NULL));
    TRUE(type == CL_MEM_OBJECT_PIPE);
    STATUS(CL_SUCCESS, clGetMemObjectInfo(p, CL_MEM_FLAGS, sizeof flags, &flags, NULL));
    TRUE(flags == (CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS));
    STATUS(CL_SUCCESS, clGetMemObjectInfo(p, CL_MEM_SIZE, sizeof size, &size, NULL));
    TRUE(size >= 12 * 34);
    STATUS(CL_SUCCESS, clGetMemObjectInfo(p, CL_MEM_REFERENCE_COUNT, sizeof n, &n, NULL));
    TRUE(n == 1);
    STATUS(CL_INVALID_MEM_OBJECT, clGetImageInfo(p, CL_IMAGE_WIDTH, 0, NULL, &size));

    /* What is for buffers refuses pipes. */
    size_t zero3[3] = {0}, one3[3] = {1, 1, 1};
    cl_buffer_region region = {0, 4};
    CREATED(CL_INVALID_MEM_OBJECT, clCreateSubBuffer(p, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
    STATUS(CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(queue, p, CL_TRUE, 0, 1, &c, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clEnqueueWriteBuffer(queue, p, CL_TRUE, 0, 1, &c, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clEnqueueFillBuffer(queue, p, &c, 1, 0, 1, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clEnqueueCopyBuffer(queue, p, b, 0, 0, 1, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clEnqueueCopyBuffer(queue, b, p, 0, 0, 1, 0, NULL, NULL));
    STATUS(CL_INVALID_MEM_OBJECT,
           clEnqueueReadBufferRect(queue, p, CL_TRUE, zero3, zero3, one3, 0, 0, 0, 0, &c, 0, NULL, NULL));
    CREATED(CL_INVALID_MEM_OBJECT, clEnqueueMapBuffer(queue, p, CL_TRUE, CL_MAP_READ, 0, 1, 0, NULL, NULL, &err));
    STATUS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, p, &c, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueMigrateMemObjects(queue, 1, &p, 0, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));

    int destroyed = 0;
    STATUS(CL_SUCCESS, clSetMemObjectDestructorCallback(p, on_destroyed, &destroyed));
    STATUS(CL_SUCCESS, clRetainMemObject(p));
    STATUS(CL_SUCCESS, clReleaseMemObject(p));
    TRUE(destroyed == 0);
    STATUS(CL_SUCCESS, clReleaseMemObject(p));
    TRUE(destroyed == 1);
    STATUS(CL_SUCCESS, clReleaseMemObject(b));
}

static void arguments(void) {
    cl_int err;
    cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    cl_mem p = pipe_of(4, 4), b = buffer_of(64, NULL), none = NULL;
    cl_mem foreign = clCreatePipe(other, 0, 4, 4, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_kernel k = clCreateKernel(program, "put", &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_INVALID_ARG_SIZE, clSetKernelArg(k, 0, 4, &p));
    STATUS(CL_INVALID_MEM_OBJECT, clSetKernelArg(k, 0, sizeof p, &b));
    STATUS(CL_INVALID_MEM_OBJECT, clSetKernelArg(k, 0, sizeof p, &none));
    STATUS(CL_INVALID_MEM_OBJECT, clSetKernelArg(k, 0, sizeof p, NULL));
    STATUS(CL_INVALID_CONTEXT, clSetKernelArg(k, 0, sizeof p, &foreign));
    STATUS(CL_INVALID_MEM_OBJECT, clSetKernelArg(k, 1, sizeof p, &p));
    STATUS(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(k, 0, b));
    STATUS(CL_SUCCESS, clSetKernelArg(k, 0, sizeof p, &p));

    cl_kernel_arg_type_qualifier qualifier;
    cl_kernel_arg_access_qualifier access;
    char type[32];
    STATUS(CL_SUCCESS, clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof qualifier, &qualifier, NULL));
    TRUE(qualifier == CL_KERNEL_ARG_TYPE_PIPE);
    STATUS(CL_SUCCESS, clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL));
    TRUE(access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY);
    STATUS(CL_SUCCESS, clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, NULL));
    TRUE(strcmp(type, "int") == 0);
    clReleaseKernel(k);
    k = clCreateKernel(program, "get", &err);
    STATUS(CL_SUCCESS, clGetKernelArgInfo(k, 0, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access, &access, NULL));
    TRUE(access == CL_KERNEL_ARG_ACCESS_READ_ONLY);
    clReleaseKernel(k);
    clReleaseMemObject(p);
    clReleaseMemObject(b);
    clReleaseMemObject(foreign);
    clReleaseContext(other);
}

/* Kibibytes of memory that the process has touched. */
static size_t resident(void) {
    size_t all = 0, touched = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    TRUE(file != NULL && fscanf(file, "%zu %zu", &all, &touched) == 2);
    fclose(file);
    return touched * 4;
}

/* Packets that were never written take no memory, and more than there may be is refused. */
static void large(void) {
    cl_ulong most = 0;
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL));
    cl_uint packets = most / 8 < 1 << 28 ? most / 8 : 1 << 28;
    size_t before = resident();
    for (int i = 0; i < 3; i++) {
        cl_mem p = pipe_of(1, packets);
        TRUE(resident() < before + packets / 1024 / 10);
        STATUS(CL_SUCCESS, clReleaseMemObject(p));
    }
    cl_int err;
    CREATED(CL_MEM_OBJECT_ALLOCATION_FAILURE, clCreatePipe(context, 0, 1024, (cl_uint)(most / 1024), NULL, &err));
}

int main(void) {
    setup();
    cl_int err;
    cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    unordered = clCreateCommandQueueWithProperties(context, device, properties, &err);
    STATUS(CL_SUCCESS, err);
    queries();
    const char *options[] = {"-cl-std=CL3.0 -cl-kernel-arg-info", "-cl-std=CL3.0 -cl-kernel-arg-info -cl-opt-disable"};
    for (int i = 0; i < 2; i++) {
        program = build(source, options[i]);
        arguments();
        full_and_empty();
        structures();
        wrong_packets();
        reservations();
        groups();
        at_the_same_time("produce", "consume");
        at_the_same_time("produce_runs", "consume_runs");
        clReleaseProgram(program);
    }
    null_reservation();
    large();
    clReleaseCommandQueue(unordered);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return finish();
}
