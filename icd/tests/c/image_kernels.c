/* Images and samplers as arguments of kernels in OpenCL C: every type of image is read and written, texels of all kinds come
 * through, samplers do what they say, nothing outside an image is touched, and wrong arguments are refused. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *source =
    "#ifndef __IMAGE_SUPPORT__\n#error no images\n#endif\n"
    "#if !defined(__opencl_c_images) || !defined(__opencl_c_read_write_images) || !defined(__opencl_c_3d_image_writes)\n"
    "#error no features of images\n#endif\n"
    "#define AT1 (int)get_global_id(0)\n"
    "#define AT2 (int2)(get_global_id(0), get_global_id(1))\n"
    "#define AT4 (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0)\n"
    "#define COPY(name, type, at) \\\n"
    "  kernel void name##_f(read_only type from, write_only type to) { write_imagef(to, at, read_imagef(from, at)); }\\\n"
    "  kernel void name##_i(read_only type from, write_only type to) { write_imagei(to, at, read_imagei(from, at)); }\\\n"
    "  kernel void name##_u(read_only type from, write_only type to) { write_imageui(to, at, read_imageui(from, at)); }\n"
    "COPY(copy_1d, image1d_t, AT1)\n"
    "COPY(copy_1d_buffer, image1d_buffer_t, AT1)\n"
    "COPY(copy_1d_array, image1d_array_t, AT2)\n"
    "COPY(copy_2d, image2d_t, AT2)\n"
    "COPY(copy_2d_array, image2d_array_t, AT4)\n"
    "COPY(copy_3d, image3d_t, AT4)\n"
    "kernel void ask_3d(read_only image3d_t im, global int *out) {\n"
    "  out[0] = get_image_width(im); out[1] = get_image_height(im); out[2] = get_image_depth(im);\n"
    "  out[3] = get_image_channel_order(im); out[4] = get_image_channel_data_type(im);\n"
    "  int4 dim = get_image_dim(im); out[5] = dim.x + 100 * dim.y + 10000 * dim.z;\n"
    "}\n"
    "kernel void ask_2d_array(write_only image2d_array_t im, global int *out) {\n"
    "  out[0] = get_image_width(im); out[1] = get_image_height(im); out[2] = get_image_array_size(im);\n"
    "  out[3] = get_image_channel_order(im); out[4] = get_image_channel_data_type(im);\n"
    "  int2 dim = get_image_dim(im); out[5] = dim.x + 100 * dim.y;\n"
    "}\n"
    "constant sampler_t literal = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;\n"
    "kernel void sample(read_only image2d_t im, sampler_t s, global const float2 *at, global float4 *out) {\n"
    "  int i = get_global_id(0);\n"
    "  out[2 * i] = read_imagef(im, s, at[i]);\n"
    "  out[2 * i + 1] = read_imagef(im, literal, at[i]);\n"
    "}\n"
    "kernel void increment(read_write image2d_t im) {\n"
    "  int2 at = AT2;\n"
    "  uint4 t = read_imageui(im, at);\n"
    "  write_imageui(im, at, t + 1);\n"
    "  atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_work_item);\n"
    "  write_imageui(im, at, read_imageui(im, at) + 1);\n"
    "}\n"
    "kernel void depth(read_only image2d_depth_t from, write_only image2d_depth_t to) {\n"
    "  write_imagef(to, AT2, 1 - read_imagef(from, AT2));\n"
    "}\n"
    "kernel void halves(read_only image2d_t from, write_only image2d_t to) { write_imageh(to, AT2, read_imageh(from, AT2) * 2); }\n"
    "#if !defined(cl_khr_mipmap_image) || !defined(cl_khr_mipmap_image_writes)\n#error no levels\n#endif\n"
    "kernel void levels(read_only image2d_t im, sampler_t s, global float *out) {\n"
    "  int i = get_global_id(0);\n"
    "  out[i] = read_imagef(im, s, (float2)(0.5f), i / 4.0f).x + 100 * get_image_num_mip_levels(im);\n"
    "}\n"
    "kernel void make_levels(write_only image2d_t im) { int l = get_global_id(0); write_imagef(im, (int2)(0, 0), l, (float4)(1 << l)); }\n"
    /* Wherever a work-item reads, with whatever sampler, and wherever it writes. */
    "kernel void far(read_only image2d_t im, read_only image3d_t im3, sampler_t s, global const float4 *at, global float4 *out) {\n"
    "  int i = get_global_id(0);\n"
    "  out[i] = read_imagef(im, s, at[i].xy) + read_imagef(im3, s, at[i]);\n"
    "}\n"
    "kernel void far_integers(read_only image2d_t im, write_only image2d_t to, global const int2 *at, global float4 *out) {\n"
    "  const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "  int i = get_global_id(0);\n"
    "  out[i] = read_imagef(im, s, at[i]);\n"
    "  write_imagef(to, at[i], (float4)(1));\n"
    "}\n";

static cl_program program;

static cl_kernel kernel_named(const char *name) {
    cl_int err;
    cl_kernel kernel = clCreateKernel(program, name, &err);
    check_status(name, __LINE__, CL_SUCCESS, err);
    return kernel;
}

static void run(cl_kernel kernel, const size_t size[3]) {
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 3, NULL, size, NULL, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
}

static const struct {
    const char *name;
    cl_image_desc desc;
    size_t size[3];
} shapes[] = {
    {"copy_1d", {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 37}, {37, 1, 1}},
    {"copy_1d_buffer", {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 41}, {41, 1, 1}},
    {"copy_1d_array", {.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = 17, .image_array_size = 5}, {17, 5, 1}},
    {"copy_2d", {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 19, .image_height = 6}, {19, 6, 1}},
    {"copy_2d_array",
     {.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = 9, .image_height = 4, .image_array_size = 3},
     {9, 4, 3}},
    {"copy_3d", {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 11, .image_height = 3, .image_depth = 4}, {11, 3, 4}},
};

static cl_mem make(const cl_image_format *format, const cl_image_desc *desc, size_t texels) {
    cl_int err;
    cl_image_desc with = *desc;
    if (desc->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
        with.mem_object = clCreateBuffer(context, 0, texels * 16, NULL, &err);
        STATUS(CL_SUCCESS, err);
    }
    cl_mem image = clCreateImage(context, 0, format, &with, NULL, &err);
    STATUS(CL_SUCCESS, err);
    if (with.mem_object) STATUS(CL_SUCCESS, clReleaseMemObject(with.mem_object));
    return image;
}

/* Texels of every kind of number are what they were, read and written in every type of image. */
static void copies(void) {
    static const struct {
        cl_image_format format;
        char kind;
        size_t size;
    } formats[] = {
        {{CL_RGBA, CL_UNORM_INT8}, 'f', 4},   {{CL_RGBA, CL_FLOAT}, 'f', 16},         {{CL_BGRA, CL_UNORM_INT8}, 'f', 4},
        {{CL_R, CL_UNORM_INT16}, 'f', 2},     {{CL_RGBA, CL_SIGNED_INT16}, 'i', 8},   {{CL_RG, CL_SIGNED_INT8}, 'i', 2},
        {{CL_RGBA, CL_UNSIGNED_INT32}, 'u', 16}, {{CL_R, CL_UNSIGNED_INT8}, 'u', 1},  {{CL_RGB, CL_UNORM_SHORT_565}, 'f', 2},
        {{CL_sRGBA, CL_UNORM_INT8}, 'f', 4},  {{CL_R, 0x10E6}, 'u', 2},               {{CL_ABGR, 0x10E5}, 'f', 4},
    };
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
        for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
            size_t texels = shapes[s].size[0] * shapes[s].size[1] * shapes[s].size[2], zero[3] = {0, 0, 0};
            unsigned char from[300 * 16], to[300 * 16];
            for (size_t n = 0; n < texels * formats[f].size; n++) from[n] = (unsigned char)(n * 7 + (n >> 5));
            if (formats[f].format.image_channel_data_type == CL_FLOAT)
                for (size_t n = 0; n < texels * 4; n++) ((float *)(void *)from)[n] = (float)n / 3;
            if (formats[f].format.image_channel_data_type == 0x10E6)
                for (size_t n = 0; n < texels; n++) from[2 * n] &= 0xc0;
            cl_mem in = make(&formats[f].format, &shapes[s].desc, texels);
            cl_mem out = make(&formats[f].format, &shapes[s].desc, texels);
            STATUS(CL_SUCCESS,
                   clEnqueueWriteImage(queue, in, CL_TRUE, zero, shapes[s].size, 0, 0, from, 0, NULL, NULL));
            char name[40];
            snprintf(name, sizeof(name), "%s_%c", shapes[s].name, formats[f].kind);
            cl_kernel kernel = kernel_named(name);
            STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(in), &in));
            STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(out), &out));
            run(kernel, shapes[s].size);
            STATUS(CL_SUCCESS,
                   clEnqueueReadImage(queue, out, CL_TRUE, zero, shapes[s].size, 0, 0, to, 0, NULL, NULL));
            check_status(name, (int)f, 0, memcmp(from, to, texels * formats[f].size) != 0);
            STATUS(CL_SUCCESS, clReleaseKernel(kernel));
            STATUS(CL_SUCCESS, clReleaseMemObject(in));
            STATUS(CL_SUCCESS, clReleaseMemObject(out));
        }
}

static void queries(void) {
    cl_int err, got[6];
    cl_image_format format = {CL_RG, CL_HALF_FLOAT};
    cl_mem out = clCreateBuffer(context, 0, sizeof(got), NULL, &err);
    size_t one[3] = {1, 1, 1};
    const char *names[] = {"ask_3d", "ask_2d_array"};
    cl_image_desc descs[] = {
        {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 5, .image_height = 6, .image_depth = 7},
        {.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = 5, .image_height = 6, .image_array_size = 7}};
    for (int n = 0; n < 2; n++) {
        cl_mem image = clCreateImage(context, 0, &format, &descs[n], NULL, &err);
        STATUS(CL_SUCCESS, err);
        cl_kernel kernel = kernel_named(names[n]);
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(image), &image));
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(out), &out));
        run(kernel, one);
        STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
        TRUE(got[0] == 5 && got[1] == 6 && got[2] == 7 && got[3] == CL_RG && got[4] == CL_HALF_FLOAT);
        TRUE(got[5] == (n ? 605 : 70605));
        STATUS(CL_SUCCESS, clReleaseKernel(kernel));
        STATUS(CL_SUCCESS, clReleaseMemObject(image));
    }
    STATUS(CL_SUCCESS, clReleaseMemObject(out));
}

/* Two texels in a row, 1 and 3, seen through samplers. */
static void samplers(void) {
    cl_int err;
    cl_image_format format = {CL_R, CL_FLOAT};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 2, .image_height = 1};
    float texels[2] = {1, 3};
    cl_mem image = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &desc, texels, &err);
    STATUS(CL_SUCCESS, err);
    float at[5][2] = {{0.5f, 0.5f}, {1, 0.5f}, {1.25f, 0.5f}, {-0.5f, 0.5f}, {2.75f, 0.5f}}, found[5][2][4];
    cl_mem in = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(at), at, &err);
    cl_mem out = clCreateBuffer(context, 0, sizeof(found), NULL, &err);
    cl_kernel kernel = kernel_named("sample");
    static const struct {
        cl_bool normalized;
        cl_addressing_mode mode;
        cl_filter_mode filter;
        float expected[5];
    } cases[] = {
        {CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, {1, 3, 3, 1, 3}},
        {CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR, {1, 2, 2.5f, 1, 3}},
        {CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, {1, 3, 3, 0, 0}},
        {CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST, {3, 1, 1, 3, 3}},
        {CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_NEAREST, {3, 3, 3, 3, 3}},
        {CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR, {2, 3, 3, 1, 3}},
    };
    for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
        cl_sampler sampler = clCreateSampler(context, cases[n].normalized, cases[n].mode, cases[n].filter, &err);
        STATUS(CL_SUCCESS, err);
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(image), &image));
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(sampler), &sampler));
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, 2, sizeof(in), &in));
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, 3, sizeof(out), &out));
        /* The kernel has what it needs of it. */
        STATUS(CL_SUCCESS, clReleaseSampler(sampler));
        run(kernel, (size_t[3]){5, 1, 1});
        STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(found), found, 0, NULL, NULL));
        for (int k = 0; k < 5; k++) {
            check_status("a sampler that is an argument", (int)(10 * n) + k, 1,
                         fabsf(found[k][0][0] - cases[n].expected[k]) < 1e-6f);
            check_status("a literal sampler", k, 1, fabsf(found[k][1][0] - cases[1].expected[k]) < 1e-6f);
            int outside = found[k][0][0] == 0;
            TRUE(found[k][0][1] == 0 && found[k][0][2] == 0 && (outside || found[k][0][3] == 1));
        }
    }
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
    STATUS(CL_SUCCESS, clReleaseMemObject(image));
    STATUS(CL_SUCCESS, clReleaseMemObject(in));
    STATUS(CL_SUCCESS, clReleaseMemObject(out));
}

/* Images that are read and written, depth, halves, views of the same texels. */
static void others(void) {
    cl_int err;
    size_t zero[3] = {0, 0, 0}, size[3] = {16, 4, 1};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16, .image_height = 4};
    cl_uint numbers[64];
    for (cl_uint n = 0; n < 64; n++) numbers[n] = n;
    cl_image_format format = {CL_R, CL_UNSIGNED_INT32};
    cl_mem image = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, numbers, &err);
    STATUS(CL_SUCCESS, err);
    cl_kernel kernel = kernel_named("increment");
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(image), &image));
    run(kernel, size);
    STATUS(CL_SUCCESS, clEnqueueReadImage(queue, image, CL_TRUE, zero, size, 0, 0, numbers, 0, NULL, NULL));
    int wrong = 0;
    for (cl_uint n = 0; n < 64; n++) wrong |= numbers[n] != n + 2;
    TRUE(!wrong);
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
    STATUS(CL_SUCCESS, clReleaseMemObject(image));

    float depths[64];
    for (int n = 0; n < 64; n++) depths[n] = n / 64.0f;
    format = (cl_image_format){CL_DEPTH, CL_FLOAT};
    cl_mem from = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, depths, &err);
    cl_mem to = clCreateImage(context, 0, &format, &desc, NULL, &err);
    STATUS(CL_SUCCESS, err);
    kernel = kernel_named("depth");
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(from), &from));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(to), &to));
    run(kernel, size);
    STATUS(CL_SUCCESS, clEnqueueReadImage(queue, to, CL_TRUE, zero, size, 0, 0, depths, 0, NULL, NULL));
    for (int n = 0; n < 64; n++) wrong |= depths[n] != 1 - n / 64.0f;
    TRUE(!wrong);
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
    STATUS(CL_SUCCESS, clReleaseMemObject(from));
    STATUS(CL_SUCCESS, clReleaseMemObject(to));

    /* 0.5 in sRGB is about 0.21 in linear light; the view and the image are the same bytes. */
    unsigned char bytes[64 * 4];
    memset(bytes, 128, sizeof(bytes));
    format = (cl_image_format){CL_RGBA, CL_UNORM_INT8};
    from = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, bytes, &err);
    cl_image_desc view = desc;
    view.mem_object = from;
    cl_image_format srgb = {CL_sRGBA, CL_UNORM_INT8}, floats = {CL_RGBA, CL_FLOAT};
    cl_mem seen = clCreateImage(context, 0, &srgb, &view, NULL, &err);
    STATUS(CL_SUCCESS, err);
    CREATED(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(context, 0, &floats, &view, NULL, &err));
    to = clCreateImage(context, 0, &floats, &desc, NULL, &err);
    kernel = kernel_named("copy_2d_f");
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(seen), &seen));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(to), &to));
    STATUS(CL_SUCCESS, clReleaseMemObject(from));
    run(kernel, size);
    float color[64][4];
    STATUS(CL_SUCCESS, clEnqueueReadImage(queue, to, CL_TRUE, zero, size, 0, 0, color, 0, NULL, NULL));
    TRUE(fabsf(color[63][0] - 0.2158605f) < 1e-5f && fabsf(color[63][3] - 128 / 255.0f) < 1e-6f);
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
    STATUS(CL_SUCCESS, clReleaseMemObject(seen));
    STATUS(CL_SUCCESS, clReleaseMemObject(to));

    cl_half ones[64];
    for (int n = 0; n < 64; n++) ones[n] = 0x3c00;
    format = (cl_image_format){CL_R, CL_HALF_FLOAT};
    from = clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, ones, &err);
    to = clCreateImage(context, 0, &format, &desc, NULL, &err);
    kernel = kernel_named("halves");
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(from), &from));
    STATUS(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(to), &to));
    run(kernel, size);
    STATUS(CL_SUCCESS, clEnqueueReadImage(queue, to, CL_TRUE, zero, size, 0, 0, ones, 0, NULL, NULL));
    TRUE(ones[0] == 0x4000 && ones[63] == 0x4000);
    STATUS(CL_SUCCESS, clReleaseKernel(kernel));
    STATUS(CL_SUCCESS, clReleaseMemObject(from));
    STATUS(CL_SUCCESS, clReleaseMemObject(to));
}

/* Levels are written and read, and what lies between two is between their values. */
static void mipmaps(void) {
    cl_int err;
    cl_image_format format = {CL_R, CL_FLOAT};
    cl_image_desc desc = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4, .num_mip_levels = 3};
    cl_mem image = clCreateImage(context, 0, &format, &desc, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_kernel write = kernel_named("make_levels"), read = kernel_named("levels");
    STATUS(CL_SUCCESS, clSetKernelArg(write, 0, sizeof(image), &image));
    run(write, (size_t[3]){3, 1, 1});
    for (size_t level = 0; level < 3; level++) {
        float texel = 0;
        STATUS(CL_SUCCESS, clEnqueueReadImage(queue, image, CL_TRUE, (size_t[3]){0, 0, level}, (size_t[3]){1, 1, 1}, 0,
                                              0, &texel, 0, NULL, NULL));
        TRUE(texel == (float)(1 << level));
    }
    float found[12], expected[2][12] = {{1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4},
                                        {1, 1.25f, 1.5f, 1.75f, 2, 2.5f, 3, 3.5f, 4, 4, 4, 4}};
    cl_mem out = clCreateBuffer(context, 0, sizeof(found), NULL, &err);
    for (cl_uint filter = 0; filter < 2; filter++) {
        cl_sampler_properties properties[] = {CL_SAMPLER_MIP_FILTER_MODE_KHR, CL_FILTER_NEAREST + filter,
                                              CL_SAMPLER_ADDRESSING_MODE, CL_ADDRESS_CLAMP_TO_EDGE, 0};
        cl_sampler sampler = clCreateSamplerWithProperties(context, properties, &err);
        STATUS(CL_SUCCESS, err);
        /* All texels of a level are one value. */
        for (size_t level = 0; level < 3; level++) {
            float color[4] = {(float)(1 << level)};
            STATUS(CL_SUCCESS, clEnqueueFillImage(queue, image, color, (size_t[3]){0, 0, level},
                                                  (size_t[3]){4 >> level, 4 >> level, 1}, 0, NULL, NULL));
        }
        STATUS(CL_SUCCESS, clSetKernelArg(read, 0, sizeof(image), &image));
        STATUS(CL_SUCCESS, clSetKernelArg(read, 1, sizeof(sampler), &sampler));
        STATUS(CL_SUCCESS, clSetKernelArg(read, 2, sizeof(out), &out));
        run(read, (size_t[3]){12, 1, 1});
        STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(found), found, 0, NULL, NULL));
        for (int n = 0; n < 12; n++)
            check_status("a level of detail", n, 1, found[n] == expected[filter][n] + 300);
        STATUS(CL_SUCCESS, clReleaseSampler(sampler));
    }
    STATUS(CL_SUCCESS, clReleaseKernel(write));
    STATUS(CL_SUCCESS, clReleaseKernel(read));
    STATUS(CL_SUCCESS, clReleaseMemObject(image));
    STATUS(CL_SUCCESS, clReleaseMemObject(out));
}

/* Memory of so many bytes that ends, or begins, where none is. */
static unsigned char *guarded(size_t bytes, int at_end) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *base = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(base + page, page, PROT_READ | PROT_WRITE);
    return at_end ? base + 2 * page - bytes : base + page;
}

#define FAR 512

/* Coordinates of all sizes, in all modes, stay in the image. */
static void far_away(void) {
    cl_int err;
    cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    float at[FAR][4], out[FAR][4];
    cl_int whole[FAR][2];
    unsigned bits = 1;
    for (int n = 0; n < FAR; n++)
        for (int k = 0; k < 4; k++) {
            bits = bits * 1664525u + 1013904223u;
            if (n % 2)
                memcpy(&at[n][k], &bits, 4);
            else
                at[n][k] = (float)(int)(bits >> 16) / 4096 - 8;
            if (k < 2) whole[n][k] = n % 3 ? (int)bits : (int)(bits >> 27) - 16;
        }
    cl_mem floats = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(at), at, &err);
    cl_mem integers = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(whole), whole, &err);
    cl_mem result = clCreateBuffer(context, 0, sizeof(out), NULL, &err);
    cl_kernel kernels[2] = {kernel_named("far"), kernel_named("far_integers")};
    for (int end = 0; end < 2; end++) {
        cl_image_desc two = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 5, .image_height = 3};
        cl_image_desc three = {
            .image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 5, .image_height = 3, .image_depth = 2};
        unsigned char *first = guarded(5 * 3 * 4, end), *second = guarded(5 * 3 * 2 * 4, end);
        cl_mem image = clCreateImage(context, CL_MEM_USE_HOST_PTR, &format, &two, first, &err);
        STATUS(CL_SUCCESS, err);
        cl_mem volume = clCreateImage(context, CL_MEM_USE_HOST_PTR, &format, &three, second, &err);
        STATUS(CL_SUCCESS, err);
        for (int n = 0; n < 20; n++) {
            cl_filter_mode filter = n / 2 % 2 ? CL_FILTER_LINEAR : CL_FILTER_NEAREST;
            cl_sampler sampler = clCreateSampler(context, n % 2, CL_ADDRESS_NONE + n / 4, filter, &err);
            STATUS(CL_SUCCESS, err);
            STATUS(CL_SUCCESS, clSetKernelArg(kernels[0], 0, sizeof(image), &image));
            STATUS(CL_SUCCESS, clSetKernelArg(kernels[0], 1, sizeof(volume), &volume));
            STATUS(CL_SUCCESS, clSetKernelArg(kernels[0], 2, sizeof(sampler), &sampler));
            STATUS(CL_SUCCESS, clSetKernelArg(kernels[0], 3, sizeof(floats), &floats));
            STATUS(CL_SUCCESS, clSetKernelArg(kernels[0], 4, sizeof(result), &result));
            run(kernels[0], (size_t[3]){FAR, 1, 1});
            STATUS(CL_SUCCESS, clReleaseSampler(sampler));
        }
        cl_mem list[] = {image, image, integers, result};
        for (cl_uint n = 0; n < 4; n++) STATUS(CL_SUCCESS, clSetKernelArg(kernels[1], n, sizeof(cl_mem), &list[n]));
        run(kernels[1], (size_t[3]){FAR, 1, 1});
        cl_event event;
        cl_int status = 99;
        STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernels[1], 1, NULL, (size_t[1]){FAR}, NULL, 0, NULL, &event));
        STATUS(CL_SUCCESS, clFinish(queue));
        STATUS(CL_SUCCESS, clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
        TRUE(status == CL_COMPLETE);
        STATUS(CL_SUCCESS, clReleaseEvent(event));
        STATUS(CL_SUCCESS, clReleaseMemObject(image));
        STATUS(CL_SUCCESS, clReleaseMemObject(volume));
    }
    STATUS(CL_SUCCESS, clReleaseKernel(kernels[0]));
    STATUS(CL_SUCCESS, clReleaseKernel(kernels[1]));
    STATUS(CL_SUCCESS, clReleaseMemObject(floats));
    STATUS(CL_SUCCESS, clReleaseMemObject(integers));
    STATUS(CL_SUCCESS, clReleaseMemObject(result));
}

static void arguments(void) {
    cl_int err;
    cl_image_format format = {CL_RGBA, CL_FLOAT}, depth = {CL_DEPTH, CL_FLOAT};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    cl_image_desc volume = {
        .image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 4, .image_height = 4, .image_depth = 4};
    cl_mem read = clCreateImage(context, CL_MEM_READ_ONLY, &format, &desc, NULL, &err);
    cl_mem write = clCreateImage(context, CL_MEM_WRITE_ONLY, &format, &desc, NULL, &err);
    cl_mem three = clCreateImage(context, 0, &format, &volume, NULL, &err);
    cl_mem deep = clCreateImage(context, 0, &depth, &desc, NULL, &err);
    cl_mem buffer = clCreateBuffer(context, 0, 1024, NULL, &err), null = NULL;
    cl_sampler sampler = clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err);
    cl_kernel copy = kernel_named("copy_2d_f"), sample = kernel_named("sample");
    size_t size[3] = {4, 4, 1};
    STATUS(CL_INVALID_KERNEL_ARGS, clEnqueueNDRangeKernel(queue, copy, 3, NULL, size, NULL, 0, NULL, NULL));
    STATUS(CL_INVALID_ARG_VALUE, clSetKernelArg(copy, 0, sizeof(cl_mem), &write));
    STATUS(CL_INVALID_ARG_VALUE, clSetKernelArg(copy, 1, sizeof(cl_mem), &read));
    STATUS(CL_INVALID_MEM_OBJECT, clSetKernelArg(copy, 0, sizeof(cl_mem), &three));
    STATUS(CL_INVALID_MEM_OBJECT, clSetKernelArg(copy, 0, sizeof(cl_mem), &deep));
    STATUS(CL_INVALID_MEM_OBJECT, clSetKernelArg(copy, 0, sizeof(cl_mem), &buffer));
    STATUS(CL_INVALID_MEM_OBJECT, clSetKernelArg(copy, 0, sizeof(cl_mem), &null));
    STATUS(CL_INVALID_MEM_OBJECT, clSetKernelArg(copy, 0, sizeof(cl_mem), NULL));
    STATUS(CL_INVALID_MEM_OBJECT, clSetKernelArg(copy, 0, sizeof(cl_mem), &sampler));
    STATUS(CL_INVALID_ARG_SIZE, clSetKernelArg(copy, 0, sizeof(cl_mem) + 1, &read));
    STATUS(CL_INVALID_SAMPLER, clSetKernelArg(sample, 1, sizeof(cl_sampler), &read));
    STATUS(CL_INVALID_SAMPLER, clSetKernelArg(sample, 1, sizeof(cl_sampler), NULL));
    STATUS(CL_INVALID_ARG_SIZE, clSetKernelArg(sample, 1, 4, &sampler));
    STATUS(CL_INVALID_MEM_OBJECT, clSetKernelArg(sample, 2, sizeof(cl_mem), &read));
    cl_context elsewhere = clCreateContext(NULL, 1, &device, NULL, NULL, &err);
    cl_mem theirs = clCreateImage(elsewhere, 0, &format, &desc, NULL, &err);
    cl_sampler their_sampler = clCreateSampler(elsewhere, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err);
    STATUS(CL_INVALID_CONTEXT, clSetKernelArg(copy, 0, sizeof(cl_mem), &theirs));
    STATUS(CL_INVALID_CONTEXT, clSetKernelArg(sample, 1, sizeof(cl_sampler), &their_sampler));
    STATUS(CL_SUCCESS, clReleaseMemObject(theirs));
    STATUS(CL_SUCCESS, clReleaseSampler(their_sampler));
    STATUS(CL_SUCCESS, clReleaseContext(elsewhere));
    /* A kernel does not keep its images, a command does. */
    STATUS(CL_SUCCESS, clSetKernelArg(copy, 0, sizeof(cl_mem), &read));
    STATUS(CL_SUCCESS, clSetKernelArg(copy, 1, sizeof(cl_mem), &write));
    cl_event user = clCreateUserEvent(context, &err);
    STATUS(CL_SUCCESS, clEnqueueNDRangeKernel(queue, copy, 3, NULL, size, NULL, 1, &user, NULL));
    STATUS(CL_SUCCESS, clReleaseMemObject(read));
    STATUS(CL_SUCCESS, clSetUserEventStatus(user, CL_COMPLETE));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_INVALID_KERNEL_ARGS, clEnqueueNDRangeKernel(queue, copy, 3, NULL, size, NULL, 0, NULL, NULL));
    cl_kernel_arg_access_qualifier access = 0;
    STATUS(CL_SUCCESS,
           clGetKernelArgInfo(copy, 1, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof(access), &access, NULL));
    TRUE(access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY);
    char name[20];
    STATUS(CL_SUCCESS, clGetKernelArgInfo(copy, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof(name), name, NULL));
    TRUE(strcmp(name, "image2d_t") == 0);
    STATUS(CL_SUCCESS, clGetKernelArgInfo(sample, 1, CL_KERNEL_ARG_TYPE_NAME, sizeof(name), name, NULL));
    TRUE(strcmp(name, "sampler_t") == 0);
    STATUS(CL_SUCCESS, clReleaseEvent(user));
    STATUS(CL_SUCCESS, clReleaseMemObject(write));
    STATUS(CL_SUCCESS, clReleaseMemObject(three));
    STATUS(CL_SUCCESS, clReleaseMemObject(deep));
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
    STATUS(CL_SUCCESS, clReleaseSampler(sampler));
    STATUS(CL_SUCCESS, clReleaseKernel(copy));
    STATUS(CL_SUCCESS, clReleaseKernel(sample));
}

/* A kernel with as many arguments of a kind as the device takes runs, one with another does not. */
static void limit(cl_device_info name, const char *declaration, cl_mem image, cl_sampler sampler) {
    cl_uint most = 0;
    cl_int err;
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, name, sizeof(most), &most, NULL));
    for (cl_uint count = most; count <= most + 1; count++) {
        char *text = malloc(100 + 100 * count), *end = text + sprintf(text, "kernel void many(global int *out");
        for (cl_uint n = 0; n < count; n++) end += sprintf(end, ", %s a%u", declaration, n);
        sprintf(end, ") { *out = 1; }");
        cl_program with = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &err);
        STATUS(CL_SUCCESS, clBuildProgram(with, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
        cl_kernel kernel = clCreateKernel(with, "many", &err);
        STATUS(CL_SUCCESS, err);
        cl_mem out = clCreateBuffer(context, 0, 4, NULL, &err);
        STATUS(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(out), &out));
        for (cl_uint n = 1; n <= count; n++)
            STATUS(CL_SUCCESS, clSetKernelArg(kernel, n, sizeof(cl_mem), image ? (void *)&image : (void *)&sampler));
        STATUS(count == most ? CL_SUCCESS : CL_OUT_OF_RESOURCES,
               clEnqueueNDRangeKernel(queue, kernel, 1, NULL, (size_t[1]){1}, NULL, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clFinish(queue));
        STATUS(CL_SUCCESS, clReleaseMemObject(out));
        STATUS(CL_SUCCESS, clReleaseKernel(kernel));
        STATUS(CL_SUCCESS, clReleaseProgram(with));
        free(text);
    }
}

static void limits(void) {
    cl_int err;
    cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    cl_mem image = clCreateImage(context, 0, &format, &desc, NULL, &err);
    cl_sampler sampler = clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err);
    limit(CL_DEVICE_MAX_READ_IMAGE_ARGS, "read_only image2d_t", image, NULL);
    limit(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, "write_only image2d_t", image, NULL);
    limit(CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, "read_write image2d_t", image, NULL);
    limit(CL_DEVICE_MAX_SAMPLERS, "sampler_t", NULL, sampler);
    STATUS(CL_SUCCESS, clReleaseMemObject(image));
    STATUS(CL_SUCCESS, clReleaseSampler(sampler));
}

int main(void) {
    setup();
    program = build(source, "-cl-std=CL3.0 -cl-kernel-arg-info");
    copies();
    queries();
    samplers();
    others();
    mipmaps();
    far_away();
    arguments();
    limits();
    STATUS(CL_SUCCESS, clReleaseProgram(program));
    return finish();
}
