/* Kernels and commands touch nothing outside an image, whatever coordinates they are given: images whose texels end, or begin,
 * where no memory is, of every type and of texels of every size, are read through samplers of every kind, and written. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <sys/mman.h>
#include <unistd.h>

#define ITEMS 256

/* Half of the coordinates are those of neighbours, in and just outside the image, and half are anywhere. The texels that a read
 * yields are added up so that none is left out. */
static const char *source =
    "#define KERNEL(name, type, kind, vector, IN, FN, AT, ATF)\\\n"
    "  kernel void name##_##kind(read_only type im, sampler_t s, int whole, global const float4 *far, global vector *out) {\\\n"
    "    int i = get_global_id(0); int4 at = convert_int4_sat(far[i]);\\\n"
    "    vector sum = FN(im, s, far[i].ATF);\\\n"
    "    if (whole) sum += FN(im, s, at.AT);\\\n"
    "    for (int j = 0; j < 4; j++) { int4 at = (int4)(i % 32, i / 32, j, 0) - 2; \\\n"
    "      sum += FN(im, s, convert_float4(at).ATF * (whole ? 1.0f : 0.1f)); if (whole) sum += FN(im, s, at.AT); }\\\n"
    "    out[i] = sum;\\\n"
    "  }\n"
    "#define WRITE(name, type, kind, vector, IN, FN, AT)\\\n"
    "  kernel void name##_##kind##_w(IN type im, global const float4 *far) {\\\n"
    "    int i = get_global_id(0); int4 at = convert_int4_sat(far[i]);\\\n"
    "    FN(im, at.AT, (vector)(1));\\\n"
    "    for (int j = 0; j < 4; j++) FN(im, ((int4)(i % 32, i / 32, j, 0) - 2).AT, (vector)(i));\\\n"
    "  }\n"
    "#define PLAIN(name, type, kind, vector, FN, AT)\\\n"
    "  kernel void name##_##kind##_p(read_only type im, global const float4 *far, global vector *out) {\\\n"
    "    int i = get_global_id(0); int4 at = convert_int4_sat(far[i]);\\\n"
    "    vector sum = FN(im, at.AT);\\\n"
    "    for (int j = 0; j < 4; j++) sum += FN(im, ((int4)(i % 32, i / 32, j, 0) - 2).AT);\\\n"
    "    out[i] = sum;\\\n"
    "  }\n"
    "#define KINDS(M, name, type, W, AT, ...)\\\n"
    "  M(name, type, f, float4, W, read_imagef, AT, __VA_ARGS__)\\\n"
    "  M(name, type, i, int4, W, read_imagei, AT, __VA_ARGS__)\\\n"
    "  M(name, type, u, uint4, W, read_imageui, AT, __VA_ARGS__)\n"
    "#define ALL(name, type, AT, ATF)\\\n"
    "  KINDS(KERNEL, name, type, read_only, AT, ATF) OTHERS(name, type, AT)\n"
    "#define OTHERS(name, type, AT)\\\n"
    "  WRITE(name, type, f, float4, write_only, write_imagef, AT)\\\n"
    "  WRITE(name, type, i, int4, write_only, write_imagei, AT)\\\n"
    "  WRITE(name, type, u, uint4, write_only, write_imageui, AT)\\\n"
    "  PLAIN(name, type, f, float4, read_imagef, AT)\\\n"
    "  PLAIN(name, type, i, int4, read_imagei, AT)\\\n"
    "  PLAIN(name, type, u, uint4, read_imageui, AT)\n"
    "ALL(one, image1d_t, x, x)\n"
    "OTHERS(texels, image1d_buffer_t, x)\n"
    "ALL(rows, image1d_array_t, xy, xy)\n"
    "ALL(two, image2d_t, xy, xy)\n"
    "ALL(planes, image2d_array_t, xyzw, xyzw)\n"
    "ALL(three, image3d_t, xyzw, xyzw)\n";

static const struct {
    const char *name;
    cl_mem_object_type type;
    int dimensions;
} types[] = {
    {"one", CL_MEM_OBJECT_IMAGE1D, 1},         {"texels", CL_MEM_OBJECT_IMAGE1D_BUFFER, 1},
    {"rows", CL_MEM_OBJECT_IMAGE1D_ARRAY, 2},  {"two", CL_MEM_OBJECT_IMAGE2D, 2},
    {"planes", CL_MEM_OBJECT_IMAGE2D_ARRAY, 3}, {"three", CL_MEM_OBJECT_IMAGE3D, 3},
};

/* With every sampler, or only with some. */
static const struct {
    cl_image_format format;
    size_t size;
    char kind;
    int every;
} formats[] = {
    {{CL_RGBA, CL_UNORM_INT8}, 4, 'f', 1},  {{CL_RGBA, CL_FLOAT}, 16, 'f', 1},      {{CL_R, CL_UNORM_INT8}, 1, 'f', 0},
    {{CL_BGRA, CL_UNORM_INT8}, 4, 'f', 0},  {{CL_sRGBA, CL_UNORM_INT8}, 4, 'f', 0}, {{CL_RG, CL_SNORM_INT8}, 2, 'f', 0},
    {{CL_RGBA, CL_HALF_FLOAT}, 8, 'f', 0},  {{CL_R, CL_HALF_FLOAT}, 2, 'f', 0},     {{CL_R, CL_FLOAT}, 4, 'f', 0},
    {{CL_RG, CL_UNORM_INT16}, 4, 'f', 0},   {{CL_RGB, CL_UNORM_SHORT_565}, 2, 'f', 0},
    {{CL_RGBA, CL_SIGNED_INT16}, 8, 'i', 0}, {{CL_R, CL_SIGNED_INT32}, 4, 'i', 0},
    {{CL_R, CL_UNSIGNED_INT8}, 1, 'u', 0},  {{CL_RGBA, CL_UNSIGNED_INT32}, 16, 'u', 0},
};

static cl_program program;
static cl_mem far, result;
static unsigned bits = 1;

static unsigned number(void) {
    bits = bits * 1664525u + 1013904223u;
    return bits >> 8;
}

/* A kernel for a type, a kind of numbers, and what it does with the image. */
static cl_kernel kernel_for(const char *type, char kind, const char *what) {
    char name[32];
    cl_int err;
    snprintf(name, sizeof(name), "%s_%c%s", type, kind, what);
    cl_kernel kernel = clCreateKernel(program, name, &err);
    check_status(name, __LINE__, CL_SUCCESS, err);
    return kernel;
}

/* A fault would end the launch with an error. */
static void run(cl_kernel kernel, const char *what, int line) {
    cl_event event;
    cl_int status = 99;
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 1, NULL, (size_t[1]){ITEMS}, NULL, 0, NULL, &event));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
    check_status(what, line, CL_COMPLETE, status);
    STATUS(CL_SUCCESS, clReleaseEvent(event));
}

/* Memory of so many bytes that ends, or begins, where none is. */
static unsigned char *guarded(size_t bytes, int at_end, void **base, size_t *length) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t used = (bytes + page - 1) / page * page;
    *length = used + 2 * page;
    unsigned char *all = *base = mmap(NULL, *length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(all + page, used, PROT_READ | PROT_WRITE);
    return at_end ? all + page + used - bytes : all + page;
}

static void read_with(cl_mem image, size_t t, size_t f, cl_sampler sampler, int whole) {
    char what[80];
    cl_kernel kernel = kernel_for(types[t].name, formats[f].kind, "");
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(image), &image));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(sampler), &sampler));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 2, sizeof(whole), &whole));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 3, sizeof(far), &far));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 4, sizeof(result), &result));
    snprintf(what, sizeof(what), "format %zu read in an image of type %s", f, types[t].name);
    run(kernel, what, __LINE__);
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
}

/* Addressing modes, filters, and what coordinates are: three numbers in one. */
#define SAMPLERS 20

static void sampled(cl_mem image, size_t t, size_t f) {
    for (int n = 0; n < SAMPLERS; n++) {
        cl_int err;
        int normalized = n % 2, linear = n / 2 % 2, mode = n / 4;
        if (linear && formats[f].kind != 'f') continue;
        if (!formats[f].every && number() % 4) continue;
        cl_sampler sampler = clCreateSampler(context, normalized, CL_ADDRESS_NONE + mode,
                                             linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &err);
        STATUS(CL_SUCCESS, err);
        read_with(image, t, f, sampler, !normalized && !linear);
        STATUS(CL_SUCCESS, clReleaseSampler(sampler));
    }
}

static void without_sampler(cl_mem image, size_t t, size_t f) {
    char what[80];
    cl_kernel plain = kernel_for(types[t].name, formats[f].kind, "_p");
    STATUS(CL_SUCCESS, clSetKernelArg(plain, 0, sizeof(image), &image));
    STATUS(CL_SUCCESS, clSetKernelArg(plain, 1, sizeof(far), &far));
    STATUS(CL_SUCCESS, clSetKernelArg(plain, 2, sizeof(result), &result));
    snprintf(what, sizeof(what), "format %zu read without a sampler in an image of type %s", f, types[t].name);
    run(plain, what, __LINE__);
    cl_kernel write = kernel_for(types[t].name, formats[f].kind, "_w");
    STATUS(CL_SUCCESS, clSetKernelArg(write, 0, sizeof(image), &image));
    STATUS(CL_SUCCESS, clSetKernelArg(write, 1, sizeof(far), &far));
    snprintf(what, sizeof(what), "format %zu written in an image of type %s", f, types[t].name);
    run(write, what, __LINE__);
    STATUS(CL_SUCCESS, clReleaseKernel(plain));
    STATUS(CL_SUCCESS, clReleaseKernel(write));
}

/* The whole image is filled, copied and read. */
static void commands(cl_mem image, const size_t size[3]) {
    static const size_t zero[3];
    static char texels[1 << 16];
    unsigned color[4] = {0};
    cl_int err;
    cl_mem buffer = clCreateBuffer(context, 0, sizeof(texels), NULL, &err);
    STATUS(CL_SUCCESS, err);
    STATUS(CL_SUCCESS, clEnqueueFillImage(queue, image, color, zero, size, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueCopyImageToBuffer(queue, image, buffer, zero, size, 0, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueCopyBufferToImage(queue, buffer, image, 0, zero, size, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clEnqueueReadImage(queue, image, CL_TRUE, zero, size, 0, 0, texels, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
}

/* One image; rows and slices have gaps between them, and none after the last, if it is `loose`. */
static void image_of(size_t t, size_t f, int at_end, int loose) {
    size_t size[3] = {1, 1, 1}, texel = formats[f].size, length;
    cl_int err;
    void *base;
    for (int d = 0; d < types[t].dimensions; d++) size[d] = 1 + number() % (d ? 4 : 37);
    size_t row = (size[0] + (loose ? 3 : 0)) * texel, slice = row * (size[1] + (loose ? 1 : 0));
    cl_image_desc desc = {.image_type = types[t].type, .image_width = size[0], .image_height = size[1]};
    size_t bytes = slice * (size[2] - 1) + row * (size[1] - 1) + size[0] * texel;
    if (types[t].type == CL_MEM_OBJECT_IMAGE1D_ARRAY) {
        desc.image_height = 0;
        desc.image_array_size = size[1];
        desc.image_slice_pitch = row;
    } else if (types[t].dimensions == 3) {
        desc.image_slice_pitch = slice;
        if (types[t].type == CL_MEM_OBJECT_IMAGE3D)
            desc.image_depth = size[2];
        else
            desc.image_array_size = size[2];
    }
    desc.image_row_pitch = row;
    /* "Required host_ptr buffer sizes": whole rows, and whole slices, are the application's. */
    size_t given = types[t].dimensions == 1 ? row : types[t].dimensions == 2 ? row * size[1] : slice * size[2];
    unsigned char *memory = guarded(loose ? given : bytes, at_end, &base, &length);
    if (types[t].type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
        desc.mem_object = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, loose ? given : bytes, memory, &err);
        STATUS(CL_SUCCESS, err);
    }
    cl_mem_flags use = desc.mem_object ? 0 : CL_MEM_USE_HOST_PTR;
    cl_mem image = clCreateImage(context, use, &formats[f].format, &desc, use ? memory : NULL, &err);
    STATUS(CL_SUCCESS, err);
    if (types[t].type != CL_MEM_OBJECT_IMAGE1D_BUFFER) sampled(image, t, f);
    without_sampler(image, t, f);
    commands(image, size);
    STATUS(CL_SUCCESS, clReleaseMemObject(image));
    if (desc.mem_object) STATUS(CL_SUCCESS, clReleaseMemObject(desc.mem_object));
    munmap(base, length);
}

/* Coordinates anywhere: numbers of the size of an image, and any bits, infinities and NaNs among them. */
static void coordinates(void) {
    static float at[ITEMS][4];
    cl_int err;
    for (int n = 0; n < ITEMS; n++)
        for (int k = 0; k < 4; k++) {
            unsigned any = number() << 8 ^ number();
            if (n % 2)
                memcpy(&at[n][k], &any, 4);
            else
                at[n][k] = (float)(int)(any % 100000) / 1000 - 40;
        }
    far = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(at), at, &err);
    STATUS(CL_SUCCESS, err);
    result = clCreateBuffer(context, 0, sizeof(at), NULL, &err);
    STATUS(CL_SUCCESS, err);
}

int main(void) {
    setup();
    program = build(source, "-cl-std=CL3.0");
    coordinates();
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
        for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++)
            for (int n = 0; n < 3; n++) image_of(t, f, n != 1, n == 2);
    STATUS(CL_SUCCESS, clReleaseMemObject(far));
    STATUS(CL_SUCCESS, clReleaseMemObject(result));
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    return finish();
}
