/* Image objects and the commands of the host on them: every type of image, with memory of its own, of the host's with pitches, and
 * of buffers, against a model that is an array of texels; what is asked of images and samplers. */
#include "check.h"

#define MAX_TEXELS 4096
#define TEXEL 8

static const cl_image_format format = {CL_RG, CL_FLOAT};

typedef struct {
    const char *name;
    cl_image_desc desc;
    /* By the coordinates of the API. */
    size_t size[3];
} shape;

static const shape shapes[] = {
    {"1D", {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 13}, {13, 1, 1}},
    {"1D array", {.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = 7, .image_array_size = 5}, {7, 5, 1}},
    {"2D", {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 9, .image_height = 6}, {9, 6, 1}},
    {"2D array",
     {.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY, .image_width = 5, .image_height = 4, .image_array_size = 3},
     {5, 4, 3}},
    {"3D", {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = 6, .image_height = 3, .image_depth = 4}, {6, 3, 4}},
    /* Larger than what one thread copies. */
    {"large 2D", {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 63, .image_height = 61}, {63, 61, 1}},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static unsigned next = 1;

static unsigned rnd(unsigned most) {
    next = next * 1664525u + 1013904223u;
    return (next >> 8) % (most + 1);
}

static void scribble(void *to, size_t bytes) {
    unsigned char *at = to;
    for (size_t n = 0; n < bytes; n++) at[n] = (unsigned char)rnd(255);
}

/* A part of a shape that is not empty. */
static void part(const size_t size[3], size_t origin[3], size_t region[3]) {
    for (int n = 0; n < 3; n++) {
        origin[n] = rnd((unsigned)size[n] - 1);
        region[n] = 1 + rnd((unsigned)(size[n] - origin[n]) - 1);
    }
}

static unsigned char *texel(unsigned char *model, const size_t size[3], size_t x, size_t y, size_t z) {
    return model + ((z * size[1] + y) * size[0] + x) * TEXEL;
}

/* Bytes between rows and slices of memory of the host's, as the API counts them for a type. */
typedef struct {
    size_t row, slice, y, z;
} pitches;

static pitches some_pitches(const shape *s, const size_t region[3]) {
    pitches p = {.row = region[0] * TEXEL + rnd(3) * TEXEL};
    cl_mem_object_type type = s->desc.image_type;
    if (type == CL_MEM_OBJECT_IMAGE1D_ARRAY) {
        p.slice = p.row * (1 + rnd(1));
        p.y = p.slice;
        p.z = 0;
    } else {
        p.y = p.row;
        int sliced = type == CL_MEM_OBJECT_IMAGE3D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
        p.z = p.row * (region[1] + rnd(2));
        p.slice = sliced ? p.z : 0;
    }
    return p;
}

/* The whole image is what the model says. */
static void same(int line, cl_mem image, const shape *s, unsigned char *model) {
    static unsigned char found[MAX_TEXELS * TEXEL];
    size_t zero[3] = {0, 0, 0}, bytes = s->size[0] * s->size[1] * s->size[2] * TEXEL;
    memset(found, 0xa5, sizeof(found));
    check_status("clEnqueueReadImage", line, CL_SUCCESS,
                 clEnqueueReadImage(queue, image, CL_TRUE, zero, s->size, 0, 0, found, 0, NULL, NULL));
    check_status(s->name, line, 0, memcmp(found, model, bytes) != 0);
    check_status("no more than the image", line, 0xa5, found[bytes]);
}

static unsigned char host[4 * MAX_TEXELS * TEXEL], model[MAX_TEXELS * TEXEL], other_model[MAX_TEXELS * TEXEL];

static void reads_and_writes(cl_mem image, const shape *s) {
    for (int round = 0; round < 8; round++) {
        size_t origin[3], region[3];
        part(s->size, origin, region);
        pitches p = some_pitches(s, region);
        scribble(host, sizeof(host));
        STATUS(CL_SUCCESS,
               clEnqueueWriteImage(queue, image, CL_TRUE, origin, region, p.row, p.slice, host, 0, NULL, NULL));
        for (size_t z = 0; z < region[2]; z++)
            for (size_t y = 0; y < region[1]; y++)
                memcpy(texel(model, s->size, origin[0], origin[1] + y, origin[2] + z), host + z * p.z + y * p.y,
                       region[0] * TEXEL);
        same(__LINE__, image, s, model);
        part(s->size, origin, region);
        p = some_pitches(s, region);
        memset(host, 0, sizeof(host));
        STATUS(CL_SUCCESS,
               clEnqueueReadImage(queue, image, CL_TRUE, origin, region, p.row, p.slice, host, 0, NULL, NULL));
        int wrong = 0;
        for (size_t z = 0; z < region[2]; z++)
            for (size_t y = 0; y < region[1]; y++)
                wrong |= memcmp(texel(model, s->size, origin[0], origin[1] + y, origin[2] + z),
                                host + z * p.z + y * p.y, region[0] * TEXEL);
        TRUE(!wrong);
    }
}

static void fills(cl_mem image, const shape *s) {
    for (int round = 0; round < 4; round++) {
        size_t origin[3], region[3];
        part(s->size, origin, region);
        float color[4] = {round + 0.5f, -3, 7, 9};
        STATUS(CL_SUCCESS, clEnqueueFillImage(queue, image, color, origin, region, 0, NULL, NULL));
        for (size_t z = 0; z < region[2]; z++)
            for (size_t y = 0; y < region[1]; y++)
                for (size_t x = 0; x < region[0]; x++)
                    memcpy(texel(model, s->size, origin[0] + x, origin[1] + y, origin[2] + z), color, TEXEL);
        same(__LINE__, image, s, model);
    }
}

static void buffers(cl_mem image, const shape *s) {
    cl_int err;
    size_t bytes = MAX_TEXELS * TEXEL;
    cl_mem buffer = clCreateBuffer(context, 0, bytes, NULL, &err);
    STATUS(CL_SUCCESS, err);
    for (int round = 0; round < 4; round++) {
        size_t origin[3], region[3], offset = rnd(50);
        part(s->size, origin, region);
        size_t row = region[0] * TEXEL;
        if (offset + row * region[1] * region[2] > bytes) offset = 0;
        STATUS(CL_SUCCESS, clEnqueueCopyImageToBuffer(queue, image, buffer, origin, region, offset, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL));
        int wrong = 0;
        for (size_t z = 0; z < region[2]; z++)
            for (size_t y = 0; y < region[1]; y++)
                wrong |= memcmp(texel(model, s->size, origin[0], origin[1] + y, origin[2] + z),
                                host + offset + (z * region[1] + y) * row, row);
        TRUE(!wrong);
        scribble(host, bytes);
        STATUS(CL_SUCCESS, clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clEnqueueCopyBufferToImage(queue, buffer, image, offset, origin, region, 0, NULL, NULL));
        for (size_t z = 0; z < region[2]; z++)
            for (size_t y = 0; y < region[1]; y++)
                memcpy(texel(model, s->size, origin[0], origin[1] + y, origin[2] + z),
                       host + offset + (z * region[1] + y) * row, row);
        same(__LINE__, image, s, model);
    }
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
}

static void maps(cl_mem image, const shape *s) {
    size_t origin[3], region[3], row = 99, slice = 99;
    cl_int err;
    part(s->size, origin, region);
    unsigned char *at = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, origin, region, &row,
                                          &slice, 0, NULL, NULL, &err);
    STATUS(CL_SUCCESS, err);
    int is_rows = s->desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    size_t y_pitch = is_rows ? slice : row;
    int sliced = s->desc.image_array_size || s->desc.image_depth;
    TRUE(row >= region[0] * TEXEL && (sliced ? slice >= row : slice == 0));
    int wrong = 0;
    for (size_t z = 0; z < region[2]; z++)
        for (size_t y = 0; y < region[1]; y++) {
            unsigned char *there = at + z * slice + y * y_pitch;
            unsigned char *expected = texel(model, s->size, origin[0], origin[1] + y, origin[2] + z);
            wrong |= memcmp(there, expected, region[0] * TEXEL);
            scribble(there, region[0] * TEXEL);
            memcpy(expected, there, region[0] * TEXEL);
        }
    TRUE(!wrong);
    cl_uint count = 0;
    STATUS(CL_SUCCESS, clGetMemObjectInfo(image, CL_MEM_MAP_COUNT, sizeof(count), &count, NULL));
    TRUE(count == 1);
    CREATED(CL_INVALID_OPERATION, clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_WRITE, origin, region, &row, &slice,
                                                    0, NULL, NULL, &err));
    STATUS(CL_SUCCESS, clEnqueueUnmapMemObject(queue, image, at, 0, NULL, NULL));
    STATUS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(queue, image, at, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    same(__LINE__, image, s, model);
}

/* From an image to one of another type: as much as both have. */
static void copies(cl_mem image, const shape *s) {
    for (size_t n = 0; n < SHAPES; n++) {
        const shape *t = &shapes[n];
        cl_int err;
        cl_mem other = clCreateImage(context, CL_MEM_READ_WRITE, &format, &t->desc, NULL, &err);
        STATUS(CL_SUCCESS, err);
        size_t zero[3] = {0, 0, 0}, all = t->size[0] * t->size[1] * t->size[2] * TEXEL;
        scribble(other_model, all);
        STATUS(CL_SUCCESS,
               clEnqueueWriteImage(queue, other, CL_TRUE, zero, t->size, 0, 0, other_model, 0, NULL, NULL));
        size_t least[3], from[3], to[3], region[3];
        for (int d = 0; d < 3; d++) least[d] = s->size[d] < t->size[d] ? s->size[d] : t->size[d];
        part(least, from, region);
        for (int d = 0; d < 3; d++) to[d] = rnd((unsigned)(t->size[d] - region[d]));
        STATUS(CL_SUCCESS, clEnqueueCopyImage(queue, image, other, from, to, region, 0, NULL, NULL));
        for (size_t z = 0; z < region[2]; z++)
            for (size_t y = 0; y < region[1]; y++)
                memcpy(texel(other_model, t->size, to[0], to[1] + y, to[2] + z),
                       texel(model, s->size, from[0], from[1] + y, from[2] + z), region[0] * TEXEL);
        same(__LINE__, other, t, other_model);
        STATUS(CL_SUCCESS, clReleaseMemObject(other));
    }
}

static void commands(cl_mem image, const shape *s) {
    size_t zero[3] = {0, 0, 0};
    scribble(model, sizeof(model));
    STATUS(CL_SUCCESS, clEnqueueWriteImage(queue, image, CL_TRUE, zero, s->size, 0, 0, model, 0, NULL, NULL));
    same(__LINE__, image, s, model);
    reads_and_writes(image, s);
    fills(image, s);
    buffers(image, s);
    maps(image, s);
    copies(image, s);
    STATUS(CL_SUCCESS, clEnqueueMigrateMemObjects(queue, 1, &image, 0, 0, NULL, NULL));
    same(__LINE__, image, s, model);
}

#define ASKED(function, object, name, type, expected)                                                                  \
    do {                                                                                                               \
        type got_;                                                                                                     \
        memset(&got_, 0x77, sizeof(got_));                                                                             \
        size_t size_ = 0;                                                                                              \
        STATUS(CL_SUCCESS, function(object, name, sizeof(got_), &got_, &size_));                                       \
        TRUE(size_ == sizeof(got_) && got_ == (expected));                                                             \
    } while (0)

static void asks(cl_mem image, const shape *s, size_t row, size_t slice, cl_mem buffer) {
    cl_image_format got;
    STATUS(CL_SUCCESS, clGetImageInfo(image, CL_IMAGE_FORMAT, sizeof(got), &got, NULL));
    TRUE(got.image_channel_order == format.image_channel_order
         && got.image_channel_data_type == format.image_channel_data_type);
    ASKED(clGetImageInfo, image, CL_IMAGE_ELEMENT_SIZE, size_t, TEXEL);
    ASKED(clGetImageInfo, image, CL_IMAGE_WIDTH, size_t, s->desc.image_width);
    ASKED(clGetImageInfo, image, CL_IMAGE_HEIGHT, size_t, s->desc.image_height);
    ASKED(clGetImageInfo, image, CL_IMAGE_DEPTH, size_t, s->desc.image_depth);
    ASKED(clGetImageInfo, image, CL_IMAGE_ARRAY_SIZE, size_t, s->desc.image_array_size);
    ASKED(clGetImageInfo, image, CL_IMAGE_ROW_PITCH, size_t, row);
    ASKED(clGetImageInfo, image, CL_IMAGE_SLICE_PITCH, size_t, slice);
    ASKED(clGetImageInfo, image, CL_IMAGE_BUFFER, cl_mem, buffer);
    ASKED(clGetImageInfo, image, CL_IMAGE_NUM_MIP_LEVELS, cl_uint, 0);
    ASKED(clGetImageInfo, image, CL_IMAGE_NUM_SAMPLES, cl_uint, 0);
    ASKED(clGetMemObjectInfo, image, CL_MEM_TYPE, cl_mem_object_type, s->desc.image_type);
    ASKED(clGetMemObjectInfo, image, CL_MEM_ASSOCIATED_MEMOBJECT, cl_mem, buffer);
    ASKED(clGetMemObjectInfo, image, CL_MEM_OFFSET, size_t, 0);
    ASKED(clGetMemObjectInfo, image, CL_MEM_CONTEXT, cl_context, context);
    ASKED(clGetMemObjectInfo, image, CL_MEM_REFERENCE_COUNT, cl_uint, 1);
}

static void own_memory(const shape *s) {
    cl_int err;
    cl_mem image = clCreateImage(context, 0, &format, &s->desc, NULL, &err);
    STATUS(CL_SUCCESS, err);
    size_t row = s->desc.image_width * TEXEL;
    size_t slice = s->desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? row
                   : s->size[2] > 1                                  ? row * s->desc.image_height
                                                                     : 0;
    asks(image, s, row, slice, NULL);
    ASKED(clGetMemObjectInfo, image, CL_MEM_FLAGS, cl_mem_flags, CL_MEM_READ_WRITE);
    ASKED(clGetMemObjectInfo, image, CL_MEM_HOST_PTR, void *, NULL);
    ASKED(clGetMemObjectInfo, image, CL_MEM_SIZE, size_t, s->size[0] * s->size[1] * s->size[2] * TEXEL);
    commands(image, s);
    STATUS(CL_SUCCESS, clReleaseMemObject(image));
}

/* The application's memory is the image, gaps and all. */
static void host_memory(const shape *s, cl_mem_flags flags) {
    static unsigned char memory[8 * MAX_TEXELS * TEXEL], before[8 * MAX_TEXELS * TEXEL];
    cl_int err;
    cl_image_desc desc = s->desc;
    size_t row = desc.image_width * TEXEL + 2 * TEXEL, slice = 0;
    int sliced = desc.image_array_size || desc.image_depth;
    desc.image_row_pitch = row;
    if (sliced) slice = desc.image_slice_pitch = row * ((desc.image_height ? desc.image_height : 1) + 1);
    scribble(memory, sizeof(memory));
    memcpy(before, memory, sizeof(memory));
    cl_mem image = clCreateImage(context, flags, &format, &desc, memory, &err);
    STATUS(CL_SUCCESS, err);
    asks(image, s, row, slice, NULL);
    int uses = (flags & CL_MEM_USE_HOST_PTR) != 0;
    ASKED(clGetMemObjectInfo, image, CL_MEM_HOST_PTR, void *, uses ? memory : NULL);
    size_t y_pitch = desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? slice : row;
    for (size_t z = 0; z < s->size[2]; z++)
        for (size_t y = 0; y < s->size[1]; y++)
            memcpy(texel(model, s->size, 0, y, z), memory + z * slice + y * y_pitch, s->size[0] * TEXEL);
    same(__LINE__, image, s, model);
    if (uses) {
        size_t zero[3] = {0, 0, 0}, mapped_row, mapped_slice;
        void *at = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, zero, s->size, &mapped_row, &mapped_slice, 0,
                                     NULL, NULL, &err);
        STATUS(CL_SUCCESS, err);
        TRUE(at == memory && mapped_row == row && mapped_slice == slice);
        STATUS(CL_SUCCESS, clEnqueueUnmapMemObject(queue, image, at, 0, NULL, NULL));
    }
    commands(image, s);
    /* What is between rows is not the image's. */
    int wrong = 0;
    for (size_t z = 0; z < s->size[2]; z++)
        for (size_t y = 0; y < s->size[1]; y++) {
            size_t end = z * slice + y * y_pitch + s->size[0] * TEXEL;
            wrong |= memcmp(memory + end, before + end, 2 * TEXEL);
        }
    TRUE(!wrong);
    TRUE(uses == (memcmp(memory, before, sizeof(memory)) != 0));
    STATUS(CL_SUCCESS, clReleaseMemObject(image));
}

static int destroyed;

static void CL_CALLBACK count_destroyed(cl_mem mem, void *data) {
    (void)mem;
    ++*(int *)data;
}

/* An image of a buffer's memory, which keeps the buffer. */
static void from_buffer(const shape *s, cl_mem_object_type type) {
    cl_int err;
    cl_image_desc desc = s->desc;
    desc.image_type = type;
    size_t row = desc.image_width * TEXEL, slice = 0;
    int sliced = desc.image_array_size || desc.image_depth;
    if (type == CL_MEM_OBJECT_IMAGE2D) row = desc.image_row_pitch = row + 3 * TEXEL;
    if (sliced) slice = row * (desc.image_height ? desc.image_height : 1);
    size_t bytes = (sliced ? slice * s->size[desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? 1 : 2]
                           : row * s->size[1]);
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY, bytes + 128, NULL, &err);
    STATUS(CL_SUCCESS, err);
    cl_buffer_region behind = {128, bytes};
    cl_mem sub = clCreateSubBuffer(buffer, CL_MEM_HOST_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &behind, &err);
    STATUS(CL_SUCCESS, err);
    destroyed = 0;
    STATUS(CL_SUCCESS, clSetMemObjectDestructorCallback(buffer, count_destroyed, &destroyed));
    STATUS(CL_SUCCESS, clSetMemObjectDestructorCallback(sub, count_destroyed, &destroyed));
    desc.mem_object = sub;
    cl_mem image = clCreateImage(context, 0, &format, &desc, NULL, &err);
    STATUS(CL_SUCCESS, err);
    shape seen = *s;
    seen.desc.image_type = type;
    asks(image, &seen, row, slice, sub);
    ASKED(clGetMemObjectInfo, image, CL_MEM_FLAGS, cl_mem_flags, CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY);
    CREATED(CL_INVALID_IMAGE_SIZE,
            clCreateImage(context, 0, &format, &(cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
                                                                .image_width = bytes / TEXEL + 1,
                                                                .mem_object = sub},
                          NULL, &err));
    float color[4] = {1, 2, 3, 4}, found[2];
    size_t last[3] = {s->size[0] - 1, s->size[1] - 1, s->size[2] - 1}, one[3] = {1, 1, 1}, zero[3] = {0, 0, 0};
    STATUS(CL_SUCCESS, clEnqueueFillImage(queue, image, color, last, one, 0, NULL, NULL));
    size_t at = last[2] * slice + last[1] * (type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? slice : row) + last[0] * TEXEL;
    STATUS(CL_SUCCESS, clEnqueueReadBuffer(queue, buffer, CL_TRUE, 128 + at, TEXEL, found, 0, NULL, NULL));
    TRUE(found[0] == 1 && found[1] == 2);
    STATUS(CL_INVALID_OPERATION,
           clEnqueueWriteImage(queue, image, CL_TRUE, zero, one, 0, 0, color, 0, NULL, NULL));
    int is_row = type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    STATUS(is_row ? CL_INVALID_MEM_OBJECT : CL_SUCCESS,
           clEnqueueCopyImageToBuffer(queue, image, sub, zero, one, 0, 0, NULL, NULL));
    STATUS(is_row ? CL_INVALID_MEM_OBJECT : CL_SUCCESS,
           clEnqueueCopyBufferToImage(queue, sub, image, 0, zero, one, 0, NULL, NULL));
    STATUS(CL_SUCCESS, clFinish(queue));
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
    STATUS(CL_SUCCESS, clReleaseMemObject(sub));
    TRUE(destroyed == 0);
    STATUS(CL_SUCCESS, clEnqueueReadImage(queue, image, CL_TRUE, last, one, 0, 0, found, 0, NULL, NULL));
    TRUE(found[0] == 1 && found[1] == 2);
    STATUS(CL_SUCCESS, clReleaseMemObject(image));
    TRUE(destroyed == 2);
}

/* Colors become texels as kernels would write them. */
static void fill_formats(void) {
    static const struct {
        cl_image_format format;
        union {
            float f[4];
            cl_int i[4];
            cl_uint u[4];
        } color;
        size_t size;
        unsigned char texel[16];
    } cases[] = {
        {{CL_RGBA, CL_UNORM_INT8}, {.f = {0, 1, 0.5f, 2}}, 4, {0, 255, 128, 255}},
        {{CL_BGRA, CL_UNORM_INT8}, {.f = {1, 0, 0, -1}}, 4, {0, 0, 255, 0}},
        {{CL_ARGB, CL_SNORM_INT8}, {.f = {1, -1, 0, -7}}, 4, {0x80, 127, 0x81, 0}},
        {{CL_ABGR, CL_UNSIGNED_INT8}, {.u = {1, 2, 300, 4}}, 4, {4, 255, 2, 1}},
        {{CL_RGBA, CL_SIGNED_INT8}, {.i = {-1, 127, -300, 300}}, 4, {0xff, 127, 0x80, 127}},
        {{CL_sRGBA, CL_UNORM_INT8}, {.f = {1, 0, 0.5f, 0.5f}}, 4, {255, 0, 188, 128}},
        {{CL_RG, CL_UNSIGNED_INT16}, {.u = {0x1234, 70000, 0, 0}}, 4, {0x34, 0x12, 0xff, 0xff}},
        {{CL_R, CL_HALF_FLOAT}, {.f = {1, 0, 0, 0}}, 2, {0, 0x3c}},
        {{CL_A, CL_UNORM_INT8}, {.f = {0, 0, 0, 1}}, 1, {255}},
        {{CL_INTENSITY, CL_UNORM_INT8}, {.f = {1, 0, 0, 0}}, 1, {255}},
        {{CL_LUMINANCE, CL_UNORM_INT16}, {.f = {1, 0, 0, 0}}, 2, {255, 255}},
        {{CL_RGB, CL_UNORM_SHORT_565}, {.f = {1, 0, 1, 0}}, 2, {0x1f, 0xf8}},
        {{CL_RGB, CL_UNORM_SHORT_555}, {.f = {0, 1, 0, 0}}, 2, {0xe0, 0x03}},
        {{CL_RGB, CL_UNORM_INT_101010}, {.f = {1, 0, 1, 0}}, 4, {0xff, 0x03, 0xf0, 0x3f}},
        {{CL_RGBA, CL_UNORM_INT_101010_2}, {.f = {0, 0, 0, 1}}, 4, {3, 0, 0, 0}},
        {{CL_ABGR, 0x10E5 /* CL_UNORM_INT_2_101010_EXT */}, {.f = {1, 0, 0, 1}}, 4, {0xff, 0x03, 0, 0xc0}},
        {{CL_R, 0x10E1 /* CL_UNORM_INT10X6_EXT */}, {.f = {1, 0, 0, 0}}, 2, {0xc0, 0xff}},
        {{CL_RG, 0x10E7 /* CL_UNSIGNED_INT12X4_EXT */}, {.u = {1, 5000, 0, 0}}, 4, {0x10, 0, 0xf0, 0xff}},
        {{CL_DEPTH, CL_UNORM_INT16}, {.f = {1}}, 2, {255, 255}},
    };
    cl_int err;
    size_t zero[3] = {0, 0, 0}, all[3] = {3, 2, 1};
    for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
        cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 3, .image_height = 2};
        cl_mem image = clCreateImage(context, 0, &cases[n].format, &desc, NULL, &err);
        STATUS(CL_SUCCESS, err);
        ASKED(clGetImageInfo, image, CL_IMAGE_ELEMENT_SIZE, size_t, cases[n].size);
        STATUS(CL_SUCCESS, clEnqueueFillImage(queue, image, &cases[n].color, zero, all, 0, NULL, NULL));
        unsigned char found[6 * 16];
        STATUS(CL_SUCCESS, clEnqueueReadImage(queue, image, CL_TRUE, zero, all, 0, 0, found, 0, NULL, NULL));
        for (int t = 0; t < 6; t++)
            check_status("texel of a fill", (int)n, 0, memcmp(found + t * cases[n].size, cases[n].texel, cases[n].size));
        STATUS(CL_SUCCESS, clReleaseMemObject(image));
    }
}

/* Levels are images of their own, each half of the one before, told by what of an origin is left. */
static void levels(void) {
    static const struct {
        cl_image_desc desc;
        size_t sizes[3][3];
        int at;
    } cases[] = {
        {{.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = 13, .num_mip_levels = 3},
         {{13, 1, 1}, {6, 1, 1}, {3, 1, 1}},
         1},
        {{.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = 9, .image_array_size = 5, .num_mip_levels = 3},
         {{9, 5, 1}, {4, 5, 1}, {2, 5, 1}},
         2},
        {{.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 3, .num_mip_levels = 3},
         {{8, 3, 1}, {4, 1, 1}, {2, 1, 1}},
         2},
        {{.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY,
          .image_width = 7,
          .image_height = 6,
          .image_array_size = 2,
          .num_mip_levels = 3},
         {{7, 6, 2}, {3, 3, 2}, {1, 1, 2}},
         3},
        {{.image_type = CL_MEM_OBJECT_IMAGE3D,
          .image_width = 8,
          .image_height = 5,
          .image_depth = 4,
          .num_mip_levels = 3},
         {{8, 5, 4}, {4, 2, 2}, {2, 1, 1}},
         3},
    };
    for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
        cl_int err;
        cl_mem image = clCreateImage(context, 0, &format, &cases[n].desc, NULL, &err);
        STATUS(CL_SUCCESS, err);
        ASKED(clGetImageInfo, image, CL_IMAGE_NUM_MIP_LEVELS, cl_uint, 3);
        size_t all = 0, bytes[3], begin[3];
        for (int level = 0; level < 3; level++) {
            const size_t *size = cases[n].sizes[level];
            begin[level] = all;
            bytes[level] = size[0] * size[1] * size[2] * TEXEL;
            all += bytes[level];
        }
        ASKED(clGetMemObjectInfo, image, CL_MEM_SIZE, size_t, all);
        scribble(model, all);
        for (int level = 0; level < 3; level++) {
            size_t origin[4] = {0, 0, 0, 0};
            origin[cases[n].at] = (size_t)level;
            STATUS(CL_SUCCESS, clEnqueueWriteImage(queue, image, CL_TRUE, origin, cases[n].sizes[level], 0, 0,
                                                   model + begin[level], 0, NULL, NULL));
        }
        for (int level = 0; level < 3; level++) {
            const size_t *size = cases[n].sizes[level];
            size_t origin[4] = {0, 0, 0, 0}, row, slice;
            origin[cases[n].at] = (size_t)level;
            STATUS(CL_SUCCESS, clEnqueueReadImage(queue, image, CL_TRUE, origin, size, 0, 0, host, 0, NULL, NULL));
            TRUE(memcmp(host, model + begin[level], bytes[level]) == 0);
            void *mapped = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, origin, size, &row, &slice, 0, NULL,
                                             NULL, &err);
            STATUS(CL_SUCCESS, err);
            TRUE(memcmp(mapped, model + begin[level], size[0] * TEXEL) == 0 && row >= size[0] * TEXEL);
            STATUS(CL_SUCCESS, clEnqueueUnmapMemObject(queue, image, mapped, 0, NULL, NULL));
            size_t more[3] = {size[0] + 1, size[1], size[2]};
            STATUS(CL_INVALID_VALUE,
                   clEnqueueReadImage(queue, image, CL_TRUE, origin, more, 0, 0, host, 0, NULL, NULL));
            /* From one level to the next. */
            if (level == 2) continue;
            size_t to[4] = {0, 0, 0, 0};
            to[cases[n].at] = (size_t)level + 1;
            const size_t *least = cases[n].sizes[level + 1];
            STATUS(CL_SUCCESS, clEnqueueCopyImage(queue, image, image, origin, to, least, 0, NULL, NULL));
            for (size_t z = 0; z < least[2]; z++)
                for (size_t y = 0; y < least[1]; y++)
                    memcpy(texel(model + begin[level + 1], least, 0, y, z), texel(model + begin[level], size, 0, y, z),
                           least[0] * TEXEL);
        }
        size_t none[4] = {0, 0, 0, 0}, one[3] = {1, 1, 1};
        none[cases[n].at] = 3;
        STATUS(CL_INVALID_MIP_LEVEL,
               clEnqueueReadImage(queue, image, CL_TRUE, none, one, 0, 0, host, 0, NULL, NULL));
        STATUS(CL_INVALID_MIP_LEVEL, clEnqueueFillImage(queue, image, host, none, one, 0, NULL, NULL));
        STATUS(CL_SUCCESS, clReleaseMemObject(image));
    }
}

/* What is listed can be made, and nothing else. */
static void formats(void) {
    static const cl_mem_object_type types[] = {CL_MEM_OBJECT_IMAGE1D,       CL_MEM_OBJECT_IMAGE1D_ARRAY,
                                               CL_MEM_OBJECT_IMAGE2D,       CL_MEM_OBJECT_IMAGE2D_ARRAY,
                                               CL_MEM_OBJECT_IMAGE3D,       CL_MEM_OBJECT_IMAGE1D_BUFFER};
    cl_int err;
    cl_mem buffer = clCreateBuffer(context, 0, 256, NULL, &err);
    for (size_t n = 0; n < 6; n++) {
        cl_image_format list[512];
        cl_uint count = 0, again = 0;
        STATUS(CL_SUCCESS, clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, types[n], 512, list, &count));
        TRUE(count > 100 && count < 512);
        STATUS(CL_SUCCESS, clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, types[n], 0, NULL, &again));
        TRUE(count == again);
        for (cl_uint order = CL_R; order <= CL_ABGR; order++)
            for (cl_uint data_type = CL_SNORM_INT8; data_type <= 0x10EA; data_type++) {
                cl_image_format wanted = {order, data_type};
                int listed = 0;
                for (cl_uint k = 0; k < count; k++) listed |= memcmp(&list[k], &wanted, sizeof(wanted)) == 0;
                cl_image_desc desc = {.image_type = types[n],
                                      .image_width = 2,
                                      .image_height = 2,
                                      .image_depth = 2,
                                      .image_array_size = 2,
                                      .mem_object = types[n] == CL_MEM_OBJECT_IMAGE1D_BUFFER ? buffer : NULL};
                cl_mem image = clCreateImage(context, 0, &wanted, &desc, NULL, &err);
                int refused = err == CL_IMAGE_FORMAT_NOT_SUPPORTED || err == CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
                TRUE(listed ? err == CL_SUCCESS : refused);
                if (image) STATUS(CL_SUCCESS, clReleaseMemObject(image));
            }
    }
    STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
}

static void samplers(void) {
    static const cl_addressing_mode modes[] = {CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP,
                                               CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT};
    cl_int err;
    for (int n = 0; n < 20; n++) {
        cl_bool normalized = n % 2;
        cl_filter_mode filter = n / 2 % 2 ? CL_FILTER_LINEAR : CL_FILTER_NEAREST;
        cl_addressing_mode mode = modes[n / 4];
        cl_sampler_properties properties[] = {CL_SAMPLER_FILTER_MODE, filter, CL_SAMPLER_ADDRESSING_MODE, mode,
                                              CL_SAMPLER_NORMALIZED_COORDS, normalized, 0};
        cl_sampler both[2];
        both[0] = clCreateSampler(context, normalized, mode, filter, &err);
        STATUS(CL_SUCCESS, err);
        both[1] = clCreateSamplerWithProperties(context, properties, &err);
        STATUS(CL_SUCCESS, err);
        for (int k = 0; k < 2; k++) {
            ASKED(clGetSamplerInfo, both[k], CL_SAMPLER_REFERENCE_COUNT, cl_uint, 1);
            ASKED(clGetSamplerInfo, both[k], CL_SAMPLER_CONTEXT, cl_context, context);
            ASKED(clGetSamplerInfo, both[k], CL_SAMPLER_NORMALIZED_COORDS, cl_bool, normalized);
            ASKED(clGetSamplerInfo, both[k], CL_SAMPLER_ADDRESSING_MODE, cl_addressing_mode, mode);
            ASKED(clGetSamplerInfo, both[k], CL_SAMPLER_FILTER_MODE, cl_filter_mode, filter);
            cl_sampler_properties got[8];
            size_t size = 99;
            STATUS(CL_SUCCESS, clGetSamplerInfo(both[k], CL_SAMPLER_PROPERTIES, sizeof(got), got, &size));
            TRUE(k ? size == sizeof(properties) && memcmp(got, properties, size) == 0 : size == 0);
            STATUS(CL_SUCCESS, clRetainSampler(both[k]));
            ASKED(clGetSamplerInfo, both[k], CL_SAMPLER_REFERENCE_COUNT, cl_uint, 2);
            STATUS(CL_SUCCESS, clReleaseSampler(both[k]));
            STATUS(CL_SUCCESS, clReleaseSampler(both[k]));
            STATUS(CL_INVALID_SAMPLER, clReleaseSampler(both[k]));
        }
    }
    float least = 0.5f, most = 2;
    cl_uint bits[2];
    memcpy(&bits[0], &least, 4);
    memcpy(&bits[1], &most, 4);
    cl_sampler_properties detail[] = {CL_SAMPLER_MIP_FILTER_MODE_KHR, CL_FILTER_LINEAR, CL_SAMPLER_LOD_MIN_KHR, bits[0],
                                      CL_SAMPLER_LOD_MAX_KHR, bits[1], 0};
    cl_sampler between = clCreateSamplerWithProperties(context, detail, &err);
    STATUS(CL_SUCCESS, err);
    ASKED(clGetSamplerInfo, between, CL_SAMPLER_MIP_FILTER_MODE_KHR, cl_filter_mode, CL_FILTER_LINEAR);
    ASKED(clGetSamplerInfo, between, CL_SAMPLER_LOD_MIN_KHR, cl_float, 0.5f);
    ASKED(clGetSamplerInfo, between, CL_SAMPLER_LOD_MAX_KHR, cl_float, 2);
    STATUS(CL_SUCCESS, clReleaseSampler(between));
    cl_sampler plain = clCreateSamplerWithProperties(context, NULL, &err);
    STATUS(CL_SUCCESS, err);
    ASKED(clGetSamplerInfo, plain, CL_SAMPLER_NORMALIZED_COORDS, cl_bool, CL_TRUE);
    ASKED(clGetSamplerInfo, plain, CL_SAMPLER_ADDRESSING_MODE, cl_addressing_mode, CL_ADDRESS_CLAMP);
    ASKED(clGetSamplerInfo, plain, CL_SAMPLER_FILTER_MODE, cl_filter_mode, CL_FILTER_NEAREST);
    STATUS(CL_SUCCESS, clReleaseSampler(plain));
}

/* Legacy functions, and what cl_ext_image_requirements_info says of what can be made. */
static void other_ways(void) {
    cl_int err;
    float texels[4 * 5 * 6 * 2] = {7};
    cl_mem two = clCreateImage2D(context, CL_MEM_COPY_HOST_PTR, &format, 4, 5, 5 * TEXEL, texels, &err);
    STATUS(CL_SUCCESS, err);
    ASKED(clGetImageInfo, two, CL_IMAGE_ROW_PITCH, size_t, 5 * TEXEL);
    cl_mem three = clCreateImage3D(context, 0, &format, 4, 5, 6, 0, 0, NULL, &err);
    STATUS(CL_SUCCESS, err);
    ASKED(clGetImageInfo, three, CL_IMAGE_DEPTH, size_t, 6);
    STATUS(CL_SUCCESS, clReleaseMemObject(two));
    STATUS(CL_SUCCESS, clReleaseMemObject(three));

    cl_int (*ask)(cl_context, const cl_mem_properties *, cl_mem_flags, const cl_image_format *, const cl_image_desc *,
                  cl_uint, size_t, void *, size_t *) =
        clGetExtensionFunctionAddressForPlatform(platform, "clGetImageRequirementsInfoEXT");
    TRUE(ask != NULL);
    if (!ask) return;
    enum { ROW = 0x1290, SLICE = 0x1291, BASE = 0x1292, SIZE = 0x12B2, WIDTH, HEIGHT, DEPTH, LAYERS };
    size_t value = 0;
    cl_uint most = 0, asked = 0;
    for (int n = ROW; n <= BASE; n++) {
        STATUS(CL_SUCCESS, ask(context, NULL, 0, &format, NULL, n, sizeof(value), &value, NULL));
        TRUE(value == TEXEL);
        STATUS(CL_SUCCESS, ask(context, NULL, 0, NULL, NULL, n, sizeof(value), &value, NULL));
        TRUE(value >= TEXEL && (value & (value - 1)) == 0);
    }
    for (size_t n = 0; n < SHAPES; n++) {
        const cl_image_desc *desc = &shapes[n].desc;
        STATUS(CL_SUCCESS, ask(context, NULL, 0, &format, desc, SIZE, sizeof(value), &value, NULL));
        cl_mem buffer = clCreateBuffer(context, 0, value, NULL, &err);
        STATUS(CL_SUCCESS, err);
        cl_image_desc of = *desc;
        of.mem_object = buffer;
        cl_mem image = clCreateImage(context, 0, &format, &of, NULL, &err);
        STATUS(CL_SUCCESS, err);
        ASKED(clGetMemObjectInfo, image, CL_MEM_SIZE, size_t, value);
        STATUS(CL_SUCCESS, clReleaseMemObject(image));
        STATUS(CL_SUCCESS, clReleaseMemObject(buffer));
        const size_t has[4] = {1, desc->image_height, desc->image_depth, desc->image_array_size};
        for (int k = 0; k < 4; k++)
            STATUS(has[k] ? CL_SUCCESS : CL_INVALID_IMAGE_DESCRIPTOR,
                   ask(context, NULL, 0, &format, desc, WIDTH + k, sizeof(most), &most, NULL));
    }
    STATUS(CL_SUCCESS, clGetDeviceInfo(device, CL_DEVICE_MAX_SAMPLERS, sizeof(asked), &asked, NULL));
    TRUE(asked >= 16);
    STATUS(CL_INVALID_VALUE, ask(context, NULL, 0, NULL, &shapes[0].desc, SIZE, sizeof(value), &value, NULL));
    STATUS(CL_INVALID_VALUE, ask(context, NULL, 0, &format, NULL, SIZE, sizeof(value), &value, NULL));
    STATUS(CL_INVALID_VALUE, ask(context, NULL, 0, &format, NULL, 0, sizeof(value), &value, NULL));
    STATUS(CL_INVALID_CONTEXT, ask(NULL, NULL, 0, &format, NULL, ROW, sizeof(value), &value, NULL));
}

int main(void) {
    setup();
    for (size_t n = 0; n < SHAPES; n++) {
        own_memory(&shapes[n]);
        host_memory(&shapes[n], CL_MEM_USE_HOST_PTR);
        host_memory(&shapes[n], CL_MEM_COPY_HOST_PTR);
        from_buffer(&shapes[n], shapes[n].desc.image_type);
    }
    from_buffer(&shapes[0], CL_MEM_OBJECT_IMAGE1D_BUFFER);
    levels();
    fill_formats();
    formats();
    samplers();
    other_ways();
    return finish();
}
